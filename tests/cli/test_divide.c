/* Division of integers: every pair of bytes, and of wider ints the values where an estimated quotient would be one off; also with the
 * chip's instructions moved to their error bounds. */
#include "elements.h"

typedef struct {
  const char *name;
  bool remainder, floor;
} form;
static const form forms[] = {
    {"vdiv", false, false}, {"vfmod", true, false}, {"vfloordiv", false, true}, {"vmod", true, true}};

static int64_t wrap(ac_dtype d, int64_t v) {
  uint64_t cell = 0;
  ac_store_int(d, &cell, 0, v);
  return ac_load_int(d, &cell, 0);
}
/* In 64 bits, where nothing overflows. By 0 as by 1. */
static int64_t reference(const form *f, ac_dtype d, int64_t x, int64_t y) {
  if (!y) y = 1;
  int64_t q = x / y, r = x % y;
  bool down = f->floor && r && (r < 0) != (y < 0);
  return wrap(d, f->remainder ? r + (down ? y : 0) : q - down);
}

/* The ends, powers of two and their neighbours, products and their neighbours. */
static int64_t value(ac_dtype d, uint64_t i, int64_t divisor) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
  z ^= z >> 29, z *= 0x94d049bb133111ebull, z ^= z >> 32;
  int64_t near = (int64_t)(z >> 8 & 3) - 1, bits = 8 * ac_dtypes[d].bytes;
  switch (z & 7) {
  case 0: return wrap(d, ((int64_t)1 << (z >> 16) % (uint64_t)bits) + near);
  case 1: return wrap(d, -((int64_t)1 << (z >> 16) % (uint64_t)bits) + near);
  case 2: return wrap(d, (int64_t)(z >> 40) % 5 - 2);
  case 3:
  case 4:
  case 5:
    return divisor ? wrap(d, (int64_t)((uint64_t)divisor * (z >> 20 & 0xfffff)) + near) : wrap(d, (int64_t)(z >> 12));
  default: return wrap(d, (int64_t)(z >> 12) >> (z >> 3 & 31));
  }
}

typedef struct {
  args x;
  int64_t n;
} data;
static void run_form(const form *f, const ac_program *p, data *t, ac_dtype d, ac_perturb perturb) {
  ac_sim_result r = {0};
  ac_sim_opts o = {.threads = 1, .in_process = true, .no_time = true, .perturb = perturb, .perturb_seed = 7};
  bool ok = ac_sim_run_program(b.a, p, p->chip, t->x.t, t->x.n, NULL, 0, &o, &r, &b.d);
  if (!ok || r.faults.len)
    fail_msg("tl.%s of %s does not run: %s", f->name, ac_dtypes[d].name,
             r.faults.len ? r.faults.data[0].message : "");
}

static void check_form(const form *f, ac_dtype d, ac_perturb perturb) {
  enum { N = 65536 };
  element e = {.name = f->name, .d = d, .to = d};
  const ac_program *p = lowered(&b, "one.craft", el_program(b.a, &e, 0));
  ac_shape s = {.rank = 1, .dim = {N}};
  data t = {.n = N};
  add_tensor(&t.x, "a", d, &s, false);
  add_tensor(&t.x, "b", d, &s, false);
  add_tensor(&t.x, "m", AC_F32, &s, false);
  add_tensor(&t.x, "y", d, &s, true);
  for (int64_t i = 0; i < N; i++) {
    bool all = ac_dtypes[d].bytes == 1;
    int64_t y = all ? wrap(d, i >> 8) : value(d, (uint64_t)i * 2, 0);
    ac_store_int(d, t.x.t[0].data, i, all ? wrap(d, i) : value(d, (uint64_t)i * 2 + 1, y));
    ac_store_int(d, t.x.t[1].data, i, y);
    ac_store(AC_F32, t.x.t[2].data, i, 1);
  }
  run_form(f, p, &t, d, perturb);
  for (int64_t i = 0; i < N; i++) {
    int64_t x = ac_load_int(d, t.x.t[0].data, i), y = ac_load_int(d, t.x.t[1].data, i),
            got = ac_load_int(d, t.x.t[3].data, i), want = reference(f, d, x, y);
    if (got != want)
      fail_msg("tl.%s of %s: of %lld and %lld it is %lld, not %lld", f->name, ac_dtypes[d].name, (long long)x,
               (long long)y, (long long)got, (long long)want);
  }
  free_args(&t.x);
}

static const ac_dtype dtypes[] = {AC_I8, AC_U8, AC_I16, AC_U16, AC_I32, AC_U32};

static void exact(void **s) {
  (void)s;
  for (size_t f = 0; f < AC_COUNT(forms); f++)
    for (size_t d = 0; d < AC_COUNT(dtypes); d++) check_form(&forms[f], dtypes[d], AC_PERTURB_NONE);
}

/* The estimates' margin covers what the instructions may be off. */
static void within_bounds(void **s) {
  (void)s;
  static const ac_perturb ways[] = {AC_PERTURB_UP, AC_PERTURB_DOWN, AC_PERTURB_MIXED};
  for (size_t w = 0; w < AC_COUNT(ways); w++)
    for (size_t f = 0; f < AC_COUNT(forms); f++) {
      check_form(&forms[f], AC_I32, ways[w]);
      check_form(&forms[f], AC_U32, ways[w]);
    }
}

/* By numbers of the program, 0 and the ends among them. */
static void scalars(void **s) {
  (void)s;
  static const double by[] = {0, 1, -1, 7, -7, 100, 32767, -32768, 2147483647.0, -2147483648.0};
  for (size_t f = 0; f < AC_COUNT(forms); f++)
    for (size_t k = 0; k < AC_COUNT(by); k++) {
      enum { N = 1003 };
      element e = {.name = ac_sprintf(b.a, "%s_scalar", forms[f].name), .d = AC_I32, .to = AC_I32, .s = by[k]};
      const ac_program *p = lowered(&b, "one.craft", el_program(b.a, &e, 0));
      ac_shape shape = {.rank = 1, .dim = {N}};
      data t = {.n = N};
      add_tensor(&t.x, "a", AC_I32, &shape, false);
      add_tensor(&t.x, "b", AC_I32, &shape, false);
      add_tensor(&t.x, "m", AC_F32, &shape, false);
      add_tensor(&t.x, "y", AC_I32, &shape, true);
      for (int64_t i = 0; i < N; i++) {
        ac_store_int(AC_I32, t.x.t[0].data, i, value(AC_I32, (uint64_t)i, (int64_t)by[k]));
        ac_store_int(AC_I32, t.x.t[1].data, i, 0);
        ac_store(AC_F32, t.x.t[2].data, i, 1);
      }
      run_form(&forms[f], p, &t, AC_I32, AC_PERTURB_NONE);
      for (int64_t i = 0; i < N; i++) {
        int64_t x = ac_load_int(AC_I32, t.x.t[0].data, i);
        assert_int_equal(ac_load_int(AC_I32, t.x.t[3].data, i), reference(&forms[f], AC_I32, x, (int64_t)by[k]));
      }
      free_args(&t.x);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(within_bounds),
                                     cmocka_unit_test(scalars)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
