/* What each program of data/examples means: a plain formula in double, written from the mathematics and not from the program, and the sizes
 * at which it holds. A row a program; tests/cli/test_examples.c demands one of every file. */
#ifndef EXAMPLE_REFS_H
#define EXAMPLE_REFS_H

#include "direct_support.h"

#include <math.h>

enum { MAX_TENSORS = 16, MAX_ATTRS = 8 };

/* One run: tensors in the program's order. */
typedef struct {
  const ac_sim_tensor *t;
  int n;
  double *x[MAX_TENSORS];    /* what the tensor holds before the run */
  double *want[MAX_TENSORS]; /* what outputs must hold after it */
  int64_t len[MAX_TENSORS];
  double attr[MAX_ATTRS]; /* by the program's list; the defaults */
} view;
typedef void (*formula)(view *v);

/* Of tensor k: the last dimension, and how many rows of it there are. */
static inline int64_t cols_of(const view *v, int k) {
  return v->t[k].rank ? v->t[k].shape[v->t[k].rank - 1] : 1;
}
static inline int64_t rows_of(const view *v, int k) {
  int64_t c = cols_of(v, k);
  return c ? v->len[k] / c : 0;
}

/* Element by element: a, b, c and d of the first four tensors, i the element's number. */
#define ELEMENTS(name, out, expr)                                                          \
  static void name(view *v) {                                                              \
    for (int64_t i = 0; i < v->len[out]; i++) {                                            \
      double a = v->x[0][i], b = v->n > 2 ? v->x[1][i] : 0, c = v->n > 3 ? v->x[2][i] : 0, \
             d = v->n > 4 ? v->x[3][i] : 0;                                                \
      (void)a, (void)b, (void)c, (void)d;                                                  \
      v->want[out][i] = expr;                                                              \
    }                                                                                      \
  }
/* Rows of the first tensor: R of them, C long; X(i, j) an element, Y(k, i, j) one of output k that has as long rows. */
#define ROWS                                    \
  int64_t R = rows_of(v, 0), C = cols_of(v, 0); \
  (void)R, (void)C
#define X(i, j) v->x[0][(i)*C + (j)]
#define Y(k, i, j) v->want[k][(i)*C + (j)]
#define EACH_ROW for (int64_t i = 0; i < R; i++)
#define EACH_COL for (int64_t j = 0; j < C; j++)

/* ---- activation ---- */

ELEMENTS(r_relu, 1, fmax(a, 0))
ELEMENTS(r_celu, 1, a > 0 ? a : v->attr[0] * expm1(a / v->attr[0]))
ELEMENTS(r_gelu, 1, 0.5 * a * (1 + erf(a / sqrt(2))))
ELEMENTS(r_hardswish, 1, a *fmin(fmax(a + 3, 0), 6) / 6)
ELEMENTS(r_mish, 1, a *tanh(log1p(exp(a))))
ELEMENTS(r_softplus, 1, log1p(exp(a)))

/* Along dimension 1 of outer x axis x inner. */
static void r_log_softmax(view *v) {
  int64_t outer = v->t[0].shape[0], axis = v->t[0].shape[1], inner = v->len[0] / (outer * axis);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t k = 0; k < inner; k++) {
      const double *x = v->x[0] + o * axis * inner + k;
      double *y = v->want[1] + o * axis * inner + k, top = -INFINITY, sum = 0;
      for (int64_t j = 0; j < axis; j++) top = fmax(top, x[j * inner]);
      for (int64_t j = 0; j < axis; j++) sum += exp(x[j * inner] - top);
      for (int64_t j = 0; j < axis; j++) y[j * inner] = x[j * inner] - top - log(sum);
    }
}
static void r_softmax(view *v) {
  ROWS;
  EACH_ROW {
    double top = -INFINITY, sum = 0;
    EACH_COL top = fmax(top, X(i, j));
    EACH_COL sum += exp(X(i, j) - top);
    EACH_COL Y(1, i, j) = exp(X(i, j) - top) / sum;
  }
}

