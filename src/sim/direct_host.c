/* The tiling code of a program, interpreted: 64-bit integers that refuse the shape instead of wrapping, doubles, and the UB
 * arithmetic that picks bufferNum. It decides what the emitted ComputeTiling decides, and refuses with the same words. */
#include "sim/direct.h"

#include <math.h>
#include <string.h>

typedef struct {
  const ac_dprogram *p;
  const ac_sim_tensor *tensors;
  int64_t cores, ub;
  bool deterministic;
  ac_dvalue *v;
  ac_dplan *plan;
} host;
typedef enum { GO, BREAK, DONE } flow;

AC_PRINTF(2, 3) static void refuse(host *h, const char *fmt, ...) {
  if (h->plan->refusal[0]) return; /* the first reason is the one to tell */
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(h->plan->refusal, sizeof h->plan->refusal, fmt, ap);
  va_end(ap);
}

/* ---- checked integers ---- */

static const char too_large[] = "a size does not fit 64 bits";
static int64_t add(host *h, int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) refuse(h, too_large);
  return r;
}
static int64_t sub(host *h, int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) refuse(h, too_large);
  return r;
}
static int64_t mul(host *h, int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) refuse(h, too_large);
  return r;
}
static int64_t floor_div(host *h, int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) {
    refuse(h, "division by zero in the tiling code");
    return 0;
  }
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
static int64_t ceil_div(host *h, int64_t a, int64_t b) {
  return sub(h, 0, floor_div(h, sub(h, 0, a), b));
}
static int64_t align_up(host *h, int64_t a, int64_t to) {
  return mul(h, ceil_div(h, a, to), to);
}
static int64_t truncated(host *h, double a) {
  if (a > -9.2e18 && a < 9.2e18) return (int64_t)a;
  refuse(h, "a number does not fit 64 bits");
  return 0;
}
static int64_t power(host *h, int64_t a, int64_t b) {
  int64_t r = 1;
  for (int64_t i = 0; i < b && !h->plan->refusal[0] && (r > 1 || r < -1 || i < 2); i++) r = mul(h, r, a);
  return b > 1 && a == -1 ? (b % 2 ? -1 : 1) : r;
}
static int64_t dim(host *h, const ac_sim_tensor *t, int64_t i) {
  int64_t k = i < 0 ? i + t->rank : i;
  if (k >= 0 && k < t->rank) return t->shape[k];
  refuse(h, "dimension %lld does not exist in a tensor of rank %d", (long long)i, t->rank);
  return 0;
}
/* By Python's rules for slices; a size of 0 makes it 0 whatever the others are. */
static int64_t product(host *h, const ac_sim_tensor *t, int64_t from, int64_t to) {
  int64_t a = from < 0 ? from + t->rank : from, b = to < 0 ? to + t->rank : to, r = 1;
  if (a < 0) a = 0;
  for (int64_t i = a; i < b && i < t->rank; i++)
    if (!t->shape[i]) return 0;
  for (int64_t i = a; i < b && i < t->rank; i++) r = mul(h, r, t->shape[i]);
  return r;
}

/* ---- expressions ---- */

static int64_t whole(host *h, const ac_dexpr *e);

static double number(host *h, const ac_dexpr *e) {
  switch (e->op) {
  case AC_AE_FLOAT: return e->f;
  case AC_AE_VAR: return h->v[e->slot].d;
  case AC_AE_NEG: return -number(h, e->a);
  case AC_AE_ADD: return number(h, e->a) + number(h, e->b);
  case AC_AE_SUB: return number(h, e->a) - number(h, e->b);
  case AC_AE_MUL: return number(h, e->a) * number(h, e->b);
  case AC_AE_DIV: return number(h, e->a) / number(h, e->b);
  case AC_AE_MIN: {
    double a = number(h, e->a), b = number(h, e->b);
    return a < b ? a : b;
  }
  case AC_AE_MAX: {
    double a = number(h, e->a), b = number(h, e->b);
    return a < b ? b : a;
  }
  case AC_AE_POW: return pow(number(h, e->a), number(h, e->b));
  case AC_AE_COND: return whole(h, e->c) ? number(h, e->a) : number(h, e->b);
  default: return (double)whole(h, e->a); /* AC_AE_TO_FLOAT */
  }
}

