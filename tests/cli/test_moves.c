/* Layout moves of random shapes, dtypes and parameters, one to three behind one another, with and without arithmetic between: planned,
 * checked, lowered, run in the simulator without a compiler and compared with the float64 reference, exactly. AC_MOVES=N draws N (default
 * 110), AC_MOVES_SEED=S that one alone, and shows its program. */
#include "graph_support.h"

typedef struct {
  uint64_t state;
  world *w;
} draw;

static uint64_t next(draw *d) {
  return rng_next(&d->state);
}
static int64_t below(draw *d, int64_t n) {
  return rng_below(&d->state, n);
}

static ac_arg none(ac_kind k) {
  return (ac_arg){.kind = k, .absent = true};
}
static ac_arg list(world *w, int n, ac_value *const *v) {
  ac_value **t = AC_NEW_N(w->a, ac_value *, n);
  memcpy(t, v, sizeof *t * (size_t)n);
  return (ac_arg){.kind = AC_K_TENSORS, .n = n, .ts = t};
}
static int64_t size_of(const ac_value *v, int d) {
  return ac_value_example(v).dim[d];
}
static int64_t elements(const ac_value *v) {
  ac_shape s = ac_value_example(v);
  return ac_shape_numel(&s);
}

/* ---- one move ---- */

static ac_value *permuted(draw *d, ac_value *x) {
  int64_t dims[AC_MAX_RANK];
  for (int i = 0; i < x->rank; i++) dims[i] = i;
  for (int i = x->rank - 1; i > 0; i--) {
    int64_t k = below(d, i + 1), t = dims[i];
    dims[i] = dims[k];
    dims[k] = t;
  }
  return APPLY(d->w, AC_G_PERMUTE, at(x), aints(d->w, x->rank, dims));
}

static ac_value *sliced(draw *d, ac_value *x) {
  int dim = (int)below(d, x->rank);
  int64_t n = size_of(x, dim), from = below(d, n + 1), to = from + below(d, n + 2 - from), step = 1;
  if (below(d, 2)) step = 1 + below(d, 1 + below(d, 24));
  bool back = below(d, 3) == 0 && from < n;
  return APPLY(d->w, AC_G_SLICE, at(x), aint(d->w, dim), aint(d->w, back ? from - n : from),
               below(d, 4) ? aint(d->w, to) : none(AC_K_INT), aint(d->w, step));
}

static ac_value *selected(draw *d, ac_value *x) {
  int dim = (int)below(d, x->rank);
  int64_t n = size_of(x, dim);
  if (!n) return x;
  return APPLY(d->w, AC_G_SELECT, at(x), aint(d->w, dim), aint(d->w, below(d, 2 * n) - n));
}

static ac_value *expanded(draw *d, ac_value *x) {
  int64_t size[AC_MAX_RANK];
  int lead = x->rank < 4 ? (int)below(d, 2) : 0;
  for (int i = 0; i < lead; i++) size[i] = 1 + below(d, 5);
  for (int i = 0; i < x->rank; i++) {
    size[lead + i] = size_of(x, i);
    if (size[lead + i] == 1 && below(d, 2)) size[lead + i] = 1 + below(d, 70);
  }
  return APPLY(d->w, AC_G_EXPAND, at(x), aints(d->w, lead + x->rank, size));
}

static int some_dims(draw *d, const ac_value *x, int64_t *dims) {
  int n = 0;
  for (int i = 0; i < x->rank; i++)
    if (below(d, 2)) dims[n++] = below(d, 2) ? i : i - x->rank;
  if (!n) dims[n++] = x->rank - 1;
  return n;
}

static ac_value *flipped(draw *d, ac_value *x) {
  int64_t dims[AC_MAX_RANK];
  int n = some_dims(d, x, dims);
  return APPLY(d->w, AC_G_FLIP, at(x), aints(d->w, n, dims));
}

