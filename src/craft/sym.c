/* Symbolic integers. */
#include "craft/sym.h"

#include <string.h>

void ac_syms_init(ac_syms *s, ac_arena *a) {
  *s = (ac_syms){.a = a, .fns = ac_map_new(a), .room = 256, .polys = AC_NEW_N(a, ac_sym *, 256), .version = 1};
}

/* ---- polynomials ---- */

static int term_cmp(const ac_sterm *x, const ac_sterm *y) {
  for (int i = 0; i < x->k && i < y->k; i++)
    if (x->atom[i] != y->atom[i]) return x->atom[i] < y->atom[i] ? -1 : 1;
  return x->k - y->k;
}

/* Terms are looked up all the time, so they are hashed as they are. */
static uint64_t hash_terms(const ac_sterm *t, int n) {
  uint64_t h = (uint64_t)n;
  for (int i = 0; i < n; i++) {
    h = (h ^ (uint64_t)t[i].c) * 0x9E3779B97F4A7C15u;
    for (int j = 0; j < t[i].k; j++) h = (h ^ (uint64_t)t[i].atom[j] ^ h >> 29) * 0xBF58476D1CE4E5B9u;
    h ^= h >> 31 ^ (uint64_t)t[i].k;
  }
  return h ^ h >> 32;
}

static bool same_terms(const ac_sym *x, const ac_sterm *t, int n) {
  if (x->n != n) return false;
  for (int i = 0; i < n; i++)
    if (x->t[i].c != t[i].c || term_cmp(&x->t[i], &t[i])) return false;
  return true;
}

/* Where a polynomial is, or would be. */
static ac_sym **slot(const ac_syms *s, const ac_sterm *t, int n) {
  for (size_t k = hash_terms(t, n);; k++) {
    ac_sym **at = &s->polys[k & (s->room - 1)];
    if (!*at || same_terms(*at, t, n)) return at;
  }
}

static void grow_table(ac_syms *s) {
  ac_sym **old = s->polys;
  size_t n = s->room;
  s->room *= 2;
  s->polys = AC_NEW_N(s->a, ac_sym *, s->room);
  for (size_t i = 0; i < n; i++)
    if (old[i]) *slot(s, old[i]->t, old[i]->n) = old[i];
}

static ac_sym *intern(ac_syms *s, const ac_sterm *t, int n) {
  ac_sym **at = slot(s, t, n);
  if (*at) return *at;
  if (2 * s->n_polys >= s->room) {
    grow_table(s);
    at = slot(s, t, n);
  }
  ac_sym *x = *at = ac_alloc(s->a, sizeof *x + (size_t)n * sizeof *t); /* the terms behind it */
  x->id = (int)s->n_polys++;
  x->n = n;
  x->t = (ac_sterm *)(x + 1);
  if (n) memcpy(x->t, t, (size_t)n * sizeof *t);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < t[i].k; j++)
      if (s->atoms.data[t[i].atom[j]].nested > x->nested) x->nested = s->atoms.data[t[i].atom[j]].nested;
  return x;
}

ac_sym *ac_sy_int(ac_syms *s, int64_t v) {
  bool small = v >= -1 && v <= 1;
  if (small && s->small[v + 1]) return s->small[v + 1];
  ac_sterm t = {.c = v};
  ac_sym *x = intern(s, &t, v != 0);
  if (small) s->small[v + 1] = x;
  return x;
}

ac_sym *ac_sy_of(ac_syms *s, int atom) {
  ac_sterm t = {.c = 1, .k = 1, .atom = {atom}};
  return intern(s, &t, 1);
}

static int new_atom(ac_syms *s, ac_satom a) {
  ac_push(s->a, &s->atoms, a);
  return (int)s->atoms.len - 1;
}

ac_sym *ac_sy_fresh(ac_syms *s, const char *label) {
  return ac_sy_of(s, new_atom(s, (ac_satom){.label = label, .fn = AC_SY_OPAQUE, .lo = INT64_MIN, .hi = INT64_MAX}));
}

