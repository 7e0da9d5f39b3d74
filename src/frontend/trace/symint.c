/* SymInt: a size as Python sees it. Arithmetic stays symbolic; a comparison is decided at the example and recorded as a guard; whoever
 * needs the number itself (range, math, an index) fixes the size by an equality guard. */
#include "plugin.h"

#include <math.h>
#include <string.h>

static const char fixed[] = "a size used as a Python number";

bool tr_is_sym(PyObject *o) {
  return Py_TYPE(o) == tr.sym_type;
}
bool tr_is_int(PyObject *o) {
  return tr_is_sym(o) || (PyLong_Check(o) && !PyBool_Check(o));
}

PyObject *tr_sym_wrap(ac_graph *g, const ac_sym *s) {
  int64_t c;
  if (ac_sym_is_const(s, &c)) return PyLong_FromLongLong(c);
  allocfunc alloc = __extension__(allocfunc) PyType_GetSlot(tr.sym_type, Py_tp_alloc);
  tr_sym *o = (tr_sym *)alloc(tr.sym_type, 0);
  if (o) {
    o->g = g;
    o->s = s;
  }
  return (PyObject *)o;
}

const ac_sym *tr_sym_rehome(ac_graph *g, const ac_sym *s) {
  return ac_sym_int(g, s->example);
}

const ac_sym *tr_sym_of(ac_graph *g, PyObject *o) {
  if (tr_is_sym(o)) {
    tr_sym *s = (tr_sym *)o;
    return s->g == g ? s->s : tr_sym_rehome(g, s->s);
  }
  if (PyLong_Check(o)) {
    int64_t v = PyLong_AsLongLong(o);
    return v == -1 && PyErr_Occurred() ? NULL : ac_sym_int(g, v);
  }
  PyErr_Format(PyExc_TypeError, "an integer is required, not %R", (PyObject *)Py_TYPE(o));
  return NULL;
}

bool tr_sym_fix(PyObject *o, int64_t *out, const char *reason) {
  if (!tr_is_sym(o)) {
    *out = PyLong_AsLongLong(o);
    return !(*out == -1 && PyErr_Occurred());
  }
  tr_sym *s = (tr_sym *)o;
  *out = s->s->example;
  ac_sym_guard(s->g, AC_GUARD_EQ, s->s, ac_sym_int(s->g, *out), tr_loc(), reason);
  return true;
}

/* ---- arithmetic ---- */

/* Both as symbols of one graph. 1: done; 0: not integers (NotImplemented or another way); -1: exception. */
static int pair(PyObject *x, PyObject *y, ac_graph **g, const ac_sym **a, const ac_sym **b) {
  if (!(tr_is_sym(x) || PyLong_Check(x)) || !(tr_is_sym(y) || PyLong_Check(y))) return 0;
  *g = tr_is_sym(x) ? ((tr_sym *)x)->g : ((tr_sym *)y)->g;
  if (tr_is_sym(x) && ((tr_sym *)x)->g != *g) *g = ((tr_sym *)x)->g;
  *a = tr_sym_of(*g, x);
  *b = *a ? tr_sym_of(*g, y) : NULL;
  return *b ? 1 : -1;
}

static PyObject *fixed_int(PyObject *o) {
  int64_t v;
  if (!tr_is_sym(o)) return tr_ref(o);
  return tr_sym_fix(o, &v, fixed) ? PyLong_FromLongLong(v) : NULL;
}

static PyObject *result(ac_graph *g, const ac_sym *s) {
  for (size_t i = 0; i < tr.scratch.list.len; i++)
    if (tr.scratch.list.data[i]->severity == AC_ERROR) {
      tr_raise_scratch();
      tr_graph_start();
      return NULL;
    }
  return tr_sym_wrap(g, s);
}

/* With a float on the other side the size must be known. */
typedef PyObject *(*number_op)(PyObject *, PyObject *);
static PyObject *on_fixed(PyObject *x, PyObject *y, number_op op) {
  PyObject *other = tr_is_sym(x) ? y : x;
  if (!tr_is_sym(other) && !PyFloat_Check(other) && !PyLong_Check(other) && !PyComplex_CheckExact(other))
    return tr_ref(Py_NotImplemented);
  PyObject *a = fixed_int(x), *b = a ? fixed_int(y) : NULL, *r = b ? op(a, b) : NULL;
  Py_XDECREF(a);
  Py_XDECREF(b);
  return r;
}

