/* What lies behind a tensor on its last page. A pointer that goes beyond that page meets nothing (ac_sim_alloc); one that stays on it would write
 * where nobody looks: the rest of the page holds a pattern while the blocks run, and is compared after them. Reads leave no trace there. */
#include "sim/core_internal.h"
#include "sim/run_internal.h"

#include <string.h>

/* Where what tensor i may use ends: others may lie at the same address, and be longer. */
static int64_t end_of(const ac_run_job *j, int i) {
  int64_t n = j->tensors[i].bytes;
  for (int k = 0; k < j->n_tensors; k++)
    if (j->tensors[k].data == j->tensors[i].data && j->tensors[k].bytes > n) n = j->tensors[k].bytes;
  return n;
}
/* Tensors that blocks may write: pages of the others cannot be written while they run. */
static bool guarded(const ac_sim_tensor *t) {
  return (t->output || t->updated) && !t->absent && t->data;
}
/* Like no number that a kernel is likely to write: from one byte to the next it changes. */
static uint8_t pattern(int64_t i) {
  return (uint8_t)(0x9e + 0x3b * i);
}

void ac_run_canary_set(const ac_run_job *j) {
  for (int i = 0; i < j->n_tensors; i++) {
    if (!guarded(&j->tensors[i])) continue;
    uint8_t *p = j->tensors[i].data;
    for (int64_t at = end_of(j, i), end = (int64_t)ac_sim_own_bytes(at); at < end; at++) p[at] = pattern(at);
  }
}

void ac_run_canary_check(const ac_run_job *j, acsim_session *s) {
  for (int i = 0; i < j->n_tensors; i++) {
    const ac_sim_tensor *t = &j->tensors[i];
    int64_t n = guarded(t) ? end_of(j, i) : 0, end = (int64_t)ac_sim_own_bytes(n), at = n;
    if (!guarded(t) || t->bytes != n) continue; /* the longest of one place */
    const uint8_t *p = t->data;
    while (at < end && p[at] == pattern(at)) at++;
    if (at < end)
      acsim_fault_pair(
          s, NULL, "gm-out-of-bounds", (acsim_at){0}, (acsim_at){NULL, i + 1} /* each by itself */,
          "%s, which has %lld bytes, was written behind its end through a plain __gm__ pointer: byte %lld is "
          "the first",
          t->name, (long long)n, (long long)at);
  }
}
