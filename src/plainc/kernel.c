/* A kernel in C: a struct that holds one block (its parameters, tensors and what lives across methods) and a function a method.
 *
 * Blocks run one after the other. Those of a kernel that joins its blocks (sync_all) run in turns: Process is left where it
 * waits, with its variables in the struct, and entered again at that place, by a switch whose labels stand inside the loops. */
#include "plainc/internal.h"

#include <string.h>

static ac_dtype dtype_of(const ac_pc *t, const ac_atensor *x) {
  return t->k->buffers.data[x->buffer].dtype;
}

static void block(ac_pc *t, const ac_ablock *b);

/* ---- which variables are read: the others would be reported by the compiler ---- */

static void reads(ac_pc *t, const ac_aexpr *e) {
  if (!e) return;
  if (e->kind == AC_AE_VAR) ac_push(t->a, &t->read, e->name);
  reads(t, e->a);
  reads(t, e->b);
  reads(t, e->c);
}
static void reads_block(ac_pc *t, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    const ac_aexpr *own[] = {s->value, s->lo, s->hi, s->step, s->cond, s->count};
    for (size_t n = 0; n < AC_COUNT(own); n++) reads(t, own[n]);
    for (int n = 0; n < s->n_args; n++) reads(t, s->args[n]);
    for (int n = 0; n < s->n_ops; n++) {
      reads(t, s->ops[n].offset);
      reads(t, s->ops[n].scalar);
    }
    if (s->copy) {
      const ac_acopy *c = s->copy;
      const ac_aexpr *parts[] = {c->gm_offset, c->ub_offset, c->rows, c->cols, c->gm_stride, c->ub_pitch, c->pad};
      for (size_t n = 0; n < AC_COUNT(parts); n++) reads(t, parts[n]);
    }
    if (s->rep) {
      const ac_aexpr *parts[] = {s->rep->mask, s->rep->repeat, s->rep->dst, s->rep->a, s->rep->b};
      for (size_t n = 0; n < AC_COUNT(parts); n++) reads(t, parts[n]);
    }
    reads_block(t, &s->body);
    reads_block(t, &s->orelse);
  }
}
static bool is_read(const ac_pc *t, const char *name) {
  for (size_t i = 0; i < t->read.len; i++)
    if (!strcmp(t->read.data[i], name)) return true;
  return false;
}

/* ---- operands ---- */

/* A scalar as the instruction on elements of dtype d takes it. */
static char *scalar(ac_pc *t, const ac_aexpr *e, ac_dtype d) {
  const char *s = ac_pc_expr(t, e);
  bool fl = ac_dtypes[d].cls == AC_FLOATING;
  if (fl && e->type != AC_AT_FLOAT) return ac_sprintf(t->a, "(float)(%s)", s);
  if (!fl && e->type == AC_AT_FLOAT)
    return ac_sprintf(t->a, "%s(%s)", ac_dtypes[d].bytes == 8 || d == AC_U32 ? "ac_to_int" : "ac_to_int32", s);
  return ac_strdup(t->a, s);
}

static char *local(ac_pc *t, const ac_atensor *x, const ac_aexpr *offset, ac_dtype view) {
  char *s = ac_sprintf(t->a, "k->%s", ac_pc_name(t->a, x->name));
  if (!offset) return s;
  if (view != AC_NODTYPE && strcmp(ac_pc_dtype(view), ac_pc_dtype(dtype_of(t, x))) != 0)
    s = ac_sprintf(t->a, "(%s *)(void *)%s", ac_pc_dtype(view), s);
  bool simple = offset->kind == AC_AE_VAR || offset->kind == AC_AE_INT;
  return ac_sprintf(t->a, simple ? "%s + %s" : "%s + (%s)", s, ac_pc_expr(t, offset));
}

static void declare(ac_pc *t, const ac_avar *v, const char *value, const char *tail);

/* ---- instructions ---- */

