/* Writes the section "Primitives" of docs/craft.md: what src/craft/meanings.def says of each primitive, and what can be found out
 * by trying: the checker says which dtypes it takes and whether its destination may be a source, the passes which instructions,
 * scratch and cycles become of one call. ./dev docs puts the result between the markers of the page.
 *
 * usage: craft_reference [PAGE]   prints the section, or the page with the section in it
 *        craft_reference --words  the language's words as a dictionary for fuzzers */
#include "craft/check.h"
#include "isa/cost.h"
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 2048 };
#define CHIP "ascend910b2"

typedef struct {
  const char *name, *dtypes, *aliasing, *trial, *meaning;
} row;
static const row rows[] = {
#define H(title, text) {NULL, title, text, NULL, NULL},
#define M(name, dtypes, aliasing, trial, meaning) {name, dtypes, aliasing, trial, meaning},
#include "craft/meanings.def"
};

typedef struct {
  const char *name, *count; /* instructions of one call, or of one piece of it */
  int64_t scratch;          /* bytes; -1: not constant */
  double cycles;            /* a repeat */
} cost;

/* ---- trials ---- */

static bool is_buffer(const ac_sig *s, int i) {
  return s->op[i].kinds[0] == 'B' && s->op[i].kinds[1] != 'P';
}

/* What stands for operand i where the row does not say. */
static const char *operand(const ac_sig *s, int i, ac_dtype d) {
  const char *n = s->op[i].name;
  if (s->op[i].optional) return NULL;
  if (is_buffer(s, i)) return n;
  if (!strcmp(n, "mode")) return "\"lt\"";
  if (s->op[i].kinds[0] == 'X') return ac_dtypes[d].cls == AC_FLOATING ? "2.0" : "2";
  if (s->op[i].kinds[0] == 'F') return "2.0";
  return "2";
}

/* The arguments of the trial; the destination stands in for operand `alias` where that is not negative. */
static char *arguments(ac_arena *a, const row *r, const ac_sig *s, ac_dtype d, int alias) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (const char *p = r->trial, *end; *p; p = *end ? end + 2 : end, alias--) {
    end = p + strcspn(p, ",");
    int first = (int)strcspn(r->trial, ",");
    ac_printf(&b, "%s%.*s", b.len ? ", " : "", alias ? (int)(end - p) : first, alias ? p : r->trial);
  }
  if (b.len) return ac_strdup(a, ac_buf_str(&b));
  for (int i = 0; i < s->n; i++) {
    const char *o = operand(s, i, d);
    if (o) ac_printf(&b, "%s%s", b.len ? ", " : "", i == alias ? s->op[0].name : o);
  }
  return ac_strdup(a, ac_buf_str(&b));
}

static bool mentions(const char *args, const char *name) {
  size_t n = strlen(name);
  for (const char *p = args; (p = strstr(p, name)); p += n)
    if ((p == args || strchr(" (=", p[-1])) && strchr(" ,+[)", p[n] ? p[n] : ' ')) return true;
  return false;
}

static const struct {
  const char *name, *shape, *dtype; /* dtype NULL: the one that is tried */
} pool[] = {{"dst", "2048", NULL},      {"src", "2048", NULL},       {"a", "2048", NULL},
            {"b", "2048", NULL},        {"c", "2048", NULL},         {"work", "2048", NULL},
            {"index", "2048", "int32"}, {"bytes", "2048", "uint8"},  {"f32", "2048", "float32"},
            {"two", "(16, 128)", NULL}, {"two2", "(16, 128)", NULL}, {"two3", "(16, 128)", NULL},
            {"mask", "2048", "mask"},   {"mask2", "2048", "mask"}};

