/* Trials: the sketch is run on a family of shapes with the host's own arithmetic, all blocks, their copies as intervals. What is wrong on one
 * shape is wrong: no error that comes from here is a false one. */
#include "craft/sketch.h"
#include "craft/sym.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DIMS = 8, STEPS_A_TRIAL = 12000, STEPS = 60000, MAX_SPANS = 20000, MAX_PICKS = 8 };

typedef struct {
  int64_t dim[MAX_DIMS];
  bool set[MAX_DIMS], rank_set;
  int rank;
  int64_t n;       /* elements; -1: not known */
  bool fuzzy;      /* an address of an access is not known */
  bool trouble;    /* something was found about it in this trial */
  int64_t reached; /* one past the last element that an access touched */
} tensor;

typedef struct {
  int64_t at, len;
  int block, epoch;
  bool store, atomic;
  const ac_skstmt *s;
} span;
typedef struct {
  int tensor;
  span x;
} event;

typedef struct {
  ac_code code;
  int tensor;
  const ac_skstmt *other; /* what the note is about; NULL: the tensor, or there is none */
  ac_loc loc;
  const char *message, *note, *help, *shape;
  bool warning;
} finding;

typedef struct {
  ac_sketch *s;
  tensor *t;
  int64_t pick[MAX_PICKS];
  int picks;
  bool flag;             /* what tl.deterministic() is */
  int64_t steps, budget; /* of this trial, of all */
  bool gave_up, refused, data;
  AC_VEC(event) events;
  AC_VEC(span) * written; /* per tensor, over the launches so far */
  AC_VEC(span) * read;
  AC_VEC(finding) found;
  int *
      clean; /* per tensor: trials with more than one element, of different sizes, that went through without a finding to its very end */
  int64_t *clean_n;
  int launches;
} trial;

typedef struct {
  int64_t *slot;
  bool *known;
  int64_t pid, blocks;
  int epoch;
  const ac_skstmt *launch; /* NULL: the host */
} frame;

/* ---- sizes ---- */

static void bounds_of(const tensor *t, const ac_sknode *n, int *from, int *to) {
  *from = n->from < 0 ? n->from + t->rank : n->from;
  *to = n->to == AC_SK_END ? t->rank : n->to < 0 ? n->to + t->rank : n->to;
  if (*from < 0) *from = 0;
  if (*to > t->rank) *to = t->rank;
}

/* A size that nothing has fixed: as another tensor of this rank has it there, else the next of the trial. */
static int64_t choose(trial *r, int t, int d) {
  for (int i = 0; i < t; i++)
    if (r->t[i].rank == r->t[t].rank && r->t[i].set[d]) return r->t[i].dim[d];
  return r->picks < MAX_PICKS ? r->pick[r->picks++] : 1;
}

static bool product_of(trial *r, const ac_sknode *n, int64_t *v, int *free_dim) {
  tensor *t = &r->t[n->i];
  int from, to, frees = 0;
  bounds_of(t, n, &from, &to);
  *v = 1;
  for (int d = from; d < to; d++)
    if (!t->set[d]) {
      if (free_dim) *free_dim = d;
      frees++;
    } else if (__builtin_mul_overflow(*v, t->dim[d], v)) {
      return false;
    }
  if (free_dim) return frees > 0;
  for (int d = from; d < to; d++) {
    if (t->set[d]) continue;
    t->dim[d] = choose(r, (int)n->i, d);
    t->set[d] = true;
    if (__builtin_mul_overflow(*v, t->dim[d], v)) return false;
  }
  return true;
}

