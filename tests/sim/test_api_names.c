/* How much of AscendC the simulator has. tests/sim/api/names.csv lists the 548 names that public device code uses, with the number of
 * operators for Atlas A2 that use each. "supported" means: sim/include has it and a test kernel or a fixture, which other tests
 * compile, run and judge by values, uses it. docs/api.md says the same, word for word as this test writes it. */
#include "sim/sim.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SUPPORTED, CUBE, COMMUNICATION, OTHER_CHIP, NOT_A_NAME, MISSING, STATUSES };
static const struct {
  const char *key, *title, *text;
} statuses[STATUSES] = {
    {"supported", "Supported",
     "In `sim/include`, used by a test whose results are compared with independent values."},
    {"cube", "Not yet: the cube side", "Matrix multiplication, convolution, their tiling, and the types they take."},
    {"communication", "Not yet: communication", "HCCL and HCOMM: several devices."},
    {"other-chip", "Not on Atlas A2",
     "The documentation gives these for the Ascend 950 only (register-based vector code, newer library functions)."},
    {"not-a-name", "Not names of the API", "Parameters of templates that the count of names took along."},
    {"missing", "Not yet: other", "`GroupBarrier` (barriers inside groups of cores) and the profiler's marks."},
};

typedef struct {
  const char *name;
  long weight;
  int status;
} api_name;

static ac_arena *arena;
static ac_diags diags;
static api_name names[1024];
static size_t n_names;

static bool word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Every identifier of the files below a folder, outside comments. */
typedef struct {
  ac_strvec words;
  bool sorted;
} word_set;
static void add_text(word_set *w, const char *p) {
  while (*p) {
    if (p[0] == '/' && p[1] == '*') {
      const char *e = strstr(p + 2, "*/");
      p = e ? e + 2 : p + strlen(p);
    } else if (p[0] == '/' && p[1] == '/') {
      p += strcspn(p, "\n");
    } else if (word_char(*p)) {
      const char *s = p;
      while (word_char(*p)) p++;
      ac_push(arena, &w->words, ac_strndup(arena, s, (size_t)(p - s)));
    } else {
      p++;
    }
  }
}
static void add_tree(word_set *w, const char *dir) {
  DIR *d = opendir(dir);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    const char *path = ac_path_join(arena, dir, e->d_name);
    if (strchr(e->d_name, '.') == NULL) {
      add_tree(w, path);
    } else if (strstr(e->d_name, ".h") || strstr(e->d_name, ".cpp")) {
      size_t n;
      char *text = ac_read_file(arena, path, 4u << 20, &n, &diags);
      assert_non_null(text);
      add_text(w, text);
    }
  }
  closedir(d);
}
static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}
static bool has(word_set *w, const char *word) {
  if (!w->words.len) return false;
  if (!w->sorted) qsort(w->words.data, w->words.len, sizeof *w->words.data, by_text);
  w->sorted = true;
  return bsearch(&word, w->words.data, w->words.len, sizeof *w->words.data, by_text) != NULL;
}

static void read_names(void) {
  size_t n;
  char *p = ac_read_file(arena, AC_SOURCE_DIR "/tests/sim/api/names.csv", 1u << 20, &n, &diags);
  assert_non_null(p);
  for (char *line = strchr(p, '\n') + 1; *line; line += strcspn(line, "\n") + 1) {
    assert_true(n_names < sizeof names / sizeof names[0]);
    api_name *a = &names[n_names++];
    size_t len = strcspn(line, ",");
    a->name = ac_strndup(arena, line, len);
    a->weight = strtol(line + len + 1, NULL, 10);
    const char *status = line + len + 1;
    status = strchr(strchr(status, ',') + 1, ',') + 1;
    a->status = -1;
    for (int k = 0; k < STATUSES; k++)
      if (strcspn(status, "\n") == strlen(statuses[k].key) &&
          !memcmp(status, statuses[k].key, strlen(statuses[k].key)))
        a->status = k;
    if (a->status < 0) fail_msg("names.csv: the status of %s", a->name);
  }
}

