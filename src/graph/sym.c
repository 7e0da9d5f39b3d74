/* Symbolic integers: polynomials with integer coefficients over atoms (variables, floor divisions, remainders, minima, maxima).
 *
 * Every ac_sym is interned, so that equal expressions are one pointer. The tree that others see is read off the polynomial in a
 * fixed order, which makes the form canonical: it does not depend on how an expression came about. */
#include "graph/internal.h"

#include <string.h>

typedef struct {
  int64_t c;
  int n; /* factors: atoms in order, repeated for powers */
  const ac_sym **f;
} mono;
typedef struct {
  int n; /* no zero coefficients; in the order of mono_cmp */
  mono *m;
} poly;
typedef struct ac_isym {
  ac_sym s;
  poly p;
  uint64_t hash;
  const ac_sym *resolved; /* valid at `epoch` */
  int epoch;
} isym;

static const poly *poly_of(const ac_sym *s) {
  return &((const isym *)s)->p;
}

/* ---- order ---- */

static int kind_rank(ac_symkind k) {
  static const int rank[] = {[AC_SYM_CONST] = 0, [AC_SYM_VAR] = 1, [AC_SYM_FLOORDIV] = 2, [AC_SYM_MOD] = 3,
                             [AC_SYM_MIN] = 4,   [AC_SYM_MAX] = 5, [AC_SYM_MUL] = 6,      [AC_SYM_ADD] = 7};
  return rank[k];
}

static int sym_cmp(const ac_sym *x, const ac_sym *y) {
  if (x == y) return 0;
  if (x->kind != y->kind) return kind_rank(x->kind) - kind_rank(y->kind);
  if (x->kind == AC_SYM_CONST) return x->example < y->example ? -1 : 1;
  if (x->kind == AC_SYM_VAR) return x->var - y->var;
  int c = sym_cmp(x->a, y->a);
  return c ? c : sym_cmp(x->b, y->b);
}

static int mono_cmp(const mono *x, const mono *y) {
  if (x->n != y->n) return y->n - x->n; /* higher degree first, the constant last */
  for (int i = 0; i < x->n; i++) {
    int c = sym_cmp(x->f[i], y->f[i]);
    if (c) return c;
  }
  return 0;
}

/* ---- interning ---- */

static uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

static uint64_t hash_of(const ac_sym *s) {
  uint64_t h = mix(1, (uint64_t)s->kind);
  if (s->kind == AC_SYM_CONST) return mix(h, (uint64_t)s->example);
  if (s->kind == AC_SYM_VAR) return mix(h, (uint64_t)s->var);
  return mix(mix(h, (uint64_t)(uintptr_t)s->a), (uint64_t)(uintptr_t)s->b);
}

static bool same(const ac_sym *x, const ac_sym *y) {
  return x->kind == y->kind && x->var == y->var && x->a == y->a && x->b == y->b &&
         (x->kind != AC_SYM_CONST || x->example == y->example);
}

static void table_add(struct ac_graph_private *pr, isym *s) {
  size_t i = s->hash & (pr->n_slots - 1);
  while (pr->slots[i]) i = (i + 1) & (pr->n_slots - 1);
  pr->slots[i] = s;
}

static void table_grow(ac_graph *g) {
  struct ac_graph_private *pr = g->priv;
  if (pr->n_syms * 2 < pr->n_slots) return;
  isym **old = pr->slots;
  size_t n = pr->n_slots;
  pr->n_slots = n ? n * 2 : 256;
  pr->slots = AC_NEW_N(g->arena, isym *, pr->n_slots);
  for (size_t i = 0; i < n; i++)
    if (old[i]) table_add(pr, old[i]);
}

/* The interned form of s; its polynomial is p when it is new (p.n < 0: the symbol is an atom of its own). */
static const ac_sym *intern(ac_graph *g, ac_sym s, poly p) {
  struct ac_graph_private *pr = g->priv;
  table_grow(g);
  uint64_t h = hash_of(&s);
  for (size_t i = h & (pr->n_slots - 1); pr->slots[i]; i = (i + 1) & (pr->n_slots - 1))
    if (pr->slots[i]->hash == h && same(&pr->slots[i]->s, &s)) return &pr->slots[i]->s;
  isym *x = AC_NEW(g->arena, isym);
  x->s = s;
  x->hash = h;
  x->p = p;
  if (p.n < 0) {
    mono *m = AC_NEW(g->arena, mono);
    m->c = m->n = 1;
    m->f = AC_NEW_N(g->arena, const ac_sym *, 1);
    m->f[0] = &x->s;
    x->p = (poly){1, m};
  }
  pr->n_syms++;
  table_add(pr, x);
  return &x->s;
}

static const poly atom_poly = {-1, NULL};

const ac_sym *ac_sym_int(ac_graph *g, int64_t v) {
  poly p = {0, NULL};
  if (v) {
    p.n = 1;
    p.m = AC_NEW(g->arena, mono);
    p.m->c = v;
  }
  return intern(g, (ac_sym){.kind = AC_SYM_CONST, .example = v}, p);
}

