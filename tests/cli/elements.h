/* Programs of one element-wise primitive, and what they must give. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "direct_support.h"

#include <math.h>

typedef struct {
  const char *name;
  ac_dtype d;       /* of the sources; cast: of the source */
  ac_dtype to;      /* of the destination: d, but for casts */
  const char *mode; /* compares and casts; NULL: none */
  double s, s2;     /* scalars */
} element;

static inline bool is_name(const char *x, const char *y) {
  return !strcmp(x, y);
}
static inline bool scalar_name(const char *n) {
  size_t k = strlen(n);
  return k > 7 && !strcmp(n + k - 7, "_scalar");
}
static inline bool el_compare(const char *n) {
  return is_name(n, "vcompare") || is_name(n, "vcompare_scalar");
}
static inline bool el_mask_logic(const char *n) {
  return is_name(n, "mask_and") || is_name(n, "mask_or") || is_name(n, "mask_xor") || is_name(n, "mask_not");
}
static inline int el_sources(const char *n) {
  static const char *const two[] = {"vadd", "vsub", "vmul",     "vmax",    "vmin",     "vdiv",  "vpow", "vand",
                                    "vor",  "vxor", "vcompare", "vselect", "vmul_add", "vfmod", "vmod", "vfloordiv"};
  if (is_name(n, "duplicate") || is_name(n, "iota")) return 0;
  for (size_t i = 0; i < AC_COUNT(two); i++)
    if (is_name(n, two[i])) return 2;
  return 1;
}
static inline bool el_reads_dst(const char *n) {
  return is_name(n, "vaxpy") || is_name(n, "vmul_add");
}

static inline const char *el_number(ac_arena *a, ac_dtype d, double v) {
  if (ac_dtypes[d].cls != AC_FLOATING) return ac_sprintf(a, "%lld", (long long)v);
  return ac_sprintf(a, "%.9g%s", v, strpbrk(ac_sprintf(a, "%.9g", v), ".e") ? "" : ".0");
}

/* y = primitive(a, b) in tiles; `tile` a constant, or 0: known to the host only. A mask is made by comparing m with 0; a result that
 * is a mask goes out as bytes. */
static inline char *el_program(ac_arena *a, const element *e, int tile) {
  const char *n = e->name;
  bool logic = el_mask_logic(n);
  const char *ed = ac_dtypes[e->d == AC_MASK ? AC_U8 : e->d].name;
  bool mask_in = logic || is_name(n, "vselect") || is_name(n, "vselect_scalar") || is_name(n, "mask_to_bytes"),
       mask_out = logic || el_compare(n) || is_name(n, "mask_from_bytes");
  int sources = el_sources(n);
  ac_buf b;
  ac_buf_init(&b, a);
  ac_puts(&b, "@ascend_kernel\ndef one_kernel(a, b, m, y, n, tile):\n");
  const char *size = tile ? ac_sprintf(a, "%d", tile) : "tile";
  ac_printf(
      &b, "    ab = tl.alloc_ub(%s, tl.%s)\n    bb = tl.alloc_ub(%s, tl.%s)\n    mb = tl.alloc_ub(%s, tl.float32)\n",
      size, ed, size, ed, size);
  ac_printf(
      &b,
      "    yb = tl.alloc_ub(%s, tl.%s)\n    mask = tl.alloc_ub(%s, tl.mask)\n    other = tl.alloc_ub(%s, tl.mask)\n",
      size, mask_out ? "uint8" : ac_dtypes[e->to].name, size, size);
  ac_printf(&b,
            "    for i in range(0, n, %s):\n        count = min(%s, n - i)\n        off = i + tl.arange(0, count)\n"
            "        with tl.copyin():\n            tl.load(a + off, ab)\n            tl.load(b + off, bb)\n"
            "            tl.load(m + off, mb)\n        with tl.compute():\n",
            size, size);
  if (mask_in) ac_puts(&b, "            tl.vcompare_scalar(mask, mb, 0.0, \"gt\")\n");
  if (logic) ac_puts(&b, "            tl.vcompare_scalar(other, mb, 2.0, \"gt\")\n");
  if (el_reads_dst(n)) ac_puts(&b, "            tl.duplicate(yb, 3, count=count)\n");
  ac_printf(&b, "            tl.%s(%s", n, mask_out ? "mask" : "yb");
  if (mask_in) ac_puts(&b, ", mask");
  if (logic && !is_name(n, "mask_not")) ac_puts(&b, ", other");
  if (sources > 0 && !logic && !is_name(n, "mask_to_bytes")) ac_puts(&b, ", ab");
  if (sources > 1) ac_puts(&b, ", bb");
  if (scalar_name(n) || is_name(n, "vaxpy") || is_name(n, "vleaky_relu") || is_name(n, "duplicate"))
    ac_printf(&b, ", %s", el_number(a, e->d, e->s));
  if (is_name(n, "vclamp") || is_name(n, "iota"))
    ac_printf(&b, ", %s, %s", el_number(a, e->d, e->s), el_number(a, e->d, e->s2));
  if (e->mode) ac_printf(&b, ", %s\"%s\"", is_name(n, "cast") ? "mode=" : "", e->mode);
  ac_puts(&b, sources ? ")\n" : ", count=count)\n");
  if (mask_out) ac_puts(&b, "            tl.mask_to_bytes(yb, mask)\n");
  ac_puts(&b, "        with tl.copyout():\n            tl.store(y + off, yb)\n\n\n"
              "def one(a, b, m, y):\n    n = a.numel()\n    tile = min(max(n, 1), 4096)\n"
              "    one_kernel[1](a, b, m, y, n, tile)\n");
  return ac_strdup(a, ac_buf_str(&b));
}

#endif
