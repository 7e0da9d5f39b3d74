/* What a cached file stands on. Beside it lies a stamp, NAME.ok: a hash of the file itself, and of every file that the compiler says it has
 * read; the key (build.c) knows only those that a look at the text finds. A file without its stamp, or with one that no longer holds, is
 * compiled again: so after an edit of any header, after damage, after a compile that was cut off.
 *
 * Also noted: names at which a header would be found before the one that was read, and what lies in the folders that are searched where
 * the sources ask by __has_include or where -I puts a folder before the system's. Not covered: an `#if __has_include` of a name with a
 * folder in it, and a header in a folder below an -I folder that hides one of the system's. */
#include "sim/build_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_STAMP = 4 << 20 };

/* Against damage and edits, not against forgery: whoever may write here may write the library, too. */
static uint64_t mix(uint64_t h, const char *p, size_t n) {
  for (; n; n -= n < 8 ? n : 8, p += 8) {
    uint64_t w = n;
    memcpy(&w, p, n < 8 ? n : 8);
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

static bool hash_file(const char *path, uint64_t *hash) {
  static _Thread_local char chunk[64 << 10];
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  uint64_t h = 1, size = 0;
  ssize_t n = fd < 0 ? -1 : 0;
  while (fd >= 0 && ((n = read(fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR)))
    if (n > 0) h = mix(h, chunk, (size_t)n), size += (uint64_t)n;
  if (fd >= 0) close(fd);
  *hash = h ^ size;
  return n == 0;
}

static bool below(const char *path, const char *dir) {
  size_t n = dir ? strlen(dir) : 0;
  return n && !strncmp(path, dir, n) && (path[n] == '/' || dir[n - 1] == '/');
}

/* The system's headers belong to packages: their size and time tell. */
static bool of_system(const char *path) {
  return below(path, "/usr/include") || below(path, "/usr/lib");
}

static bool hash_input(const char *path, uint64_t *hash) {
  struct stat st;
  if (!of_system(path)) return hash_file(path, hash);
  if (stat(path, &st)) return false;
  int64_t v[3] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
  *hash = mix(1, (const char *)v, sizeof v);
  return true;
}

/* Names of a folder that an #include may be after, as a sum: in no order. */
static uint64_t hash_names(const char *dir) {
  static const char *const headers[] = {".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp", ".def"};
  uint64_t sum = 0;
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));) {
    const char *dot = strrchr(e->d_name, '.');
    bool takes = !dot && e->d_type != DT_DIR;
    for (size_t i = 0; dot && i < AC_COUNT(headers); i++) takes = takes || !strcmp(dot, headers[i]);
    if (takes) sum += mix(1, e->d_name, strlen(e->d_name));
  }
  if (d) closedir(d);
  return sum;
}

/* ---- what the compiler says: a rule of make ---- */