static ac_value *rolled(draw *d, ac_value *x) {
  int64_t dims[AC_MAX_RANK], shifts[AC_MAX_RANK];
  int n = some_dims(d, x, dims);
  for (int i = 0; i < n; i++) shifts[i] = below(d, 40) - 20;
  if (below(d, 3) == 0) return APPLY(d->w, AC_G_ROLL, at(x), aints(d->w, 1, shifts));
  return APPLY(d->w, AC_G_ROLL, at(x), aints(d->w, n, shifts), aints(d->w, n, dims));
}

static ac_value *repeated(draw *d, ac_value *x) {
  int64_t times[AC_MAX_RANK];
  if (below(d, 2)) {
    ac_arg dim = below(d, 3) ? aint(d->w, below(d, x->rank)) : none(AC_K_INT);
    return APPLY(d->w, AC_G_REPEAT_INTERLEAVE, at(x), aint(d->w, 1 + below(d, 4)), dim);
  }
  int lead = x->rank < 4 ? (int)below(d, 2) : 0;
  for (int i = 0; i < lead + x->rank; i++) times[i] = 1 + (below(d, 2) ? below(d, 3) : 0);
  return APPLY(d->w, AC_G_REPEAT, at(x), aints(d->w, lead + x->rank, times));
}

static ac_value *joined(draw *d, ac_value *x) {
  ac_value *parts[4];
  int n = 1 + (int)below(d, 4), dim = (int)below(d, x->rank);
  for (int i = 0; i < n; i++) {
    int64_t size = size_of(x, dim), to = below(d, size + 1);
    parts[i] = x;
    if (below(d, 2))
      parts[i] = APPLY(d->w, AC_G_SLICE, at(x), aint(d->w, dim), aint(d->w, 0), aint(d->w, to), aint(d->w, 1));
  }
  bool stack = x->rank < 4 && below(d, 3) == 0;
  if (!stack) return APPLY(d->w, AC_G_CAT, list(d->w, n, parts), aint(d->w, dim));
  dim = (int)below(d, x->rank + 1);
  for (int i = 0; i < n; i++) parts[i] = APPLY(d->w, AC_G_UNSQUEEZE, at(x), aint(d->w, dim));
  return APPLY(d->w, AC_G_CAT, list(d->w, n, parts), aint(d->w, dim));
}

static ac_value *padded(draw *d, ac_value *x) {
  static const char *const modes[] = {"constant", "constant", "reflect", "replicate", "circular"};
  const char *mode = modes[below(d, 5)];
  int64_t pad[8];
  bool constant = !strcmp(mode, "constant");
  int k = constant ? 1 + (int)below(d, x->rank) : x->rank - 2;
  if (!constant && (k < 1 || k > 2)) return flipped(d, x);
  for (int i = 0; i < k; i++) {
    int64_t n = size_of(x, x->rank - 1 - i);
    int64_t most = constant ? 9 : !strcmp(mode, "reflect") ? n - 1 : n;
    if (!n) return flipped(d, x);
    pad[2 * i] = below(d, 1 + (most < 9 ? most : 9));
    pad[2 * i + 1] = below(d, 1 + (most < 9 ? most : 9));
    if (constant && below(d, 4) == 0 && n > 4) pad[2 * i + below(d, 2)] = -below(d, 3);
  }
  if (constant) return APPLY(d->w, AC_G_PAD, at(x), aints(d->w, 2 * k, pad), astr(mode), anum(3));
  return APPLY(d->w, AC_G_PAD, at(x), aints(d->w, 2 * k, pad), astr(mode));
}

static ac_value *windows(draw *d, ac_value *x) {
  int dim = (int)below(d, x->rank);
  int64_t n = size_of(x, dim);
  if (x->rank > 3 || n < 2) return selected(d, x);
  return APPLY(d->w, AC_G_UNFOLD, at(x), aint(d->w, dim), aint(d->w, 1 + below(d, n < 9 ? n : 9)),
               aint(d->w, 1 + below(d, 4)));
}

