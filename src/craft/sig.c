/* Signatures of primitives, out of the tables. */
#include "craft/check.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

static const struct {
  const char *name, *sig, *where;
} prims[] = {
#define P(id, name, sig, where) [id] = {name, sig, where},
#include "craft/prims.def"
#undef P
};

const char *ac_cprim_name(ac_cprim prim) {
  return (size_t)prim < AC_COUNT(prims) ? prims[prim].name : "?";
}

static const char *const forms[] = {
    [AC_FORM_UNARY] = "dst:B src:B count:I?",
    [AC_FORM_BINARY] = "dst:B a:B b:B count:I?",
    [AC_FORM_SCALAR] = "dst:B src:B scalar:X count:I?",
    [AC_FORM_FMA_SCALAR] = "dst:B src:B scalar:X count:I?",
    [AC_FORM_FILL] = "dst:B scalar:X count:I?",
    [AC_FORM_FMA] = "dst:B a:B b:B count:I?",
    [AC_FORM_CAST] = "dst:B src:B mode:S? count:I?",
    [AC_FORM_COMPARE] = "mask:B a:B b:B mode:S count:I?",
    [AC_FORM_COMPARE_S] = "mask:B a:B scalar:X mode:S count:I?",
    [AC_FORM_SELECT] = "dst:B mask:B a:B b:B count:I?",
    [AC_FORM_SELECT_S] = "dst:B mask:B a:B scalar:X count:I?",
    [AC_FORM_REDUCE] = "dst:B src:B work:B? count:I?",
    [AC_FORM_COPY] = "dst:B src:B count:I?",
};

static const char *const aliases[][2] = {
#define A(name, to) {name, to},
#include "craft/aliases.def"
};
static const char *const scalars[][2] = {
#define S(name, to) {name, to},
#include "craft/aliases.def"
};
static const char *const keywords[][2] = {
#define K(name, to) {name, to},
#include "craft/aliases.def"
};

static void parse_sig(ac_sig *s, const char *p) {
  while (*p) {
    size_t n = strcspn(p, ":"), k;
    memcpy(s->op[s->n].name, p, n);
    p += n + 1;
    for (k = 0; isupper((unsigned char)*p); p++) s->op[s->n].kinds[k++] = *p;
    s->op[s->n].optional = *p == '?';
    if (*p == '?') p++;
    while (*p == ' ') p++;
    s->n++;
  }
}

/* strcmp costs a call, and most names differ in their first letters. */
static bool same(const char *a, const char *b) {
  for (; *a == *b; a++, b++)
    if (!*a) return true;
  return false;
}

/* All of them, parsed when the first is asked for. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ac_sig of_prims[AC_COUNT(prims)], of_insts[AC_INST_COUNT];

static void parse_all(void) {
  for (size_t i = 0; i < AC_COUNT(prims); i++) {
    of_prims[i] =
        (ac_sig){.name = prims[i].name, .prim = (ac_cprim)i, .inst = AC_INST_COUNT, .where = prims[i].where};
    parse_sig(&of_prims[i], prims[i].sig);
  }
  for (int i = 0; i < AC_INST_COUNT; i++) {
    of_insts[i] = (ac_sig){.name = ac_insts[i].dsl, .prim = AC_P_INST, .inst = (ac_inst)i, .where = "c"};
    if ((size_t)ac_insts[i].form < AC_COUNT(forms) && forms[ac_insts[i].form])
      parse_sig(&of_insts[i], forms[ac_insts[i].form]);
  }
}

static ac_sig exact(const char *name) {
  static ac_names index = AC_NAMES(prims, name);
  ac_sig s = {.name = name, .prim = AC_P_NONE, .inst = AC_INST_COUNT};
  int at = ac_names_find(&index, name);
  if (at >= 0) {
    (void)pthread_once(&once, parse_all);
    return of_prims[at];
  }
  ac_inst i = ac_inst_by_dsl(name);
  return i != AC_INST_COUNT ? ac_sig_inst(i) : s;
}

ac_sig ac_sig_inst(ac_inst i) {
  (void)pthread_once(&once, parse_all);
  return of_insts[i];
}

int ac_cprim_second(ac_cprim prim) {
  const char *const names[] = {"dst_index", "dst_value"};
  for (size_t i = 0; i < AC_COUNT(names); i++) {
    int at = ac_cprim_operand(prim, names[i]);
    if (at > 0) return at;
  }
  return -1;
}

int ac_cprim_operand(ac_cprim prim, const char *name) {
  if ((size_t)prim >= AC_COUNT(prims)) return -1;
  (void)pthread_once(&once, parse_all);
  const ac_sig *s = &of_prims[prim];
  for (int i = 0; i < s->n; i++)
    if (!strcmp(s->op[i].name, name)) return i;
  return -1;
}

ac_sig ac_sig_find(const char *name) {
  static ac_names index = {aliases, AC_COUNT(aliases), sizeof aliases[0], 0, {0}};
  ac_sig s = exact(name);
  int at = s.prim == AC_P_NONE ? ac_names_find(&index, name) : -1;
  return at >= 0 ? exact(aliases[at][1]) : s;
}

ac_sig ac_sig_scalar(const char *name) {
  for (size_t i = 0; i < AC_COUNT(scalars); i++)
    if (same(scalars[i][0], name)) return exact(scalars[i][1]);
  return (ac_sig){.name = name, .prim = AC_P_NONE, .inst = AC_INST_COUNT};
}

static bool has_operand(const ac_sig *s, const char *name) {
  for (int i = 0; i < s->n; i++)
    if (same(s->op[i].name, name)) return true;
  return false;
}

const char *ac_sig_keyword(const ac_sig *s, const char *kw) {
  if (has_operand(s, kw)) return kw;
  if (!strcmp(kw, "dst") && has_operand(s, "mask")) return "mask"; /* `out=` of a compare */
  for (size_t i = 0; i < AC_COUNT(keywords); i++)
    if (same(keywords[i][0], kw) && has_operand(s, keywords[i][1])) return keywords[i][1];
  return kw;
}

const char *ac_sig_nearest(const char *name) {
  const char *names[AC_COUNT(prims) + AC_INST_COUNT];
  size_t n = 0;
  for (int i = 0; i < AC_INST_COUNT; i++)
    if (ac_insts[i].dsl) names[n++] = ac_insts[i].dsl;
  for (size_t i = 0; i < AC_COUNT(prims); i++) names[n++] = prims[i].name;
  return ac_nearest(name, names, n);
}

bool ac_sig_known_bare(const char *name) {
  static const char *const bare[] = {"extract_scalar", "min",      "max",          "cdiv",       "load",  "store",
                                     "duplicate",      "alloc_ub", "num_programs", "program_id", "arange"};
  for (size_t i = 0; i < AC_COUNT(bare); i++)
    if (same(bare[i], name)) return true;
  return false;
}

void ac_cprim_roles(const char *name, char out[8]) {
  ac_sig s = exact(name);
  bool masks = !strncmp(name, "mask_", 5) && !has_operand(&s, "mask");
  int n = 0;
  for (int i = 0; i < s.n && n < 7; i++) {
    const char *op = s.op[i].name;
    if (!strcmp(op, "count") || !strcmp(op, "mode")) continue;
    out[n++] = masks                     ? 'M'
               : !strcmp(op, "mask")     ? 'm'
               : !strcmp(op, "work")     ? 'w'
               : s.op[i].kinds[0] != 'B' ? 's'
               : i == 0                  ? 'd'
                                         : 'a';
  }
  out[n] = 0;
}
