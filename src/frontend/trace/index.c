/* x[...] and x[...] = v. */
#include "plugin.h"

#include <string.h>

enum { MAX_INDEX = 32 };

typedef struct {
  PyObject *tensor;
  ac_value *v;                /* after the basic indices so far */
  int dim;                    /* next dimension of v */
  PyObject *index[MAX_INDEX]; /* tensors and lists, borrowed (kept alive by `made`) */
  int at[MAX_INDEX];          /* dimension of v that each one indexes */
  int n_index;
  PyObject *made; /* list: owner of tensors made here */
} indexing;

static bool is_mask(PyObject *o) {
  if (!tr_is_tensor(o)) return false;
  ac_value *v = tr_value(o);
  if (!v) PyErr_Clear();
  return v && (v->dtype == AC_BOOL);
}

static bool is_list(PyObject *o) {
  return PyList_Check(o) || (PyTuple_Check(o) && !PyObject_TypeCheck(o, (PyTypeObject *)tr.size));
}

/* How many dimensions of the tensor an entry consumes. */
static int consumes(PyObject *o) {
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
  if (is_mask(o)) {
    ac_value *v = tr_value(o);
    return v->rank;
  }
  return 1;
}

static void *refuse_mask(void) {
  tr_raise(tr.data_dependent, AC0206,
           "keep the shape: torch.where(mask, x, other), x.masked_fill(mask, value), or multiply by the mask",
           "indexing with a bool mask: how many elements it selects depends on the data, so the result has no shape "
           "before it runs");
  return NULL;
}

static bool set(indexing *x, ac_value *v) {
  if (v) x->v = v;
  return v != NULL;
}

static bool one(indexing *x, const ac_sym *i) {
  ac_arg a[3] = {tr_arg_t(x->v), tr_arg_i(ac_sym_int(tr.cur, x->dim)), tr_arg_i(i)};
  return set(x, tr_apply1(AC_G_SELECT, a, 3));
}

/* A slice's bound as Python means it: negative counts from the end, beyond the ends is cut. */
static const ac_sym *bound(PyObject *o, const ac_sym *n, const ac_sym *absent) {
  if (o == Py_None) return absent;
  PyObject *num = NULL;
  if (tr_is_tensor(o)) {
    ac_value *v = tr_value(o);
    num = v ? tr_constant(v) : NULL;
    if (v && !num) tr_raise(tr.data_dependent, AC0206, NULL, "a slice bound depends on the data of a tensor");
  } else if (tr_is_int(o)) {
    num = tr_ref(o);
  } else {
    num = PyNumber_Index(o);
  }
  const ac_sym *s = num ? tr_sym_of(tr.cur, num) : NULL;
  Py_XDECREF(num);
  if (!s && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) { /* x[:sys.maxsize + 1] */
    PyErr_Clear();
    return n;
  }
  if (!s) return NULL;
  ac_loc loc = tr_loc();
  const ac_sym *zero = ac_sym_int(tr.cur, 0);
  if (ac_sym_equal(tr.cur, s, n)) return n;
  if (ac_sym_guard(tr.cur, AC_GUARD_LT, s, zero, loc, "slice")) s = ac_sym_op(tr.cur, AC_SYM_ADD, n, s);
  if (ac_sym_guard(tr.cur, AC_GUARD_LT, s, zero, loc, "slice")) return zero;
  return ac_sym_guard(tr.cur, AC_GUARD_LE, s, n, loc, "slice") ? s : n;
}

