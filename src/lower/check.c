/* The invariants that hold after each pass. A violated one is our own fault (AC0600); tests break programs on purpose. */
#include "lower/internal.h"

#include <string.h>

typedef struct {
  ac_arena *a;
  const ac_program *p;
  const ac_akernel *k;
  const char *message;
  const char *pass; /* the last one that ran */
} check;

static void fail(check *c, const char *fmt, ...) AC_PRINTF(2, 3);
static void fail(check *c, const char *fmt, ...) {
  va_list ap;
  if (c->message) return;
  va_start(ap, fmt);
  c->message = ac_vsprintf(c->a, fmt, ap);
  va_end(ap);
}

/* ---- host: every path ends in a launch, an end or a refusal; launches are complete; fields are unique ---- */

static bool ends(const ac_program *p, const ac_ablock *b) {
  if (!b->len) return false;
  const ac_astmt *s = b->data[b->len - 1];
  if (s->kind == AC_AS_LAUNCH) return !p->phased;
  if (s->kind == AC_AS_REFUSE || s->kind == AC_AS_NOTHING || s->kind == AC_AS_END) return true;
  return s->kind == AC_AS_IF && ends(p, &s->body) && ends(p, &s->orelse);
}

static void check_launch(check *c, const ac_alaunch *l, size_t i) {
  const ac_program *p = c->p;
  if (!p->phased && l->key != (int)i + 1) fail(c, "launch %zu has tiling key %d", i, l->key);
  if (l->kernel < 0 || (size_t)l->kernel >= p->kernels.len) {
    fail(c, "tiling key %d launches no kernel of the program", l->key);
    return;
  }
  const ac_akernel *k = p->kernels.data[l->kernel];
  if (!l->blocks) fail(c, "tiling key %d has no block count", l->key);
  for (size_t j = 0; j < k->fields.len; j++) {
    if (!l->values[j]) fail(c, "tiling key %d leaves field '%s' unset", l->key, k->fields.data[j].name);
    if (k->fields.data[j].field < 0 || (size_t)k->fields.data[j].field >= p->fields.len)
      fail(c, "kernel parameter '%s' of '%s' has no tiling field", k->fields.data[j].name, k->name);
    if (l->fields[j] < 0 || (size_t)l->fields[j] >= p->fields.len ||
        p->fields.data[l->fields[j]].type != p->fields.data[k->fields.data[j].field].type)
      fail(c, "tiling key %d fills no field of the right type for '%s'", l->key, k->fields.data[j].name);
  }
  for (int j = 0; j < k->n_tensors; j++)
    if (l->tensors[j] >= (int)p->tensors.len || -1 - l->tensors[j] >= (int)p->workspaces.len)
      fail(c, "tiling key %d binds '%s' to no tensor", l->key, k->tensors[j]);
}

/* Two launches that one call makes fill fields of their own: the second would overwrite what the first reads. */
static void check_path(check *c, const ac_apath *x, size_t i) {
  if (x->key != (int)i + 1 || !x->phases.len)
    fail(c, "path %zu has key %d and %zu launches", i, x->key, x->phases.len);
  for (size_t a = 0; a < x->phases.len; a++) {
    const ac_alaunch *l = x->phases.data[a];
    if (l->phase != (int)a) fail(c, "launch %zu of tiling key %d counts as phase %d", a, x->key, l->phase);
    for (size_t b = 0; b < a && !c->message; b++) {
      const ac_alaunch *m = x->phases.data[b];
      for (size_t f = 0; f < c->p->kernels.data[l->kernel]->fields.len; f++)
        for (size_t g = 0; g < c->p->kernels.data[m->kernel]->fields.len; g++)
          if (l->fields[f] == m->fields[g])
            fail(c, "phases %zu and %zu of tiling key %d share the field '%s'", b + 1, a + 1, x->key,
                 c->p->fields.data[l->fields[f]].name);
    }
  }
}

static bool first_of(ac_map *names, const char *name) {
  if (ac_map_has(names, name)) return false;
  ac_map_put(names, name, names);
  return true;
}

