/* What a kernel's library shows of its source that the device does not have: functions of the host's C and C++ libraries, which are there
 * only because the kernel is compiled for the host; and variables of the file that its blocks write. Here the blocks, which are threads, share
 * those; on the device no core sees what another one writes there but by chance: documents give global memory and UB as the only places for data (asc-devkit
 * docs/zh, abstract hardware architecture), and a variable of the file is neither. */
#include "sim/core_internal.h"
#include "sim/run_elf.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name of the C library's, and what AscendC has instead. "": nothing. */
static const struct {
  const char *name, *instead;
} host_functions[] = {
#define MATHS(name, instead) {#name, instead}, {#name "f", instead},
    MATHS(exp, "Exp on a LocalTensor") MATHS(log, "Ln on a LocalTensor") MATHS(pow, "Power on a LocalTensor")
        MATHS(sqrt, "AscendC::sqrt, or Sqrt on a LocalTensor") MATHS(sin, "Sin on a LocalTensor")
            MATHS(cos, "Cos on a LocalTensor") MATHS(tanh, "Tanh on a LocalTensor") MATHS(erf, "Erf on a LocalTensor")
                MATHS(floor, "ScalarCast, or Floor on a LocalTensor")
                    MATHS(ceil, "ScalarCast, or Ceil on a LocalTensor")
                        MATHS(round, "ScalarCast, or Round on a LocalTensor") MATHS(fmod, "Fmod on LocalTensors")
#undef MATHS
                            {"malloc", "TPipe::InitBuffer"},
    {"calloc", "TPipe::InitBuffer"},
    {"free", "TPipe::InitBuffer"},
    {"printf", "AscendC::printf"},
    {"puts", "AscendC::printf"},
    {"putchar", "AscendC::printf"},
    {"fprintf", "AscendC::printf"},
};
/* C++'s, by how their mangled names begin; "std::": the last name in it stands behind that. */
static const struct {
  const char *begin, *name, *instead;
} cpp_functions[] = {
    {"_Znw", "operator new", "TPipe::InitBuffer"},
    {"_Zna", "operator new[]", "TPipe::InitBuffer"},
    {"_Zdl", "operator delete", "TPipe::InitBuffer"},
    {"_Zda", "operator delete[]", "TPipe::InitBuffer"},
    {"_ZSt", "std::", NULL},
    {"_ZNSt", "std::", NULL},
    {"_ZNKSt", "std::", NULL},
};
/* What the compiler makes calls of by itself. */
static const char *const of_compiler[] = {"memcpy", "memmove", "memset", "memcmp"};

typedef struct {
  const uint8_t *at;
  uint8_t *before;
  size_t bytes;
  const char *name;
  bool each; /* thread_local: `at` is NULL, since every thread has its own */
} variable;
struct ac_run_globals {
  ac_elf elf;
  uintptr_t base; /* where it is loaded */
  AC_VEC(variable) variables;
  ac_arena *arena;
  bool device_only;
};
const void *ac_elf_at(const ac_elf *g, uint64_t offset, uint64_t bytes) {
  return offset <= g->size && bytes <= g->size - offset ? (const uint8_t *)g->file + offset : NULL;
}
const ElfW(Shdr) * ac_elf_sections(const ac_elf *g, size_t *n) {
  const ElfW(Ehdr) *e = ac_elf_at(g, 0, sizeof *e);
  *n = e && !memcmp(e->e_ident, ELFMAG, SELFMAG) ? e->e_shnum : 0;
  return *n ? ac_elf_at(g, e->e_shoff, *n * sizeof(ElfW(Shdr))) : NULL;
}
bool ac_elf_find_table(const ac_elf *g, uint32_t type, ac_elf_table *t) {
  size_t n;
  const ElfW(Shdr) *s = ac_elf_sections(g, &n);
  *t = (ac_elf_table){s, NULL, 0, NULL};
  for (size_t i = 0; s && i < n; i++) {
    if (s[i].sh_type != type || s[i].sh_link >= n) continue;
    const ElfW(Shdr) *names = &s[s[i].sh_link];
    t->symbols = ac_elf_at(g, s[i].sh_offset, s[i].sh_size);
    t->names = ac_elf_at(g, names->sh_offset, names->sh_size);
    t->n = s[i].sh_size / sizeof(ElfW(Sym));
  }
  return t->symbols && t->names;
}

