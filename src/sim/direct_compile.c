/* The AscendC program made compact: names become slots, C++'s conversions are settled, instructions are looked up. */
#include "sim/core_internal.h"
#include "sim/direct.h"

#include <string.h>

typedef struct {
  const char *name;
  int32_t slot;
  ac_atype type;
} name;
typedef struct {
  ac_arena *a;
  const ac_program *p;
  const ac_akernel *k; /* NULL: host code */
  ac_dprogram *out;
  ac_diags *d;
  AC_VEC(name) names;   /* in scope; the last of a name counts */
  AC_VEC(name) tensors; /* of the kernel's members, then of the method at work */
  int n_values, n_tensors;
  size_t member_tensors;
  const ac_alaunch *in_plan; /* names of kernel fields mean tiling fields of this launch */
  ac_loc loc;                /* of the statement at work, else of what is around it */
  bool failed;
} comp;

static void fail(comp *c, const char *what, const char *which) {
  if (!c->failed)
    ac_error(c->d, AC0600, c->loc, "the program cannot be run: %s%s%s", what, which ? " " : "", which ? which : "");
  c->failed = true;
}

/* ---- names ---- */

static int32_t declare(comp *c, const char *text, ac_atype type) {
  name n = {text, c->n_values++, type};
  ac_push(c->a, &c->names, n);
  return n.slot;
}
static const name *find(comp *c, const char *text) {
  for (size_t i = c->names.len; i-- > 0;)
    if (!strcmp(c->names.data[i].name, text)) return &c->names.data[i];
  return NULL;
}
static int field_of(comp *c, const char *text) {
  for (size_t i = 0; i < c->k->fields.len; i++)
    if (!strcmp(c->k->fields.data[i].name, text)) return c->in_plan->fields[i];
  return -1;
}

/* ---- expressions ---- */

static ac_dexpr *node(comp *c, int op, ac_atype type) {
  ac_dexpr *n = AC_NEW(c->a, ac_dexpr);
  n->op = (uint8_t)op;
  n->type = (uint8_t)type;
  return n;
}

static ac_dexpr *natural(comp *c, const ac_aexpr *e);

/* The value as `want`: what C++ does where a value meets a variable, a parameter or an operand of another type. */
static ac_dexpr *as(comp *c, ac_dexpr *n, ac_atype want) {
  if (n->type == want || (n->type == AC_AT_BOOL && want == AC_AT_INT)) return n;
  int op = want == AC_AT_FLOAT ? AC_AE_TO_FLOAT : want == AC_AT_INT ? AC_AE_TO_INT : AC_DX_TRUTH;
  ac_dexpr *r = node(c, op, want);
  r->of = n->type;
  r->a = n;
  return r;
}
static ac_dexpr *expr(comp *c, const ac_aexpr *e, ac_atype want) {
  return e ? as(c, natural(c, e), want) : NULL;
}

static ac_dexpr *variable(comp *c, const ac_aexpr *e) {
  int field = c->in_plan ? field_of(c, e->name) : -1;
  const name *v = find(c, e->name);
  ac_dexpr *n = node(c, field >= 0 ? AC_DX_PLAN : AC_AE_VAR, field >= 0 ? AC_AT_INT : v ? v->type : e->type);
  if (field < 0 && !v) fail(c, "nothing is called", e->name);
  n->slot = field >= 0 ? field : v ? v->slot : 0;
  return n;
}

/* Operands of one type: float where either is. */
static ac_dexpr *pair(comp *c, const ac_aexpr *e, ac_atype fixed, ac_atype result) {
  ac_dexpr *a = natural(c, e->a), *b = natural(c, e->b);
  ac_atype t = fixed != AC_AT_BOOL                                ? fixed
               : a->type == AC_AT_FLOAT || b->type == AC_AT_FLOAT ? AC_AT_FLOAT
                                                                  : AC_AT_INT;
  ac_dexpr *n = node(c, e->kind, result == AC_AT_BOOL ? AC_AT_BOOL : t);
  n->of = (uint8_t)t;
  n->a = as(c, a, t);
  n->b = as(c, b, t);
  return n;
}

