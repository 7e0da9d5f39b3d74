/* The module `_ascendcraft`: state, source positions, exceptions, sandbox. */
#include "plugin.h"

#include <string.h>

tr_state tr;

/* ---- where we are ---- */

static const char *code_file(PyObject *frame) {
  PyObject *code = PyObject_GetAttrString(frame, "f_code");
  PyObject *name = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
  const char *s = name ? tr_text(name) : NULL;
  Py_XDECREF(name);
  Py_XDECREF(code);
  if (!s) PyErr_Clear();
  return s;
}

static bool is_users(const char *file) {
  if (!file || !tr.folder || strncmp(file, tr.folder, strlen(tr.folder)) != 0) return false;
  for (size_t i = 0; i < AC_COUNT(tr.skip); i++)
    if (tr.skip[i] && !strncmp(file, tr.skip[i], strlen(tr.skip[i]))) return false;
  return true;
}

/* Columns of the instruction that runs, where Python knows them (3.11 on): for carets under errors. */
static void columns(PyObject *frame, ac_loc *loc) {
  PyObject *code = PyObject_GetAttrString(frame, "f_code"), *at = PyObject_GetAttrString(frame, "f_lasti");
  PyObject *all = code && at ? PyObject_CallMethod(code, "co_positions", NULL) : NULL;
  PyObject *one = NULL;
  for (long i = all ? PyLong_AsLong(at) / 2 : -1; i >= 0; i--) {
    Py_XDECREF(one);
    one = PyIter_Next(all);
    if (!one) break;
  }
  int line, last, col, end;
  if (one && PyArg_ParseTuple(one, "iiii", &line, &last, &col, &end) && line == loc->line) {
    loc->col = col + 1;
    loc->end_col = last == line ? end + 1 : 0;
  }
  PyErr_Clear();
  Py_XDECREF(one);
  Py_XDECREF(all);
  Py_XDECREF(at);
  Py_XDECREF(code);
}

static ac_loc find_loc(bool precise) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace); /* attributes are read below, with or without an exception on its way */
  ac_loc loc = AC_NOLOC;
  PyObject *f = (PyObject *)PyEval_GetFrame();
  Py_XINCREF(f);
  while (f && f != Py_None) {
    const char *file = code_file(f);
    if (is_users(file)) {
      PyObject *line = PyObject_GetAttrString(f, "f_lineno");
      if (line && line != Py_None) loc = (ac_loc){.file = file, .line = (int)PyLong_AsLong(line)};
      Py_XDECREF(line);
      if (precise && loc.line) columns(f, &loc);
      break;
    }
    PyObject *back = PyObject_GetAttrString(f, "f_back");
    Py_DECREF(f);
    f = back;
  }
  Py_XDECREF(f);
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
  return loc;
}

ac_loc tr_loc(void) {
  return find_loc(false);
}

const char *tr_text(PyObject *str) {
  PyObject *bytes = PyUnicode_Check(str) ? PyUnicode_AsEncodedString(str, "utf-8", "replace") : NULL;
  if (!bytes) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected a str");
    return NULL;
  }
  const char *s = ac_intern(tr.texts, PyBytes_AsString(bytes));
  Py_DECREF(bytes);
  return s;
}

/* ---- exceptions: they carry a diagnostic, which is reported only if nobody in the file catches them ---- */

static bool set_attr(PyObject *o, const char *name, PyObject *v) {
  bool ok = v && !PyObject_SetAttrString(o, name, v);
  Py_XDECREF(v);
  return ok;
}

static PyObject *text_or_none(const char *s) {
  if (!s) return tr_ref(Py_None);
  return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "replace");
}

static PyObject *place(ac_loc loc) {
  return Py_BuildValue("(siii)", loc.file ? loc.file : "", loc.line, loc.col, loc.end_col);
}

static PyObject *raise_full(PyObject *cls, const ac_diag *x) {
  PyObject *text = text_or_none(x->message), *e = text ? PyObject_CallFunctionObjArgs(cls, text, NULL) : NULL;
  Py_XDECREF(text);
  ac_loc here = find_loc(true), loc = x->loc;
  if (!loc.file || (!loc.col && loc.file == here.file && loc.line == here.line)) loc = here;
  PyObject *helps = PyList_New(0), *notes = PyList_New(0);
  bool ok = e && helps && notes;
  for (size_t i = 0; ok && i < x->help.len; i++) {
    PyObject *h = text_or_none(x->help.data[i]);
    ok = h && !PyList_Append(helps, h);
    Py_XDECREF(h);
  }
  for (size_t i = 0; ok && i < x->notes.len; i++) {
    ac_loc l = x->notes.data[i].loc;
    PyObject *n = Py_BuildValue("(sis)", l.file ? l.file : "", l.line, x->notes.data[i].message);
    ok = n && !PyList_Append(notes, n);
    Py_XDECREF(n);
  }
  ok = ok && set_attr(e, "ac_code", text_or_none(ac_code_name(x->code))) && set_attr(e, "ac_help", tr_ref(helps)) &&
       set_attr(e, "ac_notes", tr_ref(notes)) && set_attr(e, "ac_loc", place(loc));
  if (ok) PyErr_SetObject(cls, e);
  Py_XDECREF(helps);
  Py_XDECREF(notes);
  Py_XDECREF(e);
  return NULL;
}