ac_sym *ac_sy_named(ac_syms *s, const char *key, const char *label) {
  ac_sym *x = ac_map_get(s->fns, key);
  if (!x) ac_map_put(s->fns, key, x = ac_sy_fresh(s, label));
  return x;
}

ac_satom *ac_sy_atom(ac_syms *s, ac_sym *x) {
  return x->n == 1 && x->t[0].c == 1 && x->t[0].k == 1 ? &s->atoms.data[x->t[0].atom[0]] : NULL;
}

ac_satom *ac_sy_learn(ac_syms *s, ac_sym *x) {
  ac_satom *a = ac_sy_atom(s, x);
  if (a->seen) s->version++;
  return a;
}

ac_satom *ac_sy_limit(ac_syms *s, ac_sym *x, int64_t lo, int64_t hi) {
  ac_satom *a = ac_sy_atom(s, x);
  if (a->lo == lo && a->hi == hi) return a;
  a = ac_sy_learn(s, x);
  a->lo = lo;
  a->hi = hi;
  return a;
}

void ac_sy_at_least(ac_syms *s, ac_sym *x, int64_t lo) {
  (void)ac_sy_limit(s, x, lo, ac_sy_atom(s, x)->hi);
}

bool ac_sy_is_atom(const ac_sym *x, int atom) {
  return x->n == 1 && x->t[0].c == 1 && x->t[0].k == 1 && x->t[0].atom[0] == atom;
}

bool ac_sy_const(const ac_sym *x, int64_t *v) {
  if (x->n > 1 || (x->n == 1 && x->t[0].k)) return false;
  *v = x->n ? x->t[0].c : 0;
  return true;
}

ac_sym *ac_sy_add(ac_syms *s, ac_sym *x, ac_sym *y) {
  if (!x->n) return y;
  if (!y->n) return x;
  if (x->n + y->n > AC_SYM_TERMS) return ac_sy_fresh(s, "a long sum");
  ac_sterm t[AC_SYM_TERMS];
  int n = 0, i = 0, j = 0;
  while (i < x->n || j < y->n) {
    int c = i == x->n ? 1 : j == y->n ? -1 : term_cmp(&x->t[i], &y->t[j]);
    t[n] = c <= 0 ? x->t[i] : y->t[j];
    if (c == 0 && __builtin_add_overflow(x->t[i].c, y->t[j].c, &t[n].c)) return ac_sy_fresh(s, "an overflow");
    i += c <= 0;
    j += c >= 0;
    n += t[n].c != 0;
  }
  return intern(s, t, n);
}

static bool mul_terms(const ac_sterm *x, const ac_sterm *y, ac_sterm *out) {
  if (x->k + y->k > AC_SYM_DEGREE || __builtin_mul_overflow(x->c, y->c, &out->c)) return false;
  int i = 0, j = 0;
  out->k = 0;
  memset(out->atom, 0, sizeof out->atom);
  while (i < x->k || j < y->k)
    out->atom[out->k++] = j == y->k || (i < x->k && x->atom[i] <= y->atom[j]) ? x->atom[i++] : y->atom[j++];
  return true;
}

ac_sym *ac_sy_mul(ac_syms *s, ac_sym *x, ac_sym *y) {
  ac_sym *r = ac_sy_int(s, 0);
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < y->n; j++) {
      ac_sterm t = {0};
      if (!mul_terms(&x->t[i], &y->t[j], &t)) return ac_sy_fresh(s, "a long product");
      r = ac_sy_add(s, r, intern(s, &t, 1));
    }
  return r;
}

ac_sym *ac_sy_sub(ac_syms *s, ac_sym *x, ac_sym *y) {
  if (!y->minus) y->minus = ac_sy_mul(s, y, ac_sy_int(s, -1));
  return ac_sy_add(s, x, y->minus);
}

/* ---- functions ---- */

