/* `ascendcraft fmt`: DSL programs in their canonical form, in place. What comes out is read again and compared before it is written. */
#include "cli/cli.h"
#include "craft/craft.h"

#include <errno.h>
#include <string.h>

static const char *read_all(ac_context *c, FILE *f, size_t *len) {
  ac_buf b;
  ac_buf_init(&b, c->arena);
  char piece[4096];
  for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;) ac_putn(&b, piece, n);
  *len = b.len;
  if (!ferror(f)) return ac_buf_str(&b);
  ac_error(&c->diags, AC0101, AC_NOLOC, "cannot read standard input: %s", strerror(errno));
  return NULL;
}

/* The canonical text; NULL after an error. */
static char *canonical(ac_context *c, const char *name, const char *text) {
  ac_diags_source(&c->diags, name, text);
  ac_cmodule *m = ac_craft_parse(c->arena, name, text, &c->diags);
  if (!m) return NULL;
  char *out = ac_craft_print(c->arena, m);
  const char *why = ac_craft_unlike(c->arena, text, out);
  if (!why) return out;
  ac_diag *x = ac_error(&c->diags, AC0100, AC_NOLOC, "%s: %s", name, why);
  ac_help(&c->diags, x, "the file was left as it is; please report this");
  return NULL;
}

static void one(ac_context *c, const char *file, bool check, json_t *files) {
  bool in = !strcmp(file, "-");
  size_t len = 0;
  const char *text = in ? read_all(c, stdin, &len) : ac_read_file(c->arena, file, 0, &len, &c->diags);
  const char *name = in ? "<stdin>" : file;
  char *out = text && ac_craft_whole(name, text, len, &c->diags) ? canonical(c, name, text) : NULL;
  if (!out) return;
  bool changed = strcmp(text, out) != 0;
  if (in && !check)
    ac_puts(&c->text, out);
  else if (changed && check)
    ac_printf(&c->text, "%s: not in canonical form\n", name);
  else if (changed && ac_write_file(file, out, strlen(out), &c->diags))
    ac_printf(&c->text, "%s: formatted\n", name);
  json_array_append_new(files, json_pack("{s:s, s:b}", "file", name, "changed", changed));
  if (changed && check) c->exit = AC_EXIT_FAILED;
}

int ac_format_files(ac_context *c, const ac_format_options *o) {
  ac_cli_fresh(c, "fmt");
  c->diags.max_errors = 0;
  json_t *files = json_array();
  int worst = AC_EXIT_OK;
  for (int i = 0; i < o->n_files; i++) {
    c->exit = AC_EXIT_OK;
    one(c, o->files[i], o->check, files);
    if (c->exit > worst) worst = c->exit;
  }
  json_object_set_new(c->result, "files", files);
  return ac_cli_done(c, worst);
}
