#!/bin/sh
# An installed copy works without the source tree: a C program builds against it, and it finds its own data.
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
unset ASCENDCRAFT_HOME

cmake --install "$AC_BUILD" --prefix "$prefix" >/dev/null
"$prefix/bin/ascendcraft" --version

cat >"$prefix/user.c" <<'TEXT'
#include <ascendcraft/ascendcraft.h>
/* not in the public header: where the library takes its files from */
typedef struct ac_arena ac_arena;
ac_arena *ac_arena_new(void);
void ac_arena_free(ac_arena *);
char *ac_home_path(ac_arena *, const char *);
int main(void) {
  ac_context *c = ac_context_new();
  if (!c || !ac_version()[0]) return 1;
  ac_context_free(c);
  ac_arena *a = ac_arena_new();
  static const char *const files[] = {"data/chips", "sim/include", "ascendcraft-trace", "actrace.so",
                                      "docs/errors/AC0512.md"};
  for (int i = 0; i < 5; i++) {
    const char *p = ac_home_path(a, files[i]);
    puts(p ? p : "(none)");
  }
  ac_arena_free(a);
  return 0;
}
TEXT
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ascendcraft.pc)")
export PKG_CONFIG_PATH
sanitize=${AC_SANITIZE:+-fsanitize=address,undefined}
# the .pc file names the prefix of the configuration; this copy lies elsewhere
flags=$(pkg-config --define-variable=includedir="$prefix/include" --define-variable=libdir="$(dirname "$PKG_CONFIG_PATH")" \
  --cflags --libs ascendcraft)
# shellcheck disable=SC2086 # flags are words
${CC:-cc} $sanitize -Wall -Werror "$prefix/user.c" $flags -o "$prefix/user"
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH") "$prefix/user" >"$prefix/found"
cat "$prefix/found"
if [ "$(grep -c "^$prefix/" "$prefix/found")" != 5 ]; then
  echo 'the installed library does not take its own files'
  exit 1
fi