int64_t ac_sy_floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static bool fold(ac_symfn fn, int64_t a, int64_t b, int64_t *r) {
  if (fn == AC_SY_MIN || fn == AC_SY_MAX) {
    *r = (a < b) == (fn == AC_SY_MIN) ? a : b;
    return true;
  }
  if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
  if (fn == AC_SY_FLOORDIV) *r = ac_sy_floor_div(a, b);
  if (fn == AC_SY_CDIV) {
    if (a == INT64_MIN) return false;
    *r = -ac_sy_floor_div(-a, b);
  }
  if (fn == AC_SY_MOD) *r = a - ac_sy_floor_div(a, b) * b;
  return true;
}

ac_sym *ac_sy_divide(ac_syms *s, ac_sym *x, ac_sym *y) {
  if (y->n != 1) return NULL;
  const ac_sterm *d = &y->t[0];
  ac_sym *r = ac_sy_int(s, 0);
  for (int i = 0; i < x->n; i++) {
    ac_sterm t = {0};
    if (x->t[i].c % d->c) return NULL;
    t.c = x->t[i].c / d->c;
    int j = 0;
    for (int k = 0; k < x->t[i].k; k++) {
      if (j < d->k && x->t[i].atom[k] == d->atom[j])
        j++;
      else
        t.atom[t.k++] = x->t[i].atom[k];
    }
    if (j < d->k) return NULL;
    r = ac_sy_add(s, r, intern(s, &t, 1));
  }
  return r;
}

static bool has_min_max_arg(ac_syms *s, ac_symfn fn, ac_sym *x, ac_sym *y) {
  ac_satom *a = ac_sy_atom(s, x);
  return a && a->fn == fn &&
         (a->a == y || a->b == y || has_min_max_arg(s, fn, a->a, y) || has_min_max_arg(s, fn, a->b, y));
}

ac_sym *ac_sy_fn(ac_syms *s, ac_symfn fn, ac_sym *x, ac_sym *y) {
  int64_t a, b, r = 0;
  bool ca = ac_sy_const(x, &a), cb = ac_sy_const(y, &b);
  if (ca && cb && fold(fn, a, b, &r)) return ac_sy_int(s, r);
  bool lattice = fn == AC_SY_MIN || fn == AC_SY_MAX;
  if (lattice && (x == y || has_min_max_arg(s, fn, x, y))) return x;
  if (lattice && has_min_max_arg(s, fn, y, x)) return y;
  if (!lattice && cb && b == 1) return fn == AC_SY_MOD ? ac_sy_int(s, 0) : x;
  if ((fn == AC_SY_FLOORDIV || fn == AC_SY_CDIV) && cb && b != 0 && !(b == -1)) {
    ac_sym *q = ac_sy_divide(s, x, y); /* a multiple of a constant divides exactly */
    if (q) return q;
    int64_t rest =
        x->n && x->t[0].k == 0 ? x->t[0].c : 0; /* so does one with a constant rest, which divides by itself */
    if (b > 1 && rest && x->n > 1 && fold(fn, rest, b, &r)) {
      q = ac_sy_divide(s, ac_sy_sub(s, x, ac_sy_int(s, rest)), y);
      if (q) return ac_sy_add(s, q, ac_sy_int(s, r));
    }
  }
  if ((fn == AC_SY_FLOORDIV || fn == AC_SY_CDIV) && !cb && ac_sy_range(s, y, NULL).lo >= 1) {
    ac_sym *q = ac_sy_divide(s, x, y);
    if (q) return q;
  }
  if (fn == AC_SY_MOD && cb && b > 0 && ac_sy_divide(s, x, y)) return ac_sy_int(s, 0);
  if (lattice && y->id < x->id) { /* one order of the arguments */
    ac_sym *t = x;
    x = y;
    y = t;
  }
  if (fn == AC_SY_FLOORDIV) { /* (x + y - 1) // y is cdiv(x, y), unless y is negative */
    ac_sym *z = ac_sy_add(s, ac_sy_sub(s, x, y), ac_sy_int(s, 1));
    if (cb ? b > 1 && x->n && x->t[0].k == 0 && x->t[0].c == b - 1 : x->n > z->n && ac_sy_range(s, y, NULL).lo >= 0)
      return ac_sy_fn(s, AC_SY_CDIV, z, y);
  }
  const char *key = ac_sprintf(s->a, "%d(%d,%d)", fn, x->id, y->id);
  ac_sym *z = ac_map_get(s->fns, key);
  if (z) return z;
  int nested = 1 + (x->nested > y->nested ? x->nested : y->nested);
  if (nested > AC_SYM_NESTED) return ac_sy_fresh(s, "a long chain");
  z = ac_sy_of(s,
               new_atom(s, (ac_satom){.fn = fn, .a = x, .b = y, .lo = INT64_MIN, .hi = INT64_MAX, .nested = nested}));
  ac_map_put(s->fns, key, z);
  return z;
}