static void check_host(check *c) {
  const ac_program *p = c->p;
  if (!ends(p, &p->host)) fail(c, "a path of the tiling code ends without a launch or a refusal");
  for (size_t i = 0; i < p->launches.len; i++) check_launch(c, p->launches.data[i], i);
  for (size_t i = 0; i < p->paths.len && !c->message; i++) check_path(c, p->paths.data[i], i);
  ac_map *names = ac_map_new(c->a);
  for (size_t i = 0; i < p->fields.len; i++)
    if (!first_of(names, p->fields.data[i].name)) fail(c, "two tiling fields are named '%s'", p->fields.data[i].name);
}

/* ---- place: sizes and depths; events ---- */

int ac_lower_events(const ac_abuffer *b, ac_amem kind) {
  if (b->mem == kind) return b->depth;
  if (b->mem == AC_MEM_BIND) return kind != AC_MEM_VECCALC ? b->depth : 0;
  /* one tensor is between EnQue and DeQue at a time; Free goes from MTE3 to MTE2 */
  return b->mem == AC_MEM_UPDATE && kind != AC_MEM_VECCALC ? 1 : 0;
}
/* A tensor that is loaded and stored takes an event of MTE3_MTE2 for a flag. */
int ac_lower_event_limit(ac_amem kind) {
  return kind == AC_MEM_UPDATE ? AC_EVENT_IDS - 1 : AC_EVENT_IDS;
}

int ac_lower_held(const ac_akernel *k, ac_event e) {
  static const struct {
    ac_event event;
    ac_amem kind;
  } of[] = {{AC_EV_MTE2_V, AC_MEM_VECIN},  {AC_EV_V_MTE2, AC_MEM_VECIN},     {AC_EV_V_MTE3, AC_MEM_VECOUT},
            {AC_EV_MTE3_V, AC_MEM_VECOUT}, {AC_EV_MTE2_MTE3, AC_MEM_UPDATE}, {AC_EV_MTE3_MTE2, AC_MEM_UPDATE}};
  int n = 0;
  for (size_t i = 0; i < AC_COUNT(of); i++)
    for (size_t j = 0; of[i].event == e && j < k->buffers.len; j++)
      n += ac_lower_events(&k->buffers.data[j], of[i].kind);
  for (size_t i = 0; i < k->held.len; i++) n += k->held.data[i].event == e;
  return n;
}

static void check_place(check *c) {
  static const struct {
    ac_amem mem;
    const char *name;
  } kinds[] = {{AC_MEM_VECIN, "VECIN"}, {AC_MEM_VECOUT, "VECOUT"}, {AC_MEM_UPDATE, "VECIN-VECOUT"}};
  const ac_akernel *k = c->k;
  ac_map *names = ac_map_new(c->a);
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *b = &k->buffers.data[i];
    if (!b->elements) fail(c, "buffer '%s' has no size", b->name);
    if (b->depth < 1 || (b->mem == AC_MEM_VECCALC && b->depth != 1))
      fail(c, "buffer '%s' has depth %d", b->name, b->depth);
    if (b->round_to != 32 && b->round_to != 256 && b->round_to != 512)
      fail(c, "buffer '%s' is rounded to %d bytes", b->name, b->round_to);
    if (b->sync && b->mem != AC_MEM_VECCALC) fail(c, "buffer '%s' is ordered by a queue and by flags", b->name);
    if (!first_of(names, b->name)) fail(c, "two buffers are named '%s'", b->name);
  }
  for (size_t n = 0; n < AC_COUNT(kinds); n++) {
    int sum = 0;
    bool pinned = false;
    for (size_t i = 0; i < k->buffers.len; i++) {
      const ac_abuffer *b = &k->buffers.data[i];
      int events = ac_lower_events(b, kinds[n].mem);
      sum += events;
      pinned |= events && b->pinned;
    }
    if (sum > AC_EVENT_IDS && !pinned)
      fail(c, "the %s queues of '%s' hold %d slots; there are 8 events", kinds[n].name, k->name, sum);
  }
}

/* ---- shared bytes: whoever reads a buffer finds what was last written to it, not what another one left there ---- */

