/* The runner's parent: shared memory for tensors and result, the sandboxed child, and what its end means. */
#include "sim/run_internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t DEFAULT_MEMORY = 4ull << 30;
static const double DEFAULT_SECONDS = 60, SECONDS_A_BYTE = 5e-8; /* 20 MB of tensors a second: a busy host */

/* Nobody may touch what lies around a tensor: a pointer that leaves it ends the run instead of meeting another tensor. */
static size_t page_up(size_t n) {
  return ((n ? n : 1) + 0xffff) & ~(size_t)0xffff; /* whole pages, whatever the host's size of them */
}
size_t ac_sim_own_bytes(int64_t n) {
  return page_up((size_t)n);
}
static size_t guard_of(size_t n) {
  return n > 1 << 20 ? page_up(n) : 1 << 20;
}

void *ac_sim_alloc(int64_t n) {
  if (n < 0 || n > INT64_MAX / 4) return NULL;
  size_t own = page_up((size_t)n), guard = guard_of((size_t)n);
  const int flags = MAP_ANONYMOUS | MAP_NORESERVE;
  uint8_t *p = mmap(NULL, own + 2 * guard, PROT_NONE, MAP_PRIVATE | flags, -1, 0);
  if (p == MAP_FAILED) return NULL;
  if (mmap(p + guard, own, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | flags, -1, 0) != MAP_FAILED)
    return p + guard;
  munmap(p, own + 2 * guard);
  return NULL;
}

void ac_sim_dealloc(void *p, int64_t n) {
  size_t guard = guard_of((size_t)n);
  if (p) munmap((uint8_t *)p - guard, page_up((size_t)n) + 2 * guard);
}

int32_t ac_run_ge(ac_dtype d) {
  switch (d) {
  case AC_F32: return 0;
  case AC_F16: return 1;
  case AC_I8: return 2;
  case AC_I32: return 3;
  case AC_U8: return 4;
  case AC_I16: return 6;
  case AC_U16: return 7;
  case AC_U32: return 8;
  case AC_I64: return 9;
  case AC_U64: return 10;
  case AC_F64: return 11;
  case AC_BOOL: return 12;
  case AC_BF16: return 27;
  default: return 28; /* DT_UNDEFINED */
  }
}

/* The kernel side's name of a dtype; NULL where any will do. */
const char *ac_run_cpp(ac_dtype d) {
  switch (d) {
  case AC_F32: return "float";
  case AC_F16: return "half";
  case AC_BF16: return "bfloat16_t";
  case AC_F64: return "double";
  case AC_BOOL: return "bool";
  case AC_I8: return "int8_t";
  case AC_I16: return "int16_t";
  case AC_I32: return "int32_t";
  case AC_I64: return "int64_t";
  case AC_U8: return "uint8_t";
  case AC_U16: return "uint16_t";
  case AC_U32: return "uint32_t";
  case AC_U64: return "uint64_t";
  default: return NULL;
  }
}

acsim_host_chip ac_run_host_chip(const ac_chip *c) {
  return (acsim_host_chip){.soc = c->soc,
                           .npu_arch = c->npu_arch,
                           .split = c->split,
                           .vector_cores = (uint32_t)c->vector_cores,
                           .cube_cores = (uint32_t)c->cube_cores,
                           .ub = (uint64_t)c->ub,
                           .l1 = (uint64_t)c->l1,
                           .l0a = (uint64_t)c->l0a,
                           .l0b = (uint64_t)c->l0b,
                           .l0c = (uint64_t)c->l0c,
                           .l2 = (uint64_t)c->l2,
                           .hbm = (uint64_t)c->memory};
}

/* asc-devkit, impl/utils/tiling/platform/platform_ascendc.cpp: 256 bytes are kept back on arch 2201. */
uint64_t ac_run_usable_ub(const ac_chip *chip) {
  return (uint64_t)chip->ub - (chip->npu_arch == 2201 ? 256 : 0);
}