/* ---- text ---- */

static void put_sym(ac_syms *s, ac_buf *b, const ac_sym *x);

static void put_atom(ac_syms *s, ac_buf *b, int i, bool factor) {
  static const char *const names[] = {"min", "max", " // ", "tl.cdiv", " % "};
  const ac_satom *a = &s->atoms.data[i];
  if (a->fn == AC_SY_OPAQUE) {
    ac_puts(b, a->label);
    return;
  }
  bool infix = a->fn == AC_SY_FLOORDIV || a->fn == AC_SY_MOD;
  if (!infix) ac_puts(b, names[a->fn]);
  if (!infix || factor) ac_puts(b, "(");
  bool sum_a = infix && a->a->n != 1, sum_b = infix && (a->b->n != 1 || a->b->t[0].k + (a->b->t[0].c != 1) > 1);
  ac_puts(b, sum_a ? "(" : "");
  put_sym(s, b, a->a);
  ac_puts(b, sum_a ? ")" : "");
  ac_puts(b, infix ? names[a->fn] : ", ");
  ac_puts(b, sum_b ? "(" : "");
  put_sym(s, b, a->b);
  ac_puts(b, sum_b ? ")" : "");
  if (!infix || factor) ac_puts(b, ")");
}

static void put_term(ac_syms *s, ac_buf *b, const ac_sterm *t, bool first) {
  bool minus = t->c < 0;
  ac_puts(b, first ? (minus ? "-" : "") : minus ? " - " : " + ");
  uint64_t c = minus ? 0 - (uint64_t)t->c : (uint64_t)t->c;
  for (int j = 0; j < t->k; j++) {
    if (j) ac_puts(b, " * ");
    put_atom(s, b, t->atom[j], t->k > 1 || c != 1);
  }
  if (c != 1 || !t->k) ac_printf(b, "%s%llu", t->k ? " * " : "", (unsigned long long)c);
}

static void put_sym(ac_syms *s, ac_buf *b, const ac_sym *x) {
  if (!x->n) ac_puts(b, "0");
  bool first = true;
  for (int pass = 0; pass < 2; pass++) /* positive terms first, and the constant last of each */
    for (int i = 0; i < x->n; i++) {
      const ac_sterm *t = &x->t[i];
      if ((t->c < 0) != (pass == 1) || !t->k) continue;
      put_term(s, b, t, first);
      first = false;
    }
  if (x->n && !x->t[0].k) put_term(s, b, &x->t[0], first);
}

char *ac_sy_text(ac_syms *s, const ac_sym *x) {
  ac_buf b;
  ac_buf_init(&b, s->a);
  put_sym(s, &b, x);
  return ac_strdup(s->a, ac_buf_str(&b));
}

/* ---- binding ---- */

