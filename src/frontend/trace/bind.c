/* One call of one operation: finds its row in ops.def, binds Python's arguments to the row's signature as PyTorch does, applies it. */
#include "plugin.h"

#include <string.h>

typedef struct {
  const ac_opinfo *info;
  const char *shown; /* as the user wrote it: "softmax" */
  bool method;
  PyObject *given[16]; /* one a parameter: borrowed, NULL where absent */
  ac_arg args[16];
  PyObject *first; /* the first tensor: what in-place writes to, and views look at */
} call;

static PyObject *bad(const call *c, const char *fmt, ...) AC_PRINTF(2, 3);
static PyObject *bad(const call *c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = ac_vsprintf(tr.arena, fmt, ap);
  va_end(ap);
  ac_buf b;
  ac_buf_init(&b, tr.arena);
  for (int i = 0; i < c->info->n_params; i++) {
    const ac_opparam *p = &c->info->params[i];
    if (*p->name == '_') continue;
    if (i == c->info->n_positional) ac_puts(&b, i ? ", *" : "*");
    ac_printf(&b, "%s%s", i ? ", " : "", p->name);
    if (p->has_default) ac_printf(&b, "=%s", p->default_text);
  }
  return tr_raise(tr.bad_args, AC0217, ac_sprintf(tr.arena, "%s(%s)", c->shown, ac_buf_str(&b)), "%s(): %s", c->shown,
                  text);
}

static const char *type_name(PyObject *o) {
  PyObject *n = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
  const char *s = n ? tr_text(n) : NULL;
  Py_XDECREF(n);
  PyErr_Clear();
  return s ? s : "an object";
}

/* ---- conversions ---- */

static bool wants(const call *c, const ac_opparam *p, const char *what, PyObject *o) {
  if (!PyErr_Occurred()) bad(c, "argument '%s' must be %s, not %s", p->name, what, type_name(o));
  return false;
}

/* A tensor where Python needs the number itself. */
static PyObject *plain(PyObject *o) {
  if (!tr_is_tensor(o)) return tr_ref(o);
  ac_value *v = tr_value(o);
  PyObject *c = v ? tr_constant(v) : NULL;
  if (v && !c && !PyErr_Occurred())
    tr_raise(tr.data_dependent, AC0206, "pass a Python number, or compute with tensors",
             "an attribute depends on the data of a tensor");
  return c;
}

static bool to_ints(const call *c, const ac_opparam *p, PyObject *o, ac_arg *a) {
  if (tr_is_int(o)) {
    const ac_sym *s = tr_sym_of(tr.cur, o);
    if (!s) return false;
    *a = tr_arg_sizes(&s, 1);
    return true;
  }
  if (!PyList_Check(o) && !PyTuple_Check(o)) return wants(c, p, "an int or a tuple of ints", o);
  int n = (int)PySequence_Size(o);
  const ac_sym **s = AC_NEW_N(tr.arena, const ac_sym *, n);
  for (int i = 0; i < n; i++) {
    PyObject *raw = PySequence_GetItem(o, i), *x = raw ? plain(raw) : NULL;
    bool ok = x && tr_is_int(x);
    s[i] = ok ? tr_sym_of(tr.cur, x) : NULL;
    if (x && !ok) wants(c, p, "a tuple of ints", x);
    Py_XDECREF(x);
    Py_XDECREF(raw);
    if (!s[i]) return false;
  }
  *a = tr_arg_sizes(s, n);
  return true;
}

static bool to_tensors(const call *c, const ac_opparam *p, PyObject *o, ac_arg *a) {
  if (!PyList_Check(o) && !PyTuple_Check(o)) return wants(c, p, "a tuple or list of Tensors", o);
  a->n = (int)PySequence_Size(o);
  a->ts = AC_NEW_N(tr.arena, ac_value *, a->n);
  for (int i = 0; i < a->n; i++) {
    PyObject *x = PySequence_GetItem(o, i);
    bool ok = x && tr_is_tensor(x);
    a->ts[i] = ok ? tr_value(x) : NULL;
    if (x && !ok) wants(c, p, "a list of Tensors only", x);
    Py_XDECREF(x);
    if (!a->ts[i]) return false;
  }
  return true;
}

