/* Throughput of the simulator on this host (measured): the kernels of throughput_kernels.cpp on the core, every block, with all checks and the model of time.
 * Each measurement is a process of its own, so that its peak of memory is its own.
 * usage: bench_throughput SOURCE_DIR [ELEMENTS [ROUNDS [KERNEL]]]. Prints a row a kernel, for 1 and for 2 threads, in millions: elements a second of
 * wall time (middle and best of the rounds); element-instructions a second of processor time, the best (an element of a vector instruction is
 * one; in brackets with those that copies move). Then the peak of memory over the bytes of the tensors.
 * With 0 rounds: each kernel once, in this process, on one thread. */
#include "sim/core.h"
#include "verify/verify.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void (*kernel)(uint8_t *x, uint8_t *w, uint8_t *y, int64_t n);
typedef struct {
  kernel f;
  uint8_t *x, *w, *y;
  int64_t n;
} launch;
static void call(void *user) {
  launch *l = user;
  l->f(l->x, l->w, l->y, l->n);
}

typedef struct {
  double seconds, cpu, memory; /* memory: peak of the process over the bytes of the tensors */
  int64_t vector, copied;
} measurement;

/* Seconds that this process has had of any processor. */
static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Signed normal values, the same ones again and again: making them would take longer than the launch. */
static void fill(uint8_t *p, ac_dtype d, uint64_t seed, int64_t n) {
  int64_t some = n < 1 << 18 ? n : 1 << 18, bytes = ac_dtypes[d].bytes;
  ac_values_fill(AC_VALUES_NORMAL, d, seed, 4096, p, some);
  for (int64_t at = some; at < n; at += some)
    memcpy(p + at * bytes, p, (size_t)((n - at < some ? n - at : some) * bytes));
}

/* n elements of every tensor; the second one is as long only where the kernel adds it. */
static int measure(const ac_chip *chip, kernel f, ac_dtype d, bool two, int64_t n, int threads, int to) {
  int64_t bytes = n * ac_dtypes[d].bytes, second = two ? bytes : (2 * 4096) * ac_dtypes[d].bytes;
  launch l = {f, ac_sim_alloc(bytes), ac_sim_alloc(second), ac_sim_alloc(bytes), n};
  if (!l.x || !l.w || !l.y) return AC_LIMIT;
  fill(l.x, d, 1, n);
  fill(l.w, d, 2, second / ac_dtypes[d].bytes);
  acsim_buffer b[] = {{.name = "x", .data = l.x, .bytes = bytes, .elem = ac_dtypes[d].bytes, .kind = ACSIM_INPUT},
                      {.name = "w", .data = l.w, .bytes = second, .elem = ac_dtypes[d].bytes, .kind = ACSIM_INPUT},
                      {.name = "y", .data = l.y, .bytes = bytes, .elem = ac_dtypes[d].bytes, .kind = ACSIM_OUTPUT}};
  acsim_session *s = acsim_open(&(acsim_config){.chip = chip, .buffers = b, .n_buffers = 3, .threads = threads});
  measurement m = {.seconds = ac_now(), .cpu = processor_time()};
  acsim_launch(s, chip->vector_cores, 0, call, &l);
  acsim_finish(s);
  m.seconds = ac_now() - m.seconds;
  m.cpu = processor_time() - m.cpu;
  size_t faults;
  const ac_sim_fault *fault = acsim_faults(s, &faults, NULL);
  if (faults) fprintf(stderr, "%s: %s\n", fault->kind, fault->message);
  acsim_work(s, &m.vector, &m.copied);
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  m.memory = (double)u.ru_maxrss * 1024 / (double)(2 * bytes + second);
  acsim_close(s);
  return faults || write(to, &m, sizeof m) != (ssize_t)sizeof m ? AC_FAILED : AC_OK;
}

static bool apart(const ac_chip *chip, kernel f, ac_dtype d, bool two, int64_t n, int threads, measurement *m) {
  int p[2], status = 0;
  if (pipe(p)) return false;
  pid_t child = fork();
  if (child == 0) _exit(measure(chip, f, d, two, n, threads, p[1]));
  close(p[1]);
  bool ok = child > 0 && read(p[0], m, sizeof *m) == (ssize_t)sizeof *m;
  close(p[0]);
  if (child > 0) waitpid(child, &status, 0);
  return ok && !status;
}