static bool slice(indexing *x, PyObject *o) {
  PyObject *part[3] = {PyObject_GetAttrString(o, "start"), PyObject_GetAttrString(o, "stop"),
                       PyObject_GetAttrString(o, "step")};
  const ac_sym *n = x->v->shape[x->dim], *zero = ac_sym_int(tr.cur, 0), *one_ = ac_sym_int(tr.cur, 1);
  const ac_sym *start = bound(part[0], n, zero), *stop = start ? bound(part[1], n, n) : NULL;
  const ac_sym *step = !stop ? NULL : part[2] == Py_None ? one_ : tr_sym_of(tr.cur, part[2]);
  for (int i = 0; i < 3; i++) Py_XDECREF(part[i]);
  if (!step) return false;
  if (step->example <= 0) {
    tr_raise(tr.bad_args, AC0217, "reverse with flip()", "slice step must be greater than zero");
    return false;
  }
  if (start != n && ac_sym_guard(tr.cur, AC_GUARD_LT, stop, start, tr_loc(), "slice")) stop = start;
  int64_t c;
  bool all = ac_sym_is_const(start, &c) && c == 0 && stop == n && ac_sym_is_const(step, &c) && c == 1;
  bool ok = true;
  if (!all) {
    ac_arg a[5] = {tr_arg_t(x->v), tr_arg_i(ac_sym_int(tr.cur, x->dim)), tr_arg_i(start), tr_arg_i(stop),
                   tr_arg_i(step)};
    ok = set(x, tr_apply1(AC_G_SLICE, a, 5));
  }
  x->dim++;
  return ok;
}

static bool by_tensor(indexing *x, PyObject *o) {
  if (is_list(o)) { /* x[[0, 2]] */
    PyObject *make = PyObject_GetAttrString(tr.module, "index_tensor");
    PyObject *t = make ? PyObject_CallFunctionObjArgs(make, o, NULL) : NULL;
    Py_XDECREF(make);
    if (!t) return false;
    PyList_Append(x->made, t);
    Py_DECREF(t);
    o = t;
  }
  if (is_mask(o)) return refuse_mask() != NULL;
  ac_value *v = tr_value(o);
  if (!v) return false;
  if (ac_dtypes[v->dtype].cls == AC_FLOATING) {
    tr_raise(tr.index_error, AC0217, "cast it: index.long()", "tensors used as indices must be integers, not %s",
             ac_dtypes[v->dtype].name);
    return false;
  }
  PyObject *c = v->rank == 0 ? tr_constant(v) : NULL;
  if (c) {
    const ac_sym *i = tr_sym_of(tr.cur, c);
    Py_DECREF(c);
    return i && one(x, i);
  }
  x->index[x->n_index] = o;
  x->at[x->n_index++] = x->dim++;
  return true;
}

static bool entry(indexing *x, PyObject *o) {
  if (o == Py_None) {
    ac_arg a[2] = {tr_arg_t(x->v), tr_arg_i(ac_sym_int(tr.cur, x->dim))};
    bool ok = set(x, tr_apply1(AC_G_UNSQUEEZE, a, 2));
    for (int i = 0; i < x->n_index; i++) x->at[i] += x->at[i] >= x->dim;
    x->dim++;
    return ok;
  }
  if (tr_is_tensor(o) || is_list(o)) return by_tensor(x, o);
  if (PyBool_Check(o)) {
    tr_raise(tr.index_error, AC0212, "use None to add a dimension",
             "indexing with True or False is not supported while tracing");
    return false;
  }
  if (PySlice_Check(o)) return slice(x, o);
  PyObject *i = tr_is_int(o) ? tr_ref(o) : PyNumber_Index(o);
  const ac_sym *s = i ? tr_sym_of(tr.cur, i) : NULL;
  Py_XDECREF(i);
  return s && one(x, s);
}

/* The basic indices, in order; tensors are only noted. `idx` is a tuple. */
static bool basic(indexing *x, PyObject *idx) {
  Py_ssize_t n = PyTuple_Size(idx);
  int used = 0, dots = 0;
  for (Py_ssize_t i = 0; i < n; i++) {
    used += consumes(PyTuple_GetItem(idx, i));
    dots += PyTuple_GetItem(idx, i) == Py_Ellipsis;
  }
  if (used > x->v->rank || n > MAX_INDEX) {
    tr_raise(tr.index_error, AC0217, NULL, "too many indices for tensor of dimension %d", x->v->rank);
    return false;
  }
  if (dots > 1) {
    tr_raise(tr.index_error, AC0217, NULL, "an index can only have a single ellipsis ('...')");
    return false;
  }
  int skip = x->v->rank - used;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *o = PyTuple_GetItem(idx, i);
    if (o == Py_Ellipsis)
      x->dim += skip;
    else if (!entry(x, o))
      return false;
  }
  return true;
}

