/* Tensor cells: reading, writing in place, views. */
#include "plugin.h"

#include <string.h>

bool tr_is_tensor(PyObject *o) {
  return PyObject_TypeCheck(o, tr.tensor_type);
}

static tr_tensor *cell(PyObject *o) {
  return (tr_tensor *)o;
}

static PyObject *new_cell(PyTypeObject *type, ac_graph *g, ac_value *v) {
  allocfunc alloc = __extension__(allocfunc) PyType_GetSlot(type, Py_tp_alloc);
  tr_tensor *t = (tr_tensor *)alloc(type, 0);
  if (t) {
    t->g = g;
    t->v = v;
  }
  return (PyObject *)t;
}

PyObject *tr_wrap(ac_graph *g, ac_value *v) {
  return new_cell((PyTypeObject *)tr.tensor, g, v);
}

/* ---- short forms of graph calls ---- */

ac_arg tr_arg_t(ac_value *v) {
  return (ac_arg){.kind = AC_K_TENSOR, .t = v};
}
ac_arg tr_arg_i(const ac_sym *s) {
  return (ac_arg){.kind = AC_K_INT, .i = s};
}
ac_arg tr_arg_sizes(const ac_sym *const *s, int n) {
  const ac_sym **copy = AC_NEW_N(tr.arena, const ac_sym *, n);
  if (n) memcpy(copy, s, (size_t)n * sizeof *copy);
  return (ac_arg){.kind = AC_K_INTS, .is = copy, .n = n};
}

static ac_value **apply(ac_op op, const ac_arg *args, int n, int *n_out) {
  ac_graph *g = tr_graph_start();
  ac_value **outs = ac_graph_apply(g, op, args, n, tr_loc(), n_out);
  if (!outs) tr_raise_scratch();
  return outs;
}

ac_value *tr_apply1(ac_op op, const ac_arg *args, int n) {
  int n_out = 0;
  ac_value **outs = apply(op, args, n, &n_out);
  return outs ? outs[0] : NULL;
}

ac_value *tr_reshape(ac_value *v, const ac_sym *const *shape, int rank) {
  return tr_apply1(AC_G_RESHAPE, (ac_arg[]){tr_arg_t(v), tr_arg_sizes(shape, rank)}, 2);
}

/* ---- from one graph to another ---- */

static ac_arg copy_arg(const ac_arg *x, bool rehome) {
  ac_arg y = *x;
  if (!rehome) return y;
  if (x->i) y.i = tr_sym_rehome(tr.cur, x->i);
  if (x->is) {
    y.is = AC_NEW_N(tr.arena, const ac_sym *, x->n);
    for (int k = 0; k < x->n; k++) y.is[k] = tr_sym_rehome(tr.cur, x->is[k]);
  }
  return y;
}

bool tr_random_op(ac_op op) {
  switch (op) {
  case AC_G_RAND:
  case AC_G_RANDN:
  case AC_G_RANDINT:
  case AC_G_RANDPERM:
  case AC_G_UNIFORM:
  case AC_G_NORMAL:
  case AC_G_RAND_LIKE:
  case AC_G_RANDN_LIKE:
  case AC_G_RANDINT_LIKE:
  case AC_G_BERNOULLI: return true;
  default: return false;
  }
}

/* Values of gen whose numbers are drawn: looked through once, in order, as far as the graph has grown. */
bool tr_is_random(const ac_value *v) {
  for (; tr.random_seen < tr.gen->nodes.len; tr.random_seen++) {
    const ac_node *n = tr.gen->nodes.data[tr.random_seen];
    bool random = tr_random_op(n->op);
    for (int i = 0; i < n->n_args && !random; i++) {
      const ac_arg *x = &n->args[i];
      random = x->t && tr.random.data[x->t->id];
      for (int k = 0; x->ts && k < x->n && !random; k++) random = tr.random.data[x->ts[k]->id];
    }
    for (int k = 0; k < n->n_outs; k++) {
      while ((int)tr.random.len <= n->outs[k]->id) ac_push(tr.arena, &tr.random, false);
      tr.random.data[n->outs[k]->id] = random;
    }
  }
  return v->id < (int)tr.random.len && tr.random.data[v->id];
}

