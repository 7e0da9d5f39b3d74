/* AscendC program -> C++ text: expressions, statements, kernel classes. */
#include "ascendc/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

void ac_cpp_init(ac_cpp *t, ac_arena *a, const ac_program *p) {
  memset(t, 0, sizeof *t);
  t->a = a;
  t->p = p;
  ac_buf_init(&t->b, a);
}
void ac_line(ac_cpp *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ac_put_line(&t->b, t->indent * 4, "", fmt, ap);
  va_end(ap);
}
void ac_open(ac_cpp *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ac_put_line(&t->b, t->indent * 4, " {", fmt, ap);
  va_end(ap);
  t->indent++;
}
void ac_close(ac_cpp *t, const char *tail) {
  t->indent--;
  ac_line(t, "}%s", tail);
}
/* A backslash at the end would swallow the next line; a tab or a control character helps nobody. */
static char *tame(ac_arena *a, const char *s) {
  char *r = ac_strdup(a, s);
  for (char *c = r; *c; c++)
    if ((unsigned char)*c < 32 || *c == '`') *c = *c == '`' ? '\'' : ' ';
  size_t n = strlen(r);
  while (n && (r[n - 1] == '\\' || r[n - 1] == ' ' || r[n - 1] == '/')) r[--n] = 0;
  return r;
}
void ac_comment(ac_cpp *t, const char *text) {
  if (!*text)
    ac_line(t, "%s", "");
  else
    ac_line(t, "// %s", tame(t->a, text));
}

/* ---- expressions ---- */

const char *ac_cpp_dtype(ac_dtype d) {
  return d == AC_BOOL ? "uint8_t" : ac_dtypes[d].cpp;
}

static char *float_text(ac_cpp *t, double v) {
  ac_arena *a = t->a;
  if (t->host) {
    if (isnan(v)) return "static_cast<double>(NAN)";
    if (isinf(v)) return v > 0 ? "static_cast<double>(INFINITY)" : "-static_cast<double>(INFINITY)";
    ac_buf b;
    ac_buf_init(&b, a);
    ac_put_double(&b, v);
    return ac_strdup(a, ac_buf_str(&b));
  }
  float f = (float)v;
  if (isnan(f)) return "AcBits(0x7fc00000u)";
  if (isinf(f)) return f > 0 ? "AcBits(0x7f800000u)" : "AcBits(0xff800000u)";
  char s[40];
  for (int n = 1; n < 10; n++) {
    snprintf(s, sizeof s, "%.*g", n, (double)f);
    if (strtof(s, NULL) == f) break;
  }
  return ac_sprintf(a, "%s%sf", s, strpbrk(s, ".e") ? "" : ".0");
}

static const char *const infix[] = {[AC_AE_ADD] = "+", [AC_AE_SUB] = "-", [AC_AE_MUL] = "*",  [AC_AE_DIV] = "/",
                                    [AC_AE_EQ] = "==", [AC_AE_NE] = "!=", [AC_AE_LT] = "<",   [AC_AE_LE] = "<=",
                                    [AC_AE_GT] = ">",  [AC_AE_GE] = ">=", [AC_AE_AND] = "&&", [AC_AE_OR] = "||"};
/* Binding strength of C++; higher binds tighter. */
static int level(const ac_aexpr *e) {
  switch (e->kind) {
  case AC_AE_MUL:
  case AC_AE_DIV: return 9;
  case AC_AE_ADD:
  case AC_AE_SUB: return 8;
  case AC_AE_LT:
  case AC_AE_LE:
  case AC_AE_GT:
  case AC_AE_GE: return 6;
  case AC_AE_EQ:
  case AC_AE_NE: return 5;
  case AC_AE_AND: return 3;
  case AC_AE_OR: return 2;
  case AC_AE_COND: return 1;
  case AC_AE_NEG:
  case AC_AE_NOT: return 10;
  case AC_AE_INT: return e->i < 0 ? 10 : 11;
  case AC_AE_FLOAT: return e->f < 0 ? 10 : 11;
  default: return 11;
  }
}
static char *inner(ac_cpp *t, const ac_aexpr *e, int outer) {
  char *s = ac_cpp_expr(t, e);
  return level(e) < outer ? ac_sprintf(t->a, "(%s)", s) : s;
}

char *ac_cpp_factor(ac_cpp *t, const ac_aexpr *e) {
  return inner(t, e, 9);
}

static char *function(ac_cpp *t, const char *name, const ac_aexpr *e) {
  const char *f =
      e->type == AC_AT_FLOAT ? "F" : ""; /* no overloads: an integer literal would slip into the float one */
  return ac_sprintf(t->a, "%s%s%s(%s, %s)", t->host ? "" : "Ac", name, f, ac_cpp_expr(t, e->a), ac_cpp_expr(t, e->b));
}

static char *of_shape(ac_cpp *t, const ac_aexpr *e) {
  switch (e->kind) {
  case AC_AE_RANK: return ac_sprintf(t->a, "Checked(shapes[%d].rank)", e->tensor);
  case AC_AE_NUMEL: return ac_sprintf(t->a, "Product(shapes[%d], 0, shapes[%d].rank)", e->tensor, e->tensor);
  case AC_AE_DIM: return ac_sprintf(t->a, "Dim(shapes[%d], %s)", e->tensor, ac_cpp_expr(t, e->a));
  default:
    return ac_sprintf(t->a, "Product(shapes[%d], %s, %s)", e->tensor, e->a ? ac_cpp_expr(t, e->a) : "0",
                      e->b ? ac_cpp_expr(t, e->b) : ac_sprintf(t->a, "shapes[%d].rank", e->tensor));
  }
}

