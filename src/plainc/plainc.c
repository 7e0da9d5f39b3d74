/* The files of the C form. */
#include "plainc/internal.h"

#include <string.h>

static void head(ac_pc *t, const char *what) {
  ac_pc_comment(t, what);
  ac_pc_comment(
      t, ac_sprintf(t->a, "Made by ascendcraft %s from %s.craft. Yours to use in any way.", AC_VERSION, t->p->op));
}

/* asc-devkit, impl/utils/tiling/platform/platform_ascendc.cpp: 256 bytes of UB are kept back on arch 2201. */
static int64_t usable_ub(const ac_chip *c) {
  return c->ub - (c->npu_arch == 2201 ? 256 : 0);
}

static char *upper(ac_arena *a, const char *s) {
  char *r = ac_strdup(a, s);
  for (char *c = r; *c; c++)
    if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 32);
  return r;
}

static char *header(ac_arena *a, const ac_program *p) {
  ac_pc t = {.a = a, .p = p};
  ac_buf_init(&t.b, a);
  head(&t, ac_sprintf(a, "%s in plain C.", p->op));
  const char *guard = ac_sprintf(a, "%s_H", upper(a, p->op));
  ac_printf(&t.b, "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n", guard, guard);
  ac_pc_open(&t, "typedef struct");
  ac_pc_line(&t, "const int64_t *dims;");
  ac_pc_line(&t, "int rank;");
  ac_pc_close(&t, ac_sprintf(a, " %s_shape;", p->op));
  ac_puts(&t.b, "\n/* Tensors are dense, row by row, aligned as their elements. ");
  const char *const names[] = {"in", "out"};
  for (int side = 0; side < 2; side++) {
    int n = 0;
    for (size_t i = 0; i < p->tensors.len; i++) {
      const ac_aparam *x = &p->tensors.data[i];
      if ((x->dir != AC_TENSOR_IN) != side) continue;
      ac_printf(&t.b, "%s%s[%d] %s (%s%s)",
                n      ? ", "
                : side ? "; "
                       : "",
                names[side], n, x->name, ac_dtypes[x->dtype].name,
                x->dir == AC_TENSOR_INOUT ? ", read and updated" : "");
      n++;
    }
  }
  ac_puts(&t.b, ".\n * Half types are their 16 bits. shapes: one a tensor, in the order");
  for (size_t i = 0; i < p->tensors.len; i++) ac_printf(&t.b, "%s %s", i ? "," : "", p->tensors.data[i].name);
  ac_puts(&t.b,
          ".\n * why: NULL or 256 bytes for the reason of a refusal. Returns 0; 1: this shape is refused; 2: out of "
          "memory. */\n");
  ac_pc_line(&t, "%s;", ac_pc_signature(a, p));
  ac_puts(&t.b, "\n#endif\n");
  return ac_strdup(a, ac_buf_str(&t.b));
}

static const char about[] =
    "The same program as the AscendC kernel, after the same passes: tiles, tails and the order of the arithmetic are "
    "its own.\n"
    "   Queues, events and barriers inside a block are left out: statements follow each other here. Float arithmetic "
    "is IEEE's, each\n"
    "   operation rounded to its own type: build without options that change that (-ffast-math), on a machine whose\n"
    "   FLT_EVAL_METHOD is 0.";