/* ---- constants made while the module was built (a table, a mask), made again in forward's graph ---- */

static ac_value *lifted(const ac_value *v) {
  return v->id < (int)tr.lifted.len ? tr.lifted.data[v->id] : NULL;
}

static void set_lifted(const ac_value *v, ac_value *to) {
  while ((int)tr.lifted.len <= v->id) ac_push(tr.arena, &tr.lifted, NULL);
  tr.lifted.data[v->id] = to;
}

static bool lift_node(const ac_node *n) {
  const ac_arg *x = n->args;
  if (n->op == AC_G_CONST || n->op == AC_G_SIZE) {
    bool is_int = n->op == AC_G_SIZE || x->is_int;
    set_lifted(n->outs[0], n->op == AC_G_CONST && x->is_bool ? ac_graph_boolean(tr.cur, x->f != 0)
                           : is_int                          ? ac_graph_integer(tr.cur, tr_sym_rehome(tr.cur, x->i))
                                                             : ac_graph_number(tr.cur, x->f));
    return true;
  }
  ac_arg *args = AC_NEW_N(tr.arena, ac_arg, n->n_args);
  for (int i = 0; i < n->n_args; i++) {
    args[i] = copy_arg(&x[i], true);
    if (args[i].t) args[i].t = lifted(args[i].t);
    if (!args[i].ts) continue;
    args[i].ts = AC_NEW_N(tr.arena, ac_value *, args[i].n);
    for (int k = 0; k < args[i].n; k++) args[i].ts[k] = lifted(x[i].ts[k]);
  }
  int n_out = 0;
  ac_value **outs = apply(n->op, args, n->n_args, &n_out);
  for (int k = 0; outs && k < n_out; k++) set_lifted(n->outs[k], outs[k]);
  return outs != NULL;
}

typedef AC_VEC(const ac_value *) values;

static void want(values *stack, bool *wanted, const ac_value *v) {
  if (!v || wanted[v->id] || lifted(v)) return;
  wanted[v->id] = true;
  ac_push(tr.arena, stack, v);
}

static ac_value *lift(const ac_value *v) {
  bool *wanted = AC_NEW_N(tr.arena, bool, tr.gen->values.len);
  values stack = {0};
  want(&stack, wanted, v);
  while (stack.len) {
    const ac_node *n = stack.data[--stack.len]->def;
    for (int i = 0; i < n->n_args; i++) {
      want(&stack, wanted, n->args[i].t);
      for (int k = 0; n->args[i].ts && k < n->args[i].n; k++) want(&stack, wanted, n->args[i].ts[k]);
    }
  }
  for (size_t i = 0; i < tr.gen->nodes.len; i++) {
    const ac_node *n = tr.gen->nodes.data[i];
    bool need = false;
    for (int k = 0; k < n->n_outs; k++) need = need || wanted[n->outs[k]->id];
    if (need && !lift_node(n)) return NULL;
  }
  return lifted(v);
}

/* ---- along a view's recipe ---- */

/* The node's result for other operands: `made` was computed from `of`; now from `now`. */
static ac_value *replay(const ac_value *made, const ac_value *of, ac_value *now, bool rehome) {
  if (made == of) return now;
  const ac_node *n = made->def;
  ac_arg *args = AC_NEW_N(tr.arena, ac_arg, n->n_args);
  for (int i = 0; i < n->n_args; i++) args[i] = copy_arg(&n->args[i], rehome);
  args[0].t = replay(n->args[0].t, of, now, rehome);
  if (!args[0].t) return NULL;
  int n_out = 0;
  ac_value **outs = apply(n->op, args, n->n_args, &n_out);
  return outs ? outs[made->out] : NULL;
}

/* ---- reading ---- */

