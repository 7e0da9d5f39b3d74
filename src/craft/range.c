/* Between which numbers the integers in a buffer lie, so that an index of tl.gather and an offset from memory can be proved to lie inside.
 *
 * A span is a least and a greatest value (symbols, either may be unknown) of what is valid in a buffer, and the conditions under which
 * these hold: integers of the language wrap, and a span says nothing of what has wrapped. What a primitive makes of the spans of its
 * sources says the table below; what is not in it, and what comes from global memory, has none. docs/checks.md, "Indices". */
#include "craft/check.h"

#include <string.h>

enum { MAX_CONDITIONS = 8 };

typedef struct {
  ac_chk *c;
  ac_dtype dtype; /* of the destination */
  ac_sym *count;
  ac_kspan *to;
} making;

static ac_sym *number(ac_chk *c, int64_t v) {
  return ac_sy_int(&c->s, v);
}
static bool le(ac_chk *c, ac_sym *x, ac_sym *y) {
  return ac_sy_le(&c->s, x, y, c->st->facts);
}

/* ---- spans ---- */

bool ac_chk_same_span(const ac_kspan *x, const ac_kspan *y) {
  if (x == y) return true;
  if (!x || !y || x->lo != y->lo || x->hi != y->hi || x->first != y->first || x->step != y->step ||
      x->n_if != y->n_if)
    return false;
  for (int i = 0; i < x->n_if; i++)
    if (x->if_[i][0] != y->if_[i][0] || x->if_[i][1] != y->if_[i][1]) return false;
  return true;
}

/* Holds only if x <= y. False: too many conditions. */
static bool only_if(ac_chk *c, ac_kspan *s, ac_sym *x, ac_sym *y) {
  if (x == y || le(c, x, y)) return true;
  for (int i = 0; i < s->n_if; i++)
    if (s->if_[i][0] == x && s->if_[i][1] == y) return true;
  if (s->n_if == MAX_CONDITIONS) return false;
  s->if_[s->n_if][0] = x;
  s->if_[s->n_if++][1] = y;
  return true;
}

static bool same_conditions(ac_chk *c, ac_kspan *to, const ac_kspan *of) {
  for (int i = 0; of && i < of->n_if; i++)
    if (!only_if(c, to, of->if_[i][0], of->if_[i][1])) return false;
  return true;
}

/* x is a number of the dtype: nothing wraps. 64 bits are taken to suffice, as they are for sizes. */
static bool fits(making *k, ac_sym *x) {
  int bits = 8 * ac_dtypes[k->dtype].bytes;
  bool sign = ac_dtypes[k->dtype].cls == AC_SIGNED;
  if (!x || bits == 64) return true;
  int64_t most = (int64_t)((1ULL << (sign ? bits - 1 : bits)) - 1), least = sign ? -most - 1 : 0;
  return only_if(k->c, k->to, number(k->c, least), x) && only_if(k->c, k->to, x, number(k->c, most));
}

static ac_sym *smaller(ac_chk *c, ac_sym *x, ac_sym *y) {
  return !x || !y ? NULL : le(c, x, y) ? x : le(c, y, x) ? y : ac_sy_fn(&c->s, AC_SY_MIN, x, y);
}
static ac_sym *larger(ac_chk *c, ac_sym *x, ac_sym *y) {
  return !x || !y ? NULL : le(c, y, x) ? x : le(c, x, y) ? y : ac_sy_fn(&c->s, AC_SY_MAX, x, y);
}
static ac_sym *plus(ac_chk *c, ac_sym *x, ac_sym *y) {
  return x && y ? ac_sy_add(&c->s, x, y) : NULL;
}
static ac_sym *minus(ac_chk *c, ac_sym *x, ac_sym *y) {
  return x && y ? ac_sy_sub(&c->s, x, y) : NULL;
}
static bool nonneg(ac_chk *c, ac_sym *x) {
  return x && le(c, number(c, 0), x);
}

