/* The submission forms of MultiKernelBench: the same texts as the project's files, packed.
 *
 * Names: the benchmark builds <op>.json, op_host/<op>.cpp, ... and runs msopgen on the JSON. A name with a digit after an underscore
 * comes back from msopgen spelled otherwise, and the generated stub would register the operator a second time. Then the JSON names
 * a stub operator, and the real one says its own file name (opFile.value). That way out is untested with a toolkit; the
 * direct-launch form needs none. */
#include "ascendc/internal.h"

#include <string.h>

static bool spelled_otherwise(ac_emit_ctx *c) {
  return strcmp(ac_msopgen_stem(c->a, c->p->op_type), c->p->op) != 0;
}

/* A Python literal: raw where that is exact, so that the C++ reads as it is. */
static void literal(ac_buf *b, const char *name, const char *text) {
  size_t n = strlen(text);
  bool raw = n && text[n - 1] == '\n' && !strstr(text, "'''") && !strstr(text, "```") && !strchr(text, '\r');
  if (raw) {
    ac_printf(b, "%s = r'''", name);
    ac_puts(b, text);
    ac_puts(b, "'''\n\n");
    return;
  }
  ac_printf(b, "%s = '", name);
  for (const char *p = text; *p; p++) {
    if (*p == '\n')
      ac_puts(b, "\\n");
    else if (*p == '\r')
      ac_puts(b, "\\r");
    else if (*p == '\\' || *p == '\'')
      ac_printf(b, "\\%c", *p);
    else if (*p == '`')
      ac_puts(b, "\\x60");
    else
      ac_printf(b, "%c", *p);
  }
  ac_puts(b, "'\n\n");
}

/* A text that the project has already; NULL: it was not asked for. */
static const char *made(const ac_emit_ctx *c, const ac_project *out, const char *fmt) {
  const char *path = ac_sprintf(c->a, fmt, c->p->op);
  for (size_t i = 0; i < out->files.len; i++)
    if (!strcmp(out->files.data[i].path, path)) return out->files.data[i].text;
  return NULL;
}

static char *six_strings(ac_emit_ctx *c, const ac_project *out) {
  const char *op = c->p->op, *type = c->p->op_type;
  ac_buf b;
  ac_buf_init(&b, c->a);
  const char *host = made(c, out, "msopgen/op_host/%s.cpp"), *kernel = made(c, out, "msopgen/op_kernel/%s.cpp");
  if (!host) host = ac_msopgen_host(c, type, op);
  if (!kernel) kernel = ac_msopgen_kernel(c, op);
  const struct {
    const char *name, *text;
  } parts[] = {
      {"project_json_src", ac_msopgen_json(c, spelled_otherwise(c) ? ac_sprintf(c->a, "%sStub", type) : type)},
      {"host_tiling_src", ac_msopgen_tiling_h(c, type)},
      {"host_operator_src", host},
      {"kernel_src", kernel},
      {"python_bind_src", ac_msopgen_binding(c, type)},
      {"model_src", ac_model_new(c, "", "custom_ops_lib", op)}};
  size_t n = 0;
  for (size_t i = 0; i < AC_COUNT(parts); i++) n += strlen(parts[i].text) + 64;
  ac_buf_room(&b, n);
  ac_puts(&b, "```python\n");
  for (size_t i = 0; i < AC_COUNT(parts); i++) literal(&b, parts[i].name, parts[i].text);
  b.len -= 1; /* the last blank line */
  b.data[b.len] = 0;
  ac_puts(&b, "```\n");
  return (char *)ac_buf_str(&b);
}

static void source(ac_jw *w, const char *path, const char *text) {
  ac_jw_open(w, NULL, AC_JW_OBJECT);
  ac_jw_str(w, "path", path);
  ac_jw_str(w, "content", text);
  ac_jw_close(w, AC_JW_OBJECT);
}

static char *direct_json(ac_emit_ctx *c, const ac_project *out) {
  static const char path[] = "import sys\nfrom pathlib import Path\n\n_build = "
                             "str(Path(__file__).resolve().parent.joinpath(\"kernel\", \"build\"))\n"
                             "if _build not in sys.path:\n    sys.path.insert(0, _build)\n";
  const char *op = c->p->op, *lib = ac_sprintf(c->a, "%s_lib", op);
  size_t n = strlen(op);
  ac_jw w;
  ac_jw_init(&w, c->a);
  ac_jw_open(&w, NULL, AC_JW_OBJECT);
  ac_jw_str(&w, "name", op);
  ac_jw_str(&w, "author", "ascendcraft");
  ac_jw_str(&w, "problem", n > 7 && !strcmp(op + n - 7, "_custom") ? ac_strndup(c->a, op, n - 7) : op);
  ac_jw_str(&w, "format_version", "0.1");
  ac_jw_str(&w, "description",
            ac_sprintf(c->a, "%s by ascendcraft %s: kernel, tiling code and binding", c->p->op_type, AC_VERSION));
  ac_jw_open(&w, "entry", AC_JW_OBJECT);
  ac_jw_str(&w, "model", "ModelNew.py::ModelNew");
  ac_jw_close(&w, AC_JW_OBJECT);
  ac_jw_open(&w, "build", AC_JW_OBJECT);
  ac_jw_str(&w, "type", "ascendc_direct_launch");
  ac_jw_str(&w, "module_name", lib);
  ac_jw_close(&w, AC_JW_OBJECT);
  ac_jw_open(&w, "sources", AC_JW_ARRAY);
  source(&w, "ModelNew.py", ac_model_new(c, path, lib, op));
  const char *kernel = made(c, out, "direct/%s_kernel.cpp"), *binding = made(c, out, "direct/%s_binding.cpp");
  source(&w, ac_sprintf(c->a, "kernel/%s_kernel.cpp", op), kernel ? kernel : ac_direct_kernel(c));
  source(&w, ac_sprintf(c->a, "kernel/%s_binding.cpp", op), binding ? binding : ac_direct_binding(c));
  ac_jw_close(&w, AC_JW_ARRAY);
  ac_jw_close(&w, AC_JW_OBJECT);
  return ac_jw_text(&w);
}

void ac_benchmark_files(ac_emit_ctx *c, ac_project *out) {
  if (c->o->formats & (1u << AC_FMT_SIXSTRING))
    ac_add_file(c, out, ac_sprintf(c->a, "benchmark/%s.txt", c->p->op), six_strings(c, out), false);
  if (c->o->formats & (1u << AC_FMT_DIRECTJSON))
    ac_add_file(c, out, ac_sprintf(c->a, "benchmark/%s.json", c->p->op), direct_json(c, out), false);
}
