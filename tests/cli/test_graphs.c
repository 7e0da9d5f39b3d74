/* Random graphs of up to 12 operations: planned, checked, lowered, run in the simulator without a compiler, compared with the float64
 * reference; a sample is emitted and compiled, too. Every number follows from the seed. AC_GRAPHS=N draws N graphs (default 120),
 * AC_GRAPH_SEED=S draws that one alone and shows its program.
 *
 * The operations are drawn so that errors do not grow: products with bounded factors, roots and quotients away from zero, conditions on
 * inputs as they are. What is left is the planner's business. A graph that no schedule covers counts as refused; few may be. */
#include "graph_support.h"

#include <math.h>

enum { MAX_VALUES = 40, MAX_OPS = 12 };

typedef struct {
  world *w;
  uint64_t state;
  ac_value *v[MAX_VALUES];
  int n, n_inputs;
  int rank;   /* of the largest input */
  bool moves; /* layout moves and places of extremes are drawn, too */
  int64_t dim[4];
} draw;

static int below(draw *d, int n) {
  return (int)rng_below(&d->state, n);
}
static ac_value *any(draw *d) {
  return d->v[below(d, d->n)];
}
static ac_value *keep(draw *d, ac_value *v) {
  if (d->n < MAX_VALUES) d->v[d->n++] = v;
  return v;
}

/* ---- inputs ---- */

static void draw_shape(draw *d) {
  static const int64_t sizes[] = {1, 2, 3, 5, 7, 8, 13, 16, 31, 33, 64, 65, 100, 127, 257, 1003};
  int64_t n = 1;
  d->rank = 1 + below(d, 4);
  for (int i = d->rank - 1; i >= 0; i--) {
    int64_t s = sizes[below(d, (int)AC_COUNT(sizes))];
    while (n * s > 30000) s = (s + 1) / 2;
    d->dim[i] = s;
    n *= s;
  }
}

/* The full shape, or one that broadcasts to it. */
static ac_value *draw_input(draw *d, int k, ac_dtype dtype) {
  int64_t dims[4];
  int skip = k && below(d, 3) == 0 ? below(d, d->rank) : 0;
  for (int i = skip; i < d->rank; i++) dims[i - skip] = k && below(d, 4) == 0 ? 1 : d->dim[i];
  return tensor(d->w, ac_sprintf(d->w->a, "x%d", k), dtype, d->rank - skip, dims);
}

/* ---- operations ---- */

static ac_value *shifted_abs(draw *d, ac_value *x) {
  return bin(d->w, AC_G_ADD, un(d->w, AC_G_ABS, x), c(d->w, 0.5));
}

static ac_value *draw_unary(draw *d) {
  static const ac_op ops[] = {AC_G_RELU, AC_G_ABS, AC_G_NEG,      AC_G_SIGMOID,   AC_G_TANH, AC_G_SILU,
                              AC_G_GELU, AC_G_ERF, AC_G_SOFTPLUS, AC_G_HARDSWISH, AC_G_ELU,  AC_G_SOFTSIGN};
  world *w = d->w;
  ac_value *x = any(d);
  switch (below(d, 5)) {
  case 0: return un(w, AC_G_SQRT, shifted_abs(d, x));
  case 1: return un(w, AC_G_EXP, un(w, AC_G_TANH, x));
  case 2: return bin(w, AC_G_MUL, x, c(w, 0.25 + below(d, 4) * 0.25));
  default: return un(w, ops[below(d, (int)AC_COUNT(ops))], x);
  }
}

/* Do the shapes broadcast? As the graph would ask, without its guards. */
static bool broadcast(const ac_value *x, const ac_value *y) {
  ac_shape a = ac_value_example(x), b = ac_value_example(y);
  for (int i = 1; i <= a.rank && i <= b.rank; i++) {
    int64_t m = a.dim[a.rank - i], n = b.dim[b.rank - i];
    if (m != n && m != 1 && n != 1) return false;
  }
  return true;
}

