/* The project as a whole: which files, the manifest, README, device_test.py; writing it. */
#include "ascendc/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
  const char *name, *dir;
} formats[AC_FMT_COUNT] = {
#define F(id, name, dir) [id] = {name, dir},
    AC_FORMATS(F)
#undef F
};
const char *ac_format_name(ac_format f) {
  return formats[f].name;
}
bool ac_format_of(const char *name, ac_format *f) {
  for (int i = 0; name && i < AC_FMT_COUNT; i++)
    if (!strcmp(formats[i].name, name)) return *f = (ac_format)i, true;
  return false;
}

void ac_add_file(ac_emit_ctx *c, ac_project *out, const char *path, const char *text, bool executable) {
  ac_file f = {.path = ac_strdup(c->a, path), .text = text, .len = strlen(text), .executable = executable};
  ac_push(c->a, &out->files, f);
}

static int by_path(const void *x, const void *y) {
  return strcmp(((const ac_file *)x)->path, ((const ac_file *)y)->path);
}

static bool wants(const ac_emit_ctx *c, ac_format f) {
  return c->o->formats & (1u << f);
}

/* ---- README.md ---- */

static void shape_note(ac_emit_ctx *c, ac_buf *b) {
  const ac_graph *g = c->o->graph;
  ac_puts(b, "\n## Tensors\n\n| tensor | direction | dtype |\n| --- | --- | --- |\n");
  for (size_t i = 0; i < c->p->tensors.len; i++) {
    static const char *const dirs[] = {"input", "output", "input, updated in place"};
    ac_printf(b, "| `%s` | %s | %s |\n", c->p->tensors.data[i].name, dirs[c->p->tensors.data[i].dir],
              ac_dtypes[c->p->tensors.data[i].dtype].name);
  }
  for (size_t i = 0; i < c->p->attrs.len; i++)
    ac_printf(b, "| `%s` | scalar | %s |\n", ac_attr_name(c, i),
              c->p->attrs.data[i].type == AC_AT_FLOAT ? "float" : "int64");
  ac_puts(b, "\nSizes are read at run time: one build serves every shape that the tiling code accepts; others are "
             "refused with a message.\n");
  if (!g || !g->guards.len) return;
  ac_puts(b, "Conditions that the module itself put on sizes:\n\n");
  static const char *const op[] = {
      [AC_GUARD_EQ] = "==", [AC_GUARD_NE] = "!=", [AC_GUARD_LT] = "<", [AC_GUARD_LE] = "<="};
  for (size_t i = 0; i < g->guards.len; i++) {
    const ac_guard *q = &g->guards.data[i];
    ac_printf(b, "- `%s %s %s`%s%s\n", ac_sym_text(c->a, g, q->a), op[q->kind], ac_sym_text(c->a, g, q->b),
              q->reason ? ": " : "", q->reason ? q->reason : "");
  }
}

