/* What goes into the graph's interface, and the answer as JSON. */
#include "plugin.h"

#include <string.h>
#include <unistd.h>

/* ---- Python values as JSON ---- */

static json_t *to_json(PyObject *o);

static json_t *dict_to_json(PyObject *o) {
  json_t *j = json_object();
  PyObject *key, *v;
  Py_ssize_t pos = 0;
  while (PyDict_Next(o, &pos, &key, &v)) {
    const char *k = tr_text(key);
    if (k) json_object_set_new(j, k, to_json(v));
  }
  return j;
}

static json_t *to_json(PyObject *o) {
  if (o == Py_None) return json_null();
  if (PyBool_Check(o)) return json_boolean(o == Py_True);
  if (PyLong_Check(o)) return json_integer(PyLong_AsLongLong(o));
  if (PyFloat_Check(o)) return json_real(PyFloat_AsDouble(o));
  if (PyDict_Check(o)) return dict_to_json(o);
  if (PyList_Check(o) || PyTuple_Check(o)) {
    json_t *j = json_array();
    for (Py_ssize_t i = 0, n = PySequence_Size(o); i < n; i++) {
      PyObject *x = PySequence_GetItem(o, i);
      if (x) json_array_append_new(j, to_json(x));
      Py_XDECREF(x);
    }
    return j;
  }
  const char *s = PyUnicode_Check(o) ? tr_text(o) : NULL;
  return s ? json_string(s) : json_null();
}

static bool say(json_t *j) {
  PyObject *o = PyObject_GetAttrString(tr.module, "out_fd");
  int fd = o ? (int)PyLong_AsLong(o) : STDOUT_FILENO;
  Py_XDECREF(o);
  PyErr_Clear();
  const char *text = ac_json_text(tr.arena, j);
  json_decref(j);
  for (size_t n = strlen(text); n;) {
    ssize_t k = write(fd, text, n);
    if (k <= 0) return false;
    text += k;
    n -= (size_t)k;
  }
  return true;
}

/* report([diagnostics as dicts]): the answer of a failed trace. */
PyObject *tr_report(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *list;
  if (!PyArg_ParseTuple(args, "O", &list)) return NULL;
  json_t *j = json_object();
  json_object_set_new(j, "diags", to_json(list));
  return PyBool_FromLong(say(j));
}

/* ---- inputs ---- */

static ac_inrole role_of(const char *name) {
  return !strcmp(name, "parameter") ? AC_IN_PARAM : !strcmp(name, "buffer") ? AC_IN_BUFFER : AC_IN_TENSOR;
}

static ac_value *in_gen(PyObject *o) {
  ac_graph *cur = tr.cur;
  tr.cur = tr.gen;
  ac_value *v = tr_value(o);
  tr.cur = cur;
  return v;
}

/* A generator for another rank: the same distribution where the tensor is one creation call; else none. */
static ac_value *regenerate(const ac_value *v, int rank, const int64_t *dims) {
  const ac_node *n = v->def;
  const ac_opinfo *info = ac_op_info(n->op);
  if (info->cls != C_NEW || n->n_args < 1) return NULL;
  int at = -1;
  for (int i = 0; i < info->n_params; i++)
    if (!strcmp(info->params[i].name, "size")) at = i;
  if (at < 0) return NULL;
  ac_arg *args = AC_NEW_N(tr.arena, ac_arg, n->n_args);
  memcpy(args, n->args, (size_t)n->n_args * sizeof *args);
  const ac_sym **s = AC_NEW_N(tr.arena, const ac_sym *, rank);
  for (int i = 0; i < rank; i++) s[i] = ac_sym_fresh(tr.gen, dims[i], -1, i);
  args[at] = tr_arg_sizes(s, rank);
  ac_graph *cur = tr.cur;
  tr.cur = tr.gen;
  ac_value *r = tr_apply1(n->op, args, n->n_args);
  tr.cur = cur;
  PyErr_Clear();
  return r;
}

static bool dims_of(PyObject *o, const ac_value *v, int *rank, int64_t dims[16]) {
  *rank = o == Py_None ? v->rank : (int)PySequence_Size(o);
  if (*rank > 16) {
    tr_raise(tr.error, AC0215, "merge dimensions with reshape", "an input has %d dimensions; 16 are supported",
             *rank);
    return false;
  }
  for (int i = 0; i < *rank; i++) {
    if (o == Py_None) {
      dims[i] = v->shape[i]->example;
      continue;
    }
    PyObject *x = PySequence_GetItem(o, i);
    dims[i] = x ? PyLong_AsLongLong(x) : -1;
    Py_XDECREF(x);
  }
  return !PyErr_Occurred();
}

