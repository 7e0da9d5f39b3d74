/* Anchors of the reduction schedule: each operation in terms of sums, products, maxima and minima over its reduced dimensions, and
 * element-wise code around them.
 *
 * Variances are means of squared differences from the mean, never E[x^2] - E[x]^2, which loses all digits where the mean is large.
 * Everything is float32 (sums of integers are integers); special values as in PyTorch.
 */
#include "plan/reduce.h"

#include <math.h>
#include <string.h>

bool red_takes(const ac_node *n) {
  switch (n->op) {
  case AC_G_SUM:
  case AC_G_MEAN:
  case AC_G_PROD:
  case AC_G_AMAX:
  case AC_G_AMIN:
  case AC_G_ALL:
  case AC_G_ANY:
  case AC_G_VAR:
  case AC_G_LOGSUMEXP:
  case AC_G_NORM:
  case AC_G_COUNT_NONZERO: return true;
  default: return red_is_full(n);
  }
}

bool red_is_full(const ac_node *n) {
  switch (n->op) {
  case AC_G_SOFTMAX:
  case AC_G_LOG_SOFTMAX:
  case AC_G_LAYER_NORM:
  case AC_G_RMS_NORM:
  case AC_G_GROUP_NORM:
  case AC_G_INSTANCE_NORM:
  case AC_G_BATCH_NORM: return true;
  default: return false;
  }
}

/* Does the operation name its dimensions so that more of them in front change nothing? */
bool red_any_rank(const ac_node *n) {
  if (n->op == AC_G_LAYER_NORM || n->op == AC_G_RMS_NORM) return true;
  const ac_arg *dim = ac_node_arg(n, "dim");
  int64_t d;
  if (!dim) return false;
  if (dim->absent || (dim->kind == AC_K_INTS && !dim->n)) return true;
  if (dim->kind == AC_K_INT) return dim->i && ac_sym_is_const(dim->i, &d) && d < 0;
  for (int i = 0; i < dim->n; i++)
    if (!ac_sym_is_const(dim->is[i], &d) || d >= 0) return false;
  return true;
}

static bool uses_input(const ac_node *n) {
  if (n->op == AC_G_INSTANCE_NORM) return pl_arg(n, "use_input_stats")->b;
  return pl_arg(n, "training")->b || pl_arg(n, "running_mean")->absent || !pl_arg(n, "running_mean")->t;
}

/* (N, C, ...) as (N, groups, C / groups, ...). */
static bool grouped_space(const pl_ctx *p, const ac_node *n, const ac_value *x, red_space *s) {
  if (x->rank + 1 > PL_MAX_RANK || x->rank < 2) return false;
  const ac_sym **d = AC_NEW_N(p->a, const ac_sym *, x->rank + 1);
  const ac_sym *groups = pl_arg(n, "num_groups")->i;
  if (!groups) return false;
  d[0] = x->shape[0];
  d[1] = groups;
  d[2] = ac_sym_resolve((ac_graph *)p->g, ac_sym_op((ac_graph *)p->g, AC_SYM_FLOORDIV, x->shape[1], groups));
  for (int i = 2; i < x->rank; i++) d[i + 1] = x->shape[i];
  s->rank = x->rank + 1;
  s->dim = d;
  for (int i = 2; i < s->rank; i++) s->cls[i] = 1;
  return true;
}

