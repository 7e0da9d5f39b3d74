/* C_COMP rows of losses and distances, as torch.nn.functional and ATen define them. */
#include "graph/internal.h"

#include <math.h>
#include <string.h>

typedef ac_value *V;

#define OP1(op, x) AP(r, op, A_T(x))
#define OP2(op, x, y) AP(r, op, A_T(x), A_T(y))

static V num(ac_rule *r, double v) {
  return ac_graph_number(r->g, v);
}
static const ac_sym *sym(ac_rule *r, int64_t v) {
  return ac_sym_int(r->g, v);
}
static V add(ac_rule *r, V x, V y) {
  return OP2(AC_G_ADD, x, y);
}
static V sub(ac_rule *r, V x, V y) {
  return OP2(AC_G_SUB, x, y);
}
static V mul(ac_rule *r, V x, V y) {
  return OP2(AC_G_MUL, x, y);
}
static V divide(ac_rule *r, V x, V y) {
  return OP2(AC_G_DIV, x, y);
}
static V neg(ac_rule *r, V x) {
  return OP1(AC_G_NEG, x);
}
static V at_least(ac_rule *r, V x, double lo) {
  return OP2(AC_G_MAXIMUM, x, num(r, lo));
}
static V where(ac_rule *r, V c, V x, V y) {
  return AP(r, AC_G_WHERE, A_T(c), A_T(x), A_T(y));
}
static V sum_all(ac_rule *r, V x) {
  return OP1(AC_G_SUM, x);
}

static V sum_dim(ac_rule *r, V x, int64_t dim, bool keep) {
  const ac_sym **d = AC_NEW_N(r->g->arena, const ac_sym *, 1);
  d[0] = sym(r, dim);
  return AP(r, AC_G_SUM, A_T(x), A_IS(d, 1), A_B(keep));
}

/* ---- reductions of losses ---- */

typedef enum { NONE, MEAN, SUM, BATCHMEAN, BAD } reduction;

static int find(const ac_rule *r, const char *name) {
  for (int i = 0; i < r->info->n_params; i++)
    if (s_eq(r->info->params[i].name, name)) return i;
  return -1;
}

/* `reduction`, unless the deprecated size_average and reduce say otherwise. */
static reduction reduction_of(ac_rule *r) {
  int a = find(r, "size_average"), b = find(r, "reduce");
  const char *word = r->args[find(r, "reduction")].s;
  if (a >= 0 && (!r->args[a].absent || !r->args[b].absent)) {
    bool average = r->args[a].absent || r->args[a].b, reduce = r->args[b].absent || r->args[b].b;
    return !reduce ? NONE : average ? MEAN : SUM;
  }
  if (s_eq(word, "none")) return NONE;
  if (s_eq(word, "mean")) return MEAN;
  if (s_eq(word, "sum")) return SUM;
  if (s_eq(word, "batchmean") && r->op == AC_G_KL_DIV) return BATCHMEAN;
  ac_rule_fail(r, AC0304, "use 'none', 'mean' or 'sum'", "reduction='%s' is unknown", word);
  return BAD;
}

/* The loss, reduced as asked. */
static bool reduced(ac_rule *r, V loss) {
  switch (reduction_of(r)) {
  case NONE: return ac_rule_give(r, loss);
  case MEAN: return ac_rule_give(r, OP1(AC_G_MEAN, loss));
  case SUM: return ac_rule_give(r, sum_all(r, loss));
  case BATCHMEAN: { /* kl_div: sum over the batch size */
    const ac_value *x = r->args[0].t;
    V s = sum_all(r, loss);
    return ac_rule_give(r, x->rank ? divide(r, s, ac_graph_integer(r->g, x->shape[0])) : s);
  }
  case BAD: break;
  }
  return false;
}

static bool same_sizes(ac_rule *r, const ac_value *x, const ac_value *y) {
  bool ok = x->rank == y->rank;
  for (int i = 0; ok && i < x->rank; i++)
    ok = ac_rule_equal(r, x->shape[i], y->shape[i], ac_sprintf(r->g->arena, "%s: equal shapes", r->info->id));
  return ok || ac_rule_fail(r, AC0301, "reshape one to the other's shape", "shapes of %s and %s must be equal",
                            ac_value_text(r, x), ac_value_text(r, y));
}

