#!/bin/sh
# How long the command takes on this host: smallest and middle wall time of some runs, in milliseconds (measured), and instruction counts
# where valgrind is installed (repeatable). Never a test: a busy machine is slow.
# usage: bench/run.sh [BUILD_DIR] [RUNS]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build}
runs=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
ASCENDCRAFT_HOME=$root
export ASCENDCRAFT_HOME

# name, command...
timed() {
  name=$1
  shift
  i=0
  while [ "$i" -lt "$runs" ]; do
    start=$(date +%s%N)
    "$@" >/dev/null 2>&1
    echo $((($(date +%s%N) - start) / 1000000))
    i=$((i + 1))
  done | sort -n >"$work/times"
  printf '%-58s %6s %6s\n' "$name" "$(head -n 1 "$work/times")" "$(sed -n "$(((runs + 1) / 2))p" "$work/times")"
}

craft=$build/ascendcraft
module=$root/tests/operators/activation/softmax.py
"$craft" gen "$module" --no-verify -o "$work/p" >/dev/null
printf '%-58s %6s %6s\n' 'wall time on this host (ms, measured)' min median
timed 'trace softmax' "$craft" trace "$module"
timed 'gen --no-verify softmax (4096, 393216)' "$craft" gen "$module" --no-verify --force -o "$work/q"
timed 'check softmax.craft' "$craft" check "$work/p/softmax_custom.craft"
timed 'run softmax (16, 16384)' "$craft" run "$work/p" --shape x=16,16384
timed 'run softmax.craft (16, 16384), direct' "$craft" run "$work/p/softmax_custom.craft" --shape x=16,16384
timed 'run softmax (1024, 16384)' "$craft" run "$work/p" --shape x=1024,16384
timed 'verify softmax, ladder up to 100000 elements' "$craft" verify "$work/p" --shape x=16,16384 --max-elements 100000
# Anybody's kernel: after an edit (the source is another one each time), and as it was.
cp "$root/data/examples/ascendc/add.cpp" "$work/kernel.cpp"
python=${PYTHON:-/usr/bin/python3}
"$python" -c "
head = \"{'descr': '<f4', 'fortran_order': False, 'shape': (16384,), }\"
head += ' ' * (-(len(head) + 11) % 64) + chr(10)
open('$work/x.npy', 'wb').write(b'\\x93NUMPY\\x01\\x00' + len(head).to_bytes(2, 'little') + head.encode() + bytes(65536))"
run_kernel() {
  "$craft" run "$1" --in "$work/x.npy" --in "$work/x.npy" --out "$work/z.npy:float32:16384" --blocks 8 \
    --tiling totalLength=16384,tileNum=4
}
edited() {
  date +'// %N' >>"$work/kernel.cpp"
  run_kernel "$work/kernel.cpp"
}
run_kernel "$work/kernel.cpp" >/dev/null
timed 'run add.cpp (64 lines), 16384 elements, edited' edited
timed 'run add.cpp (64 lines), 16384 elements, unchanged' run_kernel "$work/kernel.cpp"
# a longer one: what gen made of gelu, run as a lone kernel
"$craft" gen "$root/data/examples/gelu.py" --dtype float32 --no-verify -o "$work/g" >/dev/null
cp "$work/g/msopgen/op_kernel/gelu_custom.cpp" "$work/g/msopgen/op_kernel/edited.cpp"
longer() {
  date +'// %N' >>"$work/g/msopgen/op_kernel/edited.cpp"
  "$craft" run "$work/g/msopgen/op_kernel/edited.cpp" --in "$work/x.npy" --out "$work/z.npy:float32:16384" --blocks 8 \
    --tiling n=16384,per_core=2048,tile=1024,bufferNum=2 --tiling-key 1
}
longer >/dev/null
timed "run of $(wc -l <"$work/g/msopgen/op_kernel/gelu_custom.cpp") lines of kernel (gelu), edited" longer
# One launch inside a program that makes many: the direct way in is for tuning and learning loops.
cmake --build "$build" --target bench_latency bench_throughput bench_compile bench_lines bench_time_cost >/dev/null
for example in relu softmax; do
  "$build/bench_latency" "$root/data/examples/activation/$example.craft" 16 100 50
done
# How many programs a second become projects: from text to the text of every file.
find "$root/data/examples" -name '*.craft' | LC_ALL=C sort | xargs "$build/bench_compile"
# How much is simulated in a second: every block of four kernels, all checks and the model of time on.
"$build/bench_throughput" "$root"
"$build/bench_time_cost"
if command -v valgrind >/dev/null; then
  for command in check lower; do
    count=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$craft" "$command" "$work/p/softmax_custom.craft" 2>&1 >/dev/null |
      sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
    printf '%-58s %s\n' "instructions: $command softmax.craft" "$count"
  done
  # a line of programs of one kind, and how much twice the lines take: 2 is in proportion
  "$build/bench_lines" | while read -r kind; do
    before=0
    for lines in 1500 3000; do
      "$build/bench_lines" "$kind" "$lines" >"$work/lines.craft"
      count=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$build/bench_compile" -r 0 "$work/lines.craft" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
      [ "$before" = 0 ] || awk -v k="$kind" -v n="$lines" -v a="$before" -v b="$count" \
        'BEGIN { printf "%-58s %6d, twice the lines: %.2f\n", "instructions a line, " n " lines: " k, b / n, b / a }'
      before=$count
    done
  done
  # host instructions of the blocks for one element-instruction; valgrind has AVX2 at most, and counts a byte of `rep stosb` as one
  GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000
  export GLIBC_TUNABLES
  for kernel in add gelu softmax layernorm; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=run_block "$build/bench_throughput" "$root" 1048576 0 "$kernel" 2>&1 |
      awk -v name="$kernel" '/element-instructions/ { n += $3 } /Collected :/ { i = $NF } END { printf "%-58s %.2f\n", "instructions an element-instruction: " name, i / n }'
  done
fi