/* Seen as another dtype, it is other numbers. */
static bool bitcast(ac_chk *c, const ac_kval *v) {
  return v->dtype != AC_NODTYPE && v->dtype != c->fn->f->buffers.data[v->buf]->dtype;
}

/* n numbers in equal steps. False: not known which is the least. */
static bool in_steps(ac_chk *c, ac_kspan *s, ac_sym *first, ac_sym *step, ac_sym *n) {
  int64_t by = 0;
  if (!first || !step || !n) return false;
  bool down = ac_sy_const(step, &by) && by < 0;
  if (!down && !nonneg(c, step)) return false;
  ac_sym *far = plus(c, first, ac_sy_mul(&c->s, minus(c, n, number(c, 1)), step));
  s->first = first;
  s->step = step;
  s->lo = down ? far : first;
  s->hi = down ? first : far;
  return true;
}

bool ac_chk_span(ac_chk *c, const ac_kval *v, ac_sym *n, ac_kspan *s) {
  *s = (ac_kspan){0};
  if (v->kind != AC_CT_BUFFER || bitcast(c, v) || !c->st->bufs[v->buf].span) return false;
  *s = *c->st->bufs[v->buf].span;
  if (!s->step) return true;
  ac_sym *first = v->off ? plus(c, s->first, ac_sy_mul(&c->s, v->off, s->step)) : s->first;
  if (!n) n = ac_chk_extent(c, v);
  if (v->nd || !in_steps(c, s, first, s->step, n)) s->first = s->step = NULL;
  return true;
}

/* ---- what primitives make ---- */

typedef enum {
  FILL,
  IOTA,
  COPY, /* element by element */
  SAME, /* the elements of the first source, in another order */
  SUMS,
  ADD,
  SUB,
  MUL,
  NEG,
  LEAST, /* the smaller of two */
  MOST,
  CLAMP,
  MOD,  /* rounded toward minus infinity */
  FMOD, /* toward zero */
  QUOTIENT,
  AND,
  SHIFT,
  EITHER, /* one of two */
} rule;

/* Which operands: a and b are numbers of the signature; a scalar counts as a buffer with one value. */
static const struct {
  const char *name;
  rule rule;
  int a, b;
} rules[] = {
    {"duplicate", FILL, 1, 0},     {"iota", IOTA, 1, 2},
    {"vcopy", COPY, 1, 0},         {"cast", COPY, 1, 0},
    {"vadd", ADD, 1, 2},           {"vadd_scalar", ADD, 1, 2},
    {"vsub", SUB, 1, 2},           {"vsub_scalar", SUB, 1, 2},
    {"vrsub_scalar", SUB, 2, 1},   {"vmul", MUL, 1, 2},
    {"vmul_scalar", MUL, 1, 2},    {"vneg", NEG, 1, 0},
    {"vmin", LEAST, 1, 2},         {"vmin_scalar", LEAST, 1, 2},
    {"vmax", MOST, 1, 2},          {"vmax_scalar", MOST, 1, 2},
    {"vrelu", MOST, 1, -1},        {"vclamp", CLAMP, 1, 2},
    {"vmod", MOD, 1, 2},           {"vmod_scalar", MOD, 1, 2},
    {"vfmod", FMOD, 1, 2},         {"vfmod_scalar", FMOD, 1, 2},
    {"vdiv", QUOTIENT, 1, 2},      {"vdiv_scalar", QUOTIENT, 1, 2},
    {"vfloordiv", QUOTIENT, 1, 2}, {"vfloordiv_scalar", QUOTIENT, 1, 2},
    {"vand", AND, 1, 2},           {"vshr_scalar", SHIFT, 1, 2},
    {"vselect", EITHER, 2, 3},     {"vselect_scalar", EITHER, 2, 3},
    {"broadcast", SAME, 1, 0},     {"transpose", SAME, 1, 0},
    {"gather", SAME, 1, 0},        {"compress", SAME, 1, 0},
    {"reduce_max", SAME, 1, 0},    {"reduce_min", SAME, 1, 0},
    {"cummax", SAME, 1, 0},        {"cummin", SAME, 1, 0},
    {"cumsum", SUMS, 1, 0},        {"insert_scalar", FILL, 2, 0},
};

