/* What only pass "rows" emits: indices, gathers, rows and blocks, joins of up to 64 or 128 lanes, sorts, merges, picks. Each function is
 * written out from its meaning (isa.h, the forms; the order of a sum as in docs/simulator.md). */
#include "plainc/internal.h"

#include <string.h>

static const char *index_of(ac_pc *t, ac_dtype d) {
  const char *s = ac_pc_suffix(d), *n = ac_sprintf(t->a, "ac_index_%s", s),
             *lane = ac_dtypes[d].cls == AC_FLOATING ? "float" : "int64_t";
  return ac_pc_use(t, n,
                   ac_sprintf(t->a,
                              "static void %s(void *dst, %s first, int64_t n) {\n"
                              "  for (int64_t i = 0; i < n; i++) ac_put_%s(dst, i, first + (%s)i);\n}\n",
                              n, lane, s, lane));
}

static const char *gather(ac_pc *t, int size) {
  const char *n = ac_sprintf(t->a, "ac_gather_%d", size);
  return ac_pc_use(
      t, n,
      ac_sprintf(t->a,
                 "static void %s(void *dst, const void *src, const void *offsets, int64_t base, int64_t n) {\n"
                 "  for (int64_t i = 0; i < n; i++)\n"
                 "    memcpy((char *)dst + i * %d, (const char *)src + base + ac_get_u32(offsets, i), %d);\n}\n",
                 n, size, size));
}

/* Distances in blocks of 32 bytes; `block` 0: one block for a whole row. */
static const char *rows(ac_pc *t, int size) {
  const char *n = ac_sprintf(t->a, "ac_rows_%d", size);
  return ac_pc_use(
      t, n,
      ac_sprintf(t->a,
                 "static void %s(void *dst, const void *src, int64_t lanes, int64_t rows, int64_t to, int64_t "
                 "from, int block) {\n"
                 "  for (int64_t r = 0; r < rows; r++)\n    for (int64_t i = 0; i < lanes; i++)\n"
                 "      memmove((char *)dst + r * to * 32 + i * %d,\n"
                 "              (const char *)src + r * from * 32 + (block ? i : i %% %d) * %d, %d);\n}\n",
                 n, size, 32 / size, size, size));
}

static const char *blocks(ac_pc *t, int size) {
  const char *n = ac_sprintf(t->a, "ac_blocks_%d", size);
  return ac_pc_use(
      t, n,
      ac_sprintf(
          t->a,
          "static void %s(void *dst, const void *src, int64_t repeats, int64_t to) {\n"
          "  for (int64_t i = 0; i < 8 * repeats; i++)\n    for (int j = 0; j < %d; j++)\n"
          "      memcpy((char *)dst + (i / 8 * to + i %% 8) * 32 + j * %d, (const char *)src + i * %d, %d);\n}\n",
          n, 32 / size, size, size, size));
}

/* Neighbours, their sums' neighbours, and so on; a lane that is off counts as 0. A maximum passes a NaN on. */
static const char *whole(ac_pc *t, ac_inst inst, ac_dtype d) {
  bool sum = inst == AC_I_WHOLE_SUM;
  const char *s = ac_pc_suffix(d), *n = ac_sprintf(t->a, "ac_whole_%s_%s",
                                                   sum                      ? "sum"
                                                   : inst == AC_I_WHOLE_MAX ? "max"
                                                                            : "min",
                                                   s);
  const char *body =
      sum ? ac_sprintf(
                t->a,
                "    float x[128] = {0};\n    for (int64_t i = 0; i < lanes; i++) x[i] = ac_get_%s(row, i);\n"
                "    for (int w = %d; w > 1; w /= 2)\n"
                "      for (int i = 0; i < w / 2; i++) x[i] = ac_round_%s(x[2 * i] + x[2 * i + 1]);\n    v = x[0];\n",
                s, 256 / ac_dtypes[d].bytes, s)
          : ac_sprintf(t->a,
                       "    v = ac_get_%s(row, 0);\n    for (int64_t i = 1; i < lanes; i++) {\n      float x = "
                       "ac_get_%s(row, i);\n"
                       "      if (x != x ? v == v : x %s v) v = x;\n    }\n",
                       s, s, inst == AC_I_WHOLE_MAX ? ">" : "<");
  return ac_pc_use(
      t, n,
      ac_sprintf(
          t->a,
          "static void %s(void *dst, const void *src, int64_t lanes, int64_t rows, int64_t to, int64_t from) {\n"
          "  for (int64_t r = 0; r < rows; r++) {\n    const char *row = (const char *)src + r * from * 32;\n    "
          "float v;\n%s"
          "    ac_put_%s(dst, r * to, v);\n  }\n}\n",
          n, body, s));
}

