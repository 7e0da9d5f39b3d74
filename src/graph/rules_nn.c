/* Shape rules of normalisations and pooling. */
#include "graph/internal.h"

#include <string.h>

static const ac_sym *num(ac_rule *r, int64_t v) {
  return ac_sym_int(r->g, v);
}

static bool need_float(ac_rule *r, const ac_value *x) {
  return ac_is_float(x->dtype) ||
         ac_rule_fail(r, AC0303, "convert with .float() first", "does not take %s tensors, only floating ones",
                      ac_dtypes[x->dtype].name);
}

/* ---- normalisations ---- */

/* A vector (weight, bias, running statistics) of `channels`, if there. */
static bool channel_vector(ac_rule *r, int arg, const ac_sym *channels) {
  const ac_value *w = r->args[arg].t;
  if (r->args[arg].absent) return true;
  if (w->rank == 1 &&
      ac_rule_equal(r, w->shape[0], channels,
                    ac_sprintf(r->g->arena, "%s: one %s a channel", r->info->id, r->info->params[arg].name)))
    return true;
  return ac_rule_fail(r, AC0301, "it needs one number a channel", "`%s` is %s, the input has %lld channels",
                      r->info->params[arg].name, ac_value_text(r, w), (long long)channels->example);
}

/* layer_norm, rms_norm: the last sizes are normalized_shape, and the weights' shape. */
static bool trailing(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  const ac_arg *shape = &r->args[1];
  int lead = x->rank - shape->n;
  if (!shape->n) return ac_rule_fail(r, AC0304, NULL, "normalized_shape is empty");
  for (int i = 0; i < shape->n; i++)
    if (lead < 0 || !ac_rule_equal(r, x->shape[lead + i], shape->is[i],
                                   ac_sprintf(r->g->arena, "%s: normalized_shape", r->info->id)))
      return ac_rule_fail(r, AC0301, "the input's last sizes must be normalized_shape",
                          "normalized_shape is %s, the input %s", ac_sizes_text(r, shape->n, shape->is),
                          ac_value_text(r, x));
  for (int k = 2; k < r->info->n_params - 1; k++) {
    const ac_value *w = r->args[k].t;
    if (r->args[k].absent) continue;
    bool ok = w->rank == shape->n;
    for (int i = 0; ok && i < w->rank; i++)
      ok = ac_rule_equal(r, w->shape[i], shape->is[i], "normalized_shape of the weights");
    if (!ok)
      return ac_rule_fail(r, AC0301, "it has the shape normalized_shape", "`%s` is %s, normalized_shape %s",
                          r->info->params[k].name, ac_value_text(r, w), ac_sizes_text(r, shape->n, shape->is));
  }
  return true;
}

static bool group_norm(ac_rule *r) {
  ac_graph *g = r->g;
  const ac_value *x = r->args[0].t;
  const ac_sym *groups = r->args[1].i;
  if (x->rank < 2)
    return ac_rule_fail(r, AC0301, "add a batch dimension", "needs at least 2 dimensions, got %s",
                        ac_value_text(r, x));
  if (groups->example < 1) return ac_rule_fail(r, AC0304, NULL, "%lld groups", (long long)groups->example);
  const ac_sym *rest = ac_sym_op(g, AC_SYM_MOD, x->shape[1], groups);
  if (rest->example)
    return ac_rule_fail(r, AC0304, "use a divisor of the channels", "%lld channels do not divide into %lld groups",
                        (long long)x->shape[1]->example, (long long)groups->example);
  ac_sym_guard(g, AC_GUARD_EQ, rest, num(r, 0), r->loc, "group_norm: channels divide into groups");
  return channel_vector(r, 2, x->shape[1]) && channel_vector(r, 3, x->shape[1]);
}

/* Statistics from the data need more than one value each. */
static bool enough_values(ac_rule *r, const ac_sym *n) {
  if (ac_rule_le(r, num(r, 2), n, ac_sprintf(r->g->arena, "%s: more than one value a channel", r->info->id)))
    return true;
  return ac_rule_fail(r, AC0309, "use eval mode or a larger batch",
                      "needs more than one value a channel for its statistics, got %s",
                      ac_value_text(r, r->args[0].t));
}

/* batch_norm and instance_norm: (y), or (y, new running mean, new running var) when statistics come from the data and running
 * ones are kept. */
