/* Running a child: its output, its time, its memory, and its end, whatever it does. */
#include "base/base.h"
#include "base/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  DEFAULT_OUTPUT = 16 << 20,
  REPORT_FD = 4,     /* in the child: missing sandbox layers, then errno if exec fails */
  FIRST_HIGH_FD = 20 /* descriptors are parked from here on before they take their final numbers */
};

/* ---- before the fork: everything that allocates ---- */

/* Absolute, since the child may start in another folder. */
static char *from_here(ac_arena *a, char *path) {
  char cwd[PATH_MAX];
  return *path != '/' && getcwd(cwd, sizeof cwd) ? ac_path_join(a, cwd, path) : path;
}

static char *find_program(ac_arena *a, const char *name) {
  if (strchr(name, '/')) return from_here(a, ac_strdup(a, name));
  const char *path = getenv("PATH");
  for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
    size_t n = strcspn(p, ":");
    char *full = ac_path_join(a, n ? ac_strndup(a, p, n) : ".", name);
    if (!access(full, X_OK) && !ac_is_dir(full)) return from_here(a, full);
    p += n + (p[n] == ':');
  }
  return NULL;
}

static char **copy_list(ac_arena *a, const char *const *list) {
  AC_VEC(char *) v = {0};
  for (size_t i = 0; list[i]; i++) ac_push(a, &v, ac_strdup(a, list[i]));
  ac_push(a, &v, NULL);
  return v.data;
}

static bool same_key(const char *a, const char *b) {
  size_t n = strcspn(a, "=");
  return !strncmp(a, b, n) && b[n] == '=';
}

static char **make_env(ac_arena *a, const ac_proc_spec *spec) {
  AC_VEC(char *) v = {0};
  for (char **e = environ; !spec->clear_env && e && *e; e++) {
    bool replaced = AC_ASAN && spec->sandbox.on && same_key("ASAN_OPTIONS=", *e);
    for (size_t i = 0; spec->env && spec->env[i]; i++) replaced = replaced || same_key(spec->env[i], *e);
    if (!replaced) ac_push(a, &v, *e);
  }
  for (size_t i = 0; spec->env && spec->env[i]; i++) ac_push(a, &v, ac_strdup(a, spec->env[i]));
  if (AC_ASAN && spec->sandbox.on) { /* its leak check at exit needs ptrace, which the sandbox refuses */
    const char *options = getenv("ASAN_OPTIONS");
    ac_push(a, &v, ac_sprintf(a, "ASAN_OPTIONS=%s:detect_leaks=0", options ? options : ""));
  }
  ac_push(a, &v, NULL);
  return v.data;
}

/* Where only the one permitted execve finds its arguments (see sandbox.c): a mapping that nothing else points to. */
typedef struct {
  char **list;
  size_t bytes;
} hidden;