/* ---- broadcast ---- */

static void r_channel_bias(view *v) { /* N x C x H x W and C x 1 x 1 */
  int64_t channels = v->t[0].shape[1], area = v->t[0].shape[2] * v->t[0].shape[3];
  for (int64_t i = 0; i < v->len[0]; i++) v->want[2][i] = v->x[0][i] + v->x[1][i / area % channels];
}
static void r_scaled_silu(view *v) {
  ROWS;
  EACH_ROW EACH_COL {
    double z = X(i, j) * v->x[1][i] + v->x[2][j];
    Y(3, i, j) = z / (1 + exp(-z));
  }
}

/* ---- cast, math, mask ---- */

ELEMENTS(r_first, 1, a)
ELEMENTS(r_dequantize, 1, (a - v->attr[1]) * v->attr[0])
ELEMENTS(r_quantize, 1, fmin(fmax(rint((double)((float)a / (float)v->attr[0])), -128), 127))
ELEMENTS(r_numbers, 1, v->attr[0] + (double)i * v->attr[1])
ELEMENTS(r_root, 1, sqrt(a))
ELEMENTS(r_scale, 1, a * v->attr[0] + v->attr[1])
ELEMENTS(r_close, 2, fabs(a - b) <= v->attr[1] + v->attr[0] * fabs(b))
ELEMENTS(r_filled, 2, b != 0 ? v->attr[0] : a)
ELEMENTS(r_where, 3, a > 0 ? b : c)
ELEMENTS(r_copysign, 2, copysign(a, b))
ELEMENTS(r_gamma, 1, round(255 * pow(a / 255, v->attr[0])))
ELEMENTS(r_logaddexp, 2, fmax(a, b) + log1p(exp(-fabs(a - b))))
ELEMENTS(polar_x, 2, a *cos(b))
ELEMENTS(polar_y, 3, a *sin(b))
ELEMENTS(r_abs, 1, fabs(a))
static void r_polar(view *v) {
  polar_x(v);
  polar_y(v);
}
static void r_clock(view *v) {
  for (int64_t i = 0; i < v->len[0]; i++) {
    double day = v->x[0][i] - 86400 * floor(v->x[0][i] / 86400);
    v->want[1][i] = floor(day / 3600) * 100 + fmod(floor(day / 60), 60);
  }
}
static void r_lcg(view *v) {
  for (int64_t i = 0; i < v->len[0]; i++) {
    uint64_t z = (uint64_t)((const int64_t *)v->t[0].data)[i] * 6364136223846793005ull + 1442695040888963407ull;
    v->want[1][i] = fabs((double)((int64_t)z >> 33));
  }
}

/* ---- index, sort ---- */

static double inside(double i, int64_t n) {
  return fmin(fmax(i, 0), (double)(n - 1));
}
static void r_embedding(view *v) {
  ROWS;
  for (int64_t i = 0; i < v->len[1]; i++) EACH_COL Y(2, i, j) = X((int64_t)inside(v->x[1][i], R), j);
}
static void r_positive(view *v) {
  ROWS;
  EACH_ROW {
    int64_t n = 0;
    EACH_COL Y(1, i, j) = 0;
    EACH_COL if (X(i, j) > 0) Y(1, i, n++) = X(i, j);
    v->want[2][i] = (double)n;
  }
}
static void r_transpose(view *v) {
  ROWS;
  EACH_ROW EACH_COL v->want[1][j * R + i] = X(i, j);
}
/* Where the best, the second best, ... of a row are: of equal ones the first comes first. */
static const double *order_row;
static double order_sign;
static int order_compare(const void *p, const void *q) {
  int64_t i = *(const int64_t *)p, j = *(const int64_t *)q;
  double x = order_sign * order_row[i], y = order_sign * order_row[j];
  return x < y ? -1 : x > y ? 1 : i < j ? -1 : i > j;
}
static int64_t *row_order(const double *row, int64_t n, bool descending) {
  int64_t *at = malloc(sizeof *at * (size_t)(n + 1));
  assert_non_null(at);
  for (int64_t j = 0; j < n; j++) at[j] = j;
  order_row = row;
  order_sign = descending ? -1 : 1;
  qsort(at, (size_t)n, sizeof *at, order_compare);
  return at;
}
static void r_sort(view *v) {
  ROWS;
  EACH_ROW {
    int64_t *at = row_order(&X(i, 0), C, false);
    EACH_COL Y(1, i, j) = X(i, at[j]);
    EACH_COL Y(2, i, j) = (double)at[j];
    free(at);
  }
}
static void r_topk(view *v) {
  ROWS;
  EACH_ROW {
    int64_t *at = row_order(&X(i, 0), C, true);
    for (int64_t k = 0; k < 8; k++) {
      v->want[1][i * 8 + k] = X(i, at[k]);
      v->want[2][i * 8 + k] = (double)at[k];
    }
    free(at);
  }
}

