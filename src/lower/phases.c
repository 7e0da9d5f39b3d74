/* Several launches on one path of the host function.
 *
 * Where some path launches twice, or refuses after a launch, the tiling code becomes a tree of paths: what follows an `if` that
 * launches is copied into both of its sides, so that every leaf knows the launches behind it; conditions that a path has decided before
 * are not asked again. Each leaf is a tiling key; its launches are the phases of one call in the one-operator forms, and kernels of their
 * own in the direct-launch form. */
#include "lower/internal.h"

#include <string.h>

enum { MAX_LAUNCHES = 256 }; /* after copying */

/* ---- which programs ---- */

/* States that can leave a list of statements: 1 nothing launched yet, 2 launched. */
static int states(const ac_lower_ctx *c, const ac_cstmt *first, int in, bool *phased) {
  for (const ac_cstmt *s = first; s && in; s = s->next) {
    if (s->kind == AC_CS_RETURN) return 0;
    if (s->kind == AC_CS_EXPR && s->value->prim == AC_P_REFUSE) {
      *phased |= (in & 2) != 0;
      return 0;
    }
    if (s->kind == AC_CS_EXPR && s->value->kind == AC_CE_CALL && ac_craft_launch_kernel(c->m, s)) {
      *phased |= (in & 2) != 0;
      in = 2;
    } else if (s->kind == AC_CS_IF) {
      in = states(c, s->body, in, phased) | states(c, s->orelse, in, phased);
    } else if (s->body) {
      in |= states(c, s->body, in, phased);
    }
  }
  return in;
}

bool ac_lower_phased(ac_lower_ctx *c, const ac_cfunc *host) {
  bool phased = false;
  (void)states(c, host->body, 1, &phased);
  return phased;
}

typedef struct {
  ac_lower_ctx *c;
  int launches; /* in the tree so far */
  int unknown;  /* values that nobody follows */
} maker;

static bool launches_in(const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++)
    if (b->data[i]->kind == AC_AS_LAUNCH || launches_in(&b->data[i]->body) || launches_in(&b->data[i]->orelse))
      return true;
  return false;
}

static bool ends(const ac_ablock *b) {
  if (!b->len) return false;
  const ac_astmt *s = b->data[b->len - 1];
  return s->kind == AC_AS_REFUSE || s->kind == AC_AS_NOTHING || s->kind == AC_AS_END ||
         (s->kind == AC_AS_IF && ends(&s->body) && ends(&s->orelse));
}

static void copy_block(maker *m, ac_ablock *to, ac_astmt *const *from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    ac_astmt *s = AC_NEW(m->c->a, ac_astmt);
    *s = *from[i];
    s->body = s->orelse = (ac_ablock){0};
    copy_block(m, &s->body, from[i]->body.data, from[i]->body.len);
    copy_block(m, &s->orelse, from[i]->orelse.data, from[i]->orelse.len);
    if (s->launch) {
      s->launch = AC_NEW(m->c->a, ac_alaunch);
      *s->launch = *from[i]->launch;
      m->launches++;
    }
    ac_push(m->c->a, to, s);
  }
}

/* ---- what a path knows: values of variables in terms of the call alone, and conditions that it has decided ---- */

typedef struct known {
  const char *name;
  ac_aexpr *value;
  const struct known *next;
} known;
typedef struct fact {
  const ac_aexpr *cond;
  bool holds;
  const struct fact *next;
} fact;
typedef struct {
  maker *m;
  const known *vars;
  const fact *facts;
} state;

enum { MAX_TERMS = 60 }; /* of an expression that is followed */

static int terms(const ac_aexpr *e) {
  return e ? 1 + terms(e->a) + terms(e->b) + terms(e->c) : 0;
}

static ac_aexpr *value_of(void *user, const char *name) {
  for (const known *k = ((const state *)user)->vars; k; k = k->next)
    if (!strcmp(k->name, name)) return k->value;
  return NULL;
}