/* `x.numel() != n` with x open: the trial takes the shape for which they agree. */
static void agree(trial *r, const ac_sknode *n, int64_t want) {
  if (n->op == AC_SK_RANK) {
    tensor *t = &r->t[n->i];
    if (!t->rank_set && want >= t->rank && want <= MAX_DIMS) t->rank = (int)want;
    t->rank_set = true;
    return;
  }
  int64_t rest;
  int d = -1;
  if (n->op != AC_SK_SIZE) return;
  while (product_of(r, n, &rest, &d)) { /* the last open dimension takes what the others leave */
    tensor *t = &r->t[n->i];
    int from, to, open = 0, first = -1;
    bounds_of(t, n, &from, &to);
    for (int i = from; i < to; i++)
      if (!t->set[i]) {
        if (first < 0) first = i;
        open++;
      }
    t->set[first] = true;
    t->dim[first] = open > 1 ? 1 : rest ? want / rest : 1;
    if (open == 1) return;
  }
}

/* ---- expressions ---- */

static bool eval(trial *r, const frame *f, const ac_sknode *n, int64_t *v);

static bool open_size(const trial *r, const ac_sknode *n) {
  if (n->op == AC_SK_RANK) return !r->t[n->i].rank_set;
  if (n->op != AC_SK_SIZE) return false;
  const tensor *t = &r->t[n->i];
  int from, to;
  bounds_of(t, n, &from, &to);
  for (int d = from; d < to; d++)
    if (!t->set[d]) return true;
  return false;
}

static bool arithmetic(ac_skop op, int64_t a, int64_t b, int64_t *v) {
  switch (op) {
  case AC_SK_ADD: return !__builtin_add_overflow(a, b, v);
  case AC_SK_SUB: return !__builtin_sub_overflow(a, b, v);
  case AC_SK_MUL: return !__builtin_mul_overflow(a, b, v);
  case AC_SK_MIN: return *v = a < b ? a : b, true;
  case AC_SK_MAX: return *v = a > b ? a : b, true;
  case AC_SK_EQ: return *v = a == b, true;
  case AC_SK_NE: return *v = a != b, true;
  case AC_SK_LT: return *v = a < b, true;
  case AC_SK_LE: return *v = a <= b, true;
  case AC_SK_GT: return *v = a > b, true;
  case AC_SK_GE: return *v = a >= b, true;
  default: break;
  }
  if (b == 0 || b == -1 || a < -INT64_MAX / 2) return false;
  if (op == AC_SK_FLOORDIV) return *v = ac_sy_floor_div(a, b), true;
  if (op == AC_SK_CDIV) return *v = -ac_sy_floor_div(-a, b), true;
  return *v = a - ac_sy_floor_div(a, b) * b, true;
}

static bool eval_binary(trial *r, const frame *f, const ac_sknode *n, int64_t *v) {
  int64_t a, b;
  if (n->op == AC_SK_EQ || n->op == AC_SK_NE) {
    bool oa = open_size(r, n->a), ob = open_size(r, n->b);
    if (oa != ob) {
      if (!eval(r, f, oa ? n->b : n->a, &b)) return false;
      agree(r, oa ? n->a : n->b, b);
    }
  }
  if (!eval(r, f, n->a, &a)) return false;
  if ((n->op == AC_SK_AND && !a) || (n->op == AC_SK_OR && a)) return *v = a, true;
  if (!eval(r, f, n->b, &b)) return false;
  if (n->op == AC_SK_AND || n->op == AC_SK_OR) return *v = b, true;
  return arithmetic(n->op, a, b, v);
}

static bool eval(trial *r, const frame *f, const ac_sknode *n, int64_t *v) {
  switch (n->op) {
  case AC_SK_INT: return *v = n->i, true;
  case AC_SK_VAR: return *v = f->slot[n->i], f->known[n->i];
  case AC_SK_PID: return *v = f->pid, true;
  case AC_SK_BLOCKS: return *v = f->blocks, true;
  case AC_SK_CORES: return *v = r->s->chip ? r->s->chip->vector_cores : 1, true;
  case AC_SK_UB: return *v = r->s->chip ? r->s->chip->ub - r->s->chip->ub_reserved : 1, r->s->chip != NULL;
  case AC_SK_SIZE: return product_of(r, n, v, NULL);
  case AC_SK_RANK: return r->t[n->i].rank_set = true, *v = r->t[n->i].rank, true;
  case AC_SK_NOT:
    if (!eval(r, f, n->a, v)) return false;
    return *v = !*v, true;
  case AC_SK_COND:
    if (!eval(r, f, n->c, v)) return false;
    return eval(r, f, *v ? n->a : n->b, v);
  case AC_SK_FLAG: return *v = r->flag, true;
  case AC_SK_DATA: return false;
  default: return eval_binary(r, f, n, v);
  }
}