static ac_dexpr *conditional(comp *c, const ac_aexpr *e) {
  ac_dexpr *a = natural(c, e->a), *b = natural(c, e->b);
  ac_atype t = a->type == b->type                                 ? (ac_atype)a->type
               : a->type == AC_AT_FLOAT || b->type == AC_AT_FLOAT ? AC_AT_FLOAT
                                                                  : AC_AT_INT;
  ac_dexpr *n = node(c, AC_AE_COND, t);
  n->a = as(c, a, t);
  n->b = as(c, b, t);
  n->c = expr(c, e->c, AC_AT_BOOL);
  return n;
}

static ac_dexpr *natural(comp *c, const ac_aexpr *e) {
  ac_dexpr *n;
  switch (e->kind) {
  case AC_AE_INT:
  case AC_AE_BOOL:
    n = node(c, AC_AE_INT, e->kind == AC_AE_INT ? AC_AT_INT : AC_AT_BOOL);
    n->i = e->i;
    return n;
  case AC_AE_FLOAT:
    n = node(c, e->kind, AC_AT_FLOAT);
    n->f = c->k && !c->in_plan ? (double)(float)e->f : e->f;
    return n;
  case AC_AE_VAR: return variable(c, e);
  case AC_AE_NEG: {
    ac_dexpr *a = natural(c, e->a);
    n = node(c, e->kind, a->type == AC_AT_FLOAT ? AC_AT_FLOAT : AC_AT_INT);
    n->a = a;
    return n;
  }
  case AC_AE_DETERMINISTIC: return node(c, e->kind, AC_AT_BOOL);
  case AC_AE_NOT:
    n = node(c, e->kind, AC_AT_BOOL);
    n->a = expr(c, e->a, AC_AT_BOOL);
    return n;
  case AC_AE_ADD:
  case AC_AE_SUB:
  case AC_AE_MUL:
  case AC_AE_DIV: return pair(c, e, AC_AT_BOOL, AC_AT_INT);
  case AC_AE_FLOORDIV:
  case AC_AE_MOD:
  case AC_AE_CDIV:
  case AC_AE_ALIGN_UP:
  case AC_AE_ALIGN_DOWN: return pair(c, e, AC_AT_INT, AC_AT_INT);
  case AC_AE_MIN:
  case AC_AE_MAX:
  case AC_AE_POW: return pair(c, e, e->type == AC_AT_FLOAT ? AC_AT_FLOAT : AC_AT_INT, AC_AT_INT);
  case AC_AE_EQ:
  case AC_AE_NE:
  case AC_AE_LT:
  case AC_AE_LE:
  case AC_AE_GT:
  case AC_AE_GE: return pair(c, e, AC_AT_BOOL, AC_AT_BOOL);
  case AC_AE_AND:
  case AC_AE_OR:
    n = node(c, e->kind, AC_AT_BOOL);
    n->a = expr(c, e->a, AC_AT_BOOL);
    n->b = expr(c, e->b, AC_AT_BOOL);
    return n;
  case AC_AE_COND: return conditional(c, e);
  case AC_AE_TO_FLOAT: return expr(c, e->a, AC_AT_FLOAT);
  case AC_AE_TO_INT: return expr(c, e->a, AC_AT_INT);
  default: /* of the block, the chip, a shape */
    n = node(c, e->kind, AC_AT_INT);
    n->slot = e->tensor;
    n->a = expr(c, e->a, AC_AT_INT);
    n->b = expr(c, e->b, AC_AT_INT);
    return n;
  }
}

/* ---- tensors ---- */

static int32_t tensor_slot(comp *c, const ac_atensor *t, bool obtained) {
  for (size_t i = 0; i < c->tensors.len; i++)
    if (!strcmp(c->tensors.data[i].name, t->name)) return c->tensors.data[i].slot;
  if (!obtained) fail(c, "nothing was put into the tensor", t->name);
  name n = {t->name, c->n_tensors++, AC_AT_INT};
  ac_push(c->a, &c->tensors, n);
  return n.slot;
}
static ac_dtype buffer_type(const comp *c, const ac_atensor *t) {
  return c->k->buffers.data[t->buffer].dtype;
}
/* C++ has uint8_t where the program says bool. */
static ac_dtype plain(ac_dtype d) {
  return d == AC_BOOL ? AC_U8 : d;
}

