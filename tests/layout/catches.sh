#!/bin/sh
# layout.sh is worth something only if it can fail: break each rule in a small tree of its own.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fresh() {
  rm -rf "$tree/t"
  for m in one two three four five; do
    mkdir -p "$tree/t/src/$m" "$tree/t/docs"
    echo '#include <stdint.h>' >"$tree/t/src/$m/$m.h"
    echo "| \`$m\` | what | what not |" >>"$tree/t/docs/architecture.md"
    echo "#include \"$m/$m.h\"" >>"$tree/t/src/ascendcraft.h"
  done
  cat >"$tree/t/CMakeLists.txt" <<'TEXT'
ac_module(one DEPS m)
ac_module(two DEPS one)
ac_module(three DEPS two)
ac_module(four DEPS one)
ac_module(five DEPS three four PkgConfig::X)
TEXT
}

# refuses WHAT PATTERN: the broken tree is refused with a line that matches
refuses() {
  if "$here/layout.sh" "$tree/t" >"$tree/out" 2>&1; then
    echo "not caught: $1"
    exit 1
  fi
  grep -q "$2" "$tree/out" || {
    echo "$1: no line matches '$2':"
    cat "$tree/out"
    exit 1
  }
  fresh
}

fresh
"$here/layout.sh" "$tree/t" # sound as it is
echo '#include "one/one.h"' >"$tree/t/src/five/a.c"
"$here/layout.sh" "$tree/t" # through others is allowed

echo '#include "two/two.h"' >"$tree/t/src/four/a.c"
refuses 'a module beside it' 'src/four/a.c:1: four must not use two'
echo '#include "five/five.h"' >"$tree/t/src/one/a.c"
refuses 'a module below it' 'one must not use five'
echo '#include "one/internal.h"' >"$tree/t/src/two/a.c"
refuses 'another module'"'"'s inside' 'internal to one'
echo '#include "../one/one.h"' >"$tree/t/src/two/a.c"
refuses 'climbing' 'climbs out'
mkdir "$tree/t/src/six" && echo 'int x;' >"$tree/t/src/six/a.c"
refuses 'an unknown module' 'src/six is not in the module table'
echo 'open("tests/data");' >"$tree/t/src/two/a.c"
refuses 'naming the tests' 'must not name what lies outside'
sed -i '/three/d' "$tree/t/src/ascendcraft.h"
refuses 'a module that is not mapped' 'ascendcraft.h: maps'
sed -i '1d' "$tree/t/docs/architecture.md"
refuses 'an undocumented module' 'architecture.md'
sed -i 's/one DEPS m/one DEPS five/' "$tree/t/CMakeLists.txt"
refuses 'a cycle' 'does not stand above'

# A committed folder that the table of folders does not name
listed() {
  printf '| `src` | what |\n| `docs` | what |\n' >>"$tree/t/docs/architecture.md"
  mkdir "$tree/t/o" && echo 1 >"$tree/t/o/a"
  git -C "$tree/t" init -q
}
listed
git -C "$tree/t" add src docs
"$here/layout.sh" "$tree/t" # what is not committed may lie about
git -C "$tree/t" add o
refuses 'a stray folder' '^o/: committed'
