/* base: memory, strings, containers, diagnostics, files, processes, sandbox, JSON.
 *
 * Knows nothing about operators. Everything a module allocates lives in an arena that its caller owns;
 * nothing is freed one by one. Out of memory never returns NULL: it calls the handler of ac_on_oom().
 */
#ifndef AC_BASE_H
#define AC_BASE_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define AC_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define AC_NORETURN __attribute__((noreturn))
#define AC_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define AC_VERSION "0.1.0"

/* Exit codes of every sub-command (DESIGN.md section 2). */
typedef enum {
  AC_OK = 0,          /* done */
  AC_FAILED = 1,      /* a verification or a check failed */
  AC_BAD_INPUT = 2,   /* bad input or usage */
  AC_UNSUPPORTED = 3, /* understood, but not supported (yet) */
  AC_LIMIT = 4,       /* a limit of time, memory or size was hit */
  AC_INTERNAL = 5,    /* our own fault */
} ac_exit;

/* ---- arena ---- */

typedef struct ac_arena ac_arena;
ac_arena *ac_arena_new(void);
void ac_arena_free(ac_arena *a);          /* NULL is fine */
size_t ac_arena_bytes(const ac_arena *a); /* taken from the system */
/* Zeroed, aligned to 16 bytes; n may be 0 (a unique pointer comes back). */
void *ac_alloc(ac_arena *a, size_t n);
/* count * size with an overflow check. */
void *ac_alloc_n(ac_arena *a, size_t count, size_t size);
#define AC_NEW(a, T) ((T *)ac_alloc((a), sizeof(T)))
#define AC_NEW_N(a, T, n) ((T *)ac_alloc_n((a), (size_t)(n), sizeof(T)))
char *ac_strdup(ac_arena *a, const char *s);
char *ac_strndup(ac_arena *a, const char *s, size_t n);
char *ac_sprintf(ac_arena *a, const char *fmt, ...) AC_PRINTF(2, 3);
char *ac_vsprintf(ac_arena *a, const char *fmt, va_list ap) AC_PRINTF(2, 0);
/* Handler for "out of memory"; must not return (exit or longjmp). NULL restores the default: message and
 * exit AC_LIMIT. */
typedef void (*ac_oom_fn)(size_t wanted, void *user);
void ac_on_oom(ac_oom_fn fn, void *user);
/* Ends the process with AC_LIMIT, as an arena does that gets no memory; `what` (or NULL) names what it was for. And: has one of them? Then an
 * exit status of AC_LIMIT is about memory, and nobody else's. */
AC_NORETURN void ac_no_memory(const char *what);
bool ac_memory_ran_out(void);
/* Test hook: the n-th allocation from now fails (0 = never). */
void ac_fail_alloc_at(uint64_t n);

/* ---- interned strings: equal text is the same pointer, for the life of the arena ---- */

typedef struct ac_strings ac_strings;
ac_strings *ac_strings_new(ac_arena *a);
const char *ac_intern(ac_strings *t, const char *s);
const char *ac_intern_n(ac_strings *t, const char *s, size_t n);

/* ---- vectors: AC_VEC(int) v = {0}; ac_push(arena, &v, 7); v.data[i], v.len ---- */

#define AC_VEC(T)    \
  struct {           \
    T *data;         \
    size_t len, cap; \
  }
void *ac_vec_grow(ac_arena *a, void *data, size_t len, size_t *cap, size_t elem);
#define ac_push(a, v, x)                                                                                          \
  ((v)->len == (v)->cap ? (void)((v)->data = ac_vec_grow((a), (v)->data, (v)->len, &(v)->cap, sizeof *(v)->data)) \
                        : (void)0,                                                                                \
   (void)((v)->data[(v)->len++] = (x)))
typedef AC_VEC(const char *) ac_strvec;

/* ---- map: string -> pointer; keeps insertion order for deterministic walks ---- */

typedef struct ac_map ac_map;
ac_map *ac_map_new(ac_arena *a);
void ac_map_put(ac_map *m, const char *key, void *value); /* copies the key */
void *ac_map_get(const ac_map *m, const char *key);       /* NULL if absent */
bool ac_map_has(const ac_map *m, const char *key);
size_t ac_map_len(const ac_map *m);
const char *ac_map_key(const ac_map *m, size_t i); /* i-th in insertion order */
void *ac_map_value(const ac_map *m, size_t i);

