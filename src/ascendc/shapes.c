/* What the graph knows of shapes, as text: guards that the tiling code checks, and the outputs' shapes. */
#include "ascendc/internal.h"

#include <string.h>

/* Graph input behind input tensor i of the program (scalars are attributes), or NULL. */
static const ac_input *graph_input(const ac_emit_ctx *c, int i) {
  const ac_graph *g = c->o->graph;
  for (size_t k = 0; g && k < g->inputs.len; k++)
    if (g->inputs.data[k].role != AC_IN_SCALAR && i-- == 0) return &g->inputs.data[k];
  return NULL;
}
static int tensor_of_input(const ac_emit_ctx *c, int input) {
  int n = 0;
  for (int k = 0; k < input; k++) n += c->o->graph->inputs.data[k].role != AC_IN_SCALAR;
  return n;
}
/* Inputs and outputs of the program are those of the graph. */
static bool matches(const ac_emit_ctx *c) {
  const ac_graph *g = c->o->graph;
  if (!g) return false;
  int n = 0;
  for (size_t k = 0; k < g->inputs.len; k++) n += g->inputs.data[k].role != AC_IN_SCALAR;
  return n == c->n_in && (int)g->outputs.len == c->n_out;
}

static bool same_sizes(const ac_graph *g, const ac_value *x, const ac_value *y) {
  if (x->rank != y->rank) return false;
  for (int i = 0; i < x->rank; i++)
    if (!ac_sym_equal(g, x->shape[i], y->shape[i])) return false;
  return true;
}

static char *sym(ac_emit_ctx *c, const ac_sym *s) {
  static const char *const op[] = {[AC_SYM_ADD] = "+", [AC_SYM_MUL] = "*"};
  static const char *const fn[] = {
      [AC_SYM_FLOORDIV] = "FloorDiv", [AC_SYM_MOD] = "FloorMod", [AC_SYM_MIN] = "Min", [AC_SYM_MAX] = "Max"};
  if (s->kind == AC_SYM_CONST) return ac_sprintf(c->a, "Checked(%lld)", (long long)s->example);
  if (s->kind == AC_SYM_VAR) {
    const ac_symvar *v = &c->o->graph->vars.data[s->var];
    if (v->dim >= 0) return ac_sprintf(c->a, "Dim(shapes[%d], %d)", tensor_of_input(c, v->input), v->dim);
    int n = 0;
    for (int k = 0; k < v->input; k++) n += c->o->graph->inputs.data[k].role == AC_IN_SCALAR;
    return n < (int)c->p->attrs.len ? ac_sprintf(c->a, "Checked(static_cast<int64_t>(%s))", c->p->attrs.data[n].name)
                                    : "Checked(0)";
  }
  if (s->kind == AC_SYM_ADD || s->kind == AC_SYM_MUL)
    return ac_sprintf(c->a, "(%s %s %s)", sym(c, s->a), op[s->kind], sym(c, s->b));
  return ac_sprintf(c->a, "%s(%s, %s)", fn[s->kind], sym(c, s->a), sym(c, s->b));
}

/* No two inputs of different shapes, no fixed size: then any rank has one meaning for the checks. */
static bool any_rank(const ac_emit_ctx *c) {
  const ac_graph *g = c->o->graph;
  for (int i = 0; i < c->n_in; i++) {
    int64_t v;
    const ac_value *x = graph_input(c, i)->value;
    if (!same_sizes(g, x, graph_input(c, 0)->value)) return false;
    for (int d = 0; d < x->rank; d++)
      if (ac_sym_is_const(x->shape[d], &v)) return false;
  }
  for (int o = 0; o < c->n_out; o++)
    if (ac_shape_like(c, o) < 0) return false;
  return true;
}

int ac_shape_like(const ac_emit_ctx *c, int o) {
  if (!matches(c)) return c->n_in ? 0 : -1;
  const ac_graph *g = c->o->graph;
  const ac_output *out = &g->outputs.data[o];
  if (out->updates >= 0 && g->inputs.data[out->updates].role != AC_IN_SCALAR) return tensor_of_input(c, out->updates);
  for (int i = 0; i < c->n_in; i++)
    if (same_sizes(g, graph_input(c, i)->value, out->value)) return i;
  return -1;
}

static void refuse_unless(ac_cpp *t, const char *cond, const char *why) {
  ac_open(t, "if (!(%s))", cond);
  ac_line(t, "Refuse(\"%s\");", why);
  ac_line(t, "return Refusal();");
  ac_close(t, "");
}

