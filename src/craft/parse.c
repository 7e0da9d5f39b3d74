/* The parser: recursive descent over tokens; a syntax error gives up its statement only, so that one run shows them all. */
#include "craft/parser.h"

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
      if (e->args[i]->kind != AC_CE_NAME)
        ac_pa_refuse(p, AC0407, e->args[i]->loc, "only names can be assigned to", NULL);
    return;
  }
  ac_pa_refuse(p, AC0407, e->loc, "only names can be assigned to",
               e->kind == AC_CE_INDEX ? "a buffer's element is written with tl.duplicate(buf[i], value, count=1)"
                                      : NULL);
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
  ac_cexpr *e = ac_pa_tests(p);
  ac_cop op = augmented_op(p);
  if (!is_op(p, "=") && op == AC_OP_NOP) {
    if (is_op(p, ":"))
      ac_pa_refuse(p, AC0408, p->t->loc, "local names have no type annotation",
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
  s->value = ac_pa_tests(p);
  if (is_op(p, "="))
    ac_pa_refuse(p, AC0408, p->t->loc, "assignments cannot be chained", "write one assignment a line");
  return s;
}

static const struct {
  const char *word, *what, *help;
} refused[] = {
    {"raise", "there is no 'raise'", "in the host function: tl.refuse(\"why\")"},
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
    if (is_word(p, refused[i].word)) ac_pa_refuse(p, AC0408, p->t->loc, refused[i].what, refused[i].help);
}

/* assert c, "why": if not c: tl.refuse("why") */
static ac_cstmt *assertion(parser *p, ac_loc loc) {
  ac_cstmt *s = stmt(p, AC_CS_IF, loc);
  ac_cexpr *c = ac_pa_test(p), *call = ac_pa_node(p, AC_CE_CALL, c->loc), *why = ac_pa_node(p, AC_CE_STR, c->loc);
  s->value = ac_pa_node(p, AC_CE_UNARY, c->loc);
  s->value->op = AC_OP_NOT;
  s->value->a = c;
  why->s = ac_sprintf(p->a, "not so: %s", ac_cexpr_text(p->a, c));
  if (accept_op(p, ",")) why = ac_pa_test(p);
  call->a = ac_pa_node(p, AC_CE_ATTR, c->loc);
  call->a->a = ac_pa_node(p, AC_CE_NAME, c->loc);
  call->a->a->s = "tl";
  call->a->s = "refuse";
  ac_pa_push_arg(p, call, NULL, why);
  s->body = stmt(p, AC_CS_EXPR, loc);
  s->body->value = call;
  return s;
}

static ac_cstmt *simple(parser *p) {
  ac_loc loc = p->t->loc;
  refuse_word(p);
  if (accept_word(p, "pass")) return stmt(p, AC_CS_PASS, loc);
  if (accept_word(p, "break")) {
    if (!p->loops) ac_pa_refuse(p, AC0407, loc, "'break' outside a loop", NULL);
    return stmt(p, AC_CS_BREAK, loc);
  }
  if (accept_word(p, "continue")) {
    if (!p->loops) ac_pa_refuse(p, AC0407, loc, "'continue' outside a loop", NULL);
    ac_cstmt *s = stmt(p, AC_CS_BREAK, loc);
    s->again = true;
    return s;
  }
  if (accept_word(p, "assert")) return assertion(p, loc);
  if (accept_word(p, "return")) {
    ac_cstmt *s = stmt(p, AC_CS_RETURN, loc);
    if (p->t->kind != AC_TK_NEWLINE && !is_op(p, ";")) s->value = ac_pa_tests(p);
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
  if (p->t->kind != AC_TK_NEWLINE) ac_pa_expected(p, "the end of the line");
  s->trailing = p->t->trailing;
  advance(p);
}

/* Behind a header, at ':'. `carry`: comments for the first statement. */
static void suite(parser *p, ac_cstmt **body, const char **trailing, ac_strvec carry, ac_strvec *closing) {
  ac_pa_need_op(p, ":");
  list l = {.tail = body, .carry = carry};
  if (p->t->kind != AC_TK_NEWLINE) {
    static const char *const words[] = {"if", "for", "while", "with", "def"};
    for (size_t i = 0; i < AC_COUNT(words); i++)
      if (is_word(p, words[i])) ac_pa_refuse(p, AC0407, p->t->loc, "this needs a line of its own", NULL);
    simple_line(p, &l);
    return;
  }
  if (trailing)
    *trailing = p->t->trailing;
  else if (p->t->trailing)
    ac_push(p->a, &l.carry, p->t->trailing);
  advance(p);
  if (p->t->kind != AC_TK_INDENT) ac_pa_expected(p, "an indented block");
  if (++p->blocks > AC_CRAFT_MAX_BLOCKS) ac_pa_refuse(p, AC0410, p->t->loc, "blocks are nested too deeply", NULL);
  block_body(p, &l, closing);
  p->blocks--;
}

/* ---- compound statements ---- */

static ac_cstmt *if_statement(parser *p, int links) {
  ac_cstmt *s = stmt(p, AC_CS_IF, p->t->loc);
  if (links > AC_CRAFT_MAX_CHAIN) ac_pa_refuse(p, AC0410, p->t->loc, "too many elif branches", NULL);
  advance(p);
  s->value = ac_pa_test(p);
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
  ac_cexpr *e = ac_pa_test(p);
  if (e->kind != AC_CE_CALL || e->a->kind != AC_CE_NAME || strcmp(e->a->s, "range") != 0 || e->n_args < 1 ||
      e->n_args > 3)
    ac_pa_refuse(p, AC0408, e->loc.line ? e->loc : at, "for loops run over range(...)",
                 "for i in range(start, end, step):");
  for (int i = 0; i < e->n_args; i++)
    if (e->kw[i]) ac_pa_refuse(p, AC0407, e->args[i]->loc, "range() takes no keywords", NULL);
  s->lo = e->n_args > 1 ? e->args[0] : ac_pa_node(p, AC_CE_INT, e->loc);
  s->hi = e->args[e->n_args > 1];
  s->step = e->n_args > 2 ? e->args[2] : ac_pa_node(p, AC_CE_INT, e->loc);
  if (e->n_args < 3) s->step->i = 1;
}

static ac_cstmt *for_statement(parser *p) {
  ac_cstmt *s = stmt(p, AC_CS_FOR, p->t->loc);
  advance(p);
  s->target = ac_pa_node(p, AC_CE_NAME, p->t->loc);
  s->target->s = ac_pa_need_name(p, "the loop's name");
  if (is_op(p, ","))
    ac_pa_refuse(p, AC0408, p->t->loc, "a for loop has one name", "for i in range(start, end, step):");
  if (!accept_word(p, "in")) ac_pa_expected(p, "'in'");
  for_range(p, s);
  return s;
}

static ac_cstmt *while_statement(parser *p) {
  ac_cstmt *s = stmt(p, AC_CS_WHILE, p->t->loc);
  advance(p);
  s->value = ac_pa_test(p);
  return s;
}

static void loop_body(parser *p, ac_cstmt *s) {
  p->loops++;
  suite(p, &s->body, &s->trailing, (ac_strvec){0}, &s->tail_comments);
  p->loops--;
  ac_craft_continues(p->a, p->d, s);
  if (is_word(p, "else")) ac_pa_refuse(p, AC0408, p->t->loc, "loops have no 'else'", NULL);
}

static ac_cstmt *with_statement(parser *p) {
  static const char *const stages[] = {
      [AC_STAGE_COPYIN] = "copyin", [AC_STAGE_COMPUTE] = "compute", [AC_STAGE_COPYOUT] = "copyout"};
  ac_cstmt *s = stmt(p, AC_CS_WITH, p->t->loc);
  advance(p);
  ac_loc at = p->t->loc;
  ac_cexpr *e = ac_pa_test(p);
  if (e->kind == AC_CE_CALL && e->n_args == 0 && e->a->kind == AC_CE_ATTR && e->a->a->kind == AC_CE_NAME &&
      !strcmp(e->a->a->s, "tl"))
    for (ac_cstage i = AC_STAGE_COPYIN; i <= AC_STAGE_COPYOUT; i++)
      if (!strcmp(e->a->s, stages[i])) s->stage = i;
  if (s->stage == AC_STAGE_NONE)
    ac_pa_refuse(p, AC0408, e->loc.line ? e->loc : at, "`with` opens a stage block only",
                 "with tl.copyin():, with tl.compute(): or with tl.copyout():");
  suite(p, &s->body, &s->trailing, (ac_strvec){0}, &s->tail_comments);
  return s;
}

/* try: A except ...: B is A: nothing that a program says raises an exception. B's comments stay. */
static void try_statement(parser *p, list *to) {
  ac_loc loc = p->t->loc;
  join_comments(p, &to->carry, &p->t->comments);
  advance(p);
  ac_cstmt *body = NULL, *dropped = NULL;
  ac_strvec closing = {0};
  const char *trailing = NULL;
  suite(p, &body, &trailing, (ac_strvec){0}, &closing);
  if (trailing) ac_push(p->a, &to->carry, trailing);
  for (ac_cstmt *s = body, *next; s; s = next) {
    next = s->next;
    ac_strvec own = s->comments;
    s->next = NULL;
    append(p, to, s, &own);
  }
  join_comments(p, &to->carry, &closing);
  if (!is_word(p, "except")) ac_pa_refuse(p, AC0408, loc, "a 'try' without 'except'", NULL);
  while (is_word(p, "except")) {
    join_comments(p, &to->carry, &p->t->comments);
    while (!is_op(p, ":") && p->t->kind != AC_TK_NEWLINE && p->t->kind != AC_TK_END) advance(p);
    trailing = NULL;
    suite(p, &dropped, &trailing, (ac_strvec){0}, &closing);
    if (trailing) ac_push(p->a, &to->carry, trailing);
    ac_craft_collect_comments(p->a, &to->carry, dropped);
    join_comments(p, &to->carry, &closing);
  }
  if (is_word(p, "else") || is_word(p, "finally"))
    ac_pa_refuse(p, AC0408, p->t->loc, "'try' has 'except' only", NULL);
  ac_diag *x = ac_warn(p->d, AC0408, loc, "nothing raises an exception: what stands under 'except' is left out");
  ac_help(p->d, x, "write the body of `try` alone");
}

static void statement(parser *p, void *arg) {
  list *to = arg;
  const ac_strvec comments = p->t->comments;
  ac_cstmt *s;
  if (is_word(p, "try")) {
    try_statement(p, to);
    return;
  }
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
      ac_pa_refuse(p, AC0408, p->t->loc, "parameters are plain names", "write them one by one");
    ac_cparam c = {.loc = p->t->loc, .dtype = AC_NODTYPE};
    c.name = ac_pa_need_name(p, "a parameter's name");
    for (size_t i = 0; i < v.len; i++)
      if (!strcmp(v.data[i].name, c.name))
        ac_pa_refuse(p, AC0407, c.loc, ac_sprintf(p->a, "two parameters are called '%s'", c.name), NULL);
    if (accept_op(p, ":")) c.annotation = ac_pa_test(p);
    if (accept_op(p, "="))
      c.init = ac_pa_test(p);
    else if (had_default)
      ac_pa_refuse(p, AC0407, c.loc, "a parameter without default behind one that has a default", NULL);
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
  const char *name = ac_pa_need_name(p, "the decorator's name");
  if (strcmp(name, "ascend_kernel") != 0)
    ac_pa_refuse(p, AC0409, ac_pa_span(at, p->t[-1].loc), "unknown decorator",
                 "kernels are marked with @ascend_kernel");
  if (accept_op(p, "(")) ac_pa_need_op(p, ")");
  if (p->t->kind != AC_TK_NEWLINE) ac_pa_expected(p, "the end of the line");
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
  const char *s = ac_pa_atom(p)->s;
  if (p->t->trailing) ac_push(p->a, comments, p->t->trailing);
  advance(p);
  return s;
}

static void function_body(parser *p, ac_cfunc *f) {
  ac_pa_need_op(p, ":");
  list l = {.tail = &f->body};
  if (p->t->kind != AC_TK_NEWLINE) {
    if (!(f->doc = docstring(p, &f->comments))) simple_line(p, &l);
    return;
  }
  if (p->t->trailing) ac_push(p->a, &f->comments, p->t->trailing);
  advance(p);
  if (p->t->kind != AC_TK_INDENT) ac_pa_expected(p, "an indented block");
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
  if (!accept_word(p, "def")) ac_pa_expected(p, "'def'");
  f->loc = p->t->loc;
  f->comments = comments;
  f->name = ac_pa_need_name(p, "the function's name");
  ac_pa_need_op(p, "(");
  params(p, f);
  ac_pa_need_op(p, ")");
  if (accept_op(p, "->")) (void)ac_pa_test(p); /* the result's annotation says nothing that we need */
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
  ac_puts(b, ac_pa_need_name(p, "a module's name"));
  while (accept_op(p, ".")) ac_printf(b, ".%s", ac_pa_need_name(p, "a name behind '.'"));
}

static void import_names(parser *p, ac_buf *b, bool simple_names) {
  for (;;) {
    if (simple_names)
      ac_puts(b, ac_pa_need_name(p, "a name to import"));
    else
      dotted(p, b);
    if (accept_word(p, "as")) ac_printf(b, " as %s", ac_pa_need_name(p, "a name behind 'as'"));
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
    if (!accept_word(p, "import")) ac_pa_expected(p, "'import'");
    ac_puts(&b, " import ");
    if (is_op(p, "*")) {
      advance(p);
      ac_puts(&b, "*");
    } else if (accept_op(p, "(")) {
      import_names(p, &b, true);
      ac_pa_need_op(p, ")");
    } else {
      import_names(p, &b, true);
    }
  }
  if (p->t->kind != AC_TK_NEWLINE) ac_pa_expected(p, "the end of the line");
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
    if (!s) ac_pa_expected(p, "an import or a function");
    while (s) { /* the file's docstring becomes its head comment */
      size_t n = strcspn(s, "\n"), k = n;
      while (k && (unsigned char)s[k - 1] <= ' ') k--;
      char *line = ac_strndup(p->a, s, k);
      for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
      ac_push(p->a, &m->comments, line);
      s = s[n] ? s + n + 1 : NULL;
    }
  } else {
    if (p->t->kind == AC_TK_BAD) give_up(p);
    refuse_word(p);
    ac_pa_refuse(p, AC0409, p->t->loc, "only imports and functions stand at the left margin",
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
  *(ac_cexpr **)arg = ac_pa_test(p);
  if (p->t->kind == AC_TK_NEWLINE) advance(p);
  if (p->t->kind != AC_TK_END) ac_pa_expected(p, "the end of the expression");
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
