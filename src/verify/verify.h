/* verify: is the emitted code right? Inputs, tolerances, comparison, reports.
 *
 * Takes a project folder as `ascendc` writes it (manifest.json is enough), builds what it ships, runs it on the simulator and
 * compares with the float64 reference. Knows nothing of how the kernel was made. All figures it reports are *simulated*.
 */
#ifndef AC_VERIFY_H
#define AC_VERIFY_H

#include "graph/graph.h"
#include "sim/sim.h"

/* ---- values: V(id, name in reports) ---------------------------------------------------------------------------- */
#define AC_VALUE_KINDS(V)                     \
  V(AC_VALUES_OWN, "its own values")          \
  V(AC_VALUES_NORMAL, "signed normal values") \
  V(AC_VALUES_UNIFORM, "values in [-1, 1]")   \
  V(AC_VALUES_TINY, "tiny values")            \
  V(AC_VALUES_LARGE, "large values")          \
  V(AC_VALUES_SPECIAL, "special values")      \
  V(AC_VALUES_ZERO, "all zero")               \
  V(AC_VALUES_EQUAL, "all equal")
typedef enum {
#define V(id, name) id,
  AC_VALUE_KINDS(V)
#undef V
      AC_VALUES_COUNT
} ac_values;
const char *ac_values_name(ac_values v);
/* Fills n elements of a floating dtype, `inner` elements to a row; a function of (kind, dtype, seed, index) only. Integer and
 * bool dtypes are refused (false): their meaning (an index, a class) belongs to the graph's own generator. */
bool ac_values_fill(ac_values v, ac_dtype d, uint64_t seed, int64_t inner, void *data, int64_t n);

/* ---- comparison ---------------------------------------------------------------------------------------------------- */

/* How much rounding the graph's operations do between input and output: it decides which row of the table applies. */
typedef enum {
  AC_ERR_EXACT,      /* copies, selections, comparisons: nothing may differ */
  AC_ERR_ARITHMETIC, /* sums, products, quotients: each correctly rounded */
  AC_ERR_FUNCTION,   /* exp, log, reductions and what is made of them */
} ac_error_class;
ac_error_class ac_graph_error_class(const ac_graph *g);

/* An element passes when |got - ref| <= rtol * |ref| + floor * scale, where scale is the largest finite |ref| of the output (for
 * AC_ERR_FUNCTION at least 1). Rows of the table are in tolerance.def, each with its reason. */
typedef struct {
  double rtol, floor, tiniest; /* tiniest: added always; values below the smallest normal number may be flushed */
  const char *why;
} ac_tolerance;
ac_tolerance ac_tolerance_of(ac_dtype d, ac_error_class c);

typedef struct {
  int64_t n, bad;                /* elements compared, elements out of tolerance */
  int64_t first_bad, last_bad;   /* -1: none */
  double expected, got, allowed; /* at first_bad; integers lose bits beyond 2^53 here only */
  double max_abs, max_rel;       /* over elements where both are finite */
  int64_t worst;                 /* element with the largest error in units of what is allowed; -1: none */
  struct {              /* float16 and bfloat16: results within one step of a reference that is between two numbers */
    int64_t n, changes; /* of these; how often the next one is another number */
    int64_t toward_zero, below; /* of the reference */
    int64_t near, far;          /* less than a quarter, more than three quarters of a step away */
    double last;
  } narrowed;
} ac_comparison;

/* The direction in which the results were rounded when that is plainly not to the nearest, e.g. "toward zero"; else NULL. Such results
 * are within tolerance one by one; together they are biased. */
const char *ac_one_sided(const ac_comparison *c);
/* What honest evaluations of the same elements gave, each operation rounded to its own dtype. */
typedef struct {
  const double *honest; /* rounding to nearest: where it is infinite or NaN, got may be so too */
  const double *
      slack; /* farthest that any of them is from the reference: got may be off by four times as much, and the tolerance */
  const bool *
      torn; /* rounding decides whether it is a number at all (a root of what cancels to about 0): got may be anything */
} ac_excuse;
/* Floating outputs. ref: n float64 values of elements [start, start + n); got: the whole output; excuse: for the same n elements, or NULL.
 * Adds to *c (begin with {.first_bad = -1, .last_bad = -1, .worst = -1}). */
void ac_compare_float(ac_dtype d, const ac_tolerance *t, double scale, const double *ref, const ac_excuse *excuse,
                      const void *got, int64_t start, int64_t n, ac_comparison *c);
/* Integer and bool outputs: equal. */
void ac_compare_int(ac_dtype d, const int64_t *ref, const void *got, int64_t start, int64_t n, ac_comparison *c);

/* Every float operation of `g` (concrete shapes) rounded to its dtype, one after the other, as an eager framework does: to the nearest number
 * (variant 0), or to one beside it, chosen by the seed `variant`. The result of output `out` as doubles, numel of them, in `a`; NULL where it
 * cannot be made (too large; a diagnostic is not left). */
double *ac_eager_output(ac_arena *a, const ac_graph *g, const void *const *inputs, int out, uint64_t variant);

