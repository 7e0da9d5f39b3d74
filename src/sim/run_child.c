/* The runner's child: inside the sandbox it loads the compiled code, runs the host's tiling, then the blocks, and leaves the
 * result in shared memory. Whatever the compiled code does, only this process suffers. */
#include "sim/core_internal.h"
#include "sim/core_time.h"
#include "sim/run_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { MAX_ARGS = 2 * ACSIM_HOST_TENSORS + 2 };

int ac_run_problem_note(ac_run_shared *o, ac_run_problem p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(o->message, sizeof o->message, fmt, ap);
  va_end(ap);
  o->problem = p;
  return 0;
}

static void add_fault(ac_run_shared *o, const ac_sim_fault *f) {
  if (o->n_faults >= AC_RUN_FAULTS) return;
  ac_run_fault *to = &o->faults[o->n_faults++];
  snprintf(to->kind, sizeof to->kind, "%s", f->kind);
  snprintf(to->message, sizeof to->message, "%s", f->message);
  snprintf(to->file, sizeof to->file, "%s", f->file ? f->file : "");
  to->line = f->line;
  to->block = f->block;
  to->count = f->count;
}

/* A fault of the host code: no block, no line. */
AC_PRINTF(3, 4) static void host_fault(ac_run_shared *o, const char *kind, const char *fmt, ...) {
  char text[500];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  add_fault(o, &(ac_sim_fault){.kind = kind, .message = text, .block = -1, .count = 1});
}

/* The host functions print why they refuse; the parent reads that from stderr. */
void *ac_run_load(ac_run_shared *o, const char *so) {
  void *h = dlopen(so, RTLD_NOW | RTLD_LOCAL);
  if (!h) ac_run_problem_note(o, AC_RUN_NO_LOAD, "%s", dlerror());
  return h;
}

ac_run_fn ac_run_symbol(void *handle, const char *name) {
  void *p = dlsym(handle, name);
  ac_run_fn f;
  memcpy(&f, &p, sizeof f);
  return f;
}

ac_run_fn ac_run_need(ac_run_shared *o, void *h, const char *name) {
  ac_run_fn f = h ? ac_run_symbol(h, name) : NULL;
  if (h && !f) ac_run_problem_note(o, AC_RUN_NO_LOAD, "the library has no function %s", name);
  return f;
}

/* ---- host side ---- */

static void host_tensor(acsim_host_tensor *to, const ac_sim_tensor *t) {
  to->name = t->name;
  to->dtype = t->host_type ? t->host_type - 1 : ac_run_ge(t->dtype);
  to->rank = t->rank;
  to->list = t->list;
  to->absent = t->absent;
  for (int i = 0; i < t->rank; i++) to->shape[i] = t->shape[i];
  to->data = t->output && !t->also_input ? NULL : t->data;
}

/* The tensors that are inputs (or outputs), in the order of the operator's parameters. */
static int in_order(const ac_run_job *j, bool outputs, const ac_sim_tensor *to[ACSIM_HOST_TENSORS]) {
  int n = 0;
  for (int i = 0; i < j->n_tensors && n < ACSIM_HOST_TENSORS; i++) {
    const ac_sim_tensor *t = &j->tensors[i];
    if (outputs ? !t->output : t->output && !t->also_input) continue;
    int at = n++;
    for (; outputs && at && to[at - 1]->output_at > t->output_at; at--) to[at] = to[at - 1];
    to[at] = t;
  }
  return n;
}

static acsim_host_attr host_attr(const ac_sim_attr *a) {
  static const int32_t kinds[] = {[AC_ATTR_F] = ACSIM_ATTR_FLOAT,
                                  [AC_ATTR_I] = ACSIM_ATTR_INT,
                                  [AC_ATTR_B] = ACSIM_ATTR_BOOL,
                                  [AC_ATTR_S] = ACSIM_ATTR_STRING,
                                  [AC_ATTR_LIST_F] = ACSIM_ATTR_LIST_FLOAT,
                                  [AC_ATTR_LIST_I] = ACSIM_ATTR_LIST_INT};
  return (acsim_host_attr){
      .name = a->name, .kind = kinds[a->kind], .f = a->f, .i = a->i, .s = a->s, .lf = a->lf, .li = a->li, .n = a->n};
}

