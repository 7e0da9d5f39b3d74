/* Max pooling with indices: taps one by one, in the order in which PyTorch looks at them. */
#include "plan/pool.h"

static void open(pool *q) {
  ac_cb_with(&q->p_->b, AC_STAGE_COMPUTE);
}
static void end(pool *q) {
  ac_cb_end(&q->p_->b);
}
static void loop(pool *q, const char *var, const char *lo, const char *hi) {
  ac_cbuild *b = &q->p_->b;
  ac_cb_for(b, var, ac_ce_parse(b, "%s", lo), ac_ce_parse(b, "%s", hi), NULL);
}

void pool_index_buffers(pool *q) {
  pl_ctx *p = q->p_;
  ac_cb_comment(&p->b, "the number of the tap that won, exact in float32");
  pl_alloc(p, "won", "(out_rows, out_cols)", AC_F32, false);
  pl_alloc(p, "first_tap", "out_cols", AC_F32, false);
  pl_alloc(p, "greater", "out_cols", AC_MASK, false);
  pl_alloc(p, "nan", "out_cols", AC_MASK, false);
  pl_alloc(p, "number", "out_cols", AC_I32, false);
  pl_alloc(p, "above", "out_cols", AC_I32, false);
  pl_alloc(p, "place", "out_cols", AC_I32, false);
  pl_alloc(p, "places", "(out_rows, out_cols)", AC_I64, false);
}

/* The number of the first tap along an axis that is inside, as an expression; the window starts at `s`. */
static const char *first_tap(pool *q, const char *s, int axis) {
  return ac_sprintf(q->p_->a, "max(0, (%lld - (%s)) // %lld)", (long long)q->d[axis] - 1, s, (long long)q->d[axis]);
}

void pool_index_first(pool *q) {
  pl_ctx *p = q->p_;
  long long s = q->s[2], d = q->d[2];
  open(q);
  ac_cb_comment(&p->b, "a window of nothing but -inf has the index of its first element");
  pool_do(q, "duplicate(acc, -float(\"inf\"))");
  pool_do(q, "iota(number, max(%lld - col * %lld, -1073741824), step=%lld)", (long long)q->p[2] + d - 1, s, -s);
  if (d > 1) pool_do(q, "vfloordiv_scalar(number, number, %lld)", d);
  pool_do(q, "vmax_scalar(number, number, 0)");
  pool_do(q, "cast(first_tap, number)");
  loop(q, "r", "0", "n_rows");
  const char *front =
      q->nd < 3
          ? "0"
          : first_tap(q, ac_sprintf(p->a, "z %% out_depth * %lld - %lld", (long long)q->s[0], (long long)q->p[0]), 0);
  const char *top = first_tap(q, ac_sprintf(p->a, "top + r * %lld", (long long)q->s[1]), 1);
  pool_do(q, "vadd_scalar(won[r, 0:n_cols], first_tap[0:n_cols], float((%s * %lld + %s) * %lld))", front,
          (long long)q->k[1], top, (long long)q->k[2]);
  end(q);
  end(q);
}

void pool_index_taps(pool *q) {
  open(q);
  loop(q, "i", "0", ac_sprintf(q->p_->a, "%lld", (long long)q->k[2]));
  pool_tap_index(q);
  loop(q, "r", "a", "b");
  pool_do(q, "gather(tap, lines[r, 0:in_cols], index, count=n_cols)");
  ac_cb_comment(&q->p_->b, "the first of equal ones stays; a NaN is taken, the last of several");
  pool_do(q, "vcompare(greater, tap[0:n_cols], acc[r, 0:n_cols], \"gt\")");
  pool_do(q, "vcompare(nan, tap, tap, \"ne\", count=n_cols)");
  pool_do(q, "mask_or(greater, greater, nan, count=n_cols)");
  pool_do(q, "mask_not(greater, greater, count=n_cols)");
  pool_do(q, "vselect(acc[r, 0:n_cols], greater, acc[r, 0:n_cols], tap[0:n_cols])");
  pool_do(q, "vselect_scalar(won[r, 0:n_cols], greater, won[r, 0:n_cols], float((kd * %lld + kh) * %lld + i))",
          (long long)q->k[1], (long long)q->k[2]);
  end(q);
  end(q);
  end(q);
}

/* From the number of a tap to the element's place in its plane. */
void pool_index_store(pool *q) {
  pl_ctx *p = q->p_;
  long long kh = q->k[1], kw = q->k[2];
  open(q);
  loop(q, "r", "0", "n_rows");
  pool_do(q, "cast(number[0:n_cols], won[r, 0:n_cols], mode=\"trunc\")");
  ac_cb_comment(&p->b, "number = (kd * %lld + kh) * %lld + kw", kh, kw);
  pool_do(q, "vfloordiv_scalar(above, number, %lld, count=n_cols)", kw);
  pool_do(q, "vmul_scalar(place, above, %lld, count=n_cols)", kw);
  pool_do(q, "vsub(number, number, place, count=n_cols)");
  pool_do(q, "vmul_scalar(number, number, %lld, count=n_cols)", (long long)q->d[2]);
  ac_cb_comment(&p->b, "`at` counts from the edge of the row in UB");
  pool_do(q, "vadd(number, number, at, count=n_cols)");
  if (q->nd == 1)
    pool_do(q, "vadd_scalar(place, number, col * %lld - %lld, count=n_cols)", (long long)q->s[2], (long long)q->edge);
  else {
    pool_do(q, "vfloordiv_scalar(place, above, %lld, count=n_cols)", kh);
    pool_do(q, "vmul_scalar(place, place, %lld * height - %lld, count=n_cols)", (long long)q->d[0],
            kh * (long long)q->d[1]);
    pool_do(q, "vmul_scalar(above, above, %lld, count=n_cols)", (long long)q->d[1]);
    pool_do(q, "vadd(place, place, above, count=n_cols)");
    pool_do(q, "vmul_scalar(place, place, width, count=n_cols)");
    pool_do(q, "vadd(place, place, number, count=n_cols)");
    const char *front = q->nd < 3 ? ""
                                  : ac_sprintf(p->a, "(z %% out_depth * %lld - %lld) * height + ", (long long)q->s[0],
                                               (long long)q->p[0]);
    pool_do(q, "vadd_scalar(place, place, (%stop + r * %lld) * width + col * %lld - %lld, count=n_cols)", front,
            (long long)q->s[1], (long long)q->s[2], (long long)q->edge);
  }
  pool_do(q, "cast(places[r, 0:n_cols], place[0:n_cols])");
  end(q);
  end(q);
  ac_cb_with(&p->b, AC_STAGE_COPYOUT);
  pool_do(q,
          "store(index_ptr + (z * out_height + row) * out_width + col + tl.arange(0, n_rows)[:, None] * out_width + "
          "tl.arange(0, n_cols)[None, :], places[0:n_rows, 0:n_cols])");
  end(q);
}