static PyObject *binary(PyObject *x, PyObject *y, ac_symkind k, bool minus, number_op op) {
  ac_graph *g;
  const ac_sym *a, *b;
  int r = pair(x, y, &g, &a, &b);
  if (r < 0) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
    PyErr_Clear(); /* a number that 64 bits do not hold */
    r = 0;
  }
  if (!r) return on_fixed(x, y, op);
  tr_graph_start();
  return result(g, minus ? ac_sym_sub(g, a, b) : ac_sym_op(g, k, a, b));
}

static PyObject *sym_add(PyObject *x, PyObject *y) {
  return binary(x, y, AC_SYM_ADD, false, PyNumber_Add);
}
static PyObject *sym_sub(PyObject *x, PyObject *y) {
  return binary(x, y, AC_SYM_ADD, true, PyNumber_Subtract);
}
static PyObject *sym_mul(PyObject *x, PyObject *y) {
  PyObject *other = tr_is_sym(x) ? y : x;
  if (PyList_Check(other) || PyTuple_Check(other) || PyUnicode_Check(other)) { /* [0] * n */
    PyObject *n = fixed_int(tr_is_sym(x) ? x : y), *r = n ? PySequence_Repeat(other, PyLong_AsSsize_t(n)) : NULL;
    Py_XDECREF(n);
    return r;
  }
  return binary(x, y, AC_SYM_MUL, false, PyNumber_Multiply);
}
static PyObject *divided(PyObject *x, PyObject *y, ac_symkind k, number_op op) {
  ac_graph *g;
  const ac_sym *a, *b;
  int r = pair(x, y, &g, &a, &b);
  if (r < 0) return NULL;
  /* Python rounds toward minus infinity whatever the signs; symbols divide by what is positive. */
  if (r && b->example > 0) {
    tr_graph_start();
    int64_t c;
    if (!ac_sym_is_const(b, &c)) ac_sym_guard(g, AC_GUARD_LT, ac_sym_int(g, 0), b, tr_loc(), "division by a size");
    return result(g, ac_sym_op(g, k, a, b));
  }
  return on_fixed(x, y, op);
}
static PyObject *sym_floordiv(PyObject *x, PyObject *y) {
  return divided(x, y, AC_SYM_FLOORDIV, PyNumber_FloorDivide);
}
static PyObject *sym_mod(PyObject *x, PyObject *y) {
  return divided(x, y, AC_SYM_MOD, PyNumber_Remainder);
}
static PyObject *sym_divmod(PyObject *x, PyObject *y) {
  PyObject *q = sym_floordiv(x, y), *r = q ? sym_mod(x, y) : NULL, *t = r ? PyTuple_Pack(2, q, r) : NULL;
  Py_XDECREF(q);
  Py_XDECREF(r);
  return t;
}
static PyObject *sym_truediv(PyObject *x, PyObject *y) {
  return on_fixed(x, y, PyNumber_TrueDivide);
}
static PyObject *sym_lshift(PyObject *x, PyObject *y) {
  return on_fixed(x, y, PyNumber_Lshift);
}
static PyObject *sym_rshift(PyObject *x, PyObject *y) {
  return on_fixed(x, y, PyNumber_Rshift);
}
static PyObject *sym_and(PyObject *x, PyObject *y) {
  return on_fixed(x, y, PyNumber_And);
}
static PyObject *sym_or(PyObject *x, PyObject *y) {
  return on_fixed(x, y, PyNumber_Or);
}
static PyObject *sym_xor(PyObject *x, PyObject *y) {
  return on_fixed(x, y, PyNumber_Xor);
}

