/* The parser: recursive descent over tokens; a syntax error gives up its statement only, so that one run shows them all. */
#include "craft/internal.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

typedef struct {
  ac_arena *a;
  ac_diags *d;
  const char *file;
  ac_ctoken *t; /* current token; the last one is AC_TK_END and is never passed */
  jmp_buf give_up;
  int depth;  /* of expressions */
  int blocks; /* of statements */
  int loops;
  bool bare; /* no locations: text of our own */
} parser;

/* ---- tokens ---- */

static bool is_op(const parser *p, const char *s) {
  return p->t->kind == AC_TK_OP && !strcmp(p->t->s, s);
}
static bool is_word(const parser *p, const char *s) {
  return p->t->kind == AC_TK_NAME && !strcmp(p->t->s, s);
}
static void advance(parser *p) {
  if (p->t->kind != AC_TK_END) p->t++;
}

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

AC_NORETURN static void give_up(parser *p) {
  longjmp(p->give_up, 1);
}

/* The lexer found fault with this line: what the parser thinks of it is no news. */
static bool line_is_bad(const parser *p) {
  for (const ac_ctoken *t = p->t; t->kind != AC_TK_NEWLINE && t->kind != AC_TK_END; t++)
    if (t->kind == AC_TK_BAD) return true;
  return false;
}

AC_NORETURN static void expected(parser *p, const char *what) {
  if (!line_is_bad(p)) ac_error(p->d, AC0407, p->t->loc, "expected %s, found %s", what, token_text(p));
  give_up(p);
}

AC_NORETURN static void refuse(parser *p, ac_code code, ac_loc loc, const char *what, const char *help) {
  ac_diag *x = ac_error(p->d, code, loc, "%s", what);
  if (help) ac_help(p->d, x, "%s", help);
  give_up(p);
}

static bool accept_op(parser *p, const char *s) {
  if (!is_op(p, s)) return false;
  advance(p);
  return true;
}

static bool accept_word(parser *p, const char *s) {
  if (!is_word(p, s)) return false;
  advance(p);
  return true;
}

static void need_op(parser *p, const char *s) {
  if (!accept_op(p, s)) expected(p, ac_sprintf(p->a, "'%s'", s));
}

static const char *need_name(parser *p, const char *what) {
  if (p->t->kind != AC_TK_NAME || ac_craft_is_keyword(p->t->s)) expected(p, what);
  const char *s = p->t->s;
  advance(p);
  return s;
}

/* ---- expressions ---- */

static ac_cexpr *test(parser *p);

static ac_cexpr *node(parser *p, ac_cekind kind, ac_loc loc) {
  ac_cexpr *e = AC_NEW(p->a, ac_cexpr);
  e->kind = kind;
  e->loc = p->bare ? AC_NOLOC : loc;
  e->prim = AC_P_NONE;
  e->inst = AC_INST_COUNT;
  e->dtype = AC_NODTYPE;
  return e;
}

/* From the start of one to the end of the other, as far as they share a line. */
static ac_loc span(ac_loc from, ac_loc to) {
  if (from.line == to.line && to.end_col > from.col) from.end_col = to.end_col;
  return from;
}

static void deeper(parser *p) {
  if (++p->depth > AC_CRAFT_MAX_BRACKETS)
    refuse(p, AC0410, p->t->loc, "this expression is nested too deeply", "give its parts names");
}

static void push_arg(parser *p, ac_cexpr *e, const char *kw, ac_cexpr *value) {
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
  ac_cexpr *tuple = node(p, AC_CE_TUPLE, loc), *first = NULL;
  bool comma = list;
  while (!is_op(p, close)) {
    ac_cexpr *e = test(p);
    if (!first) first = e;
    push_arg(p, tuple, NULL, e);
    if (!accept_op(p, ",")) break;
    comma = true;
  }
  if (is_word(p, "for")) refuse(p, AC0408, p->t->loc, "there are no comprehensions", "write a for loop");
  tuple->loc = p->bare ? AC_NOLOC : span(loc, p->t->loc);
  need_op(p, close);
  if (comma || !first) return tuple;
  if (first->loc.line) first->loc = tuple->loc;
  return first;
}

static ac_cexpr *constant(parser *p, ac_cekind kind, int64_t i) {
  ac_cexpr *e = node(p, kind, p->t->loc);
  e->i = i;
  advance(p);
  return e;
}

