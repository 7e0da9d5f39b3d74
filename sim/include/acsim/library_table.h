/* The element-wise functions of AscendC's high-level library, one row each: name, and the least temporary memory in units of 256
 * bytes for 2-byte and for 4-byte types, and for 4-byte types when the source may be overwritten (isReuseSource). Kernel side,
 * host side and core share it. Source of the numbers: asc-devkit impl/adv_api/tiling (math, activation), arch 2201. C and C++. */
#ifndef ACSIM_LIBRARY_TABLE_H
#define ACSIM_LIBRARY_TABLE_H

#define ACSIM_LIBRARY_UNARY(X) \
  X(Sin, 8, 3, 2)              \
  X(Cos, 8, 3, 2)              \
  X(Tan, 10, 4, 4)             \
  X(Asin, 6, 2, 2)             \
  X(Acos, 6, 2, 2)             \
  X(Atan, 12, 5, 5)            \
  X(Sinh, 4, 1, 1)             \
  X(Cosh, 6, 2, 2)             \
  X(Asinh, 3, 3, 3)            \
  X(Acosh, 2, 1, 1)            \
  X(Atanh, 4, 1, 1)            \
  X(Tanh, 4, 1, 1)             \
  X(Erf, 8, 3, 3)              \
  X(Erfc, 16, 7, 7)            \
  X(Log, 0, 0, 0)              \
  X(Log2, 1, 0, 0)             \
  X(Log10, 0, 0, 0)            \
  X(Sigmoid, 1, 1, 1)          \
  X(Gelu, 3, 3, 3)             \
  X(FasterGelu, 3, 3, 3)       \
  X(FasterGeluV2, 3, 3, 3)     \
  X(Silu, 0, 0, 0)             \
  X(Floor, 2, 1, 1)            \
  X(Ceil, 2, 1, 1)             \
  X(Trunc, 2, 1, 1)            \
  X(Round, 1, 1, 1)            \
  X(Frac, 4, 0, 0)             \
  X(Sign, 3, 3, 3)             \
  X(Lgamma, 13, 8, 7)          \
  X(Digamma, 16, 7, 6)

/* The rest: functions of two operands or with a scalar. */
#define ACSIM_LIBRARY_OTHER(X) \
  X(Swish, 0, 0, 0)            \
  X(ClampMax, 1, 1, 1)         \
  X(ClampMin, 1, 1, 1)         \
  X(Xor, 1, 1, 1)              \
  X(Fmod, 8, 1, 1)             \
  X(ExpTaylor, 8, 3, 3)        \
  X(Power, 0, 0, 0)            \
  X(LibAxpy, 4, 1, 1)          \
  X(SwiGLU, 6, 0, 0)           \
  X(GeGLU, 4, 0, 0)            \
  X(ReGlu, 6, 1, 1)

enum {
#define X(name, half, single, reuse) ACSIM_LIB_##name,
  ACSIM_LIBRARY_UNARY(X) ACSIM_LIBRARY_OTHER(X)
#undef X
      ACSIM_LIBS
};
#endif
