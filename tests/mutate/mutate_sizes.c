/* What a program is run on: sizes of a table that it takes, and from those, found by trying: the largest of each axis (buffers that are too
 * small show only there), and the smallest inputs beside the first (reads past their ends show only there). */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

/* Of all tensors, then of some by name; outputs have the shapes that the program says. Small ones first: most faults show there. */
static const char *const table[] = {"7,1003",
                                    "5,40",
                                    "1",
                                    "513",
                                    "2048",
                                    "64,96",
                                    "130,5",
                                    "3,4,5",
                                    "2,8,5,16",
                                    "1,2,40,96",
                                    "3,13243",
                                    "300,257",
                                    "9,130",
                                    "2,30011",
                                    "2,11264",
                                    "2,14848",
                                    "2,22528",
                                    "1601,40",
                                    "41,40,5,7",
                                    "100,2048",
                                    "1600000",
                                    "1,3,300000",
                                    "2,3,50,70 bias=3,1,1",
                                    "7,1003 y=1",
                                    "7,1003 y=1003",
                                    "7,1003 w=1003 y=1003",
                                    "301,7 y=301",
                                    "7,1003 mean=1003 var=1003 weight=1003 bias=1003",
                                    "70,1003 mean=1003 var=1003 weight=1003 bias=1003",
                                    "7,40 index=50 x=50,40",
                                    "1600000 y=1",
                                    "1000000 y=1",
                                    "2,3,500,700 bias=3,1,1",
                                    "7,1003 bias=1003 scale=7,1",
                                    "3,600001 bias=600001 scale=3,1"};

enum {
  SMALL = 60000,       /* elements: larger sizes have noise only */
  FOUND = 300000,      /* elements of the largest tensor in sizes that are found by trying */
  BYTES = 64 * 1 << 20 /* of the largest tensor in any */
};

static int64_t elements(const ac_sim_tensor *t) {
  int64_t n = 1;
  for (int k = 0; k < t->rank; k++) n *= t->shape[k];
  return n;
}

/* "x=7,1003 y=7" */
static const char *text_of(ac_arena *a, const example *x, const ac_sim_tensor *t) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (int i = 0; i < x->n; i++)
    for (int k = 0; k < t[i].rank || !k; k++)
      ac_printf(&b, "%s%s%s%lld", k || !i ? "" : " ", k ? "," : t[i].name, k ? "" : "=",
                (long long)(t[i].rank ? t[i].shape[k] : 1));
  return ac_buf_str(&b);
}

/* The named tensors and directions, without sizes. */
static void declare(ac_arena *a, const ac_program *p, ac_sim_tensor *t) {
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *q = &p->tensors.data[i];
    t[i] = (ac_sim_tensor){.name = ac_strdup(a, q->name),
                           .dtype = q->dtype,
                           .output = q->dir != AC_TENSOR_IN,
                           .also_input = q->dir == AC_TENSOR_INOUT};
  }
}

/* False: it names tensors that the program lacks. */
static bool by_table(ac_arena *a, const example *x, const char *spec, ac_sim_tensor *t) {
  char *save = NULL, *copy = ac_strdup(a, spec);
  for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
    char *eq = strchr(w, '='), *at = eq ? eq + 1 : w;
    int64_t dims[AC_MAX_RANK];
    int rank = 0;
    bool known = !eq;
    if (eq) *eq = 0;
    for (; *at && rank < AC_MAX_RANK; at += *at == ',') dims[rank++] = strtoll(at, &at, 10);
    for (int i = 0; i < x->n; i++) {
      if (eq && strcmp(t[i].name, w) != 0) continue;
      t[i].rank = rank;
      memcpy(t[i].shape, dims, sizeof *dims * (size_t)rank);
      known = true;
    }
    if (!known) return false;
  }
  return true;
}