PyObject *tr_raise(PyObject *cls, ac_code code, const char *help, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ac_diag x = {.severity = AC_ERROR, .code = code, .loc = tr_loc(), .message = ac_vsprintf(tr.arena, fmt, ap)};
  va_end(ap);
  if (help) ac_push(tr.arena, &x.help, help);
  return raise_full(cls, &x);
}

PyObject *tr_raise_scratch(void) {
  if (PyErr_Occurred()) return NULL;
  for (size_t i = tr.scratch.list.len; i > 0; i--) {
    ac_diag *x = tr.scratch.list.data[i - 1];
    if (x->severity == AC_ERROR) return raise_full(tr.error, x);
  }
  return tr_raise(tr.error, AC0214, NULL, "the graph refused an operation without saying why");
}

ac_graph *tr_graph_start(void) {
  for (size_t i = 0; i < tr.scratch.list.len; i++)
    if (tr.scratch.list.data[i]->severity == AC_WARNING) ac_push(tr.arena, &tr.kept.list, tr.scratch.list.data[i]);
  ac_diags_init(&tr.scratch, tr.arena);
  return tr.cur;
}

/* raise_(class name, code, message, help, ...): for the Python side. */
static PyObject *py_raise(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *cls;
  const char *code, *message, *help = NULL;
  if (!PyArg_ParseTuple(args, "Oss|z", &cls, &code, &message, &help)) return NULL;
  ac_diag x = {.severity = AC_ERROR, .code = AC0214, .loc = tr_loc(), .message = ac_strdup(tr.arena, message)};
  for (int c = 0; c < AC_DIAG_COUNT; c++)
    if (!strcmp(ac_code_name((ac_code)c), code)) x.code = (ac_code)c;
  if (help) ac_push(tr.arena, &x.help, ac_strdup(tr.arena, help));
  return raise_full(cls, &x);
}

static PyObject *py_loc(PyObject *self, PyObject *args) {
  (void)self;
  (void)args;
  return place(tr_loc());
}

/* ---- set-up ---- */

/* setup(folder, (skipped folders), dtype or None, Tensor, Size, dtypes, hidden) */
static PyObject *py_setup(PyObject *self, PyObject *args) {
  (void)self;
  const char *folder, *skip0, *skip1, *dtype;
  PyObject *tensor, *size, *dtypes, *hidden;
  if (!PyArg_ParseTuple(args, "s(ss)zOOOO", &folder, &skip0, &skip1, &dtype, &tensor, &size, &dtypes, &hidden))
    return NULL;
  tr.folder = ac_strdup(tr.arena, folder);
  tr.skip[0] = ac_strdup(tr.arena, skip0);
  tr.skip[1] = ac_strdup(tr.arena, skip1);
  tr.dtype = dtype ? ac_dtype_of(dtype) : AC_NODTYPE;
  if (dtype && (tr.dtype == AC_NODTYPE || ac_dtypes[tr.dtype].cls != AC_FLOATING)) {
    PyErr_Format(PyExc_ValueError, "'%s' is not a floating dtype", dtype);
    return NULL;
  }
  tr.tensor = tr_ref(tensor);
  tr.size = tr_ref(size);
  tr.dtypes = tr_ref(dtypes);
  tr.hidden = tr_ref(hidden);
  tr.cells = PyList_New(0);
  Py_RETURN_NONE;
}

static PyObject *py_fresh(PyObject *self, PyObject *args) {
  (void)self;
  int on;
  if (!PyArg_ParseTuple(args, "p", &on)) return NULL;
  tr.fresh_sizes = on;
  Py_RETURN_NONE;
}

