/* Normalisations of the library. Sums are trees in float32, everything else one float32 operation after the other; the device's sequences
 * differ by some ulp. Formulas: asc-devkit docs/zh, each function; what the pages leave open is taken from their worked examples. Least
 * temporary memory: impl/adv_api/tiling/normalization, arch 2201. */
#include "sim/core_rows.h"

#include <math.h>

/* Rows of k elements, the first `valid` of which count. */
static bool shape_ok(const rows_call *r, int x) {
  const int64_t *n = r->c->n;
  if (n[0] > 0 && n[1] > 0 && n[2] > 0 && n[2] <= n[1] && n[1] * rows_es(r, x) % ROW_BLOCK == 0) return true;
  acsim_fault(
      r->b->s, r->b, "lib-shape", r->at,
      "%s: %lld rows of %lld elements of %d bytes, of which %lld count: a row must fill whole blocks of 32 bytes",
      r->name, (long long)n[0], (long long)n[1], rows_es(r, x), (long long)n[2]);
  return false;
}
/* mean and variance of v[0..n): the mean of the squared distances, in two passes */
static void moments(const rows_call *r, const float *v, int64_t n, float *mean, float *var) {
  float *d = rows_scratch(r, 1, n), back = 1.0f / (float)n;
  for (int64_t i = 0; i < n; i++) d[i] = v[i] * back;
  *mean = rows_sum(r, d, n);
  for (int64_t i = 0; i < n; i++) d[i] = (v[i] - *mean) * (v[i] - *mean) * back;
  *var = rows_sum(r, d, n);
}
static float rstd_of(float var, float eps) {
  return 1.0f / sqrtf(var + eps);
}

/* out, mean, variance or rstd, x, gamma, beta; n: rows, row length, valid length; f: epsilon */
static void layer_norm(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1], valid = c->n[2], es = rows_es(r, 3);
  bool gamma = !(c->flags & ACSIM_NORM_NO_GAMMA), beta = !(c->flags & ACSIM_NORM_NO_BETA);
  if (!rows_types(r, 3, ROWS_FLOATS) || !shape_ok(r, 3)) return;
  int64_t need =
      c->op == ACSIM_ROWS_LayerNorm ? acsim_tmp_layernorm(m, k, es, c->reuse) : acsim_tmp_layernorm_rstd(m, k, es);
  rows_use u[] = {{0, "output", m * k, OUT},
                  {1, "outputMean", m, OUT},
                  {2, "outputVariance", m, OUT},
                  {3, "inputX", m * k, IN | (valid < k ? ACSIM_SOFT : 0)},
                  {4, "gamma", k, gamma ? IN | ACSIM_SOFT : 0},
                  {5, "beta", k, beta ? IN | ACSIM_SOFT : 0}};
  if (!rows_use_all(r, u, 6, need)) return;
  float *v = rows_scratch(r, 0, k), mean, var;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < valid; j++) v[j] = rows_get(r, 3, i * k + j);
    moments(r, v, valid, &mean, &var);
    float rstd = rstd_of(var, (float)c->f[0]);
    for (int64_t j = 0; j < k; j++) {
      float y = j < valid ? (v[j] - mean) * rstd : 0;
      if (gamma) y *= rows_get(r, 4, j);
      if (beta) y += rows_get(r, 5, j);
      rows_put(r, 0, i * k + j, y);
    }
    if (valid < k) memset(acsim_state(r->b, c->t[0], (i * k + valid) * es), 0, (size_t)((k - valid) * es));
    rows_put(r, 1, i, mean);
    rows_put(r, 2, i, c->flags & ACSIM_NORM_RSTD ? rstd : var);
  }
}

