/* Kinds of names: which parameters are tensors, ints or floats, found from their uses and from what launches pass. */
#include "craft/check.h"

#include <string.h>

static const char *const kind_names[] = {
    [AC_CT_NONE] = "unknown",      [AC_CT_INT] = "an int",      [AC_CT_FLOAT] = "a float",
    [AC_CT_BOOL] = "a bool",       [AC_CT_BUFFER] = "a buffer", [AC_CT_POINTER] = "a tensor",
    [AC_CT_TILE] = "tile offsets", [AC_CT_DTYPE] = "a dtype",   [AC_CT_STR] = "a string",
    [AC_CT_SHAPE] = "a shape",     [AC_CT_KERNEL] = "a kernel", [AC_CT_MODULE] = "a module"};
const char *ac_chk_kind_name(ac_ctkind k) {
  return kind_names[k];
}

int ac_chk_var(const ac_finfo *f, const char *name) {
  return (int)(intptr_t)ac_map_get(f->index, name) - 1;
}

ac_finfo *ac_chk_fn(ac_chk *c, const ac_cfunc *f) {
  for (size_t i = 0; i < c->fns.len; i++)
    if (c->fns.data[i]->f == f) return c->fns.data[i];
  return NULL;
}

static bool is_tl(const ac_cexpr *e) {
  return e->kind == AC_CE_NAME && !strcmp(e->s, "tl");
}

ac_dtype ac_chk_dtype_of(const ac_cexpr *e) {
  return e->kind == AC_CE_ATTR && is_tl(e->a) ? ac_dtype_of(e->s) : AC_NODTYPE;
}

static int add_var(ac_chk *c, ac_finfo *f, const char *name, ac_loc loc, int param) {
  int i = ac_chk_var(f, name);
  if (i >= 0) return i;
  ac_vinfo v = {.name = name, .kind = AC_CT_NONE, .param = param, .buf = -1, .dtype = AC_NODTYPE, .loc = loc};
  ac_push(c->a, &f->v, v);
  ac_map_put(f->index, name, (void *)(intptr_t)f->v.len);
  return (int)f->v.len - 1;
}

static void collect(ac_chk *c, ac_finfo *f, ac_cstmt *s) {
  for (; s; s = s->next) {
    if (s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_TUPLE)
      for (int i = 0; i < s->target->n_args; i++) add_var(c, f, s->target->args[i]->s, s->target->args[i]->loc, -1);
    else if (s->kind == AC_CS_ASSIGN || s->kind == AC_CS_FOR)
      add_var(c, f, s->target->s, s->target->loc, -1);
    collect(c, f, s->body);
    collect(c, f, s->orelse);
  }
}

/* ---- kinds of expressions, without looking at values ---- */

static void merge(ac_chk *c, ac_vinfo *v, ac_ctkind k) {
  ac_ctkind was = v->kind;
  if (k == AC_CT_NONE || k == was) return;
  if (was == AC_CT_NONE || (was == AC_CT_INT && k == AC_CT_FLOAT) || (was == AC_CT_TILE && k == AC_CT_POINTER)) {
    v->kind = k;
    c->changed = true;
  }
}

static ac_vinfo *var_of(ac_finfo *f, const ac_cexpr *e) {
  int i = e->kind == AC_CE_NAME ? ac_chk_var(f, e->s) : -1;
  return i < 0 ? NULL : &f->v.data[i];
}

static ac_ctkind kind_of(ac_finfo *f, const ac_cexpr *e);

static ac_ctkind number_join(ac_ctkind x, ac_ctkind y) {
  if (x == AC_CT_FLOAT || y == AC_CT_FLOAT) return AC_CT_FLOAT;
  return x == y ? x : AC_CT_NONE;
}

static const char *call_name(const ac_cexpr *e) {
  if (e->a->kind == AC_CE_ATTR && is_tl(e->a->a)) return e->a->s;
  return e->a->kind == AC_CE_NAME ? e->a->s : NULL;
}

static ac_ctkind kind_of_extract(ac_finfo *f, const ac_cexpr *e) {
  const ac_cexpr *x = e->n_args ? e->args[0] : NULL;
  while (x && (x->kind == AC_CE_BINARY || x->kind == AC_CE_INDEX)) x = x->a;
  ac_vinfo *v = x ? var_of(f, x) : NULL;
  if (!v || v->dtype == AC_NODTYPE) return AC_CT_NONE;
  return ac_dtypes[v->dtype].cls == AC_FLOATING ? AC_CT_FLOAT : AC_CT_INT;
}

