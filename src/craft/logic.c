/* Inequalities over symbolic integers.
 *
 * Every product of atoms is a variable of its own. The facts are: those given; what a quotient, a remainder, a minimum and a maximum are by
 * definition; and products of facts with atoms that are not negative, where such a product is asked for. The negated goal is added, and
 * Fourier-Motzkin elimination over the integers (constants rounded down after division by the common divisor) looks for a contradiction. Where
 * none is found, a minimum or maximum is replaced by each of its arguments in turn. Sound; not complete, and bounded in time. */
#include "craft/logic.h"

#include <string.h>

enum { MAX_ROWS = 240, MAX_VARS = 64, MAX_SPLITS = 5, MAX_FACTS = 110, MAX_ATOMS = 64 };

typedef struct {
  int64_t c[MAX_VARS], k;
  uint64_t sum; /* of c, in some way: rows that differ in it differ */
  bool dead;
} row;

typedef struct {
  ac_syms *s;
  int atoms[MAX_ATOMS], n_atoms; /* whose definitions are in */
  int leaves;                    /* eliminations left for this goal */
} proof;

typedef struct {
  ac_sym *f[MAX_FACTS];
  int n;
} facts;

/* ---- substitution ---- */

bool ac_lg_has(ac_syms *s, const ac_sym *x, int atom) {
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < x->t[i].k; j++) {
      if (x->t[i].atom[j] == atom) return true;
      const ac_satom a = s->atoms.data[x->t[i].atom[j]];
      if (a.fn != AC_SY_OPAQUE && (ac_lg_has(s, a.a, atom) || ac_lg_has(s, a.b, atom))) return true;
    }
  return false;
}

typedef struct {
  int atom;
  ac_sym *by;
} replacement;

static ac_sym *put_atom(ac_syms *s, int i, void *user) {
  const replacement *p = user;
  if (i == p->atom) return p->by;
  ac_satom a = s->atoms.data[i];
  if (a.fn == AC_SY_OPAQUE || (!ac_lg_has(s, a.a, p->atom) && !ac_lg_has(s, a.b, p->atom))) return ac_sy_of(s, i);
  ac_sym *x = ac_lg_put(s, a.a, p->atom, p->by), *y = ac_lg_put(s, a.b, p->atom, p->by);
  return ac_sy_fn(s, a.fn, x, y);
}

ac_sym *ac_lg_put(ac_syms *s, ac_sym *x, int atom, ac_sym *by) {
  replacement p = {atom, by};
  return ac_lg_has(s, x, atom) ? ac_sy_replace(s, x, put_atom, &p) : x;
}

/* ---- elimination ---- */

