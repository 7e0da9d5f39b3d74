/* One case made concrete: tensors in memory that the child shares, their values, the reference. */
#include "verify/internal.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  SAMPLE_CHUNK = 1 << 20,
  SAMPLE_CHUNKS = 4,
  PERIOD_PAGES = 2039 /* prime: rows and the period do not fall into step */
};

static char *shapes_text(ac_arena *a, const ac_graph *g) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_input *in = &g->inputs.data[i];
    if (in->role == AC_IN_SCALAR) continue;
    ac_shape s = ac_value_example(in->value);
    ac_printf(&b, "%s%s(", b.len ? " " : "", in->name);
    for (int k = 0; k < s.rank; k++) ac_printf(&b, k ? ", %lld" : "%lld", (long long)s.dim[k]);
    ac_puts(&b, ")");
  }
  return ac_strdup(a, ac_buf_str(&b));
}

/* A tensor of which every PERIOD_PAGES pages are the same memory: a huge input costs a few megabytes. */
static void *periodic(ac_values kind, ac_dtype d, uint64_t seed, int64_t inner, int64_t bytes) {
  int64_t period = PERIOD_PAGES * (int64_t)sysconf(_SC_PAGESIZE);
  int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd < 0) return NULL;
  char *base = ftruncate(fd, period) ? NULL : ac_sim_alloc(bytes);
  bool ok = base;
  for (int64_t at = 0; ok && at < bytes; at += period) {
    int64_t n = bytes - at < period ? bytes - at : period;
    ok = mmap(base + at, (size_t)n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
  }
  close(fd);
  if (ok) ac_values_fill(kind, d, seed, inner, base, (bytes < period ? bytes : period) / ac_dtypes[d].bytes);
  return ok ? base : NULL;
}

static bool set_tensor(ac_sim_tensor *t, const char *name, const ac_value *v, bool output) {
  ac_shape s = ac_value_example(v);
  int64_t n = ac_shape_numel(&s);
  *t = (ac_sim_tensor){.name = name, .dtype = v->dtype, .rank = s.rank, .output = output};
  memcpy(t->shape, s.dim, sizeof s.dim);
  return n >= 0 && !__builtin_mul_overflow(n, ac_dtypes[v->dtype].bytes, &t->bytes);
}

/* What an operation does with many elements that may overflow half way, in an order that nobody prescribes: PyTorch's own results are
 * infinite or NaN then, or are not, by chance. */
typedef enum { JOINS_NONE, JOINS_SUMS, JOINS_PRODUCTS } joining;

static joining joining_of(const ac_graph *g) {
  joining most = JOINS_NONE;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const ac_op op = g->nodes.data[i]->op;
    const ac_opclass c = ac_op_info(op)->cls;
    joining j =
        op == AC_G_PROD || op == AC_G_CUMPROD ? JOINS_PRODUCTS
        : c == C_NORM || op == AC_G_SUM || op == AC_G_CUMSUM || op == AC_G_MEAN || op == AC_G_VAR || op == AC_G_NORM
            ? JOINS_SUMS
            : JOINS_NONE;
    if (j > most) most = j;
  }
  return most;
}

/* A float that its integer dtype does not hold becomes, in C and in PyTorch, anything. How far all of the graph's casts reach, or infinity. */
static double held_by_casts(const ac_graph *g) {
  double most = INFINITY;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const ac_node *n = g->nodes.data[i];
    if (n->op != AC_G_CAST || ac_dtypes[n->args[0].t->dtype].cls != AC_FLOATING) continue;
    ac_dtype to = n->outs[0]->dtype;
    if (ac_dtypes[to].cls == AC_SIGNED || ac_dtypes[to].cls == AC_UNSIGNED)
      most = fmin(most, ldexp(1, 8 * ac_dtypes[to].bytes - 2));
  }
  return most;
}

/* Brings values into what casts hold. */
static void confine(double most, ac_dtype d, void *data, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double x = ac_load(d, data, i);
    if (!(fabs(x) <= most)) ac_store(d, data, i, isfinite(x) ? copysign(fmod(fabs(x), most), x) : most);
  }
}

