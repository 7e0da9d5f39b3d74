/* Launches: the kernel's parameters bound to the host's values; what was left to prove, and room in UB. */
#include "craft/check.h"
#include "craft/logic.h"

#include <string.h>

static void bind_params(ac_chk *c, const ac_klaunch *l, bool on) {
  for (int i = 0; i < l->kernel->f->n_params; i++) {
    ac_sym *p = l->kernel->param_syms[i];
    if (!p) continue;
    ac_sym *v = l->args[i].kind == AC_CT_INT ? l->args[i].sym : NULL;
    ac_sy_atom(&c->s, p)->bound = on ? v : NULL;
    c->s.version++;
  }
}

/* The host's facts at the launch and the kernel's own, in terms of the host. */
static const ac_fact *all_facts(ac_chk *c, const ac_klaunch *l, const ac_fact *kernel) {
  const ac_fact *f = l->facts;
  for (; kernel; kernel = kernel->next) f = ac_sy_assume(&c->s, f, ac_sy_bind(&c->s, kernel->p));
  return f;
}

/* ---- obligations ---- */

static void look_at(ac_chk *c, const ac_oblig *o) {
  bool unknown = false, any = false, dead = false;
  for (size_t i = 0; i < c->launches.len; i++) {
    const ac_klaunch *l = &c->launches.data[i];
    if (l->kernel != o->fn) continue;
    dead |= l->dead;
    if (l->dead) continue;
    any = true;
    bind_params(c, l, true);
    const ac_fact *f = all_facts(c, l, o->facts);
    ac_sym *d = ac_sy_sub(&c->s, ac_sy_bind(&c->s, o->y), ac_sy_bind(&c->s, o->x));
    bool proved = ac_sy_nonneg(&c->s, d, f) || ac_lg_nonneg(&c->s, d, f);
    ac_range r = ac_sy_range(&c->s, d, f);
    bind_params(c, l, false);
    if (proved) continue;
    if (r.hi < 0 && !o->open) {
      ac_diag *g = ac_error(c->diags, o->code, o->loc, "%s", o->refuted);
      ac_note(c->diags, g, l->s->value->loc, "with what this launch passes");
      if (o->other.line) ac_note(c->diags, g, o->other, "it was set here");
      if (o->help) ac_help(c->diags, g, "%s", o->help);
      return;
    }
    unknown = true;
  }
  if ((any ? !unknown : dead) || o->sure) return; /* a kernel that only dead code launches never runs */
  if (o->must) o->must->asked = true;
  ac_diag *g = o->unknown ? ac_warn(c->diags, o->code, o->loc, "%s", o->unknown)
                          : ac_warn(c->diags, o->code, o->loc, "%s: that this cannot be is not proved", o->refuted);
  if (o->help) ac_help(c->diags, g, "%s", o->help);
}

/* ---- UB ---- */

static int64_t usable(const ac_chk *c, const ac_finfo *k) {
  return ac_chip_ub(c->chip, k->select);
}

static int64_t rounding(const ac_chk *c, const ac_finfo *k, size_t i) {
  bool whole = k->whole_bufs[i];
  for (size_t j = 0; j < k->f->buffers.len; j++)
    whole |= k->whole_bufs[j] && k->f->buffers.data[j]->home == k->f->buffers.data[i];
  return whole ? c->chip->repeat : c->chip->block;
}

ac_sym *ac_chk_bytes(ac_chk *c, const ac_finfo *k, size_t i, int64_t *block) {
  *block = rounding(c, k, i);
  if (k->f->buffers.data[i]->dtype ==
      AC_MASK) /* the bits of whole repeats of the shortest elements that are compared */
    return ac_sy_mul(&c->s, ac_sy_fn(&c->s, AC_SY_CDIV, k->caps[i], ac_sy_int(&c->s, 256)), ac_sy_int(&c->s, 32));
  if (k->f->buffers.data[i]->rank > 1) { /* rows start on block boundaries */
    const ac_cbuffer *b = k->f->buffers.data[i];
    int64_t per = c->chip->block / ac_dtypes[b->dtype].bytes;
    ac_syms *s = &c->s;
    ac_sym *n = ac_sy_mul(s, ac_sy_fn(s, AC_SY_CDIV, k->dims[i][b->rank - 1], ac_sy_int(s, per)),
                          ac_sy_int(s, c->chip->block));
    for (int d = 0; d + 1 < b->rank; d++) n = ac_sy_mul(s, n, k->dims[i][d]);
    return n;
  }
  return ac_sy_mul(&c->s, k->caps[i], ac_sy_int(&c->s, ac_dtypes[k->f->buffers.data[i]->dtype].bytes));
}

