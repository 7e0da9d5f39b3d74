#!/bin/sh
# Tunables: `check --json` lists them, `--tune` picks among the choices, and what is no choice is refused.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
program=$AC_SOURCE/data/examples/host/tuned_scale.craft

"$ASCENDCRAFT" check "$program" --json >"$work/list"
for line in '"name": "tile"' '"value": 8192' '"default": 8192' 1024 2048 4096; do
  grep -q -e "$line" "$work/list"
done
"$ASCENDCRAFT" check "$program" --tune tile=2048 --json | grep -q '"value": 2048'

# the choice decides how much UB the kernel takes (one float32 buffer, loaded, computed on and stored, in three slots); the values stay
"$ASCENDCRAFT" run "$program" --shape x=1000000 --seed 3 --out "$work/a.npy" >"$work/default"
"$ASCENDCRAFT" run "$program" --shape x=1000000 --seed 3 --tune tile=1024 --out "$work/b.npy" >"$work/tuned"
grep -q 'UB peak 98304 bytes' "$work/default"
grep -q 'UB peak 12288 bytes' "$work/tuned"
cmp "$work/a.npy" "$work/b.npy"

# refuses TEXT OPTIONS...: exit 1 and this text
refuses() {
  text=$1
  shift
  rc=0
  "$ASCENDCRAFT" check "$program" "$@" >"$work/out" 2>&1 || rc=$?
  if [ "$rc" -ne 1 ] || ! grep -q -e "$text" "$work/out"; then
    echo "exit $rc: $*"
    cat "$work/out"
    exit 1
  fi
}
refuses "'3000' is no choice of the tunable 'tile'" --tune tile=3000
refuses "choices: 1024, 2048, 4096, 8192" --tune tile=
refuses "the program has no tunable 'tyle'" --tune tyle=2048
refuses "did you mean 'tile'" --tune tyle=2048
refuses "write name=value" --tune tile

# a caller who wants equal bits gets the other strategy: another tiling key, workspace for partial sums
sums=$AC_SOURCE/data/examples/reduce/sum_atomic.craft
"$ASCENDCRAFT" run "$sums" --shape x=100000 | grep -q 'tiling key 2'
"$ASCENDCRAFT" run "$sums" --shape x=100000 --deterministic | grep -q 'tiling key 1'