char *ac_project_readme(ac_emit_ctx *c) {
  const char *op = c->p->op;
  ac_buf b;
  ac_buf_init(&b, c->a);
  ac_printf(&b, "# %s\n\nAn AscendC operator for %s, made by ascendcraft %s", c->p->op_type, c->p->chip->soc,
            AC_VERSION);
  if (c->o->source_name) ac_printf(&b, " from `%s`", c->o->source_name);
  ac_puts(&b, ".\n");
  if (c->o->command) ac_printf(&b, "\nMade with: `%s`\n", c->o->command);
  ac_puts(&b,
          c->o->graph
              ? "\n**Never run on an NPU.** `ascendcraft verify .` checks it on ascendcraft's simulator, "
                "`device_test.py` on a device.\n"
              : "\n**Never run on an NPU, nor verified**: it was written in the DSL, and no PyTorch module says what "
                "it should compute. Given one (class `Model`), `device_test.py` compares them on a device. Outputs "
                "take the first input's shape; change `OutputShapes` in the host code where they should not.\n");
  ac_puts(&b, "The generated code is yours to use in any way.\n");
  shape_note(c, &b);
  ac_puts(&b, "\n## Files\n\n");
  ac_printf(&b, "- `%s.craft`: the program in the DSL, from which everything else follows\n", op);
  if (wants(c, AC_FMT_MSOPGEN))
    ac_printf(&b,
              "- `msopgen/`: custom-operator project. Build with `msopgen/build.sh`, install the `.run` package, "
              "call `aclnn%s`\n",
              c->p->op_type);
  if (wants(c, AC_FMT_DIRECT))
    ac_printf(&b,
              "- `direct/`: direct launch. Build with `python3 direct/setup.py build_ext --inplace`, then `from %s "
              "import ModelNew` in that folder\n",
              op);
  if (wants(c, AC_FMT_SIXSTRING))
    ac_printf(&b, "- `benchmark/%s.txt`: MultiKernelBench, backend `ascendc` (six strings)\n", op);
  if (wants(c, AC_FMT_DIRECTJSON))
    ac_printf(&b, "- `benchmark/%s.json`: MultiKernelBench, backend `ascendc_direct_launch`\n", op);
  if (c->o->extra_note) ac_puts(&b, c->o->extra_note);
  ac_puts(&b, "- `device_test.py`: builds, installs, compares with PyTorch and times against eager, on a machine "
              "with an NPU\n"
              "- `manifest.json`: what `ascendcraft verify` needs\n");
  return (char *)ac_buf_str(&b);
}

/* ---- device_test.py ---- */

static const char device_test_head[] =
    "#!/usr/bin/env python3\n"
    "\"\"\"Builds this project on a machine with an Ascend NPU, compares it with the original module and times "
    "both.\n"
    "\n"
    "Never run on an NPU by its author. Needs: the CANN toolkit (set_env.sh sourced), torch, torch_npu.\n"
    "usage: device_test.py ORIGINAL.py [--json OUT.json] [--warmup N] [--runs N]\n"
    "ORIGINAL.py is the module that the project was made from (class Model, get_inputs, get_init_inputs).\n"
    "Raw samples of every run go to the JSON file; ratios are computed from them.\n"
    "\"\"\"\n"
    "import argparse\nimport importlib.util\nimport json\nimport os\nimport statistics\nimport subprocess\nimport "
    "sys\n\n";

