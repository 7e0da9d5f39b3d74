#!/bin/sh
# Every C++ file that comes out of the example programs, against AscendC's own headers: those of CANN 8.1.RC1 and those of asc-devkit today.
# g++ -fsyntax-only in the headers' CPU-debug mode for the 910B: names, overloads, dtypes and const-ness are the vendor's; nothing runs.
# Nothing is fetched and nothing is kept. Skipped without the folders.
# usage: tests/outside/headers.sh CANN ASC-DEVKIT [--table FILE] [PROGRAM.craft | MODULE.py:DTYPE ...]
#   CANN        an installed toolkit, or its folders ascendc/, include/ and tools/tikicpulib/
#   ASC-DEVKIT  a checkout (include/, impl/); the CPU stubs of its companion asc-tools are not public, so those of CANN stand in
# Prints one line a program; fails if one does not compile.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] && [ -d "$1/ascendc/include/basic_api" ] && [ -d "$2/include/basic_api" ] || exit 77
cann=$1
asc=$2
shift 2
table=
if [ "${1:-}" = --table ]; then
  table=$2
  shift 2
fi
ASCENDCRAFT_HOME=${AC_SOURCE:-$(cd "$here/../.." && pwd)}
export ASCENDCRAFT_HOME
craft=${ASCENDCRAFT:-$ASCENDCRAFT_HOME/build/ascendcraft}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$ASCENDCRAFT_HOME" || exit 2

