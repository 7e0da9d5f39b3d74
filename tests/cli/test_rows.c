/* What works along axes - reductions, broadcasts, scans, transposes, gathers, sorts, parts of buffers with several dimensions - against
 * plain loops, at awkward sizes, without hazards. The first size of each case is compiled as well and gives the same bytes, faults and
 * time; AC_ROWS_FULL=1 compiles at every size. */
#include "direct_support.h"

#include <math.h>

/* ---- cases ---- */

enum { MAX_T = 4 };
typedef struct {
  int64_t r, c; /* rows and columns */
  double *in[MAX_T], *out[MAX_T];
} data;
typedef struct {
  const char *name;
  const char *inputs, *outputs; /* letters: m r x c, t c x r, r rows, c columns, 1 one; after it its dtype: "mf rh" */
  const char *body;             /* the compute block; %T is the dtype of the first input */
  const char *buffers;          /* further buffers */
  void (*ref)(const data *d);
  double tolerance; /* relative to 1 + |reference|; 0: equal */
} tcase;

static ac_dtype dtype_of(char c) {
  switch (c) {
  case 'h': return AC_F16;
  case 'b': return AC_BF16;
  case 'i': return AC_I32;
  case 's': return AC_I16;
  case 'a': return AC_I8;
  case 'u': return AC_U8;
  case 'w': return AC_U32;
  case 'v': return AC_U16;
  case 'l': return AC_I64;
  default: return AC_F32;
  }
}
static ac_shape shape_of(char k, int64_t r, int64_t c) {
  switch (k) {
  case 'm': return (ac_shape){.rank = 2, .dim = {r, c}};
  case 't': return (ac_shape){.rank = 2, .dim = {c, r}};
  case 'r': return (ac_shape){.rank = 1, .dim = {r}};
  case 'c': return (ac_shape){.rank = 1, .dim = {c}};
  case 'p': return (ac_shape){.rank = 2, .dim = {r, c / 2}};
  default: return (ac_shape){.rank = 1, .dim = {1}};
  }
}
static const char *tile_of(char k) {
  switch (k) {
  case 'm': return "tl.arange(0, rows)[:, None] * cols + tl.arange(0, cols)[None, :]";
  case 't': return "tl.arange(0, cols)[:, None] * rows + tl.arange(0, rows)[None, :]";
  case 'r': return "tl.arange(0, rows)";
  case 'c': return "tl.arange(0, cols)";
  default: return "tl.arange(0, 1)";
  }
}
static const char *room_of(char k) {
  switch (k) {
  case 'm': return "(rcap, ccap)";
  case 't': return "(ccap, rcap)";
  case 'r': return "rcap";
  case 'c': return "ccap";
  default: return "8";
  }
}

/* One block: inputs x0, x1, ... to buffers of these names, the body, buffers y0, ... out. */
static char *program_of(const tcase *t, int64_t r, int64_t c) {
  ac_buf o;
  ac_buf_init(&o, b.a);
  const char *in = t->inputs, *out = t->outputs;
  ac_puts(&o, "@ascend_kernel\ndef k(");
  for (int i = 0; in[3 * i]; i++) {
    ac_printf(&o, "g%d, ", i);
    if (!in[3 * i + 2]) break;
  }
  for (int i = 0; out[3 * i]; i++) {
    ac_printf(&o, "h%d, ", i);
    if (!out[3 * i + 2]) break;
  }
  ac_puts(&o, "rows, cols, rcap, ccap):\n");
  for (int side = 0; side < 2; side++)
    for (const char *p = side ? out : in; *p; p += p[2] ? 3 : 2)
      ac_printf(&o, "    %c%d = tl.alloc_ub(%s, tl.%s)\n", side ? 'y' : 'x', (int)((p - (side ? out : in)) / 3),
                room_of(p[0]), ac_dtypes[dtype_of(p[1])].name);
  for (const char *p = t->buffers; p && *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] != 0))
    ac_printf(&o, "    %.*s\n", (int)strcspn(p, "\n"), p);
  ac_puts(&o, "    with tl.copyin():\n");
  for (const char *p = in; *p; p += p[2] ? 3 : 2)
    ac_printf(&o, "        tl.load(g%d + %s, x%d)\n", (int)((p - in) / 3), tile_of(p[0]), (int)((p - in) / 3));
  ac_puts(&o, "    with tl.compute():\n");
  for (const char *p = t->body; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] != 0))
    ac_printf(&o, "        %.*s\n", (int)strcspn(p, "\n"), p);
  ac_puts(&o, "    with tl.copyout():\n");
  for (const char *p = out; *p; p += p[2] ? 3 : 2)
    ac_printf(&o, "        tl.store(h%d + %s, y%d)\n", (int)((p - out) / 3), tile_of(p[0]), (int)((p - out) / 3));
  ac_puts(&o, "\n\ndef host(");
  for (const char *p = in; *p; p += p[2] ? 3 : 2) ac_printf(&o, "g%d, ", (int)((p - in) / 3));
  for (const char *p = out; *p; p += p[2] ? 3 : 2) ac_printf(&o, "%sh%d", p == out ? "" : ", ", (int)((p - out) / 3));
  ac_puts(&o, "):\n    rows, cols = g0.shape\n    k[1](");
  for (const char *p = in; *p; p += p[2] ? 3 : 2) ac_printf(&o, "g%d, ", (int)((p - in) / 3));
  for (const char *p = out; *p; p += p[2] ? 3 : 2) ac_printf(&o, "h%d, ", (int)((p - out) / 3));
  ac_printf(&o, "rows, cols, %lld, %lld)\n", (long long)(r + 3),
            (long long)(c + 5)); /* rooms are no multiples either */
  return ac_strdup(b.a, ac_buf_str(&o));
}

static double *as_doubles(const ac_sim_tensor *t) {
  int64_t n = t->bytes / ac_dtypes[t->dtype].bytes;
  double *v = AC_NEW_N(b.a, double, n + 1);
  for (int64_t i = 0; i < n; i++)
    v[i] = ac_dtypes[t->dtype].cls == AC_FLOATING ? ac_load(t->dtype, t->data, i)
                                                  : (double)ac_load_int(t->dtype, t->data, i);
  return v;
}

