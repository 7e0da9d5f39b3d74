/* From the pattern of wrong elements to what a person should look at. */
#include "verify/internal.h"

#include <math.h>

char *ac_index_text(ac_arena *a, const ac_value *v, int64_t linear) {
  ac_shape s = ac_value_example(v);
  int64_t at[AC_MAX_RANK] = {0};
  for (int k = s.rank - 1; k >= 0; k--) {
    at[k] = s.dim[k] ? linear % s.dim[k] : 0;
    linear = s.dim[k] ? linear / s.dim[k] : 0;
  }
  ac_buf b;
  ac_buf_init(&b, a);
  ac_puts(&b, "[");
  for (int k = 0; k < s.rank; k++) ac_printf(&b, k ? ", %lld" : "%lld", (long long)at[k]);
  ac_puts(&b, "]");
  return ac_strdup(a, ac_buf_str(&b));
}

static double expected(const ac_vcase *v, int out, int64_t i) {
  return v->ref_int[out] ? (double)v->ref_int[out][i] : v->ref[out][i];
}

static bool near(double got, double want, const ac_tolerance *t) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  return got == want || fabs(got - want) <= fmax(t->rtol, 0x1p-9) * fabs(want) + t->tiniest;
}

/* How many of the first wrong elements equal their expected neighbour at distance `by`. */
static bool mostly_shifted(const ac_vcase *v, int out, const void *got, const ac_comparison *c, const ac_tolerance *t,
                           int by) {
  const ac_sim_tensor *o = &v->tensors[v->n_in + out];
  int64_t n = o->bytes / ac_dtypes[o->dtype].bytes, seen = 0, same = 0;
  for (int64_t i = c->first_bad; i <= c->last_bad && seen < 1000; i++) {
    double g = ac_load(o->dtype, got, i);
    if (i + by < 0 || i + by >= n || near(g, expected(v, out, i), t)) continue;
    seen++;
    same += near(g, expected(v, out, i + by), t);
  }
  return seen >= 8 && same * 10 >= seen * 9;
}

static bool all_zero(const ac_sim_tensor *o, const void *got, const ac_comparison *c) {
  for (int64_t i = c->first_bad; i <= c->last_bad; i++)
    if (ac_load(o->dtype, got, i) != 0) return false;
  return true;
}

void ac_hints(ac_arena *a, const ac_vcase *v, int out, const void *got, const ac_comparison *c, const ac_tolerance *t,
              ac_strvec *hints) {
  const ac_sim_tensor *o = &v->tensors[v->n_in + out];
  if (v->sampled || !c->bad) return;
  int64_t n = o->bytes / ac_dtypes[o->dtype].bytes, span = c->last_bad - c->first_bad + 1;
  bool solid = c->bad == span;
  if (c->bad == n)
    ac_push(a, hints, ac_sprintf(a, "every element of %s is wrong", o->name));
  else if (solid && c->last_bad == n - 1)
    ac_push(a, hints,
            ac_sprintf(a, "only the last %lld of %lld elements of %s are wrong: look at the tail", (long long)span,
                       (long long)n, o->name));
  else if (solid && span > 1)
    ac_push(a, hints,
            ac_sprintf(
                a, "elements %lld to %lld of %s, and only those, are wrong: look at the end of a tile or of a block",
                (long long)c->first_bad, (long long)c->last_bad, o->name));
  for (int by = -1; by <= 1; by += 2)
    if (!v->streamed && mostly_shifted(v, out, got, c, t, by))
      ac_push(a, hints,
              ac_sprintf(a, "what is in %s[i] belongs into %s[i%+d]: an offset is one element off", o->name, o->name,
                         by));
  if (all_zero(o, got, c)) ac_push(a, hints, ac_sprintf(a, "all of the wrong elements are zero"));
}
