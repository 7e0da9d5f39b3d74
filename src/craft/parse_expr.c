/* The parser's expressions, and what it says when they are wrong. */
#include "craft/parser.h"

#include <math.h>

static const char *token_text(parser *p) {
  switch (p->t->kind) {
  case AC_TK_NAME:
    return ac_sprintf(p->a, "%s '%s'", ac_craft_is_keyword(p->t->s) ? "the keyword" : "the name", p->t->s);
  case AC_TK_INT:
  case AC_TK_FLOAT: return "a number";
  case AC_TK_STR: return "a string";
  case AC_TK_OP: return ac_sprintf(p->a, "'%s'", p->t->s);
  case AC_TK_NEWLINE: return "the end of the line";
  case AC_TK_INDENT: return "an indented block";
  case AC_TK_DEDENT: return "the end of the block";
  default: return "the end of the file";
  }
}

/* The lexer found fault with this line: what the parser thinks of it is no news. */
static bool line_is_bad(const parser *p) {
  for (const ac_ctoken *t = p->t; t->kind != AC_TK_NEWLINE && t->kind != AC_TK_END; t++)
    if (t->kind == AC_TK_BAD) return true;
  return false;
}

AC_NORETURN void ac_pa_expected(parser *p, const char *what) {
  if (!line_is_bad(p)) ac_error(p->d, AC0407, p->t->loc, "expected %s, found %s", what, token_text(p));
  give_up(p);
}

AC_NORETURN void ac_pa_refuse(parser *p, ac_code code, ac_loc loc, const char *what, const char *help) {
  ac_diag *x = ac_error(p->d, code, loc, "%s", what);
  if (help) ac_help(p->d, x, "%s", help);
  give_up(p);
}

void ac_pa_need_op(parser *p, const char *s) {
  if (!accept_op(p, s)) ac_pa_expected(p, ac_sprintf(p->a, "'%s'", s));
}

const char *ac_pa_need_name(parser *p, const char *what) {
  if (p->t->kind != AC_TK_NAME || ac_craft_is_keyword(p->t->s)) ac_pa_expected(p, what);
  const char *s = p->t->s;
  advance(p);
  return s;
}

/* ---- expressions ---- */

ac_cexpr *ac_pa_node(parser *p, ac_cekind kind, ac_loc loc) {
  ac_cexpr *e = AC_NEW(p->a, ac_cexpr);
  e->kind = kind;
  e->loc = p->bare ? AC_NOLOC : loc;
  e->prim = AC_P_NONE;
  e->inst = AC_INST_COUNT;
  e->dtype = AC_NODTYPE;
  return e;
}

/* From the start of one to the end of the other, as far as they share a line. */
ac_loc ac_pa_span(ac_loc from, ac_loc to) {
  if (from.line == to.line && to.end_col > from.col) from.end_col = to.end_col;
  return from;
}

static void deeper(parser *p) {
  if (++p->depth > AC_CRAFT_MAX_BRACKETS)
    ac_pa_refuse(p, AC0410, p->t->loc, "this expression is nested too deeply", "give its parts names");
}

void ac_pa_push_arg(parser *p, ac_cexpr *e, const char *kw, ac_cexpr *value) {
  /* n_args doubles as length; capacity is the next power of two, so growth copies rarely */
  if ((e->n_args & (e->n_args - 1)) == 0) {
    int cap = e->n_args ? e->n_args * 2 : 1;
    ac_cexpr **args = AC_NEW_N(p->a, ac_cexpr *, cap);
    const char **kws = AC_NEW_N(p->a, const char *, cap);
    for (int i = 0; i < e->n_args; i++) {
      args[i] = e->args[i];
      kws[i] = e->kw[i];
    }
    e->args = args;
    e->kw = kws;
  }
  e->args[e->n_args] = value;
  e->kw[e->n_args++] = kw;
}

/* "(a, b)", "[a, b]" and "(a)"; at the opening bracket. */
static ac_cexpr *display(parser *p, const char *close) {
  ac_loc loc = p->t->loc;
  bool list = is_op(p, "[");
  advance(p);
  ac_cexpr *tuple = ac_pa_node(p, AC_CE_TUPLE, loc), *first = NULL;
  bool comma = list;
  while (!is_op(p, close)) {
    ac_cexpr *e = ac_pa_test(p);
    if (!first) first = e;
    ac_pa_push_arg(p, tuple, NULL, e);
    if (!accept_op(p, ",")) break;
    comma = true;
  }
  if (is_word(p, "for")) ac_pa_refuse(p, AC0408, p->t->loc, "there are no comprehensions", "write a for loop");
  tuple->loc = p->bare ? AC_NOLOC : ac_pa_span(loc, p->t->loc);
  ac_pa_need_op(p, close);
  if (comma || !first) return tuple;
  if (first->loc.line) first->loc = tuple->loc;
  return first;
}

