/* `ascendcraft explain`: the error book (docs/errors, installed with the program). */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char *page_path(ac_arena *a, ac_code code) {
  return ac_home_path(a, ac_sprintf(a, "docs/errors/%s.md", ac_code_name(code)));
}

const char *ac_cli_explained(ac_context *c) {
  for (size_t i = 0; i < c->diags.list.len; i++) {
    const ac_diag *d = c->diags.list.data[i];
    if (d->severity == AC_ERROR && page_path(c->arena, d->code)) return ac_code_name(d->code);
  }
  return NULL;
}

/* "AC0412", "ac412" and "412" are 412; -1: no number. */
static long number_of(const char *s) {
  char *end;
  if (!strncasecmp(s, "AC", 2)) s += 2;
  if (!isdigit((unsigned char)*s)) return -1;
  long n = strtol(s, &end, 10);
  return *end ? -1 : n;
}

static long code_number(int code) {
  return strtol(ac_code_name((ac_code)code) + 2, NULL, 10);
}

static void put_line(ac_context *c, int code) {
  ac_printf(&c->text, "%s  %s\n", ac_code_name((ac_code)code), ac_code_title((ac_code)code));
}

static void put_page(ac_context *c, int code) {
  char *path = page_path(c->arena, (ac_code)code);
  char *text = path ? ac_read_file(c->arena, path, 0, NULL, &c->diags) : NULL;
  if (text)
    ac_puts(&c->text, text);
  else
    ac_printf(&c->text, "# %s: %s\n\nExit code %d. The message itself says the rest; this code has no page.\n",
              ac_code_name((ac_code)code), ac_code_title((ac_code)code), (int)ac_code_exit((ac_code)code));
}

enum { NEAR = 5 };

/* Codes whose numbers are nearest, or whose titles have the word in them. */
static void suggest(ac_context *c, const char *word, long n, ac_diag *x) {
  int found = 0;
  for (int i = 0; n < 0 && i < AC_DIAG_COUNT && found < 2 * NEAR; i++)
    if (strcasestr(ac_code_title((ac_code)i), word))
      ac_help(&c->diags, x, "%s: %s", ac_code_name((ac_code)i), ac_code_title((ac_code)i)), found++;
  for (long away = 1; n >= 0 && away < 100 && found < NEAR; away++)
    for (int i = 0; i < AC_DIAG_COUNT && found < NEAR; i++)
      if (labs(code_number(i) - n) == away)
        ac_help(&c->diags, x, "%s: %s", ac_code_name((ac_code)i), ac_code_title((ac_code)i)), found++;
  if (!found) ac_help(&c->diags, x, "`ascendcraft explain` lists them all");
}

int ac_explain(ac_context *c, const char *code) {
  ac_cli_fresh(c, "explain");
  long n = code ? number_of(code) : -1;
  for (int i = 0; i < AC_DIAG_COUNT; i++) {
    if (!code) put_line(c, i);
    if (!code || code_number(i) != n) continue;
    put_page(c, i);
    return ac_cli_done(c, AC_EXIT_OK);
  }
  if (code) suggest(c, code, n, ac_error(&c->diags, AC0103, AC_NOLOC, "there is no error code '%s'", code));
  return ac_cli_done(c, AC_EXIT_OK);
}