/* ---- element-wise losses ---- */

static V distance(ac_rule *r) {
  return OP1(AC_G_ABS, sub(r, r->args[0].t, r->args[1].t));
}

/* |d| < beta ? d^2 / (2 beta) : |d| - beta / 2 */
static bool smooth_l1(ac_rule *r) {
  double beta = r->args[5].f;
  if (beta < 0) return ac_rule_fail(r, AC0304, NULL, "beta must not be negative, got %g", beta);
  V z = distance(r);
  if (beta == 0) return reduced(r, z);
  V square = divide(r, mul(r, mul(r, num(r, 0.5), z), z), num(r, beta));
  return reduced(r, where(r, OP2(AC_G_LT, z, num(r, beta)), square, sub(r, z, num(r, 0.5 * beta))));
}

static bool huber(ac_rule *r) {
  double delta = r->args[3].f;
  if (!(delta > 0)) return ac_rule_fail(r, AC0304, NULL, "delta must be positive, got %g", delta);
  V z = distance(r), square = mul(r, mul(r, num(r, 0.5), z), z);
  V line = mul(r, num(r, delta), sub(r, z, num(r, 0.5 * delta)));
  return reduced(r, where(r, OP2(AC_G_LT, z, num(r, delta)), square, line));
}

/* target * (log target - input); 0 where the target is 0 (xlogy's rule, from 1.11 on). */
static bool kl_div(ac_rule *r) {
  V x = r->args[0].t, t = r->args[1].t;
  if (r->args[5].b) return reduced(r, mul(r, OP1(AC_G_EXP, t), sub(r, t, x)));
  return reduced(r, sub(r, OP2(AC_G_XLOGY, t, t), mul(r, t, x)));
}

static bool bce(ac_rule *r) {
  V x = r->args[0].t, t = r->args[1].t;
  if (!same_sizes(r, x, t)) return false;
  V log_x = at_least(r, OP1(AC_G_LOG, x), -100), log_1x = at_least(r, OP1(AC_G_LOG1P, neg(r, x)), -100);
  V loss = sub(r, mul(r, sub(r, t, num(r, 1)), log_1x), mul(r, t, log_x));
  if (!r->args[2].absent) loss = mul(r, loss, r->args[2].t);
  return reduced(r, loss);
}

/* (1 - t) x - (1 + (pos_weight - 1) t) logsigmoid(x) */
static bool bce_logits(ac_rule *r) {
  V x = r->args[0].t, t = r->args[1].t;
  if (!same_sizes(r, x, t)) return false;
  V logs = OP1(AC_G_LOGSIGMOID, x);
  if (!r->args[6].absent) {
    V w = add(r, mul(r, sub(r, r->args[6].t, num(r, 1)), t), num(r, 1));
    logs = mul(r, w, logs);
  }
  V loss = sub(r, mul(r, sub(r, num(r, 1), t), x), logs);
  if (!r->args[2].absent) loss = mul(r, loss, r->args[2].t);
  return reduced(r, loss);
}

static bool hinge_embedding(ac_rule *r) {
  V x = r->args[0].t, t = r->args[1].t, zero = num(r, 0);
  V margin = at_least(r, sub(r, num(r, r->args[2].f), x), 0);
  V a = where(r, OP2(AC_G_NE, t, num(r, 1)), margin, zero), b = where(r, OP2(AC_G_NE, t, num(r, -1)), x, zero);
  return reduced(r, add(r, a, b));
}

static bool margin_ranking(ac_rule *r) {
  V d = sub(r, r->args[0].t, r->args[1].t);
  return reduced(r, at_least(r, add(r, mul(r, neg(r, r->args[2].t), d), num(r, r->args[3].f)), 0));
}