static bool separates(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Absolute, with its links as they are: one of them may come to lead elsewhere. */
static const char *spelled(ac_arena *a, const char *path) {
  char *cwd = *path == '/' ? NULL : ac_absolute(a, ".");
  char *full = cwd ? ac_path_join(a, cwd, path) : ac_strdup(a, path);
  size_t n = strlen(full);
  while (n > 1 && full[n - 1] == '/') full[--n] = 0;
  return full;
}

static void read_rules(ac_arena *a, const char *text, ac_map *paths) {
  for (const char *p = text; *p;) {
    ac_buf b;
    ac_buf_init(&b, a);
    while (*p && !separates(*p)) {
      if (*p == '\\' && (p[1] == '\n' || p[1] == '\r')) break;
      if ((*p == '\\' && (p[1] == ' ' || p[1] == '#' || p[1] == '\\')) || (*p == '$' && p[1] == '$')) p++;
      ac_putn(&b, p++, 1);
    }
    while (separates(*p) || (*p == '\\' && (p[1] == '\n' || p[1] == '\r'))) p++;
    const char *word = ac_buf_str(&b);
    if (!*word || word[strlen(word) - 1] == ':') continue; /* the target */
    const char *full = spelled(a, word);
    if (!ac_map_has(paths, full)) ac_map_put(paths, full, (void *)"");
  }
}

/* ---- the stamp ---- */

static char *stamp_name(ac_arena *a, const char *file) {
  return ac_sprintf(a, "%s.ok", file);
}

/* Folders that are searched: the -I ones, in order, then those of the sources. */
static ac_strvec searched(ac_builder *b, const ac_map *paths) {
  ac_strvec v = {0};
  ac_map *once = ac_map_new(b->a);
  for (size_t i = 0; b->s->include_dirs && b->s->include_dirs[i]; i++) {
    const char *dir = spelled(b->a, b->s->include_dirs[i]);
    if (!ac_map_has(once, dir)) ac_push(b->a, &v, dir);
    ac_map_put(once, dir, (void *)"");
  }
  for (size_t i = 0; i < ac_map_len(paths); i++) {
    const char *path = ac_map_key(paths, i);
    if (of_system(path) || below(path, b->headers) || below(path, b->cache) || below(path, b->scratch)) continue;
    const char *dir = ac_dirname(b->a, path);
    if (!ac_map_has(once, dir)) ac_push(b->a, &v, dir);
    ac_map_put(once, dir, (void *)"");
  }
  return v;
}

static bool asks_for_names(ac_builder *b, const char *path) {
  const char *text = ac_read_file(b->a, path, 4 << 20, NULL, NULL);
  return text && strstr(text, "__has_include");
}

/* "absent" for every place where the name of this file is looked for and not found. */
static void note_absent(ac_builder *b, const char *path, const ac_strvec *dirs, ac_map *once, ac_buf *out) {
  for (size_t i = 0; i < dirs->len; i++) {
    if (!below(path, dirs->data[i])) continue;
    const char *name = path + strlen(dirs->data[i]);
    name += strspn(name, "/");
    for (size_t k = 0; k < dirs->len; k++) {
      char *other = ac_path_join(b->a, dirs->data[k], name);
      if (ac_map_has(once, other) || ac_exists(other)) continue;
      ac_map_put(once, other, (void *)"");
      ac_printf(out, "absent 0 %s\n", ac_build_relative(b, other));
    }
  }
}

/* Whether a file has changed since the compiler was started, so that nobody knows which text it has read. */
static bool changed_since(const char *path, const struct timespec *start) {
  struct stat st;
  if (stat(path, &st)) return true;
  return st.st_ctim.tv_sec > start->tv_sec ||
         (st.st_ctim.tv_sec == start->tv_sec && st.st_ctim.tv_nsec > start->tv_nsec);
}

static bool inputs(ac_builder *b, const ac_map *paths, const struct timespec *start, ac_buf *out) {
  ac_strvec dirs = searched(b, paths);
  ac_map *once = ac_map_new(b->a);
  bool asks = false;
  for (size_t i = 0; i < ac_map_len(paths); i++) {
    const char *path = ac_map_key(paths, i);
    uint64_t h;
    if (below(path, b->headers) || below(path, b->cache) || below(path, b->scratch)) continue; /* ours */
    if (changed_since(path, start) || !hash_input(path, &h)) return false;
    ac_printf(out, "read %llx %s\n", (unsigned long long)h, ac_build_relative(b, path));
    if (of_system(path)) continue;
    asks = asks || asks_for_names(b, path);
    note_absent(b, path, &dirs, once, out);
  }
  size_t given = 0;
  while (b->s->include_dirs && b->s->include_dirs[given]) given++;
  for (size_t i = 0; i < dirs.len && (asks || i < given); i++)
    ac_printf(out, "names %llx %s\n", (unsigned long long)hash_names(dirs.data[i]),
              strcmp(dirs.data[i], b->root) != 0 ? ac_build_relative(b, dirs.data[i]) : ".");
  return true;
}

static bool write_stamp(ac_builder *b, const char *file, const char *rest) {
  char *text = ac_sprintf(b->a, "%llx\n%s", (unsigned long long)mix(1, rest, strlen(rest)), rest);
  return ac_write_file(stamp_name(b->a, file), text, strlen(text), NULL);
}

void ac_build_stamp(ac_builder *b, const char *file, const char *rules, const struct timespec *start) {
  unlink(stamp_name(b->a, file)); /* of an earlier one */
  ac_buf out;
  ac_buf_init(&out, b->a);
  uint64_t h;
  ac_map *paths = ac_map_new(b->a);
  read_rules(b->a, rules, paths);
  if (!hash_file(file, &h)) return;
  ac_printf(&out, "file %llx %s\n", (unsigned long long)h, file);
  if (inputs(b, paths, start, &out)) write_stamp(b, file, ac_buf_str(&out));
}

static char *read_stamp(ac_builder *b, const char *file) {
  size_t len;
  char *text = ac_read_file(b->a, stamp_name(b->a, file), MAX_STAMP, &len, NULL), *rest;
  uint64_t h = text ? strtoull(text, &rest, 16) : 0;
  return text && strlen(text) == len && *rest == '\n' && mix(1, rest + 1, strlen(rest + 1)) == h ? rest + 1 : NULL;
}

void ac_build_stamp_add(ac_builder *b, const char *file, const char *more) {
  const char *rest = read_stamp(b, file);
  uint64_t h;
  if (rest && hash_file(more, &h))
    write_stamp(b, file, ac_sprintf(b->a, "%sfile %llx %s\n", rest, (unsigned long long)h, more));
}

static bool holds(ac_builder *b, const char *kind, uint64_t want, const char *name) {
  const char *path = *name == '/' ? name : ac_path_join(b->a, b->root, name);
  uint64_t h;
  if (!strcmp(kind, "file")) return hash_file(path, &h) && h == want && ac_run_used(path);
  if (!strcmp(kind, "read")) return hash_input(path, &h) && h == want;
  if (!strcmp(kind, "absent")) return !ac_exists(path);
  return !strcmp(kind, "names") && hash_names(path) == want;
}

bool ac_build_cached(ac_builder *b, const char *file) {
  if (b->cache == b->scratch) return false;
  char *p = read_stamp(b, file);
  if (!p || !ac_run_used(stamp_name(b->a, file))) return false;
  while (*p) {
    char *end = strchr(p, '\n'), *space = strchr(p, ' '), *name;
    if (!end || !space || space > end) return false;
    *end = *space = 0;
    uint64_t want = strtoull(space + 1, &name, 16);
    if (*name != ' ' || !holds(b, p, want, name + 1)) return false;
    p = end + 1;
  }
  return true;
}