/* From here on the variable is `value`; NULL, or one too long to follow: a value that nothing else equals. */
static void learn(state *s, const char *name, ac_aexpr *value, ac_atype type) {
  ac_arena *a = s->m->c->a;
  known *k = AC_NEW(a, known);
  if (value) value = ac_ae_subst(a, value, value_of, s);
  if (!value || terms(value) > MAX_TERMS) value = ac_ae_var(a, ac_sprintf(a, "%s %d", name, s->m->unknown++), type);
  *k = (known){.name = name, .value = value, .next = s->vars};
  s->vars = k;
}

static void forget(state *s, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *x = b->data[i];
    if (x->kind == AC_AS_DECL || x->kind == AC_AS_ASSIGN || x->kind == AC_AS_FOR)
      learn(s, x->var.name, NULL, x->var.type);
    forget(s, &x->body);
    forget(s, &x->orelse);
  }
}

static void decide(state *s, const ac_aexpr *cond, bool holds) {
  fact *f = AC_NEW(s->m->c->a, fact);
  *f = (fact){.cond = cond, .holds = holds, .next = s->facts};
  s->facts = f;
}

static const fact *decided(const state *s, const ac_aexpr *cond) {
  const fact *f = s->facts;
  while (f && !ac_ae_equal(f->cond, cond)) f = f->next;
  return f;
}

/* ---- the tree ---- */

static int count_launches(const ac_ablock *b) {
  int n = 0;
  for (size_t i = 0; i < b->len; i++)
    n += (b->data[i]->kind == AC_AS_LAUNCH) + count_launches(&b->data[i]->body) + count_launches(&b->data[i]->orelse);
  return n;
}

/* The side that the path takes in place of the `if` at i. */
static void splice(maker *m, ac_ablock *b, size_t i, bool holds) {
  ac_astmt *s = b->data[i];
  ac_ablock out = {0}, *side = holds ? &s->body : &s->orelse;
  m->launches -= count_launches(holds ? &s->orelse : &s->body);
  for (size_t k = 0; k < i; k++) ac_push(m->c->a, &out, b->data[k]);
  for (size_t k = 0; k < side->len; k++) ac_push(m->c->a, &out, side->data[k]);
  for (size_t k = i + 1; k < b->len && !ends(side); k++) ac_push(m->c->a, &out, b->data[k]);
  *b = out;
}

/* What follows an `if` that launches goes into both of its sides, where the path has not decided it before. */
static void expand(maker *m, ac_ablock *b, state known_here) {
  state *s = &known_here;
  for (size_t i = 0; i < b->len && m->launches <= MAX_LAUNCHES; i++) {
    ac_astmt *x = b->data[i];
    if (x->kind == AC_AS_DECL || x->kind == AC_AS_ASSIGN) learn(s, x->var.name, x->value, x->var.type);
    if (x->kind == AC_AS_FOR) learn(s, x->var.name, NULL, x->var.type);
    if (x->kind == AC_AS_FOR || x->kind == AC_AS_WHILE) forget(s, &x->body);
    if (x->kind != AC_AS_IF) continue;
    const ac_aexpr *cond = ac_ae_subst(m->c->a, x->cond, value_of, s);
    const fact *f = decided(s, cond);
    if (f) {
      splice(m, b, i--, f->holds);
      continue;
    }
    if (launches_in(&x->body) || launches_in(&x->orelse)) {
      size_t rest = b->len - i - 1;
      bool body = !ends(&x->body), orelse = !ends(&x->orelse);
      if (body) copy_block(m, &x->body, b->data + i + 1, rest);
      for (size_t k = 0; orelse && k < rest; k++) ac_push(m->c->a, &x->orelse, b->data[i + 1 + k]);
      b->len = i + 1;
      state yes = *s, no = *s;
      decide(&yes, cond, true);
      decide(&no, cond, false);
      expand(m, &x->body, yes);
      expand(m, &x->orelse, no);
      return;
    }
    forget(s, &x->body);
    forget(s, &x->orelse);
    if (ends(&x->body) && !ends(&x->orelse)) decide(s, cond, false);
    if (ends(&x->orelse) && !ends(&x->body)) decide(s, cond, true);
  }
}

/* ---- its leaves ---- */

typedef AC_VEC(ac_alaunch *) trail;

