/* A library as it lies on the disk. */
#ifndef AC_SIM_RUN_ELF_H
#define AC_SIM_RUN_ELF_H

#include "sim/run_internal.h"

#include <elf.h>
#include <link.h>

typedef struct {
  void *file;
  size_t size;
} ac_elf;
typedef struct {
  const ElfW(Shdr) * section;
  const ElfW(Sym) * symbols;
  size_t n;
  const char *names;
} ac_elf_table;

/* NULL where the file has no such bytes. */
const void *ac_elf_at(const ac_elf *g, uint64_t offset, uint64_t bytes);
const ElfW(Shdr) * ac_elf_sections(const ac_elf *g, size_t *n);
/* SHT_SYMTAB or SHT_DYNSYM. */
bool ac_elf_find_table(const ac_elf *g, uint32_t type, ac_elf_table *t);

/* The names outside of the library that the code at these addresses of it refers to, each once, directly or over functions and variables of
 * the library. It must have been linked with --emit-relocs. */
ac_strvec ac_elf_reached(ac_arena *a, const ac_elf *file, const uint64_t *roots, size_t n_roots);

#endif
