/* What must not outlive us: temporary folders and child processes. A static table, so that the signal handler needs
 * no memory and no locks; only async-signal-safe calls are made from it. */
#include "base/base.h"
#include "base/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_PATHS = 64, MAX_CHILDREN = 256 };

enum { FREE, FILLING, LIVE };
static struct {
  atomic_int state; /* no lock: one that another thread held would stay held in a forked child */
  pid_t owner;      /* a forked child must not remove its parent's folders */
  int parents;      /* so many folders above it were made for it, and go with it if they are empty */
  char path[PATH_MAX];
} paths[MAX_PATHS];
static _Atomic pid_t children[MAX_CHILDREN];

/* ---- removing a tree, with nothing but system calls ---- */

struct dirent_head { /* struct linux_dirent64 of getdents64(2) */
  uint64_t ino;
  int64_t off;
  unsigned short reclen;
  unsigned char type;
  char name[];
};

static bool remove_entries(int dir);

static bool remove_at(int dir, const char *name) {
  if (!unlinkat(dir, name, 0) || errno == ENOENT) return true;
  int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && errno == EACCES && !fchmodat(dir, name, 0700, 0)) /* a folder that even its owner may not read */
    fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = remove_entries(fd);
  close(fd);
  return (!unlinkat(dir, name, AT_REMOVEDIR) || errno == ENOENT) && ok;
}

/* Removing shifts what getdents returns, so the folder is read again from its start until a pass finds nothing. */
static bool remove_entries(int dir) {
  _Alignas(struct dirent_head) char buf[2048];
  fchmod(dir, 0700); /* unlinking needs write permission; best effort */
  for (;;) {
    bool found = false, ok = true;
    if (lseek(dir, 0, SEEK_SET) < 0) return false;
    for (long n; (n = syscall(SYS_getdents64, dir, buf, sizeof buf)) != 0;) {
      if (n < 0) return false;
      for (long i = 0; i < n;) {
        struct dirent_head *e = (struct dirent_head *)(void *)(buf + i);
        i += e->reclen;
        if (!strcmp(e->name, ".") || !strcmp(e->name, "..")) continue;
        found = true;
        ok = remove_at(dir, e->name) && ok;
      }
    }
    if (!ok) return false;
    if (!found) return true;
  }
}

bool ac_remove_tree(const char *path) {
  return remove_at(AT_FDCWD, path);
}

/* ---- the table ---- */

void ac_remove_parents(char *path, int parents) {
  for (char *slash; parents > 0 && (slash = strrchr(path, '/')) && slash > path; parents--) {
    *slash = 0;
    if (rmdir(path) && errno != ENOENT) return;
  }
}

static void remove_entry(int i) {
  ac_remove_tree(paths[i].path);
  ac_remove_parents(paths[i].path, paths[i].parents);
  atomic_store(&paths[i].state, FREE);
}

void ac_cleanup_run(void) {
  pid_t me = getpid();
  for (int i = 0; i < MAX_PATHS; i++)
    if (atomic_load(&paths[i].state) == LIVE && paths[i].owner == me) remove_entry(i);
}

static void at_exit_once(void) {
  atexit(ac_cleanup_run);
}

bool ac_cleanup_add(const char *path, int parents) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, at_exit_once);
  size_t n = strlen(path);
  if (n >= PATH_MAX) return false;
  for (int i = 0; i < MAX_PATHS; i++) {
    int was = FREE;
    if (!atomic_compare_exchange_strong(&paths[i].state, &was, FILLING)) continue;
    memcpy(paths[i].path, path, n + 1);
    paths[i].owner = getpid();
    paths[i].parents = parents;
    atomic_store(&paths[i].state, LIVE);
    return true;
  }
  return false;
}

void ac_cleanup_drop(const char *path) {
  for (int i = 0; i < MAX_PATHS; i++)
    if (atomic_load(&paths[i].state) == LIVE && !strcmp(paths[i].path, path)) atomic_store(&paths[i].state, FREE);
}

void ac_cleanup_now(const char *path) {
  for (int i = 0; i < MAX_PATHS; i++)
    if (atomic_load(&paths[i].state) == LIVE && !strcmp(paths[i].path, path)) remove_entry(i);
}

void ac_cleanup_child(pid_t pid, bool running) {
  for (int i = 0; i < MAX_CHILDREN; i++) {
    pid_t want = running ? 0 : pid;
    if (atomic_compare_exchange_strong(&children[i], &want, running ? pid : 0)) return;
  }
}

/* ---- signals ---- */

static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

static void on_signal(int sig) {
  for (int i = 0; i < MAX_CHILDREN; i++) {
    pid_t pid = atomic_load(&children[i]);
    if (pid > 0) kill(-pid, SIGKILL);
  }
  ac_cleanup_run();
  _exit(128 + sig);
}

void ac_signals_install(void) {
  for (size_t i = 0; i < AC_COUNT(handled); i++) {
    struct sigaction old, act = {.sa_handler = on_signal};
    sigfillset(&act.sa_mask);
    /* nohup and background jobs start with some signals ignored, and that must stay so */
    if (!sigaction(handled[i], NULL, &old) && old.sa_handler != SIG_IGN) sigaction(handled[i], &act, NULL);
  }
}

void ac_signals_default(void) {
  for (int s = 1; s < 65; s++) signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  for (int i = 0; i < MAX_CHILDREN; i++) atomic_store(&children[i], 0);
}
