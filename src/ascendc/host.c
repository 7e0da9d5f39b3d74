/* The tiling code: plain C++ that every output form contains unchanged, so that what is simulated is what is shipped. */
#include "ascendc/internal.h"

#include <string.h>

/* ---- fixed parts ---- */

static const char shape_text[] = "// A tensor's sizes.\n"
                                 "struct ShapeView {\n"
                                 "    const int64_t *dims;\n"
                                 "    int32_t rank;\n"
                                 "};\n"
                                 "\n"
                                 "// Why the shape at hand is refused; empty: it is not.\n"
                                 "thread_local char refusal[256];\n"
                                 "\n"
                                 "inline void Refuse(const char *why)\n"
                                 "{\n"
                                 "    if (refusal[0] == 0) {\n"
                                 "        snprintf(refusal, sizeof(refusal), \"%s\", why);\n"
                                 "    }\n"
                                 "}\n"
                                 "\n";

static const char checked_text[] =
    "// A 64-bit integer that refuses the shape instead of wrapping round.\n"
    "struct Checked {\n"
    "    int64_t v;\n"
    "    Checked(int64_t x = 0) : v(x) {}\n"
    "    friend Checked operator+(Checked a, Checked b)\n"
    "    {\n"
    "        int64_t r;\n"
    "        if (__builtin_add_overflow(a.v, b.v, &r)) {\n"
    "            Refuse(\"a size does not fit 64 bits\");\n"
    "        }\n"
    "        return r;\n"
    "    }\n"
    "    friend Checked operator-(Checked a, Checked b)\n"
    "    {\n"
    "        int64_t r;\n"
    "        if (__builtin_sub_overflow(a.v, b.v, &r)) {\n"
    "            Refuse(\"a size does not fit 64 bits\");\n"
    "        }\n"
    "        return r;\n"
    "    }\n"
    "    friend Checked operator*(Checked a, Checked b)\n"
    "    {\n"
    "        int64_t r;\n"
    "        if (__builtin_mul_overflow(a.v, b.v, &r)) {\n"
    "            Refuse(\"a size does not fit 64 bits\");\n"
    "        }\n"
    "        return r;\n"
    "    }\n"
    "    friend Checked operator-(Checked a) { return Checked(0) - a; }\n"
    "    friend bool operator==(Checked a, Checked b) { return a.v == b.v; }\n"
    "    friend bool operator!=(Checked a, Checked b) { return a.v != b.v; }\n"
    "    friend bool operator<(Checked a, Checked b) { return a.v < b.v; }\n"
    "    friend bool operator<=(Checked a, Checked b) { return a.v <= b.v; }\n"
    "    friend bool operator>(Checked a, Checked b) { return a.v > b.v; }\n"
    "    friend bool operator>=(Checked a, Checked b) { return a.v >= b.v; }\n"
    "};\n"
    "\n"
    "inline Checked FloorDiv(Checked a, Checked b)\n"
    "{\n"
    "    if (b.v == 0 || (b.v == -1 && a.v == INT64_MIN)) {\n"
    "        Refuse(\"division by zero in the tiling code\");\n"
    "        return 0;\n"
    "    }\n"
    "    int64_t q = a.v / b.v;\n"
    "    return a.v % b.v != 0 && (a.v < 0) != (b.v < 0) ? q - 1 : q;\n"
    "}\n"
    "inline Checked FloorMod(Checked a, Checked b) { return a - FloorDiv(a, b) * b; }\n"
    "inline Checked CeilDiv(Checked a, Checked b) { return -FloorDiv(-a, b); }\n"
    "inline Checked AlignUp(Checked a, Checked to) { return CeilDiv(a, to) * to; }\n"
    "inline Checked AlignDown(Checked a, Checked to) { return FloorDiv(a, to) * to; }\n"
    "inline Checked Min(Checked a, Checked b) { return a < b ? a : b; }\n"
    "inline Checked Max(Checked a, Checked b) { return a < b ? b : a; }\n";