static void one_value(ac_chk *c, ac_kspan *s, ac_sym *x) {
  *s = (ac_kspan){.lo = x, .hi = x, .first = x, .step = number(c, 0)};
}

/* An operand as a span; a scalar must be a number of the dtype, or what it becomes is not known. False: nothing is known of it. */
static bool operand(making *k, const ac_cexpr *e, const ac_kval *v, int i, ac_kspan *s) {
  *s = (ac_kspan){0};
  if (i < 0) {
    one_value(k->c, s, number(k->c, 0));
    return true;
  }
  if (i >= e->n_args || !e->args[i]) return false;
  if (v[i].kind == AC_CT_INT) {
    if (!v[i].sym || !fits(k, v[i].sym)) return false;
    one_value(k->c, s, v[i].sym);
    return true;
  }
  ac_kspan x;
  if (!ac_chk_span(k->c, &v[i], k->count, &x) || !same_conditions(k->c, k->to, &x)) return false;
  *s = x;
  return true;
}

static ac_sym *product(ac_chk *c, ac_sym *x, ac_sym *y) {
  return x && y ? ac_sy_mul(&c->s, x, y) : NULL;
}

/* x is not negative, or nothing is said. */
static bool from_zero(making *k, ac_sym *x) {
  return x && only_if(k->c, k->to, number(k->c, 0), x);
}

/* The remainder by a divisor that is at least 1: below its greatest value. */
static bool remainder_of(making *k, const ac_kspan *a, const ac_kspan *b, bool floor) {
  ac_chk *c = k->c;
  ac_sym *one = number(c, 1), *zero = number(c, 0);
  if (!b->lo || !b->hi || !only_if(c, k->to, one, b->lo)) return false;
  k->to->hi = minus(c, b->hi, one);
  k->to->lo = floor || nonneg(c, a->lo) ? zero : minus(c, zero, k->to->hi);
  return true;
}

/* Of what is not negative: rounded down, and no less than it was divided by the greatest. */
static bool quotient(making *k, const ac_kspan *a, const ac_kspan *b) {
  ac_chk *c = k->c;
  if (!from_zero(k, a->lo) || !a->hi || !b->lo || !only_if(c, k->to, number(c, 1), b->lo)) return false;
  k->to->lo = number(c, 0);
  k->to->hi = ac_sy_fn(&c->s, AC_SY_FLOORDIV, a->hi, b->lo);
  return true;
}

static bool multiplied(making *k, const ac_kspan *a, const ac_kspan *b) {
  ac_chk *c = k->c;
  int64_t by;
  if (b->lo == b->hi && b->lo && ac_sy_const(b->lo, &by) && by < 0) {
    k->to->lo = product(c, a->hi, b->lo);
    k->to->hi = product(c, a->lo, b->lo);
    return true;
  }
  if (!nonneg(c, b->lo)) return false;
  k->to->hi = nonneg(c, a->hi) || b->lo == b->hi ? product(c, a->hi, b->hi) : NULL;
  k->to->lo = nonneg(c, a->lo) ? product(c, a->lo, b->lo) : a->lo ? product(c, a->lo, b->hi) : NULL;
  return b->lo == b->hi || nonneg(c, a->lo);
}

static bool iota(making *k, const ac_cexpr *e, const ac_kval *v) {
  bool steps = e->n_args > 2 && e->args[2];
  if (v[1].kind != AC_CT_INT || (steps && v[2].kind != AC_CT_INT)) return false;
  return in_steps(k->c, k->to, v[1].sym, steps ? v[2].sym : number(k->c, 1), k->count);
}