static ac_cexpr *atom(parser *p) {
  ac_ctoken *t = p->t;
  ac_cexpr *e;
  switch (t->kind) {
  case AC_TK_INT:
    if (t->big) refuse(p, AC0404, t->loc, "integers are 64 bit: this one does not fit", NULL);
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
    if (is_op(p, "{")) refuse(p, AC0408, t->loc, "there are no dictionaries and sets", NULL);
    if (is_op(p, "*") || is_op(p, "**"))
      refuse(p, AC0408, t->loc, "arguments cannot be unpacked with '*'", "write them one by one");
    expected(p, "an expression");
  case AC_TK_NAME:
    if (is_word(p, "True")) return constant(p, AC_CE_BOOL, 1);
    if (is_word(p, "False")) return constant(p, AC_CE_BOOL, 0);
    if (is_word(p, "None")) return constant(p, AC_CE_NONE, 0);
    if (is_word(p, "lambda")) refuse(p, AC0408, t->loc, "there are no lambda functions", NULL);
    if (ac_craft_is_keyword(t->s)) expected(p, "an expression");
    e = constant(p, AC_CE_NAME, 0);
    e->s = t->s;
    return e;
  default: expected(p, "an expression");
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
          refuse(p, AC0407, at, ac_sprintf(p->a, "'%s=' is given twice", kw), NULL);
    } else if (named) {
      refuse(p, AC0407, at, "a positional argument behind a keyword argument", "put positional arguments first");
    }
    named = named || kw;
    push_arg(p, call, kw, test(p));
    if (is_word(p, "for")) refuse(p, AC0408, p->t->loc, "there are no comprehensions", "write a for loop");
    if (!accept_op(p, ",")) break;
  }
}

static ac_cexpr *subscript(parser *p) {
  ac_loc loc = p->t->loc;
  ac_cexpr *lo = is_op(p, ":") ? NULL : test(p);
  if (!is_op(p, ":")) return lo;
  ac_cexpr *e = node(p, AC_CE_SLICE, lo && lo->loc.line ? lo->loc : loc);
  e->a = lo;
  advance(p);
  if (!is_op(p, ":") && !is_op(p, ",") && !is_op(p, "]")) e->b = test(p);
  if (accept_op(p, ":") && !is_op(p, ",") && !is_op(p, "]")) e->c = test(p);
  return e;
}

static ac_cexpr *index_of(parser *p, ac_cexpr *a) {
  ac_cexpr *e = node(p, AC_CE_INDEX, a->loc);
  e->a = a;
  do {
    if (is_op(p, "]") && e->n_args) break;
    push_arg(p, e, NULL, subscript(p));
  } while (accept_op(p, ","));
  return e;
}

/* float("inf"), float("-inf") and float("nan") are numbers. */
static ac_cexpr *fold_float(parser *p, ac_cexpr *call) {
  if (call->a->kind != AC_CE_NAME || strcmp(call->a->s, "float") != 0 || call->n_args != 1 || call->kw[0] ||
      call->args[0]->kind != AC_CE_STR)
    return call;
  const char *s = call->args[0]->s;
  ac_cexpr *e = node(p, AC_CE_FLOAT, call->loc);
  if (!strcmp(s, "inf"))
    e->f = INFINITY;
  else if (!strcmp(s, "-inf"))
    e->f = -INFINITY;
  else if (!strcmp(s, "nan"))
    e->f = NAN;
  else
    refuse(p, AC0404, call->args[0]->loc, "this is not a number", "float() takes \"inf\", \"-inf\" or \"nan\"");
  return e;
}

static ac_cexpr *postfix(parser *p) {
  ac_cexpr *e = atom(p);
  for (int links = 0;; links++) {
    if (links > AC_CRAFT_MAX_CHAIN)
      refuse(p, AC0410, p->t->loc, "this expression is too long", "give its parts names");
    ac_loc end;
    ac_cexpr *n;
    if (accept_op(p, ".")) {
      n = node(p, AC_CE_ATTR, e->loc);
      n->a = e;
      end = p->t->loc;
      n->s = need_name(p, "a name behind '.'");
    } else if (accept_op(p, "(")) {
      n = node(p, AC_CE_CALL, e->loc);
      n->a = e;
      arguments(p, n);
      end = p->t->loc;
      need_op(p, ")");
    } else if (accept_op(p, "[")) {
      n = index_of(p, e);
      end = p->t->loc;
      need_op(p, "]");
    } else {
      return e;
    }
    if (!p->bare) n->loc = span(n->loc, end);
    e = n->kind == AC_CE_CALL ? fold_float(p, n) : n;
  }
}

static ac_cexpr *binary(parser *p, ac_cop op, ac_cexpr *x, ac_cexpr *y) {
  ac_cexpr *e = node(p, AC_CE_BINARY, span(x->loc, y->loc));
  e->op = op;
  e->a = x;
  e->b = y;
  return e;
}