static const char device_test_body[] =
    "HERE = os.path.dirname(os.path.abspath(__file__))\n\n\n"
    "def load(path, name):\n"
    "    spec = importlib.util.spec_from_file_location(name, path)\n"
    "    module = importlib.util.module_from_spec(spec)\n"
    "    spec.loader.exec_module(module)\n"
    "    return module\n\n\n"
    "def build():\n"
    "    direct = os.path.join(HERE, \"direct\")\n"
    "    if not os.path.isdir(direct):\n"
    "        sys.exit(\"device_test.py uses the direct-launch form: generate the project with --format direct\")\n"
    "    subprocess.check_call([sys.executable, \"setup.py\", \"build_ext\", \"--inplace\"], cwd=direct)\n"
    "    sys.path.insert(0, direct)\n"
    "    return load(os.path.join(direct, OP + \".py\"), OP + \"_model\")\n\n\n"
    "def to_device(x, device):\n"
    "    return x.to(device) if hasattr(x, \"to\") else x\n\n\n"
    "def outputs(y):\n"
    "    return [t for part in y for t in outputs(part)] if isinstance(y, (tuple, list)) else [y]\n\n\n"
    "def samples(torch, model, inputs, warmup, runs):\n"
    "    times = []\n"
    "    for i in range(warmup + runs):\n"
    "        start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)\n"
    "        start.record()\n"
    "        model(*inputs)\n"
    "        end.record()\n"
    "        torch.npu.synchronize()\n"
    "        if i >= warmup:\n"
    "            times.append(start.elapsed_time(end))\n"
    "    return times\n\n\n"
    "def main():\n"
    "    p = argparse.ArgumentParser(description=\"compare and time on an NPU\")\n"
    "    p.add_argument(\"original\")\n"
    "    p.add_argument(\"--json\", default=\"device_test.json\")\n"
    "    p.add_argument(\"--warmup\", type=int, default=3)\n"
    "    p.add_argument(\"--runs\", type=int, default=100)\n"
    "    a = p.parse_args()\n"
    "    import torch\n"
    "    import torch_npu  # noqa: F401\n"
    "    new, old = build(), load(a.original, \"original\")\n"
    "    init = old.get_init_inputs() if hasattr(old, \"get_init_inputs\") else []\n"
    "    device = torch.device(\"npu:0\")\n"
    "    torch.manual_seed(1024)\n"
    "    reference = getattr(old, CLASS)(*init).to(device)\n"
    "    torch.manual_seed(1024)\n"
    "    candidate = new.ModelNew(*init).to(device)\n"
    "    ok, errors = True, []\n"
    "    with torch.no_grad():\n"
    "        for trial in range(5):\n"
    "            torch.manual_seed(trial)\n"
    "            inputs = [to_device(x, device) for x in old.get_inputs()]\n"
    "            want, got = outputs(reference(*inputs)), outputs(candidate(*inputs))\n"
    "            for w, g in zip(want, got):\n"
    "                same = w.shape == g.shape and w.dtype == g.dtype\n"
    "                error = (w.double() - g.double()).abs().max().item() if same and w.numel() else 0.0\n"
    "                errors.append(error)\n"
    "                ok = ok and same and torch.allclose(g, w, rtol=RTOL, atol=RTOL, equal_nan=True)\n"
    "            ok = ok and len(want) == len(got)\n"
    "        inputs = [to_device(x, device) for x in old.get_inputs()]\n"
    "        eager = samples(torch, reference, inputs, a.warmup, a.runs)\n"
    "        ours = samples(torch, candidate, inputs, a.warmup, a.runs)\n"
    "    report = {\"op\": OP, \"class\": \"measured\", \"device\": torch.npu.get_device_name(0), \"correct\": ok, "
    "\"max_abs_error\": max(errors, default=0.0),\n"
    "              \"eager_ms\": eager, \"kernel_ms\": ours, \"ratio_of_medians\": statistics.median(eager) / "
    "statistics.median(ours)}\n"
    "    with open(a.json, \"w\") as f:\n"
    "        json.dump(report, f, indent=1)\n"
    "    print(f\"{OP}: {'correct' if ok else 'WRONG'}, eager {statistics.median(eager):.4f} ms, kernel "
    "{statistics.median(ours):.4f} ms (measured), \"\n"
    "          f\"raw samples in {a.json}\")\n"
    "    return 0 if ok else 1\n\n\n"
    "if __name__ == \"__main__\":\n"
    "    sys.exit(main())\n";

/* Looser of what the outputs' dtypes can hold; the strict comparison is ascendcraft's own. */
static double tolerance(const ac_emit_ctx *c) {
  double t = 1e-4;
  for (size_t i = 0; i < c->p->tensors.len; i++) {
    ac_dtype d = c->p->tensors.data[i].dtype;
    if (d == AC_F16 && t < 1e-2) t = 4e-3;
    if (d == AC_BF16) t = 2e-2;
  }
  return t;
}

char *ac_device_test(ac_emit_ctx *c) {
  const char *values = ac_sprintf(c->a, "OP = \"%s\"\nCLASS = \"%s\"\nRTOL = %g\n", c->p->op,
                                  c->o->class_name ? c->o->class_name : "Model", tolerance(c));
  return ac_sprintf(c->a, "%s%s%s", device_test_head, values, device_test_body);
}

/* ---- manifest.json ---- */

static char *path_of(ac_emit_ctx *c, const char *fmt) {
  return ac_sprintf(c->a, fmt, c->p->op);
}