static ac_ctkind kind_of_call(ac_finfo *f, const ac_cexpr *e) {
  const char *name = call_name(e);
  if (!name) return e->a->kind == AC_CE_ATTR ? AC_CT_INT : AC_CT_NONE; /* x.numel() */
  if (e->a->kind == AC_CE_NAME) {
    if (!strcmp(name, "int") || !strcmp(name, "len")) return AC_CT_INT;
    if (!strcmp(name, "float")) return AC_CT_FLOAT;
  }
  ac_sig s = ac_sig_find(name);
  switch ((int)s.prim) {
  case AC_P_ALLOC_UB:
  case AC_P_BITCAST: return AC_CT_BUFFER;
  case AC_P_ARANGE: return AC_CT_TILE;
  case AC_P_EMPTY: return AC_CT_POINTER;
  case AC_P_EXTRACT_SCALAR: return kind_of_extract(f, e);
  case AC_P_PROGRAM_ID:
  case AC_P_NUM_PROGRAMS:
  case AC_P_CDIV:
  case AC_P_ALIGN_UP:
  case AC_P_ALIGN_DOWN:
  case AC_P_SPLIT:
  case AC_P_COMPRESS:
  case AC_P_TUNE:
  case AC_P_NUM_CORES:
  case AC_P_UB_SIZE:
  case AC_P_NUMEL:
  case AC_P_PROD: return AC_CT_INT;
  case AC_P_DETERMINISTIC: return AC_CT_BOOL;
  case AC_P_MIN:
  case AC_P_MAX: {
    ac_ctkind k = e->n_args && e->args[0] ? kind_of(f, e->args[0]) : AC_CT_NONE;
    for (int i = 1; i < e->n_args; i++)
      if (e->args[i]) k = number_join(k, kind_of(f, e->args[i]));
    return k;
  }
  default: return AC_CT_NONE;
  }
}

static ac_ctkind kind_of_binary(ac_finfo *f, const ac_cexpr *e) {
  if (e->op >= AC_OP_AND) return AC_CT_BOOL;
  ac_ctkind x = kind_of(f, e->a), y = kind_of(f, e->b);
  if (x == AC_CT_POINTER || y == AC_CT_POINTER) return AC_CT_POINTER;
  if (x == AC_CT_TILE || y == AC_CT_TILE) return AC_CT_TILE;
  if (x == AC_CT_BUFFER) return AC_CT_BUFFER;
  return e->op == AC_OP_DIV ? AC_CT_FLOAT : number_join(x, y);
}

static ac_ctkind kind_of(ac_finfo *f, const ac_cexpr *e) {
  ac_vinfo *v;
  switch (e->kind) {
  case AC_CE_INT: return AC_CT_INT;
  case AC_CE_FLOAT: return AC_CT_FLOAT;
  case AC_CE_BOOL: return AC_CT_BOOL;
  case AC_CE_STR: return AC_CT_STR;
  case AC_CE_NAME: return (v = var_of(f, e)) ? v->kind : AC_CT_NONE;
  case AC_CE_ATTR:
    if (is_tl(e->a)) return AC_CT_DTYPE;
    return !strcmp(e->s, "shape") ? AC_CT_SHAPE : AC_CT_INT;
  case AC_CE_INDEX: {
    ac_ctkind k = kind_of(f, e->a);
    if (k != AC_CT_SHAPE) return k;
    return e->n_args == 1 && e->args[0]->kind == AC_CE_SLICE ? AC_CT_SHAPE : AC_CT_INT;
  }
  case AC_CE_CALL: return kind_of_call(f, e);
  case AC_CE_UNARY: return e->op == AC_OP_NOT ? AC_CT_BOOL : kind_of(f, e->a);
  case AC_CE_BINARY: return kind_of_binary(f, e);
  case AC_CE_COND: return number_join(kind_of(f, e->a), kind_of(f, e->b));
  default: return AC_CT_NONE;
  }
}

/* ---- demands of the context ---- */

static void set_flag(ac_chk *c, bool *flag) {
  if (!*flag) c->changed = true;
  *flag = true;
}

