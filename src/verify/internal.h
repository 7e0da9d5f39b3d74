/* Shared by verify's files only. */
#ifndef AC_VERIFY_INTERNAL_H
#define AC_VERIFY_INTERNAL_H

#include "verify/project.h"

ac_error_class ac_op_error_class(ac_op op);

typedef struct ac_slice ac_slice;

/* One case, made concrete: data and reference. Memory for data comes from ac_sim_alloc and goes with ac_vcase_free. */
typedef struct {
  ac_arena *a;
  const ac_case *c;
  const ac_graph *whole; /* the project's, with symbolic sizes */
  ac_graph *graph;       /* concrete */
  int n_inputs, n_outputs;
  const void **ref_inputs; /* one a graph input: tensors' data; scalars: their double or int64 */
  ac_sim_tensor *tensors;  /* kernel order: tensor inputs, then outputs */
  int n_tensors, n_in;     /* the first n_in are inputs */
  ac_sim_attr *attrs;
  int n_attrs;
  bool sampled; /* inputs repeat a short period; outputs are checked only where blocks wrote */
  int64_t elements;
  const char *shapes; /* "x(7, 3), y(3)" */
  double **ref;       /* one an output: float64 values, or NULL */
  int64_t **ref_int;
  double *scale;
  ac_excuse *excuse; /* made when first needed; honest NULL: none */
  bool *excuse_tried;
  int threads;
  bool streamed;     /* the reference is made slice by slice when results are compared; ref and ref_int stay NULL */
  ac_slice **slices; /* one an output: what stream.c knows of each */
} ac_vcase;
/* NULL with a reason in *why when it cannot be made (too large, out of memory). */
ac_vcase *ac_vcase_new(ac_arena *a, const ac_vproject *p, const ac_case *c, uint64_t seed, int threads,
                       const char **why);
void ac_vcase_free(ac_vcase *v);

/* Compares output `out` of the case with `got`; `lenient` also tries the honest evaluation. */
ac_comparison ac_vcase_compare(ac_vcase *v, int out, const void *got, const ac_tolerance *t, bool lenient);

/* Too large to keep the reference, and made of rows that can be compared apart? */
bool ac_stream_wanted(const ac_vcase *v);
ac_comparison ac_stream_compare(ac_vcase *v, int out, const void *got, const ac_tolerance *t, bool lenient);
double ac_largest_finite(const double *x, int64_t n);
/* Honest evaluations of output `out` of g, n elements with reference `ref`; honest NULL: none could be made. */
ac_excuse ac_honest(ac_arena *a, const ac_graph *g, const void *const *inputs, int out, const double *ref, int64_t n);

/* Bytes of outputs before a run. In a sampled case only of small ones: in large ones pages that no block touched are not there. */
enum { AC_POISON = 0xA5 };
/* Does element i still have them? */
bool ac_untouched(const ac_sim_tensor *t, int64_t i);
/* Of a sampled case: only what blocks wrote (of large outputs, whole pages of it). */
ac_comparison ac_vcase_compare_sampled(ac_vcase *v, int out, const ac_tolerance *t, int threads);

/* Does every operation keep the rows of dimension 0 apart? Then the rows [from, to) of the outputs are those of a smaller graph. */
bool ac_rows_apart(const ac_graph *g);
typedef struct {
  ac_graph *graph; /* NULL: its guards refuse so few rows */
  const void **inputs;
} ac_rows;
ac_rows ac_rows_cut(ac_arena *a, const ac_graph *apart, const ac_graph *g, const void *const *inputs, int64_t from,
                    int64_t to);

/* What the pattern of wrong elements says: shifted by one, the end is missing, all zero... */
void ac_hints(ac_arena *a, const ac_vcase *v, int out, const void *got, const ac_comparison *c, const ac_tolerance *t,
              ac_strvec *hints);
char *ac_index_text(ac_arena *a, const ac_value *v, int64_t linear); /* "[3, 17]" */

#endif
