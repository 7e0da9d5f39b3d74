#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>

static ac_diags fresh(void **state) {
  ac_diags d;
  ac_diags_init(&d, *state);
  return d;
}

static void expect(ac_diags *d, ac_code code, const char *word) {
  assert_int_equal(d->list.len, 1);
  assert_int_equal(d->list.data[0]->code, code);
  if (!strstr(d->list.data[0]->message, word)) fail_msg("'%s' is not in '%s'", word, d->list.data[0]->message);
}

static char *temp_file(ac_arena *a, const char *name) {
  return ac_path_join(a, ac_temp_dir(a, NULL), name);
}

static void write_and_read(void **state) {
  ac_diags d = fresh(state);
  char *path = temp_file(*state, "f");
  assert_true(ac_write_file(path, "a\0b\n", 4, &d));
  size_t n = 0;
  char *text = ac_read_file(*state, path, 0, &n, &d);
  assert_int_equal(n, 4);
  assert_memory_equal(text, "a\0b\n\0", 5);
  assert_true(ac_write_file(path, "", 0, &d)); /* replaces */
  assert_string_equal(ac_read_file(*state, path, 0, &n, &d), "");
  assert_int_equal(n, 0);
  assert_int_equal(d.list.len, 0);
}

static void writing_keeps_the_mode_and_leaves_no_rest(void **state) {
  char *dir = ac_temp_dir(*state, NULL), *path = ac_path_join(*state, dir, "script");
  assert_true(ac_write_file(path, "1", 1, NULL));
  assert_false(chmod(path, 0750));
  assert_true(ac_write_file(path, "2", 1, NULL));
  struct stat st;
  assert_false(stat(path, &st));
  assert_int_equal(st.st_mode & 07777, 0750);
  assert_false(unlink(path));
  assert_false(rmdir(dir)); /* nothing else in it */
}

static void writing_goes_through_links(void **state) {
  ac_diags d = fresh(state);
  char *dir = ac_temp_dir(*state, NULL), *real = ac_path_join(*state, dir, "real");
  char *link = ac_path_join(*state, dir, "link");
  struct stat st;
  assert_false(symlink("real", link));
  const ac_piece pieces[] = {{"one ", 4}, {"", 0}, {"two", 3}};
  for (int there = 0; there < 2; there++) {
    assert_true(ac_write_pieces(link, pieces, 3, &d));
    assert_false(lstat(link, &st));
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(ac_read_file(*state, real, 0, NULL, &d), "one two");
  }
  assert_false(ac_write_pieces(ac_path_join(*state, dir, "none/f"), pieces, 3, &d)); /* no folder is made */
  expect(&d, AC0102, "No such file");
}

static void missing_file(void **state) {
  ac_diags d = fresh(state);
  assert_null(ac_read_file(*state, "/nowhere/x", 0, NULL, &d));
  expect(&d, AC0101, "No such file");
  assert_int_equal(d.list.data[0]->help.len, 1);
}

static void directory_is_no_file(void **state) {
  ac_diags d = fresh(state);
  assert_null(ac_read_file(*state, "/tmp", 0, NULL, &d));
  expect(&d, AC0101, "directory");
}

static void too_large(void **state) {
  char *path = temp_file(*state, "f");
  assert_true(ac_write_file(path, "12345", 5, NULL));
  ac_diags d = fresh(state);
  assert_non_null(ac_read_file(*state, path, 5, NULL, &d));
  assert_null(ac_read_file(*state, path, 4, NULL, &d));
  expect(&d, AC0110, "larger than 4 bytes");
  assert_int_equal(ac_diags_exit(&d), AC_LIMIT);
  d = fresh(state);
  assert_null(ac_read_file(*state, "/dev/zero", 1000000, NULL, &d)); /* has no size, has no end */
  expect(&d, AC0110, "larger");
}

typedef struct {
  void **state;
  const char *path;
} ctx;