/* Names in a sum or product of ints are ints. */
static void demand_int(ac_chk *c, ac_finfo *f, const ac_cexpr *e) {
  ac_vinfo *v = e ? var_of(f, e) : NULL;
  if (!e) return;
  if (v) {
    if (v->kind == AC_CT_NONE && v->param >= 0) merge(c, v, AC_CT_INT);
    if (v->param < 0 && v->kind != AC_CT_POINTER) set_flag(c, &v->want_int);
  } else if (e->kind == AC_CE_BINARY && e->op < AC_OP_AND && e->op != AC_OP_DIV) {
    demand_int(c, f, e->a);
    demand_int(c, f, e->b);
  } else if (e->kind == AC_CE_UNARY || e->kind == AC_CE_INDEX) {
    demand_int(c, f, e->a);
  } else if (e->kind == AC_CE_COND) {
    demand_int(c, f, e->a);
    demand_int(c, f, e->b);
  } else if (e->kind == AC_CE_TUPLE) {
    for (int i = 0; i < e->n_args; i++) demand_int(c, f, e->args[i]);
  } else if (e->kind == AC_CE_CALL && call_name(e)) {
    ac_sig s = ac_sig_find(call_name(e));
    if (s.prim == AC_P_MIN || s.prim == AC_P_MAX)
      for (int i = 0; i < e->n_args; i++) demand_int(c, f, e->args[i]);
  }
}

/* Names in a scalar operand are floats, if nothing else is known. */
static void hint_float(ac_chk *c, ac_finfo *f, const ac_cexpr *e) {
  ac_vinfo *v = e ? var_of(f, e) : NULL;
  if (!e) return;
  if (v) {
    set_flag(c, &v->hint_float);
  } else if (e->kind == AC_CE_BINARY || e->kind == AC_CE_COND) {
    hint_float(c, f, e->a);
    hint_float(c, f, e->b);
  } else if (e->kind == AC_CE_UNARY) {
    hint_float(c, f, e->a);
  } else if (e->kind == AC_CE_CALL) {
    for (int i = 0; i < e->n_args; i++) hint_float(c, f, e->args[i]);
  }
}

static void leaves(ac_chk *c, const ac_cexpr *e, ac_strvec *names) {
  if (e->kind == AC_CE_NAME) ac_push(c->a, names, e->s);
  if (e->kind == AC_CE_BINARY && (e->op == AC_OP_ADD || e->op == AC_OP_SUB)) {
    leaves(c, e->a, names);
    if (e->op == AC_OP_ADD) leaves(c, e->b, names);
  }
}

/* One addend of an address is the tensor: the one known to be, else the first name of unknown kind. */
static void demand_pointer(ac_chk *c, ac_finfo *f, const ac_cexpr *e) {
  ac_strvec names = {0};
  leaves(c, e, &names);
  ac_vinfo *found = NULL;
  for (size_t i = 0; i < names.len; i++) {
    int at = ac_chk_var(f, names.data[i]);
    if (at >= 0 && (f->v.data[at].kind == AC_CT_POINTER || f->v.data[at].want_ptr)) found = &f->v.data[at];
  }
  for (size_t i = 0; !found && i < names.len; i++) {
    int at = ac_chk_var(f, names.data[i]);
    if (at >= 0 && f->v.data[at].kind == AC_CT_NONE) found = &f->v.data[at];
  }
  for (size_t i = 0; !found && i < names.len;
       i++) { /* a name bound to pointer + arange looks like offsets at first */
    int at = ac_chk_var(f, names.data[i]);
    if (at >= 0 && f->v.data[at].kind == AC_CT_TILE && !f->v.data[at].want_int) found = &f->v.data[at];
  }
  if (!found) return;
  if (found->param >= 0)
    merge(c, found, AC_CT_POINTER);
  else
    set_flag(c, &found->want_ptr);
  for (size_t i = 0; i < names.len; i++) {
    int at = ac_chk_var(f, names.data[i]);
    ac_cexpr name = {.kind = AC_CE_NAME, .s = names.data[i]};
    if (at >= 0 && &f->v.data[at] != found) demand_int(c, f, &name);
  }
}