/* ---- loss ---- */

static void r_cross_entropy(view *v) {
  ROWS;
  EACH_ROW {
    double top = -INFINITY, sum = 0;
    EACH_COL top = fmax(top, X(i, j));
    EACH_COL sum += exp(X(i, j) - top);
    v->want[2][i] = log(sum) + top - X(i, (int64_t)inside(v->x[1][i], C));
  }
}

/* ---- reductions ---- */

static void r_row_sum(view *v) {
  ROWS;
  EACH_ROW {
    double sum = 0;
    EACH_COL sum += X(i, j);
    v->want[1][i] = sum;
  }
}
static void r_sum(view *v) {
  v->want[1][0] = 0;
  for (int64_t i = 0; i < v->len[0]; i++) v->want[1][0] += v->x[0][i];
}
static void r_argmax(view *v) {
  ROWS;
  EACH_ROW {
    int64_t best = 0;
    EACH_COL if (X(i, j) > X(i, best)) best = j;
    v->want[1][i] = (double)best;
    v->want[2][i] = X(i, best);
  }
}
static void r_column_max(view *v) {
  ROWS;
  EACH_COL v->want[1][j] = -INFINITY;
  EACH_ROW EACH_COL v->want[1][j] = fmax(v->want[1][j], X(i, j));
}
static void r_histogram(view *v) {
  for (int k = 0; k < 16; k++) v->want[1][k] = 0;
  for (int64_t i = 0; i < v->len[0]; i++)
    if (v->x[0][i] >= 0 && v->x[0][i] < 16) v->want[1][(int)v->x[0][i]]++;
}
static void r_cumsum(view *v) {
  ROWS;
  EACH_ROW {
    double sum = 0;
    EACH_COL Y(1, i, j) = sum += X(i, j);
  }
}

/* ---- normalisation ---- */

static void r_layer_norm(view *v) { /* x, weight, bias -> y */
  ROWS;
  EACH_ROW {
    double mean = 0, var = 0;
    EACH_COL mean += X(i, j) / (double)C;
    EACH_COL var += (X(i, j) - mean) * (X(i, j) - mean) / (double)C;
    EACH_COL Y(3, i, j) = (X(i, j) - mean) / sqrt(var + v->attr[0]) * v->x[1][j] + v->x[2][j];
  }
}
static void r_rms_norm(view *v) { /* x, weight -> y */
  ROWS;
  EACH_ROW {
    double mean = 0;
    EACH_COL mean += X(i, j) * X(i, j) / (double)C;
    EACH_COL Y(2, i, j) = X(i, j) / sqrt(mean + v->attr[0]) * v->x[1][j];
  }
}

/* ---- optimizers ---- */