/* The last name in a mangled one: of a variable in a function, a class or a namespace, its own. Arguments of templates that are numbers
 * are no lengths of names. */
static const char *plain_name(ac_arena *a, const char *symbol) {
  if (strncmp(symbol, "_Z", 2) != 0) return symbol;
  const char *found = symbol;
  for (const char *p = symbol + 2; *p;) {
    if (p[0] == 'L' && p[1] >= 'a' && p[1] <= 'z' && (p[2] == 'n' || (p[2] >= '0' && p[2] <= '9'))) {
      p += strcspn(p, "E");
    } else if (*p >= '0' && *p <= '9') {
      char *name;
      size_t n = strtoul(p, &name, 10);
      if (n > strlen(name)) break;
      found = ac_strndup(a, name, n);
      p = name + n;
    } else {
      p++;
    }
  }
  return found;
}

/* A variable that is thread_local counts as written: nothing of the file's own has one without a use. */
static bool add_thread_local(ac_run_globals *g, const ElfW(Sym) * v, const char *name) {
  if (ELF64_ST_TYPE(v->st_info) != STT_TLS || !v->st_shndx) return false;
  if (g->device_only && v->st_size && strncmp(name, "_ZGV", 4) && strncmp(name, "__tls_guard", 11))
    ac_push(g->arena, &g->variables, ((variable){NULL, NULL, v->st_size, plain_name(g->arena, name), true}));
  return true;
}

/* Variables that can be written: not the tables of addresses that the loader fills in. */
static void find_variables(ac_run_globals *g, uintptr_t base) {
  ac_elf_table t;
  size_t n;
  const ElfW(Shdr) *s = ac_elf_sections(&g->elf, &n);
  if (!ac_elf_find_table(&g->elf, SHT_SYMTAB, &t)) return;
  const ElfW(Ehdr) *e = g->elf.file;
  if (e->e_shstrndx >= n) return;
  const char *section_names = ac_elf_at(&g->elf, s[e->e_shstrndx].sh_offset, s[e->e_shstrndx].sh_size);
  for (size_t i = 0; section_names && i < t.n; i++) {
    const ElfW(Sym) *v = &t.symbols[i];
    const char *name = t.names + v->st_name;
    if (add_thread_local(g, v, name)) continue;
    if (ELF64_ST_TYPE(v->st_info) != STT_OBJECT || !v->st_size || v->st_shndx >= n || !v->st_shndx) continue;
    const ElfW(Shdr) *in = &s[v->st_shndx];
    const char *section = section_names + in->sh_name;
    if (!(in->sh_flags & SHF_WRITE) || (strncmp(section, ".data", 5) && strncmp(section, ".bss", 4)) ||
        !strncmp(section, ".data.rel.ro", 12) || !strncmp(name, "_ZGV", 4) || !strncmp(name, "completed.", 10) ||
        !strcmp(name, "__dso_handle"))
      continue;
    uint8_t *copy = malloc(v->st_size);
    if (!copy) continue;
    const uint8_t *now = (const uint8_t *)base + v->st_value;
    memcpy(copy, now, v->st_size);
    ac_push(g->arena, &g->variables, ((variable){now, copy, v->st_size, plain_name(g->arena, name), false}));
  }
}

ac_run_globals *ac_run_globals_open(void *library, bool device_only, bool launcher) {
  struct link_map *m = NULL;
  if (dlinfo(library, RTLD_DI_LINKMAP, &m)) return NULL;
  int fd = open(m->l_name, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st)) {
    if (fd >= 0) close(fd);
    return NULL;
  }
  void *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (file == MAP_FAILED) return NULL;
  ac_arena *a = ac_arena_new();
  ac_run_globals *g = AC_NEW(a, ac_run_globals);
  *g = (ac_run_globals){.elf = {file, (size_t)st.st_size}, .base = m->l_addr, .arena = a, .device_only = device_only};
  if (!launcher) find_variables(g, m->l_addr); /* a launcher is the host's, and may write them */
  return g;
}

