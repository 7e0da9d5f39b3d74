#!/bin/sh
# What the tracer makes of 390 ways to write an operation, and of random programs of views and in-place writes, against PyTorch.
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$AC_BUILD/refdump" ] || { echo "skipped: refdump is not built"; exit 77; }
[ -x /usr/bin/python3 ] || { echo "skipped: no /usr/bin/python3"; exit 77; }
exec /usr/bin/python3 "$here/crosscheck.py" "$AC_BUILD/refdump" "$here/torch/styles.py" "$here/torch/alias.py"