char *ac_cpp_expr(ac_cpp *t, const ac_aexpr *e) {
  ac_arena *a = t->a;
  int l = level(e);
  switch (e->kind) {
  case AC_AE_INT: return e->i == INT64_MIN ? "INT64_MIN" : ac_sprintf(a, "%lld", (long long)e->i);
  case AC_AE_FLOAT: return float_text(t, e->f);
  case AC_AE_BOOL: return e->i ? "true" : "false";
  case AC_AE_VAR: return ac_strdup(a, e->name);
  case AC_AE_NEG: return ac_sprintf(a, "-%s", inner(t, e->a, 11));
  case AC_AE_NOT: return ac_sprintf(a, "!%s", inner(t, e->a, 11));
  case AC_AE_COND: {
    const char *x = ac_cpp_expr(t, e->a), *y = ac_cpp_expr(t, e->b);
    if (t->host && e->type == AC_AT_INT)
      return ac_sprintf(a, "%s ? Checked(%s) : Checked(%s)", inner(t, e->c, 2), x, y);
    return ac_sprintf(a, "%s ? %s : %s", inner(t, e->c, 2), inner(t, e->a, 2), inner(t, e->b, 2));
  }
  case AC_AE_FLOORDIV: return function(t, "FloorDiv", e);
  case AC_AE_MOD: return function(t, "FloorMod", e);
  case AC_AE_MIN: return function(t, "Min", e);
  case AC_AE_MAX: return function(t, "Max", e);
  case AC_AE_CDIV: return function(t, "CeilDiv", e);
  case AC_AE_ALIGN_UP: return function(t, "AlignUp", e);
  case AC_AE_ALIGN_DOWN: return function(t, "AlignDown", e);
  case AC_AE_POW: return function(t, "Power", e);
  case AC_AE_TO_FLOAT:
    return t->host ? ac_sprintf(a, "ToDouble(%s)", ac_cpp_expr(t, e->a))
                   : ac_sprintf(a, "static_cast<float>(%s)", ac_cpp_expr(t, e->a));
  case AC_AE_TO_INT:
    return t->host ? ac_sprintf(a, "Truncate(%s)", ac_cpp_expr(t, e->a))
                   : ac_sprintf(a, "static_cast<int64_t>(%s)", ac_cpp_expr(t, e->a));
  case AC_AE_BLOCK_IDX: return "static_cast<int64_t>(AscendC::GetBlockIdx())";
  case AC_AE_BLOCK_NUM: return "static_cast<int64_t>(AscendC::GetBlockNum())";
  case AC_AE_DETERMINISTIC: return "deterministic";
  case AC_AE_CORES: return "Checked(cores)";
  case AC_AE_UB: return "Checked(ub)";
  case AC_AE_DIM:
  case AC_AE_RANK:
  case AC_AE_NUMEL:
  case AC_AE_DIMPROD: return of_shape(t, e);
  default: break;
  }
  /* a - (b - c), and a comparison of comparisons, keep their parentheses */
  int right = e->kind == AC_AE_SUB || e->kind == AC_AE_DIV || (e->kind >= AC_AE_EQ && e->kind <= AC_AE_GE) ||
                      e->type == AC_AT_FLOAT
                  ? l + 1
                  : l;
  if (e->kind == AC_AE_OR || e->kind == AC_AE_AND) right = l + 1;
  int left = e->kind == AC_AE_OR ? 4 : l;
  return ac_sprintf(a, "%s %s %s", inner(t, e->a, left), infix[e->kind], inner(t, e->b, right));
}

/* ---- kernel statements ---- */

static const char *type_name(ac_atype t) {
  return t == AC_AT_INT ? "int64_t" : t == AC_AT_FLOAT ? "float" : "bool";
}
static ac_dtype dtype_of(ac_cpp *t, const ac_atensor *x) {
  return t->k->buffers.data[x->buffer].dtype;
}

static char *scalar(ac_cpp *t, const ac_aexpr *e, ac_dtype d) {
  const char *s = ac_cpp_expr(t, e);
  if (d == AC_F32 && e->type == AC_AT_FLOAT) return ac_strdup(t->a, s);
  if (d == AC_BF16) return ac_sprintf(t->a, "AscendC::ToBfloat16(static_cast<float>(%s))", s);
  if (d == AC_F16 && e->type == AC_AT_INT) return ac_sprintf(t->a, "static_cast<half>(static_cast<float>(%s))", s);
  return ac_sprintf(t->a, "static_cast<%s>(%s)", ac_cpp_dtype(d), s);
}

static char *tensor_at(ac_cpp *t, const ac_atensor *x, const ac_aexpr *offset, ac_dtype view) {
  char *s = ac_strdup(t->a, x->name);
  if (view != AC_NODTYPE) s = ac_sprintf(t->a, "%s.ReinterpretCast<%s>()", s, ac_cpp_dtype(view));
  return offset ? ac_sprintf(t->a, "%s[%s]", s, ac_cpp_expr(t, offset)) : s;
}

static const char *const rounds[] = {
    [AC_RN_NONE] = "CAST_NONE", [AC_RN_RINT] = "CAST_RINT",   [AC_RN_FLOOR] = "CAST_FLOOR",
    [AC_RN_CEIL] = "CAST_CEIL", [AC_RN_ROUND] = "CAST_ROUND", [AC_RN_TRUNC] = "CAST_TRUNC",
    [AC_RN_ODD] = "CAST_ODD"};
static const char *const compares[] = {[AC_CMP_LT] = "LT", [AC_CMP_GT] = "GT", [AC_CMP_EQ] = "EQ",
                                       [AC_CMP_LE] = "LE", [AC_CMP_GE] = "GE", [AC_CMP_NE] = "NE"};

static const char *trail(ac_cpp *t, const ac_astmt *s) {
  return s->trailing && *s->trailing ? ac_sprintf(t->a, " // %s", tame(t->a, s->trailing)) : "";
}

static char *byte_of(ac_cpp *t, const ac_aexpr *e, const char *type) {
  int64_t v;
  if (!e) return ac_strdup(t->a, "0");
  return e->kind == AC_AE_INT ? (v = e->i, ac_sprintf(t->a, "%lld", (long long)v))
                              : ac_sprintf(t->a, "static_cast<%s>(%s)", type, ac_cpp_expr(t, e));
}

/* The repeat forms, and those of instructions that only the lowering uses. */
static void repeats(ac_cpp *t, const ac_astmt *s) {
  const ac_inst_info *i = &ac_insts[s->inst];
  const ac_arep *p = s->rep;
  const char *dst = byte_of(t, p->dst, "uint8_t"), *a = byte_of(t, p->a, "uint8_t"), *b = byte_of(t, p->b, "uint8_t");
  const char *mask = p->mask ? ac_sprintf(t->a, "static_cast<uint64_t>(%s)", ac_cpp_expr(t, p->mask)) : "";
  const char *repeat = byte_of(t, p->repeat, "uint8_t");
  ac_buf o;
  ac_buf_init(&o, t->a);
  ac_printf(&o, i->form == AC_FORM_TURN ? "AcTurn(" : "AscendC::%s(", i->asc);
  ac_dtype d = ac_operand_dtype(t->k, &s->ops[0]);
  for (int n = 0; n < s->n_ops; n++)
    ac_printf(&o, "%s%s", n ? ", " : "",
              s->ops[n].tensor ? tensor_at(t, s->ops[n].tensor, s->ops[n].offset, s->ops[n].view)
                               : scalar(t, s->ops[n].scalar, d));
  switch (i->form) {
  case AC_FORM_BINARY:
    ac_printf(&o, ", %s, %s, AscendC::BinaryRepeatParams(1, 1, 1, %s, %s, %s)", mask, repeat, dst, a, b);
    break;
  case AC_FORM_CAST: ac_printf(&o, ", AscendC::RoundMode::%s", rounds[s->round]); /* fall through */
  case AC_FORM_UNARY:
  case AC_FORM_SCALAR:
  case AC_FORM_FMA_SCALAR:
    ac_printf(&o, ", %s, %s, AscendC::UnaryRepeatParams(1, 1, %s, %s)", mask, repeat, dst, a);
    break;
  case AC_FORM_FILL: ac_printf(&o, ", %s, %s, 1, %s", mask, repeat, dst); break;
  case AC_FORM_ROWS:
    ac_printf(&o, ", %s, %s, AscendC::CopyRepeatParams(1, %d, %s, %s)", mask, repeat, p->a_block,
              byte_of(t, p->dst, "uint16_t"), byte_of(t, p->a, "uint16_t"));
    break;
  case AC_FORM_BLOCKS:
    ac_printf(&o, ", %s, AscendC::BrcbRepeatParams(1, %s)", repeat, byte_of(t, p->dst, "uint16_t"));
    break;
  case AC_FORM_WHOLE:
    ac_printf(&o, ", %s, %s, %s, 1, %s%s", byte_of(t, p->mask, "int32_t"), byte_of(t, p->repeat, "int32_t"),
              byte_of(t, p->dst, "int32_t"), byte_of(t, p->a, "int32_t"),
              s->inst == AC_I_WHOLE_SUM ? "" : ", AscendC::ReduceOrder::ORDER_ONLY_VALUE");
    break;
  case AC_FORM_TURN:
    ac_printf(&o, ", %s, %s, %s, %s, %s, %s", ac_cpp_expr(t, p->mask), ac_cpp_expr(t, p->b), repeat,
              ac_cpp_expr(t, p->dst), ac_cpp_expr(t, p->a), p->mode ? "true" : "false");
    break;
  default: ac_printf(&o, ", %s", byte_of(t, p->repeat, "int32_t")); break; /* AC_FORM_SORT */
  }
  ac_line(t, "%s);%s", ac_buf_str(&o), trail(t, s));
}