/* The repeat form: the lanes of a repeat by count, so many times; distances are blocks of 32 bytes. */
static void repeats(ac_pc *t, const ac_astmt *s, const char *f, ac_dtype d) {
  const ac_aexpr *step[AC_COUNT(s->ops)] = {s->rep->dst, s->rep->a, s->rep->b};
  ac_buf b;
  ac_buf_init(&b, t->a);
  for (int o = 0, k = 0; o < s->n_ops; o++) {
    const ac_aoperand *x = &s->ops[o];
    if (!x->tensor) {
      ac_printf(&b, "%s, ", scalar(t, x->scalar, d));
      continue;
    }
    const char *p = local(t, x->tensor, x->offset, x->view);
    ac_printf(&b, "(uint8_t *)(void *)(%s) + repeat * 32 * (%s), ", p, step[k] ? ac_pc_expr(t, step[k]) : "0");
    k++;
  }
  ac_pc_open(t, "for (int64_t repeat = 0; repeat < %s; repeat++)", ac_pc_expr(t, s->rep->repeat));
  ac_pc_line(t, "%s(%s%s);%s", f, ac_buf_str(&b), ac_pc_expr(t, s->rep->mask), ac_pc_trailing(t, s->trailing));
  ac_pc_close(t, "");
}

/* Operands, then what the form has besides them. */
static void of_rows(ac_pc *t, const ac_astmt *s, const char *f, ac_dtype d) {
  const ac_arep *r = s->rep;
  ac_form form = ac_insts[s->inst].form;
  ac_buf b;
  ac_buf_init(&b, t->a);
  for (int o = 0; o < s->n_ops; o++)
    ac_printf(&b, "%s%s", o ? ", " : "",
              s->ops[o].tensor        ? local(t, s->ops[o].tensor, s->ops[o].offset, s->ops[o].view)
              : form == AC_FORM_INDEX ? scalar(t, s->ops[o].scalar, d)
                                      : ac_pc_expr(t, s->ops[o].scalar));
  if (r && r->mask) ac_printf(&b, ", %s", ac_pc_expr(t, r->mask));
  if (r && form == AC_FORM_TURN) ac_printf(&b, ", %s", ac_pc_expr(t, r->b));
  if (r) ac_printf(&b, ", %s", ac_pc_expr(t, r->repeat));
  if (r && form != AC_FORM_SORT) ac_printf(&b, ", %s", r->dst ? ac_pc_expr(t, r->dst) : "0");
  if (r && (form == AC_FORM_ROWS || form == AC_FORM_WHOLE || form == AC_FORM_TURN))
    ac_printf(&b, ", %s", r->a ? ac_pc_expr(t, r->a) : "0");
  if (r && form == AC_FORM_ROWS) ac_printf(&b, ", %d", r->a_block);
  if (r && form == AC_FORM_TURN) ac_printf(&b, ", %d", r->mode);
  if (!r && form != AC_FORM_TILE) ac_printf(&b, ", %s", ac_pc_expr(t, s->count));
  const char *call = ac_sprintf(t->a, "%s(%s)", f, ac_buf_str(&b));
  if (s->var.name)
    declare(t, &s->var, call, ac_pc_trailing(t, s->trailing));
  else
    ac_pc_line(t, "%s%s;%s", form == AC_FORM_PICK ? "(void)" : "", call, ac_pc_trailing(t, s->trailing));
}