static ac_value *diagonal(draw *d, ac_value *x) {
  if (x->rank < 2) return flipped(d, x);
  int a = (int)below(d, x->rank), b = (a + 1 + (int)below(d, x->rank - 1)) % x->rank;
  return APPLY(d->w, AC_G_DIAGONAL, at(x), aint(d->w, below(d, 7) - 3), aint(d->w, a), aint(d->w, b));
}

static ac_value *inserted(draw *d, ac_value *x) {
  int dim = (int)below(d, x->rank);
  int64_t n = size_of(x, dim), from = below(d, n + 1);
  if (!n) return flipped(d, x);
  if (below(d, 2)) {
    ac_value *s = APPLY(d->w, AC_G_SELECT, at(x), aint(d->w, dim), aint(d->w, 0));
    return APPLY(d->w, AC_G_SELECT_SCATTER, at(x), at(s), aint(d->w, dim), aint(d->w, below(d, 2 * n) - n));
  }
  ac_value *s = APPLY(d->w, AC_G_SLICE, at(x), aint(d->w, dim), aint(d->w, 0), aint(d->w, n - from), aint(d->w, 1));
  return APPLY(d->w, AC_G_SLICE_SCATTER, at(x), at(s), aint(d->w, dim), aint(d->w, from), aint(d->w, n),
               aint(d->w, 1));
}

static ac_value *reshaped(draw *d, ac_value *x) {
  int64_t all = elements(x);
  if (!all) return x;
  return APPLY(d->w, AC_G_RESHAPE, at(x), aints(d->w, 2, (int64_t[]){size_of(x, 0), all / size_of(x, 0)}));
}

static ac_value *moved(draw *d, ac_value *x) {
  static ac_value *(*const moves[])(draw *, ac_value *) = {permuted, permuted, sliced,   selected, expanded,
                                                           flipped,  rolled,   repeated, joined,   joined,
                                                           padded,   padded,   windows,  diagonal, inserted};
  if (!x->rank) return APPLY(d->w, AC_G_EXPAND, at(x), aints(d->w, 1, (int64_t[]){1 + below(d, 9)}));
  return moves[below(d, (int64_t)AC_COUNT(moves))](d, x);
}

/* ---- graphs ---- */

static world *graph_of(uint64_t seed) {
  static const ac_dtype dtypes[] = {AC_F32, AC_F32, AC_F16, AC_BF16, AC_I32, AC_I16, AC_U8, AC_I8, AC_I64, AC_BOOL};
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33, 64, 65, 100, 127, 257};
  world *w = world_new("move");
  draw d = {.state = seed, .w = w};
  int rank = 1 + (int)below(&d, 4);
  int64_t dims[4], n = 1;
  for (int i = 0; i < rank; i++) {
    dims[i] = sizes[below(&d, (int64_t)AC_COUNT(sizes))];
    while (n * dims[i] > 9000) dims[i] = (dims[i] + 1) / 2;
    n *= dims[i];
  }
  if (rank == 1 && below(&d, 2)) dims[0] = 20000;
  if (rank > 1 && below(&d, 3) == 0) { /* rows that views are read from where they lie */
    for (int i = 0; i + 1 < rank; i++) dims[i] = 1 + dims[i] % 4;
    dims[rank - 1] = 700 + below(&d, 900);
  }
  if (below(&d, 40) == 0) dims[below(&d, rank)] = 0;
  ac_dtype t = dtypes[below(&d, (int64_t)AC_COUNT(dtypes))];
  bool numbers = t == AC_F32 || t == AC_F16 || t == AC_BF16;
  ac_value *v = tensor(w, "x", t, rank, dims);
  int moves = 1 + (int)below(&d, 3);
  for (int k = 0; k < moves; k++) {
    if (numbers && below(&d, 5) == 0) v = un(w, AC_G_NEG, v);
    ac_value *m = moved(&d, v);
    if (elements(m) > 60000 || m->rank > 5) break;
    v = m;
    if (below(&d, 6) == 0 && v->rank) v = reshaped(&d, v);
  }
  if (numbers && below(&d, 4) == 0) v = un(w, AC_G_NEG, v);
  if (below(&d, 3) == 0) v = un(w, AC_G_CLONE, v);
  out(w, "result", v);
  ac_graph_prune(w->g);
  return w;
}