/* norm(p='fro'): for vectors the 2-norm. */
static bool is_fro(PyObject *o) {
  const char *s = PyUnicode_Check(o) ? tr_text(o) : NULL;
  return s && !strcmp(s, "fro");
}

static bool to_number(const call *c, const ac_opparam *p, PyObject *o, ac_arg *a) {
  if (p->kind == AC_K_SCALAR && is_fro(o)) {
    a->f = 2;
    return true;
  }
  PyObject *x = plain(o);
  if (!x) return false;
  bool ok = true;
  if (p->kind == AC_K_SCALAR && PyBool_Check(x)) {
    a->is_bool = a->is_int = true;
    a->i = ac_sym_int(tr.cur, x == Py_True);
    a->f = x == Py_True;
  } else if (p->kind == AC_K_SCALAR && tr_is_int(x)) {
    a->is_int = true;
    a->i = tr_sym_of(tr.cur, x);
    if (a->i) {
      a->f = (double)a->i->example;
    } else if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
      PyErr_Clear();
      a->is_int = false;
      a->f = PyLong_AsDouble(x);
    }
    ok = !PyErr_Occurred();
  } else if (PyFloat_Check(x) || PyLong_Check(x) || tr_is_sym(x)) {
    PyObject *f = PyNumber_Float(x);
    a->f = f ? PyFloat_AsDouble(f) : 0;
    ok = f != NULL;
    Py_XDECREF(f);
  } else {
    ok = wants(c, p, "a number", x);
  }
  Py_DECREF(x);
  return ok;
}

static bool to_int(const call *c, const ac_opparam *p, PyObject *o, ac_arg *a) {
  PyObject *x = plain(o);
  bool ok = x && (tr_is_int(x) || PyBool_Check(x));
  a->i = ok ? tr_sym_of(tr.cur, x) : NULL;
  if (x && !ok) wants(c, p, "an int", x);
  Py_XDECREF(x);
  return a->i != NULL;
}

static bool to_dtype(const call *c, const ac_opparam *p, PyObject *o, ac_arg *a) {
  PyObject *n = PyObject_GetAttrString(o, "_name");
  const char *s = n ? tr_text(n) : NULL;
  Py_XDECREF(n);
  PyErr_Clear();
  a->d = s ? ac_dtype_of(s) : AC_NODTYPE;
  if (a->d != AC_NODTYPE) return true;
  if (s) return bad(c, "dtype torch.%s is not supported", s) != NULL;
  return wants(c, p, "a torch.dtype", o);
}

static bool convert(const call *c, const ac_opparam *p, PyObject *o, ac_arg *a) {
  *a = (ac_arg){.kind = p->kind};
  if (o == Py_None && p->optional) {
    a->absent = true;
    return true;
  }
  switch (p->kind) {
  case AC_K_TENSOR:
    if (!tr_is_tensor(o) && !PyFloat_Check(o) && !PyLong_Check(o) && !tr_is_sym(o)) return wants(c, p, "Tensor", o);
    a->t = tr_value_of(o, p->name);
    return a->t != NULL;
  case AC_K_TENSORS: return to_tensors(c, p, o, a);
  case AC_K_SCALAR:
  case AC_K_FLOAT: return to_number(c, p, o, a);
  case AC_K_INT: return to_int(c, p, o, a);
  case AC_K_INTS: return to_ints(c, p, o, a);
  case AC_K_BOOL: {
    PyObject *x = plain(o);
    int truth = x ? PyObject_IsTrue(x) : -1;
    Py_XDECREF(x);
    a->b = truth == 1;
    return truth >= 0;
  }
  case AC_K_STR:
    if (!PyUnicode_Check(o)) return wants(c, p, "str", o);
    return (a->s = tr_text(o)) != NULL;
  case AC_K_DTYPE: return to_dtype(c, p, o, a);
  }
  return false;
}

/* ---- binding ---- */