static bool running_norm(ac_rule *r, bool batch) {
  ac_graph *g = r->g;
  const ac_value *x = r->args[0].t;
  bool data = r->args[5].b; /* training, use_input_stats */
  bool running = !r->args[1].absent, both = running == !r->args[2].absent;
  if (x->rank < 2)
    return ac_rule_fail(r, AC0301, "add a batch dimension", "needs at least 2 dimensions, got %s",
                        ac_value_text(r, x));
  if (!both) return ac_rule_fail(r, AC0304, "pass both or neither", "running_mean and running_var come together");
  if (!data && !running)
    return ac_rule_fail(r, AC0304, "pass them, or take statistics from the data",
                        "without statistics from the data it needs running_mean and running_var");
  for (int k = 1; k <= 4; k++)
    if (!channel_vector(r, k, x->shape[1])) return false;
  if (data) {
    const ac_sym *spatial = ac_numel(g, x->rank - 2, (const ac_sym *const *)x->shape + 2);
    if (!enough_values(r, batch ? s_mul(g, spatial, x->shape[0]) : spatial)) return false;
  }
  if (data && running) {
    for (int k = 1; k <= 2; k++) r->out[k] = ac_type_of(r->args[k].t);
    r->n_out = 3;
  }
  return true;
}

bool ac_rule_norm(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  if (!need_float(r, x)) return false;
  r->out[0] = ac_type_of(x);
  r->out[0].weak = false;
  r->n_out = 1;
  switch (r->op) {
  case AC_G_LAYER_NORM:
  case AC_G_RMS_NORM: return trailing(r);
  case AC_G_GROUP_NORM: return group_norm(r);
  case AC_G_INSTANCE_NORM: return running_norm(r, false);
  case AC_G_BATCH_NORM: return running_norm(r, true);
  default: return false;
  }
}

/* ---- pooling ---- */

/* PyTorch's pooling_output_shape: with ceil_mode the last window must start inside the input or its left padding. */
const ac_sym *ac_pool_size(ac_rule *r, const ac_sym *in, int64_t kernel, int64_t stride, int64_t pad,
                           int64_t dilation, bool ceil_mode) {
  ac_graph *g = r->g;
  int64_t window = dilation * (kernel - 1) + 1;
  const ac_sym *room = s_addi(g, in, 2 * pad - window);
  const ac_sym *out = s_addi(g, s_div(g, ceil_mode ? s_addi(g, room, stride - 1) : room, num(r, stride)), 1);
  if (ceil_mode) /* (out - 1) * stride < in + pad */
    out = ac_sym_op(g, AC_SYM_MIN, out, s_div(g, s_addi(g, in, pad + stride - 1), num(r, stride)));
  if (ac_rule_le(r, num(r, 1), out, ac_sprintf(g->arena, "%s: the window fits", r->info->id))) return out;
  ac_rule_fail(r, AC0304, "use a smaller window or more padding",
               "a window of %lld (stride %lld, padding %lld, dilation %lld) does not fit size %lld",
               (long long)kernel, (long long)stride, (long long)pad, (long long)dilation, (long long)in->example);
  return NULL;
}

/* n numbers of an argument that may hold one for all; absent or empty: those of `other`. */
static bool per_dim(ac_rule *r, int arg, int n, const int64_t *other, int64_t least, int64_t *v) {
  const ac_arg *a = &r->args[arg];
  if (a->absent || !a->n) {
    for (int i = 0; i < n; i++) v[i] = other[i];
    return true;
  }
  if (a->n != 1 && a->n != n)
    return ac_rule_fail(r, AC0304, ac_sprintf(r->g->arena, "give 1 or %d numbers", n), "`%s` has %d numbers",
                        r->info->params[arg].name, a->n);
  for (int i = 0; i < n; i++) {
    if (!ac_rule_pin(r, a->is[a->n == 1 ? 0 : i], r->info->params[arg].name, &v[i])) return false;
    if (v[i] < least || v[i] > INT32_MAX)
      return ac_rule_fail(r, AC0304, NULL, "`%s` must be at least %lld, got %lld", r->info->params[arg].name,
                          (long long)least, (long long)v[i]);
  }
  return true;
}

