/* Reads the costs of a chip and computes those of single instructions. */
#include "isa/cost.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  ac_arena *a;
  const char *bad; /* the first key that is missing, or that is no number from 0 on */
} reader;

static double number(reader *r, const json_t *in, const char *group, const char *key) {
  const json_t *v = json_object_get(in, key);
  if (json_is_number(v) && json_number_value(v) >= 0) return json_number_value(v);
  if (!r->bad) r->bad = ac_sprintf(r->a, "%s.%s", group, key);
  return 0;
}
static double positive(reader *r, const json_t *in, const char *group, const char *key) {
  double x = number(r, in, group, key);
  if (x > 0) return x;
  if (!r->bad) r->bad = ac_sprintf(r->a, "%s.%s", group, key);
  return 1;
}
static double optional(const json_t *in, const char *key) {
  return json_number_value(json_object_get(in, key));
}

/* ---- vector instructions ---- */

static const json_t *row_of(const json_t *table, const char *name) {
  const json_t *row = json_object_get(table, name);
  for (int k = 0; k < 4 && json_object_get(row, "like"); k++)
    row = json_object_get(table, json_string_value(json_object_get(row, "like")));
  return row;
}

static void repeats(reader *r, const json_t *v, const char *name, ac_op_cost *o) {
  bool table = json_is_object(v);
  o->any = json_number_value(table ? json_object_get(v, "default") : v);
  if (o->any <= 0 && !r->bad) r->bad = ac_sprintf(r->a, "vector.%s.repeat", name);
  for (int t = 0; t < AC_DTYPE_COUNT; t++) {
    const json_t *own = table ? json_object_get(v, ac_dtypes[t].name) : NULL;
    o->repeat[t] = own ? json_number_value(own) : o->any;
  }
}

static ac_op_cost op_cost(reader *r, const json_t *table, const char *name) {
  const json_t *row = row_of(table, name);
  ac_op_cost o = {.name = name};
  repeats(r, json_object_get(row, "repeat"), name, &o);
  o.head = number(r, row, name, "head");
  o.tail = number(r, row, name, "tail");
  o.fixed = optional(row, "fixed");
  o.count_extra = optional(row, "count_extra");
  return o;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const ac_op_cost *)a)->name, ((const ac_op_cost *)b)->name);
}

static void read_ops(reader *r, const json_t *table, ac_costs *c) {
  ac_op_cost *ops = AC_NEW_N(r->a, ac_op_cost, json_object_size(table) + 1);
  const char *key;
  json_t *v;
  json_object_foreach((json_t *)table, key, v) {
    if (json_is_object(v)) ops[c->n_ops++] = op_cost(r, table, ac_strdup(r->a, key));
  }
  if (c->n_ops) qsort(ops, c->n_ops, sizeof *ops, by_name);
  c->ops = ops;
  c->other = ac_cost_of(c, "default");
  if (!c->other && !r->bad) r->bad = "vector.default";
}

const ac_op_cost *ac_cost_of(const ac_costs *c, const char *name) {
  ac_op_cost key = {.name = name};
  const ac_op_cost *o = c->n_ops ? bsearch(&key, c->ops, c->n_ops, sizeof key, by_name) : NULL;
  return o ? o : c->other;
}

double ac_cost_vector(const ac_op_cost *o, ac_dtype d, int64_t n, double least_repeat, bool count_form) {
  double each = d < AC_DTYPE_COUNT ? o->repeat[d] : o->any;
  if (each < least_repeat) each = least_repeat;
  return o->fixed + each * (double)n + (count_form ? o->count_extra : 0);
}

/* ---- the rest ---- */

static ac_copy_cost copy_cost(reader *r, const json_t *in) {
  return (ac_copy_cost){.start = number(r, in, "copy", "start"),
                        .latency = number(r, in, "copy", "latency"),
                        .bytes_per_cycle = positive(r, in, "copy", "bytes_per_cycle"),
                        .burst = number(r, in, "copy", "burst")};
}

static void read_copies(reader *r, const json_t *copy, ac_costs *c) {
  c->in = copy_cost(r, json_object_get(copy, "gm_to_ub"));
  c->out = copy_cost(r, json_object_get(copy, "ub_to_gm"));
  c->request = (int64_t)positive(r, copy, "copy", "request");
  c->align = (int64_t)positive(r, copy, "copy", "align");
  c->unaligned = positive(r, copy, "copy", "unaligned");
  c->atomic = positive(r, copy, "copy", "atomic");
}

static void read_memory(reader *r, const json_t *gm, ac_costs *c) {
  c->hbm = positive(r, gm, "gm", "hbm_gb_s");
  c->l2_read = positive(r, gm, "gm", "l2_read_gb_s");
  c->l2_write = positive(r, gm, "gm", "l2_write_gb_s");
  c->l2 = positive(r, gm, "gm", "l2_gb_s");
  c->line = (int64_t)positive(r, gm, "gm", "line");
  c->resident = number(r, gm, "gm", "resident");
  c->carry = number(r, gm, "gm", "carry");
  c->dirty = number(r, gm, "gm", "dirty");
  c->share = positive(r, gm, "gm", "share");
}

static const ac_costs *decode(reader *r, const json_t *j) {
  ac_costs *c = AC_NEW(r->a, ac_costs);
  const json_t *scalar = json_object_get(j, "scalar"), *launch = json_object_get(j, "launch");
  read_ops(r, json_object_get(j, "vector"), c);
  c->bank_groups = (int)positive(r, json_object_get(j, "banks"), "banks", "groups");
  read_copies(r, json_object_get(j, "copy"), c);
  read_memory(r, json_object_get(j, "gm"), c);
#define S(name) c->scalar.name = number(r, scalar, "scalar", #name);
  AC_SCALAR_COSTS(S)
#undef S
  c->sync_all = number(r, json_object_get(j, "sync"), "sync", "sync_all");
  c->launch_us = number(r, launch, "launch", "us");
  c->core_us = number(r, launch, "launch", "core_us");
  c->block = number(r, launch, "launch", "block");
  c->counter_mhz = positive(r, json_object_get(j, "counter"), "counter", "mhz");
  const json_t *e = json_object_get(j, "error");
  c->error = (ac_cost_error){optional(e, "median_percent"), optional(e, "p90_percent"), (int)optional(e, "kernels"),
                             (int)optional(e, "rows")};
  return c;
}

/* The file of figures that several chips share: beside the chip's file, or among the chips that come with the program. */
static json_t *base_of(ac_arena *a, const char *name, const char *dir, ac_diags *d) {
  char *path = ac_path_join(a, dir, ac_sprintf(a, "costs/%s.json", name));
  if (!ac_exists(path)) path = ac_home_path(a, ac_sprintf(a, "data/chips/costs/%s.json", name));
  size_t len = 0;
  char *text = path ? ac_read_file(a, path, 0, &len, d) : NULL;
  return text ? ac_json_parse(path, text, len, d) : NULL;
}

const ac_costs *ac_costs_read(ac_arena *a, const json_t *chip, const char *dir, const char **bad, ac_diags *d) {
  const json_t *own = json_object_get(chip, "costs");
  const char *base = json_string_value(json_object_get(own, "base"));
  json_t *all = base ? base_of(a, base, dir, d) : json_object();
  reader r = {.a = a};
  const ac_costs *c = NULL;
  if (all && json_is_object(own)) {
    json_object_update_recursive(all, (json_t *)own);
    c = decode(&r, all);
  }
  json_decref(all);
  *bad = r.bad ? ac_sprintf(a, "costs.%s", r.bad) : c ? NULL : "costs";
  return r.bad ? NULL : c;
}