static ac_doperand local(comp *c, const ac_atensor *t, const ac_aexpr *offset, ac_dtype type) {
  return (ac_doperand){
      .tensor = tensor_slot(c, t, false), .size = ac_dtypes[type].bytes, .offset = expr(c, offset, AC_AT_INT)};
}
static ac_dtype operand_type(const comp *c, const ac_aoperand *o) {
  return plain(ac_operand_dtype(c->k, o));
}
static ac_doperand operand(comp *c, const ac_aoperand *o) {
  return local(c, o->tensor, o->offset, operand_type(c, o));
}

/* A scalar that will be converted to an element type: integers and floats take different ways. */
static ac_dexpr *scalar(comp *c, const ac_aexpr *e) {
  ac_dexpr *n = natural(c, e);
  return n->type == AC_AT_BOOL ? as(c, n, AC_AT_INT) : n;
}

/* ---- instructions ---- */

static int core_op(const char *asc) {
  for (int i = 0; i < ACSIM_OPS; i++)
    if (!strcmp(acsim_op_names[i], asc)) return i;
  return -1;
}

static const struct {
  int dst, a, b, c, scalar; /* positions of the operands, -1: none */
} forms[] = {
    [AC_FORM_UNARY] = {0, 1, -1, -1, -1},  [AC_FORM_BINARY] = {0, 1, 2, -1, -1},
    [AC_FORM_SCALAR] = {0, 1, -1, -1, 2},  [AC_FORM_FMA_SCALAR] = {0, 1, -1, -1, 2},
    [AC_FORM_FILL] = {0, -1, -1, -1, 1},   [AC_FORM_CAST] = {0, 1, -1, -1, -1},
    [AC_FORM_COMPARE] = {0, 1, 2, -1, -1}, [AC_FORM_COMPARE_S] = {0, 1, -1, -1, 2},
    [AC_FORM_SELECT] = {0, 2, 3, 1, -1},   [AC_FORM_SELECT_S] = {0, 2, -1, 1, 3},
    [AC_FORM_REDUCE] = {0, 1, 2, -1, -1},  [AC_FORM_COPY] = {0, 1, -1, -1, -1},
    [AC_FORM_INDEX] = {0, -1, -1, -1, 1},  [AC_FORM_GATHER] = {0, 1, 2, -1, 3},
    [AC_FORM_ROWS] = {0, 1, -1, -1, -1},   [AC_FORM_BLOCKS] = {0, 1, -1, -1, -1},
    [AC_FORM_WHOLE] = {0, 1, -1, -1, -1},  [AC_FORM_TILE] = {0, 1, -1, -1, -1},
    [AC_FORM_SORT] = {0, 1, 2, -1, -1},    [AC_FORM_MERGE] = {0, 1, -1, -1, 2},
    [AC_FORM_PICK] = {0, 1, -1, -1, 2},    [AC_FORM_FMA] = {0, 1, 2, -1, -1},
    [AC_FORM_TURN] = {0, 1, 2, -1, -1},
};
/* Values of AscendC's SELMODE. */
enum { SELECT_SCALAR = 1, SELECT_TENSOR = 2 };

static ac_doperand at_position(comp *c, const ac_astmt *s, int at) {
  if (at < 0) return (ac_doperand){.tensor = -1};
  if (at < s->n_ops && s->ops[at].tensor) return operand(c, &s->ops[at]);
  fail(c, "an operand is missing of", ac_insts[s->inst].asc);
  return (ac_doperand){.tensor = -1};
}

static void count(comp *c, const ac_astmt *s, ac_dinst *i, ac_form form) {
  bool wide = form == AC_FORM_CAST || form == AC_FORM_COMPARE || form == AC_FORM_COMPARE_S ||
              form == AC_FORM_SELECT || form == AC_FORM_SELECT_S || form == AC_FORM_COPY;
  wide = wide || form == AC_FORM_INDEX || form == AC_FORM_GATHER || form == AC_FORM_PICK || form == AC_FORM_MERGE;
  i->count = expr(c, s->count, AC_AT_INT);
  i->how = s->count->kind == AC_AE_INT && form != AC_FORM_REDUCE ? AC_DC_EXACT : wide ? AC_DC_UINT32 : AC_DC_INT32;
}