static void instruction(ac_pc *t, const ac_astmt *s) {
  const ac_inst_info *i = &ac_insts[s->inst];
  bool compare = i->form == AC_FORM_COMPARE || i->form == AC_FORM_COMPARE_S;
  const ac_aoperand *typed = &s->ops[compare ? 1 : 0];
  if (!typed->tensor) {
    ac_pc_fail(t, s->loc, "%s without a destination", i->asc);
    return;
  }
  ac_dtype d = ac_operand_dtype(t->k, typed), from = d;
  if (i->form == AC_FORM_CAST && s->ops[1].tensor) from = ac_operand_dtype(t->k, &s->ops[1]);
  const char *f = ac_pc_rows(t, s, d);
  if (f) {
    of_rows(t, s, f, d);
    return;
  }
  f = ac_pc_inst(t, s, d, from);
  if (!f) return;
  if (s->rep) {
    repeats(t, s, f, d);
    return;
  }
  ac_buf b;
  ac_buf_init(&b, t->a);
  int n = i->form == AC_FORM_REDUCE ? 2 : s->n_ops; /* a work tensor is the chip's business */
  for (int o = 0; o < n; o++)
    ac_printf(&b, "%s, ",
              s->ops[o].tensor ? local(t, s->ops[o].tensor, s->ops[o].offset, s->ops[o].view)
                               : scalar(t, s->ops[o].scalar, i->form == AC_FORM_GATHER ? AC_U32 : d));
  ac_pc_line(t, "%s(%s%s);%s", f, ac_buf_str(&b), ac_pc_expr(t, s->count), ac_pc_trailing(t, s->trailing));
}

/* ---- copies ---- */

static void copy(ac_pc *t, const ac_astmt *s) {
  const ac_acopy *c = s->copy;
  ac_dtype d = dtype_of(t, c->ub);
  const ac_agm *g = &t->k->gms.data[c->gm];
  if (c->rank || !c->cols) {
    ac_pc_fail(t, s->loc, "a copy that is still a tile");
    return;
  }
  const char *ub = local(t, c->ub, c->ub_offset, AC_NODTYPE), *cols = ac_pc_expr(t, c->cols);
  const char *gm = ac_sprintf(t->a, "k->%s + (%s)", ac_pc_name(t->a, g->name), ac_pc_expr(t, c->gm_offset));
  const char *tail = ac_pc_trailing(t, s->trailing), *to = c->to_ub ? ub : gm, *from = c->to_ub ? gm : ub;
  int size = ac_dtypes[d].bytes;
  if (c->atomic != AC_ATOMIC_NONE)
    ac_pc_line(t, "ac_atomic_%s_%s(%s, %s, %s, %s, %s, %s);%s", ac_atomic_names[c->atomic], ac_pc_suffix(d), to,
               c->rows ? ac_pc_expr(t, c->gm_stride) : "0", from, c->rows ? ac_pc_expr(t, c->ub_pitch) : "0",
               c->rows ? ac_pc_expr(t, c->rows) : "1", cols, tail);
  else if (c->by_element)
    ac_pc_line(t, "ac_copy_rows(%s, 1, %s, %s, %s, 1, %d);%s", to, from, ac_pc_expr(t, c->gm_stride), cols, size,
               tail);
  else if (c->rows)
    ac_pc_line(t, "ac_copy_rows(%s, %s, %s, %s, %s, %s, %d);%s", to,
               ac_pc_expr(t, c->to_ub ? c->ub_pitch : c->gm_stride), from,
               ac_pc_expr(t, c->to_ub ? c->gm_stride : c->ub_pitch), ac_pc_expr(t, c->rows), cols, size, tail);
  else
    ac_pc_line(t, "ac_copy(%s, %s, %s, %d);%s", to, from, cols, size, tail);
  if (c->to_ub && c->pad && !c->rows && !c->by_element)
    ac_pc_line(t, "ac_pad_%s(%s, %s, %s);", ac_pc_suffix(d), ub, cols, scalar(t, c->pad, d));
}

/* ---- single elements ---- */

static char *as(ac_pc *t, const char *value, ac_dtype d, ac_atype type) {
  bool fl = ac_dtypes[d].cls == AC_FLOATING;
  if (type == AC_AT_BOOL) return ac_sprintf(t->a, "%s != 0", value);
  if (type == AC_AT_FLOAT) return fl ? ac_strdup(t->a, value) : ac_sprintf(t->a, "(float)%s", value);
  return fl ? ac_sprintf(t->a, "ac_to_int(%s)", value) : ac_strdup(t->a, value);
}

