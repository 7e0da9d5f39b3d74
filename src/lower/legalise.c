/* Pass "legalise": composed primitives become instructions; reductions get a work tensor of their own where the program's cannot
 * serve; a UB-to-UB copy of any count becomes an exact vector instruction.
 *
 * Formulas (float32; S source, D destination, T0..T3 scratch). NaN and inf come out right provided that Max and Min pass a NaN on,
 * as the simulator assumes too.
 *
 *   sigmoid  1 / (1 + exp(-S))
 *   tanh     odd rational of degree 13/6, clamped to +-7.905 and the result to +-1; coefficients: Eigen,
 *            MathFunctionsImpl.h, generic_fast_tanh_float. At most 7 ulp.
 *   erf      odd rational of degree 13/8 on [-4, 4]; coefficients: Eigen, SpecialFunctionsImpl.h (also XLA, math.cc). At most
 *            7 ulp.
 *   expm1    tanh(S/2) * (exp(S) + 1), an identity without cancellation near 0. At most 8 ulp plus Exp's own.
 *   log1p    ln(u) + (S - (u - 1)) / u with u = 1 + S: the second term is what 1 + S lost. 2 ulp plus Ln's own.
 *   sin, cos S - k pi with pi in four parts (8, 11, 11 and 24 bits, after Cody and Waite), then an odd polynomial of degree 11
 *            (least squares on Chebyshev nodes); 3 ulp of max(|result|, 1e-3) while |S| <= 10000, worse beyond.
 *
 * Work is done in pieces of SCRATCH lanes, so that scratch does not grow with the tile. */
#include "lower/internal.h"

#include <string.h>

enum { SCRATCH = AC_SCRATCH_LANES, REGS = 4 };
typedef enum { T0, T1, T2, T3, D, S } reg;

typedef struct {
  ac_lower_ctx *c;
  ac_akernel *k;
  ac_atensor *scratch[REGS]; /* of the kernel; NULL until needed */
  ac_atensor *work;          /* of reductions */
  bool used[REGS + 1];       /* in the method at work */
  ac_ablock *out;
  const ac_astmt *at;  /* the primitive at work */
  ac_aexpr *first, *n; /* the piece: first lane (NULL: 0) and lanes */
  bool ok;
} legal;

/* ---- scratch ---- */

static ac_atensor *tensor(legal *l, const char *name, ac_aexpr *elements, ac_dtype d) {
  ac_abuffer b = {.name = ac_sprintf(l->c->a, "%sBuf", name),
                  .buffer = name,
                  .mem = AC_MEM_VECCALC,
                  .dtype = d,
                  .depth = 1,
                  .elements = elements,
                  .round_to = 32,
                  .loc = l->k->loc};
  ac_push(l->c->a, &l->k->buffers, b);
  ac_atensor *t = AC_NEW(l->c->a, ac_atensor);
  t->name = name;
  t->buffer = (int)l->k->buffers.len - 1;
  ac_push(l->c->a, &l->k->handles, t);
  return t;
}

static void grow(legal *l, ac_atensor *t, ac_aexpr *elements) {
  ac_abuffer *b = &l->k->buffers.data[t->buffer];
  if (ac_ae_equal(b->elements, elements)) return;
  int64_t x, y;
  if (ac_ae_const(b->elements, &x) && x >= SCRATCH) return;
  if (ac_ae_const(elements, &y) && y >= SCRATCH)
    b->elements = elements;
  else
    b->elements = ac_ae_bin(l->c->a, AC_AE_MAX, b->elements, elements);
}

static ac_aexpr *capacity(legal *l, const ac_atensor *t) {
  return l->k->buffers.data[t->buffer].elements;
}

static ac_atensor *scratch(legal *l, int i) {
  ac_aexpr *n = ac_ae_bin(l->c->a, AC_AE_MIN, capacity(l, l->at->ops[0].tensor), ac_ae_int(l->c->a, SCRATCH));
  if (!l->scratch[i])
    l->scratch[i] = tensor(l, ac_sprintf(l->c->a, "acScratch%d", i), n, AC_F32);
  else
    grow(l, l->scratch[i], n);
  l->used[i] = true;
  return l->scratch[i];
}

/* ---- a small assembler ---- */

