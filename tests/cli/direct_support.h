/* Both ways into the simulator, side by side: one lowered program, emitted and compiled, and interpreted. */
#ifndef DIRECT_SUPPORT_H
#define DIRECT_SUPPORT_H

#include "ascendcraft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
  ac_arena *a;
  ac_diags d;
  const char *dir; /* of emitted projects */
  int projects, runs, refused, faulty;
} bench;

static inline void bench_open(bench *b) {
  memset(b, 0, sizeof *b);
  b->a = ac_arena_new();
  ac_diags_init(&b->d, b->a);
  b->dir = ac_temp_dir(b->a, &b->d);
  assert_non_null(b->dir);
  if (!getenv("AC_DIRECT_CACHE")) setenv("XDG_CACHE_HOME", b->dir, 1);
}
static inline void bench_close(bench *b) {
  ac_remove_tree(b->dir);
  ac_arena_free(b->a);
}

/* Of a file's tests: made anew for each. */
static bench b;
static inline int setup(void **s) {
  (void)s;
  bench_open(&b);
  return 0;
}
static inline int teardown(void **s) {
  (void)s;
  bench_close(&b);
  return 0;
}

/* A program as far as the lowering; `name` for messages. */
static inline ac_program *lowered(bench *b, const char *name, const char *text) {
  const ac_chip *chip = ac_chip_load(b->a, "ascend910b2", &b->d);
  ac_diags_source(&b->d, name, text);
  ac_cmodule *m = ac_craft_parse(b->a, name, text, &b->d);
  ac_program *p = NULL;
  if (m && ac_craft_check(b->a, m, &(ac_craft_check_opts){.chip = chip}, &b->d))
    p = ac_lower(b->a, m, &(ac_lower_opts){.op = "both_custom", .op_type = "BothCustom", .chip = chip}, &b->d);
  if (p) return p;
  ac_diags_print(&b->d, stderr, false);
  fail_msg("%s is no program:\n%s", name, text);
  return NULL;
}

/* Emitted as a project of that form and compiled. */
static inline ac_sim_lib *compiled_as(bench *b, ac_sim_form form, const ac_program *p, const ac_graph *g) {
  ac_project files = {0};
  char *dir = ac_sprintf(b->a, "%s/p%d", b->dir, b->projects++);
  ac_emit_opts o = {.formats = 1u << (form == AC_SIM_DIRECT ? AC_FMT_DIRECT : AC_FMT_MSOPGEN),
                    .graph = g,
                    .craft_text = "",
                    .command = "test"};
  bool ok = ac_emit(b->a, p, &o, &files, &b->d);
  for (size_t i = 0; ok && i < files.files.len; i++) {
    const ac_file *f = &files.files.data[i];
    char *path = ac_path_join(b->a, dir, f->path), *slash = strrchr(path, '/');
    ok = ac_mkdirs(ac_strndup(b->a, path, (size_t)(slash - path)), &b->d) &&
         ac_write_file(path, f->text, f->len, &b->d);
  }
  if (!ok) ac_diags_print(&b->d, stderr, false);
  ac_sim_spec s = {.form = AC_SIM_MSOPGEN,
                   .op = p->op,
                   .op_type = p->op_type,
                   .kernel_src = ac_sprintf(b->a, "%s/msopgen/op_kernel/%s.cpp", dir, p->op),
                   .host_src = ac_sprintf(b->a, "%s/msopgen/op_host/%s.cpp", dir, p->op),
                   .chip = p->chip};
  if (form == AC_SIM_DIRECT) {
    s.form = form;
    s.kernel_src = ac_sprintf(b->a, "%s/direct/%s_kernel.cpp", dir, p->op);
    s.host_src = NULL;
  }
  ac_sim_lib *l = ac_sim_build(b->a, &s, &b->d);
  if (!l) ac_diags_print(&b->d, stderr, false);
  assert_non_null(l);
  return l;
}
static inline ac_sim_lib *compiled(bench *b, const ac_program *p, const ac_graph *g) {
  return compiled_as(b, AC_SIM_MSOPGEN, p, g);
}

typedef struct {
  ac_sim_tensor t[16];
  int n;
  ac_sim_attr attrs[16];
  int n_attrs;
} args;