static bool poisson_nll(ac_rule *r) {
  V x = r->args[0].t, t = r->args[1].t, loss;
  if (r->args[2].b)
    loss = sub(r, OP1(AC_G_EXP, x), mul(r, t, x));
  else
    loss = sub(r, x, mul(r, t, OP1(AC_G_LOG, add(r, x, num(r, r->args[5].f)))));
  if (r->args[3].b) { /* Stirling's approximation of log(t!) where t > 1 */
    V half = mul(r, num(r, 0.5), OP1(AC_G_LOG, mul(r, num(r, 2 * M_PI), t)));
    V s = add(r, sub(r, mul(r, t, OP1(AC_G_LOG, t)), t), half);
    loss = add(r, loss, where(r, OP2(AC_G_LE, t, num(r, 1)), num(r, 0), s));
  }
  return reduced(r, loss);
}

static bool gaussian_nll(ac_rule *r) {
  V x = r->args[0].t, t = r->args[1].t, v = r->args[2].t;
  if (v->rank == x->rank - 1 && x->rank) v = AP(r, AC_G_UNSQUEEZE, A_T(v), A_I(sym(r, -1)));
  V var = at_least(r, v, r->args[4].f), d = sub(r, x, t);
  V loss = mul(r, num(r, 0.5), add(r, OP1(AC_G_LOG, var), divide(r, mul(r, d, d), var)));
  if (r->args[3].b) loss = add(r, loss, num(r, 0.5 * log(2 * M_PI)));
  return reduced(r, loss);
}

/* ---- distances ---- */

static V norm_last(ac_rule *r, V x, double p, bool keep) {
  const ac_sym **d = AC_NEW_N(r->g->arena, const ac_sym *, 1);
  d[0] = sym(r, -1);
  const ac_arg order = {.kind = AC_K_SCALAR, .f = p};
  return AP(r, AC_G_NORM, A_T(x), order, A_IS(d, 1), A_B(keep));
}

static V pairwise(ac_rule *r, V x, V y, double p, double eps, bool keep) {
  return norm_last(r, add(r, sub(r, x, y), num(r, eps)), p, keep);
}

static bool triplet(ac_rule *r) {
  V a = r->args[0].t, p = r->args[1].t, n = r->args[2].t;
  double margin = r->args[3].f, order = r->args[4].f, eps = r->args[5].f;
  if (a->rank != p->rank || a->rank != n->rank)
    return ac_rule_fail(r, AC0301, "they need the same number of dimensions", "%s, %s and %s", ac_value_text(r, a),
                        ac_value_text(r, p), ac_value_text(r, n));
  V to_p = pairwise(r, a, p, order, eps, false), to_n = pairwise(r, a, n, order, eps, false);
  if (r->args[6].b) to_n = OP2(AC_G_MINIMUM, to_n, pairwise(r, p, n, order, eps, false));
  return reduced(r, at_least(r, sub(r, add(r, num(r, margin), to_p), to_n), 0));
}

/* Each norm is at least eps on its own (from 1.12 on; before, their product was). */
static bool cosine_similarity(ac_rule *r) {
  V x = r->args[0].t, y = r->args[1].t;
  ac_dtype d = ac_promote_values((V[]){x, y}, 2);
  if (!ac_is_float(d)) return ac_rule_fail(r, AC0303, "convert with .float() first", "does not take integer tensors");
  x = ac_graph_cast(r->g, x, d, r->loc);
  y = ac_graph_cast(r->g, y, d, r->loc);
  if (!x || !y) return false;
  /* the dimension counts in the common shape; from the end it is the same in both */
  int rank = x->rank > y->rank ? x->rank : y->rank, dim;
  if (!ac_rule_dim(r, 2, rank, &dim)) return false;
  V in[2] = {x, y}, unit[2];
  ac_type t = ac_type_of(x);
  if (!ac_rule_broadcast(r, &t, y)) return false;
  for (int i = 0; i < 2; i++) {
    const ac_sym **k = AC_NEW_N(r->g->arena, const ac_sym *, 1);
    k[0] = r->args[2].i;
    bool own = in[i]->rank == rank && ac_sym_equal(r->g, in[i]->shape[rank ? dim : 0], t.shape[dim]);
    if (rank && !own) { /* broadcast along the dimension itself: the norm needs the copies */
      const ac_sym **s = AC_NEW_N(r->g->arena, const ac_sym *, rank);
      memcpy(s, t.shape, (size_t)rank * sizeof *s);
      in[i] = AP(r, AC_G_EXPAND, A_T(in[i]), A_IS(s, rank));
    }
    const ac_arg two = {.kind = AC_K_SCALAR, .f = 2};
    V n = AP(r, AC_G_NORM, A_T(in[i]), two, A_IS(k, 1), A_B(true));
    unit[i] = divide(r, in[i], at_least(r, n, r->args[3].f));
  }
  const ac_sym **k = AC_NEW_N(r->g->arena, const ac_sym *, 1);
  k[0] = r->args[2].i;
  return ac_rule_give(r, AP(r, AC_G_SUM, A_T(mul(r, unit[0], unit[1])), A_IS(k, 1)));
}

