/* Element-wise primitives: dtypes, scratch, casts. */
#include "craft/craft.h"

#include <string.h>

enum { COLUMNS = 12 };
static const ac_dtype columns[COLUMNS] = {AC_F32, AC_F16, AC_BF16, AC_I8,  AC_U8,   AC_I16,
                                          AC_U16, AC_I32, AC_U32,  AC_I64, AC_BOOL, AC_MASK};
static const struct {
  const char *name;
  int scratch[COLUMNS];
} elems[] = {
#define E(name, ...) {name, {__VA_ARGS__}},
#include "craft/elems.def"
#undef E
};

static int row(const char *name) {
  static ac_names index = AC_NAMES(elems, name);
  return ac_names_find(&index, name);
}

static int column(ac_dtype d) {
  for (int i = 0; i < COLUMNS; i++)
    if (columns[i] == d) return i;
  return -1;
}

int ac_elem_scratch(const char *name, ac_dtype d) {
  int c = column(d), r = c >= 0 ? row(name) : -1;
  return r >= 0 ? elems[r].scratch[c] : -1;
}

uint32_t ac_elem_dtypes(const char *name) {
  uint32_t set = 0;
  int r = row(name);
  for (int c = 0; r >= 0 && c < COLUMNS; c++)
    if (elems[r].scratch[c] >= 0) set |= AC_BIT(columns[c]);
  return set;
}

int64_t ac_scratch_lanes(int bytes_per_lane) {
  int64_t n = AC_SCRATCH_LANES;
  while (n > 256 && n * bytes_per_lane > AC_SCRATCH_BYTES) n /= 2;
  return n;
}

int64_t ac_scratch_bytes(int bytes_per_lane) {
  return bytes_per_lane > 0 ? bytes_per_lane * ac_scratch_lanes(bytes_per_lane) : 0;
}

/* ---- casts ---- */

unsigned ac_craft_cast_rounds(ac_dtype dst, ac_dtype src) {
  enum {
    NEAREST = 1u << AC_RN_RINT,
    EXACT = 1u << AC_RN_NONE,
    FIVE = NEAREST | 1u << AC_RN_FLOOR | 1u << AC_RN_CEIL | 1u << AC_RN_ROUND | 1u << AC_RN_TRUNC
  };
  if (column(dst) < 0 || column(src) < 0 || dst == AC_MASK || src == AC_MASK) return 0;
  unsigned set = ac_cast_rounds(dst, src);
  bool to_float = ac_dtypes[dst].cls == AC_FLOATING, from_float = ac_dtypes[src].cls == AC_FLOATING;
  if (set && dst != AC_BOOL && src != AC_BOOL) return to_float || from_float ? set : EXACT;
  if (dst == AC_BOOL) return src == AC_BOOL ? 0 : EXACT;
  if (from_float) return FIVE; /* a float dtype to itself: to integral values */
  if (!to_float) return dst == src ? 0 : EXACT;
  if (src == AC_U32) return NEAREST; /* two halves are added, which rounds to nearest */
  int digits = dst == AC_F32 ? 24 : dst == AC_F16 ? 11 : 8, bits = 8 * ac_dtypes[src].bytes;
  bool exact = bits - (ac_dtypes[src].cls == AC_SIGNED) <= digits || src == AC_BOOL;
  return exact ? EXACT : FIVE;
}

int ac_cast_scratch(ac_dtype dst, ac_dtype src) {
  char name[32];
  if (!ac_craft_cast_rounds(dst, src)) return -1;
  snprintf(name, sizeof name, "cast %s", ac_dtypes[src].name);
  return ac_elem_scratch(name, dst);
}