const ac_sym *ac_sym_fresh(ac_graph *g, int64_t example, int input, int dim) {
  int var = (int)g->vars.len;
  ac_symvar v = {ac_sprintf(g->arena, "s%d", var), example, input, dim};
  ac_push(g->arena, &g->vars, v);
  ac_push(g->arena, &g->priv->subst, NULL);
  ac_push(g->arena, &g->priv->lo, dim >= 0 ? 0 : INT64_MIN);
  ac_push(g->arena, &g->priv->hi, INT64_MAX);
  return intern(g, (ac_sym){.kind = AC_SYM_VAR, .example = example, .var = var}, atom_poly);
}

const ac_sym *ac_sym_var(ac_graph *g, int var) {
  return intern(g, (ac_sym){.kind = AC_SYM_VAR, .example = g->vars.data[var].example, .var = var}, atom_poly);
}

/* ---- polynomials -> trees ---- */

/* The product of a monomial; NULL when its example overflows. */
static const ac_sym *mono_tree(ac_graph *g, const mono *m) {
  const ac_sym *acc = NULL;
  if (m->n == 0 || m->c != 1) acc = ac_sym_int(g, m->c);
  for (int i = 0; i < m->n; i++) {
    if (!acc) {
      acc = m->f[i];
      continue;
    }
    int64_t ex;
    if (__builtin_mul_overflow(acc->example, m->f[i]->example, &ex)) return NULL;
    mono *prefix = AC_NEW(g->arena, mono);
    *prefix = (mono){m->c, i + 1, m->f};
    acc = intern(g, (ac_sym){.kind = AC_SYM_MUL, .example = ex, .a = acc, .b = m->f[i]}, (poly){1, prefix});
  }
  return acc;
}

static const ac_sym *poly_tree(ac_graph *g, poly p) {
  if (!p.n) return ac_sym_int(g, 0);
  const ac_sym *acc = mono_tree(g, &p.m[0]);
  for (int i = 1; acc && i < p.n; i++) {
    const ac_sym *t = mono_tree(g, &p.m[i]);
    int64_t ex;
    if (!t || __builtin_add_overflow(acc->example, t->example, &ex)) return NULL;
    acc = intern(g, (ac_sym){.kind = AC_SYM_ADD, .example = ex, .a = acc, .b = t}, (poly){i + 1, p.m});
  }
  return acc;
}

/* ---- arithmetic on polynomials; false: a coefficient overflows ---- */

/* a + k * b */
static bool poly_add(ac_graph *g, const poly *a, const poly *b, int64_t k, poly *out) {
  mono *m = AC_NEW_N(g->arena, mono, a->n + b->n);
  int n = 0, i = 0, j = 0;
  while (i < a->n || j < b->n) {
    int c = i == a->n ? 1 : j == b->n ? -1 : mono_cmp(&a->m[i], &b->m[j]);
    mono x = c <= 0 ? a->m[i] : b->m[j];
    if (c <= 0) i++;
    if (c >= 0) {
      int64_t v;
      if (__builtin_mul_overflow(b->m[j].c, k, &v)) return false;
      if (c > 0)
        x.c = v;
      else if (__builtin_add_overflow(x.c, v, &x.c))
        return false;
      j++;
    }
    if (x.c) m[n++] = x;
  }
  *out = (poly){n, m};
  return true;
}

static bool mono_mul(ac_graph *g, const mono *a, const mono *b, mono *out) {
  if (__builtin_mul_overflow(a->c, b->c, &out->c)) return false;
  out->n = a->n + b->n;
  out->f = AC_NEW_N(g->arena, const ac_sym *, out->n);
  for (int i = 0, j = 0, n = 0; n < out->n; n++)
    out->f[n] = j == b->n || (i < a->n && sym_cmp(a->f[i], b->f[j]) <= 0) ? a->f[i++] : b->f[j++];
  return true;
}

static bool poly_mul(ac_graph *g, const poly *a, const poly *b, poly *out) {
  *out = (poly){0, NULL};
  for (int i = 0; i < a->n; i++) {
    /* a product with one monomial keeps the order within equal degrees only: add term by term */
    for (int j = 0; j < b->n; j++) {
      mono m;
      if (!mono_mul(g, &a->m[i], &b->m[j], &m)) return false;
      mono *keep = AC_NEW(g->arena, mono);
      *keep = m;
      poly one = {1, keep};
      if (!poly_add(g, out, &one, 1, out)) return false;
    }
  }
  return true;
}

/* m / d where d divides it exactly (its coefficient and every factor). */
static bool mono_div(ac_graph *g, const mono *m, const mono *d, mono *out) {
  if (!d->c || (d->c == -1 && m->c == INT64_MIN) || m->c % d->c || d->n > m->n) return false;
  *out = (mono){m->c / d->c, 0, AC_NEW_N(g->arena, const ac_sym *, m->n)};
  int j = 0;
  for (int i = 0; i < m->n; i++) {
    if (j < d->n && m->f[i] == d->f[j])
      j++;
    else
      out->f[out->n++] = m->f[i];
  }
  return j == d->n;
}