static const char checked_more_text[] =
    "inline double MinF(double a, double b) { return a < b ? a : b; }\n"
    "inline double MaxF(double a, double b) { return a < b ? b : a; }\n"
    "inline double ToDouble(Checked a) { return static_cast<double>(a.v); }\n"
    "inline Checked Truncate(double a)\n"
    "{\n"
    "    if (!(a > -9.2e18 && a < 9.2e18)) {\n"
    "        Refuse(\"a number does not fit 64 bits\");\n"
    "        return 0;\n"
    "    }\n"
    "    return static_cast<int64_t>(a);\n"
    "}\n"
    "inline Checked Power(Checked a, Checked b)\n"
    "{\n"
    "    Checked r = 1;\n"
    "    for (int64_t i = 0; i < b.v && refusal[0] == 0 && (r.v > 1 || r.v < -1 || i < 2); i++) {\n"
    "        r = r * a;\n"
    "    }\n"
    "    return b.v > 1 && a.v == -1 ? (b.v % 2 != 0 ? Checked(-1) : Checked(1)) : r;\n"
    "}\n"
    "inline double PowerF(double a, double b) { return pow(a, b); }\n"
    "\n"
    "// Size i of a tensor; negative i count from the end.\n"
    "inline Checked Dim(const ShapeView &s, Checked i)\n"
    "{\n"
    "    int64_t k = i.v < 0 ? i.v + s.rank : i.v;\n"
    "    if (k < 0 || k >= s.rank) {\n"
    "        if (refusal[0] == 0) {\n"
    "            snprintf(refusal, sizeof(refusal), \"dimension %lld does not exist in a tensor of rank %d\", "
    "static_cast<long long>(i.v),\n"
    "                          static_cast<int>(s.rank));\n"
    "        }\n"
    "        return 0;\n"
    "    }\n"
    "    return s.dims[k];\n"
    "}\n"
    "// Product of sizes [from, to), by Python's rules for slices.\n"
    "inline Checked Product(const ShapeView &s, Checked from, Checked to)\n"
    "{\n"
    "    int64_t a = from.v < 0 ? from.v + s.rank : from.v, b = to.v < 0 ? to.v + s.rank : to.v;\n"
    "    Checked r = 1;\n"
    "    bool zero = false;\n"
    "    for (int64_t i = a < 0 ? 0 : a; i < b && i < s.rank; i++) {\n"
    "        zero = zero || s.dims[i] == 0;\n"
    "    }\n"
    "    for (int64_t i = a < 0 ? 0 : a; i < b && i < s.rank && !zero; i++) {\n"
    "        r = r * s.dims[i];\n"
    "    }\n"
    "    return zero ? Checked(0) : r;\n"
    "}\n"
    "inline bool SameShape(const ShapeView &a, const ShapeView &b)\n"
    "{\n"
    "    bool same = a.rank == b.rank;\n"
    "    for (int32_t i = 0; same && i < a.rank; i++) {\n"
    "        same = a.dims[i] == b.dims[i];\n"
    "    }\n"
    "    return same;\n"
    "}\n"
    "// Blocks of a launch: all of those that the program asks for, or none.\n"
    "inline int64_t Blocks(Checked wanted, int64_t most)\n"
    "{\n"
    "    if (wanted > most && refusal[0] == 0) {\n"
    "        snprintf(refusal, sizeof(refusal), \"%lld blocks are wanted, a launch has %lld at most here\", "
    "static_cast<long long>(wanted.v),\n"
    "                 static_cast<long long>(most));\n"
    "    }\n"
    "    return wanted.v < most ? wanted.v : most;\n"
    "}\n"
    "// Bytes of UB that a buffer takes: whole blocks, at least one.\n"
    "inline Checked BufferBytes(Checked elements, int64_t size, int64_t to) { return Max(AlignUp(elements * size, "
    "to), to); }\n"
    "\n";

/* ---- attributes ---- */

