/* Which shapes and values a project is tried at.
 *
 * The ladder varies every symbolic size over numbers at which kernels break: 0, 1, odd, prime, one beside the multiples of 8 and
 * 64 lanes, beside the number of cores and its multiples, beside likely tile sizes, and at the numbers that the tiling code compares with. Shapes that the guards refuse are left out: the
 * project does not claim them.
 */
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

enum { RANK = 16, LADDER_SHAPES = 40, EDGE_SHAPES = 12, BASE_SIZE = 5 };
static const int64_t DEFAULT_ELEMENTS = 4 << 20, DEFAULT_OWN = 32 << 20, VARIANT_ELEMENTS = 64 << 10;

typedef struct {
  ac_arena *a;
  const ac_graph *g;
  const ac_case_opts *o;
  ac_cases *out;
  int64_t max_elements;
  int64_t *example; /* value of each symbol at the asked shape */
} maker;

/* ---- sizes from symbols ---- */

static int64_t floordiv(int64_t a, int64_t b) {
  return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t value(const ac_sym *s, const int64_t *vars) {
  int64_t x = 0, y = 0, r = 0;
  if (s->kind == AC_SYM_CONST) return s->example;
  if (s->kind == AC_SYM_VAR) return vars[s->var];
  x = value(s->a, vars);
  y = value(s->b, vars);
  switch (s->kind) {
  case AC_SYM_ADD: return __builtin_add_overflow(x, y, &r) ? -1 : r;
  case AC_SYM_MUL: return __builtin_mul_overflow(x, y, &r) ? -1 : r;
  case AC_SYM_FLOORDIV: return floordiv(x, y);
  case AC_SYM_MOD: return y ? x - y * floordiv(x, y) : 0;
  case AC_SYM_MIN: return x < y ? x : y;
  default: return x > y ? x : y;
  }
}

static ac_shape *shapes_at(maker *m, const int64_t *vars) {
  ac_shape *s = AC_NEW_N(m->a, ac_shape, m->g->inputs.len + 1);
  for (size_t i = 0; i < m->g->inputs.len; i++) {
    const ac_value *v = m->g->inputs.data[i].value;
    s[i].rank = v->rank < RANK ? v->rank : RANK;
    for (int k = 0; k < s[i].rank; k++) s[i].dim[k] = value(v->shape[k], vars);
  }
  return s;
}

/* ---- accepting a shape ---- */

static int64_t largest(const ac_graph *g) {
  int64_t most = 0;
  for (size_t i = 0; i < g->inputs.len + g->outputs.len; i++) {
    ac_shape s =
        ac_value_example(i < g->inputs.len ? g->inputs.data[i].value : g->outputs.data[i - g->inputs.len].value);
    int64_t n = ac_shape_numel(&s);
    if (n < 0) return INT64_MAX;
    if (n > most) most = n;
  }
  return most;
}

/* Elements of the largest tensor at these shapes, or -1 when the guards refuse them. */
static int64_t accept(maker *m, const ac_shape *shapes, ac_diags *d) {
  for (size_t i = 0; i < m->g->inputs.len; i++)
    for (int k = 0; k < shapes[i].rank; k++)
      if (shapes[i].dim[k] < 0) return -1;
  ac_graph *c = ac_graph_respecialise(m->a, m->g, shapes, d);
  return c ? largest(c) : -1;
}

static bool same_shapes(const maker *m, const ac_shape *x, const ac_shape *y) {
  for (size_t i = 0; i < m->g->inputs.len; i++)
    if (x[i].rank != y[i].rank || memcmp(x[i].dim, y[i].dim, sizeof(int64_t) * (size_t)x[i].rank)) return false;
  return true;
}

static bool known(const maker *m, const ac_shape *s, ac_values v) {
  for (size_t i = 0; i < m->out->len; i++)
    if (m->out->data[i].values == v && same_shapes(m, m->out->data[i].inputs, s)) return true;
  return false;
}

static ac_case *add(maker *m, const char *what, ac_values v, ac_shape *shapes, int64_t elements) {
  const char *name = ac_sprintf(m->a, "%s, %s", what, ac_values_name(v));
  ac_push(m->a, m->out, ((ac_case){.name = name, .values = v, .inputs = shapes, .elements = elements}));
  return &m->out->data[m->out->len - 1];
}

/* Adds it unless it is known, too large or outside the guards. */
static ac_case *try_add(maker *m, const char *what, ac_values v, ac_shape *shapes, int64_t limit) {
  if (known(m, shapes, v)) return NULL;
  ac_diags quiet;
  ac_diags_init(&quiet, m->a);
  int64_t n = accept(m, shapes, &quiet);
  return n < 0 || n > limit ? NULL : add(m, what, v, shapes, n);
}

/* ---- the parts ---- */

/* By name, or by number as the command allows. */
static bool names_input(const maker *m, size_t i, const char *name) {
  return !strcmp(m->g->inputs.data[i].name, name) || !strcmp(ac_sprintf(m->a, "%zu", i), name);
}

/* The user's shapes over the traced ones. */
static ac_shape *asked_shapes(maker *m, ac_diags *d) {
  ac_shape *s = shapes_at(m, m->example);
  for (int k = 0; k < m->o->n_shapes; k++) {
    const ac_shape_arg *arg = &m->o->shapes[k];
    size_t i = 0;
    while (i < m->g->inputs.len && !names_input(m, i, arg->input)) i++;
    if (i == m->g->inputs.len) {
      ac_strvec v = {0};
      for (i = 0; i < m->g->inputs.len; i++) ac_push(m->a, &v, m->g->inputs.data[i].name);
      const char *near = ac_nearest(arg->input, v.data, v.len);
      ac_diag *x = ac_error(d, AC0904, AC_NOLOC, "the module has no input named %s", arg->input);
      if (near) ac_help(d, x, "did you mean %s?", near);
      return NULL;
    }
    s[i].rank = arg->rank < RANK ? arg->rank : RANK;
    memcpy(s[i].dim, arg->dim, sizeof(int64_t) * (size_t)s[i].rank);
  }
  return s;
}

/* Symbols at the asked shapes, so that further shapes stay near them. */
static void learn_example(maker *m, const ac_shape *s) {
  for (size_t v = 0; v < m->g->vars.len; v++) {
    const ac_symvar *x = &m->g->vars.data[v];
    if (x->input >= 0 && x->dim >= 0 && (size_t)x->input < m->g->inputs.len && x->dim < s[x->input].rank)
      m->example[v] = s[x->input].dim[x->dim];
  }
}

static int64_t *copy_vars(maker *m, const int64_t *from) {
  size_t n = m->g->vars.len;
  int64_t *v = AC_NEW_N(m->a, int64_t, n + 1);
  if (n) memcpy(v, from, n * sizeof *v);
  return v;
}

static bool is_size(const maker *m, size_t v) {
  return m->g->vars.data[v].dim >= 0;
}

static const ac_sym *size_of(const maker *m, size_t v) {
  const ac_symvar *x = &m->g->vars.data[v];
  if (x->dim < 0 || x->input < 0 || (size_t)x->input >= m->g->inputs.len) return NULL;
  const ac_value *in = m->g->inputs.data[x->input].value;
  return x->dim < in->rank ? in->shape[x->dim] : NULL;
}

/* Sets a symbol and those that the guards hold equal to it. */
static void set_size(const maker *m, int64_t *vars, size_t v, int64_t size) {
  const ac_sym *s = size_of(m, v);
  vars[v] = size;
  for (size_t i = 0; s && i < m->g->vars.len; i++) {
    const ac_sym *t = is_size(m, i) ? size_of(m, i) : NULL;
    if (t && ac_sym_equal(m->g, s, t)) vars[i] = size;
  }
}

/* The asked shape made moderate: the largest sizes are cut down to odd ones, until every kind of value is cheap to try. */
static int64_t *moderate(maker *m) {
  int64_t *v = copy_vars(m, m->example);
  for (int round = 0; round < 100; round++) {
    ac_diags quiet;
    ac_diags_init(&quiet, m->a);
    int64_t n = accept(m, shapes_at(m, v), &quiet);
    if (n >= 0 && n <= VARIANT_ELEMENTS) return v;
    size_t most = m->g->vars.len;
    for (size_t i = 0; i < m->g->vars.len; i++)
      if (is_size(m, i) && v[i] > 1 && (most == m->g->vars.len || v[i] > v[most])) most = i;
    if (most == m->g->vars.len) return NULL;
    set_size(m, v, most, (v[most] / 2) | 1);
    if (n < 0 && round > 60) return NULL;
  }
  return NULL;
}

static void all_kinds(maker *m, const ac_shape *asked, int64_t asked_elements) {
  int64_t *v = asked_elements <= VARIANT_ELEMENTS ? NULL : moderate(m);
  for (ac_values k = AC_VALUES_NORMAL; k < AC_VALUES_COUNT; k++) {
    ac_shape *s = v ? shapes_at(m, v) : NULL;
    if (!s) {
      s = AC_NEW_N(m->a, ac_shape, m->g->inputs.len + 1);
      memcpy(s, asked, m->g->inputs.len * sizeof *s);
    }
    ac_case *c = try_add(m, v ? "reduced shape" : "own shape", k, s, m->max_elements);
    if (c) c->key = k == AC_VALUES_NORMAL || k == AC_VALUES_SPECIAL;
  }
}

/* One rung: symbol `v` (or all of them, v < 0) at `size`, the others at `base`. */
static void rung(maker *m, int v, int64_t size, const int64_t *base, size_t *left, bool key) {
  if (!*left) return;
  int64_t *vars = copy_vars(m, base);
  bool any = false;
  for (size_t i = 0; i < m->g->vars.len; i++)
    if (is_size(m, i) && (v < 0 || (size_t)v == i)) {
      set_size(m, vars, i, size);
      any = true;
    }
  if (!any) return;
  ac_case *c = try_add(m, "ladder", AC_VALUES_NORMAL, shapes_at(m, vars), m->max_elements);
  if (!c) return;
  c->key = key;
  --*left;
}

static void ladder(maker *m) {
  size_t left = LADDER_SHAPES;
  int64_t *small = copy_vars(m, m->example);
  for (size_t i = 0; i < m->g->vars.len; i++)
    if (is_size(m, i) && small[i] > BASE_SIZE) small[i] = BASE_SIZE;
  int n = (int)m->g->vars.len, c = m->o->cores > 0 ? m->o->cores : 48;
  const int64_t together[] = {1, 7, 13, 0, 2};
  for (size_t k = 0; k < AC_COUNT(together); k++) rung(m, -1, together[k], small, &left, together[k] == 7);
  /* The last size that a branch of the tiling code takes, and the first that it does not. */
  size_t beside = EDGE_SHAPES;
  for (int k = 0; k < m->o->n_edges; k++)
    for (int v = n - 1; v >= 0; v--)
      for (int more = 0; more < 2; more++) rung(m, v, m->o->edges[k] + more, small, &beside, false);
  /* What is last may be cut by the budget. 13,243 and 65,537 are primes above common tiles, 50,021 float32 are more than the
   * unified buffer holds, 262,147 on five rows is several tiles for every core. */
  const int64_t each[] = {513,  0,     1,    13243, 262147,    c - 1,      c,      c + 1,  50021,
                          8,    9,     31,   33,    8193,      16387,      63,     65,     1021,
                          2049, 65537, 4097, 255,   8 * c + 1, 16 * c - 1, 131071, 1000003};
  for (size_t k = 0; k < AC_COUNT(each); k++)
    for (int v = n - 1; v >= 0; v--) rung(m, v, each[k], small, &left, k == 0 || each[k] == 262147);
}

/* Other ranks, where all tensors have one shape: an element-wise kernel serves any. */
static void other_ranks(maker *m) {
  static const ac_shape shapes[] = {{0, {0}},    {1, {513}},         {2, {7, 1003}},
                                    {2, {0, 8}}, {4, {3, 5, 7, 11}}, {5, {2, 3, 1, 5, 7}}};
  const ac_value *first = NULL;
  for (size_t i = 0; i < m->g->inputs.len; i++) {
    const ac_input *in = &m->g->inputs.data[i];
    if (in->role == AC_IN_SCALAR) continue;
    if (!first) first = in->value;
    if (in->value->rank != first->rank) return;
    for (int k = 0; k < first->rank; k++) {
      int64_t fixed;
      if (ac_sym_is_const(in->value->shape[k], &fixed) || in->value->shape[k]->example != first->shape[k]->example)
        return;
    }
  }
  for (size_t r = 0; first && r < AC_COUNT(shapes); r++) {
    if (shapes[r].rank == first->rank) continue;
    ac_shape *s = shapes_at(m, m->example);
    for (size_t i = 0; i < m->g->inputs.len; i++)
      if (m->g->inputs.data[i].role != AC_IN_SCALAR) s[i] = shapes[r];
    ac_case *c = try_add(m, ac_sprintf(m->a, "rank %d", shapes[r].rank), AC_VALUES_NORMAL, s, m->max_elements);
    if (c) c->other_rank = true;
  }
}

/* ---- what the tiling code compares with ---- */

static int add_edge(int64_t *edges, int n, int most, const char *digits) {
  char *end;
  int64_t v = strtoll(digits, &end, 10);
  if (end == digits || v < 64 || v > (1 << 24) || n == most) return n;
  for (int i = 0; i < n; i++)
    if (edges[i] == v) return n;
  edges[n] = v;
  return n + 1;
}

int ac_tiling_edges(const char *text, int64_t *edges, int most) {
  int n = 0;
  for (const char *p = text; (p = strstr(p, "if (")); p++) {
    const char *stop = p + strcspn(p, "\n");
    for (const char *q = p; (q = strpbrk(q, "<>")) && q < stop; q++) {
      const char *digits = q + 1 + (q[1] == '=');
      while (*digits == ' ') digits++;
      n = add_edge(edges, n, most, digits);
    }
  }
  for (const char *p = text; (p = strstr(p, " Min(")); p++) n = add_edge(edges, n, most, p + 5);
  return n;
}

bool ac_make_cases(ac_arena *a, const ac_graph *g, const ac_case_opts *o, ac_cases *out, ac_diags *d) {
  maker m = {
      .a = a, .g = g, .o = o, .out = out, .max_elements = o->max_elements > 0 ? o->max_elements : DEFAULT_ELEMENTS};
  m.example = AC_NEW_N(a, int64_t, g->vars.len + 1);
  for (size_t i = 0; i < g->vars.len; i++) m.example[i] = g->vars.data[i].example;
  ac_shape *asked = asked_shapes(&m, d);
  if (!asked) return false;
  ac_diags guard;
  ac_diags_init(&guard, a);
  int64_t n = accept(&m, asked, &guard);
  if (n < 0) {
    ac_diag *x = ac_error(d, AC0904, AC_NOLOC, "%s",
                          guard.list.len ? guard.list.data[0]->message : "the sizes are negative or overflow");
    ac_help(d, x, "the project serves the shapes that satisfy its guards (see its README)");
    return false;
  }
  learn_example(&m, asked);
  ac_case *own = add(&m, o->n_shapes ? "asked shape" : "own shape", AC_VALUES_OWN, asked, n);
  own->asked = own->key = true;
  int64_t full = o->own_elements > 0 ? o->own_elements : DEFAULT_OWN;
  if (full < o->max_elements) full = o->max_elements;
  own->sampled = n > full;
  if (o->only) return true;
  all_kinds(&m, asked, n);
  other_ranks(&m);
  ladder(&m);
  return true;
}