/* A program of one call, and the line it stands on. */
static char *program(ac_arena *a, const row *r, const char *args, ac_dtype d, bool load_dst, int *line) {
  ac_buf decl, load, params;
  ac_buf_init(&decl, a), ac_buf_init(&load, a), ac_buf_init(&params, a);
  bool bits = false;
  const char *masks_in[2];
  int n_masks = 0;
  for (size_t i = 0; i < AC_COUNT(pool); i++) {
    const char *n = pool[i].name;
    if (!mentions(args, n)) continue;
    ac_printf(&decl, "    %s = tl.alloc_ub(%s, tl.%s)\n", n, pool[i].shape,
              pool[i].dtype ? pool[i].dtype : ac_dtypes[d].name);
    bool first = !strncmp(args, n, strlen(n)) && args[strlen(n)] == ',';
    bool is_mask = !strncmp(n, "mask", 4);
    bits |= is_mask;
    if (!strcmp(n, "work") || (first && !load_dst)) continue;
    if (is_mask) {
      masks_in[n_masks++] = n;
      continue;
    }
    ac_printf(&params, "g_%s, ", n);
    if (strstr(pool[i].shape, ","))
      ac_printf(&load, "        tl.load(g_%s + tl.arange(0, 16)[:, None] * 128 + tl.arange(0, 128)[None, :], %s)\n",
                n, n);
    else
      ac_printf(&load, "        tl.load(g_%s + tl.arange(0, %s), %s)\n", n, pool[i].shape, n);
  }
  if (bits) {
    ac_puts(&decl, "    m_a = tl.alloc_ub(2048, tl.float32)\n");
    ac_puts(&params, "g_m, ");
    ac_puts(&load, "        tl.load(g_m + tl.arange(0, 2048), m_a)\n");
  }
  for (int i = 0; i < n_masks; i++)
    ac_printf(&load, "    with tl.compute():\n        tl.vcompare_scalar(%s, m_a, 0.0, \"lt\")\n", masks_in[i]);
  if (!load.len) ac_puts(&load, "        pass\n");
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(&b, "@ascend_kernel\ndef trial_kernel(%sout):\n%s    with tl.copyin():\n%s    with tl.compute():\n",
            ac_buf_str(&params), ac_buf_str(&decl), ac_buf_str(&load));
  *line = 1;
  for (const char *p = ac_buf_str(&b); *p; p++) *line += *p == '\n';
  char *dst = ac_strndup(a, args, strcspn(args, ",)"));
  bool to_mask = !strcmp(dst, "mask");
  ac_printf(&b,
            "        tl.%s(%s)\n%s    with tl.copyout():\n        tl.store(out + tl.arange(0, 1), %s, count=1)\n\n\n"
            "def trial(%sout):\n    trial_kernel[1](%sout)\n",
            r->name, args, to_mask ? "        tl.vselect_scalar(m_a, mask, m_a, 0.0)\n" : "", to_mask ? "m_a" : dst,
            ac_buf_str(&params), ac_buf_str(&params));
  return ac_strdup(a, ac_buf_str(&b));
}

static ac_cmodule *checks(ac_arena *a, const ac_chip *chip, const char *text, ac_diags *d) {
  ac_diags_source(d, "trial", text);
  ac_cmodule *m = ac_craft_parse(a, "trial", text, d);
  return m && ac_craft_check(a, m, &(ac_craft_check_opts){.chip = chip}, d) ? m : NULL;
}

/* ---- what becomes of the call ---- */

static void count_insts(const ac_ablock *b, int line, int *n) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_INST && s->loc.line == line) n[s->inst]++;
    count_insts(&s->body, line, n);
    count_insts(&s->orelse, line, n);
  }
}

static bool constant(const ac_aexpr *e, int64_t *v) {
  int64_t x = 0, y = 0;
  if (!e) return false;
  if (e->kind == AC_AE_INT) return *v = e->i, true;
  if (!e->a || !e->b || !constant(e->a, &x) || !constant(e->b, &y)) return false;
  switch (e->kind) {
  case AC_AE_ADD: *v = x + y; return true;
  case AC_AE_MUL: *v = x * y; return true;
  case AC_AE_MIN: *v = x < y ? x : y; return true;
  case AC_AE_MAX: *v = x > y ? x : y; return true;
  case AC_AE_CDIV: *v = (x + y - 1) / y; return true;
  case AC_AE_ALIGN_UP: *v = (x + y - 1) / y * y; return true;
  default: return false;
  }
}

static bool declared(const ac_cfunc *f, const char *name) {
  for (size_t i = 0; i < f->buffers.len; i++)
    if (!strcmp(f->buffers.data[i]->name, name)) return true;
  return false;
}

static int64_t scratch_bytes(const ac_akernel *k, const ac_cfunc *f) {
  int64_t sum = 0, n = 0;
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *b = &k->buffers.data[i];
    if (declared(f, b->buffer) || ac_unused(k, (int)i)) continue;
    if (!constant(b->elements, &n)) return -1;
    n *= ac_dtypes[b->dtype].bytes;
    sum += (n + b->round_to - 1) / b->round_to * b->round_to;
  }
  return sum;
}