/* Where the texts of the formats are. */
static void manifest_formats(ac_emit_ctx *c, ac_jw *w) {
  static const struct {
    ac_format format;
    const char *what[2], *path[2];
  } rows[] = {{AC_FMT_MSOPGEN, {"kernel", "host"}, {"msopgen/op_kernel/%s.cpp", "msopgen/op_host/%s.cpp"}},
              {AC_FMT_DIRECT, {"kernel"}, {"direct/%s_kernel.cpp"}},
              {AC_FMT_SIXSTRING, {"file"}, {"benchmark/%s.txt"}},
              {AC_FMT_DIRECTJSON, {"file"}, {"benchmark/%s.json"}}};
  ac_jw_open(w, "formats", AC_JW_OBJECT);
  for (size_t i = 0; i < AC_COUNT(rows); i++) {
    if (!wants(c, rows[i].format)) continue;
    ac_jw_open(w, formats[rows[i].format].name, AC_JW_OBJECT);
    for (int k = 0; k < 2 && rows[i].what[k]; k++) ac_jw_str(w, rows[i].what[k], path_of(c, rows[i].path[k]));
    ac_jw_close(w, AC_JW_OBJECT);
  }
  ac_jw_close(w, AC_JW_OBJECT);
}

static void manifest_files(ac_emit_ctx *c, ac_jw *w, const ac_project *files) {
  size_t n = files->files.len;
  ac_bytes *texts = AC_NEW_N(c->a, ac_bytes, n);
  char **sums = AC_NEW_N(c->a, char *, n);
  for (size_t i = 0; i < n; i++) texts[i] = (ac_bytes){files->files.data[i].text, files->files.data[i].len};
  ac_sha256_all(c->a, n, texts, sums);
  ac_jw_open(w, "files", AC_JW_ARRAY);
  for (size_t i = 0; i < n; i++) {
    ac_jw_open(w, NULL, AC_JW_OBJECT);
    ac_jw_str(w, "path", files->files.data[i].path);
    ac_jw_str(w, "sha256", sums[i]);
    ac_jw_close(w, AC_JW_OBJECT);
  }
  ac_jw_close(w, AC_JW_ARRAY);
}

char *ac_manifest(ac_emit_ctx *c, const ac_project *files) {
  ac_jw w;
  ac_jw_init(&w, c->a);
  ac_jw_open(&w, NULL, AC_JW_OBJECT);
  ac_jw_str(&w, "made_by", "ascendcraft");
  ac_jw_str(&w, "version", AC_VERSION);
  ac_jw_str(&w, "op", c->p->op);
  ac_jw_str(&w, "op_type", c->p->op_type);
  ac_jw_str(&w, "chip", c->p->chip->name);
  ac_jw_int(&w, "seed", c->o->graph ? (int64_t)c->o->graph->seed : 0);
  if (c->o->source_name) ac_jw_str(&w, "source", c->o->source_name);
  if (c->o->source) ac_jw_str(&w, "source_sha256", ac_sha256(c->a, c->o->source, strlen(c->o->source)));
  ac_jw_open(&w, "tolerance", AC_JW_OBJECT);
  ac_jw_double(&w, "device_rtol", tolerance(c));
  ac_jw_close(&w, AC_JW_OBJECT);
  manifest_formats(c, &w);
  manifest_files(c, &w, files);
  if (c->o->graph) {
    json_t *g = ac_graph_to_json(c->o->graph);
    ac_jw_value(&w, "graph", g);
    json_decref(g);
  }
  ac_jw_close(&w, AC_JW_OBJECT);
  return ac_jw_text(&w);
}

/* ---- making and writing ---- */

