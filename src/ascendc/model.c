/* ModelNew: the user's module with its imports and __init__ kept, its forward replaced by one call of the extension. */
#include "ascendc/internal.h"

#include <ctype.h>
#include <string.h>

typedef struct {
  const char *text;
  size_t len;
} line;
typedef AC_VEC(line) lines;

static lines split(ac_arena *a, const char *s) {
  lines v = {0};
  while (*s) {
    size_t n = strcspn(s, "\n");
    line l = {s, n && s[n - 1] == '\r' ? n - 1 : n};
    ac_push(a, &v, l);
    s += n + (s[n] == '\n');
  }
  return v;
}
static bool blank(line l) {
  for (size_t i = 0; i < l.len; i++)
    if (!isspace((unsigned char)l.text[i])) return l.text[i] == '#';
  return true;
}
static size_t indent(line l) {
  size_t n = 0;
  while (n < l.len && (l.text[n] == ' ' || l.text[n] == '\t')) n++;
  return n;
}
static bool starts(line l, size_t at, const char *word) {
  size_t n = strlen(word);
  return l.len >= at + n && !memcmp(l.text + at, word, n) &&
         (l.len == at + n || (!isalnum((unsigned char)l.text[at + n]) && l.text[at + n] != '_'));
}

/* Marks lines that lie inside a triple-quoted string begun on an earlier line: their indentation says nothing. */
static bool *inside_strings(ac_arena *a, const lines *v) {
  bool *in = AC_NEW_N(a, bool, v->len + 1);
  char quote = 0;
  for (size_t i = 0; i < v->len; i++) {
    in[i] = quote != 0;
    const line *l = &v->data[i];
    for (size_t j = 0; j < l->len; j++) {
      char ch = l->text[j];
      if (quote) {
        if (ch == '\\')
          j++;
        else if (ch == quote && j + 2 < l->len && l->text[j + 1] == quote && l->text[j + 2] == quote)
          quote = 0, j += 2;
        continue;
      }
      if (ch == '#') break;
      if (ch != '"' && ch != '\'') continue;
      if (j + 2 < l->len && l->text[j + 1] == ch && l->text[j + 2] == ch) {
        quote = ch;
        j += 2;
        continue;
      }
      for (j++; j < l->len && l->text[j] != ch; j++)
        if (l->text[j] == '\\') j++;
    }
  }
  return in;
}

/* First line after the block that begins at line i (decorators are the caller's business). */
static size_t block_end(const lines *v, const bool *in, size_t i) {
  size_t base = indent(v->data[i]), end = i + 1;
  int depth = 0;
  bool head = true;
  for (size_t k = i; k < v->len; k++) {
    line l = v->data[k];
    if (!head && !in[k] && !blank(l) && indent(l) <= base) break;
    if (!blank(l) || in[k]) end = k + 1;
    for (size_t j = 0; head && j < l.len; j++) {
      if (strchr("([{", l.text[j])) depth++;
      if (strchr(")]}", l.text[j])) depth--;
      if (l.text[j] == '#') break;
      if (l.text[j] == ':' && depth == 0) head = false;
    }
  }
  return end;
}

/* The word `from` becomes `to`. */
static void put_renamed(ac_buf *b, line l, const char *from, const char *to) {
  size_t n = strlen(from);
  for (size_t i = 0; i < l.len;) {
    bool edge = i == 0 || (!isalnum((unsigned char)l.text[i - 1]) && l.text[i - 1] != '_' && l.text[i - 1] != '.');
    if (edge && starts(l, i, from)) {
      ac_puts(b, to);
      i += n;
    } else
      ac_putn(b, &l.text[i++], 1);
  }
  ac_puts(b, "\n");
}
static void put_line(ac_buf *b, line l) {
  ac_putn(b, l.text, l.len);
  ac_puts(b, "\n");
}

/* "layers.0.weight" is self.layers[0].weight in Python. */
static char *member(ac_arena *a, const char *name) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_puts(&b, "self");
  for (const char *p = name; *p;) {
    size_t n = strcspn(p, ".");
    bool number = n && strspn(p, "0123456789") == n;
    ac_printf(&b, number ? "[%.*s]" : ".%.*s", (int)n, p);
    p += n + (p[n] == '.');
  }
  return ac_strdup(a, ac_buf_str(&b));
}

static char *call_args(ac_emit_ctx *c) {
  const ac_graph *g = c->o->graph;
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (size_t i = 0; g && i < g->inputs.len; i++) {
    const ac_input *x = &g->inputs.data[i];
    const char *path = c->o->paths ? c->o->paths[i] : NULL;
    if (!path) path = x->role == AC_IN_PARAM || x->role == AC_IN_BUFFER ? member(c->a, x->name) : x->name;
    ac_printf(&b, "%s%s", i ? ", " : "", path);
  }
  return (char *)ac_buf_str(&b);
}