static void fill(ac_sim_tensor *x, uint64_t seed) {
  draw d = {.state = seed ^ 0x5eed};
  int64_t n = x->bytes / ac_dtypes[x->dtype].bytes;
  for (int64_t i = 0; i < n; i++) {
    if (ac_dtypes[x->dtype].cls == AC_FLOATING)
      ac_store(x->dtype, x->data, i, (double)(below(&d, 255) - 127));
    else if (x->dtype == AC_BOOL)
      ((uint8_t *)x->data)[i] = (uint8_t)below(&d, 2);
    else
      ac_store_int(x->dtype, x->data, i, (int64_t)next(&d) >> (64 - 8 * ac_dtypes[x->dtype].bytes));
  }
}

static int refused, ran;

static void one(uint64_t seed, bool show) {
  world *w = graph_of(seed);
  ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
  if (show) print_message("%s\n%s\n", ac_graph_text(w->a, w->g), m ? ac_craft_print(w->a, m) : "refused");
  if (!m) {
    const ac_diag *x = w->d.list.data[w->d.list.len - 1];
    if (show || getenv("AC_MOVES_REFUSED"))
      print_message("seed %llu refused: %s\n", (unsigned long long)seed, x->message);
    assert_int_equal(ac_code_exit(x->code), AC_UNSUPPORTED);
    refused++;
    world_free(w);
    return;
  }
  const char *name = ac_sprintf(b.a, "seed %llu", (unsigned long long)seed), *text = ac_craft_print(w->a, m);
  args x;
  graph_args(w->g, AC_VALUES_NORMAL, &x);
  if (x.n > 1) fill(&x.t[0], seed);
  graph_run(w, name, text, &x);
  graph_compare(w->g, &x, name, NULL);
  ran++;
  free_args(&x);
  world_free(w);
}

static void moves_agree(void **state) {
  (void)state;
  int count = each_seed("AC_MOVES_SEED", "AC_MOVES", 110, one);
  if (!count) return;
  one(281, false); /* a bool tensor padded with 3, which is true */
  print_message("%d ran, %d refused\n", ran, refused);
  assert_true(refused < count / 10 + 1);
}

/* The two halves of a row are one another's partners at the traced width only: another width is refused before it is launched. */
static void widths_are_asked(void **state) {
  (void)state;
  for (int form = 0; form < 2; form++) { /* read by strides; copied first */
    int64_t half = form ? 40 : 600;
    world *w = world_new("halves");
    ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(8, 2 * half));
    ac_value *l = APPLY(w, AC_G_SLICE, at(x), aint(w, 1), aint(w, 0), aint(w, half), aint(w, 1));
    ac_value *r = APPLY(w, AC_G_SLICE, at(x), aint(w, 1), aint(w, half), none(AC_K_INT), aint(w, 1));
    out(w, "y", bin(w, AC_G_MUL, l, r));
    ac_cmodule *m = ac_plan(w->a, w->g, w->chip, &w->d);
    assert_non_null(m);
    const char *text = ac_craft_print(w->a, m);
    assert_int_equal(strstr(text, "tl.empty") != NULL, form);
    ac_program *p = lowered(&b, "halves", text);
    for (int wider = 0; wider < 2; wider++) {
      args a = {0};
      ac_shape in = {.rank = 2, .dim = {8, 2 * half + 100 * wider}}, to = {.rank = 2, .dim = {8, half}};
      add_tensor(&a, "x", AC_F32, &in, false);
      add_tensor(&a, "y", AC_F32, &to, true);
      fill(&a.t[0], 1);
      ac_sim_result res = {0};
      assert_true(ac_sim_run_program(b.a, p, w->chip, a.t, a.n, NULL, 0, &(ac_sim_opts){.threads = 1}, &res, &b.d));
      assert_int_equal(res.ran, !wider);
      assert_int_equal(res.refused != NULL, wider);
      free_args(&a);
    }
    world_free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(moves_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(widths_are_asked, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