/* ---- a fixed list of names, found by hash: static ac_names x = AC_NAMES(table, name) over an array of structs ---- */

enum { AC_NAMES_ROOM = 1024 }; /* slots; at most half of them are used */
typedef struct {
  const void *first; /* where the first name is */
  size_t n, stride;
  int ready; /* the index is made at the first question, in whatever thread */
  uint16_t slots[AC_NAMES_ROOM];
} ac_names;
#define AC_NAMES(table, member)                                 \
  {                                                             \
    &(table)[0].member, AC_COUNT(table), sizeof(table)[0], 0, { \
      0                                                         \
    }                                                           \
  }
#define AC_NAMES_OF(list)                             \
  {                                                   \
    &(list)[0], AC_COUNT(list), sizeof(list)[0], 0, { \
      0                                               \
    }                                                 \
  }
int ac_names_find(ac_names *t, const char *name); /* place of the first that is equal, or -1; NULL names are none */

/* ---- text buffer ---- */

typedef struct {
  ac_arena *arena;
  char *data; /* always NUL-terminated once written to */
  size_t len, cap;
} ac_buf;
void ac_buf_init(ac_buf *b, ac_arena *a);
void ac_buf_room(ac_buf *b, size_t n); /* room for n more bytes at once, where it is known */
void ac_puts(ac_buf *b, const char *s);
void ac_putn(ac_buf *b, const char *s, size_t n);
void ac_printf(ac_buf *b, const char *fmt, ...) AC_PRINTF(2, 3);
void ac_vprintf(ac_buf *b, const char *fmt, va_list ap) AC_PRINTF(2, 0);
/* A line of source: blanks, the text, `tail`, a newline. Empty text: no blanks without a tail, and a tail without its leading blank. */
void ac_put_line(ac_buf *b, int blanks, const char *tail, const char *fmt, va_list ap) AC_PRINTF(4, 0);
/* Shortest decimal text that reads back as the same double; always has '.', 'e', "inf" or "nan". */
void ac_put_double(ac_buf *b, double v);
const char *ac_buf_str(ac_buf *b); /* "" when empty */

/* The nearest of `names` to `word` by edit distance, or NULL when none is close. For "did you mean". */
const char *ac_nearest(const char *word, const char *const *names, size_t n);

/* ---- diagnostics
 * One row a code in diag.def: D(AC0101, exit class, "short title"). A code never changes its meaning. */

typedef enum {
#define D(code, exit_class, title) code,
#include "diag.def"
#undef D
  AC_DIAG_COUNT
} ac_code;

typedef struct {
  const char *file; /* NULL: no source position */
  int line, col;    /* from 1; col counts bytes (the caret allows for UTF-8 and tabs); col 0: the whole line */
  int end_col;      /* exclusive; 0: unknown (one caret) */
} ac_loc;
#define AC_NOLOC ((ac_loc){0})

typedef enum { AC_NOTE, AC_WARNING, AC_ERROR } ac_severity;

typedef struct {
  ac_severity severity;
  ac_code code;
  ac_loc loc;
  const char *message;
  ac_strvec help;                    /* "help:" lines: the way out */
  AC_VEC(struct ac_diag_note) notes; /* further places */
} ac_diag;
struct ac_diag_note {
  ac_loc loc;
  const char *message;
};

typedef struct {
  ac_arena *arena;
  AC_VEC(ac_diag *) list;
  ac_map *sources; /* file name -> const char *text, for the caret line */
  int errors, warnings;
  int max_errors; /* further errors are counted, not kept; default 20; 0: keep all */
  ac_exit worst;  /* of all errors, those not kept too */
} ac_diags;

void ac_diags_init(ac_diags *d, ac_arena *a);
/* Registers text so that carets can show its lines (kept by reference). Unregistered files are read from disk. */
void ac_diags_source(ac_diags *d, const char *file, const char *text);
/* Adds a diagnostic; the returned object (never NULL) takes help and notes. d NULL: nothing is kept. */
ac_diag *ac_error(ac_diags *d, ac_code code, ac_loc loc, const char *fmt, ...) AC_PRINTF(4, 5);
ac_diag *ac_warn(ac_diags *d, ac_code code, ac_loc loc, const char *fmt, ...) AC_PRINTF(4, 5);
void ac_help(ac_diags *d, ac_diag *x, const char *fmt, ...) AC_PRINTF(3, 4);
void ac_note(ac_diags *d, ac_diag *x, ac_loc loc, const char *fmt, ...) AC_PRINTF(4, 5);
/* Prints all: "file:line:col: error[AC0412]: message", the source line, a caret, notes, help. Colour only if
 * asked. */
