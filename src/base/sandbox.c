/* The sandbox: resource limits, a seccomp filter, Landlock. Each layer works alone; one that the kernel lacks is
 * reported, never silently skipped. */
#include "base/base.h"
#include "base/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- limits ---- */

static bool set_limit(__rlimit_resource_t what, uint64_t soft, uint64_t hard) {
  struct rlimit now;
  if (getrlimit(what, &now)) return false;
  if (now.rlim_max != RLIM_INFINITY && hard > now.rlim_max) hard = now.rlim_max; /* only root may raise it */
  if (soft > hard) soft = hard;
  return !setrlimit(what, &(struct rlimit){.rlim_cur = soft, .rlim_max = hard});
}

/* RLIMIT_NPROC counts every task of the user, so the limit is what runs now plus what the child may add. */
static uint64_t tasks_of_user(void) {
  uint64_t n = 0;
  DIR *proc = opendir("/proc");
  if (!proc) return 0;
  for (struct dirent *e; (e = readdir(proc));) {
    char path[300];
    struct stat st;
    if (e->d_name[0] < '0' || e->d_name[0] > '9') continue;
    snprintf(path, sizeof path, "/proc/%s/task", e->d_name);
    if (!stat(path, &st) && st.st_uid == getuid())
      n += st.st_nlink > 2 ? st.st_nlink - 2 : 1; /* one folder a thread */
  }
  closedir(proc);
  return n;
}

static bool limits(const ac_sandbox *s) {
  bool ok = set_limit(RLIMIT_CORE, 0, 0);
  if (s->cpu_seconds > 0) /* the soft limit signals, the hard one a second later cannot be caught */
    ok = set_limit(RLIMIT_CPU, (uint64_t)s->cpu_seconds, (uint64_t)s->cpu_seconds + 1) && ok;
  if (s->file_size) ok = set_limit(RLIMIT_FSIZE, s->file_size, s->file_size) && ok;
  if (s->processes > 1) {
    uint64_t n = tasks_of_user() + (uint64_t)s->processes;
    ok = set_limit(RLIMIT_NPROC, n, n) && getuid() != 0 && ok;
  }
  return ok;
}

/* Apart and last, since setting up the other layers allocates. */
static bool memory_limit(const ac_sandbox *s) {
  if (!s->memory) return true;
  if (AC_ASAN) return false; /* its shadow is address space, terabytes of it */
  return set_limit(RLIMIT_AS, s->memory, s->memory);
}

/* ---- seccomp ---- */

static const int refused[] = {
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsmount),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
};

static const uint64_t new_namespaces[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWNET,   CLONE_NEWPID,
                                          CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};

static int refuse(scmp_filter_ctx f, int call, int err) {
  return seccomp_rule_add(f, SCMP_ACT_ERRNO((uint32_t)err), call, 0);
}

/* execve is refused unless it is the one start: path, argv and envp at these very addresses. They are gone from
 * memory once it has happened, and the started program cannot know them. */
static int refuse_exec(scmp_filter_ctx f, const char *path, char *const *argv, char *const *envp) {
  int r = refuse(f, SCMP_SYS(execveat), EPERM);
  if (!path) return r | refuse(f, SCMP_SYS(execve), EPERM);
  const void *allowed[] = {path, argv, envp};
  for (unsigned i = 0; i < 3; i++)
    r |= seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(execve), 1,
                          SCMP_CMP64(i, SCMP_CMP_NE, (uint64_t)(uintptr_t)allowed[i], 0));
  return r;
}

static int refuse_processes(scmp_filter_ctx f) {
  return refuse(f, SCMP_SYS(fork), EAGAIN) | refuse(f, SCMP_SYS(vfork), EAGAIN) |
         seccomp_rule_add(f, SCMP_ACT_ERRNO(EAGAIN), SCMP_SYS(clone), 1,
                          SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
}

static bool filter(const ac_sandbox *s, const char *path, char *const *argv, char *const *envp) {
  scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
  if (!f) return false;
  int r = 0;
  for (size_t i = 0; i < AC_COUNT(refused); i++) {
    int one = refuse(f, refused[i], EPERM);
    if (one != -EDOM && one != -EFAULT) r |= one; /* calls that this architecture does not have */
  }
  for (size_t i = 0; i < AC_COUNT(new_namespaces); i++)
    r |= seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                          SCMP_A0(SCMP_CMP_MASKED_EQ, new_namespaces[i], new_namespaces[i]));
  /* clone3 keeps its flags in memory, out of a filter's sight; without it the C library takes clone. */
  r |= refuse(f, SCMP_SYS(clone3), ENOSYS);
  /* Typing into the terminal that started us. */
  r |= seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                        SCMP_A1(SCMP_CMP_MASKED_EQ, 0xFFFFFFFFu, (scmp_datum_t)TIOCSTI));
  if (!s->network) r |= refuse(f, SCMP_SYS(socket), EPERM);
  if (!s->exec) r |= refuse_exec(f, path, argv, envp);
  if (s->processes == 1) r |= refuse_processes(f);
  if (!r) r = seccomp_load(f);
  seccomp_release(f);
  return !r;
}

/* ---- Landlock, by system call: the C library of Debian 12 has no names for it, and its header knows less than
 * today's kernels. Values from the kernel's include/uapi/linux/landlock.h. ---- */