/* Forms by count that take more than operands. False: not one of them. */
static bool special(ac_cpp *t, const ac_astmt *s) {
  const ac_aoperand *o = s->ops;
  const char *x[3] = {0};
  for (int n = 0; n < s->n_ops && n < 3; n++)
    if (o[n].tensor) x[n] = tensor_at(t, o[n].tensor, o[n].offset, o[n].view);
  const char *n = s->count ? ac_cpp_expr(t, s->count) : "0";
  if (!o[0].tensor) return false;
  ac_dtype d = ac_operand_dtype(t->k, &o[0]);
  switch (ac_insts[s->inst].form) {
  case AC_FORM_INDEX:
    ac_line(t, "AscendC::CreateVecIndex(%s, %s, static_cast<uint32_t>(%s));%s", x[0], scalar(t, o[1].scalar, d), n,
            trail(t, s));
    return true;
  case AC_FORM_GATHER:
    ac_line(t, "AscendC::Gather(%s, %s, %s, static_cast<uint32_t>(%s), static_cast<uint32_t>(%s));%s", x[0], x[1],
            x[2], ac_cpp_expr(t, o[3].scalar), n, trail(t, s));
    return true;
  case AC_FORM_TILE: ac_line(t, "AscendC::Transpose(%s, %s);%s", x[0], x[1], trail(t, s)); return true;
  case AC_FORM_MERGE:
    ac_line(t, "AcMerge(%s, %s, %s, %s);%s", x[0], x[1], ac_cpp_expr(t, o[2].scalar), n, trail(t, s));
    return true;
  case AC_FORM_PICK: {
    const char *by = o[2].tensor ? x[2] : ac_sprintf(t->a, "static_cast<uint8_t>(%s)", ac_cpp_expr(t, o[2].scalar));
    const char *call = ac_sprintf(t->a, "AcPick(%s, %s, %s, %s)", x[0], x[1], by, n);
    if (s->var.name)
      ac_line(t, "int64_t %s = %s;%s", s->var.name, call, trail(t, s));
    else
      ac_line(t, "%s;%s", call, trail(t, s));
    return true;
  }
  default: return false;
  }
}

static void instruction(ac_cpp *t, const ac_astmt *s) {
  const ac_inst_info *i = &ac_insts[s->inst];
  if (s->rep) {
    repeats(t, s);
    return;
  }
  if (special(t, s)) return;
  bool compare = i->form == AC_FORM_COMPARE || i->form == AC_FORM_COMPARE_S;
  const ac_aoperand *typed = &s->ops[compare ? 1 : 0];
  ac_dtype d = ac_operand_dtype(t->k, typed);
  ac_buf b;
  ac_buf_init(&b, t->a);
  ac_printf(&b, "AscendC::%s(", i->asc);
  for (int n = 0; n < s->n_ops; n++) {
    const ac_aoperand *o = &s->ops[n];
    ac_printf(&b, "%s%s", n ? ", " : "",
              o->tensor ? tensor_at(t, o->tensor, o->offset, o->view)
                        : scalar(t, o->scalar, i->form == AC_FORM_GATHER ? AC_U32 : d));
  }
  if (i->form == AC_FORM_CAST) ac_printf(&b, ", AscendC::RoundMode::%s", rounds[s->round]);
  if (compare) ac_printf(&b, ", AscendC::CMPMODE::%s", compares[s->cmp]);
  if (i->form == AC_FORM_SELECT) ac_puts(&b, ", AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE");
  if (i->form == AC_FORM_SELECT_S) ac_puts(&b, ", AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE");
  const char *type = i->form == AC_FORM_CAST || compare || i->form == AC_FORM_SELECT || i->form == AC_FORM_SELECT_S ||
                             i->form == AC_FORM_COPY
                         ? "uint32_t"
                         : "int32_t";
  int64_t n;
  if (s->count->kind == AC_AE_INT)
    n = s->count->i, ac_printf(&b, ", %lld);", (long long)n);
  else
    ac_printf(&b, ", static_cast<%s>(%s));", type, ac_cpp_expr(t, s->count));
  ac_line(t, "%s%s", ac_buf_str(&b), trail(t, s));
}

static char *zero(ac_arena *a, ac_dtype d) {
  return d == AC_F32    ? "0.0f"
         : d == AC_BF16 ? "AscendC::ToBfloat16(0.0f)"
         : d == AC_F16  ? "static_cast<half>(0.0f)"
                        : ac_sprintf(a, "static_cast<%s>(0)", ac_cpp_dtype(d));
}

/* Stores between these two combine with what global memory holds. */
static void atomic(ac_cpp *t, const ac_acopy *c, bool on) {
  static const char *const names[] = {
      [AC_ATOMIC_ADD] = "SetAtomicAdd", [AC_ATOMIC_MAX] = "SetAtomicMax", [AC_ATOMIC_MIN] = "SetAtomicMin"};
  if (c->atomic == AC_ATOMIC_NONE) return;
  if (on)
    ac_line(t, "AscendC::%s<%s>();", names[c->atomic], ac_cpp_dtype(dtype_of(t, c->ub)));
  else
    ac_line(t, "AscendC::SetAtomicNone();");
}

static void rows_copy(ac_cpp *t, const ac_acopy *c, const char *ub, const char *gm, const char *tail) {
  bool pad = c->to_ub && c->pad;
  ac_line(t, "%s(%s, %s, %s, %s, %s, %s%s%s);%s",
          pad        ? "AcPadRows"
          : c->to_ub ? "AcLoadRows"
                     : "AcStoreRows",
          c->to_ub ? ub : gm, c->to_ub ? gm : ub, ac_cpp_expr(t, c->rows), ac_cpp_expr(t, c->cols),
          ac_cpp_expr(t, c->gm_stride), ac_cpp_expr(t, c->ub_pitch), pad ? ", " : "",
          pad ? scalar(t, c->pad, dtype_of(t, c->ub)) : "", tail);
}