static void declare(ac_pc *t, const ac_avar *v, const char *value, const char *tail) {
  const char *name = ac_pc_name(t->a, v->name);
  if (t->kept) {
    ac_pc_line(t, "k->%s = %s;%s", name, value, tail);
    return;
  }
  ac_pc_line(t, "%s %s = %s;%s", ac_pc_type(v->type, false), name, value, tail);
  if (!is_read(t, v->name)) ac_pc_line(t, "(void)%s;", name);
}

static void get_value(ac_pc *t, const ac_astmt *s) {
  ac_dtype d;
  const char *from, *at;
  if (s->n_ops) {
    d = ac_operand_dtype(t->k, &s->ops[0]);
    from = local(t, s->ops[0].tensor, NULL, AC_NODTYPE);
    at = s->ops[0].offset ? ac_pc_expr(t, s->ops[0].offset) : "0";
  } else {
    d = t->k->gms.data[s->gm].dtype;
    from = ac_sprintf(t->a, "k->%s", ac_pc_name(t->a, t->k->gms.data[s->gm].name));
    at = ac_pc_expr(t, s->value);
  }
  const char *v = ac_sprintf(t->a, "ac_get_%s(%s, %s)", ac_pc_suffix(d), from, at);
  declare(t, &s->var, as(t, v, d, s->var.type), ac_pc_trailing(t, s->trailing));
}

/* ---- statements ---- */

static void for_loop(ac_pc *t, const ac_astmt *s) {
  const char *v = ac_pc_name(t->a, s->var.name), *type = t->kept ? "" : "int64_t ";
  if (t->kept) v = ac_sprintf(t->a, "k->%s", v);
  const char *lo = ac_pc_expr(t, s->lo), *hi = ac_pc_expr(t, s->hi), *step = ac_pc_expr(t, s->step);
  if (s->step->kind == AC_AE_INT && s->step->i == 1)
    ac_pc_open(t, "for (%s%s = %s; %s < %s; %s++)", type, v, lo, v, hi, v);
  else if (s->step->kind == AC_AE_INT)
    ac_pc_open(t, "for (%s%s = %s; %s %s %s; %s += %s)", type, v, lo, v, s->step->i < 0 ? ">" : "<", hi, v, step);
  else
    ac_pc_open(t, "for (%s%s = %s; (%s) > 0 ? %s < %s : %s > %s; %s += %s)", type, v, lo, step, v, hi, v, hi, v,
               step);
  block(t, &s->body);
  ac_pc_close(t, "");
}

static void if_else(ac_pc *t, const ac_astmt *s) {
  ac_pc_open(t, "if (%s)", ac_pc_expr(t, s->cond));
  block(t, &s->body);
  while (s->orelse.len == 1 && s->orelse.data[0]->kind == AC_AS_IF) {
    s = s->orelse.data[0];
    t->indent--;
    ac_pc_open(t, "} else if (%s)", ac_pc_expr(t, s->cond));
    block(t, &s->body);
  }
  if (s->orelse.len) {
    t->indent--;
    ac_pc_open(t, "} else");
    block(t, &s->orelse);
  }
  ac_pc_close(t, "");
}

static void call(ac_pc *t, const ac_astmt *s) {
  ac_buf b;
  ac_buf_init(&b, t->a);
  for (int i = 0; i < s->n_args; i++) ac_printf(&b, ", %s", ac_pc_expr(t, s->args[i]));
  ac_pc_line(t, "%s_%s(k%s);%s", t->k->name, t->k->methods.data[s->method].name, ac_buf_str(&b),
             ac_pc_trailing(t, s->trailing));
}