/* dst, src, gamma; the mean of the squares over the valid elements */
static void rms_norm(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1], valid = c->n[2];
  if (!rows_types(r, 1, ROWS_FLOATS) || !shape_ok(r, 1)) return;
  if (!rows_apart(r, 0, m * k, 2, k, "dst and gamma")) return;
  int64_t need = acsim_tmp_rmsnorm(k, rows_es(r, 1));
  rows_use u[] = {
      {0, "dst", m * k, OUT}, {1, "src", m * k, IN | (valid < k ? ACSIM_SOFT : 0)}, {2, "gamma", k, IN | ACSIM_SOFT}};
  if (!rows_use_all(r, u, 3, need)) return;
  float *v = rows_scratch(r, 0, k), back = 1.0f / (float)valid;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < valid; j++) v[j] = rows_get(r, 1, i * k + j) * rows_get(r, 1, i * k + j) * back;
    float rstd = rstd_of(rows_sum(r, v, valid), (float)c->f[0]);
    for (int64_t j = 0; j < k; j++) rows_put(r, 0, i * k + j, rows_get(r, 1, i * k + j) * rstd * rows_get(r, 2, j));
    if (valid < k)
      memset(acsim_state(r->b, c->t[0], (i * k + valid) * rows_es(r, 0)), 0, (size_t)((k - valid) * rows_es(r, 0)));
  }
}

/* dst, mean, "rstd", src, gx, beta, gamma; f: alpha, epsilon. The page's own example shows the variance in rstd. */
static void deep_norm(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1], valid = c->n[2], es = rows_es(r, 3);
  if (!rows_types(r, 3, ROWS_FLOATS) || !shape_ok(r, 3)) return;
  if (k > 2040) {
    rows_bad_shape(r, "a row has 2040 elements at most");
    return;
  }
  if (!c->reuse && !rows_apart(r, 0, m * k, 3, m * k, "dst and src")) return;
  int64_t need = acsim_tmp_layernorm(m, k, es, c->reuse);
  int soft = valid < k ? ACSIM_SOFT : 0;
  rows_use u[] = {{0, "dst", m * k, OUT},          {1, "mean", m, OUT},         {2, "rstd", m, OUT},
                  {3, "src", m * k, IN | soft},    {4, "gx", m * k, IN | soft}, {5, "beta", k, IN | ACSIM_SOFT},
                  {6, "gamma", k, IN | ACSIM_SOFT}};
  if (!rows_use_all(r, u, 7, need)) return;
  float *v = rows_scratch(r, 0, k), mean, var, alpha = (float)c->f[0];
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < valid; j++) v[j] = alpha * rows_get(r, 3, i * k + j) + rows_get(r, 4, i * k + j);
    moments(r, v, valid, &mean, &var);
    float rstd = rstd_of(var, (float)c->f[1]);
    for (int64_t j = 0; j < k; j++)
      rows_put(r, 0, i * k + j, (j < valid ? (v[j] - mean) * rstd : 0) * rows_get(r, 6, j) + rows_get(r, 5, j));
    if (valid < k) memset(acsim_state(r->b, c->t[0], (i * k + valid) * es), 0, (size_t)((k - valid) * es));
    rows_put(r, 1, i, mean);
    rows_put(r, 2, i, var);
  }
}

/* pd_x, res_for_gamma, dy, x, variance, mean, gamma; f: epsilon */
static void layer_norm_grad(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1], valid = c->n[2], es = rows_es(r, 2);
  if (!rows_types(r, 2, ROWS_FLOATS) || !shape_ok(r, 2)) return;
  int64_t need = acsim_tmp_layernorm_grad(m, k, es, c->reuse);
  int soft = valid < k ? ACSIM_SOFT : 0;
  rows_use u[] = {{0, "outputPdX", m * k, OUT},         {1, "resForGamma", m * k, OUT},
                  {2, "inputDy", m * k, IN | soft},     {3, "inputX", m * k, IN | soft},
                  {4, "inputVariance", m, IN},          {5, "inputMean", m, IN},
                  {6, "inputGamma", k, IN | ACSIM_SOFT}};
  if (!rows_use_all(r, u, 7, need)) return;
  float *g = rows_scratch(r, 0, k), *d = rows_scratch(r, 1, k), *p = rows_scratch(r, 2, k);
  for (int64_t i = 0; i < m; i++) {
    float mean = rows_get(r, 5, i), var = rows_get(r, 4, i) + (float)c->f[0], rstd = 1.0f / sqrtf(var),
          back = 1.0f / (float)valid;
    for (int64_t j = 0; j < valid; j++) {
      g[j] = rows_get(r, 2, i * k + j) * rows_get(r, 6, j);
      d[j] = rows_get(r, 3, i * k + j) - mean;
      p[j] = g[j] * -0.5f * d[j] * (rstd / var);
    }
    float pd_var = rows_sum(r, p, valid);
    for (int64_t j = 0; j < valid; j++) p[j] = d[j];
    float centre = rows_sum(r, p, valid);
    for (int64_t j = 0; j < valid; j++) p[j] = -g[j] * rstd;
    float pd_mean = rows_sum(r, p, valid) - 2.0f * back * pd_var * centre;
    for (int64_t j = 0; j < k; j++) {
      rows_put(r, 0, i * k + j, j < valid ? g[j] * rstd + pd_var * 2.0f * back * d[j] + pd_mean * back : 0);
      rows_put(r, 1, i * k + j, j < valid ? d[j] * rstd : 0);
    }
  }
}