static void compare(const tcase *t, const ac_sim_tensor *x, int64_t n, const double *want, int64_t r, int64_t c) {
  double *got = as_doubles(x);
  for (int64_t i = 0; i < n; i++) {
    bool same = got[i] == want[i] || (isnan(got[i]) && isnan(want[i])) ||
                fabs(got[i] - want[i]) <= t->tolerance * (1 + fabs(want[i]));
    if (!same)
      fail_msg("%s at %lld x %lld: %s[%lld] is %.9g, not %.9g", t->name, (long long)r, (long long)c, x->name,
               (long long)i, got[i], want[i]);
  }
}

static double value_of(ac_dtype d, uint64_t *seed, int64_t i, bool index, int64_t limit) {
  *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
  int64_t k = (int64_t)(*seed >> 33);
  if (index) return (double)(k % limit);
  if (ac_dtypes[d].cls == AC_FLOATING) return (double)(k % 2001 - 1000) / 256.0 + (i % 97 == 50 ? 20 : 0);
  if (ac_dtypes[d].cls == AC_UNSIGNED && ac_dtypes[d].bytes > 1) return (double)(d == AC_U16 ? k % 65536 : k * 2);
  if (ac_dtypes[d].cls == AC_UNSIGNED) return (double)(k % 200);
  return (double)(ac_dtypes[d].bytes == 1 ? k % 200 - 100 : k % 20001 - 10000);
}

static const char *tensor_of(const ac_program *p, bool out, int n) {
  for (size_t i = 0; i < p->tensors.len; i++)
    if ((p->tensors.data[i].dir == AC_TENSOR_OUT) == out && n-- == 0) return p->tensors.data[i].name;
  fail_msg("the program has fewer tensors");
  return NULL;
}

/* False: refused, which only programs of our own do. */
static bool one(const tcase *t, int64_t r, int64_t c, bool compile) {
  bool own = !strchr(t->body, '(');
  const char *text =
      own ? ac_read_file(b.a, ac_sprintf(b.a, "%s/data/examples/%s.craft", AC_SOURCE_DIR, t->body), 0, NULL, &b.d)
          : program_of(t, r, c);
  assert_non_null(text);
  ac_program *p = lowered(&b, t->name, text);
  args x = {0};
  data d = {.r = r, .c = c};
  int n_in = 0, n_out = 0;
  int64_t valid[MAX_T];
  uint64_t seed = (uint64_t)(r * 7919 + c);
  for (const char *q = t->inputs; *q; q += q[2] ? 3 : 2) {
    ac_shape s = shape_of(q[0], r, c);
    add_tensor(&x, own ? tensor_of(p, false, n_in) : ac_sprintf(b.a, "g%d", n_in), dtype_of(q[1]), &s, false);
    ac_sim_tensor *y = &x.t[x.n - 1];
    int64_t n = y->bytes / ac_dtypes[y->dtype].bytes;
    for (int64_t i = 0; i < n; i++) {
      double v = value_of(y->dtype, &seed, i, n_in > 0 && y->dtype == AC_I32, c);
      if (ac_dtypes[y->dtype].cls == AC_FLOATING)
        ac_store(y->dtype, y->data, i, v);
      else
        ac_store_int(y->dtype, y->data, i, (int64_t)v);
    }
    d.in[n_in++] = as_doubles(y);
  }
  for (const char *q = t->outputs; *q; q += q[2] ? 3 : 2) {
    ac_shape s = shape_of(q[0], r, c);
    ac_shape first = shape_of('m', r, c); /* what InferShape says without a graph; the rest is not looked at */
    add_tensor(&x, own ? tensor_of(p, true, n_out) : ac_sprintf(b.a, "h%d", n_out), dtype_of(q[1]), own ? &s : &first,
               true);
    valid[n_out] = ac_shape_numel(&s);
    d.out[n_out++] = AC_NEW_N(b.a, double, ac_shape_numel(&s) + 1);
  }
  ac_sim_result res;
  ac_sim_opts o = {.in_process = true};
  memset(x.t[n_in].data, 0xa5, (size_t)x.t[n_in].bytes);
  bool ok = ac_sim_run_program(b.a, p, p->chip, x.t, x.n, NULL, 0, &o, &res, &b.d);
  if (!ok) ac_diags_print(&b.d, stderr, false);
  if (own && ok && res.refused) {
    free_args(&x);
    return false;
  }
  if (!ok || res.refused)
    failed(text, "%s at %lld x %lld could not be run: %s", t->name, (long long)r, (long long)c,
           res.refused ? res.refused : "");
  for (size_t i = 0; i < res.faults.len; i++)
    if (strcmp(res.faults.data[i].kind, "never-written") != 0)
      failed(text, "%s at %lld x %lld: line %d: %s: %s", t->name, (long long)r, (long long)c, res.faults.data[i].line,
             res.faults.data[i].kind, res.faults.data[i].message);
  t->ref(&d);
  for (int i = 0; i < n_out; i++) compare(t, &x.t[n_in + i], valid[i], d.out[i], r, c);
  if (compile) run_both(&b, text, p, compiled(&b, p, NULL), &x, AC_ORDER_FORWARD, 1);
  free_args(&x);
  return true;
}

static const int64_t sizes[][2] = {{9, 77},   {1, 1},   {3, 7},   {8, 64},  {2, 2049}, {5, 513}, {17, 130},
                                   {300, 33}, {64, 16}, {257, 9}, {70, 40}, {1, 4097}, {41, 101}};

/* What the buffers of a case take in UB; rows are on 32 bytes. */
static int64_t room(const tcase *t, int64_t r, int64_t c) {
  int64_t sum = 0;
  for (int side = 0; side < 2; side++)
    for (const char *p = side ? t->outputs : t->inputs; *p; p += p[2] ? 3 : 2) {
      ac_shape s = shape_of(p[0], r + 3, c + 5);
      int64_t bytes = ac_dtypes[dtype_of(p[1])].bytes;
      s.dim[s.rank - 1] = (s.dim[s.rank - 1] * bytes + 31) / 32 * 32;
      sum += ac_shape_numel(&s);
    }
  return sum;
}

