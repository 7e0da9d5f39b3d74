/* The kernel of the pooling schedule. */
#include "plan/pool.h"

#include <math.h>
#include <string.h>

void pool_do(pool *q, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(q->p_->a, fmt, ap);
  va_end(ap);
  ac_cb_call(&q->p_->b, ac_ce_parse(&q->p_->b, "tl.%s", text));
}

static void loop(pool *q, const char *var, const char *lo, const char *hi, const char *step) {
  ac_cbuild *b = &q->p_->b;
  ac_cb_for(b, var, ac_ce_parse(b, "%s", lo), ac_ce_parse(b, "%s", hi), step ? ac_ce_parse(b, "%s", step) : NULL);
}
static void end(pool *q) {
  ac_cb_end(&q->p_->b);
}
static const char *num(pool *q, int64_t v) {
  return ac_sprintf(q->p_->a, "%lld", (long long)v);
}
/* a * b, a + b with a constant */
static const char *times(pool *q, const char *a, int64_t b) {
  return b == 1 ? a : ac_sprintf(q->p_->a, "%s * %lld", a, (long long)b);
}
static const char *plus(pool *q, const char *a, int64_t b) {
  if (!b) return a;
  return b < 0 ? ac_sprintf(q->p_->a, "%s - %lld", a, -(long long)b)
               : ac_sprintf(q->p_->a, "%s + %lld", a, (long long)b);
}
/* The least i with s + i * step >= 0; at least 0. */
static const char *first_in(pool *q, const char *s, int64_t step) {
  if (step == 1) return ac_sprintf(q->p_->a, "max(0, 0 - %s)", s);
  return ac_sprintf(q->p_->a, "max(0, (%lld - %s) // %lld)", (long long)step - 1, s, (long long)step);
}
/* Behind the greatest i with s + i * step < size; at most n. */
static const char *last_in(pool *q, const char *s, int64_t step, const char *size, const char *n) {
  if (step == 1) return ac_sprintf(q->p_->a, "min(%s, %s - %s)", n, size, s);
  return ac_sprintf(q->p_->a, "min(%s, (%s - %s + %lld) // %lld)", n, size, s, (long long)step - 1, (long long)step);
}

static const char *neutral(const pool *q) {
  return q->max ? "-float(\"inf\")" : "0.0";
}
static const char *join(const pool *q) {
  return q->max ? "vmax" : "vadd";
}
static bool half(const pool *q) {
  return q->in != AC_F32;
}
static const char *loaded(const pool *q) {
  return half(q) ? "x32" : "x";
}
/* Is every tap of the axis inside the input, for every window? */
static bool plain(const pool *q, int axis) {
  return q->k[axis] == 1 && !q->p[axis];
}

/* Powers of two that the window of a sum is put together from; of a maximum one will do, taken twice. */
static int pieces(const pool *q) {
  return q->max ? 1 : __builtin_popcountll((unsigned long long)q->k[2]);
}

/* ---- head ---- */

static void parameters(pool *q) {
  ac_cbuild *b = &q->p_->b;
  static const char *const names[] = {"depth",     "height",     "width",      "out_depth",  "out_height",
                                      "out_width", "rows",       "row_blocks", "col_blocks", "units",
                                      "in_blocks", "out_blocks", "in_rows",    "out_rows"};
  ac_cb_param(b, "x_ptr", pl_tensor_type(q->p_, q->in));
  if (q->tensor[0] >= 0) ac_cb_param(b, "y_ptr", pl_tensor_type(q->p_, q->in));
  if (q->indices) ac_cb_param(b, "index_ptr", pl_tensor_type(q->p_, AC_I64));
  ac_cb_param(b, "x_blocks", NULL);
  for (size_t i = 0; i < AC_COUNT(names); i++)
    if (q->nd == 3 || (i != 0 && i != 3))
      ac_cb_param(b, q->turns && i == AC_COUNT(names) - 1 ? "row_groups" : names[i], NULL);
  if (q->parts && !q->uneven_rows) ac_cb_param(b, "part", NULL);
}

