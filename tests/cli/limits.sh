#!/bin/sh
# Limits of a kernel's pipe: programs that exceed each. Event ids fall back to barriers, queues to flags, buffers beyond 64 are an error.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

# loads N: N buffers that are loaded in each trip and added; `kept` is loaded in some trips only, so it has no queue
loads() {
  n=$1
  echo '@ascend_kernel'
  echo 'def many_kernel(x, y, rows):'
  echo '    kept = tl.alloc_ub(64, tl.float32)'
  echo '    out = tl.alloc_ub(64, tl.float32)'
  i=0
  while [ $i -lt "$n" ]; do
    echo "    b$i = tl.alloc_ub(64, tl.float32)"
    i=$((i + 1))
  done
  echo '    with tl.compute():'
  echo '        tl.duplicate(kept, 0.0)'
  echo '    for t in range(0, rows):'
  echo '        with tl.copyin():'
  i=0
  while [ $i -lt "$n" ]; do
    echo "            tl.load(x + t * $((64 * n)) + $((64 * i)) + tl.arange(0, 64), b$i)"
    i=$((i + 1))
  done
  echo '        if t % 3 == 0:'
  echo '            with tl.copyin():'
  echo "                tl.load(x + t * $((64 * n)) + tl.arange(0, 64), kept)"
  echo '        with tl.compute():'
  echo '            tl.vexp(out, kept)'
  i=0
  while [ $i -lt "$n" ]; do
    echo "            tl.vadd(out, out, b$i)"
    i=$((i + 1))
  done
  echo '        with tl.copyout():'
  echo '            tl.store(y + t * 64 + tl.arange(0, 64), out)'
  echo
  echo
  echo "def many(x, y: tl.out[x.numel() // $((64 * n)), 64]):"
  echo "    rows = x.numel() // $((64 * n))"
  echo '    many_kernel[1](x, y, rows)'
}
for n in 3 8 9 20; do loads $n >many$n.craft; done

dump() {
  "$ASCENDCRAFT" lower "$1" --dump=sync 2>/dev/null >air
}
# three queues leave ids: the copies of `kept` are ordered by flags
dump many3.craft
grep -q 'flag MTE2_V' air
if grep -q 'barrier' air; then exit 1; fi
# eight may hold all of them
dump many8.craft
[ "$(grep -c 'VECIN b' air)" -eq 8 ]
grep -q 'barrier' air
if grep -q 'flag MTE2_V\|flag V_MTE2' air; then exit 1; fi
# beyond that queues give way, and one id stays free for flags
dump many9.craft
[ "$(grep -c 'VECIN b' air)" -eq 7 ]
grep -q 'flag MTE2_V' air

# the simulator knows the ids: none runs out, nothing is unordered
for n in 3 8 9 20; do
  "$ASCENDCRAFT" run many$n.craft -s x=$((64 * n * 7)) >run 2>&1
  grep -q 'launch (simulated)' run
  if grep -q 'fault\|hazard' run; then cat run; exit 1; fi
done

# buffers of the pipe
rc=0
loads 63 >many63.craft
"$ASCENDCRAFT" check many63.craft >out 2>&1 || rc=$?
[ $rc -eq 1 ]
grep -q "'many_kernel' has 65 buffers with bytes of their own; a kernel may have 64" out
grep -q 'AC0528' out
# 64 of its own: the second slot of `out` goes
loads 62 >many62.craft
"$ASCENDCRAFT" run many62.craft -s x=$((64 * 62 * 3)) >run 2>&1
grep -q 'launch (simulated)' run
# what lowering adds is one too many
sed 's/tl.vexp/tl.verf/' many62.craft >scratch.craft
"$ASCENDCRAFT" check scratch.craft >out 2>&1
rc=0
"$ASCENDCRAFT" lower scratch.craft >out 2>&1 || rc=$?
[ $rc -eq 1 ]
grep -q "'many_kernel' takes 65 buffers of the pipe, scratch and slots of queues included; there are 64" out