bool red_space_of(const pl_ctx *p, const ac_node *n, red_space *s) {
  const ac_value *x = pl_arg(n, "input")->t;
  *s = (red_space){.rank = x->rank, .dim = (const ac_sym *const *)x->shape};
  bool dims[AC_MAX_RANK] = {false};
  switch (n->op) {
  case AC_G_LAYER_NORM:
  case AC_G_RMS_NORM:
    for (int i = x->rank - pl_arg(n, "normalized_shape")->n; i < x->rank; i++)
      if (i >= 0) s->cls[i] = 1;
    return true;
  case AC_G_GROUP_NORM: return grouped_space(p, n, x, s);
  case AC_G_BATCH_NORM:
  case AC_G_INSTANCE_NORM:
    if (x->rank < 2) return false;
    for (int i = 0; i < x->rank && uses_input(n); i++) s->cls[i] = i > 1 || (i == 0 && n->op == AC_G_BATCH_NORM);
    return true;
  default: break;
  }
  const ac_arg *dim = pl_arg(n, "dim");
  int64_t c;
  if (!dim->absent && dim->kind == AC_K_INT && (!dim->i || !ac_sym_is_const(dim->i, &c))) return false;
  ac_arg_dims(dim, x->rank, dims);
  for (int i = 0; i < x->rank; i++) s->cls[i] = dims[i];
  return true;
}

bool red_same_space(const pl_ctx *p, const red_space *a, const red_space *b) {
  if (!pl_same_shape(p, a->rank, a->dim, b->rank, b->dim)) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->cls[i] != b->cls[i] && !pl_sym_is(p, a->dim[i], 1)) return false;
  return true;
}

const ac_sym *const *red_kept_shape(pl_ctx *p, const red_space *s) {
  const ac_sym **k = AC_NEW_N(p->a, const ac_sym *, s->rank);
  for (int i = 0; i < s->rank; i++) k[i] = s->cls[i] ? ac_sym_int((ac_graph *)p->g, 1) : s->dim[i];
  return (const ac_sym *const *)k;
}

/* ---- operands ---- */

static const red_space *space(const pl_chain *c) {
  return ((const red_build *)c->self)->space;
}

/* One number a channel, in the space: the shape that it is looked at in. `affine`: weight or bias. */
static const ac_sym *const *channel_shape(pl_chain *c, const ac_node *n, const ac_value *w, int *rank) {
  const red_space *s = space(c);
  *rank = w->rank;
  if (n->op == AC_G_LAYER_NORM || n->op == AC_G_RMS_NORM) return (const ac_sym *const *)w->shape;
  int at = 1, many = n->op == AC_G_GROUP_NORM ? 2 : 1;
  const ac_sym **d = AC_NEW_N(c->p->a, const ac_sym *, s->rank);
  for (int i = 0; i < s->rank; i++) d[i] = i >= at && i < at + many ? s->dim[i] : ac_sym_int((ac_graph *)c->p->g, 1);
  *rank = s->rank;
  return (const ac_sym *const *)d;
}

static const char *const channel_args[] = {"weight", "bias", "running_mean", "running_var"};

static const ac_value *optional(const ac_node *n, const char *name) {
  const ac_arg *a = ac_node_arg(n, name);
  return a && !a->absent ? a->t : NULL;
}

bool red_collect(pl_chain *c, const ac_value *v) {
  const ac_node *n = v->def;
  const red_space *s = space(c);
  if (!chain_collect_as(c, pl_arg(n, "input")->t, s->rank, s->dim)) return false;
  for (size_t i = 0; i < AC_COUNT(channel_args); i++) {
    const ac_value *w = optional(n, channel_args[i]);
    int rank;
    if (!w) continue;
    const ac_sym *const *shape = channel_shape(c, n, w, &rank);
    if (!chain_collect_as(c, w, rank, shape)) return false;
  }
  return true;
}

/* The channel's number in float32; PV_NONE when there is none. */
static bool channel(pl_chain *c, const ac_node *n, const char *name, pv *out) {
  const ac_value *w = optional(n, name);
  int rank;
  *out = (pv){.kind = PV_NONE};
  if (!w) return true;
  const ac_sym *const *shape = channel_shape(c, n, w, &rank);
  if (!chain_eval_as(c, w, rank, shape, out)) return false;
  *out = pv_to_f32(&c->v, *out);
  return true;
}

/* ---- reductions ---- */

static const struct {
  red_kind kind;
  const char *prim, *join;
} kinds[] = {{RED_SUM, "reduce_sum", "vadd"},
             {RED_MAX, "reduce_max", "vmax"},
             {RED_MIN, "reduce_min", "vmin"},
             {RED_PROD, "reduce_prod", "vmul"}};