static void buffers(pool *q) {
  pl_ctx *p = q->p_;
  ac_cexpr *x = ac_ce_parse(&p->b, "tl.alloc_ub((in_rows, x_cols), dtype=tl.%s, buffers=2)", ac_dtypes[q->in].name);
  ac_cb_assign(&p->b, "x", x);
  if (half(q)) pl_alloc(p, "x32", "(in_rows, x_cols)", AC_F32, false);
  ac_cb_comment(&p->b, "%s rows of the input, a row of the output each", q->indices ? "the taps of" : "joined");
  pl_alloc(p, "lines", "(out_rows, in_cols)", AC_F32, false);
  const char *results = q->indices ? "(out_rows, out_cols)" : "out_rows * out_cols";
  const char *lanes = q->indices ? "out_cols" : results;
  const char *flat = q->turns ? ac_sprintf(p->a, "out_rows * (in_cols + %lld)", (long long)pool_tail(q))
                              : plus(q, "out_rows * in_cols", pool_tail(q));
  if (!q->indices) {
    ac_cb_comment(&p->b, "the same rows one behind another, so that one gather picks from all of them");
    pl_alloc(p, "flat", flat, AC_F32, false);
  }
  if (q->turns) {
    ac_cb_comment(&p->b, "the rows side by side: lane r of step c is element c of row r");
    pl_alloc(p, "turned", flat, AC_F32, false);
    if (pieces(q) > 1) pl_alloc(p, "total", "out_rows * in_cols", AC_F32, false);
    pl_alloc(p, "turn", "out_rows * in_cols", AC_I32, false);
  }
  pl_alloc(p, "acc", results, AC_F32, false);
  if (half(q)) pl_alloc(p, "y", results, q->in, false);
  if (!q->turns) pl_alloc(p, "tap", lanes, AC_F32, false);
  pl_alloc(p, "at", lanes, AC_I32, false);
  if (!q->turns) pl_alloc(p, "index", lanes, AC_I32, false);
  if (q->adaptive) {
    pl_alloc(p, "length", lanes, AC_I32, false);
    pl_alloc(p, "beyond", lanes, AC_I32, false);
    pl_alloc(p, "back_to", lanes, AC_I32, false);
  }
  if (!q->max && !q->divisor) {
    if (!q->adaptive) pl_alloc(p, "length", "out_cols", AC_I32, false);
    if (!q->adaptive && !q->include) pl_alloc(p, "missing", "out_cols", AC_I32, false);
    pl_alloc(p, "length32", "out_cols", AC_F32, false);
    pl_alloc(p, "divisor", "out_cols", AC_F32, false);
  }
  if (q->indices) pool_index_buffers(q);
}

/* The vectors for row 0 stand for the others too, `pitch` lanes later. */
static void repeat_rows(pool *q) {
  loop(q, "r", "1", "out_rows", NULL);
  pool_do(q, "vadd_scalar(at[r * out_cols:r * out_cols + out_cols], at[0:out_cols], %s)",
          q->turns ? "r" : "r * in_cols");
  if (q->adaptive) pool_do(q, "vcopy(length[r * out_cols:r * out_cols + out_cols], length[0:out_cols])");
  end(q);
}

/* Which element of the rows comes to which lane when they are turned, and where in the turned rows the results are. */
static void turning(pool *q) {
  pl_ctx *p = q->p_;
  pl_let(p, "lanes", "out_rows * in_cols");
  ac_cb_comment(&p->b,
                "lane k comes from row k %% out_rows, element c = k // out_rows: k * in_cols - c * (lanes - 1)");
  pool_do(q, "iota(turned, 0.5, count=lanes)");
  pool_do(q, "vmul_scalar(turned, turned, 1.0 / float(out_rows), count=lanes)");
  pool_do(q, "cast(flat, turned, mode=\"floor\", count=lanes)");
  pool_do(q, "vmul_scalar(flat, flat, float(1 - lanes), count=lanes)");
  pool_do(q, "iota(turned, 0.0, step=float(in_cols), count=lanes)");
  pool_do(q, "vadd(flat, flat, turned, count=lanes)");
  pool_do(q, "cast(turn, flat, mode=\"rint\", count=lanes)");
  pool_do(q, "iota(at, %lld * out_rows, step=%s)", (long long)(q->edge - q->p[2]), times(q, "out_rows", q->s[2]));
}