static bool look(ac_arena *a, const ac_chip *chip, const char *text, int line, ac_dtype d, cost *out) {
  ac_diags diags;
  ac_diags_init(&diags, a);
  ac_cmodule *m = checks(a, chip, text, &diags);
  ac_program *p =
      m ? ac_lower(a, m, &(ac_lower_opts){.op = "trial_custom", .op_type = "TrialCustom", .chip = chip}, &diags)
        : NULL;
  if (!p) return false;
  int n[AC_INST_COUNT] = {0};
  const ac_akernel *k = p->kernels.data[0];
  for (size_t i = 0; i < k->methods.len; i++) count_insts(&k->methods.data[i].body, line, n);
  ac_buf b;
  ac_buf_init(&b, a);
  out->cycles = 0;
  for (int i = 0; i < AC_INST_COUNT; i++) {
    if (!n[i]) continue;
    if (n[i] == 1)
      ac_printf(&b, "%s`%s`", b.len ? ", " : "", ac_insts[i].asc);
    else
      ac_printf(&b, "%s%d `%s`", b.len ? ", " : "", n[i], ac_insts[i].asc);
    out->cycles += n[i] * ac_cost_vector(ac_cost_of(chip->costs, ac_insts[i].asc), d, 1, 0, false);
  }
  out->count = ac_strdup(a, ac_buf_str(&b));
  out->scratch = scratch_bytes(k, m->funcs.data[0]);
  return true;
}

/* ---- a row ---- */

static char *call_text(ac_arena *a, const ac_sig *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (int i = 0; i < s->n; i++) ac_printf(&b, "%s%s%s", i ? ", " : "", s->op[i].name, s->op[i].optional ? "=" : "");
  return ac_sprintf(a, "`tl.%s(%s)`", s->name, ac_buf_str(&b));
}

static char *where_text(ac_arena *a, const char *where) {
  static const struct {
    char letter;
    const char *word;
  } words[] = {{'h', "host"}, {'k', "kernel"}, {'i', "copyin"}, {'c', "compute"}, {'o', "copyout"}};
  ac_buf b;
  ac_buf_init(&b, a);
  if (!strcmp(where, "hkico")) return "anywhere";
  for (size_t i = 0; i < AC_COUNT(words); i++)
    if (strchr(where, words[i].letter)) ac_printf(&b, "%s%s", b.len ? ", " : "", words[i].word);
  return ac_strdup(a, ac_buf_str(&b));
}

static void put_error(ac_buf *b, const ac_sig *s) {
  if (s->prim != AC_P_INST || ac_insts[s->inst].ulp <= 0) return;
  const ac_inst_info *i = &ac_insts[s->inst];
  ac_printf(b, " At most %g units of the last place off", i->ulp);
  if (i->half != i->ulp) ac_printf(b, ", in half %g", i->half);
  ac_printf(b, " (%s).", i->source);
}

typedef struct {
  ac_arena *a;
  const ac_chip *chip;
  const row *r;
  const ac_sig *s;
} trial;

static bool accepts(const trial *t, ac_dtype d, int alias, bool load_dst, char **text, int *line) {
  ac_diags diags;
  ac_diags_init(&diags, t->a);
  *text = program(t->a, t->r, arguments(t->a, t->r, t->s, d, alias), d, load_dst, line);
  return checks(t->a, t->chip, *text, &diags) != NULL;
}

/* Which sources the destination may be. */
static const char *aliasing(const trial *t, ac_dtype d, bool load_dst) {
  ac_buf yes, no;
  ac_buf_init(&yes, t->a), ac_buf_init(&no, t->a);
  char *text;
  int line;
  (void)load_dst;
  for (int i = 1; i < t->s->n; i++) {
    if (!is_buffer(t->s, i) || t->s->op[i].optional || !strcmp(t->s->op[i].name, "mask")) continue;
    ac_buf *b = accepts(t, d, i, true, &text, &line) ? &yes : &no;
    ac_printf(b, "%s%s", b->len ? ", " : "", t->s->op[i].name);
  }
  return !yes.len ? no.len ? "no" : "" : !no.len ? "yes" : ac_sprintf(t->a, "as %s", ac_buf_str(&yes));
}