static ac_value *draw_binary(draw *d) {
  static const ac_op ops[] = {AC_G_ADD, AC_G_SUB, AC_G_MAXIMUM, AC_G_MINIMUM};
  world *w = d->w;
  ac_value *x = any(d), *y = any(d), *on = d->v[below(d, d->n_inputs)];
  if (!broadcast(x, y)) return draw_unary(d);
  switch (below(d, 4)) {
  case 0: return bin(w, AC_G_MUL, x, un(w, AC_G_TANH, y));
  case 1: return bin(w, AC_G_DIV, x, shifted_abs(d, y));
  case 2:
    if (!broadcast(on, x) || !broadcast(on, y)) return bin(w, AC_G_ADD, x, y);
    return APPLY(w, AC_G_WHERE, at(bin(w, AC_G_GT, on, c(w, 0.1))), at(x), at(y));
  default: return bin(w, ops[below(d, (int)AC_COUNT(ops))], x, y);
  }
}

/* One dimension, some, or all. */
static ac_value *draw_reduction(draw *d) {
  static const ac_op ops[] = {AC_G_MEAN, AC_G_MEAN, AC_G_AMAX, AC_G_AMIN, AC_G_SUM, AC_G_VAR, AC_G_LOGSUMEXP};
  world *w = d->w;
  ac_value *x = any(d);
  ac_op op = ops[below(d, (int)AC_COUNT(ops))];
  const ac_sym **dims = AC_NEW_N(w->a, const ac_sym *, 4);
  int n = 0, r = x->rank;
  if (!r) return draw_unary(d);
  int pick = below(d, 3);
  for (int i = 0; i < r; i++)
    if (pick == 0 ? i == r - 1 : pick == 1 ? true : below(d, 2))
      dims[n++] = ac_sym_int(w->g, below(d, 2) ? i : i - r);
  if (!n) dims[n++] = ac_sym_int(w->g, below(d, r));
  int64_t count = 1;
  for (int i = 0; i < n; i++) count *= ac_value_example(x).dim[ac_dim_index(dims[i]->example, r)];
  if (op == AC_G_SUM && count > 64) op = AC_G_MEAN;
  if (op == AC_G_VAR && count < 2) op = AC_G_MEAN; /* of one element it is NaN */
  ac_arg args[8] = {at(x)};
  const ac_opinfo *info = ac_op_info(op);
  for (int i = 1; i < info->n_params; i++) {
    args[i] = (ac_arg){.kind = info->params[i].kind, .absent = true};
    if (!strcmp(info->params[i].name, "dim")) args[i] = (ac_arg){.kind = AC_K_INTS, .n = n, .is = dims};
    if (!strcmp(info->params[i].name, "keepdim")) args[i] = (ac_arg){.kind = AC_K_BOOL, .b = below(d, 2)};
  }
  return apply(w, op, info->n_params, args);
}

static ac_value *draw_row(draw *d) {
  world *w = d->w;
  ac_value *x = any(d);
  if (!x->rank) return draw_unary(d);
  int dim = below(d, x->rank) - (below(d, 2) ? x->rank : 0);
  switch (below(d, 3)) {
  case 0: return APPLY(w, AC_G_SOFTMAX, at(x), aint(w, dim));
  case 1: return APPLY(w, AC_G_LOG_SOFTMAX, at(x), aint(w, dim));
  default: break;
  }
  const ac_sym **last = AC_NEW_N(w->a, const ac_sym *, 1);
  last[0] = ac_sym_int(w->g, ac_value_example(x).dim[x->rank - 1]);
  ac_arg shape = {.kind = AC_K_INTS, .n = 1, .is = last};
  return APPLY(w, AC_G_LAYER_NORM, at(x), shape);
}

static ac_value *draw_scan(draw *d) {
  ac_value *x = any(d);
  if (!x->rank) return draw_unary(d);
  int dim = below(d, x->rank);
  double n = (double)ac_value_example(x).dim[dim];
  return APPLY(d->w, AC_G_CUMSUM, at(bin(d->w, AC_G_MUL, x, c(d->w, 1 / (1 + n)))), aint(d->w, dim));
}