/* ---- what is found ---- */

static const char *shape_text(trial *r) {
  ac_buf b;
  ac_buf_init(&b, r->s->a);
  for (size_t i = 0; i < r->s->tensors.len; i++) {
    const ac_sktensor *x = &r->s->tensors.data[i];
    if (!x->asked) continue;
    ac_printf(&b, "%s%s.shape = (", b.len ? ", " : "", x->name);
    for (int d = 0; d < r->t[i].rank; d++) {
      if (r->t[i].set[d])
        ac_printf(&b, "%s%lld", d ? ", " : "", (long long)r->t[i].dim[d]);
      else
        ac_printf(&b, "%sany", d ? ", " : "");
    }
    ac_puts(&b, r->t[i].rank == 1 ? ",)" : ")");
  }
  return b.len ? ac_strdup(r->s->a, ac_buf_str(&b)) : "any shape";
}

static const char *range_text(trial *r, int64_t at, int64_t end) {
  return end - at == 1 ? ac_sprintf(r->s->a, "element %lld", (long long)at)
                       : ac_sprintf(r->s->a, "elements %lld..%lld", (long long)at, (long long)end - 1);
}

static const char *are(int64_t n) {
  return n == 1 ? "is" : "are";
}

static finding *find(trial *r, ac_code code, int t, const ac_skstmt *s, ac_loc loc) {
  static finding spare;
  r->t[t].trouble = true;
  if (s) loc = s->loc;
  for (size_t i = 0; i < r->found.len; i++) {
    const finding *x = &r->found.data[i];
    bool same = code == AC0540 || code == AC0544 ||
                (x->loc.line == loc.line && x->loc.col == loc.col); /* one an output is enough */
    if (x->code == code && x->tensor == t && same) return &spare;
  }
  finding x = {.code = code, .tensor = t, .loc = loc, .shape = shape_text(r)};
  ac_push(r->s->a, &r->found, x);
  return &r->found.data[r->found.len - 1];
}

static const char *name(const trial *r, int t) {
  return r->s->tensors.data[t].name;
}

/* ---- a block ---- */

typedef enum { GO, BREAK, STOP } flow;

static bool spend(trial *r) {
  if (++r->steps > STEPS_A_TRIAL || --r->budget < 0) r->gave_up = true;
  return !r->gave_up;
}

static void push_span(trial *r, int t, span x) {
  event e = {t, x};
  if (r->events.len >= MAX_SPANS) {
    r->gave_up = true;
    return;
  }
  tensor *w = &r->t[t];
  if (x.len <= 0) return;
  if (w->n >= 0 && (x.at < 0 || x.at + x.len > w->n)) {
    finding *g = find(r, AC0542, t, x.s, AC_NOLOC);
    int64_t lo = x.at < 0 ? x.at : x.at > w->n ? x.at : w->n, hi = x.at < 0 && x.at + x.len > 0 ? 0 : x.at + x.len;
    g->message = ac_sprintf(r->s->a, "block %d %s %s of '%s', which has %lld", x.block, x.store ? "writes" : "reads",
                            range_text(r, lo, hi), name(r, t), (long long)w->n);
    g->help = "end the last tile where the tensor ends: tl.arange(0, min(tile, end - i))";
  }
  if (x.at + x.len > w->reached) w->reached = x.at + x.len;
  ac_push(r->s->a, &r->events, e);
}

