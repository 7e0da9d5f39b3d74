/* Pass "rows": what works on rows, columns and boxes becomes instructions over lanes.
 *
 * An element-wise instruction over operands with axes goes at once where every row fills its pitch; else, where rows are short and
 * many, in the repeat form: one instruction for a column of up to 255 rows, 256 bytes wide, with the pitch as the distance of
 * repeats; else row by row. Further axes are loops around. Reductions, broadcasts, scans, transposes, gathers and sorts are composed in
 * the other files of this pass; what they compute, order of additions included, is described there and in docs/craft.md. They work in
 * pieces, so that scratch does not grow with the tile where that can be avoided. */
#include "lower/rows.h"

#include <string.h>

/* ---- operands ---- */

ac_dtype ac_rows_dtype(const ac_rows *r, const O *o) {
  return o->tensor ? ac_operand_dtype(r->k, o) : o->view;
}

O ac_rows_at(ac_rows *r, O o, X *elements) {
  o.nd = NULL;
  if (elements && !x_is(elements, 0)) o.offset = xadd(r, o.offset, elements);
  return o;
}

O ac_rows_as(ac_rows *r, O o, ac_dtype d) {
  ac_dtype had = ac_rows_dtype(r, &o);
  int from = ac_dtypes[had].bytes, to = ac_dtypes[d].bytes;
  if (had == d) return o;
  if (o.offset && from > to) o.offset = xmul(r, o.offset, xi(r, from / to));
  if (o.offset && from < to) o.offset = xover(r, o.offset, to / from);
  o.view = d == r->k->buffers.data[o.tensor->buffer].dtype ? AC_NODTYPE : d;
  return o;
}

static void grow(ac_rows *r, ac_atensor *t, X *n) {
  ac_abuffer *b = &r->k->buffers.data[t->buffer];
  int64_t have, want;
  if (ac_ae_equal(b->elements, n)) return;
  if (ac_ae_const(b->elements, &have) && ac_ae_const(n, &want)) {
    if (want > have) b->elements = n;
    return;
  }
  b->elements = xb(r, AC_AE_MAX, b->elements, n);
}

O ac_rows_scratch(ac_rows *r, int i, X *floats) {
  if (!r->scratch[i]) {
    const char *name = ac_sprintf(r->c->a, "acSpare%d", i);
    r->scratch[i] = ac_lower_scratch(r->c->a, r->k, name, floats, AC_F32, 256);
    r->k->buffers.data[r->scratch[i]->buffer].first = true;
  } else {
    grow(r, r->scratch[i], floats);
  }
  r->used[i] = true;
  return (O){.tensor = r->scratch[i], .view = AC_NODTYPE};
}

int64_t ac_rows_most(const ac_rows *r, const O *o) {
  const ac_abuffer *b = &r->k->buffers.data[o->tensor->buffer];
  int64_t n;
  return b->rank && ac_ae_const(b->dims[b->rank - 1], &n) ? n : INT64_MAX;
}

X *ac_rows_blocks(ac_rows *r, const O *o, X *elements) {
  return xover(r, elements, 32 / ac_dtypes[ac_rows_dtype(r, o)].bytes);
}

/* ---- statements ---- */

static ac_astmt *push(ac_rows *r, ac_askind k) {
  ac_astmt *s = ac_as_new(r->c->a, k, r->at->loc);
  ac_push(r->c->a, r->out, s);
  return s;
}

O ac_rows_scalar(X *x) {
  return (O){.scalar = x, .view = AC_NODTYPE};
}

ac_astmt *ac_rows_inst(ac_rows *r, ac_inst i, X *count, int n, ...) {
  ac_astmt *s = push(r, AC_AS_INST);
  va_list ap;
  va_start(ap, n);
  for (int k = 0; k < n; k++) {
    s->ops[k] = va_arg(ap, O);
    s->ops[k].nd = NULL;
  }
  va_end(ap);
  s->n_ops = n;
  s->inst = i;
  s->count = count;
  return s;
}

ac_arep *ac_rows_rep(ac_rows *r, ac_astmt *s, X *mask, X *repeat, X *dst, X *a, X *b) {
  s->rep = AC_NEW(r->c->a, ac_arep);
  *s->rep = (ac_arep){.mask = mask, .repeat = repeat, .dst = dst, .a = a, .b = b, .a_block = 1};
  return s->rep;
}

void ac_rows_cast(ac_rows *r, O to, O from, ac_round round, X *count) {
  ac_rows_inst(r, AC_I_CAST, count, 2, to, from)->round = round;
}

X *ac_rows_decl(ac_rows *r, const char *name, X *value) {
  ac_astmt *s = push(r, AC_AS_DECL);
  s->var = (ac_avar){.name = ac_sprintf(r->c->a, "%s%d", name, r->temps++), .type = value->type};
  s->value = value;
  return ac_ae_var(r->c->a, s->var.name, value->type);
}