red_kind red_kind_of(const char *prim) {
  for (size_t i = 0; i < AC_COUNT(kinds); i++)
    if (!strcmp(kinds[i].prim, prim)) return kinds[i].kind;
  return RED_NONE;
}

const char *red_join(red_kind k) {
  return kinds[k].join;
}

pv red_identity(red_kind k, ac_dtype d) {
  static const double least[] = {[1] = -128, [2] = -32768, [4] = -2147483648.0, [8] = -9223372036854775808.0};
  if (k == RED_SUM || k == RED_PROD) return pv_num(k == RED_PROD);
  if (ac_dtypes[d].cls == AC_FLOATING) return pv_num(k == RED_MAX ? -INFINITY : INFINITY);
  int bytes = ac_dtypes[d].bytes;
  if (ac_dtypes[d].cls == AC_SIGNED) return pv_num(k == RED_MAX ? least[bytes] : -(least[bytes] + 1));
  return pv_num(k == RED_MAX ? 0 : bytes == 1 ? 255 : bytes == 2 ? 65535 : 4294967295.0);
}

static uint64_t reduced_groups(const pl_chain *c) {
  uint64_t m = 0;
  for (int q = 0; q < c->n_groups; q++)
    if (c->groups[q].cls) m |= UINT64_C(1) << q;
  return m;
}

/* The reduction of x over the reduced groups. What does not vary along all of them is spread first: it counts once for each element. */
static pv reduce(pl_chain *c, red_kind k, pv x) {
  vir *v = &c->v;
  uint64_t groups = reduced_groups(c);
  x = pv_vec(v, x, AC_F32);
  if (!groups) return x;
  if ((v->regs.data[x.reg].axes & groups) != groups) {
    x.reg = vir_emit(v, "vcopy", v->regs.data[x.reg].dtype, 1, x);
    v->regs.data[x.reg].axes |= groups;
  }
  int r = vir_emit(v, kinds[k].prim, v->regs.data[x.reg].dtype, 1, x);
  v->regs.data[r].axes &= ~groups;
  return (pv){.kind = PV_VEC, .reg = r};
}

static pv count(pl_chain *c) {
  const red_build *b = c->self;
  const red_space *s = b->space;
  int64_t n = 1, d;
  for (int i = 0; i < s->rank; i++)
    if (s->cls[i]) {
      if (!ac_sym_is_const(s->dim[i], &d) || __builtin_mul_overflow(n, d, &n))
        return pv_text(chain_scalar(c, "n_elements", b->count), true);
    }
  return pv_num((double)n);
}

static pv mean(pl_chain *c, pv x) {
  return pv_div(&c->v, reduce(c, RED_SUM, x), count(c));
}
static pv squared(vir *v, pv x) {
  return pv_mul(v, x, x);
}
static pv sqrt_(vir *v, pv x) {
  return pv_fn(v, "vsqrt", x);
}
/* 1 / sqrt(x + eps); Rsqrt itself misses 1e-4. */
static pv inverse_root(vir *v, pv x, double eps) {
  return pv_div(v, pv_num(1), sqrt_(v, pv_add(v, x, pv_num(eps))));
}

/* The mean of squared differences from the mean. */
static pv moments(pl_chain *c, pv x, pv *centred) {
  vir *v = &c->v;
  *centred = pv_sub(v, x, mean(c, x));
  return mean(c, squared(v, *centred));
}

static pv variance(pl_chain *c, const ac_node *n, pv x) {
  vir *v = &c->v;
  double less = 1;
  const ac_arg *unbiased = pl_arg(n, "unbiased"), *correction = pl_arg(n, "correction");
  if (!unbiased->absent) less = unbiased->b;
  if (!correction->absent) (void)pl_number(n, "correction", 1, &less);
  pv d = pv_sub(v, x, mean(c, x)), m = count(c);
  m = m.kind == PV_NUM ? pv_num(fmax(0, m.num - less))
                       : pv_text(ac_sprintf(c->p->a, "max(0, %s - %g)", m.text, less), true);
  return pv_div(v, reduce(c, RED_SUM, squared(v, d)), m);
}

