/* Copies between memories, and the scalar unit's access to them. */
#include "sim/core_defer.h"

#include <string.h>

/* Field limits of the copy instructions (asc-devkit docs/zh, DataCopy and DataCopyPad). */
enum { MAX_BLOCKS = 4095, MAX_EXT_BYTES = 2097151, MAX_PAD_BYTES = 65535 };

static const char *name_of(const acsim_copy *c) {
  return c->form == ACSIM_COPY_PAD ? "DataCopyPad" : "DataCopy";
}

/* Fields that the hardware could not take. False: nothing is copied. */
static bool check_fields(acsim_block *b, acsim_copy *c, int es, acsim_at at) {
  if (c->form == ACSIM_COPY_COUNT) {
    int64_t whole = c->bytes / 32 * 32;
    if (whole != c->bytes)
      acsim_fault(b->s, b, "copy-truncated", at,
                  "DataCopy of %lld elements (%lld bytes) moves only %lld bytes: it rounds down to 32; DataCopyPad "
                  "moves any length",
                  (long long)(c->bytes / es), (long long)c->bytes, (long long)whole);
    c->bytes = whole;
    return whole > 0;
  }
  if (c->blocks > MAX_BLOCKS) {
    acsim_fault(b->s, b, "field-limit", at, "%s: blockCount is %u, the instruction takes at most %d", name_of(c),
                c->blocks, MAX_BLOCKS);
    return false;
  }
  if (c->form == ACSIM_COPY_PAD) {
    int64_t limit = c->ext ? MAX_EXT_BYTES : MAX_PAD_BYTES;
    if (b->s->chip->npu_arch != 2201)
      acsim_fault(b->s, b, "not-on-chip", at, "DataCopyPad does not exist on %s", b->s->chip->soc);
    if (c->bytes > limit) {
      acsim_fault(b->s, b, "field-limit", at,
                  "DataCopyPad: blockLen is %lld bytes, the instruction takes at most %lld", (long long)c->bytes,
                  (long long)limit);
      return false;
    }
    if (c->bytes % es)
      acsim_fault(b->s, b, "field-limit", at, "DataCopyPad: blockLen is %lld bytes, no multiple of the element's %d",
                  (long long)c->bytes, es);
    if (c->left * es > 32 || c->right * es > 32) {
      acsim_fault(b->s, b, "field-limit", at,
                  "DataCopyPad: leftPadding %u and rightPadding %u elements of %d bytes: 32 bytes is the most",
                  c->left, c->right, es);
      return false;
    }
    if (es == 8 && c->is_pad && c->pad_bits)
      acsim_fault(b->s, b, "field-limit", at, "DataCopyPad: the pad value of a 64-bit type can only be 0");
  }
  return c->blocks > 0 && c->bytes > 0;
}

/* DataCopy needs global addresses at a multiple of the element; DataCopyPad and slices do not (docs/zh, DataCopy, constraints). */
static void check_global(acsim_block *b, const acsim_copy *c, const acsim_global *g, int es, acsim_at at) {
  if (c->form >= ACSIM_COPY_PAD || (uintptr_t)g->ptr % (uintptr_t)es == 0) return;
  acsim_fault(b->s, b, "misaligned", at, "DataCopy: the global address is no multiple of %d bytes, the size of %s",
              es, ac_dtypes[c->type].cpp);
}

static void fill(uint8_t *p, uint8_t *state, int64_t n, const void *value, int es) {
  for (int64_t i = 0; i < n; i++) p[i] = ((const uint8_t *)value)[i % es];
  memset(state, 0xff, (size_t)n);
}