static void dims(ac_emit_ctx *c, ac_cpp *t, int i) {
  const ac_graph *g = c->o->graph;
  const ac_value *x = graph_input(c, i)->value;
  const char *name = c->p->tensors.data[i].name;
  for (int d = 0; d < x->rank; d++) {
    const ac_sym *s = x->shape[d];
    if (s->kind == AC_SYM_VAR && g->vars.data[s->var].dim == d && tensor_of_input(c, g->vars.data[s->var].input) == i)
      continue;
    refuse_unless(t, ac_sprintf(c->a, "Dim(shapes[%d], %d) == %s", i, d, sym(c, s)),
                  ac_sprintf(c->a, "size %d of %s is not %s", d, name, ac_sym_text(c->a, g, s)));
  }
}

/* A shape guard that says nothing for other ranks is only asked at the traced ranks. */
static void guard(ac_emit_ctx *c, ac_cpp *t, const ac_guard *q) {
  static const char *const op[] = {
      [AC_GUARD_EQ] = "==", [AC_GUARD_NE] = "!=", [AC_GUARD_LT] = "<", [AC_GUARD_LE] = "<="};
  const ac_graph *g = c->o->graph;
  ac_buf why;
  ac_buf_init(&why, c->a);
  ac_printf(&why, "%s %s %s does not hold", ac_sym_text(c->a, g, q->a), op[q->kind], ac_sym_text(c->a, g, q->b));
  if (q->reason)
    ac_printf(&why, " (%s%s%s)", q->reason, q->loc.line ? ", line " : "",
              q->loc.line ? ac_sprintf(c->a, "%d", q->loc.line) : "");
  char *text = ac_strdup(c->a, ac_buf_str(&why));
  for (char *p = text; *p; p++)
    if (*p == '"' || *p == '\\' || *p == '\n' || *p == '?') *p = '\'';
  refuse_unless(t, ac_sprintf(c->a, "%s %s %s", sym(c, q->a), op[q->kind], sym(c, q->b)), text);
}

/* The program says the shape of some output, and no graph does. */
static bool says_shapes(const ac_emit_ctx *c) {
  bool any = false;
  for (int o = 0; o < c->n_out; o++) any |= c->p->tensors.data[c->n_in + o].dims != NULL;
  return any && !matches(c);
}

static void outputs_agree(ac_emit_ctx *c, ac_cpp *t) {
  ac_comment(t, "The outputs have the shapes that the inputs give them.");
  ac_open(t, "%s", "");
  ac_line(t, "int64_t dims[%d][16];", c->n_out > 0 ? c->n_out : 1);
  ac_line(t, "ShapeView expected[%d];", c->n_out > 0 ? c->n_out : 1);
  ac_line(t, "OutputShapes(shapes%s, dims, expected);", ac_host_attr_args(c));
  for (int o = 0; o < c->n_out; o++) {
    const char *name = c->p->tensors.data[c->n_in + o].name;
    ac_open(t, "if (refusal[0] == 0 && !SameShape(shapes[%d], expected[%d]))", c->n_in + o, o);
    ac_line(t, "Refuse(\"the shape of %s does not follow from the inputs\");", name);
    ac_close(t, "");
  }
  ac_open(t, "if (refusal[0] != 0)");
  ac_line(t, "return Refusal();");
  ac_close(t, "");
  ac_close(t, "");
}

void ac_host_guards(ac_emit_ctx *c, ac_cpp *t) {
  if (says_shapes(c)) outputs_agree(c, t);
  if (!matches(c) || !c->n_in) return;
  const ac_graph *g = c->o->graph;
  bool any = any_rank(c);
  if (any && c->n_in > 1) {
    ac_comment(t, "All inputs have one shape.");
    for (int i = 1; i < c->n_in; i++)
      refuse_unless(
          t, ac_sprintf(c->a, "SameShape(shapes[%d], shapes[0])", i),
          ac_sprintf(c->a, "%s and %s differ in shape", c->p->tensors.data[i].name, c->p->tensors.data[0].name));
  }
  if (!any)
    for (int i = 0; i < c->n_in; i++)
      refuse_unless(
          t, ac_sprintf(c->a, "shapes[%d].rank == %d", i, graph_input(c, i)->value->rank),
          ac_sprintf(c->a, "%s does not have rank %d", c->p->tensors.data[i].name, graph_input(c, i)->value->rank));
  if (any && g->guards.len) ac_open(t, "if (shapes[0].rank == %d)", graph_input(c, 0)->value->rank);
  if (!any)
    for (int i = 0; i < c->n_in; i++) dims(c, t, i);
  for (size_t i = 0; i < g->guards.len; i++) guard(c, t, &g->guards.data[i]);
  if (any && g->guards.len) ac_close(t, "");
  outputs_agree(c, t);
}