/* Where the extremes of an input are, as a number of the input's dtype from 0 to 1. */
static ac_value *draw_place(draw *d, int dim) {
  world *w = d->w;
  ac_value *x = d->v[below(d, d->n_inputs)];
  dim = dim % x->rank;
  double n = (double)ac_value_example(x).dim[dim];
  ac_arg keep = {.kind = AC_K_BOOL, .b = true};
  ac_value *i = APPLY(w, below(d, 2) ? AC_G_ARGMAX : AC_G_ARGMIN, at(x), aint(w, dim), keep);
  return bin(w, AC_G_MUL, ac_graph_cast(w->g, i, x->dtype, line(5)), c(w, 1 / n));
}

static ac_value *draw_move(draw *d) {
  world *w = d->w;
  ac_value *x = any(d);
  int64_t v[8] = {0};
  if (!x->rank) return draw_unary(d);
  int dim = below(d, x->rank), r = x->rank;
  int64_t n = ac_value_example(x).dim[dim];
  switch (below(d, 7)) {
  case 0: /* two dimensions swapped */
    for (int i = 0; i < r; i++) v[i] = i == dim ? r - 1 : i == r - 1 ? dim : i;
    return APPLY(w, AC_G_PERMUTE, at(x), aints(w, r, v));
  case 1: return APPLY(w, AC_G_SLICE, at(x), aint(w, dim), aint(w, n / 3), aint(w, n), aint(w, 1 + below(d, 2)));
  case 2: return APPLY(w, AC_G_FLIP, at(x), aints(w, 1, (int64_t[]){dim}));
  case 3: return APPLY(w, AC_G_ROLL, at(x), aints(w, 1, (int64_t[]){3}), aints(w, 1, (int64_t[]){dim}));
  case 4: {
    ac_value **t = AC_NEW_N(w->a, ac_value *, 2);
    t[0] = t[1] = x;
    if (n > 1000) return draw_unary(d);
    return APPLY(w, AC_G_CAT, (ac_arg){.kind = AC_K_TENSORS, .n = 2, .ts = t}, aint(w, dim));
  }
  case 5: return APPLY(w, AC_G_PAD, at(x), aints(w, 2, (int64_t[]){1, 2}), astr("constant"), anum(0.5));
  default: return draw_place(d, dim);
  }
}

static ac_value *draw_op(draw *d) {
  if (d->moves && below(d, 4) == 0) return draw_move(d);
  int k = below(d, 20);
  return k < 7    ? draw_unary(d)
         : k < 13 ? draw_binary(d)
         : k < 17 ? draw_reduction(d)
         : k < 19 ? draw_row(d)
                  : draw_scan(d);
}

static bool used(const world *w, const ac_value *v) {
  for (size_t i = 0; i < w->g->nodes.len; i++)
    for (int k = 0; k < w->g->nodes.data[i]->n_args; k++)
      if (w->g->nodes.data[i]->args[k].t == v) return true;
  return false;
}

/* The graph of a seed; its outputs are the values that nothing uses, three of them at most. */
static world *graph_of(uint64_t seed, bool moves) {
  static const ac_dtype dtypes[] = {AC_F32, AC_F32, AC_F32, AC_F16, AC_BF16};
  draw d = {.w = world_new("graph"), .state = seed, .moves = moves};
  draw_shape(&d);
  ac_dtype dtype = dtypes[below(&d, (int)AC_COUNT(dtypes))];
  d.n_inputs = 1 + below(&d, 3);
  for (int k = 0; k < d.n_inputs; k++) keep(&d, draw_input(&d, k, dtype));
  int ops = 1 + below(&d, MAX_OPS);
  for (int k = 0; k < ops; k++) keep(&d, draw_op(&d));
  int outs = 0;
  for (int k = d.n - 1; k >= d.n_inputs && outs < 3; k--)
    if (!used(d.w, d.v[k])) out(d.w, ac_sprintf(d.w->a, "y%d", outs++), d.v[k]);
  ac_graph_prune(d.w->g);
  return d.w;
}

/* ---- running ---- */

static struct { int ran, refused, compiled; } count;

static void refusal(world *w) {
  count.refused++;
  const ac_diag *x = w->d.list.data[w->d.list.len - 1];
  if (getenv("AC_GRAPH_REFUSED")) print_message("refused: %s\n", x->message);
  assert_int_equal(ac_code_exit(x->code), AC_UNSUPPORTED);
}

static double tolerance(ac_dtype d) {
  return d == AC_F32 ? 1e-4 : d == AC_F16 ? 1e-2 : 6e-2;
}

