#!/bin/sh
# `run FILE`: a module and a DSL program run without a compiler, with the figures of the compiled project; messages where they cannot.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
module=$AC_SOURCE/data/examples/gelu.py
"$ASCENDCRAFT" gen "$module" --shape x=7,1003 --no-verify -o "$work/p" >/dev/null
"$ASCENDCRAFT" run "$work/p" --shape x=7,1003 --json >"$work/compiled"
PATH=/nonexistent "$ASCENDCRAFT" run "$module" --shape x=7,1003 --json >"$work/direct"
PATH=/nonexistent "$ASCENDCRAFT" run "$work/p/gelu_custom.craft" --shape x=7,1003 --json >"$work/craft"
# the object of key "run"
figures() { sed -n '/"run": {/,/}/p' "$1"; }
[ -n "$(figures "$work/compiled")" ]
for way in direct craft; do
  if [ "$(figures "$work/compiled")" != "$(figures "$work/$way")" ]; then
    figures "$work/compiled"
    figures "$work/$way"
    exit 1
  fi
done

# a buffer that a loop fills and nobody uses: its copies are in order all the same
"$ASCENDCRAFT" run "$AC_SOURCE/tests/lower/cases/unused.craft" --shape x=300000 >/dev/null

# says COMMAND... : exit 2 and this text
says() {
  text=$1
  shift
  rc=0
  "$@" >"$work/out" 2>&1 || rc=$?
  if [ "$rc" -ne 2 ] || ! grep -q -e "$text" "$work/out"; then
    echo "exit $rc: $*"
    cat "$work/out"
    exit 1
  fi
}
says 'give the shape of x' "$ASCENDCRAFT" run "$work/p/gelu_custom.craft"
says "no tensor 'q'" "$ASCENDCRAFT" run "$work/p/gelu_custom.craft" --shape q=3
says '--format is of a project' "$ASCENDCRAFT" run "$module" --format direct
says 'cannot be read\|no such\|No such' "$ASCENDCRAFT" run "$work/nothing.craft" --shape x=3

# results at the edge of their error bounds are the same bytes, whatever the way in
for how in up mixed; do
  "$ASCENDCRAFT" run "$work/p" --shape x=7,1003 --perturb "$how" --seed 3 --out "$work/compiled.npy" >"$work/out"
  grep -q "perturbed ($how): Div" "$work/out"
  PATH=/nonexistent "$ASCENDCRAFT" run "$module" --shape x=7,1003 --perturb "$how" --seed 3 --threads 2 --order reverse \
    --out "$work/direct.npy" >/dev/null
  cmp "$work/compiled.npy" "$work/direct.npy"
  "$ASCENDCRAFT" run "$work/p" --shape x=7,1003 --seed 3 --out "$work/nominal.npy" >/dev/null
  if cmp -s "$work/compiled.npy" "$work/nominal.npy"; then
    echo "--perturb $how changed nothing"
    exit 1
  fi
done

# half overflow as the option says, and the same bytes, whatever the way in
cat >"$work/over.py" <<'TEXT'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.exp(x * 20.0)
def get_inputs():
    return [torch.randn(3, 500)]
def get_init_inputs():
    return []
TEXT
"$ASCENDCRAFT" gen "$work/over.py" --dtype float16 --no-verify -o "$work/o" >/dev/null
for how in inf saturate; do
  "$ASCENDCRAFT" run "$work/o" --half-overflow "$how" --out "$work/compiled.npy" >"$work/$how"
  PATH=/nonexistent "$ASCENDCRAFT" run "$work/over.py" --dtype float16 --half-overflow "$how" --out "$work/direct.npy" >/dev/null
  cmp "$work/compiled.npy" "$work/direct.npy"
done
"$ASCENDCRAFT" run "$work/o" --out "$work/usual.npy" >"$work/usual"
grep -q '65504' "$work/saturate"
grep -q 'not finite' "$work/usual"

# an input whose name C++ takes for itself is called by its own
cat >"$work/taken.craft" <<'TEXT'
@ascend_kernel
def copy_kernel(x, y, n):
    buf = tl.alloc_ub(4096, tl.float32)
    for i in range(0, n, 4096):
        off = i + tl.arange(0, min(4096, n - i))
        with tl.copyin():
            tl.load(x + off, buf)
        with tl.copyout():
            tl.store(y + off, buf)


def copy(idx, y):
    copy_kernel[1](idx, y, idx.numel())
TEXT
"$ASCENDCRAFT" run "$work/taken.craft" --shape idx=7 --out "$work/taken.npy" >/dev/null
