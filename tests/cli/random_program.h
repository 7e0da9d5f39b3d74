/* Random programs over the whole language, from a sequence of choices: the same sequence gives the same program, and a shorter or smaller one a
 * smaller program, which is how failures are shrunk. Choice 0 is always the simplest.
 *
 * Which primitives there are, for which dtypes, is not written here: every row of insts.def and prims.def is tried in a small program
 * (random_ops), and what the checker and the lowering take is drawn from. A new row is drawn as soon as it is there. */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include "plainc_support.h"

/* ---- choices ---- */

typedef struct {
  AC_VEC(uint32_t) made;  /* what was drawn, in order */
  const uint32_t *replay; /* NULL: from the generator */
  size_t n;
  uint64_t state;
  ac_arena *a;
} choices;

static inline uint32_t draw(choices *c, uint32_t below) {
  uint32_t v = 0;
  if (c->replay) {
    if (c->made.len < c->n) v = c->replay[c->made.len];
  } else {
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    v = (uint32_t)(c->state >> 33);
  }
  v = below > 1 ? v % below : 0;
  ac_push(c->a, &c->made, v);
  return v;
}

/* ---- primitives, as they are found ---- */

typedef struct {
  const char *name;
  const char *
      kinds; /* operands after the destination: 'B' a buffer of `src`, 'X' a scalar, 'M' a rounding mode is left to the default */
  ac_dtype dst, src;
  bool in_place; /* dst may be a source */
  bool reads_dst;
  bool scan;        /* of several dimensions it wants an axis */
  const char *more; /* further arguments, ", mode=..." */
  bool inexact;     /* not correctly rounded: the two sides may differ in the last place */
} random_op;
typedef AC_VEC(random_op) random_ops;

/* A primitive by its signature, "dst:B src:B scalar:X count:I?": the kinds of its sources, or NULL where an operand is of another kind. */
static inline const char *kinds_of(ac_arena *a, const char *sig) {
  ac_buf b;
  ac_buf_init(&b, a);
  bool dst = true;
  for (const char *p = sig; *p;) {
    size_t name = strcspn(p, ":"), word = strcspn(p, " ");
    if (name >= word) return NULL;
    const char *kind = p + name + 1;
    /* what these hold is not anything */
    if (!strncmp(p, "index:", 6) || !strncmp(p, "dst_index:", 10) || !strncmp(p, "mask:", 5)) return NULL;
    bool optional = p[word - 1] == '?';
    if (!optional) {
      if ((kind[0] != 'B' && kind[0] != 'X') || (word - name != 2) || (dst && kind[0] != 'B')) return NULL;
      if (!dst) ac_printf(&b, "%c", kind[0]);
      dst = false;
    }
    p += word;
    while (*p == ' ') p++;
  }
  return dst ? NULL : ac_strdup(a, ac_buf_str(&b));
}

static const char *const form_sigs[] = {[AC_FORM_UNARY] = "dst:B src:B",
                                        [AC_FORM_BINARY] = "dst:B a:B b:B",
                                        [AC_FORM_SCALAR] = "dst:B src:B scalar:X",
                                        [AC_FORM_FMA_SCALAR] = "dst:B src:B scalar:X",
                                        [AC_FORM_FILL] = "dst:B scalar:X",
                                        [AC_FORM_CAST] = "dst:B src:B",
                                        [AC_FORM_COPY] = "dst:B src:B"};

static inline bool floats(ac_dtype d) {
  return ac_dtypes[d].cls == AC_FLOATING;
}

/* Does the call stand in a program that the checker and the lowering take? */
static inline bool op_works(ac_arena *a, random_op *o, bool in_place) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(
      &b,
      "@ascend_kernel\ndef k(x: tl.tensor[tl.%s], z: tl.tensor[tl.%s], y: tl.tensor[tl.%s]):\n"
      "    a = tl.alloc_ub(64, tl.%s)\n    d = tl.alloc_ub(64, tl.%s)\n"
      "    with tl.copyin():\n        tl.load(x + tl.arange(0, 64), a)\n        tl.load(z + tl.arange(0, 64), d)\n"
      "    with tl.compute():\n        tl.%s(d",
      ac_dtypes[o->src].name, ac_dtypes[o->dst].name, ac_dtypes[o->dst].name, ac_dtypes[o->src].name,
      ac_dtypes[o->dst].name, o->name);
  for (const char *k = o->kinds; *k; k++)
    ac_printf(&b, ", %s", *k == 'B' ? (in_place ? "d" : "a") : floats(o->dst) ? "1.5" : "2");
  ac_printf(&b,
            "%s)\n    with tl.copyout():\n        tl.store(y + tl.arange(0, 64), d)\n\n\n"
            "def h(x: tl.tensor[tl.%s], z: tl.tensor[tl.%s], y: tl.tensor[tl.%s]):\n    k[1](x, z, y)\n",
            o->more, ac_dtypes[o->src].name, ac_dtypes[o->dst].name, ac_dtypes[o->dst].name);
  ac_diags d;
  ac_diags_init(&d, a);
  plain_program x = {.name = "probe", .text = ac_buf_str(&b)};
  if (!plain_lower(a, &x, 0, &d)) return false;
  for (size_t m = 0; m < x.p->kernels.data[0]->methods.len; m++)
    o->inexact |= inexact_block(&x.p->kernels.data[0]->methods.data[m].body);
  return true;
}

