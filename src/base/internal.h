/* What the files of base share among themselves. Not for other modules. */
#ifndef AC_BASE_INTERNAL_H
#define AC_BASE_INTERNAL_H

#include "base/base.h"

#include <sys/types.h>

#if defined(__SANITIZE_ADDRESS__)
#define AC_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AC_ASAN 1
#endif
#endif
#ifndef AC_ASAN
#define AC_ASAN 0
#endif

/* arena.c: p (of `old` bytes, or NULL) with room for n bytes; contents kept, the rest is anything. */
void *ac_regrow(ac_arena *a, void *p, size_t old, size_t n);

/* buf.c: room for n more bytes and the final NUL. */
void ac_buf_grow(ac_buf *b, size_t n);
static inline void ac_buf_reserve(ac_buf *b, size_t n) {
  if (b->cap - b->len <= n) ac_buf_grow(b, n);
}

/* format.c: as vsnprintf, faster for plain formats. */
int ac_format(char *to, size_t room, const char *fmt, va_list ap) AC_PRINTF(3, 0);

/* sha256.c: as ac_sha256_all; `portable`: without the processor's own instructions. */
void ac_sha256_by(ac_arena *a, size_t n, const ac_bytes *texts, char **out, bool portable);

/* strings.c: FNV-1a, enough for identifiers. */
uint64_t ac_hash(const char *s, size_t n);

/* cleanup.c: paths to remove at exit and on signals, by process; process groups to kill on signals. */
/* `parents`: so many folders above it were made for it and go with it, if empty. False: the table is full or the path too long. */
bool ac_cleanup_add(const char *path, int parents);
void ac_cleanup_drop(const char *path);
void ac_cleanup_now(const char *path);           /* removes it before exit */
void ac_remove_parents(char *path, int parents); /* rmdir, upwards; `path` is cut; async-signal-safe */
void ac_cleanup_run(void);                       /* removes what this process added; async-signal-safe */
void ac_cleanup_child(pid_t pid, bool running);
void ac_signals_default(void); /* in a forked child: no handler of ours runs there */

/* sandbox.c: as ac_sandbox_enter, for a child that will execve(path, argv, envp) with exactly these pointers. */
unsigned ac_sandbox_enter_exec(const ac_sandbox *s, const char *path, char *const *argv, char *const *envp);

#endif