/* Running sums of one number. */
static bool sums(making *k, const ac_cexpr *e, const ac_kspan *a) {
  int64_t same;
  bool plain = !e->args[2] && !e->args[3] && !e->args[4]; /* axis, reverse, exclusive */
  if (!plain || !a->step || !ac_sy_const(a->step, &same) || same) return false;
  return in_steps(k->c, k->to, a->first, a->first, k->count);
}

/* What sums and products make of numbers in equal steps. */
static void in_step(making *k, rule how, const ac_kspan *a, const ac_kspan *b) {
  ac_chk *c = k->c;
  int64_t same;
  ac_sym *zero = number(c, 0);
  if (!a->step || (!b->step && (how == ADD || how == SUB || how == MUL))) return;
  if (how == FILL || how == COPY) {
    k->to->first = a->first;
    k->to->step = a->step;
  } else if (how == NEG) {
    k->to->first = minus(c, zero, a->first);
    k->to->step = minus(c, zero, a->step);
  } else if (how == ADD || how == SUB) {
    k->to->first = how == ADD ? plus(c, a->first, b->first) : minus(c, a->first, b->first);
    k->to->step = how == ADD ? plus(c, a->step, b->step) : minus(c, a->step, b->step);
  } else if (how == MUL && ac_sy_const(b->step, &same) && !same) {
    k->to->first = product(c, a->first, b->first);
    k->to->step = product(c, a->step, b->first);
  }
}

static bool by_rule(making *k, rule how, const ac_cexpr *e, const ac_kval *v, const ac_kspan *a, const ac_kspan *b) {
  ac_chk *c = k->c;
  ac_kspan *to = k->to;
  ac_kspan top;
  in_step(k, how, a, b);
  switch (how) {
  case FILL:
  case COPY:
  case SAME:
    to->lo = a->lo;
    to->hi = a->hi;
    return true;
  case ADD:
    to->lo = plus(c, a->lo, b->lo);
    to->hi = plus(c, a->hi, b->hi);
    return true;
  case SUB:
    to->lo = minus(c, a->lo, b->hi);
    to->hi = minus(c, a->hi, b->lo);
    return true;
  case NEG:
    to->lo = minus(c, number(c, 0), a->hi);
    to->hi = minus(c, number(c, 0), a->lo);
    return true;
  case MUL: return multiplied(k, a, b);
  case LEAST:
    to->hi = !a->hi ? b->hi : !b->hi ? a->hi : smaller(c, a->hi, b->hi);
    to->lo = smaller(c, a->lo, b->lo);
    return true;
  case MOST:
    to->lo = !a->lo ? b->lo : !b->lo ? a->lo : larger(c, a->lo, b->lo);
    to->hi = larger(c, a->hi, b->hi);
    return true;
  case CLAMP: /* min(max(x, lo), hi): hi where that is the smaller */
    if (!operand(k, e, v, 3, &top)) return false;
    to->lo = smaller(c, b->lo, top.lo);
    to->hi = top.hi;
    return true;
  case MOD: return remainder_of(k, a, b, true);
  case FMOD: return remainder_of(k, a, b, false);
  case QUOTIENT: return quotient(k, a, b);
  case AND: /* no more bits than in the one that is not negative */
    to->lo = number(c, 0);
    if (b->hi && from_zero(k, b->lo)) {
      to->hi = b->hi;
      return true;
    }
    to->hi = a->hi;
    return a->hi && from_zero(k, a->lo);
  case SHIFT:
    to->lo = number(c, 0);
    to->hi = a->hi;
    return from_zero(k, a->lo);
  case EITHER:
    to->lo = smaller(c, a->lo, b->lo);
    to->hi = larger(c, a->hi, b->hi);
    return true;
  case SUMS: return sums(k, e, a);
  case IOTA: return iota(k, e, v);
  }
  return false;
}

/* Bounds may come from one source alone: of the other nothing need be known. */
static bool one_will_do(rule how) {
  return how == LEAST || how == MOST || how == CLAMP || how == MOD || how == FMOD || how == AND;
}

