/* Constants that a kernel defines at namespace scope (`constexpr __gm__ int32_t table[]`) lie in global memory on the device, where its
 * binary is loaded, and may be read like a tensor. Here they lie in the parts of its library that are only read. */
#include "sim/run_internal.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

typedef struct {
  acsim_session *s;
  const struct link_map *library;
} loaded;

static int add_segments(struct dl_phdr_info *info, size_t size, void *user) {
  (void)size;
  const loaded *l = user;
  if (info->dlpi_addr != l->library->l_addr || strcmp(info->dlpi_name, l->library->l_name)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    if (h->p_type != PT_LOAD || !(h->p_flags & PF_R) || h->p_flags & PF_W || !h->p_filesz) continue;
    acsim_add_buffer(l->s, &(acsim_buffer){.name = "the kernel's constants",
                                           .data = (uint8_t *)(info->dlpi_addr + h->p_vaddr),
                                           .bytes = (int64_t)h->p_filesz,
                                           .elem = 1,
                                           .kind = ACSIM_CONSTANT});
  }
  return 1;
}

void ac_run_add_constants(acsim_session *s, void *library) {
  loaded l = {.s = s};
  struct link_map *m = NULL;
  if (dlinfo(library, RTLD_DI_LINKMAP, &m)) return;
  l.library = m;
  dl_iterate_phdr(add_segments, &l);
}