static bool fill_call(const ac_run_job *j, acsim_host_call *c) {
  c->op_type = j->lib->spec.op_type;
  c->chip = ac_run_host_chip(j->lib->spec.chip);
  const ac_sim_tensor *t[ACSIM_HOST_TENSORS] = {0};
  c->n_inputs = in_order(j, false, t);
  for (int i = 0; i < c->n_inputs; i++) host_tensor(&c->inputs[i], t[i]);
  c->n_outputs = in_order(j, true, t);
  for (int i = 0; i < c->n_outputs; i++) host_tensor(&c->outputs[i], t[i]);
  if (j->n_attrs > ACSIM_HOST_ATTRS) return false;
  for (int i = 0; i < j->n_attrs; i++) c->attrs[c->n_attrs++] = host_attr(&j->attrs[i]);
  c->tiling = j->out->tiling;
  c->tiling_capacity = sizeof j->out->tiling;
  c->deterministic = j->opts->deterministic;
  return true;
}

static void shape_text(char *to, size_t n, const int64_t *shape, int rank) {
  size_t at = (size_t)snprintf(to, n, "(");
  for (int i = 0; i < rank && at < n; i++)
    at += (size_t)snprintf(to + at, n - at, i ? ", %lld" : "%lld", (long long)shape[i]);
  if (at < n) snprintf(to + at, n - at, ")");
}

/* What InferShape and InferDataType promise must be what the graph says. */
static void check_inferred(ac_run_shared *o) {
  const acsim_host_call *c = &o->call;
  for (int i = 0; i < c->n_outputs; i++) {
    const acsim_host_tensor *want = &c->outputs[i], *got = &c->inferred[i];
    if (want->absent) continue;
    bool same = got->rank == want->rank;
    for (int k = 0; same && k < want->rank; k++) same = got->shape[k] == want->shape[k];
    if (got->rank >= 0 && !same) {
      char a[300], b[300];
      shape_text(a, sizeof a, got->shape, got->rank > ACSIM_HOST_RANK ? ACSIM_HOST_RANK : got->rank);
      shape_text(b, sizeof b, want->shape, want->rank);
      host_fault(o, "infer-shape", "InferShape says %s for output %s, it is %s", a, want->name, b);
    }
    if (got->dtype >= 0 && got->dtype != want->dtype)
      host_fault(o, "infer-dtype", "InferDataType says %d for output %s, it is %d (numbers of ge::DataType)",
                 (int)got->dtype, want->name, (int)want->dtype);
  }
}

static int host_problem(ac_run_shared *o) {
  const acsim_host_call *c = &o->call;
  if (c->status == ACSIM_HOST_REFUSED) return ac_run_problem_note(o, AC_RUN_REFUSED, "%s", "");
  if (c->status == ACSIM_HOST_SHAPE_FAILED)
    return ac_run_problem_note(o, AC_RUN_REFUSED, "InferShape refuses the shapes");
  char copy[sizeof c->message];
  memcpy(copy, c->message, sizeof copy);
  copy[sizeof copy - 1] = 0;
  return ac_run_problem_note(o, AC_RUN_HOST_MISFIT, "%s", copy);
}

static bool run_host(const ac_run_job *j) {
  ac_run_shared *o = j->out;
  void *h = ac_run_load(o, j->lib->host_so);
  acsim_host_infer_fn infer = (acsim_host_infer_fn)ac_run_need(o, h, "acsim_host_infer");
  acsim_host_tiling_fn tiling = (acsim_host_tiling_fn)ac_run_need(o, h, "acsim_host_tiling");
  if (!infer || !tiling) return false;
  if (!fill_call(j, &o->call)) {
    ac_run_problem_note(o, AC_RUN_HOST_MISFIT, "more than %d tensors or attributes", ACSIM_HOST_TENSORS);
    return false;
  }
  o->stage = AC_STAGE_SHAPES;
  if (infer(&o->call)) return host_problem(o), false;
  check_inferred(o);
  o->stage = AC_STAGE_TILING;
  if (tiling(&o->call)) return host_problem(o), false;
  o->block_dim = o->call.block_dim;
  o->tiling_key = (int64_t)o->call.tiling_key;
  o->tiling_bytes = (int64_t)o->call.tiling_size;
  for (int i = 0; i < o->call.n_workspaces && i < ACSIM_HOST_WORKSPACES; i++)
    o->workspace += (int64_t)o->call.workspaces[i];
  if (!o->call.block_dim_set || o->call.block_dim == 0)
    host_fault(o, "no-blocks", "the tiling code set %s", o->call.block_dim_set ? "a block dim of 0" : "no block dim");
  if (o->call.tiling_size > sizeof o->tiling)
    return ac_run_problem_note(o, AC_RUN_HOST_MISFIT, "the tiling data is too large"), false;
  return true;
}

