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
exit "$bad"