static void fill(const example *x, sizes *s, values v) {
  bool same = s->filled == 1 + (int)v;
  s->filled = 1 + (int)v;
  for (int i = 0; i < x->n; i++) {
    ac_sim_tensor *t = &s->t[i];
    if (t->output ? !t->also_input : same) continue; /* what is updated in place holds the last run's */
    int64_t n = t->bytes / ac_dtypes[t->dtype].bytes,
            inner = t->rank && t->shape[t->rank - 1] ? t->shape[t->rank - 1] : 1;
    bool floats = ac_dtypes[t->dtype].cls == AC_FLOATING;
    bool drawn = v == NOISE || v == SPECIAL;
    if (drawn && ac_values_fill(v == NOISE ? AC_VALUES_NORMAL : AC_VALUES_SPECIAL, t->dtype, (uint64_t)i + 1, inner,
                                t->data, n))
      continue;
    for (int64_t k = 0; k < n; k++) {
      double ramp = (double)(k % inner + 1) / (double)inner * 200 - 100;
      if (floats && v == WHOLE)
        ac_store(t->dtype, t->data, k, (double)((k * 7 + i) % 23 - 3));
      else if (floats)
        ac_store(t->dtype, t->data, k, v == FALL ? -ramp : ramp);
      else
        ac_store_int(t->dtype, t->data, k, (k * 7 + i) % 23 - 11);
    }
  }
}

bool mutate_run(ac_arena *a, const ac_program *p, const example *x, sizes *s, values v, ac_sim_result *r,
                ac_diags *d) {
  fill(x, s, v);
  ac_sim_opts o = {.in_process = true, .threads = 1, .timeout = 10, .deterministic = s->odd};
  for (int i = 0; i < x->n; i++)
    if (s->t[i].output && !s->t[i].also_input) memset(s->t[i].data, 0xa5, (size_t)s->t[i].bytes);
  return ac_sim_run_program(a, p, x->chip, s->t, x->n, x->attrs[s->odd], x->n_attrs, &o, r, d);
}

static void release(const example *x, sizes *s) {
  for (int k = 0; k < x->n; k++) {
    if (s->t[k].data) ac_sim_dealloc(s->t[k].data, s->t[k].bytes);
    s->t[k].data = NULL;
    for (int v = 0; v < VALUES; v++) free(s->out[v][k]);
  }
}
void mutate_sizes_free(example *x) {
  for (size_t i = 0; i < x->sizes.len; i++) release(x, x->sizes.data[i]);
}

/* Sizes whose outputs are known, with room for the tensors; NULL: not possible, or too large. */
static sizes *prepared(ac_arena *a, const ac_program *p, const example *x, const ac_sim_tensor *t, int64_t most) {
  ac_diags quiet;
  ac_diags_init(&quiet, a);
  sizes *s = AC_NEW(a, sizes);
  memcpy(s->t, t, sizeof s->t);
  s->odd = x->sizes.len % 2;
  ac_sim_compiled *compiled = ac_sim_compile(a, p, &quiet);
  if (!compiled || !ac_sim_output_shapes(a, compiled, s->t, x->n, x->attrs[s->odd], x->n_attrs, &quiet)) return NULL;
  for (int i = 0; i < x->n; i++) {
    s->t[i].bytes = elements(&s->t[i]) * ac_dtypes[s->t[i].dtype].bytes;
    if (s->t[i].bytes > most) return NULL;
  }
  for (int i = 0; i < x->n; i++) s->t[i].data = ac_sim_alloc(s->t[i].bytes);
  s->text = text_of(a, x, s->t);
  return s;
}
static bool fine(ac_arena *a, const ac_program *p, const example *x, sizes *s, values v) {
  ac_sim_result r;
  ac_diags quiet;
  ac_diags_init(&quiet, a);
  return mutate_run(a, p, x, s, v, &r, &quiet) && !r.faults.len && !r.refused;
}
static bool takes(const ac_program *p, const example *x, const ac_sim_tensor *t) {
  ac_arena *a = ac_arena_new();
  sizes *s = prepared(a, p, x, t, (int64_t)FOUND * 4);
  bool ok = s && fine(a, p, x, s, NOISE);
  if (s) release(x, s);
  ac_arena_free(a);
  return ok;
}

/* Takes the sizes into the list, with what is computed there, unless they stand in it. */
static bool add(ac_arena *a, const ac_program *p, example *x, const ac_sim_tensor *t) {
  sizes *s = prepared(a, p, x, t, BYTES);
  if (!s) return false;
  bool any = false, twin = false;
  for (size_t i = 0; i < x->sizes.len; i++) twin |= !strcmp(x->sizes.data[i]->text, s->text);
  for (int v = 0; !twin && v < VALUES; v++) {
    if (v && s->t[0].bytes > SMALL * 4) continue;
    s->runs[v] = fine(a, p, x, s, (values)v);
    any |= s->runs[v];
    for (int i = 0; s->runs[v] && i < x->n; i++) {
      if (!s->t[i].output) continue;
      s->out[v][i] = malloc((size_t)s->t[i].bytes + 1);
      if (s->out[v][i]) memcpy(s->out[v][i], s->t[i].data, (size_t)s->t[i].bytes);
    }
  }
  if (any)
    ac_push(a, &x->sizes, s);
  else
    release(x, s);
  return any;
}