static void statement(ac_pc *t, const ac_astmt *s) {
  const char *tail = ac_pc_trailing(t, s->trailing);
  switch (s->kind) {
  case AC_AS_COMMENT: ac_pc_comment(t, s->text); return;
  case AC_AS_DECL: declare(t, &s->var, ac_pc_expr(t, s->value), tail); return;
  case AC_AS_ASSIGN: {
    ac_aexpr v = {.kind = AC_AE_VAR, .type = s->var.type, .name = s->var.name};
    ac_pc_line(t, "%s = %s;%s", ac_pc_expr(t, &v), ac_pc_expr(t, s->value), tail);
    return;
  }
  case AC_AS_FOR: for_loop(t, s); return;
  case AC_AS_WHILE:
    ac_pc_open(t, "while (%s)", ac_pc_expr(t, s->cond));
    block(t, &s->body);
    ac_pc_close(t, "");
    return;
  case AC_AS_IF: if_else(t, s); return;
  case AC_AS_BREAK: ac_pc_line(t, "break;"); return;
  case AC_AS_RETURN: ac_pc_line(t, t->kept ? "return true;" : "return;"); return;
  case AC_AS_CALL: call(t, s); return;
  case AC_AS_COPY: copy(t, s); return;
  case AC_AS_INST: instruction(t, s); return;
  case AC_AS_GETVALUE: get_value(t, s); return;
  case AC_AS_SETVALUE: {
    ac_dtype d = ac_operand_dtype(t->k, &s->ops[0]);
    ac_pc_line(t, "ac_put_%s(%s, %s, %s);%s", ac_pc_suffix(d), local(t, s->ops[0].tensor, NULL, AC_NODTYPE),
               s->ops[0].offset ? ac_pc_expr(t, s->ops[0].offset) : "0", scalar(t, s->value, d), tail);
    return;
  }
  case AC_AS_SYNC_ALL: ac_pc_line(t, "AC_SYNC_ALL(k);%s", tail); return;
  case AC_AS_ALLOC:
  case AC_AS_ENQUE:
  case AC_AS_DEQUE:
  case AC_AS_FREE:
  case AC_AS_GET:
  case AC_AS_FLAG:
  case AC_AS_HOLD:
  case AC_AS_SET:
  case AC_AS_WAIT:
  case AC_AS_RELEASE:
  case AC_AS_CLEAN: return; /* no cache between memory and what reads it */
  case AC_AS_STORE_BARRIER:
  case AC_AS_BARRIER: return; /* order between units, of which C has one */
  default: ac_pc_fail(t, s->loc, "a statement of kind %d", (int)s->kind); return;
  }
}
static void block(ac_pc *t, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    bool blank = s->kind == AC_AS_COMMENT && !*s->text;
    if (blank && (!i || i + 1 == b->len)) continue;
    statement(t, s);
  }
}

/* ---- methods ---- */

static void method(ac_pc *t, const ac_amethod *m) {
  ac_buf args;
  ac_buf_init(&args, t->a);
  for (size_t i = 0; i < m->params.len; i++)
    ac_printf(&args, ", %s %s", ac_pc_type(m->params.data[i].type, false), ac_pc_name(t->a, m->params.data[i].name));
  t->kept = m->kind == AC_AM_PROCESS && t->k->sync_all;
  t->read.len = 0;
  reads_block(t, &m->body);
  for (size_t i = 0; i < m->comments.len; i++) ac_pc_comment(t, m->comments.data[i]);
  ac_pc_open(t, "static %s %s_%s(%s_block *k%s)", t->kept ? "bool" : "void", t->k->name, m->name, t->k->name,
             ac_buf_str(&args));
  ac_pc_line(t, "(void)k;");
  for (size_t i = 0; i < m->params.len; i++)
    if (!is_read(t, m->params.data[i].name)) ac_pc_line(t, "(void)%s;", ac_pc_name(t->a, m->params.data[i].name));
  if (t->kept) {
    ac_pc_line(t, "switch (k->ac_at) {");
    ac_pc_line(t, "case 0:;");
  }
  block(t, &m->body);
  if (t->kept) {
    ac_pc_line(t, "}");
    ac_pc_line(t, "return true;");
  }
  ac_pc_close(t, "");
  ac_pc_line(t, "%s", "");
  t->kept = false;
}