/* ---- the blocks ---- */

/* As the framework does before a launch with SetNeedAtomic and InitValue. */
static void fill_output(const ac_sim_tensor *t, uint64_t value) {
  int64_t n = t->bytes / ac_dtypes[t->dtype].bytes;
  for (int64_t i = 0; i < n; i++) ac_store_int(t->dtype, t->data, i, (int64_t)value);
}

static acsim_seat seats[ACSIM_SEATS];

/* ---- inputs cannot be written while the blocks run ---- */

typedef struct {
  uint8_t *data;
  size_t bytes;
  const char *name;
  int hits;
} held_input;
static held_input held[2 * ACSIM_HOST_TENSORS];
static int n_held;

static void hold_inputs(const ac_run_job *j) {
  for (int i = 0; i < j->n_tensors && i < (int)AC_COUNT(held); i++) {
    const ac_sim_tensor *t = &j->tensors[i];
    bool input = !t->output && !t->updated && !t->absent && t->bytes;
    for (int k = 0; k < j->n_tensors; k++) input = input && (k == i || j->tensors[k].data != t->data);
    held_input h = {t->data, ac_sim_own_bytes(t->bytes), t->name, 0}; /* ac_sim_alloc: nothing else is there */
    if (input && !((uintptr_t)t->data & 4095) && !mprotect(h.data, h.bytes, PROT_READ)) held[n_held++] = h;
  }
}

/* In the handler of SIGSEGV. True: the address is an input's, which may be written from now on, and that is noted. */
static bool input_written(const void *at) {
  enum { ENOUGH = 4096 }; /* threads that may be at it at one time; a jump to an input would never end */
  for (int i = 0; i < n_held; i++) {
    held_input *h = &held[i];
    if ((const uint8_t *)at < h->data || (const uint8_t *)at >= h->data + h->bytes) continue;
    return __atomic_add_fetch(&h->hits, 1, __ATOMIC_RELAXED) < ENOUGH &&
           !mprotect(h->data, h->bytes, PROT_READ | PROT_WRITE);
  }
  return false;
}

static void report_inputs(acsim_session *s) {
  for (int i = 0; i < n_held; i++)
    if (held[i].hits)
      acsim_fault_pair(s, NULL, "write-to-input", (acsim_at){0}, (acsim_at){NULL, i + 1} /* each by itself */,
                       "%s, which is an input, was written through a plain __gm__ pointer", held[i].name);
}

static bool saturates(const ac_run_job *j) {
  ac_overflow o = j->opts->overflow;
  return o == AC_OVERFLOW_CHIP ? j->lib->spec.chip->half_saturates : o == AC_OVERFLOW_SATURATE;
}

acsim_session *ac_run_session_open(const ac_run_job *j) {
  const acsim_host_call *c = &j->out->call;
  acsim_buffer b[2 * ACSIM_HOST_TENSORS];
  int n = 0, out = 0;
  bool whole = !j->opts->n_blocks && !j->opts->sample; /* else few pages of it may ever be used */
  for (int i = 0; i < j->n_tensors && n < (int)AC_COUNT(b); i++) {
    const ac_sim_tensor *t = &j->tensors[i];
    int place = t->output_at ? t->output_at - 1 : out;
    bool filled = t->output && !t->absent && c->output_filled[place];
    if (filled) fill_output(t, c->output_fill[place]);
    out += t->output;
    if (t->absent) continue;
    bool poison = whole && t->output && !t->updated && !t->also_input && !filled && t->bytes;
    if (poison) memset(t->data, ACSIM_POISON, (size_t)t->bytes);
    b[n++] = (acsim_buffer){.name = t->name,
                            .data = t->data,
                            .bytes = t->bytes,
                            .elem = ac_dtypes[t->dtype].bytes,
                            .zeroed = filled,
                            .poisoned = poison,
                            .kind = t->updated      ? ACSIM_INOUT
                                    : !t->output    ? ACSIM_INPUT
                                    : t->also_input ? ACSIM_INOUT
                                                    : ACSIM_OUTPUT};
  }
  if (!(j->deadline > 0)) {
    hold_inputs(j);
    ac_run_canary_set(j);
  }
  return acsim_open(&(acsim_config){.chip = j->lib->spec.chip,
                                    .buffers = b,
                                    .n_buffers = n,
                                    .threads = j->opts->threads,
                                    .order = j->opts->order,
                                    .saturate = saturates(j),
                                    .hazards = j->opts->hazards,
                                    .no_time = j->opts->no_time,
                                    .trace_blocks = j->trace ? j->opts->trace_blocks : 0,
                                    .trace_spans = j->trace ? j->trace->cap : 0,
                                    .first_block = j->opts->first_block,
                                    .n_blocks = j->opts->n_blocks,
                                    .live = j->out->live,
                                    .seats = j->deadline > 0 ? NULL : seats,
                                    .sample = j->opts->sample,
                                    .sample_seed = j->opts->sample_seed,
                                    .perturb = j->opts->perturb,
                                    .perturb_seed = j->opts->perturb_seed,
                                    .perturb_only = j->opts->perturb_only});
}

