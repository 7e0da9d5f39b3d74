/* What random_program.h draws beside the rows of the tables: masks, sorting, gathers, compress, views of bits, and what goes along axes. Each
 * function writes one use over valid buffers, or nothing and says false. Included there, behind what it needs. */
#ifndef RANDOM_FEATURES_H
#define RANDOM_FEATURES_H

static inline const char *yes_no(rprogram *g, const char *word) {
  return draw(g->c, 2) ? ac_sprintf(g->a, ", %s=True", word) : "";
}

/* A mask out of a float buffer. */
static inline bool a_mask(rprogram *g, int indent, const char *mask) {
  int a = any_valid(g, draw(g->c, 3) == 1 ? AC_F16 : AC_F32);
  if (a < 0) return false;
  put(g, indent, "tl.vcompare_scalar(%s, %s, %s, \"%s\")", mask, g->buf[a].name, scalar_of(g, g->buf[a].dtype),
      compare_modes[draw(g->c, 6)]);
  g->mask = true;
  return true;
}

/* Masks joined, perhaps by way of bytes, and a selection. */
static inline bool joined_masks(rprogram *g, int indent, bool keep) {
  static const char *const how[] = {"mask_and", "mask_or", "mask_xor"};
  int a = any_valid(g, AC_F32), b = any_valid(g, AC_F32), to = result_buffer(g, AC_F32, -1, -1, keep);
  if (a < 0 || to < 0 || !a_mask(g, indent, "mask") || !a_mask(g, indent, "mask2")) return false;
  g->mask2 = true;
  uint32_t k = draw(g->c, 4);
  if (k < 3)
    put(g, indent, "tl.%s(mask, mask, mask2, count=%s)", how[k], g->count);
  else
    put(g, indent, "tl.mask_not(mask, mask2, count=%s)", g->count);
  if (draw(g->c, 3) == 1) {
    g->bytes = true;
    put(g, indent, "tl.mask_to_bytes(bytes, mask, count=%s)", g->count);
    put(g, indent, "tl.mask_from_bytes(mask, bytes, count=%s)", g->count);
  }
  put(g, indent, "tl.vselect(%s, mask, %s, %s, count=%s)", g->buf[to].name, g->buf[a].name, g->buf[b].name, g->count);
  g->buf[to].valid = true;
  return true;
}

/* A float buffer without NaN, of which sorting says nothing. */
static inline int without_nan(rprogram *g, int indent, bool keep) {
  int a = any_valid(g, draw(g->c, 3) == 1 ? AC_F16 : AC_F32);
  int t = a < 0 ? -1 : result_buffer(g, g->buf[a].dtype, a, -1, keep);
  if (t < 0) return -1;
  g->mask = true;
  put(g, indent, "tl.vcompare(mask, %s, %s, \"eq\")", g->buf[a].name, g->buf[a].name);
  put(g, indent, "tl.vselect_scalar(%s, mask, %s, 0.5)", g->buf[t].name, g->buf[a].name);
  g->buf[t].valid = true;
  return t;
}

/* Sorted, and another buffer in the same order. */
static inline bool sorted(rprogram *g, int indent, bool keep) {
  int t = without_nan(g, indent, keep), d = t < 0 ? -1 : result_buffer(g, g->buf[t].dtype, t, -1, keep);
  if (d < 0) return false;
  g->index = true;
  put(g, indent, "tl.sort(%s, ix, %s%s)", g->buf[d].name, g->buf[t].name, yes_no(g, "descending"));
  g->buf[d].valid = true;
  int a = any_valid(g, AC_NODTYPE), to = result_buffer(g, g->buf[a].dtype, a, -1, keep);
  if (to < 0) return true;
  put(g, indent, "tl.gather(%s, %s, ix)", g->buf[to].name, g->buf[a].name);
  g->buf[to].valid = true;
  return true;
}

/* Backwards, by index. */
static inline bool mirrored(rprogram *g, int indent, bool keep) {
  int a = any_valid(g, AC_NODTYPE), to = a < 0 ? -1 : result_buffer(g, g->buf[a].dtype, a, -1, keep);
  if (to < 0) return false;
  g->index = true;
  put(g, indent, "tl.iota(ix, %s - 1, -1, count=%s)", g->count, g->count);
  put(g, indent, "tl.gather(%s, %s, ix, count=%s)", g->buf[to].name, g->buf[a].name, g->count);
  g->buf[to].valid = true;
  return true;
}