/* One row of DataCopyPad to UB: left pad, data, right pad up to 32 bytes (asc-devkit docs/zh, DataCopyPad, GM to UB). */
static void pad_row(acsim_block *b, const acsim_copy *c, const acsim_local *dst, int64_t at, const uint8_t *src,
                    int es, int64_t pitch) {
  uint8_t *p = acsim_data(b, dst, at), *s = acsim_state(b, dst, at);
  int64_t left = (int64_t)c->left * es, rest = pitch - left - c->bytes;
  memcpy(p + left, src, (size_t)c->bytes);
  memset(s + left, 0xff, (size_t)c->bytes);
  if (!left && !rest) return;
  uint64_t value = c->is_pad ? c->pad_bits : b->pad_value;
  bool asked = c->left || c->right;
  if (!asked && (c->is_pad || !b->pad_set)) {
    fill(p + left + c->bytes, s + left + c->bytes, rest, src,
         es); /* the block's first element, isPad or not (D, DataCopyPad) */
  } else if (c->is_pad || b->pad_set) {
    fill(p, s, left, &value, es);
    fill(p + left + c->bytes, s + left + c->bytes, rest, &value, es);
  } else { /* the documents call these lanes random: they stay undefined */
    memset(s, 0, (size_t)left);
    memset(s + left + c->bytes, 0, (size_t)rest);
  }
}

void acsim_copy_in(const acsim_local *dst, const acsim_global *src, const acsim_copy *copy, const char *file,
                   int32_t line) {
  acsim_block *b = acsim_here_at("DataCopy", AT);
  if (b->stalled && acsim_defer_copy(b, AC_PIPE_MTE2, dst, NULL, src, copy, AT)) return;
  acsim_order_begin(b);
  acsim_copy c = *copy;
  int es = acsim_type_bytes(c.type);
  if (!check_fields(b, &c, es, AT)) return;
  b->copied_elements += c.blocks * c.bytes / es;
  check_global(b, &c, src, es, AT);
  int64_t row = c.bytes;
  if (c.form == ACSIM_COPY_PAD) row = ((int64_t)(c.left + c.right) * es + c.bytes + 31) / 32 * 32;
  for (int64_t r = 0, to = c.dst_at, from = c.src_at; r < c.blocks;
       r++, to += row + c.dst_gap, from += c.bytes + c.src_gap) {
    acsim_access x = {"dst", dst, to, row, 32, ACSIM_WRITE};
    bool fits = acsim_touch(b, AC_PIPE_MTE2, name_of(&c), AT, &x, 1);
    if (!acsim_gm_touch(b, AC_PIPE_MTE2, name_of(&c), AT, src, from, c.bytes, GM_READ)) {
      /* reported; the part that exists still arrives, so that one mistake is not followed by many */
      if (fits) memcpy(acsim_data(b, dst, to), src->ptr + from, (size_t)acsim_gm_clip(b, src, from, c.bytes, false));
      acsim_settle(b, dst, to, row);
      continue;
    }
    if (!fits) return;
    if (c.form == ACSIM_COPY_PAD) {
      pad_row(b, &c, dst, to, src->ptr + from, es, row);
    } else {
      memcpy(acsim_data(b, dst, to), src->ptr + from, (size_t)row);
      memset(acsim_state(b, dst, to), 0xff, (size_t)row);
    }
  }
}

static void store_row(acsim_block *b, const acsim_copy *c, uint8_t *to, const uint8_t *from, int64_t bytes, int es,
                      acsim_at at) {
  if (!bytes) return;
  if (b->atomic == ACSIM_ATOMIC_NONE) {
    memcpy(to, from, (size_t)bytes);
    return;
  }
  if (c->type != b->atomic_type)
    acsim_fault(b->s, b, "atomic-type", at, "the atomic store is set for %s, the tensor is %s",
                ac_dtypes[b->atomic_type].name, ac_dtypes[c->type].name);
  /* DataCopyPad stores to any byte address: elements that lie askew are brought together first */
  _Alignas(8) uint8_t line[1024];
  bool askew = (uintptr_t)to % (uintptr_t)es != 0;
  int64_t step = askew ? (int64_t)sizeof line : bytes;
  for (int64_t at = 0; at < bytes; at += step) {
    int64_t n = bytes - at < step ? bytes - at : step;
    uint8_t *d = askew ? memcpy(line, to + at, (size_t)n) : to + at;
    acsim_math_atomic(b->atomic, c->type, d, from + at, n / es, acsim_saturates(b));
    if (askew) memcpy(to + at, line, (size_t)n);
  }
}

