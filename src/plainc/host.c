/* The tiling code in C, and the operator's function: it plans, then runs what was planned. */
#include "plainc/internal.h"

#include <string.h>

static void block(ac_pc *t, const ac_ablock *b);

/* ---- a launch ---- */

typedef struct {
  ac_pc *t;
  const ac_akernel *k;
  int launch;
} binding;
/* Sizes of buffers are over the kernel's parameters, which the launch has just set. */
static ac_aexpr *bind(binding *b, const ac_aexpr *e) {
  if (!e) return NULL;
  ac_aexpr *n = AC_NEW(b->t->a, ac_aexpr);
  *n = *e;
  if (e->kind == AC_AE_VAR)
    for (size_t i = 0; i < b->k->fields.len; i++)
      if (!strcmp(b->k->fields.data[i].name, e->name))
        n->name = ac_sprintf(b->t->a, "ac_launch%d.%s", b->launch, ac_pc_name(b->t->a, e->name));
  n->a = bind(b, e->a);
  n->b = bind(b, e->b);
  n->c = bind(b, e->c);
  return n;
}

static void check_ub(ac_pc *t, const ac_akernel *k, int index) {
  binding b = {t, k, index};
  if (!k->buffers.len) return;
  ac_pc_line(
      t, "int64_t ac_used = 0; /* bytes of UB on the chip, which this text need not have but the shape must fit */");
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *q = &k->buffers.data[i];
    if (q->home) continue; /* it has bytes of its own here, and none on the chip */
    int slots = ac_fixed_slots(q) + ac_two_slots(q);
    char *bytes = ac_sprintf(t->a, "ac_bytes(h, %s, %d, %d)", ac_pc_expr(t, bind(&b, q->elements)),
                             ac_dtypes[q->dtype].bytes, q->round_to);
    if (slots != 1) bytes = ac_sprintf(t->a, "ac_checked_mul(h, %s, %d)", bytes, slots);
    ac_pc_line(t, "ac_used = ac_checked_add(h, ac_used, %s); /* %s */", bytes, q->name);
  }
  ac_pc_line(t, "ac_check_ub(h, \"%s\", ac_used, (int64_t)AC_UB%s);", k->name, k->select ? " - 8192" : "");
}

/* Where a launch's tensors lie, once workspace is there. */
static void gms(ac_pc *t, const ac_alaunch *l) {
  const ac_akernel *k = t->p->kernels.data[l->kernel];
  int at[64];
  for (size_t i = 0, in = 0, out = 0; i < t->p->tensors.len && i < AC_COUNT(at); i++)
    at[i] = t->p->tensors.data[i].dir == AC_TENSOR_IN ? (int)in++ : (int)out++;
  for (size_t i = 0; i < k->gms.len; i++) {
    const char *name = ac_pc_name(t->a, k->gms.data[i].name);
    int n = l->tensors[k->gms.data[i].param];
    if (n < 0)
      ac_pc_line(t, "ac_launch%d.%s = (void *)(ac_space + ac_at%d); /* %s */", l->index, name, -1 - n,
                 t->p->workspaces.data[-1 - n].name);
    else if (t->p->tensors.data[n].dir == AC_TENSOR_IN && k->gms.data[i].out)
      ac_pc_fail(t, k->loc, "a store to input '%s'", t->p->tensors.data[n].name);
    else
      ac_pc_line(t, "ac_launch%d.%s = %s[%d]; /* %s */", l->index, name,
                 t->p->tensors.data[n].dir == AC_TENSOR_IN ? "in" : "out", at[n], t->p->tensors.data[n].name);
  }
}

/* Workspaces lie one behind the other; the first launch of a path that uses one gives it its place. */
static void workspaces(ac_pc *t, const ac_alaunch *l) {
  for (size_t i = 0; i < t->p->workspaces.len; i++) {
    const ac_aworkspace *w = &t->p->workspaces.data[i];
    if (!l->places[i]) continue;
    ac_pc_line(t, "ac_at%zu = ac_need; /* %s */", i, w->name);
    ac_pc_line(t, "ac_need = ac_checked_add(h, ac_need, ac_checked_align_up(h, ac_checked_mul(h, %s, %d), 512));",
               ac_pc_expr(t, w->elements), ac_dtypes[w->dtype].bytes);
  }
}