enum { LL_CREATE = 444, LL_ADD_RULE = 445, LL_RESTRICT = 446 }; /* the same on every architecture */
enum { LL_VERSION_FLAG = 1, LL_PATH_BENEATH = 1 };

#define LL_EXECUTE (1ull << 0)
#define LL_WRITE_FILE (1ull << 1)
#define LL_READ_FILE (1ull << 2)
#define LL_READ_DIR (1ull << 3)
#define LL_ABI1 ((1ull << 13) - 1) /* the above; removing and making of everything */
#define LL_REFER (1ull << 13)      /* ABI 2: moving between folders */
#define LL_TRUNCATE (1ull << 14)   /* ABI 3 */
#define LL_IOCTL_DEV (1ull << 15)  /* ABI 5 */
#define LL_READING (LL_EXECUTE | LL_READ_FILE | LL_READ_DIR)
#define LL_OF_FILES (LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV)

typedef struct {
  uint64_t fs, net, scoped;
} ll_attr;
typedef struct {
  uint64_t access;
  int32_t fd;
} __attribute__((packed)) ll_path;

static uint64_t ll_rights(long abi) {
  uint64_t r = LL_ABI1;
  if (abi >= 2) r |= LL_REFER;
  if (abi >= 3) r |= LL_TRUNCATE;
  if (abi >= 5) r |= LL_IOCTL_DEV;
  return r;
}

static bool ll_allow(int rules, const char *path, uint64_t access) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return true; /* nothing there to allow */
  struct stat st;
  if (!fstat(fd, &st) && !S_ISDIR(st.st_mode)) access &= LL_OF_FILES;
  ll_path p = {access, fd};
  long r = syscall(LL_ADD_RULE, rules, LL_PATH_BENEATH, &p, 0);
  close(fd);
  return !r;
}

static bool ll_allow_all(int rules, const char *const *paths, uint64_t access) {
  bool ok = true;
  for (size_t i = 0; paths && paths[i]; i++) ok = ll_allow(rules, paths[i], access) && ok;
  return ok;
}

static bool landlock(const ac_sandbox *s, const char *program) {
  if (!s->read_only && !s->writable) return true;
  long abi = syscall(LL_CREATE, NULL, 0, LL_VERSION_FLAG);
  if (abi < 1) return false;
  uint64_t all = ll_rights(abi);
  /* Without a list of what may be read, reading is not handled at all. ABI 6 also keeps signals and abstract sockets
   * inside; ABI 4 could limit TCP, which seccomp does already. */
  ll_attr attr = {.fs = s->read_only ? all : all & ~LL_READING, .scoped = abi >= 6 ? 3 : 0};
  size_t size = abi >= 6 ? sizeof attr : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
  int rules = (int)syscall(LL_CREATE, &attr, size, 0);
  if (rules < 0) return false;
  uint64_t reading = LL_READING & attr.fs;
  static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", NULL};
  bool ok = ll_allow_all(rules, devices, (LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE) & attr.fs);
  ok = ll_allow_all(rules, s->writable, attr.fs) && ok;
  if (AC_ASAN && reading) ok = ll_allow(rules, "/proc", reading) && ok; /* its start-up reads the memory map */
  if (reading) ok = ll_allow_all(rules, s->read_only, reading) && ok;
  if (reading && program) ok = ll_allow(rules, program, reading) && ok;
  ok = ok && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(LL_RESTRICT, rules, 0);
  close(rules);
  return ok;
}

/* ---- */

unsigned ac_sandbox_enter_exec(const ac_sandbox *s, const char *path, char *const *argv, char *const *envp) {
  if (!s->on) return 0;
  unsigned missing = 0;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!limits(s)) missing |= AC_SB_RLIMIT; /* reads /proc: before Landlock */
  if (!landlock(s, path)) missing |= AC_SB_LANDLOCK;
  if (!filter(s, path, argv, envp)) missing |= AC_SB_SECCOMP;
  if (!memory_limit(s)) missing |= AC_SB_RLIMIT;
  return missing;
}

unsigned ac_sandbox_enter(const ac_sandbox *s) {
  return ac_sandbox_enter_exec(s, NULL, NULL, NULL);
}

char *ac_sandbox_missing(ac_arena *a, unsigned missing) {
  static const struct {
    unsigned bit;
    const char *text;
  } texts[] = {
      {AC_SB_RLIMIT,
       AC_ASAN ? "not every resource limit could be set: this is an AddressSanitizer build, which excludes a "
                 "limit of the address space"
               : "not every resource limit could be set (a limit of the number of processes does not bind root)"},
      {AC_SB_SECCOMP,
       "the seccomp filter is not available on this kernel: network, new programs and dangerous system "
       "calls are not refused"},
      {AC_SB_LANDLOCK,
       "Landlock is not available on this kernel (it came with Linux 5.13 and must be switched on): the "
       "file system is not restricted beyond file permissions"},
  };
  if (!missing) return NULL;
  ac_buf b;
  ac_buf_init(&b, a);
  for (size_t i = 0; i < AC_COUNT(texts); i++)
    if (missing & texts[i].bit) ac_printf(&b, "%s%s", b.len ? "; " : "", texts[i].text);
  return b.data;
}