void acsim_copy_out(const acsim_global *dst, const acsim_local *src, const acsim_copy *copy, const char *file,
                    int32_t line) {
  acsim_block *b = acsim_here_at("DataCopy", AT);
  if (b->stalled && acsim_defer_copy(b, AC_PIPE_MTE3, NULL, src, dst, copy, AT)) return;
  acsim_order_begin(b);
  acsim_copy c = *copy;
  int es = acsim_type_bytes(c.type);
  if (!check_fields(b, &c, es, AT)) return;
  b->copied_elements += c.blocks * c.bytes / es;
  check_global(b, &c, dst, es, AT);
  int64_t row = (c.bytes + 31) / 32 * 32;
  bool atomic = b->atomic != ACSIM_ATOMIC_NONE;
  if (atomic) acsim_gate(b);
  for (int64_t r = 0, to = c.dst_at, from = c.src_at; r < c.blocks;
       r++, to += c.bytes + c.dst_gap, from += row + c.src_gap) {
    acsim_access x = {"src", src, from, c.bytes, 32, ACSIM_READ};
    acsim_gm_how how = atomic ? GM_UPDATE : GM_WRITE;
    bool fits = acsim_touch(b, AC_PIPE_MTE3, name_of(&c), AT, &x, 1);
    int64_t bytes = c.bytes;
    if (!acsim_gm_touch(b, AC_PIPE_MTE3, name_of(&c), AT, dst, to, bytes, how)) {
      bytes = acsim_gm_clip(b, dst, to, bytes, true); /* as in acsim_copy_in */
      acsim_global part = {dst->ptr, dst->base, 0};
      if (bytes) acsim_gm_touch(b, AC_PIPE_MTE3, name_of(&c), AT, &part, to, bytes, how);
    }
    if (!fits) return;
    store_row(b, &c, dst->ptr + to, acsim_data(b, src, from), bytes, es, AT);
  }
}

/* UB to UB: no byte may be both read and written (docs/zh, general constraints: not supported where a page does not say so). */
static void check_local(acsim_block *b, const acsim_copy *c, const acsim_local *dst, const acsim_local *src,
                        acsim_at at) {
  int64_t to = c->bytes + c->dst_gap, from = c->bytes + c->src_gap, n = c->blocks;
  if (dst->mem != src->mem || dst->addr + n * to <= src->addr || src->addr + n * from <= dst->addr) return;
  for (int64_t i = 0; i < n; i++) {
    int64_t r0 = src->addr + i * from, r1 = r0 + c->bytes;
    /* rows of dst that may reach into [r0, r1) */
    int64_t first = (r0 - c->bytes - (int64_t)dst->addr) / to - 1, last = (r1 - (int64_t)dst->addr) / to + 1;
    for (int64_t k = first < 0 ? 0 : first; k <= last && k < n; k++) {
      int64_t w0 = dst->addr + k * to;
      if (w0 >= r1 || r0 >= w0 + c->bytes) continue;
      acsim_fault(b->s, b, "overlap", at, "DataCopy in UB: block %lld of src lies where block %lld of dst is written",
                  (long long)i, (long long)k);
      return;
    }
  }
}