static bool uses(const ac_program *p, const ac_alaunch *l, size_t workspace) {
  for (int i = 0; i < p->kernels.data[l->kernel]->n_tensors; i++)
    if (l->tensors[i] == -1 - (int)workspace) return true;
  return false;
}

static void take(maker *m, ac_alaunch *l, trail *t) {
  ac_program *p = m->c->p;
  l->index = (int)p->launches.len;
  l->phase = (int)t->len;
  l->places = AC_NEW_N(m->c->a, bool, p->workspaces.len + 1);
  for (size_t w = 0; w < p->workspaces.len; w++) {
    l->places[w] = uses(p, l, w);
    for (size_t i = 0; i < t->len; i++) l->places[w] = l->places[w] && !uses(p, t->data[i], w);
  }
  ac_push(m->c->a, &p->launches, l);
  ac_push(m->c->a, t, l);
}

static int path_of(maker *m, const trail *t) {
  ac_program *p = m->c->p;
  for (size_t i = 0; i < p->paths.len; i++) {
    const ac_apath *x = p->paths.data[i];
    if (x->phases.len == t->len && !memcmp(x->phases.data, t->data, t->len * sizeof *t->data)) return (int)i;
  }
  ac_apath *x = AC_NEW(m->c->a, ac_apath);
  x->key = (int)p->paths.len + 1;
  for (size_t i = 0; i < t->len; i++) ac_push(m->c->a, &x->phases, t->data[i]);
  ac_push(m->c->a, &p->paths, x);
  return x->key - 1;
}

static void leaf(maker *m, ac_astmt *s, const trail *t) {
  s->kind = t->len ? AC_AS_END : AC_AS_NOTHING;
  if (t->len) s->path = path_of(m, t);
}

/* `tail`: control leaves the function at the end of the block. */
static void walk(maker *m, ac_ablock *b, trail t, bool tail, ac_loc loc) {
  trail own = {0}; /* the sides of a branch grow apart */
  for (size_t i = 0; i < t.len; i++) ac_push(m->c->a, &own, t.data[i]);
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    bool last = tail && i + 1 == b->len;
    if (s->kind == AC_AS_LAUNCH) take(m, s->launch, &own);
    if (s->kind == AC_AS_NOTHING) leaf(m, s, &own);
    if (s->kind == AC_AS_IF && last && !ends(b)) { /* the leaves are on its sides */
      walk(m, &s->body, own, true, s->loc);
      walk(m, &s->orelse, own, true, s->loc);
      return;
    }
    walk(m, &s->body, own, false, s->loc);
    walk(m, &s->orelse, own, false, s->loc);
  }
  if (!tail || ends(b)) return;
  ac_astmt *s = ac_as_new(m->c->a, AC_AS_NOTHING, loc);
  leaf(m, s, &own);
  ac_push(m->c->a, b, s);
}

static void single(maker *m, ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_LAUNCH) {
      trail t = {0};
      take(m, s->launch, &t);
      s->launch->key = path_of(m, &t) + 1;
    }
    single(m, &s->body);
    single(m, &s->orelse);
  }
}

bool ac_lower_paths(ac_lower_ctx *c, ac_loc loc) {
  maker m = {.c = c, .launches = (int)c->p->launches.len};
  c->p->launches.len = c->p->paths.len = 0;
  if (!c->p->phased) {
    single(&m, &c->p->host);
    return true;
  }
  expand(&m, &c->p->host, (state){.m = &m});
  if (m.launches > MAX_LAUNCHES) {
    ac_diag *x = ac_error(c->d, AC0605, loc,
                          "the host function has too many ways through its launches: more than %d launches on all of "
                          "them together",
                          (int)MAX_LAUNCHES);
    ac_help(c->d, x, "choose the way with one if and elif chain, and put the launches of each into its branch");
    return false;
  }
  walk(&m, &c->p->host, (trail){0}, true, loc);
  for (size_t i = 0; i < c->p->paths.len; i++) {
    const ac_apath *x = c->p->paths.data[i];
    for (size_t k = 0; k < x->phases.len; k++)
      if (!x->phases.data[k]->key) x->phases.data[k]->key = x->key; /* the first way that it is on */
  }
  return true;
}

