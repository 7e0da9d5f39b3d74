/* Element-wise primitives in every dtype: scratch as elems.def has it, and values against float64 and exact integers. AC_UPDATE=1 writes the
 * numbers of elems.def anew. */
#include "elements.h"

static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16, AC_I8,  AC_U8,   AC_I16,
                                  AC_U16, AC_I32, AC_U32,  AC_I64, AC_BOOL, AC_MASK};
static const char *const names[] = {
#define E(name, ...) name,
#include "craft/elems.def"
#undef E
};

/* ---- scratch ---- */

static int64_t pool_bytes(const ac_program *p) {
  const ac_akernel *k = p->kernels.data[0];
  for (size_t i = 0; i < k->buffers.len; i++)
    if (!strcmp(k->buffers.data[i].buffer, "acScratch")) return k->buffers.data[i].elements->i * 4;
  return 0;
}

/* Scratch of a lane: what a piece of so many lanes takes, of the loops over pieces. */
static int per_lane(const ac_ablock *block, int64_t bytes) {
  for (size_t i = 0; i < block->len; i++) {
    const ac_astmt *s = block->data[i];
    if (s->kind == AC_AS_FOR && !strcmp(s->var.name, "acLane")) {
      int64_t lanes = s->step->i, n = bytes / lanes;
      if (n * lanes == bytes && ac_scratch_lanes((int)n) == lanes) return (int)n;
    }
    int n = per_lane(&s->body, bytes);
    if (n >= 0) return n;
  }
  return -1;
}

static bool to_mask(const char *name) {
  return el_compare(name) || el_mask_logic(name) || is_name(name, "mask_from_bytes");
}
static element trial(const char *name, ac_dtype d) {
  element e = {.name = name, .d = d, .to = d, .s = 2, .s2 = 5};
  if (el_compare(name)) e.mode = "ge";
  if (is_name(name, "vpow_scalar")) e.s = 2.5;
  if (!strncmp(name, "cast ", 5)) e = (element){.name = "cast", .d = ac_dtype_of(name + 5), .to = d};
  return e;
}
/* vselect and mask_to_bytes use scratch of their own where a compare of float32 makes their mask: none. */
static int measured(const char *name, ac_dtype d) {
  element e = trial(name, d);
  bool is_cast = e.mode == NULL && is_name(e.name, "cast");
  if (is_cast ? !ac_craft_cast_rounds(e.to, e.d) : !(ac_elem_dtypes(name) & AC_BIT(d))) return -1;
  int most = 0;
  static const char *const modes[] = {"lt", "eq", "ne", "gt", "le", "ge"};
  for (size_t i = 0; i < (e.mode ? AC_COUNT(modes) : 1); i++) {
    if (e.mode) e.mode = modes[i];
    char *text = el_program(b.a, &e, 0);
    if (to_mask(name)) { /* the bytes that carry the result out take scratch of their own */
      char *at = strstr(text, "            tl.mask_to_bytes(yb, mask)");
      memcpy(at, "            tl.duplicate(yb, 0, count)", 38);
      at = strstr(text, "yb = tl.alloc_ub(tile, tl.uint8)");
      memcpy(at, "yb = tl.alloc_ub(tile, tl.int16)", 32);
    }
    const ac_program *p = lowered(&b, "one.craft", text);
    int64_t bytes = pool_bytes(p);
    const ac_akernel *k = p->kernels.data[0];
    int n = -1;
    for (size_t m = 0; n < 0 && m < k->methods.len && bytes; m++) n = per_lane(&k->methods.data[m].body, bytes);
    assert_true(n > 0 || !bytes);
    if (n > most) most = n;
  }
  return most;
}

static void update(void) {
  ac_buf out;
  ac_buf_init(&out, b.a);
  const char *path = AC_SOURCE_DIR "/src/craft/elems.def";
  size_t len;
  char *text = ac_read_file(b.a, path, 0, &len, &b.d), *head = strstr(text, "E(\"");
  ac_printf(&out, "%.*s", (int)(head - text), text);
  for (size_t i = 0; i < AC_COUNT(names); i++) {
    ac_printf(&out, "E(\"%s\"", names[i]);
    for (size_t d = 0; d < AC_COUNT(dtypes); d++) {
      int n = measured(names[i], dtypes[d]);
      ac_printf(&out, n < 0 ? ", N" : ", %d", n);
    }
    ac_puts(&out, ")\n");
  }
  ac_puts(&out, "#undef N\n");
  assert_true(ac_write_file(path, ac_buf_str(&out), out.len, &b.d));
}