static char *source(ac_pc *t) {
  const ac_program *p = t->p;
  ac_pc body = *t;
  ac_buf_init(&body.b, t->a);
  for (size_t i = 0; i < p->kernels.len; i++) ac_pc_kernel(&body, p->kernels.data[i]);
  ac_pc_host(&body);
  t->failed = body.failed;
  if (t->failed) return NULL;
  const char *text = ac_buf_str(&body.b), *runtime = ac_pc_runtime(&body, text);
  head(t, ac_sprintf(t->a, "%s in plain C99.", p->op));
  ac_printf(&t->b, "/* %s */\n#include \"%s.h\"\n\n", about, p->op);
  ac_puts(&t->b,
          "#include <inttypes.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
          "#include <string.h>\n\n#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n");
  ac_printf(&t->b, "/* What the partition is made for: %s. */\n#ifndef AC_CORES\n#define AC_CORES %d\n#endif\n",
            p->chip->soc, p->chip->vector_cores);
  ac_printf(&t->b, "#ifndef AC_UB\n#define AC_UB %lld\n#endif\n\n", (long long)usable_ub(p->chip));
  ac_puts(&t->b, "/* A call: why it is refused, and its attributes. */\n");
  ac_pc_open(t, "typedef struct");
  ac_pc_line(t, "char why[256];");
  for (size_t i = 0; i < p->attrs.len; i++)
    ac_pc_line(t, "%s %s;", p->attrs.data[i].type == AC_AT_FLOAT ? "double" : "int64_t",
               ac_pc_name(t->a, p->attrs.data[i].name));
  ac_pc_close(t, " ac_host;");
  ac_printf(&t->b, "\n/* ---- what instructions mean ---- */\n\n%s/* ---- the program ---- */\n\n%s", runtime, text);
  return ac_strdup(t->a, ac_buf_str(&t->b));
}

/* ---- a driver: raw files in, raw files out ---- */

static char *driver(ac_arena *a, const ac_program *p) {
  ac_pc t = {.a = a, .p = p};
  ac_buf_init(&t.b, a);
  head(&t, ac_sprintf(a, "Runs %s on raw files.", p->op));
  ac_printf(
      &t.b,
      "#include \"%s.h\"\n\n#include <inttypes.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n",
      p->op);
  size_t n = p->tensors.len;
  ac_printf(&t.b, "enum { TENSORS = %zu, ATTRIBUTES = %zu };\n", n, p->attrs.len);
  ac_printf(&t.b,
            "static const struct {\n  const char *name;\n  int bytes, reads, writes;\n} tensors[TENSORS + 1] = {\n");
  for (size_t i = 0; i < n; i++)
    ac_printf(&t.b, "    {\"%s\", %d, %d, %d},\n", p->tensors.data[i].name, ac_dtypes[p->tensors.data[i].dtype].bytes,
              p->tensors.data[i].dir != AC_TENSOR_OUT, p->tensors.data[i].dir != AC_TENSOR_IN);
  ac_puts(&t.b, "    {NULL, 0, 0, 0}};\n\n");
  ac_printf(
      &t.b,
      "/* \"FILE:7x1003\" */\n"
      "static int shape_of(char *text, int64_t *dims, %s_shape *s) {\n"
      "  char *at = strrchr(text, ':');\n  if (!at) return 0;\n  *at++ = 0;\n  s->dims = dims;\n  s->rank = 0;\n"
      "  while (*at && s->rank < 16) {\n    char *end;\n    dims[s->rank++] = strtoll(at, &end, 10);\n"
      "    if (end == at || (*end && *end != 'x')) return 0;\n    at = *end ? end + 1 : end;\n  }\n  return "
      "1;\n}\n\n",
      p->op);
  ac_puts(&t.b, "int main(int argc, char **argv) {\n"
                "  static int64_t dims[TENSORS + 1][16];\n  void *data[TENSORS + 1];\n"
                "  const void *in[TENSORS + 1];\n  void *out[TENSORS + 1];\n  int n_in = 0, n_out = 0;\n");
  ac_printf(&t.b, "  %s_shape shapes[TENSORS + 1];\n  size_t sizes[TENSORS + 1];\n  char why[256] = \"\";\n", p->op);
  ac_puts(&t.b, "  if (argc != 1 + TENSORS + ATTRIBUTES) {\n    fprintf(stderr, \"usage: %s");
  for (size_t i = 0; i < n; i++) ac_printf(&t.b, " %s:SIZES", upper(a, p->tensors.data[i].name));
  for (size_t i = 0; i < p->attrs.len; i++) ac_printf(&t.b, " %s", p->attrs.data[i].name);
  ac_puts(&t.b,
          "\\n\", argv[0]);\n    return 2;\n  }\n"
          "  for (int i = 0; i < TENSORS; i++) {\n"
          "    if (!shape_of(argv[1 + i], dims[i], &shapes[i])) {\n"
          "      fprintf(stderr, \"%s: FILE:7x1003 is wanted\\n\", tensors[i].name);\n      return 2;\n    }\n"
          "    sizes[i] = (size_t)tensors[i].bytes;\n"
          "    for (int k = 0; k < shapes[i].rank; k++) sizes[i] *= (size_t)dims[i][k];\n"
          "    data[i] = calloc(sizes[i] + 1, 1);\n"
          "    FILE *f = tensors[i].reads ? fopen(argv[1 + i], \"rb\") : NULL;\n"
          "    if (!data[i] || (tensors[i].reads && (!f || fread(data[i], 1, sizes[i], f) != sizes[i]))) {\n"
          "      fprintf(stderr, \"%s: cannot read %lu bytes\\n\", argv[1 + i], (unsigned long)sizes[i]);\n      "
          "return 2;\n    "
          "}\n    if (f) fclose(f);\n"
          "    if (tensors[i].writes)\n      out[n_out++] = data[i];\n    else\n      in[n_in++] = data[i];\n  }\n");
  ac_printf(&t.b, "  (void)n_in, (void)n_out;\n  int code = %s(in, out, shapes", p->op);
  for (size_t i = 0; i < p->attrs.len; i++)
    ac_printf(&t.b,
              p->attrs.data[i].type == AC_AT_FLOAT ? ", strtod(argv[1 + TENSORS + %zu], NULL)"
                                                   : ", strtoll(argv[1 + TENSORS + %zu], NULL, 10)",
              i);
  ac_puts(
      &t.b,
      ", why);\n  if (code) {\n    fprintf(stderr, \"%s\\n\", code == 1 ? why : \"out of memory\");\n    return "
      "code;\n  }\n"
      "  for (int i = 0; i < TENSORS; i++) {\n    FILE *f = tensors[i].writes ? fopen(argv[1 + i], \"wb\") : NULL;\n"
      "    if (tensors[i].writes && (!f || fwrite(data[i], 1, sizes[i], f) != sizes[i] || fclose(f))) {\n"
      "      fprintf(stderr, \"%s: cannot be written\\n\", argv[1 + i]);\n      return 2;\n    }\n"
      "    free(data[i]);\n  }\n  return 0;\n}\n");
  return ac_strdup(a, ac_buf_str(&t.b));
}