static bool compare(host *h, const ac_dexpr *e) {
  int less, equal;
  if (e->of == AC_AT_FLOAT) {
    double a = number(h, e->a), b = number(h, e->b);
    if (isnan(a) || isnan(b)) return e->op == AC_AE_NE;
    less = a < b, equal = a == b;
  } else {
    int64_t a = whole(h, e->a), b = whole(h, e->b);
    less = a < b, equal = a == b;
  }
  switch (e->op) {
  case AC_AE_EQ: return equal;
  case AC_AE_NE: return !equal;
  case AC_AE_LT: return less;
  case AC_AE_LE: return less || equal;
  case AC_AE_GT: return !less && !equal;
  default: return !less;
  }
}

static int64_t arithmetic(host *h, const ac_dexpr *e) {
  int64_t a = whole(h, e->a), b = whole(h, e->b);
  switch (e->op) {
  case AC_AE_ADD: return add(h, a, b);
  case AC_AE_SUB: return sub(h, a, b);
  case AC_AE_MUL: return mul(h, a, b);
  case AC_AE_FLOORDIV: return floor_div(h, a, b);
  case AC_AE_MOD: return sub(h, a, mul(h, floor_div(h, a, b), b));
  case AC_AE_CDIV: return ceil_div(h, a, b);
  case AC_AE_ALIGN_UP: return align_up(h, a, b);
  case AC_AE_ALIGN_DOWN: return mul(h, floor_div(h, a, b), b);
  case AC_AE_MIN: return a < b ? a : b;
  case AC_AE_MAX: return a < b ? b : a;
  default: return power(h, a, b);
  }
}

/* Integers and bools. */
static int64_t whole(host *h, const ac_dexpr *e) {
  const ac_sim_tensor *t = h->tensors + e->slot;
  switch (e->op) {
  case AC_AE_INT: return e->i;
  case AC_AE_VAR: return h->v[e->slot].i;
  case AC_DX_PLAN:
    return h->p->p->fields.data[e->slot].type == AC_AT_FLOAT ? (int64_t)h->plan->fields[e->slot].f
                                                             : h->plan->fields[e->slot].i;
  case AC_AE_NEG: return sub(h, 0, whole(h, e->a));
  case AC_AE_NOT: return !whole(h, e->a);
  case AC_AE_AND: return whole(h, e->a) && whole(h, e->b);
  case AC_AE_OR: return whole(h, e->a) || whole(h, e->b);
  case AC_AE_COND: return whole(h, e->c) ? whole(h, e->a) : whole(h, e->b);
  case AC_AE_TO_INT: return truncated(h, number(h, e->a));
  case AC_DX_TRUTH: return e->of == AC_AT_FLOAT ? number(h, e->a) != 0 : whole(h, e->a) != 0;
  case AC_AE_EQ:
  case AC_AE_NE:
  case AC_AE_LT:
  case AC_AE_LE:
  case AC_AE_GT:
  case AC_AE_GE: return compare(h, e);
  case AC_AE_DETERMINISTIC: return h->deterministic;
  case AC_AE_CORES: return h->cores;
  case AC_AE_UB: return h->ub;
  case AC_AE_RANK: return t->rank;
  case AC_AE_NUMEL: return product(h, t, 0, t->rank);
  case AC_AE_DIM: return dim(h, t, whole(h, e->a));
  case AC_AE_DIMPROD: return product(h, t, e->a ? whole(h, e->a) : 0, e->b ? whole(h, e->b) : t->rank);
  default: return arithmetic(h, e);
  }
}

/* ---- a launch ---- */

static int64_t buffer_bytes(host *h, const ac_dexpr *elements, const ac_abuffer *b) {
  int64_t n = align_up(h, mul(h, whole(h, elements), ac_dtypes[b->dtype].bytes), b->round_to);
  return n < b->round_to ? b->round_to : n;
}

/* Two slots a queue where they fit, else one, else a refusal. */
static void check_ub(host *h, const ac_dlaunch *l) {
  const ac_akernel *k = h->p->p->kernels.data[l->l->kernel];
  int64_t fixed = 0, doubled = 0;
  bool doubles = false;
  if (!k->buffers.len) return;
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *b = &k->buffers.data[i];
    bool twice = ac_two_slots(b);
    if (b->home) continue;
    int64_t n = buffer_bytes(h, l->elements[i], b);
    doubles |= twice;
    if (twice) doubled = add(h, doubled, n);
    int slots = ac_fixed_slots(b);
    if (slots) fixed = add(h, fixed, slots == 1 ? n : mul(h, n, slots));
  }
  /* Select writes to the last 8 KB of UB */
  int64_t have = k->select ? sub(h, h->ub, 8192) : h->ub;
  if (doubles) h->plan->fields[l->l->buffer_num].i = add(h, fixed, mul(h, doubled, 2)) <= have ? 2 : 1;
  int64_t all = add(h, fixed, doubled);
  if (all > have)
    refuse(h, "%s needs %lld bytes of UB, there are %lld: take a smaller tile", k->name, (long long)all,
           (long long)have);
}

