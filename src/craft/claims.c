/* Claims: what the checker's diagnostics say of each, what trials refute, what is proved for all shapes (docs/checks.md). */
#include "craft/internal.h"
#include "craft/sketch.h"

#include <string.h>

const char *const ac_claim_names[AC_CLAIM_COUNT] = {
#define Q(id, name, text, codes) [id] = name,
#include "craft/claims.def"
#undef Q
};
const char *const ac_claim_texts[AC_CLAIM_COUNT] = {
#define Q(id, name, text, codes) [id] = text,
#include "craft/claims.def"
#undef Q
};
static const char *const codes_of[AC_CLAIM_COUNT] = {
#define Q(id, name, text, codes) [id] = codes,
#include "craft/claims.def"
#undef Q
};

static void by_diagnostics(ac_verdicts *v, const ac_diags *d) {
  for (size_t i = 0; i < d->list.len; i++) {
    const ac_diag *x = d->list.data[i];
    for (int q = 0; q < AC_CLAIM_COUNT; q++) {
      if (!strstr(codes_of[q], ac_code_name(x->code))) continue;
      if (x->severity == AC_ERROR) {
        v->of[q] = AC_VERDICT_REFUTED;
        v->why[q] = x->message;
      } else if (x->severity == AC_WARNING && v->of[q] != AC_VERDICT_REFUTED) {
        v->of[q] = AC_VERDICT_UNKNOWN;
        v->why[q] = x->message;
      }
    }
  }
}

/* What trials refuted and the proof claims to have shown: a fault of ours, for tests. */
static bool clash(const ac_verdicts *v, const ac_diags *d, size_t from) {
  for (size_t i = from; i < d->list.len; i++) {
    bool spoken = false, open = false;
    for (int q = 0; q < AC_CLAIM_COUNT; q++) {
      if (d->list.data[i]->severity != AC_ERROR || !strstr(codes_of[q], ac_code_name(d->list.data[i]->code)))
        continue;
      spoken = true;
      open = open || v->of[q] != AC_VERDICT_PROVED;
    }
    if (spoken && !open) return true;
  }
  return false;
}

void ac_sk_claims_of(ac_code code, bool set[AC_CLAIM_COUNT]) {
  for (int q = 0; q < AC_CLAIM_COUNT; q++) set[q] |= strstr(codes_of[q], ac_code_name(code)) != NULL;
}

static void warn_of_unknown(const ac_cmodule *m, const ac_verdicts *v, ac_diags *to) {
  const ac_cfunc *host = ac_craft_host(m);
  for (int q = 0; q < AC_CLAIM_COUNT; q++) {
    if (v->of[q] != AC_VERDICT_UNKNOWN || !strstr(codes_of[q], "AC0545")) continue;
    bool said = false; /* by a warning of its own */
    for (size_t i = 0; i < to->list.len; i++) said = said || to->list.data[i]->message == v->why[q];
    if (said) continue;
    ac_diag *g = ac_warn(to, AC0545, host->loc, "not proved: %s", v->why[q]);
    const char *later = v->asked[q] ? "the tiling code asks it of each shape, as far as sizes say it"
                                    : "the simulator looks at those that it runs";
    if (v->shapes)
      ac_help(to, g, "nothing wrong was found on %d shapes; %s", v->shapes, later);
    else
      ac_help(to, g, "no shape went through a trial; %s", later);
  }
}

bool ac_craft_prove(ac_arena *a, ac_cmodule *m, const ac_craft_check_opts *o, ac_verdicts *v, ac_diags *d) {
  int before = d->errors;
  size_t first = d->list.len;
  *v = (ac_verdicts){0};
  for (int q = 0; q < AC_CLAIM_COUNT; q++) v->of[q] = AC_VERDICT_PROVED;
  ac_sketch *s = ac_sketch_of(a, m, o ? o->chip : NULL);
  ac_sk_trials(s, v, d);
  ac_sk_prove(s, v);
  v->clash = clash(v, d, first);
  by_diagnostics(v, d);
  ac_sk_guard(a, m, v);
  v->asked[AC_CLAIM_UB] = true; /* where it is open: ac_abuffer's sizes, in every launch */
  warn_of_unknown(m, v, d);
  ac_craft_sort_diags(d, first);
  return d->errors == before;
}