static inline void try_op(ac_arena *a, random_ops *all, const char *name, const char *sig, bool reads_dst) {
  static const ac_dtype dtypes[] = {AC_F32, AC_F16, AC_BF16, AC_I32, AC_I16, AC_U16, AC_U32, AC_I8, AC_U8, AC_I64};
  static const char *const modes[] = {"",
                                      ", mode=\"rint\"",
                                      ", mode=\"floor\"",
                                      ", mode=\"ceil\"",
                                      ", mode=\"round\"",
                                      ", mode=\"trunc\"",
                                      ", mode=\"odd\"",
                                      ", mode=\"none\""},
                           *const ways[] = {"", ", reverse=True", ", exclusive=True",
                                            ", reverse=True, exclusive=True"};
  const char *kinds = kinds_of(a, sig);
  bool cast = !strcmp(name, "cast"), scan = strstr(sig, "exclusive:") != NULL;
  if (!kinds) return;
  size_t n = cast ? AC_COUNT(modes) : scan ? AC_COUNT(ways) : 1;
  for (size_t i = 0; i < AC_COUNT(dtypes); i++)
    for (size_t k = 0; k < AC_COUNT(dtypes) * n; k++) {
      ac_dtype src = dtypes[k / n];
      if (!cast && src != dtypes[i]) continue;
      ac_arena *probe = ac_arena_new();
      random_op o = {name, kinds, dtypes[i], src, false, reads_dst, scan, scan ? ways[k % n] : modes[k % n], false};
      if (op_works(probe, &o, false)) {
        o.in_place = dtypes[i] == src && strchr(kinds, 'B') && op_works(probe, &o, true);
        ac_push(a, all, o);
      }
      ac_arena_free(probe);
    }
}

/* `left_out` gets the names whose operands the generator has no way to draw; compares, masks, and what goes along axes or
 * by index are drawn by hand (random_features.h). */
static inline random_ops find_ops(ac_arena *a, ac_strvec *left_out) {
  static const struct {
    const char *name, *sig, *where;
  } prims[] = {
#define P(id, name, sig, where) {name, sig, where},
#include "craft/prims.def"
#undef P
  };
  random_ops all = {0};
  for (int i = 0; i < AC_INST_COUNT; i++) {
    size_t f = (size_t)ac_insts[i].form, before = all.len;
    if (!ac_insts[i].dsl) continue;
    if (f < AC_COUNT(form_sigs) && form_sigs[f])
      try_op(a, &all, ac_insts[i].dsl, form_sigs[f], ac_insts[i].flags & AC_INST_DST_IN);
    if (all.len == before) ac_push(a, left_out, ac_insts[i].dsl);
  }
  for (size_t i = 0; i < AC_COUNT(prims); i++) {
    size_t before = all.len;
    if (strcmp(prims[i].where, "c") != 0) continue;
    try_op(a, &all, prims[i].name, prims[i].sig, false);
    if (all.len == before) ac_push(a, left_out, prims[i].name);
  }
  return all;
}

/* ---- a program being made ---- */

enum { MOST_BUFFERS = 10, MOST_SCALARS = 12 };
typedef struct {
  char name[8];
  ac_dtype dtype;
  bool valid; /* holds `count` elements at this place */
} rbuffer;
typedef struct {
  choices *c;
  const random_ops *ops;
  ac_arena *a;
  ac_buf body;          /* of the kernel, behind the declarations */
  bool inexact, viewed; /* the bits of a number are only looked at where they are certain */
  ac_buf views;         /* declarations of views of buffers */
  rbuffer buf[MOST_BUFFERS];
  int n;
  bool mask, mask2, bytes, work, index;                                      /* buffers of these names are used */
  bool top[AC_DTYPE_COUNT], turned[AC_DTYPE_COUNT], side[3][AC_DTYPE_COUNT]; /* and of these, of a dtype */
  bool order;                                                                /* rows by index */
  int axes;                                                                  /* dimensions of the buffers */
  ac_dtype between;  /* what the first kernel of two leaves for the second */
  const char *box;   /* what is valid of them, if more than one */
  int ints, fls;     /* scalars i0.., f0.. that are set where the text stands */
  const char *count; /* elements of every valid buffer */
  bool slices;       /* buffers have one dimension */
  int depth, names;
} rprogram;

static inline void put(rprogram *g, int indent, const char *fmt, ...) AC_PRINTF(3, 4);
static inline void put(rprogram *g, int indent, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ac_printf(&g->body, "%*s%s\n", indent * 4, "", ac_vsprintf(g->a, fmt, ap));
  va_end(ap);
}

static inline int new_buffer(rprogram *g, ac_dtype d) {
  if (g->n == MOST_BUFFERS) return -1;
  rbuffer *b = &g->buf[g->n];
  snprintf(b->name, sizeof b->name, "v%d", g->n);
  b->dtype = d;
  b->valid = false;
  return g->n++;
}
/* A valid buffer of the dtype, or -1. */
static inline int any_valid(rprogram *g, ac_dtype d) {
  int found[MOST_BUFFERS], n = 0;
  for (int i = 0; i < g->n; i++)
    if (g->buf[i].valid && (d == AC_NODTYPE || g->buf[i].dtype == d)) found[n++] = i;
  return n ? found[draw(g->c, (uint32_t)n)] : -1;
}
/* A place for a result: a buffer of the dtype that is not `a` or `b`, valid already where `valid`. */
static inline int result_buffer(rprogram *g, ac_dtype d, int a, int b, bool valid) {
  int found[MOST_BUFFERS], n = 0;
  for (int i = 0; i < g->n; i++)
    if (g->buf[i].dtype == d && i != a && i != b && (!valid || g->buf[i].valid)) found[n++] = i;
  if (valid) return n ? found[draw(g->c, (uint32_t)n)] : -1;
  uint32_t k = draw(g->c, (uint32_t)n + 1);
  return k < (uint32_t)n ? found[k] : new_buffer(g, d);
}

