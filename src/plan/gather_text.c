/* Index tensors in kernels: loading them, bringing them inside, and the host's side of it. */
#include "plan/gather.h"

#include <string.h>

void ix_call(pl_ctx *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(p->a, fmt, ap);
  va_end(ap);
  ac_cb_call(&p->b, ac_ce_parse(&p->b, "%s", text));
}

void ix_stage(pl_ctx *p, ac_cstage stage, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(p->a, fmt, ap);
  va_end(ap);
  ac_cb_with(&p->b, stage);
  ac_cb_call(&p->b, ac_ce_parse(&p->b, "%s", text));
  ac_cb_end(&p->b);
}

void ix_arg(pl_ctx *p, ix_args *a, const char *text) {
  ac_push(p->a, a, ac_ce_parse(&p->b, "%s", text));
}

static const char *numbered(pl_ctx *p, const ix_set *s, const char *base, int k) {
  return s->n == 1 ? base : ac_sprintf(p->a, "%s_%d", base, k);
}

bool ix_need(ix_set *s, pl_ctx *p, const ac_node *n, const ac_value *const *t, int count) {
  s->p = p;
  s->n = count;
  if (count > IX_MAX)
    return pl_refuse(p, n->loc, ac_op_info(n->op)->id, "%d index tensors; up to %d are covered", count, IX_MAX);
  for (int k = 0; k < count; k++) {
    if (!pl_same_shape(p, t[k]->rank, (const ac_sym *const *)t[k]->shape, t[0]->rank,
                       (const ac_sym *const *)t[0]->shape))
      return pl_refuse(p, n->loc, ac_op_info(n->op)->id,
                       "its index tensors have different shapes; expand them to one shape first");
    if (!pl_need(p, t[k])) return false;
    s->name[k] = p->tensors.data[pl_tensor_of(p, t[k])].name;
    s->dtype[k] = t[k]->dtype;
  }
  return true;
}

void ix_params(const ix_set *s) {
  for (int k = 0; k < s->n; k++)
    ac_cb_param(&s->p->b, numbered(s->p, s, "index_ptr", k), pl_tensor_type(s->p, s->dtype[k]));
  for (int k = 0; k < s->n; k++) ac_cb_param(&s->p->b, numbered(s->p, s, "axis", k), NULL);
}

void ix_arguments(const ix_set *s, ix_args *a) {
  for (int k = 0; k < s->n; k++) ix_arg(s->p, a, s->name[k]);
  for (int k = 0; k < s->n; k++) ix_arg(s->p, a, numbered(s->p, s, "axis", k));
}

static bool wide(const ix_set *s, int k) {
  return s->dtype[k] == AC_I64;
}

void ix_alloc(const ix_set *s, const char *size) {
  pl_ctx *p = s->p;
  for (int k = 0; k < s->n; k++)
    if (wide(s, k)) pl_alloc(p, numbered(p, s, "raw", k), size, AC_I64, false);
  for (int k = 0; k < s->n; k++) pl_alloc(p, k ? ac_sprintf(p->a, "at_%d", k) : "at", size, AC_I32, false);
  if (s->negative) pl_alloc(p, "below", size, AC_I32, false);
}

int ix_bytes(const ix_set *s) {
  int bytes = s->negative ? 4 : 0;
  for (int k = 0; k < s->n; k++) bytes += wide(s, k) ? 2 * 8 + 4 : 3 * 4;
  return bytes;
}