void *ac_run_map(ac_run_shared *o, int64_t bytes) {
  if (bytes <= 0) return NULL;
  void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p != MAP_FAILED) return p;
  ac_run_problem_note(o, AC_RUN_NO_MEMORY, "a workspace of %lld bytes: %s", (long long)bytes, strerror(errno));
  return NULL;
}

void ac_run_session_close(const ac_run_job *j, acsim_session *s) {
  ac_run_shared *o = j->out;
  acsim_finish(s);
  report_inputs(s);
  if (!(j->deadline > 0)) ac_run_canary_check(j, s);
  size_t n = 0;
  const ac_sim_fault *f = acsim_faults(s, &n, NULL);
  for (size_t i = 0; i < n; i++) add_fault(o, &f[i]);
  f = acsim_warnings(s, &n);
  for (size_t i = 0; i < n; i++) add_fault(o, &f[i]);
  o->ub_peak = acsim_ub_peak(s);
  for (int i = 0; i < ac_n_error_bounds && i < AC_RUN_BOUNDS; i++) o->bounded[i] = acsim_bounded(s, i) != NULL;
  ac_run_time_put(&o->time, j->trace, s);
  acsim_close(s);
}

typedef struct {
  acsim_entry_run_fn run;
  void *args[MAX_ARGS];
} entry;
static void call_entry(void *user) {
  entry *e = user;
  e->run(e->args);
}

/* The list that a kernel gets for a DYNAMIC parameter: the offset of the addresses, a record for each tensor (dimensions in the low
 * half, number in the high half; then the shape), the addresses (asc-devkit docs/zh, ListTensorDesc). */
static void *make_list(ac_run_shared *o, acsim_session *s, const ac_sim_tensor *const *t, int n) {
  int64_t words = 1;
  for (int i = 0; i < n; i++) words += 2 + t[i]->rank;
  uint64_t *p = ac_run_map(o, words * 8);
  if (!p) return NULL;
  int64_t at = 1;
  for (int i = 0; i < n; i++) {
    p[at++] = (uint64_t)i << 32 | (uint64_t)t[i]->rank;
    for (int k = 0; k < t[i]->rank; k++) p[at++] = (uint64_t)t[i]->shape[k];
  }
  p[0] = (uint64_t)at * 8;
  for (int i = 0; i < n; i++) p[at++] = (uint64_t)(uintptr_t)t[i]->data;
  acsim_add_buffer(
      s, &(acsim_buffer){.name = "list of tensors", .data = p, .bytes = words * 8, .elem = 8, .kind = ACSIM_INPUT});
  return p;
}

/* Inputs, then outputs; the tensors of a list are one argument. */
static int gather_args(const ac_run_job *j, acsim_session *s, entry *e) {
  int n = 0;
  for (int out = 0; out < 2; out++) {
    const ac_sim_tensor *all[ACSIM_HOST_TENSORS], *group[ACSIM_HOST_TENSORS];
    int len = 0, count = in_order(j, out, all);
    for (int i = 0; i <= count; i++) {
      const ac_sim_tensor *t = i < count ? all[i] : NULL;
      if (len && (!t || t->list != group[0]->list)) {
        e->args[n++] = make_list(j->out, s, group, len);
        len = 0;
      }
      if (t && t->list)
        group[len++] = t;
      else if (t)
        e->args[n++] = t->absent ? NULL : t->data;
    }
  }
  return n;
}

