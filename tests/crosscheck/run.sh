#!/bin/sh
# The float64 reference against PyTorch's float64 for the operators of tests/operators. Needs Debian's python3-torch (./dev ci installs it).
# usage: run.sh [BUILD_DIR] [NAME ...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build}
[ $# -gt 0 ] && shift
ASCENDCRAFT_HOME=$(cd "$here/../.." && pwd)
export ASCENDCRAFT_HOME
exec /usr/bin/python3 "$here/compare.py" "$build/refdump" "$here/../operators" "$@"