/* The rows of a copy, joined where one ends as the next begins. */
static void rows(trial *r, int t, span x, const int64_t *extent, const int64_t *stride, int rank) {
  int64_t joined = x.len;
  while (rank > 0 && stride[rank - 1] == joined) joined *= extent[--rank];
  x.len = joined;
  if (!rank) {
    push_span(r, t, x);
    return;
  }
  int64_t at = x.at;
  for (int64_t i = 0; i < extent[0] && spend(r); i++) {
    x.at = at + i * stride[0];
    if (rank == 1)
      push_span(r, t, x);
    else
      rows(r, t, x, extent + 1, stride + 1, rank - 1);
  }
}

static void access(trial *r, const frame *f, const ac_skstmt *s) {
  const ac_skaccess *a = s->access;
  if (!f->launch) return; /* the host has none */
  int t = f->launch->tensors[a->param];
  int64_t base, extent[4] = {0}, stride[4] = {0};
  bool ok = !a->within && eval(r, f, a->base, &base);
  for (int d = 0; ok && d < a->rank; d++)
    ok = eval(r, f, a->extent[d], &extent[d]) && eval(r, f, a->stride[d], &stride[d]);
  if (!ok) {
    r->t[t].fuzzy = true;
    return;
  }
  for (int d = 0; d < a->rank; d++)
    if (extent[d] <= 0) return;
  int n = 0; /* axes of one element say nothing */
  for (int d = 0; d < a->rank; d++)
    if (extent[d] > 1) {
      extent[n] = extent[d];
      stride[n++] = stride[d];
    }
  rows(r, t, (span){base, 1, (int)f->pid, f->epoch, a->store, a->atomic, s}, extent, stride, n);
}

static flow run(trial *r, frame *f, const ac_skstmt *s);

/* Of constants alone. */
static bool fixed(const ac_sknode *e) {
  return !e || e->op == AC_SK_INT ||
         ((e->op == AC_SK_ADD || e->op == AC_SK_SUB || e->op == AC_SK_MUL) && fixed(e->a) && fixed(e->b));
}

/* A step that is no constant is positive: a rule of the language. */
static flow no_step(trial *r, const ac_skstmt *s, int64_t step) {
  finding *g = find(r, AC0524, 0, s, s->loc);
  g->message = ac_sprintf(r->s->a, "the step of this loop is %lld", (long long)step);
  g->help = "give the kernel a tile of at least 1: max(1, ...)";
  return r->refused = true, STOP;
}

static flow loop(trial *r, frame *f, const ac_skstmt *s) {
  int64_t lo = 0, hi = 0, step = 1, v;
  if (s->kind == AC_SKS_FOR) {
    if (!eval(r, f, s->lo, &lo) || !eval(r, f, s->hi, &hi) || !eval(r, f, s->step, &step))
      return r->data = true, STOP;
    if (step <= 0 && lo < hi && !fixed(s->step)) return no_step(r, s, step);
    if (!step) return r->gave_up = true, STOP;
  }
  for (int64_t i = lo; spend(r); i += step) {
    if (s->kind == AC_SKS_FOR && (step > 0 ? i >= hi : i <= hi)) return GO;
    if (s->kind == AC_SKS_FOR) {
      f->slot[s->slot] = i;
      f->known[s->slot] = true;
    } else if (!eval(r, f, s->value, &v)) {
      return r->data = true, STOP;
    } else if (!v) {
      return GO;
    }
    flow w = run(r, f, s->body);
    if (w == BREAK) return GO;
    if (w == STOP) return STOP;
  }
  return STOP;
}

static void launch(trial *r, const frame *host, const ac_skstmt *s);