# Without arguments: every example program, and every module that has schedules in three dtypes.
if [ $# = 0 ]; then
  # shellcheck disable=SC2046 # one word a file
  set -- $(ls data/examples/*/*.craft; for d in float32 float16 bfloat16; do for f in data/examples/*.py; do echo "$f:$d"; done; done)
fi

tikcpu=$cann/tools/tikicpulib/lib/include
common='-std=c++17 -w -D__CCE_AICORE__=220 -D__DAV_C220__ -D__CCE_KT_TEST__=1 -DASCENDC_CPU_DEBUG=1 -DASCENDC_DEBUG=1'
old="$common -I$tikcpu -I$cann/ascendc/include/basic_api -I$cann/ascendc/include/basic_api/impl -I$cann/ascendc/include/basic_api/interface
  -I$cann/ascendc/include/highlevel_api -I$cann/ascendc/include/highlevel_api/lib -I$cann/ascendc/include/highlevel_api/impl -I$cann/include"
new="$common -D__NPU_ARCH__=2201 -I$asc/include -I$asc/include/basic_api -I$asc/include/utils -I$asc/include/utils/base -I$asc/impl/basic_api
  -I$asc/impl/utils -I$asc/include/adv_api -I$asc/impl/adv_api -I$asc/impl -I$asc -I$tikcpu -I$cann/include -I$work/stub"
old_host="-std=c++17 -w -I$cann/include -I$cann/ascendc/include/highlevel_api"
new_host="-std=c++17 -w -I$asc/include/utils -I$work/stub -I$cann/include -I$cann/ascendc/include/highlevel_api"

# What today's headers take from headers that are not public: macros and types of the CPU mode, and the library's tiling structs in their newer namespace.
mkdir -p "$work/stub/kernel_tiling" "$work/stub/platform" "$work/old" "$work/new"
cat >"$work/stub/prelude.h" <<'TEXT'
#include <cstdint>
#include "stub_def.h"
#define ASCENDC_HOST_AICORE
#define __ssbuf__
#define __disable_kernel_type_autoinfer__
#define __simd_callee__
#define __simd_vf__
#define __host__
#define __device__
struct fp4x2_e1m2_t { uint8_t v; };
struct fp4x2_e2m1_t { uint8_t v; };
struct fp8_e4m3fn_t { uint8_t v; };
struct fp8_e5m2_t { uint8_t v; };
struct fp8_e8m0_t { uint8_t v; };
struct hifloat8_t { uint8_t v; };
TEXT
echo '#pragma once' >"$work/stub/platform/soc_spec.h"
: >"$work/stub/simt_stub.h"
printf '#pragma once\n#include <cstdint>\n#include <cstring>\nnamespace AscendC { namespace tiling {\n#include "%s"\n} }\nusing namespace AscendC::tiling;\n' \
  "$cann/ascendc/include/highlevel_api/kernel_tiling/kernel_tiling.h" >"$work/stub/kernel_tiling/kernel_tiling.h"

# The headers are parsed once a set.
echo '#include "kernel_operator.h"' >"$work/old/pre.h"
printf '#include "prelude.h"\n#include "kernel_operator.h"\n' >"$work/new/pre.h"
echo '#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"' >"$work/old/host.h"
cp "$work/old/host.h" "$work/new/host.h"
# shellcheck disable=SC2086 # flags
for set in old new; do
  eval "flags=\$$set host=\$${set}_host"
  g++ $flags -x c++-header "$work/$set/pre.h" -o "$work/$set/pre.h.gch" 2>"$work/log" && g++ $host -x c++-header "$work/$set/host.h" -o "$work/$set/host.h.gch" ||
    { head -n 5 "$work/log"; echo "the headers of $set do not compile by themselves"; exit 2; } >&2
done

# The kernel-side struct and macros that CANN's build makes of the tiling header.
tiling() {
  awk -F'[(,)]' '
    /BEGIN_TILING_DATA_DEF/ { n = $2; print "#include <cstdint>\nstruct " n " {" }
    /TILING_DATA_FIELD_DEF\(/ { print "  " $2 $3 ";" }
    /END_TILING/ { print "};\n#define GET_TILING_DATA(v, p) " n " v = *(__gm__ " n " *)(p)"
                   print "#define TILING_KEY_IS(k) (g_key == (k))\nstatic uint64_t g_key = 1;" }' "$1"
}

# try SET KIND FILE [FLAGS]: prints the compiler's words if it is not taken; an empty log is yes
try() {
  set_=$1 kind=$2 file=$3
  shift 3
  if [ "$kind" = host ]; then eval "flags=\$${set_}_host" && pre=host.h; else eval "flags=\$$set_" && pre=pre.h; fi
  # shellcheck disable=SC2086 # flags
  g++ $flags -fsyntax-only -include "$work/$set_/$pre" "$@" "$file" 2>&1 | head -n 20
}

rc=0
n=0
out=$work/table
printf '| program | dtypes | 8.1: op_kernel | op_host | direct | today: op_kernel | op_host | direct |\n|---|---|---|---|---|---|---|---|\n' | tee "$out"
for what in "$@"; do
  file=${what%%:*}
  dtype=
  [ "$file" = "$what" ] || dtype=${what##*:}
  p=$work/p
  rm -rf "$p"
  if ! "$craft" gen "$file" ${dtype:+-d "$dtype"} --no-verify --quiet -o "$p" >"$work/log" 2>&1; then
    echo "| $what | not generated: $(head -n 1 "$work/log") |" | tee -a "$out"
    rc=1
    continue
  fi
  n=$((n + 1))
  tiling "$p"/msopgen/op_host/*_tiling.h >"$work/tiling.h"
  # the dtypes of its parameters, as the operator's definition has them
  dtypes=$(sed -n 's/.*\.DataType({\([^}]*\)}).*/\1/p' "$p"/msopgen/op_host/*.cpp | tr ',' '\n' | sed 's/.*ge::DT_//' | sort -u | paste -sd ' ' | tr 'A-Z' 'a-z')
  line="| $what | $dtypes |"
  for set in old new; do
    for kind in kernel host direct; do
      case $kind in
      kernel) try $set kernel "$p"/msopgen/op_kernel/*.cpp -include "$work/tiling.h" >"$work/log" ;;
      host) try $set host "$p"/msopgen/op_host/*.cpp >"$work/log" ;;
      direct) try $set kernel "$p"/direct/*_kernel.cpp -include "$tikcpu/tikicpulib.h" >"$work/log" ;;
      esac
      if [ -s "$work/log" ]; then
        line="$line no |"
        rc=1
        sed "s|^|$what, $set: |" "$work/log" >&2
      else
        line="$line yes |"
      fi
    done
  done
  echo "$line" | tee -a "$out"
done
echo "$n programs"
[ -z "$table" ] || cp "$out" "$table"
[ "$n" -gt 0 ] || rc=1
exit "$rc"