/* The dtype of tensors follows from the buffers that they are loaded to and stored from. */
static void dtype_of_move(ac_chk *c, ac_finfo *f, const ac_cexpr *gm, const ac_cexpr *ub) {
  while (ub->kind == AC_CE_BINARY || ub->kind == AC_CE_INDEX) ub = ub->a;
  ac_vinfo *b = var_of(f, ub);
  ac_strvec names = {0};
  leaves(c, gm, &names);
  for (size_t i = 0; b && b->dtype != AC_NODTYPE && i < names.len; i++) {
    int at = ac_chk_var(f, names.data[i]);
    ac_vinfo *v = at < 0 ? NULL : &f->v.data[at];
    if (!v || v->kind != AC_CT_POINTER || v->param < 0 || v->dtype != AC_NODTYPE) continue;
    v->dtype = b->dtype;
    c->changed = true;
  }
}

static const ac_cexpr *argument(const ac_cexpr *e, const ac_sig *s, int op) {
  int at = 0;
  for (int i = 0; i < e->n_args; i++) {
    if (e->kw && e->kw[i]) {
      if (!strcmp(ac_sig_keyword(s, e->kw[i]), s->op[op].name)) return e->args[i];
    } else if (at++ == op) {
      return e->args[i];
    }
  }
  return NULL;
}

static void visit(ac_chk *c, ac_finfo *f, const ac_cexpr *e);

static void visit_call(ac_chk *c, ac_finfo *f, const ac_cexpr *e) {
  const char *name = call_name(e);
  if (!name) return;
  ac_sig s = ac_sig_find(name);
  if (s.prim == AC_P_NONE || s.prim == AC_P_MIN || s.prim == AC_P_MAX) return;
  for (int i = 0; i < s.n; i++) {
    const ac_cexpr *x = argument(e, &s, i);
    if (!x) continue;
    switch (s.op[i].kinds[0]) {
    case 'I': demand_int(c, f, x); break;
    case 'X':
    case 'F': hint_float(c, f, x); break;
    case 'T': demand_pointer(c, f, x); break;
    case 'P':
      if (x->kind == AC_CE_NAME) demand_pointer(c, f, x);
      break;
    case 'B': {
      const ac_cexpr *root = x;
      while (root->kind == AC_CE_BINARY || root->kind == AC_CE_INDEX) root = root->a;
      ac_vinfo *v = var_of(f, root);
      if (v && v->kind == AC_CT_NONE) {
        if (strchr(s.op[i].kinds, 'P') && v->param >= 0)
          merge(c, v, AC_CT_POINTER);
        else
          hint_float(c, f, x); /* vmax(dst, src, s): a scalar where a buffer may stand */
      }
      break;
    }
    default: break;
    }
  }
  if (s.prim == AC_P_LOAD || s.prim == AC_P_STORE) {
    const ac_cexpr *gm = argument(e, &s, 0), *ub = argument(e, &s, 1);
    if (gm && ub) dtype_of_move(c, f, gm, ub);
  }
}

/* A launch: kinds and dtypes flow both ways between host names and kernel parameters. */
static void visit_launch(ac_chk *c, ac_finfo *f, const ac_cexpr *e) {
  ac_finfo *k = NULL;
  for (size_t i = 0; i < c->fns.len; i++)
    if (c->fns.data[i]->f->kernel && !strcmp(c->fns.data[i]->f->name, e->a->a->s)) k = c->fns.data[i];
  if (!k) return;
  for (int i = 0; i < e->a->n_args; i++) demand_int(c, f, e->a->args[i]);
  int at = 0;
  for (int i = 0; i < e->n_args; i++) {
    int p = -1;
    if (e->kw && e->kw[i]) {
      int v = ac_chk_var(k, e->kw[i]);
      if (v >= 0) p = k->v.data[v].param;
    } else {
      p = at++;
    }
    if (p < 0 || p >= k->f->n_params || !e->args[i]) continue;
    ac_vinfo *kv = &k->v.data[p], *hv = var_of(f, e->args[i]);
    merge(c, kv, kind_of(f, e->args[i]));
    if (kv->kind == AC_CT_INT) demand_int(c, f, e->args[i]);
    if (!hv) continue;
    if (hv->kind == AC_CT_NONE) merge(c, hv, kv->kind);
    if (kv->hint_float) set_flag(c, &hv->hint_float);
    if (kv->kind == AC_CT_POINTER && kv->dtype != hv->dtype) {
      if (kv->dtype == AC_NODTYPE)
        kv->dtype = hv->dtype;
      else if (hv->dtype == AC_NODTYPE)
        hv->dtype = kv->dtype;
      else
        continue;
      c->changed = true;
    }
  }
}