void ac_diags_print(const ac_diags *d, FILE *out, bool colour);
json_t *ac_diags_json(const ac_diags *d); /* array; caller decrefs */
/* The exit code that the worst error asks for; AC_OK when there are only warnings. */
ac_exit ac_diags_exit(const ac_diags *d);
const char *ac_code_name(ac_code c); /* "AC0412" */
const char *ac_code_title(ac_code c);
ac_exit ac_code_exit(ac_code c);

/* ---- files ---- */

/* Whole file, NUL-terminated; NULL and a diagnostic (missing, unreadable, a directory, over `max` bytes).
 * max 0: 64 MiB. */
char *ac_read_file(ac_arena *a, const char *path, size_t max, size_t *len, ac_diags *d);
/* By a temporary file beside it (gone with Ctrl-C) and a rename; through links, and straight into devices and pipes. Makes no
 * folder. Keeps errno's text. */
bool ac_write_file(const char *path, const char *data, size_t len, ac_diags *d);
typedef struct {
  const void *data;
  size_t len;
} ac_piece;
bool ac_write_pieces(const char *path, const ac_piece *p, int n, ac_diags *d); /* one after another */
bool ac_mkdirs(const char *path, ac_diags *d);
bool ac_remove_tree(const char *path); /* true if it is gone */
bool ac_is_dir(const char *path);
bool ac_exists(const char *path);
char *ac_path_join(ac_arena *a, const char *dir, const char *name);
const char *ac_basename(const char *path);
/* The folder that holds it, by the text alone; slashes at the end do not count. "." for a bare name, "/" for what is in there. */
char *ac_dirname(ac_arena *a, const char *path);
char *ac_absolute(ac_arena *a, const char *path); /* realpath where it exists */
/* Where the data files, headers and ascendcraft-trace are: below $ASCENDCRAFT_HOME; else beside the executable (or the
 * library that this is in), in the source tree around it, or in share/ascendcraft and lib/ascendcraft of its prefix.
 * `rel` such as "data/chips" or "ascendcraft-trace". NULL if absent. */
char *ac_home_path(ac_arena *a, const char *rel);
/* Fresh directory beside `final` (same file system; inside it where it is a mount point), for write-then-rename. Removed at
 * exit and on SIGINT/SIGTERM unless committed, and with it the folders above it that were made for it. */
char *ac_staging_dir(ac_arena *a, const char *final, ac_diags *d);
/* Removes it now. */
void ac_staging_abandon(const char *staging);
/* Renames; final must not exist or be empty. */
bool ac_staging_commit(const char *staging, const char *final, ac_diags *d);
/* For --force: as commit, but what stands at `final` is replaced, in one step where the file system can. */
bool ac_staging_replace(const char *staging, const char *final, ac_diags *d);
/* Fresh private directory under $TMPDIR, removed at exit. */
char *ac_temp_dir(ac_arena *a, ac_diags *d);
/* Installs Ctrl-C and SIGTERM handlers that remove staging and temp directories, kill children, exit 130/143. */
void ac_signals_install(void);
/* Lower-case hex SHA-256. */
char *ac_sha256(ac_arena *a, const void *data, size_t len);
typedef struct {
  const void *data;
  size_t len;
} ac_bytes;
/* out[i]: that of texts[i]; faster than one by one. */
void ac_sha256_all(ac_arena *a, size_t n, const ac_bytes *texts, char **out);

/* ---- child processes and sandbox ---- */

typedef struct {
  bool on;
  uint64_t memory;    /* RLIMIT_AS; 0: none. Cannot be set in an ASan build (reported); ac_proc_run then kills a child
                       * whose resident memory goes over it */
  int cpu_seconds;    /* RLIMIT_CPU; 0: none */
  uint64_t file_size; /* RLIMIT_FSIZE; largest file it may write; 0: none */
  /* New processes and threads: 0: any; 1: threads but no process (seccomp: fork fails with EAGAIN); more:
   * RLIMIT_NPROC at what the user runs now plus that many, which does not bind root (reported). */
  int processes;
  /* Landlock. Both NULL: the file system is left open. read_only NULL: everything may be read; writable NULL or
   * empty: nothing may be written (but /dev/null). Paths that do not exist are skipped; the program that is started
   * need not be listed, its libraries must be. */
  const char *const *read_only; /* NULL-ended; read and execute */
  const char *const *writable;  /* NULL-ended; read and write */
  bool network;                 /* false: seccomp refuses socket() with EPERM */
  bool exec;                    /* false: seccomp refuses execve after start-up (the spec's own argv still starts) */
} ac_sandbox;