/* p = q * d + r with a monomial d: what d divides goes to q. */
static void poly_split(ac_graph *g, const poly *p, const mono *d, poly *q, poly *r) {
  q->m = AC_NEW_N(g->arena, mono, p->n);
  r->m = AC_NEW_N(g->arena, mono, p->n);
  q->n = r->n = 0;
  for (int i = 0; i < p->n; i++) {
    mono m;
    if (mono_div(g, &p->m[i], d, &m))
      q->m[q->n++] = m;
    else
      r->m[r->n++] = p->m[i];
  }
  /* dividing by one monomial keeps degree order but may disturb it among equals: sort by insertion (short lists) */
  for (int i = 1; i < q->n; i++)
    for (int j = i; j > 0 && mono_cmp(&q->m[j - 1], &q->m[j]) > 0; j--) {
      mono t = q->m[j];
      q->m[j] = q->m[j - 1];
      q->m[j - 1] = t;
    }
}

static int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* As poly_split for a constant: coefficients c = q * k + r with 0 <= r < k. */
static void poly_split_const(ac_graph *g, const poly *p, int64_t k, poly *q, poly *r) {
  q->m = AC_NEW_N(g->arena, mono, p->n);
  r->m = AC_NEW_N(g->arena, mono, p->n);
  q->n = r->n = 0;
  for (int i = 0; i < p->n; i++) {
    int64_t f = floor_div(p->m[i].c, k), rest = p->m[i].c - f * k;
    if (f) q->m[q->n++] = (mono){f, p->m[i].n, p->m[i].f};
    if (rest) r->m[r->n++] = (mono){rest, p->m[i].n, p->m[i].f};
  }
}

/* ---- ranges ---- */

typedef struct {
  int64_t lo, hi; /* INT64_MIN and INT64_MAX stand for no bound */
} range;

__extension__ typedef __int128 wide;

static int64_t clamp128(wide v) {
  return v < INT64_MIN ? INT64_MIN : v > INT64_MAX ? INT64_MAX : (int64_t)v;
}
static bool open_end(int64_t v) {
  return v == INT64_MIN || v == INT64_MAX;
}

static int64_t bound_mul(int64_t a, int64_t b) {
  if (!a || !b) return 0;
  if (open_end(a) || open_end(b)) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  return clamp128((wide)a * b);
}

static range range_mul(range a, range b) {
  int64_t v[4] = {bound_mul(a.lo, b.lo), bound_mul(a.lo, b.hi), bound_mul(a.hi, b.lo), bound_mul(a.hi, b.hi)};
  range r = {v[0], v[0]};
  for (int i = 1; i < 4; i++) {
    if (v[i] < r.lo) r.lo = v[i];
    if (v[i] > r.hi) r.hi = v[i];
  }
  return r;
}

static range range_add(range a, range b) {
  range r = {INT64_MIN, INT64_MAX};
  if (a.lo != INT64_MIN && b.lo != INT64_MIN) r.lo = clamp128((wide)a.lo + b.lo);
  if (a.hi != INT64_MAX && b.hi != INT64_MAX) r.hi = clamp128((wide)a.hi + b.hi);
  return r;
}

static range range_of(const ac_graph *g, const ac_sym *s);

