/* Private to the reference evaluation (ref*.c): values as ranges of doubles or int64, pulled on demand.
 *
 * Every value answers "elements [start, start + n) in row-major order". Element-wise nodes, views, softmax and norms compute the
 * range from their operands' ranges, so a chain over a gigabyte needs a few pages. What needs random access (scans, sorts, scatters,
 * windows' operands) is materialised once, before the first read; after that reading is pure and several threads may do it.
 */
#ifndef AC_GRAPH_REF_H
#define AC_GRAPH_REF_H

#include "graph/graph.h"

enum { REF_CHUNK = 2048 }; /* elements a step: small enough for the caches with a few operands */

typedef union {
  double *f;
  int64_t *i;
  void *p;
} ref_buf;

typedef struct {
  const ac_value *v;
  ac_shape shape;
  int64_t numel;
  int64_t stride[AC_MAX_RANK]; /* of the row-major shape */
  bool is_int;                 /* integers and bools are int64, floats are double */
  bool ready;
  ref_buf mat;           /* materialised elements, or NULL */
  double *stat0, *stat1; /* softmax: max, sum; norms: mean, 1/std */
} ref_val;

struct ac_ref {
  ac_arena *arena;
  const ac_graph *g;
  ac_diags *d;
  ac_ref_opts o;
  ref_val *vals;  /* by value id */
  uint64_t bytes; /* materialised so far */
  bool failed;
  uint64_t seed;
  AC_VEC(void *) owned;
};

ref_val *ref_of(ac_ref *r, const ac_value *v);
/* Materialises what `v` needs (recursively); false when a limit or an unsupported operation was hit. */
bool ref_prepare(ac_ref *r, const ac_value *v);
/* Stores all of v in memory. */
bool ref_materialise(ac_ref *r, const ac_value *v);
/* Makes v an input or a materialised value: then ref_at works. */
bool ref_random(ac_ref *r, const ac_value *v);
void *ref_alloc(ac_ref *r, int64_t count, size_t size); /* counted against the limit; NULL with a diagnostic */
bool ref_fail(ac_ref *r, const ac_node *n, ac_code c, const char *fmt, ...) AC_PRINTF(4, 5);

/* [start, start + n) of v in its own class. */
void ref_read(ac_ref *r, const ac_value *v, int64_t start, int64_t n, ref_buf dst);
/* The same as doubles / as int64, converted. */
void ref_read_f(ac_ref *r, const ac_value *v, int64_t start, int64_t n, double *dst);
void ref_read_i(ac_ref *r, const ac_value *v, int64_t start, int64_t n, int64_t *dst);
/* One element of an input or materialised value. */
double ref_at_f(ac_ref *r, const ac_value *v, int64_t i);
int64_t ref_at_i(ac_ref *r, const ac_value *v, int64_t i);

/* Arguments of a node by the name in its signature. */
const ac_arg *ref_arg(const ac_node *n, const char *name);
int64_t ref_int(const ac_node *n, const char *name, int64_t absent);
double ref_float(const ac_node *n, const char *name, double absent);
bool ref_bool(const ac_node *n, const char *name);
int ref_dim(const ac_node *n, const char *name, int rank); /* normalised; absent: -1 */
/* List argument broadcast to `want` entries (a single number serves all); absent: dflt[] or dflt_all. */
void ref_ints(const ac_node *n, const char *name, int want, int64_t dflt_all, int64_t *out);
/* Set of reduced dims: bit i; absent or empty: all. */
unsigned ref_dims(const ac_node *n, const char *name, int rank);
/* shape = outer x dim x inner around `dim`. */
void ref_split(const ac_shape *s, int dim, int64_t *outer, int64_t *n, int64_t *inner);

/* One class a file. read: fills the range of output n->outs[out]; prep: before the first read. */
void ref_elt_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, ref_buf dst);
bool ref_red_prep(ac_ref *r, const ac_node *n);
bool ref_scan_prep(ac_ref *r, const ac_node *n);
bool ref_row_prep(ac_ref *r, const ac_node *n);
void ref_row_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, double *dst);
bool ref_norm_prep(ac_ref *r, const ac_node *n);
void ref_norm_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, double *dst);
bool ref_pool_prep(ac_ref *r, const ac_node *n);
bool ref_pool_read(ac_ref *r, const ac_value *v, int64_t start, int64_t cnt, ref_buf dst);
bool ref_index_prep(ac_ref *r, const ac_node *n);
bool ref_index_read(ac_ref *r, const ac_value *v, int64_t start, int64_t cnt, ref_buf dst);
bool ref_view_prep(ac_ref *r, const ac_node *n);
void ref_view_read(ac_ref *r, const ac_value *v, int64_t start, int64_t cnt, ref_buf dst);
bool ref_sort_prep(ac_ref *r, const ac_node *n);
bool ref_matmul_prep(ac_ref *r, const ac_node *n);
/* Counter-based random numbers: a function of (seed, stream, index), so that any range can be read in any order. */
uint64_t ac_ref_bits(uint64_t seed, uint64_t stream, uint64_t i);
double ac_ref_uniform(uint64_t seed, uint64_t stream, uint64_t i); /* [0, 1) */
void ref_new_read(ac_ref *r, const ac_node *n, int64_t start, int64_t cnt, ref_buf dst);
/* Index of each of [start, start+n) of a row-major `shape` under other strides (0: broadcast): one step. */
typedef struct {
  int rank;
  int64_t dim[AC_MAX_RANK], pos[AC_MAX_RANK], stride[AC_MAX_RANK];
  int64_t at;
} ref_walk;
void ref_walk_init(ref_walk *w, const ac_shape *shape, const int64_t *strides, int64_t base, int64_t start);
void ref_walk_next(ref_walk *w);

#endif