static char *readme(ac_arena *a, const ac_program *p) {
  ac_buf b;
  ac_buf_init(&b, a);
  ac_printf(&b,
            "# %s in plain C\n\n`%s.c` is the operator as one file of C99: the lowered program itself, with the "
            "meaning of each "
            "instruction\nwritten out above it. It needs libm and nothing else.\n\n",
            p->op, p->op);
  ac_printf(&b,
            "    cc -std=c99 -O2 -c %s.c\n\nTo run it on raw files (elements in order, no header), each with its "
            "sizes, outputs "
            "too:\n\n    cc -std=c99 -O2 %s.c %s_main.c -lm -o %s\n    ./%s",
            p->op, p->op, p->op, p->op, p->op);
  for (size_t i = 0; i < p->tensors.len; i++) ac_printf(&b, " %s.bin:7x1003", p->tensors.data[i].name);
  for (size_t i = 0; i < p->attrs.len; i++) ac_printf(&b, " %g", p->attrs.data[i].value);
  ac_puts(&b, "\n\nBlocks run one after the other; the partition is that of the chip. `-DAC_CORES=n` and "
              "`-DAC_UB=bytes` change what the "
              "tiling\ncode is told. Conditions that a PyTorch module put on its sizes are checked by the AscendC "
              "forms only.\n"
              "With `-fsanitize=address` every access beyond a buffer is reported.\n");
  return ac_strdup(a, ac_buf_str(&b));
}

bool ac_plainc(ac_arena *a, const ac_program *p, ac_plainc_text *out, ac_diags *d) {
  ac_pc t = {.a = a, .p = p, .d = d};
  ac_buf_init(&t.b, a);
  *out = (ac_plainc_text){0};
  if (!(out->source = source(&t))) return false;
  out->header = header(a, p);
  out->driver = driver(a, p);
  out->readme = readme(a, p);
  return true;
}