static range range_atom(const ac_graph *g, const ac_sym *s) {
  const range any = {INT64_MIN, INT64_MAX};
  if (s->kind == AC_SYM_VAR) {
    const ac_sym *to = g->priv->subst.data[s->var];
    return to ? range_of(g, to) : (range){g->priv->lo.data[s->var], g->priv->hi.data[s->var]};
  }
  range a = range_of(g, s->a), b = range_of(g, s->b);
  switch (s->kind) {
  case AC_SYM_FLOORDIV:
    if (b.lo < 0 || a.lo == INT64_MIN) return any;
    if (b.lo < 1) b.lo = 1; /* a division by zero is an error elsewhere */
    return (range){a.lo >= 0 ? (b.hi == INT64_MAX ? 0 : a.lo / b.hi) : floor_div(a.lo, b.lo),
                   a.hi == INT64_MAX ? INT64_MAX
                   : a.hi >= 0       ? a.hi / b.lo
                                     : -1};
  case AC_SYM_MOD: return b.lo < 0 ? any : (range){0, b.hi == INT64_MAX ? INT64_MAX : b.hi > 0 ? b.hi - 1 : 0};
  case AC_SYM_MIN: return (range){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
  case AC_SYM_MAX: return (range){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
  default: return any;
  }
}

static range range_poly(const ac_graph *g, const poly *p) {
  range sum = {0, 0};
  for (int i = 0; i < p->n; i++) {
    range m = {p->m[i].c, p->m[i].c};
    for (int j = 0; j < p->m[i].n; j++) m = range_mul(m, range_atom(g, p->m[i].f[j]));
    sum = range_add(sum, m);
  }
  return sum;
}

static range range_of(const ac_graph *g, const ac_sym *s) {
  return range_poly(g, poly_of(s));
}

/* ---- operations ---- */

static const ac_sym *fail(ac_graph *g, const ac_sym *a, const char *op, const ac_sym *b, const char *why) {
  g->priv->failed = true;
  ac_diag *x = ac_error(g->diags, AC0306, g->priv->loc, "size %s %s %s %s (at the example: %lld and %lld)",
                        ac_sym_text(g->arena, g, a), op, ac_sym_text(g->arena, g, b), why, (long long)a->example,
                        (long long)b->example);
  ac_help(g->diags, x, "sizes, element counts and offsets are 64-bit; use smaller sizes");
  return ac_sym_int(g, 0);
}

static int64_t py_mod(int64_t a, int64_t b) {
  return a - floor_div(a, b) * b;
}

static const ac_sym *atom(ac_graph *g, ac_symkind k, const ac_sym *a, const ac_sym *b) {
  int64_t ex = 0;
  switch (k) {
  case AC_SYM_FLOORDIV: ex = floor_div(a->example, b->example); break;
  case AC_SYM_MOD: ex = py_mod(a->example, b->example); break;
  case AC_SYM_MIN: ex = a->example < b->example ? a->example : b->example; break;
  default: ex = a->example > b->example ? a->example : b->example; break;
  }
  return intern(g, (ac_sym){.kind = k, .example = ex, .a = a, .b = b}, atom_poly);
}

static const ac_sym *add_trees(ac_graph *g, const ac_sym *a, const ac_sym *b) {
  return ac_sym_op(g, AC_SYM_ADD, a, b);
}

/* Factors and a constant that every monomial of x and of y has. */
static mono common(ac_graph *g, const poly *x, const poly *y) {
  mono c = {0, 0, NULL};
  const poly *ps[2] = {x, y};
  bool first = true;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < ps[k]->n; i++) {
      const mono *m = &ps[k]->m[i];
      int64_t a = c.c, b = m->c == INT64_MIN ? 1 : m->c < 0 ? -m->c : m->c;
      while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
      }
      c.c = a;
      if (first) {
        c.n = m->n;
        c.f = AC_NEW_N(g->arena, const ac_sym *, m->n);
        if (m->n) memcpy(c.f, m->f, (size_t)m->n * sizeof *c.f);
        first = false;
        continue;
      }
      int n = 0;
      for (int p = 0, q = 0; p < c.n && q < m->n;) {
        int o = sym_cmp(c.f[p], m->f[q]);
        if (!o) c.f[n++] = c.f[p];
        if (o <= 0) p++;
        if (o >= 0) q++;
      }
      c.n = n;
    }
  return c;
}

void ac_sym_cancel(ac_graph *g, const ac_sym **a, const ac_sym **b) {
  if (!(*a)->example || !(*b)->example) return;
  mono c = common(g, poly_of(*a), poly_of(*b));
  poly x, y, none;
  poly_split(g, poly_of(*a), &c, &x, &none);
  poly_split(g, poly_of(*b), &c, &y, &none);
  const ac_sym *p = poly_tree(g, x), *q = poly_tree(g, y);
  if (!p || !q) return;
  *a = p;
  *b = q;
}

/* a // b and a % b for a divisor that is not a constant: what b divides term by term comes out. */
static const ac_sym *div_symbolic(ac_graph *g, ac_symkind k, const ac_sym *a, const ac_sym *b) {
  const poly *p = poly_of(a), *d = poly_of(b);
  poly q = {0, NULL}, r = *p;
  if (d->n == 1) {
    poly_split(g, p, &d->m[0], &q, &r);
  } else if (p->n >= d->n && d->m[0].c && p->m[0].c % d->m[0].c == 0) { /* a constant multiple of a sum */
    poly rest;
    int64_t f = p->m[0].c / d->m[0].c;
    if (poly_add(g, p, d, -f, &rest) && rest.n == 0) return ac_sym_int(g, k == AC_SYM_MOD ? 0 : f);
  }
  if (!r.n) return k == AC_SYM_MOD ? ac_sym_int(g, 0) : poly_tree(g, q);
  const ac_sym *rest = poly_tree(g, r), *whole = poly_tree(g, q);
  if (!rest || !whole) return NULL;
  if (k == AC_SYM_MOD) return atom(g, k, rest, b);
  mono c = common(g, &r, d);
  if (c.c != 1 || c.n) {
    poly rq, dq, none;
    poly_split(g, &r, &c, &rq, &none);
    poly_split(g, d, &c, &dq, &none);
    const ac_sym *x = poly_tree(g, rq), *y = poly_tree(g, dq);
    if (x && y && y->example) return add_trees(g, whole, ac_sym_op(g, k, x, y));
  }
  return add_trees(g, whole, atom(g, k, rest, b));
}