/* Where tensors live, and what only eager PyTorch cares for. */
static bool ignored(const char *name) {
  static const char *const names[] = {"device",        "requires_grad", "layout",      "pin_memory", "non_blocking",
                                      "memory_format", "generator",     "_stacklevel", "copy"};
  for (size_t i = 0; i < AC_COUNT(names); i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

static int param_of(const ac_opinfo *info, const char *name) {
  static const char *const other_names[][2] = {{"axis", "dim"},       {"keepdims", "keepdim"},
                                               {"self", "input"},     {"x", "input"},
                                               {"other", "dim"},      {"axes", "dims"},
                                               {"a", "input"},        {"mat2", "other"},
                                               {"vec", "other"},      {"repeats", "repeats"},
                                               {"dims", "repeats"},   {"shape", "size"},
                                               {"indices", "index"},  {"split_size_or_sections", "split_size"},
                                               {"sizes", "repeats"},  {"dim", "dims"},
                                               {"size", "shape"},     {"exponent", "exponent"},
                                               {"values", "src"},     {"tensor", "input"},
                                               {"mask", "condition"}, {"boundaries", "other"}};
  for (int i = 0; i < info->n_params; i++)
    if (!strcmp(info->params[i].name, name)) return i;
  for (size_t k = 0; k < AC_COUNT(other_names); k++)
    for (int i = 0; !strcmp(other_names[k][0], name) && i < info->n_params; i++)
      if (!strcmp(info->params[i].name, other_names[k][1])) return i;
  return -1;
}

/* x.view(2, 3), zeros(2, 3): the rest of the positional arguments as one list, where a list of sizes is the last one that may be
 * positional. The new tuple is the caller's. */
static PyObject *gather_sizes(const call *c, PyObject *args, int at) {
  if (at != c->info->n_positional - 1 || c->info->params[at].kind != AC_K_INTS) return NULL;
  Py_ssize_t n = PyTuple_Size(args);
  for (Py_ssize_t i = at; i < n; i++)
    if (!tr_is_int(PyTuple_GetItem(args, i)) && !tr_is_tensor(PyTuple_GetItem(args, i))) return NULL;
  return PyTuple_GetSlice(args, at, n);
}

static bool bind_positional(call *c, PyObject *args, PyObject **sizes) {
  Py_ssize_t n = PyTuple_Size(args);
  for (Py_ssize_t i = 0, at = 0; i < n; i++, at++) {
    PyObject *o = PyTuple_GetItem(args, i);
    if (at < c->info->n_positional && (*sizes = gather_sizes(c, args, (int)at))) {
      c->given[at] = *sizes;
      return true;
    }
    /* x.std(False): the bool belongs to the next parameter. */
    while (at < c->info->n_positional && PyBool_Check(o) && c->info->params[at].kind == AC_K_INTS) at++;
    if (at >= c->info->n_positional) {
      bad(c, "takes %d positional arguments, but %zd were given", c->info->n_positional - c->method, n - c->method);
      return false;
    }
    c->given[at] = o;
  }
  return true;
}

static bool bind_keywords(call *c, PyObject *kwargs) {
  PyObject *key, *o;
  Py_ssize_t pos = 0;
  while (kwargs && PyDict_Next(kwargs, &pos, &key, &o)) {
    const char *name = tr_text(key);
    if (!name) return false;
    int at = param_of(c->info, name);
    if (at < 0 && (ignored(name) || (!strcmp(name, "out") && o == Py_None))) continue;
    if (at < 0 && !strcmp(name, "out"))
      return tr_raise(tr.error, AC0212, "assign the result: y = ...", "%s(): out= is not supported while tracing",
                      c->shown) != NULL;
    if (at < 0) return bad(c, "got an unexpected keyword argument '%s'", name) != NULL;
    if (c->given[at]) return bad(c, "got several values for argument '%s'", name) != NULL;
    c->given[at] = o;
  }
  return true;
}

/* Default texts are the graph's business: an absent tail keeps its defaults. In the middle they are read here. */
static bool default_of(const call *c, const ac_opparam *p, ac_arg *a) {
  const char *t = p->default_text;
  *a = (ac_arg){.kind = p->kind};
  if (p->optional && (!t || !strcmp(t, "None"))) {
    a->absent = true;
    return true;
  }
  if (!t) return bad(c, "missing required argument '%s'", p->name) != NULL;
  char *end;
  double v = strtod(t, &end);
  switch (p->kind) {
  case AC_K_BOOL: a->b = !strcmp(t, "True"); return true;
  case AC_K_STR: a->s = ac_intern_n(tr.texts, t + 1, strlen(t) - 2); return true;
  case AC_K_INT: a->i = ac_sym_int(tr.cur, (int64_t)v); return true;
  case AC_K_INTS: {
    const ac_sym *s = ac_sym_int(tr.cur, (int64_t)v);
    *a = tr_arg_sizes(&s, 1);
    return true;
  }
  default:
    a->f = *t == '\'' ? 2 : v; /* 'fro' */
    a->is_int = p->kind == AC_K_SCALAR && !strpbrk(t, "'.en");
    if (a->is_int) a->i = ac_sym_int(tr.cur, (int64_t)v);
    return true;
  }
}

/* randint(high, size), arange(end): the first of two numbers is left out. */
static PyObject *shift_first(ac_op op, PyObject *args, PyObject *kwargs) {
  Py_ssize_t n = PyTuple_Size(args);
  bool has_end = kwargs && (PyDict_GetItemString(kwargs, "end") || PyDict_GetItemString(kwargs, "high"));
  bool shift = false;
  if (op == AC_G_ARANGE) shift = n == 1 && !has_end;
  if (op == AC_G_RANDINT) shift = !has_end && (n == 1 || (n >= 2 && !tr_is_int(PyTuple_GetItem(args, 1))));
  if (op == AC_G_RANDINT_LIKE) shift = !has_end && n == 2;
  bool end_only = op == AC_G_ARANGE && n == 0 && has_end && !PyDict_GetItemString(kwargs, "start");
  end_only = end_only || (op == AC_G_RANDINT && n == 0 && has_end && !PyDict_GetItemString(kwargs, "low"));
  if (!shift && !end_only) return tr_ref(args);
  Py_ssize_t at = op == AC_G_RANDINT_LIKE ? 1 : 0;
  PyObject *zero = PyLong_FromLong(0), *t = zero ? PyTuple_New(n + 1) : NULL;
  for (Py_ssize_t i = 0, k = 0; t && k <= n; k++)
    PyTuple_SetItem(t, k, k == at ? tr_ref(zero) : tr_ref(PyTuple_GetItem(args, i++)));
  Py_XDECREF(zero);
  return t;
}

/* ---- sizes of creation functions in get_inputs become symbols ---- */

static void fresh_sizes(call *c) {
  if (!tr.fresh_sizes || c->info->cls == C_VIEW) return;
  for (int i = 0; i < c->info->n_params; i++) {
    const ac_opparam *p = &c->info->params[i];
    if (strcmp(p->name, "size") != 0 || p->kind != AC_K_INTS || c->args[i].n == 0) continue;
    ac_arg *a = &c->args[i];
    const ac_sym **s = AC_NEW_N(tr.arena, const ac_sym *, a->n);
    for (int k = 0; k < a->n; k++) {
      int64_t n;
      s[k] = ac_sym_is_const(a->is[k], &n) ? ac_sym_fresh(tr.gen, n, -1, k) : a->is[k];
    }
    a->is = s;
  }
}

/* ---- results ---- */

static const char *const pair_names[][3] = {{"sort", "values", "indices"},   {"topk", "values", "indices"},
                                            {"max", "values", "indices"},    {"min", "values", "indices"},
                                            {"cummax", "values", "indices"}, {"cummin", "values", "indices"}};

static PyObject *named_pair(const call *c, PyObject *list) {
  for (size_t i = 0; i < AC_COUNT(pair_names); i++)
    if (!strcmp(pair_names[i][0], c->info->id)) {
      PyObject *make = PyObject_GetAttrString(tr.module, "named_pair");
      PyObject *r = make ? PyObject_CallFunctionObjArgs(make, list, NULL) : NULL;
      Py_XDECREF(make);
      return r;
    }
  return PySequence_Tuple(list);
}

static bool several(const call *c) {
  ac_op op = ac_op_of(c->info->id);
  return op == AC_G_CHUNK || op == AC_G_SPLIT || op == AC_G_UNBIND;
}

static PyObject *results(const call *c, ac_value **outs, int n) {
  if (n == 1 && !several(c)) return tr_wrap_result(outs[0], c->first);
  PyObject *list = PyList_New(0);
  for (int i = 0; list && i < n; i++) {
    PyObject *t = tr_wrap_result(outs[i], c->first);
    if (!t || PyList_Append(list, t)) Py_CLEAR(list);
    Py_XDECREF(t);
  }
  PyObject *r = list ? named_pair(c, list) : NULL;
  Py_XDECREF(list);
  return r;
}

static bool may_write(const ac_value *to, const ac_value *from) {
  if (ac_dtypes[from->dtype].cls == ac_dtypes[to->dtype].cls || from->weak) return true;
  static const int order[] = {[AC_FLOATING] = 3, [AC_SIGNED] = 2, [AC_UNSIGNED] = 2, [AC_BOOLEAN] = 1};
  if (order[ac_dtypes[from->dtype].cls] <= order[ac_dtypes[to->dtype].cls]) return true;
  tr_raise(tr.error, AC0217, "cast explicitly, or use the form that returns a new tensor",
           "result type %s can't be cast to the desired output type %s", ac_dtypes[from->dtype].name,
           ac_dtypes[to->dtype].name);
  return false;
}

static PyObject *write_back(const call *c, ac_value *v) {
  if (!c->first) return bad(c, "the in-place form needs a tensor to write to");
  ac_value *old = tr_value(c->first);
  if (!old || !may_write(old, v) || !tr_assign(c->first, v)) return NULL;
  return tr_ref(c->first);
}

static bool wants_inplace(const call *c) {
  for (int i = 0; i < c->info->n_params; i++)
    if (!strcmp(c->info->params[i].name, "inplace")) {
      bool on = c->args[i].kind == AC_K_BOOL && c->args[i].b;
      return on;
    }
  return false;
}

static void drop_inplace(call *c) {
  for (int i = 0; i < c->info->n_params; i++)
    if (!strcmp(c->info->params[i].name, "inplace")) c->args[i].b = false;
}

/* ---- the call ---- */

static bool random_here(ac_op op, const call *c) {
  if (tr.cur != tr.main) return false;
  return op == AC_G_RRELU ? c->args[3].b : tr_random_op(op);
}

static bool bind(call *c, ac_op op, PyObject *args, PyObject *kwargs, bool swapped) {
  PyObject *sizes = NULL, *shifted = shift_first(op, args, kwargs);
  bool ok = shifted && bind_positional(c, shifted, &sizes) && bind_keywords(c, kwargs);
  if (ok && swapped) {
    PyObject *x = c->given[0];
    c->given[0] = c->given[1];
    c->given[1] = x;
  }
  for (int i = 0; ok && i < c->info->n_params; i++) {
    const ac_opparam *p = &c->info->params[i];
    ok = c->given[i] ? convert(c, p, c->given[i], &c->args[i]) : default_of(c, p, &c->args[i]);
    if (ok && !c->first && c->given[i] && tr_is_tensor(c->given[i])) c->first = c->given[i];
  }
  Py_XDECREF(sizes);
  Py_XDECREF(shifted);
  return ok;
}

/* call(namespace, name, args, kwargs or None) */
PyObject *tr_call(PyObject *self, PyObject *a) {
  (void)self;
  const char *ns, *name;
  PyObject *args, *kwargs = NULL;
  if (!PyArg_ParseTuple(a, "ssO|O", &ns, &name, &args, &kwargs)) return NULL;
  if (kwargs == Py_None) kwargs = NULL;
  bool swapped = false, inplace = false;
  ac_op op = ac_op_by_name(*ns, name, &swapped, &inplace);
  if (op == AC_OP_COUNT && (op = ac_op_of(name)) == AC_OP_COUNT) return tr_unknown(NULL, a);
  call c = {.info = ac_op_info(op), .shown = ac_strdup(tr.arena, name), .method = *ns == 'm' || *ns == 'r'};
  if (c.info->n_params > (int)AC_COUNT(c.args) || !bind(&c, op, args, kwargs, swapped)) return NULL;
  if (random_here(op, &c))
    return tr_raise(
        tr.error, AC0210,
        "make the random numbers outside and pass them to forward, or register them as a buffer in __init__",
        "%s() in forward: a kernel cannot reproduce PyTorch's random stream", name);
  fresh_sizes(&c);
  inplace = inplace || wants_inplace(&c);
  drop_inplace(&c);
  int n = 0;
  ac_graph *g = tr_graph_start();
  ac_value **outs = ac_graph_apply(g, op, c.args, c.info->n_params, tr_loc(), &n);
  if (!outs) return tr_raise_scratch();
  return inplace ? write_back(&c, outs[0]) : results(&c, outs, n);
}

PyObject *tr_has(PyObject *self, PyObject *a) {
  (void)self;
  const char *ns, *name;
  bool x, y;
  if (!PyArg_ParseTuple(a, "ss", &ns, &name)) return NULL;
  return PyBool_FromLong(ac_op_by_name(*ns, name, &x, &y) != AC_OP_COUNT);
}

/* unknown(namespace, name, ...): raises. */
PyObject *tr_unknown(PyObject *self, PyObject *a) {
  (void)self;
  static const char *const prefix[][2] = {{"t", "torch."},         {"m", "Tensor."},
                                          {"r", "Tensor."},        {"f", "torch.nn.functional."},
                                          {"s", "torch.special."}, {"l", "torch.linalg."}};
  PyObject *ns_o = PyTuple_GetItem(a, 0), *name_o = ns_o ? PyTuple_GetItem(a, 1) : NULL;
  const char *ns = name_o ? tr_text(ns_o) : NULL, *name = ns ? tr_text(name_o) : NULL, *where = "";
  if (!name) return NULL;
  for (size_t i = 0; i < AC_COUNT(prefix); i++)
    if (*prefix[i][0] == *ns) where = prefix[i][1];
  const char *near = ac_op_nearest(*ns, name);
  const char *help = near ? ac_sprintf(tr.arena, "did you mean %s%s?", where, near)
                          : "express it with operations that the tracer knows";
  return tr_raise(tr.unknown, AC0205, help, "%s%s is not an operation that the tracer knows", where, name);
}

/* literal(flat list of numbers, shape tuple, dtype name) -> Tensor */
PyObject *tr_literal(PyObject *self, PyObject *a) {
  (void)self;
  PyObject *flat, *shape;
  const char *dtype;
  if (!PyArg_ParseTuple(a, "OOs", &flat, &shape, &dtype)) return NULL;
  ac_buf b;
  ac_buf_init(&b, tr.arena);
  Py_ssize_t n = PySequence_Size(flat);
  ac_dtype d = ac_dtype_of(dtype);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *o = PySequence_GetItem(flat, i);
    if (i) ac_puts(&b, " ");
    if (o && ac_dtypes[d].cls != AC_FLOATING) {
      PyObject *k = PyNumber_Long(o);
      if (k) ac_printf(&b, "%lld", (long long)PyLong_AsLongLong(k));
      Py_XDECREF(k);
    } else if (o) {
      ac_put_double(&b, PyFloat_AsDouble(o));
    }
    Py_XDECREF(o);
    if (PyErr_Occurred()) return NULL;
  }
  int rank = (int)PySequence_Size(shape);
  const ac_sym **s = AC_NEW_N(tr.arena, const ac_sym *, rank);
  for (int i = 0; i < rank; i++) {
    PyObject *o = PySequence_GetItem(shape, i);
    s[i] = o ? tr_sym_of(tr.cur, o) : NULL;
    Py_XDECREF(o);
    if (!s[i]) return NULL;
  }
  ac_value *v = tr_apply1(
      AC_G_TENSOR,
      (ac_arg[]){{.kind = AC_K_STR, .s = ac_buf_str(&b)}, tr_arg_sizes(s, rank), {.kind = AC_K_DTYPE, .d = d}}, 3);
  return v ? tr_wrap(tr.cur, v) : NULL;
}
