#!/bin/sh
# Indices are data: one that is certainly outside of its buffer is refuted, one that may be is reported by the simulator with the program's line, in UB and from global memory, loaded and
# stored; clamped ones are in.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

cat >ub.craft <<'END'
@ascend_kernel
def pick_kernel(x, y):
    src = tl.alloc_ub(64, tl.float32)
    out = tl.alloc_ub(64, tl.float32)
    idx = tl.alloc_ub(64, tl.int32)
    with tl.copyin():
        tl.load(x + tl.arange(0, 64), src)
    with tl.compute():
        tl.iota(idx, FIRST)
        CLAMP
        tl.gather(out, src, idx)
    with tl.copyout():
        tl.store(y + tl.arange(0, 64), out)


def pick(x, y):
    if x.numel() != 64:
        tl.refuse("64 elements")
    pick_kernel[1](x, y)
END
cat >memory.craft <<'END'
@ascend_kernel
def move_kernel(x, y):
    buf = tl.alloc_ub(64, tl.float32)
    idx = tl.alloc_ub(64, tl.int32)
    with tl.compute():
        tl.iota(idx, FIRST)
        CLAMP
    with tl.copyin():
        tl.load(x + LOAD, buf)
    with tl.copyout():
        tl.store(y + STORE, buf)


def move(x, y: tl.out[64]):
    if x.numel() != 64:
        tl.refuse("64 elements")
    move_kernel[1](x, y)
END
# right FILE FIRST CLAMP LOAD STORE; wrong KIND LINE and the same: the run reports that fault at that line
write() {
  sed "s/FIRST/$2/; s/CLAMP/$3/; s/LOAD/$4/; s/STORE/$5/" "$1.craft" >case.craft
}
run() {
  rc=0
  "$ASCENDCRAFT" run case.craft -s x=64 >out 2>&1 || rc=$?
}
right() {
  write "$@"
  run
  if [ $rc -ne 0 ] || grep -q '^fault' out; then cat case.craft out; exit 1; fi
}
wrong() {
  kind=$1
  line=$2
  shift 2
  write "$@"
  run
  if [ $rc -eq 0 ] || ! grep -q "^fault $kind.*(case.craft:$line," out; then cat case.craft out; exit 1; fi
}
# sees KIND LINE and the same: what is certainly outside needs no run
sees() {
  code=$1
  line=$2
  shift 2
  write "$@"
  run
  if [ $rc -eq 0 ] || ! grep -q "^case.craft:$line:.*error.$code." out; then cat case.craft out; exit 1; fi
}
all='tl.arange(0, 64)'
clamp='tl.vclamp(idx, idx, 0, 63)'
# the elements of x as ints, spread out: some are outside
data='tl.cast(idx, src); tl.vmul_scalar(idx, idx, 64); tl.vadd_scalar(idx, idx, 64)'
right ub 0 pass "$all" "$all"
sees AC0546 11 ub 1 pass "$all" "$all"
right ub 1 "$clamp" "$all" "$all"
wrong ub-out-of-bounds 11 ub 0 "$data" "$all" "$all"
right memory 0 pass idx "$all"
sees AC0542 9 memory 1 pass idx "$all"
sees AC0542 9 memory -1 pass idx "$all"
right memory 1 "$clamp" idx "$all"
right memory 0 pass "$all" idx
sees AC0542 11 memory 1 pass "$all" idx
# copied by way of memory, the same numbers are data
sed 's/    with tl.copyin():/    with tl.copyout():\n        tl.store(w + tl.arange(0, 64), idx)\n    with tl.copyin():\n        tl.load(w + tl.arange(0, 64), idx)/
  s/(x, y)/(x, y, w)/; s/move(x, y, w/move(x, y/; s/    move_kernel/    w = tl.empty(64, tl.int32)\n    move_kernel/' memory.craft >far.craft
right far 0 pass idx "$all"
wrong gm-out-of-bounds 12 far 1 pass idx "$all"
wrong gm-out-of-bounds 12 far -1 pass idx "$all"
right far 0 pass "$all" idx
wrong gm-out-of-bounds 14 far 1 pass "$all" idx