static ac_aoperand operand(legal *l, reg r) {
  ac_aoperand o = {.view = AC_NODTYPE};
  if (r < D) {
    o.tensor = scratch(l, (int)r);
    return o;
  }
  o = l->at->ops[r == D ? 0 : 1];
  if (l->first) o.offset = o.offset ? ac_ae_bin(l->c->a, AC_AE_ADD, o.offset, l->first) : l->first;
  return o;
}
static ac_astmt *emit(legal *l, ac_inst i) {
  ac_astmt *s = ac_as_new(l->c->a, AC_AS_INST, l->at->loc);
  s->inst = i;
  s->count = l->n;
  ac_push(l->c->a, l->out, s);
  return s;
}
static void op1(legal *l, ac_inst i, reg d, reg a) {
  ac_astmt *s = emit(l, i);
  s->ops[0] = operand(l, d);
  s->ops[1] = operand(l, a);
  s->n_ops = 2;
}
static void op2(legal *l, ac_inst i, reg d, reg a, reg b) {
  ac_astmt *s = emit(l, i);
  s->ops[0] = operand(l, d);
  s->ops[1] = operand(l, a);
  s->ops[2] = operand(l, b);
  s->n_ops = 3;
}
static void ops(legal *l, ac_inst i, reg d, reg a, double v) {
  ac_astmt *s = emit(l, i);
  s->ops[0] = operand(l, d);
  s->ops[1] = operand(l, a);
  s->ops[2].scalar = ac_ae_float(l->c->a, (double)(float)v);
  s->n_ops = 3;
}
static void fill(legal *l, reg d, ac_aexpr *v) {
  ac_astmt *s = emit(l, AC_I_DUP);
  s->ops[0] = operand(l, d);
  s->ops[1].scalar = v;
  s->n_ops = 2;
}
static void round_to(legal *l, reg d, reg a, ac_round r) {
  op1(l, AC_I_CAST, d, a);
  l->out->data[l->out->len - 1]->round = r;
}
/* d = polynomial in z, highest coefficient first. */
static void horner(legal *l, reg d, reg z, const double *c, int n) {
  ops(l, AC_I_MULS, d, z, c[0]);
  for (int i = 1; i < n - 1; i++) {
    ops(l, AC_I_ADDS, d, d, c[i]);
    op2(l, AC_I_MUL, d, d, z);
  }
  ops(l, AC_I_ADDS, d, d, c[n - 1]);
}

/* ---- formulas ---- */

static void sigmoid(legal *l) {
  ops(l, AC_I_MULS, T0, S, -1);
  op1(l, AC_I_EXP, T0, T0);
  ops(l, AC_I_ADDS, T0, T0, 1);
  fill(l, T1, ac_ae_float(l->c->a, 1));
  op2(l, AC_I_DIV, D, T1, T0);
}

/* d = x * p(x^2) / q(x^2), x in T0; T1 and T2 are overwritten. Dividing before the last product keeps tiny x out of underflow. */
static void odd_rational(legal *l, reg d, const double *p, int np, const double *q, int nq) {
  op2(l, AC_I_MUL, T1, T0, T0);
  horner(l, T2, T1, p, np);
  horner(l, d, T1, q, nq);
  op2(l, AC_I_DIV, d, T2, d);
  op2(l, AC_I_MUL, d, d, T0);
  ops(l, AC_I_MINS, d, d, 1);
  ops(l, AC_I_MAXS, d, d, -1);
}