/* Where the first tap of each window lies, and how many taps it has along the width. */
static void window_starts(pool *q) {
  pl_ctx *p = q->p_;
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  if (q->adaptive) {
    pl_note(p,
            "PyTorch's windows: result j takes elements j * width // out_width to cdiv((j + 1) * width, out_width).");
    pool_do(q, "iota(at, 0, step=width)");
    pool_do(q, "vadd_scalar(length, at, width + out_width - 1)");
    pool_do(q, "vfloordiv_scalar(at, at, out_width)");
    pool_do(q, "vfloordiv_scalar(length, length, out_width)");
    ac_cb_comment(&p->b, "lanes without a result: empty windows at the end of the row");
    pool_do(q, "vmin_scalar(at, at, width)");
    pool_do(q, "vmin_scalar(length, length, width)");
    pool_do(q, "vsub(length, length, at)");
    pool_do(q, "cast(length32, length[0:out_cols])");
  } else if (q->turns)
    turning(q);
  else
    pool_do(q, "iota(at, %lld, step=%lld)", (long long)(q->edge - q->p[2]), (long long)q->s[2]);
  if (q->indices) {
    ac_cb_comment(&p->b, "written row by row below");
    pool_do(q, "duplicate(won, 0.0)");
    pool_do(q, "duplicate(places, 0)");
  } else {
    repeat_rows(q);
    pool_do(q, "duplicate(flat, %s)", neutral(q));
    if (q->turns) pool_do(q, "duplicate(turned, %s)", neutral(q));
  }
  end(q);
}

/* ---- a unit: some rows of the output of one plane ---- */

static void unit(pool *q) {
  pl_ctx *p = q->p_;
  pl_let(p, "col", "u %% col_blocks * out_cols");
  pl_let(p, "n_cols", "min(out_cols, out_width - col)");
  pl_let(p, "row", "u // col_blocks %% row_blocks * rows");
  pl_let(p, "n_rows", "min(rows, out_height - row)");
  pl_let(p, "z", "u // col_blocks // row_blocks");
  if (!q->uneven_rows) pl_let(p, "top", "%s", plus(q, times(q, "row", q->s[1]), -q->p[1]));
  if (q->adaptive) {
    pl_let(p, "lo", "0");
    pl_let(p, "off", "0");
    pl_let(p, "n_lanes", "min(x_cols, width)");
  } else {
    pl_note(p,
            "Lane 0 of a row is element %s of the input; a row that begins there in the input begins %lld lanes "
            "later in UB. Counted in blocks of %d, so that parts begin on 32 bytes.",
            q->edge ? ac_sprintf(p->a, "col * %lld - %lld", (long long)q->s[2], (long long)q->edge)
                    : ac_sprintf(p->a, "col * %lld", (long long)q->s[2]),
            (long long)q->edge, POOL_LANES);
    pl_let(p, "block", "%s", plus(q, times(q, "col // 8", q->s[2]), -q->edge / POOL_LANES));
    pl_let(p, "lo", "max(block, 0) * %d", POOL_LANES);
    pl_let(p, "off", "max(0 - block, 0) * %d", POOL_LANES);
    pl_let(p, "n_lanes", "min(x_cols, min(width, %s) - lo)",
           plus(q, times(q, "(col + n_cols - 1)", q->s[2]), pool_reach(q, 2) - q->p[2]));
  }
}

/* Opens the loop over the window's depth: `slice` is what height x width of it is read. */
static bool open_depth(pool *q) {
  pl_ctx *p = q->p_;
  if (q->nd < 3) {
    pl_let(p, "slice", "z");
    return false;
  }
  if (q->adaptive) {
    pl_let(p, "front", "z %% out_depth * depth // out_depth");
    pl_let(p, "back", "tl.cdiv((z %% out_depth + 1) * depth, out_depth)");
    loop(q, "d", "front", "back", NULL);
    pl_let(p, "slice", "z // out_depth * depth + d");
    return true;
  }
  pl_let(p, "front", "%s", plus(q, times(q, "z % out_depth", q->s[0]), -q->p[0]));
  loop(q, "kd", first_in(q, "front", q->d[0]), last_in(q, "front", q->d[0], "depth", num(q, q->k[0])), NULL);
  pl_let(p, "slice", "z // out_depth * depth + front + %s", times(q, "kd", q->d[0]));
  return true;
}