static void put_trial(ac_buf *b, const trial *t) {
  ac_buf set;
  ac_buf_init(&set, t->a);
  ac_dtype best = AC_NODTYPE;
  char *text = NULL, *used = NULL;
  int line = 0, at = 0;
  bool loaded = false;
  for (int d = 0; d < AC_DTYPE_COUNT; d++) {
    bool load = false, ok = accepts(t, (ac_dtype)d, -1, false, &text, &line);
    if (!ok) ok = load = accepts(t, (ac_dtype)d, -1, true, &text, &line);
    if (!ok) continue;
    ac_printf(&set, "%s%s", set.len ? ", " : "", ac_dtypes[d].name);
    if (best == AC_NODTYPE) best = (ac_dtype)d, used = text, at = line, loaded = load;
  }
  cost c = {0};
  if (best == AC_NODTYPE || !look(t->a, t->chip, used, at, best, &c)) {
    fprintf(stderr, "tl.%s: the trial fails for every dtype; see meanings.def\n", t->s->name);
    accepts(t, AC_F32, -1, true, &text, &line);
    fputs(text, stderr);
    ac_diags diags;
    ac_diags_init(&diags, t->a);
    (void)checks(t->a, t->chip, text, &diags);
    ac_diags_print(&diags, stderr, false);
    exit(1);
  }
  ac_printf(b, " %s | %s |", t->r->dtypes[0] ? t->r->dtypes : ac_buf_str(&set),
            t->r->aliasing[0] ? t->r->aliasing : aliasing(t, best, loaded));
  ac_printf(b, c.scratch < 0 ? " by the sizes |" : " %ld |", (long)c.scratch);
  ac_printf(b, " %g | %s |\n", c.cycles, c.count);
}

static void put_row(ac_buf *b, ac_arena *a, const ac_chip *chip, const row *r, bool wide) {
  ac_sig s = ac_sig_find(r->name);
  if (s.prim == AC_P_NONE || strcmp(s.name, r->name) != 0) {
    fprintf(stderr, "meanings.def: there is no primitive '%s'\n", r->name);
    exit(1);
  }
  ac_printf(b, "| %s | ", call_text(a, &s));
  if (!wide) ac_printf(b, "%s | ", where_text(a, s.where));
  ac_puts(b, r->meaning);
  put_error(b, &s);
  ac_puts(b, " |");
  trial t = {a, chip, r, &s};
  if (strcmp(r->trial, "-"))
    put_trial(b, &t);
  else if (wide)
    ac_printf(b, " %s | %s | | | |\n", r->dtypes, r->aliasing);
  else
    ac_printf(b, " %s |\n", r->dtypes);
}

static bool has_trial(size_t from) {
  for (size_t i = from + 1; i < AC_COUNT(rows) && rows[i].name; i++)
    if (strcmp(rows[i].trial, "-")) return true;
  return false;
}

/* Other names that are understood, by the name that they stand for. */
static void put_aliases(ac_buf *b, ac_arena *a, const char *what, const char *const (*pairs)[2], size_t n) {
  ac_printf(b, "\n%s:", what);
  ac_map *done = ac_map_new(a);
  for (size_t i = 0; i < n; i++) {
    if (ac_map_has(done, pairs[i][1])) continue;
    ac_map_put(done, pairs[i][1], a);
    ac_printf(b, "%s `%s`", i ? ";" : "", pairs[i][1]);
    for (size_t k = i; k < n; k++)
      if (!strcmp(pairs[k][1], pairs[i][1])) ac_printf(b, "%s `%s`", k == i ? " for" : ",", pairs[k][0]);
  }
  ac_puts(b, ".\n");
}

static void put_names(ac_buf *b, ac_arena *a) {
  static const char *const names[][2] = {
#define A(name, to) {name, to},
#include "craft/aliases.def"
  };
  static const char *const keywords[][2] = {
#define K(name, to) {name, to},
#include "craft/aliases.def"
  };
  static const char *const scalars[][2] = {
#define S(name, to) {name, to},
#include "craft/aliases.def"
  };
  ac_puts(b, "\n### Other names\n\nUnderstood, and written back in the form that stands first.\n");
  put_aliases(b, a, "Primitives", names, AC_COUNT(names));
  put_aliases(b, a, "Keywords, where the primitive has the operand", keywords, AC_COUNT(keywords));
  put_aliases(b, a, "With a scalar for the last source", scalars, AC_COUNT(scalars));
}

