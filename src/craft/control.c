/* What the host side adds to the language: balanced parts, tunables, the shapes of outputs, and what atomic stores combine with. */
#include "craft/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tl.split ---- */

/* min(n, cdiv(n, unit) * index // parts * unit): whole units, dealt out as evenly as they go. */
ac_kval ac_chk_split(ac_chk *c, ac_cexpr *e, const ac_kval *v) {
  ac_syms *s = &c->s;
  int64_t u = 1;
  bool known = !e->args[3] || ac_sy_const(v[3].sym, &u);
  if (known && u < 1) {
    ac_error(ac_chk_d(c), AC0524, e->args[3]->loc, "the unit of tl.split is %lld", (long long)u);
    return none;
  }
  ac_sym *unit = e->args[3] ? v[3].sym : ac_sy_int(s, 1);
  ac_sym *units = known && u == 1 ? v[0].sym : ac_sy_fn(s, AC_SY_CDIV, v[0].sym, unit);
  ac_sym *first = ac_sy_fn(s, AC_SY_FLOORDIV, ac_sy_mul(s, units, v[2].sym), v[1].sym);
  return int_value(ac_sy_fn(s, AC_SY_MIN, v[0].sym, ac_sy_mul(s, first, unit)));
}

/* ---- tl.tune ---- */

static bool whole(ac_chk *c, ac_cexpr *e, int64_t *out) {
  ac_kval v = ac_chk_int(c, e, "a choice of tl.tune");
  if (v.kind != AC_CT_INT) return false;
  if (ac_sy_const(v.sym, out)) return true;
  ac_diag *g =
      ac_error(ac_chk_d(c), AC0565, e->loc, "the choices of a tunable are constants; `%s` is none", text(c, e));
  ac_help(ac_chk_d(c), g, "bound it afterwards: tile = min(per_core, tl.tune(\"tile\", 8192, (2048, 8192)))");
  return false;
}

static bool listed(const ac_ctune *t, int64_t v) {
  for (int i = 0; i < t->n_choices; i++)
    if (t->choices[i] == v) return true;
  return false;
}

static char *choices_text(ac_chk *c, const ac_ctune *t) {
  ac_buf b;
  ac_buf_init(&b, c->a);
  for (int i = 0; i < t->n_choices; i++) ac_printf(&b, "%s%lld", i ? ", " : "", (long long)t->choices[i]);
  return ac_strdup(c->a, ac_buf_str(&b));
}

/* What the caller chose, by "name=value". */
static bool chosen(ac_chk *c, ac_ctune *t, const ac_cexpr *e) {
  size_t len = strlen(t->name);
  for (int i = 0; i < c->n_tunes; i++) {
    const char *x = c->tunes[i];
    if (strncmp(x, t->name, len) != 0 || x[len] != '=') continue;
    c->tune_used[i] = true;
    char *end;
    errno = 0;
    long long v = strtoll(x + len + 1, &end, 10);
    if (errno || *end || end == x + len + 1 || !listed(t, v)) {
      ac_diag *g =
          ac_error(ac_chk_d(c), AC0565, e->loc, "'%s' is no choice of the tunable '%s'", x + len + 1, t->name);
      ac_help(ac_chk_d(c), g, "choices: %s", choices_text(c, t));
      return false;
    }
    t->value = v;
  }
  return true;
}

static bool read_choices(ac_chk *c, const ac_cexpr *e, ac_ctune *t) {
  const ac_cexpr *list = e->args[2];
  bool tuple = list->kind == AC_CE_TUPLE;
  t->n_choices = tuple ? list->n_args : 1;
  t->choices = AC_NEW_N(c->a, int64_t, t->n_choices + 1);
  for (int i = 0; i < t->n_choices; i++)
    if (!whole(c, tuple ? list->args[i] : e->args[2], &t->choices[i])) return false;
  return true;
}

/* One name is one choice, wherever it stands. */
static bool same_as_before(ac_chk *c, const ac_cexpr *e, const ac_ctune *t) {
  for (size_t i = 0; i < c->m->tunes.len; i++) {
    const ac_ctune *x = &c->m->tunes.data[i];
    if (strcmp(x->name, t->name) != 0) continue;
    bool same = x->preset == t->preset && x->n_choices == t->n_choices &&
                !memcmp(x->choices, t->choices, sizeof *t->choices * (size_t)t->n_choices);
    if (!same) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0565, e->loc,
                            "the tunable '%s' has another default or other choices before", t->name);
      ac_note(ac_chk_d(c), g, x->loc, "here");
    }
    return true;
  }
  return false;
}