static hidden hide(char **list) {
  size_t n = 0;
  while (list[n]) n++;
  hidden h = {NULL, (n + 1) * sizeof *list};
  void *p = mmap(NULL, h.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return h;
  h.list = memcpy(p, list, h.bytes);
  return h;
}

static void unhide(hidden h) {
  if (h.list) munmap(h.list, h.bytes);
}

/* stdin as a file in memory: nothing to feed, so no deadlock and no SIGPIPE. */
static int make_stdin(const ac_proc_spec *spec) {
  if (!spec->in) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  int fd = memfd_create("stdin", MFD_CLOEXEC);
  for (size_t done = 0; fd >= 0 && done < spec->in_len;) {
    ssize_t n = write(fd, spec->in + done, spec->in_len - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      close(fd);
      return -1;
    }
    done += (size_t)n;
  }
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  return fd;
}

typedef struct {
  const ac_proc_spec *spec;
  const char *path;
  char **argv, **env;
  int in, out[2], err[2], report[2];
  pid_t parent;
} launch;

static void close_pair(int p[2]) {
  for (int i = 0; i < 2; i++)
    if (p[i] >= 0) close(p[i]);
}

static int open_pipes(launch *l) {
  l->in = make_stdin(l->spec);
  if (l->in < 0) return errno;
  if (pipe2(l->out, O_CLOEXEC) || pipe2(l->err, O_CLOEXEC) || pipe2(l->report, O_CLOEXEC)) return errno;
  return 0;
}

/* ---- in the child ---- */

typedef struct {
  unsigned missing;
  int err; /* 0: not an exec failure */
} report;

static void tell(unsigned missing, int err) {
  report r = {missing, err};
  if (write(REPORT_FD, &r, sizeof r) < 0) _exit(127);
}

static void place_fd(int fd, int at, bool cloexec) {
  if (dup2(fd, at) < 0) _exit(127);
  fcntl(at, F_SETFD, cloexec ? FD_CLOEXEC : 0);
}

static void child_fds(const launch *l) {
  int keep = l->spec->keep_fd > 0 ? fcntl(l->spec->keep_fd, F_DUPFD, FIRST_HIGH_FD) : -1;
  int in = fcntl(l->in, F_DUPFD, FIRST_HIGH_FD), out = fcntl(l->out[1], F_DUPFD, FIRST_HIGH_FD);
  int err = fcntl(l->err[1], F_DUPFD, FIRST_HIGH_FD), rep = fcntl(l->report[1], F_DUPFD, FIRST_HIGH_FD);
  place_fd(in, 0, false);
  place_fd(out, 1, false);
  place_fd(err, 2, false);
  place_fd(rep, REPORT_FD, true);
  if (keep >= 0) {
    place_fd(keep, 3, false);
  } else {
    close(3);
  }
  if (syscall(SYS_close_range, REPORT_FD + 1, ~0u, 0))
    for (int fd = REPORT_FD + 1; fd < 4096; fd++) close(fd); /* before Linux 5.9 */
}

AC_NORETURN static void child(const launch *l) {
  const ac_proc_spec *spec = l->spec;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != l->parent) _exit(127); /* it was gone before that took effect */
  ac_signals_default();
  child_fds(l);
  if (spec->cwd && chdir(spec->cwd)) {
    tell(0, errno);
    _exit(127);
  }
  if (spec->call) environ = l->env;
  unsigned missing = ac_sandbox_enter_exec(&spec->sandbox, l->path, l->argv, l->env);
  tell(missing, 0);
  if (spec->call) {
    close(REPORT_FD);
    int status = spec->call(spec->user);
    fflush(stdout);
    fflush(stderr);
    ac_cleanup_run();
    _exit(status & 0xFF);
  }
  if (l->path) execve(l->path, l->argv, l->env); /* it is there, or ac_proc_run had ended */
  tell(missing, errno);
  _exit(127);
}

/* ---- in the parent ---- */

typedef struct {
  int fd;
  ac_buf *buf;
  size_t max;
  bool *cut;
} reader;

/* Takes what is there. False at the end. */
static bool take(reader *r) {
  static _Thread_local char chunk[64 << 10];
  ssize_t n = read(r->fd, chunk, sizeof chunk);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  size_t room = r->max - r->buf->len, got = (size_t)n;
  if (got > room) *r->cut = true;
  ac_putn(r->buf, chunk, got < room ? got : room);
  return true;
}

static uint64_t resident(pid_t pid) {
  char path[64];
  unsigned long long total, pages;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
  FILE *f = fopen(path, "re");
  if (!f) return 0;
  int n = fscanf(f, "%llu %llu", &total, &pages);
  fclose(f);
  return n == 2 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

enum { POLL_MS = 20, AFTER_END_MS = 1000, TICK_MS = 500 };

/* Milliseconds that poll may sleep: to the deadline, or to the next look at the child where nothing wakes us. */
static int sleep_ms(double deadline, bool look, bool tick) {
  double left = deadline > 0 ? (deadline - ac_now()) * 1000 : 3600e3;
  if (tick && left > TICK_MS) left = TICK_MS;
  if (look && left > POLL_MS) left = POLL_MS;
  return left < 0 ? 0 : left > 3600e3 ? 3600000 : (int)left + 1;
}

static void finish(ac_proc *p, int status, const struct rusage *ru) {
  if (WIFEXITED(status)) p->status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) p->signal = WTERMSIG(status);
  p->max_rss = (uint64_t)ru->ru_maxrss * 1024;
}