void ix_read(const ix_set *s, const char *offs) {
  pl_ctx *p = s->p;
  ac_cb_with(&p->b, AC_STAGE_COPYIN);
  for (int k = 0; k < s->n; k++)
    pl_load(p, numbered(p, s, "index_ptr", k), offs,
            wide(s, k) ? numbered(p, s, "raw", k)
            : k        ? ac_sprintf(p->a, "at_%d", k)
                       : "at");
  ac_cb_end(&p->b);
  ac_cb_with(&p->b, AC_STAGE_COMPUTE);
  for (int k = 0; k < s->n; k++) {
    const char *at = k ? ac_sprintf(p->a, "at_%d", k) : "at", *axis = numbered(p, s, "axis", k);
    if (wide(s, k)) ix_call(p, "tl.cast(%s, %s)", at, numbered(p, s, "raw", k));
    if (s->negative) {
      if (!k) ac_cb_comment(&p->b, "counted from the back: the sign, -1 or 0, times -axis is what is added");
      ix_call(p, "tl.vshr_scalar(below, %s, 31)", at);
      ix_call(p, "tl.vmul_scalar(below, below, -%s)", axis);
      ix_call(p, "tl.vadd(%s, %s, below)", at, at);
    }
    if (!k)
      ac_cb_comment(&p->b,
                    "PyTorch refuses indices outside; a kernel cannot, so they are brought to the nearest inside");
    ix_call(p, "tl.vclamp(%s, %s, 0, %s - 1)", at, at, axis);
    if (!k) continue;
    ix_call(p, "tl.vmul_scalar(at, at, %s)", axis);
    ix_call(p, "tl.vadd(at, at, %s)", at);
  }
  ac_cb_end(&p->b);
}

void ix_sizes(const ix_set *s, const char *some) {
  pl_ctx *p = s->p;
  const char *all = NULL;
  for (int k = 0; k < s->n; k++) {
    const char *axis = numbered(p, s, "axis", k);
    pl_let(p, axis, "%s", s->axis_text[k]);
    all = all ? ac_sprintf(p->a, "%s * %s", all, axis) : axis;
  }
  if (s->n > 1) pl_let(p, "axis", "%s", all);
  pl_refuse_if(p, "axis > 2147483647", "a dimension of more than 2^31 - 1 elements is indexed");
  pl_refuse_if(p, ac_sprintf(p->a, "axis == 0 and %s", some), "there is no element for an index to take");
}

void pl_input_rank(pl_ctx *p, const pl_tensor *t) {
  const char *key = ac_sprintf(p->a, "rank of %s", t->name);
  if (ac_map_has(p->ranked, key)) return;
  ac_map_put(p->ranked, key, p);
  pl_refuse_if(p, ac_sprintf(p->a, "%s.ndim != %d", t->name, t->v->rank),
               ac_sprintf(p->a, "%s must have %d dimension%s", t->name, t->v->rank, t->v->rank == 1 ? "" : "s"));
}

void pl_rank_guard(pl_ctx *p, const ac_sym *s) {
  if (s->kind == AC_SYM_CONST) return;
  if (s->kind != AC_SYM_VAR) {
    pl_rank_guard(p, s->a);
    pl_rank_guard(p, s->b);
    return;
  }
  const ac_symvar *v = &p->g->vars.data[s->var];
  if (v->dim < 0) return;
  pl_input_rank(p, &p->tensors.data[v->input]);
}

void pl_rank_guards(pl_ctx *p, const ac_value *v) {
  for (int i = 0; i < v->rank; i++) pl_rank_guard(p, v->shape[i]);
}

void ix_split(pl_ctx *p, const char *units, ac_dtype d) {
  int line = 64 / ac_dtypes[d].bytes;
  pl_let(p, "per_core", "max(1, tl.cdiv(%s, tl.num_cores()))", units);
  ac_cb_if(&p->b, ac_ce_parse(&p->b, "per_core >= %d", 4 * line));
  pl_let(p, "per_core", "tl.align_up(per_core, %d)", line);
  ac_cb_end(&p->b);
  pl_let(p, "n_cores", "max(1, tl.cdiv(%s, per_core))", units);
}

void ix_width(pl_ctx *p, int64_t room, ac_dtype d) {
  int block = 32 / ac_dtypes[d].bytes;
  int64_t most = room / IX_BATCH / block * block;
  pl_let(p, "parts", "max(1, tl.cdiv(inner, %lld))", (long long)most);
  pl_let(p, "width", "min(%lld, tl.align_up(tl.cdiv(inner, parts), %d))", (long long)most, block);
}