static ac_dinst *instruction(comp *c, const ac_astmt *s) {
  const ac_inst_info *info = &ac_insts[s->inst];
  ac_form form = info->form;
  ac_dinst *i = AC_NEW(c->a, ac_dinst);
  i->copy = form == AC_FORM_COPY;
  i->form = (uint8_t)form;
  bool plain_call =
      i->copy || form == AC_FORM_TILE || form == AC_FORM_SORT || form == AC_FORM_MERGE || form == AC_FORM_TURN;
  int op = plain_call ? 0 : core_op(info->asc);
  if (op < 0) fail(c, "the simulator has no", info->asc);
  i->v.op = (uint8_t)op;
  i->dst = at_position(c, s, forms[form].dst);
  i->a = at_position(c, s, forms[form].a);
  i->b = at_position(c, s, forms[form].b);
  i->c = at_position(c, s, forms[form].c);
  bool by_mask = form == AC_FORM_PICK && s->n_ops > 2 && s->ops[2].tensor;
  if (by_mask) i->b = at_position(c, s, 2);
  if (c->failed) return i;
  bool compare = form == AC_FORM_COMPARE || form == AC_FORM_COMPARE_S;
  ac_dtype dst = operand_type(c, &s->ops[0]);
  ac_dtype src = compare || form == AC_FORM_CAST || form == AC_FORM_FMA_SCALAR ? operand_type(c, &s->ops[1]) : dst;
  i->v.dst_type = (uint8_t)dst;
  i->v.type = (uint8_t)src;
  i->v.mode = (uint8_t)(form == AC_FORM_CAST       ? (int)s->round
                        : compare                  ? (int)s->cmp
                        : form == AC_FORM_SELECT   ? SELECT_TENSOR
                        : form == AC_FORM_SELECT_S ? SELECT_SCALAR
                                                   : 0);
  int at = by_mask ? -1 : forms[form].scalar;
  if (s->rep) {
    const ac_arep *p = s->rep;
    i->repeats = true;
    bool moded = form == AC_FORM_TURN || (form == AC_FORM_WHOLE && s->inst != AC_I_WHOLE_SUM);
    if (moded) i->v.mode = (uint8_t)p->mode;
    i->a_block = p->a_block;
    i->mask = expr(c, p->mask, AC_AT_INT);
    i->repeat = expr(c, p->repeat, AC_AT_INT);
    i->dst_rep = expr(c, p->dst, AC_AT_INT);
    i->a_rep = expr(c, p->a, AC_AT_INT);
    i->b_rep = expr(c, p->b, AC_AT_INT);
  }
  if (at >= 0 && (at >= s->n_ops || !s->ops[at].scalar))
    fail(c, "a scalar is missing of", info->asc);
  else if (at >= 0)
    i->scalar = scalar(c, s->ops[at].scalar);
  i->scalar_type = form == AC_FORM_GATHER || form == AC_FORM_MERGE || form == AC_FORM_PICK ? AC_I64 : src;
  if (!s->rep) count(c, s, i, form);
  return i;
}

static ac_dcopy *copy(comp *c, const ac_acopy *s) {
  ac_dcopy *n = AC_NEW(c->a, ac_dcopy);
  n->to_ub = s->to_ub;
  n->exact = s->exact;
  n->by_element = s->by_element;
  n->atomic = s->atomic;
  n->gm = s->gm;
  n->type = plain(buffer_type(c, s->ub));
  n->ub = local(c, s->ub, s->ub_offset, n->type);
  n->gm_offset = expr(c, s->gm_offset, AC_AT_INT);
  n->rows = expr(c, s->rows, AC_AT_INT);
  n->cols = expr(c, s->cols, AC_AT_INT);
  n->gm_stride = expr(c, s->gm_stride, AC_AT_INT);
  n->ub_pitch = expr(c, s->ub_pitch, AC_AT_INT);
  n->pad = s->pad ? scalar(c, s->pad) : NULL;
  return n;
}

/* ---- statements ---- */

static ac_dblock block(comp *c, const ac_ablock *b);
static void launch(comp *c, const ac_alaunch *l, ac_dlaunch *out);