bool ac_emit(ac_arena *a, const ac_program *p, const ac_emit_opts *o, ac_project *out, ac_diags *d) {
  ac_emit_ctx c = {.a = a, .p = p, .o = o, .d = d, .plan = ac_sprintf(a, "%sPlan", p->op_type)};
  *out = (ac_project){0};
  for (size_t i = 0; i < p->tensors.len; i++) *(p->tensors.data[i].dir == AC_TENSOR_OUT ? &c.n_out : &c.n_in) += 1;
  for (int k = 0; k < c.n_out; k++) {
    bool counts = o->graph && (int)o->graph->outputs.len == c.n_out;
    if (ac_shape_like(&c, k) >= 0 || counts) continue;
    ac_diag *x = ac_error(d, AC0609, p->tensors.data[c.n_in + k].loc,
                          "the shape of output '%s' follows from no input", p->tensors.data[c.n_in + k].name);
    ac_help(d, x, "give the host function a tensor input of that shape, or start from a PyTorch module");
    return false;
  }
  if (wants(&c, AC_FMT_MSOPGEN)) ac_msopgen_files(&c, out);
  if (wants(&c, AC_FMT_DIRECT)) ac_direct_files(&c, out);
  ac_benchmark_files(&c, out);
  for (int i = 0; i < o->n_extra; i++)
    ac_add_file(&c, out, o->extra[i].path, o->extra[i].text, o->extra[i].executable);
  if (o->craft_text) ac_add_file(&c, out, ac_sprintf(a, "%s.craft", p->op), o->craft_text, false);
  ac_add_file(&c, out, "README.md", ac_project_readme(&c), false);
  ac_add_file(&c, out, "device_test.py", ac_device_test(&c), true);
  qsort(out->files.data, out->files.len, sizeof *out->files.data, by_path);
  ac_add_file(&c, out, "manifest.json", ac_manifest(&c, out), false);
  qsort(out->files.data, out->files.len, sizeof *out->files.data, by_path);
  return true;
}

static bool write_files(ac_arena *a, const ac_project *p, const char *dir, const char *final, ac_diags *d) {
  for (size_t i = 0; i < p->files.len; i++) {
    const ac_file *f = &p->files.data[i];
    char *path = ac_path_join(a, dir, f->path), *parent = ac_strdup(a, path);
    *strrchr(parent, '/') = 0;
    bool ok = ac_mkdirs(parent, d) && ac_write_file(path, f->text, f->len, d);
    if (ok && f->executable && chmod(path, 0755)) {
      ac_error(d, AC0102, (ac_loc){.file = path}, "cannot be made executable");
      ok = false;
    }
    if (ok) continue;
    /* The reader knows the name that it would have got, not the staging folder's. */
    if (d && d->list.len) d->list.data[d->list.len - 1]->loc.file = ac_path_join(a, final, f->path);
    return false;
  }
  return true;
}

/* Only what its own manifest says to be ours is ever replaced: other programs name files manifest.json too. */
static bool is_project(ac_arena *a, const char *dir) {
  size_t n;
  const char *path = ac_path_join(a, dir, "manifest.json");
  const char *text = ac_exists(path) ? ac_read_file(a, path, 0, &n, NULL) : NULL;
  json_t *m = text ? ac_json_parse(path, text, n, NULL) : NULL;
  const char *by = json_string_value(json_object_get(m, "made_by"));
  bool ours = by && !strcmp(by, "ascendcraft");
  json_decref(m);
  return ours;
}

bool ac_project_write(ac_arena *a, const ac_project *p, const char *dir, bool force, ac_diags *d) {
  if (!*dir) {
    ac_error(d, AC0103, AC_NOLOC, "the name of the output folder is empty");
    return false;
  }
  bool ours = is_project(a, dir);
  char *staging = ac_staging_dir(a, dir, d);
  if (!staging) return false;
  bool ok =
      write_files(a, p, staging, dir, d) && (force && ours ? ac_staging_replace : ac_staging_commit)(staging, dir, d);
  if (ok) return true;
  ac_staging_abandon(staging);
  ac_diag *x = d && d->list.len ? d->list.data[d->list.len - 1] : NULL;
  if (x && x->code == AC0104 && force != ours)
    ac_help(d, x,
            ours ? "--force replaces it: it holds a project of ours"
                 : "--force replaces a project of ours only, and this is none");
  return false;
}