static void watch(const ac_proc_spec *spec, pid_t pid, reader r[2], ac_proc *p) {
  double deadline = spec->timeout > 0 ? ac_now() + spec->timeout : 0;
  uint64_t memory = AC_ASAN && spec->sandbox.on ? spec->sandbox.memory : 0;
  int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
  bool ended = false;
  double ticked = ac_now();
  struct rusage ru = {0};
  int status = 0;
  while (!ended || r[0].fd >= 0 || r[1].fd >= 0) {
    struct pollfd f[3] = {{r[0].fd, POLLIN, 0}, {r[1].fd, POLLIN, 0}, {ended ? -1 : pidfd, POLLIN, 0}};
    poll(f, 3, sleep_ms(deadline, !ended && (pidfd < 0 || memory), spec->tick));
    if (spec->tick && !ended && ac_now() - ticked >= TICK_MS / 1e3) {
      ticked = ac_now();
      spec->tick(spec->tick_user);
    }
    for (int i = 0; i < 2; i++)
      if (f[i].revents && !take(&r[i])) {
        close(r[i].fd);
        r[i].fd = -1;
      }
    if (!ended && wait4(pid, &status, WNOHANG, &ru) == pid) {
      ended = true;
      kill(-pid, SIGKILL); /* what it left behind, so that the pipes close */
      deadline = ac_now() + AFTER_END_MS / 1e3;
    }
    if (!ended && memory && resident(pid) > memory) kill(-pid, SIGKILL);
    if (deadline > 0 && ac_now() >= deadline) {
      if (ended) break; /* something that left the group still holds a pipe */
      p->timed_out = true;
      kill(-pid, SIGKILL);
      kill(pid, SIGKILL); /* should it have left its own group */
      deadline = 0;
    }
  }
  for (int i = 0; i < 2; i++)
    if (r[i].fd >= 0) close(r[i].fd);
  if (pidfd >= 0) close(pidfd);
  finish(p, status, &ru);
}

/* What the child told of its start; the pipe closes when the program runs (or the child is gone). */
static void read_report(int fd, ac_proc *p, int *err) {
  report r;
  for (ssize_t n; (n = read(fd, &r, sizeof r)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n != (ssize_t)sizeof r) break;
    p->sandbox_missing = r.missing;
    if (r.err) *err = r.err;
    p->started = !r.err;
  }
}

static void not_started(ac_arena *a, const ac_proc_spec *spec, int err, ac_proc *p) {
  const char *what = spec->call ? "a child process" : spec->argv[0];
  p->started = false;
  p->status = -1;
  p->err = ac_sprintf(a, "cannot run %s: %s%s%s", what, strerror(err), spec->cwd ? " in " : "",
                      spec->cwd ? spec->cwd : "");
  p->err_len = strlen(p->err);
}

static void run(ac_arena *a, launch *l, ac_proc *p) {
  const ac_proc_spec *spec = l->spec;
  ac_buf out, err;
  ac_buf_init(&out, a);
  ac_buf_init(&err, a);
  fflush(NULL); /* or the child would print it again */
  pid_t pid = fork();
  if (pid == 0) child(l);
  if (pid < 0) {
    not_started(a, spec, errno, p);
    return;
  }
  setpgid(pid, pid); /* here too: whichever comes first */
  ac_cleanup_child(pid, true);
  close(l->out[1]);
  close(l->err[1]);
  close(l->report[1]);
  l->out[1] = l->err[1] = l->report[1] = -1;
  int exec_err = 0;
  read_report(l->report[0], p, &exec_err);
  size_t max = spec->max_output ? spec->max_output : DEFAULT_OUTPUT;
  reader r[2] = {{l->out[0], &out, max, &p->out_cut}, {l->err[0], &err, max, &p->err_cut}};
  l->out[0] = l->err[0] = -1;
  for (int i = 0; i < 2; i++) fcntl(r[i].fd, F_SETFL, O_NONBLOCK);
  watch(spec, pid, r, p);
  ac_cleanup_child(pid, false);
  if (out.data) p->out = out.data;
  p->out_len = out.len;
  if (err.data) p->err = err.data;
  p->err_len = err.len;
  if (exec_err) not_started(a, spec, exec_err, p);
}

void ac_proc_run(ac_arena *a, const ac_proc_spec *spec, ac_proc *result) {
  double start = ac_now();
  launch l = {.spec = spec, .in = -1, .out = {-1, -1}, .err = {-1, -1}, .report = {-1, -1}, .parent = getpid()};
  *result = (ac_proc){.status = -1, .out = ac_strdup(a, ""), .err = ac_strdup(a, "")};
  l.env = make_env(a, spec);
  hidden argv = {0}, env = {0};
  int err = 0;
  if (!spec->call) {
    l.argv = copy_list(a, spec->argv);
    l.path = find_program(a, spec->argv[0]);
    if (!l.path) err = ENOENT;
    if (spec->sandbox.on && !spec->sandbox.exec) {
      argv = hide(l.argv);
      env = hide(l.env);
      l.argv = argv.list;
      l.env = env.list;
      if (!l.argv || !l.env) err = ENOMEM;
    }
  }
  if (!err) err = open_pipes(&l);
  if (err)
    not_started(a, spec, err, result);
  else
    run(a, &l, result);
  unhide(argv);
  unhide(env);
  close_pair(l.out);
  close_pair(l.err);
  close_pair(l.report);
  if (l.in >= 0) close(l.in);
  result->wall = ac_now() - start;
}