/* pd_gamma, pd_beta, res_for_gamma, dy: sums over the rows */
static void layer_norm_grad_beta(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1];
  if (!rows_types(r, 3, ROWS_FLOATS) || !shape_ok(r, 3)) return;
  rows_use u[] = {{0, "outputPdGamma", k, OUT},
                  {1, "outputPdBeta", k, OUT},
                  {2, "resForGamma", m * k, IN | ACSIM_SOFT},
                  {3, "inputDy", m * k, IN | ACSIM_SOFT}};
  if (!rows_use_all(r, u, 4, acsim_tmp_layernorm_grad_beta(k, rows_es(r, 3)))) return;
  for (int64_t j = 0; j < k; j++) {
    float gamma = 0, beta = 0;
    for (int64_t i = 0; i < m; i++) {
      gamma += rows_get(r, 2, i * k + j) * rows_get(r, 3, i * k + j);
      beta += rows_get(r, 3, i * k + j);
    }
    rows_put(r, 0, j, gamma);
    rows_put(r, 1, j, beta);
  }
}

/* output, rstd, mean, variance, x, gamma, beta */
static void normalize(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t m = c->n[0], k = c->n[1], valid = c->n[2], es = rows_es(r, 4);
  bool gamma = !(c->flags & ACSIM_NORM_NO_GAMMA), beta = !(c->flags & ACSIM_NORM_NO_BETA),
       stats = !(c->flags & ACSIM_NORM_NO_STATS);
  if (!rows_types(r, 4, ROWS_FLOATS) || !shape_ok(r, 4)) return;
  if (!rows_apart(r, 0, m * k, 4, m * k, "dst and src")) return;
  rows_use u[] = {{0, "output", m * k, OUT},
                  {1, "outputRstd", m, stats ? OUT : 0},
                  {2, "inputMean", m, IN},
                  {3, "inputVariance", m, IN},
                  {4, "inputX", m * k, IN | (valid < k ? ACSIM_SOFT : 0)},
                  {5, "gamma", k, gamma ? IN | ACSIM_SOFT : 0},
                  {6, "beta", k, beta ? IN | ACSIM_SOFT : 0}};
  if (!rows_use_all(r, u, 7, acsim_tmp_normalize(m, k, gamma ? rows_es(r, 5) : es))) return;
  for (int64_t i = 0; i < m; i++) {
    float mean = rows_get(r, 2, i), rstd = rstd_of(rows_get(r, 3, i), (float)c->f[0]);
    for (int64_t j = 0; j < valid; j++) {
      float y = (rows_get(r, 4, i * k + j) - mean) * rstd;
      if (gamma) y *= rows_get(r, 5, j);
      if (beta) y += rows_get(r, 6, j);
      rows_put(r, 0, i * k + j, y);
    }
    if (valid < k) memset(acsim_state(r->b, c->t[0], (i * k + valid) * es), 0, (size_t)((k - valid) * es));
    if (stats) rows_put(r, 1, i, rstd);
  }
}