/* ---- the block ---- */

typedef struct {
  ac_pc *t;
  AC_VEC(ac_avar) vars;
} keeper;
static void keep(keeper *x, const ac_avar *v, ac_loc loc) {
  for (size_t i = 0; i < x->vars.len; i++) {
    if (strcmp(x->vars.data[i].name, v->name) != 0) continue;
    if (x->vars.data[i].type != v->type) ac_pc_fail(x->t, loc, "'%s', which has two types,", v->name);
    return;
  }
  ac_push(x->t->a, &x->vars, *v);
}
static void keep_block(keeper *x, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_DECL || s->kind == AC_AS_FOR || s->kind == AC_AS_GETVALUE ||
        (s->kind == AC_AS_INST && s->var.name))
      keep(x, &s->var, s->loc);
    keep_block(x, &s->body);
    keep_block(x, &s->orelse);
  }
}

static bool first_of(const ac_akernel *k, size_t i) {
  for (size_t j = 0; j < i; j++)
    if (!strcmp(k->handles.data[j]->name, k->handles.data[i]->name)) return false;
  return true;
}

static void block_struct(ac_pc *t, const ac_akernel *k) {
  ac_pc_comment(t, ac_sprintf(t->a, "One block of %s.", k->name));
  ac_pc_open(t, "typedef struct");
  ac_pc_line(t, "int64_t ac_block, ac_blocks; /* which, and how many there are */");
  for (size_t i = 0; i < k->fields.len; i++)
    ac_pc_line(t, "%s %s;", ac_pc_type(k->fields.data[i].type, false), ac_pc_name(t->a, k->fields.data[i].name));
  for (size_t i = 0; i < k->gms.len; i++)
    ac_pc_line(t, "%s%s *%s;", k->gms.data[i].out ? "" : "const ", ac_pc_dtype(k->gms.data[i].dtype),
               ac_pc_name(t->a, k->gms.data[i].name));
  ac_pc_line(t, "void *ac_memory[%zu]; /* what the names below point to */", k->buffers.len + 1);
  for (size_t i = 0; i < k->handles.len; i++)
    if (first_of(k, i))
      ac_pc_line(t, "%s *%s; /* %s */", ac_pc_dtype(dtype_of(t, k->handles.data[i])),
                 ac_pc_name(t->a, k->handles.data[i]->name), k->buffers.data[k->handles.data[i]->buffer].name);
  for (size_t i = 0; i < k->members.len; i++)
    ac_pc_line(t, "%s %s;", ac_pc_type(k->members.data[i].type, false), ac_pc_name(t->a, k->members.data[i].name));
  if (k->sync_all) {
    keeper x = {.t = t};
    keep_block(&x, &k->methods.data[0].body);
    for (size_t i = 0; i < x.vars.len; i++)
      ac_pc_line(t, "%s %s;", ac_pc_type(x.vars.data[i].type, false), ac_pc_name(t->a, x.vars.data[i].name));
    ac_pc_line(t, "int ac_at; /* where Process goes on */");
    ac_pc_line(t, "bool ac_done;");
  }
  ac_pc_close(t, ac_sprintf(t->a, " %s_block;", k->name));
  ac_pc_line(t, "%s", "");
}

