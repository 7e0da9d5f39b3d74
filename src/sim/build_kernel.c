/* Building one kernel by itself: a wrapper around its source, unmodified but for launches in the three-chevron form, which no plain C++
 * compiler reads. */
#include "sim/build_internal.h"

#include <string.h>

static void tiling_text(const ac_builder *b, ac_buf *w) {
  const char *name = b->s->tiling_struct;
  if (!name) {
    ac_puts(w, "ACSIM_NO_TILING\n");
    return;
  }
  ac_printf(w, "ACSIM_TILING(%s)\n", name);
  for (size_t i = 0; b->s->tiling_fields && b->s->tiling_fields[i]; i++)
    ac_printf(w, "ACSIM_FIELD(%s)\n", b->s->tiling_fields[i]);
  ac_puts(w, "ACSIM_TILING_END\n");
}

/* What -D defines goes behind the simulator's headers, which have names like N and T of their own; what is meant for headers (names that
 * are reserved, and CANN's) goes to the compiler. */
static bool for_headers(const char *define) {
  return *define == '_' || !strncmp(define, "ASCENDC", 7) || !strncmp(define, "ACSIM", 5);
}
static void define_text(const ac_builder *b, ac_buf *w) {
  for (size_t i = 0; b->s->defines && b->s->defines[i]; i++) {
    const char *d = b->s->defines[i], *value = strchr(d, '=');
    if (!for_headers(d)) ac_printf(w, "#define %.*s %s\n", (int)strcspn(d, "="), d, value ? value + 1 : "1");
  }
}
/* ... and not before what follows the kernel, unless the entry is named by it. */
static void undefine_text(const ac_builder *b, ac_buf *w) {
  for (size_t i = 0; b->s->defines && b->s->defines[i]; i++) {
    const char *name = ac_strndup(b->a, b->s->defines[i], strcspn(b->s->defines[i], "(="));
    if (!for_headers(name) && !strstr(b->s->op, name)) ac_printf(w, "#undef %s\n", name);
  }
}

/* Where the tiling struct is in CANN's namespace, the kernel names it without, as from the header that its build generates. */
static char *wrapper(ac_builder *b, const char *source) {
  ac_buf w;
  ac_buf_init(&w, b->a);
  ac_puts(&w, "#include \"kernel_operator.h\"\n#include \"acsim/kernel_entry.h\"\nnamespace optiling {}\nusing "
              "namespace optiling;\n");
  define_text(b, &w);
  for (size_t i = 0; b->s->headers && b->s->headers[i]; i++)
    ac_printf(&w, "#include \"%s\"\n", ac_absolute(b->a, b->s->headers[i]));
  if (b->s->tiling_struct)
    ac_printf(
        &w, "#undef GET_TILING_DATA\n#define GET_TILING_DATA(name, arg) GET_TILING_DATA_WITH_STRUCT(%s, name, arg)\n",
        b->s->tiling_struct);
  ac_printf(&w, "#include \"%s\"\n#line 1 \"acsim_entry\"\n", source);
  undefine_text(b, &w);
  ac_printf(&w, "ACSIM_ENTRY(::%s)\n", b->s->op);
  tiling_text(b, &w);
  return (char *)ac_buf_str(&w);
}

const char *ac_build_kernel(ac_builder *b) {
  ac_arena *a = b->a;
  ac_sources c = ac_sources_of(a, b->s->kernel_src, b->s->headers, b->s->include_dirs);
  for (size_t i = 0; i < ac_map_len(c.seen); i++) ac_push(a, &b->folders, ac_build_folder(a, ac_map_key(c.seen, i)));
  b->host_code = ac_launches_in(&c, ac_absolute(a, b->s->kernel_src));
  ac_strvec args = {0};
  ac_build_args(b, &args, c.std);
  ac_build_chip_args(b, &args);
  ac_push(a, &args, "-DACSIM_TILING_PLAIN=1");
  if (c.std) ac_push(a, &args, "-DACSIM_KERNEL_STL=1");
  ac_build_reach_args(b, &args);
  if (c.std) ac_push(a, &args, "-DACSIM_HOST_STL=1"); /* a file that launches its kernels has host code in it */
  const ac_strvec plain = args; /* of the headers: what is pushed from here on lies behind its end */
  for (size_t i = 0; b->s->defines && b->s->defines[i]; i++)
    if (for_headers(b->s->defines[i])) ac_push(a, &args, ac_sprintf(a, "-D%s", b->s->defines[i]));
  char *text = wrapper(b, b->s->kernel_src);
  char *so = ac_sprintf(a, "%s/%s.so", b->cache, ac_build_key(b, &c, &args, text));
  if (ac_build_cached(b, so)) return so;
  const char *header = ac_build_header(b, &plain);
  const char *source = ac_build_launch_source(b, &c, &args);
  if (!source) return NULL;
  char *w = ac_path_join(a, b->scratch, "acsim_entry.cpp");
  text = wrapper(b, source);
  if (!ac_write_file(w, text, strlen(text), b->d)) return NULL;
  if (header) {
    ac_push(a, &args, "-include");
    ac_push(a, &args, header);
  }
  ac_push(a, &args, "-iquote");
  ac_push(a, &args, ac_build_folder(a, b->s->kernel_src));
  return ac_build_compile(b, &args, w, NULL, b->s->kernel_src, so) ? so : NULL;
}