static int64_t gcd(int64_t a, int64_t b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

/* Divides by the common divisor; the constant is rounded down, for everything else is whole. */
static void reduce(row *r, int n) {
  int64_t g = 0;
  for (int i = 0; i < n; i++) g = gcd(g, r->c[i]);
  if (g < 2) return;
  for (int i = 0; i < n; i++) r->c[i] /= g;
  int64_t q = r->k / g;
  r->k = r->k % g && r->k < 0 ? q - 1 : q;
}

static uint64_t sum_of(const row *r, int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 31 + (uint64_t)r->c[i];
  return sum;
}

static bool combine(const row *p, const row *m, int v, int n, row *out) {
  int64_t a = p->c[v], b = -m->c[v], g = gcd(a, b), x = b / g, y = a / g, t, u;
  for (int i = 0; i < n; i++)
    if (__builtin_mul_overflow(p->c[i], x, &t) || __builtin_mul_overflow(m->c[i], y, &u) ||
        __builtin_add_overflow(t, u, &out->c[i]))
      return false;
  if (__builtin_mul_overflow(p->k, x, &t) || __builtin_mul_overflow(m->k, y, &u) ||
      __builtin_add_overflow(t, u, &out->k))
    return false;
  out->dead = false;
  reduce(out, n);
  out->sum = sum_of(out, n);
  return true;
}

static bool constant_row(const row *r, int n) {
  for (int i = 0; i < n; i++)
    if (r->c[i]) return false;
  return true;
}

/* Keeps the row unless one says as much already. */
static bool keep(row *rows, int *count, int n, const row *x) {
  for (int i = 0; i < *count; i++) {
    if (rows[i].dead || rows[i].sum != x->sum || memcmp(rows[i].c, x->c, (size_t)n * sizeof *x->c) != 0) continue;
    if (x->k < rows[i].k) rows[i].k = x->k;
    return true;
  }
  for (int i = 0; i < *count; i++)
    if (rows[i].dead) {
      rows[i] = *x;
      return true;
    }
  if (*count == MAX_ROWS) return false;
  rows[(*count)++] = *x;
  return true;
}

/* The variable that makes the fewest new rows. */
static int cheapest(const row *rows, int count, int n, const bool *gone) {
  int best = -1, cost = 0, plus[MAX_VARS] = {0}, minus[MAX_VARS] = {0};
  for (int i = 0; i < count; i++) {
    if (rows[i].dead) continue;
    for (int v = 0; v < n; v++) {
      plus[v] += rows[i].c[v] > 0;
      minus[v] += rows[i].c[v] < 0;
    }
  }
  for (int v = 0; v < n; v++) {
    int p = plus[v], m = minus[v];
    if (gone[v] || !(p + m)) continue;
    if (best < 0 || p * m - p - m < cost) {
      best = v;
      cost = p * m - p - m;
    }
  }
  return best;
}

/* Are the rows, all >= 0, contradictory? */
static bool contradiction(row *rows, int count, int n) {
  bool gone[MAX_VARS] = {0};
  for (int i = 0; i < count; i++) rows[i].sum = sum_of(&rows[i], n);
  for (int v; (v = cheapest(rows, count, n, gone)) >= 0;) {
    gone[v] = true;
    row old[MAX_ROWS];
    int n_old = 0;
    for (int i = 0; i < count; i++)
      if (!rows[i].dead && rows[i].c[v]) {
        old[n_old++] = rows[i];
        rows[i].dead = true;
      }
    for (int i = 0; i < n_old; i++)
      for (int j = 0; j < n_old; j++) {
        row x;
        if (old[i].c[v] <= 0 || old[j].c[v] >= 0 || !combine(&old[i], &old[j], v, n, &x)) continue;
        if (constant_row(&x, n)) {
          if (x.k < 0) return true;
        } else if (!keep(rows, &count, n, &x)) {
          return false;
        }
      }
  }
  return false;
}

typedef struct {
  ac_sterm m[MAX_VARS];
  int n;
} variables;

static bool same_monomial(const ac_sterm *x, const ac_sterm *y) {
  if (x->k != y->k) return false;
  for (int i = 0; i < x->k; i++)
    if (x->atom[i] != y->atom[i]) return false;
  return true;
}

static int variable(variables *v, const ac_sterm *t) {
  for (int i = 0; i < v->n; i++)
    if (same_monomial(&v->m[i], t)) return i;
  if (v->n == MAX_VARS) return -1;
  v->m[v->n] = *t;
  return v->n++;
}

static bool to_row(variables *v, const ac_sym *x, row *r) {
  *r = (row){0};
  for (int i = 0; i < x->n; i++) {
    if (!x->t[i].k) {
      r->k = x->t[i].c;
      continue;
    }
    int at = variable(v, &x->t[i]);
    if (at < 0) return false;
    r->c[at] = x->t[i].c;
  }
  return true;
}

/* ---- facts ---- */

static void add(facts *f, ac_sym *x) {
  int64_t v;
  if (f->n == MAX_FACTS || (ac_sy_const(x, &v) && v >= 0)) return;
  for (int i = 0; i < f->n; i++)
    if (f->f[i] == x) return;
  f->f[f->n++] = x;
}

static void define_all(proof *p, facts *f, const ac_sym *x);

static bool at_least_one(ac_syms *s, const facts *f, ac_sym *x) {
  if (ac_sy_range(s, x, NULL).lo >= 1) return true;
  ac_sym *less = ac_sy_sub(s, x, ac_sy_int(s, 1));
  for (int i = 0; i < f->n; i++)
    if (f->f[i] == less) return true;
  return false;
}

/* What an atom is: bounds, and the meaning of its function. */
static void define(proof *p, facts *f, int i) {
  for (int k = 0; k < p->n_atoms; k++)
    if (p->atoms[k] == i) return;
  if (p->n_atoms == MAX_ATOMS) return;
  p->atoms[p->n_atoms++] = i;
  ac_syms *s = p->s;
  ac_satom a = s->atoms.data[i];
  ac_sym *x = ac_sy_of(s, i), *one = ac_sy_int(s, 1);
  if (a.lo > -((int64_t)1 << 40)) add(f, ac_sy_sub(s, x, ac_sy_int(s, a.lo)));
  if (a.hi < (int64_t)1 << 40) add(f, ac_sy_sub(s, ac_sy_int(s, a.hi), x));
  if (a.fn == AC_SY_OPAQUE) return;
  define_all(p, f, a.a);
  define_all(p, f, a.b);
  if (a.fn == AC_SY_MIN) {
    add(f, ac_sy_sub(s, a.a, x));
    add(f, ac_sy_sub(s, a.b, x));
  } else if (a.fn == AC_SY_MAX) {
    add(f, ac_sy_sub(s, x, a.a));
    add(f, ac_sy_sub(s, x, a.b));
  } else if (at_least_one(s, f, a.b)) {
    ac_sym *less = ac_sy_sub(s, a.b, one);
    if (a.fn == AC_SY_MOD) {
      add(f, x);
      add(f, ac_sy_sub(s, less, x));
    } else {
      ac_sym *rest = ac_sy_sub(s, a.a, ac_sy_mul(s, x, a.b)); /* x // y: 0 <= rest < y; cdiv: -y < rest <= 0 */
      if (a.fn == AC_SY_CDIV) rest = ac_sy_sub(s, ac_sy_int(s, 0), rest);
      add(f, rest);
      add(f, ac_sy_sub(s, less, rest));
    }
    ac_range r = ac_sy_range(s, x, NULL);
    if (r.lo >= 0) add(f, x);
    for (int k = 0; k + 1 < p->n_atoms; k++) { /* of two quotients by the same, the larger has the larger dividend */
      const ac_satom o = s->atoms.data[p->atoms[k]];
      if (o.fn != a.fn || o.b != a.b || a.fn == AC_SY_MOD) continue;
      ac_sym *d = ac_sy_sub(s, a.a, o.a), *q = ac_sy_sub(s, x, ac_sy_of(s, p->atoms[k]));
      if (ac_sy_range(s, d, NULL).lo >= 0) add(f, q);
      if (ac_sy_range(s, d, NULL).hi <= 0) add(f, ac_sy_sub(s, ac_sy_int(s, 0), q));
    }
  }
}

static void define_all(proof *p, facts *f, const ac_sym *x) {
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < x->t[i].k; j++) define(p, f, x->t[i].atom[j]);
}