int ac_op_windows(ac_op op) {
  switch (op) {
  case AC_G_AVG_POOL1D:
  case AC_G_MAX_POOL1D:
  case AC_G_ADAPTIVE_AVG_POOL1D: return 1;
  case AC_G_AVG_POOL2D:
  case AC_G_MAX_POOL2D:
  case AC_G_ADAPTIVE_AVG_POOL2D: return 2;
  case AC_G_AVG_POOL3D:
  case AC_G_MAX_POOL3D:
  case AC_G_ADAPTIVE_AVG_POOL3D: return 3;
  default: return 0;
  }
}

static bool pool_rank(ac_rule *r, const ac_value *x, int n) {
  if (x->rank != n + 1 && x->rank != n + 2)
    return ac_rule_fail(r, AC0301, NULL, "needs (N, C, %d sizes) or (C, %d sizes), got %s", n, n,
                        ac_value_text(r, x));
  for (int i = x->rank == n + 2; i < x->rank; i++) /* only the batch may be empty */
    if (!ac_rule_le(r, num(r, 1), x->shape[i],
                    ac_sprintf(r->g->arena, "%s: sizes beside the batch must not be empty", r->info->id)))
      return ac_rule_fail(r, AC0309, "only the batch may be empty", "dimension %d of %s is empty", i,
                          ac_value_text(r, x));
  return true;
}

static bool adaptive(ac_rule *r, const ac_value *x, int n) {
  const ac_arg *size = &r->args[1];
  if (size->n != 1 && size->n != n)
    return ac_rule_fail(r, AC0304, NULL, "output_size has %d numbers, not 1 or %d", size->n, n);
  for (int i = 0; i < n; i++) {
    const ac_sym *s = size->is[size->n == 1 ? 0 : i];
    int d = x->rank - n + i;
    if (s_is(s, -1)) continue; /* None: as the input */
    if (s->example < 0) return ac_rule_fail(r, AC0304, NULL, "output size %lld is negative", (long long)s->example);
    r->out[0].shape[d] = s;
  }
  return true;
}

static bool windows(ac_rule *r, const ac_value *x, int n, bool max) {
  static const int64_t zeros[3] = {0, 0, 0};
  static const int64_t ones[3] = {1, 1, 1};
  int64_t k[3] = {0}, s[3] = {0}, p[3] = {0}, d[3] = {1, 1, 1};
  if (!r->args[1].n) return ac_rule_fail(r, AC0304, NULL, "kernel_size is empty");
  if (!per_dim(r, 1, n, ones, 1, k) || !per_dim(r, 2, n, k, 1, s) || !per_dim(r, 3, n, zeros, 0, p)) return false;
  if (max && !per_dim(r, 4, n, ones, 1, d)) return false;
  bool ceil_mode = r->args[max ? 5 : 4].b;
  if (!max && n > 1 && !r->args[6].absent && s_is(r->args[6].i, 0))
    return ac_rule_fail(r, AC0304, NULL, "divisor_override must not be 0");
  for (int i = 0; i < n; i++) {
    int at = x->rank - n + i;
    if (p[i] > ((k[i] - 1) * d[i] + 1) / 2)
      return ac_rule_fail(r, AC0304, "use at most half the window",
                          "padding %lld is more than half the window of %lld", (long long)p[i], (long long)k[i]);
    const ac_sym *out = ac_pool_size(r, x->shape[at], k[i], s[i], p[i], d[i], ceil_mode);
    if (!out) return false;
    r->out[0].shape[at] = out;
  }
  return true;
}

bool ac_rule_pool(ac_rule *r) {
  const ac_value *x = r->args[0].t;
  int n = ac_op_windows(r->op);
  bool max = r->op == AC_G_MAX_POOL1D || r->op == AC_G_MAX_POOL2D || r->op == AC_G_MAX_POOL3D;
  if (!need_float(r, x) || !pool_rank(r, x, n)) return false;
  r->out[0] = ac_type_of(x);
  r->n_out = 1;
  if (r->op == AC_G_ADAPTIVE_AVG_POOL1D || r->op == AC_G_ADAPTIVE_AVG_POOL2D || r->op == AC_G_ADAPTIVE_AVG_POOL3D)
    return adaptive(r, x, n);
  if (!windows(r, x, n, max)) return false;
  if (max && r->args[6].b) {
    r->out[1] = r->out[0];
    r->out[1].dtype = AC_I64;
    r->n_out = 2;
  }
  return true;
}