/* ---- fields ---- */

static int add_field(ac_lower_ctx *c, const char *name) {
  for (size_t i = 0; i < c->p->fields.len; i++)
    if (!strcmp(c->p->fields.data[i].name, name)) return (int)i;
  ac_afield f = {.name = name, .type = AC_AT_INT};
  ac_push(c->a, &c->p->fields, f);
  return (int)c->p->fields.len - 1;
}

/* Fields of one name are shared by the launches that are never on one path with each other. */
static int field_of(ac_lower_ctx *c, const ac_akernel *k, const char *name, ac_atype t) {
  for (size_t i = 0; i < c->p->fields.len; i++) {
    if (strcmp(c->p->fields.data[i].name, name)) continue;
    if (c->p->fields.data[i].type == t) return (int)i;
    name = ac_sprintf(c->a, "%s_%s", k->name, name); /* another kernel uses the name for something else */
    i = (size_t)-1;
  }
  ac_afield f = {.name = name, .type = t};
  ac_push(c->a, &c->p->fields, f);
  return (int)c->p->fields.len - 1;
}

static void counts_expr(void *user, const ac_cexpr *e) {
  if (e->kind == AC_CE_CALL && e->prim == AC_P_NUM_PROGRAMS) *(bool *)user = true;
}
static bool counts(const ac_cstmt *s) {
  bool found = false;
  for (; s && !found; s = s->next) {
    ac_each_expr(s, counts_expr, &found);
    found = found || counts(s->body) || counts(s->orelse);
  }
  return found;
}

/* A phase may have fewer blocks than the call: tl.num_programs is a field then. */
static void count_blocks(ac_lower_ctx *c) {
  for (size_t k = 0; c->p->phased && k < c->kernels.len; k++) {
    ac_lkernel *lk = c->kernels.data[k];
    if (!counts(lk->fn->body)) continue;
    lk->blocks = ac_lower_unique(c->a, lk, "blockCount");
    ac_akfield f = {.name = lk->blocks, .type = AC_AT_INT, .field = -1};
    ac_push(c->a, &lk->k->fields, f);
    for (size_t i = 0; i < c->p->launches.len; i++) {
      ac_alaunch *l = c->p->launches.data[i];
      if (l->kernel != (int)k) continue;
      ac_aexpr **v = AC_NEW_N(c->a, ac_aexpr *, lk->k->fields.len);
      memcpy(v, l->values, (lk->k->fields.len - 1) * sizeof *v);
      v[lk->k->fields.len - 1] = l->blocks;
      l->values = v;
    }
  }
}

void ac_lower_fields(ac_lower_ctx *c) {
  ac_program *p = c->p;
  count_blocks(c);
  for (size_t i = 0; i < p->kernels.len; i++) p->kernels.data[i]->buffer_num = -1;
  for (size_t i = 0; i < p->launches.len; i++) {
    ac_alaunch *l = p->launches.data[i];
    ac_akernel *k = p->kernels.data[l->kernel];
    l->fields = AC_NEW_N(c->a, int, k->fields.len + 1);
    for (size_t f = 0; f < k->fields.len; f++) {
      ac_akfield *kf = &k->fields.data[f];
      const char *name = l->phase ? ac_sprintf(c->a, "phase%d_%s", l->phase + 1, kf->name) : kf->name;
      l->fields[f] = field_of(c, k, name, kf->type);
      if (kf->field < 0) kf->field = l->fields[f];
    }
  }
  for (size_t i = 0; i < p->launches.len; i++) {
    ac_alaunch *l = p->launches.data[i];
    ac_akernel *k = p->kernels.data[l->kernel];
    int n = l->phase + 1;
    l->buffer_num = add_field(c, l->phase ? ac_sprintf(c->a, "phase%d_bufferNum", n) : "bufferNum");
    l->blocks_field = p->phased ? add_field(c, ac_sprintf(c->a, "phase%d_blocks", n)) : -1;
    if (k->buffer_num < 0) k->buffer_num = l->buffer_num;
  }
}