static bool nonneg_atom(ac_syms *s, const facts *f, int i) {
  ac_sym *x = ac_sy_of(s, i);
  if (ac_sy_range(s, x, NULL).lo >= 0) return true;
  for (int k = 0; k < f->n; k++) { /* atom - c >= 0 with c >= 0 */
    const ac_sym *y = f->f[k];
    if (y->n == 1 && y->t[0].k == 1 && y->t[0].atom[0] == i && y->t[0].c > 0) return true;
    if (y->n == 2 && !y->t[0].k && y->t[0].c <= 0 && y->t[1].k == 1 && y->t[1].atom[0] == i && y->t[1].c > 0)
      return true;
  }
  return false;
}

static bool holds(const ac_sterm *m, const ac_sym *x) {
  for (int i = 0; i < x->n; i++)
    if (same_monomial(&x->t[i], m)) return true;
  return false;
}

/* Whole numbers: a * a >= a; times what else is in the monomial. */
static void square(proof *p, facts *f, const ac_sterm *m) {
  for (int j = 0; j + 1 < m->k; j++) {
    if (m->atom[j] != m->atom[j + 1]) continue;
    ac_sym *a = ac_sy_of(p->s, m->atom[j]), *x = ac_sy_sub(p->s, ac_sy_mul(p->s, a, a), a);
    bool sure = true;
    for (int k = 0; k < m->k; k++) {
      if (k == j || k == j + 1) continue;
      sure = sure && nonneg_atom(p->s, f, m->atom[k]);
      x = ac_sy_mul(p->s, x, ac_sy_of(p->s, m->atom[k]));
    }
    if (sure) add(f, x);
  }
}

