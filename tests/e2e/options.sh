#!/bin/sh
# Options that are easy to get wrong: --quiet says nothing of what went well, --dtype takes floating dtypes only.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
bad=0
cat >"$t/m.py" <<'EOF'
import torch


class Model(torch.nn.Module):
    def forward(self, x, unused):
        return x + 1


def get_inputs():
    return [torch.rand(4, 8), torch.rand(3)]
EOF
out=$("$ASCENDCRAFT" gen --no-verify -q "$t/m.py" -o "$t/a" 2>&1) || bad=1
[ -z "$out" ] || { echo "FAIL: --quiet says: $out"; bad=1; }
out=$("$ASCENDCRAFT" gen --no-verify -q "$t/m.py" -d int8 -o "$t/b" 2>&1)
[ $? = 2 ] || { echo "FAIL: --dtype int8 is not bad input"; bad=1; }
case $out in *AC0103*"'int8' is not a floating dtype"*float16*) ;; *) echo "FAIL: --dtype int8: $out"; bad=1 ;; esac
# A shape whose bytes do not fit into 64 bits is generated for, and cannot be run here: said, not silent.
"$ASCENDCRAFT" gen --no-verify -q "$t/m.py" -s x=9223372036854775807 -o "$t/c" || bad=1
out=$("$ASCENDCRAFT" run "$t/c" 2>&1)
[ $? = 4 ] || { echo "FAIL: run of 2^63 elements is not a limit"; bad=1; }
case $out in *"no memory for the 9223372036854775807 elements of x"*) ;; *) echo "FAIL: run of 2^63 elements: $out"; bad=1 ;; esac
exit "$bad"