ac_sym *ac_sy_replace(ac_syms *s, ac_sym *x, ac_sym *(*of)(ac_syms *s, int atom, void *user), void *user) {
  ac_sym *r = ac_sy_int(s, 0);
  for (int i = 0; i < x->n; i++) {
    ac_sym *t = ac_sy_int(s, x->t[i].c);
    for (int j = 0; j < x->t[i].k; j++) t = ac_sy_mul(s, t, of(s, x->t[i].atom[j], user));
    r = ac_sy_add(s, r, t);
  }
  return r;
}

static ac_sym *bind_atom(ac_syms *s, int i, void *user) {
  (void)user;
  ac_satom a = s->atoms.data[i];
  if (a.bound) return a.bound;
  if (a.fn == AC_SY_OPAQUE) return ac_sy_of(s, i);
  ac_sym *x = ac_sy_bind(s, a.a), *y = ac_sy_bind(s, a.b);
  return x == a.a && y == a.b ? ac_sy_of(s, i) : ac_sy_fn(s, a.fn, x, y);
}

ac_sym *ac_sy_bind(ac_syms *s, ac_sym *x) {
  return ac_sy_replace(s, x, bind_atom, NULL);
}

/* ---- ranges: INT64_MIN and INT64_MAX stand for no bound ---- */

static int64_t sat_add(int64_t a, int64_t b, bool low) {
  int64_t none = low ? INT64_MIN : INT64_MAX, r;
  if (a == none || b == none) return none;
  if (__builtin_add_overflow(a, b, &r)) return none;
  return r;
}

static int64_t sat_mul(int64_t a, int64_t b) {
  int64_t r;
  if (a == 0 || b == 0) return 0;
  bool neg = (a < 0) != (b < 0);
  if (a == INT64_MIN || b == INT64_MIN || a == INT64_MAX || b == INT64_MAX || __builtin_mul_overflow(a, b, &r))
    return neg ? INT64_MIN : INT64_MAX;
  return r;
}

static ac_range range_mul(ac_range x, ac_range y) {
  int64_t v[4] = {sat_mul(x.lo, y.lo), sat_mul(x.lo, y.hi), sat_mul(x.hi, y.lo), sat_mul(x.hi, y.hi)};
  ac_range r = {v[0], v[0]};
  for (int i = 1; i < 4; i++) {
    if (v[i] < r.lo) r.lo = v[i];
    if (v[i] > r.hi) r.hi = v[i];
  }
  return r;
}

static ac_range range_div(ac_range x, ac_range y, bool up) {
  ac_range r = {INT64_MIN, INT64_MAX};
  if (y.lo < 1) return r;
  int64_t add = up ? 1 : 0; /* ceil is floor or floor + 1: bounds may be one too wide, never too narrow */
  int64_t dlo = x.lo >= 0 ? y.hi : y.lo, dhi = x.hi >= 0 ? y.lo : y.hi;
  if (x.lo != INT64_MIN) {
    r.lo = ac_sy_floor_div(x.lo, dlo);
    if (up && y.lo == y.hi && x.lo % dlo) r.lo++;
    if (up && x.lo >= 1 && r.lo < 1) r.lo = 1;
  }
  if (x.hi != INT64_MAX) {
    r.hi = ac_sy_floor_div(x.hi, dhi);
    if (x.hi % dhi) r.hi += add;
  }
  return r;
}

static ac_range atom_range(ac_syms *s, int i, const ac_fact *f, int depth);

static ac_range clip(ac_range r, ac_range by) {
  if (by.lo > r.lo) r.lo = by.lo;
  if (by.hi < r.hi) r.hi = by.hi;
  return r;
}

/* Facts about this very product: c * m + k >= 0. */
static ac_range by_facts(const ac_sterm *m, const ac_fact *f) {
  ac_range r = {INT64_MIN, INT64_MAX};
  for (; f; f = f->next) {
    const ac_sym *p = f->p;
    if (p->n < 1 || p->n > 2) continue;
    const ac_sterm *t = &p->t[p->n - 1];
    int64_t k = p->n == 2 ? p->t[0].c : 0;
    if ((p->n == 2 && p->t[0].k) || !t->k || term_cmp(t, m) || k == INT64_MIN || t->c == INT64_MIN) continue;
    if (t->c > 0)
      r = clip(r, (ac_range){-ac_sy_floor_div(k, t->c), INT64_MAX}); /* m >= -k/c */
    else
      r = clip(r, (ac_range){INT64_MIN, ac_sy_floor_div(k, -t->c)});
  }
  return r;
}