/* HardEvent of AscendC, in the order of ac_event. */
static const uint8_t hard_events[AC_EV_COUNT] = {
    [AC_EV_MTE2_V] = 4,     [AC_EV_V_MTE2] = 5,     [AC_EV_MTE3_V] = 6,  [AC_EV_V_MTE3] = 7,
    [AC_EV_MTE3_MTE2] = 19, [AC_EV_MTE2_MTE3] = 20, [AC_EV_S_V] = 21,    [AC_EV_V_S] = 22,
    [AC_EV_S_MTE2] = 23,    [AC_EV_MTE2_S] = 24,    [AC_EV_S_MTE3] = 25, [AC_EV_MTE3_S] = 26};

static void call(comp *c, const ac_astmt *s, ac_dstmt *n) {
  const ac_amethod *m = &c->k->methods.data[s->method];
  n->method = s->method;
  n->n_args = s->n_args;
  if ((size_t)s->n_args != m->params.len) fail(c, "wrong number of arguments for", m->name);
  n->args = AC_NEW_N(c->a, ac_dexpr *, s->n_args + 1);
  for (int i = 0; i < s->n_args && !c->failed; i++) n->args[i] = expr(c, s->args[i], m->params.data[i].type);
}

static void get_value(comp *c, const ac_astmt *s, ac_dstmt *n) {
  if (s->n_ops) {
    n->dtype = operand_type(c, &s->ops[0]);
    n->op = local(c, s->ops[0].tensor, NULL, n->dtype);
    n->value = expr(c, s->ops[0].offset, AC_AT_INT);
  } else {
    n->op.tensor = -1;
    n->gm = s->gm;
    n->dtype = plain(c->k->gms.data[s->gm].dtype);
    n->value = expr(c, s->value, AC_AT_INT);
  }
  n->slot = declare(c, s->var.name, s->var.type);
}
static void set_value(comp *c, const ac_astmt *s, ac_dstmt *n) {
  n->dtype = operand_type(c, &s->ops[0]);
  n->op = local(c, s->ops[0].tensor, NULL, n->dtype);
  n->lo = expr(c, s->ops[0].offset, AC_AT_INT);
  n->value = scalar(c, s->value);
}

static void loop(comp *c, const ac_astmt *s, ac_dstmt *n) {
  size_t mark = c->names.len;
  n->lo = expr(c, s->lo, AC_AT_INT);
  if (!c->k) { /* host code evaluates the bounds once, in front of the loop; they do not see its variable */
    n->hi = expr(c, s->hi, AC_AT_INT);
    n->step = expr(c, s->step, AC_AT_INT);
  }
  n->slot = declare(c, s->var.name, AC_AT_INT);
  if (c->k) {
    n->hi = expr(c, s->hi, AC_AT_INT);
    n->step = expr(c, s->step, AC_AT_INT);
  }
  n->body = block(c, &s->body);
  c->names.len = mark;
}

static void queue_statement(comp *c, const ac_astmt *s, ac_dstmt *n) {
  bool obtained = s->kind == AC_AS_ALLOC || s->kind == AC_AS_DEQUE || s->kind == AC_AS_GET;
  n->slot = tensor_slot(c, s->tensor, obtained);
  n->queue = s->tensor->buffer;
  n->outward = s->outward;
}