static void load_rows(pool *q) {
  ac_cbuild *b = &q->p_->b;
  ac_cb_with(b, AC_STAGE_COPYIN);
  pool_do(q, "load(x_ptr + (slice * height + from_row) * width + lo + tl.arange(0, n_in)[:, None] * width + "
             "tl.arange(0, n_lanes)[None, :], x)");
  end(q);
  if (!half(q) && q->max) return;
  ac_cb_with(b, AC_STAGE_COMPUTE);
  if (half(q)) pool_do(q, "cast(x32[0:n_in, 0:n_lanes], x[0:n_in, 0:n_lanes])");
  if (!q->max && q->shrink != 1) {
    ac_cb_comment(b, "by a power of two, so exact: the sum of a window of the largest numbers stays finite");
    pool_do(q, "vmul_scalar(%s[0:n_in, 0:n_lanes], %s[0:n_in, 0:n_lanes], %.17g)", loaded(q), loaded(q), q->shrink);
  }
  end(q);
}

/* Rows a to b of the unit take the tap whose row for the unit's row a is row `at` of what was loaded. */
static void take_rows(pool *q, const char *a, const char *b, const char *at) {
  const char *x = loaded(q);
  int64_t s = q->s[1];
  const char *rows = s == 1 ? ac_sprintf(q->p_->a, "%s:%s + %s - %s", at, at, b, a)
                            : ac_sprintf(q->p_->a, "%s:%s + (%s - %s - 1) * %lld + 1:%lld", at, at, b, a,
                                         (long long)s, (long long)s);
  if (!strcmp(a, "0") && !strcmp(at, "0"))
    rows = s == 1 ? ac_sprintf(q->p_->a, "0:%s", b)
                  : ac_sprintf(q->p_->a, "0:(%s - 1) * %lld + 1:%lld", b, (long long)s, (long long)s);
  const char *l = ac_sprintf(q->p_->a, "lines[%s:%s, off:off + n_lanes]", a, b);
  if (q->indices)
    pool_do(q, "vcopy(%s, %s[%s, 0:n_lanes])", l, x, rows);
  else
    pool_do(q, "%s(%s, %s, %s[%s, 0:n_lanes])", join(q), l, l, x, rows);
}

static void taps_of_height(pool *q) {
  pl_ctx *p = q->p_;
  ac_cbuild *b = &p->b;
  if (plain(q, 1)) {
    ac_cb_with(b, AC_STAGE_COMPUTE);
    if (q->indices) pool_do(q, "duplicate(lines, %s)", neutral(q));
    take_rows(q, "0", "n_rows", "0");
    end(q);
    if (!q->indices) return;
    pl_let(p, "a", "0");
    pl_let(p, "b", "n_rows");
    if (q->nd < 3) pl_let(p, "kd", "0");
    pl_let(p, "kh", "0");
    pool_index_taps(q);
    return;
  }
  if (q->indices && q->nd < 3) pl_let(p, "kd", "0");
  loop(q, "kh", q->parts ? "piece" : "0", q->parts ? "next_piece" : num(q, q->k[1]), NULL);
  ac_cb_comment(b, "rows whose tap lies inside the input");
  pl_let(p, "first_row", "top + %s", times(q, "kh", q->d[1]));
  pl_let(p, "a", "%s", first_in(q, "first_row", q->s[1]));
  pl_let(p, "b", "%s", last_in(q, "first_row", q->s[1], "height", "n_rows"));
  ac_cb_if(b, ac_ce_parse(b, "a < b"));
  pl_let(p, "line", "first_row + %s - from_row", times(q, "a", q->s[1]));
  ac_cb_with(b, AC_STAGE_COMPUTE);
  if (q->indices) pool_do(q, "duplicate(lines, %s)", neutral(q));
  take_rows(q, "a", "b", "line");
  end(q);
  if (q->indices) pool_index_taps(q);
  end(q);
  end(q);
}