static void tanh_of_t0(legal *l, reg d) {
  /* 1.5 * 2^-23 too large, all of them: at the clamp and beyond the result must be 1 even where Div is a unit too low */
  static const double p[] = {-2.76076897108742e-16, 2.00018826248624e-13, -8.60467306077252e-11, 5.12229800630924e-08,
                             1.48572262284765e-05,  6.37262042826749e-04, 4.89352543394824e-03};
  static const double q[] = {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03};
  ops(l, AC_I_MINS, T0, T0, 7.90531110763549805);
  ops(l, AC_I_MAXS, T0, T0, -7.90531110763549805);
  odd_rational(l, d, p, AC_COUNT(p), q, AC_COUNT(q));
}
static void tanh_(legal *l) {
  ops(l, AC_I_MULS, T0, S, 1);
  tanh_of_t0(l, D);
}
static void expm1_(legal *l) {
  op1(l, AC_I_EXP, T3, S);
  ops(l, AC_I_ADDS, T3, T3, 1);
  ops(l, AC_I_MULS, T0, S, 0.5);
  tanh_of_t0(l, D);
  op2(l, AC_I_MUL, D, D, T3);
}
static void erf_(legal *l) {
  /* 2^-23 too large, all of them: at 4 and beyond the result must be 1 even where Div is a unit too low, or gelu(-inf) is not NaN */
  static const double p[] = {-2.72614258299577e-10, 2.77068175525229e-08,  -2.10102427128821e-06,
                             -5.69250707321794e-05, -7.34990717944574e-04, -2.95460016075568e-03,
                             -1.60960352450321e-02};
  static const double q[] = {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                             -7.37332916720468e-03, -1.42647390514189e-02};
  ops(l, AC_I_MINS, T0, S, 4);
  ops(l, AC_I_MAXS, T0, T0, -4);
  odd_rational(l, D, p, AC_COUNT(p), q, AC_COUNT(q));
}
static void log1p_(legal *l) {
  ops(l, AC_I_MINS, T0, S, 16777216); /* beyond 2^24 nothing is lost, and inf - inf is avoided */
  ops(l, AC_I_ADDS, T1, T0, 1);       /* u */
  ops(l, AC_I_ADDS, T2, T1, -1);
  op2(l, AC_I_SUB, T0, T0, T2);     /* what 1 + S lost, exactly */
  ops(l, AC_I_MAXS, T1, T1, 1e-30); /* S = -1: 0 / 0 is avoided */
  op2(l, AC_I_DIV, T0, T0, T1);
  ops(l, AC_I_ADDS, T1, S, 1);
  op1(l, AC_I_LN, T1, T1);
  op2(l, AC_I_ADD, D, T1, T0);
}
static void sine(legal *l, bool cosine) {
  static const double pi[] = {3.140625, 0.0009675025939941406, 1.5099067240953445e-07, 5.126688136514179e-12};
  static const double c[] = {-2.387443664986222e-08, 2.7524549750523875e-06, -0.00019840851018670946,
                             0.008333330973982811, -0.1666666716337204};
  ops(l, AC_I_MULS, T0, S, 0.31830988618379067);
  if (cosine) ops(l, AC_I_ADDS, T0, T0, 0.5);
  round_to(l, T0, T0, AC_RN_RINT); /* k */
  if (cosine) ops(l, AC_I_ADDS, T3, T0, -0.5);
  for (int i = 0; i < 4; i++) { /* T1 = S - k pi */
    ops(l, AC_I_MULS, T2, cosine ? T3 : T0, pi[i]);
    op2(l, AC_I_SUB, T1, i ? T1 : S, T2);
  }
  ops(l, AC_I_MULS, T2, T0, 0.5); /* (-1)^k = 1 - 2 (k - 2 floor(k / 2)) */
  round_to(l, T2, T2, AC_RN_FLOOR);
  ops(l, AC_I_MULS, T2, T2, 2);
  op2(l, AC_I_SUB, T0, T0, T2);
  ops(l, AC_I_MULS, T0, T0, -2);
  ops(l, AC_I_ADDS, T0, T0, 1);
  op2(l, AC_I_MUL, T2, T1, T1);
  horner(l, T3, T2, c, AC_COUNT(c));
  op2(l, AC_I_MUL, T3, T3, T2);
  op2(l, AC_I_MUL, T3, T3, T1);
  op2(l, AC_I_ADD, T3, T3, T1);
  op2(l, AC_I_MUL, D, T3, T0);
}
static void sin_(legal *l) {
  sine(l, false);
}
static void cos_(legal *l) {
  sine(l, true);
}

static void div_scalar(legal *l) {
  fill(l, T0, l->at->ops[2].scalar);
  op2(l, AC_I_DIV, D, S, T0);
}

/* ---- one instruction each ---- */

static ac_aexpr *minus(ac_arena *a, ac_aexpr *x) {
  if (x->kind == AC_AE_INT && x->i != INT64_MIN) return ac_ae_int(a, -x->i);
  if (x->kind == AC_AE_FLOAT) return ac_ae_float(a, -x->f);
  return ac_ae(a, AC_AE_NEG, x->type, x, NULL);
}

static bool floating(legal *l, const ac_atensor *t) {
  return ac_dtypes[l->k->buffers.data[t->buffer].dtype].cls == AC_FLOATING;
}

static ac_astmt *same(legal *l, const ac_astmt *s, ac_inst i, ac_aexpr *scalar) {
  ac_astmt *n = ac_as_new(l->c->a, AC_AS_INST, s->loc);
  n->trailing = s->trailing;
  n->inst = i;
  n->ops[0] = s->ops[0];
  n->ops[1] = s->ops[1];
  n->ops[2].scalar = scalar;
  n->n_ops = 3;
  n->count = s->count;
  return n;
}

/* ---- pieces ---- */