enum { MAX_SHARED = 64 };
typedef struct {
  int before, sharers; /* TBufs, and buffers that live in others' bytes, with a lower number */
  bool shared;         /* some buffer lives in its bytes */
} sharing;
typedef struct {
  check *c;
  uint64_t holds[MAX_SHARED]; /* by home: the buffers that may have written there last; bit i is the i-th sharer */
  int depth;
  const sharing *of; /* by buffer */
} tenancy;

/* Bit and home of a tensor's buffer among those that share; false: its bytes are its own, or there are too many. */
static bool tenant(const tenancy *t, const ac_atensor *x, int *home, uint64_t *bit) {
  const ac_akernel *k = t->c->k;
  if (!x) return false;
  int b = x->buffer, h = k->buffers.data[b].home ? k->buffers.data[b].home - 1 : b;
  int homes = t->of[h].before, at = t->of[b].sharers;
  bool shared = t->of[h].shared;
  *home = homes;
  if (!shared || homes >= MAX_SHARED || at >= 63) return false;
  *bit = UINT64_C(1) << (b == h ? 63 : at);
  return true;
}

static void reads_shared(tenancy *t, const ac_atensor *x) {
  int home;
  uint64_t bit;
  if (tenant(t, x, &home, &bit) && (t->holds[home] & ~bit))
    fail(t->c, "'%s' is read where its bytes hold another buffer", x->name);
}
static void writes_shared(tenancy *t, const ac_atensor *x) {
  int home;
  uint64_t bit;
  if (tenant(t, x, &home, &bit)) t->holds[home] = bit;
}

static void tenants(tenancy *t, const ac_ablock *b);
static void join_tenants(tenancy *t, const tenancy *other) {
  for (int i = 0; i < MAX_SHARED; i++) t->holds[i] |= other->holds[i];
}
/* One instruction, row by row: in place, it reads of each row what it has not yet written there. */
static bool by_rows(const ac_astmt *s) {
  const ac_astmt *x = s->body.len == 1 ? s->body.data[0] : NULL;
  if (!x || x->kind != AC_AS_INST || !(ac_insts[x->inst].flags & AC_INST_INPLACE)) return false;
  for (int i = 0; i < x->n_ops; i++)
    if (x->ops[i].tensor && !x->ops[i].offset) return false;
  return true;
}
static void tenants_of(tenancy *t, const ac_astmt *s) {
  tenancy other = *t;
  bool call = s->kind == AC_AS_INST || s->kind == AC_AS_PRIM;
  int second = s->kind == AC_AS_PRIM ? ac_cprim_second((ac_cprim)s->prim) : -1;
  bool put = s->kind == AC_AS_PRIM && (s->prim == AC_P_INSERT_SCALAR || s->prim == AC_P_COMPRESS);
  for (int i = put ? 0 : 1; call && i < s->n_ops; i++) /* what something is put into is read too: the rest stays */
    if (i != second && !(s->kind == AC_AS_INST && ac_insts[s->inst].form == AC_FORM_REDUCE && i == 2))
      reads_shared(t, s->ops[i].tensor);
  if (s->kind == AC_AS_INST && (ac_insts[s->inst].flags & AC_INST_DST_IN)) reads_shared(t, s->ops[0].tensor);
  if (s->kind == AC_AS_GETVALUE) reads_shared(t, s->ops[0].tensor);
  if (call || s->kind == AC_AS_SETVALUE) writes_shared(t, s->ops[0].tensor);
  if (second > 0 && second < s->n_ops) writes_shared(t, s->ops[second].tensor);
  switch (s->kind) {
  case AC_AS_CALL:
    if (t->depth++ < 8) tenants(t, &t->c->k->methods.data[s->method].body);
    t->depth--;
    break;
  case AC_AS_FOR:
  case AC_AS_WHILE:
    /* without a trip nothing is written, and what only the loop writes is not to be read */
    for (int trip = 0; trip < (by_rows(s) ? 1 : 2); trip++) tenants(t, &s->body);
    break;
  case AC_AS_IF:
    tenants(t, &s->body);
    tenants(&other, &s->orelse);
    join_tenants(t, &other);
    break;
  default: break;
  }
}
static void tenants(tenancy *t, const ac_ablock *b) {
  for (size_t i = 0; i < b->len && !t->c->message; i++) tenants_of(t, b->data[i]);
}

