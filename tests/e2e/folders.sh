#!/bin/sh
# Output folders: what is not a project of ours is never touched, an old project survives a failure, nothing half-written is left.
set -u
gen="$ASCENDCRAFT gen --no-verify --quiet"
module="$AC_SOURCE/tests/e2e/modules/gelu_tanh.py"
t=$(mktemp -d) || exit 1
trap 'umount "$t"/disk 2>/dev/null; rm -rf "$t"' EXIT
cd "$t" || exit 1
bad=0

# expect CODE TEXT COMMAND...: its exit code, and TEXT in what it says
expect() {
  code=$1 text=$2
  shift 2
  "$@" >out.txt 2>&1
  rc=$?
  if [ "$rc" != "$code" ] || { [ -n "$text" ] && ! grep -qF -- "$text" out.txt; }; then
    echo "FAIL: exit $rc (expected $code, saying '$text'): $*"
    cat out.txt
    bad=1
  fi
}
same() {
  [ "$1" = "$2" ] || { echo "FAIL: $3: '$1', expected '$2'"; bad=1; }
}

# A manifest.json of somebody else (every web application has one) does not make a folder ours.
mkdir web
echo '{"name": "app"}' >web/manifest.json
expect 2 "none" $gen "$module" -o web -f
same "$(ls web)" manifest.json "the other's folder"

# --force replaces a project as a whole, through a link too.
expect 0 "" $gen "$module" -o p
expect 2 "--force" $gen "$module" -o p
touch p/stale
ln -s p link
expect 0 "" $gen "$module" -o link -f
same "$(ls p/stale 2>&1 | grep -c 'No such')" 1 "the old project"
same "$(readlink link)" p "the link"

expect 2 "is empty" $gen "$module" -o ''

if mkdir disk && mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then
  # A full disk: the message has the final name; the folders made on the way go too.
  expect 2 "disk/a/b/" $gen "$module" -o disk/a/b
  same "$(ls -A disk)" "" "after a failure"
  # A mount point itself can be filled, and replaced.
  mount -o remount,size=4m disk
  expect 0 "" $gen "$module" -o disk
  touch disk/stale
  expect 0 "" $gen "$module" -o disk -f
  same "$(ls -A disk)" "$(ls -A p)" "the mount point"
  # No room for the new project: the old one stays whole.
  rm -rf disk/*
  expect 0 "" $gen "$module" -o disk/old
  cat /dev/zero >disk/fill 2>/dev/null
  expect 2 "free some space" $gen "$module" -o disk/old -f
  same "$(diff -r p disk/old)" "" "the old project on a full disk"
  rm disk/fill
  mount -o remount,ro disk
  expect 2 "Read-only" $gen "$module" -o disk/new
  expect 2 "Read-only" $gen "$module" -o disk/old -f
else
  echo "skipped: mounting needs root"
fi
same "$(ls -A | tr '\n' ' ')" "disk link out.txt p web " "what is left in the parent folder"
exit "$bad"