/* sandbox([folders that may be read], memory, cpu seconds) -> "what is missing" or None */
static PyObject *py_sandbox(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *list;
  unsigned long long memory;
  int cpu;
  if (!PyArg_ParseTuple(args, "OKi", &list, &memory, &cpu)) return NULL;
  ac_strvec paths = {0};
  for (Py_ssize_t i = 0; i < PySequence_Size(list); i++) {
    PyObject *p = PySequence_GetItem(list, i);
    const char *s = p ? tr_text(p) : NULL;
    Py_XDECREF(p);
    if (!s) return NULL;
    ac_push(tr.arena, &paths, s);
  }
  ac_push(tr.arena, &paths, NULL);
  ac_sandbox s = {.on = true, .memory = memory, .cpu_seconds = cpu, .processes = 1, .read_only = paths.data};
  return text_or_none(ac_sandbox_missing(tr.arena, ac_sandbox_enter(&s)));
}

static PyMethodDef methods[] = {
    {"setup", py_setup, METH_VARARGS, NULL},
    {"sandbox", py_sandbox, METH_VARARGS, NULL},
    {"fresh_sizes", py_fresh, METH_VARARGS, NULL},
    {"raise_", py_raise, METH_VARARGS, NULL},
    {"loc", py_loc, METH_NOARGS, NULL},
    {"call", tr_call, METH_VARARGS, NULL},
    {"has", tr_has, METH_VARARGS, NULL},
    {"unknown", tr_unknown, METH_VARARGS, NULL},
    {"literal", tr_literal, METH_VARARGS, NULL},
    {"getitem", tr_getitem, METH_VARARGS, NULL},
    {"setitem", tr_setitem, METH_VARARGS, NULL},
    {"input", tr_input, METH_VARARGS, NULL},
    {"scalar", tr_scalar, METH_VARARGS, NULL},
    {"forward", tr_forward, METH_VARARGS, NULL},
    {"finish", tr_finish, METH_VARARGS, NULL},
    {"report", tr_report, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT, "_ascendcraft", NULL, -1, methods, NULL, NULL, NULL, NULL};

static PyObject *new_error(const char *name, PyObject *base1, PyObject *base2) {
  PyObject *bases = base2 ? PyTuple_Pack(2, base1, base2) : PyTuple_Pack(1, base1);
  PyObject *e = bases ? PyErr_NewException(name, bases, NULL) : NULL;
  Py_XDECREF(bases);
  return e;
}

static bool add(PyObject *m, const char *name, PyObject *o) {
  return o && !PyObject_SetAttrString(m, name, o);
}

static void out_of_memory(size_t wanted, void *user) {
  (void)user;
  (void)wanted;
  static const char text[] =
      "{\"diags\":[{\"severity\":\"error\",\"code\":\"AC0208\",\"message\":\"the traced graph does not fit "
      "into the memory limit\",\"notes\":[],\"help\":[]}]}\n";
  PyErr_Clear();
  PyObject *fd = PyObject_GetAttrString(tr.module, "out_fd");
  int n = fd ? (int)PyLong_AsLong(fd) : 1;
  if (write(n, text, sizeof text - 1) < 0) _exit(AC_INTERNAL);
  _exit(AC_LIMIT);
}

PyMODINIT_FUNC PyInit__ascendcraft(void) {
  tr = (tr_state){.arena = ac_arena_new(), .dtype = AC_NODTYPE};
  ac_on_oom(out_of_memory, NULL);
  ac_diags_init(&tr.kept, tr.arena);
  ac_diags_init(&tr.scratch, tr.arena);
  tr.texts = ac_strings_new(tr.arena);
  tr.gen = ac_graph_new(tr.arena, &tr.scratch);
  tr.main = ac_graph_new(tr.arena, &tr.scratch);
  tr.cur = tr.gen;
  PyObject *m = tr.module = PyModule_Create(&module_def);
  if (!m) return NULL;
  tr.error = new_error("_ascendcraft.TraceError", PyExc_RuntimeError, NULL);
  tr.unknown = new_error("_ascendcraft.UnknownOperation", tr.error, PyExc_AttributeError);
  tr.bad_args = new_error("_ascendcraft.BadArguments", tr.error, PyExc_TypeError);
  tr.index_error = new_error("_ascendcraft.BadIndex", tr.error, PyExc_IndexError);
  tr.data_dependent = new_error("_ascendcraft.DataDependent", tr.error, PyExc_TypeError);
  tr.tensor_type = tr_tensor_type();
  tr.sym_type = tr_sym_type();
  if (!add(m, "TraceError", tr.error) || !add(m, "UnknownOperation", tr.unknown) ||
      !add(m, "BadArguments", tr.bad_args) || !add(m, "BadIndex", tr.index_error) ||
      !add(m, "DataDependent", tr.data_dependent) || !add(m, "TensorBase", (PyObject *)tr.tensor_type) ||
      !add(m, "SymInt", (PyObject *)tr.sym_type))
    return NULL;
  return m;
}