/* All the blocks that the program asks for, or none. */
static int64_t blocks(host *h, int64_t wanted, int64_t most) {
  if (wanted > most)
    refuse(h, "%lld blocks are wanted, a launch has %lld at most here", (long long)wanted, (long long)most);
  return wanted < most ? wanted : most;
}

static void workspaces(host *h, const ac_dlaunch *l) {
  const ac_program *p = h->p->p;
  int64_t bytes = h->plan->workspace;
  for (size_t i = 0; i < p->workspaces.len; i++) {
    const ac_aworkspace *w = &p->workspaces.data[i];
    if (!l->workspaces[i]) continue;
    h->plan->fields[w->field].i = bytes;
    bytes = add(h, bytes, align_up(h, mul(h, whole(h, l->workspaces[i]), ac_dtypes[w->dtype].bytes), 512));
  }
  h->plan->workspace = bytes;
}

static void launch(host *h, const ac_dlaunch *l) {
  enum { MOST_BLOCKS = 65535 }; /* of blocks that do not wait for each other */
  const ac_akernel *k = h->p->p->kernels.data[l->l->kernel];
  bool phased = h->p->p->phased;
  int64_t n = blocks(h, whole(h, l->blocks), k->sync_all || phased ? h->cores : MOST_BLOCKS);
  if (!phased) h->plan->key = l->l->key;
  if (phased) h->plan->fields[l->l->blocks_field].i = n;
  if (!l->l->phase || n > h->plan->block_dim) h->plan->block_dim = n;
  for (size_t i = 0; i < k->fields.len; i++) {
    ac_dvalue *to = &h->plan->fields[l->l->fields[i]];
    if (k->fields.data[i].type == AC_AT_FLOAT)
      to->f = (float)number(h, l->values[i]);
    else
      to->i = whole(h, l->values[i]);
  }
  workspaces(h, l);
  check_ub(h, l);
}

/* The end of a path with launches: the phases of one call. */
static void end_path(host *h, const ac_apath *x) {
  for (size_t i = 0; i < x->phases.len; i++) {
    const ac_alaunch *l = x->phases.data[i];
    const ac_akernel *k = h->p->p->kernels.data[l->kernel];
    if (k->sync_all && x->phases.len > 1 && h->plan->fields[l->blocks_field].i != h->plan->block_dim)
      refuse(h, "%s waits for all blocks (tl.sync_all): every launch of this path must have as many", k->name);
  }
  h->plan->key = h->plan->block_dim > 0 ? x->key : 0;
  if (h->plan->block_dim < 1) h->plan->block_dim = 1;
}

/* ---- statements ---- */

static flow run(host *h, const ac_dblock *b);

static void store(host *h, int32_t slot, ac_atype type, const ac_dexpr *e) {
  if (type == AC_AT_FLOAT)
    h->v[slot].d = number(h, e);
  else
    h->v[slot].i = whole(h, e);
}

static flow loop(host *h, const ac_dstmt *s) {
  int64_t hi = whole(h, s->hi), step = whole(h, s->step);
  int64_t *i = &h->v[s->slot].i;
  for (*i = whole(h, s->lo); !h->plan->refusal[0] && (step > 0 ? *i < hi : *i > hi); *i = add(h, *i, step)) {
    flow f = run(h, &s->body);
    if (f == DONE) return DONE;
    if (f == BREAK) break;
  }
  return GO;
}

/* The text, with the numbers in it. */
static void refuse_with(host *h, const ac_dstmt *s) {
  char why[sizeof h->plan->refusal];
  size_t n = 0;
  int at = 0;
  for (const char *p = s->text; *p && n + 24 < sizeof why; p++) {
    if (at < s->n_args && p[0] == '{' && p[1] == '}') {
      n += (size_t)snprintf(why + n, sizeof why - n, "%lld", (long long)whole(h, s->args[at++]));
      p++;
    } else {
      why[n++] = *p;
    }
  }
  why[n] = 0;
  refuse(h, "%s", why);
}