static bool refresh(tr_tensor *t) {
  if (!t->base) return true;
  tr_tensor *base = cell(t->base);
  ac_value *now = tr_value(t->base);
  if (!now) return false;
  if (base->version == t->base_version && t->g == base->g) return true;
  ac_value *v = replay(t->made, t->of, now, t->made_in != tr.cur);
  if (!v) return false;
  t->v = v;
  t->g = base->g;
  t->base_version = base->version;
  t->version++;
  return true;
}

/* A tensor attribute of the module that no register_buffer announced, filled with random numbers: an input all the same. */
static bool to_hidden_input(PyObject *o) {
  PyObject *name = PyObject_CallFunctionObjArgs(tr.hidden, o, NULL);
  if (!name) return false;
  if (name == Py_None) {
    Py_DECREF(name);
    tr_raise(tr.error, AC0210, "register it as a buffer or parameter of the module, or pass it to forward",
             "forward uses a tensor of random numbers that was made outside of it and belongs to no module");
    return false;
  }
  PyObject *args = Py_BuildValue("(OOsOz)", o, name, "buffer", Py_None, NULL),
           *r = args ? tr_input(NULL, args) : NULL;
  Py_XDECREF(args);
  Py_DECREF(name);
  Py_XDECREF(r);
  return r != NULL;
}

ac_value *tr_value(PyObject *o) {
  tr_tensor *t = cell(o);
  if (!t->v) {
    PyErr_SetString(PyExc_RuntimeError, "a tensor that was never initialised");
    return NULL;
  }
  if (!refresh(t)) return NULL;
  if (t->g == tr.cur) return t->v;
  if (t->g == tr.main) {
    PyErr_SetString(PyExc_RuntimeError, "a tensor of forward used outside of it");
    return NULL;
  }
  if (tr_is_random(t->v)) return to_hidden_input(o) ? t->v : NULL;
  ac_value *v = lift(t->v);
  if (!v) return NULL;
  t->v = v;
  t->g = tr.cur;
  return v;
}

ac_value *tr_value_of(PyObject *o, const char *what) {
  if (tr_is_tensor(o)) return tr_value(o);
  tr_graph_start();
  if (PyBool_Check(o)) return ac_graph_boolean(tr.cur, o == Py_True);
  if (tr_is_int(o)) {
    const ac_sym *s = tr_sym_of(tr.cur, o);
    if (s) return ac_graph_integer(tr.cur, s);
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
    PyErr_Clear();
    return ac_graph_number(tr.cur, PyLong_AsDouble(o));
  }
  if (PyFloat_Check(o)) return ac_graph_number(tr.cur, PyFloat_AsDouble(o));
  PyErr_Format(PyExc_TypeError, "%s must be Tensor or a number, not %R", what, (PyObject *)Py_TYPE(o));
  return NULL;
}

/* ---- views ---- */

/* Does what was computed from `of` by view operations lie in memory out of order? Values say nothing of memory (one may have been put
 * together after a write), so only the way from the base counts. */
static bool strided(const ac_value *v, const ac_value *of, bool base) {
  if (v == of) return base;
  const ac_node *n = v->def;
  switch (n->op) {
  case AC_G_SLICE: return n->args[4].i->example != 1 || n->args[1].i->example != 0 || strided(n->args[0].t, of, base);
  case AC_G_SELECT: return n->args[1].i->example != 0 || strided(n->args[0].t, of, base);
  case AC_G_UNSQUEEZE:
  case AC_G_SQUEEZE: return strided(n->args[0].t, of, base);
  case AC_G_RESHAPE: return false;
  default: return true;
  }
}

static bool is_made_of(const ac_value *v, const ac_value *of) {
  for (; v != of; v = v->def->args[0].t)
    if (!v->def || ac_op_info(v->def->op)->cls != C_VIEW) return false;
  return true;
}