static const char *attr_type(ac_atype t) {
  return t == AC_AT_FLOAT ? "double" : "int64_t";
}

char *ac_host_attr_params(ac_emit_ctx *c) {
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (size_t i = 0; i < c->p->attrs.len; i++)
    ac_printf(&b, ", %s %s", attr_type(c->p->attrs.data[i].type), c->p->attrs.data[i].name);
  return ac_strdup(c->a, ac_buf_str(&b));
}
char *ac_host_attr_args(ac_emit_ctx *c) {
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (size_t i = 0; i < c->p->attrs.len; i++) ac_printf(&b, ", %s", c->p->attrs.data[i].name);
  return ac_strdup(c->a, ac_buf_str(&b));
}

/* ---- the plan ---- */

static void plan_struct(ac_emit_ctx *c, ac_cpp *t) {
  ac_comment(t, "What the tiling code decides and the kernel reads.");
  ac_open(t, "struct %s", c->plan);
  for (size_t i = 0; i < c->p->fields.len; i++)
    ac_line(t, "%s %s;", c->p->fields.data[i].type == AC_AT_FLOAT ? "float" : "int64_t", c->p->fields.data[i].name);
  ac_line(t, "int64_t tilingKey; // which kernel with which constants; 0: nothing to do");
  ac_line(t, "int64_t blockDim;");
  ac_line(t, "int64_t workspaceBytes;");
  ac_close(t, ";");
  ac_line(t, "%s", "");
}

/* ---- host statements ---- */

static void block(ac_emit_ctx *c, ac_cpp *t, const ac_ablock *b);

static const char *host_type(ac_atype t) {
  return t == AC_AT_INT ? "Checked" : t == AC_AT_FLOAT ? "double" : "bool";
}

typedef struct {
  ac_emit_ctx *c;
  const ac_akernel *k;
  const ac_alaunch *l;
} binding;
static ac_aexpr *field_value(void *user, const char *name) {
  const binding *b = user;
  for (size_t i = 0; i < b->k->fields.len; i++) {
    if (strcmp(b->k->fields.data[i].name, name)) continue;
    ac_aexpr *e = AC_NEW(b->c->a, ac_aexpr);
    e->kind = AC_AE_VAR;
    e->type = AC_AT_INT;
    e->name = ac_sprintf(b->c->a, "Checked(plan.%s)", b->c->p->fields.data[b->l->fields[i]].name);
    return e;
  }
  return NULL;
}
static ac_aexpr *bind(binding *b, const ac_aexpr *e) {
  if (!e) return NULL;
  ac_aexpr *r = e->kind == AC_AE_VAR ? field_value(b, e->name) : NULL, *n = AC_NEW(b->c->a, ac_aexpr);
  if (r) return r;
  *n = *e;
  n->a = bind(b, e->a);
  n->b = bind(b, e->b);
  n->c = bind(b, e->c);
  return n;
}

/* UB: two slots a queue where they fit, else one, else refused. */
static void check_ub(ac_emit_ctx *c, ac_cpp *t, const ac_alaunch *l) {
  const ac_akernel *k = c->p->kernels.data[l->kernel];
  binding b = {c, k, l};
  bool doubles = false;
  if (!k->buffers.len) return;
  ac_line(t, "Checked fixed = 0, doubled = 0; // bytes of UB; of those that may come twice");
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *q = &k->buffers.data[i];
    bool twice = ac_two_slots(q);
    if (q->home) continue;
    doubles |= twice;
    const char *bytes = ac_sprintf(c->a, "BufferBytes(%s, %d, %d)", ac_cpp_expr(t, bind(&b, q->elements)),
                                   ac_dtypes[q->dtype].bytes, q->round_to);
    int slots = ac_fixed_slots(q);
    if (twice) ac_line(t, "doubled = doubled + %s; // %s", bytes, q->name);
    if (slots == 1) ac_line(t, "fixed = fixed + %s; // %s", bytes, q->name);
    if (slots > 1) ac_line(t, "fixed = fixed + %s * %d; // %s", bytes, slots, q->name);
  }
  const char *have = k->select ? "Checked(ub) - 8192" : "Checked(ub)";
  if (k->select) ac_comment(t, "Select writes to the last 8 KB of UB.");
  if (doubles)
    ac_line(t, "plan.%s = fixed + doubled * 2 <= %s ? 2 : 1;", c->p->fields.data[l->buffer_num].name, have);
  ac_open(t, "if (fixed + doubled > %s)", have);
  ac_open(t, "if (refusal[0] == 0)");
  ac_line(t,
          "snprintf(refusal, sizeof(refusal), \"%s needs %%lld bytes of UB, there are %%lld: take a smaller tile\",",
          k->name);
  ac_line(t, "              static_cast<long long>((fixed + doubled).v), static_cast<long long>((%s).v));", have);
  ac_close(t, "");
  ac_close(t, "");
}