/* Brings finite values so far down that sums of their squares stay within float32 (float16 does anyway), products near 1. */
static void calm(const ac_graph *g, ac_dtype d, void *data, int64_t n) {
  joining j = joining_of(g);
  if (j == JOINS_NONE || (d == AC_F16 && j == JOINS_SUMS)) return;
  const double most = j == JOINS_SUMS ? 0x1p40 : 1.25, least = j == JOINS_SUMS ? 0 : 0.75;
  for (int64_t i = 0; i < n; i++) {
    double x = ac_load(d, data, i), a = fabs(x);
    if (isfinite(x) && a > most) ac_store(d, data, i, copysign(j == JOINS_SUMS ? a * 0x1p-88 : most, x));
    if (a > 0 && a < least) ac_store(d, data, i, copysign(least, x));
  }
}

static bool fill_input(ac_vcase *v, int index, ac_sim_tensor *t, uint64_t seed, ac_diags *d) {
  const ac_input *in = &v->graph->inputs.data[index];
  int64_t inner = t->rank ? t->shape[t->rank - 1] : 1;
  uint64_t own = seed ^ (uint64_t)(index + 1) * 0x9E3779B97F4A7C15u;
  if (v->sampled) {
    t->data = ac_dtypes[t->dtype].cls == AC_FLOATING && t->bytes > 0
                  ? periodic(AC_VALUES_NORMAL, t->dtype, own, inner, t->bytes)
                  : ac_sim_alloc(t->bytes);
    if (t->data && ac_dtypes[t->dtype].cls == AC_FLOATING) return true;
  } else {
    t->data = ac_sim_alloc(t->bytes);
  }
  if (!t->data) return false;
  int64_t n = t->bytes / ac_dtypes[t->dtype].bytes;
  bool generated = v->c->values == AC_VALUES_OWN || in->role != AC_IN_TENSOR;
  if (!generated && ac_values_fill(v->c->values, t->dtype, own, inner, t->data, n)) {
    bool wild = v->c->values == AC_VALUES_LARGE || v->c->values == AC_VALUES_SPECIAL;
    double most = wild && ac_dtypes[t->dtype].cls == AC_FLOATING ? held_by_casts(v->graph) : INFINITY;
    if (wild) calm(v->graph, t->dtype, t->data, n);
    if (isfinite(most)) confine(most, t->dtype, t->data, n);
    return true;
  }
  return ac_gen_input(v->graph, index, seed, t->data, d);
}

static void set_scalar(ac_arena *a, ac_vcase *v, int index) {
  const ac_input *in = &v->graph->inputs.data[index];
  ac_dclass cls = ac_dtypes[in->value->dtype].cls;
  ac_sim_attr *s = &v->attrs[v->n_attrs++];
  s->name = in->name;
  s->f = in->scalar;
  s->i = (int64_t)in->scalar;
  s->kind = cls == AC_FLOATING ? AC_ATTR_F : cls == AC_BOOLEAN ? AC_ATTR_B : AC_ATTR_I;
  void *cell = ac_alloc(a, 8);
  memcpy(cell, cls == AC_FLOATING ? (void *)&s->f : (void *)&s->i, 8);
  v->ref_inputs[index] = cell;
}

static bool make_inputs(ac_arena *a, ac_vcase *v, uint64_t seed, ac_diags *d) {
  for (int i = 0; i < v->n_inputs; i++) {
    const ac_input *in = &v->graph->inputs.data[i];
    if (in->role == AC_IN_SCALAR) {
      set_scalar(a, v, i);
      continue;
    }
    ac_sim_tensor *t = &v->tensors[v->n_tensors];
    if (!set_tensor(t, in->name, in->value, false)) return false;
    v->n_tensors++;
    if (!fill_input(v, i, t, seed, d)) return false;
    v->ref_inputs[i] = t->data;
  }
  v->n_in = v->n_tensors;
  return true;
}

/* Its elements, not its pages, tell what the blocks that ran wrote. */
static bool is_small(const ac_sim_tensor *t) {
  return t->bytes / ac_dtypes[t->dtype].bytes <= SAMPLE_CHUNK;
}