static void run_case(const tcase *t) {
  bool full = getenv("AC_ROWS_FULL") != NULL;
  for (size_t i = 0; i < AC_COUNT(sizes); i++)
    if (room(t, sizes[i][0], sizes[i][1]) < 80000)
      (void)one(t, sizes[i][0], sizes[i][1], full || (i == 0 && getenv("AC_ROWS_COMPILED")));
}

/* ---- references ---- */

#define ROWS(d) for (int64_t i = 0; i < (d)->r; i++)
#define COLS(d) for (int64_t j = 0; j < (d)->c; j++)
#define AT(p, d, i, j) (p)[(i) * (d)->c + (j)]

static void ref_row_sum(const data *d) {
  ROWS(d) COLS(d) d->out[0][i] += AT(d->in[0], d, i, j);
}
static void ref_col_sum(const data *d) {
  ROWS(d) COLS(d) d->out[0][j] += AT(d->in[0], d, i, j);
}
static void ref_all_sum(const data *d) {
  ROWS(d) COLS(d) d->out[0][0] += AT(d->in[0], d, i, j);
}
static void ref_row_max(const data *d) {
  ROWS(d) COLS(d) if (!j || AT(d->in[0], d, i, j) > d->out[0][i]) d->out[0][i] = AT(d->in[0], d, i, j);
}
static void ref_col_min(const data *d) {
  ROWS(d) COLS(d) if (!i || AT(d->in[0], d, i, j) < d->out[0][j]) d->out[0][j] = AT(d->in[0], d, i, j);
}
static void ref_row_sum16(const data *d) {
  ref_row_sum(d);
  ROWS(d) d->out[0][i] = (double)(int16_t)(int64_t)d->out[0][i];
}
static void ref_col_sum16(const data *d) {
  ref_col_sum(d);
  COLS(d) d->out[0][j] = (double)(int16_t)(int64_t)d->out[0][j];
}
static void ref_row_sum8(const data *d) {
  ref_row_sum(d);
  ROWS(d) d->out[0][i] = (double)(int8_t)(int64_t)d->out[0][i];
}
static void ref_row_sum_u8(const data *d) {
  ref_row_sum(d);
  ROWS(d) d->out[0][i] = (double)(uint8_t)(int64_t)d->out[0][i];
}
static void ref_row_sum_u16(const data *d) {
  ref_row_sum(d);
  ROWS(d) d->out[0][i] = (double)(uint16_t)(int64_t)d->out[0][i];
}
static void ref_row_sum_u32(const data *d) {
  ref_row_sum(d);
  ROWS(d) d->out[0][i] = (double)(uint32_t)(int64_t)d->out[0][i];
}
static void ref_col_sum_u16(const data *d) {
  ref_col_sum(d);
  COLS(d) d->out[0][j] = (double)(uint16_t)(int64_t)d->out[0][j];
}
static void ref_all_sum8(const data *d) {
  ref_all_sum(d);
  d->out[0][0] = (double)(int8_t)(int64_t)d->out[0][0];
}
static void ref_row_prod32(const data *d) {
  ROWS(d) {
    uint32_t v = 1;
    COLS(d) v *= (uint32_t)(int64_t)AT(d->in[0], d, i, j);
    d->out[0][i] = (double)(int32_t)v;
  }
}
static void ref_row_prod(const data *d) {
  ROWS(d) {
    double v = 1;
    COLS(d) v *= AT(d->in[0], d, i, j) / 16 + 1;
    d->out[0][i] = v;
  }
}
static void ref_argmax(const data *d) {
  ROWS(d) COLS(d) if (AT(d->in[0], d, i, j) > AT(d->in[0], d, i, (int64_t)d->out[0][i])) d->out[0][i] = (double)j;
  ROWS(d) d->out[1][i] = AT(d->in[0], d, i, (int64_t)d->out[0][i]);
}
static void ref_argmin_col(const data *d) {
  ROWS(d) COLS(d) if (AT(d->in[0], d, i, j) < AT(d->in[0], d, (int64_t)d->out[0][j], j)) d->out[0][j] = (double)i;
}
static void ref_broadcast_row(const data *d) { /* each row its own first element */
  ROWS(d) COLS(d) AT(d->out[0], d, i, j) = d->in[1][i];
}
static void ref_broadcast_col(const data *d) {
  ROWS(d) COLS(d) AT(d->out[0], d, i, j) = d->in[1][j];
}
static void ref_transpose(const data *d) {
  ROWS(d) COLS(d) d->out[0][j * d->r + i] = AT(d->in[0], d, i, j);
}
/* The first half of the rows, and sevens that it leaves alone. */
static void ref_transpose_half(const data *d) {
  ROWS(d) COLS(d) d->out[0][j * d->r + i] = i < d->r / 2 + 1 ? AT(d->in[0], d, i, j) : 7;
}
/* The first half of the columns. */
static void ref_cumsum_half(const data *d) {
  ROWS(d) {
    double sum = 0;
    COLS(d) AT(d->out[0], d, i, j) = j < d->c / 2 + 1 ? (sum += AT(d->in[0], d, i, j)) : 7;
  }
}
static void ref_copy(const data *d) {
  ROWS(d) COLS(d) AT(d->out[0], d, i, j) = AT(d->in[0], d, i, j);
}

