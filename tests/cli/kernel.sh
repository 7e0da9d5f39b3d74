#!/bin/sh
# `run KERNEL.cpp`: arguments, .npy files, tiling data by name, entries; what it refuses and what it says; nothing is left behind.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
k=$AC_SOURCE/tests/cli/kernels
add=$AC_SOURCE/data/examples/ascendc/add.cpp
cd "$work"
python=${PYTHON:-/usr/bin/python3}

# npy DTYPE SHAPE FILE VALUES...: without numpy, which only the comparison with PyTorch needs
cat >npy.py <<'TEXT'
import struct, sys, ast
CODES = {'f4': 'f', 'f2': 'e', 'i4': 'i', 'u2': 'H', 'f8': 'd'}
def write(path, code, shape, values):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    with open(path, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + struct.pack('<%d%s' % (len(values), CODES[code]), *values))
def read(path):
    data = open(path, 'rb').read()
    n, = struct.unpack('<H', data[8:10])
    head = ast.literal_eval(data[10:10 + n].decode())
    body = data[10 + n:]
    code = CODES[head['descr'][1:]]
    return head['shape'], list(struct.unpack('<%d%s' % (len(body) // struct.calcsize(code), code), body))
TEXT
py() { PYTHONPATH=$work "$python" -c "from npy import *
$1"; }

# run EXIT PATTERN ARGUMENTS...
run() {
  want=$1 text=$2
  shift 2
  rc=0
  "$ASCENDCRAFT" run "$@" >out 2>&1 || rc=$?
  if [ "$rc" -ne "$want" ] || ! grep -q -e "$text" out; then
    echo "exit $rc, wanted $want with '$text': run $*"
    cat out
    exit 1
  fi
}

py "
write('x.npy', 'f4', (2048,), [i * 0.5 for i in range(2048)])
write('y.npy', 'f4', (2, 1024), [1.0] * 2048)
write('h.npy', 'f2', (2048,), [i % 64 for i in range(2048)])
write('b.npy', 'u2', (2048,), [0x3f80] * 2048)
write('one.npy', 'f4', (64,), [1.0] * 64)"

# ---- arguments in the kernel's order, fields by name
io="--in x.npy --in y.npy --out z.npy:float32:32x64 --blocks 4"
run 0 'AddTilingData' "$add" $io --tiling 'totalLength=2048,tileNum=4,alpha=[0,0.25]'
py "
shape, v = read('z.npy')
assert shape == (32, 64), shape
assert v == [i * 0.5 + 0.25 for i in range(2048)]"
run 0 'not given, so as they begin: alpha' "$add" $io --tiling totalLength=2048 --tiling tileNum=4
py "assert read('z.npy')[1] == [i * 0.5 for i in range(2048)]"
run 0 '' "$add" $io --workspace 1024 --tiling 'totalLength=2048,tileNum=8,alpha[1]=2' --order reverse --threads 1
py "assert read('z.npy')[1] == [i * 0.5 + 2 for i in range(2048)]"
# ... of what is given in part: elements, members
run 0 'not given, so as they begin: alpha\[0\]$' "$add" $io --tiling 'totalLength=2048,tileNum=8,alpha[1]=2'
run 0 'not given, so as they begin: alpha\[1\]$' "$add" $io --tiling 'totalLength=2048,tileNum=8,alpha=[2]'
cat >odd.cpp <<'TEXT'
#include "kernel_operator.h"
struct Part { int32_t m, n; bool last; };
struct OddTiling { int64_t all; Part one, whole; Part many[3]; uint16_t rows[2][3]; float f[8]; };
extern "C" __global__ __aicore__ void parts(GM_ADDR x, OddTiling t) {}
TEXT
run 0 'as they begin: one but for one.m, one.last, many\[0\], many\[1\] in part, many\[2\], rows\[0\], rows\[1\] in part, f\[0..1\], f\[4..7\]$' \
  odd.cpp --in x.npy --blocks 1 \
  --tiling 'all=1,one.m=2,one.last=1,whole.m=1,whole.n=2,whole.last=true,many[1].n=3,rows[1][2]=4,f[2]=1,f[3]=2'
run 0 'OddTiling; not given, so as they begin: one, whole, many, rows, f$' odd.cpp --in x.npy --blocks 1 --tiling all=1
printf '\000\010\000\000\004\000\000\000\000\000\000\000\000\000\000\100' >tiling.bin
run 0 '16 bytes' "$add" $io --tiling tiling.bin
py "assert read('z.npy')[1] == [i * 0.5 + 2 for i in range(2048)]"
# the dtypes of the tensors are the kernel's DTYPE_X
run 0 float16 "$add" --in h.npy --in h.npy --out z.npy:float16:2048 --blocks 4 --tiling totalLength=2048,tileNum=4,alpha=[0,1]
py "assert read('z.npy')[1] == [2.0 * (i % 64) for i in range(2048)]"
run 2 'No such file' "$add" --in b.npy:float16x --in b.npy --out z.npy:float16:2048 --blocks 4

# ---- what does not fit is said, and no file is written
rm -f z.npy
run 2 "did you mean 'tileNum'" "$add" $io --tiling totalLength=2048,tilenum=4
run 2 '65536 does not fit field tileNum' "$add" $io --tiling totalLength=2048,tileNum=65536
run 2 '0.5 does not fit field tileNum' "$add" $io --tiling totalLength=2048,tileNum=0.5
run 2 '1000 does not fit field tileNum.*: give a whole number, without a fraction or an exponent, as 1000, -7, 0x3e8 or true' "$add" $io \
  --tiling totalLength=2048,tileNum=1e3
run 2 'as 1000, -7 or 0x3e8, one with a fraction, as 0.25 or 1e-5' "$add" $io --tiling totalLength=2k
run 2 '3 values for field alpha' "$add" $io --tiling totalLength=2048,alpha=[1,2,3]
run 2 'one file or fields, not both' "$add" $io --tiling npy.py --tiling x=1
printf 'abc' >short.bin
run 2 'file has 3 bytes' "$add" $io --tiling short.bin
run 2 'tiling is not given' "$add" $io
# an output goes through a link and into a device, and into no folder that is not there
ln -s real.npy link.npy
mkfifo pipe.npy
cat pipe.npy >through.npy &
run 0 '' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --out link.npy:float32:2048 --arg 1024 --arg 0.5 --blocks 2
[ -L link.npy ]
run 0 '' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --out pipe.npy:float32:2048 --arg 1024 --arg 0.5 --blocks 2
wait
cmp real.npy through.npy
[ -p pipe.npy ]
run 2 'No such file' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --out no/y.npy:float32:2048 --arg 1024 --arg 0.5 --blocks 2
[ ! -e no ]
run 2 '64 bits can count' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --out y9.npy:float32:4294967296x4294967296 --arg 1024 --arg 0.5 --blocks 2

run 2 'takes 5 arguments' "$add" --in x.npy --out z.npy:float32:2048 --blocks 4
run 2 'how many blocks' "$add" --in x.npy
run 2 'a file, a dtype and a shape' "$add" --in x.npy --out z.npy --blocks 4
run 2 'there is no such file' "$add" $io --tiling nothing.bin
run 2 'no kernel .sub_custom' "$add" $io --entry sub_custom
run 2 'goes to that file' "$k/launch.cpp" --entry 'shift<float>' --out z.npy:float32:1 --out z.npy:float32:1 --blocks 1
echo 'void f();' >none.cpp
run 2 'no __global__ function' none.cpp --blocks 1
[ ! -e z.npy ]
# a fault: exit 1, the place, and the output can be looked at
run 1 'gm-out-of-bounds.*of z, which has 2000\|writes elements' "$add" --in x.npy --in y.npy --out z.npy:float32:2000 --blocks 4 \
  --tiling totalLength=2048,tileNum=4
[ -e z.npy ]
# ... and whatever tensor lies where the access lands (0: the kernel goes for y)
past() {
  run 1 "$1" "$k/beyond.cpp" --in x.npy --in y.npy --out z.npy:float32:2048 --arg "$2" --arg "$3" --blocks 1
}
past 'gm-out-of-bounds.*reads elements.* of x, which has 2048' 0 256
past 'gm-out-of-bounds.*reads elements 2048[.][.]2303 of x, which has 2048' 2048 256
past "gm-out-of-bounds.*reads elements -1024[.][.]-769 of x" -1024 256
past 'gm-out-of-bounds.*writes elements.* of z, which has 2048' 256 0

# ---- several entries, templates, scalars, structs by value, launchers
run 2 'several kernels' "$k/launch.cpp" --blocks 1
grep -q 'kernels::shift<...>(__gm__ T \* x' out
run 2 'is a template' "$k/launch.cpp" --entry shift --in x.npy --blocks 1
run 0 '' "$k/launch.cpp" --entry 'kernels::shift<float>' --in x.npy --out z.npy:float32:2048 --arg int64:1024 --arg float:0.5 --blocks 2
py "assert read('z.npy')[1] == [i * 0.5 + 0.5 for i in range(2048)]"
run 0 '' "$k/launch.cpp" -D SHIFT=3 --entry 'shift<half>' --in h.npy --out z.npy:float16:2048 --arg 1024 --arg 0.5 --blocks 2 -O
py "assert read('z.npy')[1] == [(i % 64) + 3.5 for i in range(2048)]"
# ... half overflow: inf on Atlas A2, the largest number on 310P, or as the option says
over() {
  top=$1
  shift
  run 0 '' "$k/launch.cpp" --entry 'shift<half>' --in h.npy --out z.npy:float16:2048 --arg 1024 --arg 65500 --blocks 2 "$@"
  py "assert [v for v in read('z.npy')[1] if v > 65503][-1] == float('$top')"
}
over inf
over 65504 --half-overflow saturate
over 65504 --target ascend310p3
over inf --target ascend310p3 --half-overflow inf
run 2 'half-overflow is inf or saturate' "$k/launch.cpp" --half-overflow wrap
run 2 'argument 3 of .*wants a number' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --out z.npy:float32:2048 --in y.npy --arg 1 --blocks 2
run 2 'wants an integer that fits long' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --out z.npy:float32:2048 --arg 0.5 --arg 1 --blocks 2
run 2 'wants an integer that fits long int, without a fraction or an exponent, as 1000, -7, 0x3e8' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --out z.npy:float32:2048 --arg 1e3 --arg 1 --blocks 2
run 2 '--arg int64:1e3: a whole number is due' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --out z.npy:float32:2048 --arg int64:1e3 --arg 1 --blocks 2
run 2 'as 1048576 or 0x100000' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --workspace 1e6 --arg 1 --arg 1 --blocks 2
run 2 'wants an address' "$k/launch.cpp" --entry 'shift<float>' --in x.npy --arg 3 --arg 1024 --arg 1 --blocks 2
run 0 '8 bytes, Shape' "$k/launch.cpp" --entry by_shape --in x.npy --out z.npy:float32:2048 --tiling rows=32,columns=32 --arg true \
  --tiling-key 7 --blocks 2
py "assert read('z.npy')[1] == [i * 0.5 - 1 for i in range(2048)]"
run 0 'tiling key 10000000000000001101' "$k/launch.cpp" --entry by_shape --in x.npy --out z.npy:float32:2048 --tiling rows=32,columns=32 \
  --arg true --tiling-key 10000000000000001101 --blocks 2
py "assert read('z.npy')[1] == [i * 0.5 + 2 for i in range(2048)]"
run 2 'tiling-key.*is not a whole number' "$k/launch.cpp" --entry by_shape --in x.npy --blocks 2 --tiling-key -1
run 0 '' "$k/launch.cpp" --entry launch_shift --in h.npy --out z.npy:float16:2048 --arg 2048 --arg uint32:4
py "assert read('z.npy')[1] == [(i % 64) + 2.0 for i in range(2048)]"

# ---- a struct of a header that the source does not include
run 0 'LaterTilingData' "$k/later.cpp" --out z.npy:int32:8 --tiling 'n=-7,few=[1,255],by=0.75' --blocks 1
py "assert read('z.npy')[1] == [-7, 1, 255, 0, 3, 0, 0, 0]"
run 0 'LaterTilingData' "$k/later.cpp" --out z.npy:int32:8 --tiling n=3 --tiling-header "$k/later_tiling.h" --blocks 1

# ---- plain pointers: writes to inputs and tiling data
printf 'abcdefghijklmnop' >16.bin
pointers() { run "$1" "$2" "$k/pointers.cpp" --in one.npy --out z.npy:float32:64 --tiling 16.bin --arg "$3" --blocks 2; }
pointers 0 'raw-pointer: 64 elements of z' 0
pointers 1 'write-to-input: x, which is an input, was written through a plain' 1
py "
assert read('z.npy')[1][:3] == [2.0] * 3
assert read('one.npy')[1] == [1.0] * 64"
pointers 1 'write-to-input: byte 9 of tiling was written' 3
grep -q 'write-to-input: x, which' out
# ... and zeros are as good as any other value
pointers 0 'raw-pointer: 64 elements of z' 4

# ---- in place, hazards
run 1 'hazard-raw' "$k/launch.cpp" --entry careless --inout one.npy:changed.npy --blocks 1
run 0 '' "$k/launch.cpp" --entry careless --inout one.npy:changed.npy --blocks 1 --hazards off
py "
assert read('changed.npy')[1] == [2.0] * 64
assert read('one.npy')[1] == [1.0] * 64"
run 2 '--hazards is on, strict or off' "$k/launch.cpp" --entry careless --inout one.npy --blocks 1 --hazards maybe

# ---- some blocks only: chosen by the seed, said, and what the others would write is not missed
run 0 'only blocks [0-9]*, [0-9]* of 8 ran' "$add" --in x.npy --in y.npy --out z.npy:float32:2048 --blocks 8 \
  --tiling totalLength=2048,tileNum=4 --sample-blocks 2 --seed 5
cp out first
run 0 '' "$add" --in x.npy --in y.npy --out z.npy:float32:2048 --blocks 8 --tiling totalLength=2048,tileNum=4 --sample-blocks 2 --seed 5
[ "$(grep sample: first)" = "$(grep sample: out)" ]
run 0 'all 8 blocks ran; --sample-blocks 9 is more than there are' "$add" --in x.npy --in y.npy --out z.npy:float32:2048 --blocks 8 \
  --tiling totalLength=2048,tileNum=4 --sample-blocks 9
"$ASCENDCRAFT" run "$add" --in x.npy --in y.npy --out z.npy:float32:2048 --blocks 8 --tiling totalLength=2048,tileNum=4 \
  --sample-blocks 3 --seed 6 --json >json
"$python" -c "
import json
j = json.load(open('json'))
b = j['sampled_blocks']
assert len(b) == 3 and sorted(set(b)) == b and b[-1] < 8, j"

# ---- somebody's msopgen project, with its own tiling code
f=$AC_SOURCE/tests/sim/fixtures/relu_tail
py "write('n.npy', 'f4', (2047,), [i - 1000.0 for i in range(2047)])"
run 0 'y: float32, 2047 elements' "$f" --in n.npy --out z.npy:float32:2047 --arg slope=0.25
py "assert read('z.npy')[1] == [max(i - 1000.0, 0.25 * (i - 1000.0)) for i in range(2047)]"
run 1 'no attribute slop' "$f" --in n.npy --out z.npy:float32:2047 --arg slop=0.25
run 2 'attributes, by name' "$f" --in n.npy --out z.npy:float32:2047 --arg 0.25
run 2 'no such operator' "$f" --entry Relu --in n.npy --out z.npy:float32:2047
# host code beside the kernel, which launches it: only what the kernel calls counts
cp -r "$f" host && chmod -R u+w host
cat >>host/op_kernel/relu_tail.cpp <<'TEXT'
extern "C" void *malloc(unsigned long);
extern "C" double cos(double);
extern "C" void launch(uint32_t blocks, void *stream, GM_ADDR x) {
  relu_tail<<<blocks, nullptr, stream>>>(x, (GM_ADDR)malloc(8), nullptr, nullptr);
}
TEXT
run 0 'y: float32, 2047 elements' host --in n.npy --out z.npy:float32:2047 --arg slope=0.25
sed -i 's/slope_ = slope;/slope_ = slope + 0.0f * (float)cos(slope);/; 1i extern "C" double cos(double);' host/op_kernel/relu_tail.cpp
run 1 'host-function: a kernel calls cos, ' host --in n.npy --out z.npy:float32:2047 --arg slope=0.25
if grep -q malloc out; then exit 1; fi
# its tiling code decides the launch: what would be ignored is refused
for own in '--blocks 3' '--tiling a=3' '--tiling-key 2'; do
  # shellcheck disable=SC2086
  run 2 'is for a kernel.s source: the tiling code of' "$f" --in n.npy --out z.npy:float32:2047 $own
done

# ---- a kernel that starts a process cannot
# ends.cpp calls exit, fork and more of the host: a fault (host-function), whatever the entry
run 1 'fork: -1' "$k/ends.cpp" --entry forks --in x.npy --blocks 1 --threads 1
run 1 '' "$k/ends.cpp" --entry forks --in x.npy --blocks 4 --threads 3

# ---- kernels that the text does not show; parameters that are left out; doubles that nobody asked for; wrong options
l=$k/left_out.cpp
py "write('f64', 'f4', '(64,)', list(range(64)))
write('d64', 'f8', '(32,)', list(range(32)))"
sed '/^.. what is shown/,$d' "$l" >hidden.cpp
run 2 'one that a macro makes is not seen here: name it, --entry NAME' hidden.cpp --in f64 --out o.npy:float32:64 --blocks 1
run 0 'from 0 to 63' hidden.cpp --entry made_by_macro --in f64 --out o.npy:float32:64 --blocks 1
run 0 'from 0 to 63' "$l" --entry made_by_macro --in f64 --out o.npy:float32:64 --blocks 1
run 2 "there is no kernel 'made' in it" "$l" --entry made --in f64 --out o.npy:float32:64 --blocks 1
run 1 'elements 0..71 of target, which has 64' "$l" --entry launch_it --arg 1 --in f64 --out o.npy:float32:64
run 1 'elements 0..71 of target, which has 64' "$l" --entry launch_it --arg 1 --arg null --in f64 --out o.npy:float32:64
run 2 'source would get float64.*' "$l" --entry beyond_the_end --in d64 --out o.npy:float32:64 --blocks 1
grep -q 'array.astype(.float32.)); a kernel that does take doubles gets them by --in d64:float64' out
run 2 'source would get float64' "$l" --entry beyond_the_end --inout d64:o.npy --out p.npy:float32:64 --blocks 1
run 1 'has 64' "$l" --entry beyond_the_end --in d64:float64 --out o.npy:float32:64 --blocks 1
run 0 'float64, 32 elements, from 0 to 31' "$l" --entry of_doubles --in d64 --out o.npy:float64:32 --blocks 1
# -D of a name that the headers use themselves, and whose dtype defines stay
run 0 'from 0 to 63' "$l" --entry made_by_macro --in f64 --out o.npy:float32:64 --blocks 1 -D N=7 -D U -D 'B(x)=x' -D v=1
for wrong in '--blcks 3' '--blocks' '--blocks=x' '--json=1' '--hazards sometimes' 'second.cpp'; do
  rc=0
  # shellcheck disable=SC2086
  "$ASCENDCRAFT" run "$l" --json $wrong >json 2>err || rc=$?
  [ "$rc" = 2 ]
  "$python" -c "
import json
j = json.load(open('json'))
assert j['exit'] == 2 and j['command'] == 'run' and j['diagnostics'][0]['code'] == 'AC0103', j
assert j['diagnostics'][0]['message'] in open('err').read()"
done
run 2 'there is no option --blcks; did you mean --blocks?' "$l" --blcks 3
run 2 'option --blocks needs a value' "$l" --blocks
run 2 'option --json takes no value' "$l" --json=1

# ---- one that ends the process: what is known of it; what it printed stays
# (a sanitized build would look for leaks at that exit, with a process of its own, which the sandbox refuses)
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
run 1 'exit(0), in the kernel, block 0, after Duplicate (.*ends.cpp:' "$k/ends.cpp" --entry exits --in x.npy --blocks 1
grep -q 'about to' out
run 1 '' "$k/ends.cpp" --entry says_twice --in x.npy --blocks 3 --threads 3
[ "$(sed -n 's/^\[block \([0-9]\)\] /\1 /p' out | tr '\n' ,)" = '0 first,0 second,1 first,1 second,2 first,2 second,' ]
run 1 'exit(4), in the kernel, block 0' "$k/ends.cpp" --entry exits_with_4 --in x.npy --blocks 1
run 1 'exit(0), in the kernel' "$k/ends.cpp" --entry exits_at_once --in x.npy --blocks 2
run 4 'block 0] says 0' "$k/ends.cpp" --entry says_and_hangs --in x.npy --blocks 1 --timeout 0.5
rc=0
"$ASCENDCRAFT" run "$k/ends.cpp" --entry says_and_hangs --in x.npy --blocks 1 --timeout 0.5 --json >json 2>err || rc=$?
[ "$rc" = 4 ]
"$python" -c "
import json
assert 'says 0' in json.load(open('json'))['printed']"

# ---- what is printed beyond the limit is not kept, and that is said
cat >loud.cpp <<'TEXT'
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void loud(GM_ADDR x) {
  for (int i = 0; i < 3000; i++) AscendC::printf("line %d of many that the kernel prints\n", i);
}
TEXT
run 0 '^(what was printed beyond 65536 bytes is not kept)$' loud.cpp --in x.npy --blocks 1
grep -q ' [.][.][.]$' out

# ---- fatal signals: what each means, and which tiling fields were not given
run 1 'each 4' "$k/ends.cpp" --entry divides --in x.npy --tiling total=8,parts=2 --blocks 1 --threads 1
if [ "$(uname -m)" = x86_64 ]; then # elsewhere the quotient may be 0
  run 1 'an integer was divided by zero (a tiling value that was not given is 0)' "$k/ends.cpp" --entry divides --in x.npy \
    --tiling total=8 --blocks 1
  grep -q 'not given, so as they begin: parts' out
  if grep -q 'a pointer was used' out; then exit 1; fi
fi
run 1 'the code stopped itself with __builtin_trap()' "$k/ends.cpp" --entry traps --in x.npy --blocks 1
if grep -q 'a pointer was used' out; then exit 1; fi

# ... and what is made outside of any kernel: its own line
cat >early.cpp <<'TEXT'
#include "kernel_operator.h"
namespace n {
static AscendC::TPipe pipe;
}
extern "C" __global__ __aicore__ void early(GM_ADDR x) {}
TEXT
run 1 'early.cpp:3: error.AC0803.: Aborted' early.cpp --in x.npy --blocks 1
grep -q 'TPipe was called outside of a kernel: what AscendC has is made and used in the kernel' out
if grep -q 'abort()' out; then exit 1; fi

# ---- what the compiler refuses: the entry's form is named only where it is about the entry
echo '#error "No space left on device"' | cat - "$k/endless.cpp" >full.cpp
run 1 'make room: the compiler writes to ' full.cpp --in x.npy --blocks 1
if grep -q 'must define' out; then exit 1; fi
echo 'namespace n { int made_by; }' | cat "$k/endless.cpp" - >other.cpp
run 1 'the kernel file must define extern .C. .* made_by' other.cpp --entry made_by --in x.npy --blocks 1
run 1 "Nothing'" "$k/endless.cpp" --tiling-struct Nothing --in x.npy --blocks 1
if grep -q 'must define' out; then exit 1; fi

# ---- more than the host's memory; pipes, which would keep it waiting; a full disk
run 4 'z needs 4000000000000000 bytes, besides the tensors before it; this host has [0-9]* bytes' "$add" --in x.npy --in y.npy \
  --out z.npy:float32:1000000000000000 --blocks 4 --tiling totalLength=2048,tileNum=4
mkfifo wait.npy wait.cpp
run 2 'no regular file but a pipe' "$add" --in wait.npy --in y.npy --out z.npy:float32:2048 --blocks 4 --tiling tileNum=4
run 2 'wait.cpp.*it is a pipe' wait.cpp --in x.npy --blocks 1
run 2 'wait.npy.*it is a pipe' "$add" $io --tiling wait.npy
# a pipe without a name, as the shell's <(...): read to its end, up to the limit
PYTHONPATH=$work "$python" -c "
import struct, sys
sys.stdout.buffer.write(struct.pack('<IHxxff', 2048, 4, 0.0, 0.25))" >tiling.bin
cat tiling.bin | run 0 'tiling data: 16 bytes' "$add" $io --tiling /dev/fd/0
py "assert read('z.npy')[1] == [i * 0.5 + 0.25 for i in range(2048)]"
head -c 2000000 /dev/zero | run 4 'larger than 1048576 bytes' "$add" $io --tiling /dev/fd/0
run 2 'AC0101.*it is a folder' "$add" $io --tiling .

# ---- no compiler on this machine: that is no fault of ours
mkdir nothing
rc=0
PATH=$work/nothing XDG_CACHE_HOME=$work/nothing ASCENDCRAFT_CXX=$work/nothing/c++ "$ASCENDCRAFT" run "$add" $io \
  --tiling totalLength=2048,tileNum=4 >out 2>&1 || rc=$?
[ $rc = 3 ]
grep -q 'AC0802.*neither' out
if [ -c /dev/full ]; then
  rc=0
  "$ASCENDCRAFT" run "$l" --entry made_by_macro --in f64 --out o.npy:float32:64 --blocks 1 >/dev/full 2>err || rc=$?
  [ "$rc" = 2 ]
  grep -q 'standard output: No space left on device' err
fi

# ---- the cache: what the compiler read, found as it would be found now
mkdir i1 i2 src
export XDG_CACHE_HOME="$work/cache"
cat >src/k.cpp <<'TEXT'
#include "kernel_operator.h"
#include <v.h>
#define NAME "w.h"
#include NAME
#include \
"x.h"
#if __has_include("later.h")
#include "later.h"
#else
#define LATER 0
#endif
extern "C" __global__ __aicore__ void k(GM_ADDR x) { AscendC::printf("values %d\n", V * 1000 + W * 100 + X * 10 + LATER); }
TEXT
echo '#define V 1' >i2/v.h
echo '#define W 1' >src/w.h
echo '#define X 1' >src/x.h
values() {
  run 0 "values $1\$" src/k.cpp --in one.npy --blocks 1 -I "${2:-i1}" -I "${3:-i2}"
}
values 1110
echo '#define V 2' >i2/v.h
values 2110
echo '#define V 3' >i1/v.h
values 3110
values 2110 i2 i1
echo '#define W 2' >src/w.h
values 3210
echo '#define X 2' >src/x.h
values 3220
echo '#define LATER 1' >src/later.h
values 3221
sleep 0.05
values 3221 # with the stamp of a compile whose sources were all older
before=$(stat -c %i cache/ascendcraft/*.so | sort)
values 3221
[ "$before" = "$(stat -c %i cache/ascendcraft/*.so | sort)" ] || {
  echo 'compiled again for nothing'
  exit 1
}

# ---- ... and whole
for f in cache/ascendcraft/*.so cache/ascendcraft/*.gch; do
  [ ! -e "$f" ] || head -c 3000 /dev/urandom >"$f"
done
values 3221
for f in cache/ascendcraft/*; do truncate -s 100 "$f"; done
values 3221
echo '#define X 4' >src/x.h
values 3241
unset XDG_CACHE_HOME

# ---- limits, Ctrl-C, a line while it takes long, JSON
run 4 'not done after' "$k/endless.cpp" --in x.npy --blocks 1 --timeout 0.5
rm -f z.npy
"$ASCENDCRAFT" run "$k/endless.cpp" --inout x.npy:z.npy --blocks 1 >out 2>&1 &
pid=$!
sleep 0.7
kill -TERM "$pid"
rc=0
wait "$pid" || rc=$?
[ "$rc" = 143 ] || {
  echo "exit $rc after SIGTERM"
  cat out
  exit 1
}
[ ! -e z.npy ]
if command -v script >/dev/null; then
  rc=0
  script -qec "$ASCENDCRAFT run $k/endless.cpp --in x.npy --blocks 1 --timeout 2.8" shown >/dev/null </dev/null || rc=$?
  [ "$rc" = 4 ]
  grep -q 'running: 0 of 1 blocks done' shown
fi
"$ASCENDCRAFT" run "$add" $io --tiling totalLength=2048,tileNum=4 --json >json
"$python" -c "
import json
j = json.load(open('json'))
assert j['exit'] == 0 and j['run']['blocks'] == 4 and j['run']['faults'] == 0, j
assert j['outputs'] == [{'name': 'z', 'dtype': 'float32', 'shape': [32, 64], 'file': 'z.npy'}], j['outputs']"
if ls -a | grep -q part; then
  ls -a
  exit 1
fi
