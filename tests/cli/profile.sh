#!/bin/sh
# `ascendcraft profile`: the table, the JSON, the trace and the picture say the same of one run, for a file and for its project.
set -eu
craft=${ASCENDCRAFT:?}
python=${PYTHON:-/usr/bin/python3}
fail() {
  echo "FAIL: $*" >&2
  exit 1
}
cat >gelu.py <<'EOF'
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.nn.functional.gelu(x) + 1.0

def get_inputs():
    return [torch.randn(64, 4096)]

def get_init_inputs():
    return []
EOF

"$craft" profile gelu.py --trace t.json --plot t.svg --trace-blocks 3 >text || fail "profile ends with $?"
grep -q 'MODELLED' text || fail "the report does not say that it is modelled"
grep -q 'not measured' text || fail "the report does not say that it is no measurement"
for word in 'bound  ' 'roofline' 'must move once' 'vector ' 'MTE2 ' 'MTE3 ' 'longest stalls'; do
  grep -q "$word" text || fail "the report has no '$word'"
done
"$craft" profile gelu.py --json >a.json
"$craft" gen gelu.py --no-verify --force -o project >/dev/null
"$craft" profile project --json >b.json
"$craft" profile project --json --threads 1 --order reverse >c.json
"$craft" run gelu.py --json >d.json
"$python" - <<'EOF'
import json

def load(name):
    return json.load(open(name))

a, b, c, d = (load(n)["profile" if n != "d.json" else "run"] for n in ("a.json", "b.json", "c.json", "d.json"))
d = d["time"]
for key in ("us", "cycles", "bytes_in", "bytes_out", "must_in", "must_out", "cores"):
    assert a[key] == b[key] == c[key] == d[key], key
assert a["class"] == "modelled" and a["must_in"] == a["must_out"] == 64 * 4096 * 4
assert a["us"] > a["launch_us"] > 0 and abs(a["us"] - a["launch_us"] - a["cycles"] / a["mhz"]) < 1e-6
assert 0 < a["roofline_share"] < 1 and a["bound"] in ("launch", "memory", "unit", "latency")
assert all(0 < u["busy"] <= u["busiest_core"] <= 1 for u in a["units"].values())
assert any(s["unit"] == "vector" and s["edge"] == "MTE2_V" and s["for"] == "MTE2" for s in a["stalls"])
assert all("hint" in s for s in a["stalls"] if s["at"] == "DeQue")

t = load("t.json")
assert t["otherData"]["class"] == "modelled"
events = t["traceEvents"]
spans = [e for e in events if e["ph"] == "X"]
assert {e["pid"] for e in spans} == {0, 1, 2}
assert {e["args"]["name"] for e in events if e["name"] == "thread_name"} >= {"vector", "MTE2", "MTE3", "scalar"}
# instructions of one unit of one core do not overlap
ends = {}
for e in spans:
    key = (e["pid"], e["tid"])
    if e["cat"] == "instruction":
        assert e["ts"] >= ends.get(key, 0) - 1e-4, e
        ends[key] = e["ts"] + e["dur"]
assert max(ends.values()) <= a["cycles"] / a["mhz"] + 1e-3
# busy time of core 0's vector unit is that of the report
busy = sum(e["dur"] for e in spans if e["pid"] == 0 and e["tid"] == 1) * a["mhz"]
assert abs(busy - a["cores"][0]["busy"]["vector"]) < 1, busy
# arrows start and end in pairs, forward in time
start = {e["id"]: e for e in events if e["ph"] == "s"}
end = {e["id"]: e for e in events if e["ph"] == "f"}
assert start and start.keys() == end.keys()
assert all(start[i]["ts"] <= end[i]["ts"] for i in start)
assert {"MTE2_V", "V_MTE3"} <= {e["name"] for e in start.values()}
EOF
head -c 4 t.svg | grep -q '<svg' || fail "no picture"
grep -q 'not measured' t.svg || fail "the picture does not say what it is"
tail -n 1 t.svg | grep -q '</svg>' || fail "the picture has no end"

# a kernel's source: with one buffer a queue, loads wait for the vector unit, and the report names the lines of both
cp "$AC_SOURCE/tests/cli/kernels/stream.cpp" .
"$python" - <<'EOF'
import struct

n = 4 * 16 * 4096
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % n
head += ' ' * (-(len(head) + 11) % 64) + '\n'
open('x.npy', 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + bytes(4 * n))
EOF
# figures of the test's own for what calibration may change
sed 's/"base": "arch2201"/"base": "arch2201", "launch": {"us": 3, "core_us": 0, "block": 500}, "copy": {"gm_to_ub": {"start": 40, "latency": 175, "bytes_per_cycle": 118, "burst": 8}, "ub_to_gm": {"start": 40, "latency": 105, "bytes_per_cycle": 70, "burst": 8}}/' \
  "$AC_SOURCE/data/chips/ascend910b2.json" >fixed.json
for buffers in 1 2; do
  "$craft" profile stream.cpp --target fixed.json --in x.npy --out y.npy:float32:262144 --blocks 4 -D BUFFERS=$buffers >stream$buffers
  "$craft" profile stream.cpp --target fixed.json --in x.npy --out y.npy:float32:262144 --blocks 4 -D BUFFERS=$buffers --json >stream$buffers.json
done
"$python" - <<'EOF'
import json

source = open('stream.cpp').read().split('\n')
one, two = (json.load(open('stream%d.json' % n))['profile'] for n in (1, 2))
assert two['cycles'] < 0.7 * one['cycles'], (one['cycles'], two['cycles'])
longest = next(s for s in one['stalls'] if s['unit'] == 'MTE2')
assert (longest['at'], longest['edge'], longest['for_op']) == ('AllocTensor', 'V_MTE2', 'Sqrt'), longest
assert 'in.AllocTensor' in source[longest['line'] - 1] and 'Sqrt' in source[longest['for_line'] - 1], longest
assert one['bound'] == 'latency' and longest['cycles'] > 2 * next(s for s in two['stalls'] if s['unit'] == 'MTE2')['cycles']
EOF
grep -q 'AllocTensor <V_MTE2> (stream.cpp:' stream1 || fail "the stall has no place"
grep -q '44 cores have nothing to do' stream1 || fail "idle cores are not named"

# how far the model is off, where that is known
"$craft" profile gelu.py --target 910b2 | grep -q 'model error .*: median [0-9]*%, 90th percentile [0-9]*%' || fail "no error of the model"
"$craft" profile gelu.py --target 910b4 | grep -q 'model error' && fail "an error that nobody knows"
# another chip, by name and by file
"$craft" profile gelu.py --target 910b4 | grep -q '1500 MHz' || fail "--target"
sed 's/"base": "arch2201"/"base": "arch2201", "launch": {"us": 77, "core_us": 0}/' "$AC_SOURCE/data/chips/ascend910b2.json" >slow.json
"$craft" profile project --target slow.json | grep -q '77 us of overhead' || fail "--target FILE.json"
echo '{"name": "x"}' >bad.json
"$craft" profile gelu.py --target bad.json 2>err && fail "a chip file without figures is taken"
grep -q 'no usable' err || fail "what is missing is not said"
"$craft" profile gelu.py --trace /nonexistent/t.json >/dev/null 2>err && fail "a trace that cannot be written"
grep -q 'cannot be written' err || fail "no message: $(cat err)"
echo ok