/* Half types stand in memory between stages as they would in PyTorch, so the tolerance is theirs when any tensor is. */
static double tolerance_of(const ac_graph *g) {
  double t = 0;
  for (size_t i = 0; i < g->inputs.len; i++) t = fmax(t, tolerance(g->inputs.data[i].value->dtype));
  return t;
}

static void compare_within(double tolerance, const ac_graph *g, const args *x, uint64_t seed, const char *how) {
  const void *in[8];
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  for (size_t i = 0; i < g->inputs.len; i++) in[i] = x->t[i].data;
  ac_ref *r = ac_ref_new(a, g, &(ac_ref_opts){.inputs = in}, &d);
  assert_non_null(r);
  for (size_t o = 0; o < g->outputs.len; o++) {
    const ac_sim_tensor *t = &x->t[g->inputs.len + o];
    int64_t n = t->bytes / ac_dtypes[t->dtype].bytes;
    double *want = AC_NEW_N(a, double, n + 1), most = 1;
    assert_true(ac_ref_read(r, (int)o, 0, n, want));
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(want[i]));
    for (int64_t i = 0; i < n; i++) {
      double got = ac_load(t->dtype, t->data, i);
      if (fabs(got - want[i]) <= tolerance * most) continue;
      print_message("%s", ac_graph_text(a, g));
      fail_msg("seed %llu, %s: %s[%lld] is %.9g, it must be %.9g", (unsigned long long)seed, how, t->name,
               (long long)i, got, want[i]);
    }
  }
  ac_ref_free(r);
  ac_arena_free(a);
}

static void compare(const ac_graph *g, const args *x, uint64_t seed, const char *how) {
  compare_within(tolerance_of(g), g, x, seed, how);
}

/* More stages, each with its strategies, than one tiling function can tell apart: the compiler says so. */
static bool too_many_ways(world *w, const char *text) {
  ac_diags d;
  ac_diags_init(&d, w->a);
  ac_cmodule *m = ac_craft_parse(w->a, "graph", text, &d);
  if (!m || !ac_craft_check(w->a, m, &(ac_craft_check_opts){.chip = w->chip}, &d)) return false;
  if (ac_lower(w->a, m, &(ac_lower_opts){.op = "g", .op_type = "G", .chip = w->chip}, &d)) return false;
  return d.errors == 1 && d.list.data[d.list.len - 1]->code == AC0605;
}

static void one(uint64_t seed, int sample, bool moves, bool show) {
  world *w = graph_of(seed, moves);
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (show) printf("%s\n%s\n", ac_graph_text(w->a, w->g), m ? ac_craft_print(w->a, m) : "refused");
  if (!m) {
    refusal(w);
    world_free(w);
    return;
  }
  const char *name = ac_sprintf(b.a, "seed %llu", (unsigned long long)seed), *text = ac_craft_print(b.a, m);
  if (too_many_ways(w, text)) {
    count.refused++;
    world_free(w);
    return;
  }
  ac_program *p = lowered(&b, name, text);
  args x;
  graph_args(w->g, AC_VALUES_NORMAL, &x);
  ac_sim_result r = {0};
  ac_sim_opts o = {.threads = 1};
  bool ok = ac_sim_run_program(b.a, p, w->chip, x.t, x.n, x.attrs, x.n_attrs, &o, &r, &b.d);
  if (!ok || r.faults.len) {
    ac_diags_print(&b.d, stderr, false);
    print_message("%s%s", ac_graph_text(w->a, w->g), ac_craft_print(w->a, m));
    fail_msg("%s: %s", name, r.faults.len ? r.faults.data[0].message : "did not run");
  }
  compare(w->g, &x, seed, "without a compiler");
  if (count.ran++ % sample == 0) {
    for (size_t i = w->g->inputs.len; i < (size_t)x.n; i++) memset(x.t[i].data, 0xee, (size_t)x.t[i].bytes);
    ac_sim_lib *lib = compiled(&b, p, w->g);
    ac_sim_result again = {0};
    assert_true(ac_sim_run(b.a, lib, x.t, x.n, x.attrs, x.n_attrs, &o, &again, &b.d));
    assert_int_equal(again.faults.len, 0);
    compare(w->g, &x, seed, "compiled");
    count.compiled++;
  }
  free_args(&x);
  world_free(w);
}