static void copy(ac_cpp *t, const ac_astmt *s) {
  const ac_acopy *c = s->copy;
  ac_dtype d = dtype_of(t, c->ub);
  const char *ub = tensor_at(t, c->ub, c->ub_offset, AC_NODTYPE), *name = t->k->gms.data[c->gm].name;
  const char *gm = ac_sprintf(t->a, "%s[%s]", name, ac_cpp_expr(t, c->gm_offset)), *cols = ac_cpp_expr(t, c->cols);
  if (c->by_element) {
    ac_open(t, "for (int64_t acElement = 0; acElement < %s; acElement++)", cols);
    const char *base = c->ub_offset ? ac_sprintf(t->a, "%s + ", inner(t, c->ub_offset, 8)) : "";
    ac_line(t, "%s.SetValue(%sacElement, %s.GetValue(%s + acElement * %s));", c->ub->name, base, name,
            inner(t, c->gm_offset, 8), inner(t, c->gm_stride, 10));
    ac_close(t, "");
    return;
  }
  if (c->rows) {
    atomic(t, c, true);
    rows_copy(t, c, ub, gm, trail(t, s));
    atomic(t, c, false);
    return;
  }
  bool certain = c->cols->kind == AC_AE_INT && c->cols->i > 0;
  if (!certain) ac_open(t, "if (%s > 0)", inner(t, c->cols, 7));
  const char *from = c->to_ub ? gm : ub, *to = c->to_ub ? ub : gm;
  atomic(t, c, true);
  if (c->exact) {
    ac_line(t, "AscendC::DataCopy(%s, %s, static_cast<uint32_t>(%s));%s", to, from, cols, trail(t, s));
  } else {
    const char *params = ac_sprintf(t->a, "%sCopy", c->ub->name);
    if (certain) ac_open(t, "%s", "");
    ac_line(t, "AscendC::DataCopyExtParams %s{1, static_cast<uint32_t>(%s * sizeof(%s)), 0, 0, 0};", params,
            inner(t, c->cols, 9), ac_cpp_dtype(d));
    if (c->to_ub) {
      int per = 32 / ac_dtypes[d].bytes;
      if (c->pad)
        ac_line(t,
                "AscendC::DataCopyPadExtParams<%s> %sPad{true, 0, static_cast<uint8_t>((%d - %s %% %d) %% %d), %s};",
                ac_cpp_dtype(d), c->ub->name, per, inner(t, c->cols, 10), per, per, scalar(t, c->pad, d));
      else
        ac_line(t, "AscendC::DataCopyPadExtParams<%s> %sPad{false, 0, 0, %s};", ac_cpp_dtype(d), c->ub->name,
                zero(t->a, d));
      ac_line(t, "AscendC::DataCopyPad(%s, %s, %s, %sPad);%s", to, from, params, c->ub->name, trail(t, s));
    } else
      ac_line(t, "AscendC::DataCopyPad(%s, %s, %s);%s", to, from, params, trail(t, s));
    if (certain) ac_close(t, "");
  }
  atomic(t, c, false);
  if (!certain) ac_close(t, "");
}

static bool declared(const ac_cpp *t, const char *name) {
  for (size_t i = 0; i < t->declared.len; i++)
    if (!strcmp(t->declared.data[i], name)) return true;
  return false;
}
static void obtain(ac_cpp *t, const ac_astmt *s, const char *how) {
  const char *type = ac_cpp_dtype(dtype_of(t, s->tensor)), *left = s->tensor->name;
  if (!s->tensor->member && !declared(t, left)) {
    ac_push(t->a, &t->declared, left);
    left = ac_sprintf(t->a, "AscendC::LocalTensor<%s> %s", type, left);
  }
  const ac_abuffer *b = &t->k->buffers.data[s->tensor->buffer];
  if (b->home) b = &t->k->buffers.data[b->home - 1];
  ac_line(t, strchr(how, '<') ? "%s = %s.%s, %s>();" : "%s = %s.%s<%s>();", left, b->name, how, type);
}

/* The positions between which a tensor of TQueBind goes where the vector unit works on it. */
static const char *leg(const ac_cpp *t, const ac_astmt *s) {
  if (t->k->buffers.data[s->tensor->buffer].mem != AC_MEM_UPDATE) return "";
  return s->outward ? "<AscendC::TPosition::VECOUT, AscendC::TPosition::GM"
                    : "<AscendC::TPosition::GM, AscendC::TPosition::VECIN";
}
static void enque(ac_cpp *t, const ac_astmt *s) {
  const ac_abuffer *b = &t->k->buffers.data[s->tensor->buffer];
  const char *from = leg(t, s);
  if (*from) from = ac_sprintf(t->a, "%s, %s>", from, ac_cpp_dtype(b->dtype));
  ac_line(t, "%s.EnQue%s(%s);", b->name, from, s->tensor->name);
}

static void block(ac_cpp *t, const ac_ablock *b);

static void for_loop(ac_cpp *t, const ac_astmt *s) {
  const char *v = s->var.name, *lo = ac_cpp_expr(t, s->lo), *hi = inner(t, s->hi, 7), *step = ac_cpp_expr(t, s->step);
  if (s->step->kind == AC_AE_INT && s->step->i == 1)
    ac_open(t, "for (int64_t %s = %s; %s < %s; %s++)%s", v, lo, v, hi, v, "");
  else if (s->step->kind == AC_AE_INT && s->step->i < 0)
    ac_open(t, "for (int64_t %s = %s; %s > %s; %s -= %lld)", v, lo, v, hi, v, (long long)-s->step->i);
  else if (s->step->kind == AC_AE_INT)
    ac_open(t, "for (int64_t %s = %s; %s < %s; %s += %s)", v, lo, v, hi, v, step);
  else
    ac_open(t, "for (int64_t %s = %s; %s > 0 ? %s < %s : %s > %s; %s += %s)", v, lo, inner(t, s->step, 7), v, hi, v,
            hi, v, step);
  block(t, &s->body);
  ac_close(t, "");
}

static void if_else(ac_cpp *t, const ac_astmt *s) {
  ac_open(t, "if (%s)", ac_cpp_expr(t, s->cond));
  block(t, &s->body);
  while (s->orelse.len == 1 && s->orelse.data[0]->kind == AC_AS_IF) {
    s = s->orelse.data[0];
    t->indent--;
    ac_open(t, "} else if (%s)", ac_cpp_expr(t, s->cond));
    block(t, &s->body);
  }
  if (s->orelse.len) {
    t->indent--;
    ac_open(t, "} else");
    block(t, &s->orelse);
  }
  ac_close(t, "");
}

/* A flag whose halves stand apart, and the id that the kernel holds for it. */
static void held_flag(ac_cpp *t, const ac_astmt *s) {
  const ac_aheld *h = &t->k->held.data[s->held - 1];
  const char *e = ac_sprintf(t->a, "AscendC::HardEvent::%s", ac_event_names[h->event]);
  switch (s->kind) {
  case AC_AS_HOLD: ac_line(t, "%s = GetTPipePtr()->AllocEventID<%s>();", h->name, e); return;
  case AC_AS_SET: ac_line(t, "AscendC::SetFlag<%s>(%s);", e, h->name); return;
  case AC_AS_WAIT: ac_line(t, "AscendC::WaitFlag<%s>(%s);", e, h->name); return;
  default: ac_line(t, "GetTPipePtr()->ReleaseEventID<%s>(%s);", e, h->name); return;
  }
}