static bool cannot_read(void *user) {
  ctx *c = user;
  ac_diags d = fresh(c->state);
  return !ac_read_file(*c->state, c->path, 0, NULL, &d) && strstr(d.list.data[0]->message, "Permission denied") &&
         strstr(d.list.data[0]->help.data[0], "chmod +r");
}

static void unreadable_file(void **state) {
  char *dir = ac_temp_dir(*state, NULL), *path = ac_path_join(*state, dir, "f");
  assert_true(ac_write_file(path, "x", 1, NULL));
  chmod(dir, 0755);
  chmod(path, 0);
  assert_int_equal(as_nobody(cannot_read, &(ctx){state, path}), 0);
}

static bool cannot_write(void *user) {
  ctx *c = user;
  ac_diags d = fresh(c->state);
  bool refused = !ac_write_file(ac_path_join(*c->state, c->path, "f"), "x", 1, &d) &&
                 !ac_mkdirs(ac_path_join(*c->state, c->path, "a/b"), &d) &&
                 !ac_staging_dir(*c->state, ac_path_join(*c->state, c->path, "out"), &d);
  return refused && d.list.len == 3 && ac_diags_exit(&d) == AC_BAD_INPUT &&
         strstr(printed(*c->state, &d), "choose a folder that you may write to");
}

static void read_only_directory(void **state) {
  char *dir = ac_temp_dir(*state, NULL);
  chmod(dir, 0555);
  assert_int_equal(as_nobody(cannot_write, &(ctx){state, dir}), 0);
}

static void full_device(void **state) {
  ac_diags d = fresh(state);
  assert_false(ac_write_file("/dev/full", "x", 1, &d));
  expect(&d, AC0102, "No space left");
}

static void writing_over_a_directory(void **state) {
  ac_diags d = fresh(state);
  assert_false(ac_write_file(ac_temp_dir(*state, NULL), "x", 1, &d));
  expect(&d, AC0102, "directory");
}

static void making_directories(void **state) {
  ac_diags d = fresh(state);
  char *dir = ac_temp_dir(*state, &d), *deep = ac_path_join(*state, dir, "a/b//c/");
  assert_true(ac_mkdirs(deep, &d));
  assert_true(ac_mkdirs(deep, &d));
  assert_true(ac_mkdirs("/", &d));
  assert_true(ac_is_dir(deep));
  char *file = ac_path_join(*state, dir, "file");
  assert_true(ac_write_file(file, "", 0, &d));
  assert_false(ac_mkdirs(ac_path_join(*state, file, "x"), &d));
  expect(&d, AC0102, "Not a directory");
}

static void removing_a_tree_spares_link_targets(void **state) {
  char *dir = ac_temp_dir(*state, NULL), *tree = ac_path_join(*state, dir, "tree"),
       *kept = ac_path_join(*state, dir, "kept");
  assert_true(ac_mkdirs(kept, NULL));
  assert_true(ac_mkdirs(ac_path_join(*state, tree, "x/y/z"), NULL));
  for (int i = 0; i < 300; i++)
    assert_true(ac_write_file(ac_path_join(*state, tree, ac_sprintf(*state, "x/a-file-with-a-longer-name-%d", i)), "",
                              0, NULL));
  assert_false(symlink(kept, ac_path_join(*state, tree, "x/link")));
  assert_true(ac_remove_tree(tree));
  assert_false(ac_exists(tree));
  assert_true(ac_is_dir(kept));
  assert_true(ac_remove_tree(tree)); /* gone is gone */
}

static bool remove_locked(void *user) {
  char *locked = ac_path_join(*((ctx *)user)->state, ((ctx *)user)->path, "locked");
  return ac_mkdirs(ac_path_join(*((ctx *)user)->state, locked, "in"), NULL) && !chmod(locked, 0) &&
         ac_remove_tree(locked);
}

static void removing_a_locked_folder_of_ours(void **state) {
  char *dir = ac_temp_dir(*state, NULL);
  chmod(dir, 0777);
  assert_int_equal(as_nobody(remove_locked, &(ctx){state, dir}), 0);
}

