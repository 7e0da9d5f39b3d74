/* The instruction table, its look-ups, and the rules that belong to single instructions. */
#include "isa/isa.h"

#include <string.h>

const ac_inst_info ac_insts[AC_INST_COUNT] = {
#define I(id, dsl, asc, form, dtypes, pipe, cost, flags, ulp, half, src) \
  [id] = {dsl, asc, form, dtypes, pipe, cost, flags, ulp, half, src},
#include "isa/insts.def"
#undef I
};

ac_inst ac_inst_by_dsl(const char *dsl) {
  static ac_names index = {&ac_insts[0].dsl, AC_INST_COUNT, sizeof ac_insts[0], 0, {0}};
  int i = dsl ? ac_names_find(&index, dsl) : -1;
  return i >= 0 ? (ac_inst)i : AC_INST_COUNT;
}
ac_inst ac_inst_by_asc(const char *asc) {
  for (int i = 0; asc && i < AC_INST_COUNT; i++)
    if (ac_insts[i].asc && !strcmp(asc, ac_insts[i].asc)) return (ac_inst)i;
  return AC_INST_COUNT;
}

#define R(r) (1u << AC_RN_##r)
#define R5 (R(RINT) | R(FLOOR) | R(CEIL) | R(ROUND) | R(TRUNC))
/* Source: asc-devkit docs/zh, Cast, table for Atlas A2 (the same for A3). int32 to half ignores the mode and goes through
 * SetDeqScale, so it is no plain cast and is left out. */
static const struct {
  ac_dtype src, dst;
  unsigned rounds;
} casts[] = {
    {AC_I8, AC_F16, R(NONE)},       {AC_U8, AC_F16, R(NONE)},
    {AC_I16, AC_F16, R5 | R(NONE)}, {AC_I16, AC_F32, R(NONE)},
    {AC_F16, AC_I8, R5 | R(NONE)},  {AC_F16, AC_U8, R5 | R(NONE)},
    {AC_F16, AC_I16, R5},           {AC_F16, AC_I32, R5},
    {AC_F16, AC_F32, R(NONE)},      {AC_BF16, AC_I32, R5},
    {AC_BF16, AC_F32, R(NONE)},     {AC_I32, AC_I16, R(NONE)},
    {AC_I32, AC_F32, R5 | R(NONE)}, {AC_I32, AC_I64, R(NONE)},
    {AC_F32, AC_I16, R5},           {AC_F32, AC_F16, R5 | R(ODD) | R(NONE)},
    {AC_F32, AC_BF16, R5},          {AC_F32, AC_I32, R5},
    {AC_F32, AC_F32, R5},           {AC_F32, AC_I64, R5},
    {AC_I64, AC_I32, R(NONE)},      {AC_I64, AC_F32, R5},
};

unsigned ac_cast_rounds(ac_dtype dst, ac_dtype src) {
  for (size_t i = 0; i < AC_COUNT(casts); i++)
    if (casts[i].src == src && casts[i].dst == dst) return casts[i].rounds;
  return 0;
}

int64_t ac_reduce_work_bytes(ac_inst i, ac_dtype d, int64_t count) {
  if (i >= AC_INST_COUNT || ac_insts[i].form != AC_FORM_REDUCE || count <= 0 || d >= AC_NODTYPE) return 0;
  int64_t size = ac_dtypes[d].bytes, lanes = 256 / size, block = 32 / size;
  int64_t repeats = (count + lanes - 1) / lanes;
  /* ReduceSum by count ignores its work tensor on A2 (its docs, way one) and needs one result a repeat elsewhere (way two).
   * ReduceMax/Min without an index need one value a repeat; the pair (value, index) is what the instruction delivers, so two. */
  int64_t values = i == AC_I_RSUM ? repeats : 2 * repeats;
  return (values + block - 1) / block * block * size;
}