static bool cosine_embedding(ac_rule *r) {
  V x = r->args[0].t, y = r->args[1].t, t = r->args[2].t;
  if (t->rank > 1 || x->rank != t->rank + 1 || y->rank != t->rank + 1)
    return ac_rule_fail(r, AC0301, "use inputs (N, D) with target (N), or (D) with a target without dimensions",
                        "%s, %s and target %s", ac_value_text(r, x), ac_value_text(r, y), ac_value_text(r, t));
  int dim = t->rank;
  V eps = num(r, 1e-12), prod = sum_dim(r, mul(r, x, y), dim, false);
  V m1 = add(r, sum_dim(r, mul(r, x, x), dim, false), eps), m2 = add(r, sum_dim(r, mul(r, y, y), dim, false), eps);
  V c = divide(r, prod, OP1(AC_G_SQRT, mul(r, m1, m2))), zero = num(r, 0);
  V pos = where(r, OP2(AC_G_EQ, t, num(r, 1)), sub(r, num(r, 1), c), zero);
  V minus = where(r, OP2(AC_G_EQ, t, num(r, -1)), at_least(r, sub(r, c, num(r, r->args[3].f)), 0), zero);
  return reduced(r, add(r, pos, minus));
}

/* ---- classification ---- */

/* Dimension of the classes: (C), (N, C), (N, C, d1, ...). */
static int class_dim(const ac_value *x) {
  return x->rank == 1 ? 0 : 1;
}

static bool check_classes(ac_rule *r, const ac_value *x, const ac_value *t) {
  int c = class_dim(x);
  bool ok = x->rank >= 1 && t->rank == x->rank - 1;
  for (int i = 0, k = 0; ok && i < x->rank; i++)
    if (i != c) {
      ok = ac_rule_equal(r, x->shape[i], t->shape[k],
                         ac_sprintf(r->g->arena, "%s: one class number for each row of scores", r->info->id));
      k++;
    }
  if (!ok)
    return ac_rule_fail(r, AC0301, "the target has the input's shape without its class dimension",
                        "scores %s and class numbers %s", ac_value_text(r, x), ac_value_text(r, t));
  if (t->dtype != AC_I64 && t->dtype != AC_U8)
    return ac_rule_fail(r, AC0303, "convert the target with .long()", "class numbers must be int64, got %s",
                        ac_value_text(r, t));
  return ac_is_float(x->dtype) || ac_rule_fail(r, AC0303, "convert with .float() first",
                                               "scores must be floating, got %s", ac_value_text(r, x));
}

static bool check_weight(ac_rule *r, const ac_value *w, const ac_sym *classes) {
  if (w->rank == 1 &&
      ac_rule_equal(r, w->shape[0], classes, ac_sprintf(r->g->arena, "%s: one weight a class", r->info->id)))
    return true;
  return ac_rule_fail(r, AC0301, "give one weight a class", "weight %s for %lld classes", ac_value_text(r, w),
                      (long long)classes->example);
}