/* One of the largest, or where the largest is. */
static inline bool found_scalar(rprogram *g, int indent) {
  if (g->depth || g->fls >= MOST_SCALARS || g->ints + 1 >= MOST_SCALARS) return false;
  g->index = true;
  if (draw(g->c, 2)) {
    int t = without_nan(g, indent, false);
    if (t < 0) return false;
    ac_dtype d = g->buf[t].dtype;
    g->top[d] = true;
    put(g, indent, "tl.topk(top_%s, ix, %s, min(8, %s))", ac_dtypes[d].name, g->buf[t].name, g->count);
    put(g, indent, "f%d = tl.extract_scalar(top_%s, min(8, %s) - 1)", g->fls++, ac_dtypes[d].name, g->count);
    return true;
  }
  int a = any_valid(g, AC_NODTYPE);
  if (a < 0) return false;
  put(g, indent, "tl.%s(ix, %s)", draw(g->c, 2) ? "argmax" : "argmin", g->buf[a].name);
  put(g, indent, "i%d = tl.extract_scalar(ix, 0)", g->ints++);
  if (floats(g->buf[a].dtype))
    put(g, indent, "f%d = tl.extract_scalar(%s, i%d)", g->fls++, g->buf[a].name, g->ints - 1);
  return true;
}

static inline bool compressed(rprogram *g, int indent) {
  static const ac_dtype takes[] = {AC_F32, AC_F16, AC_BF16, AC_I32, AC_I16, AC_U16, AC_U32};
  if (g->depth || g->ints >= MOST_SCALARS) return false;
  int a = any_valid(g, takes[draw(g->c, AC_COUNT(takes))]);
  if (a < 0) a = any_valid(g, AC_F32);
  int t = a < 0 ? -1 : result_buffer(g, g->buf[a].dtype, a, -1, false);
  if (t < 0 || !a_mask(g, indent, "mask")) return false;
  put(g, indent, "tl.duplicate(%s, %s, count=%s)", g->buf[t].name, scalar_of(g, g->buf[a].dtype), g->count);
  put(g, indent, "i%d = tl.compress(%s, %s, mask)", g->ints++, g->buf[t].name, g->buf[a].name);
  g->buf[t].valid = true;
  return true;
}

static inline bool inserted(rprogram *g, int indent) {
  int a = any_valid(g, AC_NODTYPE);
  if (a < 0) return false;
  put(g, indent, "tl.insert_scalar(%s, %s, %s)", g->buf[a].name,
      draw(g->c, 2) ? ac_sprintf(g->a, "%s - 1", g->count) : "0", scalar_of(g, g->buf[a].dtype));
  return true;
}

/* An operation on the bits of a buffer as another dtype; those of a NaN are not said. */
static inline bool bits(rprogram *g, int indent, bool keep) {
  if (g->inexact) return false;
  int a = draw(g->c, 3) == 1 ? any_valid(g, AC_I16) : without_nan(g, indent, keep);
  if (a < 0) return false;
  ac_dtype as = g->buf[a].dtype == AC_F32 ? AC_I32 : g->buf[a].dtype == AC_F16 ? AC_I16 : AC_U16;
  uint32_t from = draw(g->c, (uint32_t)g->ops->len);
  for (size_t i = 0; i < g->ops->len; i++) {
    const random_op *o = &g->ops->data[(from + i) % g->ops->len];
    if (o->dst != as || o->src != o->dst || !o->in_place || strcmp(o->kinds, "B") != 0 || o->inexact) continue;
    g->viewed = true;
    int view = g->names++;
    ac_printf(&g->views, "    b%d = tl.bitcast(%s, tl.%s)\n", view, g->buf[a].name, ac_dtypes[o->dst].name);
    put(g, indent, "tl.%s(b%d, b%d%s, count=%s)", o->name, view, view, o->more, g->count);
    return true;
  }
  return false;
}

