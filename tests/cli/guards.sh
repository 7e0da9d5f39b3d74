#!/bin/sh
# What the check cannot prove, the tiling code asks of the shape at hand: `check -v` says so, `run` refuses with line, names and numbers,
# the emitted tiling code compiles and holds the same text, and shapes that are right go through.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

cat >rows.craft <<'END'
@ascend_kernel
def rows_kernel(x, y, rows, width, tile):
    buf = tl.alloc_ub(tile, tl.float32)
    for r in range(tl.program_id(0), rows, tl.num_programs(0)):
        with tl.copyin():
            tl.load(x + r * width + tl.arange(0, width), buf)
        with tl.copyout():
            tl.store(y + r * width + tl.arange(0, width), buf)


def rows(x, y):
    n = x.shape[0]
    width = x.shape[1]
    rows_kernel[max(1, min(tl.num_cores(), n))](x, y, n, width, 2048)
END

# i * i // max(i, 1) is i: the prover does not know that, and trials do not come as far as tile 1777
cat >tiles.craft <<'END'
@ascend_kernel
def tiles_kernel(x, y, tiles):
    pid = tl.program_id(0)
    if pid >= tiles:
        return
    buf = tl.alloc_ub(64, tl.float32)
    for i in range(pid, tiles, tl.num_programs(0)):
        at = i * i // max(i, 1) * 64
        if i == 1777:
            at = at + WRONG
        with tl.copyin():
            tl.load(x + at + tl.arange(0, 64), buf)
        if i != SKIPPED:
            with tl.copyout():
                tl.store(y + at + tl.arange(0, 64), buf)


def tiles(x, y):
    n = x.numel()
    if n % 64 != 0:
        tl.refuse("whole tiles only")
    tiles_kernel[tl.num_cores()](x, y, n // 64)
END
sed 's/WRONG/3200/; s/SKIPPED/-1/' tiles.craft >outside.craft
sed 's/WRONG/0/; s/SKIPPED/1777/' tiles.craft >missing.craft

# expect EXIT TEXT ARGS...
expect() {
  want=$1
  text=$2
  shift 2
  rc=0
  "$ASCENDCRAFT" "$@" >out 2>&1 || rc=$?
  if [ "$rc" -ne "$want" ] || ! grep -q -F -e "$text" out; then
    echo "exit $rc instead of $want, or no '$text': $*"
    cat out
    exit 1
  fi
}
expect 0 'that they fit is not proved; the tiling code asks' check -v rows.craft
expect 2 "line 6: width elements are written to 'buf', which has room for tile: here 3000 against 2048" run rows.craft -s x=5,3000
expect 0 'launch (simulated): 5 blocks' run rows.craft -s x=5,2048
expect 0 '"asked_by_tiling": true' check --json outside.craft
expect 0 'stays inside' check -v outside.craft
expect 2 "line 12: block 1 reads element 116991 of 'x', which has 115200" run outside.craft -s x=115200
expect 0 'launch (simulated)' run outside.craft -s x=113728
expect 2 "line 22: this launch writes 115136 elements of 'y', which has 115200" run missing.craft -s x=115200
expect 0 'launch (simulated)' run missing.craft -s x=113728

# a number of the kernel that has the name of a tensor, or of what the tiling code counts with
sed 's/kernel(x, y, tiles)/kernel(x, block, y)/; s/(pid, tiles,/(pid, y,/; s/pid >= tiles/pid >= y/; s/store(y/store(block/; s/WRONG/0/; s/SKIPPED/1777/' \
  tiles.craft >names.craft
grep -q 'def tiles_kernel(x, block, y)' names.craft
expect 2 "this launch writes 115136 elements of 'y', which has 115200" run names.craft -s x=115200
expect 0 'launch (simulated)' run names.craft -s x=113728

# what depends on data is not asked, and said so
sed 's/        if i != SKIPPED:/        if tl.extract_scalar(buf, 0) > 0.0:/; s/WRONG/0/' tiles.craft >data.craft
expect 0 'but for what depends on data' check -v data.craft

# the emitted forms
for program in rows outside missing; do
  "$ASCENDCRAFT" gen $program.craft -o $program.out >/dev/null 2>&1
  grep -q 'Checked ask1_blocks' $program.out/msopgen/op_host/*.cpp
  for host in $program.out/msopgen/op_host/*.cpp $program.out/direct/*_kernel.cpp; do
    g++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-parameter -I"$AC_SOURCE/sim/include" \
      -I$program.out/msopgen/op_host "$host"
  done
  "$ASCENDCRAFT" gen $program.craft -F c -o $program.c >/dev/null 2>&1
  cc -std=c99 -fsyntax-only -Wall -Wextra -Werror $program.c/c/*.c
done

# one project for the chips that are alike; others are not named
grep -q 'AddConfig("ascend910b"' rows.out/msopgen/op_host/*.cpp
grep -q 'AddConfig("ascend910_93"' rows.out/msopgen/op_host/*.cpp
if grep -q 'ascend310p' rows.out/msopgen/op_host/*.cpp; then exit 1; fi

# an input of which the host function asks nothing: proved, and asked for all that is loaded of it; the loop over rows asks it once
cat >bias.craft <<'END'
@ascend_kernel
def bias_kernel(x, b, y, rows, cols):
    xb = tl.alloc_ub(1024, tl.float32)
    bb = tl.alloc_ub(1024, tl.float32)
    for r in range(tl.program_id(0), rows, tl.num_programs(0)):
        with tl.copyin():
            tl.load(x + r * cols + tl.arange(0, cols), xb)
            tl.load(b + tl.arange(0, cols), bb)
        with tl.compute():
            tl.vadd(xb, xb, bb)
        with tl.copyout():
            tl.store(y + r * cols + tl.arange(0, cols), xb)


def bias(x, b, y):
    rows, cols = x.shape
    if cols > 1024:
        tl.refuse("long rows")
    bias_kernel[max(1, min(tl.num_cores(), rows))](x, b, y, rows, cols)
END
expect 0 'proved     bounds   no copy reaches outside of its tensor' check -v bias.craft
expect 0 'launch (simulated)' run bias.craft -s x=100,513 -s b=513
expect 2 "line 8: block 0 reads element 512 of 'b', which has 512" run bias.craft -s x=100,513 -s b=512
# where data decides what is loaded, it is taken to be long enough, and that is said
sed 's/tl.load(b + tl.arange(0, cols), bb)/tl.load(b + tl.arange(0, cols) + w, bb)/; s/    for r in/    w = 0\n    if tl.extract_scalar(b, 0) > 0.0:\n        w = 8\n    for r in/; s/(x, b, y, rows, cols):/(x, b: tl.float32, y, rows, cols):/' bias.craft >data.craft
expect 0 "asks nothing of the size of 'b'" check -v data.craft
expect 0 '"given":' check --json data.craft
