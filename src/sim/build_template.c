/* Kernels that are templates over the tiling key: which instances there are is declared with ASCENDC_TPL_ARGS_DECL and ASCENDC_TPL_SEL
 * (asc-devkit docs/zh, Tiling template programming). CANN's build finds them by running the preprocessor with these macros as marks; so
 * does this one (sim/include/acsim/host_template.h, ACSIM_TPL_PRE). Each instance that may be selected is compiled, and the wrapper takes
 * the one of the launch's tiling key. */
#include "sim/build_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 32, MAX_VALUES = 256, MAX_INSTANCES = 256 };
/* As host_template.h writes them. */
enum { DTYPE, FORMAT, UINT, BOOL, KERNEL_TYPE, OTHER };
static const char MARK[] = "acsim_tpl_param", END[] = "acsim_tpl_end";

bool ac_build_is_template(const ac_builder *b, const ac_sources *c) {
  ac_source_facts f = {0};
  for (size_t i = 0; i < ac_map_len(c->seen); i++)
    if (strstr(ac_map_value(c->seen, i), "__global__"))
      ac_source_scan(b->a, ac_map_key(c->seen, i), ac_map_value(c->seen, i), &f);
  for (size_t i = 0; i < f.entries.len; i++)
    if (!strcmp(f.entries.data[i].name, b->s->op)) return f.entries.data[i].is_template;
  return false;
}

/* ---- values ---- */

/* The native data types, by the names that stand in the declarations: C_ and the name of the graph's type. */
static const struct {
  const char *name;
  int value;
  const char *cpp;
} NATIVE[] = {{"C_DT_FLOAT", 0, "float"},      {"C_DT_FLOAT16", 1, "half"},          {"C_DT_INT8", 2, "int8_t"},
              {"C_DT_INT32", 3, "int32_t"},    {"C_DT_UINT8", 4, "uint8_t"},         {"C_DT_INT16", 6, "int16_t"},
              {"C_DT_UINT16", 7, "uint16_t"},  {"C_DT_UINT32", 8, "uint32_t"},       {"C_DT_INT64", 9, "int64_t"},
              {"C_DT_UINT64", 10, "uint64_t"}, {"C_DT_DOUBLE", 11, "double"},        {"C_DT_BOOL", 12, "bool"},
              {"C_DT_BF16", 27, "bfloat16_t"}, {"C_DT_INT4", 29, "AscendC::int4b_t"}};

typedef struct {
  const char *text;   /* as a template argument */
  const char *number; /* what the tiling key holds, or for UINT what is looked up in the declared list */
  bool known;         /* value is that number */
  uint64_t value;
  const char *cpp; /* of a native data type; else NULL */
} value;

typedef struct {
  const char *name;
  int kind, bits;
  int input; /* whose data type it has; -1 */
  AC_VEC(value) values;
} param;
typedef AC_VEC(param) params;

typedef struct {
  ac_builder *b;
  params declared;
  AC_VEC(params) selected;
  const char *column;
  ac_buf out; /* the cases */
  const char *first;
  int n;
  AC_VEC(uint64_t) keys;
} reader;

static const char *trim(ac_arena *a, const char *t, size_t n) {
  while (n && isspace((unsigned char)*t)) t++, n--;
  while (n && isspace((unsigned char)t[n - 1])) n--;
  return ac_strndup(a, t, n);
}

static value read_value(ac_arena *a, const char *t, int kind) {
  value v = {.text = t, .number = t};
  for (size_t i = 0; i < AC_COUNT(NATIVE); i++)
    if (!strcmp(t, NATIVE[i].name))
      return (value){.text = NATIVE[i].cpp,
                     .number = ac_sprintf(a, "%d", NATIVE[i].value),
                     .known = true,
                     .value = (uint64_t)NATIVE[i].value,
                     .cpp = NATIVE[i].cpp};
  const char *p = t + strspn(t, "( ");
  char *end = NULL;
  v.value = strtoull(p, &end, 0);
  v.known = end > p && end[strspn(end, "uUlL) ")] == 0;
  if (!strcmp(p, "true") || !strcmp(p, "false")) v.known = true, v.value = *p == 't';
  if (v.known) v.number = ac_sprintf(a, "%lluull", (unsigned long long)v.value);
  if (v.known && kind == BOOL) v.text = v.value ? "true" : "false";
  return v;
}