static flow run(trial *r, frame *f, const ac_skstmt *s) {
  int64_t v = 0;
  flow w;
  for (; s; s = s->next) {
    if (!spend(r)) return STOP;
    switch (s->kind) {
    case AC_SKS_SET:
      f->known[s->slot] = eval(r, f, s->value, &v);
      f->slot[s->slot] = v;
      break;
    case AC_SKS_IF:
      if (!eval(r, f, s->value, &v)) return r->data = true, STOP;
      if ((w = run(r, f, v ? s->body : s->orelse)) != GO) return w;
      break;
    case AC_SKS_FOR:
    case AC_SKS_WHILE:
      if ((w = loop(r, f, s)) != GO) return w;
      break;
    case AC_SKS_RETURN: return STOP;
    case AC_SKS_BREAK: return BREAK;
    case AC_SKS_ACCESS: access(r, f, s); break;
    case AC_SKS_SYNC: f->epoch++; break;
    case AC_SKS_MUST: break;
    case AC_SKS_REFUSE: return r->refused = true, STOP;
    case AC_SKS_EMPTY: r->t[s->slot].n = eval(r, f, s->value, &v) ? v : -1; break;
    case AC_SKS_LAUNCH:
      launch(r, f, s);
      if (r->gave_up || r->data || r->refused) return STOP;
      break;
    }
  }
  return GO;
}

/* ---- a launch ---- */

static int by_place(const void *x, const void *y) {
  const event *a = x, *b = y;
  if (a->tensor != b->tensor) return a->tensor < b->tensor ? -1 : 1;
  if (a->x.at != b->x.at) return a->x.at < b->x.at ? -1 : 1;
  return a->x.block != b->x.block ? (a->x.block < b->x.block ? -1 : 1) : (int)b->x.store - (int)a->x.store;
}

static void twice(trial *r, int t, const span *a, const span *b) {
  int64_t end = a->at + a->len < b->at + b->len ? a->at + a->len : b->at + b->len;
  finding *g = find(r, AC0541, t, a->s, AC_NOLOC);
  g->other = b->s == a->s ? NULL : b->s;
  g->note = g->other ? "and here" : NULL;
  g->message = ac_sprintf(r->s->a, "blocks %d and %d both write %s of '%s'", a->block, b->block,
                          range_text(r, b->at, end), name(r, t));
  g->help = "each block writes a range of its own; its last tile ends where the range ends: "
            "tl.arange(0, min(tile, last - i))";
}

static void unordered(trial *r, int t, const span *a, const span *b) {
  const span *w = a->store ? a : b, *x = a->store ? b : a;
  int64_t at = a->at > b->at ? a->at : b->at, end = a->at + a->len < b->at + b->len ? a->at + a->len : b->at + b->len;
  finding *g = find(r, AC0543, t, x->s, AC_NOLOC);
  g->other = w->s;
  g->note = "it is stored here";
  g->message = ac_sprintf(r->s->a, "block %d reads %s of '%s', which block %d stores in the same launch%s", x->block,
                          range_text(r, at, end), name(r, t), w->block,
                          x->epoch ? ", behind the same barrier" : " with no barrier between");
  g->help = "tl.sync_all() between the store and the load, outside of branches on the block; or two launches";
}

/* Pairs of overlapping spans of different blocks in one epoch, at least one of them a store. */
static void conflicts(trial *r, int t, const event *e, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const span *a = &e[i].x;
    for (size_t k = i + 1; k < n && e[k].x.at < a->at + a->len; k++) {
      const span *b = &e[k].x;
      if (k - i > 64 || !spend(r)) break;
      if (a->block == b->block || a->epoch != b->epoch || (!a->store && !b->store)) continue;
      if (a->store && b->store) {
        if (!(a->atomic && b->atomic)) twice(r, t, a, b);
      } else {
        unordered(r, t, a, b);
      }
    }
  }
}

static void after_launch(trial *r) {
  if (r->events.len) qsort(r->events.data, r->events.len, sizeof *r->events.data, by_place);
  for (size_t i = 0; i < r->events.len;) {
    size_t k = i;
    int t = r->events.data[i].tensor;
    for (; k < r->events.len && r->events.data[k].tensor == t; k++) {
      if (r->events.data[k].x.store)
        ac_push(r->s->a, &r->written[t], r->events.data[k].x);
      else
        ac_push(r->s->a, &r->read[t], r->events.data[k].x);
    }
    conflicts(r, t, r->events.data + i, k - i);
    i = k;
  }
  r->events.len = 0;
}