static bool reshapes_strided(const ac_value *v, const ac_value *of, bool base) {
  for (; v != of; v = v->def->args[0].t)
    if (v->def->op == AC_G_RESHAPE && strided(v->def->args[0].t, of, base)) return true;
  return false;
}

enum { MAX_DEPTH = 8 };

/* The tensor that v is a view of: the nearest one that it comes from, or the farthest where views of views would pile up. */
static PyObject *base_of(const ac_value *v, PyObject *of) {
  PyObject *base = NULL;
  for (PyObject *b = of; b; b = cell(b)->base) {
    if (cell(b)->g != tr.cur || !is_made_of(v, cell(b)->v)) continue;
    base = b;
    if (cell(b)->depth < MAX_DEPTH) break;
  }
  return base;
}

PyObject *tr_wrap_result(ac_value *v, PyObject *of) {
  PyObject *r = tr_wrap(tr.cur, v), *base = base_of(v, of);
  if (!r || !base) return r;
  tr_tensor *t = cell(r), *from = cell(base);
  t->base = tr_ref(base);
  t->depth = from->depth + 1;
  t->made = v;
  t->of = from->v;
  t->made_in = tr.cur;
  t->base_version = from->version;
  t->strided = strided(v, from->v, from->strided);
  t->maybe_copy = from->maybe_copy || reshapes_strided(v, from->v, from->strided);
  return r;
}

/* ---- writing in place ---- */

static bool same_shape(const ac_value *x, const ac_value *y) {
  if (x->rank != y->rank) return false;
  for (int i = 0; i < x->rank; i++)
    if (x->shape[i] != y->shape[i] && !ac_sym_equal(tr.cur, x->shape[i], y->shape[i])) return false;
  return true;
}

/* What `of` becomes when what was `made` of it becomes `src`. `now` is of's value. */
static ac_value *put(const ac_value *made, const ac_value *of, ac_value *now, ac_value *src, bool rehome) {
  if (made == of) return src;
  const ac_node *n = made->def;
  ac_value *x = replay(n->args[0].t, of, now, rehome), *up = NULL; /* the operand, as of now */
  if (!x) return NULL;
  ac_arg a[6] = {tr_arg_t(x), tr_arg_t(src)};
  switch (n->op) {
  case AC_G_RESHAPE:
  case AC_G_UNSQUEEZE:
  case AC_G_SQUEEZE: up = tr_reshape(src, x->shape, x->rank); break;
  case AC_G_PERMUTE: {
    const ac_sym **back = AC_NEW_N(tr.arena, const ac_sym *, x->rank);
    for (int i = 0; i < x->rank; i++) {
      int64_t d = n->args[1].is[i]->example;
      back[d < 0 ? d + x->rank : d] = ac_sym_int(tr.cur, i);
    }
    up = tr_apply1(AC_G_PERMUTE, (ac_arg[]){tr_arg_t(src), tr_arg_sizes(back, x->rank)}, 2);
    break;
  }
  case AC_G_SELECT:
    for (int i = 1; i < 3; i++) a[i + 1] = copy_arg(&n->args[i], rehome);
    up = tr_apply1(AC_G_SELECT_SCATTER, a, 4);
    break;
  case AC_G_SLICE:
    for (int i = 1; i < 5; i++) a[i + 1] = copy_arg(&n->args[i], rehome);
    up = tr_apply1(AC_G_SLICE_SCATTER, a, 6);
    break;
  case AC_G_EXPAND:
    if (same_shape(x, src)) up = src;
    break;
  default: break;
  }
  if (!up && !PyErr_Occurred())
    tr_raise(tr.error, AC0212, "write to a clone() of it, or use the form that returns a new tensor",
             "writing in place into a tensor made by %s() would write several elements that share their memory, or "
             "is not supported",
             ac_op_info(n->op)->id);
  return up ? put(n->args[0].t, of, now, up, rehome) : NULL;
}

