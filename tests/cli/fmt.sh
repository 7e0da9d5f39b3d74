#!/bin/sh
# `ascendcraft fmt` and `ascendcraft explain`.
set -eu
fails() {
  want=$1
  shift
  rc=0
  "$@" >out 2>err </dev/null || rc=$?
  [ "$rc" = "$want" ] || {
    echo "exit $rc, not $want: $*"
    cat out err
    exit 1
  }
}
# of a.craft alone
says_only() {
  grep -q "$1" out
  if grep -q 'b.craft' out; then
    cat out
    exit 1
  fi
}

cat >ugly.craft <<'TEXT'
# head

import torch
@ascend_kernel
def k( x,y , n ):   # of the kernel
  buf=tl.alloc_ub( (64),tl.float32)  # trailing


  with tl.copyin( ) :
    # first
    tl.load( x+tl.arange(0,64), # inside
       buf )
    # last of copyin
  with tl.copyout():tl.store(y+tl.arange(0,64),buf)
  # end of k
def h(x, y):
    k[1](x,y,(x.numel()))
# end of file
TEXT
cat >want.craft <<'TEXT'
# head

import torch


# of the kernel
@ascend_kernel
def k(x, y, n):
    buf = tl.alloc_ub(64, tl.float32)  # trailing

    with tl.copyin():
        # first
        # inside
        tl.load(x + tl.arange(0, 64), buf)
        # last of copyin
    with tl.copyout():
        tl.store(y + tl.arange(0, 64), buf)
    # end of k


def h(x, y):
    k[1](x, y, x.numel())


# end of file
TEXT
cp ugly.craft a.craft
cp want.craft b.craft
cp ugly.craft before.craft
fails 1 "$ASCENDCRAFT" fmt --check a.craft b.craft
says_only '^a.craft: '
cmp a.craft before.craft # --check writes nothing
"$ASCENDCRAFT" fmt - <ugly.craft >stdin.craft
cmp stdin.craft want.craft
"$ASCENDCRAFT" fmt a.craft b.craft >out
says_only '^a.craft: formatted'
cmp a.craft want.craft
cp ugly.craft broken.craft
echo 'def g(:' >>broken.craft
cp broken.craft before.craft
cp ugly.craft c.craft
fails 2 "$ASCENDCRAFT" fmt broken.craft c.craft missing.craft # the good one is formatted all the same
cmp broken.craft before.craft
cmp c.craft want.craft
grep -q 'broken.craft:19:6: error\[AC0403\]' err
grep -q 'AC0101' err
# a NUL would hide what is behind it: refused, and the file stays
printf '# c\000omment\n' | cat - want.craft >nul.craft
cp nul.craft nul-before.craft
fails 2 "$ASCENDCRAFT" fmt nul.craft
grep -q 'nul.craft:1:4: error\[AC0405\]' err
cmp nul.craft nul-before.craft
fails 2 "$ASCENDCRAFT" check nul.craft
grep -q 'nul.craft:1:4: error\[AC0405\]' err
"$ASCENDCRAFT" fmt --check --json a.craft | grep -q '"changed": false'
fails 2 "$ASCENDCRAFT" fmt --check before.craft

# every program that comes along is in canonical form, and stays what it is
find "$AC_SOURCE/data" -name '*.craft' >list
xargs "$ASCENDCRAFT" fmt --check <list

# the error book
"$ASCENDCRAFT" explain AC0512 >out
cmp out "$AC_SOURCE/docs/errors/AC0512.md"
"$ASCENDCRAFT" explain 512 | cmp - out
"$ASCENDCRAFT" explain ac0203 | grep -q '^# AC0203: Python cannot parse the file'
[ "$("$ASCENDCRAFT" explain | grep -c '^AC0[0-9]*  ')" -gt 80 ]
fails 2 "$ASCENDCRAFT" explain AC0429
grep -q 'AC0411: ' err
fails 2 "$ASCENDCRAFT" explain dtypes
grep -q 'AC0508: ' err
fails 2 "$ASCENDCRAFT" explain zzz
grep -q 'lists them all' err
# messages name the way there, once
fails 2 "$ASCENDCRAFT" check broken.craft
[ "$(grep -c 'ascendcraft explain AC0403' err)" = 1 ]