static ac_cexpr *constant(parser *p, ac_cekind kind, int64_t i) {
  ac_cexpr *e = ac_pa_node(p, kind, p->t->loc);
  e->i = i;
  advance(p);
  return e;
}

ac_cexpr *ac_pa_atom(parser *p) {
  ac_ctoken *t = p->t;
  ac_cexpr *e;
  switch (t->kind) {
  case AC_TK_INT:
    if (t->big) ac_pa_refuse(p, AC0404, t->loc, "integers are 64 bit: this one does not fit", NULL);
    return constant(p, AC_CE_INT, t->i);
  case AC_TK_FLOAT:
    e = constant(p, AC_CE_FLOAT, 0);
    e->f = t->f;
    return e;
  case AC_TK_STR: {
    e = constant(p, AC_CE_STR, 0);
    e->s = t->s;
    while (p->t->kind == AC_TK_STR) { /* neighbours join */
      e->s = ac_sprintf(p->a, "%s%s", e->s, p->t->s);
      advance(p);
    }
    return e;
  }
  case AC_TK_OP:
    if (is_op(p, "(")) return display(p, ")");
    if (is_op(p, "[")) return display(p, "]");
    if (is_op(p, "{")) ac_pa_refuse(p, AC0408, t->loc, "there are no dictionaries and sets", NULL);
    if (is_op(p, "*") || is_op(p, "**"))
      ac_pa_refuse(p, AC0408, t->loc, "arguments cannot be unpacked with '*'", "write them one by one");
    ac_pa_expected(p, "an expression");
  case AC_TK_NAME:
    if (is_word(p, "True")) return constant(p, AC_CE_BOOL, 1);
    if (is_word(p, "False")) return constant(p, AC_CE_BOOL, 0);
    if (is_word(p, "None")) return constant(p, AC_CE_NONE, 0);
    if (is_word(p, "lambda")) ac_pa_refuse(p, AC0408, t->loc, "there are no lambda functions", NULL);
    if (ac_craft_is_keyword(t->s)) ac_pa_expected(p, "an expression");
    e = constant(p, AC_CE_NAME, 0);
    e->s = t->s;
    return e;
  default: ac_pa_expected(p, "an expression");
  }
}

static void arguments(parser *p, ac_cexpr *call) {
  bool named = false;
  while (!is_op(p, ")")) {
    const char *kw = NULL;
    ac_loc at = p->t->loc;
    if (p->t->kind == AC_TK_NAME && !ac_craft_is_keyword(p->t->s) && p->t[1].kind == AC_TK_OP &&
        !strcmp(p->t[1].s, "=")) {
      kw = p->t->s;
      advance(p);
      advance(p);
      for (int i = 0; i < call->n_args; i++)
        if (call->kw[i] && !strcmp(call->kw[i], kw))
          ac_pa_refuse(p, AC0407, at, ac_sprintf(p->a, "'%s=' is given twice", kw), NULL);
    } else if (named) {
      ac_pa_refuse(p, AC0407, at, "a positional argument behind a keyword argument",
                   "put positional arguments first");
    }
    named = named || kw;
    ac_pa_push_arg(p, call, kw, ac_pa_test(p));
    if (is_word(p, "for")) ac_pa_refuse(p, AC0408, p->t->loc, "there are no comprehensions", "write a for loop");
    if (!accept_op(p, ",")) break;
  }
}

static ac_cexpr *subscript(parser *p) {
  ac_loc loc = p->t->loc;
  ac_cexpr *lo = is_op(p, ":") ? NULL : ac_pa_test(p);
  if (!is_op(p, ":")) return lo;
  ac_cexpr *e = ac_pa_node(p, AC_CE_SLICE, lo && lo->loc.line ? lo->loc : loc);
  e->a = lo;
  advance(p);
  if (!is_op(p, ":") && !is_op(p, ",") && !is_op(p, "]")) e->b = ac_pa_test(p);
  if (accept_op(p, ":") && !is_op(p, ",") && !is_op(p, "]")) e->c = ac_pa_test(p);
  return e;
}