static const char *instead_of(const char *name) {
  for (size_t i = 0; i < AC_COUNT(host_functions); i++)
    if (!strcmp(host_functions[i].name, name)) return host_functions[i].instead;
  return NULL;
}

/* How a source writes it; *use: what AscendC has instead, NULL for nothing. */
static const char *written(ac_arena *a, const char *symbol, const char **use) {
  *use = instead_of(symbol);
  for (size_t i = 0; i < AC_COUNT(cpp_functions); i++) {
    if (strncmp(symbol, cpp_functions[i].begin, strlen(cpp_functions[i].begin)) != 0) continue;
    *use = cpp_functions[i].instead;
    return strcmp(cpp_functions[i].name, "std::") != 0 ? cpp_functions[i].name
                                                       : ac_sprintf(a, "std::%s", plain_name(a, symbol));
  }
  return plain_name(a, symbol);
}

static bool has_device(const char *name) {
  bool has = !strncmp(name, "acsim_", 6) || !strncmp(name, "__", 2) || !strncmp(name, "_Unwind_", 8);
  for (size_t k = 0; k < AC_COUNT(of_compiler); k++) has = has || !strcmp(name, of_compiler[k]);
  return has;
}

static void report_function(const ac_run_globals *g, acsim_session *s, const char *who, const char *name, int i) {
  if (has_device(name)) return;
  const char *use, *shown = written(g->arena, name, &use);
  acsim_fault_pair(s, NULL, "host-function", (acsim_at){name, 0}, (acsim_at){NULL, i} /* each by itself */,
                   "%s calls %s, which is in the host's library and not on the device: %s%s", who, shown,
                   use ? "use " : "AscendC has no such function", use ? use : "");
}

static void report_functions(const ac_run_globals *g, acsim_session *s) {
  ac_elf_table t;
  if (!ac_elf_find_table(&g->elf, SHT_DYNSYM, &t)) return;
  for (size_t i = 1; i < t.n; i++)
    if (t.symbols[i].st_shndx == SHN_UNDEF && ELF64_ST_BIND(t.symbols[i].st_info) != STB_WEAK)
      report_function(g, s, "the file of the kernel", t.names + t.symbols[i].st_name, (int)i);
}

/* In a file with host code: of the functions that the blocks run. */
static void report_reached(const ac_run_globals *g, acsim_session *s, const void *entry) {
  uint64_t *roots = AC_NEW_N(g->arena, uint64_t, s->n_kernels + 1);
  size_t n = 0;
  if (entry) roots[n++] = (uintptr_t)entry - g->base;
  for (int i = 0; i < s->n_kernels; i++) roots[n++] = (uintptr_t)s->kernels[i] - g->base;
  ac_strvec names = ac_elf_reached(g->arena, &g->elf, roots, n);
  for (size_t i = 0; i < names.len; i++) report_function(g, s, "a kernel", names.data[i], (int)i);
}

void ac_run_globals_close(ac_run_globals *g, acsim_session *s, const void *entry) {
  if (!g) return;
  for (size_t i = 0; i < g->variables.len; i++) {
    variable *v = &g->variables.data[i];
    if (v->each)
      acsim_fault_pair(
          s, NULL, "global-written", (acsim_at){v->name, 0}, (acsim_at){NULL, (int)i + 1},
          "the variable %s (%zu bytes) is thread_local: here every thread of the host has its own, on the "
          "device there are neither threads nor such memory. Make it a member of the kernel's class, or "
          "keep it in UB or in the workspace",
          v->name, v->bytes);
    else if (memcmp(v->at, v->before, v->bytes) != 0)
      acsim_fault_pair(
          s, NULL, "global-written", (acsim_at){v->name, 0} /* the parent finds the line */,
          (acsim_at){NULL, (int)i + 1},
          "the blocks write the variable %s (%zu bytes), which is global or static: here they share it, on "
          "the device there is no such memory. Make it a member of the kernel's class, or keep it in UB or "
          "in the workspace",
          v->name, v->bytes);
    free(v->before);
  }
  if (g->device_only)
    report_functions(g, s);
  else
    report_reached(g, s, entry);
  munmap(g->elf.file, g->elf.size);
  ac_arena_free(g->arena);
}