static void statement(comp *c, const ac_astmt *s, ac_dstmt *n) {
  bool host_only = s->kind >= AC_AS_REFUSE, kernel_only = s->kind >= AC_AS_RETURN && !host_only;
  if (c->k ? host_only : kernel_only) {
    fail(c, c->k ? "a statement of host code stands in a kernel" : "a statement of kernels stands in host code",
         NULL);
    return;
  }
  switch (s->kind) {
  case AC_AS_DECL:
    n->value = expr(c, s->value, s->var.type);
    n->slot = declare(c, s->var.name, s->var.type);
    return;
  case AC_AS_ASSIGN: {
    const name *v = find(c, s->var.name);
    if (!v) {
      fail(c, "nothing is called", s->var.name);
      return;
    }
    n->slot = v->slot;
    n->type = (uint8_t)v->type;
    n->value = expr(c, s->value, v->type);
    return;
  }
  case AC_AS_FOR: loop(c, s, n); return;
  case AC_AS_WHILE:
  case AC_AS_IF:
    n->value = expr(c, s->cond, AC_AT_BOOL);
    n->body = block(c, &s->body);
    n->orelse = block(c, &s->orelse);
    return;
  case AC_AS_CALL: call(c, s, n); return;
  case AC_AS_ALLOC:
  case AC_AS_ENQUE:
  case AC_AS_DEQUE:
  case AC_AS_FREE:
  case AC_AS_GET: queue_statement(c, s, n); return;
  case AC_AS_COPY: n->copy = copy(c, s->copy); return;
  case AC_AS_INST:
    n->inst = instruction(c, s);
    n->slot = s->var.name ? declare(c, s->var.name, s->var.type) : -1;
    return;
  case AC_AS_GETVALUE: get_value(c, s, n); return;
  case AC_AS_SETVALUE: set_value(c, s, n); return;
  case AC_AS_FLAG: n->method = hard_events[s->event]; return;
  case AC_AS_HOLD:
  case AC_AS_SET:
  case AC_AS_WAIT:
  case AC_AS_RELEASE:
    n->method = hard_events[s->event];
    n->slot = s->held - 1;
    return;
  case AC_AS_CLEAN: n->gm = s->gm; return;
  case AC_AS_REFUSE:
    n->text = s->text;
    n->n_args = s->n_args;
    n->args = AC_NEW_N(c->a, ac_dexpr *, s->n_args + 1);
    for (int i = 0; i < s->n_args; i++) n->args[i] = expr(c, s->args[i], AC_AT_INT);
    return;
  case AC_AS_LAUNCH:
    n->launch = &c->out->launches[s->launch->index];
    launch(c, s->launch, n->launch);
    return;
  case AC_AS_END: n->path = s->path; return;
  case AC_AS_PRIM: fail(c, "a composed primitive was not lowered", NULL); return;
  default: return;
  }
}

static ac_dblock block(comp *c, const ac_ablock *b) {
  ac_dblock r = {.at = AC_NEW_N(c->a, ac_dstmt, b->len + 1)};
  size_t mark = c->names.len;
  ac_loc outer = c->loc;
  for (size_t i = 0; i < b->len && !c->failed; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_COMMENT) continue;
    if (s->loc.line) c->loc = s->loc;
    ac_dstmt *n = &r.at[r.n++];
    n->kind = (uint8_t)s->kind;
    n->type = (uint8_t)s->var.type;
    n->file = c->loc.file;
    n->line = c->loc.line;
    statement(c, s, n);
  }
  c->loc = outer;
  c->names.len = mark;
  return r;
}

/* ---- kernels ---- */

static void method(comp *c, const ac_amethod *m, ac_dmethod *out) {
  size_t mark = c->names.len;
  c->tensors.len = c->member_tensors;
  out->n_params = (int)m->params.len;
  out->params = AC_NEW_N(c->a, ac_dvar, m->params.len + 1);
  for (size_t i = 0; i < m->params.len; i++) {
    ac_avar v = m->params.data[i];
    out->params[i] = (ac_dvar){declare(c, v.name, v.type), (uint8_t)v.type};
  }
  out->body = block(c, &m->body);
  c->names.len = mark;
}

static void kernel(comp *c, const ac_akernel *k, ac_dkernel *out) {
  c->k = k;
  c->loc = k->loc;
  c->names.len = c->tensors.len = 0;
  c->n_values = c->n_tensors = 0;
  out->k = k;
  out->n_fields = (int)k->fields.len;
  out->fields = AC_NEW_N(c->a, ac_dvar, k->fields.len + 1);
  for (size_t i = 0; i < k->fields.len; i++)
    out->fields[i] =
        (ac_dvar){declare(c, k->fields.data[i].name, k->fields.data[i].type), (uint8_t)k->fields.data[i].type};
  for (size_t i = 0; i < k->members.len; i++) declare(c, k->members.data[i].name, k->members.data[i].type);
  for (size_t i = 0; i < k->handles.len; i++)
    if (k->handles.data[i]->member) tensor_slot(c, k->handles.data[i], true);
  c->member_tensors = c->tensors.len;
  out->n_gms = (int)k->gms.len;
  out->n_buffers = (int)k->buffers.len;
  out->buffers = AC_NEW_N(c->a, ac_dbuffer, k->buffers.len + 1);
  for (size_t i = 0; i < k->buffers.len; i++)
    out->buffers[i] = (ac_dbuffer){&k->buffers.data[i], expr(c, k->buffers.data[i].elements, AC_AT_INT)};
  out->methods = AC_NEW_N(c->a, ac_dmethod, k->methods.len + 1);
  for (size_t i = 0; i < k->methods.len && !c->failed; i++) method(c, &k->methods.data[i], &out->methods[i]);
  out->n_values = c->n_values;
  out->n_tensors = c->n_tensors;
  c->k = NULL;
}

