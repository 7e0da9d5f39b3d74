/* Reference evaluation: values, reading, preparation. See ref.h for the idea. */
#include "graph/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ref_val *ref_of(ac_ref *r, const ac_value *v) {
  return &r->vals[v->id];
}

bool ref_fail(ac_ref *r, const ac_node *n, ac_code c, const char *fmt, ...) {
  if (r->failed) return false;
  va_list ap;
  va_start(ap, fmt);
  char *m = ac_vsprintf(r->arena, fmt, ap);
  va_end(ap);
  ac_error(r->d, c, n ? n->loc : AC_NOLOC, "%s", m);
  r->failed = true;
  return false;
}

void *ref_alloc(ac_ref *r, int64_t count, size_t size) {
  uint64_t limit = r->o.max_bytes ? r->o.max_bytes : (uint64_t)8 << 30, n = 0;
  if (count < 0 || __builtin_mul_overflow((uint64_t)count, (uint64_t)size, &n) || n > limit - r->bytes) {
    ref_fail(r, NULL, AC0390, "the float64 reference needs more than %llu MiB of intermediates",
             (unsigned long long)(limit >> 20));
    return NULL;
  }
  void *p = calloc(n ? n : 1, 1);
  if (!p) {
    ref_fail(r, NULL, AC0390, "no memory for %llu bytes of the float64 reference", (unsigned long long)n);
    return NULL;
  }
  r->bytes += n;
  ac_push(r->arena, &r->owned, p);
  return p;
}

/* ---- arguments ------------------------------------------------------------------------------------------ */

const ac_arg *ref_arg(const ac_node *n, const char *name) {
  const ac_opinfo *o = ac_op_info(n->op);
  for (int i = 0; i < o->n_params && i < n->n_args; i++)
    if (!strcmp(o->params[i].name, name)) return n->args[i].absent ? NULL : &n->args[i];
  return NULL;
}
int64_t ref_int(const ac_node *n, const char *name, int64_t absent) {
  const ac_arg *a = ref_arg(n, name);
  if (!a) return absent;
  if (a->i) return a->i->example;
  return a->kind == AC_K_BOOL ? a->b : (int64_t)a->f;
}
double ref_float(const ac_node *n, const char *name, double absent) {
  const ac_arg *a = ref_arg(n, name);
  if (!a) return absent;
  if (a->kind == AC_K_SCALAR && (a->is_int || a->is_bool)) return a->i ? (double)a->i->example : a->b ? 1 : a->f;
  if (a->kind == AC_K_INT) return (double)a->i->example;
  return a->f;
}
bool ref_bool(const ac_node *n, const char *name) {
  const ac_arg *a = ref_arg(n, name);
  return a && a->b;
}
int ref_dim(const ac_node *n, const char *name, int rank) {
  const ac_arg *a = ref_arg(n, name);
  if (!a) return -1;
  int64_t d = a->kind == AC_K_INTS ? (a->n ? a->is[0]->example : -1) : a->i->example;
  return (int)(d < 0 ? d + (rank ? rank : 1) : d);
}
void ref_ints(const ac_node *n, const char *name, int want, int64_t dflt_all, int64_t *out) {
  const ac_arg *a = ref_arg(n, name);
  for (int i = 0; i < want; i++)
    out[i] = !a || (a->kind == AC_K_INTS && a->n == 0) ? dflt_all
             : a->kind == AC_K_INTS                    ? a->is[i < a->n ? i : a->n - 1]->example
                                                       : a->i->example;
}
unsigned ref_dims(const ac_node *n, const char *name, int rank) {
  const ac_arg *a = ref_arg(n, name);
  if (!a || (a->kind == AC_K_INTS && a->n == 0)) return (1u << rank) - 1;
  if (a->kind != AC_K_INTS) {
    int d = ref_dim(n, name, rank);
    return rank && d >= 0 ? 1u << d : 0;
  }
  unsigned m = 0;
  for (int i = 0; i < a->n; i++) {
    int64_t d = a->is[i]->example;
    if (d < 0) d += rank;
    if (d >= 0 && d < rank) m |= 1u << d;
  }
  return m;
}
void ref_split(const ac_shape *s, int dim, int64_t *outer, int64_t *n, int64_t *inner) {
  *outer = *inner = 1;
  *n = s->rank ? s->dim[dim] : 1;
  for (int i = 0; i < s->rank; i++) {
    if (i < dim) *outer *= s->dim[i];
    if (i > dim) *inner *= s->dim[i];
  }
}

/* ---- walking a shape ------------------------------------------------------------------------------------- */