static void scratch(void **s) {
  (void)s;
  if (getenv("AC_UPDATE")) {
    update();
    return;
  }
  for (size_t i = 0; i < AC_COUNT(names); i++)
    for (size_t d = 0; d < AC_COUNT(dtypes); d++) {
      int want = ac_elem_scratch(names[i], dtypes[d]), got = measured(names[i], dtypes[d]);
      if (want != got)
        fail_msg("tl.%s of %s: %d bytes a lane, elems.def says %d", names[i], ac_dtypes[dtypes[d]].name, got, want);
    }
}

/* ---- values ---- */

static int64_t as_dtype(ac_dtype d, int64_t v) {
  uint64_t cell = 0;
  ac_store_int(d, &cell, 0, v);
  return ac_load_int(d, &cell, 0);
}

static bool divides(const char *n) {
  return strstr(n, "div") || strstr(n, "mod");
}
/* In 64 bits. By 0 as by 1. */
static int64_t quotient(const char *n, int64_t x, int64_t y) {
  if (is_name(n, "vrdiv_scalar")) {
    int64_t t = x;
    x = y, y = t;
  }
  if (!y) y = 1;
  if (y == -1) return strstr(n, "mod") ? 0 : (int64_t)(0 - (uint64_t)x); /* the lowest wraps */
  int64_t q = x / y, r = x % y;
  bool down =
      (is_name(n, "vmod") || is_name(n, "vmod_scalar") || !strncmp(n, "vfloordiv", 9)) && r && (r < 0) != (y < 0);
  return strstr(n, "mod") ? r + (down ? y : 0) : q - down;
}

/* Exact; -1 for a name that integers do not have. */
static int64_t reference_int(const element *e, int64_t x, int64_t y, bool m, int64_t i, bool *known) {
  const char *n = e->name;
  ac_dtype d = e->d;
  int64_t s = as_dtype(d, (int64_t)e->s), s2 = as_dtype(d, (int64_t)e->s2), bits = 8 * ac_dtypes[d].bytes;
  uint64_t ux = (uint64_t)x, uy = (uint64_t)y, us = (uint64_t)s;
  *known = true;
  if (is_name(n, "vadd")) return (int64_t)(ux + uy);
  if (is_name(n, "vsub")) return (int64_t)(ux - uy);
  if (is_name(n, "vmul")) return (int64_t)(ux * uy);
  if (is_name(n, "vmax")) return x > y ? x : y;
  if (is_name(n, "vmin")) return x < y ? x : y;
  if (is_name(n, "vadd_scalar")) return (int64_t)(ux + us);
  if (is_name(n, "vsub_scalar")) return (int64_t)(ux - us);
  if (is_name(n, "vmul_scalar")) return (int64_t)(ux * us);
  if (is_name(n, "vrsub_scalar")) return (int64_t)(us - ux);
  if (is_name(n, "vmax_scalar")) return x > s ? x : s;
  if (is_name(n, "vmin_scalar")) return x < s ? x : s;
  if (is_name(n, "vclamp")) return x < s ? s : x > s2 ? s2 : x;
  if (is_name(n, "vneg")) return (int64_t)(0 - ux);
  if (is_name(n, "vabs")) return x < 0 ? (int64_t)(0 - ux) : x;
  if (is_name(n, "vrelu")) return x < 0 ? 0 : x;
  if (is_name(n, "vsign")) return (x > 0) - (x < 0);
  if (is_name(n, "vsquare")) return (int64_t)(ux * ux);
  if (is_name(n, "vaxpy")) return (int64_t)(3 + ux * us);
  if (is_name(n, "vmul_add")) return (int64_t)(3 + ux * uy);
  if (is_name(n, "vand")) return x & y;
  if (is_name(n, "vor")) return x | y;
  if (is_name(n, "vxor")) return x ^ y;
  if (is_name(n, "vnot")) return d == AC_BOOL ? !x : ~x;
  if (is_name(n, "vshl_scalar")) return (int64_t)(ux << (int64_t)e->s);
  if (is_name(n, "vshr_scalar"))
    return ac_dtypes[d].cls == AC_SIGNED ? x >> (int64_t)e->s
                                         : (int64_t)((bits < 64 ? ux & ((1ull << bits) - 1) : ux) >> (int64_t)e->s);
  if (is_name(n, "vselect")) return m ? x : y;
  if (is_name(n, "vselect_scalar")) return m ? x : s;
  if (is_name(n, "duplicate")) return s;
  if (is_name(n, "iota")) return (int64_t)(us + (uint64_t)i * (uint64_t)s2);
  if (is_name(n, "vcopy") || is_name(n, "vfloor") || is_name(n, "vceil") || is_name(n, "vround") ||
      is_name(n, "vrint") || is_name(n, "vtrunc"))
    return x;
  if (divides(n)) return quotient(n, x, scalar_name(n) ? s : y);
  *known = false;
  return -1;
}

