/* The program as C-like text: what --dump shows and golden files hold. Not C++; `ascendc` prints that. */
#include "lower/internal.h"

#include <string.h>

static const char *const type_names[] = {"int", "float", "bool"};
static const char *const mem_names[] = {[AC_MEM_VECIN] = "VECIN",
                                        [AC_MEM_VECOUT] = "VECOUT",
                                        [AC_MEM_BIND] = "VECIN-VECOUT",
                                        [AC_MEM_VECCALC] = "VECCALC",
                                        [AC_MEM_UPDATE] = "VECIN-V-VECOUT"};

typedef struct {
  ac_buf b;
  ac_arena *a;
  const ac_program *p;
  const ac_akernel *k;
} text;

static const char *const infix[] = {
    [AC_AE_ADD] = "+", [AC_AE_SUB] = "-", [AC_AE_MUL] = "*",  [AC_AE_DIV] = "/", [AC_AE_FLOORDIV] = "//",
    [AC_AE_MOD] = "%", [AC_AE_EQ] = "==", [AC_AE_NE] = "!=",  [AC_AE_LT] = "<",  [AC_AE_LE] = "<=",
    [AC_AE_GT] = ">",  [AC_AE_GE] = ">=", [AC_AE_AND] = "&&", [AC_AE_OR] = "||", [AC_AE_POW] = "**"};
static const char *const calls[] = {[AC_AE_MIN] = "min",
                                    [AC_AE_MAX] = "max",
                                    [AC_AE_CDIV] = "cdiv",
                                    [AC_AE_ALIGN_UP] = "align_up",
                                    [AC_AE_ALIGN_DOWN] = "align_down",
                                    [AC_AE_TO_FLOAT] = "float",
                                    [AC_AE_TO_INT] = "int",
                                    [AC_AE_BLOCK_IDX] = "block_idx",
                                    [AC_AE_BLOCK_NUM] = "block_num",
                                    [AC_AE_DETERMINISTIC] = "deterministic",
                                    [AC_AE_CORES] = "cores",
                                    [AC_AE_UB] = "ub_size"};

static void put(ac_buf *b, const ac_aexpr *e) {
  if (!e) {
    ac_puts(b, "?");
    return;
  }
  switch (e->kind) {
  case AC_AE_INT: ac_printf(b, "%lld", (long long)e->i); return;
  case AC_AE_FLOAT: ac_put_double(b, e->f); return;
  case AC_AE_BOOL: ac_puts(b, e->i ? "true" : "false"); return;
  case AC_AE_VAR: ac_puts(b, e->name); return;
  case AC_AE_NEG:
  case AC_AE_NOT:
    ac_puts(b, e->kind == AC_AE_NEG ? "-" : "!");
    put(b, e->a);
    return;
  case AC_AE_COND:
    ac_puts(b, "(");
    put(b, e->c);
    ac_puts(b, " ? ");
    put(b, e->a);
    ac_puts(b, " : ");
    put(b, e->b);
    ac_puts(b, ")");
    return;
  case AC_AE_DIM:
  case AC_AE_RANK:
  case AC_AE_NUMEL:
  case AC_AE_DIMPROD:
    ac_printf(b, "t%d.%s", e->tensor,
              e->kind == AC_AE_DIM     ? "shape["
              : e->kind == AC_AE_RANK  ? "rank"
              : e->kind == AC_AE_NUMEL ? "numel"
                                       : "prod[");
    if (e->kind == AC_AE_DIM) put(b, e->a);
    if (e->kind == AC_AE_DIMPROD) {
      if (e->a) put(b, e->a);
      ac_puts(b, ":");
      if (e->b) put(b, e->b);
    }
    if (e->kind == AC_AE_DIM || e->kind == AC_AE_DIMPROD) ac_puts(b, "]");
    return;
  default: break;
  }
  if ((size_t)e->kind < AC_COUNT(infix) && infix[e->kind]) {
    ac_puts(b, "(");
    put(b, e->a);
    ac_printf(b, " %s ", infix[e->kind]);
    put(b, e->b);
    ac_puts(b, ")");
    return;
  }
  ac_printf(b, "%s(", calls[e->kind]);
  if (e->a) put(b, e->a);
  if (e->b) {
    ac_puts(b, ", ");
    put(b, e->b);
  }
  ac_puts(b, ")");
}

char *ac_aexpr_text(ac_arena *a, const ac_aexpr *e) {
  ac_buf b;
  ac_buf_init(&b, a);
  put(&b, e);
  return (char *)(uintptr_t)ac_buf_str(&b);
}

static void block(text *t, const ac_ablock *b, int depth);