static const ac_sym *div_const(ac_graph *g, ac_symkind k, const ac_sym *a, int64_t d) {
  if (d < 0) { /* a // -d == -a // d; a % -d == -((-a) % d) */
    if (d == INT64_MIN) return atom(g, k, a, ac_sym_int(g, d));
    const ac_sym *x = div_const(g, k, s_muli(g, a, -1), -d);
    return x && k == AC_SYM_MOD ? s_muli(g, x, -1) : x;
  }
  poly q, r;
  poly_split_const(g, poly_of(a), d, &q, &r);
  range rr = range_poly(g, &r);
  bool small = rr.lo >= 0 && rr.hi < d; /* r // d == 0 and r % d == r */
  const ac_sym *rest = poly_tree(g, r), *whole = poly_tree(g, q);
  if (!rest || !whole) return NULL;
  if (k == AC_SYM_MOD) return small ? rest : atom(g, k, rest, ac_sym_int(g, d));
  if (small) return whole;
  int64_t inner;
  if (rest->kind == AC_SYM_FLOORDIV && ac_sym_is_const(rest->b, &inner) && inner > 0 && inner <= INT64_MAX / d)
    return add_trees(g, whole, ac_sym_op(g, k, rest->a, ac_sym_int(g, inner * d)));
  mono c = common(g, &r, poly_of(ac_sym_int(g, d)));
  if (c.c > 1) {
    poly rq, none;
    mono only = {c.c, 0, NULL};
    poly_split(g, &r, &only, &rq, &none);
    const ac_sym *x = poly_tree(g, rq);
    if (x) return add_trees(g, whole, ac_sym_op(g, k, x, ac_sym_int(g, d / c.c)));
  }
  return add_trees(g, whole, atom(g, k, rest, ac_sym_int(g, d)));
}

static const ac_sym *min_max(ac_graph *g, ac_symkind k, const ac_sym *a, const ac_sym *b) {
  poly d;
  if (poly_add(g, poly_of(a), poly_of(b), -1, &d)) {
    range r = range_poly(g, &d);
    if (r.lo >= 0) return k == AC_SYM_MIN ? b : a;
    if (r.hi <= 0) return k == AC_SYM_MIN ? a : b;
  }
  return sym_cmp(a, b) <= 0 ? atom(g, k, a, b) : atom(g, k, b, a);
}

const ac_sym *ac_sym_op(ac_graph *g, ac_symkind k, const ac_sym *a, const ac_sym *b) {
  const ac_sym *r = NULL;
  poly p;
  int64_t d;
  switch (k) {
  case AC_SYM_ADD: r = poly_add(g, poly_of(a), poly_of(b), 1, &p) ? poly_tree(g, p) : NULL; break;
  case AC_SYM_MUL: r = poly_mul(g, poly_of(a), poly_of(b), &p) ? poly_tree(g, p) : NULL; break;
  case AC_SYM_FLOORDIV:
  case AC_SYM_MOD:
    if (!b->example) return fail(g, a, k == AC_SYM_MOD ? "%" : "//", b, "divides by zero");
    if (a->example == INT64_MIN && b->example == -1) break;
    r = ac_sym_is_const(b, &d) ? div_const(g, k, a, d) : div_symbolic(g, k, a, b);
    break;
  case AC_SYM_MIN:
  case AC_SYM_MAX: r = min_max(g, k, a, b); break;
  case AC_SYM_CONST:
  case AC_SYM_VAR: return a;
  }
  static const char *const text[AC_SYM_MAX + 1] = {
      [AC_SYM_ADD] = "+", [AC_SYM_MUL] = "*", [AC_SYM_FLOORDIV] = "//", [AC_SYM_MOD] = "%"};
  return r ? r : fail(g, a, text[k] ? text[k] : "and", b, "overflows 64 bits");
}

const ac_sym *ac_sym_sub(ac_graph *g, const ac_sym *a, const ac_sym *b) {
  poly p;
  const ac_sym *r = poly_add(g, poly_of(a), poly_of(b), -1, &p) ? poly_tree(g, p) : NULL;
  return r ? r : fail(g, a, "-", b, "overflows 64 bits");
}

bool ac_sym_is_const(const ac_sym *s, int64_t *v) {
  if (s->kind != AC_SYM_CONST) return false;
  if (v) *v = s->example;
  return true;
}

bool ac_sym_contains(const ac_sym *s, int var) {
  if (s->kind == AC_SYM_VAR) return s->var == var;
  return s->kind != AC_SYM_CONST && (ac_sym_contains(s->a, var) || ac_sym_contains(s->b, var));
}

static bool eval_op(ac_symkind k, int64_t a, int64_t b, int64_t *v) {
  switch (k) {
  case AC_SYM_ADD: return !__builtin_add_overflow(a, b, v);
  case AC_SYM_MUL: return !__builtin_mul_overflow(a, b, v);
  case AC_SYM_MIN: *v = a < b ? a : b; return true;
  case AC_SYM_MAX: *v = a > b ? a : b; return true;
  default:
    if (!b || (a == INT64_MIN && b == -1)) return false;
    *v = k == AC_SYM_MOD ? py_mod(a, b) : floor_div(a, b);
    return true;
  }
}