void ac_rows_set(ac_rows *r, X *var, X *value) {
  ac_astmt *s = push(r, AC_AS_ASSIGN);
  s->var = (ac_avar){.name = var->name, .type = var->type};
  s->value = value;
}

X *ac_rows_read(ac_rows *r, O from) {
  ac_astmt *s = push(r, AC_AS_GETVALUE);
  ac_atype t = ac_dtypes[ac_rows_dtype(r, &from)].cls == AC_FLOATING ? AC_AT_FLOAT : AC_AT_INT;
  s->var = (ac_avar){.name = ac_sprintf(r->c->a, "acValue%d", r->temps++), .type = t};
  s->ops[0] = from;
  s->ops[0].nd = NULL;
  if (!s->ops[0].offset) s->ops[0].offset = xi(r, 0);
  s->n_ops = 1;
  return ac_ae_var(r->c->a, s->var.name, t);
}

void ac_rows_write(ac_rows *r, O to, X *value) {
  ac_astmt *s = push(r, AC_AS_SETVALUE);
  s->ops[0] = to;
  s->ops[0].nd = NULL;
  if (!s->ops[0].offset) s->ops[0].offset = xi(r, 0);
  s->n_ops = 1;
  s->value = value;
}

ac_ablock *ac_rows_for(ac_rows *r, const char *name, X *lo, X *hi, X *step, X **var) {
  ac_astmt *s = push(r, AC_AS_FOR);
  ac_ablock *outer = r->out;
  s->var = (ac_avar){.name = ac_sprintf(r->c->a, "%s%d", name, r->temps++), .type = AC_AT_INT};
  s->lo = lo;
  s->hi = hi;
  s->step = step;
  *var = ac_ae_var(r->c->a, s->var.name, AC_AT_INT);
  r->out = &s->body;
  return outer;
}

ac_ablock *ac_rows_if(ac_rows *r, X *cond, ac_astmt **stmt) {
  ac_astmt *s = push(r, AC_AS_IF);
  ac_ablock *outer = r->out;
  s->cond = cond;
  r->out = &s->body;
  if (stmt) *stmt = s;
  return outer;
}
void ac_rows_else(ac_rows *r, ac_astmt *s) {
  r->out = &s->orelse;
}

ac_ablock *ac_rows_while(ac_rows *r, X *cond) {
  ac_astmt *s = push(r, AC_AS_WHILE);
  ac_ablock *outer = r->out;
  s->cond = cond;
  r->out = &s->body;
  return outer;
}

void ac_rows_end(ac_rows *r, ac_ablock *outer) {
  r->out = outer;
}

ac_ablock *ac_rows_nest(ac_rows *r, const ac_aview *shape, unsigned inside, O *full, O *less, int lacks) {
  ac_ablock *outer = r->out;
  for (int d = 0; d < shape->rank; d++) {
    X *v;
    if (inside >> d & 1 || x_is(shape->extent[d], 1)) continue;
    ac_rows_for(r, "acAxis", xi(r, 0), shape->extent[d], xi(r, 1), &v);
    full->offset = xadd(r, full->offset, xmul(r, v, full->nd->stride[d]));
    if (less && d != lacks) less->offset = xadd(r, less->offset, xmul(r, v, less->nd->stride[d > lacks ? d - 1 : d]));
  }
  return outer;
}

/* ---- element by element ---- */

static bool repeats_exist(ac_rows *r, const ac_astmt *s) {
  if (s->kind != AC_AS_INST) return false;
  ac_dtype d = ac_rows_dtype(r, &s->ops[0]);
  /* what is composed is composed of instructions by count */
  if (!ac_lower_has(s, d, s->ops[1].tensor ? ac_rows_dtype(r, &s->ops[1]) : d)) return false;
  switch (ac_insts[s->inst].form) {
  case AC_FORM_UNARY:
  case AC_FORM_BINARY:
  case AC_FORM_SCALAR:
  case AC_FORM_FMA_SCALAR:
  case AC_FORM_FILL:
  case AC_FORM_CAST: return true;
  default: return false;
  }
}

static ac_astmt *again(ac_rows *r, const ac_astmt *s) {
  ac_astmt *n = AC_NEW(r->c->a, ac_astmt);
  *n = *s;
  for (int i = 0; i < n->n_ops; i++) n->ops[i].nd = NULL;
  ac_push(r->c->a, r->out, n);
  return n;
}
static void shift(ac_rows *r, ac_astmt *n, const ac_astmt *s, int axis, X *by) {
  for (int i = 0; i < n->n_ops; i++)
    if (s->ops[i].nd) n->ops[i] = ac_rows_at(r, n->ops[i], xmul(r, by, s->ops[i].nd->stride[axis]));
}