static const tcase reductions[] = {
    {"row sum", "mf", "rf", "tl.reduce_sum(y0, x0, axis=-1)", NULL, ref_row_sum, 1e-5},
    {"row sum of half", "mh", "rh", "tl.reduce_sum(y0, x0, axis=1)", NULL, ref_row_sum, 1e-3},
    {"row sum of int32", "mi", "ri", "tl.reduce_sum(y0, x0, axis=-1)", NULL, ref_row_sum, 0},
    {"row sum of int16", "ms", "rs", "tl.reduce_sum(y0, x0, axis=-1)", NULL, ref_row_sum16, 0},
    {"row sum of int8", "ma", "ra", "tl.reduce_sum(y0, x0, axis=-1)", NULL, ref_row_sum8, 0},
    {"column sum", "mf", "cf", "tl.reduce_sum(y0, x0, axis=0)", NULL, ref_col_sum, 1e-5},
    {"column sum of half", "mh", "ch", "tl.reduce_sum(y0, x0, axis=-2)", NULL, ref_col_sum, 1e-3},
    {"column sum of int16", "ms", "cs", "tl.reduce_sum(y0, x0, axis=0)", NULL, ref_col_sum16, 0},
    {"sum of all", "mf", "1f", "tl.reduce_sum(y0, x0)", NULL, ref_all_sum, 1e-4},
    {"row max", "mf", "rf", "tl.reduce_max(y0, x0, axis=-1)", NULL, ref_row_max, 0},
    {"row max of half", "mh", "rh", "tl.reduce_max(y0, x0, axis=-1)", NULL, ref_row_max, 0},
    {"row max of int32", "mi", "ri", "tl.reduce_max(y0, x0, axis=-1)", NULL, ref_row_max, 0},
    {"row max of int64", "ml", "rl", "tl.reduce_max(y0, x0, axis=-1)", NULL, ref_row_max, 0},
    {"column min", "mf", "cf", "tl.reduce_min(y0, x0, axis=0)", NULL, ref_col_min, 0},
    {"column min of uint8", "mu", "cu", "tl.reduce_min(y0, x0, axis=0)", NULL, ref_col_min, 0},
    {"row sum of uint8", "mu", "ru", "tl.reduce_sum(y0, x0, axis=-1)", NULL, ref_row_sum_u8, 0},
    {"row sum of uint16", "mv", "rv", "tl.reduce_sum(y0, x0, axis=-1)", NULL, ref_row_sum_u16, 0},
    {"row sum of uint32", "mw", "rw", "tl.reduce_sum(y0, x0, axis=-1)", NULL, ref_row_sum_u32, 0},
    {"row max of uint16", "mv", "rv", "tl.reduce_max(y0, x0, axis=-1)", NULL, ref_row_max, 0},
    {"row max of uint32", "mw", "rw", "tl.reduce_max(y0, x0, axis=-1)", NULL, ref_row_max, 0},
    {"row max of int8", "ma", "ra", "tl.reduce_max(y0, x0, axis=-1)", NULL, ref_row_max, 0},
    {"column min of uint32", "mw", "cw", "tl.reduce_min(y0, x0, axis=0)", NULL, ref_col_min, 0},
    {"column sum of uint16", "mv", "cv", "tl.reduce_sum(y0, x0, axis=0)", NULL, ref_col_sum_u16, 0},
    {"sum of all of int8", "ma", "1a", "tl.reduce_sum(y0, x0)", NULL, ref_all_sum8, 0},
    {"row prod of int32", "mi", "ri", "tl.reduce_prod(y0, x0, axis=-1)", NULL, ref_row_prod32, 0},
    {"row prod", "mf", "rf",
     "tl.vmul_scalar(x0, x0, 0.0625)\ntl.vadd_scalar(x0, x0, 1.0)\ntl.reduce_prod(y0, x0, axis=-1)", NULL,
     ref_row_prod, 2e-3},
    {"argmax", "mf", "ri rf", "tl.argmax(y0, x0, y1, axis=-1)", NULL, ref_argmax, 0},
    {"argmax of half", "mh", "ri rh", "tl.argmax(y0, x0, y1, axis=-1)", NULL, ref_argmax, 0},
    {"argmax of int8", "ma", "ri ra", "tl.argmax(y0, x0, y1, axis=-1)", NULL, ref_argmax, 0},
    {"argmax of uint16", "mv", "ri rv", "tl.argmax(y0, x0, y1, axis=-1)", NULL, ref_argmax, 0},
    {"argmax of uint32", "mw", "ri rw", "tl.argmax(y0, x0, y1, axis=-1)", NULL, ref_argmax, 0},
    {"argmax of int64", "ml", "ri rl", "tl.argmax(y0, x0, y1, axis=-1)", NULL, ref_argmax, 0},
    {"argmin of columns of int32", "mi", "ci", "tl.argmin(y0, x0, axis=0)", NULL, ref_argmin_col, 0},
    {"argmin of columns of uint32", "mw", "ci", "tl.argmin(y0, x0, axis=0)", NULL, ref_argmin_col, 0},
    {"argmin of columns of uint8", "mu", "ci", "tl.argmin(y0, x0, axis=0)", NULL, ref_argmin_col, 0},
    {"argmax of int32", "mi", "ri ri", "tl.argmax(y0, x0, y1, axis=-1)", NULL, ref_argmax, 0},
    {"argmin of columns", "mf", "ci", "tl.argmin(y0, x0, axis=0)", NULL, ref_argmin_col, 0},
};
static void reduce(void **s) {
  (void)s;
  for (size_t i = 0; i < AC_COUNT(reductions); i++) run_case(&reductions[i]);
}