static const struct {
  ac_cprim prim;
  const char *name;
  void (*make)(legal *l);
} composed[] = {{AC_P_VSIGMOID, "vsigmoid", sigmoid},
                {AC_P_VTANH, "vtanh", tanh_},
                {AC_P_VEXPM1, "vexpm1", expm1_},
                {AC_P_VLOG1P, "vlog1p", log1p_},
                {AC_P_VERF, "verf", erf_},
                {AC_P_VSIN, "vsin", sin_},
                {AC_P_VCOS, "vcos", cos_},
                {AC_P_VDIV_SCALAR, "vdiv_scalar", div_scalar}};

static void expand(legal *l, ac_astmt *s, const char *name, void (*make)(legal *), ac_ablock *out) {
  ac_arena *a = l->c->a;
  l->at = s;
  int64_t cap;
  ac_push(a, out, ac_as_comment(a, ac_sprintf(a, "%s", name), s->loc));
  if (ac_ae_const(capacity(l, s->ops[0].tensor), &cap) && cap <= SCRATCH) {
    l->out = out;
    l->first = NULL;
    l->n = s->count;
    make(l);
    return;
  }
  ac_astmt *loop = ac_as_new(a, AC_AS_FOR, s->loc);
  loop->var = (ac_avar){.name = "acLane", .type = AC_AT_INT};
  loop->lo = ac_ae_int(a, 0);
  loop->hi = s->count;
  loop->step = ac_ae_int(a, SCRATCH);
  l->first = ac_ae_var(a, "acLane", AC_AT_INT);
  ac_astmt *n = ac_as_new(a, AC_AS_DECL, s->loc);
  n->var = (ac_avar){.name = "acCount", .type = AC_AT_INT};
  n->value = ac_ae_bin(a, AC_AE_MIN, ac_ae_int(a, SCRATCH), ac_ae_bin(a, AC_AE_SUB, s->count, l->first));
  ac_push(a, &loop->body, n);
  l->n = ac_ae_var(a, "acCount", AC_AT_INT);
  l->out = &loop->body;
  make(l);
  ac_push(a, out, loop);
}

static void primitive(legal *l, ac_astmt *s, ac_ablock *out) {
  ac_arena *a = l->c->a;
  ac_dtype d = l->k->buffers.data[s->ops[0].tensor->buffer].dtype;
  bool fl = floating(l, s->ops[0].tensor);
  if (s->prim == AC_P_VSUB_SCALAR) {
    ac_push(a, out, same(l, s, AC_I_ADDS, minus(a, s->ops[2].scalar)));
    return;
  }
  if (s->prim == AC_P_VNEG) {
    ac_push(a, out, same(l, s, AC_I_MULS, fl ? ac_ae_float(a, -1) : ac_ae_int(a, -1)));
    return;
  }
  if (d == AC_F32)
    for (size_t i = 0; i < AC_COUNT(composed); i++)
      if ((int)composed[i].prim == s->prim) {
        expand(l, s, composed[i].name, composed[i].make, out);
        return;
      }
  const char *name = "this primitive";
  for (size_t i = 0; i < AC_COUNT(composed); i++)
    if ((int)composed[i].prim == s->prim) name = composed[i].name;
  ac_diag *x = ac_error(l->c->d, AC0603, s->loc, "tl.%s is computed in float32, and '%s' is %s", name,
                        s->ops[0].tensor->name, ac_dtypes[d].name);
  ac_help(l->c->d, x, "cast to float32 before it and back after it (tl.cast)");
  l->ok = false;
}

/* ---- reductions and copies ---- */

static bool same_tensor(const ac_aoperand *x, const ac_aoperand *y) {
  return x->tensor == y->tensor;
}

/* The work tensor may not be the source (it would be overwritten while it is read) nor too small. */
static void reduction(legal *l, ac_astmt *s) {
  ac_arena *a = l->c->a;
  const ac_abuffer *src = &l->k->buffers.data[s->ops[1].tensor->buffer];
  ac_aoperand *w = &s->ops[2];
  int bytes = ac_dtypes[src->dtype].bytes;
  if (s->n_ops == 3 && w->tensor && !same_tensor(w, &s->ops[1]) && !same_tensor(w, &s->ops[0]) && !w->offset &&
      ac_ae_equal(l->k->buffers.data[w->tensor->buffer].elements, src->elements))
    return;
  /* Rule of the count form for a maximum or minimum without index: one result a repeat, in 32-byte blocks. The exact size comes
   * from isa for a constant; a run-time size takes the same rule as an expression. */
  int64_t cap;
  ac_aexpr *n;
  if (ac_ae_const(src->elements, &cap))
    n = ac_ae_int(a, (ac_reduce_work_bytes(s->inst, src->dtype, cap) + bytes - 1) / bytes);
  else {
    ac_aexpr *repeats = ac_ae_bin(a, AC_AE_CDIV, src->elements, ac_ae_int(a, 256 / bytes));
    n = ac_ae_bin(a, AC_AE_ALIGN_UP, ac_ae_bin(a, AC_AE_MUL, repeats, ac_ae_int(a, 2)), ac_ae_int(a, 32 / bytes));
  }
  ac_dtype d = src->dtype;
  if (!l->work)
    l->work = tensor(l, "acWork", n, d);
  else {
    ac_abuffer *b = &l->k->buffers.data[l->work->buffer];
    if (b->dtype != d) { /* one buffer serves both: count the larger elements */
      if (ac_dtypes[d].bytes > ac_dtypes[b->dtype].bytes) b->dtype = d;
      w->view = d;
    }
    if (!ac_ae_equal(b->elements, n)) b->elements = ac_ae_bin(a, AC_AE_MAX, b->elements, n);
  }
  l->used[REGS] = true;
  w->tensor = l->work;
  w->offset = NULL;
  w->scalar = NULL;
  if (s->n_ops < 3) s->n_ops = 3;
}