/* ---- outputs whose shape the kernel computes: one more argument, 9 words for each of them (asc-devkit docs/zh, output shapes that depend on
 * the computation) ---- */

enum { SHAPE_WORDS = 9 };

static uint64_t *shape_output(const ac_run_job *j, acsim_session *s) {
  const acsim_host_call *c = &j->out->call;
  int n = 0;
  for (int i = 0; i < c->n_outputs; i++) n += c->output_computed[i];
  uint64_t *p = n ? ac_run_map(j->out, (int64_t)n * SHAPE_WORDS * 8) : NULL;
  if (p)
    acsim_add_buffer(s, &(acsim_buffer){.name = "shapes of the outputs",
                                        .data = (uint8_t *)p,
                                        .bytes = (int64_t)n * SHAPE_WORDS * 8,
                                        .elem = 8,
                                        .kind = ACSIM_WORKSPACE});
  return p;
}

/* What the kernel said: that much of the output has to be written. */
static void take_shapes(const ac_run_job *j, acsim_session *s, const uint64_t *w) {
  const ac_sim_tensor *t[ACSIM_HOST_TENSORS] = {0};
  int n = in_order(j, true, t);
  for (int i = 0; i < n; i++) {
    if (!j->out->call.output_computed[i]) continue;
    int64_t room = t[i]->bytes / ac_dtypes[t[i]->dtype].bytes, elems = 1;
    int rank = (int)(w[0] & 0x7fffffff);
    bool fits = rank <= SHAPE_WORDS - 1;
    for (int k = 0; fits && k < rank; k++)
      fits = !__builtin_mul_overflow(elems, (int64_t)w[1 + k], &elems) && elems >= 0;
    ac_run_dims *d = &j->out->computed[t[i] - j->tensors];
    if (!fits || elems > room) {
      host_fault(j->out, "output-shape",
                 "the kernel says that %s has %d dimensions and %lld elements; there is room for %lld", t[i]->name,
                 rank, (long long)elems, (long long)room);
    } else {
      d->known = true;
      d->rank = rank;
      for (int k = 0; k < rank; k++) d->shape[k] = (int64_t)w[1 + k];
      acsim_expect(s, t[i]->data, elems);
    }
    w += SHAPE_WORDS;
  }
}

static int run_msopgen(const ac_run_job *j) {
  ac_run_shared *o = j->out;
  if (!run_host(j) || j->opts->tiling_only) return 0;
  int column = j->lib->n_kernels > 1 ? o->call.dtype_column : 0;
  if (column < 0 || column >= j->lib->n_kernels)
    return ac_run_problem_note(o, AC_RUN_HOST_MISFIT, "no kernel for dtype column %d", column);
  if (!j->lib->kernel_so[column])
    return ac_run_problem_note(o, AC_RUN_HOST_MISFIT, "no kernel was built for dtype column %d", column);
  void *h = ac_run_load(o, j->lib->kernel_so[column]);
  acsim_entry_args_fn count = (acsim_entry_args_fn)ac_run_need(o, h, "acsim_entry_args");
  entry e = {.run = (acsim_entry_run_fn)ac_run_need(o, h, "acsim_entry_run")};
  if (!count || !e.run || o->call.block_dim == 0) return 0;
  acsim_entry_has_fn has = (acsim_entry_has_fn)ac_run_symbol(h, "acsim_entry_has");
  if (has && !has((unsigned long)o->tiling_key))
    return ac_run_problem_note(o, AC_RUN_HOST_MISFIT,
                               "the tiling key %lld is none of those that ASCENDC_TPL_SEL declares for kernel %s",
                               (long long)o->tiling_key, j->lib->spec.op);
  acsim_session *s = ac_run_session_open(j);
  ac_run_add_constants(s, h);
  int n = gather_args(j, s, &e);
  uint64_t *shapes = shape_output(j, s);
  if (shapes) e.args[n++] = shapes;
  if (count() != n + 2)
    return ac_run_problem_note(o, AC_RUN_HOST_MISFIT,
                               "the kernel %s takes %d arguments; %d tensors, workspace and tiling make %d",
                               j->lib->spec.op, (int)count(), n, n + 2);
  void *workspace = ac_run_map(o, o->workspace);
  if (o->problem) return 0;
  int64_t system = (int64_t)o->call.library_workspace;
  acsim_buffer scratch = {
      .name = "workspace", .data = workspace, .bytes = o->workspace, .elem = 1, .kind = ACSIM_WORKSPACE};
  scratch.system = system < o->workspace ? system : o->workspace;
  if (workspace) acsim_add_buffer(s, &scratch);
  if (o->tiling_bytes)
    acsim_add_buffer(
        s, &(acsim_buffer){
               .name = "tiling", .data = o->tiling, .bytes = o->tiling_bytes, .elem = 1, .kind = ACSIM_TILING});
  /* the code that CANN generates around the kernel passes the user's part (8.1, tbe/tikcpp/compile_op.py) */
  e.args[n] = workspace ? (uint8_t *)workspace + scratch.system : NULL;
  e.args[n + 1] = o->tiling;
  o->stage = AC_STAGE_BLOCKS;
  acsim_set_schedule_mode(s, (int)o->call.schedule_mode);
  ac_run_globals *globals = ac_run_globals_open(h, !j->lib->host_code, false);
  acsim_launch(s, o->block_dim, (uint64_t)o->tiling_key, call_entry, &e);
  ac_run_globals_close(globals, s, (const void *)(uintptr_t)e.run);
  if (shapes) take_shapes(j, s, shapes);
  ac_run_session_close(j, s);
  return 0;
}