static int64_t round_up(int64_t v, int64_t to) {
  if (v <= 0) return to;
  return v > INT64_MAX - to ? INT64_MAX : (v + to - 1) / to * to;
}

static int64_t sat_sum(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? INT64_MAX : r;
}

static int64_t sat_product(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* Total bytes. Without a pin every buffer counts once: doubling is the compiler's, where there is room. */
static ac_range total(ac_chk *c, const ac_finfo *k, const ac_fact *f) {
  ac_range t = {0, 0};
  for (size_t i = 0; i < k->f->buffers.len; i++) {
    const ac_cbuffer *b = k->f->buffers.data[i];
    if (b->home) continue;
    int64_t block, depth = b->pinned ? b->pinned : 1;
    int64_t most = b->loaded && b->computed && b->stored ? sat_product(depth, 2) : depth; /* in and out: two queues */
    ac_range r = ac_sy_range(&c->s, ac_sy_bind(&c->s, ac_chk_bytes(c, k, i, &block)), f);
    t.lo = sat_sum(t.lo, sat_product(round_up(r.lo, block), depth));
    t.hi = sat_sum(t.hi, sat_product(round_up(r.hi, block), most));
  }
  t.hi = sat_sum(t.hi, k->scratch); /* less of it for small buffers of a known size */
  return t;
}

/* The largest value of the only unknown in the sizes for which everything fits, or -1. */
static int64_t largest(ac_chk *c, const ac_finfo *k, const ac_fact *f, ac_satom *only) {
  int64_t lo = 0, hi = (int64_t)1 << 40, was_lo = only->lo, was_hi = only->hi;
  while (lo < hi) {
    int64_t mid = lo + (hi - lo + 1) / 2;
    only->lo = only->hi = mid;
    c->s.version++;
    if (total(c, k, f).hi <= usable(c, k))
      lo = mid;
    else
      hi = mid - 1;
  }
  only->lo = was_lo;
  only->hi = was_hi;
  c->s.version++;
  return lo;
}

static void collect_atoms(ac_chk *c, ac_sym *x, int *only, int *n) {
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < x->t[i].k; j++) {
      const ac_satom a = c->s.atoms.data[x->t[i].atom[j]];
      if (a.fn != AC_SY_OPAQUE) {
        collect_atoms(c, a.a, only, n);
        collect_atoms(c, a.b, only, n);
      } else if (*only != x->t[i].atom[j]) {
        *only = x->t[i].atom[j];
        ++*n;
      }
    }
}

static const char *count_text(ac_chk *c, const ac_cbuffer *b) {
  const char *pin = b->pinned > 1 ? ac_sprintf(c->a, ", %d times (pinned)", b->pinned) : "";
  return b->loaded && b->computed && b->stored ? ac_sprintf(c->a, "%s, for input and for output", pin) : pin;
}

static const char *life_text(ac_chk *c, const ac_cbuffer *b) {
  if (!b->shares) return "";
  const char *where = b->home ? ac_sprintf(c->a, ", in the bytes of '%s'", b->home->name) : "";
  return b->from.line == b->to.line
             ? ac_sprintf(c->a, "%s (in use in line %d)", where, b->from.line)
             : ac_sprintf(c->a, "%s (in use from line %d to line %d)", where, b->from.line, b->to.line);
}