static void r_adam(view *v) { /* param, grad, m, v -> new_param, new_m, new_v */
  for (int64_t i = 0; i < v->len[0]; i++) {
    double g = v->x[1][i], m = 0.9 * v->x[2][i] + 0.1 * g, s = 0.999 * v->x[3][i] + 0.001 * g * g;
    v->want[4][i] = v->x[0][i] - 0.001 * m / (sqrt(s) + 1e-8);
    v->want[5][i] = m;
    v->want[6][i] = s;
  }
}
static void r_sgd(view *v) { /* grad, weight, velocity, energy */
  v->want[3][0] = 0;
  for (int64_t i = 0; i < v->len[0]; i++) {
    double speed = v->attr[1] * v->x[2][i] + v->x[0][i], step = v->attr[0] * speed;
    v->want[1][i] = v->x[1][i] - step;
    v->want[2][i] = speed;
    v->want[3][0] += step * step;
  }
}

/* ---- pooling ---- */

static void r_average_pool(view *v) {
  int64_t area = v->t[0].shape[2] * v->t[0].shape[3];
  for (int64_t k = 0; k < v->len[1]; k++) {
    double sum = 0;
    for (int64_t i = 0; i < area; i++) sum += v->x[0][k * area + i];
    v->want[1][k] = sum / (double)area;
  }
}
static void r_max_pool_1d(view *v) {
  ROWS;
  int64_t out = C / 2;
  EACH_ROW for (int64_t j = 0; j < out; j++) v->want[1][i * out + j] = fmax(X(i, 2 * j), X(i, 2 * j + 1));
}
/* NHWC, window 2 x 2, stride 2: the largest, or the mean. */
static void pool_2d(view *v, bool mean) {
  const int64_t *in = v->t[0].shape, *out = v->t[1].shape;
  for (int64_t k = 0; k < v->len[1]; k++) {
    int64_t c = k % out[3], w = k / out[3] % out[2], h = k / (out[3] * out[2]) % out[1],
            n = k / (out[3] * out[2] * out[1]);
    double best = -INFINITY, sum = 0;
    for (int64_t q = 0; q < 4; q++) {
      double x = v->x[0][((n * in[1] + 2 * h + q / 2) * in[2] + 2 * w + q % 2) * in[3] + c];
      best = fmax(best, x);
      sum += x;
    }
    v->want[1][k] = mean ? sum / 4 : best;
  }
}
static void r_max_pool_2d(view *v) {
  pool_2d(v, false);
}

static void r_average_pool_2d(view *v) {
  pool_2d(v, true);
}
static void r_average_pool_1d(view *v) {
  ROWS;
  int64_t out = C - 2;
  EACH_ROW for (int64_t j = 0; j < out; j++) v->want[1][i * out + j] = (X(i, j) + X(i, j + 1) + X(i, j + 2)) / 3;
}

/* ---- longer rows, several cores, updates in place ---- */