static bool make_outputs(ac_vcase *v) {
  for (int i = 0; i < v->n_outputs; i++) {
    ac_sim_tensor *t = &v->tensors[v->n_tensors];
    if (!set_tensor(t, v->graph->outputs.data[i].name, v->graph->outputs.data[i].value, true)) return false;
    v->n_tensors++;
    t->data = ac_sim_alloc(t->bytes);
    if (!t->data) return false;
    if (v->sampled && is_small(t) && t->bytes) memset(t->data, AC_POISON, (size_t)t->bytes);
  }
  return true;
}

double ac_largest_finite(const double *x, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    if (isfinite(x[i]) && fabs(x[i]) > most) most = fabs(x[i]);
  return most;
}

/* Reference values of whole outputs; a sampled case reads ranges later. */
static bool make_reference(ac_arena *a, ac_vcase *v, int threads, ac_diags *d) {
  ac_ref_opts o = {.inputs = v->ref_inputs, .threads = threads};
  ac_ref *r = ac_ref_new(a, v->graph, &o, d);
  bool ok = r != NULL;
  for (int i = 0; ok && i < v->n_outputs; i++) {
    const ac_sim_tensor *t = &v->tensors[v->n_in + i];
    int64_t n = t->bytes / ac_dtypes[t->dtype].bytes;
    if (ac_dtypes[t->dtype].cls == AC_FLOATING) {
      v->ref[i] = AC_NEW_N(a, double, n + 1);
      ok = ac_ref_read(r, i, 0, n, v->ref[i]);
      if (ok) v->scale[i] = ac_largest_finite(v->ref[i], n);
    } else {
      v->ref_int[i] = AC_NEW_N(a, int64_t, n + 1);
      ok = ac_ref_read_int(r, i, 0, n, v->ref_int[i]);
    }
  }
  ac_ref_free(r);
  return ok;
}

ac_vcase *ac_vcase_new(ac_arena *a, const ac_vproject *p, const ac_case *c, uint64_t seed, int threads,
                       const char **why) {
  ac_diags d;
  ac_diags_init(&d, a);
  ac_vcase *v = AC_NEW(a, ac_vcase);
  v->a = a;
  v->c = c;
  v->whole = p->graph;
  v->graph = ac_graph_respecialise(a, p->graph, c->inputs, &d);
  if (v->graph) {
    v->n_inputs = (int)v->graph->inputs.len;
    v->n_outputs = (int)v->graph->outputs.len;
    v->elements = c->elements;
    v->sampled = c->sampled;
    v->shapes = shapes_text(a, v->graph);
    v->ref_inputs = AC_NEW_N(a, const void *, v->n_inputs + 1);
    v->tensors = AC_NEW_N(a, ac_sim_tensor, v->n_inputs + v->n_outputs + 1);
    v->attrs = AC_NEW_N(a, ac_sim_attr, v->n_inputs + 1);
    v->ref = AC_NEW_N(a, double *, v->n_outputs + 1);
    v->ref_int = AC_NEW_N(a, int64_t *, v->n_outputs + 1);
    v->scale = AC_NEW_N(a, double, v->n_outputs + 1);
    v->excuse = AC_NEW_N(a, ac_excuse, v->n_outputs + 1);
    v->excuse_tried = AC_NEW_N(a, bool, v->n_outputs + 1);
    v->slices = AC_NEW_N(a, ac_slice *, v->n_outputs + 1);
    v->threads = threads;
    v->streamed = ac_stream_wanted(v);
    if (make_inputs(a, v, seed, &d) && make_outputs(v) &&
        (v->sampled || v->streamed || make_reference(a, v, threads, &d)))
      return v;
  }
  *why = d.list.len ? d.list.data[0]->message : "no memory for its tensors on this host";
  ac_vcase_free(v);
  return NULL;
}

void ac_vcase_free(ac_vcase *v) {
  for (int i = 0; i < v->n_tensors; i++) ac_sim_dealloc(v->tensors[i].data, v->tensors[i].bytes);
  v->n_tensors = 0;
}

/* ---- comparison ---- */