static PyObject *power2(PyObject *x, PyObject *y) {
  return PyNumber_Power(x, y, Py_None);
}
static PyObject *sym_pow(PyObject *x, PyObject *y, PyObject *z) {
  if (z != Py_None) return tr_ref(Py_NotImplemented);
  if (!tr_is_sym(x) || !PyLong_Check(y)) return on_fixed(x, y, power2);
  long n = PyLong_AsLong(y);
  if (PyErr_Occurred() || n < 0 || n > 8) {
    PyErr_Clear();
    return on_fixed(x, y, power2);
  }
  tr_sym *s = (tr_sym *)x;
  const ac_sym *p = ac_sym_int(s->g, 1);
  tr_graph_start();
  for (long i = 0; i < n; i++) p = ac_sym_op(s->g, AC_SYM_MUL, p, s->s);
  return result(s->g, p);
}

static PyObject *sym_neg(PyObject *x) {
  tr_sym *s = (tr_sym *)x;
  return tr_sym_wrap(s->g, ac_sym_sub(s->g, ac_sym_int(s->g, 0), s->s));
}
static PyObject *sym_pos(PyObject *x) {
  return tr_ref(x);
}
static PyObject *sym_invert(PyObject *x) {
  PyObject *i = fixed_int(x), *r = i ? PyNumber_Invert(i) : NULL;
  Py_XDECREF(i);
  return r;
}
static PyObject *sym_index(PyObject *x) {
  return fixed_int(x);
}
static PyObject *sym_float(PyObject *x) {
  int64_t v;
  return tr_sym_fix(x, &v, fixed) ? PyFloat_FromDouble((double)v) : NULL;
}

/* ---- truth ---- */

static bool holds(tr_sym *s, ac_guardkind k, const ac_sym *a, const ac_sym *b) {
  return ac_sym_guard(s->g, k, a, b, tr_loc(), "if on a size");
}

static PyObject *sym_abs(PyObject *x) {
  tr_sym *s = (tr_sym *)x;
  return holds(s, AC_GUARD_LE, ac_sym_int(s->g, 0), s->s) ? tr_ref(x) : sym_neg(x);
}

static int sym_bool(PyObject *x) {
  tr_sym *s = (tr_sym *)x;
  return holds(s, AC_GUARD_NE, s->s, ac_sym_int(s->g, 0));
}

/* n < 2.5 is n < 3, n <= 2.5 is n <= 2. */
static PyObject *compare_float(tr_sym *s, double f, int op) {
  if (!(fabs(f) < 9e18)) { /* inf, NaN, or beyond any size */
    PyObject *a = PyFloat_FromDouble(0.0), *b = PyFloat_FromDouble(f),
             *r = a && b ? PyObject_RichCompare(a, b, op) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return r;
  }
  const ac_sym *down = ac_sym_int(s->g, (int64_t)floor(f)), *up = ac_sym_int(s->g, (int64_t)ceil(f));
  bool whole = floor(f) == f, r = false;
  switch (op) {
  case Py_LT: r = holds(s, AC_GUARD_LT, s->s, up); break;
  case Py_LE: r = holds(s, AC_GUARD_LE, s->s, down); break;
  case Py_GT: r = holds(s, AC_GUARD_LT, down, s->s); break;
  case Py_GE: r = holds(s, AC_GUARD_LE, up, s->s); break;
  case Py_EQ: r = whole && holds(s, AC_GUARD_EQ, s->s, down); break;
  default: r = !whole || holds(s, AC_GUARD_NE, s->s, down); break;
  }
  return PyBool_FromLong(r);
}

static PyObject *sym_compare(PyObject *x, PyObject *y, int op) {
  tr_sym *s = (tr_sym *)x;
  if (PyFloat_Check(y)) return compare_float(s, PyFloat_AsDouble(y), op);
  if (!tr_is_sym(y) && !PyLong_Check(y)) return tr_ref(Py_NotImplemented);
  const ac_sym *a = s->s, *b = tr_sym_of(s->g, y);
  if (!b) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
    PyErr_Clear();
    return compare_float(s, PyLong_AsDouble(y), op);
  }
  bool r = false;
  switch (op) {
  case Py_LT: r = holds(s, AC_GUARD_LT, a, b); break;
  case Py_LE: r = holds(s, AC_GUARD_LE, a, b); break;
  case Py_GT: r = holds(s, AC_GUARD_LT, b, a); break;
  case Py_GE: r = holds(s, AC_GUARD_LE, b, a); break;
  case Py_EQ: r = holds(s, AC_GUARD_EQ, a, b); break;
  default: r = holds(s, AC_GUARD_NE, a, b); break;
  }
  return PyBool_FromLong(r);
}