/* Of the tensors whose sizes the host has asked for: how many elements. */
static void settle(trial *r, const frame *host) {
  for (size_t i = 0; i < r->s->tensors.len; i++) {
    tensor *t = &r->t[i];
    const ac_sktensor *x = &r->s->tensors.data[i];
    bool whole = x->asked && t->rank > 0;
    int64_t n = 1;
    for (int d = 0; whole && d < t->rank; d++) {
      whole = t->set[d];
      if (whole && __builtin_mul_overflow(n, t->dim[d], &n)) whole = false;
    }
    if (whole && !x->workspace) t->n = n;
    if (x->declared && !eval(r, host, x->declared, &t->n)) t->n = -1;
  }
}

static void launch(trial *r, const frame *host, const ac_skstmt *s) {
  const ac_skfunc *k = r->s->funcs.data[s->kernel];
  int n = k->n_slots + 1;
  frame f = {.slot = AC_NEW_N(r->s->a, int64_t, n), .known = AC_NEW_N(r->s->a, bool, n), .launch = s};
  if (!eval(r, host, s->value, &f.blocks)) {
    r->data = true;
    return;
  }
  if (f.blocks < 1 || f.blocks > 65535) {
    if (fixed(s->value)) {
      finding *g = find(r, AC0520, 0, s, s->loc);
      g->message = ac_sprintf(r->s->a, "a launch has 1 to 65535 blocks, this one %lld", (long long)f.blocks);
      g->help = "min(tl.num_cores(), ...)";
    }
    r->refused = true;
    return;
  }
  int64_t *args = AC_NEW_N(r->s->a, int64_t, n);
  bool *given = AC_NEW_N(r->s->a, bool, n);
  for (int i = 0; i < s->n_args; i++) given[i] = s->args[i] && eval(r, host, s->args[i], &args[i]);
  settle(r, host);
  for (f.pid = 0; f.pid < f.blocks && !r->gave_up && !r->data; f.pid++) {
    f.epoch = 0;
    memcpy(f.known, given, (size_t)n * sizeof *given);
    memcpy(f.slot, args, (size_t)n * sizeof *args);
    (void)run(r, &f, k->body);
  }
  r->launches++;
  if (!r->gave_up && !r->data) after_launch(r);
}

/* ---- a trial ---- */

static int by_start(const void *x, const void *y) {
  const span *a = x, *b = y;
  return a->at < b->at ? -1 : a->at > b->at;
}

static void uncovered(trial *r, int t, int64_t at, int64_t end, int64_t n) {
  ac_sktensor *x = &r->s->tensors.data[t];
  finding *g = find(r, AC0540, t, r->written[t].len ? r->written[t].data[0].s : NULL, x->loc);
  int like = x->asked || x->declared ? -1 : x->twin;
  g->message = ac_sprintf(r->s->a, "%s of '%s' %s never written", range_text(r, at, end), x->name, are(end - at));
  g->help = end == n
                ? "the parts must add up to the whole: round up with tl.cdiv, and end the last part with min(..., n)"
                : "each part begins where the one before ends";
  if (like >= 0)
    g->note = ac_sprintf(
        r->s->a,
        "an output has the shape of the first input, '%s', unless its parameter says another: `%s: tl.out[...]`",
        name(r, like), x->name);
}

/* By the language it has the shape of the first input; what it gets is something else. */
static void undeclared(trial *r, int t, int64_t n) {
  const ac_sktensor *x = &r->s->tensors.data[t];
  finding *g = find(r, AC0540, t, NULL, x->loc);
  g->warning = true;
  g->message =
      ac_sprintf(r->s->a, "%lld element%s of '%s' %s written; an output that is not declared has the shape of '%s'",
                 (long long)n, n == 1 ? "" : "s", x->name, are(n), name(r, x->like));
  g->help = ac_sprintf(r->s->a, "say its shape at the parameter: `%s: tl.out[...]`", x->name);
}