static void get_value(ac_cpp *t, const ac_astmt *s) {
  const char *from = s->n_ops
                         ? ac_sprintf(t->a, "%s.GetValue(%s)", tensor_at(t, s->ops[0].tensor, NULL, s->ops[0].view),
                                      s->ops[0].offset ? ac_cpp_expr(t, s->ops[0].offset) : "0")
                         : ac_sprintf(t->a, "%s.GetValue(%s)", t->k->gms.data[s->gm].name, ac_cpp_expr(t, s->value));
  ac_dtype d = s->n_ops ? ac_operand_dtype(t->k, &s->ops[0]) : t->k->gms.data[s->gm].dtype;
  if (d == AC_BF16) from = ac_sprintf(t->a, "AscendC::ToFloat(%s)", from);
  ac_line(t, "%s %s = static_cast<%s>(%s);%s", type_name(s->var.type), s->var.name, type_name(s->var.type), from,
          trail(t, s));
}

static void call(ac_cpp *t, const ac_astmt *s) {
  ac_buf b;
  ac_buf_init(&b, t->a);
  for (int i = 0; i < s->n_args; i++) ac_printf(&b, "%s%s", i ? ", " : "", ac_cpp_expr(t, s->args[i]));
  ac_line(t, "%s(%s);%s", t->k->methods.data[s->method].name, ac_buf_str(&b), trail(t, s));
}

static void statement(ac_cpp *t, const ac_astmt *s) {
  const char *queue = s->tensor ? t->k->buffers.data[s->tensor->buffer].name : "",
             *local = s->tensor ? s->tensor->name : "";
  switch (s->kind) {
  case AC_AS_COMMENT: ac_comment(t, s->text); return;
  case AC_AS_DECL:
    ac_line(t, "%s %s = %s;%s", type_name(s->var.type), s->var.name, ac_cpp_expr(t, s->value), trail(t, s));
    return;
  case AC_AS_ASSIGN: ac_line(t, "%s = %s;%s", s->var.name, ac_cpp_expr(t, s->value), trail(t, s)); return;
  case AC_AS_FOR: for_loop(t, s); return;
  case AC_AS_WHILE:
    ac_open(t, "while (%s)", ac_cpp_expr(t, s->cond));
    block(t, &s->body);
    ac_close(t, "");
    return;
  case AC_AS_IF: if_else(t, s); return;
  case AC_AS_BREAK: ac_line(t, "break;"); return;
  case AC_AS_RETURN: ac_line(t, "return;"); return;
  case AC_AS_CALL: call(t, s); return;
  case AC_AS_ALLOC: obtain(t, s, "AllocTensor"); return;
  case AC_AS_DEQUE: obtain(t, s, ac_sprintf(t->a, "DeQue%s", leg(t, s))); return;
  case AC_AS_GET: obtain(t, s, "Get"); return;
  case AC_AS_ENQUE: enque(t, s); return;
  case AC_AS_FREE: ac_line(t, "%s.FreeTensor(%s);", queue, local); return;
  case AC_AS_COPY: copy(t, s); return;
  case AC_AS_INST: instruction(t, s); return;
  case AC_AS_GETVALUE: get_value(t, s); return;
  case AC_AS_SETVALUE: {
    ac_dtype d = ac_operand_dtype(t->k, &s->ops[0]);
    ac_line(t, "%s.SetValue(%s, %s);", tensor_at(t, s->ops[0].tensor, NULL, s->ops[0].view),
            s->ops[0].offset ? ac_cpp_expr(t, s->ops[0].offset) : "0", scalar(t, s->value, d));
    return;
  }
  case AC_AS_FLAG: ac_line(t, "AcOrder<AscendC::HardEvent::%s>();", ac_event_names[s->event]); return;
  case AC_AS_HOLD:
  case AC_AS_SET:
  case AC_AS_WAIT:
  case AC_AS_RELEASE: held_flag(t, s); return;
  case AC_AS_BARRIER: ac_line(t, "AscendC::PipeBarrier<PIPE_ALL>();"); return;
  case AC_AS_STORE_BARRIER: ac_line(t, "AscendC::PipeBarrier<PIPE_MTE3>();"); return;
  case AC_AS_SYNC_ALL: ac_line(t, "AscendC::SyncAll();"); return;
  case AC_AS_CLEAN:
    ac_line(t,
            "AscendC::DataCacheCleanAndInvalid<%s, AscendC::CacheLine::ENTIRE_DATA_CACHE, "
            "AscendC::DcciDst::CACHELINE_OUT>(%s);",
            ac_cpp_dtype(t->k->gms.data[s->gm].dtype), t->k->gms.data[s->gm].name);
    return;
  default: return;
  }
}
static void block(ac_cpp *t, const ac_ablock *b) {
  size_t mark = t->declared.len;
  for (size_t i = 0; i < b->len; i++) {
    const ac_astmt *s = b->data[i];
    bool blank = s->kind == AC_AS_COMMENT && !*s->text;
    if (blank && (!i || i + 1 == b->len)) continue;
    statement(t, s);
  }
  t->declared.len = mark;
}

/* ---- helper functions: only those that the text at hand uses ---- */