static ac_range times(ac_range r, int64_t c) {
  int64_t a = sat_mul(r.lo, c), b = sat_mul(r.hi, c);
  return a < b ? (ac_range){a, b} : (ac_range){b, a};
}

static struct ac_sknown *known(ac_syms *s, ac_satom *a) {
  a->seen = true;
  if (!a->known) {
    a->known = AC_NEW(s->a, struct ac_sknown);
    a->known->by_facts = -1;
  }
  return a->known;
}

static ac_range atom_by_facts(ac_syms *s, int i, const ac_fact *f) {
  struct ac_sknown *k = known(s, &s->atoms.data[i]);
  int id = f ? f->id : 0;
  if (k->by_facts != id) {
    ac_sterm m = {.c = 1, .k = 1, .atom = {i}};
    k->by_facts = id;
    k->by = by_facts(&m, f);
  }
  return k->by;
}

static ac_range term_range(ac_syms *s, const ac_sterm *t, const ac_fact *f, int depth) {
  if (!t->k) return (ac_range){t->c, t->c};
  if (t->k == 1)
    return times(clip(times(atom_range(s, t->atom[0], f, depth), 1), atom_by_facts(s, t->atom[0], f)), t->c);
  ac_range r = {1, 1};
  for (int j = 0; j < t->k; j++) r = range_mul(r, atom_range(s, t->atom[j], f, depth));
  return times(clip(r, by_facts(t, f)), t->c);
}

static ac_range poly_range(ac_syms *s, const ac_sym *x, const ac_fact *f, int depth) {
  ac_range r = {0, 0};
  if (depth <= 0) return x->n ? (ac_range){INT64_MIN, INT64_MAX} : r;
  for (int i = 0; i < x->n; i++) {
    ac_range t = term_range(s, &x->t[i], f, depth);
    r.lo = sat_add(r.lo, t.lo, true);
    r.hi = sat_add(r.hi, t.hi, false);
  }
  return r;
}