static inline const char *scalar_of(rprogram *g, ac_dtype d) {
  static const char *const fl[] = {"0.5", "1.0", "-1.25", "3.0", "1e-3", "-0.0", "float(\"inf\")", "100.0"};
  static const char *const in[] = {"2", "1", "0", "7", "-3", "11", "100"};
  if (floats(d)) {
    uint32_t k = draw(g->c, (uint32_t)(AC_COUNT(fl) + (size_t)g->fls));
    return k < AC_COUNT(fl) ? fl[k] : ac_sprintf(g->a, "f%d", (int)(k - AC_COUNT(fl)));
  }
  bool sign = ac_dtypes[d].cls == AC_SIGNED;
  uint32_t k = draw(g->c, (uint32_t)(AC_COUNT(in) + (size_t)(sign && ac_dtypes[d].bytes >= 4 ? g->ints : 0)));
  if (k >= AC_COUNT(in)) return ac_sprintf(g->a, "i%d", (int)(k - AC_COUNT(in)));
  return k == 4 && !sign ? "3" : in[k];
}

static inline const char *count_arg(rprogram *g) {
  return draw(g->c, 3) == 1 ? ac_sprintf(g->a, ", count=%s", g->count) : "";
}

/* One primitive over valid buffers. `keep`: the result goes where something valid is already (both sides of a branch agree then). */
static inline bool one_op(rprogram *g, int indent, bool keep) {
  size_t n = g->ops->len;
  uint32_t from = draw(g->c, (uint32_t)n);
  for (size_t i = 0; i < n; i++) { /* the next one that fits */
    const random_op *o = &g->ops->data[(from + i) % n];
    bool sources = strchr(o->kinds, 'B') != NULL;
    int have = 0;
    for (int k = 0; k < g->n; k++) have += g->buf[k].valid && g->buf[k].dtype == o->src;
    if ((sources && !have) || (o->scan && g->axes > 1) || (o->inexact && g->viewed)) continue;
    if (!sources && (keep || !g->slices)) continue;
    int a = -1, b = -1, d;
    if (o->kinds[0] == 'B') a = any_valid(g, o->src);
    if (o->kinds[0] && o->kinds[1] == 'B') b = any_valid(g, o->src);
    if (o->reads_dst)
      d = result_buffer(g, o->dst, a, b, true);
    else if (o->in_place && draw(g->c, 3) == 1)
      d = a;
    else
      d = result_buffer(g, o->dst, a, b, keep);
    if (d < 0 && o->in_place) d = a;
    if (d < 0) continue;
    ac_buf t;
    ac_buf_init(&t, g->a);
    for (const char *k = o->kinds; *k; k++)
      ac_printf(&t, ", %s", *k == 'B' ? g->buf[k == o->kinds ? a : b < 0 ? a : b].name : scalar_of(g, o->dst));
    put(g, indent, "tl.%s(%s%s%s%s)", o->name, g->buf[d].name, ac_buf_str(&t), o->more,
        sources ? count_arg(g) : ac_sprintf(g->a, ", count=%s", g->count));
    g->buf[d].valid = true;
    g->inexact |= o->inexact;
    return true;
  }
  return false;
}

static const char *const compare_modes[] = {"lt", "gt", "eq", "le", "ge", "ne"};

static inline bool compare_and_select(rprogram *g, int indent, bool keep) {
  int a = any_valid(g, draw(g->c, 3) == 1 ? AC_F16 : AC_F32);
  if (a < 0 || !g->slices) return false;
  ac_dtype d = g->buf[a].dtype;
  int b = any_valid(g, d), x = any_valid(g, d), y = any_valid(g, d), to = result_buffer(g, d, -1, -1, keep);
  if (to < 0) to = a;
  g->mask = true;
  const char *mode = compare_modes[draw(g->c, 6)];
  if (draw(g->c, 2))
    put(g, indent, "tl.vcompare_scalar(mask, %s, %s, \"%s\")", g->buf[a].name, scalar_of(g, d), mode);
  else
    put(g, indent, "tl.vcompare(mask, %s, %s, \"%s\")", g->buf[a].name, g->buf[b].name, mode);
  if (draw(g->c, 2))
    put(g, indent, "tl.vselect_scalar(%s, mask, %s, %s)", g->buf[to].name, g->buf[x].name, scalar_of(g, d));
  else
    put(g, indent, "tl.vselect(%s, mask, %s, %s)", g->buf[to].name, g->buf[x].name, g->buf[y].name);
  g->buf[to].valid = true;
  return true;
}

/* A scalar out of a buffer, or of the whole of one. */
static inline bool to_scalar(rprogram *g, int indent) {
  static const char *const reductions[] = {"reduce_sum", "reduce_max", "reduce_min"};
  int a = any_valid(g, draw(g->c, 2) ? AC_NODTYPE : AC_F32);
  if (a < 0 || g->depth || !g->slices) return false;
  ac_dtype d = g->buf[a].dtype;
  if (d == AC_F32 && draw(g->c, 2)) {
    if (g->fls >= MOST_SCALARS) return false;
    g->work = true;
    put(g, indent, "tl.%s(red, %s, work, count=%s)", reductions[draw(g->c, 3)], g->buf[a].name, g->count);
    put(g, indent, "f%d = tl.extract_scalar(red, 0)", g->fls++);
  } else if (floats(d)) {
    if (g->fls >= MOST_SCALARS) return false;
    put(g, indent, "f%d = tl.extract_scalar(%s, 0)", g->fls++, g->buf[a].name);
  } else {
    if (g->ints >= MOST_SCALARS || ac_dtypes[d].bytes > 4) return false;
    put(g, indent, "i%d = tl.extract_scalar(%s, 0)", g->ints++, g->buf[a].name);
  }
  return true;
}