/* mean, variance, mean before, variance before, x; n: rn, ab, how many of ab count; f: 1 / number of calls so far */
static void welford_update(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t ab = c->n[1], valid = c->n[2], es = rows_es(r, 4);
  if (!rows_types(r, 4, ROWS_FLOATS) || !rows_types(r, 0, 1u << ACSIM_F32)) return;
  if (c->n[0] != 1 || valid < 1 || valid > ab || ab * es % ROW_BLOCK) {
    rows_bad_shape(r, "rnLength must be 1, abLength a multiple of 32 bytes, 0 < abComputeLength <= abLength");
    return;
  }
  for (int i = 0; i < 2; i++)
    for (int j = 2; j < 5; j++)
      if (!rows_apart(r, i, ab, j, ab, "a result and a source")) return;
  int64_t need = acsim_tmp_welford_update(es, c->reuse);
  rows_use u[] = {{0, "outputMean", valid, OUT},
                  {1, "outputVariance", valid, OUT},
                  {2, "inputMean", valid, IN},
                  {3, "inputVariance", valid, IN},
                  {4, "inputX", valid, IN}};
  if (!rows_use_all(r, u, 5, need)) return;
  for (int64_t j = 0; j < valid; j++) {
    float x = rows_get(r, 4, j), old = rows_get(r, 2, j), mean = old + (x - old) * (float)c->f[0];
    rows_put(r, 1, j, rows_get(r, 3, j) + (x - old) * (x - mean));
    rows_put(r, 0, j, mean);
  }
}

/* mean, variance, means, variances, counts or NULL; n: rn, ab, head count, head length, tail count, tail length; f: 1/ab, 1/r. One block
 * each is written: the value, then zeros (impl/adv_api/detail/normalization/welfordfinalize). */
static void welford_finalize(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t ab = c->n[1], head = c->n[3];
  bool counts = c->t[4] != NULL, tail = c->n[4] && c->n[5];
  if (ab < 1 || ab % 8 || (!counts && c->n[3] + c->n[5] != ab) || (!counts && !c->n[4] && c->n[5])) {
    rows_bad_shape(r, "abLength must be a multiple of 8 and the sum of headCountLength and tailCountLength, and "
                      "tailCount may be 0 only without tailCountLength");
    return;
  }
  rows_use u[] = {{0, "outputMean", 8, OUT},
                  {1, "outputVariance", 8, OUT},
                  {2, "inputMean", ab, IN},
                  {3, "inputVariance", ab, IN},
                  {4, "counts", ab, counts ? IN : 0}};
  if (!rows_apart(r, 0, 8, 2, ab, "a result and a source") || !rows_apart(r, 1, 8, 3, ab, "a result and a source") ||
      !rows_use_all(r, u, 5, acsim_tmp_welford_finalize()))
    return;
  float *v = rows_scratch(r, 0, ab), *w = rows_scratch(r, 2, ab), ab_back = (float)c->f[0], r_back = (float)c->f[1];
  for (int64_t i = 0; i < ab; i++)
    w[i] = counts ? (float)((const int32_t *)rows_data(r, 4))[i]
                  : (float)(tail ? i < head ? c->n[2] : c->n[4] : c->n[0]);
  for (int64_t i = 0; i < ab; i++)
    v[i] = counts || tail ? rows_get(r, 2, i) * w[i] * r_back : rows_get(r, 2, i) * ab_back;
  float mean = rows_sum(r, v, ab);
  for (int64_t i = 0; i < ab; i++) {
    float d = rows_get(r, 2, i) - mean;
    v[i] = (rows_get(r, 3, i) + d * d * w[i]) * r_back;
  }
  float var = rows_sum(r, v, ab);
  for (int i = 0; i < 8; i++) rows_put(r, 0, i, i ? 0 : mean), rows_put(r, 1, i, i ? 0 : var);
}

