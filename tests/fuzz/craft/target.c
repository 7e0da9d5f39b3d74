/* What is fuzzed of the language: AC_FUZZ_PARSE, the front end alone; else the whole compile, up to the text of every format. Whatever is
 * accepted must print, parse back to the same text, keep its comments, and mean the same after the check. For libFuzzer and AFL++ (run.sh);
 * with AC_FUZZ_REPLAY a program that goes through files and folders of inputs once. */
#include "ascendc/ascendc.h"
#include "craft/internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MOST = 1 << 16 };

#define MUST(x) ((x) ? (void)0 : broken(#x, text))

static void broken(const char *what, const char *text) {
  fprintf(stderr, "not so: %s\n---- of\n%s\n", what, text);
  abort();
}

static ac_cmodule *parse(ac_arena *a, const char *text) {
  ac_diags d;
  ac_diags_init(&d, a);
  ac_diags_source(&d, "fuzz", text);
  ac_cmodule *m = ac_craft_parse(a, "fuzz", text, &d);
  MUST((m == NULL) == (d.errors > 0));
  if (!m) json_decref(ac_diags_json(&d));
  if (!m) return NULL;
  const char *once = ac_craft_print(a, m), *why = ac_craft_unlike(a, text, once);
  if (why) fprintf(stderr, "%s\n---- printed\n%s\n", why, once);
  MUST(!why);
  return m;
}

#ifdef AC_FUZZ_PARSE
static void whole(ac_arena *a, const char *text) {
  (void)parse(a, text);
}
#else
static const ac_chip *chip(void) {
  static const ac_chip *c;
  static ac_arena *keep;
  static ac_diags d;
  if (c) return c;
  keep = ac_arena_new();
  ac_diags_init(&d, keep);
  c = ac_chip_load(keep, "ascend910b2", &d);
  if (!c) {
    ac_diags_print(&d, stderr, false);
    exit(2);
  }
  return c;
}

static ac_cmodule *check(ac_arena *a, ac_cmodule *m, const char *text) {
  ac_diags d;
  ac_diags_init(&d, a);
  ac_diags_source(&d, "fuzz", text);
  bool ok = ac_craft_check(a, m, &(ac_craft_check_opts){.chip = chip()}, &d);
  MUST(ok == (d.errors == 0));
  json_decref(ac_diags_json(&d));
  return ok ? m : NULL;
}

/* The annotated tree is a program too, and says the same. */
static void annotated(ac_arena *a, const ac_cmodule *m) {
  const char *text = ac_craft_print(a, m);
  ac_diags d;
  ac_diags_init(&d, a);
  ac_cmodule *n = ac_craft_parse(a, "checked", text, &d);
  MUST(n);
  MUST(ac_craft_check(a, n, &(ac_craft_check_opts){.chip = chip()}, &d));
  MUST(!strcmp(text, ac_craft_print(a, n)));
}

static void whole(ac_arena *a, const char *text) {
  ac_cmodule *m = parse(a, text);
  if (m) m = check(a, m, text);
  if (!m) return;
  annotated(a, m);
  ac_diags d;
  ac_diags_init(&d, a);
  ac_diags_source(&d, "fuzz", text);
  ac_program *p = ac_lower(a, m, &(ac_lower_opts){.op = "fuzz_custom", .op_type = "FuzzCustom", .chip = chip()}, &d);
  for (size_t i = 0; i < d.list.len; i++)
    if (ac_code_exit(d.list.data[i]->code) == AC_INTERNAL)
      ac_diags_print(&d, stderr, false), broken("no fault of ours", text);
  MUST((p == NULL) == (d.errors > 0));
  if (!p) return;
  ac_project out = {0};
  (void)ac_emit(a, p, &(ac_emit_opts){.formats = AC_FMT_ALL, .craft_text = text, .command = "fuzz"}, &out, &d);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  if (n > MOST) return 0;
  ac_arena *a = ac_arena_new();
  whole(a, ac_strndup(a, (const char *)data, n));
  ac_arena_free(a);
  return 0;
}

#ifdef AC_FUZZ_REPLAY
static int replay(ac_arena *a, const char *path) {
  int n = 0;
  DIR *d = opendir(path);
  for (struct dirent *e; d && (e = readdir(d));)
    if (e->d_name[0] != '.') n += replay(a, ac_path_join(a, path, e->d_name));
  if (d) {
    closedir(d);
    return n;
  }
  size_t len = 0;
  char *text = ac_read_file(a, path, 0, &len, NULL);
  if (!text) return 0;
  fprintf(stderr, "%s\n", path);
  (void)LLVMFuzzerTestOneInput((const uint8_t *)text, len);
  return 1;
}

int main(int argc, char **argv) {
  ac_arena *a = ac_arena_new();
  int n = 0;
  for (int i = 1; i < argc; i++) n += replay(a, argv[i]);
  printf("%d inputs\n", n);
  ac_arena_free(a);
  return n ? 0 : 1;
}
#endif
