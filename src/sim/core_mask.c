/* The mask register and its two modes: who set them, and whether the instruction that uses them means the same. (asc-devkit docs/zh, mask
 * operations: normal mode has a bit a lane, counter mode a number of elements; isSetMask = false takes what is there; the count forms
 * leave normal mode and a full mask behind) */
#include "sim/core_vec.h"

void acsim_mask_set(uint64_t high, uint64_t low, int32_t how, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SetVectorMask", AT);
  acsim_time_call(b, ACSIM_CALL_MASK);
  b->mask[0] = low;
  b->mask[1] = high;
  b->mask_by = how == ACSIM_MASK_AS_MODE ? (b->mask_counter ? ACSIM_MASK_ELEMENTS : ACSIM_MASK_LANES) : (uint8_t)how;
  b->mask_at = AT;
  b->mask_lost = NULL;
}
void acsim_mask_counter(int32_t on, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at("SetMaskCount", AT);
  b->mask_counter = on != 0;
  b->counter_at = AT;
  b->mask_lost = NULL;
}
void acsim_mask_lanes(int32_t n, int32_t lanes, const char *what, const char *file, int32_t line) {
  acsim_block *b = acsim_here_at(what, AT);
  if (n < 0 || n > lanes)
    acsim_fault(b->s, b, "field-limit", AT, "%s of %d lanes: a repeat of this type has %d", what, n, lanes);
}

void acsim_mask_reset(acsim_block *b, const char *op, acsim_at at) {
  bool mine = b->mask_by == ACSIM_MASK_LANES || b->mask_by == ACSIM_MASK_ELEMENTS;
  if (mine || b->mask_counter) {
    b->mask_lost = op;
    b->mask_lost_at = at;
    b->mask_was_at = mine ? b->mask_at : b->counter_at;
  }
  b->mask_counter = false;
  b->mask[0] = b->mask[1] = ~0ull;
  b->mask_by = ACSIM_MASK_FULL;
}

static const char *name(acsim_at at) {
  return at.file ? at.file : "the start";
}

static int lanes_on(const acsim_block *b, int lanes) {
  uint64_t low = lanes >= 64 ? ~0ull : (1ull << lanes) - 1, high = lanes > 64 ? ~0ull : 0;
  return __builtin_popcountll(b->mask[0] & low) + __builtin_popcountll(b->mask[1] & high);
}

/* The mask that an instruction set for itself serves another one. Lanes that it leaves out are lanes that nobody wanted left out
 * here; with a full mask the results are those of a mask of one's own. */
static void check_inherited(const call *c) {
  const acsim_block *b = c->b;
  if (lanes_on(b, c->lanes) == c->lanes)
    acsim_fault_pair(
        b->s, b, "mask-inherited", c->at, b->mask_at,
        "%s takes the mask that an instruction left in the register at %s:%d. It is full, and does no harm: "
        "set one with SetVectorMask, or ResetMask",
        c->name, name(b->mask_at), b->mask_at.line);
  else
    acsim_fault_pair(
        b->s, b, "stale-mask", c->at, b->mask_at,
        "%s takes the mask that an instruction left in the register at %s:%d, and with it only %d of its %d "
        "lanes: set one with SetVectorMask, or ResetMask",
        c->name, name(b->mask_at), b->mask_at.line, lanes_on(b, c->lanes), c->lanes);
}

/* isSetMask = false. */
static void check_register(const call *c) {
  acsim_block *b = c->b;
  if (b->mask_counter && b->mask_by != ACSIM_MASK_ELEMENTS)
    acsim_fault_pair(
        b->s, b, "mask-mode", c->at, b->counter_at,
        "%s takes the mask register as a number of elements (SetMaskCount at %s:%d), and what is in it are "
        "lanes: SetVectorMask<T, MaskMode::COUNTER> is missing",
        c->name, name(b->counter_at), b->counter_at.line);
  else if (!b->mask_counter && b->mask_by == ACSIM_MASK_ELEMENTS)
    acsim_fault_pair(b->s, b, "mask-mode", c->at, b->mask_at,
                     "%s takes the mask register as lanes, and what SetVectorMask put there at %s:%d is a number of "
                     "elements: SetMaskCount is missing",
                     c->name, name(b->mask_at), b->mask_at.line);
  else if (b->mask_lost)
    acsim_fault_pair(
        b->s, b, "mask-mode", c->at, b->mask_lost_at,
        "%s takes the mask register, in which nothing is left of what was set at %s:%d: %s at %s:%d works by "
        "count, and leaves normal mode with a full mask behind",
        c->name, name(b->mask_was_at), b->mask_was_at.line, b->mask_lost, name(b->mask_lost_at),
        b->mask_lost_at.line);
  else if (b->mask_by == ACSIM_MASK_OF_CALL &&
           (c->v->op != ACSIM_OP_Select || c->v->c)) /* that Select has no mask of its own */
    check_inherited(c);
}

void acsim_mask_check(const call *c) {
  const acsim_repeat *r = c->v->repeat;
  acsim_block *b = c->b;
  if (r->form == ACSIM_MASK_REGISTER) {
    check_register(c);
    return;
  }
  /* Copy means it: so many elements of each repeat (docs/zh, Copy) */
  bool few =
      r->form == ACSIM_MASK_FIRST && c->v->op != ACSIM_OP_Copy && r->repeat > 1 && r->first <= (uint64_t)c->lanes;
  bool bits = r->form == ACSIM_MASK_BITS && r->mask[1];
  if (b->mask_counter && (few || bits))
    acsim_fault_pair(
        b->s, b, "mask-mode", c->at, b->counter_at,
        "%s in counter mode (SetMaskCount at %s:%d): %s, and its %d repeats do nothing: SetMaskNorm is missing",
        c->name, name(b->counter_at), b->counter_at.line,
        few ? "its mask is the number of all elements" : "its mask of bits is a number of elements", r->repeat);
  b->mask_by = b->mask_counter ? ACSIM_MASK_ELEMENTS : ACSIM_MASK_OF_CALL;
  b->mask_at = c->at;
  b->mask_lost = NULL;
}

void acsim_mask_end(acsim_block *b) {
  if (b->mask_counter)
    acsim_fault(b->s, b, "mask-left", b->counter_at,
                "the kernel ends in counter mode: SetMaskNorm is missing, and what runs next may begin in it");
  else if (b->mask_by == ACSIM_MASK_LANES && b->mask[0] != ~0ull) /* all lanes of a 32-bit type count as all */
    acsim_fault(b->s, b, "mask-left", b->mask_at, "the kernel ends with this mask: ResetMask is missing");
}

/* ---- precision ---- */

/* The documents say so of half and float alike (docs/zh, Rsqrt, Reciprocal). Once a place; asked in every loop. */
void acsim_vec_check_precision(const call *c) {
  acsim_block *b = c->b;
  if (b->precision_at.line == c->at.line && b->precision_at.file == c->at.file) return;
  b->precision_at = c->at;
  acsim_fault(b->s, b, "low-precision", c->at,
              "%s misses the usual error limits (1e-3 for half, 1e-4 for float) on the device: %s are exact", c->name,
              c->v->op == ACSIM_OP_Rsqrt ? "Sqrt and Div" : "Duplicate and Div");
}