bool tr_write(PyObject *o, ac_value *v) {
  tr_tensor *t = cell(o);
  if (t->maybe_copy) {
    tr_raise(tr.error, AC0212,
             "use view() on something contiguous, or write with an expression that returns a new tensor",
             "writing in place into a reshape of a strided tensor: whether that is a view or a copy depends on "
             "memory layout");
    return false;
  }
  if (t->base) {
    ac_value *now = tr_value(t->base), *up = now ? put(t->made, t->of, now, v, t->made_in != tr.cur) : NULL;
    if (!up || !tr_write(t->base, up)) return false;
    t->base_version = cell(t->base)->version;
  }
  t->v = v;
  t->g = tr.cur;
  t->version++;
  return true;
}

bool tr_assign(PyObject *dst, ac_value *src) {
  ac_value *old = tr_value(dst);
  if (!old) return false;
  if (src->dtype != old->dtype || src->weak) {
    src = tr_apply1(AC_G_CAST, (ac_arg[]){tr_arg_t(src), {.kind = AC_K_DTYPE, .d = old->dtype}}, 2);
    if (!src) return false;
  }
  if (!same_shape(src, old)) {
    src = tr_apply1(AC_G_EXPAND, (ac_arg[]){tr_arg_t(src), tr_arg_sizes(old->shape, old->rank)}, 2);
    if (!src) return false;
  }
  return tr_write(dst, src);
}

/* ---- numbers that need no data ---- */

static PyObject *number_of(double v, ac_dtype d) {
  if (ac_dtypes[d].cls == AC_BOOLEAN) return PyBool_FromLong(v != 0);
  return ac_dtypes[d].cls == AC_FLOATING ? PyFloat_FromDouble(v) : PyLong_FromDouble(v);
}

PyObject *tr_constant(ac_value *v) {
  for (int i = 0; i < v->rank; i++)
    if (v->shape[i]->example != 1) return NULL;
  const ac_node *n = v->def;
  if (!n) return NULL;
  switch (n->op) {
  case AC_G_SIZE: return tr_sym_wrap(tr.cur, n->args[0].i);
  case AC_G_CONST:
    if (n->args[0].is_bool)
      return PyBool_FromLong(n->args[0].is_int ? n->args[0].i->example != 0 : n->args[0].f != 0);
    return n->args[0].is_int ? tr_sym_wrap(tr.cur, n->args[0].i) : PyFloat_FromDouble(n->args[0].f);
  case AC_G_TENSOR: return number_of(strtod(n->args[0].s, NULL), v->dtype);
  case AC_G_FULL: return number_of(n->args[1].is_int ? (double)n->args[1].i->example : n->args[1].f, v->dtype);
  case AC_G_CAST: {
    PyObject *x = tr_constant(n->args[0].t), *f = x ? PyNumber_Float(x) : NULL;
    PyObject *r = f ? number_of(PyFloat_AsDouble(f), v->dtype) : NULL;
    Py_XDECREF(x);
    Py_XDECREF(f);
    return r;
  }
  case AC_G_RESHAPE:
  case AC_G_SQUEEZE:
  case AC_G_UNSQUEEZE:
  case AC_G_EXPAND:
  case AC_G_SELECT: return n->args[0].t->rank == 0 || n->op != AC_G_SELECT ? tr_constant(n->args[0].t) : NULL;
  default: return NULL;
  }
}

/* ---- the Python type ---- */

static void dealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  Py_XDECREF(cell(o)->base);
  freefunc f = __extension__(freefunc) PyType_GetSlot(type, Py_tp_free);
  f(o);
  Py_DECREF(type);
}

static PyObject *get_shape(PyObject *o, void *unused) {
  (void)unused;
  if (!refresh(cell(o))) return NULL;
  ac_value *v = cell(o)->v;
  if (!v) {
    PyErr_SetString(PyExc_RuntimeError, "a tensor that was never initialised");
    return NULL;
  }
  PyObject *sizes = PyTuple_New(v->rank);
  for (int i = 0; sizes && i < v->rank; i++) PyTuple_SetItem(sizes, i, tr_sym_wrap(cell(o)->g, v->shape[i]));
  PyObject *r = sizes ? PyObject_CallFunctionObjArgs(tr.size, sizes, NULL) : NULL;
  Py_XDECREF(sizes);
  return r;
}