/* input(tensor of gen, name, role, sizes or None, dtype or None): the tensor becomes an input of forward's graph. */
PyObject *tr_input(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *o, *sizes;
  const char *name, *role_name, *dtype;
  if (!PyArg_ParseTuple(args, "OssOz", &o, &name, &role_name, &sizes, &dtype)) return NULL;
  ac_inrole role = role_of(role_name);
  ac_value *made = in_gen(o);
  int rank;
  int64_t dims[16];
  if (!made || !dims_of(sizes, made, &rank, dims)) return NULL;
  ac_dtype d = dtype ? ac_dtype_of(dtype) : made->dtype;
  if (tr.dtype != AC_NODTYPE && ac_dtypes[d].cls == AC_FLOATING && !dtype) d = tr.dtype;
  static const bool all[16] = {true, true, true, true, true, true, true, true,
                               true, true, true, true, true, true, true, true};
  bool same = rank == made->rank;
  for (int i = 0; same && i < rank; i++) same = dims[i] == made->shape[i]->example;
  ac_graph *cur = tr.cur;
  tr.cur = tr.main;
  tr_graph_start();
  ac_value *v = ac_graph_input(tr.main, name, role, d, rank, dims, role == AC_IN_TENSOR ? NULL : all);
  tr.cur = cur;
  if (tr.scratch.errors) return tr_raise_scratch();
  ac_input *in = &tr.main->inputs.data[tr.main->inputs.len - 1];
  in->gen = same || rank == made->rank ? made : NULL;
  if (!same) {
    ac_value *again = regenerate(made, rank, dims);
    if (again) in->gen = again;
  }
  tr_tensor *t = (tr_tensor *)o;
  Py_XDECREF(t->base);
  t->base = NULL;
  t->strided = t->maybe_copy = false;
  t->g = tr.main;
  t->v = v;
  t->version++;
  PyList_Append(tr.cells, o);
  return PyLong_FromSsize_t((Py_ssize_t)tr.main->inputs.len - 1);
}

/* scalar(name, number) -> what forward gets: a SymInt, or a weakly typed rank-0 Tensor */
PyObject *tr_scalar(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *o;
  const char *name;
  if (!PyArg_ParseTuple(args, "sO", &name, &o)) return NULL;
  bool is_float = PyFloat_Check(o);
  ac_value *v = ac_graph_input(tr.main, name, AC_IN_SCALAR, is_float ? AC_F32 : AC_I64, 0, NULL, NULL);
  size_t i = tr.main->inputs.len - 1;
  ac_input *in = &tr.main->inputs.data[i];
  PyObject *f = PyNumber_Float(o);
  in->scalar = f ? PyFloat_AsDouble(f) : 0;
  Py_XDECREF(f);
  PyList_Append(tr.cells, Py_None);
  if (PyErr_Occurred()) return NULL;
  if (is_float) return tr_wrap(tr.main, v);
  int64_t n = PyLong_AsLongLong(o);
  return PyErr_Occurred() ? NULL : tr_sym_wrap(tr.main, ac_sym_fresh(tr.main, n, (int)i, -1));
}

/* forward(): from here on operations go to forward's graph. */
PyObject *tr_forward(PyObject *self, PyObject *args) {
  (void)self;
  if (!PyArg_ParseTuple(args, "")) return NULL;
  tr.cur = tr.main;
  Py_RETURN_NONE;
}

/* ---- outputs ---- */

static bool add_results(PyObject *list) {
  for (Py_ssize_t i = 0, n = PySequence_Size(list); i < n; i++) {
    PyObject *pair = PySequence_GetItem(list, i), *t = NULL;
    const char *name = NULL;
    bool ok = pair && PyArg_ParseTuple(pair, "sO", &name, &t);
    ac_value *v = ok ? tr_value(t) : NULL;
    if (v) ac_graph_output(tr.main, name, v, -1);
    Py_XDECREF(pair);
    if (!v) return false;
  }
  return true;
}

/* Inputs that were written in place: the caller sees it, so the kernel must do it. */
static bool add_updates(void) {
  for (Py_ssize_t i = 0, n = PySequence_Size(tr.cells); i < n; i++) {
    PyObject *t = PyList_GetItem(tr.cells, i);
    if (!t || t == Py_None) continue;
    ac_value *v = tr_value(t);
    if (!v) return false;
    const ac_input *in = &tr.main->inputs.data[i];
    if (v != in->value) ac_graph_output(tr.main, ac_sprintf(tr.arena, "%s_out", in->name), v, (int)i);
  }
  return true;
}

/* The generators of the inputs, and which size of which input each of their symbols is. */
static void finish_gen(void) {
  for (size_t i = 0; i < tr.main->inputs.len; i++) {
    const ac_input *in = &tr.main->inputs.data[i];
    if (!in->gen) continue;
    ac_graph_output(tr.gen, in->name, in->gen, -1);
    for (int d = 0; d < in->gen->rank; d++) {
      const ac_sym *s = in->gen->shape[d];
      if (s->kind != AC_SYM_VAR || tr.gen->vars.data[s->var].input >= 0) continue;
      tr.gen->vars.data[s->var].input = (int)i;
      tr.gen->vars.data[s->var].dim = d;
    }
  }
  ac_graph_prune(tr.gen);
  tr.main->gen = tr.gen;
}

/* finish(name, [(output name, tensor)], info) */
PyObject *tr_finish(PyObject *self, PyObject *args) {
  (void)self;
  const char *name;
  PyObject *outs, *info;
  if (!PyArg_ParseTuple(args, "sOO", &name, &outs, &info)) return NULL;
  tr.main->name = ac_strdup(tr.arena, name);
  if (!add_results(outs) || !add_updates()) return NULL;
  tr_graph_start();
  ac_graph_prune(tr.main);
  finish_gen();
  const char *broken = ac_graph_verify(tr.main);
  if (broken) return tr_raise(tr.error, AC0214, NULL, "the traced graph breaks an invariant: %s", broken);
  json_t *j = json_object();
  json_object_set_new(j, "graph", ac_graph_to_json(tr.main));
  json_object_set_new(j, "info", to_json(info));
  json_object_set_new(j, "diags", ac_diags_json(&tr.kept));
  return PyBool_FromLong(say(j));
}