static void put_body(ac_emit_ctx *c, ac_buf *b, const char *pad, const char *call) {
  if (!c->o->result) {
    ac_printf(b, "%sreturn %s\n", pad, call);
    return;
  }
  int n = 0;
  for (size_t i = 0; c->o->graph && i < c->o->graph->outputs.len; i++) n += c->o->graph->outputs.data[i].updates < 0;
  if (n == 1 && !strcmp(c->o->result, "out[0]")) {
    ac_printf(b, "%sreturn %s\n", pad, call);
    return;
  }
  ac_printf(b, n == 1 ? "%sout = [%s]\n" : "%sout = %s\n", pad, call);
  ac_printf(b, "%sreturn %s\n", pad, c->o->result);
}

static void put_class(ac_emit_ctx *c, ac_buf *b, const lines *v, const bool *in, size_t from, size_t to,
                      const char *name, const char *call) {
  bool done = false;
  for (size_t i = from; i < to; i++) {
    line l = v->data[i];
    size_t at = indent(l);
    if (done || in[i] || at == 0 || !starts(l, at, "def") || !strstr(ac_strndup(c->a, l.text, l.len), "forward") ||
        !starts((line){l.text + at + 4, l.len - at - 4}, 0, "forward")) {
      put_renamed(b, l, name, "ModelNew");
      continue;
    }
    size_t end = block_end(v, in, i), k = i;
    int depth = 0;
    bool head = true;
    for (; k < end && head; k++) { /* the signature stays as it is, up to its colon */
      line h = v->data[k];
      size_t stop = h.len;
      for (size_t j = 0; j < h.len && head; j++) {
        if (h.text[j] == '#') break;
        if (strchr("([{", h.text[j])) depth++;
        if (strchr(")]}", h.text[j])) depth--;
        if (h.text[j] == ':' && depth == 0) head = false, stop = j + 1;
      }
      put_renamed(b, (line){h.text, stop}, name, "ModelNew");
    }
    char *pad = ac_sprintf(c->a, "%.*s    ", (int)at, l.text);
    put_body(c, b, pad, call);
    i = end - 1;
    done = true;
  }
}

static bool skipped(line l) {
  static const char *const names[] = {"get_inputs", "get_init_inputs", "get_input_groups"};
  for (size_t i = 0; i < AC_COUNT(names); i++)
    if (starts(l, 0, "def") && l.len > 4 && starts((line){l.text + 4, l.len - 4}, 0, names[i])) return true;
  return starts(l, 0, "if") && l.len > 11 && !memcmp(l.text, "if __name__", 11);
}

static char *from_source(ac_emit_ctx *c, const char *import_lines, const char *call) {
  const char *name = c->o->class_name ? c->o->class_name : "Model";
  lines v = split(c->a, c->o->source);
  bool *in = inside_strings(c->a, &v);
  ac_buf b;
  ac_buf_init(&b, c->a);
  size_t i = 0;
  bool imported = false, found = false;
  /* `from __future__` and the docstring must stay first; the extension's import goes before the first other statement. */
  while (i < v.len) {
    line l = v.data[i];
    if (!in[i] && starts(l, 0, "class") && l.len > 6 && starts((line){l.text + 6, l.len - 6}, 0, name)) {
      size_t end = block_end(&v, in, i);
      if (!imported) ac_printf(&b, "%s\n\n", import_lines);
      imported = true;
      put_class(c, &b, &v, in, i, end, name, call);
      found = true;
      i = end;
      continue;
    }
    if (!in[i] && skipped(l)) {
      i = block_end(&v, in, i);
      continue;
    }
    bool import = !in[i] && (starts(l, 0, "import") || starts(l, 0, "from"));
    put_line(&b, l);
    i++;
    if (import && !imported && l.len && l.text[l.len - 1] != '(' && l.text[l.len - 1] != '\\' &&
        !strstr(ac_strndup(c->a, l.text, l.len), "__future__")) {
      ac_puts(&b, import_lines);
      imported = true;
    }
  }
  return found ? ac_strdup(c->a, ac_buf_str(&b)) : NULL;
}

char *ac_model_new(ac_emit_ctx *c, const char *before, const char *module, const char *function) {
  const char *imports = ac_sprintf(c->a, "%simport %s\n", before, module);
  const char *call = ac_sprintf(c->a, "%s.%s(%s)", module, function, call_args(c));
  char *text = c->o->source && c->o->graph ? from_source(c, imports, call) : NULL;
  if (text) return text;
  ac_buf args;
  ac_buf_init(&args, c->a);
  for (int i = 0; i < c->n_in; i++) ac_printf(&args, ", %s", c->p->tensors.data[i].name);
  for (size_t i = 0; i < c->p->attrs.len; i++) ac_printf(&args, ", %s", c->p->attrs.data[i].name);
  const char *list = ac_buf_str(&args);
  return ac_sprintf(c->a,
                    "import torch\nimport torch_npu\n%s\n\nclass ModelNew(torch.nn.Module):\n    def "
                    "forward(self%s):\n        return %s.%s(%s)\n",
                    imports, list, module, function, *list ? list + 2 : "");
}