/* Workspaces lie one behind the other; the first launch that uses one gives it its place. */
static void place_workspaces(ac_emit_ctx *c, ac_cpp *t, const ac_alaunch *l) {
  bool any = false;
  for (size_t i = 0; i < c->p->workspaces.len; i++) any |= l->places[i];
  if (!any) return;
  ac_line(t, "Checked bytes = plan.workspaceBytes;");
  for (size_t i = 0; i < c->p->workspaces.len; i++) {
    const ac_aworkspace *w = &c->p->workspaces.data[i];
    if (!l->places[i]) continue;
    ac_line(t, "plan.%s = bytes.v;", c->p->fields.data[w->field].name);
    ac_line(t, "bytes = bytes + AlignUp(%s * %d, 512); // %s", ac_cpp_factor(t, w->elements),
            ac_dtypes[w->dtype].bytes, w->name);
  }
  ac_line(t, "plan.workspaceBytes = bytes.v;");
}

static void launch(ac_emit_ctx *c, ac_cpp *t, const ac_alaunch *l) {
  const ac_akernel *k = c->p->kernels.data[l->kernel];
  bool phased = c->p->phased;
  /* Blocks that wait for each other must all run at once; others may be more than the cores, in turns. */
  const char *blocks =
      ac_sprintf(c->a, "Blocks(%s, %s)", ac_cpp_expr(t, l->blocks), k->sync_all || phased ? "cores" : "65535");
  if (phased) {
    const char *n = c->p->fields.data[l->blocks_field].name;
    ac_comment(t, ac_sprintf(c->a, "Launch %d: %s", l->phase + 1, k->name));
    ac_open(t, "%s", "");
    ac_line(t, "plan.%s = %s;", n, blocks);
    if (l->phase)
      ac_line(t, "plan.blockDim = plan.%s > plan.blockDim ? plan.%s : plan.blockDim;", n, n);
    else
      ac_line(t, "plan.blockDim = plan.%s;", n);
  } else {
    ac_line(t, "plan.tilingKey = %d; // %s", l->key, k->name);
    ac_line(t, "plan.blockDim = %s;", blocks);
  }
  for (size_t i = 0; i < k->fields.len; i++) {
    const ac_akfield *f = &k->fields.data[i];
    const char *to = c->p->fields.data[l->fields[i]].name, *v = ac_cpp_expr(t, l->values[i]);
    if (f->type == AC_AT_FLOAT)
      ac_line(t, "plan.%s = static_cast<float>(%s);", to, v);
    else if (f->type == AC_AT_BOOL)
      ac_line(t, "plan.%s = (%s) ? 1 : 0;", to, v);
    else
      ac_line(t, "plan.%s = Checked(%s).v;", to, v);
  }
  place_workspaces(c, t, l);
  check_ub(c, t, l);
  if (phased)
    ac_close(t, "");
  else
    ac_line(t, "return Refusal();");
}