static void operand(text *t, const ac_aoperand *o) {
  if (!o->tensor) {
    put(&t->b, o->scalar);
    return;
  }
  ac_puts(&t->b, o->tensor->name);
  if (o->view != AC_NODTYPE) ac_printf(&t->b, " as %s", ac_dtypes[o->view].name);
  if (!o->offset) return;
  ac_puts(&t->b, "[");
  put(&t->b, o->offset);
  ac_puts(&t->b, "]");
}

static void copy(text *t, const ac_acopy *c) {
  ac_printf(&t->b, "%s %s[", c->to_ub ? "load" : "store", c->ub->name);
  if (c->ub_offset) put(&t->b, c->ub_offset);
  ac_printf(&t->b, "] %s[", t->k->gms.data[c->gm].name);
  put(&t->b, c->gm_offset);
  ac_puts(&t->b, "]");
  const struct {
    const char *name;
    const ac_aexpr *e;
  } parts[] = {
      {"rows", c->rows}, {"cols", c->cols}, {"gm_stride", c->gm_stride}, {"ub_pitch", c->ub_pitch}, {"pad", c->pad}};
  for (size_t i = 0; i < AC_COUNT(parts); i++) {
    if (!parts[i].e) continue;
    ac_printf(&t->b, " %s=", parts[i].name);
    put(&t->b, parts[i].e);
  }
  for (int i = 0; i < c->rank; i++) {
    ac_puts(&t->b, " axis(");
    put(&t->b, c->axis[i].extent);
    ac_puts(&t->b, ", ");
    put(&t->b, c->axis[i].stride);
    ac_puts(&t->b, ")");
  }
  if (c->atomic) ac_printf(&t->b, " atomic %s", ac_atomic_names[c->atomic]);
  if (c->exact) ac_puts(&t->b, " exact");
  if (c->by_element) ac_puts(&t->b, " by element");
}

static void launch(text *t, const ac_alaunch *l) {
  const ac_akernel *k = t->p->kernels.data[l->kernel];
  if (t->p->phased)
    ac_printf(&t->b, "launch %s phase=%d blocks=", k->name, l->phase + 1);
  else
    ac_printf(&t->b, "launch %s key=%d blocks=", k->name, l->key);
  put(&t->b, l->blocks);
  for (int i = 0; i < k->n_tensors; i++)
    ac_printf(&t->b, " %s=%s%d", k->tensors[i], l->tensors[i] < 0 ? "w" : "t",
              l->tensors[i] < 0 ? -1 - l->tensors[i] : l->tensors[i]);
  for (size_t i = 0; i < k->fields.len; i++) {
    ac_printf(&t->b, " %s=", k->fields.data[i].name);
    put(&t->b, l->values[i]);
  }
}

static void set(text *t, const ac_astmt *s) {
  put(&t->b, s->value);
}

static void instruction(text *t, const ac_astmt *s) {
  if (s->kind == AC_AS_PRIM)
    ac_printf(&t->b, "primitive#%d", s->prim);
  else
    ac_puts(&t->b, ac_insts[s->inst].asc);
  for (int i = 0; i < s->n_ops; i++) {
    ac_puts(&t->b, i ? ", " : " ");
    operand(t, &s->ops[i]);
  }
  if (s->rep) {
    const struct {
      const char *name;
      const ac_aexpr *e;
    } parts[] = {
        {"mask", s->rep->mask}, {"repeat", s->rep->repeat}, {"dst", s->rep->dst}, {"a", s->rep->a}, {"b", s->rep->b}};
    for (size_t i = 0; i < AC_COUNT(parts); i++) {
      if (!parts[i].e) continue;
      ac_printf(&t->b, ", %s=", parts[i].name);
      put(&t->b, parts[i].e);
    }
  } else {
    ac_puts(&t->b, ", n=");
    if (s->count || s->kind == AC_AS_INST) put(&t->b, s->count);
  }
  if (s->var.name) ac_printf(&t->b, " -> %s", s->var.name);
  if (s->kind == AC_AS_PRIM && s->axis) ac_printf(&t->b, " axis=%d", s->axis);
  if (s->kind != AC_AS_INST) return;
  ac_form f = ac_insts[s->inst].form;
  if (f == AC_FORM_CAST) ac_printf(&t->b, " round=%d", (int)s->round);
  if (f == AC_FORM_COMPARE || f == AC_FORM_COMPARE_S) ac_printf(&t->b, " mode=%d", (int)s->cmp);
}