/* How UINT lists are written: 0 ranges (how many, then pairs), 1 a list, 2 ranges and a list. */
static void unfold(ac_arena *a, param *p) {
  if (p->kind != UINT || p->values.len < 2 || !p->values.data[0].known) return;
  param out = *p;
  memset(&out.values, 0, sizeof out.values);
  uint64_t how = p->values.data[0].value;
  size_t at = how == 1 ? 1 : 2;
  for (uint64_t ranges = how == 1 ? 0 : p->values.data[1].value; ranges && at + 1 < p->values.len; ranges--, at += 2)
    for (uint64_t x = p->values.data[at].value; x <= p->values.data[at + 1].value && out.values.len < MAX_VALUES;
         x++) {
      const char *t = ac_sprintf(a, "%llu", (unsigned long long)x);
      ac_push(a, &out.values, read_value(a, t, UINT));
    }
  for (; how && at < p->values.len; at++) ac_push(a, &out.values, p->values.data[at]);
  *p = out;
}

/* At: "name" kind bits : value, value, ... acsim_tpl_end */
static const char *read_param(ac_arena *a, const char *t, param *p) {
  *p = (param){.name = "", .input = -1};
  const char *open = strchr(t, '"'), *close = open ? strchr(open + 1, '"') : NULL, *colon = strchr(t, ':');
  const char *end = strstr(t, END);
  if (!close || !colon || !end) return t;
  p->name = ac_strndup(a, open + 1, (size_t)(close - open - 1));
  char *next = NULL;
  p->kind = (int)strtol(close + 1, &next, 10);
  p->bits = (int)strtol(next, NULL, 10);
  int depth = 0;
  for (const char *s = colon + 1, *i = s; i <= end && p->values.len < MAX_VALUES; i++) {
    depth += *i == '(';
    depth -= *i == ')';
    if (i < end && (*i != ',' || depth)) continue;
    const char *v = trim(a, s, (size_t)(i - s));
    s = i + 1;
    if (!strncmp(v, "acsim_tpl_input", 15)) {
      if (p->input < 0) p->input = atoi(v + 15 + strspn(v + 15, " ("));
    } else if (*v && strncmp(v, "acsim_tpl_output", 16)) {
      ac_push(a, &p->values, read_value(a, v, p->kind));
    }
  }
  unfold(a, p);
  return end + sizeof END - 1;
}

/* All marks up to the next `until`. */
static const char *read_params(ac_arena *a, const char *t, const char *until, params *to) {
  const char *end = strstr(t, until);
  while (end) {
    const char *m = strstr(t, MARK);
    if (!m || m > end) break;
    param p;
    t = read_param(a, m + sizeof MARK - 1, &p);
    if (t < m + sizeof MARK) break;
    ac_push(a, to, p);
  }
  return end ? end + strlen(until) : t + strlen(t);
}

static void read_marks(reader *r, const char *text) {
  ac_arena *a = r->b->a;
  const char *decl = strstr(text, "acsim_tpl_declare");
  if (decl) read_params(a, decl, "acsim_tpl_close", &r->declared);
  for (const char *p = text; (p = strstr(p, "acsim_tpl_select"));) {
    params s = {0};
    p = read_params(a, p, "acsim_tpl_close", &s);
    ac_push(a, &r->selected, s);
  }
}

/* ---- instances ---- */

static const param *find(const params *v, const char *name) {
  for (size_t i = 0; i < v->len; i++)
    if (!strcmp(v->data[i].name, name)) return &v->data[i];
  return NULL;
}

/* "DTYPE_X=half ORIG_DTYPE_X=... DTYPE_Y=float": the nth of the DTYPE_. NULL where there is none. */
static const char *column_type(ac_arena *a, const char *column, int n) {
  size_t end = strcspn(column, "\n");
  for (const char *p = column; n >= 0 && (p = strstr(p, " DTYPE_")) && p < column + end; n--) {
    p += strcspn(p, "=") + 1;
    if (!n) return ac_strndup(a, p, strcspn(p, " \n"));
  }
  return NULL;
}

/* Instances of another data type than the one that is built for are left out: DTYPE_... would not fit them. */
static bool fits_column(const reader *r, const param *p, const value *v) {
  if (!r->column || p->input < 0 || !v->cpp) return true;
  const char *t = column_type(r->b->a, r->column, p->input);
  return !t || !strcmp(t, v->cpp);
}

static uint64_t place_of(const param *p, const value *v) {
  for (size_t i = 0; i < p->values.len; i++)
    if (p->values.data[i].known && v->known && p->values.data[i].value == v->value) return i;
  return UINT64_MAX;
}

static bool refuse(const reader *r, const char *what, const char *name) {
  ac_diag *x = ac_error(r->b->d, AC0809, (ac_loc){.file = r->b->s->kernel_src}, "kernel %s is a template, and %s %s",
                        r->b->s->op, what, name);
  ac_help(r->b->d, x,
          "declare its instances with ASCENDC_TPL_ARGS_DECL and ASCENDC_TPL_SEL, in the order of its "
          "parameters, in a header that the kernel includes");
  return false;
}