/* Runs what a path has launched, in order. */
static void run(ac_pc *t, ac_alaunch *const *list, size_t n) {
  bool space = t->p->workspaces.len > 0;
  ac_pc_line(t, "if (h->why[0]) return 1;");
  if (space) {
    ac_pc_line(t, "ac_space = calloc((size_t)ac_need + 1, 1);");
    ac_pc_line(t, "if (!ac_space) return 2;");
  }
  for (size_t i = 0; i < n; i++) gms(t, list[i]);
  for (size_t i = 0; i < n; i++)
    ac_pc_line(t, "%s%s_run(&ac_launch%d);",
               i ? "if (!ac_code) ac_code = " : "ac_code = ", t->p->kernels.data[list[i]->kernel]->name,
               list[i]->index);
  if (space) ac_pc_line(t, "free(ac_space);");
  ac_pc_line(t, "return ac_code;");
}

static void launch(ac_pc *t, ac_alaunch *l) {
  const ac_akernel *k = t->p->kernels.data[l->kernel];
  ac_pc_open(t, "%s", "");
  /* Blocks that wait for each other must all run at once; others may be more than the cores, in turns. */
  ac_pc_line(t, "ac_launch%d.ac_blocks = ac_checked_blocks(h, %s, %s);", l->index, ac_pc_expr(t, l->blocks),
             k->sync_all || t->p->phased ? "AC_CORES" : "65535");
  if (t->p->phased)
    ac_pc_line(t, "ac_most = ac_max(%sac_launch%d.ac_blocks);", l->phase ? "ac_most, " : "0, ", l->index);
  for (size_t i = 0; i < k->fields.len; i++) {
    bool narrow = k->fields.data[i].type == AC_AT_FLOAT;
    ac_pc_line(t, "ac_launch%d.%s = %s%s%s;", l->index, ac_pc_name(t->a, k->fields.data[i].name),
               narrow ? "(float)(" : "", ac_pc_expr(t, l->values[i]), narrow ? ")" : "");
  }
  workspaces(t, l);
  check_ub(t, k, l->index);
  if (!t->p->phased) run(t, &l, 1);
  ac_pc_close(t, "");
}

/* Phases of one call are joined like the blocks of one that waits: all of them must have all blocks. */
static void end_path(ac_pc *t, const ac_apath *x) {
  for (size_t i = 0; i < x->phases.len; i++) {
    const ac_alaunch *l = x->phases.data[i];
    const ac_akernel *k = t->p->kernels.data[l->kernel];
    if (!k->sync_all || x->phases.len < 2) continue;
    ac_pc_line(t, "if (ac_launch%d.ac_blocks != ac_most)", l->index);
    ac_pc_line(
        t, "  ac_refuse(h, \"%s waits for all blocks (tl.sync_all): every launch of this path must have as many\");",
        k->name);
  }
  run(t, x->phases.data, x->phases.len);
}

/* ---- statements ---- */

static void if_else(ac_pc *t, const ac_astmt *s) {
  ac_pc_open(t, "if (%s)", ac_pc_expr(t, s->cond));
  block(t, &s->body);
  if (s->orelse.len) {
    t->indent--;
    ac_pc_open(t, "} else");
    block(t, &s->orelse);
  }
  ac_pc_close(t, "");
}

/* A reason with numbers in it. */
static void refuse_with(ac_pc *t, const ac_astmt *s) {
  ac_buf b;
  ac_buf_init(&b, t->a);
  for (int i = 0; i < s->n_args; i++) ac_printf(&b, ", (long long)(%s)", ac_pc_expr(t, s->args[i]));
  ac_pc_line(t, "if (!h->why[0]) snprintf(h->why, sizeof h->why, \"%s\"%s);",
             ac_pc_quoted(t->a, ac_refusal_format(t->a, s->text)), ac_buf_str(&b));
}