static bool begin(indexing *x, PyObject *args, PyObject **idx, PyObject **value) {
  memset(x, 0, sizeof *x);
  *value = NULL;
  if (!PyArg_ParseTuple(args, "OO|O", &x->tensor, idx, value)) return false;
  x->v = tr_value(x->tensor);
  x->made = PyList_New(0);
  if (!x->v || !x->made) return false;
  if (PyTuple_Check(*idx)) {
    *idx = PySequence_Tuple(*idx);
  } else {
    *idx = PyTuple_Pack(1, *idx);
  }
  return *idx != NULL;
}

/* Dimensions `at` to the front, in order; the rest follows. */
static ac_value *to_front(ac_value *v, const int *at, int n) {
  const ac_sym **order = AC_NEW_N(tr.arena, const ac_sym *, v->rank);
  int k = 0;
  for (int i = 0; i < n; i++) order[k++] = ac_sym_int(tr.cur, at[i]);
  for (int d = 0; d < v->rank; d++) {
    bool front = false;
    for (int i = 0; i < n; i++) front = front || at[i] == d;
    if (!front) order[k++] = ac_sym_int(tr.cur, d);
  }
  return tr_apply1(AC_G_PERMUTE, (ac_arg[]){tr_arg_t(v), tr_arg_sizes(order, v->rank)}, 2);
}

static ac_value *advanced(indexing *x) {
  bool adjacent = true;
  for (int i = 1; i < x->n_index; i++) adjacent = adjacent && x->at[i] == x->at[i - 1] + 1;
  ac_value *v = adjacent ? x->v : to_front(x->v, x->at, x->n_index); /* as PyTorch: separated ones come first */
  if (!v) return NULL;
  ac_arg a[3] = {tr_arg_t(v),
                 {.kind = AC_K_TENSORS, .n = x->n_index, .ts = AC_NEW_N(tr.arena, ac_value *, x->n_index)},
                 tr_arg_i(ac_sym_int(tr.cur, adjacent ? x->at[0] : 0))};
  for (int i = 0; i < x->n_index; i++)
    if (!(a[1].ts[i] = tr_value(x->index[i]))) return NULL;
  return tr_apply1(AC_G_INDEX, a, 3);
}

/* getitem(tensor, index) */
PyObject *tr_getitem(PyObject *self, PyObject *args) {
  (void)self;
  indexing x;
  PyObject *idx = NULL, *value, *r = NULL;
  if (begin(&x, args, &idx, &value) && basic(&x, idx)) {
    if (x.n_index) {
      ac_value *v = advanced(&x);
      r = v ? tr_wrap(tr.cur, v) : NULL;
    } else {
      r = tr_wrap_result(x.v, x.tensor);
    }
    if (idx) Py_DECREF(idx);
  }
  Py_XDECREF(x.made);
  return r;
}

/* x[mask] = number */
static PyObject *set_by_mask(PyObject *tensor, PyObject *mask, ac_value *src) {
  ac_value *v = tr_value(tensor), *m = tr_value(mask);
  if (!v || !m) return NULL;
  if (src->rank != 0) return refuse_mask();
  if (m->rank < v->rank) {
    const ac_sym **s = AC_NEW_N(tr.arena, const ac_sym *, v->rank);
    for (int i = 0; i < v->rank; i++) s[i] = i < m->rank ? m->shape[i] : ac_sym_int(tr.cur, 1);
    if (!(m = tr_reshape(m, s, v->rank))) return NULL;
  }
  ac_value *r = tr_apply1(AC_G_WHERE, (ac_arg[]){tr_arg_t(m), tr_arg_t(src), tr_arg_t(v)}, 3);
  return r && tr_assign(tensor, r) ? tr_ref(Py_None) : NULL;
}