/* Products of x that nothing speaks of yet. */
static int new_monomials(const facts *f, const ac_sym *goal, const ac_sym *x) {
  int n = 0;
  for (int i = 0; i < x->n; i++) {
    bool known = !x->t[i].k;
    for (int q = 0; !known && q < goal->n; q++) known = same_monomial(&goal->t[q], &x->t[i]);
    for (int k = 0; !known && k < f->n; k++)
      for (int q = 0; !known && q < f->f[k]->n; q++) known = same_monomial(&f->f[k]->t[q], &x->t[i]);
    n += !known;
  }
  return n;
}

/* The atoms of m in `part` make a product that is not negative: facts that speak of the others, times that. */
static void multiply_by(proof *p, facts *f, const ac_sym *goal, const ac_sterm *m, int part, int fresh) {
  ac_sterm rest = {.c = 1};
  ac_sym *factor = ac_sy_int(p->s, 1);
  for (int j = 0; j < m->k; j++) {
    if (!(part >> j & 1)) {
      rest.atom[rest.k++] = m->atom[j];
      continue;
    }
    if (!nonneg_atom(p->s, f, m->atom[j])) return;
    factor = ac_sy_mul(p->s, factor, ac_sy_of(p->s, m->atom[j]));
  }
  for (int k = 0, n = f->n; k < n && f->n < MAX_FACTS; k++) {
    if (!holds(&rest, f->f[k])) continue;
    ac_sym *y = ac_sy_mul(p->s, f->f[k], factor);
    if (new_monomials(f, goal, y) <= fresh) add(f, y);
  }
}

/* For a product that is spoken of, facts about one factor times the other, as long as they bring few new products up. */
static void multiply(proof *p, facts *f, const ac_sym *goal, const ac_sym *x, int fresh) {
  for (int i = 0; i < x->n; i++) {
    const ac_sterm m = x->t[i];
    square(p, f, &m);
    for (int part = 1; part < (1 << m.k) - 1; part++) multiply_by(p, f, goal, &m, part, fresh);
  }
}

static bool divides(const ac_sterm *x, const ac_sterm *y) {
  int j = 0;
  for (int i = 0; i < y->k && j < x->k; i++) j += y->atom[i] == x->atom[j];
  return j == x->k;
}

/* Marks the facts that hang together with the goal through the products they speak of (factors: or factors of them), over so many steps. */
static void connected(const facts *f, const ac_sym *goal, bool *in, int steps, bool factors) {
  variables v = {.n = 0};
  row unused;
  (void)to_row(&v, goal, &unused);
  for (bool more = true; more && steps-- > 0;) {
    int reach = v.n;
    more = false;
    for (int k = 0; k < f->n; k++) {
      bool touches = !reach;
      for (int i = 0; !in[k] && i < f->f[k]->n; i++)
        for (int q = 0; f->f[k]->t[i].k && q < reach; q++)
          touches |= factors ? divides(&f->f[k]->t[i], &v.m[q]) : same_monomial(&v.m[q], &f->f[k]->t[i]);
      if (in[k] || !touches) continue;
      int was = v.n;
      if (to_row(&v, f->f[k], &unused))
        in[k] = more = true;
      else
        v.n = was;
    }
  }
}

static bool refuted_within(const facts *f, ac_sym *negated, int steps) {
  variables v = {.n = 0};
  row rows[MAX_ROWS];
  int count = 0;
  int64_t c;
  bool in[MAX_FACTS] = {0};
  if (!to_row(&v, negated, &rows[count++])) return false;
  connected(f, negated, in, steps, false);
  for (int k = 0; k < f->n; k++) {
    if (ac_sy_const(f->f[k], &c) && c < 0) return true; /* the facts themselves */
    if (in[k] && count < MAX_ROWS / 2 && to_row(&v, f->f[k], &rows[count])) count++;
  }
  return contradiction(rows, count, v.n);
}

/* Near facts first: most proofs need few. */
static bool refuted(proof *p, const facts *given, ac_sym *goal) {
  if (--p->leaves < 0) return false;
  ac_sym *negated = ac_sy_sub(p->s, ac_sy_int(p->s, -1), goal);
  if (refuted_within(given, negated, 1)) return true;
  facts f = *given;
  add(&f, negated);
  multiply(p, &f, negated, negated, 1);
  if (refuted_within(&f, negated, 2)) return true;
  for (int k = 0, n = f.n; k < n; k++) multiply(p, &f, negated, f.f[k], 1);
  return refuted_within(&f, negated, 99);
}