void acsim_copy_local(const acsim_local *dst, const acsim_local *src, const acsim_copy *copy, const char *file,
                      int32_t line) {
  acsim_block *b = acsim_here_at("DataCopy", AT);
  if (b->stalled && acsim_defer_copy(b, AC_PIPE_V, dst, src, NULL, copy, AT)) return;
  acsim_order_begin(b);
  acsim_copy c = *copy;
  if (!check_fields(b, &c, acsim_type_bytes(c.type), AT)) return;
  check_local(b, &c, dst, src, AT);
  for (int64_t r = 0, to = 0, from = 0; r < c.blocks; r++, to += c.bytes + c.dst_gap, from += c.bytes + c.src_gap) {
    acsim_access x[] = {{"dst", dst, to, c.bytes, 32, ACSIM_WRITE},
                        {"src", src, from, c.bytes, 32, ACSIM_READ | ACSIM_SOFT}};
    if (!acsim_touch(b, AC_PIPE_V, "DataCopy", AT, x, 2)) return;
    /* what is undefined stays undefined: a fault only when somebody uses it */
    memmove(acsim_data(b, dst, to), acsim_data(b, src, from), (size_t)c.bytes);
    memmove(acsim_state(b, dst, to), acsim_state(b, src, from), (size_t)c.bytes);
  }
}

void acsim_set_pad_value(uint64_t bits) {
  acsim_block *b = acsim_here("SetPadValue");
  b->calls++;
  b->pad_value = bits;
  b->pad_set = true;
}

/* ---- the scalar unit ---- */

void acsim_local_get(const acsim_local *t, int64_t index, uint32_t bytes, void *out, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("GetValue", AT);
  acsim_access x = {"the tensor", t, index * bytes, bytes, (int)bytes, ACSIM_READ};
  memset(out, 0, bytes);
  if (acsim_touch(b, AC_PIPE_S, "GetValue", AT, &x, 1)) memcpy(out, acsim_data(b, t, x.off), bytes);
}
void acsim_local_set(const acsim_local *t, int64_t index, uint32_t bytes, const void *v, const char *file,
                     int32_t line) {
  acsim_block *b = acsim_here_at("SetValue", AT);
  acsim_access x = {"the tensor", t, index * bytes, bytes, (int)bytes, ACSIM_WRITE};
  if (!acsim_touch(b, AC_PIPE_S, "SetValue", AT, &x, 1)) return;
  memcpy(acsim_data(b, t, x.off), v, bytes);
  memset(acsim_state(b, t, x.off), 0xff, bytes);
}
void *acsim_local_ptr(const acsim_local *t, int64_t byte_offset, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("GetPhyAddr", AT);
  acsim_access x = {"the tensor", t, byte_offset, 1, 1, ACSIM_WRITE | ACSIM_ADDRESS};
  if (!acsim_touch(b, AC_PIPE_S, "GetPhyAddr", AT, &x, 1)) return NULL;
  acsim_raw_pointer(b, t);
  return acsim_data(b, t, byte_offset);
}
void acsim_global_get(const acsim_global *t, int64_t index, uint32_t bytes, void *out, const char *file,
                      int32_t line) {
  acsim_block *b = acsim_here_at("GetValue", AT);
  b->calls++;
  memset(out, 0, bytes);
  if (acsim_gm_touch(b, AC_PIPE_S, "GetValue", AT, t, index * bytes, bytes, GM_READ))
    memcpy(out, t->ptr + index * bytes, bytes);
}
void acsim_global_set(const acsim_global *t, int64_t index, uint32_t bytes, const void *v, const char *file,
                      int32_t line) {
  acsim_block *b = acsim_here_at("SetValue", AT);
  b->calls++;
  if (acsim_gm_touch(b, AC_PIPE_S, "SetValue", AT, t, index * bytes, bytes, GM_WRITE))
    memcpy(t->ptr + index * bytes, v, bytes);
}
void acsim_read_gm(void *to, const void *from, uint64_t bytes, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("GET_TILING_DATA", AT);
  acsim_global g = {(uint8_t *)(uintptr_t)from, NULL, 0};
  b->calls++;
  memset(to, 0, bytes);
  if (acsim_gm_touch(b, AC_PIPE_S, "GET_TILING_DATA", AT, &g, 0, (int64_t)bytes, GM_READ)) memcpy(to, from, bytes);
}