/* All rows of the window's height at one depth. */
static void height(pool *q) {
  pl_ctx *p = q->p_;
  ac_cbuild *b = &p->b;
  int64_t last = (q->k[1] - 1) * q->d[1];
  if (q->parts) {
    loop(q, "piece", "0", num(q, q->k[1]), "part");
    pl_let(p, "next_piece", "min(piece + part, %lld)", (long long)q->k[1]);
    pl_let(p, "from_row", "max(0, top + %s)", times(q, "piece", q->d[1]));
    pl_let(p, "n_in", "min(in_rows, min(height, top + %s + %s + 1) - from_row)", times(q, "(n_rows - 1)", q->s[1]),
           times(q, "(next_piece - 1)", q->d[1]));
    ac_cb_if(b, ac_ce_parse(b, "n_in > 0"));
  } else {
    pl_let(p, "from_row", q->p[1] ? "max(0, top)" : "top");
    pl_let(p, "n_in", "min(in_rows, min(height, top + %s) - from_row)",
           plus(q, times(q, "(n_rows - 1)", q->s[1]), last + 1));
  }
  load_rows(q);
  taps_of_height(q);
  if (!q->parts) return;
  end(q);
  end(q);
}

/* Adaptive windows: one row of the output, whose rows of the input come in parts. */
static void uneven_height(pool *q) {
  pl_ctx *p = q->p_;
  ac_cbuild *b = &p->b;
  loop(q, "from_row", "row * height // out_height", "tl.cdiv((row + 1) * height, out_height)", "in_rows");
  pl_let(p, "n_in", "min(in_rows, tl.cdiv((row + 1) * height, out_height) - from_row)");
  load_rows(q);
  ac_cb_with(b, AC_STAGE_COMPUTE);
  loop(q, "h", "0", "n_in", NULL);
  pool_do(q, "vadd(lines[0, 0:n_lanes], lines[0, 0:n_lanes], %s[h, 0:n_lanes])", loaded(q));
  end(q);
  end(q);
  end(q);
}

/* ---- along the width ---- */

void pool_tap_index(pool *q) {
  const char *n = q->indices ? "n_cols" : "n";
  if (!q->adaptive) {
    pool_do(q, "vadd_scalar(index, at, %s, count=%s)", times(q, "i", q->d[2]), n);
    return;
  }
  ac_cb_comment(&q->p_->b, "behind a window's end: lane `width`, which holds 0");
  pool_do(q, "vsub_scalar(beyond, length, i + 1, count=n)");
  pool_do(q, "vmin_scalar(beyond, beyond, 0, count=n)");
  pool_do(q, "vmax_scalar(beyond, beyond, -1, count=n)");
  pool_do(q, "vadd_scalar(index, at, i, count=n)");
  pool_do(q, "vsub_scalar(back_to, index, width, count=n)");
  pool_do(q, "vmul(back_to, back_to, beyond, count=n)");
  pool_do(q, "vadd(index, index, back_to, count=n)");
}

static void flatten(pool *q) {
  loop(q, "r", "0", q->turns ? "out_rows" : "n_rows", NULL);
  pool_do(q, "vcopy(flat[r * in_cols:r * in_cols + in_cols], lines[r, 0:in_cols])");
  end(q);
}

/* Each tap of all rows by one gather. */
static void single_taps(pool *q) {
  pl_ctx *p = q->p_;
  pl_let(p, "n", "n_rows * out_cols");
  pool_do(q, "duplicate(acc, %s)", neutral(q));
  ac_cb_comment(&p->b, "a tap along the width: neighbours lie in one block, so they are picked by index");
  loop(q, "i", "0", q->adaptive ? "tl.cdiv(width, out_width) + 1" : num(q, q->k[2]), NULL);
  pool_tap_index(q);
  pool_do(q, "gather(tap, flat, index, count=n)");
  pool_do(q, "%s(acc[0:n], acc[0:n], tap[0:n])", join(q));
  end(q);
}

