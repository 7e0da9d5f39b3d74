#!/bin/sh
# MultiKernelBench's worked AscendC examples, from the checkout that MULTIKERNELBENCH names, in the simulator. Nothing is fetched; needs
# Debian's python3-torch and the program simrun (ninja -C build simrun; AC_BUILD names another build folder). Skipped without a checkout. What came of it: docs/kernels.md.
here=$(cd "$(dirname "$0")" && pwd)
[ -n "$MULTIKERNELBENCH$1" ] || exit 77
export AC_BUILD="${AC_BUILD:-$here/../../build}" ASCENDCRAFT_HOME="${AC_SOURCE:-$here/../..}"
# Debian's Python has Debian's torch; PYTHON names another one that has it
exec "${PYTHON:-/usr/bin/python3}" "$here/multikernelbench.py" "$@"