static void coverage(trial *r, int t) {
  const ac_sktensor *x = &r->s->tensors.data[t];
  if (!x->out || x->in || r->t[t].fuzzy) return;
  int64_t n = r->t[t].n, at = 0;
  if (n < 0 && !x->asked && x->twin >= 0) n = r->t[x->twin].n;
  span *w = r->written[t].data;
  size_t len = r->written[t].len;
  if (len) qsort(w, len, sizeof *w, by_start);
  for (size_t i = 0; i < len; i++) {
    if (w[i].at > at) {
      uncovered(r, t, at, n >= 0 && w[i].at > n ? n : w[i].at, n);
      return;
    }
    if (w[i].at + w[i].len > at) at = w[i].at + w[i].len;
  }
  if (n > at) uncovered(r, t, at, n, n);
  if (n < 0 && x->like >= 0 && r->t[x->like].n >= 0 && r->t[x->like].n != at) undeclared(r, t, at);
}

/* Elements of an input behind the last that is read: a tail that was dropped. */
static void unread(trial *r, int t) {
  const ac_sktensor *x = &r->s->tensors.data[t];
  if (!x->in || x->out || r->t[t].fuzzy || r->t[t].n < 0 || x->workspace || !r->launches) return;
  int64_t n = r->t[t].n, last = r->t[t].reached;
  if (last >= n || (!last && !r->read[t].len)) return;
  for (size_t i = 0; i < r->found.len; i++)
    if (r->found.data[i].code == AC0540 && !r->found.data[i].warning) return; /* the same, seen from the other side */
  finding *g = find(r, AC0544, t, NULL, x->loc);
  g->message = ac_sprintf(r->s->a, "%s of '%s' %s never read", range_text(r, last, n), x->name, are(n - last));
  g->help =
      "if that is a tail that no core takes: round the parts up with tl.cdiv, and end the last with min(..., n)";
}

static void begin(trial *r) {
  for (size_t i = 0; i < r->s->tensors.len; i++) {
    tensor *t = &r->t[i];
    *t = (tensor){.rank = r->s->tensors.data[i].rank, .n = -1};
    r->written[i].len = r->read[i].len = 0;
  }
  r->picks = 0;
  r->steps = 0;
  r->gave_up = r->refused = r->data = false;
  r->launches = 0;
  r->events.len = 0;
}

static bool one_trial(trial *r) {
  const ac_skfunc *h = r->s->host;
  frame f = {.slot = AC_NEW_N(r->s->a, int64_t, h->n_slots + 1), .known = AC_NEW_N(r->s->a, bool, h->n_slots + 1)};
  for (int i = 0; i < h->f->n_params; i++) { /* attributes have their defaults, or no value here */
    const ac_cexpr *init = h->f->params[i].init;
    if (!init || init->kind != AC_CE_INT) continue;
    f.slot[i] = init->i;
    f.known[i] = true;
  }
  begin(r);
  (void)run(r, &f, h->body);
  if (r->gave_up || r->refused || r->data) return false;
  for (size_t i = 0; i < r->s->tensors.len; i++) coverage(r, (int)i);
  for (size_t i = 0; i < r->s->tensors.len; i++) unread(r, (int)i);
  for (size_t i = 0; i < r->s->tensors.len; i++)
    if (r->t[i].n > 1 && !r->t[i].trouble && r->t[i].reached == r->t[i].n && r->clean_n[i] != r->t[i].n) {
      r->clean[i]++;
      r->clean_n[i] = r->t[i].n;
    }
  return true;
}

/* ---- the family of shapes ---- */

/* A number that the host function mentions, or the product of two (cores and tiles), and a few more than that. */
static int64_t edge(const trial *r, int k) {
  int n = (int)r->s->consts.len;
  if (n > 6) n = 6;
  if (k < 2 * n) return r->s->consts.data[k / 2] + k % 2;
  k -= 2 * n;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      int64_t v = r->s->consts.data[i] * r->s->consts.data[j];
      if (v < 1 << 23 && (k -= 2) < 0) return k == -1 ? v + 3 : v;
    }
  return -1;
}