static bool compare(const char *mode, double x, double y, int64_t ix, int64_t iy, bool whole) {
  bool lt = whole ? ix < iy : x < y, eq = whole ? ix == iy : x == y, gt = whole ? ix > iy : x > y;
  if (is_name(mode, "lt")) return lt;
  if (is_name(mode, "le")) return lt || eq;
  if (is_name(mode, "gt")) return gt;
  if (is_name(mode, "ge")) return gt || eq;
  return is_name(mode, "eq") ? eq : !eq;
}

typedef struct {
  args x;
  int64_t n;
} data;

static void make_data(data *t, const element *e, int64_t n, ac_dtype out) {
  ac_shape s = {.rank = 1, .dim = {n}};
  memset(t, 0, sizeof *t);
  t->n = n;
  add_tensor(&t->x, "a", e->d, &s, false);
  add_tensor(&t->x, "b", e->d, &s, false);
  add_tensor(&t->x, "m", AC_F32, &s, false);
  add_tensor(&t->x, "y", out, &s, true);
}

static void run_element(const element *e, const ac_program *p, data *t) {
  ac_sim_result r = {0};
  ac_sim_opts o = {.threads = 1, .in_process = true, .no_time = true};
  ac_diags d;
  ac_diags_init(&d, b.a);
  bool ok = ac_sim_run_program(b.a, p, p->chip, t->x.t, t->x.n, NULL, 0, &o, &r, &d);
  if (!ok) ac_diags_print(&d, stderr, false);
  for (size_t i = 0; i < r.faults.len; i++)
    fprintf(stderr, "tl.%s of %s: %s: %s\n", e->name, ac_dtypes[e->d].name, r.faults.data[i].kind,
            r.faults.data[i].message);
  if (!ok || r.faults.len)
    fail_msg("tl.%s of %s, %lld elements, does not run", e->name, ac_dtypes[e->d].name, (long long)t->n);
}

/* Small values, the ends of the range, and bits at random. */
static int64_t whole_value(ac_dtype d, uint64_t i, uint64_t seed) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xbf58476d1ce4e5b9ull;
  z ^= z >> 29, z *= 0x94d049bb133111ebull, z ^= z >> 32;
  int64_t lo = ac_dtypes[d].cls == AC_SIGNED ? (int64_t)(1ull << (8 * ac_dtypes[d].bytes - 1)) : 0;
  switch (z >> 60) {
  case 0: return as_dtype(d, lo);
  case 1: return as_dtype(d, (int64_t)((uint64_t)lo - 1));
  case 2: return 0;
  case 3: return as_dtype(d, -1);
  case 4:
  case 5: return as_dtype(d, (int64_t)(z % 7) - 3);
  case 6: return as_dtype(d, (int64_t)(z & 0xffffffff));
  case 7: return as_dtype(d, (int64_t)(z & 0xffffffff00000000ull));
  default: return as_dtype(d, (int64_t)z);
  }
}