/* The end of a path with launches. Phases are joined by SyncAll: one that waits inside has to have all blocks. */
static void end_path(ac_emit_ctx *c, ac_cpp *t, const ac_apath *x) {
  ac_buf names;
  ac_buf_init(&names, c->a);
  for (size_t i = 0; i < x->phases.len; i++) {
    const ac_alaunch *l = x->phases.data[i];
    const ac_akernel *k = c->p->kernels.data[l->kernel];
    ac_printf(&names, "%s%s", i ? ", then " : "", k->name);
    if (!k->sync_all || x->phases.len < 2) continue;
    ac_open(t, "if (plan.%s != plan.blockDim)", c->p->fields.data[l->blocks_field].name);
    ac_line(t, "Refuse(\"%s waits for all blocks (tl.sync_all): every launch of this path must have as many\");",
            k->name);
    ac_close(t, "");
  }
  ac_line(t, "plan.tilingKey = plan.blockDim > 0 ? %d : 0; // %s", x->key, ac_buf_str(&names));
  ac_line(t, "plan.blockDim = plan.blockDim > 0 ? plan.blockDim : 1;");
  ac_line(t, "return Refusal();");
}

static void if_else(ac_emit_ctx *c, ac_cpp *t, const ac_astmt *s) {
  ac_open(t, "if (%s)", ac_cpp_expr(t, s->cond));
  block(c, t, &s->body);
  if (s->orelse.len) {
    t->indent--;
    ac_open(t, "} else");
    block(c, t, &s->orelse);
  }
  ac_close(t, "");
}

static char *quoted(ac_arena *a, const char *s) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      ac_printf(&b, "\\%c", *s);
    else if ((unsigned char)*s < 32)
      ac_puts(&b, " ");
    else if (*s == '?')
      ac_puts(&b, "\\?"); /* no trigraphs */
    else
      ac_printf(&b, "%c", *s);
  }
  return ac_strdup(a, ac_buf_str(&b));
}

/* A reason with numbers in it. */
static void refuse_with(ac_emit_ctx *c, ac_cpp *t, const ac_astmt *s) {
  ac_open(t, "if (refusal[0] == 0)");
  ac_line(t, "snprintf(refusal, sizeof(refusal), \"%s\",", quoted(c->a, ac_refusal_format(c->a, s->text)));
  for (int i = 0; i < s->n_args; i++)
    ac_line(t, "              static_cast<long long>(Checked(%s).v)%s", ac_cpp_expr(t, s->args[i]),
            i + 1 < s->n_args ? "," : ");");
  ac_close(t, "");
}

static void statement(ac_emit_ctx *c, ac_cpp *t, const ac_astmt *s) {
  switch (s->kind) {
  case AC_AS_COMMENT: ac_comment(t, s->text); return;
  case AC_AS_DECL: ac_line(t, "%s %s = %s;", host_type(s->var.type), s->var.name, ac_cpp_expr(t, s->value)); return;
  case AC_AS_ASSIGN: ac_line(t, "%s = %s;", s->var.name, ac_cpp_expr(t, s->value)); return;
  case AC_AS_FOR: {
    const char *v = s->var.name, *hi = ac_cpp_expr(t, s->hi), *step = ac_cpp_expr(t, s->step);
    ac_open(t, "%s", "");
    ac_line(t, "const Checked %sEnd = %s, %sStep = %s;", v, hi, v, step);
    ac_open(t, "for (Checked %s = %s; refusal[0] == 0 && (%sStep > 0 ? %s < %sEnd : %s > %sEnd); %s = %s + %sStep)",
            v, ac_cpp_expr(t, s->lo), v, v, v, v, v, v, v, v);
    block(c, t, &s->body);
    ac_close(t, "");
    ac_close(t, "");
    return;
  }
  case AC_AS_WHILE:
    ac_open(t, "while (refusal[0] == 0 && (%s))", ac_cpp_expr(t, s->cond));
    block(c, t, &s->body);
    ac_close(t, "");
    return;
  case AC_AS_IF: if_else(c, t, s); return;
  case AC_AS_BREAK: ac_line(t, "break;"); return;
  case AC_AS_REFUSE:
    if (s->n_args)
      refuse_with(c, t, s);
    else
      ac_line(t, "Refuse(\"%s\");", quoted(c->a, s->text));
    ac_line(t, "return Refusal();");
    return;
  case AC_AS_LAUNCH: launch(c, t, s->launch); return;
  case AC_AS_END: end_path(c, t, c->p->paths.data[s->path]); return;
  case AC_AS_NOTHING:
    ac_comment(t, "Nothing to do for this shape.");
    ac_line(t, "return Refusal();");
    return;
  default: return;
  }
}
static void block(ac_emit_ctx *c, ac_cpp *t, const ac_ablock *b) {
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    if (s->kind == AC_AS_COMMENT && !*s->text && (!i || i + 1 == b->len)) continue;
    statement(c, t, s);
  }
}