/* `cur`, `steps` steps along the width on: a part that begins at whole blocks. */
static const char *stepped(pool *q, const char *cur, int64_t steps) {
  if (!steps) return ac_sprintf(q->p_->a, "%s[0:lanes]", cur);
  return ac_sprintf(q->p_->a, "%s[%lld * out_rows:%lld * out_rows + lanes]", cur, (long long)steps, (long long)steps);
}

/* Windows of 1, 2, 4, ... taps, each from two of half its size, in turned rows. */
static void turned_taps(pool *q) {
  pl_ctx *p = q->p_;
  int64_t k = q->k[2], d = q->d[2], at = 0;
  const char *cur = "turned", *other = "flat";
  pl_let(p, "n", "n_rows * out_cols");
  pool_do(q, "gather(turned[0:lanes], flat, turn, count=lanes)");
  for (int64_t w = 1;; w *= 2) {
    bool last = w * 2 > k;
    const char *to = ac_sprintf(p->a, "%s[0:lanes]", other);
    if (!q->max && (k & w) && pieces(q) > 1) { /* sums: the window is cut into pieces of powers of two */
      if (at)
        pool_do(q, "vadd(total, total, %s)", stepped(q, cur, at));
      else
        pool_do(q, "vcopy(total, %s)", stepped(q, cur, 0));
      at += w * d;
    }
    if (last && q->max && k > w) { /* maxima: two that overlap */
      pool_do(q, "vmax(%s, %s, %s)", to, stepped(q, cur, 0), stepped(q, cur, (k - w) * d));
      cur = other;
    }
    if (last) break;
    ac_cb_comment(&p->b, "windows of %lld taps", (long long)w * 2);
    pool_do(q, "%s(%s, %s, %s)", join(q), to, stepped(q, cur, 0), stepped(q, cur, w * d));
    const char *t = cur;
    cur = other;
    other = t;
  }
  ac_cb_comment(&p->b, "turned back, the lanes between the results left out");
  pool_do(q, "gather(acc, %s, at, count=n)", pieces(q) > 1 ? "total" : cur);
}

static void taps_of_width(pool *q) {
  ac_cb_with(&q->p_->b, AC_STAGE_COMPUTE);
  flatten(q);
  if (q->turns)
    turned_taps(q);
  else
    single_taps(q);
  end(q);
}

/* ---- averages ---- */

static void column_lengths(pool *q) {
  pl_ctx *p = q->p_;
  int64_t s = q->s[2], pad = q->p[2];
  if (q->adaptive) return;
  ac_cb_comment(&p->b, "how many elements of the row each window has%s", q->include ? ", padding included" : "");
  pool_do(q, "iota(length, min(width + %lld - %s, 1073741824), step=%lld)", (long long)(q->include ? 2 * pad : pad),
          times(q, "col", s), -(long long)s);
  pool_do(q, "vmin_scalar(length, length, %lld)", (long long)q->k[2]);
  if (!q->include) {
    pool_do(q, "iota(missing, max(%lld - %s, -1073741824), step=%lld)", (long long)pad, times(q, "col", s),
            -(long long)s);
    pool_do(q, "vmax_scalar(missing, missing, 0)");
    pool_do(q, "vsub(length, length, missing)");
  }
  pool_do(q, "cast(length32, length)");
}

/* Elements of the window along an axis that starts at `s`, as an expression. */
static const char *axis_length(pool *q, int axis, const char *s, const char *size) {
  int64_t k = q->k[axis], pad = q->p[axis];
  if (plain(q, axis)) return "1";
  if (q->include)
    return ac_sprintf(q->p_->a, "(min(%s + %lld, %s + %lld) - (%s))", s, (long long)k, size, (long long)pad, s);
  return ac_sprintf(q->p_->a, "(min(%s + %lld, %s) - max(%s, 0))", s, (long long)k, size, s);
}