ac_kval ac_chk_tune(ac_chk *c, ac_cexpr *e) {
  ac_ctune t = {.loc = e->loc};
  if (e->args[0]->kind != AC_CE_STR || !*e->args[0]->s || strpbrk(e->args[0]->s, "= ,")) {
    ac_error(ac_chk_d(c), AC0565, e->args[0]->loc, "a tunable's name is a string without blanks, '=' and ','");
    return none;
  }
  t.name = e->args[0]->s;
  e->args[0]->type = AC_CT_STR;
  if (!whole(c, e->args[1], &t.preset) || !read_choices(c, e, &t)) return none;
  t.value = t.preset;
  if (!listed(&t, t.preset)) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0565, e->args[1]->loc, "the default %lld is not among the choices",
                          (long long)t.preset);
    ac_help(ac_chk_d(c), g, "choices: %s", choices_text(c, &t));
    return none;
  }
  if (!chosen(c, &t, e)) return none;
  if (!c->quiet && !same_as_before(c, e, &t)) ac_push(c->a, &c->m->tunes, t);
  e->i = t.value;
  return int_value(ac_sy_int(&c->s, t.value));
}

void ac_chk_tunes_used(ac_chk *c) {
  for (int i = 0; i < c->n_tunes; i++) {
    if (c->tune_used[i]) continue;
    const char *eq = strchr(c->tunes[i], '=');
    if (!eq) {
      ac_error(c->diags, AC0565, AC_NOLOC, "'%s' chooses nothing: write name=value", c->tunes[i]);
      continue;
    }
    ac_strvec names = {0};
    for (size_t k = 0; k < c->m->tunes.len; k++) ac_push(c->a, &names, c->m->tunes.data[k].name);
    char *name = ac_strndup(c->a, c->tunes[i], (size_t)(eq - c->tunes[i]));
    const char *near = ac_nearest(name, names.data, names.len);
    ac_diag *g = ac_error(c->diags, AC0565, AC_NOLOC, "the program has no tunable '%s'", name);
    if (near)
      ac_help(c->diags, g, "did you mean '%s'?", near);
    else if (!names.len)
      ac_help(c->diags, g, "a tunable is written as tl.tune(\"%s\", default, choices) in the host function", name);
  }
}

/* ---- outputs ---- */

static bool refers_to_output(ac_chk *c, const ac_cexpr *e, const ac_cparam *self) {
  if (!e) return false;
  if (e->kind == AC_CE_NAME) {
    int i = ac_chk_var(c->fn, e->s);
    int p = i < 0 ? -1 : c->fn->v.data[i].param;
    return p >= 0 && (&c->fn->f->params[p] == self || c->fn->f->params[p].declared_out);
  }
  for (int i = 0; i < e->n_args; i++)
    if (refers_to_output(c, e->args[i], self)) return true;
  return (e->kind != AC_CE_CALL && refers_to_output(c, e->a, self)) ||
         (e->kind == AC_CE_CALL && e->a->kind == AC_CE_ATTR && refers_to_output(c, e->a->a, self)) ||
         refers_to_output(c, e->b, self) || refers_to_output(c, e->c, self);
}

/* Elements of `x.shape`, `x.shape[a:b]`: the value that the program's own tl.prod and numel have. */
static ac_sym *part_numel(ac_chk *c, const ac_cexpr *e) {
  bool all = e->kind == AC_CE_ATTR;
  const char *label =
      all ? ac_sprintf(c->a, "%s.numel()", text(c, e->a)) : ac_sprintf(c->a, "tl.prod(%s)", text(c, e));
  ac_sym *r = ac_sy_named(&c->s, ac_sprintf(c->a, "host %s", label), label);
  ac_sy_at_least(&c->s, r, 0);
  return r;
}