static bool make(making *k, const ac_cexpr *e, const ac_sig *s, const ac_kval *v) {
  size_t i = 0;
  while (i < AC_COUNT(rules) && strcmp(rules[i].name, s->name) != 0) i++;
  if (i == AC_COUNT(rules)) return false;
  rule how = rules[i].rule;
  ac_kspan a = {0}, b = {0};
  bool one = how != MOD && operand(k, e, v, rules[i].a, &a), two = !rules[i].b || operand(k, e, v, rules[i].b, &b);
  bool enough = how == IOTA || (how == CLAMP ? two : one_will_do(how) ? one || two : one && two);
  return enough && by_rule(k, how, e, v, &a, &b) && (k->to->lo || k->to->hi) && fits(k, k->to->lo) &&
         fits(k, k->to->hi);
}

static int buffer_rank(ac_chk *c, const ac_kval *v) {
  return c->fn->f->buffers.data[v->buf]->rank;
}

static bool integers(ac_dtype d) {
  return ac_dtypes[d].cls == AC_SIGNED || ac_dtypes[d].cls == AC_UNSIGNED;
}

const ac_kspan *ac_chk_made(ac_chk *c, const ac_cexpr *e, const ac_sig *s, const ac_kval *v, ac_sym *count) {
  if (v[0].kind != AC_CT_BUFFER || bitcast(c, &v[0])) return NULL;
  ac_dtype d = buf_dtype(c, &v[0]);
  if (!integers(d)) return NULL;
  ac_kspan to = {0};
  making k = {c, d, count, &to};
  if (!make(&k, e, s, v)) return NULL;
  if (buffer_rank(c, &v[0]) > 1) to.first = to.step = NULL; /* rows of their own */
  ac_kspan *kept = AC_NEW(c->a, ac_kspan);
  *kept = to;
  return kept;
}

const ac_kspan *ac_chk_span_below(ac_chk *c, ac_sym *n) {
  ac_kspan *s = AC_NEW(c->a, ac_kspan);
  s->lo = number(c, 0);
  s->hi = ac_sy_sub(&c->s, n, number(c, 1));
  return s;
}

/* ---- in buffers ---- */

void ac_chk_spans(ac_chk *c, const ac_kval *v, const ac_kbuf *was, bool keep, const ac_kspan *made) {
  ac_kbuf *b = &c->st->bufs[v->buf];
  bool whole = !v->off && !v->len && !v->nd && !keep;
  b->span = NULL;
  if (!made || b->wrong || b->set == AC_UNSET) return;
  if (whole) {
    b->span = made;
    return;
  }
  ac_kspan both = *made;
  both.first = both.step = NULL; /* these count from the part's first element */
  if (was->set != AC_UNSET && !was->span) return;
  if (was->set != AC_UNSET)
    both = (ac_kspan){.lo = smaller(c, made->lo, was->span->lo), .hi = larger(c, made->hi, was->span->hi)};
  if ((!both.lo && !both.hi) || !same_conditions(c, &both, made) || !same_conditions(c, &both, was->span)) return;
  ac_kspan *kept = AC_NEW(c->a, ac_kspan);
  *kept = both;
  b->span = kept;
}

/* ---- what follows ---- */

static const char *bound_text(ac_chk *c, ac_sym *x) {
  return x ? ac_sy_text(&c->s, x) : "?";
}

/* The numbers that the span rests on are numbers of their dtype: a question of sizes, which the tiling code can ask. */
void ac_chk_unwrapped(ac_chk *c, const ac_kval *v, const ac_kspan *s, ac_loc loc) {
  for (int i = 0; i < s->n_if; i++) {
    ac_oblig o = {.x = s->if_[i][0], .y = s->if_[i][1], .code = AC0547, .loc = loc, .other = c->st->bufs[v->buf].loc};
    if (ac_chk_settled(c, &o)) continue;
    o.refuted = ac_sprintf(c->a, "what bounds the indices in '%s' does so only if %s <= %s",
                           ac_chk_buf_name(c, v->buf), ac_sy_text(&c->s, o.x), ac_sy_text(&c->s, o.y));
    o.unknown = ac_sprintf(c->a, "%s: that is not proved", o.refuted);
    o.help = "refuse such sizes in the host function: if n > 2147483647: tl.refuse(\"...\")";
    ac_chk_unsettled(c, o);
  }
}

