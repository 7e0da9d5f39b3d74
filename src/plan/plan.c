/* The planner's entry: which schedule takes the graph, and what all schedules share (names, host function, guards). */
#include "plan/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Words of the surface language and names that the schedules use for themselves. */
static const char *const reserved[] = {
    "False",  "None",     "True",   "and",    "as",       "assert",   "async",   "await",         "break",
    "class",  "continue", "def",    "del",    "elif",     "else",     "except",  "finally",       "for",
    "from",   "global",   "if",     "import", "in",       "is",       "lambda",  "nonlocal",      "not",
    "or",     "pass",     "raise",  "return", "try",      "while",    "with",    "yield",         "tl",
    "min",    "max",      "range",  "float",  "int",      "bool",     "len",     "ascend_kernel", "pid",
    "start",  "end",      "count",  "offs",   "tile",     "per_core", "n_cores", "row",           "lo",
    "hi",     "i",        "col",    "unit",   "units",    "first",    "last",    "outer",         "parts",
    "width",  "wanted",   "lane",   "wide",   "reps",     "r",        "part",    "block",         "tiles",
    "trips",  "t",        "axis",   "inner",  "picks",    "span",     "step",    "total",         "lane_step",
    "axis_0", "axis_1",   "axis_2", "axis_3", "row_count"};

void pl_names_init(pl_names *n, ac_arena *a) {
  *n = (pl_names){.a = a, .used = ac_map_new(a)};
  for (size_t i = 0; i < AC_COUNT(reserved); i++) ac_map_put(n->used, reserved[i], n);
}

const char *pl_name(pl_names *n, const char *wish) {
  ac_buf s;
  ac_buf_init(&s, n->a);
  if (!wish || !*wish) wish = "v";
  if (isdigit((unsigned char)*wish)) ac_puts(&s, "v");
  for (const char *c = wish; *c; c++) {
    char t[2] = {isalnum((unsigned char)*c) || *c == '_' ? *c : '_', 0};
    ac_puts(&s, t);
  }
  const char *base = ac_buf_str(&s), *name = base;
  for (int k = 2; ac_map_has(n->used, name); k++) name = ac_sprintf(n->a, "%s_%d", base, k);
  ac_map_put(n->used, name, n);
  return name;
}

/* ---- diagnostics ---- */