static flow statement(host *h, const ac_dstmt *s) {
  switch (s->kind) {
  case AC_AS_DECL:
  case AC_AS_ASSIGN: store(h, s->slot, (ac_atype)s->type, s->value); return GO;
  case AC_AS_FOR: return loop(h, s);
  case AC_AS_WHILE:
    while (!h->plan->refusal[0] && whole(h, s->value)) {
      flow f = run(h, &s->body);
      if (f == DONE) return DONE;
      if (f == BREAK) break;
    }
    return GO;
  case AC_AS_IF: return run(h, whole(h, s->value) ? &s->body : &s->orelse);
  case AC_AS_BREAK: return BREAK;
  case AC_AS_REFUSE: refuse_with(h, s); return DONE;
  case AC_AS_LAUNCH: launch(h, s->launch); return h->p->p->phased ? GO : DONE;
  case AC_AS_END: end_path(h, h->p->p->paths.data[s->path]); return DONE;
  case AC_AS_NOTHING: return DONE;
  default: return GO;
  }
}
static flow run(host *h, const ac_dblock *b) {
  for (int i = 0; i < b->n; i++) {
    flow f = statement(h, &b->at[i]);
    if (f != GO) return f;
  }
  return GO;
}

/* ---- shapes of outputs ---- */

static int add_size(host *h, int64_t size, int64_t dims[AC_MAX_RANK], int rank) {
  if (size < 0) refuse(h, "the size of an output is negative");
  if (rank >= AC_MAX_RANK) {
    refuse(h, "an output has more than %d dimensions", AC_MAX_RANK);
    return rank;
  }
  dims[rank] = size;
  return rank + 1;
}

bool ac_direct_shape(const ac_dprogram *p, const ac_sim_tensor *tensors, const ac_dvalue *attrs, size_t i,
                     ac_dvalue *scratch, ac_dplan *plan, int *rank, int64_t dims[AC_MAX_RANK]) {
  host h = {.p = p, .tensors = tensors, .v = scratch, .plan = plan};
  for (size_t k = 0; k < p->p->attrs.len; k++) scratch[k] = attrs[k];
  *rank = 0;
  if (!p->dims[i]) return false;
  for (int k = 0; k < p->p->tensors.data[i].n_dims; k++) {
    const ac_doutdim *d = &p->dims[i][k];
    if (d->size) {
      *rank = add_size(&h, whole(&h, d->size), dims, *rank);
      continue;
    }
    const ac_sim_tensor *t = &tensors[d->tensor];
    int64_t a = d->from ? whole(&h, d->from) : 0, b = d->to ? whole(&h, d->to) : t->rank;
    a = a < 0 ? a + t->rank : a;
    b = b < 0 ? b + t->rank : b;
    for (int64_t at = a < 0 ? 0 : a; at < b && at < t->rank; at++) *rank = add_size(&h, t->shape[at], dims, *rank);
  }
  return true;
}

/* What the tiling code asks first: have the outputs the shapes that the program says? */
static bool outputs_agree(host *h, const ac_dvalue *attrs) {
  for (size_t i = 0; i < h->p->p->tensors.len && !h->plan->refusal[0]; i++) {
    int rank;
    int64_t dims[AC_MAX_RANK];
    const ac_sim_tensor *t = &h->tensors[i];
    if (!ac_direct_shape(h->p, h->tensors, attrs, i, h->v, h->plan, &rank, dims)) continue;
    bool same = rank == t->rank;
    for (int k = 0; same && k < rank; k++) same = dims[k] == t->shape[k];
    if (!same) refuse(h, "the shape of %s does not follow from the inputs", h->p->p->tensors.data[i].name);
  }
  return !h->plan->refusal[0];
}

void ac_direct_tiling(const ac_dprogram *p, const ac_sim_tensor *tensors, const ac_dvalue *attrs, int64_t cores,
                      int64_t ub, bool deterministic, ac_dvalue *scratch, ac_dplan *plan) {
  host h = {.p = p,
            .tensors = tensors,
            .cores = cores < 1 ? 1 : cores,
            .ub = ub,
            .deterministic = deterministic,
            .v = scratch,
            .plan = plan};
  plan->refusal[0] = 0;
  plan->key = plan->workspace = 0;
  plan->block_dim = 1;
  memset(plan->fields, 0, p->p->fields.len * sizeof *plan->fields);
  for (size_t i = 0; i < p->p->launches.len; i++) plan->fields[p->p->launches.data[i]->buffer_num].i = 1;
  for (size_t i = 0; i < p->p->attrs.len; i++) scratch[i] = attrs[i];
  if (outputs_agree(&h, attrs)) run(&h, &p->host);
}