static const char *const verbs[] = {"hold", "set", "wait", "release"};
static void statement(text *t, const ac_astmt *s, int depth) {
  static const char *const queue[] = {[AC_AS_ALLOC] = "alloc",
                                      [AC_AS_ENQUE] = "enque",
                                      [AC_AS_DEQUE] = "deque",
                                      [AC_AS_FREE] = "free",
                                      [AC_AS_GET] = "get"};
  if (s->kind == AC_AS_COMMENT && !*s->text) return;
  ac_printf(&t->b, "%*s", depth * 2, "");
  switch (s->kind) {
  case AC_AS_COMMENT: ac_printf(&t->b, "# %s", s->text); break;
  case AC_AS_DECL:
    ac_printf(&t->b, "%s %s = ", type_names[s->var.type], s->var.name);
    set(t, s);
    break;
  case AC_AS_ASSIGN:
    ac_printf(&t->b, "%s = ", s->var.name);
    set(t, s);
    break;
  case AC_AS_FOR:
    ac_printf(&t->b, "for %s in ", s->var.name);
    put(&t->b, s->lo);
    ac_puts(&t->b, " .. ");
    put(&t->b, s->hi);
    ac_puts(&t->b, " step ");
    put(&t->b, s->step);
    break;
  case AC_AS_WHILE:
  case AC_AS_IF:
    ac_puts(&t->b, s->kind == AC_AS_IF ? "if " : "while ");
    put(&t->b, s->cond);
    break;
  case AC_AS_BREAK: ac_puts(&t->b, "break"); break;
  case AC_AS_RETURN: ac_puts(&t->b, "return"); break;
  case AC_AS_CALL:
    ac_printf(&t->b, "call %s(", t->k->methods.data[s->method].name);
    for (int i = 0; i < s->n_args; i++) {
      if (i) ac_puts(&t->b, ", ");
      put(&t->b, s->args[i]);
    }
    ac_puts(&t->b, ")");
    break;
  case AC_AS_ALLOC:
  case AC_AS_ENQUE:
  case AC_AS_DEQUE:
  case AC_AS_FREE:
  case AC_AS_GET:
    ac_printf(&t->b, "%s %s (%s)%s", queue[s->kind], s->tensor->name, t->k->buffers.data[s->tensor->buffer].name,
              s->outward ? " outward" : "");
    break;
  case AC_AS_COPY: copy(t, s->copy); break;
  case AC_AS_INST:
  case AC_AS_PRIM: instruction(t, s); break;
  case AC_AS_GETVALUE:
    ac_printf(&t->b, "%s %s = value ", type_names[s->var.type], s->var.name);
    if (s->n_ops)
      operand(t, &s->ops[0]);
    else {
      ac_printf(&t->b, "%s[", t->k->gms.data[s->gm].name);
      put(&t->b, s->value);
      ac_puts(&t->b, "]");
    }
    break;
  case AC_AS_SETVALUE:
    operand(t, &s->ops[0]);
    ac_puts(&t->b, " = ");
    put(&t->b, s->value);
    break;
  case AC_AS_FLAG: ac_printf(&t->b, "flag %s", ac_event_names[s->event]); break;
  case AC_AS_HOLD:
  case AC_AS_SET:
  case AC_AS_WAIT:
  case AC_AS_RELEASE:
    ac_printf(&t->b, "%s %s %s", verbs[s->kind - AC_AS_HOLD], ac_event_names[s->event],
              t->k->held.data[s->held - 1].name);
    break;
  case AC_AS_BARRIER: ac_puts(&t->b, "barrier"); break;
  case AC_AS_STORE_BARRIER: ac_puts(&t->b, "barrier of the stores"); break;
  case AC_AS_SYNC_ALL: ac_puts(&t->b, "sync_all"); break;
  case AC_AS_CLEAN: ac_printf(&t->b, "clean the scalar cache (%s)", t->k->gms.data[s->gm].name); break;
  case AC_AS_REFUSE:
    ac_printf(&t->b, "refuse \"%s\"", s->text);
    for (int i = 0; i < s->n_args; i++) {
      ac_puts(&t->b, ", ");
      put(&t->b, s->args[i]);
    }
    break;
  case AC_AS_LAUNCH: launch(t, s->launch); break;
  case AC_AS_NOTHING: ac_puts(&t->b, "nothing"); break;
  case AC_AS_END: ac_printf(&t->b, "end key=%d", s->path + 1); break;
  }
  ac_puts(&t->b, "\n");
  block(t, &s->body, depth + 1);
  if (s->orelse.len) {
    ac_printf(&t->b, "%*selse\n", depth * 2, "");
    block(t, &s->orelse, depth + 1);
  }
}

static void block(text *t, const ac_ablock *b, int depth) {
  for (size_t i = 0; i < b->len; i++) statement(t, b->data[i], depth);
}

