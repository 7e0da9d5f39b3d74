/* Which unknowns a symbolic integer is made of. */
#include "craft/family.h"

bool ac_pv_mentions(ac_syms *y, const ac_sym *x, const char *label) {
  for (int i = 0; x && i < x->n; i++)
    for (int j = 0; j < x->t[i].k; j++) {
      const ac_satom a = y->atoms.data[x->t[i].atom[j]];
      if (a.fn == AC_SY_OPAQUE ? a.label == label : ac_pv_mentions(y, a.a, label) || ac_pv_mentions(y, a.b, label))
        return true;
    }
  return false;
}

bool ac_pv_of_label(ac_syms *y, const ac_sym *x, const char *label, bool *others, int *depth) {
  bool found = false;
  int deepest = 0;
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < x->t[i].k; j++) {
      const ac_satom a = y->atoms.data[x->t[i].atom[j]];
      int below = 0, other = 0;
      if (a.fn == AC_SY_OPAQUE) {
        bool made = a.label == label;
        found |= made;
        *others |= !made;
        continue;
      }
      found |= ac_pv_of_label(y, a.a, label, others, &below);
      found |= ac_pv_of_label(y, a.b, label, others, &other);
      if (other > below) below = other;
      if (below + 1 > deepest) deepest = below + 1;
    }
  *depth = deepest;
  return found;
}

ac_sym *ac_pv_quotient_by(ac_syms *y, const ac_sym *x, const ac_sym *by) {
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < x->t[i].k; j++) {
      const ac_satom a = y->atoms.data[x->t[i].atom[j]];
      if (a.fn == AC_SY_CDIV && a.b == by) return ac_sy_of(y, x->t[i].atom[j]);
      ac_sym *in = a.fn == AC_SY_OPAQUE ? NULL : ac_pv_quotient_by(y, a.a, by);
      if (!in && a.fn != AC_SY_OPAQUE) in = ac_pv_quotient_by(y, a.b, by);
      if (in) return in;
    }
  return NULL;
}