ELEMENTS(r_bce, 2, fmax(a, 0) - a * b + log1p(exp(-fabs(a))))
ELEMENTS(r_silu, 1, a / (1 + exp(-a)))
static void r_swiglu(view *v) {
  ROWS;
  EACH_ROW for (int64_t j = 0; j < C / 2; j++) {
    double g = X(i, j);
    v->want[1][i * (C / 2) + j] = g / (1 + exp(-g)) * X(i, C / 2 + j);
  }
}
static void r_batch_norm(view *v) { /* x, mean, var, weight, bias -> y */
  ROWS;
  EACH_ROW EACH_COL Y(5, i, j) = (X(i, j) - v->x[1][j]) / sqrt(v->x[2][j] + v->attr[0]) * v->x[3][j] + v->x[4][j];
}
static void r_column_sum(view *v) {
  ROWS;
  EACH_COL v->want[1][j] = 0;
  EACH_ROW EACH_COL v->want[1][j] += X(i, j);
}
static void r_cumsum_flat(view *v) {
  double sum = 0;
  for (int64_t i = 0; i < v->len[0]; i++) v->want[1][i] = sum += v->x[0][i];
}
static void r_cummax_columns(view *v) {
  ROWS;
  EACH_ROW EACH_COL Y(1, i, j) = i ? fmax(Y(1, i - 1, j), X(i, j)) : X(i, j);
}
static void r_mse(view *v) {
  double sum = 0;
  for (int64_t i = 0; i < v->len[0]; i++) sum += pow(v->x[0][i] - v->x[1][i], 2);
  v->want[2][0] = sum / (double)v->len[0];
}
static void r_smooth_l1(view *v) {
  double beta = v->attr[0];
  v->want[2][0] = 0;
  for (int64_t i = 0; i < v->len[0]; i++) {
    double d = fabs(v->x[0][i] - v->x[1][i]);
    v->want[2][0] += d < beta ? 0.5 * d * d / beta : d - 0.5 * beta;
  }
}
static void r_adamw(view *v) { /* weight, m, v, grad; rate, beta1, beta2, eps, decay, correct1, correct2 */
  const double *h = v->attr;
  for (int64_t i = 0; i < v->len[0]; i++) {
    double g = v->x[3][i], m = h[1] * v->x[1][i] + (1 - h[1]) * g, s = h[2] * v->x[2][i] + (1 - h[2]) * g * g;
    v->want[0][i] = v->x[0][i] * (1 - h[0] * h[4]) - h[0] * (m / h[5]) / (sqrt(s / h[6]) + h[3]);
    v->want[1][i] = m;
    v->want[2][i] = s;
  }
}
static void r_gather(view *v) {
  ROWS;
  int64_t wide = cols_of(v, 1);
  EACH_ROW for (int64_t j = 0; j < wide; j++) v->want[2][i * wide + j] =
      X(i, (int64_t)inside(v->x[1][i * wide + j], C));
}
static void r_index_add(view *v) { /* y, index, x */
  ROWS;
  for (int64_t i = 0; i < v->len[0]; i++) v->want[0][i] = v->x[0][i];
  for (int64_t i = 0; i < v->len[1]; i++) EACH_COL Y(0, (int64_t)inside(v->x[1][i], R), j) += v->x[2][i * C + j];
}
static void r_quantize_rows(view *v) { /* x -> q, scale */
  ROWS;
  EACH_ROW {
    double top = 0;
    EACH_COL top = fmax(top, fabs(X(i, j)));
    float scale = (float)top / 127.0f;
    v->want[2][i] = scale;
    EACH_COL Y(1, i, j) = rint((double)((float)X(i, j) / scale));
  }
}
static void r_outer_sum(view *v) {
  for (int64_t i = 0; i < v->len[0]; i++)
    for (int64_t j = 0; j < v->len[1]; j++) v->want[2][i * v->len[1] + j] = v->x[0][i] + v->x[1][j];
}
static void r_causal(view *v) {
  ROWS;
  EACH_ROW EACH_COL Y(1, i, j) = j <= i % C ? X(i, j) : (float)v->attr[0];
}

/* ---- the table ---- */

/* `forms`: shapes of all tensors in the program's order, with n for the size; '|' between forms. `values`: a letter for each tensor that
 * is read: r -6 to 6, u -1 to 1, p 0.01 to 6, s whole from -4 to 8, i an index into the first tensor's first dimension and now and then
 * outside of it, j one into its last, b false or true, w any bits. `sizes`: at so many of the seven it must be verified. */
typedef struct {
  const char *path, *forms, *values;
  formula f;
  double rel, abs;
  int sizes;
} example;