/* ---- direct launch: the file's own host functions do the rest ---- */

typedef int32_t (*workspace_fn)(uint32_t, uint64_t, const int64_t *const *, const int32_t *, const double *,
                                int64_t *, char *, uint32_t);
typedef int32_t (*run_fn)(uint32_t, uint64_t, const int64_t *const *, const int32_t *, const double *, void *const *,
                          void *, void *, char *, uint32_t);

static acsim_host_chip direct_chip;
static bool direct_running;
const acsim_host_chip *acsim_chip_of_run(void) {
  return direct_running ? &direct_chip : NULL;
}

static int run_direct(const ac_run_job *j) {
  ac_run_shared *o = j->out;
  direct_chip = ac_run_host_chip(j->lib->spec.chip);
  direct_running = true;
  char name[300];
  void *h = ac_run_load(o, j->lib->kernel_so[0]);
  snprintf(name, sizeof name, "%s_workspace", j->lib->spec.op);
  workspace_fn workspace = (workspace_fn)ac_run_need(o, h, name);
  snprintf(name, sizeof name, "%s_run", j->lib->spec.op);
  run_fn run = (run_fn)ac_run_need(o, h, name);
  if (!workspace || !run) return 0;
  void *data[MAX_ARGS];
  const int64_t *shapes[MAX_ARGS];
  int32_t ranks[MAX_ARGS];
  double attrs[ACSIM_HOST_ATTRS + 1] = {0};
  int k = 0;
  for (int out = 0; out < 2; out++) {
    const ac_sim_tensor *t[ACSIM_HOST_TENSORS];
    int count = in_order(j, out, t);
    for (int i = 0; i < count; i++) {
      if (out && t[i]->also_input) continue; /* in place: it stands among the inputs */
      data[k] = t[i]->absent ? NULL : t[i]->data;
      shapes[k] = t[i]->shape;
      ranks[k++] = t[i]->rank;
    }
  }
  for (int i = 0; i < j->n_attrs && i < ACSIM_HOST_ATTRS; i++)
    attrs[i] = j->attrs[i].kind == AC_ATTR_F ? j->attrs[i].f : (double)j->attrs[i].i;
  if (j->n_attrs <= ACSIM_HOST_ATTRS)
    attrs[j->n_attrs] = j->opts->deterministic; /* where the tiling code asks for it */
  const ac_chip *chip = j->lib->spec.chip;
  uint32_t cores = (uint32_t)chip->vector_cores;
  uint64_t ub = ac_run_usable_ub(chip);
  char msg[sizeof o->message] = "";
  int64_t bytes = 0;
  o->stage = AC_STAGE_TILING;
  if (workspace(cores, ub, shapes, ranks, attrs, &bytes, msg, sizeof msg))
    return ac_run_problem_note(o, AC_RUN_REFUSED, "%s", msg);
  o->workspace = bytes;
  if (j->opts->tiling_only) return 0;
  acsim_session *s = ac_run_session_open(j);
  ac_run_add_constants(s, h);
  void *w = ac_run_map(o, bytes);
  if (o->problem) return 0;
  if (w)
    acsim_add_buffer(
        s, &(acsim_buffer){.name = "workspace", .data = w, .bytes = bytes, .elem = 1, .kind = ACSIM_WORKSPACE});
  o->stage = AC_STAGE_BLOCKS;
  if (run(cores, ub, shapes, ranks, attrs, data, w, NULL, msg, sizeof msg))
    return ac_run_problem_note(o, AC_RUN_REFUSED, "%s", msg);
  o->block_dim = acsim_last_block_dim(s);
  ac_run_session_close(j, s);
  return 0;
}

