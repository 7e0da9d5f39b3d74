/* One job on several threads. */
#include "base/base.h"

#include <pthread.h>
#include <unistd.h>

typedef struct {
  void (*fn)(void *user, int64_t i);
  void *user;
  int64_t n, next;
} job;

static void *work(void *arg) {
  job *j = arg;
  for (;;) {
    int64_t i = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED);
    if (i >= j->n) return NULL;
    j->fn(j->user, i);
  }
}

void ac_parallel(int threads, int64_t n, void (*fn)(void *user, int64_t i), void *user) {
  enum { MOST = 256 };
  pthread_t more[MOST];
  job j = {fn, user, n, 0};
  long wanted = threads > 0 ? threads : sysconf(_SC_NPROCESSORS_ONLN);
  int started = 0;
  if (wanted > n) wanted = (long)n;
  /* a host that gives no further thread is only slower */
  while (started + 1 < wanted && started < MOST && !pthread_create(&more[started], NULL, work, &j)) started++;
  work(&j);
  for (int i = 0; i < started; i++) pthread_join(more[i], NULL);
}