static ac_cexpr *negate(parser *p, ac_cexpr *x, ac_loc loc, bool literal) {
  if (literal && x->kind == AC_CE_INT && x->i >= 0) {
    x->i = -x->i;
  } else if (literal && x->kind == AC_CE_FLOAT && !signbit(x->f)) {
    x->f = -x->f;
  } else {
    ac_cexpr *e = node(p, AC_CE_UNARY, span(loc, x->loc));
    e->op = AC_OP_NEG;
    e->a = x;
    return e;
  }
  if (!p->bare) x->loc = span(loc, x->loc);
  return x;
}

static ac_cexpr *unary(parser *p) {
  ac_ctoken *t = p->t;
  deeper(p);
  ac_cexpr *e;
  if (is_op(p, "~"))
    refuse(p, AC0408, t->loc, "scalars have no bit operators", "on buffers: tl.vnot, tl.vand, tl.vor");
  if (accept_op(p, "+")) {
    e = unary(p);
  } else if (accept_op(p, "-")) {
    if (p->t->kind == AC_TK_INT && p->t->big) { /* -2**63 fits, 2**63 does not */
      e = constant(p, AC_CE_INT, INT64_MIN);
      if (!p->bare) e->loc = span(t->loc, e->loc);
    } else {
      e = unary(p);
      e = negate(p, e, t->loc, p->t == t + 2 || e->kind == AC_CE_FLOAT);
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
    refuse(p, AC0408, p->t->loc, ac_sprintf(p->a, "there is no operator '%s'", p->t->s), "compare with == or !=");
  if (is_op(p, "&") || is_op(p, "|") || is_op(p, "^") || is_op(p, "<<") || is_op(p, ">>") || is_op(p, "@"))
    refuse(p, AC0408, p->t->loc, ac_sprintf(p->a, "scalars have no operator '%s'", p->t->s),
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
    e = node(p, AC_CE_UNARY, span(loc, x->loc));
    e->op = AC_OP_NOT;
    e->a = x;
  } else {
    e = unary(p);
  }
  for (int links = 0;; links++) {
    int i = binary_at(p);
    if (i < 0 || binaries[i].level < min) return e;
    if (links > AC_CRAFT_MAX_CHAIN)
      refuse(p, AC0410, p->t->loc, "this expression is too long", "give its parts names");
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

static ac_cexpr *test(parser *p) {
  deeper(p);
  ac_cexpr *e = operators(p, LEVEL_OR);
  if (accept_word(p, "if")) {
    ac_cexpr *c = node(p, AC_CE_COND, e->loc);
    c->a = e;
    c->c = operators(p, LEVEL_OR);
    if (!accept_word(p, "else")) expected(p, "'else' of the conditional expression");
    c->b = test(p);
    if (!p->bare) c->loc = span(c->loc, c->b->loc);
    e = c;
  }
  if (is_op(p, ":=")) refuse(p, AC0408, p->t->loc, "there is no ':='", "assign in a statement of its own");
  p->depth--;
  return e;
}

/* test or a tuple without brackets */
static ac_cexpr *tests(parser *p) {
  ac_cexpr *e = test(p);
  if (!is_op(p, ",")) return e;
  ac_cexpr *tuple = node(p, AC_CE_TUPLE, e->loc);
  push_arg(p, tuple, NULL, e);
  while (accept_op(p, ",")) {
    if (p->t->kind == AC_TK_NEWLINE || is_op(p, "=")) break;
    push_arg(p, tuple, NULL, test(p));
  }
  return tuple;
}

/* ---- simple statements ---- */

static ac_cstmt *stmt(parser *p, ac_cskind kind, ac_loc loc) {
  ac_cstmt *s = AC_NEW(p->a, ac_cstmt);
  s->kind = kind;
  s->loc = loc;
  return s;
}

static void check_target(parser *p, ac_cexpr *e, bool augmented) {
  if (e->kind == AC_CE_NAME) return;
  if (e->kind == AC_CE_TUPLE && !augmented && e->n_args > 0) {
    for (int i = 0; i < e->n_args; i++)
      if (e->args[i]->kind != AC_CE_NAME) refuse(p, AC0407, e->args[i]->loc, "only names can be assigned to", NULL);
    return;
  }
  refuse(p, AC0407, e->loc, "only names can be assigned to",
         e->kind == AC_CE_INDEX ? "a buffer's element is written with tl.duplicate(buf[i], value, count=1)" : NULL);
}

static ac_cop augmented_op(parser *p) {
  static const struct {
    const char *text;
    ac_cop op;
  } table[] = {{"+=", AC_OP_ADD},       {"-=", AC_OP_SUB}, {"*=", AC_OP_MUL}, {"/=", AC_OP_DIV},
               {"//=", AC_OP_FLOORDIV}, {"%=", AC_OP_MOD}, {"**=", AC_OP_POW}};
  for (size_t i = 0; i < AC_COUNT(table); i++)
    if (is_op(p, table[i].text)) return table[i].op;
  return AC_OP_NOP;
}

static ac_cstmt *expression_statement(parser *p) {
  ac_loc loc = p->t->loc;
  ac_cexpr *e = tests(p);
  ac_cop op = augmented_op(p);
  if (!is_op(p, "=") && op == AC_OP_NOP) {
    if (is_op(p, ":"))
      refuse(p, AC0408, p->t->loc, "local names have no type annotation",
             "leave out `: type`; the type follows from the value");
    ac_cstmt *s = stmt(p, AC_CS_EXPR, loc);
    s->value = e;
    return s;
  }
  check_target(p, e, op != AC_OP_NOP);
  advance(p);
  ac_cstmt *s = stmt(p, AC_CS_ASSIGN, loc);
  s->target = e;
  s->op = op;
  s->value = tests(p);
  if (is_op(p, "=")) refuse(p, AC0408, p->t->loc, "assignments cannot be chained", "write one assignment a line");
  return s;
}

static const struct {
  const char *word, *what, *help;
} refused[] = {
    {"continue", "there is no 'continue'", "put the rest of the loop's body under an `if`"},
    {"assert", "there is no 'assert'", "in the host function: `if not cond: tl.refuse(\"why\")`"},
    {"raise", "there is no 'raise'", "in the host function: tl.refuse(\"why\")"},
    {"try", "there is no 'try'", NULL},
    {"del", "there is no 'del'", "buffers live as long as they are needed"},
    {"global", "there is no 'global'", "pass values as parameters"},
    {"nonlocal", "there is no 'nonlocal'", "pass values as parameters"},
    {"class", "there are no classes", NULL},
    {"async", "there is no 'async'", NULL},
    {"await", "there is no 'await'", NULL},
    {"yield", "there is no 'yield'", NULL},
    {"lambda", "there are no lambda functions", NULL},
    {"def", "functions cannot be nested", "write it at the left margin"},
    {"import", "imports stand at the head of the file", NULL},
    {"from", "imports stand at the head of the file", NULL},
    {"else", "'else' without 'if'", "there is no else on loops"},
    {"elif", "'elif' without 'if'", NULL},
};

static void refuse_word(parser *p) {
  for (size_t i = 0; i < AC_COUNT(refused); i++)
    if (is_word(p, refused[i].word)) refuse(p, AC0408, p->t->loc, refused[i].what, refused[i].help);
}

static ac_cstmt *simple(parser *p) {
  ac_loc loc = p->t->loc;
  refuse_word(p);
  if (accept_word(p, "pass")) return stmt(p, AC_CS_PASS, loc);
  if (accept_word(p, "break")) {
    if (!p->loops) refuse(p, AC0407, loc, "'break' outside a loop", NULL);
    return stmt(p, AC_CS_BREAK, loc);
  }
  if (accept_word(p, "return")) {
    ac_cstmt *s = stmt(p, AC_CS_RETURN, loc);
    if (p->t->kind != AC_TK_NEWLINE && !is_op(p, ";")) s->value = tests(p);
    return s;
  }
  return expression_statement(p);
}

/* ---- blocks ---- */

typedef struct {
  ac_cstmt **tail;
  ac_strvec carry; /* comments that found no statement of their own */
} list;

static void statement(parser *p, void *arg);

static void join_comments(parser *p, ac_strvec *to, const ac_strvec *from) {
  for (size_t i = 0; i < from->len; i++) ac_push(p->a, to, from->data[i]);
}

static void append(parser *p, list *to, ac_cstmt *s, const ac_strvec *comments) {
  ac_strvec all = to->carry;
  to->carry = (ac_strvec){0};
  join_comments(p, &all, comments);
  s->comments = ac_craft_tidy_comments(p->a, &all);
  *to->tail = s;
  to->tail = &s->next;
}

/* Runs fn; false if it gave up. */
static bool guarded(parser *p, void (*fn)(parser *, void *), void *arg) {
  jmp_buf outer;
  memcpy(&outer, &p->give_up, sizeof outer);
  int depth = p->depth, blocks = p->blocks, loops = p->loops;
  if (setjmp(p->give_up)) {
    memcpy(&p->give_up, &outer, sizeof outer);
    p->depth = depth;
    p->blocks = blocks;
    p->loops = loops;
    return false;
  }
  fn(p, arg);
  memcpy(&p->give_up, &outer, sizeof outer);
  return true;
}

static void block_body(parser *p, list *to, ac_strvec *closing);

/* Behind a statement that was given up: to the next one, looking for errors in a block that hangs on it. */
static void recover(parser *p) {
  do {
    while (p->t->kind != AC_TK_NEWLINE && p->t->kind != AC_TK_END && p->t->kind != AC_TK_INDENT &&
           p->t->kind != AC_TK_DEDENT)
      advance(p);
    if (p->t->kind == AC_TK_NEWLINE) advance(p);
    if (p->t->kind == AC_TK_INDENT) {
      ac_cstmt *dropped = NULL;
      list l = {.tail = &dropped};
      ac_strvec closing = {0};
      p->loops++; /* a `break` in there is no second error */
      block_body(p, &l, &closing);
      p->loops--;
    }
  } while (is_word(p, "else") || is_word(p, "elif"));
}

static void guarded_statement(parser *p, list *to) {
  if (p->t->kind == AC_TK_INDENT) {
    ac_diag *x = ac_error(p->d, AC0402, p->t->loc, "this line is indented more than the block it is in");
    ac_help(p->d, x, "only the lines under `if`, `for`, `while`, `with` and `def` are indented further");
    recover(p);
    return;
  }
  if (!guarded(p, statement, to)) recover(p);
}

/* At INDENT; passes the DEDENT. */
static void block_body(parser *p, list *to, ac_strvec *closing) {
  advance(p);
  while (p->t->kind != AC_TK_DEDENT && p->t->kind != AC_TK_END) guarded_statement(p, to);
  *closing = to->carry;
  join_comments(p, closing, &p->t->comments);
  *closing = ac_craft_tidy_comments(p->a, closing);
  if (p->t->kind == AC_TK_DEDENT) advance(p);
}

static void simple_line(parser *p, list *to) {
  const ac_strvec *comments = &p->t->comments, none = {0};
  ac_cstmt *s;
  for (;;) {
    s = simple(p);
    append(p, to, s, comments);
    comments = &none;
    if (!accept_op(p, ";")) break;
    if (p->t->kind == AC_TK_NEWLINE) break;
  }
  if (p->t->kind != AC_TK_NEWLINE) expected(p, "the end of the line");
  s->trailing = p->t->trailing;
  advance(p);
}

/* Behind a header, at ':'. `carry`: comments for the first statement. */
static void suite(parser *p, ac_cstmt **body, const char **trailing, ac_strvec carry, ac_strvec *closing) {
  need_op(p, ":");
  list l = {.tail = body, .carry = carry};
  if (p->t->kind != AC_TK_NEWLINE) {
    static const char *const words[] = {"if", "for", "while", "with", "def"};
    for (size_t i = 0; i < AC_COUNT(words); i++)
      if (is_word(p, words[i])) refuse(p, AC0407, p->t->loc, "this needs a line of its own", NULL);
    simple_line(p, &l);
    return;
  }
  if (trailing)
    *trailing = p->t->trailing;
  else if (p->t->trailing)
    ac_push(p->a, &l.carry, p->t->trailing);
  advance(p);
  if (p->t->kind != AC_TK_INDENT) expected(p, "an indented block");
  if (++p->blocks > AC_CRAFT_MAX_BLOCKS) refuse(p, AC0410, p->t->loc, "blocks are nested too deeply", NULL);
  block_body(p, &l, closing);
  p->blocks--;
}

/* ---- compound statements ---- */

static ac_cstmt *if_statement(parser *p, int links) {
  ac_cstmt *s = stmt(p, AC_CS_IF, p->t->loc);
  if (links > AC_CRAFT_MAX_CHAIN) refuse(p, AC0410, p->t->loc, "too many elif branches", NULL);
  advance(p);
  s->value = test(p);
  suite(p, &s->body, &s->trailing, (ac_strvec){0}, &s->tail_comments);
  ac_strvec before = p->t->comments;
  if (is_word(p, "elif")) {
    s->orelse = if_statement(p, links + 1);
    s->orelse->comments = ac_craft_tidy_comments(p->a, &before);
  } else if (accept_word(p, "else")) {
    ac_strvec carry = {0};
    join_comments(p, &carry, &before);
    suite(p, &s->orelse, NULL, carry, &s->else_comments);
  }
  return s;
}

static void for_range(parser *p, ac_cstmt *s) {
  ac_loc at = p->t->loc;
  ac_cexpr *e = test(p);
  if (e->kind != AC_CE_CALL || e->a->kind != AC_CE_NAME || strcmp(e->a->s, "range") != 0 || e->n_args < 1 ||
      e->n_args > 3)
    refuse(p, AC0408, e->loc.line ? e->loc : at, "for loops run over range(...)",
           "for i in range(start, end, step):");
  for (int i = 0; i < e->n_args; i++)
    if (e->kw[i]) refuse(p, AC0407, e->args[i]->loc, "range() takes no keywords", NULL);
  s->lo = e->n_args > 1 ? e->args[0] : node(p, AC_CE_INT, e->loc);
  s->hi = e->args[e->n_args > 1];
  s->step = e->n_args > 2 ? e->args[2] : node(p, AC_CE_INT, e->loc);
  if (e->n_args < 3) s->step->i = 1;
}

static ac_cstmt *for_statement(parser *p) {
  ac_cstmt *s = stmt(p, AC_CS_FOR, p->t->loc);
  advance(p);
  s->target = node(p, AC_CE_NAME, p->t->loc);
  s->target->s = need_name(p, "the loop's name");
  if (is_op(p, ",")) refuse(p, AC0408, p->t->loc, "a for loop has one name", "for i in range(start, end, step):");
  if (!accept_word(p, "in")) expected(p, "'in'");
  for_range(p, s);
  return s;
}

static ac_cstmt *while_statement(parser *p) {
  ac_cstmt *s = stmt(p, AC_CS_WHILE, p->t->loc);
  advance(p);
  s->value = test(p);
  return s;
}

static void loop_body(parser *p, ac_cstmt *s) {
  p->loops++;
  suite(p, &s->body, &s->trailing, (ac_strvec){0}, &s->tail_comments);
  p->loops--;
  if (is_word(p, "else")) refuse(p, AC0408, p->t->loc, "loops have no 'else'", NULL);
}

static ac_cstmt *with_statement(parser *p) {
  static const char *const stages[] = {
      [AC_STAGE_COPYIN] = "copyin", [AC_STAGE_COMPUTE] = "compute", [AC_STAGE_COPYOUT] = "copyout"};
  ac_cstmt *s = stmt(p, AC_CS_WITH, p->t->loc);
  advance(p);
  ac_loc at = p->t->loc;
  ac_cexpr *e = test(p);
  if (e->kind == AC_CE_CALL && e->n_args == 0 && e->a->kind == AC_CE_ATTR && e->a->a->kind == AC_CE_NAME &&
      !strcmp(e->a->a->s, "tl"))
    for (ac_cstage i = AC_STAGE_COPYIN; i <= AC_STAGE_COPYOUT; i++)
      if (!strcmp(e->a->s, stages[i])) s->stage = i;
  if (s->stage == AC_STAGE_NONE)
    refuse(p, AC0408, e->loc.line ? e->loc : at, "`with` opens a stage block only",
           "with tl.copyin():, with tl.compute(): or with tl.copyout():");
  suite(p, &s->body, &s->trailing, (ac_strvec){0}, &s->tail_comments);
  return s;
}

static void statement(parser *p, void *arg) {
  list *to = arg;
  const ac_strvec comments = p->t->comments;
  ac_cstmt *s;
  if (is_word(p, "if")) {
    s = if_statement(p, 0);
  } else if (is_word(p, "for")) {
    s = for_statement(p);
    loop_body(p, s);
  } else if (is_word(p, "while")) {
    s = while_statement(p);
    loop_body(p, s);
  } else if (is_word(p, "with")) {
    s = with_statement(p);
  } else {
    simple_line(p, to);
    return;
  }
  append(p, to, s, &comments);
}

/* ---- functions and the file ---- */

static void params(parser *p, ac_cfunc *f) {
  AC_VEC(ac_cparam) v = {0};
  bool had_default = false;
  while (!is_op(p, ")")) {
    if (is_op(p, "*") || is_op(p, "**") || is_op(p, "/"))
      refuse(p, AC0408, p->t->loc, "parameters are plain names", "write them one by one");
    ac_cparam c = {.loc = p->t->loc, .dtype = AC_NODTYPE};
    c.name = need_name(p, "a parameter's name");
    for (size_t i = 0; i < v.len; i++)
      if (!strcmp(v.data[i].name, c.name))
        refuse(p, AC0407, c.loc, ac_sprintf(p->a, "two parameters are called '%s'", c.name), NULL);
    if (accept_op(p, ":")) c.annotation = test(p);
    if (accept_op(p, "="))
      c.init = test(p);
    else if (had_default)
      refuse(p, AC0407, c.loc, "a parameter without default behind one that has a default", NULL);
    had_default = had_default || c.init;
    ac_push(p->a, &v, c);
    if (!accept_op(p, ",")) break;
  }
  f->params = v.data;
  f->n_params = (int)v.len;
}

static void decorator(parser *p, ac_cfunc *f, ac_strvec *comments) {
  ac_loc at = p->t->loc;
  advance(p);
  if (is_word(p, "tl") && p->t[1].kind == AC_TK_OP && !strcmp(p->t[1].s, ".")) {
    advance(p);
    advance(p);
  }
  const char *name = need_name(p, "the decorator's name");
  if (strcmp(name, "ascend_kernel") != 0)
    refuse(p, AC0409, span(at, p->t[-1].loc), "unknown decorator", "kernels are marked with @ascend_kernel");
  if (accept_op(p, "(")) need_op(p, ")");
  if (p->t->kind != AC_TK_NEWLINE) expected(p, "the end of the line");
  if (p->t->trailing) ac_push(p->a, comments, p->t->trailing);
  advance(p);
  f->kernel = true;
}

/* A string as the first statement of a function; the comment behind it goes to `comments`. */
static const char *docstring(parser *p, ac_strvec *comments) {
  if (p->t->kind != AC_TK_STR) return NULL;
  ac_ctoken *t = p->t;
  while (t->kind == AC_TK_STR) t++;
  if (t->kind != AC_TK_NEWLINE) return NULL;
  const char *s = atom(p)->s;
  if (p->t->trailing) ac_push(p->a, comments, p->t->trailing);
  advance(p);
  return s;
}

static void function_body(parser *p, ac_cfunc *f) {
  need_op(p, ":");
  list l = {.tail = &f->body};
  if (p->t->kind != AC_TK_NEWLINE) {
    if (!(f->doc = docstring(p, &f->comments))) simple_line(p, &l);
    return;
  }
  if (p->t->trailing) ac_push(p->a, &f->comments, p->t->trailing);
  advance(p);
  if (p->t->kind != AC_TK_INDENT) expected(p, "an indented block");
  if (p->t[1].kind == AC_TK_STR) {
    ac_strvec before = {0};
    join_comments(p, &before, &p->t[1].comments);
    advance(p);
    f->doc = docstring(p, &before);
    if (f->doc) l.carry = before; /* else they are those of the statement that follows */
    p->t--;                       /* block_body passes one token */
  }
  block_body(p, &l, &f->tail_comments);
}

static void function(parser *p, ac_cmodule *m) {
  ac_cfunc *f = AC_NEW(p->a, ac_cfunc);
  ac_strvec comments = {0};
  join_comments(p, &comments, &p->t->comments);
  while (is_op(p, "@")) {
    decorator(p, f, &comments);
    join_comments(p, &comments, &p->t->comments);
  }
  if (!accept_word(p, "def")) expected(p, "'def'");
  f->loc = p->t->loc;
  f->comments = comments;
  f->name = need_name(p, "the function's name");
  need_op(p, "(");
  params(p, f);
  need_op(p, ")");
  if (accept_op(p, "->")) (void)test(p); /* the result's annotation says nothing that we need */
  for (size_t i = 0; i < m->funcs.len; i++)
    if (!strcmp(m->funcs.data[i]->name, f->name)) {
      ac_diag *x = ac_error(p->d, AC0409, f->loc, "a second function called '%s'", f->name);
      ac_note(p->d, x, m->funcs.data[i]->loc, "the first is here");
    }
  ac_push(p->a, &m->funcs, f);
  function_body(p, f);
  f->comments = ac_craft_tidy_comments(p->a, &f->comments);
}

static void dotted(parser *p, ac_buf *b) {
  ac_puts(b, need_name(p, "a module's name"));
  while (accept_op(p, ".")) ac_printf(b, ".%s", need_name(p, "a name behind '.'"));
}

static void import_names(parser *p, ac_buf *b, bool simple_names) {
  for (;;) {
    if (simple_names)
      ac_puts(b, need_name(p, "a name to import"));
    else
      dotted(p, b);
    if (accept_word(p, "as")) ac_printf(b, " as %s", need_name(p, "a name behind 'as'"));
    if (!accept_op(p, ",")) return;
    ac_puts(b, ", ");
  }
}

static void import(parser *p, ac_cmodule *m) {
  ac_buf b;
  ac_buf_init(&b, p->a);
  join_comments(p, &m->comments, &p->t->comments);
  if (accept_word(p, "import")) {
    ac_puts(&b, "import ");
    import_names(p, &b, false);
  } else {
    advance(p);
    ac_puts(&b, "from ");
    dotted(p, &b);
    if (!accept_word(p, "import")) expected(p, "'import'");
    ac_puts(&b, " import ");
    if (is_op(p, "*")) {
      advance(p);
      ac_puts(&b, "*");
    } else if (accept_op(p, "(")) {
      import_names(p, &b, true);
      need_op(p, ")");
    } else {
      import_names(p, &b, true);
    }
  }
  if (p->t->kind != AC_TK_NEWLINE) expected(p, "the end of the line");
  if (p->t->trailing) ac_push(p->a, &m->comments, p->t->trailing);
  advance(p);
  ac_push(p->a, &m->imports, ac_buf_str(&b));
}

/* Comments before the first function: those of the file end at a blank line before the function's, or two. */
static void split_head(parser *p, ac_cmodule *m) {
  ac_strvec *c = &p->t->comments, head = {0}, rest = {0};
  size_t cut = 0;
  if (c->len && !*c->data[c->len - 1]) cut = c->len;
  for (size_t i = c->len; !cut && i >= 2; i--)
    if (!*c->data[i - 1] && !*c->data[i - 2]) cut = i;
  for (size_t i = 0; i < c->len; i++) ac_push(p->a, i < cut ? &head : &rest, c->data[i]);
  while (m->imports.len && head.len && !*head.data[head.len - 1]) head.len--; /* it moves before the imports */
  join_comments(p, &m->comments, &head);
  *c = rest;
}

static void top_level(parser *p, void *arg) {
  ac_cmodule *m = arg;
  if (is_word(p, "import") || is_word(p, "from")) {
    import(p, m);
  } else if (is_op(p, "@") || is_word(p, "def")) {
    if (!m->funcs.len) split_head(p, m);
    function(p, m);
  } else if (p->t->kind == AC_TK_STR && !m->funcs.len && !m->imports.len) {
    join_comments(p, &m->comments, &p->t->comments);
    const char *s = docstring(p, &m->comments);
    if (!s) expected(p, "an import or a function");
    while (s) { /* the file's docstring becomes its head comment */
      const char *end = strchr(s, '\n');
      ac_push(p->a, &m->comments, end ? ac_strndup(p->a, s, (size_t)(end - s)) : s);
      s = end ? end + 1 : NULL;
    }
  } else {
    if (p->t->kind == AC_TK_BAD) give_up(p);
    refuse_word(p);
    refuse(p, AC0409, p->t->loc, "only imports and functions stand at the left margin",
           "put constants into the host function and pass them to the kernel");
  }
}

void ac_craft_sort_diags(ac_diags *d, size_t from) {
  for (size_t i = from + 1; i < d->list.len; i++) { /* stable, and nearly sorted already */
    ac_diag *x = d->list.data[i];
    size_t k = i;
    for (; k > from && d->list.data[k - 1]->loc.line > x->loc.line; k--) d->list.data[k] = d->list.data[k - 1];
    d->list.data[k] = x;
  }
}

ac_cmodule *ac_craft_parse(ac_arena *a, const char *file, const char *text, ac_diags *d) {
  int before = d ? d->errors : 0;
  ac_diags own;
  if (!d) ac_diags_init(d = &own, a);
  size_t first = d->list.len;
  parser *p = AC_NEW(a, parser);
  ac_cmodule *m = AC_NEW(a, ac_cmodule);
  ac_ctokens tokens = {0};
  m->file = ac_strdup(a, file);
  ac_craft_lex(a, m->file, text, d, &tokens);
  *p = (parser){.a = a, .d = d, .file = m->file, .t = tokens.data};
  while (p->t->kind != AC_TK_END) {
    if (p->t->kind == AC_TK_DEDENT) {
      advance(p);
    } else if (p->t->kind == AC_TK_INDENT) {
      ac_error(d, AC0402, p->t->loc, "this line is indented, but no block is open");
      recover(p);
    } else if (!guarded(p, top_level, m)) {
      recover(p);
    }
  }
  join_comments(p, m->funcs.len ? &m->tail_comments : &m->comments, &p->t->comments);
  m->tail_comments = ac_craft_tidy_comments(a, &m->tail_comments);
  m->comments = ac_craft_tidy_comments(a, &m->comments);
  ac_craft_sort_diags(d, first);
  return d->errors > before ? NULL : m;
}

static void whole_expression(parser *p, void *arg) {
  *(ac_cexpr **)arg = test(p);
  if (p->t->kind == AC_TK_NEWLINE) advance(p);
  if (p->t->kind != AC_TK_END) expected(p, "the end of the expression");
}

ac_cexpr *ac_craft_parse_expr(ac_arena *a, const char *file, const char *text, ac_diags *d) {
  int before = d->errors;
  parser *p = AC_NEW(a, parser);
  ac_ctokens tokens = {0};
  ac_craft_lex(a, file, text, d, &tokens);
  *p = (parser){.a = a, .d = d, .file = file, .t = tokens.data, .bare = true};
  ac_cexpr *e = NULL;
  bool ok = guarded(p, whole_expression, &e);
  return ok && d->errors == before ? e : NULL;
}
