#!/bin/sh
# The walls between modules hold: #includes follow the module table (the ac_module lines of CMakeLists.txt), the table of
# docs/architecture.md is the same, and src/ascendcraft.h maps every module in its order. What is committed lies in the folders
# that docs/architecture.md names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
rc=0

find src -name '*.[ch]' | LC_ALL=C sort | xargs awk -f "$here/check.awk" CMakeLists.txt || rc=1

modules=$(sed -n 's/^ac_module(\([a-z_]*\) .*/\1/p' CMakeLists.txt)
documented=$(sed -n 's/^| `\([a-z_]*\)` | [^|]* | [^|]* |$/\1/p' docs/architecture.md)
if [ "$modules" != "$documented" ]; then
  echo "docs/architecture.md: its table of modules is not that of CMakeLists.txt:" $documented
  rc=1
fi

# (the command's own interface is the public one of include/)
present=$(for m in $modules; do [ "$m" = cli ] || [ ! -f "src/$m/$m.h" ] || echo "$m"; done)
mapped=$(sed -n 's/^#include "\([a-z_]*\)\/\1\.h".*/\1/p' src/ascendcraft.h)
mapped=$(for m in $mapped; do [ ! -f "src/$m/$m.h" ] || echo "$m"; done)
if [ "$present" != "$mapped" ]; then
  echo "src/ascendcraft.h: maps" $mapped "but the modules are" $present
  rc=1
fi

# Generated projects and the like get committed by mistake.
folders=$(sed -n 's/^| `\([^`]*\)` | [^|]* |$/\1/p' docs/architecture.md)
if committed=$(git ls-files 2>/dev/null) && [ -n "$committed" ]; then
  for f in $(printf '%s\n' "$committed" | sed -n 's,/.*,,p' | LC_ALL=C sort -u); do
    printf '%s\n' "$folders" | grep -qxF -- "$f" || {
      echo "$f/: committed, and docs/architecture.md names no such folder"
      rc=1
    }
  done
fi
exit "$rc"
