/* Reading and writing by index tensors: planned, run without a compiler and compared with the float64 reference, over many shapes, dimensions,
 * dtypes, with duplicates, no indices at all, and for those operations that take them negative indices. */
#include "graph_support.h"

static uint64_t rng;
static int64_t drawn(int64_t n) {
  rng = rng * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((rng >> 33) % (uint64_t)n);
}

static const int64_t sizes[] = {1, 2, 7, 13, 33, 64, 129};
static int64_t size(void) {
  return sizes[drawn(AC_COUNT(sizes))];
}

typedef enum { GATHER, SELECT, EMBED, INDEX, INDEX_2, ADD, COPY, SCATTER, SCATTER_ADD, FORMS } form;
static const char *const names[] = {"gather",    "index_select", "embedding", "x[i]",       "x[i, j]",
                                    "index_add", "index_copy",   "scatter",   "scatter_add"};

typedef struct {
  world *w;
  int64_t axis[8]; /* of the inputs that are indices: what they count along */
  bool negative;
} model;

static ac_value *index_input(model *m, const char *name, int rank, const int64_t *dims, int64_t axis) {
  m->axis[m->w->g->inputs.len] = axis;
  return tensor(m->w, name, AC_I64, rank, dims);
}

static ac_arg list(world *w, ac_value *p, ac_value *q) {
  ac_value **v = AC_NEW_N(w->a, ac_value *, 2);
  v[0] = p;
  v[1] = q;
  return (ac_arg){.kind = AC_K_TENSORS, .ts = v, .n = q ? 2 : 1};
}

/* A graph of the form with sizes drawn anew; one time in five there are no indices. */
static model build(form f, ac_dtype d) {
  model m = {.w = world_new("picked"), .negative = f == INDEX || f == INDEX_2};
  world *w = m.w;
  int rank = f == EMBED ? 2 : 2 + (int)drawn(2), dim = f == EMBED || f == INDEX_2 ? 0 : (int)drawn(rank);
  if ((f == SCATTER || f == SCATTER_ADD) && rank == 3 && !dim) dim = 1; /* refused: AC0700 */
  int64_t x[3], i[3], s[3], k = drawn(5) ? size() : 0;
  for (int q = 0; q < rank; q++) {
    x[q] = size();
    bool element = f == GATHER || f == SCATTER || f == SCATTER_ADD;
    i[q] = q == dim ? k : element && drawn(2) && rank == 2 ? 1 + drawn(x[q]) : x[q];
    s[q] = q == dim ? k : x[q];
  }
  ac_value *in = tensor(w, "x", d, rank, x), *y = NULL;
  switch (f) {
  case GATHER:
    y = APPLY(w, AC_G_GATHER, at(in), aint(w, dim), at(index_input(&m, "i", rank, i, x[dim])),
              (ac_arg){.kind = AC_K_BOOL});
    break;
  case SELECT: y = APPLY(w, AC_G_INDEX_SELECT, at(in), aint(w, dim), at(index_input(&m, "i", 1, &k, x[dim]))); break;
  case EMBED: {
    ac_arg none = {.absent = true};
    y = APPLY(w, AC_G_EMBEDDING, at(index_input(&m, "i", 1, &k, x[0])), at(in), none, none,
              (ac_arg){.kind = AC_K_FLOAT, .f = 2}, (ac_arg){.kind = AC_K_BOOL}, (ac_arg){.kind = AC_K_BOOL});
    break;
  }
  case INDEX:
    y = APPLY(w, AC_G_INDEX, at(in), list(w, index_input(&m, "i", 1, &k, x[dim]), NULL), aint(w, dim));
    break;
  case INDEX_2: {
    ac_value *p = index_input(&m, "i", 1, &k, x[0]), *q = index_input(&m, "j", 1, &k, x[1]);
    y = APPLY(w, AC_G_INDEX, at(in), list(w, p, q), aint(w, 0));
    break;
  }
  default: {
    bool whole = f == ADD || f == COPY;
    ac_value *at_ = whole ? index_input(&m, "i", 1, &k, x[dim]) : index_input(&m, "i", rank, i, x[dim]);
    ac_value *src = tensor(w, "s", d, rank, whole ? s : i);
    static const ac_op ops[] = {
        [ADD] = AC_G_INDEX_ADD, [COPY] = AC_G_INDEX_COPY, [SCATTER] = AC_G_SCATTER, [SCATTER_ADD] = AC_G_SCATTER_ADD};
    ac_arg last = f == ADD ? anum(1) : (ac_arg){.absent = true};
    if (f == ADD || f == SCATTER)
      y = APPLY(w, ops[f], at(in), aint(w, dim), at(at_), at(src), last);
    else
      y = APPLY(w, ops[f], at(in), aint(w, dim), at(at_), at(src));
  }
  }
  out(w, "y", y);
  return m;
}