/* Part of a buffer, from a 32-byte boundary. */
static inline bool part(rprogram *g, int indent) {
  int a = any_valid(g, AC_NODTYPE);
  if (a < 0 || !g->slices || g->depth) return false;
  ac_dtype d = g->buf[a].dtype;
  for (size_t i = 0; i < g->ops->len; i++) {
    const random_op *o = &g->ops->data[(i + draw(g->c, 8)) % g->ops->len];
    if (*o->more || o->dst != d || o->src != d || !o->in_place || strcmp(o->kinds, "B") != 0) continue;
    put(g, indent, "if %s >= 128:", g->count);
    put(g, indent + 1, draw(g->c, 2) ? "tl.%s(%s[64:128], %s[64:128])" : "tl.%s(%s + 64, %s + 64, count=64)", o->name,
        g->buf[a].name, g->buf[a].name);
    return true;
  }
  return false;
}

#include "random_features.h"

static inline void steps(rprogram *g, int indent, int n, bool keep);

static inline const char *condition(rprogram *g) {
  static const char *const tests[] = {"pid % 2 == 0", "n > 100", "s > 0.5", "s < 0.0 or pid == 1",
                                      "not n % 3 == 1 and s <= 1.0"};
  uint32_t k = draw(g->c, (uint32_t)AC_COUNT(tests) + (g->fls > 0));
  return k < AC_COUNT(tests) ? tests[k] : ac_sprintf(g->a, "f%d > s", (int)draw(g->c, (uint32_t)g->fls));
}

static inline void branch(rprogram *g, int indent) {
  put(g, indent, "if %s:", condition(g));
  g->depth++;
  steps(g, indent + 1, 1 + (int)draw(g->c, 2), true);
  if (draw(g->c, 2)) {
    put(g, indent, "else:");
    steps(g, indent + 1, 1, true);
  }
  g->depth--;
}
static inline void repeat(rprogram *g, int indent) {
  int name = g->names++;
  g->depth++;
  if (draw(g->c, 3) == 1) {
    put(g, indent, "w%d = %u", name, 1 + draw(g->c, 3));
    put(g, indent, "while w%d > 0:", name);
    steps(g, indent + 1, 1, true);
    put(g, indent + 1, "w%d = w%d - 1", name, name);
  } else {
    put(g, indent, "for j%d in range(%u):", name, 1 + draw(g->c, 3));
    steps(g, indent + 1, 1 + (int)draw(g->c, 2), true);
  }
  g->depth--;
}

/* What goes beyond element by element. */
static inline bool feature(rprogram *g, int indent, bool keep) {
  if (!g->slices) return false;
  switch (draw(g->c, 7)) {
  case 0: return inserted(g, indent);
  case 1: return joined_masks(g, indent, keep);
  case 2: return sorted(g, indent, keep);
  case 3: return mirrored(g, indent, keep);
  case 4: return found_scalar(g, indent);
  case 5: return compressed(g, indent);
  default: return bits(g, indent, keep);
  }
}

static inline void steps(rprogram *g, int indent, int n, bool keep) {
  bool any = false;
  for (int i = 0; i < n; i++) {
    switch (draw(g->c, 16)) {
    case 1:
    case 2: any |= compare_and_select(g, indent, keep); break;
    case 3:
      if (to_scalar(g, indent)) any = true;
      break;
    case 4: any |= part(g, indent); break;
    case 5:
      if (g->depth < 2 && any_valid(g, AC_NODTYPE) >= 0) branch(g, indent), any = true;
      break;
    case 6:
      if (g->depth < 2 && any_valid(g, AC_NODTYPE) >= 0) repeat(g, indent), any = true;
      break;
    case 7:
    case 8:
    case 9: any |= feature(g, indent, keep); break;
    default: any |= one_op(g, indent, keep); break;
    }
  }
  if (!any) put(g, indent, "pass");
}

/* ---- frames ---- */

enum { MOST_TENSORS = 3 };
typedef struct {
  int n_in, n_out;
  ac_dtype in[MOST_TENSORS], out[MOST_TENSORS];
  int loaded[MOST_TENSORS], stored[MOST_TENSORS]; /* buffers */
  const char *atomic;                             /* how stores join what is there, or NULL */
} rtensors;