/* DataCopy inside UB moves whole 32-byte blocks. Other counts: adding integer 0 moves the bits exactly. */
static void local_copy(legal *l, ac_astmt *s) {
  ac_dtype own[2];
  for (int i = 0; i < 2; i++) own[i] = l->k->buffers.data[s->ops[i].tensor->buffer].dtype;
  ac_dtype d = s->ops[0].view != AC_NODTYPE ? s->ops[0].view : own[0];
  int bytes = ac_dtypes[d].bytes;
  if (bytes == 1 || ac_ae_multiple(s->count, 32 / bytes)) {
    if (bytes == 1) s->count = ac_ae_bin(l->c->a, AC_AE_ALIGN_UP, s->count, ac_ae_int(l->c->a, 32));
    return;
  }
  s->inst = AC_I_ADDS;
  ac_dtype view = bytes == 2 ? AC_I16 : AC_I32;
  if (bytes == 8) {
    s->count = ac_ae_bin(l->c->a, AC_AE_MUL, s->count, ac_ae_int(l->c->a, 2));
    for (int i = 0; i < 2; i++)
      if (s->ops[i].offset) s->ops[i].offset = ac_ae_bin(l->c->a, AC_AE_MUL, s->ops[i].offset, ac_ae_int(l->c->a, 2));
  }
  for (int i = 0; i < 2; i++) s->ops[i].view = own[i] == view ? AC_NODTYPE : view;
  s->ops[2] = (ac_aoperand){.scalar = ac_ae_int(l->c->a, 0), .view = AC_NODTYPE};
  s->n_ops = 3;
}

/* ---- the pass ---- */

static void block(legal *l, ac_ablock *b) {
  ac_ablock out = {0};
  for (size_t i = 0; i < b->len && l->ok; i++) {
    ac_astmt *s = b->data[i];
    block(l, &s->body);
    block(l, &s->orelse);
    if (s->kind == AC_AS_PRIM) {
      primitive(l, s, &out);
      continue;
    }
    if (s->kind == AC_AS_INST) {
      ac_form f = ac_insts[s->inst].form;
      if (f == AC_FORM_REDUCE) reduction(l, s);
      if (f == AC_FORM_COPY) local_copy(l, s);
      if (f == AC_FORM_SELECT || f == AC_FORM_SELECT_S) l->k->select = true;
    }
    ac_push(l->c->a, &out, s);
  }
  *b = out;
}

static void get(legal *l, ac_ablock *b, ac_atensor *t, ac_loc loc) {
  ac_astmt *s = ac_as_new(l->c->a, AC_AS_GET, loc);
  s->tensor = t;
  ac_push(l->c->a, b, s);
}

bool ac_lower_legalise(ac_lower_ctx *c) {
  for (size_t i = 0; i < c->p->kernels.len; i++) {
    legal l = {.c = c, .k = c->p->kernels.data[i], .ok = true};
    for (size_t m = 0; m < l.k->methods.len; m++) {
      ac_amethod *method = &l.k->methods.data[m];
      memset(l.used, 0, sizeof l.used);
      block(&l, &method->body);
      if (!l.ok) return false;
      ac_ablock out = {0};
      for (int r = 0; r < REGS; r++)
        if (l.used[r]) get(&l, &out, l.scratch[r], l.k->loc);
      if (l.used[REGS]) get(&l, &out, l.work, l.k->loc);
      for (size_t s = 0; s < method->body.len; s++) ac_push(c->a, &out, method->body.data[s]);
      method->body = out;
    }
  }
  return true;
}