static ac_range fn_range(ac_syms *s, const ac_satom *a, const ac_fact *f, int depth) {
  ac_range x = poly_range(s, a->a, f, depth), y = poly_range(s, a->b, f, depth), r = {INT64_MIN, INT64_MAX};
  switch (a->fn) {
  case AC_SY_MIN: return (ac_range){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
  case AC_SY_MAX: return (ac_range){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
  case AC_SY_FLOORDIV: return range_div(x, y, false);
  case AC_SY_CDIV: return range_div(x, y, true);
  case AC_SY_MOD:
    if (y.lo >= 1) {
      r.lo = 0;
      r.hi = y.hi == INT64_MAX ? y.hi : y.hi - 1;
      if (x.lo >= 0 && x.hi < r.hi) r.hi = x.hi;
    }
    return r;
  default: return r;
  }
}

static ac_range atom_range_anew(ac_syms *s, int i, const ac_fact *f, int depth) {
  const ac_satom *a = &s->atoms.data[i]; /* no atom is made on the way */
  ac_range r = {a->lo, a->hi};
  if (a->bound) return poly_range(s, a->bound, f, depth - 1);
  if (a->fn != AC_SY_OPAQUE) r = clip(r, fn_range(s, a, f, depth - 1));
  if (a->slo) r = clip(r, (ac_range){poly_range(s, a->slo, f, depth - 1).lo, INT64_MAX});
  if (a->shi) r = clip(r, (ac_range){INT64_MIN, poly_range(s, a->shi, f, depth - 1).hi});
  return clip(r, atom_by_facts(s, i, f));
}

enum { DEPTH = 8, BUDGET = 500 };

static ac_range atom_range(ac_syms *s, int i, const ac_fact *f, int depth) {
  ac_satom *a = &s->atoms.data[i];
  a->seen = true;
  if (s->budget-- <= 0 || depth <= 0) return (ac_range){a->lo, a->hi};
  struct ac_sknown *k = known(s, a);
  int facts = f ? f->id : 0, before = s->budget;
  bool same = k->at[depth].version == s->version && k->at[depth].facts == facts;
  if (same && before >= k->at[depth].used) {
    s->budget -= k->at[depth].used;
    return k->at[depth].r;
  }
  ac_range r = atom_range_anew(s, i, f, depth);
  if (s->budget < 0) return r; /* cut short */
  k->at[depth].version = s->version;
  k->at[depth].facts = facts;
  k->at[depth].used = before - s->budget;
  k->at[depth].r = r;
  return r;
}

ac_range ac_sy_range(ac_syms *s, ac_sym *x, const ac_fact *f) {
  s->budget = BUDGET;
  ac_range r = poly_range(s, x, f, DEPTH);
  if (r.lo > r.hi) r = (ac_range){INT64_MIN, INT64_MAX}; /* contradictory facts: dead code */
  return r;
}

/* ---- the prover ---- */

struct ac_slist {
  int p, next, id;
};

static struct ac_slist *list_slot(ac_syms *s, int p, int next) {
  for (size_t k = ((uint64_t)p * 0x9E3779B97F4A7C15u ^ (uint64_t)next * 0xBF58476D1CE4E5B9u) >> 20;; k++) {
    struct ac_slist *at = &s->lists[k & (s->list_room - 1)];
    if (!at->id || (at->p == p && at->next == next)) return at;
  }
}

/* The number of the list that begins with p and goes on with the list `next`. */
static int list_id(ac_syms *s, int p, int next) {
  if (2 * (s->n_lists + 1) >= s->list_room) {
    struct ac_slist *old = s->lists;
    size_t n = s->list_room;
    s->list_room = n ? 2 * n : 64;
    s->lists = AC_NEW_N(s->a, struct ac_slist, s->list_room);
    for (size_t i = 0; i < n; i++)
      if (old[i].id) *list_slot(s, old[i].p, old[i].next) = old[i];
  }
  struct ac_slist *at = list_slot(s, p, next);
  if (!at->id) *at = (struct ac_slist){p, next, (int)++s->n_lists};
  return at->id;
}

const ac_fact *ac_sy_assume(ac_syms *s, const ac_fact *f, ac_sym *nonneg) {
  ac_fact *n = AC_NEW(s->a, ac_fact);
  *n = (ac_fact){nonneg, f, f ? f->len + 1 : 1, list_id(s, nonneg->id, f ? f->id : 0)};
  return n;
}

static bool prove(ac_syms *s, ac_sym *x, const ac_fact *f, int depth);

/* x with term i replaced by its coefficient times y. */
static ac_sym *replace(ac_syms *s, ac_sym *x, int i, ac_sym *y) {
  ac_sym *t = intern(s, &x->t[i], 1);
  return ac_sy_add(s, ac_sy_sub(s, x, t), ac_sy_mul(s, ac_sy_int(s, x->t[i].c), y));
}

/* A term c * atom: x is at least x with the atom replaced by a bound of it. */
static bool prove_by_term(ac_syms *s, ac_sym *x, int i, const ac_fact *f, int depth) {
  const ac_sterm t = x->t[i];
  ac_satom a = s->atoms.data[t.atom[0]];
  if (a.bound) return false; /* bound before */
  if (a.fn == AC_SY_MIN || a.fn == AC_SY_MAX) {
    bool either = (t.c < 0) == (a.fn == AC_SY_MIN);
    bool first = prove(s, replace(s, x, i, a.a), f, depth - 1);
    if (first == either) return first;
    return prove(s, replace(s, x, i, a.b), f, depth - 1);
  }
  ac_sym *to = t.c > 0 ? a.slo : a.shi;
  return to && prove(s, replace(s, x, i, ac_sy_bind(s, to)), f, depth - 1);
}

/* A term with x // y or cdiv(x, y) times y: bounded by x, x - y + 1 and x + y - 1. */
static bool prove_by_quotient(ac_syms *s, ac_sym *x, int i, const ac_fact *f, int depth) {
  const ac_sterm t = x->t[i];
  for (int j = 0; j < t.k; j++) {
    ac_satom a = s->atoms.data[t.atom[j]];
    if ((a.fn != AC_SY_FLOORDIV && a.fn != AC_SY_CDIV) || a.bound) continue;
    ac_sterm rest = t;
    memmove(&rest.atom[j], &rest.atom[j + 1], (size_t)(t.k - 1 - j) * sizeof rest.atom[0]);
    rest.atom[--rest.k] = 0;
    ac_sym *q = ac_sy_divide(s, intern(s, &rest, 1), a.b);
    ac_range y = poly_range(s, a.b, f, 4), m = q ? poly_range(s, q, f, 4) : y;
    if (!q || y.lo < 1 || (m.lo < 0 && m.hi > 0)) continue;
    bool up = a.fn == AC_SY_CDIV, positive = m.lo >= 0;
    ac_sym *to = a.a, *slack = ac_sy_sub(s, a.b, ac_sy_int(s, 1));
    if (up && !positive) to = ac_sy_add(s, to, slack);
    if (!up && positive) to = ac_sy_sub(s, to, slack);
    ac_sym *less = ac_sy_add(s, ac_sy_sub(s, x, intern(s, &t, 1)), ac_sy_mul(s, q, to));
    if (prove(s, less, f, depth - 1)) return true;
  }
  return false;
}

static bool prove_anew(ac_syms *s, ac_sym *x, const ac_fact *f, int depth) {
  ac_range r = poly_range(s, x, f, depth < 4 ? 4 : depth);
  if (r.lo >= 0 && r.lo <= r.hi) return true;
  if (depth <= 0) return false;
  for (int i = 0; i < x->n; i++)
    if (x->t[i].k == 1 && prove_by_term(s, x, i, f, depth)) return true;
  for (int i = 0; i < x->n; i++)
    if (prove_by_quotient(s, x, i, f, depth)) return true;
  for (const ac_fact *g = f; g; g = g->next)
    if (depth > 1 && g->p->n && prove(s, ac_sy_sub(s, x, g->p), f, depth > 3 ? 3 : depth - 1)) return true;
  return false;
}

static bool prove(ac_syms *s, ac_sym *x, const ac_fact *f, int depth) {
  int64_t v;
  if (ac_sy_const(x, &v)) return v >= 0;
  if (s->budget-- <= 0) return false;
  int facts = f ? f->id : 0, before = s->budget;
  if (!s->tried) s->tried = AC_NEW_N(s->a, ac_stried, AC_SYM_TRIED);
  ac_stried *t = &s->tried[((unsigned)x->id * 31u + (unsigned)facts * 7u + (unsigned)depth) % AC_SYM_TRIED];
  if (t->version == s->version && t->x == x->id && t->facts == facts && t->depth == depth && before >= t->used) {
    s->budget -= t->used;
    return t->yes;
  }
  bool yes = prove_anew(s, x, f, depth);
  if (s->budget >= 0) *t = (ac_stried){s->version, x->id, facts, depth, before - s->budget, yes}; /* not cut short */
  return yes;
}

bool ac_sy_nonneg(ac_syms *s, ac_sym *x, const ac_fact *f) {
  s->budget = BUDGET;
  return prove(s, ac_sy_bind(s, x), f, 5);
}

bool ac_sy_le(ac_syms *s, ac_sym *x, ac_sym *y, const ac_fact *f) {
  return ac_sy_nonneg(s, ac_sy_sub(s, y, x), f);
}