static inline void load_all(rprogram *g, rtensors *t, int indent, const char *off) {
  put(g, indent, "with tl.copyin():");
  for (int i = 0; i < t->n_in; i++) {
    put(g, indent + 1, "tl.load(x%d + %s, %s)", i, off, g->buf[t->loaded[i]].name);
    g->buf[t->loaded[i]].valid = true;
  }
}
static inline void pick_outputs(rprogram *g, rtensors *t) {
  for (int i = 0; i < t->n_out; i++) {
    t->stored[i] = any_valid(g, t->atomic ? t->in[0] : AC_NODTYPE);
    if (t->stored[i] < 0) t->stored[i] = t->loaded[0];
    t->out[i] = g->buf[t->stored[i]].dtype;
  }
}
static inline void store_all(rprogram *g, rtensors *t, int indent, const char *off) {
  pick_outputs(g, t);
  bool apart = draw(g->c, 2);
  for (int i = 0; i < t->n_out; i++) {
    if (!i || apart) put(g, indent, "with tl.copyout():");
    put(g, indent + 1, "tl.store(y%d + %s, %s%s)", i, off, g->buf[t->stored[i]].name,
        t->atomic ? ac_sprintf(g->a, ", atomic=\"%s\"", t->atomic) : "");
  }
}
/* Buffers that hold something: only what was loaded, at the head of a trip. */
static inline void forget(rprogram *g) {
  for (int i = 0; i < g->n; i++) g->buf[i].valid = false;
}

/* One pass in tiles over a row that need not fit: load, and steps on it. */
static inline void row_pass(rprogram *g, rtensors *t) {
  put(g, 2, "for i in range(0, cols, tile):");
  put(g, 3, "count = min(tile, cols - i)");
  put(g, 3, "off = r * cols + i + tl.arange(0, count)");
  g->count = "count";
  load_all(g, t, 3, "off");
  put(g, 3, "with tl.compute():");
  steps(g, 4, 1 + (int)draw(g->c, 3), false);
}

static inline void tile_loop(rprogram *g, rtensors *t, bool cyclic) {
  if (cyclic) {
    put(g, 1, "for i in range(pid * tile, n, tile * tl.num_programs(0)):");
    put(g, 2, "count = min(tile, n - i)");
  } else {
    put(g, 1, "start = pid * per_core");
    if (draw(g->c, 4) == 1) put(g, 1, "if start >= n:\n        return");
    put(g, 1, "end = min(start + per_core, n)");
    put(g, 1, "for i in range(start, end, tile):");
    put(g, 2, "count = min(tile, end - i)");
  }
  put(g, 2, "off = i + tl.arange(0, count)");
  g->count = "count";
  if (draw(g->c, 8) == 1) { /* element by element, from the back */
    g->index = true;
    put(g, 2, "with tl.compute():");
    put(g, 3, "tl.iota(ix, n - 1 - i, -1, count=count)");
    load_all(g, t, 2, "ix");
  } else {
    load_all(g, t, 2, "off");
  }
  int stages = 1 + (int)draw(g->c, 2);
  for (int i = 0; i < stages; i++) {
    put(g, 2, "with tl.compute():");
    steps(g, 3, 1 + (int)draw(g->c, 5), false);
  }
  store_all(g, t, 2, t->atomic && draw(g->c, 2) ? "tl.arange(0, count)" : "off");
}

/* Eight rows at a time, along both axes; perhaps the rows of a tensor in the opposite order. */
static inline void axes_loop(rprogram *g, rtensors *t) {
  bool back = draw(g->c, 4) == 1, scatter = back && draw(g->c, 2);
  const char *by_index = "order[:, None] * cols + tl.arange(0, cols)[None, :]";
  put(g, 1, "for r in range(pid * 8, rows, 8 * tl.num_programs(0)):");
  put(g, 2, "m = min(8, rows - r)");
  put(g, 2, "off = r * cols + tl.arange(0, m)[:, None] * cols + tl.arange(0, cols)[None, :]");
  if (back) {
    put(g, 2, "with tl.compute():");
    put(g, 3, "tl.iota(order, rows - 1 - r, -1, count=m)");
    g->order = true;
  }
  g->slices = false;
  g->axes = 2;
  g->count = "m * cols";
  g->box = "0:m, 0:cols";
  g->depth = 2;
  load_all(g, t, 2, back && !scatter ? by_index : "off");
  put(g, 2, "with tl.compute():");
  axis_steps(g, 3, 1 + (int)draw(g->c, 4));
  store_all(g, t, 2, scatter ? by_index : "off");
}

/* Boxes of three dimensions. */
static inline void box_loop(rprogram *g, rtensors *t) {
  put(g, 1, "for i in range(pid * 2, planes, 2 * tl.num_programs(0)):");
  put(g, 2, "h = min(2, planes - i)");
  put(g, 2, "for r in range(0, rows, 4):");
  put(g, 3, "m = min(4, rows - r)");
  put(g, 3,
      "off = (i * rows + r) * cols + tl.arange(0, h)[:, None, None] * (rows * cols) + tl.arange(0, m)[None, :, None] "
      "* cols + "
      "tl.arange(0, cols)[None, None, :]");
  g->slices = false;
  g->axes = 3;
  g->count = "h * m * cols";
  g->box = "0:h, 0:m, 0:cols";
  g->depth = 2;
  load_all(g, t, 3, "off");
  put(g, 3, "with tl.compute():");
  axis_steps(g, 4, 1 + (int)draw(g->c, 3));
  store_all(g, t, 3, "off");
}

static inline void row_loop(rprogram *g, rtensors *t) {
  put(g, 1, "for r in range(pid * per_core, min((pid + 1) * per_core, rows)):");
  put(g, 2, "off = r * cols + tl.arange(0, cols)");
  g->count = "cols";
  load_all(g, t, 2, "off");
  put(g, 2, "with tl.compute():");
  steps(g, 3, 2 + (int)draw(g->c, 5), false);
  store_all(g, t, 2, "off");
}