static void memory(ac_pc *t, const ac_akernel *k) {
  ac_pc_line(t, "/* Memory of a block; false: there is none. */");
  ac_pc_open(t, "static bool %s_open(%s_block *k)", k->name, k->name);
  ac_pc_line(t, "bool ok = true;");
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *b = &k->buffers.data[i];
    ac_pc_line(t, "ok = ac_allot(&k->ac_memory[%zu], %s, %d, %d) && ok; /* %s */", i, ac_pc_expr(t, b->elements),
               ac_dtypes[b->dtype].bytes, b->round_to, b->name);
  }
  for (size_t i = 0; i < k->handles.len; i++)
    if (first_of(k, i))
      ac_pc_line(t, "k->%s = k->ac_memory[%d];", ac_pc_name(t->a, k->handles.data[i]->name),
                 k->handles.data[i]->buffer);
  ac_pc_line(t, "return ok;");
  ac_pc_close(t, "");
  ac_pc_open(t, "static void %s_close(%s_block *k)", k->name, k->name);
  for (size_t i = 0; i < k->buffers.len; i++) ac_pc_line(t, "free(k->ac_memory[%zu]);", i);
  ac_pc_line(t, "(void)k;");
  ac_pc_close(t, "");
  ac_pc_line(t, "%s", "");
}

static void run_joined(ac_pc *t, const char *name) {
  ac_pc_line(
      t, "/* All blocks in turns: each goes on until it waits for the others, and past that when all have come. */");
  ac_pc_open(t, "static int %s_run(const %s_block *start)", name, name);
  ac_pc_line(t, "int64_t n = start->ac_blocks, opened = 0, done = 0;");
  ac_pc_line(t, "%s_block *all = n > 0 ? malloc((size_t)n * sizeof *all) : NULL;", name);
  ac_pc_line(t, "bool ok = n <= 0 || all != NULL;");
  ac_pc_open(t, "for (; ok && opened < n; opened++)");
  ac_pc_line(t, "all[opened] = *start;");
  ac_pc_line(t, "all[opened].ac_block = opened;");
  ac_pc_line(t, "ok = %s_open(&all[opened]);", name);
  ac_pc_close(t, "");
  ac_pc_open(t, "while (ok && done < n)");
  ac_pc_line(t, "done = 0;");
  ac_pc_open(t, "for (int64_t i = 0; i < n; i++)");
  ac_pc_line(t, "if (!all[i].ac_done) all[i].ac_done = %s_Process(&all[i]);", name);
  ac_pc_line(t, "done += all[i].ac_done;");
  ac_pc_close(t, "");
  ac_pc_close(t, "");
  ac_pc_line(t, "for (int64_t i = 0; i < opened; i++) %s_close(&all[i]);", name);
  ac_pc_line(t, "free(all);");
  ac_pc_line(t, "return ok ? 0 : 2;");
  ac_pc_close(t, "");
}
static void run(ac_pc *t, const char *name) {
  ac_pc_line(t, "/* All blocks, one after the other. */");
  ac_pc_open(t, "static int %s_run(const %s_block *start)", name, name);
  ac_pc_line(t, "%s_block k = *start;", name);
  ac_pc_line(t, "bool ok = %s_open(&k);", name);
  ac_pc_line(t, "for (k.ac_block = 0; ok && k.ac_block < k.ac_blocks; k.ac_block++) %s_Process(&k);", name);
  ac_pc_line(t, "%s_close(&k);", name);
  ac_pc_line(t, "return ok ? 0 : 2;");
  ac_pc_close(t, "");
}

void ac_pc_kernel(ac_pc *t, const ac_akernel *k) {
  t->k = k;
  block_struct(t, k);
  for (size_t i = 1; i < k->methods.len; i++) method(t, &k->methods.data[i]);
  for (size_t i = 0; i < k->comments.len; i++)
    if (*k->comments.data[i]) ac_pc_comment(t, k->comments.data[i]);
  if (k->doc) ac_pc_comment(t, k->doc);
  method(t, &k->methods.data[0]);
  memory(t, k);
  (k->sync_all ? run_joined : run)(t, k->name);
  ac_pc_line(t, "%s", "");
  t->k = NULL;
}