static ac_comparison fresh(void) {
  return (ac_comparison){.first_bad = -1, .last_bad = -1, .worst = -1};
}

/* Rounding to nearest, and some that round to a neighbour: they show how much the last bit of every intermediate matters. */
ac_excuse ac_honest(ac_arena *a, const ac_graph *g, const void *const *inputs, int out, const double *ref,
                    int64_t n) {
  enum { VARIANTS = 10 };
  const double *first = ac_eager_output(a, g, inputs, out, 0);
  if (!first) return (ac_excuse){0};
  double *slack = AC_NEW_N(a, double, n + 1);
  bool *torn = AC_NEW_N(a, bool, n + 1);
  for (uint64_t k = 0; k <= VARIANTS; k++) {
    const double *h = k ? ac_eager_output(a, g, inputs, out, k) : first;
    for (int64_t i = 0; h && i < n; i++) {
      torn[i] |= isnan(h[i]) != isnan(first[i]);
      if (isfinite(h[i]) && isfinite(ref[i]) && fabs(h[i] - ref[i]) > slack[i]) slack[i] = fabs(h[i] - ref[i]);
    }
  }
  return (ac_excuse){first, slack, torn};
}

ac_comparison ac_vcase_compare(ac_vcase *v, int out, const void *got, const ac_tolerance *t, bool lenient) {
  if (v->streamed) return ac_stream_compare(v, out, got, t, lenient);
  const ac_sim_tensor *o = &v->tensors[v->n_in + out];
  int64_t n = o->bytes / ac_dtypes[o->dtype].bytes;
  ac_comparison c = fresh();
  if (v->ref_int[out]) {
    ac_compare_int(o->dtype, v->ref_int[out], got, 0, n, &c);
    return c;
  }
  double scale = ac_graph_error_class(v->graph) == AC_ERR_FUNCTION ? fmax(1, v->scale[out]) : v->scale[out];
  ac_compare_float(o->dtype, t, scale, v->ref[out], NULL, got, 0, n, &c);
  if (!c.bad || !lenient || t->rtol == 0) return c;
  if (!v->excuse_tried[out]) {
    v->excuse_tried[out] = true;
    v->excuse[out] = ac_honest(v->a, v->graph, v->ref_inputs, out, v->ref[out], n);
  }
  if (!v->excuse[out].honest) return c;
  c = fresh();
  ac_compare_float(o->dtype, t, scale, v->ref[out], &v->excuse[out], got, 0, n, &c);
  return c;
}

/* Which bytes of an output any block touched: pages that are not there were never written. */
static bool touched(const ac_sim_tensor *t, int64_t page, int64_t size) {
  unsigned char there = 0;
  return !mincore((char *)t->data + page * size, (size_t)size, &there) && (there & 1);
}

/* [from, to) elements of the next run of touched pages at or after *page; what may belong to a neighbour block (the first and last page
 * of a run, unless the tensor ends there) is left out. */
static bool next_run(const ac_sim_tensor *t, int64_t *page, int64_t *from, int64_t *to) {
  int64_t size = sysconf(_SC_PAGESIZE), pages = (t->bytes + size - 1) / size, elem = ac_dtypes[t->dtype].bytes;
  while (*page < pages && !touched(t, *page, size)) ++*page;
  if (*page >= pages) return false;
  int64_t first = *page;
  while (*page < pages && touched(t, *page, size)) ++*page;
  int64_t lo = first == 0 ? 0 : (first + 1) * size, hi = *page == pages ? t->bytes : (*page - 1) * size;
  *from = (lo + elem - 1) / elem;
  *to = hi / elem;
  return true;
}

typedef struct {
  ac_vcase *v;
  ac_ref *r; /* of the whole, or NULL when rows can be cut out */
  int threads, out;
  const ac_sim_tensor *t;
  const ac_tolerance *tol;
  bool function;
  double *ref; /* SAMPLE_CHUNK */
} sampled;