static Py_hash_t sym_hash(PyObject *x) {
  PyObject *i = fixed_int(x);
  Py_hash_t h = i ? PyObject_Hash(i) : -1;
  Py_XDECREF(i);
  return h;
}

/* Text is for messages: it fixes nothing. */
static PyObject *sym_repr(PyObject *x) {
  return PyUnicode_FromFormat("%lld", (long long)((tr_sym *)x)->s->example);
}
static PyObject *sym_format(PyObject *x, PyObject *spec) {
  PyObject *i = PyLong_FromLongLong(((tr_sym *)x)->s->example), *r = i ? PyObject_Format(i, spec) : NULL;
  Py_XDECREF(i);
  return r;
}

/* isinstance(n, int) is asked before sizes are used: it holds. The C parts of Python do not look at this and use __index__. */
static PyObject *sym_class(PyObject *x, void *unused) {
  (void)x;
  (void)unused;
  return tr_ref((PyObject *)&PyLong_Type);
}

static PyObject *sym_fixed_method(PyObject *x, PyObject *unused) {
  (void)unused;
  return fixed_int(x);
}
static PyObject *sym_round(PyObject *x, PyObject *args) {
  (void)args;
  return tr_ref(x);
}
static PyObject *sym_symbol(PyObject *x, PyObject *unused) {
  (void)unused;
  tr_sym *s = (tr_sym *)x;
  return PyUnicode_FromString(ac_sym_text(tr.arena, s->g, s->s));
}

PyTypeObject *tr_sym_type(void) {
  static PyMethodDef methods[] = {{"__trunc__", sym_fixed_method, METH_NOARGS, NULL},
                                  {"__floor__", sym_round, METH_VARARGS, NULL},
                                  {"__ceil__", sym_round, METH_VARARGS, NULL},
                                  {"__round__", sym_round, METH_VARARGS, NULL},
                                  {"__format__", sym_format, METH_O, NULL},
                                  {"symbol", sym_symbol, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};
  static PyGetSetDef getset[] = {{"__class__", sym_class, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
  PyType_Slot slots[] = {{Py_nb_add, TR_SLOT(sym_add)},
                         {Py_nb_subtract, TR_SLOT(sym_sub)},
                         {Py_nb_multiply, TR_SLOT(sym_mul)},
                         {Py_nb_floor_divide, TR_SLOT(sym_floordiv)},
                         {Py_nb_remainder, TR_SLOT(sym_mod)},
                         {Py_nb_divmod, TR_SLOT(sym_divmod)},
                         {Py_nb_true_divide, TR_SLOT(sym_truediv)},
                         {Py_nb_power, TR_SLOT(sym_pow)},
                         {Py_nb_lshift, TR_SLOT(sym_lshift)},
                         {Py_nb_rshift, TR_SLOT(sym_rshift)},
                         {Py_nb_and, TR_SLOT(sym_and)},
                         {Py_nb_or, TR_SLOT(sym_or)},
                         {Py_nb_xor, TR_SLOT(sym_xor)},
                         {Py_nb_negative, TR_SLOT(sym_neg)},
                         {Py_nb_positive, TR_SLOT(sym_pos)},
                         {Py_nb_absolute, TR_SLOT(sym_abs)},
                         {Py_nb_invert, TR_SLOT(sym_invert)},
                         {Py_nb_bool, TR_SLOT(sym_bool)},
                         {Py_nb_index, TR_SLOT(sym_index)},
                         {Py_nb_int, TR_SLOT(sym_index)},
                         {Py_nb_float, TR_SLOT(sym_float)},
                         {Py_tp_richcompare, TR_SLOT(sym_compare)},
                         {Py_tp_hash, TR_SLOT(sym_hash)},
                         {Py_tp_repr, TR_SLOT(sym_repr)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, getset},
                         {0, NULL}};
  PyType_Spec spec = {"_ascendcraft.SymInt", (int)sizeof(tr_sym), 0, Py_TPFLAGS_DEFAULT, slots};
  return (PyTypeObject *)PyType_FromSpec(&spec);
}
