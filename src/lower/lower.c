/* The driver: runs the passes in the order of passes.def, checks the invariants after each, dumps on request. */
#include "lower/internal.h"

#include <string.h>

const char *const ac_event_names[AC_EV_COUNT] = {[AC_EV_V_S] = "V_S",
                                                 [AC_EV_S_V] = "S_V",
                                                 [AC_EV_MTE2_V] = "MTE2_V",
                                                 [AC_EV_V_MTE2] = "V_MTE2",
                                                 [AC_EV_V_MTE3] = "V_MTE3",
                                                 [AC_EV_MTE3_V] = "MTE3_V",
                                                 [AC_EV_MTE2_S] = "MTE2_S",
                                                 [AC_EV_S_MTE2] = "S_MTE2",
                                                 [AC_EV_MTE3_S] = "MTE3_S",
                                                 [AC_EV_S_MTE3] = "S_MTE3",
                                                 [AC_EV_MTE2_MTE3] = "MTE2_MTE3",
                                                 [AC_EV_MTE3_MTE2] = "MTE3_MTE2"};

static const struct {
  const char *name, *what;
  bool (*run)(ac_lower_ctx *c);
} passes[] = {
#define P(id, name, what) {name, what, ac_lower_##id},
#include "lower/passes.def"
#undef P
};

ac_strvec ac_lower_passes(ac_arena *a) {
  ac_strvec v = {0};
  for (size_t i = 0; i < AC_COUNT(passes); i++) ac_push(a, &v, passes[i].name);
  return v;
}

static bool usable(const char *s) {
  if (!*s || !((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z'))) return false;
  for (; *s; s++)
    if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_'))
      return false;
  return true;
}

/* Buffers of the pipe, each slot of a queue counting; scratch included. Second slots go first, from the last queue on. */
static bool few_buffers(ac_lower_ctx *c, ac_akernel *k) {
  int n = 0;
  for (size_t i = 0; i < k->buffers.len; i++)
    if (!k->buffers.data[i].home) n += k->buffers.data[i].depth;
  for (size_t i = k->buffers.len; i-- > 0;) {
    ac_abuffer *b = &k->buffers.data[i];
    bool queue = b->mem == AC_MEM_VECIN || b->mem == AC_MEM_VECOUT || b->mem == AC_MEM_BIND;
    for (; queue && !b->pinned && b->depth > 1 && n > AC_PIPE_BUFFERS; n--) b->depth--;
  }
  if (n <= AC_PIPE_BUFFERS) return true;
  ac_diag *x = ac_error(c->d, AC0528, k->loc,
                        "'%s' takes %d buffers of the pipe, scratch and slots of queues included; there are %d",
                        k->name, n, AC_PIPE_BUFFERS);
  ac_help(c->d, x, "take rows of one buffer with two dimensions, b[i], in place of many buffers");
  return false;
}

ac_program *ac_lower(ac_arena *a, const ac_cmodule *m, const ac_lower_opts *o, ac_diags *d) {
  ac_lower_ctx c = {.a = a, .m = m, .o = o, .d = d};
  const ac_cfunc *host = ac_craft_host(m);
  if (!usable(o->op) || !usable(o->op_type)) {
    /* whoever calls makes names of letters, digits and underscores, a letter first */
    ac_error(d, AC0600, AC_NOLOC, "'%s' cannot name an operator: its kernel, class and files carry the name", o->op);
    return NULL;
  }
  if (!host) {
    ac_error(d, AC0600, AC_NOLOC, "the program has no host function"); /* the checker says so before */
    return NULL;
  }
  if (!o->chip->copy_pad) {
    ac_diag *x = ac_error(d, AC0610, AC_NOLOC, "%s has no DataCopyPad, without which no tail is right", o->chip->soc);
    ac_help(d, x, "choose a chip that has it, for example --target ascend910b2");
    return NULL;
  }
  ac_program *p = c.p = AC_NEW(a, ac_program);
  p->op = o->op;
  p->op_type = o->op_type;
  p->chip = o->chip;
  for (size_t i = 0; i < AC_COUNT(passes); i++) {
    if (!passes[i].run(&c)) return NULL;
    bool dump = o->dump && o->dump_after && (!strcmp(o->dump_after, "all") || !strcmp(o->dump_after, passes[i].name));
    if (dump) fprintf(o->dump, "==== after %s: %s\n%s", passes[i].name, passes[i].what, ac_air_text(a, p));
    const char *broken = ac_program_check(a, p, passes[i].name);
    if (broken) {
      ac_error(d, AC0600, AC_NOLOC, "after pass %s: %s", passes[i].name, broken);
      return NULL;
    }
  }
  for (size_t i = 0; i < p->kernels.len; i++)
    if (!few_buffers(&c, p->kernels.data[i])) return NULL;
  if (o->dump && o->dump_after && !strcmp(o->dump_after, "memory")) fputs(ac_air_memory(a, p), o->dump);
  return p;
}