#define TWO "3xn 3xn|nx5 nx5"
static const example examples[] = {
    {"activation/celu_half", "n n", "r", r_celu, 2e-3, 1e-3, 7},
    {"activation/gelu", "n n", "r", r_gelu, 1e-3, 1e-3, 7},
    {"activation/hardswish_bf16", "n n", "r", r_hardswish, 0.02, 0.01, 7},
    {"activation/log_softmax", "3xn 3xn|nx5 nx5|2xnx3 2xnx3", "r", r_log_softmax, 2e-3, 1e-3, 7},
    {"activation/mish", "n n", "r", r_mish, 1e-5, 1e-6, 7},
    {"activation/relu", "n n|nx3 nx3", "r", r_relu, 0, 0, 7},
    {"activation/softmax", TWO, "r", r_softmax, 2e-5, 1e-9, 7},
    {"activation/softplus", "n n", "r", r_softplus, 0.01, 1e-3, 7},
    {"broadcast/channel_bias", "2x3xnx1 3x1x1 2x3xnx1|1xnx3x2 nx1x1 1xnx3x2", "rr", r_channel_bias, 1e-6, 1e-6, 7},
    {"broadcast/scaled_silu", "3xn 3x1 n 3xn|nx5 nx1 5 nx5", "rrr", r_scaled_silu, 1e-5, 1e-6, 7},
    {"cast/bf16_to_half", "n n", "r", r_first, 1e-3, 1e-7, 7},
    {"cast/dequantize_uint8", "n n", "w", r_dequantize, 1e-3, 1e-3, 7},
    {"cast/quantize_int8", "n n", "r", r_quantize, 0, 0, 7},
    {"cast/row_numbers", "n n", "r", r_numbers, 0, 0, 7},
    {"host/newton_root", "n n", "p", r_root, 1e-6, 1e-6, 7},
    {"host/tuned_scale", "n n", "r", r_scale, 1e-6, 1e-6, 7},
    {"host/two_strategies", "3xn 3|nx5 n", "s", r_row_sum, 0, 0, 7},
    {"index/embedding", "nx5 13 13x5|7xn 13 13xn|13x5 n nx5", "ri", r_embedding, 0, 0, 7},
    {"index/positive", "3xn 3xn 3|nx5 nx5 n", "r", r_positive, 0, 0, 7},
    {"index/transpose", "3xn nx3|nx5 5xn", "r", r_transpose, 0, 0, 7},
    {"loss/cross_entropy", "3xn 3 3|nx5 n n", "rj", r_cross_entropy, 1e-5, 1e-5, 7},
    {"mask/is_close", "n n n", "ss", r_close, 0, 0, 7},
    {"mask/masked_fill", "n n n", "rb", r_filled, 0, 0, 7},
    {"mask/where_int32", "n n n n", "www", r_where, 0, 0, 7},
    {"math/clock_int32", "n n", "w", r_clock, 0, 0, 7},
    {"math/copysign_bits", "n n n", "rr", r_copysign, 0, 0, 7},
    {"math/gamma_uint8", "n n", "w", r_gamma, 0, 1, 7},
    {"math/lcg_int64", "n n", "w", r_lcg, 0, 0, 7},
    {"math/logaddexp", "n n n", "rr", r_logaddexp, 1e-5, 1e-6, 7},
    {"math/polar", "n n n n", "rr", r_polar, 1e-5, 1e-5, 7},
    {"multicore/histogram", "n 16", "s", r_histogram, 0, 0, 7},
    {"multicore/idle_cores", "3xn 3xn|nx5 nx5|n n", "r", r_abs, 0, 0, 7},
    {"normalization/layer_norm_rows", "3xn n n 3xn|nx5 5 5 nx5", "rrr", r_layer_norm, 2e-4, 2e-4, 7},
    {"normalization/rms_norm_rows", "3xn n 3xn|nx5 5 nx5", "rr", r_rms_norm, 2e-3, 2e-3, 7},
    {"optimizer/adam", "n n n n n n n", "rrrp", r_adam, 1e-5, 1e-6, 7},
    {"optimizer/sgd_momentum", "n n n 1", "sss", r_sgd, 1e-5, 0, 7},
    {"pooling/average_pool", "2x3xnx1 2x3|nx1x3x2 nx1", "r", r_average_pool, 1e-5, 1e-5, 7},
    {"pooling/max_pool_1d", "3xn 3xn/2|nx5 nx2", "r", r_max_pool_1d, 0, 0, 7},
    {"pooling/max_pool_2d", "1xnx6x5 1xn/2x3x5|nx2x3x5 nx1x1x5|1x2xnx3 1x1xn/2x3", "r", r_max_pool_2d, 0, 0, 7},
    {"reduce/argmax_rows", "3xn 3 3|nx5 n n", "s", r_argmax, 0, 0, 7},
    {"reduce/column_max", "3xn n|nx5 5", "r", r_column_max, 0, 0, 7},
    {"reduce/row_sum", "3xn 3|nx5 n", "s", r_row_sum, 0, 0, 7},
    {"reduce/sum_atomic", "n 1|nx3 1", "s", r_sum, 0, 0, 7},
    {"reduce/sum_barrier", "n 1|nx3 1", "s", r_sum, 0, 0, 7},
    {"reduce/sum_two_launches", "n 1|nx3 1", "s", r_sum, 0, 0, 7},
    {"scan/cumsum_rows", TWO, "s", r_cumsum, 0, 0, 7},
    {"softmax/softmax_rows", TWO, "r", r_softmax, 1e-5, 1e-9, 7},
    {"sort/sort_rows", "3xn 3xn 3xn|nx5 nx5 nx5", "r", r_sort, 0, 0, 7},
    {"sort/topk_rows", "3xn 3x8 3x8|nx9 nx8 nx8", "r", r_topk, 0, 0, 7},
    {"activation/silu_aligned", "n+2047/2048*2048 n+2047/2048*2048|n n", "r", r_silu, 1e-5, 1e-6, 7},
    {"activation/swiglu", "3xn*2 3xn|nx10 nx5|3xn 3xn/2", "r", r_swiglu, 2e-3, 1e-3, 7},
    {"broadcast/outer_sum", "3 n 3xn|n 5 nx5", "rr", r_outer_sum, 1e-6, 1e-6, 7},
    {"cast/quantize_rows", "3xn 3xn 3|nx5 nx5 n", "r", r_quantize_rows, 1e-7, 0, 7},
    {"index/gather_columns", "3xn 3x7 3x7|3x7 3xn 3xn|nx5 nx3 nx3", "rj", r_gather, 0, 0, 7},
    {"index/index_add", "13x5 n nx5|3xn 7 7xn|nx5 13 13x5", "sis", r_index_add, 0, 0, 7},
    {"loss/bce_with_logits", "n n n", "rp", r_bce, 1e-5, 1e-5, 7},
    {"loss/mse_mean", "n n 1|3xn 3xn 1", "ss", r_mse, 1e-5, 0, 7},
    {"loss/smooth_l1_sum", "n n 1|3xn 3xn 1", "ss", r_smooth_l1, 1e-6, 0, 7},
    {"mask/causal_rows", "nx3x3 nx3x3|513x513 513x513|7x7 7x7", "r", r_causal, 0, 0, 7},
    {"normalization/batch_norm_inference", "3xn n n n n 3xn|nx5 5 5 5 5 nx5", "rrprr", r_batch_norm, 1e-5, 1e-4, 7},
    {"normalization/layer_norm_welford", "3xn n n 3xn|nx5 5 5 nx5", "rrr", r_layer_norm, 2e-4, 2e-4, 7},
    {"optimizer/adamw_inplace", "n n n n", "rrpr", r_adamw, 1e-3, 1e-4, 7},
    {"pooling/average_pool_1d", "3xn+2 3xn|nx5 nx3", "r", r_average_pool_1d, 1e-6, 1e-6, 7},
    {"pooling/average_pool_2d", "1xnx6x5 1xn/2x3x5|nx2x3x5 nx1x1x5|1x2xnx3 1x1xn/2x3", "r", r_average_pool_2d, 1e-6,
     1e-6, 7},
    {"reduce/column_sum_cores", "3xn n|nx5 5", "s", r_column_sum, 0, 0, 7},
    {"scan/cummax_columns", TWO, "r", r_cummax_columns, 0, 0, 7},
    {"scan/cumsum_cores", "n n|nx3 nx3", "s", r_cumsum_flat, 0, 0, 7},
    {"softmax/softmax_online", TWO, "r", r_softmax, 2e-5, 1e-9, 7},
};

#endif