/* tile: a call's lanes at most */
static void check_int(const element *e, const ac_program *p, int64_t n, int64_t tile) {
  data t;
  bool cmp = el_compare(e->name);
  make_data(&t, e, n, cmp ? AC_U8 : e->to);
  for (int64_t i = 0; i < n; i++) {
    int64_t x = whole_value(e->d, (uint64_t)i, 1), y = whole_value(e->d, (uint64_t)i, 2);
    if (i % 5 == 0) y = x;
    ac_store_int(e->d, t.x.t[0].data, i, x);
    ac_store_int(e->d, t.x.t[1].data, i, y);
    ac_store(AC_F32, t.x.t[2].data, i, i % 3 ? 1 : -1);
  }
  run_element(e, p, &t);
  for (int64_t i = 0; i < n; i++) {
    int64_t x = ac_load_int(e->d, t.x.t[0].data, i), y = ac_load_int(e->d, t.x.t[1].data, i), want;
    bool known = true;
    if (cmp)
      want = compare(e->mode, 0, 0, x, is_name(e->name, "vcompare") ? y : as_dtype(e->d, (int64_t)e->s), true);
    else
      want = as_dtype(e->d, reference_int(e, x, y, i % 3 != 0, i % tile, &known));
    assert_true(known);
    int64_t got = ac_load_int(cmp ? AC_U8 : e->d, t.x.t[3].data, i);
    if (e->d == AC_BOOL) got = ((uint8_t *)t.x.t[3].data)[i];
    if (got != want)
      fail_msg("tl.%s of %s, %lld elements%s%s: element %lld of %lld and %lld is %lld, not %lld", e->name,
               ac_dtypes[e->d].name, (long long)n, e->mode ? " " : "", e->mode ? e->mode : "", (long long)i,
               (long long)x, (long long)y, (long long)got, (long long)want);
  }
  free_args(&t.x);
}

static const int64_t counts[] = {1, 7, 13, 513, 1003, 5000};

static void integers(void **s) {
  (void)s;
  static const char *const modes[] = {"lt", "eq", "ne", "gt", "le", "ge"};
  for (size_t i = 0; i < AC_COUNT(names); i++)
    for (size_t d = 0; d < AC_COUNT(dtypes); d++) {
      if (ac_dtypes[dtypes[d]].cls == AC_FLOATING || !strncmp(names[i], "cast ", 5) ||
          !strncmp(names[i], "mask_", 5) || !(ac_elem_dtypes(names[i]) & AC_BIT(dtypes[d])))
        continue;
      element e = trial(names[i], dtypes[d]);
      if (dtypes[d] == AC_BOOL) e.s = 1;
      for (size_t k = 0; k < (e.mode ? AC_COUNT(modes) : 1); k++) {
        if (e.mode) e.mode = modes[k];
        const ac_program *big = lowered(&b, "one.craft", el_program(b.a, &e, 0)),
                         *small = lowered(&b, "one.craft", el_program(b.a, &e, 600));
        for (size_t c = 0; c < AC_COUNT(counts); c++)
          check_int(&e, c % 2 ? small : big, counts[c], c % 2 ? 600 : 4096);
        check_int(&e, big, 5000, 4096);
      }
    }
}

/* Shifts by every number of bits; scalars that need both words of an int64. */
static void shifts_and_scalars(void **s) {
  (void)s;
  static const ac_dtype some[] = {AC_I8, AC_U8, AC_I16, AC_U16, AC_I32, AC_U32, AC_I64};
  static const char *const two[] = {"vshl_scalar", "vshr_scalar"};
  for (size_t d = 0; d < AC_COUNT(some); d++)
    for (size_t k = 0; k < AC_COUNT(two); k++)
      for (int n = 0; n < 8 * ac_dtypes[some[d]].bytes; n += some[d] == AC_I64 ? 7 : 5) {
        element e = {.name = two[k], .d = some[d], .to = some[d], .s = n};
        check_int(&e, lowered(&b, "one.craft", el_program(b.a, &e, 0)), 513, 4096);
      }
  static const char *const wide[] = {"vadd_scalar", "vmul_scalar", "vmax_scalar", "duplicate", "vrsub_scalar"};
  for (size_t k = 0; k < AC_COUNT(wide); k++) {
    element e = {.name = wide[k], .d = AC_I64, .to = AC_I64, .s = -123456789012345.0};
    check_int(&e, lowered(&b, "one.craft", el_program(b.a, &e, 0)), 513, 4096);
  }
}

/* ---- masks ---- */

