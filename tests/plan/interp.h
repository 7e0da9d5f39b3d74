/* A plain interpreter of checked DSL programs, for tests of what schedules compute: one core after the other, float32 rounding after every
 * instruction, libm for functions. It knows no queues, no alignment and no time: those are the simulator's. Every element of an output must
 * be written exactly once; every read must lie inside its tensor or its buffer. */
#ifndef PLAN_TEST_INTERP_H
#define PLAN_TEST_INTERP_H

#include "graphs.h"

#include <math.h>

typedef struct {
  const char *name;
  ac_dtype dtype;
  ac_shape shape;
  int64_t n;
  double *data;
  int *written; /* outputs; NULL: input */
} gm_tensor;

typedef enum { IV_INT, IV_FLOAT, IV_GM, IV_SHAPE } iv_kind;
typedef struct {
  iv_kind kind;
  int64_t i;
  double f;
  gm_tensor *gm;
  ac_shape shape;
} iv;

typedef struct {
  const ac_cbuffer *b;
  int64_t cap;
  double *data;
} ub;

typedef struct {
  ac_arena *a;
  const ac_cmodule *m;
  int cores;
  const char *names[256];
  iv vals[256];
  int n_names;
  ub bufs[64];
  int n_bufs;
  int64_t pid;
  bool refused;
  const ac_cfunc *fn;
} interp;

static inline iv iv_int(int64_t i) {
  return (iv){.kind = IV_INT, .i = i, .f = (double)i};
}
static inline iv iv_float(double f) {
  return (iv){.kind = IV_FLOAT, .f = (float)f};
}

static inline double in_dtype(ac_dtype d, double x) {
  switch (d) {
  case AC_F32: return (float)x;
  case AC_F16: return ac_f16_to_f32(ac_f64_to_f16(x, AC_RN_RINT));
  case AC_BF16: return ac_bf16_to_f32(ac_f64_to_bf16(x, AC_RN_RINT));
  case AC_I32: return (int32_t)(int64_t)x;
  case AC_I16: return (int16_t)(int64_t)x;
  default: return x;
  }
}

static inline iv ieval(interp *p, const ac_cexpr *e);