static void check_homes(check *c) {
  const ac_akernel *k = c->k;
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *b = &k->buffers.data[i];
    if (!b->home) continue;
    if (b->home < 1 || (size_t)b->home > k->buffers.len || k->buffers.data[b->home - 1].home) {
      fail(c, "buffer '%s' shares the bytes of none that has its own", b->name);
      return;
    }
    const ac_abuffer *h = &k->buffers.data[b->home - 1];
    if (b->mem != AC_MEM_VECCALC || h->mem != AC_MEM_VECCALC || b->sync || h->sync)
      fail(c, "'%s' shares the bytes of '%s', and copies touch one of them", b->name, h->name);
    if (b->round_to > h->round_to)
      fail(c, "'%s' is rounded to %d bytes, its home '%s' to %d", b->name, b->round_to, h->name, h->round_to);
  }
  sharing *of = AC_NEW_N(c->a, sharing, k->buffers.len + 1);
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *b = &k->buffers.data[i];
    of[i + 1].before = of[i].before + (b->mem == AC_MEM_VECCALC);
    of[i + 1].sharers = of[i].sharers + (b->home != 0);
    if (b->home) of[b->home - 1].shared = true;
  }
  tenancy t = {.c = c, .of = of};
  tenants(&t, &k->methods.data[0].body);
}

/* ---- process: queue operations in step on every path, loops that run zero times included ---- */

typedef enum { IDLE, FILLING, QUEUED, TAKEN, OUTWARD, LEAVING } qstate; /* the last two: of UPDATE, its second leg */
enum { MAX_HANDLES = 256 };
typedef struct {
  check *c;
  unsigned char state[MAX_HANDLES];
  int depth;
} flow;

static int handle_of(flow *f, const ac_atensor *t) {
  for (size_t i = 0; i < f->c->k->handles.len && i < MAX_HANDLES; i++)
    if (f->c->k->handles.data[i] == t) return (int)i;
  fail(f->c, "a statement uses a tensor that the kernel does not have");
  return 0;
}
static bool is_queue(flow *f, const ac_atensor *t) {
  return f->c->k->buffers.data[t->buffer].mem != AC_MEM_VECCALC;
}

static bool update(flow *f, const ac_atensor *t) {
  return f->c->k->buffers.data[t->buffer].mem == AC_MEM_UPDATE;
}

static void step(flow *f, const ac_astmt *s, qstate from, qstate to, const char *what) {
  int h = handle_of(f, s->tensor);
  if (!is_queue(f, s->tensor)) fail(f->c, "%s of '%s', which is no queue", what, s->tensor->name);
  bool drop = to == IDLE && f->state[h] == FILLING; /* Free without EnQue is legal */
  if (f->state[h] != from && !drop)
    fail(
        f->c, "%s of '%s' out of step: it is %s", what, s->tensor->name,
        (const char *const[]){"idle", "being filled", "queued", "in use", "queued to leave", "leaving"}[f->state[h]]);
  f->state[h] = (unsigned char)to;
}
static void uses(flow *f, const ac_atensor *t, bool load, bool store, const char *what) {
  if (!t || !is_queue(f, t)) return;
  qstate s = (qstate)f->state[handle_of(f, t)];
  ac_amem mem = f->c->k->buffers.data[t->buffer].mem;
  bool ok = load                   ? s == FILLING
            : store                ? s == (mem == AC_MEM_UPDATE ? LEAVING : TAKEN)
            : mem == AC_MEM_VECOUT ? s == FILLING
                                   : s == TAKEN || s == FILLING;
  if (!ok) fail(f->c, "%s of '%s' while its queue slot is not at hand", what, t->name);
}

static void run(flow *f, const ac_ablock *b);

static void run_branch(flow *f, const ac_ablock *b, const flow *before, const char *what) {
  unsigned char start[MAX_HANDLES];
  memcpy(start, before->state, sizeof start);
  run(f, b);
  if (memcmp(start, f->state, sizeof start)) fail(f->c, "%s changes the state of a queue", what);
}

