/* The direct way in: an AscendC program, tensors and attributes to a result; in the sandboxed child, or in this process. */
#include "sim/core_internal.h"
#include "sim/direct.h"
#include "sim/run_internal.h"

#include <string.h>
#include <sys/mman.h>

struct ac_direct_job {
  ac_dprogram *p;
  ac_dvalue *attrs, *scratch;
  ac_dplan plan;
};

/* asc-devkit, impl/utils/tiling/platform/platform_ascendc.cpp: what GetLibApiWorkSpaceSize says. */
static int64_t library_workspace(const ac_chip *c) {
  return c->npu_arch == 2201 ? 16 << 20 : 2 << 20;
}

/* ---- in the child (or here) ---- */

static void fill_tiling(const ac_direct_job *x, uint8_t *to) {
  const ac_program *p = x->p->p;
  for (size_t i = 0; i < p->fields.len; i++)
    memcpy(to + x->p->field_at[i], &x->plan.fields[i], p->fields.data[i].type == AC_AT_FLOAT ? 4 : 8);
}

static bool tiling(const ac_run_job *j, ac_direct_job *x) {
  ac_run_shared *o = j->out;
  const ac_chip *chip = j->lib->spec.chip;
  o->stage = AC_STAGE_TILING;
  ac_direct_tiling(x->p, j->tensors, x->attrs, chip->vector_cores, (int64_t)ac_run_usable_ub(chip),
                   j->opts->deterministic, x->scratch, &x->plan);
  if (x->plan.refusal[0]) {
    o->problem = AC_RUN_REFUSED;
    snprintf(o->message, sizeof o->message, "%s: %s", j->lib->spec.op, x->plan.refusal);
    return false;
  }
  fill_tiling(x, o->tiling);
  o->block_dim = x->plan.block_dim;
  o->tiling_key = x->plan.key;
  o->tiling_bytes = x->p->tiling_bytes;
  o->workspace = library_workspace(chip) + x->plan.workspace;
  return true;
}

static void blocks(const ac_run_job *j, ac_direct_job *x) {
  ac_run_shared *o = j->out;
  uint8_t *workspace = ac_run_map(o, o->workspace);
  if (o->problem) return;
  acsim_session *s = ac_run_session_open(j);
  acsim_add_buffer(s, &(acsim_buffer){.name = "workspace",
                                      .data = workspace,
                                      .bytes = o->workspace,
                                      .elem = 1,
                                      .kind = ACSIM_WORKSPACE,
                                      .system = library_workspace(j->lib->spec.chip)});
  acsim_add_buffer(
      s, &(acsim_buffer){
             .name = "tiling", .data = o->tiling, .bytes = o->tiling_bytes, .elem = 1, .kind = ACSIM_TILING});
  ac_dcall call = {.p = x->p, .plan = &x->plan, .tensors = j->tensors, .workspace = workspace, .tiling = o->tiling};
  if (j->deadline > 0) call.deadline = j->deadline;
  o->stage = AC_STAGE_BLOCKS;
  acsim_launch(s, o->block_dim, (uint64_t)o->tiling_key, ac_direct_block, &call);
  o->late = call.late;
  ac_run_session_close(j, s);
  munmap(workspace, (size_t)o->workspace);
}

int ac_direct_child(const ac_run_job *j) {
  if (tiling(j, j->direct) && !j->opts->tiling_only) blocks(j, j->direct);
  return 0;
}

/* ---- what goes in ---- */

static ac_loc place_of(const ac_program *p) {
  return (ac_loc){.file = p->kernels.len ? p->kernels.data[0]->loc.file : NULL};
}

static bool as_many(const ac_program *p, int n, ac_diags *d) {
  if ((size_t)n == p->tensors.len) return true;
  ac_error(d, AC0806, place_of(p), "%s takes %zu tensors, %d were given", p->op, p->tensors.len, n);
  return false;
}

static bool check_tensors(const ac_program *p, const ac_sim_tensor *t, int n, ac_diags *d) {
  ac_loc at = place_of(p);
  if (!as_many(p, n, d)) return false;
  for (int i = 0; i < n; i++) {
    const ac_aparam *want = &p->tensors.data[i];
    bool out = want->dir != AC_TENSOR_IN, in = want->dir != AC_TENSOR_OUT;
    if (t[i].dtype != want->dtype) {
      ac_error(d, AC0806, at, "%s is %s, the tensor given for it %s", want->name, ac_dtypes[want->dtype].name,
               ac_dtypes[t[i].dtype].name);
      return false;
    }
    if (t[i].output != out || (out && t[i].also_input != in)) {
      ac_error(d, AC0806, at, "%s is %s, the tensor given for it is not", want->name,
               in && out ? "updated in place"
               : out     ? "an output"
                         : "an input");
      return false;
    }
  }
  return true;
}