/* Call in the child before untrusted work; there is no way back. Always refused with EPERM, besides what the fields
 * say: ptrace and other processes' memory, new namespaces, mounts, keys, bpf, io_uring, kernel modules, clocks.
 * Returns a bit set of layers that could not be applied (0: all are on). */
enum { AC_SB_RLIMIT = 1, AC_SB_SECCOMP = 2, AC_SB_LANDLOCK = 4 };
unsigned ac_sandbox_enter(const ac_sandbox *s);
/* "landlock is not available on this kernel: ..." for the report; NULL when missing == 0. */
char *ac_sandbox_missing(ac_arena *a, unsigned missing);

typedef struct {
  const char *const *argv; /* NULL-ended; argv[0] looked up on PATH */
  const char *cwd;         /* NULL: inherit */
  const char *const *env;  /* NULL-ended "K=V" added to the environment */
  bool clear_env;
  const char *in; /* stdin text or NULL */
  size_t in_len;
  double timeout;    /* wall seconds; 0: none. On expiry the whole process group is killed */
  size_t max_output; /* kept of stdout and of stderr each; 0: 16 MiB; the rest is drained and dropped */
  ac_sandbox sandbox;
  int (*call)(void *user); /* instead of argv: run this in the forked child; its result is the exit status */
  void *user;
  int keep_fd;              /* a descriptor left open in the child as fd 3; 0: none */
  void (*tick)(void *user); /* called in the parent every half second while the child runs; NULL: nothing */
  void *tick_user;
} ac_proc_spec;
/* The child gets a process group of its own, dies with its parent's thread, and has no other descriptor than 0 to 3.
 * When it ends, what is left of its group is killed. */

typedef struct {
  int status;     /* exit status, or -1 */
  int signal;     /* killing signal, or 0 */
  bool timed_out; /* our timeout */
  bool started;   /* false: could not be run (errno text in err) */
  char *out, *err;
  size_t out_len, err_len;
  bool out_cut, err_cut;
  double wall;              /* seconds */
  uint64_t max_rss;         /* bytes; the system counts from the fork on, so never less than this process had then */
  unsigned sandbox_missing; /* layers that could not be applied, as from ac_sandbox_enter */
} ac_proc;
void ac_proc_run(ac_arena *a, const ac_proc_spec *spec, ac_proc *result);

/* ---- JSON ---- */

/* Strict parse (duplicate keys refused); diagnostics carry line and column. Caller decrefs. */
json_t *ac_json_parse(const char *file, const char *text, size_t len, ac_diags *d);
/* Indented by 1, keys in insertion order, ends with a newline: the same object gives the same bytes. */
char *ac_json_text(ac_arena *a, const json_t *j);
/* The same text, written value by value, without the values in between. `key`: in an object, else NULL. Bytes that are no UTF-8 become U+FFFD. */
typedef enum { AC_JW_OBJECT, AC_JW_ARRAY, AC_JW_LINE /* an array of plain values */ } ac_jw_kind;
typedef struct {
  ac_buf b;
  int depth;
  bool some, line; /* something stands in the innermost one; that is a line */
} ac_jw;
void ac_jw_init(ac_jw *w, ac_arena *a);
void ac_jw_open(ac_jw *w, const char *key, ac_jw_kind kind);
void ac_jw_close(ac_jw *w, ac_jw_kind kind);
void ac_jw_str(ac_jw *w, const char *key, const char *s);
void ac_jw_int(ac_jw *w, const char *key, int64_t v);
void ac_jw_double(ac_jw *w, const char *key, double v);
void ac_jw_value(ac_jw *w, const char *key, const json_t *j);
char *ac_jw_text(ac_jw *w); /* when all are closed */
double ac_now(void);        /* monotonic seconds */

/* Calls fn(user, i) once for each i of [0, n), on as many as `threads` threads (0: as the host has processors), and returns when all have
 * returned. They come in any order and at once: fn may share only what it locks or does not change. */
void ac_parallel(int threads, int64_t n, void (*fn)(void *user, int64_t i), void *user);

#endif