static const struct {
  const char *name, *text;
} helpers[] = {
    {"AcBits(", "// A float by its bits: inf and NaN have no literal.\n"
                "__aicore__ inline float AcBits(uint32_t bits)\n{\n    union {\n        uint32_t u;\n        float "
                "f;\n    } v;\n    v.u = bits;\n    return v.f;\n}\n"},
    {"AcMin(", "__aicore__ inline int64_t AcMin(int64_t a, int64_t b)\n{\n    return a < b ? a : b;\n}\n"},
    {"AcMax(", "__aicore__ inline int64_t AcMax(int64_t a, int64_t b)\n{\n    return a > b ? a : b;\n}\n"},
    {"AcMinF(", "__aicore__ inline float AcMinF(float a, float b)\n{\n    return a < b ? a : b;\n}\n"},
    {"AcMaxF(", "__aicore__ inline float AcMaxF(float a, float b)\n{\n    return a > b ? a : b;\n}\n"},
    {"AcFloorDiv(", "// Division toward minus infinity.\n"
                    "__aicore__ inline int64_t AcFloorDiv(int64_t a, int64_t b)\n{\n    int64_t q = a / b;\n    "
                    "return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;\n}\n"},
    {"AcFloorMod(", "// Remainder with the divisor's sign.\n"
                    "__aicore__ inline int64_t AcFloorMod(int64_t a, int64_t b)\n{\n    int64_t r = a % b;\n    "
                    "return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n}\n"},
    {"AcCeilDiv(", "__aicore__ inline int64_t AcCeilDiv(int64_t a, int64_t b)\n{\n    return a <= 0 ? -(-a / b) : (a "
                   "- 1) / b + 1;\n}\n"},
    {"AcAlignUp(", "__aicore__ inline int64_t AcAlignUp(int64_t a, int64_t to)\n{\n    return (a > 0 ? (a + to - 1) "
                   "/ to : -(-a / to)) * to;\n}\n"},
    {"AcAlignDown(", "__aicore__ inline int64_t AcAlignDown(int64_t a, int64_t to)\n{\n    return (a >= 0 ? a / to : "
                     "-((to - 1 - a) / to)) * to;\n}\n"},
    {"AcBytes(", "// Bytes of a buffer: whole blocks, at least one.\n"
                 "__aicore__ inline uint32_t AcBytes(int64_t elements, int64_t size, int64_t to)\n{\n    int64_t n = "
                 "(elements * size + to - 1) / to * to;\n"
                 "    return static_cast<uint32_t>(n < to ? to : n);\n}\n"},
    {"AcOrder<", "// Makes one unit wait for another: what queues do not order.\n"
                 "template <AscendC::HardEvent Event> __aicore__ inline void AcOrder()\n{\n"
                 "    event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(Event));\n    "
                 "AscendC::SetFlag<Event>(id);\n    AscendC::WaitFlag<Event>(id);\n}\n"},
    {"AcPick(",
     "// The elements among the first n of `src` that the pattern or the mask picks, one behind another; how many.\n"
     "template <typename T, typename P>\n"
     "__aicore__ inline int64_t AcPick(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, "
     "const P &by, int64_t n)\n{\n"
     "    uint64_t kept = 0;\n"
     "    if (n > 0) {\n"
     "        AscendC::GatherMask(dst, src, by, true, static_cast<uint32_t>(n), {1, 1, 8, 8}, kept);\n    }\n"
     "    return static_cast<int64_t>(kept);\n}\n"},
    {"AcTurn(",
     "// Transposes up to 16 rows of one block of 32 bytes each, `cols` of their columns; rows of `src` are `from` "
     "blocks "
     "apart, those of `dst` `to`.\n"
     "// The next repeat takes the 16 rows below, or the next block of columns. Columns beyond `cols` go to "
     "`spare`.\n"
     "template <typename T>\n"
     "__aicore__ inline void AcTurn(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const "
     "AscendC::LocalTensor<T> &spare,\n"
     "                              int64_t rows, int64_t cols, uint8_t repeat, int64_t to, int64_t from, bool "
     "across)\n{\n"
     "    constexpr int64_t block = 32 / sizeof(T);\n    uint64_t dstList[16];\n    uint64_t srcList[16];\n"
     "    for (int64_t i = 0; i < 16; i++) {\n"
     "        const int64_t row = sizeof(T) == 4 && rows <= block ? i % block : i; // 4 bytes: half a row fills a "
     "block\n"
     "        const int64_t half = sizeof(T) == 4 && rows > block ? i % 2 * block : 0;\n"
     "        const int64_t col = sizeof(T) == 4 ? i / 2 : i;\n"
     "        srcList[i] = (uint64_t)src[(row < rows ? row : rows - 1) * from * block].GetPhyAddr();\n"
     "        dstList[i] = (uint64_t)(col < cols ? dst[col * to * block + half] : spare[half]).GetPhyAddr();\n    }\n"
     "    AscendC::TransDataTo5HDParams step(false, false, repeat, 0, 0);\n"
     "    if (repeat > 1) {\n"
     "        step.dstRepStride = static_cast<uint16_t>(across ? to * block : 16 / block);\n"
     "        step.srcRepStride = static_cast<uint16_t>(across ? 1 : 16 * from);\n    }\n"
     "    AscendC::TransDataTo5HD<T>(dstList, srcList, step);\n}\n"},
    {"AcMerge(",
     "// Merges up to four sorted lists of `run` records of 8 bytes, `n` records in all; more than one list.\n"
     "__aicore__ inline void AcMerge(const AscendC::LocalTensor<float> &dst, const AscendC::LocalTensor<float> &src, "
     "int64_t run, int64_t n)\n{\n"
     "    uint16_t length[4] = {0, 0, 0, 0};\n    uint16_t valid = 0;\n"
     "    for (int64_t i = 0; i < 4 && i * run < n; i++) {\n"
     "        length[i] = static_cast<uint16_t>(n - i * run < run ? n - i * run : run);\n"
     "        valid = static_cast<uint16_t>(valid * 2 + 1);\n    }\n"
     "    AscendC::MrgSortSrcList<float> lists(src, valid > 1 ? src[run * 2] : src, valid > 3 ? src[run * 4] : src, "
     "valid > 7 ? "
     "src[run * 6] : src);\n"
     "    AscendC::MrgSort(dst, lists, AscendC::MrgSort4Info(length, false, valid, 1));\n}\n"},
    {"AcLoadRows(", "// Rows that are `stride` elements apart in global memory to rows that are `pitch` apart in UB. "
                    "One DataCopyPad moves up to 4095 rows\n"
                    "// whose gap fits 32 bits; other strides go row by row.\n"
                    "template <typename T>\n"
                    "__aicore__ inline void AcLoadRows(const AscendC::LocalTensor<T> &to, const "
                    "AscendC::GlobalTensor<T> &from, int64_t rows, int64_t cols,\n"
                    "                                  int64_t stride, int64_t pitch)\n{\n"
                    "    if (rows <= 0 || cols <= 0) {\n        return;\n    }\n"
                    "    if (stride == cols && pitch == cols) {\n        cols *= rows;\n        stride = pitch = "
                    "cols;\n        rows = 1; // without gaps: one block\n    }\n"
                    "    const int64_t size = sizeof(T);\n    const int64_t gap = (stride - cols) * size;\n"
                    "    const int64_t skip = (pitch * size - (cols * size + 31) / 32 * 32) / 32;\n"
                    "    const int64_t most = gap >= 0 && gap <= 4294967295LL ? 4095 : 1;\n"
                    "    AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};\n"
                    "    for (int64_t row = 0; row < rows; row += most) {\n"
                    "        const int64_t n = rows - row < most ? rows - row : most;\n"
                    "        AscendC::DataCopyExtParams copy{static_cast<uint16_t>(n), static_cast<uint32_t>(cols * "
                    "size), static_cast<uint32_t>(most == 1 ? 0 : gap),\n"
                    "                                        static_cast<uint32_t>(most == 1 ? 0 : skip), 0};\n"
                    "        AscendC::DataCopyPad(to[row * pitch], from[row * stride], copy, pad);\n    }\n}\n"},
    {"AcPadRows(", "// As AcLoadRows; what lies behind a row in its last block of 32 bytes becomes `value`.\n"
                   "template <typename T>\n"
                   "__aicore__ inline void AcPadRows(const AscendC::LocalTensor<T> &to, const "
                   "AscendC::GlobalTensor<T> &from, int64_t rows, int64_t cols,\n"
                   "                                  int64_t stride, int64_t pitch, T value)\n{\n"
                   "    if (rows <= 0 || cols <= 0) {\n        return;\n    }\n"
                   "    if (stride == cols && pitch == cols) {\n        cols *= rows;\n        stride = pitch = "
                   "cols;\n        rows = 1; // without gaps: one block\n    }\n"
                   "    const int64_t size = sizeof(T);\n    const int64_t gap = (stride - cols) * size;\n"
                   "    const int64_t skip = (pitch * size - (cols * size + 31) / 32 * 32) / 32;\n"
                   "    const int64_t most = gap >= 0 && gap <= 4294967295LL ? 4095 : 1;\n"
                   "    const uint8_t right = static_cast<uint8_t>((32 - cols * size % 32) % 32 / size);\n"
                   "    AscendC::DataCopyPadExtParams<T> pad{true, 0, right, value};\n"
                   "    for (int64_t row = 0; row < rows; row += most) {\n"
                   "        const int64_t n = rows - row < most ? rows - row : most;\n"
                   "        AscendC::DataCopyExtParams copy{static_cast<uint16_t>(n), static_cast<uint32_t>(cols * "
                   "size), static_cast<uint32_t>(most == 1 ? 0 : gap),\n"
                   "                                        static_cast<uint32_t>(most == 1 ? 0 : skip), 0};\n"
                   "        AscendC::DataCopyPad(to[row * pitch], from[row * stride], copy, pad);\n    }\n}\n"},
    {"AcStoreRows(", "// The other way round.\n"
                     "template <typename T>\n"
                     "__aicore__ inline void AcStoreRows(const AscendC::GlobalTensor<T> &to, const "
                     "AscendC::LocalTensor<T> &from, int64_t rows, int64_t cols,\n"
                     "                                   int64_t stride, int64_t pitch)\n{\n"
                     "    if (rows <= 0 || cols <= 0) {\n        return;\n    }\n"
                     "    if (stride == cols && pitch == cols) {\n        cols *= rows;\n        stride = pitch = "
                     "cols;\n        rows = 1; // without gaps: one block\n    }\n"
                     "    const int64_t size = sizeof(T);\n    const int64_t gap = (stride - cols) * size;\n"
                     "    const int64_t skip = (pitch * size - (cols * size + 31) / 32 * 32) / 32;\n"
                     "    const int64_t most = gap >= 0 && gap <= 4294967295LL ? 4095 : 1;\n"
                     "    for (int64_t row = 0; row < rows; row += most) {\n"
                     "        const int64_t n = rows - row < most ? rows - row : most;\n"
                     "        AscendC::DataCopyExtParams copy{static_cast<uint16_t>(n), static_cast<uint32_t>(cols * "
                     "size), static_cast<uint32_t>(most == 1 ? 0 : skip),\n"
                     "                                        static_cast<uint32_t>(most == 1 ? 0 : gap), 0};\n"
                     "        AscendC::DataCopyPad(to[row * stride], from[row * pitch], copy);\n    }\n}\n"},
};

