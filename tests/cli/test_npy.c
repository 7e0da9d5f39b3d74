/* .npy files: what NumPy writes is read back; whatever else stands there is refused in words and never read past its end. */
#include "cli/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static ac_arena *a;
static ac_diags d;
static int setup(void **s) {
  (void)s;
  a = ac_arena_new();
  ac_diags_init(&d, a);
  return 0;
}
static int teardown(void **s) {
  (void)s;
  ac_arena_free(a);
  return 0;
}

/* A file of version `v` with this dictionary and `data` bytes behind it, in memory of exactly its size. */
static bool read_header(int v, const char *dict, int64_t data, ac_npy *h) {
  size_t n = strlen(dict), start = v == 1 ? 10 : 12;
  uint8_t *p = malloc(start + n);
  assert_non_null(p);
  memcpy(p, "\x93NUMPY", 6);
  p[6] = (uint8_t)v;
  p[7] = 0;
  p[8] = (uint8_t)n;
  p[9] = (uint8_t)(n >> 8);
  if (v > 1) p[10] = p[11] = 0;
  memcpy(p + start, dict, n);
  bool ok = ac_npy_header(a, "x.npy", p, start + n, (int64_t)(start + n) + data, h, &d);
  free(p);
  return ok;
}
static const char *said(void) {
  const char *m = d.list.len ? d.list.data[d.list.len - 1]->message : "";
  d.list.len = 0;
  return m;
}

static void reads_versions(void **s) {
  (void)s;
  ac_npy h;
  for (int v = 1; v <= 3; v++) {
    assert_true(read_header(v, "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 500), }  \n", 3000, &h));
    assert_int_equal(h.dtype, AC_F16);
    assert_int_equal(h.rank, 2);
    assert_int_equal(h.shape[1], 500);
    assert_int_equal(h.bytes, 3000);
  }
  static const struct {
    const char *descr;
    ac_dtype dtype;
  } all[] = {{"<f4", AC_F32}, {"<f8", AC_F64}, {"|b1", AC_BOOL}, {"|i1", AC_I8},     {"<i2", AC_I16},
             {"<i4", AC_I32}, {"<i8", AC_I64}, {"|u1", AC_U8},   {"<u2", AC_U16},    {"<u4", AC_U32},
             {"<u8", AC_U64}, {"=f4", AC_F32}, {">u1", AC_U8},   {"<V2", AC_NODTYPE}};
  for (size_t i = 0; i < AC_COUNT(all); i++) {
    char dict[100];
    snprintf(dict, sizeof dict, "{\"shape\": (), \"fortran_order\": True, \"descr\": \"%s\"}", all[i].descr);
    int64_t item = all[i].dtype == AC_NODTYPE ? 2 : ac_dtypes[all[i].dtype].bytes;
    assert_true(read_header(1, dict, item, &h));
    assert_int_equal(h.dtype, all[i].dtype);
    assert_int_equal(h.rank, 0);
  }
  assert_true(read_header(1, "{'descr':'<f4','fortran_order':True,'shape':(1,7,1)}", 28, &h)); /* one order only */
  assert_true(read_header(1, "{'descr':'<f4','fortran_order':True,'shape':(3L,0,)}", 0, &h));
}