static const tcase moves[] = {
    {"broadcast to rows", "mf rf", "mf", "tl.broadcast(y0[0:rows, 0:cols], x1, axis=1)", NULL, ref_broadcast_row, 0},
    {"broadcast to rows of half", "mh rh", "mh", "tl.broadcast(y0[0:rows, 0:cols], x1, axis=1)", NULL,
     ref_broadcast_row, 0},
    {"broadcast to rows of int8", "ma ra", "ma", "tl.broadcast(y0[0:rows, 0:cols], x1, axis=1)", NULL,
     ref_broadcast_row, 0},
    {"broadcast to columns", "mf cf", "mf", "tl.broadcast(y0[0:rows, 0:cols], x1, axis=0)", NULL, ref_broadcast_col,
     0},
    {"broadcast to columns of uint8", "mu cu", "mu", "tl.broadcast(y0[0:rows, 0:cols], x1, axis=0)", NULL,
     ref_broadcast_col, 0},
    {"broadcast to columns of int64", "ml cl", "ml", "tl.broadcast(y0[0:rows, 0:cols], x1, axis=0)", NULL,
     ref_broadcast_col, 0},
    {"transpose", "mf", "tf", "tl.transpose(y0, x0)", NULL, ref_transpose, 0},
    {"transpose of half", "mh", "th", "tl.transpose(y0, x0)", NULL, ref_transpose, 0},
    {"transpose of int64", "ml", "tl", "tl.transpose(y0, x0)", NULL, ref_transpose, 0},
    {"transpose of int8", "ma", "ta", "tl.transpose(y0, x0)", NULL, ref_transpose, 0},
#define HALF_TURNED "tl.duplicate(y0, 7)\ntl.transpose(y0[0:cols, 0:rows // 2 + 1], x0[0:rows // 2 + 1, 0:cols])"
    {"transpose to a part", "mf", "tf", HALF_TURNED, NULL, ref_transpose_half, 0},
    {"transpose to a part of half", "mh", "th", HALF_TURNED, NULL, ref_transpose_half, 0},
#define HALF_SCANNED \
  "tl.duplicate(y0, 7)\ntl.cumsum(y0[0:rows, 0:cols // 2 + 1], x0[0:rows, 0:cols // 2 + 1], axis=1)"
    {"scan to a part", "mf", "mf", HALF_SCANNED, NULL, ref_cumsum_half, 1e-4},
    {"scan to a part of int32", "mi", "mi", HALF_SCANNED, NULL, ref_cumsum_half, 0},
    {"rows one by one", "mf", "mf", "for i in range(rows):\n    tl.vcopy(y0[i], x0[i, 0:cols])", NULL, ref_copy, 0},
};
static void move(void **s) {
  (void)s;
  for (size_t i = 0; i < AC_COUNT(moves); i++) run_case(&moves[i]);
}

static double joined(int op, double a, double x) {
  return op == 0 ? a + x : op == 1 ? a * x : op == 2 ? (x > a ? x : a) : (x < a ? x : a);
}
static void scan(const data *d, int op, bool rows, bool reverse, bool exclusive, double start) {
  for (int64_t i = 0; i < (rows ? d->r : d->c); i++) {
    double run = start;
    for (int64_t n = rows ? d->c : d->r, k = 0; k < n; k++) {
      int64_t j = reverse ? n - 1 - k : k, at = rows ? i * d->c + j : j * d->c + i;
      if (exclusive) d->out[0][at] = run;
      run = k || exclusive ? joined(op, run, d->in[0][at]) : d->in[0][at];
      if (!exclusive) d->out[0][at] = run;
    }
  }
}
static void ref_cumsum(const data *d) {
  scan(d, 0, true, false, false, 0);
}
static void ref_cumsum16(const data *d) {
  ref_cumsum(d);
  ROWS(d) COLS(d) AT(d->out[0], d, i, j) = (double)(int16_t)(int64_t)AT(d->out[0], d, i, j);
}
static void ref_cumsum8(const data *d) {
  ref_cumsum(d);
  ROWS(d) COLS(d) AT(d->out[0], d, i, j) = (double)(uint8_t)(int64_t)AT(d->out[0], d, i, j);
}
static void ref_cumsum_turned(const data *d) {
  scan(d, 0, true, true, true, 0);
}
static void ref_cummax(const data *d) {
  scan(d, 2, true, true, false, 0);
}
static void ref_cummin_down(const data *d) {
  scan(d, 3, false, false, true, INFINITY);
}
static void ref_cumsum_down(const data *d) {
  scan(d, 0, false, true, false, 0);
}

static const tcase scans[] = {
    {"cumsum", "mf", "mf", "tl.cumsum(y0, x0, axis=-1)", NULL, ref_cumsum, 1e-4},
    {"cumsum of half", "mh", "mh", "tl.cumsum(y0, x0, axis=-1)", NULL, ref_cumsum, 2e-3},
    {"cumsum of int32", "mi", "mi", "tl.cumsum(y0, x0, axis=-1)", NULL, ref_cumsum, 0},
    {"cumsum of int16", "ms", "ms", "tl.cumsum(y0, x0, axis=-1)", NULL, ref_cumsum16, 0},
    {"cumsum of uint8", "mu", "mu", "tl.cumsum(y0, x0, axis=-1)", NULL, ref_cumsum8, 0},
    {"cumsum from behind", "mf", "mf", "tl.cumsum(y0, x0, axis=-1, reverse=True, exclusive=True)", NULL,
     ref_cumsum_turned, 1e-4},
    {"cummax from behind", "mf", "mf", "tl.cummax(y0, x0, axis=-1, reverse=True)", NULL, ref_cummax, 0},
    {"cummin down", "mf", "mf", "tl.cummin(y0, x0, axis=0, exclusive=True)", NULL, ref_cummin_down, 0},
    {"cumsum upwards", "mh", "mh", "tl.cumsum(y0, x0, axis=0, reverse=True)", NULL, ref_cumsum_down, 2e-3},
    {"cumsum in place", "mf", "mf", "tl.vcopy(y0, x0)\ntl.cumsum(y0, y0, axis=1)", NULL, ref_cumsum, 1e-4},
};
static void scans_(void **s) {
  (void)s;
  for (size_t i = 0; i < AC_COUNT(scans); i++) run_case(&scans[i]);
}

/* ---- by index ---- */