static void run_statement(flow *f, const ac_astmt *s) {
  flow before = *f;
  switch (s->kind) {
  case AC_AS_ALLOC: step(f, s, IDLE, FILLING, "AllocTensor"); break;
  case AC_AS_ENQUE: step(f, s, s->outward ? TAKEN : FILLING, s->outward ? OUTWARD : QUEUED, "EnQue"); break;
  case AC_AS_DEQUE: step(f, s, s->outward ? OUTWARD : QUEUED, s->outward ? LEAVING : TAKEN, "DeQue"); break;
  case AC_AS_FREE: step(f, s, update(f, s->tensor) ? LEAVING : TAKEN, IDLE, "FreeTensor"); break;
  case AC_AS_COPY:
    uses(f, s->copy->ub, s->copy->to_ub, !s->copy->to_ub, s->copy->to_ub ? "a load" : "a store");
    break;
  case AC_AS_INST:
  case AC_AS_PRIM:
    for (int i = 0; i < s->n_ops; i++) uses(f, s->ops[i].tensor, false, false, "a use");
    break;
  case AC_AS_GETVALUE: { /* waits for the vector unit by itself: a slot on its way out may be read too */
    const ac_atensor *t = s->ops[0].tensor;
    qstate q = t && is_queue(f, t) ? (qstate)f->state[handle_of(f, t)] : IDLE;
    if (q != TAKEN && q != LEAVING) uses(f, t, false, false, "a scalar read");
    break;
  }
  case AC_AS_RETURN:
  case AC_AS_BREAK:
    for (size_t i = 0; s->kind == AC_AS_RETURN && i < f->c->k->handles.len && i < MAX_HANDLES; i++)
      if (f->state[i] != IDLE)
        fail(f->c, "the kernel returns while '%s' is in a queue", f->c->k->handles.data[i]->name);
    break;
  case AC_AS_CALL:
    if (f->depth++ < 8) run(f, &f->c->k->methods.data[s->method].body);
    f->depth--;
    break;
  case AC_AS_FOR:
  case AC_AS_WHILE: run_branch(f, &s->body, &before, "a loop that may run zero times"); break;
  case AC_AS_IF:
    run_branch(f, &s->body, &before, "one side of an if");
    memcpy(f->state, before.state, sizeof f->state);
    run_branch(f, &s->orelse, &before, "one side of an if");
    break;
  default: break;
  }
}
static void run(flow *f, const ac_ablock *b) {
  for (size_t i = 0; i < b->len && !f->c->message; i++) run_statement(f, b->data[i]);
}

static void check_process(check *c) {
  flow f = {.c = c};
  if (!c->k->methods.len || strcmp(c->k->methods.data[0].name, "Process")) {
    fail(c, "kernel '%s' has no Process", c->k->name);
    return;
  }
  run(&f, &c->k->methods.data[0].body);
  for (size_t i = 0; i < c->k->handles.len && i < MAX_HANDLES; i++)
    if (f.state[i] != IDLE) fail(c, "'%s' is left over at the end of the kernel", c->k->handles.data[i]->name);
  /* later passes make loops of pieces out of one instruction, each piece in place */
  if (!c->message && !strcmp(c->pass, "process")) check_homes(c);
}

/* ---- rows: lanes only ---- */

static void lanes_only(void *user, ac_astmt *s) {
  check *c = user;
  if (s->kind == AC_AS_PRIM && s->prim >= AC_P_REDUCE_SUM && s->prim <= AC_P_INSERT_SCALAR)
    fail(c, "a primitive along axes is left");
  if (s->kind != AC_AS_INST && s->kind != AC_AS_PRIM) return;
  for (int i = 0; i < s->n_ops; i++)
    if (s->ops[i].nd) fail(c, "an operand of '%s' still has axes", s->ops[i].tensor->name);
  if (s->rep && s->count) fail(c, "an instruction has both a count and repeats");
}

/* ---- legalise: only instructions, of dtypes that they have ---- */

static ac_dtype dtype_of(check *c, const ac_aoperand *o) {
  ac_dtype d = ac_operand_dtype(c->k, o);
  return d == AC_BOOL ? AC_U8 : d; /* a bool is a byte */
}

