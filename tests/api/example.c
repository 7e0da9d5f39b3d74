/* The public API in use: generates a project from a PyTorch module and prints where it is, or why not. */
#include <ascendcraft/ascendcraft.h>

#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODULE.py FOLDER\n", argv[0]);
    return AC_EXIT_BAD_INPUT;
  }
  ac_context *c = ac_context_new();
  if (!c) return AC_EXIT_LIMIT;
  ac_gen_options o = AC_GEN_OPTIONS_INIT;
  o.input = argv[1];
  o.output = argv[2];
  o.max_elements = 4096;
  int rc = ac_generate(c, &o);
  fputs(rc == AC_EXIT_OK ? ac_context_text(c) : ac_context_messages(c), rc == AC_EXIT_OK ? stdout : stderr);
  ac_context_free(c);
  return rc;
}