/* Sizes for a trial: multiples of tiles and cores, primes, nothing at all; then the edges that the host function's numbers make. */
static bool pick_sizes(trial *r, int k, int wanted) {
  static const int64_t single[] = {32768, 100003, 65536, 0, 1, 7, 513, 13243, 65537, 1048583},
                       several[][4] = {{64, 64, 4, 2},   {33, 100, 7, 1}, {7, 13, 5, 3},   {1, 1, 1, 1},
                                       {0, 5, 3, 2},     {5, 0, 2, 2},    {1003, 7, 1, 5}, {48, 513, 1, 1},
                                       {3, 13243, 1, 1}, {2, 3, 1003, 1}, {1, 65537, 1, 1}};
  int n = wanted <= 1 ? (int)AC_COUNT(single) : (int)AC_COUNT(several);
  for (int i = 0; i < MAX_PICKS; i++) r->pick[i] = wanted <= 1 ? single[k % n] : several[k % n][i % 4];
  if (k < n) return true;
  int64_t v = edge(r, k - n);
  if (v < 0 || k - n > 20) return false;
  for (int i = 0; i < MAX_PICKS; i++) r->pick[i] = 3;
  r->pick[wanted > 1 ? 1 : 0] = v;
  return true;
}

/* ---- reports ---- */

/* Whose size a finding rests on: of that the rank must not be a guess that no trial bears out. */
static bool certain(const trial *r, const finding *x) {
  int t = x->tensor;
  if (x->code == AC0541 || x->code == AC0543 || x->code == AC0524 || x->code == AC0520 || x->warning) return true;
  if (r->s->tensors.data[t].declared) return true;
  if (x->code == AC0540 && !r->s->tensors.data[t].asked && r->s->tensors.data[t].twin >= 0)
    t = r->s->tensors.data[t].twin;
  if (x->code == AC0544) return r->clean[t] > 1;
  return !r->s->tensors.data[t].asked || ac_sk_sized(&r->s->tensors.data[t]) || r->clean[t] > 0;
}

static void report(trial *r, ac_diags *d) {
  for (size_t i = 0; i < r->found.len; i++) {
    const finding *x = &r->found.data[i];
    if (!x->message || !certain(r, x)) continue;
    ac_diag *g = x->code == AC0544 || x->warning
                     ? ac_warn(d, x->code, x->loc, "%s, for example with %s", x->message, x->shape)
                     : ac_error(d, x->code, x->loc, "%s, for example with %s", x->message, x->shape);
    if (x->other)
      ac_note(d, g, x->other->loc, "%s", x->note);
    else if (x->note)
      ac_help(d, g, "%s", x->note);
    ac_help(d, g, "%s", x->help);
  }
}

void ac_sk_trials(ac_sketch *s, ac_verdicts *v, ac_diags *d) {
  trial r = {.s = s, .budget = STEPS};
  int n = (int)s->tensors.len, wanted = 1;
  r.t = AC_NEW_N(s->a, tensor, n + 1);
  r.written = ac_alloc_n(s->a, (size_t)n + 1, sizeof *r.written);
  r.read = ac_alloc_n(s->a, (size_t)n + 1, sizeof *r.read);
  r.clean = AC_NEW_N(s->a, int, n + 1);
  r.clean_n = AC_NEW_N(s->a, int64_t, n + 1);
  if (s->opaque) return;
  for (int k = 0; r.budget > 0 && pick_sizes(&r, k, wanted); k++) {
    r.flag = k % 2;
    if (one_trial(&r)) v->shapes++;
    if (r.picks > wanted) { /* more sizes are open than was thought: from the start */
      wanted = r.picks;
      k = -1;
    }
  }
  report(&r, d);
}
