#!/bin/sh
# NPUKernelBench's shipped AscendC answers, from the checkout that NPUKERNELBENCH names, in the simulator, against their own golden functions.
# Nothing is fetched; needs Debian's python3-torch and the program simrun (ninja -C build simrun; AC_BUILD names another build folder). Skipped without a checkout.
# All of them take a quarter of an hour on two cores; names of tasks and options may follow. What came of it: docs/kernels.md.
here=$(cd "$(dirname "$0")" && pwd)
[ -n "$NPUKERNELBENCH$1" ] || exit 77
export AC_BUILD="${AC_BUILD:-$here/../../build}" ASCENDCRAFT_HOME="${AC_SOURCE:-$here/../..}"
# Debian's Python has Debian's torch; PYTHON names another one that has it
exec "${PYTHON:-/usr/bin/python3}" "$here/npukernelbench.py" "$@"