/* Columns of 256 bytes, 255 rows an instruction. */
static void by_repeats(ac_rows *r, const ac_astmt *s, int axis, X *rows, X *cols) {
  int wide = 1;
  X *c0, *r0, *rep[3] = {0};
  for (int i = 0; i < s->n_ops; i++)
    if (s->ops[i].tensor && ac_dtypes[ac_rows_dtype(r, &s->ops[i])].bytes > wide)
      wide = ac_dtypes[ac_rows_dtype(r, &s->ops[i])].bytes;
  X *lanes = xi(r, 256 / wide);
  ac_ablock *outer = ac_rows_for(r, "acColumn", xi(r, 0), cols, lanes, &c0);
  ac_rows_for(r, "acRow", xi(r, 0), rows, xi(r, AC_ROWS_REPEATS), &r0);
  ac_astmt *n = again(r, s);
  shift(r, n, s, axis, r0);
  for (int i = 0, k = 0; i < n->n_ops; i++) {
    if (!s->ops[i].nd) continue;
    n->ops[i] = ac_rows_at(r, n->ops[i], c0);
    rep[k++] = ac_rows_blocks(r, &s->ops[i], s->ops[i].nd->stride[axis]);
  }
  n->count = NULL;
  ac_rows_rep(r, n, xmin(r, lanes, xsub(r, cols, c0)), xmin(r, xi(r, AC_ROWS_REPEATS), xsub(r, rows, r0)), rep[0],
              rep[1], rep[2]);
  ac_rows_end(r, outer);
}

static void by_rows(ac_rows *r, const ac_astmt *s, int axis, X *rows, X *cols) {
  X *v;
  ac_ablock *outer = ac_rows_for(r, "acRow", xi(r, 0), rows, xi(r, 1), &v);
  ac_astmt *n = again(r, s);
  shift(r, n, s, axis, v);
  n->count = cols;
  ac_rows_end(r, outer);
}

/* Rows and columns: at once, by repeats or row by row. */
static void plane(ac_rows *r, const ac_astmt *s, int axis, X *rows, X *cols) {
  X *full = NULL, *near = NULL;
  bool repeats = repeats_exist(r, s);
  for (int i = 0; i < s->n_ops; i++) {
    if (!s->ops[i].nd) continue;
    X *step = s->ops[i].nd->stride[axis], *fits = xb(r, AC_AE_EQ, cols, step);
    X *reach = xb(r, AC_AE_LE, ac_rows_blocks(r, &s->ops[i], step), xi(r, 255));
    full = !full ? fits : ac_ae_equal(full, fits) ? full : xb(r, AC_AE_AND, full, fits);
    near = !near ? reach : ac_ae_equal(near, reach) ? near : xb(r, AC_AE_AND, near, reach);
  }
  ac_astmt *once, *many = NULL;
  ac_ablock *outer = ac_rows_if(r, full, &once);
  again(r, s)->count = xmul(r, rows, cols);
  ac_rows_else(r, once);
  if (repeats) {
    near = xb(r, AC_AE_AND, xb(r, AC_AE_LT, xb(r, AC_AE_CDIV, cols, xi(r, 64)), rows), near);
    ac_rows_if(r, near, &many);
    by_repeats(r, s, axis, rows, cols);
    ac_rows_else(r, many);
  }
  by_rows(r, s, axis, rows, cols);
  ac_rows_end(r, outer);
}

static void refuse(ac_rows *r, const ac_astmt *s, const char *buffer) {
  ac_diag *x = ac_error(r->c->d, AC0606, s->loc,
                        "rows of '%s' are apart in UB, and this primitive takes them in one piece", buffer);
  ac_help(r->c->d, x, "work row by row: b[i]");
  r->ok = false;
}