static void visit(ac_chk *c, ac_finfo *f, const ac_cexpr *e) {
  if (!e) return;
  visit(c, f, e->a);
  visit(c, f, e->b);
  visit(c, f, e->c);
  for (int i = 0; i < e->n_args; i++) visit(c, f, e->args[i]);
  if (e->kind == AC_CE_ATTR && e->a->kind == AC_CE_NAME && !is_tl(e->a) && var_of(f, e->a)) {
    ac_vinfo *v = var_of(f, e->a);
    static const char *const tensor[] = {"shape", "ndim", "numel", "size", "dim"};
    for (size_t i = 0; i < AC_COUNT(tensor); i++)
      if (!strcmp(e->s, tensor[i]) && v->kind == AC_CT_NONE) merge(c, v, AC_CT_POINTER);
  }
  if (e->kind != AC_CE_CALL) return;
  if (e->a->kind == AC_CE_INDEX && e->a->a->kind == AC_CE_NAME)
    visit_launch(c, f, e);
  else
    visit_call(c, f, e);
}

static void assign(ac_chk *c, ac_finfo *f, const ac_cexpr *target, ac_cop op, const ac_cexpr *value) {
  ac_vinfo *v = var_of(f, target);
  if (!v) return;
  ac_ctkind k = kind_of(f, value);
  if (op == AC_OP_DIV) k = AC_CT_FLOAT;
  if (op != AC_OP_NOP && (v->kind == AC_CT_TILE || v->kind == AC_CT_POINTER)) return;
  merge(c, v, k);
  if (v->want_int) demand_int(c, f, value);
  if (v->want_ptr) demand_pointer(c, f, value);
  if (v->hint_float) hint_float(c, f, value);
  if (k == AC_CT_POINTER) demand_pointer(c, f, value);
  const char *name = value->kind == AC_CE_CALL ? call_name(value) : NULL;
  ac_sig s = name ? ac_sig_find(name) : (ac_sig){.prim = AC_P_NONE};
  if ((s.prim == AC_P_ALLOC_UB || s.prim == AC_P_EMPTY || s.prim == AC_P_BITCAST) && v->dtype == AC_NODTYPE) {
    const ac_cexpr *d = argument(value, &s, 1);
    v->dtype = d ? ac_chk_dtype_of(d) : AC_NODTYPE;
    if (v->dtype != AC_NODTYPE) c->changed = true;
  }
}

static void walk(ac_chk *c, ac_finfo *f, const ac_cstmt *s) {
  for (; s; s = s->next) {
    visit(c, f, s->value);
    visit(c, f, s->lo);
    visit(c, f, s->hi);
    visit(c, f, s->step);
    if (s->kind == AC_CS_ASSIGN && s->target->kind == AC_CE_TUPLE) {
      bool shape = kind_of(f, s->value) == AC_CT_SHAPE;
      for (int i = 0; i < s->target->n_args; i++) {
        ac_vinfo *v = var_of(f, s->target->args[i]);
        if (shape)
          merge(c, v, AC_CT_INT);
        else if (s->value->kind == AC_CE_TUPLE && i < s->value->n_args)
          assign(c, f, s->target->args[i], AC_OP_NOP, s->value->args[i]);
      }
    } else if (s->kind == AC_CS_ASSIGN) {
      assign(c, f, s->target, s->op, s->value);
    } else if (s->kind == AC_CS_FOR) {
      merge(c, var_of(f, s->target), AC_CT_INT);
      demand_int(c, f, s->lo);
      demand_int(c, f, s->hi);
      demand_int(c, f, s->step);
    }
    walk(c, f, s->body);
    walk(c, f, s->orelse);
  }
}

/* ---- annotations and defaults of parameters ---- */

