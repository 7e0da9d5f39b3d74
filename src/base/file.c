/* Files and folders: every failure says what the system said and what to do about it. */
#include "base/base.h"
#include "base/internal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_MAX = 64 << 20, READ_STEP = 64 << 10 };

static ac_loc file_loc(const char *path, ac_diags *d) {
  return d ? (ac_loc){.file = ac_strdup(d->arena, path)} : AC_NOLOC;
}

/* ---- reading ---- */

static void read_failed(const char *path, int err, ac_diags *d) {
  ac_diag *x = ac_error(d, AC0101, file_loc(path, d), "cannot read the file: %s", strerror(err));
  switch (err) {
  case ENOENT: ac_help(d, x, "check the spelling; relative names start at the current folder"); break;
  case EACCES:
  case EPERM: ac_help(d, x, "make it readable: chmod +r '%s' (and +x on the folders above it)", path); break;
  case EISDIR: ac_help(d, x, "name a file inside that folder"); break;
  case ENOTDIR: ac_help(d, x, "a name before the last '/' is a file, not a folder"); break;
  default: break;
  }
}

static void too_large(const char *path, size_t max, ac_diags *d) {
  ac_diag *x =
      ac_error(d, AC0110, file_loc(path, d), "the file is larger than %zu bytes, the most that is read here", max);
  ac_help(d, x, "is this the file you meant?");
}

static char *read_all(ac_arena *a, int fd, const char *path, size_t max, size_t *len, ac_diags *d) {
  struct stat st;
  if (fstat(fd, &st)) return read_failed(path, errno, d), NULL;
  if (S_ISDIR(st.st_mode)) return read_failed(path, EISDIR, d), NULL;
  if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max) return too_large(path, max, d), NULL;
  /* The size is a hint only: pipes have none, and files grow. */
  ac_buf b;
  ac_buf_init(&b, a);
  size_t cap = S_ISREG(st.st_mode) ? (size_t)st.st_size + 1 : READ_STEP;
  b.data = ac_alloc(a, cap + 1);
  b.cap = cap + 1;
  for (;;) {
    if (b.cap - b.len < 2) {
      b.data = ac_regrow(a, b.data, b.cap, b.cap * 2);
      b.cap *= 2;
    }
    ssize_t n = read(fd, b.data + b.len, b.cap - b.len - 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return read_failed(path, errno, d), NULL;
    if (n == 0) break;
    b.len += (size_t)n;
    if (b.len > max) return too_large(path, max, d), NULL;
  }
  b.data[b.len] = 0;
  if (len) *len = b.len;
  return b.data;
}

char *ac_read_file(ac_arena *a, const char *path, size_t max, size_t *len, ac_diags *d) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return read_failed(path, errno, d), NULL;
  char *text = read_all(a, fd, path, max ? max : DEFAULT_MAX, len, d);
  close(fd);
  return text;
}

/* ---- writing ---- */

static bool write_failed(const char *path, int err, ac_diags *d) {
  ac_diag *x = ac_error(d, AC0102, file_loc(path, d), "cannot be written: %s", strerror(err));
  switch (err) {
  case EACCES:
  case EPERM:
  case EROFS: ac_help(d, x, "choose a folder that you may write to, with -o DIR"); break;
  case ENOSPC:
  case EDQUOT: ac_help(d, x, "free some space, or choose another disk with -o DIR"); break;
  case ENOTDIR:
  case EEXIST: ac_help(d, x, "a file of that name, or of a folder above it, is in the way"); break;
  case EISDIR: ac_help(d, x, "a folder of that name is in the way"); break;
  case ENAMETOOLONG: ac_help(d, x, "choose a shorter name"); break;
  default: break;
  }
  return false;
}

static int write_pieces(int fd, const ac_piece *p, int n) {
  for (int i = 0; i < n; i++) {
    const char *data = p[i].data;
    for (size_t left = p[i].len; left;) {
      ssize_t k = write(fd, data, left);
      if (k < 0 && errno == EINTR) continue;
      if (k < 0) return errno;
      data += k;
      left -= (size_t)k;
    }
  }
  return 0;
}