/* m + ln of the sum of e^(x - m), m the maximum: nothing overflows. An infinite m is left out, as PyTorch does. */
static pv logsumexp(pl_chain *c, pv x) {
  vir *v = &c->v;
  pv m = reduce(c, RED_MAX, x);
  pv finite = pv_where(v, pv_cmp(v, "eq", pv_fn(v, "vabs", m), pv_num(INFINITY)), pv_num(0), m);
  pv s = reduce(c, RED_SUM, pv_fn(v, "vexp", pv_sub(v, x, finite)));
  return pv_add(v, pv_fn(v, "vln", s), finite);
}

static pv norm(pl_chain *c, const ac_node *n, pv x) {
  vir *v = &c->v;
  double p = 2;
  (void)pl_number(n, "p", 2, &p);
  if (p == 2) return sqrt_(v, reduce(c, RED_SUM, squared(v, x)));
  if (p == 0) return reduce(c, RED_SUM, pv_vec(v, pv_cmp(v, "ne", x, pv_num(0)), AC_F32));
  pv a = pv_fn(v, "vabs", x);
  if (isinf(p)) return reduce(c, p > 0 ? RED_MAX : RED_MIN, a);
  if (p == 1) return reduce(c, RED_SUM, a);
  pv power = {.kind = PV_VEC, .reg = vir_emit(v, "vpow_scalar", AC_F32, 2, a, pv_num(p))};
  pv sum = reduce(c, RED_SUM, power);
  return (pv){.kind = PV_VEC, .reg = vir_emit(v, "vpow_scalar", AC_F32, 2, sum, pv_num(1 / p))};
}

static pv soft(pl_chain *c, bool log, pv x) {
  vir *v = &c->v;
  pv less = pv_sub(v, x, reduce(c, RED_MAX, x)), e = pv_fn(v, "vexp", less), s = reduce(c, RED_SUM, e);
  if (log) return pv_sub(v, less, pv_fn(v, "vln", s));
  return pv_mul(v, e, pv_div(v, pv_num(1), s)); /* one division for the lot, then products */
}

static double eps_of(const ac_node *n) {
  double eps = 0;
  ac_dtype d = pl_arg(n, "input")->t->dtype;
  (void)pl_number(n, "eps", d == AC_F16 ? 0x1p-10 : d == AC_BF16 ? 0x1p-7 : 0x1p-23, &eps);
  return eps;
}

static bool normalised(pl_chain *c, const ac_node *n, pv x, pv *out) {
  vir *v = &c->v;
  pv w, b = {.kind = PV_NONE}, centred = x, scale;
  if (!channel(c, n, "weight", &w)) return false;
  if (ac_node_arg(n, "bias") && !channel(c, n, "bias", &b)) return false;
  if (n->op == AC_G_RMS_NORM)
    scale = inverse_root(v, mean(c, squared(v, x)), eps_of(n));
  else if ((n->op == AC_G_BATCH_NORM || n->op == AC_G_INSTANCE_NORM) && !uses_input(n)) {
    pv m, var;
    if (!channel(c, n, "running_mean", &m) || !channel(c, n, "running_var", &var)) return false;
    centred = pv_sub(v, x, m);
    scale = inverse_root(v, var, eps_of(n));
  } else
    scale = inverse_root(v, moments(c, x, &centred), eps_of(n));
  bool rows = n->op == AC_G_LAYER_NORM || n->op == AC_G_RMS_NORM || n->op == AC_G_GROUP_NORM;
  if (w.kind != PV_NONE && !rows) scale = pv_mul(v, scale, w); /* one number a unit, both of them */
  pv y = pv_mul(v, centred, scale);
  if (w.kind != PV_NONE && rows) y = pv_mul(v, y, w);
  *out = b.kind == PV_NONE ? y : pv_add(v, y, b);
  return true;
}