static PyObject *get_dtype(PyObject *o, void *unused) {
  (void)unused;
  if (!cell(o)->v) Py_RETURN_NONE;
  PyObject *d = PyDict_GetItemString(tr.dtypes, ac_dtypes[cell(o)->v->dtype].name);
  return d ? tr_ref(d) : PyErr_Format(PyExc_RuntimeError, "no torch dtype for %s", ac_dtypes[cell(o)->v->dtype].name);
}

static PyObject *get_ndim(PyObject *o, void *unused) {
  (void)unused;
  return PyLong_FromLong(cell(o)->v ? cell(o)->v->rank : 0);
}

static PyObject *get_constant(PyObject *o, void *unused) {
  (void)unused;
  ac_value *v = tr_value(o);
  if (!v) return NULL;
  PyObject *c = tr_constant(v);
  return c || PyErr_Occurred() ? c : tr_ref(Py_None);
}

static PyObject *get_base(PyObject *o, void *unused) {
  (void)unused;
  return tr_ref(cell(o)->base ? cell(o)->base : Py_None);
}

static PyObject *get_strided(PyObject *o, void *unused) {
  (void)unused;
  return PyBool_FromLong(cell(o)->strided);
}

/* _copy(cls): another cell of class cls with the same value now: a clone. */
static PyObject *py_copy(PyObject *o, PyObject *cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, tr.tensor_type)) {
    PyErr_SetString(PyExc_TypeError, "a Tensor class is required");
    return NULL;
  }
  if (!refresh(cell(o))) return NULL;
  return new_cell((PyTypeObject *)cls, cell(o)->g, cell(o)->v);
}

/* _assign(src): in place, cast and broadcast. */
static PyObject *py_assign(PyObject *o, PyObject *src) {
  ac_value *v = tr_value_of(src, "the source");
  return v && tr_assign(o, v) ? tr_ref(o) : NULL;
}

/* _set_data(src): x.data = src, which may have another shape. */
static PyObject *py_set_data(PyObject *o, PyObject *src) {
  if (!tr_is_tensor(src)) {
    PyErr_SetString(PyExc_TypeError, "data must be a Tensor");
    return NULL;
  }
  ac_value *v = tr_value(src);
  if (!v) return NULL;
  tr_tensor *t = cell(o);
  Py_XDECREF(t->base);
  t->base = NULL;
  t->strided = t->maybe_copy = false;
  t->v = v;
  t->g = tr.cur;
  t->version++;
  Py_RETURN_NONE;
}

PyTypeObject *tr_tensor_type(void) {
  static PyMethodDef methods[] = {{"_copy", py_copy, METH_O, NULL},
                                  {"_assign", py_assign, METH_O, NULL},
                                  {"_set_data", py_set_data, METH_O, NULL},
                                  {NULL, NULL, 0, NULL}};
  static PyGetSetDef getset[] = {{"_shape", get_shape, NULL, NULL, NULL},
                                 {"_dtype", get_dtype, NULL, NULL, NULL},
                                 {"_ndim", get_ndim, NULL, NULL, NULL},
                                 {"_constant", get_constant, NULL, NULL, NULL},
                                 {"_view_of", get_base, NULL, NULL, NULL},
                                 {"_strided", get_strided, NULL, NULL, NULL},
                                 {NULL, NULL, NULL, NULL, NULL}};
  PyType_Slot slots[] = {
      {Py_tp_dealloc, TR_SLOT(dealloc)}, {Py_tp_methods, methods}, {Py_tp_getset, getset}, {0, NULL}};
  PyType_Spec spec = {"_ascendcraft.TensorBase", (int)sizeof(tr_tensor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  return (PyTypeObject *)PyType_FromSpec(&spec);
}