/* Two passes over a row that need not fit: an accumulator that the tail does not shrink, joined after the first. */
static inline void long_rows(rprogram *g, rtensors *t) {
  static const char *const join[] = {"vadd", "vmax", "vmin"}, *const reduce[] = {"reduce_sum", "reduce_max",
                                                                                 "reduce_min"};
  uint32_t how = draw(g->c, 3);
  put(g, 1, "for r in range(pid * per_core, min((pid + 1) * per_core, rows)):");
  put(g, 2, "with tl.compute():");
  put(g, 3, "tl.duplicate(acc, 0.0, count=tile)");
  int fls = g->fls, ints = g->ints;
  row_pass(g, t);
  int v = any_valid(g, AC_F32);
  if (v >= 0) put(g, 4, "tl.%s(acc, acc, %s, count=count)", join[how], g->buf[v].name);
  g->fls = fls, g->ints = ints; /* a loop may run no trip */
  put(g, 2, "with tl.compute():");
  g->work = true;
  put(g, 3, "tl.%s(red, acc, work, count=tile)", reduce[how]);
  put(g, 3, "total = tl.extract_scalar(red, 0)");
  if (draw(g->c, 2)) put(g, 2, "if total > 1.0:\n            total = 1.0 / total");
  forget(g);
  row_pass(g, t);
  v = any_valid(g, AC_F32);
  if (v >= 0) put(g, 4, "tl.vmul_scalar(%s, %s, total)", g->buf[v].name, g->buf[v].name);
  store_all(g, t, 3, "off");
}

static inline void two_dimensions(rprogram *g, rtensors *t) {
  put(g, 1, "for c in range(pid * width, cols, width * tl.num_programs(0)):");
  put(g, 2, "w = min(width, cols - c)");
  put(g, 2, "for r in range(0, rows, height):");
  put(g, 3, "h = min(height, rows - r)");
  put(g, 3, "off = r * cols + c + tl.arange(0, h)[:, None] * cols + tl.arange(0, w)[None, :]");
  g->count = "h * w";
  g->axes = 2;
  g->slices = false;
  load_all(g, t, 3, "off");
  put(g, 3, "with tl.compute():");
  g->depth = 2; /* straight on */
  steps(g, 4, 1 + (int)draw(g->c, 3), false);
  store_all(g, t, 3, "off");
}

/* Every block's share of a sum goes through workspace and a barrier; then all blocks have all of it. */
static inline void joined(rprogram *g, rtensors *t) {
  put(g, 1, "start = pid * per_core");
  put(g, 1, "end = min(start + per_core, n)");
  put(g, 1, "mine = 0.0");
  put(g, 1, "for i in range(start, end, tile):");
  put(g, 2, "count = min(tile, end - i)");
  g->count = "count";
  int fls = g->fls, ints = g->ints;
  load_all(g, t, 2, "i + tl.arange(0, count)");
  put(g, 2, "with tl.compute():");
  steps(g, 3, 1 + (int)draw(g->c, 3), false);
  int v = any_valid(g, AC_F32);
  g->work = true;
  if (v >= 0) {
    put(g, 3, "tl.%s(red, %s, work, count=count)", draw(g->c, 2) ? "reduce_max" : "reduce_sum", g->buf[v].name);
    put(g, 3, "mine = mine + tl.extract_scalar(red, 0)");
  }
  g->fls = fls, g->ints = ints;
  forget(g);
  put(g, 1, "with tl.compute():");
  put(g, 2, "tl.duplicate(share, mine, count=8)");
  put(g, 1, "with tl.copyout():");
  put(g, 2, "tl.store(shares + pid * 8 + tl.arange(0, 8), share)");
  put(g, 1, "tl.sync_all()");
  put(g, 1, "f%d = 0.0", g->fls);
  put(g, 1, "for b in range(0, tl.num_programs(0)):");
  put(g, 2, "f%d = f%d + tl.extract_scalar(shares, b * 8)", g->fls, g->fls);
  g->fls++;
  if (draw(g->c, 2)) put(g, 1, "tl.sync_all()");
  put(g, 1, "for i in range(start, end, tile):");
  put(g, 2, "count = min(tile, end - i)");
  put(g, 2, "off = i + tl.arange(0, count)");
  load_all(g, t, 2, "off");
  put(g, 2, "with tl.compute():");
  steps(g, 3, 1 + (int)draw(g->c, 4), false);
  store_all(g, t, 2, "off");
}

typedef enum {
  R_TILES,
  R_CYCLIC,
  R_ROWS,
  R_LONG,
  R_TWO,
  R_JOINED,
  R_AXES,
  R_BOX,
  R_ATOMIC,
  R_CHAIN,
  R_FRAMES
} rframe;

static inline void parameters(const rprogram *g, const rtensors *t, bool typed, ac_buf *out) {
  for (int i = 0; i < t->n_in; i++)
    ac_printf(out, "x%d%s, ", i, typed ? ac_sprintf(g->a, ": tl.tensor[tl.%s]", ac_dtypes[t->in[i]].name) : "");
  for (int i = 0; i < t->n_out; i++)
    ac_printf(out, "y%d%s, ", i, typed ? ac_sprintf(g->a, ": tl.tensor[tl.%s]", ac_dtypes[t->out[i]].name) : "");
}

static inline const char *sizes_of(rframe f) {
  return f == R_TWO                   ? "rows, cols, height, width"
         : f == R_AXES                ? "rows, cols"
         : f == R_BOX                 ? "planes, rows, cols"
         : f == R_ROWS || f == R_LONG ? "rows, cols, per_core, tile"
                                      : "per_core, tile";
}

