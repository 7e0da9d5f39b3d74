/* The simulator's headers, compiled once: they are most of what the compiler reads for a kernel. */
#include "sim/build_internal.h"

#include <string.h>

const char *ac_build_header(ac_builder *b, const ac_strvec *args) {
  if (b->cache == b->scratch || ac_build_is_clang(b)) return NULL;
  ac_arena *a = b->a;
  const ac_sim_spec *spec = b->s;
  ac_sim_spec bare = *spec; /* one for all -I lists */
  bare.include_dirs = NULL;
  ac_strvec v = {0};
  for (size_t i = 0; i < args->len; i++)
    if (strncmp(args->data[i], "-Wl,", 4) != 0 && strcmp(args->data[i], "-shared") != 0)
      ac_push(a, &v, args->data[i]);
  ac_push(a, &v, "-x");
  ac_push(a, &v, "c++-header");
  ac_sources none = {.seen = ac_map_new(a)};
  b->s = &bare;
  char *key = ac_build_key(b, &none, &v, "header");
  char *h = ac_sprintf(a, "%s/%s.h", b->cache, key), *gch = ac_sprintf(a, "%s.gch", h);
  bool ok = ac_run_used(h) && ac_build_cached(b, gch);
  static const char text[] = "#include \"kernel_operator.h\"\n";
  ac_diags *loud = b->d;
  b->d = NULL; /* a mistake in the headers is said when the kernel is compiled */
  ok = ok ||
       (ac_write_file(h, text, sizeof text - 1, NULL) && ac_build_compile(b, &v, h, NULL, "kernel_operator.h", gch));
  b->d = loud;
  b->s = spec;
  return ok ? h : NULL;
}