static ac_cexpr *index_of(parser *p, ac_cexpr *a) {
  ac_cexpr *e = ac_pa_node(p, AC_CE_INDEX, a->loc);
  e->a = a;
  do {
    if (is_op(p, "]") && e->n_args) break;
    ac_pa_push_arg(p, e, NULL, subscript(p));
  } while (accept_op(p, ","));
  return e;
}

/* float("inf"), float("-inf") and float("nan") are numbers. */
static ac_cexpr *fold_float(parser *p, ac_cexpr *call) {
  if (call->a->kind != AC_CE_NAME || strcmp(call->a->s, "float") != 0 || call->n_args != 1 || call->kw[0] ||
      call->args[0]->kind != AC_CE_STR)
    return call;
  const char *s = call->args[0]->s;
  ac_cexpr *e = ac_pa_node(p, AC_CE_FLOAT, call->loc);
  if (!strcmp(s, "inf"))
    e->f = INFINITY;
  else if (!strcmp(s, "-inf"))
    e->f = -INFINITY;
  else if (!strcmp(s, "nan"))
    e->f = NAN;
  else
    ac_pa_refuse(p, AC0404, call->args[0]->loc, "this is not a number", "float() takes \"inf\", \"-inf\" or \"nan\"");
  return e;
}

static ac_cexpr *postfix(parser *p) {
  ac_cexpr *e = ac_pa_atom(p);
  for (int links = 0;; links++) {
    if (links > AC_CRAFT_MAX_CHAIN)
      ac_pa_refuse(p, AC0410, p->t->loc, "this expression is too long", "give its parts names");
    ac_loc end;
    ac_cexpr *n;
    if (accept_op(p, ".")) {
      n = ac_pa_node(p, AC_CE_ATTR, e->loc);
      n->a = e;
      end = p->t->loc;
      n->s = ac_pa_need_name(p, "a name behind '.'");
    } else if (accept_op(p, "(")) {
      n = ac_pa_node(p, AC_CE_CALL, e->loc);
      n->a = e;
      arguments(p, n);
      end = p->t->loc;
      ac_pa_need_op(p, ")");
    } else if (accept_op(p, "[")) {
      n = index_of(p, e);
      end = p->t->loc;
      ac_pa_need_op(p, "]");
    } else {
      return e;
    }
    if (!p->bare) n->loc = ac_pa_span(n->loc, end);
    e = n->kind == AC_CE_CALL ? fold_float(p, n) : n;
  }
}

static ac_cexpr *binary(parser *p, ac_cop op, ac_cexpr *x, ac_cexpr *y) {
  ac_cexpr *e = ac_pa_node(p, AC_CE_BINARY, ac_pa_span(x->loc, y->loc));
  e->op = op;
  e->a = x;
  e->b = y;
  return e;
}

/* Of a number as it stands, behind brackets and a + as well: it is printed without them. */
static ac_cexpr *negate(parser *p, ac_cexpr *x, ac_loc loc) {
  if (x->kind == AC_CE_INT && x->i >= 0) {
    x->i = -x->i;
  } else if (x->kind == AC_CE_FLOAT && !signbit(x->f)) {
    x->f = -x->f;
  } else {
    ac_cexpr *e = ac_pa_node(p, AC_CE_UNARY, ac_pa_span(loc, x->loc));
    e->op = AC_OP_NEG;
    e->a = x;
    return e;
  }
  if (!p->bare) x->loc = ac_pa_span(loc, x->loc);
  return x;
}

static ac_cexpr *unary(parser *p) {
  ac_ctoken *t = p->t;
  deeper(p);
  ac_cexpr *e;
  if (is_op(p, "~"))
    ac_pa_refuse(p, AC0408, t->loc, "scalars have no bit operators", "on buffers: tl.vnot, tl.vand, tl.vor");
  if (accept_op(p, "+")) {
    e = unary(p);
  } else if (accept_op(p, "-")) {
    if (p->t->kind == AC_TK_INT && p->t->big) { /* -2**63 fits, 2**63 does not */
      e = constant(p, AC_CE_INT, INT64_MIN);
      if (!p->bare) e->loc = ac_pa_span(t->loc, e->loc);
    } else {
      e = negate(p, unary(p), t->loc);
    }
  } else {
    e = postfix(p);
    if (accept_op(p, "**")) e = binary(p, AC_OP_POW, e, unary(p));
  }
  p->depth--;
  return e;
}

enum { LEVEL_OR = 2, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_TERM };