static void legal(void *user, ac_astmt *s) {
  check *c = user;
  if (s->kind == AC_AS_PRIM) fail(c, "a composed primitive is left");
  if (s->kind != AC_AS_INST) return;
  const ac_inst_info *i = &ac_insts[s->inst];
  int typed = i->form == AC_FORM_COMPARE || i->form == AC_FORM_COMPARE_S ? 1 : 0;
  if (!s->ops[typed].tensor) {
    fail(c, "%s has no destination", i->asc);
    return;
  }
  ac_dtype d = dtype_of(c, &s->ops[typed]);
  if (!(i->dtypes & AC_BIT(d))) fail(c, "%s of %s does not exist", i->asc, ac_dtypes[d].name);
  if (i->form == AC_FORM_REDUCE && (s->n_ops < 3 || !s->ops[2].tensor || s->ops[2].tensor == s->ops[1].tensor))
    fail(c, "%s of '%s' has no work tensor of its own", i->asc, s->ops[1].tensor->name);
  if (i->form == AC_FORM_CAST && !(ac_cast_rounds(d, dtype_of(c, &s->ops[1])) & (1u << s->round)))
    fail(c, "there is no cast from %s to %s with this rounding", ac_dtypes[dtype_of(c, &s->ops[1])].name,
         ac_dtypes[d].name);
  if (typed && d == AC_I32 && s->cmp != AC_CMP_EQ) fail(c, "%s of int32 has only EQ", i->asc);
  if ((i->form == AC_FORM_SELECT || i->form == AC_FORM_SELECT_S) && !c->k->select)
    fail(c, "Select without its reserved bytes of UB");
}

/* ---- align: rows of bytes ---- */

static void aligned(void *user, ac_astmt *s) {
  check *c = user;
  if (s->kind == AC_AS_COPY) {
    const ac_acopy *y = s->copy;
    int per_block = 32 / ac_dtypes[c->k->buffers.data[y->ub->buffer].dtype].bytes;
    if (y->rank || !y->cols) fail(c, "a copy of '%s' is still a tile", y->ub->name);
    if (y->rows && (!y->gm_stride || !y->ub_pitch)) fail(c, "a copy of rows of '%s' has no strides", y->ub->name);
    if (y->rows && !ac_ae_multiple(y->ub_pitch, per_block))
      fail(c, "rows of '%s' do not start on 32 bytes", y->ub->name);
    if (y->exact && !ac_ae_multiple(y->cols, per_block))
      fail(c, "a plain DataCopy of '%s' is not proved to be whole blocks", y->ub->name);
  }
  if (s->kind == AC_AS_INST && (ac_insts[s->inst].flags & AC_INST_MASK_PAD)) {
    int lanes = 256 / ac_dtypes[dtype_of(c, &s->ops[1])].bytes;
    if (!ac_ae_multiple(s->count, lanes)) fail(c, "%s does not count whole repeats", ac_insts[s->inst].asc);
    for (int i = 1; i < s->n_ops; i++)
      if (s->ops[i].tensor && c->k->buffers.data[s->ops[i].tensor->buffer].round_to < 256)
        fail(c, "%s reads whole repeats of '%s', which is rounded to 32 bytes", ac_insts[s->inst].asc,
             s->ops[i].tensor->name);
  }
}

/* ---- sync ---- */

/* A flag of the event among those that stand directly before statement i (`after`: behind it). */
static bool flagged(const ac_ablock *b, size_t i, bool after, ac_event e) {
  for (size_t k = i; after ? ++k < b->len : k-- > 0;) {
    if (b->data[k] && b->data[k]->kind == AC_AS_BARRIER) return true; /* in place of a flag that has no id */
    if (!b->data[k] || b->data[k]->kind != AC_AS_FLAG) return false;
    if (b->data[k]->event == e) return true;
  }
  return false;
}