static void names(void **state) {
  ac_arena *a = *state;
  assert_string_equal(ac_path_join(a, "a", "b"), "a/b");
  assert_string_equal(ac_path_join(a, "a/", "b"), "a/b");
  assert_string_equal(ac_path_join(a, "", "b"), "b");
  assert_string_equal(ac_path_join(a, "a", "/b"), "/b");
  assert_string_equal(ac_basename("a/b.py"), "b.py");
  assert_string_equal(ac_basename("b.py"), "b.py");
  assert_int_equal(*ac_absolute(a, "not-there"), '/');
  assert_string_equal(ac_absolute(a, "/usr/../usr/bin"), "/usr/bin");
}

static void home(void **state) {
  assert_true(ac_is_dir(ac_home_path(*state, "data/chips")));
  assert_null(ac_home_path(*state, "data/no-such-thing"));
  char *dir = ac_temp_dir(*state, NULL);
  assert_true(ac_mkdirs(ac_path_join(*state, dir, "data/chips"), NULL));
  const char *before = getenv("ASCENDCRAFT_HOME");
  setenv("ASCENDCRAFT_HOME", dir, 1);
  assert_string_equal(ac_home_path(*state, "data/chips"), ac_path_join(*state, dir, "data/chips"));
  if (before)
    setenv("ASCENDCRAFT_HOME", before, 1);
  else
    unsetenv("ASCENDCRAFT_HOME");
}

/* ---- staging ---- */

static void staging_becomes_final(void **state) {
  ac_diags d = fresh(state);
  char *final = ac_path_join(*state, ac_temp_dir(*state, &d), "new/out/");
  char *staging = ac_staging_dir(*state, final, &d);
  assert_true(ac_is_dir(staging));
  assert_false(ac_exists(final));
  assert_true(ac_write_file(ac_path_join(*state, staging, "f"), "x", 1, &d));
  assert_true(ac_staging_commit(staging, final, &d));
  assert_false(ac_exists(staging));
  assert_true(ac_exists(ac_path_join(*state, final, "f")));
  assert_int_equal(d.list.len, 0);
}

static void staging_over_an_empty_folder(void **state) {
  ac_diags d = fresh(state);
  char *final = ac_path_join(*state, ac_temp_dir(*state, &d), "out");
  assert_true(ac_mkdirs(final, &d));
  char *staging = ac_staging_dir(*state, final, &d);
  assert_true(ac_staging_commit(staging, final, &d));
  assert_false(ac_exists(staging));
}

static void staging_into_the_current_folder(void **state) {
  ac_diags d = fresh(state);
  char cwd[PATH_MAX];
  assert_non_null(getcwd(cwd, sizeof cwd));
  char *final = ac_path_join(*state, ac_temp_dir(*state, &d), "out");
  assert_true(ac_mkdirs(final, &d));
  assert_false(chdir(final));
  char *staging = ac_staging_dir(*state, ".", &d);
  assert_true(ac_write_file(ac_path_join(*state, staging, "f"), "x", 1, &d));
  assert_true(ac_staging_commit(staging, ".", &d));
  assert_true(ac_exists("f")); /* still the same folder, seen from inside */
  assert_false(ac_exists(staging));
  assert_false(chdir(cwd));
}

static void staging_spares_what_is_there(void **state) {
  ac_diags d = fresh(state);
  char *final = ac_path_join(*state, ac_temp_dir(*state, &d), "out"), *f = ac_path_join(*state, final, "mine");
  assert_true(ac_mkdirs(final, &d));
  assert_true(ac_write_file(f, "x", 1, &d));
  char *staging = ac_staging_dir(*state, final, &d);
  assert_false(ac_staging_commit(staging, final, &d));
  expect(&d, AC0104, "not empty");
  assert_true(ac_exists(f));
  assert_true(ac_staging_replace(staging, final, &d));
  assert_true(ac_is_dir(final));
  assert_false(ac_exists(f));
  assert_false(ac_exists(staging));
}