void ref_walk_init(ref_walk *w, const ac_shape *shape, const int64_t *strides, int64_t base, int64_t start) {
  w->rank = shape->rank;
  w->at = base;
  for (int i = shape->rank - 1; i >= 0; i--) {
    w->dim[i] = shape->dim[i];
    w->stride[i] = strides[i];
    w->pos[i] = shape->dim[i] ? start % shape->dim[i] : 0;
    start = shape->dim[i] ? start / shape->dim[i] : 0;
    w->at += w->pos[i] * strides[i];
  }
}
void ref_walk_next(ref_walk *w) {
  for (int i = w->rank - 1; i >= 0; i--) {
    w->at += w->stride[i];
    if (++w->pos[i] < w->dim[i]) return;
    w->at -= w->dim[i] * w->stride[i];
    w->pos[i] = 0;
  }
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static int input_index(const ac_node *n) {
  return (int)n->args[0].i->example;
}

static void read_leaf(ac_ref *r, const ac_value *v, int64_t start, int64_t n, ref_buf dst) {
  const ac_node *d = v->def;
  bool is_int = ref_of(r, v)->is_int;
  if (d->op == AC_G_INPUT) {
    int k = input_index(d);
    const void *p = r->o.inputs[k];
    if (r->g->inputs.data[k].role == AC_IN_SCALAR) {
      for (int64_t i = 0; i < n; i++)
        if (is_int)
          dst.i[i] = *(const int64_t *)p;
        else
          dst.f[i] = *(const double *)p;
    } else if (is_int) {
      for (int64_t i = 0; i < n; i++) dst.i[i] = ac_load_int(v->dtype, p, start + i);
    } else if (v->dtype == AC_F32) {
      for (int64_t i = 0; i < n; i++) dst.f[i] = ((const float *)p)[start + i];
    } else {
      for (int64_t i = 0; i < n; i++) dst.f[i] = ac_load(v->dtype, p, start + i);
    }
    return;
  }
  if (d->op == AC_G_TENSOR) { /* materialised in ref_prepare: never read from here */
    memset(dst.p, 0, (size_t)n * 8);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    if (is_int)
      dst.i[i] = ref_int(d, "value", 0);
    else
      dst.f[i] = ref_float(d, "value", 0);
}

void ref_read(ac_ref *r, const ac_value *v, int64_t start, int64_t n, ref_buf dst) {
  ref_val *x = ref_of(r, v);
  if (n <= 0) return;
  if (x->mat.p) {
    memcpy(dst.p, x->mat.f + start, (size_t)n * 8);
    return;
  }
  const ac_node *d = v->def;
  switch (ac_op_info(d->op)->cls) {
  case C_LEAF: read_leaf(r, v, start, n, dst); break;
  case C_ELT: ref_elt_read(r, d, start, n, dst); break;
  case C_ROW: ref_row_read(r, d, start, n, dst.f); break;
  case C_NORM: ref_norm_read(r, d, start, n, dst.f); break;
  case C_VIEW: ref_view_read(r, v, start, n, dst); break;
  case C_POOL: ref_pool_read(r, v, start, n, dst); break;
  case C_INDEX:
  case C_JOIN: ref_index_read(r, v, start, n, dst); break;
  case C_NEW: ref_new_read(r, d, start, n, dst); break;
  default: memset(dst.p, 0, (size_t)n * 8); break; /* refused in ref_prepare */
  }
}
void ref_read_f(ac_ref *r, const ac_value *v, int64_t start, int64_t n, double *dst) {
  ref_read(r, v, start, n, (ref_buf){.f = dst});
  if (ref_of(r, v)->is_int)
    for (int64_t i = 0; i < n; i++) {
      int64_t k;
      memcpy(&k, &dst[i], 8);
      dst[i] = v->dtype == AC_U64 ? (double)(uint64_t)k : (double)k;
    }
}
void ref_read_i(ac_ref *r, const ac_value *v, int64_t start, int64_t n, int64_t *dst) {
  ref_read(r, v, start, n, (ref_buf){.i = dst});
  if (!ref_of(r, v)->is_int)
    for (int64_t i = 0; i < n; i++) {
      double f;
      memcpy(&f, &dst[i], 8);
      dst[i] = isnan(f) ? 0 : f >= 0x1p63 ? INT64_MAX : f <= -0x1p63 ? INT64_MIN : (int64_t)f;
    }
}
double ref_at_f(ac_ref *r, const ac_value *v, int64_t i) {
  double x;
  ref_read_f(r, v, i, 1, &x);
  return x;
}
int64_t ref_at_i(ac_ref *r, const ac_value *v, int64_t i) {
  int64_t x;
  ref_read_i(r, v, i, 1, &x);
  return x;
}

/* ---- preparing ---------------------------------------------------------------------------------------------- */

bool ref_materialise(ac_ref *r, const ac_value *v) {
  ref_val *x = ref_of(r, v);
  if (!ref_prepare(r, v)) return false;
  if (x->mat.p) return true;
  double *p = ref_alloc(r, x->numel, 8);
  if (!p) return false;
  for (int64_t i = 0; i < x->numel; i += REF_CHUNK)
    ref_read(r, v, i, x->numel - i < REF_CHUNK ? x->numel - i : REF_CHUNK, (ref_buf){.f = p + i});
  x->mat.f = p;
  return true;
}
bool ref_random(ac_ref *r, const ac_value *v) {
  return v->def->op == AC_G_INPUT ? ref_prepare(r, v) : ref_materialise(r, v);
}

static bool literal(ac_ref *r, const ac_value *v) {
  ref_val *x = ref_of(r, v);
  const ac_arg *a = ref_arg(v->def, "data");
  if (!(x->mat.p = ref_alloc(r, x->numel, 8))) return false;
  const char *s = a ? a->s : "";
  for (int64_t i = 0; i < x->numel; i++) {
    char *end = NULL;
    if (x->is_int) {
      x->mat.i[i] = !strncmp(s + strspn(s, " "), "True", 4) || !strncmp(s + strspn(s, " "), "true", 4)
                        ? 1
                        : strtoll(s, &end, 10);
    } else {
      x->mat.f[i] = strtod(s, &end);
    }
    s += strspn(s, " ");
    s += strcspn(s, " ");
  }
  return true;
}

/* A broadcast operand of moderate size is stored, so that reading it is an index and not a recursion an element. */
static bool elt_prep(ac_ref *r, const ac_node *n) {
  int64_t big = ref_of(r, n->outs[0])->numel;
  for (int i = 0; i < n->n_args; i++) {
    const ac_value *t = n->args[i].t;
    if (n->args[i].absent || n->args[i].kind != AC_K_TENSOR || t->def->op == AC_G_INPUT) continue;
    int64_t k = ref_of(r, t)->numel;
    if (k < big && k <= (1 << 22) && ac_op_info(t->def->op)->cls != C_LEAF && !ref_materialise(r, t)) return false;
  }
  return true;
}

static bool prepare_node(ac_ref *r, const ac_node *n) {
  switch (ac_op_info(n->op)->cls) {
  case C_LEAF: return n->op != AC_G_TENSOR || literal(r, n->outs[0]);
  case C_ELT: return elt_prep(r, n);
  case C_RED: return ref_red_prep(r, n);
  case C_SCAN: return ref_scan_prep(r, n);
  case C_ROW: return ref_row_prep(r, n);
  case C_NORM: return ref_norm_prep(r, n);
  case C_POOL: return ref_pool_prep(r, n);
  case C_VIEW: return ref_view_prep(r, n);
  case C_INDEX:
  case C_JOIN: return ref_index_prep(r, n);
  case C_SORT: return ref_sort_prep(r, n);
  case C_MATMUL: return ref_matmul_prep(r, n);
  case C_NEW: return true;
  case C_COMP: break;
  }
  return ref_fail(r, n, AC0391, "the reference does not know '%s'", ac_op_info(n->op)->id);
}

/* Nodes are topological, so preparing them in order keeps the recursion of ref_prepare shallow. */
bool ref_prepare(ac_ref *r, const ac_value *v) {
  if (r->failed) return false;
  if (ref_of(r, v)->ready) return true;
  const ac_node *n = v->def;
  for (int i = 0; i < n->n_args; i++) {
    const ac_arg *a = &n->args[i];
    if (a->absent) continue;
    if (a->kind == AC_K_TENSOR && a->t && !ref_prepare(r, a->t)) return false;
    for (int k = 0; a->kind == AC_K_TENSORS && k < a->n; k++)
      if (a->ts[k] && !ref_prepare(r, a->ts[k])) return false;
  }
  if (!prepare_node(r, n)) return false;
  for (int i = 0; i < n->n_outs; i++) ref_of(r, n->outs[i])->ready = true;
  return true;
}

/* ---- interface -------------------------------------------------------------------------------------------------- */

static ac_ref *ref_start(ac_arena *a, const ac_graph *g, const ac_ref_opts *o, ac_diags *d) {
  ac_ref *r = AC_NEW(a, ac_ref);
  r->arena = a;
  r->g = g;
  r->d = d;
  r->o = *o;
  r->seed = g->seed;
  int top = 0;
  for (size_t i = 0; i < g->values.len; i++)
    if (g->values.data[i]->id >= top) top = g->values.data[i]->id + 1;
  r->vals = AC_NEW_N(a, ref_val, top);
  for (size_t i = 0; i < g->values.len; i++) {
    const ac_value *v = g->values.data[i];
    ref_val *x = &r->vals[v->id];
    x->v = v;
    x->shape = ac_value_example(v);
    x->numel = ac_shape_numel(&x->shape);
    x->is_int = ac_dtypes[v->dtype].cls != AC_FLOATING;
    int64_t s = 1;
    for (int k = x->shape.rank - 1; k >= 0; k--) {
      x->stride[k] = s;
      s *= x->shape.dim[k];
    }
  }
  return r;
}

ac_ref *ac_ref_new(ac_arena *a, const ac_graph *g, const ac_ref_opts *o, ac_diags *d) {
  ac_ref *r = ref_start(a, g, o, d);
  for (size_t i = 0; i < g->outputs.len; i++)
    if (!ref_prepare(r, g->outputs.data[i].value)) {
      ac_ref_free(r);
      return NULL;
    }
  return r;
}
bool ac_ref_read(ac_ref *r, int out, int64_t start, int64_t n, double *dst) {
  const ac_value *v = r->g->outputs.data[out].value;
  for (int64_t i = 0; i < n; i += REF_CHUNK)
    ref_read_f(r, v, start + i, n - i < REF_CHUNK ? n - i : REF_CHUNK, dst + i);
  return !r->failed;
}
bool ac_ref_read_int(ac_ref *r, int out, int64_t start, int64_t n, int64_t *dst) {
  const ac_value *v = r->g->outputs.data[out].value;
  for (int64_t i = 0; i < n; i += REF_CHUNK)
    ref_read_i(r, v, start + i, n - i < REF_CHUNK ? n - i : REF_CHUNK, dst + i);
  return !r->failed;
}
void ac_ref_free(ac_ref *r) {
  if (!r) return;
  for (size_t i = 0; i < r->owned.len; i++) free(r->owned.data[i]);
  r->owned.len = 0;
}

/* ---- input values ---- */

typedef struct {
  ac_ref *r; /* NULL: uniform [0, 1) */
  const ac_value *v;
  ac_dtype dtype;
  void *data;
  int64_t n;
  uint64_t seed;
} generation;
enum { GEN_CHUNKS = 512 }; /* of one job of a thread */

static void gen_chunk(const generation *g, int64_t at, int64_t c) {
  double f[REF_CHUNK]; /* filled by ref_read_* as far as it is used */
  // NOLINTBEGIN(clang-analyzer-core.*)
  if (g->r && ref_of(g->r, g->v)->is_int) {
    int64_t *k = (int64_t *)f;
    ref_read_i(g->r, g->v, at, c, k);
    for (int64_t j = 0; j < c; j++) ac_store_int(g->dtype, g->data, at + j, k[j]);
    return;
  }
  if (g->r)
    ref_read_f(g->r, g->v, at, c, f);
  else
    for (int64_t j = 0; j < c; j++) f[j] = ac_ref_uniform(g->seed, 0, (uint64_t)(at + j));
  if (g->dtype == AC_F32)
    for (int64_t j = 0; j < c; j++) ((float *)g->data)[at + j] = (float)f[j];
  else
    for (int64_t j = 0; j < c; j++) ac_store(g->dtype, g->data, at + j, f[j]);
  // NOLINTEND(clang-analyzer-core.*)
}
static void gen_part(void *user, int64_t part) {
  const generation *g = user;
  int64_t end = (part + 1) * GEN_CHUNKS * REF_CHUNK;
  if (end > g->n) end = g->n;
  for (int64_t i = part * GEN_CHUNKS * REF_CHUNK; i < end; i += REF_CHUNK)
    gen_chunk(g, i, end - i < REF_CHUNK ? end - i : REF_CHUNK);
}

bool ac_gen_input(const ac_graph *g, int index, uint64_t seed, void *data, ac_diags *d) {
  const ac_input *in = &g->inputs.data[index];
  ac_shape shape = ac_value_example(in->value);
  generation x = {.dtype = in->value->dtype, .data = data, .n = ac_shape_numel(&shape)};
  x.seed = seed + (uint64_t)index;
  ac_arena *a = ac_arena_new();
  bool ok = true;
  if (in->gen) {
    x.v = in->gen;
    x.r = ref_start(a, g->gen, &(ac_ref_opts){0}, d);
    x.r->seed = seed;
    ok = ref_prepare(x.r, in->gen);
    if (ok && ref_of(x.r, in->gen)->numel != x.n)
      ok = ref_fail(x.r, in->gen->def, AC0392, "the generator of input '%s' makes %lld elements, its shape has %lld",
                    in->name, (long long)ref_of(x.r, in->gen)->numel, (long long)x.n);
  }
  /* reading is pure once all is prepared, and every element is a function of its index */
  int64_t part = (int64_t)GEN_CHUNKS * REF_CHUNK;
  if (ok) ac_parallel(0, (x.n + part - 1) / part, gen_part, &x);
  ac_ref_free(x.r);
  ac_arena_free(a);
  return ok;
}