static const char *fixed(ac_pc *t, ac_form f) {
  if (f == AC_FORM_TILE)
    return ac_pc_use(t, "ac_tile_2",
                     ac_strdup(t->a,
                               "static void ac_tile_2(void *dst, const void *src) {\n"
                               "  for (int i = 0; i < 256; i++) memcpy((char *)dst + 2 * (i % 16 * 16 + i / 16), "
                               "(const char *)src + 2 * i, 2);\n}\n"));
  if (f == AC_FORM_SORT)
    return ac_pc_use(
        t, "ac_sort_32",
        ac_strdup(t->a, "static void ac_sort_32(void *dst, const void *src, const void *numbers, int64_t repeats) {\n"
                        "  for (int64_t r = 0; r < repeats; r++) {\n    int at[32];\n    for (int i = 0; i < 32; "
                        "i++) {\n      int k = i;\n"
                        "      for (; k > 0 && ac_get_f32(src, r * 32 + i) > ac_get_f32(src, r * 32 + at[k - 1]); "
                        "k--) at[k] = at[k - 1];\n"
                        "      at[k] = i;\n    }\n    for (int i = 0; i < 32; i++) {\n"
                        "      memcpy((char *)dst + (r * 32 + i) * 8, (const char *)src + (r * 32 + at[i]) * 4, 4);\n"
                        "      memcpy((char *)dst + (r * 32 + i) * 8 + 4, (const char *)numbers + (r * 32 + at[i]) * "
                        "4, 4);\n    }\n  }\n}\n"));
  return ac_pc_use(
      t, "ac_merge",
      ac_strdup(
          t->a,
          "static void ac_merge(void *dst, const void *src, int64_t run, int64_t n) {\n"
          "  int64_t at[4] = {0, run, 2 * run, 3 * run};\n  for (int64_t i = 0; i < n; i++) {\n    int best = -1;\n"
          "    for (int k = 0; k < 4; k++) {\n      int64_t end = (k + 1) * run < n ? (k + 1) * run : n;\n"
          "      if (at[k] < end && (best < 0 || ac_get_f32(src, 2 * at[k]) > ac_get_f32(src, 2 * at[best]))) best = "
          "k;\n    }\n"
          "    memcpy((char *)dst + i * 8, (const char *)src + at[best] * 8, 8);\n    at[best]++;\n  }\n}\n"));
}

/* Rows of `src` are `from` blocks apart, those of `dst` `to`; `across`: the next repeat takes the next block of columns. */
static const char *turn(ac_pc *t, int size) {
  const char *n = ac_sprintf(t->a, "ac_turn_%d", size);
  return ac_pc_use(
      t, n,
      ac_sprintf(
          t->a,
          "static void %s(void *dst, const void *src, const void *spare, int64_t rows, int64_t cols, "
          "int64_t repeat, int64_t to, int64_t from, int across) {\n  (void)spare;\n"
          "  for (int64_t k = 0; k < repeat; k++)\n    for (int64_t r = 0; r < rows; r++)\n      for (int64_t "
          "c = 0; c < cols; c++)\n"
          "        memcpy((char *)dst + ((across ? k * %d : 0) + c) * to * 32 + ((across ? 0 : k * 16) + r) * %d,\n"
          "               (const char *)src + ((across ? 0 : k * 16) + r) * from * 32 + (across ? k * 32 : 0) + c "
          "* %d, %d);\n}\n",
          n, 32 / size, size, size, size));
}

static const char *pick(ac_pc *t, int size, bool mask) {
  const char *n = ac_sprintf(t->a, "ac_pick_%s%d", mask ? "mask_" : "", size);
  return ac_pc_use(
      t, n,
      ac_sprintf(t->a,
                 "static int64_t %s(void *dst, const void *src, %s, int64_t n) {\n  int64_t kept = 0;\n"
                 "  for (int64_t i = 0; i < n; i++)\n    if (%s) memmove((char *)dst + kept++ * %d, (const "
                 "char *)src + i * %d, %d);\n"
                 "  return kept;\n}\n",
                 n, mask ? "const void *mask" : "int64_t pattern",
                 mask ? "ac_get_u8(mask, i / 8) >> i % 8 & 1" : "i % 2 == pattern - 1", size, size, size));
}

const char *ac_pc_rows(ac_pc *t, const ac_astmt *s, ac_dtype d) {
  int size = ac_dtypes[d].bytes;
  switch (ac_insts[s->inst].form) {
  case AC_FORM_INDEX: return index_of(t, d);
  case AC_FORM_GATHER: return gather(t, size);
  case AC_FORM_ROWS: return rows(t, size);
  case AC_FORM_BLOCKS: return blocks(t, size);
  case AC_FORM_WHOLE: return whole(t, s->inst, d);
  case AC_FORM_PICK: return pick(t, size, s->ops[2].tensor != NULL);
  case AC_FORM_TURN: return turn(t, size);
  case AC_FORM_TILE:
  case AC_FORM_SORT:
  case AC_FORM_MERGE: return fixed(t, ac_insts[s->inst].form);
  default: return NULL;
  }
}