static void supported_names_are_used(void **state) {
  (void)state;
  word_set headers = {0}, tests = {0};
  add_tree(&headers, AC_SOURCE_DIR "/sim/include");
  add_tree(&tests, AC_SOURCE_DIR "/tests/sim/kernels");
  add_tree(&tests, AC_SOURCE_DIR "/tests/sim/fixtures");
  for (size_t i = 0; i < n_names; i++) {
    bool in = has(&headers, names[i].name), used = has(&tests, names[i].name);
    if (names[i].status == SUPPORTED && !in)
      fail_msg("%s is called supported and is not in sim/include", names[i].name);
    if (names[i].status == SUPPORTED && !used)
      fail_msg("%s is called supported and no test kernel or fixture uses it", names[i].name);
    if (names[i].status == MISSING && in && used) fail_msg("%s is called missing and is there", names[i].name);
  }
}

/* What docs/api.md must say. */
static const char *page(void) {
  long names_of[STATUSES] = {0}, weight_of[STATUSES] = {0}, names_all = 0, weight_all = 0;
  for (size_t i = 0; i < n_names; i++) {
    names_of[names[i].status]++, names_all++;
    weight_of[names[i].status] += names[i].weight, weight_all += names[i].weight;
  }
  ac_buf b;
  ac_buf_init(&b, arena);
  ac_printf(&b, "| | names | share | operators' use | share |\n|---|---|---|---|---|\n");
  for (int k = 0; k < STATUSES; k++)
    ac_printf(&b, "| %s | %ld | %.1f %% | %ld | %.1f %% |\n", statuses[k].title, names_of[k],
              100.0 * (double)names_of[k] / (double)names_all, weight_of[k],
              100.0 * (double)weight_of[k] / (double)weight_all);
  double mine = (double)(names_of[SUPPORTED] + names_of[MISSING]),
         weight = (double)(weight_of[SUPPORTED] + weight_of[MISSING]);
  ac_printf(
      &b,
      "\nOf the names on the vector side and the host side of Atlas A2 (supported and \"other\"), %.1f %% are there; "
      "by use, %.1f %%.\n",
      100 * (double)names_of[SUPPORTED] / mine, 100 * (double)weight_of[SUPPORTED] / weight);
  for (int k = 0; k < STATUSES; k++) {
    ac_printf(&b, "\n## %s\n\n%s\n\n", statuses[k].title, statuses[k].text);
    size_t column = 0;
    for (size_t i = 0; i < n_names; i++) {
      if (names[i].status != k) continue;
      size_t len = strlen(names[i].name) + 2;
      if (column) ac_printf(&b, "%s", column + len + 1 > 130 ? "\n" : " ");
      column = column && column + len + 1 <= 130 ? column + len + 1 : len;
      ac_printf(&b, "`%s`", names[i].name);
    }
    ac_printf(&b, "\n");
  }
  return ac_buf_str(&b);
}

/* SIM_API_WRITE=1 writes the page anew. */
static void the_page_is_true(void **state) {
  (void)state;
  const char *path = AC_SOURCE_DIR "/docs/api.md",
             *mark = "<!-- from here on as tests/sim/test_api_names.c writes it -->\n\n";
  size_t n;
  char *text = ac_read_file(arena, path, 1u << 20, &n, &diags);
  assert_non_null(text);
  char *from = strstr(text, mark);
  assert_non_null(from);
  const char *want = page();
  if (getenv("SIM_API_WRITE")) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%.*s%s%s", (int)(from - text), text, mark, want);
    fclose(f);
    return;
  }
  if (strcmp(from + strlen(mark), want))
    fail_msg("docs/api.md is not what the names say; SIM_API_WRITE=1 %s writes it", "sim_test_api_names");
}

int main(void) {
  arena = ac_arena_new();
  ac_diags_init(&diags, arena);
  read_names();
  const struct CMUnitTest t[] = {cmocka_unit_test(supported_names_are_used), cmocka_unit_test(the_page_is_true)};
  int rc = cmocka_run_group_tests(t, NULL, NULL);
  ac_arena_free(arena);
  return rc;
}