static void divide(pool *q) {
  pl_ctx *p = q->p_;
  if (q->max) return;
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  if (q->divisor) {
    double by = q->divisor * q->shrink;
    if (by != 1) {
      ac_cb_comment(&p->b, "a product takes a quarter of a division's time and is at most one rounding off");
      pool_do(q, "vmul_scalar(acc[0:n], acc[0:n], %#.17g)", 1 / by);
    }
    end(q);
    return;
  }
  column_lengths(q);
  loop(q, "r", "0", "n_rows", NULL);
  const char *d = "1", *h = "1";
  if (q->nd == 3) d = q->adaptive ? "(back - front)" : axis_length(q, 0, "front", "depth");
  if (q->uneven_rows)
    h = "(tl.cdiv((row + 1) * height, out_height) - row * height // out_height)";
  else if (!plain(q, 1))
    h = axis_length(q, 1, plus(q, ac_sprintf(p->a, "top + %s", times(q, "r", q->s[1])), 0), "height");
  pool_do(q, "vmul_scalar(divisor, length32, float(%s * %s) * %.17g, count=n_cols)", d, h, q->shrink);
  const char *a = "acc[r * out_cols:r * out_cols + n_cols]";
  pool_do(q, "vdiv(%s, %s, divisor[0:n_cols])", a, a);
  end(q);
  end(q);
}

/* ---- the whole ---- */

static void store(pool *q) {
  ac_cbuild *b = &q->p_->b;
  if (q->tensor[0] < 0) return;
  if (half(q)) {
    ac_cb_with(b, AC_STAGE_COMPUTE);
    pool_do(q, q->indices ? "cast(y[0:n_rows, 0:n_cols], acc[0:n_rows, 0:n_cols], mode=\"rint\")"
                          : "cast(y, acc, mode=\"rint\", count=n)");
    end(q);
  }
  const char *y = half(q) ? "y" : "acc";
  ac_cb_with(b, AC_STAGE_COPYOUT);
  if (q->indices)
    pool_do(q,
            "store(y_ptr + (z * out_height + row) * out_width + col + tl.arange(0, n_rows)[:, None] * out_width + "
            "tl.arange(0, n_cols)[None, :], %s[0:n_rows, 0:n_cols])",
            y);
  else {
    loop(q, "r", "0", "n_rows", NULL);
    pool_do(q,
            "store(y_ptr + (z * out_height + row + r) * out_width + col + tl.arange(0, n_cols), "
            "%s[r * out_cols:r * out_cols + n_cols])",
            y);
    end(q);
  }
  end(q);
}

void pool_kernel(pool *q) {
  pl_ctx *p = q->p_;
  ac_cbuild *b = &p->b;
  ac_cfunc *f = ac_cb_func(b, q->kernel, true);
  f->doc = "A unit is `rows` rows of one plane of the output; units are shared out evenly.";
  parameters(q);
  pl_let(p, "pid", "tl.program_id(0)");
  ac_cb_comment(b, "rows in UB begin on 32 bytes");
  pl_let(p, "in_cols", "in_blocks * %d", POOL_ROW);
  if (q->turns) pl_let(p, "out_rows", "row_groups * %d", POOL_LANES);
  pl_let(p, "x_cols", "x_blocks * %d", POOL_ROW);
  pl_let(p, "out_cols", "out_blocks * %d", POOL_ROW);
  buffers(q);
  pl_let(p, "first", "tl.split(units, tl.num_programs(0), pid, 1)");
  pl_let(p, "last", "tl.split(units, tl.num_programs(0), pid + 1, 1)");
  window_starts(q);
  loop(q, "u", "first", "last", NULL);
  unit(q);
  if (q->indices)
    pool_index_first(q);
  else {
    ac_cb_with(b, AC_STAGE_COMPUTE);
    ac_cb_comment(b, "the edges of the rows keep this value");
    pool_do(q, "duplicate(lines, %s)", neutral(q));
    end(q);
  }
  bool deep = open_depth(q);
  if (q->uneven_rows)
    uneven_height(q);
  else
    height(q);
  if (deep) end(q);
  if (!q->indices) taps_of_width(q);
  divide(q);
  store(q);
  if (q->indices) pool_index_store(q);
  end(q);
}