static void compute_tiling(ac_emit_ctx *c, ac_cpp *t) {
  ac_line(t, "inline const char *Refusal() { return refusal[0] != 0 ? refusal : nullptr; }");
  ac_line(t, "%s", "");
  ac_comment(t, "Plans one call: partition of the cores, tiles, tiling key. Shapes are those of the inputs, then of "
                "the outputs. Returns nullptr,");
  ac_comment(t, "or why this shape is refused.");
  ac_line(t, "const char *ComputeTiling(const ShapeView *shapes%s, int64_t cores, int64_t ub, %s%s &plan)",
          ac_host_attr_params(c), c->p->deterministic ? "bool deterministic, " : "", c->plan);
  ac_open(t, "%s", "");
  ac_line(t, "refusal[0] = 0;");
  ac_line(t, "plan = %s();", c->plan);
  ac_line(t, "plan.blockDim = 1;");
  for (size_t i = 0; i < c->p->launches.len; i++) {
    bool seen = false;
    for (size_t k = 0; k < i; k++) seen |= c->p->launches.data[k]->buffer_num == c->p->launches.data[i]->buffer_num;
    if (!seen) ac_line(t, "plan.%s = 1;", c->p->fields.data[c->p->launches.data[i]->buffer_num].name);
  }
  ac_line(t, "cores = cores < 1 ? 1 : cores;");
  for (size_t i = 0; i < c->p->attrs.len; i++) ac_line(t, "(void)%s;", c->p->attrs.data[i].name);
  ac_line(t, "(void)ub;");
  ac_host_guards(c, t);
  block(c, t, &c->p->host);
  if (!c->p->host.len) ac_line(t, "return Refusal();");
  ac_close(t, "");
}

static char *shapes(ac_emit_ctx *c) {
  ac_cpp t;
  ac_cpp_init(&t, c->a, c->p);
  t.host = true;
  ac_putn(&t.b, shape_text, sizeof shape_text - 1);
  ac_putn(&t.b, checked_text, sizeof checked_text - 1);
  ac_putn(&t.b, checked_more_text, sizeof checked_more_text - 1);
  ac_host_output_shapes(c, &t);
  return (char *)ac_buf_str(&t.b);
}

void ac_host_shapes(ac_emit_ctx *c, ac_cpp *t) {
  if (!c->host_shapes) c->host_shapes = shapes(c);
  t->host = true;
  ac_puts(&t->b, c->host_shapes);
}

static char *core(ac_emit_ctx *c) {
  ac_cpp t;
  ac_cpp_init(&t, c->a, c->p);
  t.host = true;
  plan_struct(c, &t);
  ac_line(&t, "namespace {");
  ac_host_shapes(c, &t);
  compute_tiling(c, &t);
  ac_line(&t, "} // namespace");
  return (char *)ac_buf_str(&t.b);
}

void ac_host_core(ac_emit_ctx *c, ac_cpp *t) {
  if (!c->host_core) c->host_core = core(c);
  ac_puts(&t->b, c->host_core);
}