bool ac_sym_eval(const ac_sym *s, const int64_t *values, int64_t *v) {
  int64_t a, b;
  if (s->kind == AC_SYM_CONST || s->kind == AC_SYM_VAR) {
    *v = s->kind == AC_SYM_CONST ? s->example : values[s->var];
    return true;
  }
  return ac_sym_eval(s->a, values, &a) && ac_sym_eval(s->b, values, &b) && eval_op(s->kind, a, b, v);
}

/* ---- facts from guards ---- */

/* Uses a % d == 0: a product that holds d * (a // d) becomes one with a. NULL when nothing applies. */
static const ac_sym *use_divides(ac_graph *g, const ac_sym *s) {
  struct ac_graph_private *pr = g->priv;
  const poly *p = poly_of(s);
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->m[i].n; j++) {
      const ac_sym *f = p->m[i].f[j];
      if (f->kind != AC_SYM_FLOORDIV && f->kind != AC_SYM_MOD) continue;
      bool known = false;
      for (size_t n = 0; n < pr->divides.len && !known; n++)
        known = pr->divides.data[n].a == f->a && pr->divides.data[n].d == f->b;
      if (!known) continue;
      mono one = p->m[i], rest, part;
      poly q = {1, &one}, without;
      if (!poly_add(g, p, &q, -1, &without)) continue;
      const ac_sym *others = poly_tree(g, without);
      if (f->kind == AC_SYM_MOD) return others;
      const poly *d = poly_of(f->b);
      mono fm = {1, 1, &f};
      if (d->n != 1 || !mono_div(g, &one, &fm, &part) || !mono_div(g, &part, &d->m[0], &rest)) continue;
      const ac_sym *m = mono_tree(g, &rest);
      if (others && m) return s_add(g, others, s_mul(g, m, f->a));
    }
  return NULL;
}

const ac_sym *ac_sym_resolve(ac_graph *g, const ac_sym *s) {
  isym *x = (isym *)(uintptr_t)s;
  if (s->kind == AC_SYM_CONST) return s;
  if (x->resolved && x->epoch == g->priv->epoch) return x->resolved;
  const ac_sym *r;
  if (s->kind == AC_SYM_VAR) {
    const ac_sym *to = g->priv->subst.data[s->var];
    range v = {g->priv->lo.data[s->var], g->priv->hi.data[s->var]};
    r = to ? ac_sym_resolve(g, to) : v.lo == v.hi ? ac_sym_int(g, v.lo) : s;
  } else {
    r = ac_sym_op(g, s->kind, ac_sym_resolve(g, s->a), ac_sym_resolve(g, s->b));
    for (const ac_sym *next; g->priv->divides.len && (next = use_divides(g, r));) r = next;
  }
  x->resolved = r;
  x->epoch = g->priv->epoch;
  return r;
}

/* d is resolved: is it 0 by a guard that could not be solved for a variable? */
static bool known_zero(ac_graph *g, const ac_sym *d) {
  if (s_is(d, 0)) return true;
  const ac_sym *neg = NULL;
  for (size_t i = 0; i < g->priv->diffs.len; i++) {
    if (g->guards.data[i].kind != AC_GUARD_EQ) continue;
    const ac_sym *e = ac_sym_resolve(g, g->priv->diffs.data[i]);
    if (!neg) neg = s_muli(g, d, -1);
    if (e == d || e == neg) return true;
  }
  return false;
}

bool ac_sym_equal(const ac_graph *g, const ac_sym *a, const ac_sym *b) {
  if (a == b) return true;
  if (a->example != b->example) return false;
  ac_graph *m = (ac_graph *)(uintptr_t)g; /* resolving only fills caches */
  a = ac_sym_resolve(m, a);
  b = ac_sym_resolve(m, b);
  return a == b || known_zero(m, ac_sym_resolve(m, ac_sym_sub(m, a, b)));
}

/* A variable that d == 0 defines: it stands alone with coefficient 1 or -1. Inputs' later sizes are expressed by earlier ones. */
static bool solve(ac_graph *g, const ac_sym *d) {
  const poly *p = poly_of(d);
  const mono *best = NULL;
  for (int i = 0; i < p->n; i++) {
    const mono *m = &p->m[i];
    if (m->n != 1 || m->f[0]->kind != AC_SYM_VAR) continue;
    bool whole = m->c == 1 || m->c == -1 || (p->n == 1) || (p->n == 2 && p->m[1].n == 0 && p->m[1].c % m->c == 0);
    for (int j = 0; j < p->n && whole; j++)
      for (int k = 0; k < p->m[j].n && whole; k++) whole = j == i || !ac_sym_contains(p->m[j].f[k], m->f[0]->var);
    if (whole && (!best || m->f[0]->var > best->f[0]->var)) best = m;
  }
  if (!best) return false;
  poly one = {1, (mono *)(uintptr_t)best}, rest;
  if (!poly_add(g, p, &one, -1, &rest)) return false;
  const ac_sym *r = poly_tree(g, rest);
  if (!r) return false;
  r = best->c == 1 ? s_muli(g, r, -1) : best->c == -1 ? r : ac_sym_int(g, r->example / -best->c);
  g->priv->subst.data[best->f[0]->var] = r;
  return true;
}