static bool is_new(reader *r, uint64_t key) {
  for (size_t i = 0; i < r->keys.len; i++)
    if (r->keys.data[i] == key) return false;
  ac_push(r->b->a, &r->keys, key);
  return true;
}

/* One choice of all values is an instance. Sets a case of the wrapper. */
static bool add_instance(reader *r, const params *sel, const value *const *chosen) {
  ac_arena *a = r->b->a;
  ac_buf t, key;
  ac_buf_init(&t, a);
  ac_buf_init(&key, a);
  ac_puts(&key, "0");
  uint64_t number = 0;
  int bits = 0;
  for (size_t i = 0; i < r->declared.len; bits += r->declared.data[i++].bits) {
    const param *p = &r->declared.data[i];
    uint64_t at = p->kind == UINT ? place_of(p, chosen[i]) : chosen[i]->value;
    if (p->kind == UINT && at == UINT64_MAX)
      return refuse(r, "ASCENDC_TPL_ARGS_DECL does not list what is selected for", p->name);
    if (!chosen[i]->known) return refuse(r, "a value is not a number that the preprocessor sees: of", p->name);
    if (bits + p->bits > 64) return refuse(r, "the key has more than 64 bits at", p->name);
    number |= at << bits;
    ac_printf(&t, "%s%s", i ? ", " : "", chosen[i]->text);
  }
  if (!is_new(r, number)) return true;
  if (++r->n > MAX_INSTANCES)
    return refuse(
        r, "more instances are selected than the simulator compiles at once:", ac_sprintf(a, "%d", MAX_INSTANCES));
  const char *name = ac_sprintf(a, "::%s<%s>", r->b->s->op, ac_buf_str(&t));
  if (!r->first) r->first = name;
  const param *type = find(sel, "kernel_type");
  ac_printf(&r->out, "  case %lluull: ", (unsigned long long)number);
  if (type && type->values.len && !strncmp(type->values.data[0].text, "ASCENDC_TPL_", 12))
    ac_printf(&r->out, "acsim_kernel_type(KERNEL_TYPE_%s, -1, __FILE__, 0); ", type->values.data[0].text + 12);
  ac_printf(&r->out, "if (p) acsim_entry::run(&%s, p); return 1;\n", name);
  return true;
}

/* All choices of the values from parameter `at` on. */
static bool choose(reader *r, const params *sel, size_t at, const value **chosen) {
  if (at == r->declared.len) return add_instance(r, sel, chosen);
  const param *d = &r->declared.data[at], *s = find(sel, d->name);
  if (!s) return refuse(r, "ASCENDC_TPL_ARGS_SEL lacks", d->name);
  const param *from = s->values.len ? s : d; /* nothing but whose data type it is */
  for (size_t i = 0; i < from->values.len; i++) {
    if (!fits_column(r, d, &from->values.data[i])) continue;
    chosen[at] = &from->values.data[i];
    if (!choose(r, sel, at + 1, chosen)) return false;
  }
  return true;
}

char *ac_build_template(ac_builder *b, const ac_strvec *args, const char *source, const char *column) {
  ac_strvec with = {0};
  for (size_t i = 0; i < args->len; i++) ac_push(b->a, &with, args->data[i]);
  ac_push(b->a, &with, "-DACSIM_TPL_PRE=1");
  const char *text = ac_build_preprocess(b, &with, source, b->s->kernel_src);
  if (!text) return NULL;
  reader r = {.b = b, .column = column};
  ac_buf_init(&r.out, b->a);
  read_marks(&r, text);
  const value *chosen[MAX_PARAMS];
  if (!r.declared.len || r.declared.len > MAX_PARAMS)
    return refuse(&r, "none of its files has", "ASCENDC_TPL_ARGS_DECL"), NULL;
  for (size_t i = 0; i < r.selected.len; i++)
    if (!choose(&r, &r.selected.data[i], 0, chosen)) return NULL;
  if (!r.first) return refuse(&r, "none of its files has an ASCENDC_TPL_SEL for", column ? column : "it"), NULL;
  return ac_sprintf(
      b->a,
      "#define ACSIM_ENTRY_FIRST %s\n"
      "static int acsim_entry_of(unsigned long key, void *const *p) {\n  switch (key) {\n%s  }\n  return 0;\n}\n"
      "static void acsim_entry_choose(void *const *p) { acsim_entry_of(acsim_tiling_key(), p); }\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) int acsim_entry_has(unsigned long key) { return "
      "acsim_entry_of(key, nullptr); }\n",
      r.first, ac_buf_str(&r.out));
}
