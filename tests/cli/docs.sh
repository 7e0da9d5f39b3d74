#!/bin/sh
# The examples of docs/simulator.md, "Running a kernel", run as they are written.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
ln -s "$AC_SOURCE/data" data
mkdir bin
ln -s "$ASCENDCRAFT" bin/ascendcraft
PATH=$work/bin:$PATH
"${PYTHON:-/usr/bin/python3}" -c "
import struct
def npy(path, code, fmt, n):
    head = \"{'descr': '<%s', 'fortran_order': False, 'shape': (%d,), }\" % (code, n)
    head += ' ' * (-(len(head) + 11) % 64) + chr(10)
    with open(path, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + struct.pack('<%d%s' % (n, fmt), *[i % 7 for i in range(n)]))
npy('x.npy', 'f4', 'f', 2048)
npy('y.npy', 'f4', 'f', 2048)
npy('h.npy', 'f2', 'e', 2048)
"
awk '/^## /{on = $0 == "## Running a kernel"} on && /^```/{code = !code; next} on && code' "$AC_SOURCE/docs/simulator.md" >examples.sh
[ "$(grep -c '^ascendcraft run' examples.sh)" -ge 4 ]
sh -eu examples.sh >out 2>&1 || {
  cat examples.sh out
  exit 1
}
grep -q 'sample: only blocks .* of 8 ran' out
grep -q 'not synchronised by itself: exit 1' out
grep -q 'perturbed (up): Exp' out
[ -s z.npy ] && [ -s y.npy ]
