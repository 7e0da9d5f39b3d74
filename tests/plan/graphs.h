/* Graphs that the tests of plan build by hand, without a frontend. */
#ifndef PLAN_TEST_GRAPHS_H
#define PLAN_TEST_GRAPHS_H

#include "plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
  ac_arena *a;
  ac_diags d;
  ac_graph *g;
  const ac_chip *chip;
  ac_cmodule *m; /* planned and checked, once */
} world;

static inline ac_loc line(int n) {
  return (ac_loc){.file = "model.py", .line = n};
}

static inline world *world_new(const char *name) {
  ac_arena *a = ac_arena_new();
  world *w = AC_NEW(a, world);
  w->a = a;
  ac_diags_init(&w->d, a);
  w->g = ac_graph_new(a, &w->d);
  w->g->name = name;
  w->chip = ac_chip_load(a, "ascend910b2", &w->d);
  assert_non_null(w->chip);
  return w;
}
static inline void world_free(world *w) {
  ac_arena_free(w->a);
}

static inline ac_value *tensor(world *w, const char *name, ac_dtype d, int rank, const int64_t *dims) {
  return ac_graph_input(w->g, name, AC_IN_TENSOR, d, rank, dims, NULL);
}
#define DIMS(...) \
  (int64_t[]) {   \
    __VA_ARGS__   \
  }

static inline ac_arg at(ac_value *v) {
  return (ac_arg){.kind = AC_K_TENSOR, .t = v};
}
static inline ac_arg anum(double f) {
  return (ac_arg){.kind = AC_K_SCALAR, .f = f};
}
static inline ac_arg aint(world *w, int64_t i) {
  return (ac_arg){.kind = AC_K_INT, .i = ac_sym_int(w->g, i)};
}
static inline ac_arg astr(const char *s) {
  return (ac_arg){.kind = AC_K_STR, .s = s};
}

static inline ac_value *apply(world *w, ac_op op, int n, const ac_arg *args) {
  int n_out = 0;
  ac_value **v = ac_graph_apply(w->g, op, args, n, line(10 + (int)w->g->nodes.len), &n_out);
  if (!v) ac_diags_print(&w->d, stderr, false);
  assert_non_null(v);
  return v ? v[0] : NULL;
}
#define APPLY(w, op, ...) \
  apply(w, op, (int)(sizeof((ac_arg[]){__VA_ARGS__}) / sizeof(ac_arg)), (ac_arg[]){__VA_ARGS__})
static inline ac_value *un(world *w, ac_op op, ac_value *x) {
  return APPLY(w, op, at(x));
}
static inline ac_value *bin(world *w, ac_op op, ac_value *x, ac_value *y) {
  return APPLY(w, op, at(x), at(y));
}
static inline ac_value *c(world *w, double v) {
  return ac_graph_number(w->g, v);
}
static inline void out(world *w, const char *name, ac_value *v) {
  ac_graph_output(w->g, name, v, -1);
}

/* Planned for integers only. */
static inline bool integers_only(ac_op op) {
  return op == AC_G_FLOOR_DIVIDE || op == AC_G_REMAINDER || op == AC_G_FMOD || op == AC_G_LSHIFT || op == AC_G_RSHIFT;
}

/* ---- the examples: category/name -> graph ---- */

static inline world *ex_relu(void) {
  world *w = world_new("relu");
  out(w, "y", un(w, AC_G_RELU, tensor(w, "x", AC_F32, 2, DIMS(16, 16384))));
  return w;
}
static inline world *ex_gelu(void) {
  world *w = world_new("gelu");
  out(w, "y", un(w, AC_G_GELU, tensor(w, "x", AC_F16, 2, DIMS(16, 16384))));
  return w;
}
static inline world *ex_softplus(void) {
  world *w = world_new("softplus");
  out(w, "y", un(w, AC_G_SOFTPLUS, tensor(w, "x", AC_BF16, 2, DIMS(16, 16384))));
  return w;
}
static inline world *ex_softmax(void) {
  world *w = world_new("softmax");
  out(w, "y", APPLY(w, AC_G_SOFTMAX, at(tensor(w, "x", AC_F32, 2, DIMS(16, 16384))), aint(w, -1)));
  return w;
}
static inline world *ex_log_softmax(void) {
  world *w = world_new("log_softmax");
  out(w, "y", APPLY(w, AC_G_LOG_SOFTMAX, at(tensor(w, "x", AC_F16, 3, DIMS(4, 100, 30))), aint(w, 1)));
  return w;
}
/* One step of Adam: four inputs, three outputs. */
static inline world *ex_adam(void) {
  world *w = world_new("adam");
  int64_t dims[] = {1000, 64};
  ac_value *p = tensor(w, "param", AC_F32, 2, dims), *g = tensor(w, "grad", AC_F32, 2, dims);
  ac_value *m = tensor(w, "m", AC_F32, 2, dims), *v = tensor(w, "v", AC_F32, 2, dims);
  ac_value *m1 = bin(w, AC_G_ADD, bin(w, AC_G_MUL, m, c(w, 0.9)), bin(w, AC_G_MUL, g, c(w, 0.1)));
  ac_value *gg = bin(w, AC_G_MUL, bin(w, AC_G_MUL, g, g), c(w, 0.001));
  ac_value *v1 = bin(w, AC_G_ADD, bin(w, AC_G_MUL, v, c(w, 0.999)), gg);
  ac_value *den = bin(w, AC_G_ADD, un(w, AC_G_SQRT, v1), c(w, 1e-8));
  ac_value *p1 = bin(w, AC_G_SUB, p, bin(w, AC_G_MUL, bin(w, AC_G_DIV, m1, den), c(w, 0.001)));
  out(w, "new_param", p1);
  out(w, "new_m", m1);
  out(w, "new_v", v1);
  return w;
}
/* silu(x * scale + bias) with a row vector and a value a row. */
static inline world *ex_broadcast(void) {
  world *w = world_new("scaled_silu");
  ac_value *x = tensor(w, "x", AC_F32, 2, DIMS(7, 1003)), *s = tensor(w, "scale", AC_F32, 2, DIMS(7, 1));
  ac_value *b = tensor(w, "bias", AC_F32, 1, DIMS(1003));
  out(w, "y", un(w, AC_G_SILU, bin(w, AC_G_ADD, bin(w, AC_G_MUL, x, s), b)));
  return w;
}
/* (x + channel bias) with a middle group: N C H W and 1 C 1 1. */
static inline world *ex_channel(void) {
  world *w = world_new("channel_bias");
  ac_value *x = tensor(w, "x", AC_F32, 4, DIMS(8, 16, 28, 30)), *b = tensor(w, "bias", AC_F32, 4, DIMS(1, 16, 1, 1));
  out(w, "y", bin(w, AC_G_ADD, x, b));
  return w;
}

static const struct {
  const char *file;
  world *(*make)(void);
} examples[] = {
    {"activation/relu", ex_relu},
    {"activation/gelu", ex_gelu},
    {"activation/softplus", ex_softplus},
    {"activation/softmax", ex_softmax},
    {"activation/log_softmax", ex_log_softmax},
    {"optimizer/adam", ex_adam},
    {"broadcast/scaled_silu", ex_broadcast},
    {"broadcast/channel_bias", ex_channel},
};

#endif