/* ---- choices ---- */

int ac_lg_min_max(ac_syms *s, const ac_sym *x, int with, int skip) {
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < x->t[i].k; j++) {
      const ac_satom a = s->atoms.data[x->t[i].atom[j]];
      if (a.fn != AC_SY_MIN && a.fn != AC_SY_MAX) continue;
      if ((with < 0 || ac_lg_has(s, a.a, with) || ac_lg_has(s, a.b, with)) && !skip--) return x->t[i].atom[j];
    }
  return -1;
}

static bool prove(proof *p, const facts *f, ac_sym *goal, int splits);

static bool by_case(proof *p, const facts *f, ac_sym *goal, int atom, ac_sym *is, ac_sym *other, int splits) {
  ac_syms *s = p->s;
  bool min = s->atoms.data[atom].fn == AC_SY_MIN;
  facts g = {.n = 0};
  add(&g, min ? ac_sy_sub(s, other, is) : ac_sy_sub(s, is, other));
  for (int i = 0; i < f->n; i++) add(&g, ac_lg_put(s, f->f[i], atom, is));
  proof q = *p;
  ac_sym *to = ac_lg_put(s, goal, atom, is);
  define_all(&q, &g, to);
  for (int i = 0, n = g.n; i < n; i++) define_all(&q, &g, g.f[i]);
  bool ok = prove(&q, &g, to, splits - 1);
  p->leaves = q.leaves;
  return ok;
}

static bool prove(proof *p, const facts *f, ac_sym *goal, int splits) {
  int64_t v;
  if (ac_sy_const(goal, &v) && v >= 0) return true;
  if (ac_sy_range(p->s, goal, NULL).lo >= 0) return true;
  if (refuted(p, f, goal)) return true;
  if (splits <= 0 || p->leaves <= 0) return false;
  int atom = ac_lg_min_max(p->s, goal, -1, 0);
  for (int steps = 1; atom < 0 && steps < 6; steps++) { /* the nearest */
    bool in[MAX_FACTS] = {0};
    connected(f, goal, in, steps, true);
    for (int i = 0; atom < 0 && i < f->n; i++)
      if (in[i]) atom = ac_lg_min_max(p->s, f->f[i], -1, 0);
  }
  if (atom < 0) return false;
  ac_satom a = p->s->atoms.data[atom];
  return by_case(p, f, goal, atom, a.a, a.b, splits) && by_case(p, f, goal, atom, a.b, a.a, splits);
}

static bool decide(ac_syms *s, ac_sym *goal, const ac_fact *given) {
  proof p = {.s = s, .leaves = 40};
  facts f = {.n = 0};
  for (const ac_fact *g = given; g; g = g->next) add(&f, g->p);
  define_all(&p, &f, goal);
  for (int i = 0; i < f.n; i++) define_all(&p, &f, f.f[i]);
  return prove(&p, &f, goal, MAX_SPLITS);
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

bool ac_lg_nonneg(ac_syms *s, ac_sym *goal, const ac_fact *given) {
  int64_t v;
  if (ac_sy_const(goal, &v)) {
    if (v >= 0) return true;
    if (!given) return false;
  }
  if (ac_sy_range(s, goal, given).lo >= 0) return true;
  /* the same is asked again and again, with the facts in another order */
  uint64_t sum = 0, other = 0;
  for (const ac_fact *g = given; g; g = g->next) {
    sum += mix((uint64_t)g->p->id + 1);
    other += mix((uint64_t)g->p->id + 0x9e3779b97f4a7c15u);
  }
  char key[64];
  snprintf(key, sizeof key, "%d %llx %llx", goal->id, (unsigned long long)sum, (unsigned long long)other);
  if (!s->proofs) s->proofs = ac_map_new(s->a);
  void *known = ac_map_get(s->proofs, key);
  if (!known) {
    known = decide(s, goal, given) ? (void *)"yes" : (void *)"";
    ac_map_put(s->proofs, key, known);
  }
  return *(const char *)known;
}

bool ac_lg_equal(ac_syms *s, ac_sym *x, ac_sym *y, const ac_fact *given) {
  if (x == y) return true;
  return ac_lg_nonneg(s, ac_sy_sub(s, x, y), given) && ac_lg_nonneg(s, ac_sy_sub(s, y, x), given);
}
