/* The tables: dtypes, chips, instructions, casts. */
#include "isa/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void dtype_names(void **s) {
  (void)s;
  for (int i = 0; i < AC_DTYPE_COUNT; i++) assert_int_equal(ac_dtype_of(ac_dtypes[i].name), i);
  assert_int_equal(ac_dtype_of("half"), AC_F16);
  assert_int_equal(ac_dtype_of("long"), AC_I64);
  assert_int_equal(ac_dtype_of("float8"), AC_NODTYPE);
  assert_int_equal(ac_dtype_of(NULL), AC_NODTYPE);
}

/* A config that a chip names beside its own: each chip of it takes the same code. */
static void alike(ac_arena *a, const ac_strvec *names, const ac_chip *c, ac_diags *d) {
  for (const char *const *x = c->also; *x; x++) {
    int found = 0;
    assert_string_not_equal(*x, c->config);
    for (size_t i = 0; i < names->len; i++) {
      const ac_chip *o = ac_chip_load(a, names->data[i], d);
      if (strcmp(o->config, *x) != 0) continue;
      found++;
      assert_true(o->npu_arch == c->npu_arch && o->split == c->split && o->copy_pad == c->copy_pad);
      assert_true(o->half_saturates == c->half_saturates && o->overflow_register == c->overflow_register);
      assert_true(o->ub == c->ub && o->ub_reserved == c->ub_reserved && o->l1 == c->l1 && o->l0a == c->l0a &&
                  o->l0b == c->l0b && o->l0c == c->l0c && o->block == c->block && o->repeat == c->repeat);
      for (int op = AC_ATOMIC_ADD; op <= AC_ATOMIC_MIN; op++)
        for (int t = 0; t < AC_DTYPE_COUNT; t++)
          assert_int_equal(ac_chip_atomic(o, (ac_atomic)op, (ac_dtype)t),
                           ac_chip_atomic(c, (ac_atomic)op, (ac_dtype)t));
    }
    assert_true(found > 0);
  }
}

static void chips(void **s) {
  (void)s;
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  ac_strvec names = ac_chip_names(a);
  assert_true(names.len >= 12);
  for (size_t i = 0; i < names.len; i++) {
    const ac_chip *c = ac_chip_load(a, names.data[i], &d);
    assert_non_null(c);
    assert_string_equal(c->name, names.data[i]);
    assert_true(c->ub >= 192 * 1024 && c->ub_reserved == 8192 && c->block == 32 && c->repeat == 256 && c->mhz > 0);
    assert_true(c->vector_cores > 0 && c->cube_cores > 0);
    alike(a, &names, c, &d);
    assert_non_null(c->costs);
    assert_true(c->costs->n_ops > 50 && c->costs->hbm > 0 && c->costs->in.bytes_per_cycle > 0);
    if (i) assert_true(strcmp(names.data[i - 1], names.data[i]) < 0);
  }
  const ac_chip *b2 = ac_chip_load(a, "Ascend910B2", &d);
  assert_true(b2 && b2->vector_cores == 48 && b2->cube_cores == 24 && b2->npu_arch == 2201 && b2->split &&
              b2->mhz == 1800);
  assert_string_equal(b2->soc, "Ascend910B2");
  assert_string_equal(b2->config, "ascend910b");
  assert_true(ac_chip_load(a, "310p3", &d)->ub == 256 * 1024);
  assert_int_equal(d.errors, 0);
  assert_null(ac_chip_load(a, "ascend910c9", &d));
  assert_int_equal(d.errors, 1);
  assert_int_equal(d.list.data[0]->code, AC0109);
  ac_arena_free(a);
}

static void instructions(void **s) {
  (void)s;
  for (int i = 0; i < AC_INST_COUNT; i++) {
    if (ac_insts[i].dsl) assert_int_equal(ac_inst_by_dsl(ac_insts[i].dsl), i);
    assert_true(ac_insts[i].asc && ac_insts[i].source && ac_insts[i].ulp >= 0);
  }
  assert_int_equal(ac_inst_by_asc("Add"), AC_I_ADD);
  assert_int_equal(ac_inst_by_asc("Nothing"), AC_INST_COUNT);
  assert_int_equal(ac_inst_by_dsl(NULL), AC_INST_COUNT);
}

static void casts(void **s) {
  (void)s;
  assert_int_equal(ac_cast_rounds(AC_F32, AC_F16), 1u << AC_RN_NONE);
  assert_true(ac_cast_rounds(AC_F16, AC_F32) & 1u << AC_RN_ODD);
  assert_false(ac_cast_rounds(AC_BF16, AC_F32) & 1u << AC_RN_ODD);
  assert_int_equal(ac_cast_rounds(AC_BF16, AC_F16), 0);
  assert_int_equal(ac_cast_rounds(AC_I64, AC_F16), 0);
  assert_int_equal(ac_cast_rounds(AC_F16, AC_I32), 0); /* only with a de-quantisation scale */
}

static void work(void **s) {
  (void)s;
  assert_int_equal(ac_reduce_work_bytes(AC_I_RSUM, AC_F32, 64), 32);
  assert_int_equal(ac_reduce_work_bytes(AC_I_RSUM, AC_F32, 64 * 9), 64);
  assert_int_equal(ac_reduce_work_bytes(AC_I_RMAX, AC_F32, 64 * 9), 96);
  assert_int_equal(ac_reduce_work_bytes(AC_I_RMAX, AC_F16, 8320),
                   288); /* 65 repeats: the docs' example, 144 elements */
  assert_int_equal(ac_reduce_work_bytes(AC_I_ADD, AC_F32, 64), 0);
  assert_int_equal(ac_reduce_work_bytes(AC_I_RSUM, AC_F32, 0), 0);
}

int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(dtype_names), cmocka_unit_test(chips),
                                 cmocka_unit_test(instructions), cmocka_unit_test(casts), cmocka_unit_test(work)};
  return cmocka_run_group_tests(t, NULL, NULL);
}