static void ref_gather(const data *d) { /* the first row, by the indices of the second input */
  COLS(d) d->out[0][j] = d->in[0][(int64_t)d->in[1][j]];
}
/* The order of one row: the best first, the first of equal ones first. */
static void order(const data *d, int64_t i, bool descending, int64_t *at) {
  COLS(d) {
    int64_t k = j;
    for (; k > 0; k--) {
      double x = AT(d->in[0], d, i, j), y = AT(d->in[0], d, i, at[k - 1]);
      if (descending ? x <= y : x >= y) break;
      at[k] = at[k - 1];
    }
    at[k] = j;
  }
}
static void sorted(const data *d, bool descending) {
  int64_t *at = calloc((size_t)d->c, sizeof *at);
  order(d, 0, descending, at);
  COLS(d) {
    d->out[0][j] = d->in[0][at[j]];
    d->out[1][j] = (double)at[j];
  }
  free(at);
}
static void ref_sort(const data *d) {
  sorted(d, false);
}
static void ref_sort_down(const data *d) {
  sorted(d, true);
}
/* The largest of the first and the last row together, as many as there are columns. */
static void ref_records(const data *d) {
  int64_t *p = calloc((size_t)d->c, sizeof *p), *q = calloc((size_t)d->c, sizeof *q), a = 0, z = 0;
  order(d, 0, true, p);
  order(d, d->r - 1, true, q);
  COLS(d) {
    double x = d->in[0][p[a]], y = AT(d->in[0], d, d->r - 1, q[z]);
    d->out[0][j] = x >= y ? x : y;
    if (x >= y)
      a++;
    else
      z++;
  }
  free(p);
  free(q);
}
static void ref_numbers(const data *d) {
  sorted(d, true);
  COLS(d) d->out[1][j] += 5;
}
static void ref_topk(const data *d) {
  int64_t *at = calloc((size_t)d->c, sizeof *at);
  order(d, 0, true, at);
  d->out[0][0] = d->in[0][at[d->c > 2 ? 2 : d->c - 1]];
  free(at);
}
static void ref_compress(const data *d) {
  int64_t n = 0;
  COLS(d) d->out[0][j] = -1;
  COLS(d) if (d->in[0][j] > 0.5) d->out[0][n++] = d->in[0][j];
  d->out[1][0] = (double)n;
}

static const tcase indexed[] = {
    {"gather", "mf ci", "cf", "tl.gather(y0, x0[0], x1)", NULL, ref_gather, 0},
    {"records", "mf", "cf",
     "tl.sort_records(p, x0[0])\ntl.sort_records(q, x0[rows - 1], first=cols)\ntl.merge_records(both, p, q)\n"
     "tl.split_records(y0, number, both, count=cols)",
     "p = tl.alloc_ub(tl.align_up(ccap, 32) * 2, tl.float32)\nq = tl.alloc_ub(tl.align_up(ccap, 32) * 2, "
     "tl.float32)\n"
     "both = tl.alloc_ub(tl.align_up(ccap, 32) * 4, tl.float32)\nnumber = tl.alloc_ub(ccap, tl.int32)",
     ref_records, 0},
    {"second destinations that nobody reads", "mf mf", "rf",
     "tl.argmax(at, x0, v, axis=-1)\ntl.sort(line, number, x0[0])\ntl.topk(w, other, x0[0], 1)\ntl.reduce_max(y0, "
     "x0, axis=-1)",
     "at = tl.alloc_ub(rcap, tl.int32)\nv = tl.alloc_ub(rcap, tl.float32)\nline = tl.alloc_ub(ccap, tl.float32)\n"
     "number = tl.alloc_ub(ccap, tl.int32)\nw = tl.alloc_ub(8, tl.float32)\nother = tl.alloc_ub(8, tl.int32)",
     ref_row_max, 0},
    {"numbers of records", "mf", "cf ci",
     "tl.sort_records(p, x0[0], first=5)\ntl.split_records(y0, y1, p, count=cols)",
     "p = tl.alloc_ub(tl.align_up(ccap, 32) * 2, tl.float32)", ref_numbers, 0},
    {"gather of half", "mh ci", "ch", "tl.gather(y0, x0[0], x1)", NULL, ref_gather, 0},
    {"gather of int64", "ml ci", "cl", "tl.gather(y0, x0[0], x1)", NULL, ref_gather, 0},
    {"gather of int8", "ma ci", "ca", "tl.gather(y0, x0[0], x1)", NULL, ref_gather, 0},
    {"sort", "mf", "cf ci", "tl.sort(y0, y1, x0[0])", NULL, ref_sort, 0},
    {"sort of half, largest first", "mh", "ch ci", "tl.sort(y0, y1, x0[0], descending=True)", NULL, ref_sort_down, 0},
    {"the third largest", "mf", "1f",
     "kk = min(cols, 3)\ntl.topk(v, n, x0[0], kk)\nthird = tl.extract_scalar(v, kk - 1)\ntl.insert_scalar(y0, 0, "
     "third)",
     "v = tl.alloc_ub(8, tl.float32)\nn = tl.alloc_ub(8, tl.int32)", ref_topk, 0},
    {"compress", "mf", "cf 1i",
     "tl.duplicate(y0, -1.0)\ntl.vcopy(line, x0[0])\ntl.vcompare_scalar(m, line, 0.5, \"gt\")\nn = tl.compress(y0, "
     "line, m)\ntl.insert_scalar(y1, 0, n)",
     "line = tl.alloc_ub(ccap, tl.float32)\nm = tl.alloc_ub(ccap, tl.mask)", ref_compress, 0},
};
static void by_index(void **s) {
  (void)s;
  for (size_t i = 0; i < AC_COUNT(indexed); i++) run_case(&indexed[i]);
}

/* ---- parts ---- */

static void ref_even_rows(const data *d) {
  ROWS(d) COLS(d) AT(d->out[0], d, i, j) = i % 2 ? AT(d->in[0], d, i, j) : exp(AT(d->in[0], d, i, j) / 64);
}
static void ref_twice(const data *d) {
  ROWS(d) COLS(d) AT(d->out[0], d, i, j) = AT(d->in[0], d, i, j) * 2 - AT(d->in[1], d, i, j);
}
static const tcase part[] = {
    {"every second row", "mf", "mf",
     "tl.vcopy(y0, x0)\ntl.vmul_scalar(x0, x0, 0.015625)\ntl.vexp(y0[0:rows:2], x0[0:rows:2])", NULL, ref_even_rows,
     1e-5},
    {"boxes", "mh mh", "mh", "tl.vadd(y0[0:rows], x0[0:rows, 0:cols], x0)\ntl.vsub(y0, y0, x1)", NULL, ref_twice,
     2e-3},
    {"casts between pitches", "ms ms", "ms",
     "tl.cast(w, x0)\ntl.cast(v, x1)\ntl.vmul_scalar(w, w, 2.0)\ntl.vsub(w, w, v)\ntl.cast(y0, w, mode=\"rint\")",
     "w = tl.alloc_ub((rcap, ccap), tl.float32)\nv = tl.alloc_ub((rcap, ccap), tl.float32)", ref_twice, 0},
};
static void parts(void **s) {
  (void)s;
  for (size_t i = 0; i < AC_COUNT(part); i++) run_case(&part[i]);
}