static void elementwise(ac_rows *r, const ac_astmt *given) {
  ac_astmt copy = *given, *s = &copy;
  const ac_aview *shape = NULL;
  for (int i = 0; i < s->n_ops; i++)
    if (s->ops[i].nd) shape = s->ops[i].nd;
  if (!shape) return;
  ac_form f = s->kind == AC_AS_INST ? ac_insts[s->inst].form : AC_FORM_UNARY;
  bool whole = f == AC_FORM_REDUCE || f == AC_FORM_COMPARE || f == AC_FORM_COMPARE_S;
  for (int i = 0; i < s->n_ops; i++) {
    if (!s->ops[i].tensor || (s->ops[i].nd && s->ops[i].nd->rank == shape->rank && (!whole || shape->rank < 2)))
      continue;
    if (shape->rank < 2) continue;
    refuse(r, s, r->k->buffers.data[s->ops[i].tensor->buffer].buffer);
    return;
  }
  int n = 0, axes[4];
  for (int d = 0; d < shape->rank; d++)
    if (!x_is(shape->extent[d], 1)) axes[n++] = d;
  ac_ablock *outer = r->out;
  for (int d = 0; d + 2 < n; d++) { /* loops around */
    X *v;
    ac_rows_for(r, "acAxis", xi(r, 0), shape->extent[axes[d]], xi(r, 1), &v);
    for (int i = 0; i < s->n_ops; i++)
      if (s->ops[i].nd) s->ops[i].offset = xadd(r, s->ops[i].offset, xmul(r, v, s->ops[i].nd->stride[axes[d]]));
  }
  X *last = n ? shape->extent[axes[n - 1]] : xi(r, 1);
  bool lanes = !n || axes[n - 1] == shape->rank - 1; /* else the row has one element: each is a row of its own */
  if (n > 1 && lanes)
    plane(r, s, axes[n - 2], shape->extent[axes[n - 2]], last);
  else if (n > 1) {
    X *v;
    ac_rows_for(r, "acAxis", xi(r, 0), shape->extent[axes[n - 2]], xi(r, 1), &v);
    for (int i = 0; i < s->n_ops; i++)
      if (s->ops[i].nd) s->ops[i].offset = xadd(r, s->ops[i].offset, xmul(r, v, s->ops[i].nd->stride[axes[n - 2]]));
    by_rows(r, s, axes[n - 1], last, xi(r, 1));
  } else if (n == 1 && !lanes)
    by_rows(r, s, axes[0], last, xi(r, 1));
  else
    again(r, s)->count = shape->rank < 2 ? s->count : last;
  ac_rows_end(r, outer);
}

/* ---- the pass ---- */

static void insert(ac_rows *r, const ac_astmt *s) {
  ac_rows_write(r, ac_rows_at(r, s->ops[0], s->ops[1].scalar), s->ops[2].scalar);
}

static bool primitive(ac_rows *r, const ac_astmt *s) {
  switch (s->prim) {
  case AC_P_REDUCE_SUM:
  case AC_P_REDUCE_MAX:
  case AC_P_REDUCE_MIN:
  case AC_P_REDUCE_PROD: ac_rows_reduce(r, s); return true;
  case AC_P_ARGMAX:
  case AC_P_ARGMIN: ac_rows_arg(r, s); return true;
  case AC_P_BROADCAST: ac_rows_broadcast(r, s); return true;
  case AC_P_CUMSUM:
  case AC_P_CUMPROD:
  case AC_P_CUMMAX:
  case AC_P_CUMMIN: ac_rows_scan(r, s); return true;
  case AC_P_TRANSPOSE: ac_rows_transpose(r, s); return true;
  case AC_P_GATHER: ac_rows_gather(r, s); return true;
  case AC_P_SORT:
  case AC_P_TOPK: ac_rows_sort(r, s); return true;
  case AC_P_SORT_RECORDS:
  case AC_P_MERGE_RECORDS:
  case AC_P_SPLIT_RECORDS: ac_rows_records(r, s); return true;
  case AC_P_COMPRESS: ac_rows_compress(r, s); return true;
  case AC_P_INSERT_SCALAR: insert(r, s); return true;
  default: return false;
  }
}

static bool has_axes(const ac_astmt *s) {
  for (int i = 0; i < s->n_ops; i++)
    if (s->ops[i].nd) return true;
  return false;
}

static void block(ac_rows *r, ac_ablock *b) {
  ac_ablock out = {0};
  for (size_t i = 0; i < b->len && r->ok; i++) {
    ac_astmt *s = b->data[i];
    block(r, &s->body);
    block(r, &s->orelse);
    r->out = &out;
    r->at = s;
    if (s->kind == AC_AS_PRIM && primitive(r, s)) continue;
    if ((s->kind == AC_AS_PRIM || s->kind == AC_AS_INST) && has_axes(s)) {
      elementwise(r, s);
      continue;
    }
    ac_push(r->c->a, &out, s);
  }
  r->out = NULL;
  *b = out;
}

bool ac_lower_rows(ac_lower_ctx *c) {
  for (size_t i = 0; i < c->p->kernels.len; i++) {
    ac_rows r = {.c = c, .k = c->p->kernels.data[i], .ok = true};
    for (size_t m = 0; m < r.k->methods.len; m++) {
      ac_amethod *method = &r.k->methods.data[m];
      memset(r.used, 0, sizeof r.used);
      block(&r, &method->body);
      if (!r.ok) return false;
      ac_atensor *used[AC_ROWS_SCRATCH];
      for (int n = 0; n < AC_ROWS_SCRATCH; n++) used[n] = r.used[n] ? r.scratch[n] : NULL;
      ac_lower_get(c->a, method, used, AC_ROWS_SCRATCH, r.k->loc);
    }
  }
  return true;
}