static void kernel(text *t, const ac_akernel *k) {
  t->k = k;
  ac_printf(&t->b, "kernel %s (%s)%s%s\n", k->name, k->cls, k->sync_all ? " sync_all" : "",
            k->select ? " select" : "");
  for (size_t i = 0; i < k->fields.len; i++)
    ac_printf(&t->b, "  field %s %s\n", type_names[k->fields.data[i].type], k->fields.data[i].name);
  for (size_t i = 0; i < k->gms.len; i++) {
    const ac_agm *g = &k->gms.data[i];
    ac_printf(&t->b, "  gm %s %s <- %s%s%s\n", ac_dtypes[g->dtype].name, g->name, k->tensors[g->param],
              g->in ? " in" : "", g->out ? " out" : "");
  }
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *q = &k->buffers.data[i];
    ac_printf(&t->b, "  %s %s %s x%d [", mem_names[q->mem], q->name, ac_dtypes[q->dtype].name, q->depth);
    put(&t->b, q->elements);
    ac_printf(&t->b, "] round %d%s", q->round_to, q->sync ? " flags" : "");
    ac_printf(&t->b, q->home ? " in %s\n" : "\n", q->home ? k->buffers.data[q->home - 1].name : "");
  }
  for (size_t i = 0; i < k->held.len; i++)
    ac_printf(&t->b, "  id %s %s of %s\n", ac_event_names[k->held.data[i].event], k->held.data[i].name,
              k->held.data[i].buffer);
  for (size_t i = 0; i < k->members.len; i++)
    ac_printf(&t->b, "  member %s %s\n", type_names[k->members.data[i].type], k->members.data[i].name);
  for (size_t i = 0; i < k->methods.len; i++) {
    const ac_amethod *m = &k->methods.data[i];
    ac_printf(&t->b, "  method %s(", m->name);
    for (size_t j = 0; j < m->params.len; j++)
      ac_printf(&t->b, "%s%s %s", j ? ", " : "", type_names[m->params.data[j].type], m->params.data[j].name);
    ac_puts(&t->b, ")\n");
    block(t, &m->body, 2);
  }
}

char *ac_air_text(ac_arena *a, const ac_program *p) {
  static const char *const dirs[] = {"in", "out", "inout"};
  text t = {.a = a, .p = p};
  ac_buf_init(&t.b, a);
  ac_printf(&t.b, "program %s (%s)\n", p->op, p->op_type);
  for (size_t i = 0; i < p->tensors.len; i++) {
    const ac_aparam *x = &p->tensors.data[i];
    ac_printf(&t.b, "  t%zu %s %s %s", i, dirs[x->dir], ac_dtypes[x->dtype].name, x->name);
    for (int k = 0; k < x->n_dims; k++) {
      ac_puts(&t.b, k ? ", " : " [");
      if (x->dims[k].size) {
        put(&t.b, x->dims[k].size);
        continue;
      }
      ac_printf(&t.b, "t%d.shape[", x->dims[k].tensor);
      if (x->dims[k].from) put(&t.b, x->dims[k].from);
      ac_puts(&t.b, ":");
      if (x->dims[k].to) put(&t.b, x->dims[k].to);
      ac_puts(&t.b, "]");
    }
    ac_puts(&t.b, x->n_dims ? "]\n" : "\n");
  }
  for (size_t i = 0; i < p->attrs.len; i++)
    ac_printf(&t.b, "  attribute %s %s\n", type_names[p->attrs.data[i].type], p->attrs.data[i].name);
  for (size_t i = 0; i < p->workspaces.len; i++) {
    ac_printf(&t.b, "  w%zu %s %s [", i, ac_dtypes[p->workspaces.data[i].dtype].name, p->workspaces.data[i].name);
    put(&t.b, p->workspaces.data[i].elements);
    ac_puts(&t.b, "]\n");
  }
  for (size_t i = 0; i < p->fields.len; i++)
    ac_printf(&t.b, "  field %s %s\n", type_names[p->fields.data[i].type], p->fields.data[i].name);
  ac_puts(&t.b, "host\n");
  block(&t, &p->host, 1);
  for (size_t i = 0; i < p->kernels.len; i++) kernel(&t, p->kernels.data[i]);
  return (char *)(uintptr_t)ac_buf_str(&t.b);
}

char *ac_refusal_format(ac_arena *a, const char *text) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (const char *p = text; *p; p++) {
    bool number = p[0] == '{' && p[1] == '}';
    if (number)
      ac_puts(&b, "%lld");
    else
      ac_printf(&b, "%s%c", *p == '%' ? "%" : "", *p);
    p += number;
  }
  return ac_strdup(a, ac_buf_str(&b));
}