/* n elements from `from` on by a graph of just the rows that they are in. */
static bool read_rows(sampled *s, int64_t from, int64_t n) {
  ac_arena *a = ac_arena_new();
  ac_diags quiet;
  ac_diags_init(&quiet, a);
  int64_t rows = s->t->shape[0], row = s->t->bytes / ac_dtypes[s->t->dtype].bytes / rows;
  int64_t lo = from / row, hi = (from + n + row - 1) / row;
  if (hi - lo < 2 && hi < rows)
    hi++; /* one row could be taken for a broadcast */
  else if (hi - lo < 2 && lo > 0)
    lo--;
  ac_rows cut = ac_rows_cut(a, s->v->whole, s->v->graph, s->v->ref_inputs, lo, hi);
  ac_ref_opts o = {.inputs = cut.inputs, .threads = s->threads};
  ac_ref *r = cut.graph ? ac_ref_new(a, cut.graph, &o, &quiet) : NULL;
  bool ok = r && ac_ref_read(r, s->out, from - lo * row, n, s->ref);
  ac_ref_free(r);
  ac_arena_free(a);
  return ok;
}

static bool compare_chunk(sampled *s, int64_t from, int64_t to, ac_comparison *c) {
  int64_t n = to - from < SAMPLE_CHUNK ? to - from : SAMPLE_CHUNK;
  if (!(s->r ? ac_ref_read(s->r, s->out, from, n, s->ref) : read_rows(s, from, n))) return false;
  double scale = ac_largest_finite(s->ref, n);
  if (s->function) scale = fmax(1, scale);
  for (int64_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && !(is_small(s->t) && ac_untouched(s->t, from + end));) end++;
    if (end > i)
      ac_compare_float(s->t->dtype, s->tol, scale, s->ref + i, NULL, s->t->data, from + i, end - i, c);
    else
      end++;
  }
  return true;
}

/* All of a short run; of a long one the beginning, the end and chunks between at equal distances. */
static bool compare_run(sampled *s, int64_t from, int64_t to, ac_comparison *c) {
  int64_t chunks = (to - from + SAMPLE_CHUNK - 1) / SAMPLE_CHUNK,
          most = chunks < SAMPLE_CHUNKS ? chunks : SAMPLE_CHUNKS;
  for (int64_t k = 0; k < most; k++) {
    int64_t at = from + (most < 2 ? 0 : k * (chunks - 1) / (most - 1)) * SAMPLE_CHUNK;
    if (k == most - 1 && to - from > SAMPLE_CHUNK && chunks > most) at = to - SAMPLE_CHUNK;
    if (!compare_chunk(s, at, to, c)) return false;
  }
  return true;
}

bool ac_untouched(const ac_sim_tensor *t, int64_t i) {
  int size = ac_dtypes[t->dtype].bytes;
  for (int k = 0; k < size; k++)
    if (((const uint8_t *)t->data)[i * size + k] != AC_POISON) return false;
  return true;
}

ac_comparison ac_vcase_compare_sampled(ac_vcase *v, int out, const ac_tolerance *t, int threads) {
  const ac_sim_tensor *o = &v->tensors[v->n_in + out];
  ac_comparison c = fresh();
  if (ac_dtypes[o->dtype].cls != AC_FLOATING) return c;
  ac_diags quiet;
  ac_diags_init(&quiet, v->a);
  sampled s = {.v = v, .threads = threads, .out = out, .t = o, .tol = t, .ref = AC_NEW_N(v->a, double, SAMPLE_CHUNK)};
  s.function = ac_graph_error_class(v->graph) == AC_ERR_FUNCTION;
  bool apart = o->rank > 0 && o->shape[0] > 0 && ac_rows_apart(v->whole);
  ac_ref_opts opts = {.inputs = v->ref_inputs, .threads = threads};
  if (!apart && !(s.r = ac_ref_new(v->a, v->graph, &opts, &quiet))) return c;
  int64_t page = 0, from = 0, to = o->bytes / ac_dtypes[o->dtype].bytes;
  if (is_small(o))
    (void)(to && compare_run(&s, from, to, &c));
  else
    while (next_run(o, &page, &from, &to))
      if (from < to && !compare_run(&s, from, to, &c)) break;
  ac_ref_free(s.r);
  return c;
}