/* The kernel as text, once its body is written. */
static inline void kernel(rprogram *g, const rtensors *t, rframe f, const char *name, ac_buf *out) {
  choices *c = g->c;
  ac_printf(out, "@ascend_kernel\ndef %s(", name);
  parameters(g, t, true, out);
  ac_printf(out, "%sn, %s, s: float):\n    pid = tl.program_id(0)\n",
            f == R_JOINED ? "shares: tl.tensor[tl.float32], " : "", sizes_of(f));
  const char *shape = f == R_TWO ? "(height, width)" : f == R_AXES ? "(8, 256)" : f == R_BOX ? "(2, 4, 128)" : "tile";
  static const char *const sides[][3] = {{"256", "8", ""}, {"(4, 128)", "(2, 128)", "(2, 4)"}};
  for (int i = 0; i < g->n; i++) {
    static const char *const pins[] = {"", "", "", ", buffers=1", ", buffers=2"};
    ac_printf(out, "    %s = tl.alloc_ub(%s, tl.%s%s)\n", g->buf[i].name, shape, ac_dtypes[g->buf[i].dtype].name,
              pins[draw(c, AC_COUNT(pins))]);
  }
  for (int d = 0; d < AC_DTYPE_COUNT; d++) {
    const char *dtype = ac_dtypes[d].name;
    if (g->top[d]) ac_printf(out, "    top_%s = tl.alloc_ub(8, tl.%s)\n", dtype, dtype);
    if (g->turned[d]) ac_printf(out, "    turned_%s = tl.alloc_ub((256, 8), tl.%s)\n", dtype, dtype);
    for (int k = 0; k < 3; k++)
      if (g->side[k][d])
        ac_printf(out, "    s%d_%s = tl.alloc_ub(%s, tl.%s)\n", k, dtype, sides[f == R_BOX][k], dtype);
  }
  if (g->mask) ac_puts(out, "    mask = tl.alloc_ub(tile, tl.mask)\n");
  if (g->mask2) ac_puts(out, "    mask2 = tl.alloc_ub(tile, tl.mask)\n");
  if (g->bytes) ac_puts(out, "    bytes = tl.alloc_ub(tile, tl.bool)\n");
  if (g->index) ac_puts(out, "    ix = tl.alloc_ub(tile, tl.int32)\n");
  if (g->order) ac_puts(out, "    order = tl.alloc_ub(8, tl.int32)\n");
  if (g->work) ac_puts(out, "    red = tl.alloc_ub(8, tl.float32)\n    work = tl.alloc_ub(tile, tl.float32)\n");
  if (f == R_LONG) ac_puts(out, "    acc = tl.alloc_ub(tile, tl.float32)\n");
  if (f == R_JOINED) ac_puts(out, "    share = tl.alloc_ub(8, tl.float32)\n");
  ac_puts(out, ac_buf_str(&g->views));
  ac_puts(out, ac_buf_str(&g->body));
}

static inline void host(rprogram *g, const rtensors *t, rframe f, ac_buf *out) {
  static const char *const tiles[] = {"64", "256", "1000", "max(8, min(512, per_core))"}, *const aligned[] = {
                                                                                              "32", "64", "256"};
  ac_puts(out, "\n\ndef h(");
  parameters(g, t, true, out);
  ac_buf names;
  ac_buf_init(&names, g->a);
  parameters(g, t, false, &names);
  ac_puts(out, "alpha=1.5):\n    n = y0.numel()\n");
  for (int i = 0; i < t->n_in; i++)
    ac_printf(out, "    if x%d.numel() != n:\n        tl.refuse(\"x%d has another size\")\n", i, i);
  bool rows = f == R_ROWS || f == R_LONG || f == R_TWO || f == R_AXES;
  if (f == R_BOX)
    ac_puts(out,
            "    cols = y0.shape[-1]\n    rows = y0.shape[-2]\n    planes = tl.prod(y0.shape[:-2])\n    if n == 0:\n"
            "        return\n");
  else if (rows)
    ac_puts(out, "    cols = y0.shape[-1]\n    rows = tl.prod(y0.shape[:-1])\n    if n == 0:\n        return\n");
  else if (draw(g->c, 2))
    ac_puts(out, "    if n == 0:\n        return\n");
  if (f == R_ROWS) ac_puts(out, "    if cols > 2048:\n        tl.refuse(\"rows are too long\")\n");
  if (f == R_AXES || f == R_BOX)
    ac_printf(out, "    if cols > %d:\n        tl.refuse(\"rows are too long\")\n", f == R_AXES ? 256 : 128);
  const char *align = aligned[draw(g->c, AC_COUNT(aligned))], *s = draw(g->c, 2) ? "alpha * 2 - n % 7" : "alpha";
  if (f == R_AXES || f == R_BOX)
    ac_printf(out, "    blocks = max(1, min(tl.num_cores(), %s))\n",
              f == R_AXES ? "tl.cdiv(rows, 8)" : "tl.cdiv(planes, 2)");
  else if (rows)
    ac_puts(out, "    per_core = tl.cdiv(rows, tl.num_cores())\n    blocks = tl.cdiv(rows, per_core)\n");
  else
    ac_printf(out,
              "    per_core = max(%s, tl.align_up(tl.cdiv(n, tl.num_cores()), %s))\n    blocks = max(1, tl.cdiv(n, "
              "per_core))\n",
              align, align);
  if (f == R_TWO)
    ac_printf(out, "    height = %u\n    width = %u\n    blocks = max(1, min(tl.num_cores(), cols // 16))\n",
              1 + draw(g->c, 9), 8 * (1 + draw(g->c, 12)));
  if (f == R_ATOMIC)
    for (int i = 0; i < t->n_out; i++) ac_printf(out, "    zero%d[1](y%d, n)\n", i, i);
  if (f == R_JOINED) ac_puts(out, "    shares = tl.empty(blocks * 8, tl.float32)\n");
  const char *tile = f == R_ROWS ? "2048" : tiles[draw(g->c, f == R_TILES || f == R_CYCLIC || f >= R_JOINED ? 4 : 3)];
  bool sized = f != R_TWO && f != R_AXES && f != R_BOX,
       branch = sized && f != R_ROWS && f != R_CHAIN && draw(g->c, 3) == 1;
  for (int k = 0; k < 1 + branch; k++) {
    const char *in = branch ? "        " : "    ";
    if (branch) ac_puts(out, k ? "    else:\n" : "    if n > 2000:\n");
    if (sized) ac_printf(out, "%stile = %s\n", in, k ? "128" : tile);
    if (f == R_CHAIN) { /* the first kernel's output is the second's input */
      ac_printf(out, "    between = tl.empty(max(8, n), tl.%s)\n    k[blocks](", ac_dtypes[g->between].name);
      for (int i = 0; i < t->n_in; i++) ac_printf(out, "x%d, ", i);
      ac_printf(out, "between, n, %s, %s)\n    k2[blocks](between, y0, n, %s, %s)\n", sizes_of(f), s, sizes_of(f), s);
      continue;
    }
    ac_printf(out, "%sk[blocks](%s%sn, %s, %s)\n", in, ac_buf_str(&names), f == R_JOINED ? "shares, " : "",
              sizes_of(f), k ? "alpha + 1.0" : s);
  }
}

