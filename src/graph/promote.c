/* PyTorch's type promotion (torch/result_type; c10 promoteTypes; stable from 1.5 on).
 *
 * Operands have three priorities: tensors with dimensions, tensors without, Python numbers. A lower priority raises the result
 * only when its class (bool < integer < floating) is higher; within a priority the dtypes meet in the lattice. */
#include "graph/internal.h"

bool ac_is_float(ac_dtype d) {
  return d != AC_NODTYPE && ac_dtypes[d].cls == AC_FLOATING;
}
bool ac_is_integer(ac_dtype d) {
  return d != AC_NODTYPE && (ac_dtypes[d].cls == AC_SIGNED || ac_dtypes[d].cls == AC_UNSIGNED);
}

static bool barebones(ac_dtype d) {
  return d == AC_U16 || d == AC_U32 || d == AC_U64;
}

static ac_dtype promote_floats(ac_dtype a, ac_dtype b) {
  if (a == AC_F64 || b == AC_F64) return AC_F64;
  return a == b ? a : AC_F32; /* float16 with bfloat16 is float32 */
}

static ac_dtype promote_integers(ac_dtype a, ac_dtype b) {
  /* uint16, uint32 and uint64 (PyTorch 2.3 and later) promote with themselves and with floats only */
  if (barebones(a) || barebones(b)) return AC_NODTYPE;
  if (a == AC_U8 || b == AC_U8) {
    ac_dtype other = a == AC_U8 ? b : a;
    return other == AC_I8 ? AC_I16 : other;
  }
  return ac_dtypes[a].bytes >= ac_dtypes[b].bytes ? a : b;
}

ac_dtype ac_promote_dtypes(ac_dtype a, ac_dtype b) {
  if (a == b) return a;
  if (a == AC_NODTYPE) return b;
  if (b == AC_NODTYPE) return a;
  if (ac_is_float(a) && ac_is_float(b)) return promote_floats(a, b);
  if (ac_is_float(a)) return a;
  if (ac_is_float(b)) return b;
  if (a == AC_BOOL) return b;
  if (b == AC_BOOL) return a;
  return promote_integers(a, b);
}

/* `higher` has priority over `lower`. */
static ac_dtype combine(ac_dtype higher, ac_dtype lower) {
  if (higher == AC_NODTYPE) return lower;
  if (lower == AC_NODTYPE || ac_is_float(higher)) return higher;
  if (higher == AC_BOOL || ac_is_float(lower)) return ac_promote_dtypes(higher, lower);
  return higher;
}

ac_dtype ac_promote_values(ac_value *const *v, int n) {
  ac_dtype level[3] = {AC_NODTYPE, AC_NODTYPE, AC_NODTYPE}; /* dimensioned, zero-dim, numbers */
  for (int i = 0; i < n; i++) {
    int k = v[i]->weak ? 2 : v[i]->rank ? 0 : 1;
    bool first = level[k] == AC_NODTYPE;
    ac_dtype p = first ? v[i]->dtype : ac_promote_dtypes(level[k], v[i]->dtype);
    if (p == AC_NODTYPE) return p;
    level[k] = p;
  }
  return combine(level[0], combine(level[1], level[2]));
}

ac_dtype ac_graph_promote(const ac_value *x, const ac_value *y) {
  ac_value *v[2] = {(ac_value *)(uintptr_t)x, (ac_value *)(uintptr_t)y};
  return ac_promote_values(v, 2);
}