/* Negative log-likelihood of log-probabilities `x` at class numbers `t`; ignored targets give 0. The reduction "mean" divides by the
 * sum of the weights of the targets that count. */
typedef struct {
  V loss;    /* one a target */
  V counted; /* bool: not ignored */
  V weight;  /* of each target, 0 where ignored; NULL without weights */
} nll;

static bool nll_of(ac_rule *r, V x, V t, V w, const ac_arg *ignore, nll *o) {
  int c = class_dim(x);
  V zero = ac_graph_integer(r->g, sym(r, 0));
  if (t->dtype != AC_I64) t = ac_graph_cast(r->g, t, AC_I64, r->loc);
  o->counted = OP2(AC_G_NE, t, ac_graph_integer(r->g, ignore->i));
  V safe = where(r, o->counted, t, zero);
  V picked = AP(r, AC_G_GATHER, A_T(x), A_I(sym(r, c)), A_T(AP(r, AC_G_UNSQUEEZE, A_T(safe), A_I(sym(r, c)))));
  const ac_sym **d = AC_NEW_N(r->g->arena, const ac_sym *, 1);
  d[0] = sym(r, c);
  picked = neg(r, AP(r, AC_G_SQUEEZE, A_T(picked), A_IS(d, 1)));
  o->weight = NULL;
  if (w) {
    V *index = AC_NEW_N(r->g->arena, V, 1);
    index[0] = safe;
    V own = AP(r, AC_G_INDEX, A_T(w), A_TS(index, 1), A_I(sym(r, 0)));
    o->weight = where(r, o->counted, own, num(r, 0));
    picked = mul(r, own, picked);
  }
  o->loss = where(r, o->counted, picked, num(r, 0));
  return o->loss && (!w || o->weight);
}

/* What "mean" divides by. */
static V total(ac_rule *r, const nll *n) {
  return sum_all(r, n->weight ? n->weight : n->counted);
}

static V reduce_nll(ac_rule *r, V loss, const nll *n, reduction how) {
  if (how == NONE) return loss;
  V s = sum_all(r, loss);
  return how == SUM ? s : divide(r, s, total(r, n));
}

static bool nll_loss(ac_rule *r) {
  V x = r->args[0].t, t = r->args[1].t, w = r->args[2].absent ? NULL : r->args[2].t;
  reduction how = reduction_of(r);
  nll n;
  if (how == BAD || !check_classes(r, x, t) || (w && !check_weight(r, w, x->shape[class_dim(x)])) ||
      !nll_of(r, x, t, w, &r->args[4], &n))
    return false;
  return ac_rule_give(r, reduce_nll(r, n.loss, &n, how));
}

/* The weights as (C, 1, 1, ...), to meet (N, C, d1, ...). */
static V weight_like(ac_rule *r, V w, const ac_value *x) {
  int n = x->rank - class_dim(x);
  if (n == 1) return w;
  const ac_sym **s = AC_NEW_N(r->g->arena, const ac_sym *, n);
  for (int i = 0; i < n; i++) s[i] = i ? sym(r, 1) : w->shape[0];
  return AP(r, AC_G_RESHAPE, A_T(w), A_IS(s, n));
}

/* Targets are probabilities of the input's shape. The mean is over everything but the classes. */
static bool cross_entropy_probabilities(ac_rule *r, V logp, V t, V w, double smoothing, reduction how) {
  const ac_value *x = r->args[0].t;
  const ac_sym *classes = x->shape[class_dim(x)];
  if (smoothing > 0) {
    V share = divide(r, num(r, smoothing), ac_graph_integer(r->g, classes));
    t = add(r, mul(r, t, num(r, 1 - smoothing)), share);
  }
  V each = mul(r, logp, t);
  if (w) each = mul(r, each, weight_like(r, w, x));
  if (how == NONE) return ac_rule_give(r, neg(r, sum_dim(r, each, class_dim(x), false)));
  V s = neg(r, sum_all(r, each));
  if (how == SUM) return ac_rule_give(r, s);
  const ac_sym *rows = ac_sym_int(r->g, 1);
  for (int i = 0; i < x->rank; i++)
    if (i != class_dim(x)) rows = ac_sym_op(r->g, AC_SYM_MUL, rows, x->shape[i]);
  return ac_rule_give(r, divide(r, s, ac_graph_integer(r->g, rows)));
}