/* The base with one axis of another size, wherever a tensor has that size. */
static void resize(const example *x, const ac_sim_tensor *base, int64_t from, int64_t to, ac_sim_tensor *t) {
  if (t != base) memcpy(t, base, sizeof *t * (size_t)x->n);
  for (int i = 0; i < x->n; i++)
    for (int k = 0; k < t[i].rank; k++)
      if (t[i].shape[k] == from) t[i].shape[k] = to;
}

/* The largest size of an axis that is taken, where a larger one is refused; 0: none is. */
static int64_t largest(const ac_program *p, const example *x, const ac_sim_tensor *base, int64_t from) {
  ac_sim_tensor t[MOST_TENSORS] = {0};
  int64_t rest = elements(base) / from, ok = from, bad;
  for (bad = 2 * from; bad * rest <= FOUND; bad *= 2) {
    resize(x, base, from, bad, t);
    if (!takes(p, x, t)) break;
    ok = bad;
  }
  if (bad * rest > FOUND) return 0;
  while (bad - ok > 1) {
    int64_t mid = ok + (bad - ok) / 2;
    resize(x, base, from, mid, t);
    *(takes(p, x, t) ? &ok : &bad) = mid;
  }
  return ok;
}

/* The other inputs as small as they may be, each for itself. */
static void tighten(ac_arena *a, const ac_program *p, example *x, const ac_sim_tensor *base) {
  ac_sim_tensor t[MOST_TENSORS] = {0};
  memcpy(t, base, sizeof t);
  for (int i = 1; i < x->n; i++) {
    int64_t of[] = {1, base[0].shape[0], base[0].shape[base[0].rank - 1]};
    for (size_t k = 0; k < AC_COUNT(of) && !t[i].output; k++) {
      ac_sim_tensor before = t[i];
      t[i].rank = 1;
      t[i].shape[0] = of[k];
      if (takes(p, x, t)) break;
      t[i] = before;
    }
  }
  add(a, p, x, t);
}

/* What the table's sizes lead to: one of each rank is looked at. */
static void derive(ac_arena *a, const ac_program *p, example *x) {
  bool seen[AC_MAX_RANK + 1] = {false};
  for (size_t i = 0, n = x->sizes.len; i < n; i++) {
    ac_sim_tensor base[MOST_TENSORS] = {0}, t[MOST_TENSORS] = {0}, all[MOST_TENSORS] = {0};
    memcpy(base, x->sizes.data[i]->t, sizeof base);
    int rank = base[0].rank;
    if (rank < 1 || seen[rank] || elements(base) > SMALL || !elements(base)) continue;
    seen[rank] = true;
    memcpy(all, base, sizeof all);
    tighten(a, p, x, base);
    for (int k = 0; k < rank; k++) {
      int64_t from = base[0].shape[k], to = largest(p, x, base, from);
      if (!to) continue;
      resize(x, base, from, to, t);
      add(a, p, x, t);
      tighten(a, p, x, t);
      resize(x, all, from, to, all);
    }
    add(a, p, x, all);
  }
}

bool mutate_sizes(ac_arena *a, const ac_program *p, example *x) {
  if (p->tensors.len > MOST_TENSORS || p->attrs.len > MOST_TENSORS) return false;
  x->n = (int)p->tensors.len;
  x->n_attrs = (int)p->attrs.len;
  for (size_t i = 0; i < p->attrs.len; i++)
    for (int k = 0; k < 2; k++)
      x->attrs[k][i] = (ac_sim_attr){.name = ac_strdup(a, p->attrs.data[i].name),
                                     .kind = p->attrs.data[i].type == AC_AT_FLOAT ? AC_ATTR_F : AC_ATTR_I,
                                     .f = k ? 3e30 : 0.7,
                                     .i = k ? 0 : 3};
  for (size_t i = 0; i < AC_COUNT(table); i++) {
    ac_sim_tensor t[MOST_TENSORS] = {0};
    declare(a, p, t);
    if (by_table(a, x, table[i], t)) add(a, p, x, t);
  }
  derive(a, p, x);
  return x->sizes.len > 0;
}