/* The table at the head of sync.c. */
static void copy_flags(check *c, const ac_ablock *b, size_t i) {
  const ac_acopy *y = b->data[i]->copy;
  const ac_abuffer *q = &c->k->buffers.data[y->ub->buffer];
  const ac_agm *g = &c->k->gms.data[y->gm];
  bool through = q->mem == AC_MEM_BIND;
  if (g->in && g->out && !flagged(b, i, false, y->to_ub ? AC_EV_MTE3_MTE2 : AC_EV_MTE2_MTE3) &&
      !ac_lower_apart(c->a, c->k, y->gm))
    fail(c, "a copy of '%s' does not wait for the copies of '%s' the other way", y->ub->name, g->name);
  if (y->by_element) {
    if (!through && !flagged(b, i, false, AC_EV_V_S))
      fail(c, "a scalar copy to '%s' does not wait for the vector unit", y->ub->name);
    if ((through || q->mem == AC_MEM_UPDATE) && !flagged(b, i, false, AC_EV_MTE3_S))
      fail(c, "a scalar copy to '%s' does not wait for the store of its slot", y->ub->name);
    if (!flagged(b, i, true, through ? AC_EV_S_MTE3 : AC_EV_S_V))
      fail(c, "nothing waits for the scalar copy to '%s'", y->ub->name);
    return;
  }
}

static void flags_around(check *c, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (!s) continue;
    if (s->kind == AC_AS_FLAG && ac_lower_held(c->k, s->event) >= AC_EVENT_IDS)
      fail(c, "a flag of %s has no id: queues may hold all %d", ac_event_names[s->event], AC_EVENT_IDS);
    flags_around(c, &s->body);
    flags_around(c, &s->orelse);
    if (s->kind == AC_AS_GETVALUE && s->n_ops && !flagged(b, i, false, AC_EV_V_S))
      fail(c, "a scalar read of '%s' does not wait for the vector unit", s->ops[0].tensor->name);
    if (s->kind == AC_AS_GETVALUE && !s->n_ops && c->k->gms.data[s->gm].out && !flagged(b, i, false, AC_EV_MTE3_S))
      fail(c, "a scalar read of '%s' does not wait for the stores to it", c->k->gms.data[s->gm].name);
    if (s->kind == AC_AS_SETVALUE && (!flagged(b, i, false, AC_EV_V_S) || !flagged(b, i, true, AC_EV_S_V)))
      fail(c, "a scalar write to '%s' is not ordered against the vector unit", s->ops[0].tensor->name);
    if (s->kind == AC_AS_SYNC_ALL && (!i || !b->data[i - 1] || b->data[i - 1]->kind != AC_AS_BARRIER))
      fail(c, "blocks join before their stores have left");
    if (s->kind == AC_AS_COPY) copy_flags(c, b, i);
  }
}

static void check_sync(check *c) {
  for (size_t i = 0; i < c->k->methods.len; i++) flags_around(c, &c->k->methods.data[i].body);
  const char *bad = c->message ? NULL : ac_lower_check_flags(c->a, c->k);
  if (bad) fail(c, "%s", bad);
}
static void walk(check *c, void (*f)(void *, ac_astmt *)) {
  for (size_t i = 0; i < c->k->methods.len; i++)
    ac_as_walk(&((ac_akernel *)(uintptr_t)c->k)->methods.data[i].body, f, c);
}
static void check_legalise(check *c) {
  walk(c, legal);
}
static void check_rows(check *c) {
  walk(c, lanes_only);
}
static void check_align(check *c) {
  walk(c, aligned);
}
static void nothing(check *c) {
  (void)c;
}

static const struct {
  const char *pass;
  void (*kernel)(check *c);
} checks[] = {{"host", nothing},
              {"place", check_place},
              {"process", check_process},
              {"rows", check_rows},
              {"legalise", check_legalise},
              {"align", check_align},
              {"sync", check_sync},
              {"defer", nothing}};

const char *ac_program_check(ac_arena *a, const ac_program *p, const char *pass) {
  check c = {.a = a, .p = p, .pass = pass};
  check_host(&c);
  for (size_t i = 0; i < AC_COUNT(checks) && !c.message; i++) {
    for (size_t k = 0; k < p->kernels.len && !c.message; k++) {
      c.k = p->kernels.data[k];
      checks[i].kernel(&c);
    }
    if (!strcmp(checks[i].pass, pass)) break;
  }
  return c.message;
}