static void draw_graphs(bool moves, int otherwise) {
  memset(&count, 0, sizeof count);
  const char *only = getenv("AC_GRAPH_SEED"), *n = getenv("AC_GRAPHS");
  if (only) {
    one(strtoull(only, NULL, 10), 1, moves, true);
    return;
  }
  int graphs = n ? atoi(n) : otherwise, sample = n ? 20 : 60; /* one in so many is compiled */
  for (int i = 0; i < graphs; i++) {
    one((uint64_t)i + 1, sample, moves, false);
    if (i % 50 == 49) { /* memory of programs that are done with */
      bench_close(&b);
      bench_open(&b);
    }
  }
  print_message("%d graphs: %d ran, %d of them also compiled; %d refused\n", graphs, count.ran, count.compiled,
                count.refused);
  assert_true(count.ran > graphs / 8);
}

static void graphs_agree(void **state) {
  (void)state;
  draw_graphs(false, 120);
  static const uint64_t found[] = {231, 1260}; /* have shown faults once, and stand beyond the default number */
  for (size_t i = 0; i < AC_COUNT(found); i++) one(found[i], 1000, false, false);
}

static void graphs_with_moves_agree(void **state) {
  (void)state;
  draw_graphs(true, 40);
  one(111, 1000, true, false); /* a later stage reads an output that has the shape of the first input */
}

/* ---- integers: exact, in every dtype ---- */

static int64_t drawn_int(uint64_t *state, ac_dtype d) {
  uint64_t x = rng_next(state);
  int bits = ac_dtypes[d].bytes * 8;
  switch (x % 4) {
  case 0: return (int64_t)(x >> 8) % 7 - (ac_dtypes[d].cls == AC_SIGNED ? 3 : 0);
  case 1: return ac_dtypes[d].cls == AC_SIGNED ? (int64_t)(UINT64_MAX << (bits - 1)) : 0; /* the least */
  case 2: return (int64_t)((UINT64_MAX >> 1) >> (64 - bits)) * (ac_dtypes[d].cls == AC_SIGNED ? 1 : 2);
  default: return ac_dtypes[d].cls == AC_SIGNED ? (int64_t)x >> (64 - bits) : (int64_t)(x >> (64 - bits));
  }
}

static void fill_ints(ac_sim_tensor *t, uint64_t seed, bool nonzero) {
  for (int64_t i = 0; i < t->bytes / ac_dtypes[t->dtype].bytes; i++) {
    int64_t x = drawn_int(&seed, t->dtype);
    ac_store_int(t->dtype, t->data, i, nonzero && !x ? 1 : x);
  }
}

static void run_ints(world *w, const char *name, bool nonzero) {
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (!m) ac_diags_print(&w->d, stderr, false);
  if (!m) fail_msg("%s is not planned", name);
  ac_program *p = lowered(&b, name, ac_craft_print(b.a, m));
  args x;
  graph_args(w->g, AC_VALUES_NORMAL, &x);
  for (size_t i = 0; i < w->g->inputs.len; i++)
    if (ac_dtypes[x.t[i].dtype].cls != AC_FLOATING) fill_ints(&x.t[i], i + 1, nonzero && i);
  ac_sim_result r = {0};
  if (!ac_sim_run_program(b.a, p, w->chip, x.t, x.n, NULL, 0, &(ac_sim_opts){.threads = 1}, &r, &b.d)) {
    ac_diags_print(&b.d, stderr, false);
    fail_msg("%s does not run", name);
  }
  if (r.faults.len) fail_msg("%s: %s", name, r.faults.data[0].message);
  const void *in[4];
  for (size_t i = 0; i < w->g->inputs.len; i++) in[i] = x.t[i].data;
  ac_ref *ref = ac_ref_new(w->a, w->g, &(ac_ref_opts){.inputs = in}, &w->d);
  const ac_sim_tensor *y = &x.t[w->g->inputs.len];
  int64_t n = y->bytes / ac_dtypes[y->dtype].bytes, *want = AC_NEW_N(w->a, int64_t, n + 1);
  assert_true(ac_ref_read_int(ref, 0, 0, n, want));
  for (int64_t i = 0; i < n; i++)
    if (ac_load_int(y->dtype, y->data, i) != want[i])
      fail_msg("%s: element %lld is %lld, it must be %lld", name, (long long)i,
               (long long)ac_load_int(y->dtype, y->data, i), (long long)want[i]);
  ac_ref_free(ref);
  free_args(&x);
  world_free(w);
}