static void statement(ac_pc *t, const ac_astmt *s) {
  const char *v = s->var.name ? ac_pc_name(t->a, s->var.name) : "";
  switch (s->kind) {
  case AC_AS_COMMENT: ac_pc_comment(t, s->text); return;
  case AC_AS_DECL:
    ac_pc_line(t, "%s %s = %s;", ac_pc_type(s->var.type, true), v, ac_pc_expr(t, s->value));
    ac_pc_line(t, "(void)%s;", v);
    return;
  case AC_AS_ASSIGN: ac_pc_line(t, "%s = %s;", v, ac_pc_expr(t, s->value)); return;
  case AC_AS_FOR:
    ac_pc_open(t, "%s", "");
    ac_pc_line(t, "const int64_t %s_end = %s, %s_step = %s;", v, ac_pc_expr(t, s->hi), v, ac_pc_expr(t, s->step));
    ac_pc_open(t,
               "for (int64_t %s = %s; !h->why[0] && (%s_step > 0 ? %s < %s_end : %s > %s_end); %s = "
               "ac_checked_add(h, %s, %s_step))",
               v, ac_pc_expr(t, s->lo), v, v, v, v, v, v, v, v);
    block(t, &s->body);
    ac_pc_close(t, "");
    ac_pc_close(t, "");
    return;
  case AC_AS_WHILE:
    ac_pc_open(t, "while (!h->why[0] && (%s))", ac_pc_expr(t, s->cond));
    block(t, &s->body);
    ac_pc_close(t, "");
    return;
  case AC_AS_IF: if_else(t, s); return;
  case AC_AS_BREAK: ac_pc_line(t, "break;"); return;
  case AC_AS_REFUSE:
    if (s->n_args)
      refuse_with(t, s);
    else
      ac_pc_line(t, "ac_refuse(h, \"%s\");", ac_pc_quoted(t->a, s->text));
    ac_pc_line(t, "return 1;");
    return;
  case AC_AS_LAUNCH: launch(t, s->launch); return;
  case AC_AS_END: end_path(t, t->p->paths.data[s->path]); return;
  case AC_AS_NOTHING: ac_pc_line(t, "return h->why[0] ? 1 : 0; /* nothing to do for this shape */"); return;
  default: ac_pc_fail(t, s->loc, "a statement of kind %d in the tiling code", (int)s->kind); return;
  }
}
static void block(ac_pc *t, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_COMMENT && !*s->text && (!i || i + 1 == b->len)) continue;
    statement(t, s);
  }
}

/* ---- the operator's function ---- */

char *ac_pc_signature(ac_arena *a, const ac_program *p) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(&b, "int %s(const void *const *in, void *const *out, const %s_shape *shapes", p->op, p->op);
  for (size_t i = 0; i < p->attrs.len; i++)
    ac_printf(&b, ", %s %s", p->attrs.data[i].type == AC_AT_FLOAT ? "double" : "int64_t",
              ac_pc_name(a, p->attrs.data[i].name));
  ac_puts(&b, ", char *why)");
  return ac_strdup(a, ac_buf_str(&b));
}

void ac_pc_host(ac_pc *t) {
  const ac_program *p = t->p;
  t->host = true;
  ac_pc_comment(t, "Plans one call and runs it: partition of the blocks, tiles, and which kernel.");
  if (p->host_doc) ac_pc_comment(t, p->host_doc);
  ac_pc_open(t, "static int ac_plan(ac_host *h, const void *const *in, void *const *out, const %s_shape *shapes%s)",
             p->op, "");
  ac_pc_line(t, "(void)in, (void)out, (void)shapes;");
  for (size_t i = 0; i < p->attrs.len; i++) {
    const ac_aattr *x = &p->attrs.data[i];
    const char *name = ac_pc_name(t->a, x->name);
    /* an operator's float attributes are float32 */
    ac_pc_line(t,
               x->type == AC_AT_FLOAT  ? "const double %s = (double)(float)h->%s;"
               : x->type == AC_AT_BOOL ? "const int64_t %s = h->%s != 0;"
                                       : "const int64_t %s = h->%s;",
               name, name);
    ac_pc_line(t, "(void)%s;", name);
  }
  for (size_t i = 0; i < p->launches.len; i++)
    ac_pc_line(t, "%s_block ac_launch%d = {0};", p->kernels.data[p->launches.data[i]->kernel]->name,
               p->launches.data[i]->index);
  for (size_t i = 0; i < p->workspaces.len; i++) ac_pc_line(t, "int64_t ac_at%zu = 0;", i);
  if (p->workspaces.len) ac_pc_line(t, "int64_t ac_need = 0; /* bytes of workspace */");
  if (p->workspaces.len) ac_pc_line(t, "unsigned char *ac_space = NULL;");
  if (p->phased) ac_pc_line(t, "int64_t ac_most = 0; /* blocks of the widest launch */");
  if (p->launches.len) ac_pc_line(t, "int ac_code = 0;");
  block(t, &p->host);
  ac_pc_line(t, "return h->why[0] ? 1 : 0;");
  ac_pc_close(t, "");
  ac_pc_line(t, "%s", "");
  ac_pc_open(t, "%s", ac_pc_signature(t->a, p));
  ac_pc_line(t, "ac_host h;");
  ac_pc_line(t, "memset(&h, 0, sizeof h);");
  for (size_t i = 0; i < p->attrs.len; i++) {
    const char *name = ac_pc_name(t->a, p->attrs.data[i].name);
    ac_pc_line(t, "h.%s = %s;", name, name);
  }
  ac_pc_line(t, "int code = ac_plan(&h, in, out, shapes);");
  ac_pc_line(t, "if (why) memcpy(why, h.why, sizeof h.why);");
  ac_pc_line(t, "return code;");
  ac_pc_close(t, "");
  t->host = false;
}