/* A note for each buffer. */
static void list_buffers(ac_chk *c, const ac_finfo *k, const ac_fact *f, ac_diag *g) {
  for (size_t i = 0; i < k->f->buffers.len; i++) {
    const ac_cbuffer *b = k->f->buffers.data[i];
    int64_t block;
    ac_sym *bytes = ac_chk_bytes(c, k, i, &block);
    ac_range r = ac_sy_range(&c->s, ac_sy_bind(&c->s, bytes), f);
    const char *now = r.lo == r.hi ? ac_sprintf(c->a, "%lld bytes", (long long)round_up(r.lo, block))
                                   : ac_sprintf(c->a, "%s bytes", ac_sy_text(&c->s, bytes));
    ac_note(c->diags, g, b->loc, "'%s': %s%s%s", b->name, now, count_text(c, b), life_text(c, b));
  }
  if (k->scratch)
    ac_note(c->diags, g, k->f->loc, "scratch of composed primitives: %lld bytes at most", (long long)k->scratch);
}

static ac_cfit fit(ac_chk *c, const ac_klaunch *l, bool report) {
  const ac_finfo *k = l->kernel;
  bind_params(c, l, true);
  ac_range t = total(c, k, l->facts);
  int64_t have = usable(c, k);
  ac_cfit verdict = t.hi <= have ? AC_FIT_PROVED : t.lo > have ? AC_FIT_REFUTED : AC_FIT_UNKNOWN;
  if (report && verdict != AC_FIT_PROVED) {
    ac_diag *g;
    if (verdict == AC_FIT_REFUTED)
      g = ac_error(c->diags, AC0517, l->s->value->loc,
                   "the buffers of '%s' take at least %lld bytes of UB; %s has %lld", k->f->name, (long long)t.lo,
                   c->chip->name, (long long)have);
    else
      g = ac_warn(c->diags, AC0518, l->s->value->loc,
                  "the buffers of '%s' fit into UB (%lld bytes) for some sizes only: the tiling code checks this",
                  k->f->name, (long long)have);
    list_buffers(c, k, l->facts, g);
    int only = -1, n = 0;
    for (size_t i = 0; i < k->f->buffers.len; i++) collect_atoms(c, ac_sy_bind(&c->s, k->caps[i]), &only, &n);
    bool kernel_atom = n == 0 || (n != 1 && verdict == AC_FIT_REFUTED);
    if (kernel_atom) { /* in terms of the kernel: which parameter makes the sizes */
      bind_params(c, l, false);
      only = -1;
      n = 0;
      for (size_t i = 0; i < k->f->buffers.len; i++) collect_atoms(c, k->caps[i], &only, &n);
    }
    if (n == 1) {
      int64_t v = largest(c, k, NULL, &c->s.atoms.data[only]);
      ac_help(c->diags, g, "they fit while %s <= %lld", c->s.atoms.data[only].label, (long long)v);
    } else {
      ac_help(c->diags, g, "bound the sizes in the host function, e.g. tile = min(n, 4096)");
    }
  }
  bind_params(c, l, false);
  return verdict;
}

/* Buffers whose bytes no other has: each is at least one of the pipe's. Slots and scratch come on top (lower.c). */
static void count_buffers(ac_chk *c, const ac_cfunc *k) {
  int n = 0;
  for (size_t i = 0; i < k->buffers.len; i++) n += !k->buffers.data[i]->home;
  if (n <= AC_PIPE_BUFFERS) return;
  ac_diag *g = ac_error(c->diags, AC0528, k->loc, "'%s' has %d buffers with bytes of their own; a kernel may have %d",
                        k->name, n, AC_PIPE_BUFFERS);
  ac_help(c->diags, g, "take rows of one buffer with two dimensions, b[i], in place of many buffers");
}

void ac_chk_launches(ac_chk *c) {
  for (size_t i = 0; i < c->fns.len; i++)
    if (c->fns.data[i]->f->kernel) count_buffers(c, c->fns.data[i]->f);
  for (size_t i = 0; i < c->obligs.len; i++) look_at(c, &c->obligs.data[i]);
  for (size_t i = 0; c->chip && i < c->launches.len; i++) {
    const ac_klaunch *l = &c->launches.data[i];
    l->s->fit = l->dead ? AC_FIT_UNKNOWN : fit(c, l, true);
  }
}