static inline void add_tensor(args *x, const char *name, ac_dtype d, const ac_shape *s, bool output) {
  ac_sim_tensor *t = &x->t[x->n++];
  *t = (ac_sim_tensor){.name = name, .dtype = d, .rank = s->rank, .output = output};
  memcpy(t->shape, s->dim, sizeof(int64_t) * (size_t)s->rank);
  t->bytes = ac_shape_numel(s) * ac_dtypes[d].bytes;
  t->data = ac_sim_alloc(t->bytes);
  assert_non_null(t->data);
}
static inline void fill_tensor(ac_sim_tensor *t, ac_values kind, uint64_t seed) {
  int64_t n = t->bytes / ac_dtypes[t->dtype].bytes, inner = t->rank ? t->shape[t->rank - 1] : 1;
  if (ac_values_fill(kind, t->dtype, seed, inner, t->data, n)) return;
  for (int64_t i = 0; i < n; i++) ac_store_int(t->dtype, t->data, i, (int64_t)((uint64_t)i * 7 + seed) % 23 - 11);
}
/* What a module takes, at its example sizes. */
static inline void graph_args(const ac_graph *g, ac_values kind, args *x) {
  memset(x, 0, sizeof *x);
  for (size_t i = 0; i < g->inputs.len; i++) {
    const ac_input *in = &g->inputs.data[i];
    ac_shape s = ac_value_example(in->value);
    if (in->role == AC_IN_SCALAR) {
      bool fl = ac_dtypes[in->value->dtype].cls == AC_FLOATING;
      x->attrs[x->n_attrs++] = (ac_sim_attr){
          .name = in->name, .kind = fl ? AC_ATTR_F : AC_ATTR_I, .f = in->scalar, .i = (int64_t)in->scalar};
      continue;
    }
    add_tensor(x, in->name, in->value->dtype, &s, false);
    if (kind == AC_VALUES_OWN)
      assert_true(ac_gen_input(g, (int)i, 1, x->t[x->n - 1].data, &b.d));
    else
      fill_tensor(&x->t[x->n - 1], kind, i + 1);
  }
  for (size_t i = 0; i < g->outputs.len; i++) {
    ac_shape s = ac_value_example(g->outputs.data[i].value);
    add_tensor(x, g->outputs.data[i].name, g->outputs.data[i].value->dtype, &s, true);
  }
}
static inline void free_args(args *x) {
  for (int i = 0; i < x->n; i++) ac_sim_dealloc(x->t[i].data, x->t[i].bytes);
}
/* Every run starts from the same bytes at the same addresses: a stray access hits the same neighbour. What an in-place tensor holds
 * at the start is in `before`. */
static inline void reset(const args *x, uint8_t *const *before) {
  for (int i = 0; i < x->n; i++) {
    if (!x->t[i].output) continue;
    if (x->t[i].also_input)
      memcpy(x->t[i].data, before[i], (size_t)x->t[i].bytes);
    else
      memset(x->t[i].data, 0xa5, (size_t)x->t[i].bytes);
  }
}
static inline uint8_t **copies_of(bench *b, const args *x) {
  uint8_t **all = AC_NEW_N(b->a, uint8_t *, x->n + 1);
  for (int i = 0; i < x->n; i++) {
    if (!x->t[i].output) continue;
    all[i] = malloc((size_t)x->t[i].bytes + 1);
    assert_non_null(all[i]);
    memcpy(all[i], x->t[i].data, (size_t)x->t[i].bytes);
  }
  return all;
}
static inline void free_copies(const args *x, uint8_t **all) {
  for (int i = 0; i < x->n; i++) free(all[i]);
}

/* `what` may go on with the program's text, for which the test's own message has no room. */
AC_PRINTF(2, 3) static inline void failed(const char *what, const char *fmt, ...) {
  char text[600];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  fprintf(stderr, "%s\n%s\n", what, text);
  fail_msg("%.*s: %s", (int)strcspn(what, "\n"), what, text);
}

/* Faults of one kind, over all places: the emitted helpers give several DSL lines one place, and one line may become several. */
static inline int64_t of_kind(const ac_sim_result *r, const char *kind) {
  int64_t n = 0;
  for (size_t i = 0; i < r->faults.len; i++)
    if (!strcmp(r->faults.data[i].kind, kind)) n += r->faults.data[i].count;
  return n;
}
static inline void same_faults(const char *what, const ac_sim_result *c, const ac_sim_result *d) {
  const ac_sim_result *both[] = {c, d};
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < both[k]->faults.len; i++) {
      const ac_sim_fault *f = &both[k]->faults.data[i];
      if (of_kind(c, f->kind) != of_kind(d, f->kind))
        failed(what, "%s: %lld compiled, %lld direct; %s (%s:%d)", f->kind, (long long)of_kind(c, f->kind),
               (long long)of_kind(d, f->kind), f->message, f->file ? f->file : "?", f->line);
    }
}

static inline bool same_core(const ac_sim_core_time *c, const ac_sim_core_time *d) {
  bool same = c->cycles == d->cycles && c->blocks == d->blocks;
  for (int p = 0; p < AC_PIPE_COUNT; p++) same = same && c->busy[p] == d->busy[p];
  return same;
}

/* Modelled time: every figure but the places of stalls, which are lines of different sources. Of very many places (AC_RUN_STALLS in
 * sim/run_internal.h) a child reports the longest only, and then the sums are not those of all. */