/* ---- cases ---------------------------------------------------------------------------------------------------------- */

typedef struct {
  const char *input;
  int rank;
  int64_t dim[AC_MAX_RANK];
} ac_shape_arg; /* --shape NAME=7,1003 */

typedef struct {
  const char *name;
  ac_values values;
  ac_shape *inputs; /* one a graph input */
  bool asked;       /* the module's own or the user's shape: never dropped for its size */
  bool other_rank;  /* ranks differ from the traced ones: a refusal is not a failure */
  bool sampled;     /* too large to run in full: some blocks of it */
  bool key;         /* in the small set that every further format runs */
  int64_t elements; /* of the largest tensor */
} ac_case;
typedef AC_VEC(ac_case) ac_cases;

typedef struct {
  const ac_shape_arg *shapes; /* the user's shapes in place of the module's own; n_shapes of them */
  int n_shapes;
  int64_t max_elements; /* of the largest tensor of a case; 0: 4 Mi */
  int64_t own_elements; /* limit for running the asked shape in full, beside max_elements; 0: 32 Mi */
  uint64_t seed;
  bool only;            /* the asked shape with its own values, nothing else */
  int cores;            /* vector cores of the chip */
  const int64_t *edges; /* sizes up to which the tiling code takes one way and beyond another; n_edges of them */
  int n_edges;
} ac_case_opts;
/* The sizes that the tiling code compares with ("if (axis <= 11264)") and its largest tiles ("Min(11776, ...)"), at most `most`, each once. */
int ac_tiling_edges(const char *host_text, int64_t *edges, int most);
/* The module's own shape and values, every kind of value at a moderate shape, then the ladder of shapes. Only shapes that the
 * graph's guards accept. Deterministic. False when the asked shape itself is refused (AC0904 names the guard). */
bool ac_make_cases(ac_arena *a, const ac_graph *g, const ac_case_opts *o, ac_cases *out, ac_diags *d);

/* ---- the verification ------------------------------------------------------------------------------------------------- */

typedef enum { AC_V_PASS, AC_V_FAIL, AC_V_REFUSED, AC_V_SKIPPED } ac_verdict;
typedef struct {
  const char *name;   /* "own shape, its own values" */
  const char *form;   /* "msopgen" or "direct" */
  const char *shapes; /* "x(16, 16384)" */
  ac_verdict verdict;
  const char *why;                    /* one sentence for anything but a pass, or a note on a pass */
  int64_t bad;                        /* elements out of tolerance */
  const char *bad_output, *bad_index; /* the first of them: "y", "[3, 17]" */
  double expected, got, allowed;
  bool unwritten; /* the first of them still holds what was there before the run */
  double max_abs, max_rel;
  const char *worst_output;
  int64_t worst_index; /* -1: nothing to compare */
  AC_VEC(ac_sim_fault) faults;
  ac_strvec hints;
  bool sampled; /* only some blocks ran */
  int64_t block_dim, blocks_run, elements;
  double wall;            /* seconds on this host */
  AC_VEC(int64_t) blocks; /* of a sampled case: which ran */
  int perturbed; /* further runs with results at the edge of their error bounds (key cases, where such functions run) */
  AC_VEC(ac_sim_fault) warnings; /* fail nothing */
} ac_verify_case;

typedef struct {
  const char *op, *chip, *error_class;
  AC_VEC(ac_verify_case) cases;
  int passed, failed, refused, skipped;
  ac_strvec notes; /* what the reader must know: edited files, sampling, missing sandbox layers, blind cases */
  ac_strvec blind; /* decoys that no case could tell from the right answer */
  bool ok;
  double wall;
  ac_strvec inexact; /* functions of the kernel whose results are known up to an error bound only */
  int perturbed;     /* cases that were also run at the edges of those bounds */
} ac_verify_report;

typedef struct {
  const char *dir;
  unsigned forms; /* bit set of 1u << ac_sim_form; 0: all that the project holds */
  ac_case_opts cases;
  int threads; /* host threads; 0: all */
  double
      case_seconds; /* limit of one run of one case; 0: the simulator's. After a case that does not end the others are skipped */
  double seconds;   /* further cases are skipped after so long (and reported as skipped); 0: no limit */
  int max_failures; /* further cases are skipped after so many failed; 0: never */
  FILE *progress;   /* a terminal for the progress line, or NULL */
  ac_hazards hazards;
  int64_t
      sample_blocks; /* of a shape too large to run in full: so many blocks, chosen by cases.seed; 0: the first, the last and one more */
} ac_verify_opts;
/* False when nothing could be verified (diagnostics say why); a failing verification is true with report->ok false. */
bool ac_verify(ac_arena *a, const ac_verify_opts *o, ac_verify_report *r, ac_diags *d);

/* Text for people; `all` lists the passing cases too. */
void ac_verify_print(const ac_verify_report *r, FILE *out, bool all, bool colour);
json_t *ac_verify_json(const ac_verify_report *r); /* caller decrefs */

#endif