static void learn_divides(ac_graph *g, const ac_sym *a, const ac_sym *d) {
  ac_divides f = {a, d};
  ac_push(g->arena, &g->priv->divides, f);
}

/* d == 0 of the forms x % k, and x - k * (x // k). */
static void learn_equal(ac_graph *g, const ac_sym *d) {
  if (solve(g, d)) return;
  const poly *p = poly_of(d);
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->m[i].n; j++) {
      const ac_sym *f = p->m[i].f[j];
      if (f->kind == AC_SYM_MOD && p->n == 1 && p->m[0].n == 1) {
        learn_divides(g, f->a, f->b);
        return;
      }
      if (f->kind != AC_SYM_FLOORDIV) continue;
      const ac_sym *e = ac_sym_sub(g, f->a, s_mul(g, f->b, f));
      if (e == d || s_muli(g, e, -1) == d) {
        learn_divides(g, f->a, f->b);
        return;
      }
    }
}

/* c * v + k, when d is that. */
static bool linear(const ac_sym *d, int *var, int64_t *c, int64_t *k) {
  const poly *p = poly_of(d);
  if (p->n < 1 || p->n > 2 || p->m[0].n != 1 || p->m[0].f[0]->kind != AC_SYM_VAR) return false;
  if (p->n == 2 && p->m[1].n) return false;
  *var = p->m[0].f[0]->var;
  *c = p->m[0].c;
  *k = p->n == 2 ? p->m[1].c : 0;
  return *k != INT64_MIN && *c != INT64_MIN;
}

/* c * v + k <= 0 */
static void learn_bound(struct ac_graph_private *pr, int var, int64_t c, int64_t k) {
  if (c > 0) {
    int64_t hi = floor_div(-k, c);
    if (hi < pr->hi.data[var]) pr->hi.data[var] = hi;
  } else {
    int64_t lo = -floor_div(-k, -c); /* v >= k / -c, rounded up */
    if (lo > pr->lo.data[var]) pr->lo.data[var] = lo;
  }
}

/* Unequal at the end of a range moves that end; other guards may then move it again. */
static void shrink(ac_graph *g) {
  struct ac_graph_private *pr = g->priv;
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < g->guards.len; i++) {
      int v;
      int64_t c, k;
      if (g->guards.data[i].kind != AC_GUARD_NE || !linear(ac_sym_resolve(g, pr->diffs.data[i]), &v, &c, &k) || k % c)
        continue;
      if (pr->lo.data[v] == -k / c && pr->lo.data[v] < pr->hi.data[v]) {
        pr->lo.data[v]++;
        again = true;
      } else if (pr->hi.data[v] == -k / c && pr->lo.data[v] < pr->hi.data[v]) {
        pr->hi.data[v]--;
        again = true;
      }
    }
  }
}

void ac_sym_learn(ac_graph *g, ac_guardkind k, const ac_sym *a, const ac_sym *b) {
  struct ac_graph_private *pr = g->priv;
  const ac_sym *d = ac_sym_resolve(g, ac_sym_sub(g, a, b));
  int v;
  int64_t c, c0;
  if (k == AC_GUARD_EQ) learn_equal(g, d);
  if ((k == AC_GUARD_LT || k == AC_GUARD_LE) && linear(d, &v, &c, &c0))
    learn_bound(pr, v, c, c0 + (k == AC_GUARD_LT));
  shrink(g);
  pr->epoch++;
  for (size_t i = 0; i < pr->divides.len; i++) { /* keep facts in terms of what the variables are now */
    pr->divides.data[i].a = ac_sym_resolve(g, pr->divides.data[i].a);
    pr->divides.data[i].d = ac_sym_resolve(g, pr->divides.data[i].d);
  }
}

void ac_sym_record(ac_graph *g, ac_guard guard) {
  ac_push(g->arena, &g->guards, guard);
  ac_push(g->arena, &g->priv->diffs, ac_sym_sub(g, guard.a, guard.b));
  ac_sym_learn(g, guard.kind, guard.a, guard.b);
}

/* ---- guards ---- */

static bool truth_at(ac_guardkind k, int64_t a, int64_t b) {
  switch (k) {
  case AC_GUARD_EQ: return a == b;
  case AC_GUARD_NE: return a != b;
  case AC_GUARD_LT: return a < b;
  default: return a <= b;
  }
}

bool ac_guard_holds(ac_guardkind k, int64_t a, int64_t b) {
  return truth_at(k, a, b);
}

static bool at_most(ac_graph *g, const ac_sym *d, const ac_sym *e, int64_t slack) {
  int64_t c;
  return ac_sym_is_const(ac_sym_sub(g, d, e), &c) && c + slack <= 0;
}