static void integers_agree(void **state) {
  (void)state;
  static const ac_dtype dtypes[] = {AC_U8, AC_I8, AC_I16, AC_I32, AC_I64};
  static const struct {
    ac_op op;
    int operands; /* 1, 2, or 3 with a condition first; 4: a constant second */
    bool divides;
  } ops[] = {{AC_G_NEG, 1, 0},          {AC_G_ABS, 1, 0},         {AC_G_SQUARE, 1, 0},  {AC_G_SIGN, 1, 0},
             {AC_G_RELU, 1, 0},         {AC_G_BITWISE_NOT, 1, 0}, {AC_G_ADD, 2, 0},     {AC_G_SUB, 2, 0},
             {AC_G_MUL, 2, 0},          {AC_G_MAXIMUM, 2, 0},     {AC_G_MINIMUM, 2, 0}, {AC_G_BITWISE_AND, 2, 0},
             {AC_G_BITWISE_OR, 2, 0},   {AC_G_BITWISE_XOR, 2, 0}, {AC_G_EQ, 2, 0},      {AC_G_NE, 2, 0},
             {AC_G_LT, 2, 0},           {AC_G_LE, 2, 0},          {AC_G_GT, 2, 0},      {AC_G_GE, 2, 0},
             {AC_G_FLOOR_DIVIDE, 2, 1}, {AC_G_REMAINDER, 2, 1},   {AC_G_FMOD, 2, 1},    {AC_G_WHERE, 3, 0},
             {AC_G_ADD, 4, 0},          {AC_G_SUB, 4, 0},         {AC_G_MUL, 4, 0},     {AC_G_POW, 4, 0},
             {AC_G_LT, 4, 0},           {AC_G_LSHIFT, 4, 0},      {AC_G_RSHIFT, 4, 0}};
  for (size_t d = 0; d < AC_COUNT(dtypes); d++)
    for (size_t i = 0; i < AC_COUNT(ops); i++) {
      if (dtypes[d] == AC_I64 && ops[i].divides) continue;
      const char *name =
          ac_sprintf(b.a, "%s of %s, form %d", ac_op_info(ops[i].op)->id, ac_dtypes[dtypes[d]].name, ops[i].operands);
      world *w = world_new("ints");
      ac_value *x = tensor(w, "x", dtypes[d], 1, DIMS(1003)), *y = NULL;
      if (ops[i].operands == 2 || ops[i].operands == 3) y = tensor(w, "y", dtypes[d], 1, DIMS(1003));
      if (ops[i].operands == 4) y = ac_graph_integer(w->g, ac_sym_int(w->g, 3));
      ac_value *r = ops[i].operands == 1   ? un(w, ops[i].op, x)
                    : ops[i].operands == 3 ? APPLY(w, AC_G_WHERE, at(bin(w, AC_G_LT, x, y)), at(x), at(y))
                                           : bin(w, ops[i].op, x, y);
      out(w, "z", r);
      run_ints(w, name, ops[i].divides);
    }
}

/* From each dtype to each; narrowing wraps. */
static void casts_agree(void **state) {
  (void)state;
  static const ac_dtype dtypes[] = {AC_BOOL, AC_U8, AC_I8, AC_I16, AC_I32, AC_I64};
  for (size_t s = 1; s < AC_COUNT(dtypes); s++)
    for (size_t d = 0; d < AC_COUNT(dtypes); d++) {
      if (s == d) continue;
      world *w = world_new("ints");
      ac_value *x = tensor(w, "x", dtypes[s], 1, DIMS(1003));
      out(w, "z", ac_graph_cast(w->g, x, dtypes[d], line(3)));
      run_ints(w, ac_sprintf(b.a, "%s to %s", ac_dtypes[dtypes[s]].name, ac_dtypes[dtypes[d]].name), false);
    }
}