static void check_mask(const char *name, ac_dtype d, int64_t n) {
  element e = {.name = name, .d = d, .to = AC_U8};
  data t;
  make_data(&t, &e, n, is_name(name, "mask_to_bytes") ? d : AC_U8);
  if (is_name(name, "mask_to_bytes")) e.to = d;
  for (int64_t i = 0; i < n; i++) {
    ac_store_int(d, t.x.t[0].data, i, (i * 7 % 11 < 5) * (d == AC_BOOL ? 1 : i % 255 + 1));
    ac_store(AC_F32, t.x.t[2].data, i, i % 3 ? (i % 5 ? 1 : 3) : -1);
  }
  run_element(&e, lowered(&b, "one.craft", el_program(b.a, &e, n % 2 ? 0 : 600)), &t);
  for (int64_t i = 0; i < n; i++) {
    bool m = i % 3 != 0, m2 = m && i % 5 == 0,
         want = is_name(name, "mask_and")        ? m && m2
                : is_name(name, "mask_or")       ? m || m2
                : is_name(name, "mask_xor")      ? m != m2
                : is_name(name, "mask_not")      ? !m
                : is_name(name, "mask_to_bytes") ? m
                                                 : i * 7 % 11 < 5;
    if (((uint8_t *)t.x.t[3].data)[i] != want)
      fail_msg("tl.%s, %lld lanes: lane %lld is not %d", name, (long long)n, (long long)i, want);
  }
  free_args(&t.x);
}

static void masks(void **s) {
  (void)s;
  static const char *const all[] = {"mask_and", "mask_or",       "mask_xor",
                                    "mask_not", "mask_to_bytes", "mask_from_bytes"};
  for (size_t i = 0; i < AC_COUNT(all); i++)
    for (size_t c = 0; c < AC_COUNT(counts); c++) {
      check_mask(all[i], AC_U8, counts[c]);
      check_mask(all[i], AC_BOOL, counts[c]);
    }
}

/* ---- casts ---- */

static double special_value(ac_dtype d, int64_t i) {
  static const double v[] = {0,     -0.0,   0.5,          -0.5,         1.5,           -1.5,         2.5,
                             -2.5,  126.5,  127,          127.5,        128,           -128,         -128.5,
                             -129,  254.5,  255,          255.5,        256,           32767,        32767.5,
                             32768, -32768, -32769,       65535,        65536,         2.3,          -2.7,
                             1e9,   -1e9,   2147483520.0, 2147483648.0, -2147483648.0, 4294967040.0, 4294967296.0,
                             1e10,  -1e10,  9.2e18,       -9.3e18,      1e30,          0.49999997,   3e-5,
                             1e-8,  65519,  65520,        70000,        -70000};
  if (ac_dtypes[d].cls != AC_FLOATING) return (double)whole_value(d, (uint64_t)i, 3);
  if (i < (int64_t)AC_COUNT(v)) return v[i];
  if (i == (int64_t)AC_COUNT(v)) return NAN;
  uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15ull;
  return ldexp((double)(z >> 11) * 0x1p-53 - 0.5, (int)(z % 44) - 8);
}

static double integral(double x, ac_round r) {
  return r == AC_RN_FLOOR   ? floor(x)
         : r == AC_RN_CEIL  ? ceil(x)
         : r == AC_RN_ROUND ? round(x)
         : r == AC_RN_TRUNC ? trunc(x)
                            : rint(x);
}
static int64_t clamp_to(ac_dtype d, double x) {
  uint64_t cell = 0;
  if (isnan(x)) return 0;
  ac_store(d, &cell, 0, x);
  return ac_load_int(d, &cell, 0);
}
/* An int64 as another integer dtype, saturating. */
static int64_t saturated(ac_dtype d, int64_t v) {
  bool sign = ac_dtypes[d].cls == AC_SIGNED;
  int bits = 8 * ac_dtypes[d].bytes;
  if (bits == 64) return v;
  int64_t hi = ((int64_t)1 << (bits - sign)) - 1, lo = sign ? -hi - 1 : 0;
  return v < lo ? lo : v > hi ? hi : v;
}