/* output, mean, variance, x, gamma, beta; n: n, c, h*w, h*w as it is laid out, groups. Every channel is padded to whole blocks. */
static void group_norm(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t N = c->n[0], C = c->n[1], hw = c->n[2], line = c->n[3], G = c->n[4], es = rows_es(r, 3);
  if (!rows_types(r, 3, ROWS_FLOATS)) return;
  if (N < 1 || G < 1 || C < 1 || C % G || hw < 1 || hw > line || line * es % ROW_BLOCK) {
    rows_bad_shape(r, "the groups must divide the channels, and a channel's H * W fills whole blocks of 32 bytes");
    return;
  }
  int64_t D = C / G, all = N * C * line, need = acsim_tmp_groupnorm(N, C, line, G, es, c->reuse);
  rows_use u[] = {{0, "output", all, OUT},
                  {1, "outputMean", N * G, OUT},
                  {2, "outputVariance", N * G, OUT},
                  {3, "inputX", all, IN | (hw < line ? ACSIM_SOFT : 0)},
                  {4, "gamma", C, IN},
                  {5, "beta", C, IN}};
  if (!rows_use_all(r, u, 6, need)) return;
  float *v = rows_scratch(r, 0, D * hw), mean, var;
  for (int64_t g = 0; g < N * G; g++) {
    for (int64_t d = 0; d < D; d++)
      for (int64_t j = 0; j < hw; j++) v[d * hw + j] = rows_get(r, 3, (g * D + d) * line + j);
    moments(r, v, D * hw, &mean, &var);
    float rstd = rstd_of(var, (float)c->f[0]);
    for (int64_t d = 0; d < D; d++) {
      float gamma = rows_get(r, 4, g % G * D + d), beta = rows_get(r, 5, g % G * D + d);
      int64_t at = (g * D + d) * line;
      for (int64_t j = 0; j < hw; j++) rows_put(r, 0, at + j, (v[d * hw + j] - mean) * rstd * gamma + beta);
      if (hw < line) memset(acsim_state(r->b, c->t[0], (at + hw) * es), 0, (size_t)((line - hw) * es));
    }
    rows_put(r, 1, g, mean);
    rows_put(r, 2, g, var);
  }
}

/* output, mean, variance, x, gamma, beta; n: B, S * H. The moments are over B, gamma and beta have one value each of it. */
static void batch_norm(const rows_call *r) {
  const acsim_rows *c = r->c;
  int64_t B = c->n[0], sh = c->n[1], es = rows_es(r, 3);
  if (!rows_types(r, 3, ROWS_FLOATS)) return;
  if (B < 1 || sh < 1 || sh * es % ROW_BLOCK) {
    rows_bad_shape(r, "S * H must fill whole blocks of 32 bytes");
    return;
  }
  int64_t need = acsim_tmp_batchnorm(B, sh, es, c->flags & 1);
  rows_use u[] = {{0, "output", B * sh, OUT}, {1, "outputMean", sh, OUT}, {2, "outputVariance", sh, OUT},
                  {3, "inputX", B * sh, IN},  {4, "gamma", B, IN},        {5, "beta", B, IN}};
  if (!rows_use_all(r, u, 6, need)) return;
  float *v = rows_scratch(r, 0, B), back = 1.0f / (float)B;
  for (int64_t j = 0; j < sh; j++) {
    float mean = 0, var = 0;
    for (int64_t i = 0; i < B; i++) v[i] = rows_get(r, 3, i * sh + j), mean += v[i] * back;
    for (int64_t i = 0; i < B; i++) var += (v[i] - mean) * (v[i] - mean) * back;
    float rstd = rstd_of(var, (float)c->f[0]);
    for (int64_t i = 0; i < B; i++)
      rows_put(r, 0, i * sh + j, (v[i] - mean) * rstd * rows_get(r, 4, i) + rows_get(r, 5, i));
    rows_put(r, 1, j, mean);
    rows_put(r, 2, j, var);
  }
}

int64_t acsim_rows_norm(const rows_call *r) {
  switch (r->c->op) {
  case ACSIM_ROWS_LayerNorm:
  case ACSIM_ROWS_LayerNormRstd: layer_norm(r); break;
  case ACSIM_ROWS_RmsNorm: rms_norm(r); break;
  case ACSIM_ROWS_DeepNorm: deep_norm(r); break;
  case ACSIM_ROWS_LayerNormGrad: layer_norm_grad(r); break;
  case ACSIM_ROWS_LayerNormGradBeta: layer_norm_grad_beta(r); break;
  case ACSIM_ROWS_Normalize: normalize(r); break;
  case ACSIM_ROWS_WelfordUpdate: welford_update(r); break;
  case ACSIM_ROWS_WelfordFinalize: welford_finalize(r); break;
  case ACSIM_ROWS_GroupNorm: group_norm(r); break;
  default: batch_norm(r); break;
  }
  return 0;
}