static char *agrees(model m, const char *name) {
  world *w = m.w;
  ac_cmodule *planned = ac_plan(w->a, w->g, w->chip, &w->d);
  if (!planned) ac_diags_print(&w->d, stderr, false);
  if (!planned) fail_msg("%s is not planned:\n%s", name, ac_graph_text(w->a, w->g));
  args x;
  graph_args(w->g, AC_VALUES_NORMAL, &x);
  for (size_t i = 0; i < w->g->inputs.len; i++)
    for (int64_t e = 0; m.axis[i] && e < x.t[i].bytes / 8; e++)
      ((int64_t *)x.t[i].data)[e] = drawn(m.axis[i]) - (m.negative && drawn(2) ? m.axis[i] : 0);
  char *text = ac_craft_print(w->a, planned);
  graph_run(w, name, text, &x);
  graph_compare(w->g, &x, name, graph_tolerance);
  free_args(&x);
  return text;
}

static void one(form f, ac_dtype d, int k) {
  model m = build(f, d);
  agrees(m, ac_sprintf(b.a, "%s of %s, %d", names[f], ac_dtypes[d].name, k));
  world_free(m.w);
}

/* Rows along the last dimension, from one a tile over whole and broken tiles to none at all. */
static void short_rows(void **state) {
  (void)state;
  static const struct {
    int64_t rows, axis, wide;
  } cases[] = {{97, 1, 1},     {500, 7, 13}, {145, 129, 64}, {3001, 13, 1},   {100, 1000, 9},
               {101, 5, 2040}, {20, 7, 13},  {200, 3, 0},    {100, 40, 5000}, {0, 3, 4}};
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16, AC_I32, AC_I64, AC_U8};
  for (size_t c = 0; c < AC_COUNT(cases); c++)
    for (int q = 0; q < 2; q++) {
      ac_dtype d = dtypes[(c + (size_t)q) % AC_COUNT(dtypes)];
      model m = {.w = world_new("short")};
      rng = c + 1;
      int64_t x[] = {cases[c].rows, cases[c].axis}, i[] = {cases[c].rows, cases[c].wide};
      ac_value *in = tensor(m.w, "x", d, 2, x);
      world *w = m.w;
      out(w, "y",
          q ? APPLY(w, AC_G_GATHER, at(in), aint(w, 1), at(index_input(&m, "i", 2, i, x[1])),
                    (ac_arg){.kind = AC_K_BOOL})
            : APPLY(w, AC_G_INDEX_SELECT, at(in), aint(w, 1), at(index_input(&m, "i", 1, i + 1, x[1]))));
      const char *text = agrees(m, ac_sprintf(b.a, "%lld rows of %s, %lld to %lld", (long long)x[0],
                                              ac_dtypes[d].name, (long long)x[1], (long long)i[1]));
      bool tiled = ac_dtypes[d].bytes == 2 || ac_dtypes[d].bytes == 4;
      assert_int_equal(!!strstr(text, "_rows_kernel["), tiled);
      world_free(w);
    }
}

static void forms_agree(void **state) {
  (void)state;
  const char *more = getenv("AC_TEST_INDICES"); /* how many of each */
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16};
  for (int f = 0; f < FORMS; f++)
    for (int k = 0; k < (more ? atoi(more) : 9); k++) {
      rng = (uint64_t)(f * 1000 + k) * 0x9E3779B97F4A7C15u + 1;
      one((form)f, dtypes[k % 3], k);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(forms_agree, setup, teardown),
                                     cmocka_unit_test_setup_teardown(short_rows, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