static uint64_t mapped_now(void) {
  unsigned long long pages = 0;
  FILE *f = fopen("/proc/self/statm", "re");
  if (f && fscanf(f, "%llu", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

ac_sandbox ac_run_sandbox(ac_arena *a, const ac_sim_lib *lib, uint64_t memory) {
  ac_strvec v = {0};
  const char *const fixed[] = {
      "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/sys/devices/system/cpu",
      "/proc"};
  for (size_t i = 0; i < AC_COUNT(fixed); i++) ac_push(a, &v, fixed[i]);
  if (lib->host_so) ac_push(a, &v, ac_dirname(a, lib->host_so));
  for (int i = 0; i < lib->n_kernels; i++)
    if (lib->kernel_so[i]) ac_push(a, &v, ac_dirname(a, lib->kernel_so[i]));
  ac_push(a, &v, NULL);
  /* threads, but no process: it would outlive the run */
  return (ac_sandbox){.on = true, .memory = mapped_now() + memory, .processes = 1, .read_only = v.data};
}

/* ---- what came back ---- */

static const char *const stage_names[] = {
    [AC_STAGE_LOAD] = "while its library was loaded", [AC_STAGE_SHAPES] = "in InferShape or InferDataType",
    [AC_STAGE_TILING] = "in the tiling code",         [AC_STAGE_BLOCKS] = "in the kernel",
    [AC_STAGE_DONE] = "after its last block",
};

static char *shapes_text(ac_arena *a, const ac_sim_tensor *t, int n) {
  ac_buf b;
  ac_buf_init(&b, a);
  for (int i = 0; i < n; i++) {
    ac_printf(&b, "%s%s %s(", i ? ", " : "", t[i].name, ac_dtypes[t[i].dtype].name);
    for (int k = 0; k < t[i].rank; k++) ac_printf(&b, k ? ", %lld" : "%lld", (long long)t[i].shape[k]);
    ac_puts(&b, ")");
  }
  return (char *)ac_buf_str(&b);
}

static char *trimmed(ac_arena *a, const char *s, size_t n) {
  while (n && isspace((unsigned char)s[n - 1])) n--;
  while (n && isspace((unsigned char)*s)) s++, n--;
  return ac_strndup(a, s, n);
}

static const char *bounded(ac_arena *a, const char *s, size_t n) {
  return ac_strndup(a, s, strnlen(s, n));
}

static const char *place(ac_arena *a, const ac_sim_lib *lib, const char *file) {
  if (!*file) return NULL;
  if (*file == '/' || !lib->root) return file;
  char *full = ac_path_join(a, lib->root, file);
  return ac_exists(full) ? full : file;
}

/* ", block 3, after the AscendC call at add.cpp:40", as far as it is known. */
static const char *block_text(ac_arena *a, const ac_run_job *j) {
  const ac_run_shared *o = j->out;
  if (o->stage != AC_STAGE_BLOCKS || o->crash_block <= 0) return "";
  const char *file = place(a, j->lib, bounded(a, o->last_file, sizeof o->last_file));
  const char *last = file ? ac_sprintf(a, ", after the AscendC call at %s:%d", file, (int)o->last_line) : "";
  return ac_sprintf(a, ", block %lld%s", (long long)o->crash_block - 1, last);
}

static const char *signal_help(int signal) {
  switch (signal) {
  case SIGFPE:
    return "an integer was divided by zero (a tiling value that was not given is 0), or the smallest one by -1";
  case SIGILL:
  case SIGTRAP:
    return "the code stopped itself with __builtin_trap(), left a function without the value that it returns, or has "
           "an instruction that this host does not know";
  case SIGABRT: return "the code stopped itself: abort(), an assert() that failed, or an exception that nobody took";
  default:
    return "a pointer was used without the AscendC interface, whose accesses are checked, or the stack overflowed";
  }
}

static ac_diag *died(ac_arena *a, const ac_run_job *j, const ac_proc *p, double timeout, uint64_t memory,
                     ac_diags *d) {
  int stage = j->out->stage;
  const char *where = stage >= 0 && stage <= AC_STAGE_DONE ? stage_names[stage] : "at an unknown point";
  char *shapes = shapes_text(a, j->tensors, j->n_tensors);
  ac_loc at = {.file = stage == AC_STAGE_BLOCKS || !j->lib->spec.host_src ? j->lib->spec.kernel_src
                                                                          : j->lib->spec.host_src};
  if (!p->started) return ac_error(d, AC0100, AC_NOLOC, "%s", p->err);
  if (p->timed_out) {
    ac_diag *x =
        ac_error(d, AC0804, at, "not done after %.3g s, stopped %s%s; %s", timeout, where, block_text(a, j), shapes);
    ac_help(d, x, "an endless loop, or too much work to simulate: raise the time limit or take a smaller shape");
    return x;
  }
  if (p->signal == SIGKILL || (p->status == AC_LIMIT && j->out->no_memory)) {
    ac_diag *x = ac_error(d, AC0805, at, "killed %s: out of memory (its limit was %.3g GiB); %s", where,
                          (double)memory / (1 << 30), shapes);
    ac_help(d, x, "raise the memory limit or take a smaller shape");
    return x;
  }
  if (p->signal) {
    if (j->out->last_outside)
      at = (ac_loc){.file = place(a, j->lib, bounded(a, j->out->last_file, sizeof j->out->last_file)),
                    .line = j->out->last_line};
    ac_diag *x = ac_error(d, AC0803, at, "%s (signal %d) %s%s; %s", strsignal(p->signal), p->signal, where,
                          block_text(a, j), shapes);
    char *said = trimmed(a, p->err, p->err_len);
    if (*said) ac_help(d, x, "it said: %s", said);
    if (!j->out->last_outside) ac_help(d, x, "%s", signal_help(p->signal));
    return x;
  }
  const ac_run_last *last = &j->out->last;
  const char *block =
      j->out->crash_block > 0 ? ac_sprintf(a, ", block %lld", (long long)j->out->crash_block - 1) : "";
  const char *op = bounded(a, last->op, sizeof last->op);
  if (*op)
    block = ac_sprintf(a, "%s, after %s (%s:%d)", block, op,
                       place(a, j->lib, bounded(a, last->file, sizeof last->file)), last->line);
  ac_diag *x = ac_error(d, AC0803, at, "the code ended the process by itself, exit(%d), %s%s; %s %s", p->status,
                        where, block, shapes, trimmed(a, p->err, p->err_len));
  ac_help(d, x, "a kernel returns from its entry; on the device there is no process to end");
  return x;
}

static void take_result(ac_arena *a, const ac_run_job *j, ac_sim_result *r) {
  const ac_run_shared *o = j->out;
  for (int i = 0; i < j->n_tensors; i++) {
    const ac_run_dims *d = &o->computed[i];
    if (!d->known || d->rank < 0 || d->rank > 8) continue;
    j->tensors[i].rank = d->rank;
    memcpy(j->tensors[i].shape, d->shape, sizeof d->shape);
  }
  r->block_dim = o->block_dim;
  r->tiling_key = o->tiling_key;
  r->tiling_bytes = o->tiling_bytes;
  if (*o->tiling_partial) r->tiling_partial = bounded(a, o->tiling_partial, sizeof o->tiling_partial);
  r->workspace = o->workspace;
  r->ub_peak = o->ub_peak;
  for (int i = 0; i < ac_n_error_bounds && i < AC_RUN_BOUNDS; i++)
    if (o->bounded[i]) ac_push(a, &r->bounded, ac_error_bounds[i].name);
  ac_run_time_take(a, j, place, &r->time);
  for (uint32_t i = 0; i < o->n_faults && i < AC_RUN_FAULTS; i++) {
    const ac_run_fault *f = &o->faults[i];
    ac_sim_fault g = {.kind = bounded(a, f->kind, sizeof f->kind),
                      .message = bounded(a, f->message, sizeof f->message),
                      .file = place(a, j->lib, bounded(a, f->file, sizeof f->file)),
                      .line = f->line,
                      .block = f->block,
                      .count = f->count};
    if (g.file && !g.line) ac_run_symbol_place(a, &j->lib->spec, f->file, &g);
    const ac_sim_fault_kind *k = ac_sim_fault_kind_of(g.kind);
    if (k && k->warning)
      ac_push(a, &r->warnings, g);
    else
      ac_push(a, &r->faults, g);
  }
}

/* A problem that the child itself reported. True: the run still counts as one that could be made (a refusal). */
static bool explain(ac_arena *a, const ac_run_job *j, const ac_proc *p, ac_sim_result *r, ac_diags *d) {
  const ac_run_shared *o = j->out;
  const char *said = bounded(a, o->message, sizeof o->message);
  const ac_sim_spec *s = &j->lib->spec;
  ac_loc host = {.file = s->host_src ? s->host_src : s->kernel_src};
  switch (o->problem) {
  case AC_RUN_REFUSED: {
    char *text = trimmed(a, p->err, p->err_len);
    r->refused = *said && *text ? ac_sprintf(a, "%s: %s", said, text)
                 : *said        ? said
                 : *text        ? text
                                : "refused without a reason";
    return true;
  }
  case AC_RUN_HOST_MISFIT:
    ac_error(d, AC0806, host, "%s; %s", said, shapes_text(a, j->tensors, j->n_tensors));
    return false;
  case AC_RUN_ARGUMENTS: ac_error(d, AC0808, (ac_loc){.file = s->kernel_src}, "%s", said); return false;
  case AC_RUN_NO_LOAD: {
    ac_diag *x = ac_error(d, AC0807, (ac_loc){.file = s->kernel_src}, "%s", said);
    if (strstr(said, "undefined symbol"))
      ac_help(d, x, "the code calls a function that neither the simulator's headers nor the file define");
    return false;
  }
  default:
    ac_error(d, AC0805, (ac_loc){.file = s->kernel_src}, "%s; %s", said, shapes_text(a, j->tensors, j->n_tensors));
    return false;
  }
}

bool ac_run_used(const char *path) {
  return !utimensat(AT_FDCWD, path, NULL, 0);
}

static bool timed_out(ac_arena *a, const ac_run_job *j, double timeout, ac_diags *d) {
  j->out->stage = AC_STAGE_BLOCKS;
  died(a, j, &(ac_proc){.started = true, .timed_out = true}, timeout, 0, d);
  return false;
}

/* No child, no sandbox: nothing in a program of ours can leave the machine's memories. */
static bool in_process(ac_arena *a, ac_run_job *j, double timeout, ac_sim_result *r, ac_diags *d) {
  double start = ac_now();
  j->deadline = start + timeout;
  ac_run_child(j);
  r->wall = ac_now() - start;
  take_result(a, j, r);
  if (j->out->late) return timed_out(a, j, timeout, d);
  r->ran = j->out->ok;
  return r->ran || explain(a, j, &(ac_proc){.err = ""}, r, d);
}

typedef struct {
  FILE *to;
  const ac_run_shared *out;
  double start;
  bool shown;
} progress;

static void show_progress(void *user) {
  progress *p = user;
  double s = ac_now() - p->start;
  long long done = p->out->live[0], all = p->out->live[1];
  if (s < 2) return;
  p->shown = true;
  if (all > 0)
    fprintf(p->to, "\r\033[Krunning: %lld of %lld blocks done, %.0f s", done, all, s);
  else
    fprintf(p->to, "\r\033[Krunning: %.0f s", s);
  fflush(p->to);
}

/* ---- what kernels print: "[block 3] text", in the order in which host threads came to it ---- */

typedef struct {
  const char *text;
  size_t len;
  long long block; /* -1: before all of them */
} printed;

/* Does a block's text begin here? */
static bool begins(const char *p, long long *block) {
  static const char mark[] = "[block ";
  if (strncmp(p, mark, sizeof mark - 1) != 0) return false;
  p += sizeof mark - 1;
  size_t n = strspn(p, "0123456789");
  *block = strtoll(p, NULL, 10);
  return n && p[n] == ']' && p[n + 1] == ' ';
}
static int by_block(const void *x, const void *y) {
  const printed *a = x, *b = y;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  return a->text < b->text ? -1 : a->text > b->text; /* a block's own in its order */
}
/* Block after block, so that it does not depend on the threads. */
static const char *in_order(ac_arena *a, const char *text) {
  AC_VEC(printed) v = {0};
  printed x = {text, 0, -1};
  for (const char *p = text; *p; p++) {
    long long block;
    if (!begins(p, &block)) continue;
    x.len = (size_t)(p - x.text);
    if (x.len) ac_push(a, &v, x);
    x = (printed){p, 0, block};
  }
  x.len = strlen(x.text);
  ac_push(a, &v, x);
  qsort(v.data, v.len, sizeof *v.data, by_block);
  ac_buf b;
  ac_buf_init(&b, a);
  for (size_t i = 0; i < v.len; i++) ac_putn(&b, v.data[i].text, v.data[i].len);
  return ac_buf_str(&b);
}

enum { MOST_PRINTED = 64 << 10 };
/* It ends within a line, most likely. */
static const char *cut_note(ac_arena *a, const char *text) {
  size_t n = strlen(text);
  return ac_sprintf(a, "%s%s(what was printed beyond %d bytes is not kept)\n", text,
                    n && text[n - 1] == '\n' ? "" : " ...\n", MOST_PRINTED);
}

static bool in_child(ac_arena *a, ac_run_job *j, double timeout, ac_sim_result *r, ac_diags *d) {
  uint64_t memory = j->opts->memory ? j->opts->memory : DEFAULT_MEMORY;
  for (int i = 0; i < j->n_tensors; i++) /* the core's shadow of what was written */
    if (j->tensors[i].output) memory += (uint64_t)j->tensors[i].bytes;
  j->timeout = timeout;
  ac_proc_spec spec = {.call = ac_run_child, .user = j, .timeout = timeout, .max_output = MOST_PRINTED};
  progress line = {j->opts->progress, j->out, ac_now(), false};
  if (line.to) spec.tick = show_progress, spec.tick_user = &line;
  uint64_t guards = 2ull * ACSIM_GUARD * (uint64_t)j->lib->spec.chip->vector_cores; /* address space only */
  spec.sandbox = ac_run_sandbox(a, j->lib, memory + guards);
  ac_proc p;
  ac_proc_run(a, &spec, &p);
  if (line.shown) fputs("\r\033[K", line.to);
  r->wall = p.wall;
  r->sandbox_missing = p.sandbox_missing | j->lib->sandbox_missing;
  bool fine = p.started && !p.timed_out && !p.signal && p.status == 0 && j->out->stage == AC_STAGE_DONE;
  if (!fine) died(a, j, &p, timeout, memory, d);
  take_result(a, j, r);
  char *said = ac_sprintf(a, "%s%s", p.out, p.err);
  if (*said) r->said = p.out_cut || p.err_cut ? cut_note(a, in_order(a, said)) : in_order(a, said);
  r->ran = fine && j->out->ok;
  if (fine && !j->out->ok) fine = explain(a, j, &p, r, d);
  return fine;
}

bool ac_run_do(ac_arena *a, ac_run_job *j, ac_sim_result *r, ac_diags *d) {
  static const ac_sim_opts defaults;
  *r = (ac_sim_result){0};
  if (!j->opts) j->opts = &defaults;
  if (j->n_tensors > ACSIM_HOST_TENSORS || j->n_attrs > ACSIM_HOST_ATTRS) {
    ac_error(d, AC0806, AC_NOLOC, "%d tensors and %d attributes: the simulator takes %d of each", j->n_tensors,
             j->n_attrs, (int)ACSIM_HOST_TENSORS);
    return false;
  }
  j->out = ac_sim_alloc(sizeof *j->out);
  if (!j->out) {
    ac_error(d, AC0805, AC_NOLOC, "no memory for the result");
    return false;
  }
  j->trace = ac_run_trace_new(j->opts);
  double timeout = j->opts->timeout > 0 ? j->opts->timeout : DEFAULT_SECONDS;
  for (int i = 0; i < j->n_tensors && !(j->opts->timeout > 0); i++)
    timeout += SECONDS_A_BYTE * (double)j->tensors[i].bytes;
  bool fine = j->direct && j->opts->in_process ? in_process(a, j, timeout, r, d) : in_child(a, j, timeout, r, d);
  ac_sim_dealloc(j->out, sizeof *j->out);
  ac_run_trace_free(j->trace);
  return fine;
}

static void mark_used(const ac_sim_lib *lib) {
  if (lib->host_so) ac_run_used(lib->host_so);
  for (int i = 0; i < lib->n_kernels; i++)
    if (lib->kernel_so[i]) ac_run_used(lib->kernel_so[i]);
}

bool ac_sim_run(ac_arena *a, const ac_sim_lib *lib, ac_sim_tensor *tensors, int n, const ac_sim_attr *attrs,
                int n_attrs, const ac_sim_opts *opts, ac_sim_result *r, ac_diags *d) {
  ac_run_job j = {.lib = lib, .tensors = tensors, .n_tensors = n, .attrs = attrs, .n_attrs = n_attrs, .opts = opts};
  mark_used(lib);
  return ac_run_do(a, &j, r, d);
}

bool ac_sim_run_kernel(ac_arena *a, const ac_sim_lib *lib, ac_sim_tensor *tensors, int n, const ac_sim_launch *l,
                       const ac_sim_opts *opts, ac_sim_result *r, ac_diags *d) {
  ac_run_job j = {.lib = lib, .tensors = tensors, .n_tensors = n, .opts = opts, .launch = l};
  mark_used(lib);
  return ac_run_do(a, &j, r, d);
}