/* Attributes by name; what is not given has its default. Floats pass through float, as the operator's attributes do. */
static bool fill_attrs(const ac_program *p, const ac_sim_attr *attrs, int n, ac_dvalue *out, ac_diags *d) {
  for (int k = 0; k < n; k++) {
    bool known = false;
    for (size_t i = 0; i < p->attrs.len; i++) known |= !strcmp(p->attrs.data[i].name, attrs[k].name);
    if (known) continue;
    ac_error(d, AC0806, AC_NOLOC, "%s has no attribute %s", p->op, attrs[k].name);
    return false;
  }
  for (size_t i = 0; i < p->attrs.len; i++) {
    const ac_aattr *a = &p->attrs.data[i];
    const ac_sim_attr *given = NULL;
    for (int k = 0; k < n; k++)
      if (!strcmp(attrs[k].name, a->name)) given = &attrs[k];
    if (!given && !a->has_default) {
      ac_error(d, AC0806, AC_NOLOC, "attribute %s is required and was not given", a->name);
      return false;
    }
    bool real = given && given->kind == AC_ATTR_F;
    double f = !given ? a->value : real ? given->f : (double)given->i;
    int64_t whole = !given ? (int64_t)a->value : real ? (int64_t)given->f : given->i;
    if (a->type == AC_AT_FLOAT)
      out[i].d = (double)(float)f;
    else
      out[i].i = a->type == AC_AT_BOOL ? whole != 0 : whole;
  }
  return true;
}

ac_sim_compiled *ac_sim_compile(ac_arena *a, const ac_program *p, ac_diags *d) {
  return ac_direct_compile(a, p, d);
}

bool ac_sim_output_shapes(ac_arena *a, const ac_sim_compiled *x, ac_sim_tensor *tensors, int n,
                          const ac_sim_attr *attrs, int n_attrs, ac_diags *d) {
  const ac_program *p = x->p;
  ac_dplan plan = {.key = 0};
  if (!as_many(p, n, d)) return false;
  ac_dvalue *values = AC_NEW_N(a, ac_dvalue, p->attrs.len + 1), *scratch = AC_NEW_N(a, ac_dvalue, x->n_values + 1);
  if (!fill_attrs(p, attrs, n_attrs, values, d)) return false;
  for (int i = 0; i < n; i++) {
    int rank;
    int64_t dims[AC_MAX_RANK];
    if (!ac_direct_shape(x, tensors, values, (size_t)i, scratch, &plan, &rank, dims)) continue;
    if (plan.refusal[0]) {
      ac_error(d, AC0904, AC_NOLOC, "%s: %s", p->op, plan.refusal);
      return false;
    }
    tensors[i].rank = rank;
    memcpy(tensors[i].shape, dims, sizeof(int64_t) * (size_t)rank);
  }
  return true;
}

bool ac_sim_run_program(ac_arena *a, const ac_program *p, const ac_chip *chip, ac_sim_tensor *tensors, int n,
                        const ac_sim_attr *attrs, int n_attrs, const ac_sim_opts *opts, ac_sim_result *r,
                        ac_diags *d) {
  ac_direct_job x = {.p = ac_direct_compile(a, p, d)};
  *r = (ac_sim_result){0};
  if (!x.p || !check_tensors(p, tensors, n, d)) return false;
  x.attrs = AC_NEW_N(a, ac_dvalue, p->attrs.len + 1);
  x.scratch = AC_NEW_N(a, ac_dvalue, x.p->n_values + 1);
  x.plan.fields = AC_NEW_N(a, ac_dvalue, p->fields.len + 1);
  if (!fill_attrs(p, attrs, n_attrs, x.attrs, d)) return false;
  if (x.p->tiling_bytes > AC_RUN_TILING) {
    ac_error(d, AC0806, AC_NOLOC, "%lld bytes of tiling data: the simulator takes %d", (long long)x.p->tiling_bytes,
             (int)AC_RUN_TILING);
    return false;
  }
  ac_sim_lib lib = {.spec = {.form = AC_SIM_MSOPGEN,
                             .op = p->op,
                             .op_type = p->op_type,
                             .kernel_src = x.p->file,
                             .host_src = x.p->file,
                             .chip = chip}};
  ac_run_job j = {.lib = &lib,
                  .direct = &x,
                  .tensors = tensors,
                  .n_tensors = n,
                  .attrs = attrs,
                  .n_attrs = n_attrs,
                  .opts = opts};
  return ac_run_do(a, &j, r, d);
}