static bool said_shape(ac_emit_ctx *c, ac_cpp *t, int o) {
  const ac_aparam *p = &c->p->tensors.data[c->n_in + o];
  if (!p->dims || matches(c)) return false;
  ac_open(t, "%s", "");
  ac_line(t, "int32_t rank = 0; // %s", p->name);
  for (int d = 0; d < p->n_dims; d++) {
    const ac_aoutdim *x = &p->dims[d];
    if (x->size)
      ac_line(t, "rank = AddSize(%s, dims[%d], rank);", ac_cpp_expr(t, x->size), o);
    else
      ac_line(t, "rank = AddSizes(shapes[%d], %s, %s, dims[%d], rank);", x->tensor,
              x->from ? ac_cpp_expr(t, x->from) : "0",
              x->to ? ac_cpp_expr(t, x->to) : ac_sprintf(c->a, "shapes[%d].rank", x->tensor), o);
  }
  ac_line(t, "outputs[%d] = ShapeView{dims[%d], rank};", o, o);
  ac_close(t, "");
  return true;
}

static const char add_size_text[] =
    "inline int32_t AddSize(Checked size, int64_t *dims, int32_t rank)\n"
    "{\n"
    "    if (size < 0) {\n"
    "        Refuse(\"the size of an output is negative\");\n"
    "    }\n"
    "    if (rank >= 16) {\n"
    "        Refuse(\"an output has more than 16 dimensions\");\n"
    "        return rank;\n"
    "    }\n"
    "    dims[rank] = size.v;\n"
    "    return rank + 1;\n"
    "}\n"
    "// Sizes [from, to) of a shape, by Python's rules for slices.\n"
    "inline int32_t AddSizes(const ShapeView &s, Checked from, Checked to, int64_t *dims, int32_t rank)\n"
    "{\n"
    "    int64_t a = from.v < 0 ? from.v + s.rank : from.v, b = to.v < 0 ? to.v + s.rank : to.v;\n"
    "    for (int64_t i = a < 0 ? 0 : a; i < b && i < s.rank; i++) {\n"
    "        rank = AddSize(s.dims[i], dims, rank);\n"
    "    }\n"
    "    return rank;\n"
    "}\n";

/* void OutputShapes(const ShapeView *inputs, attributes, int64_t (*dims)[16], ShapeView *outputs) */
void ac_host_output_shapes(ac_emit_ctx *c, ac_cpp *t) {
  if (says_shapes(c)) ac_puts(&t->b, add_size_text);
  ac_comment(t, "Shapes of the outputs from those of the inputs.");
  ac_line(t, "inline void OutputShapes(const ShapeView *shapes%s, int64_t (*dims)[16], ShapeView *outputs)",
          ac_host_attr_params(c));
  ac_open(t, "%s", "");
  for (size_t i = 0; i < c->p->attrs.len; i++) ac_line(t, "(void)%s;", c->p->attrs.data[i].name);
  ac_line(t, "(void)dims;");
  if (!c->n_out || !c->n_in) ac_line(t, "(void)shapes;");
  for (int o = 0; o < c->n_out; o++) {
    int like = ac_shape_like(c, o);
    if (said_shape(c, t, o)) continue;
    if (like >= 0) {
      ac_line(t, "outputs[%d] = shapes[%d]; // %s like %s", o, like, c->p->tensors.data[c->n_in + o].name,
              c->p->tensors.data[like].name);
      continue;
    }
    const ac_value *v = matches(c) ? c->o->graph->outputs.data[o].value : NULL;
    int rank = v ? v->rank : 0;
    for (int d = 0; d < rank; d++)
      ac_line(t, "dims[%d][%d] = (%s).v; // %s", o, d, sym(c, v->shape[d]), c->p->tensors.data[c->n_in + o].name);
    ac_line(t, "outputs[%d] = ShapeView{dims[%d], %d};", o, o, rank);
  }
  if (!c->n_out) ac_line(t, "(void)outputs;");
  ac_close(t, "");
  ac_line(t, "%s", "");
}