/* ---- scans: each kind, axis, direction and dtype, with and without its own element ---- */

static ac_arg int_list(world *w, int n, const ac_sym *const *v) {
  const ac_sym **is = AC_NEW_N(w->a, const ac_sym *, n);
  for (int i = 0; i < n; i++) is[i] = v[i];
  return (ac_arg){.kind = AC_K_INTS, .n = n, .is = is};
}

static ac_value *flipped(world *w, ac_value *x, int dim) {
  const ac_sym *at_dim = ac_sym_int(w->g, dim);
  return APPLY(w, AC_G_FLIP, at(x), int_list(w, 1, &at_dim));
}

/* (number, x without its last) along the axis. */
static ac_value *moved_on(world *w, ac_value *x, int dim, double number) {
  const ac_sym *size[AC_MAX_RANK];
  for (int i = 0; i < x->rank; i++) size[i] = i == dim ? ac_sym_int(w->g, 1) : x->shape[i];
  const ac_arg dtype = {.kind = AC_K_DTYPE, .d = x->dtype};
  ac_value *head = APPLY(w, AC_G_FULL, int_list(w, x->rank, size), anum(number), dtype);
  ac_value *rest = APPLY(w, AC_G_SLICE, at(x), aint(w, dim), aint(w, 0), aint(w, -1), aint(w, 1));
  ac_value **both = AC_NEW_N(w->a, ac_value *, 2);
  both[0] = head;
  both[1] = rest;
  return APPLY(w, AC_G_CAT, (ac_arg){.kind = AC_K_TENSORS, .n = 2, .ts = both}, aint(w, dim));
}

static void one_graph(world *w, double tolerance, const char *name) {
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (!m) ac_diags_print(&w->d, stderr, false);
  if (!m) fail_msg("%s is not planned", name);
  ac_program *p = lowered(&b, name, ac_craft_print(b.a, m));
  args x;
  graph_args(w->g, AC_VALUES_NORMAL, &x);
  ac_sim_result r = {0};
  if (!ac_sim_run_program(b.a, p, w->chip, x.t, x.n, NULL, 0, &(ac_sim_opts){.threads = 1}, &r, &b.d)) {
    ac_diags_print(&b.d, stderr, false);
    fail_msg("%s does not run", name);
  }
  if (r.faults.len) fail_msg("%s: %s", name, r.faults.data[0].message);
  compare_within(tolerance, w->g, &x, 0, name);
  free_args(&x);
  world_free(w);
}

/* Added up one after another, 300,001 numbers are off by more than what is allowed. */
static void long_sums_agree(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{1, 300001, 3}, {3, 1, 257}, {2003, 3, 7}};
  for (size_t k = 0; k < AC_COUNT(shapes) * 2; k++) {
    world *w = world_new("sums");
    ac_value *x = tensor(w, "x", AC_F32, 3, shapes[k / 2]);
    const ac_sym *dims[] = {ac_sym_int(w->g, k % 2 ? 0 : 1), ac_sym_int(w->g, k % 2 ? 2 : 1)};
    out(w, "y", APPLY(w, AC_G_SUM, at(bin(w, AC_G_MUL, x, c(w, 0.5))), int_list(w, k % 2 ? 2 : 1, dims)));
    one_graph(w, 4e-6,
              ac_sprintf(b.a, "sum of (%lld, %lld, %lld), %s", (long long)shapes[k / 2][0],
                         (long long)shapes[k / 2][1], (long long)shapes[k / 2][2], k % 2 ? "dims 0 and 2" : "dim 1"));
  }
}

