/* A program of one kind and about so many lines, on standard output: bench/run.sh counts what compiling it takes, and twice as many.
 * usage: bench_lines (the kinds), bench_lines KIND LINES */
#include "../tests/ascendc/lines.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  for (size_t i = 0; argc < 3 && i < AC_COUNT(kinds); i++) puts(kinds[i].name);
  if (argc < 3) return AC_OK;
  ac_arena *a = ac_arena_new();
  bool found = false;
  for (size_t i = 0; i < AC_COUNT(kinds); i++) {
    if (strcmp(kinds[i].name, argv[1]) != 0) continue;
    ac_buf b;
    ac_buf_init(&b, a);
    kinds[i].make(&b, atoi(argv[2]));
    fputs(ac_buf_str(&b), stdout);
    found = true;
  }
  ac_arena_free(a);
  return found ? AC_OK : AC_BAD_INPUT;
}
