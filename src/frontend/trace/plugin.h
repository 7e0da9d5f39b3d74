/* Private to the plugin actrace.so: the Python module `_ascendcraft`, on CPython's stable ABI (3.9).
 *
 * A Tensor of the traced program is a cell: it holds the graph value that it has now. Writing in place gives the cell another value;
 * a view remembers its base and how it was made of it, writes through to the base, and looks at the base again before it is read.
 * So the graph stays in SSA form. All of torch's decisions are taken here and in graph; data/tracer/ only gives them names.
 */
#ifndef AC_TRACE_PLUGIN_H
#define AC_TRACE_PLUGIN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "graph/graph.h"

typedef struct {
  PyObject_HEAD ac_graph *g;
  const ac_sym *s;
} tr_sym;

typedef struct {
  PyObject_HEAD ac_graph *g;
  ac_value *v;         /* value now, up to base's `base_version` */
  PyObject *base;      /* a view: the tensor that it is a view of; else NULL */
  ac_value *made, *of; /* a view: `made` was computed from base's value `of` by view operations, */
  ac_graph *made_in;   /* in this graph */
  uint64_t version;    /* counts writes */
  uint64_t base_version;
  int depth;       /* views below this one */
  bool strided;    /* a view that does not lie in memory in order */
  bool maybe_copy; /* reshape of something strided: view or copy, as memory happens to lie */
} tr_tensor;

typedef struct {
  ac_arena *arena;
  ac_diags kept;    /* warnings for the answer */
  ac_diags scratch; /* where graph's errors go, until they are raised as exceptions */
  ac_strings *texts;
  ac_graph *gen, *main,
      *cur;            /* cur: gen while the file is loaded, constructed and asked for inputs; main in forward */
  bool fresh_sizes;    /* in get_inputs: sizes of creation functions are symbols */
  const char *folder;  /* of the user's file, with '/' */
  const char *skip[2]; /* folders in it that are not the user's */
  ac_dtype dtype;      /* --dtype, or AC_NODTYPE */
  AC_VEC(ac_value *) lifted; /* by id of a gen value: value of main, or NULL */
  AC_VEC(bool) random;       /* by id of a gen value: are its numbers drawn? */
  size_t random_seen;        /* nodes of gen looked at for that */
  PyTypeObject *tensor_type, *sym_type;
  PyObject *module;        /* _ascendcraft */
  PyObject *tensor, *size; /* Python classes Tensor, Size */
  PyObject *dtypes;        /* dict: name -> dtype object */
  PyObject *hidden;        /* callable(tensor) -> name of the module attribute that holds it, or None */
  PyObject *cells;         /* list: tensor of each graph input (None for scalars) */
  PyObject *error, *unknown, *bad_args, *data_dependent, *index_error; /* exception classes */
} tr_state;
extern tr_state tr;

/* Py_NewRef is younger than 3.9. */
static inline PyObject *tr_ref(PyObject *o) {
  Py_INCREF(o);
  return o;
}
/* A function in a PyType_Slot. */
#define TR_SLOT(f) (__extension__(void *)(f))

/* ---- plugin.c ---- */
/* The user's line that is running. */
ac_loc tr_loc(void);
/* Raises cls with code, message and help (help NULL: none) at the user's line. Returns NULL. */
PyObject *tr_raise(PyObject *cls, ac_code code, const char *help, const char *fmt, ...) AC_PRINTF(4, 5);
/* Raises what graph put into tr.scratch. Returns NULL. */
PyObject *tr_raise_scratch(void);
const char *tr_text(PyObject *str); /* interned UTF-8; NULL with an exception */
ac_graph *tr_graph_start(void);     /* cur, with an empty scratch */

/* ---- symint.c ---- */
PyTypeObject *tr_sym_type(void);
bool tr_is_sym(PyObject *o);
bool tr_is_int(PyObject *o);                         /* int or SymInt, not bool */
PyObject *tr_sym_wrap(ac_graph *g, const ac_sym *s); /* a plain int where constant */
/* Of an int or SymInt, in graph g; NULL with an exception. */
const ac_sym *tr_sym_of(ac_graph *g, PyObject *o);
const ac_sym *tr_sym_rehome(ac_graph *g, const ac_sym *s); /* of another graph: its example */
/* The Python int; a symbol is fixed to its example by a guard. */
bool tr_sym_fix(PyObject *o, int64_t *out, const char *reason);

/* ---- tensor.c ---- */
PyTypeObject *tr_tensor_type(void);
bool tr_is_tensor(PyObject *o);
PyObject *tr_wrap(ac_graph *g, ac_value *v);
/* The value as of now in tr.cur; NULL with an exception. */
ac_value *tr_value(PyObject *tensor);
/* Of a tensor or a Python number. */
ac_value *tr_value_of(PyObject *o, const char *what);
/* Wraps v, as a view of `of` where view operations made it of that. */
PyObject *tr_wrap_result(ac_value *v, PyObject *of);
/* dst := src in place: src is cast and broadcast. */
bool tr_assign(PyObject *dst, ac_value *src);
/* dst := v, which has dst's shape and dtype. */
bool tr_write(PyObject *dst, ac_value *v);
/* A number that is known without data: *out owned by the caller, NULL without an exception when it is not. */
PyObject *tr_constant(ac_value *v);
ac_value *tr_apply1(ac_op op, const ac_arg *args, int n); /* one output, or NULL with an exception */
ac_arg tr_arg_t(ac_value *v);
ac_arg tr_arg_i(const ac_sym *s);
ac_arg tr_arg_sizes(const ac_sym *const *s, int n);
ac_value *tr_reshape(ac_value *v, const ac_sym *const *shape, int rank);
/* Does the operation draw numbers? (RRELU only when it trains: the caller looks at its arguments.) */
bool tr_random_op(ac_op op);
bool tr_is_random(const ac_value *v);

/* ---- bind.c: calls ---- */
PyObject *tr_call(PyObject *self, PyObject *args);
PyObject *tr_has(PyObject *self, PyObject *args);
PyObject *tr_unknown(PyObject *self, PyObject *args);
PyObject *tr_literal(PyObject *self, PyObject *args);

/* ---- index.c ---- */
PyObject *tr_getitem(PyObject *self, PyObject *args);
PyObject *tr_setitem(PyObject *self, PyObject *args);

/* ---- answer.c: inputs, outputs and the JSON ---- */
PyObject *tr_input(PyObject *self, PyObject *args);
PyObject *tr_scalar(PyObject *self, PyObject *args);
PyObject *tr_forward(PyObject *self, PyObject *args);
PyObject *tr_finish(PyObject *self, PyObject *args);
PyObject *tr_report(PyObject *self, PyObject *args);

#endif
