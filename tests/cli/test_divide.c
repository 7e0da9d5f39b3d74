/* Division of integers: every pair of bytes, and of wider ints the values where an estimated quotient would be one off; also with the
 * chip's instructions moved to their error bounds, and of int64 in plain C. */
#include "elements.h"
#include "plainc_support.h"

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
/* In 64 bits. By 0 as by 1. */
static int64_t reference(const form *f, ac_dtype d, int64_t x, int64_t y) {
  if (!y) y = 1;
  if (y == -1) return f->remainder ? 0 : wrap(d, (int64_t)(0 - (uint64_t)x)); /* the lowest wraps */
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
  case 0: return wrap(d, (int64_t)(((uint64_t)1 << (z >> 16) % (uint64_t)bits) + (uint64_t)near));
  case 1: return wrap(d, (int64_t)((uint64_t)near - ((uint64_t)1 << (z >> 16) % (uint64_t)bits)));
  case 2: return wrap(d, (int64_t)(z >> 40) % 5 - 2);
  case 3:
  case 4:
  case 5:
    return divisor ? wrap(d, (int64_t)((uint64_t)divisor * (z >> 20 & 0xfffff) + (uint64_t)near))
                   : wrap(d, (int64_t)(z >> 12));
  default:
    if (bits == 64) return (int64_t)(z * 0xd1342543de82ef95ull) >> (z >> 3 & 63);
    return wrap(d, (int64_t)(z >> 12) >> (z >> 3 & 31));
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

static const ac_dtype dtypes[] = {AC_I8, AC_U8, AC_I16, AC_U16, AC_I32, AC_U32, AC_I64};

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
      check_form(&forms[f], AC_I64, ways[w]);
    }
}

/* By a number of the program; `reverse`: of it. */
static void check_scalar(const char *name, const form *f, ac_dtype d, int64_t by, bool reverse) {
  enum { N = 1003 };
  char *text = el_program(b.a, &(element){.name = name, .d = d, .to = d, .s = 77}, 0), *at = strstr(text, ", 77");
  text = ac_sprintf(b.a, "%.*s, %lld%s", (int)(at - text), text, (long long)by, at + 4);
  const ac_program *p = lowered(&b, "one.craft", text);
  ac_shape shape = {.rank = 1, .dim = {N}};
  data t = {.n = N};
  add_tensor(&t.x, "a", d, &shape, false);
  add_tensor(&t.x, "b", d, &shape, false);
  add_tensor(&t.x, "m", AC_F32, &shape, false);
  add_tensor(&t.x, "y", d, &shape, true);
  for (int64_t i = 0; i < N; i++) {
    ac_store_int(d, t.x.t[0].data, i, value(d, (uint64_t)i, by));
    ac_store_int(d, t.x.t[1].data, i, 0);
    ac_store(AC_F32, t.x.t[2].data, i, 1);
  }
  run_form(f, p, &t, d, AC_PERTURB_NONE);
  for (int64_t i = 0; i < N; i++) {
    int64_t x = ac_load_int(d, t.x.t[0].data, i);
    assert_int_equal(ac_load_int(d, t.x.t[3].data, i), reverse ? reference(f, d, by, x) : reference(f, d, x, by));
  }
  free_args(&t.x);
}

/* 0 and the ends among them. The lowest int64 is no literal: its digits alone are too many. */
static void scalars(void **s) {
  (void)s;
  static const int64_t by[] = {0, 1, -1, 7, -7, 100, 32767, -32768, INT32_MAX, INT32_MIN},
                       far[] = {0,
                                1,
                                -1,
                                -7,
                                1000000007,
                                (int64_t)1 << 31,
                                -((int64_t)1 << 32),
                                INT64_MAX,
                                -INT64_MAX,
                                (int64_t)1 << 62,
                                0x123456789abcdef};
  for (size_t f = 0; f < AC_COUNT(forms); f++) {
    const char *name = ac_sprintf(b.a, "%s_scalar", forms[f].name);
    for (size_t k = 0; k < AC_COUNT(by); k++) check_scalar(name, &forms[f], AC_I32, by[k], false);
    for (size_t k = 0; k < AC_COUNT(far); k++) check_scalar(name, &forms[f], AC_I64, far[k], false);
  }
  for (size_t k = 0; k < AC_COUNT(far); k++) check_scalar("vrdiv_scalar", &forms[0], AC_I64, far[k], true);
}

/* int64 in plain C gives the simulator's bits. */
static void in_plain_c(void **s) {
  (void)s;
  enum { N = 4099 };
  plain_program list[AC_COUNT(forms)] = {0};
  for (size_t f = 0; f < AC_COUNT(forms); f++) {
    list[f].name = forms[f].name;
    list[f].text = el_program(b.a, &(element){.name = forms[f].name, .d = AC_I64, .to = AC_I64}, 0);
    assert_true(plain_lower(b.a, &list[f], (int)f, &b.d));
  }
  const char *broken = plain_build(&b, list, AC_COUNT(forms), "-O1");
  if (broken) failed("the C form", "%s", broken);
  for (size_t f = 0; f < AC_COUNT(forms); f++) {
    args x = {0};
    char *message;
    ac_shape shape = {.rank = 1, .dim = {N}};
    add_tensor(&x, "a", AC_I64, &shape, false);
    add_tensor(&x, "b", AC_I64, &shape, false);
    add_tensor(&x, "m", AC_F32, &shape, false);
    add_tensor(&x, "y", AC_I64, &shape, true);
    for (int64_t i = 0; i < N; i++) {
      int64_t y = value(AC_I64, (uint64_t)i * 2, 0);
      ac_store_int(AC_I64, x.t[0].data, i, value(AC_I64, (uint64_t)i * 2 + 1, y));
      ac_store_int(AC_I64, x.t[1].data, i, y);
      ac_store(AC_F32, x.t[2].data, i, 1);
    }
    if (plain_compare(&b, &list[f], &x, 0, &message) != PLAIN_SAME) failed(list[f].text, "%s", message);
    for (int64_t i = 0; i < N; i++)
      assert_int_equal(
          ac_load_int(AC_I64, x.t[3].data, i),
          reference(&forms[f], AC_I64, ac_load_int(AC_I64, x.t[0].data, i), ac_load_int(AC_I64, x.t[1].data, i)));
    free_args(&x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(within_bounds),
                                     cmocka_unit_test(scalars), cmocka_unit_test(in_plain_c)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
