#!/bin/sh
# Every example of docs/craft.md. "```python": a program, which is in canonical form, checks without a word, lowers, and runs without hazard
# at several sizes of its tensors x and y. "```python tiles": lines that stand in a kernel, each tried as a copy in and out. "```python lines":
# lines of a kernel or a host function, which parse.
set -eu
page=$AC_SOURCE/docs/craft.md
rm -rf work
mkdir work
cd work
awk '/^```/ { if (on) { on = 0; close(out) } else if ($1 == "```python") { on = 1; kind = $2 == "" ? "program" : $2; out = sprintf("%s%02d.craft", kind, ++n) } next }
     on { print >out }' "$page"

programs=0
for f in program*.craft; do
  programs=$((programs + 1))
  "$ASCENDCRAFT" fmt --check "$f"
  "$ASCENDCRAFT" check "$f" >out 2>err
  [ ! -s err ] || {
    cat err
    exit 1
  }
  "$ASCENDCRAFT" lower "$f" >/dev/null
  for n in 1 7 513 13243 65537; do
    "$ASCENDCRAFT" run "$f" --shape "x=$n" --shape "y=$n" >out 2>&1 || {
      cat out
      exit 1
    }
  done
done
[ "$programs" -ge 1 ]

lines=0
for f in tiles*.craft; do
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    lines=$((lines + 1))
    case $line in
    *None*) to=two ;;
    *) to=buf ;;
    esac
    cat >one.craft <<TEXT
@ascend_kernel
def k(x, y, i, end, r, c, cols, first):
    tile = 64
    n = 4
    w = 16
    step = 3
    buf = tl.alloc_ub(64, tl.float32)
    two = tl.alloc_ub((4, 16), tl.float32)
    $line
    with tl.copyin():
        tl.load(x + off, $to)


def h(x, y):
    k[1](x, y, 0, 64, 0, 0, 16, 0)
TEXT
    "$ASCENDCRAFT" check one.craft >out 2>&1 || {
      cat one.craft out
      exit 1
    }
  done <"$f"
done
[ "$lines" -ge 3 ]
for f in lines*.craft; do
  [ -f "$f" ] || continue
  { echo 'def h(x, y):' && sed 's/^/    /' "$f"; } >one.craft
  "$ASCENDCRAFT" fmt --quiet - <one.craft >/dev/null
done