/* ---- a fatal signal: which block it was ---- */

static ac_run_shared *crash_record;

static void note(const acsim_seat *seat) {
  size_t i = 0;
  for (; seat->file && seat->file[i] && i + 1 < sizeof crash_record->last_file; i++)
    crash_record->last_file[i] = seat->file[i];
  crash_record->last_file[i] = 0;
  crash_record->last_line = seat->line;
  crash_record->crash_block = seat->block;
}

static void note_outside(void) {
  note(&(acsim_seat){.file = acsim_outside.file, .line = acsim_outside.line});
  crash_record->last_outside = true;
}

/* Shortly before the parent ends the run: the first block that does not wait for others. */
static void on_alarm(int sig) {
  (void)sig;
  const acsim_seat *found = NULL;
  for (int i = 0; i < ACSIM_SEATS; i++)
    if (seats[i].block && (!found || (found->waits && !seats[i].waits))) found = &seats[i];
  if (found) note(found);
}

static void on_crash(int sig, siginfo_t *info, void *context) {
  (void)context;
  if (sig == SIGSEGV && input_written(info->si_addr)) return;
  /* reads what the thread's block has noted, nothing else */
  // NOLINTNEXTLINE(bugprone-signal-handler)
  if (acsim_self) note(acsim_self->seat);
  // NOLINTNEXTLINE(bugprone-signal-handler)
  if (acsim_outside.file) note_outside();
  signal(sig, SIG_DFL); /* the instruction runs again and ends the process as it would have */
}

static void watch_crashes(ac_run_shared *o, double timeout) {
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  crash_record = o;
  struct sigaction act = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  for (size_t i = 0; i < AC_COUNT(fatal); i++) sigaction(fatal[i], &act, NULL);
  double left = timeout - (timeout < 5 ? timeout / 10 : 0.5);
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm, .sa_flags = SA_RESTART | SA_ONSTACK}, NULL);
  struct itimerval timer = {.it_value = {(time_t)left, (suseconds_t)((left - (double)(time_t)left) * 1e6)}};
  if (left > 0 && left < 1e9) setitimer(ITIMER_REAL, &timer, NULL);
}

/* exit() from within: the thread's block and the last of its instructions. Nobody is told of _exit(). */
static void on_end(int status, void *to) {
  (void)status;
  ac_run_shared *o = to;
  o->no_memory = ac_memory_ran_out();
  if (!acsim_self || o->stage != AC_STAGE_BLOCKS) return;
  o->crash_block = acsim_block_index() + 1;
  acsim_at at;
  const char *op = acsim_time_last(acsim_self, &at);
  if (!op) return;
  snprintf(o->last.op, sizeof o->last.op, "%s", op);
  snprintf(o->last.file, sizeof o->last.file, "%s", at.file ? at.file : "");
  o->last.line = at.line;
}

int ac_run_child(void *job) {
  const ac_run_job *j = job;
  if (!(j->deadline > 0)) {
    watch_crashes(j->out, j->timeout);
    on_exit(on_end, j->out);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is printed stays, however it ends */
  }
  int status = j->direct                             ? ac_direct_child(j)
               : j->launch                           ? ac_run_kernel_child(j)
               : j->lib->spec.form == AC_SIM_MSOPGEN ? run_msopgen(j)
                                                     : run_direct(j);
  j->out->ok = status == 0 && j->out->problem == AC_RUN_NONE;
  j->out->stage = AC_STAGE_DONE;
  return status;
}