static bool cross_entropy(ac_rule *r) {
  V x = r->args[0].t, t = r->args[1].t, w = r->args[2].absent ? NULL : r->args[2].t;
  double smoothing = r->args[7].f;
  reduction how = reduction_of(r);
  if (how == BAD) return false;
  if (smoothing < 0 || smoothing > 1)
    return ac_rule_fail(r, AC0304, "use a number from 0 to 1", "label_smoothing is %g", smoothing);
  if (!x->rank) return ac_rule_fail(r, AC0301, NULL, "scores need a class dimension");
  int c = class_dim(x);
  if (w && !check_weight(r, w, x->shape[c])) return false;
  bool probabilities = ac_is_float(t->dtype);
  if (probabilities ? !same_sizes(r, x, t) : !check_classes(r, x, t)) return false;
  V logp = AP(r, AC_G_LOG_SOFTMAX, A_T(x), A_I(sym(r, c)));
  if (probabilities) return cross_entropy_probabilities(r, logp, t, w, smoothing, how);
  nll n;
  if (!logp || !nll_of(r, logp, t, w, &r->args[4], &n)) return false;
  V loss = reduce_nll(r, n.loss, &n, how);
  if (smoothing > 0) {
    V all = neg(r, sum_dim(r, w ? mul(r, logp, weight_like(r, w, x)) : logp, c, false));
    V smooth = reduce_nll(r, where(r, n.counted, all, num(r, 0)), &n, how);
    V share = divide(r, num(r, smoothing), ac_graph_integer(r->g, x->shape[c]));
    loss = add(r, mul(r, share, smooth), mul(r, loss, num(r, 1 - smoothing)));
  }
  return ac_rule_give(r, loss);
}

/* ---- dispatch ---- */

bool ac_expand_loss(ac_rule *r, bool *ok) {
  ac_arg *a = r->args;
  switch (r->op) {
  case AC_G_MSE_LOSS: *ok = reduced(r, OP1(AC_G_SQUARE, sub(r, a[0].t, a[1].t))); break;
  case AC_G_L1_LOSS: *ok = reduced(r, distance(r)); break;
  case AC_G_SMOOTH_L1_LOSS: *ok = smooth_l1(r); break;
  case AC_G_HUBER_LOSS: *ok = huber(r); break;
  case AC_G_KL_DIV: *ok = kl_div(r); break;
  case AC_G_NLL_LOSS: *ok = nll_loss(r); break;
  case AC_G_CROSS_ENTROPY: *ok = cross_entropy(r); break;
  case AC_G_BCE: *ok = bce(r); break;
  case AC_G_BCE_LOGITS: *ok = bce_logits(r); break;
  case AC_G_HINGE_EMBEDDING: *ok = hinge_embedding(r); break;
  case AC_G_MARGIN_RANKING: *ok = margin_ranking(r); break;
  case AC_G_SOFT_MARGIN: *ok = reduced(r, OP1(AC_G_LOG1P, OP1(AC_G_EXP, mul(r, neg(r, a[1].t), a[0].t)))); break;
  case AC_G_TRIPLET: *ok = triplet(r); break;
  case AC_G_COSINE_EMBEDDING: *ok = cosine_embedding(r); break;
  case AC_G_COSINE_SIMILARITY: *ok = cosine_similarity(r); break;
  case AC_G_PAIRWISE_DISTANCE: *ok = ac_rule_give(r, pairwise(r, a[0].t, a[1].t, a[2].f, a[3].f, a[4].b)); break;
  case AC_G_POISSON_NLL: *ok = poisson_nll(r); break;
  case AC_G_GAUSSIAN_NLL: *ok = gaussian_nll(r); break;
  default: return false;
  }
  return true;
}