static inline void same_time(const char *what, const ac_sim_time *c, const ac_sim_time *d) {
  enum { PLACES = 64 };
  double stood[2][AC_PIPE_COUNT] = {{0}};
  const ac_sim_time *both[] = {c, d};
  bool cut = c->stalls.len >= PLACES || d->stalls.len >= PLACES;
  for (int k = 0; k < 2 && !cut; k++)
    for (size_t i = 0; i < both[k]->stalls.len; i++)
      stood[k][both[k]->stalls.data[i].pipe] += both[k]->stalls.data[i].cycles;
  if (c->modelled != d->modelled || c->us != d->us || c->cycles != d->cycles || c->core_cycles != d->core_cycles ||
      c->launches != d->launches || c->cores.len != d->cores.len)
    failed(what, "modelled time: %f us, %f cycles compiled, %f us, %f cycles direct", c->us, c->cycles, d->us,
           d->cycles);
  if (c->bytes_in != d->bytes_in || c->bytes_out != d->bytes_out || c->must_in != d->must_in ||
      c->must_out != d->must_out || c->hbm_bytes != d->hbm_bytes)
    failed(what, "bytes in %lld %lld, out %lld %lld, of memory %lld %lld", (long long)c->bytes_in,
           (long long)d->bytes_in, (long long)c->bytes_out, (long long)d->bytes_out, (long long)c->hbm_bytes,
           (long long)d->hbm_bytes);
  for (size_t i = 0; i < c->cores.len; i++)
    if (!same_core(&c->cores.data[i], &d->cores.data[i]))
      failed(what, "core %zu: %f cycles compiled, %f direct", i, c->cores.data[i].cycles, d->cores.data[i].cycles);
  for (int p = 0; p < AC_PIPE_COUNT; p++)
    if (stood[0][p] != stood[1][p])
      failed(what, "unit %d stands %f cycles compiled, %f direct", p, stood[0][p], stood[1][p]);
}

static inline void same_results(const char *what, const args *x, const ac_sim_result *c, uint8_t *const *compiled,
                                const ac_sim_result *d, uint8_t *const *direct) {
  if (c->refused || d->refused) {
    if (!c->refused || !d->refused || strcmp(c->refused, d->refused) != 0)
      failed(what, "refused with '%s' compiled, '%s' direct", c->refused, d->refused);
    return;
  }
  same_faults(what, c, d);
  if (c->block_dim != d->block_dim || c->tiling_key != d->tiling_key || c->ub_peak != d->ub_peak ||
      c->workspace != d->workspace || c->tiling_bytes != d->tiling_bytes)
    failed(what, "blocks %lld %lld, key %lld %lld, UB %lld %lld, workspace %lld %lld, tiling %lld %lld",
           (long long)c->block_dim, (long long)d->block_dim, (long long)c->tiling_key, (long long)d->tiling_key,
           (long long)c->ub_peak, (long long)d->ub_peak, (long long)c->workspace, (long long)d->workspace,
           (long long)c->tiling_bytes, (long long)d->tiling_bytes);
  same_time(what, &c->time, &d->time);
  for (int i = 0; i < x->n; i++) {
    const uint8_t *p = compiled[i], *q = direct[i];
    if (!x->t[i].output || !memcmp(p, q, (size_t)x->t[i].bytes)) continue;
    int64_t at = 0;
    while (p[at] == q[at]) at++;
    failed(what, "%s differs first at byte %lld of %lld", x->t[i].name, (long long)at, (long long)x->t[i].bytes);
  }
}

/* Three runs: compiled, direct in a child, direct in this process. What a faulty kernel reads of memory that it never wrote is what
 * earlier blocks left there: one thread, where that can happen. */
static inline void run_both(bench *b, const char *what, const ac_program *p, const ac_sim_lib *l, args *x,
                            ac_block_order order, int threads) {
  static const char *const ways[] = {"", "direct in a child: ", "direct in process: "};
  ac_sim_result r[3];
  uint8_t **before = copies_of(b, x), **after[3];
  for (int w = 0; w < 3; w++) {
    ac_sim_opts o = {.order = order, .threads = threads, .in_process = w == 2};
    reset(x, before);
    bool ok = w ? ac_sim_run_program(b->a, p, p->chip, x->t, x->n, x->attrs, x->n_attrs, &o, &r[w], &b->d)
                : ac_sim_run(b->a, l, x->t, x->n, x->attrs, x->n_attrs, &o, &r[w], &b->d);
    if (!ok) ac_diags_print(&b->d, stderr, false);
    if (!ok) failed(what, "%scould not be run", ways[w]);
    after[w] = copies_of(b, x);
    if (w) same_results(ac_sprintf(b->a, "%s%s", ways[w], what), x, &r[0], after[0], &r[w], after[w]);
  }
  for (size_t i = 0; i < r[1].faults.len && getenv("AC_DIRECT_SHOW"); i++)
    fprintf(stderr, "%.*s: line %d: %s: %s\n", (int)strcspn(what, "\n"), what, r[1].faults.data[i].line,
            r[1].faults.data[i].kind, r[1].faults.data[i].message);
  b->runs++;
  b->refused += r[0].refused != NULL;
  b->faulty += r[0].faults.len > 0;
  free_copies(x, before);
  for (int w = 0; w < 3; w++) free_copies(x, after[w]);
}

#endif