/* One rounding of an integer to a float, in a mode. */
static bool float_matches(ac_dtype d, double got, long double want, ac_round r, bool twice) {
  if (got == (double)want && (long double)got == want) return true;
  double big = d == AC_F16 ? 65504 : d == AC_BF16 ? 3.3895313892515355e38 : 3.4028234663852886e38;
  if (fabsl(want) > (long double)big) return fabs(got) == big || isinf(got); /* saturation is a setting of the chip */
  double ulp = ldexp(1, (int)floor(log2(fabs((double)want) > 0 ? fabs((double)want) : 1)) - (d == AC_F16    ? 10
                                                                                             : d == AC_BF16 ? 7
                                                                                                            : 23));
  if (d == AC_F16 && ulp < 0x1p-24) ulp = 0x1p-24;
  long double off = (long double)got - want, half = (long double)ulp * (twice ? 0.51L : 0.5L);
  switch (r) {
  case AC_RN_FLOOR: return off <= 0 && off > -(long double)ulp;
  case AC_RN_CEIL: return off >= 0 && off < (long double)ulp;
  case AC_RN_TRUNC: return want < 0 ? off >= 0 && off < (long double)ulp : off <= 0 && off > -(long double)ulp;
  case AC_RN_ODD: return fabsl(off) < (long double)ulp;
  default: return fabsl(off) <= half;
  }
}

static void check_cast(const element *e, ac_round r, int64_t n) {
  data t;
  make_data(&t, e, n, e->to);
  for (int64_t i = 0; i < n; i++) {
    if (ac_dtypes[e->d].cls == AC_FLOATING)
      ac_store(e->d, t.x.t[0].data, i, special_value(e->d, i));
    else
      ac_store_int(e->d, t.x.t[0].data, i, whole_value(e->d, (uint64_t)i, 3));
    ac_store(AC_F32, t.x.t[2].data, i, 1);
  }
  run_element(e, lowered(&b, "one.craft", el_program(b.a, e, 0)), &t);
  bool from_float = ac_dtypes[e->d].cls == AC_FLOATING, to_float = ac_dtypes[e->to].cls == AC_FLOATING;
  for (int64_t i = 0; i < n; i++) {
    double x = ac_load(e->d, t.x.t[0].data, i), got = ac_load(e->to, t.x.t[3].data, i);
    int64_t xi = from_float ? 0 : ac_load_int(e->d, t.x.t[0].data, i),
            gi = to_float ? 0 : ac_load_int(e->to, t.x.t[3].data, i);
    bool ok;
    if (e->to == AC_BOOL)
      ok = ((uint8_t *)t.x.t[3].data)[i] == (from_float ? x != 0 : xi != 0);
    else if (from_float && to_float && e->d == e->to)
      ok = isnan(x) ? true : float_matches(e->to, got, (long double)integral(x, r), AC_RN_RINT, false);
    else if (from_float && to_float)
      ok = isnan(x) ? true : float_matches(e->to, got, (long double)x, r, false);
    else if (from_float)
      ok = gi == clamp_to(e->to, integral(x, r));
    else if (to_float)
      ok = float_matches(e->to, got, (long double)xi, r == AC_RN_NONE ? AC_RN_RINT : r, e->to != AC_F32);
    else
      ok = gi == saturated(e->to, xi);
    if (!ok)
      fail_msg("tl.cast from %s to %s, mode %s: element %lld of %.17g, %lld is %.17g, %lld", ac_dtypes[e->d].name,
               ac_dtypes[e->to].name, e->mode, (long long)i, x, (long long)xi, got, (long long)gi);
  }
  free_args(&t.x);
}

static void casts(void **s) {
  (void)s;
  static const char *const modes[] = {"none", "rint", "floor", "ceil", "round", "trunc", "odd"};
  int pairs = 0;
  for (size_t i = 0; dtypes[i] != AC_MASK; i++)
    for (size_t k = 0; dtypes[k] != AC_MASK; k++) {
      unsigned set = ac_craft_cast_rounds(dtypes[k], dtypes[i]);
      bool same = i == k && ac_dtypes[dtypes[i]].cls != AC_FLOATING;
      assert_true(same ? !set : set);
      pairs += !same;
      for (int m = 0; m < 7; m++) {
        if (!(set & 1u << m)) continue;
        element e = {.name = "cast", .d = dtypes[i], .to = dtypes[k], .mode = modes[m]};
        check_cast(&e, (ac_round)m, 13);
        check_cast(&e, (ac_round)m, 1003);
      }
    }
  assert_int_equal(pairs, 11 * 11 - 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scratch), cmocka_unit_test(integers),
                                     cmocka_unit_test(shifts_and_scalars), cmocka_unit_test(masks),
                                     cmocka_unit_test(casts)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
