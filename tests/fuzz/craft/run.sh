#!/bin/sh
# Fuzzes the language: both targets with libFuzzer (clang), and with AFL++ where afl-clang-fast is. Fails on any crash, hang or leak.
# usage: tests/fuzz/craft/run.sh [SECONDS [parse|compile [libfuzzer|afl]]]   seconds of each target with each fuzzer (default 15)
# AC_FUZZ_RUNS=N: libFuzzer makes N inputs from one seed instead, in a fresh folder: the same ones each time, so that a change is not refused
# for what somebody else's luck finds in it.
# Works in build-fuzz/ and build-afl/ of the root ($AC_FUZZ_DIR in its place); finds lie there in crash/. The corpus grows there, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
seconds=${1:-15}
targets=${2:-parse compile}
tools=${3:-libfuzzer afl}
dir=${AC_FUZZ_DIR:-$root}
clang=$(command -v clang || command -v clang-14)
clangxx=$(command -v clang++ || command -v clang++-14)
ASCENDCRAFT_HOME=$root
export ASCENDCRAFT_HOME

# configure BUILD C C++
configure() {
  [ -f "$1/build.ninja" ] || cmake -S "$root" -B "$1" -G Ninja -DAC_FUZZ=ON -DCMAKE_C_COMPILER="$2" -DCMAKE_CXX_COMPILER="$3" >/dev/null
  ninja --quiet -C "$1" craft_fuzz_parse craft_fuzz_compile craft_reference
  "$1/craft_reference" --words >"$1/words.dict"
}
seed() {
  mkdir -p "$1"
  find "$here/corpus" "$root/data/examples" "$root/tests/craft/cases" -type f \( -name '*.craft' -o -path '*/corpus/*' \) -exec cp -n {} "$1" \;
}

rc=0
for tool in $tools; do
  case $tool in
  libfuzzer)
    configure "$dir/build-fuzz" "$clang" "$clangxx"
    for t in $targets; do
      w=$dir/build-fuzz/$t
      limit="-max_total_time=$seconds"
      if [ -n "${AC_FUZZ_RUNS:-}" ]; then
        limit="-seed=1 -runs=$AC_FUZZ_RUNS"
        rm -rf "$w"
      fi
      mkdir -p "$w/crash" "$w/new"
      seed "$w/seeds"
      (cd "$w" && "$dir/build-fuzz/craft_fuzz_$t" $limit -timeout=20 -rss_limit_mb=4096 -max_len=20000 -dict="$dir/build-fuzz/words.dict" \
        -artifact_prefix=crash/ -print_final_stats=1 new seeds >log 2>&1) || rc=1
      grep -E 'stat::number_of_executed_units|SUMMARY|cov: .* (INITED|DONE)' "$w/log" | sed "s/^/libFuzzer $t: /" | tail -n 4
    done
    ;;
  afl)
    command -v afl-clang-fast >/dev/null || continue
    configure "$dir/build-afl" "$(command -v afl-clang-fast)" "$(command -v afl-clang-fast++)"
    for t in $targets; do
      w=$dir/build-afl/$t
      seed "$w/seeds"
      [ ! -d "$w/out" ] || export AFL_AUTORESUME=1
      AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_BENCH_UNTIL_CRASH= \
        afl-fuzz -i "$w/seeds" -o "$w/out" -V "$seconds" -t 20000 -m none -x "$dir/build-afl/words.dict" -- "$dir/build-afl/craft_fuzz_$t" >"$w/log" 2>&1 || rc=1
      sed -n 's/^\(execs_done\|edges_found\|saved_crashes\|saved_hangs\) *: /AFL++ '"$t"': \1 /p' "$w/out/default/fuzzer_stats"
      grep -q '^saved_crashes *: 0$' "$w/out/default/fuzzer_stats" || rc=1
    done
    ;;
  esac
done
exit "$rc"