static PyObject *set_by_index(indexing *x, ac_value *src) {
  ac_value *i = tr_value(x->index[0]);
  if (!i) return NULL;
  if (x->n_index > 1 || i->rank != 1)
    return tr_raise(tr.error, AC0212, "index_copy, index_add or scatter say the same with one dimension",
                    "writing through %d index tensors is not supported while tracing", x->n_index);
  PyObject *view = tr_wrap_result(x->v, x->tensor);
  const ac_sym **s = AC_NEW_N(tr.arena, const ac_sym *, x->v->rank);
  for (int d = 0; d < x->v->rank; d++) s[d] = d == x->at[0] ? i->shape[0] : x->v->shape[d];
  src = tr_apply1(AC_G_CAST, (ac_arg[]){tr_arg_t(src), {.kind = AC_K_DTYPE, .d = x->v->dtype}}, 2);
  if (src) src = tr_apply1(AC_G_EXPAND, (ac_arg[]){tr_arg_t(src), tr_arg_sizes(s, x->v->rank)}, 2);
  ac_arg a[4] = {tr_arg_t(x->v), tr_arg_i(ac_sym_int(tr.cur, x->at[0])), tr_arg_t(i), tr_arg_t(src)};
  ac_value *r = src && view ? tr_apply1(AC_G_INDEX_COPY, a, 4) : NULL;
  bool ok = r && tr_assign(view, r);
  Py_XDECREF(view);
  return ok ? tr_ref(Py_None) : NULL;
}

static bool same_args(const ac_node *p, const ac_node *q) {
  if (p->op != q->op || p->n_args != q->n_args) return false;
  for (int i = 1; i < p->n_args; i++) {
    const ac_arg *a = &p->args[i], *b = &q->args[i];
    if (a->absent != b->absent || a->n != b->n) return false;
    if (a->i != b->i && (!a->i || !b->i || !ac_sym_equal(tr.cur, a->i, b->i))) return false;
    for (int k = 0; a->is && k < a->n; k++)
      if (!ac_sym_equal(tr.cur, a->is[k], b->is[k])) return false;
  }
  return true;
}

/* x[i] += 1 is, to Python, v = x[i]; v += 1; x[i] = v: the last step writes what is there already. */
static bool is_there_already(const indexing *x, PyObject *value) {
  if (!tr_is_tensor(value)) return false;
  const tr_tensor *v = (const tr_tensor *)value, *t = (const tr_tensor *)x->tensor;
  if (v->base != x->tensor || v->made_in != tr.cur || v->base_version != t->version) return false;
  const ac_value *p = v->made, *q = x->v;
  while (p != v->of && q != t->v && p->def && q->def && same_args(p->def, q->def)) {
    p = p->def->args[0].t;
    q = q->def->args[0].t;
  }
  return p == v->of && q == t->v;
}

/* setitem(tensor, index, value) */
PyObject *tr_setitem(PyObject *self, PyObject *args) {
  (void)self;
  indexing x;
  PyObject *idx = NULL, *value, *r = NULL;
  if (begin(&x, args, &idx, &value)) {
    ac_value *src = tr_value_of(value, "the assigned value");
    if (src && PyTuple_Size(idx) == 1 && is_mask(PyTuple_GetItem(idx, 0))) {
      r = set_by_mask(x.tensor, PyTuple_GetItem(idx, 0), src);
    } else if (src && basic(&x, idx)) {
      if (x.n_index) {
        r = set_by_index(&x, src);
      } else if (is_there_already(&x, value)) {
        r = tr_ref(Py_None);
      } else {
        PyObject *view = x.v == tr_value(x.tensor) ? tr_ref(x.tensor) : tr_wrap_result(x.v, x.tensor);
        if (view && tr_assign(view, src)) r = tr_ref(Py_None);
        Py_XDECREF(view);
      }
    }
    Py_DECREF(idx);
  }
  Py_XDECREF(x.made);
  return r;
}