/* Do the range of d, or a recorded guard, prove `d k 0`? */
static bool proved(ac_graph *g, ac_guardkind k, const ac_sym *d) {
  struct ac_graph_private *pr = g->priv;
  range r = range_of(g, d);
  switch (k) {
  case AC_GUARD_EQ: return (r.lo == 0 && r.hi == 0) || known_zero(g, d);
  case AC_GUARD_NE:
    if (r.lo > 0 || r.hi < 0) return true;
    break;
  case AC_GUARD_LT:
    if (r.hi < 0) return true;
    break;
  case AC_GUARD_LE:
    if (r.hi <= 0) return true;
    break;
  }
  const ac_sym *neg = s_muli(g, d, -1);
  for (size_t i = 0; i < pr->diffs.len; i++) {
    ac_guardkind gk = g->guards.data[i].kind;
    const ac_sym *e = ac_sym_resolve(g, pr->diffs.data[i]);
    int strict = gk == AC_GUARD_LT;
    if (gk == AC_GUARD_LT || gk == AC_GUARD_LE) {
      if (k == AC_GUARD_LE || k == AC_GUARD_LT) {
        if (at_most(g, d, e, (k == AC_GUARD_LT) - strict)) return true;
      } else if (k == AC_GUARD_NE && (at_most(g, d, e, 1 - strict) || at_most(g, neg, e, 1 - strict))) {
        return true;
      }
    } else if (gk == AC_GUARD_EQ && k != AC_GUARD_EQ) {
      int64_t c; /* d is a constant away from 0 */
      bool known = ac_sym_is_const(ac_sym_sub(g, d, e), &c) || ac_sym_is_const(s_add(g, d, e), &c);
      if (known && truth_at(k, c, 0)) return true;
    } else if (gk == AC_GUARD_NE && k == AC_GUARD_NE && (e == d || e == neg)) {
      return true;
    }
  }
  return false;
}

bool ac_sym_guard(ac_graph *g, ac_guardkind k, const ac_sym *a, const ac_sym *b, ac_loc loc, const char *reason) {
  static const ac_guardkind negation[] = {[AC_GUARD_EQ] = AC_GUARD_NE,
                                          [AC_GUARD_NE] = AC_GUARD_EQ,
                                          [AC_GUARD_LT] = AC_GUARD_LE,
                                          [AC_GUARD_LE] = AC_GUARD_LT};
  bool truth = truth_at(k, a->example, b->example);
  if (!truth) {
    k = negation[k];
    if (k == AC_GUARD_LT || k == AC_GUARD_LE) {
      const ac_sym *t = a;
      a = b;
      b = t;
    }
  }
  a = ac_sym_resolve(g, a);
  b = ac_sym_resolve(g, b);
  if (proved(g, k, ac_sym_resolve(g, ac_sym_sub(g, a, b)))) return truth;
  if (g->priv->frozen) {
    g->priv->missing++;
    return truth;
  }
  ac_guard guard = {k, a, b, loc, ac_strdup(g->arena, reason), g->priv->depth > 0};
  ac_sym_record(g, guard);
  return truth;
}

/* ---- text ---- */

static void put(ac_buf *b, const ac_graph *g, const ac_sym *s, int prec);

/* A product without its sign: |c| * factors. */
static void put_mono(ac_buf *b, const ac_graph *g, const mono *m) {
  uint64_t c = m->c < 0 ? 0 - (uint64_t)m->c : (uint64_t)m->c;
  const char *sep = "";
  if (c != 1 || !m->n) {
    ac_printf(b, "%llu", (unsigned long long)c);
    sep = "*";
  }
  for (int i = 0; i < m->n; i++) {
    ac_puts(b, sep);
    put(b, g, m->f[i], m->n > 1 || c != 1 ? 2 : 0);
    sep = "*";
  }
}

/* prec 2: inside a product or as a divisor; an operation is put in parentheses there. */
static void put(ac_buf *b, const ac_graph *g, const ac_sym *s, int prec) {
  switch (s->kind) {
  case AC_SYM_CONST: ac_printf(b, "%lld", (long long)s->example); return;
  case AC_SYM_VAR: ac_puts(b, g->vars.data[s->var].name); return;
  case AC_SYM_MIN:
  case AC_SYM_MAX:
    ac_puts(b, s->kind == AC_SYM_MIN ? "min(" : "max(");
    put(b, g, s->a, 0);
    ac_puts(b, ", ");
    put(b, g, s->b, 0);
    ac_puts(b, ")");
    return;
  default: break;
  }
  if (prec) ac_puts(b, "(");
  if (s->kind == AC_SYM_FLOORDIV || s->kind == AC_SYM_MOD) {
    put(b, g, s->a, 2);
    ac_puts(b, s->kind == AC_SYM_MOD ? " % " : " // ");
    put(b, g, s->b, 2);
  } else {
    const poly *p = poly_of(s);
    for (int i = 0; i < p->n; i++) {
      if (i || p->m[i].c < 0) ac_puts(b, i ? (p->m[i].c < 0 ? " - " : " + ") : "-");
      put_mono(b, g, &p->m[i]);
    }
  }
  if (prec) ac_puts(b, ")");
}

char *ac_sym_text(ac_arena *a, const ac_graph *g, const ac_sym *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  put(&b, g, s, 0);
  return b.data;
}