/* A name that nobody else uses: process, time and a counter. */
static char *fresh_name(ac_arena *a, const char *dir, const char *base, const char *what) {
  static atomic_uint count;
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return ac_sprintf(a, "%s/.%.200s.%s-%d-%x-%x", dir, base, what, (int)getpid(), (unsigned)t.tv_nsec,
                    atomic_fetch_add(&count, 1));
}

char *ac_dirname(ac_arena *a, const char *path) {
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  while (n && path[n - 1] != '/') n--;
  while (n > 1 && path[n - 1] == '/') n--;
  return n ? ac_strndup(a, path, n) : ac_strdup(a, ".");
}

static bool write_new(ac_arena *a, const char *path, const ac_piece *p, int n, mode_t mode, ac_diags *d) {
  const char *temp = ac_absolute(a, fresh_name(a, ac_dirname(a, path), ac_basename(path), "tmp"));
  ac_cleanup_add(temp, 0); /* goes with Ctrl-C; a full table only loses that */
  int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), err = fd < 0 ? errno : 0;
  if (!err) err = write_pieces(fd, p, n);
  if (!err && mode && fchmod(fd, mode)) err = errno;
  if (fd >= 0 && close(fd) && !err) err = errno; /* a full network disk may only say so here */
  if (!err && rename(temp, path)) err = errno;
  if (err && fd >= 0) unlink(temp);
  ac_cleanup_drop(temp);
  return !err || write_failed(path, err, d);
}

/* A device, a pipe, or a link to what is not there yet: nothing to rename over. */
static bool write_through(const char *path, int flags, const ac_piece *p, int n, ac_diags *d) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd < 0) return write_failed(path, errno, d);
  int err = write_pieces(fd, p, n);
  if (close(fd) && !err) err = errno;
  return !err || write_failed(path, err, d);
}

bool ac_write_pieces(const char *path, const ac_piece *p, int n, ac_diags *d) {
  struct stat st, link;
  bool there = !stat(path, &st);
  if (there && S_ISDIR(st.st_mode)) return write_failed(path, EISDIR, d);
  if (there && !S_ISREG(st.st_mode)) return write_through(path, 0, p, n, d);
  if (!there && !lstat(path, &link) && S_ISLNK(link.st_mode)) return write_through(path, O_CREAT, p, n, d);
  ac_arena *a = ac_arena_new();
  const char *file = there ? ac_absolute(a, path) : path; /* a link stays one */
  bool ok = write_new(a, file, p, n, there ? st.st_mode & 07777 : 0, d);
  ac_arena_free(a);
  return ok;
}

bool ac_write_file(const char *path, const char *data, size_t len, ac_diags *d) {
  return ac_write_pieces(path, &(ac_piece){data, len}, 1, d);
}

bool ac_mkdirs(const char *path, ac_diags *d) {
  ac_arena *a = ac_arena_new();
  char *p = ac_strdup(a, path);
  int err = *p ? 0 : ENOENT;
  for (char *s = p + 1; *p && !err; s++) {
    if (*s != '/' && *s) continue;
    char c = *s;
    *s = 0;
    if (mkdir(p, 0777) && errno != EEXIST && errno != EISDIR) err = errno;
    /* EROFS or EACCES on a folder that is there already is no failure */
    if (ac_is_dir(p))
      err = 0;
    else if (!err)
      err = ENOTDIR;
    *s = c;
    if (!c) break;
  }
  bool ok = !err || write_failed(path, err, d);
  ac_arena_free(a);
  return ok;
}

/* ---- names ---- */