/* ---- the value of an anchor ---- */

/* Sums of integers: counts of truth values in int32, everything else in int64, as wide as the result. */
static bool int_sum(pl_chain *c, const ac_value *x, pv in, pv *out) {
  vir *v = &c->v;
  if (x->dtype == AC_I64 || x->dtype == AC_I32) {
    if (in.kind != PV_VEC) in = pv_vec(v, in, AC_I32);
    int r = v->regs.data[in.reg].dtype == AC_I64 ? in.reg : vir_cast(v, in.reg, AC_I64, AC_RN_NONE);
    *out = reduce(c, RED_SUM, (pv){.kind = PV_VEC, .reg = r});
    return true;
  }
  pv f = pv_vec(v, x->dtype == AC_BOOL ? pv_mask(v, in) : pv_to_f32(v, in), AC_F32);
  *out = reduce(c, RED_SUM, (pv){.kind = PV_VEC, .reg = vir_cast(v, pv_vec(v, f, AC_F32).reg, AC_I32, AC_RN_TRUNC)});
  return true;
}

static pv truth(pl_chain *c, pv x) {
  return pv_vec(&c->v, pv_mask(&c->v, x), AC_F32);
}

static pv extreme(pl_chain *c, red_kind k, const ac_value *x, pv in) {
  vir *v = &c->v;
  if (x->dtype == AC_BOOL) return pv_cmp(v, "ne", reduce(c, k, truth(c, in)), pv_num(0));
  if (ac_dtypes[x->dtype].cls == AC_FLOATING) return reduce(c, k, pv_to_f32(v, in));
  return reduce(c, k, in);
}

bool red_eval(pl_chain *c, const ac_value *value, pv *out) {
  const ac_node *n = value->def;
  const red_space *s = space(c);
  const ac_value *x = pl_arg(n, "input")->t;
  vir *v = &c->v;
  pv in = {.kind = PV_NONE};
  if (!chain_eval_as(c, x, s->rank, s->dim, &in)) return false;
  bool floats = ac_dtypes[value->dtype].cls == AC_FLOATING;
  switch (n->op) {
  case AC_G_SUM:
    if (!floats) return int_sum(c, x, in, out);
    return *out = reduce(c, RED_SUM, pv_to_f32(v, in)), true;
  case AC_G_COUNT_NONZERO: {
    int one = vir_cast(v, truth(c, in).reg, AC_I32, AC_RN_TRUNC);
    return *out = reduce(c, RED_SUM, (pv){.kind = PV_VEC, .reg = one}), true;
  }
  case AC_G_MEAN: return *out = mean(c, pv_to_f32(v, in)), true;
  case AC_G_PROD:
    if (!floats) return pl_refuse(c->p, n->loc, "prod", "products of integers; convert with .float() first");
    return *out = reduce(c, RED_PROD, pv_to_f32(v, in)), true;
  case AC_G_AMAX: return *out = extreme(c, RED_MAX, x, in), true;
  case AC_G_AMIN: return *out = extreme(c, RED_MIN, x, in), true;
  case AC_G_ALL: return *out = pv_cmp(v, "ne", reduce(c, RED_MIN, truth(c, in)), pv_num(0)), true;
  case AC_G_ANY:
    return *out = pv_cmp(v, "gt", reduce(c, RED_MAX, truth(c, in)), pv_num(0)), true; /* of nothing: -inf */
  case AC_G_VAR: return *out = variance(c, n, pv_to_f32(v, in)), true;
  case AC_G_LOGSUMEXP: return *out = logsumexp(c, pv_to_f32(v, in)), true;
  case AC_G_NORM: return *out = norm(c, n, pv_to_f32(v, in)), true;
  case AC_G_SOFTMAX:
  case AC_G_LOG_SOFTMAX: return *out = soft(c, n->op == AC_G_LOG_SOFTMAX, pv_to_f32(v, in)), true;
  default: return normalised(c, n, pv_to_f32(v, in), out);
  }
}