static const struct {
  const char *text;
  ac_cop op;
  int level;
  bool word;
} binaries[] = {{"or", AC_OP_OR, LEVEL_OR, true},          {"and", AC_OP_AND, LEVEL_AND, true},
                {"==", AC_OP_EQ, LEVEL_COMPARE, false},    {"!=", AC_OP_NE, LEVEL_COMPARE, false},
                {"<", AC_OP_LT, LEVEL_COMPARE, false},     {"<=", AC_OP_LE, LEVEL_COMPARE, false},
                {">", AC_OP_GT, LEVEL_COMPARE, false},     {">=", AC_OP_GE, LEVEL_COMPARE, false},
                {"+", AC_OP_ADD, LEVEL_SUM, false},        {"-", AC_OP_SUB, LEVEL_SUM, false},
                {"*", AC_OP_MUL, LEVEL_TERM, false},       {"/", AC_OP_DIV, LEVEL_TERM, false},
                {"//", AC_OP_FLOORDIV, LEVEL_TERM, false}, {"%", AC_OP_MOD, LEVEL_TERM, false}};

static int binary_at(parser *p) {
  for (int i = 0; i < (int)AC_COUNT(binaries); i++)
    if (binaries[i].word ? is_word(p, binaries[i].text) : is_op(p, binaries[i].text)) return i;
  if (is_word(p, "in") || is_word(p, "is"))
    ac_pa_refuse(p, AC0408, p->t->loc, ac_sprintf(p->a, "there is no operator '%s'", p->t->s),
                 "compare with == or !=");
  if (is_op(p, "&") || is_op(p, "|") || is_op(p, "^") || is_op(p, "<<") || is_op(p, ">>") || is_op(p, "@"))
    ac_pa_refuse(
        p, AC0408, p->t->loc, ac_sprintf(p->a, "scalars have no operator '%s'", p->t->s),
        "conditions are joined with `and` and `or`; powers of two are multiplied and divided with `//` and `%`");
  return -1;
}

static ac_cexpr *operators(parser *p, int min) {
  ac_cexpr *e, *last = NULL; /* last: right side of a comparison, for chains */
  if (min <= LEVEL_NOT && is_word(p, "not")) {
    ac_loc loc = p->t->loc;
    advance(p);
    deeper(p);
    ac_cexpr *x = operators(p, LEVEL_NOT);
    p->depth--;
    e = ac_pa_node(p, AC_CE_UNARY, ac_pa_span(loc, x->loc));
    e->op = AC_OP_NOT;
    e->a = x;
  } else {
    e = unary(p);
  }
  for (int links = 0;; links++) {
    int i = binary_at(p);
    if (i < 0 || binaries[i].level < min) return e;
    if (links > AC_CRAFT_MAX_CHAIN)
      ac_pa_refuse(p, AC0410, p->t->loc, "this expression is too long", "give its parts names");
    advance(p);
    ac_cexpr *right = operators(p, binaries[i].level + 1);
    if (binaries[i].level == LEVEL_COMPARE) {
      e = last ? binary(p, AC_OP_AND, e, binary(p, binaries[i].op, last, right))
               : binary(p, binaries[i].op, e, right);
      last = right;
    } else {
      e = binary(p, binaries[i].op, e, right);
      last = NULL;
    }
  }
}

ac_cexpr *ac_pa_test(parser *p) {
  deeper(p);
  ac_cexpr *e = operators(p, LEVEL_OR);
  if (accept_word(p, "if")) {
    ac_cexpr *c = ac_pa_node(p, AC_CE_COND, e->loc);
    c->a = e;
    c->c = operators(p, LEVEL_OR);
    if (!accept_word(p, "else")) ac_pa_expected(p, "'else' of the conditional expression");
    c->b = ac_pa_test(p);
    if (!p->bare) c->loc = ac_pa_span(c->loc, c->b->loc);
    e = c;
  }
  if (is_op(p, ":=")) ac_pa_refuse(p, AC0408, p->t->loc, "there is no ':='", "assign in a statement of its own");
  p->depth--;
  return e;
}

/* test or a tuple without brackets */
ac_cexpr *ac_pa_tests(parser *p) {
  ac_cexpr *e = ac_pa_test(p);
  if (!is_op(p, ",")) return e;
  ac_cexpr *tuple = ac_pa_node(p, AC_CE_TUPLE, e->loc);
  ac_pa_push_arg(p, tuple, NULL, e);
  while (accept_op(p, ",")) {
    if (p->t->kind == AC_TK_NEWLINE || is_op(p, "=")) break;
    ac_pa_push_arg(p, tuple, NULL, ac_pa_test(p));
  }
  return tuple;
}
