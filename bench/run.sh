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
# One launch inside a program that makes many: the direct way in is for tuning and learning loops.
cmake --build "$build" --target bench_latency bench_throughput >/dev/null
for example in relu softmax; do
  "$build/bench_latency" "$root/data/examples/activation/$example.craft" 16 100 50
done
# How much is simulated in a second: every block of four kernels, all checks and the model of time on.
"$build/bench_throughput" "$root"
if command -v valgrind >/dev/null; then
  for command in check lower; do
    count=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$craft" "$command" "$work/p/softmax_custom.craft" 2>&1 >/dev/null |
      sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
    printf '%-58s %s\n' "instructions: $command softmax.craft" "$count"
  done
  # host instructions of the blocks for one element-instruction; valgrind has AVX2 at most, and counts a byte of `rep stosb` as one
  GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000
  export GLIBC_TUNABLES
  for kernel in add gelu softmax layernorm; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=run_block "$build/bench_throughput" "$root" 1048576 0 "$kernel" 2>&1 |
      awk -v name="$kernel" '/element-instructions/ { n += $3 } /Collected :/ { i = $NF } END { printf "%-58s %.2f\n", "instructions an element-instruction: " name, i / n }'
  done
fi