static void annotate(ac_chk *c, ac_vinfo *v, const ac_cparam *p) {
  const ac_cexpr *e = p->annotation;
  if (e && e->kind == AC_CE_NAME) {
    if (!strcmp(e->s, "int")) merge(c, v, AC_CT_INT);
    if (!strcmp(e->s, "float")) merge(c, v, AC_CT_FLOAT);
    if (!strcmp(e->s, "bool")) merge(c, v, AC_CT_BOOL);
    if (!strcmp(e->s, "Tensor")) merge(c, v, AC_CT_POINTER);
  }
  if (e && e->kind == AC_CE_ATTR && (!strcmp(e->s, "Tensor") || !strcmp(e->s, "tensor") || !strcmp(e->s, "pointer")))
    merge(c, v, AC_CT_POINTER);
  const ac_cexpr *head = e && e->kind == AC_CE_INDEX ? e->a : e;
  if (head && head->kind == AC_CE_ATTR && is_tl(head->a) && (!strcmp(head->s, "out") || !strcmp(head->s, "inout"))) {
    merge(c, v, AC_CT_POINTER);
    for (int i = 0; e->kind == AC_CE_INDEX && i < e->n_args; i++)
      if (ac_chk_dtype_of(e->args[i]) != AC_NODTYPE) v->dtype = ac_chk_dtype_of(e->args[i]);
    return;
  }
  if (e && (e->kind == AC_CE_INDEX || e->kind == AC_CE_CALL) && e->n_args == 1 && e->a && e->a->kind == AC_CE_ATTR) {
    if (!strcmp(e->a->s, "pointer") || !strcmp(e->a->s, "tensor") || !strcmp(e->a->s, "Tensor")) {
      merge(c, v, AC_CT_POINTER);
      v->dtype = ac_chk_dtype_of(e->args[0]);
    }
  }
  if (e && ac_chk_dtype_of(e) != AC_NODTYPE) v->dtype = ac_chk_dtype_of(e);
  if (p->init && v->kind == AC_CT_NONE)
    merge(c, v,
          p->init->kind == AC_CE_INT     ? AC_CT_INT
          : p->init->kind == AC_CE_FLOAT ? AC_CT_FLOAT
          : p->init->kind == AC_CE_BOOL  ? AC_CT_BOOL
                                         : AC_CT_NONE);
}

/* `y: tl.out[x.shape[0], n]`: what it names are tensors and ints. */
static void visit_annotations(ac_chk *c, ac_finfo *f) {
  for (int i = 0; i < f->f->n_params && !f->f->kernel; i++) {
    const ac_cexpr *e = f->f->params[i].annotation;
    if (!e || e->kind != AC_CE_INDEX || e->a->kind != AC_CE_ATTR || !is_tl(e->a->a) || strcmp(e->a->s, "out") != 0)
      continue;
    for (int k = 0; k < e->n_args; k++) {
      visit(c, f, e->args[k]);
      if (kind_of(f, e->args[k]) != AC_CT_SHAPE && ac_chk_dtype_of(e->args[k]) == AC_NODTYPE)
        demand_int(c, f, e->args[k]);
    }
  }
}

static void rounds(ac_chk *c) {
  c->changed = true;
  for (int i = 0; c->changed && i < 64; i++) {
    c->changed = false;
    for (size_t k = 0; k < c->fns.len; k++) {
      visit_annotations(c, c->fns.data[k]);
      walk(c, c->fns.data[k], c->fns.data[k]->f->body);
    }
  }
}

/* What is still unknown: floats by use or by dtype annotation, then ints. Step by step, since one answer settles others. */
static bool settle(ac_chk *c, int step) {
  for (size_t k = 0; k < c->fns.len; k++)
    for (size_t i = 0; i < c->fns.data[k]->v.len; i++) {
      ac_vinfo *v = &c->fns.data[k]->v.data[i];
      if (v->kind != AC_CT_NONE || v->param < 0) continue;
      bool annotated = v->dtype != AC_NODTYPE;
      bool is_float = annotated ? ac_dtypes[v->dtype].cls == AC_FLOATING : v->hint_float;
      if (step == 0 ? annotated : step == 1 ? is_float : true) {
        merge(c, v, is_float ? AC_CT_FLOAT : AC_CT_INT);
        return true;
      }
    }
  return false;
}

void ac_chk_infer(ac_chk *c) {
  for (size_t k = 0; k < c->m->funcs.len; k++) {
    ac_finfo *f = AC_NEW(c->a, ac_finfo);
    f->f = c->m->funcs.data[k];
    f->index = ac_map_new(c->a);
    ac_push(c->a, &c->fns, f);
    for (int i = 0; i < f->f->n_params; i++) {
      int at = add_var(c, f, f->f->params[i].name, f->f->params[i].loc, i);
      annotate(c, &f->v.data[at], &f->f->params[i]);
    }
    collect(c, f, f->f->body);
  }
  rounds(c);
  for (int step = 0; step < 3; step++)
    while (settle(c, step)) rounds(c);
}