/* ---- offsets from memory: rows of a table, and elements, there and back ---- */

static const char *const table_rows =
    "@ascend_kernel\n"
    "def k(table, index, y, n, cols, cap):\n"
    "    i = tl.alloc_ub(16, tl.int32)\n"
    "    b = tl.alloc_ub((16, cap), tl.float32)\n"
    "    for r in range(0, n, 16):\n"
    "        m = min(16, n - r)\n"
    "        with tl.copyin():\n"
    "            tl.load(index + r + tl.arange(0, m), i)\n"
    "            tl.load(table + i[:, None] * cols + tl.arange(0, cols)[None, :], b)\n"
    "        with tl.copyout():\n"
    "            tl.store(y + r * cols + tl.arange(0, m)[:, None] * cols + tl.arange(0, cols)[None, :], b)\n"
    "\n\n"
    "def host(table, index, y):\n"
    "    k[1](table, index, y, index.numel(), table.shape[1], 96)\n";

static const char *const elements = "@ascend_kernel\n"
                                    "def k(table, index, y, n):\n"
                                    "    i = tl.alloc_ub(64, tl.int32)\n"
                                    "    b = tl.alloc_ub(64, tl.float32)\n"
                                    "    for r in range(0, n, 64):\n"
                                    "        m = min(64, n - r)\n"
                                    "        with tl.copyin():\n"
                                    "            tl.load(index + r + tl.arange(0, m), i)\n"
                                    "            tl.load(table + i, b)\n"
                                    "        with tl.compute():\n"
                                    "            tl.vmul_scalar(b, b, 2.0)\n"
                                    "        with tl.copyout():\n"
                                    "            tl.store(y + 1 + i * 2, b)\n"
                                    "\n\n"
                                    "def host(table, index, y):\n"
                                    "    k[1](table, index, y, index.numel())\n";

static void from_memory(const char *text, int64_t rows, int64_t cols, int64_t n, int64_t out, bool by_rows,
                        bool compile) {
  ac_program *p = lowered(&b, "offsets", text);
  args x = {0};
  ac_shape table = {.rank = 2, .dim = {rows, cols}}, many = {.rank = 1, .dim = {n}}, to = {.rank = 1, .dim = {out}};
  add_tensor(&x, "table", AC_F32, &table, false);
  add_tensor(&x, "index", AC_I32, &many, false);
  add_tensor(&x, "y", AC_F32, &to, true);
  float *t = x.t[0].data, *y = x.t[2].data;
  int32_t *at = x.t[1].data;
  int64_t most = by_rows ? rows : rows * cols;
  for (int64_t i = 0; i < rows * cols; i++) t[i] = (float)i + 0.5f;
  for (int64_t i = 0; i < n; i++) at[i] = (int32_t)(i * 7919 % most);
  for (int64_t i = 0; i < out; i++) y[i] = -1;
  ac_sim_result res;
  ac_sim_opts o = {.in_process = true};
  bool ok = ac_sim_run_program(b.a, p, p->chip, x.t, x.n, NULL, 0, &o, &res, &b.d);
  if (!ok || res.refused) failed(text, "could not be run");
  for (size_t i = 0; i < res.faults.len; i++)
    if (strcmp(res.faults.data[i].kind, "never-written") != 0)
      failed(text, "line %d: %s: %s", res.faults.data[i].line, res.faults.data[i].kind, res.faults.data[i].message);
  for (int64_t i = 0; i < n; i++)
    if (by_rows)
      for (int64_t j = 0; j < cols; j++) assert_true(y[i * cols + j] == t[at[i] * cols + j]);
    else
      assert_true(y[1 + 2 * at[i]] == 2 * t[at[i]]);
  if (compile) run_both(&b, text, p, compiled(&b, p, NULL), &x, AC_ORDER_FORWARD, 1);
  free_args(&x);
}

static void memory(void **s) {
  (void)s;
  bool compile = getenv("AC_ROWS_COMPILED") || getenv("AC_ROWS_FULL");
  from_memory(table_rows, 40, 77, 35, 35 * 77, true, false);
  from_memory(table_rows, 3, 1, 1, 1, true, false);
  from_memory(elements, 11, 13, 143, 2 * 143 + 1, false, false);
  from_memory(elements, 1, 1, 1, 3, false, false);
  if (compile) from_memory(table_rows, 20, 64, 20, 20 * 64, true, true);
}

/* ---- the example programs ---- */

