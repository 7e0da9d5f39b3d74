/* Which functions of the host's libraries a kernel's own code calls, where its file has code of the host, too (it launches its kernels): along
 * the relocations that the linker leaves in the library (--emit-relocs), function by function (-ffunction-sections), from the kernels
 * that were launched. What is reached only over an address that code keeps in data counts where that data is reached. */
#include "sim/run_elf.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1 };

typedef struct {
  uint64_t lo, hi;
  bool reached;
} node;
typedef struct {
  int from, to;    /* nodes; to NOBODY: outside */
  uint32_t symbol; /* that is outside */
} edge;
typedef struct {
  ac_arena *a;
  ac_elf_table t;
  AC_VEC(node) nodes; /* functions and variables with a name, by address */
  AC_VEC(edge) edges;
} graph;

static int by_address(const void *x, const void *y) {
  const node *a = x, *b = y;
  if (a->lo != b->lo) return a->lo < b->lo ? -1 : 1;
  return a->hi < b->hi ? -1 : a->hi > b->hi;
}

static int node_at(const graph *g, uint64_t address) {
  size_t lo = 0, hi = g->nodes.len; /* the first that begins after it */
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (g->nodes.data[mid].lo <= address)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo && address < g->nodes.data[lo - 1].hi ? (int)lo - 1 : NOBODY;
}

static void find_nodes(graph *g) {
  for (size_t i = 0; i < g->t.n; i++) {
    const ElfW(Sym) *s = &g->t.symbols[i];
    int type = ELF64_ST_TYPE(s->st_info);
    if ((type != STT_FUNC && type != STT_OBJECT) || !s->st_size || !s->st_shndx || s->st_shndx >= SHN_LORESERVE)
      continue;
    ac_push(g->a, &g->nodes, ((node){s->st_value, s->st_value + s->st_size, false}));
  }
  if (g->nodes.len) qsort(g->nodes.data, g->nodes.len, sizeof *g->nodes.data, by_address);
  size_t n = 0; /* names of one thing are one node */
  for (size_t i = 0; i < g->nodes.len; i++) {
    node *last = n ? &g->nodes.data[n - 1] : NULL;
    if (last && last->lo == g->nodes.data[i].lo)
      last->hi = g->nodes.data[i].hi;
    else
      g->nodes.data[n++] = g->nodes.data[i];
  }
  g->nodes.len = n;
}

/* Of a section's symbol the addend says what is meant; that of a relative reference counts from the end of the instruction's 4 bytes. */
static void add_edges(graph *g, int from, const ElfW(Rela) * r) {
  uint32_t index = (uint32_t)ELF64_R_SYM(r->r_info);
  if (index >= g->t.n) return;
  const ElfW(Sym) *s = &g->t.symbols[index];
  if (ELF64_ST_TYPE(s->st_info) != STT_SECTION) {
    bool outside = s->st_shndx == SHN_UNDEF;
    int to = outside ? NOBODY : node_at(g, s->st_value);
    if ((outside && index) || to != NOBODY) ac_push(g->a, &g->edges, ((edge){from, to, index}));
    return;
  }
  uint64_t place = s->st_value + (uint64_t)r->r_addend;
  int to = node_at(g, place), relative = node_at(g, place + 4);
  if (relative != NOBODY && g->nodes.data[relative].lo == place + 4) to = relative;
  if (to != NOBODY) ac_push(g->a, &g->edges, ((edge){from, to, index}));
}

static void find_edges(graph *g, const ac_elf *file) {
  size_t n;
  const ElfW(Shdr) *s = ac_elf_sections(file, &n);
  for (size_t i = 0; s && i < n; i++) {
    if (s[i].sh_type != SHT_RELA || s[i].sh_link >= n || s[s[i].sh_link].sh_type != SHT_SYMTAB) continue;
    const ElfW(Rela) *r = ac_elf_at(file, s[i].sh_offset, s[i].sh_size);
    for (size_t k = 0; r && k < s[i].sh_size / sizeof *r; k++) {
      int from = node_at(g, r[k].r_offset);
      if (from != NOBODY) add_edges(g, from, &r[k]);
    }
  }
}

static void follow(graph *g) {
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < g->edges.len; i++) {
      const edge *e = &g->edges.data[i];
      if (e->to == NOBODY || !g->nodes.data[e->from].reached || g->nodes.data[e->to].reached) continue;
      more = g->nodes.data[e->to].reached = true;
    }
  }
}

ac_strvec ac_elf_reached(ac_arena *a, const ac_elf *file, const uint64_t *roots, size_t n_roots) {
  graph g = {.a = a};
  ac_strvec names = {0};
  if (!ac_elf_find_table(file, SHT_SYMTAB, &g.t)) return names;
  find_nodes(&g);
  find_edges(&g, file);
  for (size_t i = 0; i < n_roots; i++) {
    int root = node_at(&g, roots[i]);
    if (root != NOBODY) g.nodes.data[root].reached = true;
  }
  follow(&g);
  for (size_t i = 0; i < g.edges.len; i++) {
    const edge *e = &g.edges.data[i];
    if (e->to != NOBODY || !g.nodes.data[e->from].reached) continue;
    const char *name = g.t.names + g.t.symbols[e->symbol].st_name;
    if (ELF64_ST_BIND(g.t.symbols[e->symbol].st_info) == STB_WEAK) continue;
    const char *plain = ac_strndup(a, name, strcspn(name, "@")); /* "expf@GLIBC_2.27" */
    bool known = false;
    for (size_t k = 0; k < names.len; k++) known = known || !strcmp(names.data[k], plain);
    if (!known) ac_push(a, &names, plain);
  }
  return names;
}