static inline int64_t ffloordiv(int64_t a, int64_t b) {
  assert_true(b != 0);
  int64_t q = a / b;
  return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static inline iv ibin(ac_cop op, iv x, iv y) {
  bool ints = x.kind == IV_INT && y.kind == IV_INT;
  int64_t a = x.i, b = y.i;
  double f = x.f, g = y.f;
  switch (op) {
  case AC_OP_ADD: return ints ? iv_int(a + b) : iv_float(f + g);
  case AC_OP_SUB: return ints ? iv_int(a - b) : iv_float(f - g);
  case AC_OP_MUL: return ints ? iv_int(a * b) : iv_float(f * g);
  case AC_OP_DIV: return iv_float(f / g);
  case AC_OP_FLOORDIV: return iv_int(ffloordiv(a, b));
  case AC_OP_MOD: return iv_int(a - ffloordiv(a, b) * b);
  case AC_OP_AND: return iv_int(a && b);
  case AC_OP_OR: return iv_int(a || b);
  case AC_OP_EQ: return iv_int(f == g);
  case AC_OP_NE: return iv_int(f != g);
  case AC_OP_LT: return iv_int(f < g);
  case AC_OP_LE: return iv_int(f <= g);
  case AC_OP_GT: return iv_int(f > g);
  case AC_OP_GE: return iv_int(f >= g);
  default: fail_msg("operator %d", op); return x;
  }
}

static inline iv *lookup(interp *p, const char *n) {
  for (int i = p->n_names - 1; i >= 0; i--)
    if (!strcmp(p->names[i], n)) return &p->vals[i];
  return NULL;
}
static inline void set(interp *p, const char *n, iv v) {
  iv *old = lookup(p, n);
  if (old) {
    *old = v;
    return;
  }
  assert_true(p->n_names < 256);
  p->names[p->n_names] = n;
  p->vals[p->n_names++] = v;
}

static inline ub *ub_of(interp *p, const ac_cexpr *e) {
  for (int i = 0; i < p->n_bufs; i++)
    if (p->bufs[i].b == e->buffer) return &p->bufs[i];
  fail_msg("no buffer");
  return NULL;
}

static inline iv ishape(interp *p, const ac_cexpr *e) { /* x.shape[i] or x.shape[a:b] */
  iv s = ieval(p, e->a);
  const ac_cexpr *x = e->args[0];
  if (x->kind == AC_CE_SLICE) {
    int64_t r = s.shape.rank, from = x->a ? ieval(p, x->a).i : 0, to = x->b ? ieval(p, x->b).i : r;
    if (from < 0) from = from + r < 0 ? 0 : from + r;
    if (to < 0) to = to + r < 0 ? 0 : to + r;
    if (to > r) to = r;
    iv v = {.kind = IV_SHAPE};
    for (int64_t i = from; i < to; i++) v.shape.dim[v.shape.rank++] = s.shape.dim[i];
    return v;
  }
  int64_t i = ieval(p, x).i;
  if (i < 0) i += s.shape.rank;
  if (i < 0 || i >= s.shape.rank) {
    p->refused = true;
    return iv_int(1);
  }
  return iv_int(s.shape.dim[i]);
}

static inline iv icall(interp *p, const ac_cexpr *e) {
  if (e->a->kind == AC_CE_ATTR && !strcmp(e->a->s, "numel")) return iv_int(ieval(p, e->a->a).gm->n);
  switch ((int)e->prim) {
  case AC_P_PROGRAM_ID: return iv_int(p->pid);
  case AC_P_NUM_CORES: return iv_int(p->cores);
  case AC_P_CDIV: return iv_int(-ffloordiv(-ieval(p, e->args[0]).i, ieval(p, e->args[1]).i));
  case AC_P_ALIGN_UP: {
    int64_t to = ieval(p, e->args[1]).i;
    return iv_int(-ffloordiv(-ieval(p, e->args[0]).i, to) * to);
  }
  case AC_P_MIN:
  case AC_P_MAX: {
    iv x = ieval(p, e->args[0]), y = ieval(p, e->args[1]);
    return (e->prim == AC_P_MIN) == (x.f < y.f) ? x : y;
  }
  case AC_P_PROD: {
    iv s = ieval(p, e->args[0]);
    return iv_int(ac_shape_numel(&s.shape));
  }
  case AC_P_EXTRACT_SCALAR: {
    const ac_cexpr *s = e->args[0];
    int64_t i = ieval(p, e->args[1]).i;
    if (s->type == AC_CT_BUFFER) return iv_float(ub_of(p, s)->data[i]);
    gm_tensor *g = ieval(p, s).gm;
    assert_in_range(i, 0, g->n - 1);
    return ac_dtypes[g->dtype].cls == AC_FLOATING ? iv_float(g->data[i]) : iv_int((int64_t)g->data[i]);
  }
  default: fail_msg("call of %s", ac_cexpr_text(p->a, e)); return iv_int(0);
  }
}

static inline iv ieval(interp *p, const ac_cexpr *e) {
  switch (e->kind) {
  case AC_CE_INT:
  case AC_CE_BOOL: return iv_int(e->i);
  case AC_CE_FLOAT: return iv_float(e->f);
  case AC_CE_NAME: {
    iv *v = lookup(p, e->s);
    if (!v) fail_msg("no name %s", e->s);
    return v ? *v : iv_int(0);
  }
  case AC_CE_ATTR: {
    gm_tensor *g = ieval(p, e->a).gm;
    if (!strcmp(e->s, "ndim")) return iv_int(g->shape.rank);
    return (iv){.kind = IV_SHAPE, .shape = g->shape};
  }
  case AC_CE_INDEX: return ishape(p, e);
  case AC_CE_CALL: return icall(p, e);
  case AC_CE_UNARY: {
    iv x = ieval(p, e->a);
    return x.kind == IV_INT ? iv_int(-x.i) : iv_float(-x.f);
  }
  case AC_CE_BINARY: return ibin(e->op, ieval(p, e->a), ieval(p, e->b));
  default: fail_msg("expression %s", ac_cexpr_text(p->a, e)); return iv_int(0);
  }
}

/* ---- primitives ---- */

static inline void icopy(interp *p, const ac_cexpr *e, bool load) {
  const ac_ctile *t = e->args[0]->tile;
  ub *u = ub_of(p, e->args[1]);
  gm_tensor *g = lookup(p, p->fn->params[t->param].name)->gm;
  assert_true(t->rank == 1);
  int64_t base = ieval(p, t->base).i, n = ieval(p, t->axis[0].extent).i, st = ieval(p, t->axis[0].stride).i;
  assert_true(n >= 0 && n <= u->cap);
  for (int64_t k = 0; k < n; k++) {
    int64_t at_ = base + k * st;
    assert_in_range(at_, 0, g->n - 1);
    if (load)
      u->data[k] = g->data[at_];
    else {
      assert_non_null(g->written);
      g->data[at_] = u->data[k];
      g->written[at_]++;
    }
  }
}

static inline double rounded(ac_round r, double x) {
  return r == AC_RN_FLOOR   ? floor(x)
         : r == AC_RN_CEIL  ? ceil(x)
         : r == AC_RN_TRUNC ? trunc(x)
         : r == AC_RN_RINT  ? nearbyint(x)
                            : x;
}
static inline bool holds(const char *mode, double a, double b) {
  return !strcmp(mode, "lt")   ? a < b
         : !strcmp(mode, "le") ? a <= b
         : !strcmp(mode, "gt") ? a > b
         : !strcmp(mode, "ge") ? a >= b
                               : a == b;
}
static inline double nmax(double a, double b) {
  return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}
static inline double nmin(double a, double b) {
  return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}

static inline double one_inst(ac_inst i, double a, double b) {
  switch ((int)i) {
  case AC_I_EXP: return exp(a);
  case AC_I_LN: return log(a);
  case AC_I_ABS: return fabs(a);
  case AC_I_SQRT: return sqrt(a);
  case AC_I_RELU: return nmax(a, 0);
  case AC_I_ADD:
  case AC_I_ADDS: return a + b;
  case AC_I_SUB: return a - b;
  case AC_I_MUL:
  case AC_I_MULS: return a * b;
  case AC_I_DIV: return a / b;
  case AC_I_MAX:
  case AC_I_MAXS: return nmax(a, b);
  case AC_I_MIN:
  case AC_I_MINS: return nmin(a, b);
  case AC_I_LRELU: return a >= 0 ? a : a * b;
  case AC_I_COPY: return a;
  default: fail_msg("instruction %s", ac_insts[i].dsl); return 0;
  }
}
static inline double composed(ac_cprim q, double a, double b) {
  switch ((int)q) {
  case AC_P_VSUB_SCALAR: return a - b;
  case AC_P_VDIV_SCALAR: return a / b;
  case AC_P_VEXPM1: return expm1(a);
  case AC_P_VLOG1P: return log1p(a);
  case AC_P_VTANH: return tanh(a);
  case AC_P_VERF: return erf(a);
  case AC_P_VSIGMOID: return (float)1 / (float)(1 + (float)exp(-a));
  case AC_P_VSIN: return sin(a);
  case AC_P_VCOS: return cos(a);
  case AC_P_VASIN: return asin(a);
  case AC_P_VACOS: return acos(a);
  case AC_P_VATAN: return atan(a);
  default: fail_msg("primitive %d", (int)q); return 0;
  }
}

typedef struct {
  ub *buf;
  double scalar;
} src;
static inline src operand(interp *p, const ac_cexpr *e) {
  if (e->type == AC_CT_BUFFER) return (src){.buf = ub_of(p, e)};
  return (src){.scalar = ieval(p, e).f};
}
static inline double item(const src *s, int64_t k) {
  return s->buf ? s->buf->data[k] : s->scalar;
}

static inline void ireduce(interp *p, const ac_cexpr *e, int64_t n) {
  ub *d = ub_of(p, e->args[0]), *s = ub_of(p, e->args[1]), *work = ub_of(p, e->args[2]);
  assert_true(work != s && n <= s->cap);
  double r = e->inst == AC_I_RSUM ? 0 : e->inst == AC_I_RMAX ? -INFINITY : INFINITY;
  for (int64_t k = 0; k < n; k++) {
    double x = s->data[k];
    r = e->inst == AC_I_RSUM ? r + x : e->inst == AC_I_RMAX ? nmax(r, x) : nmin(r, x);
  }
  for (int64_t k = 0; k < work->cap; k++) work->data[k] = -12345; /* it holds nothing now */
  d->data[0] = (float)r;
}

static inline void iprim(interp *p, const ac_cexpr *e) {
  if (e->prim == AC_P_LOAD || e->prim == AC_P_STORE) {
    icopy(p, e, e->prim == AC_P_LOAD);
    return;
  }
  bool inst = e->prim == AC_P_INST;
  ac_form f = inst ? ac_insts[e->inst].form : AC_FORM_UNARY;
  int64_t n = ieval(p, e->args[e->n_args - 1]).i;
  if (f == AC_FORM_REDUCE) {
    ireduce(p, e, n);
    return;
  }
  ub *d = ub_of(p, e->args[0]);
  assert_true(n >= 0 && n <= d->cap);
  src s[3] = {{0}};
  const char *mode = "";
  int m = 0;
  for (int i = 1; i < e->n_args - 1; i++)
    if (e->args[i] && e->args[i]->kind == AC_CE_STR)
      mode = e->args[i]->s;
    else if (e->args[i])
      s[m++] = operand(p, e->args[i]);
  for (int64_t k = 0; k < n; k++) {
    double a = item(&s[0], k), b = item(&s[1], k), c3 = item(&s[2], k), r;
    if (!inst)
      r = composed(e->prim, a, b);
    else if (f == AC_FORM_FILL)
      r = a;
    else if (f == AC_FORM_CAST)
      r = ac_dtypes[d->b->dtype].cls == AC_FLOATING && e->round != AC_RN_NONE && s[0].buf->b->dtype == d->b->dtype
              ? rounded(e->round, a)
          : ac_dtypes[d->b->dtype].cls != AC_FLOATING ? (isnan(a) ? 0 : rounded(e->round, a))
                                                      : a;
    else if (f == AC_FORM_COMPARE || f == AC_FORM_COMPARE_S)
      r = holds(mode, a, b);
    else if (f == AC_FORM_SELECT || f == AC_FORM_SELECT_S)
      r = a != 0 ? b : c3;
    else
      r = one_inst(e->inst, a, b);
    d->data[k] = f == AC_FORM_COMPARE || f == AC_FORM_COMPARE_S ? r : in_dtype(d->b->dtype, r);
  }
}

/* ---- statements ---- */

static inline bool has_arange(const ac_cexpr *e) { /* offsets; loads and stores have their own copy of them */
  if (!e) return false;
  if (e->kind == AC_CE_CALL && e->prim == AC_P_ARANGE) return true;
  return has_arange(e->a) || has_arange(e->b);
}

static inline void irun(interp *p, const ac_cstmt *s);

static inline void ilaunch(interp *p, const ac_cstmt *s) {
  const ac_cfunc *k = ac_craft_launch_kernel(p->m, s);
  int64_t n = ieval(p, ac_craft_launch_cores(s)).i;
  assert_in_range(n, 1, p->cores);
  for (int64_t pid = 0; pid < n; pid++) {
    interp *q = calloc(1, sizeof *q);
    *q = (interp){.a = p->a, .m = p->m, .cores = p->cores, .pid = pid, .fn = k};
    for (int i = 0; i < k->n_params; i++) set(q, k->params[i].name, ieval(p, s->value->args[i]));
    irun(q, k->body);
    for (int i = 0; i < q->n_bufs; i++) free(q->bufs[i].data);
    free(q);
  }
}

static inline void irun(interp *p, const ac_cstmt *s) {
  for (; s && !p->refused; s = s->next) {
    switch (s->kind) {
    case AC_CS_ASSIGN:
      if (s->value->prim == AC_P_ALLOC_UB && s->value->type == AC_CT_BUFFER) {
        ub u = {.b = s->value->buffer, .cap = ieval(p, s->value->args[0]).i};
        bool bits = u.b->dtype == AC_U8;
        u.data = malloc(sizeof(double) * ((size_t)u.cap * (bits ? 8 : 1) + 1));
        if (bits) u.cap *= 8; /* a mask has a lane a bit */
        for (int64_t k = 0; k < u.cap; k++) u.data[k] = -98765;
        p->bufs[p->n_bufs++] = u;
      } else if (s->value->type != AC_CT_TILE && s->target->type != AC_CT_TILE && s->value->kind != AC_CE_TUPLE) {
        if (!has_arange(s->value)) set(p, s->target->s, ieval(p, s->value));
      }
      break;
    case AC_CS_EXPR:
      if (s->value->a->kind == AC_CE_INDEX)
        ilaunch(p, s);
      else if (s->value->prim == AC_P_REFUSE)
        p->refused = true;
      else
        iprim(p, s->value);
      break;
    case AC_CS_IF: irun(p, ieval(p, s->value).i ? s->body : s->orelse); break;
    case AC_CS_FOR: {
      int64_t hi = ieval(p, s->hi).i, st = ieval(p, s->step).i;
      for (int64_t i = ieval(p, s->lo).i; i < hi; i += st) {
        set(p, s->target->s, iv_int(i));
        irun(p, s->body);
      }
      break;
    }
    case AC_CS_WITH: irun(p, s->body); break;
    default: fail_msg("statement %d", s->kind);
    }
  }
}

/* Runs the host function on tensors in the order of its parameters; float parameters come from `scalars`. */
static inline bool interpret(ac_arena *a, const ac_cmodule *m, int cores, gm_tensor *t, int n, const double *scalars,
                             int n_scalars) {
  interp *p = calloc(1, sizeof *p);
  *p = (interp){.a = a, .m = m, .cores = cores, .fn = ac_craft_host(m)};
  assert_int_equal(p->fn->n_params, n + n_scalars);
  for (int i = 0; i < n; i++) set(p, p->fn->params[i].name, (iv){.kind = IV_GM, .gm = &t[i]});
  for (int i = 0; i < n_scalars; i++)
    set(p, p->fn->params[n + i].name,
        p->fn->params[n + i].type == AC_CT_INT ? iv_int((int64_t)scalars[i]) : iv_float(scalars[i]));
  irun(p, p->fn->body);
  bool ok = !p->refused;
  free(p);
  return ok;
}

#endif