/* ---- classes ---- */

static const char *const positions[] = {
    [AC_MEM_VECIN] = "TQue<AscendC::TPosition::VECIN",
    [AC_MEM_VECOUT] = "TQue<AscendC::TPosition::VECOUT",
    [AC_MEM_BIND] = "TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT",
    [AC_MEM_VECCALC] = "TBuf<AscendC::TPosition::VECCALC",
    [AC_MEM_UPDATE] = "TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT"};

/* A remark on the buffers that take the bytes of buffer i in turn. */
static const char *tenants(ac_cpp *t, const ac_akernel *k, int i) {
  if (ac_unused(k, i)) return " // a gap: what is read side by side lies in different bank groups";
  ac_buf b;
  ac_buf_init(&b, t->a);
  for (size_t j = 0; j < k->buffers.len; j++)
    if (k->buffers.data[j].home == i + 1) ac_printf(&b, ", %s", k->buffers.data[j].buffer);
  const char *others = ac_buf_str(&b);
  return *others ? ac_sprintf(t->a, " // %s%s in turn", k->buffers.data[i].buffer, others) : "";
}

static void init(ac_cpp *t, const ac_akernel *k) {
  ac_buf args;
  ac_buf_init(&args, t->a);
  for (int i = 0; i < k->n_tensors; i++) ac_printf(&args, "GM_ADDR %s, ", k->tensors[i]);
  ac_line(t, "template <typename Tiling>");
  ac_line(t, "__aicore__ inline void Init(%sconst Tiling &tilingData, AscendC::TPipe *pipe)", ac_buf_str(&args));
  ac_open(t, "%s", "");
  for (size_t i = 0; i < k->fields.len; i++) {
    const ac_akfield *f = &k->fields.data[i];
    const char *from = t->p->fields.data[f->field].name;
    ac_line(t, f->type == AC_AT_BOOL ? "%s = tilingData.%s != 0;" : "%s = tilingData.%s;", f->name, from);
  }
  for (size_t i = 0; i < k->gms.len; i++)
    ac_line(t, "%s.SetGlobalBuffer((__gm__ %s *)%s);", k->gms.data[i].name, ac_cpp_dtype(k->gms.data[i].dtype),
            k->tensors[k->gms.data[i].param]);
  for (size_t i = 0; i < 2 * k->buffers.len; i++) {
    const ac_abuffer *b = &k->buffers.data[i < k->buffers.len ? i : i - k->buffers.len];
    if (b->home || b->first != (i < k->buffers.len)) continue;
    const char *bytes =
        ac_sprintf(t->a, "AcBytes(%s, %d, %d)", ac_cpp_expr(t, b->elements), ac_dtypes[b->dtype].bytes, b->round_to);
    if (b->mem == AC_MEM_VECCALC)
      ac_line(t, "pipe->InitBuffer(%s, %s);%s", b->name, bytes, tenants(t, k, (int)(b - k->buffers.data)));
    else if (ac_two_slots(b))
      ac_line(t, "pipe->InitBuffer(%s, static_cast<uint8_t>(tilingData.%s%s), %s);", b->name,
              t->p->fields.data[k->buffer_num].name,
              ac_fixed_slots(b) ? ac_sprintf(t->a, " + %d", ac_fixed_slots(b)) : "", bytes);
    else
      ac_line(t, "pipe->InitBuffer(%s, %d, %s);", b->name, b->depth, bytes);
  }
  ac_close(t, "");
}

static void method(ac_cpp *t, const ac_amethod *m) {
  ac_buf args;
  ac_buf_init(&args, t->a);
  for (size_t i = 0; i < m->params.len; i++)
    ac_printf(&args, "%s%s %s", i ? ", " : "", type_name(m->params.data[i].type), m->params.data[i].name);
  ac_line(t, "__aicore__ inline void %s(%s)", m->name, ac_buf_str(&args));
  ac_open(t, "%s", "");
  t->declared.len = 0;
  block(t, &m->body);
  ac_close(t, "");
}