static bool size_of_output(ac_chk *c, ac_cparam *p, ac_cexpr *e, ac_sym **numel, ac_sym **size) {
  if (refers_to_output(c, e, p)) {
    ac_diag *g = ac_error(ac_chk_d(c), AC0564, e->loc, "the shape of '%s' must follow from the inputs: `%s`", p->name,
                          text(c, e));
    ac_help(ac_chk_d(c), g, "use the sizes of inputs, attributes and constants");
    return false;
  }
  ac_kval v = ac_chk_eval(c, e);
  if (v.kind == AC_CT_SHAPE) {
    *size = NULL;
    *numel = ac_sy_mul(&c->s, *numel, part_numel(c, e));
    return true;
  }
  if (v.kind != AC_CT_INT) {
    if (v.kind != AC_CT_NONE)
      ac_error(ac_chk_d(c), AC0564, e->loc, "a size of '%s' is an int or a part of a shape; `%s` is %s", p->name,
               text(c, e), ac_chk_kind_name(v.kind));
    return false;
  }
  int64_t k;
  if (ac_sy_const(v.sym, &k) && k < 0) {
    ac_error(ac_chk_d(c), AC0564, e->loc, "'%s' has the size %lld", p->name, (long long)k);
    return false;
  }
  *size = v.sym;
  *numel = ac_sy_mul(&c->s, *numel, v.sym);
  return true;
}

static void declare_output(ac_chk *c, ac_finfo *f, int i, const ac_cexpr *e) {
  ac_cparam *p = &f->f->params[i];
  enum { MOST = 16 };
  p->dims = AC_NEW_N(c->a, ac_cexpr *, e->n_args + 1);
  for (int k = 0; k < e->n_args; k++)
    if (ac_chk_dtype_of(e->args[k]) == AC_NODTYPE) p->dims[p->n_dims++] = e->args[k];
  if (p->n_dims > MOST) {
    ac_error(ac_chk_d(c), AC0564, e->loc, "'%s' has %d sizes; %d is the most", p->name, p->n_dims, (int)MOST);
    p->n_dims = MOST;
  }
  ac_sym *numel = ac_sy_int(&c->s, 1), **sizes = AC_NEW_N(c->a, ac_sym *, p->n_dims + 1);
  bool whole_shape = true;
  for (int k = 0; k < p->n_dims; k++) {
    if (!size_of_output(c, p, p->dims[k], &numel, &sizes[k])) {
      p->dims = NULL;
      return;
    }
    whole_shape = whole_shape && sizes[k];
  }
  if (!p->n_dims) { /* only a dtype: like the first input */
    p->dims = NULL;
    return;
  }
  f->out_numel[i] = numel;
  if (whole_shape) f->out_sizes[i] = sizes;
}

void ac_chk_outputs(ac_chk *c) {
  ac_finfo *f = c->fn;
  f->out_numel = AC_NEW_N(c->a, ac_sym *, f->f->n_params + 1);
  f->out_sizes = AC_NEW_N(c->a, ac_sym **, f->f->n_params + 1);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < f->f->n_params; i++) {
      ac_cparam *p = &f->f->params[i];
      const ac_cexpr *e = p->annotation, *head = e && e->kind == AC_CE_INDEX ? e->a : e;
      if (!head || head->kind != AC_CE_ATTR || head->a->kind != AC_CE_NAME || strcmp(head->a->s, "tl") != 0) continue;
      bool out = !strcmp(head->s, "out"), inout = !strcmp(head->s, "inout");
      if (!out && !inout) continue;
      if (f->f->kernel) {
        if (pass) continue;
        ac_diag *g =
            ac_error(ac_chk_d(c), AC0564, e->loc, "tl.%s belongs to the host function's parameters", head->s);
        ac_help(ac_chk_d(c), g, "a kernel's tensor is %s: tl.tensor[dtype]", p->name);
        continue;
      }
      if (!pass) {
        p->declared_out = out;
        p->declared_inout = inout;
        p->dims = NULL;
        p->n_dims = 0;
      } else if (out && e->kind == AC_CE_INDEX) {
        declare_output(c, f, i, e);
      }
    }
}

static int host_param(ac_chk *c, const ac_cexpr *tensor) {
  int i = c->fn->f->kernel || tensor->kind != AC_CE_NAME ? -1 : ac_chk_var(c->fn, tensor->s);
  return i < 0 || !c->fn->out_numel ? -1 : c->fn->v.data[i].param;
}

ac_sym *ac_chk_declared_numel(ac_chk *c, const ac_cexpr *tensor) {
  int p = host_param(c, tensor);
  return p < 0 ? NULL : c->fn->out_numel[p];
}

ac_sym *ac_chk_declared_size(ac_chk *c, const ac_cexpr *tensor, const ac_sym *axis) {
  int p = host_param(c, tensor);
  int64_t k;
  if (p < 0 || !c->fn->out_sizes[p] || !ac_sy_const(axis, &k)) return NULL;
  int n = c->fn->f->params[p].n_dims;
  if (k < 0) k += n;
  return k < 0 || k >= n ? NULL : c->fn->out_sizes[p][k];
}