static void *compile(ac_arena *a, const char *source, ac_diags *d) {
  const char *dir = ac_temp_dir(a, d), *cxx = getenv("CXX") ? getenv("CXX") : "g++";
  if (!dir) return NULL;
  const char *so = ac_path_join(a, dir, "kernels.so"), *include = ac_path_join(a, source, "sim/include");
  const char *cpp = ac_path_join(a, source, "bench/throughput_kernels.cpp");
  const char *argv[] = {cxx, "-std=c++17", "-O1", "-fPIC", "-shared", "-I", include, cpp, "-o", so, NULL};
  ac_proc p;
  ac_proc_run(a, &(ac_proc_spec){.argv = argv, .timeout = 120}, &p);
  if (p.status) fprintf(stderr, "%s", p.err);
  void *h = p.status ? NULL : dlopen(so, RTLD_NOW | RTLD_LOCAL);
  if (!h && !p.status) fprintf(stderr, "%s\n", dlerror());
  return h;
}

static int by_time(const void *x, const void *y) {
  double a = ((const measurement *)x)->seconds, b = ((const measurement *)y)->seconds;
  return a < b ? -1 : a > b;
}

static kernel find(void *library, const char *name, ac_dtype d) {
  char symbol[64];
  kernel f = NULL;
  snprintf(symbol, sizeof symbol, "%s_%s", name, ac_dtypes[d].name);
  void *p = dlsym(library, symbol);
  memcpy(&f, &p, sizeof f);
  return f;
}

enum { MOST_ROUNDS = 100, THREADS = 2 };
static bool row(const ac_chip *chip, kernel f, const char *name, ac_dtype d, bool two, int64_t n, int rounds) {
  measurement m[THREADS][MOST_ROUNDS];
  for (int r = 0; r < rounds; r++) /* in turns: the host's other load meets both */
    for (int t = 0; t < THREADS; t++)
      if (!apart(chip, f, d, two, n, t + 1, &m[t][r])) return false;
  printf("%-10s %-8s", name, ac_dtypes[d].name);
  for (int t = 0; t < THREADS; t++) {
    qsort(m[t], (size_t)rounds, sizeof m[t][0], by_time);
    double cpu = m[t][0].cpu, vector = (double)m[t][0].vector, all = vector + (double)m[t][0].copied;
    for (int r = 1; r < rounds; r++) cpu = m[t][r].cpu < cpu ? m[t][r].cpu : cpu;
    printf("  %7.0f %7.0f %7.0f (%5.0f)", (double)n / m[t][rounds / 2].seconds / 1e6,
           (double)n / m[t][0].seconds / 1e6, vector / cpu / 1e6, all / cpu / 1e6);
  }
  printf("  %6.3f\n", m[0][0].memory);
  return true;
}

/* One launch in this process, for a tool that counts instructions. */
static bool once(const ac_chip *chip, kernel f, const char *name, ac_dtype d, bool two, int64_t n) {
  int p[2];
  measurement m;
  bool ok = !pipe(p) && !measure(chip, f, d, two, n, 1, p[1]) && read(p[0], &m, sizeof m) == (ssize_t)sizeof m;
  if (ok) printf("%s %s: %.0f element-instructions\n", name, ac_dtypes[d].name, (double)m.vector + (double)m.copied);
  return ok;
}

static const struct {
  const char *name;
  bool two;
} kernels[] = {{"add", true}, {"gelu", false}, {"softmax", false}, {"layernorm", false}};

int main(int argc, char **argv) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  int64_t n = (argc > 2 ? atoll(argv[2]) : 1 << 25) / 8192 * 8192;
  int rounds = argc > 3 ? atoi(argv[3]) : 5;
  const char *only = argc > 4 ? argv[4] : NULL;
  rounds = rounds < 0 ? 0 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
  const ac_chip *chip = ac_chip_load(a, "ascend910b2", &d);
  void *library = argc > 1 && chip ? compile(a, argv[1], &d) : NULL;
  bool ok = library != NULL;
  if (ok && rounds) {
    printf("%-19s  %-31s  %-31s  %s\n", "", "1 thread, 10^6 a second", "2 threads, 10^6 a second", "memory /");
    printf("%-19s  %7s %7s %15s  %7s %7s %15s  %s\n", "kernel", "median", "best", "elem-instr", "median", "best",
           "elem-instr", "tensors");
  }
  for (size_t k = 0; ok && k < 2 * AC_COUNT(kernels); k++) {
    const char *name = kernels[k / 2].name;
    ac_dtype type = k % 2 ? AC_F16 : AC_F32;
    bool two = kernels[k / 2].two;
    if (only && strcmp(only, name) != 0) continue;
    kernel f = find(library, name, type);
    ok = f && (rounds ? row(chip, f, name, type, two, n, rounds) : once(chip, f, name, type, two, n));
  }
  ac_diags_print(&d, stderr, false);
  ac_arena_free(a);
  return ok ? AC_OK : AC_FAILED;
}