static char *section(ac_arena *a, const ac_chip *chip) {
  ac_buf b;
  ac_buf_init(&b, a);
  bool wide = false;
  for (size_t i = 0; i < AC_COUNT(rows); i++) {
    const row *r = &rows[i];
    if (r->name) {
      put_row(&b, a, chip, r, wide);
      continue;
    }
    wide = has_trial(i);
    ac_printf(&b, "\n### %s\n\n", r->dtypes);
    if (r->aliasing[0]) ac_printf(&b, "%s\n\n", r->aliasing);
    ac_puts(&b, wide ? "| primitive | meaning | dtypes | in place | scratch | cycles | AscendC "
                       "|\n|---|---|---|---|---|---|---|\n"
                     : "| primitive | where | meaning | dtypes |\n|---|---|---|---|\n");
  }
  put_names(&b, a);
  return ac_strdup(a, ac_buf_str(&b));
}

/* ---- all primitives have a row ---- */

static bool has_row(const char *name) {
  if (!name) return true; /* an instruction that only the lowering uses */
  for (size_t i = 0; i < AC_COUNT(rows); i++)
    if (rows[i].name && !strcmp(rows[i].name, name)) return true;
  fprintf(stderr, "meanings.def has no row for tl.%s\n", name);
  return false;
}

static bool complete(void) {
  bool ok = true;
  static const char *const names[] = {
#define P(id, name, sig, where) name,
#include "craft/prims.def"
#undef P
  };
  for (size_t i = 0; i < AC_COUNT(names); i++) ok &= has_row(names[i]);
  for (int i = 0; i < AC_INST_COUNT; i++) ok &= has_row(ac_insts[i].dsl);
  return ok;
}

/* ---- words for fuzzers ---- */

static void words(void) {
  static const char *const all[] = {
#define P(id, name, sig, where) "tl." name "(",
#include "craft/prims.def"
#undef P
#define A(name, to) "tl." name "(",
#define K(name, to) name "=", to "=",
#include "craft/aliases.def"
      "@ascend_kernel\\x0adef k(x, y, n):\\x0a    ",
      "with tl.copyin():\\x0a        ",
      "with tl.compute():\\x0a        ",
      "with tl.copyout():\\x0a        ",
      "for i in range(0, n, 8):\\x0a        ",
      "while n > 0:\\x0a        ",
      "if n > 1:\\x0a        ",
      "elif n < 3:\\x0a",
      "else:\\x0a",
      "return\\x0a",
      "break\\x0a",
      "pass\\x0a",
      "import a.b as c\\x0a",
      "from a import (b)\\x0a",
      "k[1](x, y, n)\\x0a",
      "float(\\\"inf\\\")",
      "x.shape[-1]",
      "x.numel()",
      "[:, None]",
      "[None, :]",
      "a, b = x.shape",
      " and ",
      " or ",
      " not ",
      " if n else ",
      "**",
      "//",
      "\\\\\\x0a",
      "# c\\x0a",
      "\\\"\\\"\\\"",
      "9223372036854775808",
      "1e-5",
      "0x7f",
      "    ",
      "\\x0d\\x0a"};
  for (size_t i = 0; i < AC_COUNT(all); i++) printf("\"%s\"\n", all[i]);
  for (int i = 0; i < AC_INST_COUNT; i++)
    if (ac_insts[i].dsl) printf("\"tl.%s(\"\n", ac_insts[i].dsl);
  for (int i = 0; i < AC_DTYPE_COUNT; i++) printf("\"tl.%s\"\n", ac_dtypes[i].name);
}

int main(int argc, char **argv) {
  static const char begin[] = "<!-- generated by ./dev docs -->\n", end[] = "\n<!-- end -->\n";
  if (argc > 1 && !strcmp(argv[1], "--words")) return words(), 0;
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  const ac_chip *chip = ac_chip_load(a, CHIP, &d);
  size_t n = 0;
  char *page = argc > 1 ? ac_read_file(a, argv[1], 0, &n, &d) : NULL;
  if (!chip || (argc > 1 && !page)) return ac_diags_print(&d, stderr, false), 2;
  if (!complete()) return 1;
  char *text = section(a, chip);
  if (!page) return fputs(text, stdout), 0;
  char *from = strstr(page, begin), *to = from ? strstr(from, end) : NULL;
  if (!to) return fprintf(stderr, "%s: no markers\n", argv[1]), 2;
  printf("%.*s%s%s", (int)(from + strlen(begin) - page), page, text, to);
  ac_arena_free(a);
  return 0;
}
