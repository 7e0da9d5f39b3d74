/* Traces a module and writes its inputs and float64 reference outputs as raw files, for the comparison with PyTorch (compare.py).
 *
 *   refdump MODULE.py OUTDIR [--init LIST] [--shape NAME=DIMS]...     evaluates with float64 inputs
 *   refdump MODULE.py --shapes                                        prints the outputs' shapes and dtypes as JSON
 */
#include "frontend/frontend.h"

#include <stdlib.h>
#include <string.h>

static json_t *shape_json(const ac_value *v) {
  ac_shape s = ac_value_example(v);
  json_t *a = json_array();
  for (int i = 0; i < s.rank; i++) json_array_append_new(a, json_integer(s.dim[i]));
  return json_pack("{s:o, s:s}", "shape", a, "dtype", ac_dtypes[v->dtype].name);
}

static json_t *outputs_json(const ac_graph *g) {
  json_t *a = json_array();
  for (size_t i = 0; i < g->outputs.len; i++) {
    json_t *o = shape_json(g->outputs.data[i].value);
    json_object_set_new(o, "updates", json_integer(g->outputs.data[i].updates));
    json_array_append_new(a, o);
  }
  return a;
}

static int finish(ac_diags *d) {
  ac_diags_print(d, stderr, false);
  return ac_diags_exit(d);
}

/* The inputs' data, float64 or as the graph says; written to OUTDIR/in<i>.bin. */
static const void *make_input(ac_arena *a, const ac_graph *g, int i, const char *dir, json_t *desc, ac_diags *d) {
  static const char *const roles[] = {"tensor", "scalar", "param", "buffer"};
  const ac_input *in = &g->inputs.data[i];
  ac_shape s = ac_value_example(in->value);
  size_t n = (size_t)ac_shape_numel(&s) * (size_t)ac_dtypes[in->value->dtype].bytes;
  json_t *j = shape_json(in->value);
  json_object_set_new(j, "role", json_string(roles[in->role]));
  json_object_set_new(j, "name", json_string(in->name));
  json_array_append_new(desc, j);
  if (in->role == AC_IN_SCALAR) {
    double *p = ac_alloc(a, 8);
    if (ac_dtypes[in->value->dtype].cls == AC_FLOATING)
      *p = in->scalar;
    else
      *(int64_t *)p = (int64_t)in->scalar;
    json_object_set_new(j, "value", json_real(in->scalar));
    return p;
  }
  void *p = ac_alloc(a, n + 8);
  if (!ac_gen_input(g, i, 7, p, d)) return NULL;
  char *path = ac_sprintf(a, "%s/in%d.bin", dir, i);
  ac_write_file(path, p, n, d);
  return p;
}

static bool write_output(ac_arena *a, ac_ref *r, const ac_graph *g, int i, const char *dir, ac_diags *d) {
  ac_shape s = ac_value_example(g->outputs.data[i].value);
  int64_t n = ac_shape_numel(&s);
  double *p = ac_alloc_n(a, (size_t)n + 1, 8);
  bool fl = ac_dtypes[g->outputs.data[i].value->dtype].cls == AC_FLOATING;
  if (fl ? !ac_ref_read(r, i, 0, n, p) : !ac_ref_read_int(r, i, 0, n, (int64_t *)p)) return false;
  return ac_write_file(ac_sprintf(a, "%s/out%d.bin", dir, i), (char *)p, (size_t)n * 8, d);
}

int main(int argc, char **argv) {
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  if (argc < 3) {
    fprintf(stderr, "usage: refdump MODULE.py (OUTDIR [--init LIST] [--shape NAME=DIMS]... | --shapes)\n");
    return AC_BAD_INPUT;
  }
  ac_trace_opts o = AC_TRACE_DEFAULTS;
  bool shapes_only = !strcmp(argv[2], "--shapes");
  if (!shapes_only) o.dtype = AC_F64;
  for (int i = 3; i + 1 < argc; i += 2) {
    ac_shape_override s;
    if (!strcmp(argv[i], "--init"))
      o.init = argv[i + 1];
    else if (ac_parse_shape(a, argv[i + 1], &s, &d))
      ac_push(a, &o.shapes, s);
    else
      return finish(&d);
  }
  ac_graph *g = ac_trace(a, argv[1], &o, &d);
  if (!g) return finish(&d);
  json_t *outs = outputs_json(g);
  if (shapes_only) {
    fputs(ac_json_text(a, outs), stdout);
    json_decref(outs);
    return finish(&d);
  }
  ac_shape *at = AC_NEW_N(a, ac_shape, g->inputs.len + 1); /* binds the generators to the shapes asked for */
  for (size_t i = 0; i < g->inputs.len; i++) at[i] = ac_value_example(g->inputs.data[i].value);
  if (!(g = ac_graph_respecialise(a, g, at, &d))) return finish(&d);
  json_t *ins = json_array();
  const void **data = AC_NEW_N(a, const void *, g->inputs.len + 1);
  for (size_t i = 0; i < g->inputs.len; i++)
    if (!(data[i] = make_input(a, g, (int)i, argv[2], ins, &d))) return finish(&d);
  ac_ref *r = ac_ref_new(a, g, &(ac_ref_opts){.inputs = data}, &d);
  if (!r) return finish(&d);
  for (size_t i = 0; i < g->outputs.len; i++)
    if (!write_output(a, r, g, (int)i, argv[2], &d)) return finish(&d);
  json_t *all = json_pack("{s:o, s:o}", "inputs", ins, "outputs", outs);
  char *text = ac_json_text(a, all);
  ac_write_file(ac_sprintf(a, "%s/desc.json", argv[2]), text, strlen(text), &d);
  json_decref(all);
  ac_ref_free(r);
  int rc = finish(&d);
  ac_arena_free(a);
  return rc;
}
