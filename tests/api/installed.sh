#!/bin/sh
# Installs into a fresh prefix, builds the example against the installed copy alone, and runs it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cmake --install "$AC_BUILD" --prefix "$work/usr" >"$work/install.log"
unset ASCENDCRAFT_HOME
pc=$(find "$work/usr" -name ascendcraft.pc | head -n 1)
[ -n "$pc" ] || { echo "ascendcraft.pc is not installed"; exit 1; }
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# the file names the configured prefix; the copy under test lies elsewhere
flags=$(pkg-config --define-variable=prefix="$work/usr" --define-variable=libdir="$(dirname "$(dirname "$pc")")" \
  --define-variable=includedir="$work/usr/include" --cflags --libs ascendcraft)
# A library built with the sanitizers needs their runtime in the program, too.
[ -z "${AC_SANITIZE:-}" ] || flags="-fsanitize=address,undefined $flags"
# shellcheck disable=SC2086
gcc -std=c17 -Wall -Wextra -Werror "$AC_SOURCE/tests/api/example.c" -o "$work/example" $flags
LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")")
PATH="$work/usr/bin:$PATH"
export LD_LIBRARY_PATH PATH
"$work/example" "$AC_SOURCE/tests/operators/activation/relu.py" "$work/relu"
[ -f "$work/relu/manifest.json" ]
"$work/usr/bin/ascendcraft" run "$work/relu" --shape x=7,1003
