#!/bin/sh
# What the README promises of the command: equal bytes from equal input, quick and small even for a tensor of 6 GB, benchmark text that runs
# as Python, tracing with whatever libpython there is, and no Python at all for DSL input.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
softmax=$AC_SOURCE/tests/operators/activation/softmax.py
passed=0
failed=0
check() { # status, what
  if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi
}

# The file's own shape is (4096, 393216): 6.4 GB in and 6.4 GB out.
start=$(date +%s%N)
(
  # ulimit -v would bound the sanitizers' shadow memory, too
  [ -n "${AC_SANITIZE:-}" ] || ulimit -v 400000
  "$ASCENDCRAFT" gen "$softmax" --no-verify -o "$work/a" >"$work/log" 2>&1
)
check $? "gen --no-verify of softmax at (4096, 393216): $(cat "$work/log")"
took=$(( ($(date +%s%N) - start) / 1000000 ))
echo "gen --no-verify of softmax at (4096, 393216): $took ms (not a test: the machine may be busy)"
(cd "$work" && "$ASCENDCRAFT" gen "$softmax" --no-verify -o b >/dev/null 2>&1)
diff -r "$work/a" "$work/b" >"$work/log"
check $? "two runs differ: $(head -n 5 "$work/log")"

/usr/bin/python3 - "$work/a/benchmark/softmax_custom.txt" <<'EOF'
import json
import re
import sys

text = open(sys.argv[1]).read()
code = re.search(r"```python\n(.*?)```", text, re.S).group(1)
names = {}
exec(code, names)
wanted = ["project_json_src", "host_tiling_src", "host_operator_src", "kernel_src", "python_bind_src", "model_src"]
assert all(isinstance(names[w], str) and names[w].strip() for w in wanted)
operator = json.loads(names["project_json_src"])[0]["op"]
assert operator == "SoftmaxCustom", operator
assert re.search(r"\bsoftmax_custom\(GM_ADDR", names["kernel_src"])
assert "OP_ADD(SoftmaxCustom)" in names["host_operator_src"]
assert "aclnnSoftmaxCustom" in names["python_bind_src"] and "TORCH_EXTENSION_NAME" in names["python_bind_src"]
compile(names["model_src"], "model_src", "exec")
assert "class ModelNew" in names["model_src"]
EOF
check $? "the six-string text does not run as Python"
for f in msopgen/op_kernel/softmax_custom.cpp msopgen/op_host/softmax_custom.cpp; do
  /usr/bin/python3 - "$work/a/benchmark/softmax_custom.txt" "$work/a/$f" <<'EOF'
import re
import sys

names = {}
exec(re.search(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.S).group(1), names)
text = open(sys.argv[2]).read().strip()
assert any(isinstance(v, str) and v.strip() == text for v in names.values()), sys.argv[2]
EOF
  check $? "the six-string text is not the text of $f"
done
/usr/bin/python3 -m py_compile "$work/a/device_test.py"
check $? "device_test.py is not Python"

# DSL input on a host without any libpython: the tracer is not even looked for.
mkdir -p "$work/c"
cp "$work/a/softmax_custom.craft" "$work/c/"
ASCENDCRAFT_TRACE=/nonexistent ASCENDCRAFT_LIBPYTHON=/nonexistent "$ASCENDCRAFT" check "$work/c/softmax_custom.craft" >"$work/log" 2>&1
check $? "check of a DSL program needs Python: $(cat "$work/log")"
ASCENDCRAFT_TRACE=/nonexistent ASCENDCRAFT_LIBPYTHON=/nonexistent \
  "$ASCENDCRAFT" gen "$work/c/softmax_custom.craft" -o "$work/d" >"$work/log" 2>&1
check $? "gen of a DSL program needs Python: $(cat "$work/log")"
! ldd "$ASCENDCRAFT" | grep -q libpython
check $? "the command is linked to libpython"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