ac_sym *ac_chk_element(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  ac_kspan s;
  ac_sym *x = ac_sy_fresh(&c->s, text(c, e));
  if (!ac_chk_span(c, v, NULL, &s)) return x;
  ac_sy_atom(&c->s, x)->slo = s.lo;
  ac_sy_atom(&c->s, x)->shi = s.hi;
  if (c->quiet) return x;
  ac_chk_unwrapped(c, v, &s, e->loc); /* else the bounds hold no more than these conditions */
  ac_cexpr *lo = s.hi ? ac_chk_write(c, s.lo, NULL, false) : NULL,
           *hi = lo ? ac_chk_write(c, s.hi, NULL, false) : NULL;
  if (hi) {
    e->between = AC_NEW_N(c->a, ac_cexpr *, 2);
    e->between[0] = lo;
    e->between[1] = hi;
  }
  return x;
}

/* x <= y, which is certain where it is open to be refuted. */
static void index_oblig(ac_chk *c, const ac_oblig *like, ac_sym *x, ac_sym *y, bool open, const char *unknown) {
  ac_oblig o = *like;
  if (!x || !y) return;
  o.x = x;
  o.y = y;
  o.open = open;
  o.sure = !unknown;
  o.unknown = unknown;
  if (!ac_chk_settled(c, &o)) ac_chk_unsettled(c, o);
}

void ac_chk_inside(ac_chk *c, const ac_kval *index, ac_sym *count, const char *source, ac_sym *n, ac_loc loc) {
  ac_kspan s;
  if (c->quiet || c->st->dead) return;
  bool known = ac_chk_span(c, index, count, &s);
  const char *name = ac_chk_buf_name(c, index->buf), *size = ac_sy_text(&c->s, n);
  ac_sym *zero = number(c, 0), *one = number(c, 1), *any = ac_sy_fresh(&c->s, name);
  ac_sym *behind_lo = plus(c, s.lo, one), *behind_hi = plus(c, s.hi, one);
  if (known) ac_chk_unwrapped(c, index, &s, loc);
  const char *outside = ac_sprintf(c->a, "the indices in '%s' are %s to %s; '%s' has %s elements", name,
                                   bound_text(c, s.lo), bound_text(c, s.hi), source, size);
  ac_oblig o = {.code = AC0546, .loc = loc, .other = c->st->bufs[index->buf].loc, .refuted = outside};
  o.help = ac_sprintf(c->a, "bring them inside: tl.vclamp(%s, %s, 0, %s - 1)", name, name, size);
  const char *open = ac_sprintf(c->a, "%s: that they lie inside is not proved", outside);
  if (s.step) { /* the least and the greatest are there */
    index_oblig(c, &o, zero, s.lo, false, open);
    index_oblig(c, &o, behind_hi, n, false, open);
    return;
  }
  if (!known)
    open = ac_sprintf(c->a,
                      "the indices in '%s' are data: that they lie inside of '%s', which has %s elements, is seen by "
                      "no check and no tiling code",
                      name, source, size);
  index_oblig(c, &o, zero, s.hi, false, NULL); /* all of them are outside */
  index_oblig(c, &o, behind_lo, n, false, NULL);
  bool below = !s.lo || !le(c, zero, s.lo);
  index_oblig(c, &o, zero, s.lo ? s.lo : any, true, open);
  if (!below || s.lo) index_oblig(c, &o, s.hi ? behind_hi : any, n, true, open);
}