static void staging_over_a_file(void **state) {
  ac_diags d = fresh(state);
  char *final = temp_file(*state, "out");
  assert_true(ac_write_file(final, "x", 1, &d));
  char *staging = ac_staging_dir(*state, final, &d);
  assert_false(ac_staging_commit(staging, final, &d));
  expect(&d, AC0102, "Not a directory");
  assert_false(ac_staging_replace(staging, final, &d));
  assert_true(ac_exists(final));
}

static void abandoned_staging_leaves_nothing(void **state) {
  ac_diags d = fresh(state);
  char *temp = ac_temp_dir(*state, &d), *made = ac_path_join(*state, temp, "new");
  char *staging = ac_staging_dir(*state, ac_path_join(*state, made, "deep/out"), &d);
  assert_true(ac_write_file(ac_path_join(*state, staging, "f"), "x", 1, &d));
  ac_staging_abandon(staging);
  assert_false(ac_exists(made));
  assert_true(ac_is_dir(temp));
  /* a folder that somebody else has begun to use stays */
  staging = ac_staging_dir(*state, ac_path_join(*state, made, "deep/out"), &d);
  assert_true(ac_write_file(ac_path_join(*state, made, "theirs"), "x", 1, &d));
  ac_staging_abandon(staging);
  assert_true(ac_exists(ac_path_join(*state, made, "theirs")));
  assert_false(ac_exists(ac_path_join(*state, made, "deep")));
  assert_int_equal(d.list.len, 0);
}

/* A child that makes a staging folder, tells its name, and then waits (or exits). What is left of it? */
static char *staging_of_a_child(void **state, int sig, int *status) {
  char *final = ac_path_join(*state, ac_temp_dir(*state, NULL), "out");
  int p[2];
  assert_false(pipe(p));
  pid_t pid = fork();
  if (pid == 0) {
    ac_signals_install();
    char *staging = ac_staging_dir(*state, final, NULL);
    ac_mkdirs(ac_path_join(*state, staging, "a/b/c"), NULL);
    ac_write_file(ac_path_join(*state, staging, "a/b/file"), "x", 1, NULL);
    if (write(p[1], staging, strlen(staging) + 1) < 0) _exit(9);
    if (!sig) exit(0);
    for (;;) pause();
  }
  char name[PATH_MAX] = "";
  assert_true(read(p[0], name, sizeof name) > 0);
  if (sig) kill(pid, sig);
  waitpid(pid, status, 0);
  close(p[0]);
  close(p[1]);
  assert_true(strlen(name) > 0);
  return ac_strdup(*state, name);
}

static void interrupted(void **state) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, 0};
  for (size_t i = 0; i < AC_COUNT(signals); i++) {
    int status = 0;
    char *staging = staging_of_a_child(state, signals[i], &status);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), signals[i] ? 128 + signals[i] : 0);
    assert_false(ac_exists(staging));
  }
}

static void a_forked_child_leaves_its_parents_folders(void **state) {
  char *staging = ac_staging_dir(*state, temp_file(*state, "out"), NULL);
  pid_t pid = fork();
  if (pid == 0) exit(0); /* runs the exit handlers */
  waitpid(pid, NULL, 0);
  assert_true(ac_is_dir(staging));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(write_and_read),
      TEST(writing_keeps_the_mode_and_leaves_no_rest),
      TEST(writing_goes_through_links),
      TEST(missing_file),
      TEST(directory_is_no_file),
      TEST(too_large),
      TEST(unreadable_file),
      TEST(read_only_directory),
      TEST(full_device),
      TEST(writing_over_a_directory),
      TEST(making_directories),
      TEST(removing_a_tree_spares_link_targets),
      TEST(removing_a_locked_folder_of_ours),
      TEST(names),
      TEST(home),
      TEST(staging_becomes_final),
      TEST(staging_over_an_empty_folder),
      TEST(staging_into_the_current_folder),
      TEST(staging_spares_what_is_there),
      TEST(staging_over_a_file),
      TEST(abandoned_staging_leaves_nothing),
      TEST(interrupted),
      TEST(a_forked_child_leaves_its_parents_folders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