static void ref_row_softmax(const data *d) {
  ROWS(d) {
    double top = AT(d->in[0], d, i, 0), sum = 0;
    COLS(d) top = fmax(top, AT(d->in[0], d, i, j));
    COLS(d) sum += exp(AT(d->in[0], d, i, j) - top);
    COLS(d) AT(d->out[0], d, i, j) = exp(AT(d->in[0], d, i, j) - top) / sum;
  }
}
static void norm(const data *d, bool centred, double eps) {
  ROWS(d) {
    double mean = 0, sum = 0;
    COLS(d) mean += AT(d->in[0], d, i, j) / (double)d->c;
    if (!centred) mean = 0;
    COLS(d) sum += pow(AT(d->in[0], d, i, j) - mean, 2) / (double)d->c;
    COLS(d)
    AT(d->out[0], d, i, j) =
        (AT(d->in[0], d, i, j) - mean) / sqrt(sum + eps) * d->in[1][j] + (centred ? d->in[2][j] : 0);
  }
}
static void ref_layer_norm(const data *d) {
  norm(d, true, 1e-5);
}
static void ref_rms_norm(const data *d) {
  norm(d, false, 1e-6);
}
static void ref_col_max(const data *d) {
  ROWS(d) COLS(d) if (!i || AT(d->in[0], d, i, j) > d->out[0][j]) d->out[0][j] = AT(d->in[0], d, i, j);
}
static void ref_sort_rows(const data *d) {
  int64_t *at = calloc((size_t)d->c, sizeof *at);
  ROWS(d) {
    order(d, i, false, at);
    COLS(d) AT(d->out[0], d, i, j) = AT(d->in[0], d, i, at[j]);
    COLS(d) AT(d->out[1], d, i, j) = (double)at[j];
  }
  free(at);
}
static void ref_positive(const data *d) {
  ROWS(d) {
    int64_t n = 0;
    COLS(d) if (AT(d->in[0], d, i, j) > 0) AT(d->out[0], d, i, n++) = AT(d->in[0], d, i, j);
    d->out[1][i] = (double)n;
  }
}
static void ref_pool(const data *d) {
  ROWS(d)
  for (int64_t j = 0; j < d->c / 2; j++)
    d->out[0][i * (d->c / 2) + j] = fmax(AT(d->in[0], d, i, 2 * j), AT(d->in[0], d, i, 2 * j + 1));
}
static void ref_loss(const data *d) {
  ROWS(d) {
    double top = AT(d->in[0], d, i, 0), sum = 0;
    COLS(d) top = fmax(top, AT(d->in[0], d, i, j));
    COLS(d) sum += exp(AT(d->in[0], d, i, j) - top);
    d->out[0][i] = log(sum) + top - AT(d->in[0], d, i, (int64_t)d->in[1][i]);
  }
}
static void ref_embedding(const data *d) { /* indices are clamped to the rows */
  ROWS(d) COLS(d) AT(d->out[0], d, i, j) = AT(d->in[0], d, (int64_t)fmin(d->in[1][i], (double)(d->r - 1)), j);
}

/* `body` is the path; inputs and outputs as the program has them. */
static const tcase examples[] = {
    {"row_sum", "mf", "rf", "reduce/row_sum", NULL, ref_row_sum, 1e-5},
    {"column_max", "mf", "cf", "reduce/column_max", NULL, ref_col_max, 0},
    {"argmax_rows", "mf", "ri rf", "reduce/argmax_rows", NULL, ref_argmax, 0},
    {"layer_norm_rows", "mf cf cf", "mf", "normalization/layer_norm_rows", NULL, ref_layer_norm, 2e-4},
    {"rms_norm_rows", "mh ch", "mh", "normalization/rms_norm_rows", NULL, ref_rms_norm, 2e-3},
    {"softmax_rows", "mf", "mf", "softmax/softmax_rows", NULL, ref_row_softmax, 1e-5},
    {"cumsum_rows", "mf", "mf", "scan/cumsum_rows", NULL, ref_cumsum, 1e-4},
    {"sort_rows", "mf", "mf mi", "sort/sort_rows", NULL, ref_sort_rows, 0},
    {"positive", "mf", "mf ri", "index/positive", NULL, ref_positive, 0},
    {"transpose", "mh", "th", "index/transpose", NULL, ref_transpose, 0},
    {"embedding", "mf ri", "mf", "index/embedding", NULL, ref_embedding, 0},
    {"max_pool_1d", "mf", "pf", "pooling/max_pool_1d", NULL, ref_pool, 0},
    {"cross_entropy", "mf ri", "rf", "loss/cross_entropy", NULL, ref_loss, 1e-4},
};
static void examples_(void **s) {
  (void)s;
  static const int64_t at[][2] = {{1, 1}, {7, 13}, {13, 513}, {3, 77}, {65, 40}, {513, 2}, {1, 1003}, {33, 512}};
  for (size_t i = 0; i < AC_COUNT(examples); i++) {
    int ran = 0;
    for (size_t k = 0; k < AC_COUNT(at); k++) ran += one(&examples[i], at[k][0], at[k][1], false);
    if (ran < 4) fail_msg("%s took %d of the sizes", examples[i].name, ran);
  }
}

/* A NaN passes through sums and maxima, and is where the first one was. */
static void nans(void **s) {
  (void)s;
  const char *text = program_of(
      &(tcase){"nan", "mf", "rf rf ri",
               "tl.reduce_sum(y0, x0, axis=-1)\ntl.reduce_max(y1, x0, axis=-1)\ntl.argmax(y2, x0, axis=-1)", NULL,
               NULL, 0},
      3, 2100);
  ac_program *p = lowered(&b, "nan", text);
  args x = {0};
  ac_shape m = shape_of('m', 3, 2100);
  add_tensor(&x, "g0", AC_F32, &m, false);
  add_tensor(&x, "h0", AC_F32, &m, true);
  add_tensor(&x, "h1", AC_F32, &m, true);
  add_tensor(&x, "h2", AC_I32, &m, true);
  float *v = x.t[0].data;
  for (int i = 0; i < 3 * 2100; i++) v[i] = (float)(i % 7);
  v[2100 + 2079] = v[2100 + 2090] = NAN;
  v[2 * 2100 + 5] = INFINITY;
  ac_sim_result res;
  ac_sim_opts o = {.in_process = true};
  assert_true(ac_sim_run_program(b.a, p, p->chip, x.t, x.n, NULL, 0, &o, &res, &b.d));
  const float *sum = x.t[1].data, *top = x.t[2].data;
  const int32_t *where = x.t[3].data;
  assert_true(sum[0] == 6300 && isnan(sum[1]) && isinf(sum[2]));
  assert_true(top[0] == 6 && isnan(top[1]) && isinf(top[2]));
  assert_int_equal(where[0], 6);
  assert_int_equal(where[1], 2079);
  assert_int_equal(where[2], 5);
  free_args(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reduce),    cmocka_unit_test(move),  cmocka_unit_test(scans_),
                                     cmocka_unit_test(by_index),  cmocka_unit_test(parts), cmocka_unit_test(memory),
                                     cmocka_unit_test(examples_), cmocka_unit_test(nans)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