/* Triangles and what positions alone make. */
static void positions_agree(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{1, 1, 1}, {2, 7, 33}, {3, 41, 5}, {1, 3, 9001}, {2, 700, 70}};
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16, AC_I32, AC_I64, AC_I8};
  for (size_t k = 0; k < AC_COUNT(shapes) * AC_COUNT(dtypes); k++) {
    const int64_t *shape = shapes[k % AC_COUNT(shapes)];
    const ac_dtype d = dtypes[k / AC_COUNT(shapes)];
    const bool adds = d != AC_I8;
    world *w = world_new("positions");
    ac_value *x = tensor(w, "x", d, 3, shape);
    const ac_arg of = {.kind = AC_K_DTYPE, .d = d}, rows = {.kind = AC_K_INT, .i = x->shape[1]},
                 cols = {.kind = AC_K_INT, .i = x->shape[2]};
    int64_t first = (int64_t)(k % 5) - 2;
    ac_value *v = APPLY(w, k % 2 ? AC_G_TRIL : AC_G_TRIU, at(x), aint(w, first));
    if (adds) v = bin(w, AC_G_ADD, v, APPLY(w, AC_G_EYE, rows, cols, of));
    const ac_arg start = {.kind = AC_K_SCALAR, .i = ac_sym_int(w->g, first), .f = (double)first, .is_int = true},
                 end = {.kind = AC_K_SCALAR,
                        .i = ac_sym_int(w->g, first + 3 * shape[2]),
                        .f = (double)(first + 3 * shape[2]),
                        .is_int = true},
                 step = {.kind = AC_K_SCALAR, .i = ac_sym_int(w->g, 3), .f = 3, .is_int = true};
    if (adds && shape[2] < 3000) out(w, "z", APPLY(w, AC_G_ARANGE, start, end, step, of));
    out(w, "y", v);
    one_graph(w, tolerance_of(w->g),
              ac_sprintf(b.a, "%s of (%lld, %lld, %lld) of %s", k % 2 ? "tril" : "triu", (long long)shape[0],
                         (long long)shape[1], (long long)shape[2], ac_dtypes[d].name));
  }
}

static void scans_agree(void **state) {
  (void)state;
  static const ac_op ops[] = {AC_G_CUMSUM, AC_G_CUMPROD, AC_G_CUMMAX, AC_G_CUMMIN};
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16};
  static const int64_t dims[][3] = {{1, 1, 1}, {3, 5, 7}, {2, 70, 1}, {1, 37, 1003}, {67, 2, 131}, {2, 3, 700}};
  /* few long rows, several cores each */
  static const int64_t rows[][3] = {{2, 1, 20003}, {1, 1, 16384}};
  const size_t all = AC_COUNT(ops) * AC_COUNT(dims) * 12, long_ones = AC_COUNT(ops) * AC_COUNT(rows) * 2;
  for (size_t k = 0; k < all + long_ones; k++) {
    const ac_op op = ops[k % AC_COUNT(ops)];
    const size_t turn = (k < all ? k : k - all) / AC_COUNT(ops);
    const int64_t *shape = k < all ? dims[turn % AC_COUNT(dims)] : rows[turn % AC_COUNT(rows)];
    int form = k < all ? (int)(turn / AC_COUNT(dims)) : 2 + 3 * (int)(turn / AC_COUNT(rows)), dim = form % 3;
    bool reverse = form / 3 & 1, exclusive = form / 6 && op < AC_G_CUMMAX && shape[dim] > 1;
    world *w = world_new("scan");
    ac_value *x = tensor(w, "x", dtypes[(k + k / 12) % AC_COUNT(dtypes)], 3, shape), *v = x;
    if (op == AC_G_CUMPROD) v = bin(w, AC_G_ADD, bin(w, AC_G_MUL, un(w, AC_G_TANH, x), c(w, 1.0 / 64)), c(w, 1));
    if (reverse) v = flipped(w, v, dim);
    if (exclusive && !reverse) v = moved_on(w, v, dim, op == AC_G_CUMPROD);
    v = APPLY(w, op, at(v), aint(w, dim));
    out(w, "y", reverse ? flipped(w, v, dim) : v);
    ac_graph_prune(w->g);
    one_graph(w, tolerance_of(w->g),
              ac_sprintf(b.a, "%s of (%lld, %lld, %lld) along %d%s%s", ac_op_info(op)->id, (long long)shape[0],
                         (long long)shape[1], (long long)shape[2], dim, reverse ? ", reversed" : "",
                         exclusive && !reverse ? ", exclusive" : ""));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(graphs_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(graphs_with_moves_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(integers_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(casts_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(long_sums_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(positions_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(scans_agree, setup, teardown)};
  cmocka_set_test_filter(getenv("AC_GRAPH_TEST")); /* NULL: all */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