/* ---- along axes: buffers of several dimensions, of which the box g->box is valid ---- */

/* The name of a buffer for what is left when an axis is gone. */
static inline const char *side(rprogram *g, ac_dtype d, int axis) {
  g->side[axis][d] = true;
  return ac_sprintf(g->a, "s%d_%s", axis, ac_dtypes[d].name);
}

static inline bool reduced(rprogram *g, int indent) {
  static const char *const how[] = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"};
  int a = any_valid(g, AC_NODTYPE), axis = (int)draw(g->c, (uint32_t)g->axes);
  if (a < 0) return false;
  ac_dtype d = g->buf[a].dtype;
  const char *name = side(g, d, axis);
  bool where = draw(g->c, 4) == 1;
  if (where) name = side(g, AC_I32, axis), d = AC_I32;
  int to = result_buffer(g, d, a, -1, false);
  if (to < 0) return false;
  int counted = draw(g->c, 2) ? axis - g->axes : axis;
  put(g, indent, "tl.%s(%s, %s, axis=%d)", where ? draw(g->c, 2) ? "argmax" : "argmin" : how[draw(g->c, 4)], name,
      g->buf[a].name, counted);
  put(g, indent, "tl.broadcast(%s[%s], %s, axis=%d)", g->buf[to].name, g->box, name, axis);
  g->buf[to].valid = true;
  return true;
}

static inline bool scanned(rprogram *g, int indent) {
  static const char *const how[] = {"cumsum", "cumprod", "cummax", "cummin"};
  int a = any_valid(g, AC_NODTYPE), to = a < 0           ? -1
                                         : draw(g->c, 2) ? a
                                                         : result_buffer(g, g->buf[a].dtype, a, -1, false);
  if (to < 0) return false;
  put(g, indent, "tl.%s(%s, %s, axis=%d%s%s)", how[draw(g->c, 4)], g->buf[to].name, g->buf[a].name,
      (int)draw(g->c, (uint32_t)g->axes), yes_no(g, "reverse"), yes_no(g, "exclusive"));
  g->buf[to].valid = true;
  return true;
}

/* Turned, and turned back. */
static inline bool turned(rprogram *g, int indent) {
  int a = any_valid(g, AC_NODTYPE), to = a < 0 || g->axes != 2 ? -1 : result_buffer(g, g->buf[a].dtype, a, -1, false);
  if (to < 0) return false;
  const char *d = ac_dtypes[g->buf[a].dtype].name;
  g->turned[g->buf[a].dtype] = true;
  put(g, indent, "tl.transpose(turned_%s, %s)", d, g->buf[a].name);
  put(g, indent, "tl.transpose(%s, turned_%s)", g->buf[to].name, d);
  g->buf[to].valid = true;
  return true;
}

/* An operation on one row, or on every other one. */
static inline bool some_rows(rprogram *g, int indent) {
  int a = any_valid(g, AC_NODTYPE);
  if (a < 0 || g->axes != 2) return false;
  uint32_t from = draw(g->c, (uint32_t)g->ops->len);
  for (size_t i = 0; i < g->ops->len; i++) {
    const random_op *o = &g->ops->data[(from + i) % g->ops->len];
    if (o->dst != g->buf[a].dtype || o->src != o->dst || !o->in_place || strcmp(o->kinds, "B") != 0) continue;
    const char *part = ac_sprintf(g->a, draw(g->c, 2) ? "%s[0:m:2, 0:cols]" : "%s[0, 0:cols]", g->buf[a].name);
    put(g, indent, "tl.%s(%s, %s%s)", o->name, part, part, o->more);
    return true;
  }
  return false;
}

static inline void axis_steps(rprogram *g, int indent, int n) {
  bool any = false;
  for (int i = 0; i < n; i++) {
    switch (draw(g->c, 8)) {
    case 1:
    case 2: any |= reduced(g, indent); break;
    case 3: any |= scanned(g, indent); break;
    case 4: any |= turned(g, indent); break;
    case 5: any |= some_rows(g, indent); break;
    default: any |= one_op(g, indent, false); break;
    }
  }
  if (!any) put(g, indent, "pass");
}

#endif