/* ---- host code ---- */

/* Names of a launch are those of the statement's place: it is compiled where it stands. */
static void launch(comp *c, const ac_alaunch *l, ac_dlaunch *out) {
  const ac_akernel *k = c->p->kernels.data[l->kernel];
  out->l = l;
  out->blocks = expr(c, l->blocks, AC_AT_INT);
  out->values = AC_NEW_N(c->a, ac_dexpr *, k->fields.len + 1);
  for (size_t i = 0; i < k->fields.len; i++) out->values[i] = expr(c, l->values[i], k->fields.data[i].type);
  out->workspaces = AC_NEW_N(c->a, ac_dexpr *, c->p->workspaces.len + 1);
  for (size_t i = 0; i < c->p->workspaces.len; i++)
    if (l->places[i]) out->workspaces[i] = expr(c, c->p->workspaces.data[i].elements, AC_AT_INT);
  out->elements = AC_NEW_N(c->a, ac_dexpr *, k->buffers.len + 1);
  c->k = k;
  c->in_plan = l;
  for (size_t i = 0; i < k->buffers.len; i++) out->elements[i] = expr(c, k->buffers.data[i].elements, AC_AT_INT);
  c->in_plan = NULL;
  c->k = NULL;
}

static void output_dims(comp *c) {
  c->out->dims = AC_NEW_N(c->a, ac_doutdim *, c->p->tensors.len + 1);
  for (size_t i = 0; i < c->p->tensors.len; i++) {
    const ac_aparam *t = &c->p->tensors.data[i];
    if (!t->dims) continue;
    c->out->dims[i] = AC_NEW_N(c->a, ac_doutdim, t->n_dims + 1);
    for (int k = 0; k < t->n_dims; k++)
      c->out->dims[i][k] = (ac_doutdim){.size = expr(c, t->dims[k].size, AC_AT_INT),
                                        .from = expr(c, t->dims[k].from, AC_AT_INT),
                                        .to = expr(c, t->dims[k].to, AC_AT_INT),
                                        .tensor = t->dims[k].tensor};
  }
}

static void host(comp *c) {
  const ac_program *p = c->p;
  c->names.len = 0;
  c->n_values = 0;
  for (size_t i = 0; i < p->attrs.len; i++)
    declare(c, p->attrs.data[i].name, p->attrs.data[i].type == AC_AT_FLOAT ? AC_AT_FLOAT : AC_AT_INT);
  output_dims(c);
  c->out->host = block(c, &p->host);
  c->out->n_values = c->n_values;
}

/* As C++ lays out a struct of the fields. */
static void tiling_layout(comp *c) {
  const ac_program *p = c->p;
  c->out->field_at = AC_NEW_N(c->a, int32_t, p->fields.len + 1);
  int64_t at = 0;
  for (size_t i = 0; i < p->fields.len; i++) {
    int64_t size = p->fields.data[i].type == AC_AT_FLOAT ? 4 : 8;
    at = (at + size - 1) / size * size;
    c->out->field_at[i] = (int32_t)at;
    at += size;
  }
  c->out->tiling_bytes = (at + 7) / 8 * 8;
}

ac_dprogram *ac_direct_compile(ac_arena *a, const ac_program *p, ac_diags *d) {
  comp c = {.a = a, .p = p, .d = d, .out = AC_NEW(a, ac_dprogram)};
  ac_dprogram *out = c.out;
  out->p = p;
  out->kernels = AC_NEW_N(a, ac_dkernel, p->kernels.len + 1);
  out->launches = AC_NEW_N(a, ac_dlaunch, p->launches.len + 1);
  for (size_t i = 0; i < p->kernels.len && !c.failed; i++) {
    kernel(&c, p->kernels.data[i], &out->kernels[i]);
    if (!out->file) out->file = p->kernels.data[i]->loc.file;
  }
  tiling_layout(&c);
  host(&c);
  return c.failed ? NULL : out;
}