bool ac_is_dir(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool ac_exists(const char *path) {
  struct stat st;
  return !stat(path, &st);
}

char *ac_path_join(ac_arena *a, const char *dir, const char *name) {
  size_t n = strlen(dir);
  if (!n || *name == '/') return ac_strdup(a, name);
  return ac_sprintf(a, "%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

const char *ac_basename(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *ac_absolute(ac_arena *a, const char *path) {
  char buf[PATH_MAX];
  if (realpath(path, buf)) return ac_strdup(a, buf);
  if (*path == '/') return ac_strdup(a, path);
  const char *cwd = getcwd(buf, sizeof buf);
  return ac_path_join(a, cwd ? cwd : "/", path);
}

static char *found(ac_arena *a, const char *dir, const char *rel) {
  char *p = ac_path_join(a, dir, rel);
  return ac_exists(p) ? p : NULL;
}

static char *exe_dir(ac_arena *a) {
  char buf[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", buf, sizeof buf - 1);
  if (n <= 0) return NULL;
  buf[n] = 0;
  return ac_dirname(a, buf);
}

/* Where this code was loaded from: the executable, or libascendcraft.so in somebody else's. */
static char *library_dir(ac_arena *a) {
  static const char here;
  Dl_info info;
  return dladdr(&here, &info) && info.dli_fname ? ac_dirname(a, ac_absolute(a, info.dli_fname)) : NULL;
}

/* Beside the program (the other programs of a build or of <prefix>/bin), or in a folder above it that is a source tree or
 * an installation's prefix. */
static char *found_from(ac_arena *a, char *dir, const char *rel) {
  char *p = found(a, dir, rel);
  for (char *up = dir; !p; up = ac_dirname(a, up)) {
    if (ac_exists(ac_path_join(a, up, "data/chips"))) p = found(a, up, rel);
    if (!p) p = found(a, ac_path_join(a, up, "share/ascendcraft"), rel);
    if (!p) p = found(a, ac_path_join(a, up, AC_INSTALL_LIBDIR "/ascendcraft"), rel);
    if (!p) p = found(a, ac_path_join(a, up, "bin"), rel);
    if (!strcmp(up, "/") || !strcmp(up, ".")) break;
  }
  return p;
}

char *ac_home_path(ac_arena *a, const char *rel) {
  const char *env = getenv("ASCENDCRAFT_HOME");
  char *p = env && *env ? found(a, env, rel) : NULL;
  char *dirs[] = {p ? NULL : exe_dir(a), p ? NULL : library_dir(a)};
  for (size_t i = 0; i < AC_COUNT(dirs) && !p; i++)
    if (dirs[i]) p = found_from(a, dirs[i], rel);
  if (!p) p = found(a, AC_SOURCE_DIR, rel); /* a build folder that is not in the source tree */
  return p;
}

/* ---- staging ---- */

static char *fresh_dir(ac_arena *a, const char *dir, const char *base, const char *what, mode_t mode, int parents,
                       ac_diags *d) {
  char *path = fresh_name(a, dir, base, what);
  /* Registered first: a signal between the two would leave the folder behind. */
  path = ac_absolute(a, path);
  if (!ac_cleanup_add(path, parents)) {
    ac_error(d, AC0100, file_loc(path, d), "too many temporary folders at once, or too long a name");
    return NULL;
  }
  if (!mkdir(path, mode)) return path;
  int err = errno;
  ac_cleanup_drop(path);
  write_failed(dir, err, d);
  return NULL;
}

static int missing_folders(ac_arena *a, const char *dir) {
  int n = 0;
  for (; !ac_exists(dir) && strcmp(dir, "/") != 0 && strcmp(dir, ".") != 0; dir = ac_dirname(a, dir)) n++;
  return n;
}

/* Nothing can be renamed onto a mount point, nor from beside it into it. */
static bool is_mount_point(const char *path) {
  struct statx x;
  return !statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &x) && (x.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

char *ac_staging_dir(ac_arena *a, const char *final, ac_diags *d) {
  char *full = ac_absolute(a, final), *dir = ac_dirname(a, full);
  size_t n = strlen(full);
  while (n > 1 && full[n - 1] == '/') full[--n] = 0;
  if (is_mount_point(full)) return fresh_dir(a, full, ac_basename(full), "part", 0777, 0, d);
  int parents = missing_folders(a, dir);
  if (!ac_mkdirs(dir, d)) {
    ac_remove_parents(ac_path_join(a, dir, "x"), parents);
    return NULL;
  }
  return fresh_dir(a, dir, ac_basename(full), "part", 0777, parents, d);
}

void ac_staging_abandon(const char *staging) {
  ac_cleanup_now(staging);
}

/* Empty but for `but` (a path; may be NULL). */
static bool dir_is_empty(const char *path, const char *but) {
  DIR *dir = opendir(path);
  if (!dir) return false;
  bool empty = true;
  const char *spared = but ? ac_basename(but) : "";
  for (struct dirent *e; empty && (e = readdir(dir));)
    empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strcmp(e->d_name, spared);
  closedir(dir);
  return empty;
}

static bool same_place(const char *a, const char *b) {
  struct stat x, y;
  return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The current folder of somebody's shell, and a mount point, cannot be replaced: fill them instead. */
static int move_entries(ac_arena *a, const char *from, const char *to) {
  DIR *dir = opendir(from);
  if (!dir) return errno;
  int err = 0;
  for (struct dirent *e; !err && (e = readdir(dir));)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
        rename(ac_path_join(a, from, e->d_name), ac_path_join(a, to, e->d_name)))
      err = errno;
  closedir(dir);
  if (!err && rmdir(from)) err = errno;
  return err;
}

static int commit(ac_arena *a, const char *staging, const char *final) {
  if (ac_is_dir(final) && same_place(final, ac_dirname(a, staging))) /* a mount point: staged inside it */
    return dir_is_empty(final, staging) ? move_entries(a, staging, final) : ENOTEMPTY;
  bool empty = ac_is_dir(final) && dir_is_empty(final, NULL);
  if (empty && same_place(final, ".")) return move_entries(a, staging, final);
  return rename(staging, final) ? errno : 0;
}

bool ac_staging_commit(const char *staging, const char *final, ac_diags *d) {
  ac_arena *a = ac_arena_new();
  int err = commit(a, staging, ac_absolute(a, final));
  ac_arena_free(a);
  if (!err) {
    ac_cleanup_drop(staging);
    return true;
  }
  if (err != ENOTEMPTY && err != EEXIST) return write_failed(final, err, d);
  ac_diag *x = ac_error(d, AC0104, file_loc(final, d), "the output folder is not empty");
  ac_help(d, x, "choose another with -o DIR, or empty it first");
  return false;
}

static bool remove_others(ac_arena *a, const char *path, const char *but) {
  DIR *dir = opendir(path);
  if (!dir) return false;
  bool ok = true;
  for (struct dirent *e; (e = readdir(dir));)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && strcmp(e->d_name, ac_basename(but)) != 0)
      ok = ac_remove_tree(ac_path_join(a, path, e->d_name)) && ok;
  closedir(dir);
  return ok;
}

bool ac_staging_replace(const char *staging, const char *final, ac_diags *d) {
  if (!ac_is_dir(final) || same_place(final, ".")) return ac_staging_commit(staging, final, d);
  ac_arena *a = ac_arena_new();
  const char *full = ac_absolute(a, final);
  if (same_place(final, ac_dirname(a, staging))) {
    bool done = remove_others(a, full, staging) && ac_staging_commit(staging, final, d);
    ac_arena_free(a);
    return done;
  }
  /* Exchanged in one step: there is no moment without a complete project at that name. */
  bool ok = !renameat2(AT_FDCWD, staging, AT_FDCWD, full, RENAME_EXCHANGE);
  int err = ok ? 0 : errno;
  if (!ok && (err == EINVAL || err == ENOSYS)) /* a file system that cannot exchange */
    ok = ac_remove_tree(full) && !rename(staging, full);
  if (ok) {
    ac_remove_tree(staging);
    ac_cleanup_drop(staging);
  } else {
    write_failed(final, err, d);
  }
  ac_arena_free(a);
  return ok;
}

char *ac_temp_dir(ac_arena *a, ac_diags *d) {
  const char *t = getenv("TMPDIR");
  if (!t || *t != '/') t = "/tmp";
  return fresh_dir(a, t, "ascendcraft", "tmp", 0700, 0, d);
}