static void refuses(void **s) {
  (void)s;
  static const struct {
    const char *dict, *why;
  } bad[] = {
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "big-endian"},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran order"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "no numbers of a device"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "no numbers of a device"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "records"},
      {"{'descr': '<f4', 'fortran_order': False}", "a key is missing"},
      {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", "stands twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "no number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "no number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "more elements"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", "16 dimensions"},
      {"{'descr': '<f4', 'fortran_order': Falsely, 'shape': (1,)}", "damaged"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "behind"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "promises 8 bytes"},
      {"", "no '{'"},
      {"{", "no key"},
      {"{'descr", "no key"}};
  for (size_t i = 0; i < AC_COUNT(bad); i++) {
    ac_npy h;
    assert_false(read_header(1, bad[i].dict, 4, &h));
    const char *m = said();
    if (!strstr(m, bad[i].why)) fail_msg("%s: '%s' lacks '%s'", bad[i].dict, m, bad[i].why);
  }
  ac_npy h;
  assert_false(ac_npy_header(a, "x", "PK\x03\x04zipzipzip", 13, 13, &h, &d));
  assert_false(
      ac_npy_header(a, "x", "\x93NUMPY\x01\x00\xff\xff{", 11, 1 << 20, &h, &d)); /* claims more than there is */
  assert_false(ac_npy_header(a, "x", "\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13, 1ll << 40, &h, &d));
  assert_false(ac_npy_header(a, "x", "\x93NUMPY\x09\x00\x00\x00", 10, 10, &h, &d));
}

/* Random damage to a good header: a verdict every time, and nothing read outside (the sanitizers watch). */
static void survives_damage(void **s) {
  (void)s;
  static const char good[] =
      "\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (16, 1024, 3), }     \n";
  uint64_t r = 88172645463325252ull;
  size_t n = sizeof good - 1;
  for (int i = 0; i < 60000; i++) {
    if (i % 500 == 0) {
      ac_arena_free(a);
      a = ac_arena_new();
      ac_diags_init(&d, a);
    }
    size_t len = n;
    uint8_t *p = malloc(n);
    assert_non_null(p);
    memcpy(p, good, n);
    for (int k = 0; k < 1 + i % 4; k++) {
      r ^= r << 13, r ^= r >> 7, r ^= r << 17;
      size_t at = r % n, kind = (r >> 32) % 4;
      if (kind == 0) p[at] = (uint8_t)(r >> 40);
      if (kind == 1) p[at] = (uint8_t) "{}()[]',:09L-\0\\ "[(r >> 40) % 16];
      if (kind == 2) memmove(p + at, p + at / 2, n - at);
      if (kind == 3) len = at;
    }
    uint8_t *exact = malloc(len ? len : 1);
    assert_non_null(exact);
    memcpy(exact, p, len);
    ac_npy h;
    if (ac_npy_header(a, "x.npy", exact, len, (int64_t)(r >> 20), &h, &d)) {
      assert_true(h.rank >= 0 && h.rank <= AC_NPY_RANK);
      assert_true(h.bytes >= 0 && h.offset + h.bytes == (int64_t)(r >> 20));
    }
    d.list.len = 0;
    free(exact);
    free(p);
  }
}

static void writes_and_reads(void **s) {
  (void)s;
  char dir[] = "/tmp/npy-XXXXXX";
  assert_non_null(mkdtemp(dir));
  char *path = ac_sprintf(a, "%s/x.npy", dir);
  static const float data[6] = {1, 2, 3, 4, 5, 6};
  static const int64_t dims[16] = {2, 3};
  for (int rank = 0; rank <= 16; rank++) {
    int64_t shape[16];
    for (int i = 0; i < 16; i++) shape[i] = rank >= 2 && i < 2 ? dims[i] : 1;
    int64_t n = rank >= 2 ? 6 : 1;
    assert_true(ac_npy_save(a, path, AC_F32, rank, shape, data, &d));
    ac_npy h;
    float back[6];
    assert_true(ac_npy_open(a, path, AC_NODTYPE, &h, &d));
    assert_int_equal(h.rank, rank);
    assert_int_equal(h.bytes, 4 * n);
    assert_int_equal(h.offset % 64, 0);
    assert_true(ac_npy_load(path, &h, back, &d));
    assert_memory_equal(back, data, (size_t)h.bytes);
  }
  static const uint16_t bits[2] = {0x3f80, 0x4000};
  static const int64_t two[1] = {2};
  ac_npy h;
  assert_true(ac_npy_save(a, path, AC_BF16, 1, two, bits, &d));
  assert_true(ac_npy_open(a, path, AC_NODTYPE, &h, &d));
  assert_int_equal(h.dtype, AC_U16);
  assert_true(ac_npy_open(a, path, AC_BF16, &h, &d));
  assert_int_equal(h.dtype, AC_BF16);
  assert_false(ac_npy_open(a, path, AC_F32, &h, &d)); /* as wide as it is */
  assert_false(ac_npy_open(a, dir, AC_NODTYPE, &h, &d));
  assert_false(ac_npy_open(a, "/nonexistent", AC_NODTYPE, &h, &d));
  assert_false(ac_npy_save(a, dir, AC_BF16, 1, two, bits, &d)); /* a folder stands there */
  unlink(path);
  assert_int_equal(rmdir(dir), 0); /* nothing of ours is left in it */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(reads_versions, setup, teardown),
      cmocka_unit_test_setup_teardown(refuses, setup, teardown),
      cmocka_unit_test_setup_teardown(survives_damage, setup, teardown),
      cmocka_unit_test_setup_teardown(writes_and_reads, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