static inline void write_body(rprogram *g, rtensors *t, rframe f) {
  switch (f) {
  case R_CYCLIC: tile_loop(g, t, true); break;
  case R_ROWS: row_loop(g, t); break;
  case R_LONG: long_rows(g, t); break;
  case R_TWO: two_dimensions(g, t); break;
  case R_JOINED: joined(g, t); break;
  case R_AXES: axes_loop(g, t); break;
  case R_BOX: box_loop(g, t); break;
  default: tile_loop(g, t, false); break;
  }
}

/* Zeros where atomic stores go. */
static inline void zeroes(const rtensors *t, ac_buf *out) {
  for (int i = 0; i < t->n_out; i++) {
    const char *d = ac_dtypes[t->out[i]].name;
    ac_printf(out,
              "@ascend_kernel\ndef zero%d(y: tl.tensor[tl.%s], n):\n    z = tl.alloc_ub(256, tl.%s)\n    with "
              "tl.compute():\n"
              "        tl.duplicate(z, 0)\n    for i in range(0, n, 256):\n        with tl.copyout():\n"
              "            tl.store(y + i, z, count=min(256, n - i))\n\n\n",
              i, d, d);
  }
}

static inline rprogram fresh(choices *c, const random_ops *ops) {
  rprogram g = {.c = c, .ops = ops, .a = c->a, .slices = true, .axes = 1};
  ac_buf_init(&g.body, c->a);
  ac_buf_init(&g.views, c->a);
  return g;
}

static inline char *random_program(choices *c, const random_ops *ops) {
  static const ac_dtype in[] = {AC_F32, AC_F32, AC_F16, AC_I32, AC_F32, AC_BF16, AC_I16,
                                AC_F16, AC_U8,  AC_I64, AC_I8,  AC_U16, AC_U32},
                        sums[] = {AC_F32, AC_I32, AC_F16, AC_I16};
  static const char *const atomics[] = {"add", "max", "min"};
  rprogram g = fresh(c, ops);
  rtensors t = {.n_in = 1, .n_out = 1};
  rframe f = (rframe)draw(c, R_FRAMES);
  t.n_in = 1 + (int)draw(c, 2);
  t.n_out = 1 + (int)(draw(c, 4) == 1 && f != R_CHAIN);
  for (int i = 0; i < t.n_in; i++) {
    t.in[i] = in[draw(c, AC_COUNT(in))];
    if (f == R_TWO || (i == 0 && (f == R_LONG || f == R_JOINED))) t.in[i] = AC_F32;
    if (f == R_ATOMIC) t.in[i] = sums[draw(c, AC_COUNT(sums))];
    t.loaded[i] = new_buffer(&g, t.in[i]);
  }
  /* which of 0 and -0 an atomic maximum keeps is not said */
  if (f == R_ATOMIC) t.atomic = atomics[floats(t.in[0]) ? 0 : draw(c, AC_COUNT(atomics))];
  write_body(&g, &t, f);
  ac_buf out;
  ac_buf_init(&out, c->a);
  if (f == R_ATOMIC) zeroes(&t, &out);
  kernel(&g, &t, f, "k", &out);
  if (f == R_CHAIN) {
    rprogram next = fresh(c, ops);
    next.inexact = g.inexact;
    next.viewed = g.viewed;
    rtensors u = {.n_in = 1, .n_out = 1};
    g.between = u.in[0] = t.out[0];
    u.loaded[0] = new_buffer(&next, u.in[0]);
    tile_loop(&next, &u, draw(c, 2));
    ac_puts(&out, "\n\n");
    kernel(&next, &u, f, "k2", &out);
    t.out[0] = u.out[0];
  }
  host(&g, &t, f, &out);
  return ac_strdup(c->a, ac_buf_str(&out));
}

#endif