bool pl_refuse(pl_ctx *p, ac_loc loc, const char *what, const char *fmt, ...) {
  if (p->failed) return false;
  p->failed = true;
  va_list ap;
  va_start(ap, fmt);
  const char *why = ac_vsprintf(p->a, fmt, ap);
  va_end(ap);
  ac_diag *x = ac_error(p->d, AC0700, loc, "no schedule covers %s: %s", what, why);
  ac_help(p->d, x,
          "covered are element-wise chains with any broadcasting, reductions, softmax and normalisations among them, "
          "pooling, and reading and writing by index tensors");
  return false;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

ac_strvec ac_plan_covered(ac_arena *a) {
  ac_strvec v = {0};
  for (int op = 0; op < AC_OP_COUNT; op++)
    if (pl_expandable((ac_op)op) || pl_anchored((ac_op)op)) ac_push(a, &v, ac_op_info((ac_op)op)->id);
  qsort(v.data, v.len, sizeof *v.data, by_text);
  return v;
}

/* ---- the graph's arguments and sizes ---- */

const ac_arg *pl_arg(const ac_node *n, const char *name) {
  const ac_opinfo *info = ac_op_info(n->op);
  for (int i = 0; i < info->n_params && i < n->n_args; i++)
    if (!strcmp(info->params[i].name, name)) return &n->args[i];
  fprintf(stderr, "plan: operation %s has no parameter %s\n", info->id, name);
  abort();
}

bool pl_number(const ac_node *n, const char *name, double absent, double *v) {
  const ac_arg *a = pl_arg(n, name);
  *v = absent;
  if (a->absent) return true;
  int64_t i = 0;
  switch (a->kind) {
  case AC_K_FLOAT: *v = a->f; return true;
  case AC_K_BOOL: *v = a->b; return true;
  case AC_K_INT:
  case AC_K_SCALAR:
    if (a->is_bool)
      *v = a->i ? (double)a->i->example : a->b ? 1 : a->f;
    else if (a->kind == AC_K_SCALAR && !a->is_int)
      *v = a->f;
    else if (a->i && ac_sym_is_const(a->i, &i))
      *v = (double)i;
    else
      return false;
    return true;
  default: return false;
  }
}

bool pl_const_int(const ac_node *n, const char *name, int64_t *v) {
  const ac_arg *a = pl_arg(n, name);
  return !a->absent && a->i && ac_sym_is_const(a->i, v);
}

bool pl_sym_is(const pl_ctx *p, const ac_sym *s, int64_t v) {
  int64_t c;
  if (ac_sym_is_const(s, &c)) return c == v;
  return ac_sym_equal(p->g, s, ac_sym_int((ac_graph *)p->g, v));
}

const char *pl_sym_text(const pl_ctx *p, const ac_sym *s) {
  if (s->kind == AC_SYM_CONST) return ac_sprintf(p->a, "%lld", (long long)s->example);
  if (s->kind == AC_SYM_VAR) {
    const ac_symvar *v = &p->g->vars.data[s->var];
    if (v->dim < 0) return p->tensors.data[v->input].name;
    return ac_sprintf(p->a, "%s.shape[%d]", p->tensors.data[v->input].name, v->dim);
  }
  const char *x = pl_sym_text(p, s->a), *y = pl_sym_text(p, s->b);
  if (s->kind == AC_SYM_ADD && s->b->kind == AC_SYM_CONST && s->b->example < 0)
    return ac_sprintf(p->a, "(%s - %lld)", x, -(long long)s->b->example);
  switch (s->kind) {
  case AC_SYM_ADD: return ac_sprintf(p->a, "(%s + %s)", x, y);
  case AC_SYM_MUL: return ac_sprintf(p->a, "%s * %s", x, y);
  case AC_SYM_FLOORDIV: return ac_sprintf(p->a, "(%s // %s)", x, y);
  case AC_SYM_MOD: return ac_sprintf(p->a, "(%s %% %s)", x, y);
  case AC_SYM_MIN: return ac_sprintf(p->a, "min(%s, %s)", x, y);
  default: return ac_sprintf(p->a, "max(%s, %s)", x, y);
  }
}

int64_t pl_ub_budget(const pl_ctx *p) {
  return p->chip->ub - p->chip->ub_reserved;
}

/* ---- statements that every schedule writes ---- */

void pl_let(pl_ctx *p, const char *name, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(p->a, fmt, ap);
  va_end(ap);
  ac_cb_assign(&p->b, name, ac_ce_parse(&p->b, "%s", text));
}

void pl_note(pl_ctx *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = ac_vsprintf(p->a, fmt, ap);
  va_end(ap);
  size_t width = 96 - 4 * (size_t)(p->b.depth + (p->b.func ? 1 : 0));
  while (strlen(text) > width) {
    size_t cut = width;
    while (cut > 0 && text[cut] != ' ') cut--;
    if (!cut) break;
    text[cut] = 0;
    ac_cb_comment(&p->b, "%s", text);
    text += cut + 1;
  }
  ac_cb_comment(&p->b, "%s", text);
}

void pl_load(pl_ctx *p, const char *ptr, const char *offs, const char *buf) {
  ac_cbuild *b = &p->b;
  ac_cb_call(b, ac_ce_tl(b, "load", 2, ac_ce_parse(b, "%s + %s", ptr, offs), ac_ce_name(b, buf)));
}

void pl_store(pl_ctx *p, const char *ptr, const char *offs, const char *buf) {
  ac_cbuild *b = &p->b;
  ac_cb_call(b, ac_ce_tl(b, "store", 2, ac_ce_parse(b, "%s + %s", ptr, offs), ac_ce_name(b, buf)));
}

void pl_alloc(pl_ctx *p, const char *buf, const char *size, ac_dtype d, bool once) {
  ac_cbuild *b = &p->b;
  ac_cexpr *call = ac_ce_tl(b, "alloc_ub", 1, ac_ce_parse(b, "%s", size));
  ac_ce_kwarg(b, call, "dtype", ac_ce_attr(b, ac_ce_name(b, "tl"), ac_dtypes[d].name));
  if (once) ac_ce_kwarg(b, call, "buffers", ac_ce_int(b, 1));
  ac_cb_assign(b, buf, call);
}

ac_cexpr *pl_tensor_type(pl_ctx *p, ac_dtype d) {
  ac_cbuild *b = &p->b;
  ac_cexpr *t = ac_ce_attr(b, ac_ce_name(b, "tl"), ac_dtypes[d].name);
  return ac_ce_index(b, ac_ce_attr(b, ac_ce_name(b, "tl"), "tensor"), 1, &t);
}

/* Annotation of an output: its shape is said where it is not that of the first tensor, which the language takes otherwise, and where a
 * later stage may read it: without it that would be an update in place. Of an input with the same shape, so that other ranks may come;
 * else by its sizes. */
static ac_cexpr *out_type(pl_ctx *p, const ac_value *v) {
  const char *dtype = ac_dtypes[v->dtype].name;
  bool first = true;
  for (size_t i = 0; i < p->g->inputs.len; i++) {
    const pl_tensor *t = &p->tensors.data[i];
    if (t->scalar) continue;
    if (pl_same_shape(p, v->rank, (const ac_sym *const *)v->shape, t->v->rank, (const ac_sym *const *)t->v->shape))
      return first && p->stages.len == 1 ? pl_tensor_type(p, v->dtype)
                                         : ac_ce_parse(&p->b, "tl.out[tl.%s, %s.shape]", dtype, t->name);
    first = false;
  }
  if (first) return pl_tensor_type(p, v->dtype);
  if (!v->rank) {
    size_t i = 0;
    while (p->tensors.data[i].scalar) i++;
    return ac_ce_parse(&p->b, "tl.out[tl.%s, %s.shape[:0]]", dtype, p->tensors.data[i].name);
  }
  ac_buf s;
  ac_buf_init(&s, p->a);
  for (int i = 0; i < v->rank; i++) ac_printf(&s, ", %s", pl_sym_text(p, v->shape[i]));
  return ac_ce_parse(&p->b, "tl.out[tl.%s%s]", dtype, ac_buf_str(&s));
}

static void host_begin(pl_ctx *p, const char *doc) {
  ac_cfunc *f = ac_cb_func(&p->b, ac_sprintf(p->a, "%s_host", p->g->name), false);
  f->doc = doc;
  for (size_t i = 0; i < p->g->inputs.len; i++)
    if (p->g->inputs.data[i].role != AC_IN_SCALAR)
      ac_cb_param(&p->b, p->tensors.data[i].name, pl_tensor_type(p, p->g->inputs.data[i].value->dtype));
  for (size_t o = 0; o < p->g->outputs.len; o++)
    ac_cb_param(&p->b, p->tensors.data[p->g->inputs.len + o].name, out_type(p, p->g->outputs.data[o].value));
  for (size_t i = 0; i < p->g->inputs.len; i++)
    if (p->g->inputs.data[i].role == AC_IN_SCALAR)
      ac_cb_param(
          &p->b, p->tensors.data[i].name,
          ac_ce_name(&p->b, ac_dtypes[p->g->inputs.data[i].value->dtype].cls == AC_FLOATING ? "float" : "int"));
}

void pl_refuse_if(pl_ctx *p, const char *cond, const char *message) {
  ac_cbuild *b = &p->b;
  ac_cb_if(b, ac_ce_parse(b, "%s", cond));
  ac_cb_call(b, ac_ce_tl(b, "refuse", 1, ac_ce_str(b, message)));
  ac_cb_end(b);
}

/* Guards of broadcasting are checked by the schedules, in a form that holds for every rank, unless strides are computed from sizes; all
 * others here, dimension by dimension. Of several stages all guards come before the first launch: a later stage's would come too late. */
void pl_guards(pl_ctx *p) {
  static const char *const negated[] = {
      [AC_GUARD_EQ] = "!=", [AC_GUARD_NE] = "==", [AC_GUARD_LT] = ">=", [AC_GUARD_LE] = ">"};
  static const char *const wanted[] = {
      [AC_GUARD_EQ] = "==", [AC_GUARD_NE] = "!=", [AC_GUARD_LT] = "<", [AC_GUARD_LE] = "<="};
  for (size_t i = 0; i < p->g->guards.len; i++) {
    const ac_guard *q = &p->g->guards.data[i];
    bool broadcast = q->reason && strstr(q->reason, ": broadcast of dimension");
    if (broadcast && !p->strict && p->stages.len < 2) continue;
    if (broadcast) {
      pl_rank_guard(p, q->a);
      pl_rank_guard(p, q->b);
    }
    const char *x = pl_sym_text(p, q->a), *y = pl_sym_text(p, q->b);
    pl_refuse_if(
        p, ac_sprintf(p->a, "%s %s %s", x, negated[q->kind], y),
        ac_sprintf(p->a, "traced for %s %s %s (%s)", x, wanted[q->kind], y, q->reason ? q->reason : "a size"));
  }
}

/* ---- entry ---- */

static void add_tensor(pl_ctx *p, pl_tensor t) {
  ac_push(p->a, &p->tensors, t);
}

static void name_parameters(pl_ctx *p) {
  pl_names_init(&p->names, p->a);
  size_t n_out = p->g->outputs.len;
  for (size_t i = 0; i < p->g->inputs.len; i++) {
    const ac_input *in = &p->g->inputs.data[i];
    add_tensor(p, (pl_tensor){.v = in->value,
                              .name = pl_name(&p->names, in->name),
                              .input = true,
                              .ready = true,
                              .scalar = in->role == AC_IN_SCALAR});
  }
  for (size_t o = 0; o < n_out; o++) {
    const ac_output *out = &p->g->outputs.data[o];
    const char *wish = out->name && *out->name ? out->name : n_out == 1 ? "y" : ac_sprintf(p->a, "y%zu", o);
    if (ac_map_has(p->names.used, wish)) wish = ac_sprintf(p->a, "%s_out", wish);
    add_tensor(p, (pl_tensor){.v = out->value, .name = pl_name(&p->names, wish), .output = true});
  }
}

static void head(pl_ctx *p) {
  ac_strvec *c = &p->b.module->comments;
  ac_push(p->a, c, ac_sprintf(p->a, "%s: planned for %s.", p->g->name, p->chip->soc));
}

/* Inputs that a size is read from, as bits. */
static uint64_t sources(const pl_ctx *p, const ac_sym *s) {
  if (s->kind == AC_SYM_CONST) return 0;
  if (s->kind == AC_SYM_VAR) return UINT64_C(1) << (p->g->vars.data[s->var].input & 63);
  return sources(p, s->a) | sources(p, s->b);
}

/* A result whose sizes come from several inputs has them at these dimensions only with the ranks that were traced. */
static void mixed_outputs(pl_ctx *p) {
  for (size_t o = 0; o < p->g->outputs.len; o++) {
    const ac_value *v = p->g->outputs.data[o].value;
    uint64_t from = 0;
    for (int i = 0; i < v->rank; i++) from |= sources(p, v->shape[i]);
    if (from & (from - 1)) pl_rank_guards(p, v);
  }
}

static void write_host(pl_ctx *p) {
  size_t n = p->stages.len;
  host_begin(p, n == 1 ? p->stages.data[0].doc : ac_sprintf(p->a, "%zu stages, one after the other.", n));
  pl_guards(p);
  mixed_outputs(p);
  for (size_t i = 0; i < n; i++) {
    if (n > 1) ac_cb_comment(&p->b, "Stage %zu. %s", i + 1, p->stages.data[i].doc);
    p->stages.data[i].host(p, p->stages.data[i].self);
  }
}

ac_cmodule *ac_plan(ac_arena *a, const ac_graph *g, const ac_chip *chip, ac_diags *d) {
  pl_ctx p = {.a = a, .g = g, .chip = chip, .d = d, .stage_names = ac_map_new(a), .ranked = ac_map_new(a)};
  ac_cb_init(&p.b, a, ac_sprintf(a, "%s.craft", g->name));
  if (!g->outputs.len) {
    pl_refuse(&p, AC_NOLOC, g->name, "it has no output");
    return NULL;
  }
  name_parameters(&p);
  p.local_names = (pl_names){.a = a, .used = ac_map_new(a)};
  head(&p);
  if (!pl_outputs(&p)) return NULL;
  write_host(&p);
  pl_prune(&p);
  return p.b.module;
}