static void members(ac_cpp *t, const ac_akernel *k) {
  for (size_t i = 0; i < k->buffers.len; i++) {
    const ac_abuffer *b = &k->buffers.data[i];
    if (b->home) continue;
    const char *depth = b->mem == AC_MEM_VECCALC ? "" : ac_sprintf(t->a, ", %d", ac_queue_depth(b));
    ac_line(t, "AscendC::%s%s> %s;", positions[b->mem], depth, b->name);
  }
  for (size_t i = 0; i < k->gms.len; i++)
    ac_line(t, "AscendC::GlobalTensor<%s> %s;", ac_cpp_dtype(k->gms.data[i].dtype), k->gms.data[i].name);
  for (size_t i = 0; i < k->handles.len; i++)
    if (k->handles.data[i]->member)
      ac_line(t, "AscendC::LocalTensor<%s> %s;", ac_cpp_dtype(k->buffers.data[k->handles.data[i]->buffer].dtype),
              k->handles.data[i]->name);
  for (size_t i = 0; i < k->held.len; i++)
    ac_line(t, "AscendC::TEventID %s; // %s of %s", k->held.data[i].name, ac_event_names[k->held.data[i].event],
            k->held.data[i].buffer);
  for (size_t i = 0; i < k->fields.len; i++)
    ac_line(t, "%s %s;", type_name(k->fields.data[i].type), k->fields.data[i].name);
  for (size_t i = 0; i < k->members.len; i++)
    ac_line(t, "%s %s;", type_name(k->members.data[i].type), k->members.data[i].name);
}

static void doc(ac_cpp *t, const char *text) {
  for (const char *p = text; p && *p;) {
    size_t n = strcspn(p, "\n");
    const char *l = ac_strndup(t->a, p, n);
    while (*l == ' ') l++;
    if (*l) ac_comment(t, l);
    p += n + (p[n] == '\n');
  }
}

static void class_of(ac_cpp *t, const ac_akernel *k) {
  t->k = k;
  for (size_t i = 0; i < k->comments.len; i++)
    if (*k->comments.data[i]) ac_comment(t, k->comments.data[i]);
  doc(t, k->doc);
  ac_open(t, "class %s", k->cls);
  t->indent--;
  ac_line(t, "public:");
  t->indent++;
  ac_line(t, "__aicore__ inline %s() {}", k->cls);
  ac_line(t, "%s", "");
  init(t, k);
  ac_line(t, "%s", "");
  method(t, &k->methods.data[0]);
  ac_line(t, "%s", "");
  t->indent--;
  ac_line(t, "private:");
  t->indent++;
  for (size_t i = 1; i < k->methods.len; i++) {
    method(t, &k->methods.data[i]);
    ac_line(t, "%s", "");
  }
  members(t, k);
  ac_close(t, ";");
}

/* Those helpers whose name stands in the text, then the text. */
static char *with_helpers(ac_arena *a, const char *text) {
  ac_buf b;
  ac_buf_init(&b, a);
  bool used[AC_COUNT(helpers)] = {0};
  for (const char *p = strstr(text, "Ac"); p; p = strstr(p + 2, "Ac"))
    for (size_t i = 0; i < AC_COUNT(helpers); i++) used[i] |= !strncmp(p, helpers[i].name, strlen(helpers[i].name));
  for (size_t i = 0; i < AC_COUNT(helpers); i++) {
    if (!used[i]) continue;
    ac_puts(&b, helpers[i].text);
    ac_putn(&b, "\n", 1);
  }
  ac_puts(&b, text);
  return (char *)ac_buf_str(&b);
}

void ac_cpp_kernels(ac_emit_ctx *c, ac_cpp *t) {
  if (!c->kernels) {
    ac_cpp body;
    ac_cpp_init(&body, c->a, c->p);
    for (size_t i = 0; i < c->p->kernels.len; i++) {
      if (i) ac_line(&body, "%s", "");
      class_of(&body, c->p->kernels.data[i]);
    }
    c->kernels = with_helpers(c->a, ac_buf_str(&body.b));
  }
  ac_puts(&t->b, c->kernels);
}

void ac_cpp_head(ac_emit_ctx *c, ac_cpp *t, const char *what) {
  ac_comment(t, what);
  ac_comment(t, ac_sprintf(c->a, "Made by ascendcraft %s from %s for %s; see README.md. Yours to use in any way.",
                           AC_VERSION, c->o->source_name ? c->o->source_name : ac_sprintf(c->a, "%s.craft", c->p->op),
                           c->p->chip->soc));
}

/* A second launch of a kernel on one path has fields of its own: it is handed those under the names that Init knows. */
static const char *renamed_fields(ac_cpp *t, const ac_alaunch *l, const char *data) {
  const ac_akernel *k = t->p->kernels.data[l->kernel];
  ac_buf types, values;
  ac_buf_init(&types, t->a);
  ac_buf_init(&values, t->a);
  bool other = l->buffer_num != k->buffer_num;
  for (size_t i = 0; i < k->fields.len; i++) {
    int own = k->fields.data[i].field;
    other |= l->fields[i] != own;
    ac_printf(&types, "%s %s; ", t->p->fields.data[own].type == AC_AT_FLOAT ? "float" : "int64_t",
              t->p->fields.data[own].name);
    ac_printf(&values, "%s.%s, ", data, t->p->fields.data[l->fields[i]].name);
  }
  if (!other) return data;
  ac_line(t, "const struct { %sint64_t %s; } fields = {%s%s.%s};", ac_buf_str(&types),
          t->p->fields.data[k->buffer_num].name, ac_buf_str(&values), data, t->p->fields.data[l->buffer_num].name);
  return "fields";
}

void ac_cpp_run(ac_cpp *t, const ac_alaunch *l, const char *data, const char *user, const char *(*gm)(void *, int),
                void *who) {
  const ac_akernel *k = t->p->kernels.data[l->kernel];
  ac_buf args;
  ac_buf_init(&args, t->a);
  for (int i = 0; i < k->n_tensors; i++) {
    int n = l->tensors[i];
    if (n >= 0)
      ac_printf(&args, "%s, ", gm(who, n));
    else
      ac_printf(&args, "%s + %s.%s, ", user, data, t->p->fields.data[t->p->workspaces.data[-1 - n].field].name);
  }
  const char *fields = renamed_fields(t, l, data);
  ac_line(t, "%s op;", k->cls);
  ac_line(t, "op.Init(%s%s, &pipe);", ac_buf_str(&args), fields);
  ac_line(t, "op.Process();");
}

void ac_cpp_run_path(ac_cpp *t, const ac_apath *x, const char *data, const char *user, const char *(*gm)(void *, int),
                     void *who) {
  if (!t->p->phased) {
    ac_cpp_run(t, x->phases.data[0], data, user, gm, who);
    return;
  }
  for (size_t i = 0; i < x->phases.len; i++) {
    const ac_alaunch *l = x->phases.data[i];
    if (i) {
      ac_comment(t, "The next launch sees what this one stored.");
      ac_line(t, "pipe.Reset();");
      ac_line(t, "AscendC::SyncAll();");
    }
    ac_open(t, "if (static_cast<int64_t>(AscendC::GetBlockIdx()) < %s.%s)", data,
            t->p->fields.data[l->blocks_field].name);
    ac_cpp_run(t, l, data, user, gm, who);
    ac_close(t, "");
  }
}

bool ac_cpp_syncs(const ac_program *p) {
  for (size_t i = 0; i < p->kernels.len; i++)
    if (p->kernels.data[i]->sync_all) return true;
  for (size_t i = 0; i < p->paths.len; i++)
    if (p->paths.data[i]->phases.len > 1) return true;
  return false;
}
