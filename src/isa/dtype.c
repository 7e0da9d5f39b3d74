/* The dtype table and access to elements of typed buffers. */
#include "isa/isa.h"

#include <math.h>
#include <string.h>

const ac_dtype_info ac_dtypes[AC_DTYPE_COUNT] = {
#define T(id, name, cpp, bytes, cls, ge, aten) [id] = {name, cpp, bytes, cls, ge, aten},
#include "isa/dtypes.def"
#undef T
};

ac_dtype ac_dtype_of(const char *name) {
  static const struct {
    const char *name;
    ac_dtype d;
  } alias[] = {{"float", AC_F32}, {"half", AC_F16}, {"double", AC_F64},
               {"int", AC_I32},   {"long", AC_I64}, {"short", AC_I16}};
  if (!name) return AC_NODTYPE;
  for (int i = 0; i < AC_DTYPE_COUNT; i++)
    if (!strcmp(name, ac_dtypes[i].name)) return (ac_dtype)i;
  for (size_t i = 0; i < AC_COUNT(alias); i++)
    if (!strcmp(name, alias[i].name)) return alias[i].d;
  return AC_NODTYPE;
}

/* One member a storage type; memcpy keeps unaligned buffers legal. */
#define LOAD(T, p, i)                                                     \
  (__extension__({                                                        \
    T v_;                                                                 \
    memcpy(&v_, (const char *)(p) + (i) * (int64_t)sizeof(T), sizeof v_); \
    v_;                                                                   \
  }))
#define STORE(T, p, i, x)                                           \
  do {                                                              \
    T v_ = (T)(x);                                                  \
    memcpy((char *)(p) + (i) * (int64_t)sizeof(T), &v_, sizeof v_); \
  } while (0)

double ac_load(ac_dtype d, const void *p, int64_t i) {
  switch (d) {
  case AC_F32: return (double)LOAD(float, p, i);
  case AC_F16: return (double)ac_f16_to_f32(LOAD(uint16_t, p, i));
  case AC_BF16: return (double)ac_bf16_to_f32(LOAD(uint16_t, p, i));
  case AC_F64: return LOAD(double, p, i);
  case AC_U64: return (double)LOAD(uint64_t, p, i);
  default: return (double)ac_load_int(d, p, i);
  }
}

/* Toward zero, saturating; NaN becomes 0. */
static int64_t to_int(double v, double lo, double hi, int64_t ilo, int64_t ihi) {
  if (isnan(v)) return 0;
  if (v <= lo) return ilo;
  if (v >= hi) return ihi;
  return (int64_t)v;
}

int64_t ac_load_int(ac_dtype d, const void *p, int64_t i) {
  switch (d) {
  case AC_I8: return LOAD(int8_t, p, i);
  case AC_U8: return LOAD(uint8_t, p, i);
  case AC_I16: return LOAD(int16_t, p, i);
  case AC_U16: return LOAD(uint16_t, p, i);
  case AC_I32: return LOAD(int32_t, p, i);
  case AC_U32: return LOAD(uint32_t, p, i);
  case AC_I64: return LOAD(int64_t, p, i);
  case AC_U64: return (int64_t)LOAD(uint64_t, p, i);
  case AC_BOOL: return LOAD(uint8_t, p, i) != 0;
  default: return to_int(ac_load(d, p, i), -0x1p63, 0x1p63, INT64_MIN, INT64_MAX);
  }
}

void ac_store(ac_dtype d, void *p, int64_t i, double v) {
  switch (d) {
  case AC_F32: STORE(float, p, i, v); break;
  case AC_F16: STORE(uint16_t, p, i, ac_f64_to_f16(v, AC_RN_RINT)); break;
  case AC_BF16: STORE(uint16_t, p, i, ac_f64_to_bf16(v, AC_RN_RINT)); break;
  case AC_F64: STORE(double, p, i, v); break;
  case AC_I8: STORE(int8_t, p, i, to_int(v, -0x1p7, 0x1p7, INT8_MIN, INT8_MAX)); break;
  case AC_U8: STORE(uint8_t, p, i, to_int(v, 0, 0x1p8, 0, UINT8_MAX)); break;
  case AC_I16: STORE(int16_t, p, i, to_int(v, -0x1p15, 0x1p15, INT16_MIN, INT16_MAX)); break;
  case AC_U16: STORE(uint16_t, p, i, to_int(v, 0, 0x1p16, 0, UINT16_MAX)); break;
  case AC_I32: STORE(int32_t, p, i, to_int(v, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX)); break;
  case AC_U32: STORE(uint32_t, p, i, to_int(v, 0, 0x1p32, 0, UINT32_MAX)); break;
  case AC_I64: STORE(int64_t, p, i, to_int(v, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)); break;
  case AC_U64: STORE(uint64_t, p, i, isnan(v) || v <= 0 ? 0 : v >= 0x1p64 ? UINT64_MAX : (uint64_t)v); break;
  case AC_BOOL: STORE(uint8_t, p, i, v != 0); break;
  case AC_MASK: /* bits, no elements */
  case AC_NODTYPE: break;
  }
}

/* int64 to a 16-bit format with one rounding: a double holds 53 bits, so the lost bits are kept as a sticky bit. */
static double sticky_double(int64_t v) {
  uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  if (m >> 53) m = (m & ~(uint64_t)0xfff) | ((m & 0xfff) != 0) << 12;
  return v < 0 ? -(double)m : (double)m;
}

void ac_store_int(ac_dtype d, void *p, int64_t i, int64_t v) {
  switch (d) {
  case AC_F32: STORE(float, p, i, v); break;
  case AC_F16: STORE(uint16_t, p, i, ac_f64_to_f16(sticky_double(v), AC_RN_RINT)); break;
  case AC_BF16: STORE(uint16_t, p, i, ac_f64_to_bf16(sticky_double(v), AC_RN_RINT)); break;
  case AC_F64: STORE(double, p, i, v); break;
  case AC_I8:
  case AC_U8: STORE(uint8_t, p, i, v); break;
  case AC_I16:
  case AC_U16: STORE(uint16_t, p, i, v); break;
  case AC_I32:
  case AC_U32: STORE(uint32_t, p, i, v); break;
  case AC_I64:
  case AC_U64: STORE(uint64_t, p, i, v); break;
  case AC_BOOL: STORE(uint8_t, p, i, v != 0); break;
  case AC_MASK: /* bits, no elements */
  case AC_NODTYPE: break;
  }
}