void ac_chk_directions(ac_chk *c) {
  const ac_cfunc *h = ac_craft_host(c->m);
  for (int i = 0; i < h->n_params; i++) {
    ac_cparam *p = &h->params[i];
    if (p->type != AC_CT_POINTER) continue;
    if (p->dtype == AC_NODTYPE && !c->diags->errors) {
      ac_diag *g =
          ac_warn(c->diags, AC0508, p->loc.line ? p->loc : h->loc,
                  "the dtype of '%s' is not known, since no kernel loads or stores it: float32 is taken", p->name);
      ac_help(c->diags, g, "write it at the parameter: %s: tl.float32", p->name);
      p->dtype = AC_F32;
    }
    if ((p->declared_out || p->declared_inout) && !p->out && !c->diags->errors) {
      ac_diag *g = ac_error(c->diags, AC0564, p->loc, "'%s' is declared as %s, and no kernel stores to it", p->name,
                            p->declared_out ? "an output" : "updated in place");
      ac_help(c->diags, g, "drop the annotation, or pass it to the kernel that stores it");
    }
    if (p->declared_out && p->out && p->in && !c->diags->errors) {
      ac_diag *g = ac_error(c->diags, AC0564, p->loc,
                            "'%s' is declared as an output, and a kernel reads it before one "
                            "has filled it",
                            p->name);
      ac_help(c->diags, g, "%s: tl.inout, if what the caller passes counts", p->name);
    }
    if (p->declared_inout) p->in = true;
  }
}

/* ---- atomic stores ---- */

bool ac_chk_atomic(ac_chk *c, ac_cexpr *e, ac_cparam *p) {
  ac_cexpr *how = e->n_args > 3 ? e->args[3] : NULL;
  ac_atomic op;
  if (!how) {
    p->plain = true;
    return true;
  }
  if (how->kind != AC_CE_STR || !ac_atomic_of(how->s, &op)) {
    ac_error(ac_chk_d(c), AC0505, how->loc, "atomic= is \"add\", \"max\" or \"min\", not `%s`", text(c, how));
    return false;
  }
  p->atomic = true;
  if (c->chip && p->dtype != AC_NODTYPE && !ac_chip_atomic(c->chip, op, p->dtype)) {
    const char *have = ac_chip_atomic_dtypes(c->a, c->chip, op);
    ac_diag *g = ac_error(ac_chk_d(c), AC0508, e->loc, "%s has no atomic \"%s\" of %s ('%s')", c->chip->soc, how->s,
                          ac_dtypes[p->dtype].name, p->name);
    ac_help(ac_chk_d(c), g,
            *have ? "it has it for %s" : "store partial results and combine them in a second launch%s", have);
    return false;
  }
  return true;
}

/* A launch's atomic stores combine with what an earlier launch stored, with what the kernel itself stored before a barrier, or with what
 * the caller passes: then the tensor is updated in place. True: what the caller passes counts. */
bool ac_chk_launched(ac_chk *c, ac_cexpr *tensor, const ac_cparam *p) {
  ac_vinfo *v = &c->fn->v.data[ac_chk_var(c->fn, tensor->s)];
  ac_cparam *h = v->param >= 0 ? &c->fn->f->params[v->param] : NULL;
  bool *filled = h ? &h->plain : &v->plain;
  bool holds = *filled || p->plain || (h && h->declared_inout);
  bool reads = p->in && !(h && h->declared_out && holds); /* read back: it holds what was stored */
  if (p->atomic && !holds) {
    const char *name = tensor->s;
    if (!h || h->declared_out) {
      ac_diag *g = ac_error(ac_chk_d(c), AC0560, tensor->loc,
                            "atomic stores combine with what memory holds, and '%s' holds nothing yet", name);
      ac_help(ac_chk_d(c), g, "launch a kernel before that stores 0 (or what the sum begins with) to all of '%s'",
              name);
    } else {
      ac_diag *g = ac_warn(ac_chk_d(c), AC0560, tensor->loc,
                           "'%s' is updated in place: atomic stores combine with what the caller passes", name);
      ac_help(ac_chk_d(c), g, "write %s: tl.inout if that is meant; else fill '%s' by an earlier launch", name, name);
    }
    reads = true;
  }
  *filled = *filled || p->plain;
  if (h) h->atomic = h->atomic || p->atomic;
  return reads;
}
