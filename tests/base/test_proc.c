#include "support.h"
#include "base/internal.h" /* AC_ASAN */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static ac_proc run(void **state, ac_proc_spec spec) {
  ac_proc p;
  ac_proc_run(*state, &spec, &p);
  return p;
}

static ac_proc shell(void **state, ac_proc_spec spec, const char *script) {
  const char *argv[] = {"sh", "-c", script, NULL};
  spec.argv = argv;
  return run(state, spec);
}

/* ---- running ---- */

static void output_and_status(void **state) {
  ac_proc p = shell(state, (ac_proc_spec){0}, "echo out; echo err >&2; exit 7");
  assert_true(p.started);
  assert_int_equal(p.status, 7);
  assert_int_equal(p.signal, 0);
  assert_string_equal(p.out, "out\n");
  assert_string_equal(p.err, "err\n");
  assert_int_equal(p.out_len, 4);
  assert_true(p.wall > 0 && p.wall < 60);
  assert_true(p.max_rss > 100000);
}

static void input_larger_than_a_pipe(void **state) {
  size_t n = 3 << 20;
  char *text = ac_alloc(*state, n);
  memset(text, 'x', n);
  ac_proc p = run(state, (ac_proc_spec){.argv = (const char *[]){"cat", NULL}, .in = text, .in_len = n});
  assert_int_equal(p.out_len, n);
  assert_memory_equal(p.out, text, n);
  p = run(state, (ac_proc_spec){.argv = (const char *[]){"true", NULL}, .in = text, .in_len = n}); /* reads nothing */
  assert_int_equal(p.status, 0);
  p = run(state, (ac_proc_spec){.argv = (const char *[]){"cat", NULL}}); /* no input is empty input */
  assert_int_equal(p.status, 0);
  assert_int_equal(p.out_len, 0);
}

static void environment_and_folder(void **state) {
  const char *env[] = {"AC_T=new", NULL};
  setenv("AC_T", "old", 1);
  ac_proc p = shell(state, (ac_proc_spec){.env = env, .cwd = "/usr"}, "echo $AC_T; pwd; echo ${HOME:+home}");
  assert_string_equal(p.out, getenv("HOME") ? "new\n/usr\nhome\n" : "new\n/usr\n\n");
  p = shell(state, (ac_proc_spec){.env = env, .clear_env = true}, "echo $AC_T; echo ${HOME:+home}");
  assert_string_equal(p.out, "new\n\n");
}

static void not_started(void **state) {
  ac_proc p = run(state, (ac_proc_spec){.argv = (const char *[]){"no-such-program-here", NULL}});
  assert_false(p.started);
  assert_int_equal(p.status, -1);
  assert_non_null(strstr(p.err, "no-such-program-here: No such file"));
  p = run(state, (ac_proc_spec){.argv = (const char *[]){"/etc/passwd", NULL}});
  assert_false(p.started);
  assert_non_null(strstr(p.err, "Permission denied"));
  p = run(state, (ac_proc_spec){.argv = (const char *[]){"true", NULL}, .cwd = "/nowhere"});
  assert_false(p.started);
  assert_non_null(strstr(p.err, "/nowhere"));
}

static void timeout_kills_the_whole_group(void **state) {
  ac_proc p = shell(state, (ac_proc_spec){.timeout = 0.2}, "sleep 60 & sleep 60");
  assert_true(p.timed_out);
  assert_int_equal(p.signal, SIGKILL);
  assert_int_equal(p.status, -1);
  assert_true(p.wall < 10);
  p = shell(state, (ac_proc_spec){.timeout = 0.2}, "yes"); /* never silent */
  assert_true(p.timed_out);
  p = shell(state, (ac_proc_spec){.timeout = 0.2}, "exec >&- 2>&-; sleep 60"); /* closes its output first */
  assert_true(p.timed_out);
  assert_true(p.wall < 10);
}

static void what_a_child_leaves_behind_is_killed(void **state) {
  ac_proc p = shell(state, (ac_proc_spec){.timeout = 30}, "sleep 60 & echo done");
  assert_false(p.timed_out);
  assert_int_equal(p.status, 0);
  assert_string_equal(p.out, "done\n");
  assert_true(p.wall < 10);
}

static void output_is_capped_and_drained(void **state) {
  ac_proc p = shell(state, (ac_proc_spec){.max_output = 1000}, "head -c 1000000 /dev/zero; echo e >&2");
  assert_int_equal(p.status, 0);
  assert_int_equal(p.out_len, 1000);
  assert_true(p.out_cut);
  assert_false(p.err_cut);
  assert_string_equal(p.err, "e\n");
}

static void killed_by_a_signal(void **state) {
  ac_proc p = shell(state, (ac_proc_spec){0}, "kill -SEGV $$");
  assert_int_equal(p.signal, SIGSEGV);
  assert_int_equal(p.status, -1);
  assert_false(p.timed_out);
}

static int call_me(void *user) {
  printf("pid differs: %d\n", getpid() != *(pid_t *)user);
  fprintf(stderr, "%s", getenv("AC_CALL"));
  return 42;
}

static void a_function_instead(void **state) {
  pid_t me = getpid();
  printf("buffered text must not be printed twice"); /* the child shares this buffer */
  ac_proc p = run(state, (ac_proc_spec){.call = call_me, .user = &me, .env = (const char *[]){"AC_CALL=yes", NULL}});
  printf("\n");
  assert_int_equal(p.status, 42);
  assert_string_equal(p.out, "pid differs: 1\n");
  assert_string_equal(p.err, "yes");
}

static int make_temp_dir(void *user) {
  puts(ac_temp_dir(user, NULL));
  return 0;
}

static void temporary_folders_of_a_child_go_with_it(void **state) {
  char *ours = ac_temp_dir(*state, NULL);
  ac_proc p = run(state, (ac_proc_spec){.call = make_temp_dir, .user = *state});
  p.out[strcspn(p.out, "\n")] = 0;
  assert_int_equal(*p.out, '/');
  assert_false(ac_exists(p.out));
  assert_true(ac_exists(ours));
}

static int open_fds(void *user) {
  (void)user;
  for (int fd = 0; fd < 64; fd++)
    if (fcntl(fd, F_GETFD) >= 0) printf("%d ", fd);
  return 0;
}

static void descriptors(void **state) {
  int stray = open("/dev/null", O_RDONLY), p[2];
  assert_false(pipe(p));
  assert_string_equal(run(state, (ac_proc_spec){.call = open_fds}).out, "0 1 2 ");
  assert_string_equal(run(state, (ac_proc_spec){.call = open_fds, .keep_fd = p[1]}).out, "0 1 2 3 ");
  ac_proc r = shell(state, (ac_proc_spec){.keep_fd = p[1]}, "echo hi >&3");
  assert_int_equal(r.status, 0);
  char text[8] = "";
  assert_int_equal(read(p[0], text, sizeof text), 3);
  assert_string_equal(text, "hi\n");
  close(stray);
  close(p[0]);
  close(p[1]);
}

static void *one_run(void *arena) {
  ac_proc p;
  const char *argv[] = {"sh", "-c", "head -c 100000 /dev/zero", NULL};
  ac_proc_run(arena, &(ac_proc_spec){.argv = argv}, &p);
  return (void *)(uintptr_t)(p.out_len == 100000 && p.status == 0);
}

static void from_several_threads(void **state) {
  (void)state;
  pthread_t t[4];
  ac_arena *a[4];
  for (int i = 0; i < 4; i++) {
    a[i] = ac_arena_new();
    assert_false(pthread_create(&t[i], NULL, one_run, a[i]));
  }
  for (int i = 0; i < 4; i++) {
    void *ok = NULL;
    pthread_join(t[i], &ok);
    assert_non_null(ok);
    ac_arena_free(a[i]);
  }
}

static bool interrupted_parent(void *user) {
  ac_signals_install();
  alarm(20);
  int *p = user;
  ac_arena *a = ac_arena_new();
  ac_proc r;
  const char *argv[] = {"sh", "-c", "echo $$ >&3; sleep 60", NULL};
  ac_proc_run(a, &(ac_proc_spec){.argv = argv, .keep_fd = p[1]}, &r);
  return false;
}

static void ctrl_c_kills_children(void **state) {
  (void)state;
  int p[2];
  assert_false(pipe(p));
  pid_t parent = fork();
  if (parent == 0) _exit(interrupted_parent(p) ? 0 : 1);
  char text[32] = "";
  assert_true(read(p[0], text, sizeof text - 1) > 0);
  pid_t child = atoi(text);
  kill(parent, SIGINT);
  int status = 0;
  waitpid(parent, &status, 0);
  assert_int_equal(WEXITSTATUS(status), 130);
  int tries = 0;
  while (!kill(child, 0) && tries++ < 200) usleep(10000); /* its new parent must reap it first */
  if (tries >= 200) { /* no init process there to reap: then at least it is dead */
    char state_of[128] = "";
    snprintf(text, sizeof text, "/proc/%d/stat", (int)child);
    FILE *f = fopen(text, "r");
    assert_non_null(f);
    assert_non_null(fgets(state_of, sizeof state_of, f));
    fclose(f);
    assert_non_null(strstr(state_of, ") Z"));
  }
  close(p[0]);
  close(p[1]);
}

/* ---- sandbox ---- */

static int try_socket(void *user) {
  (void)user;
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return 1;
  return errno == EPERM ? 0 : 2;
}

static void network(void **state) {
  ac_proc p = run(state, (ac_proc_spec){.call = try_socket, .sandbox = {.on = true}});
  if (p.sandbox_missing & AC_SB_SECCOMP) skip();
  assert_int_equal(p.status, 0);
  p = run(state, (ac_proc_spec){.call = try_socket, .sandbox = {.on = true, .network = true}});
  assert_int_equal(p.status, 1);
  p = run(state, (ac_proc_spec){.call = try_socket}); /* off is off */
  assert_int_equal(p.status, 1);
}

static int try_dangerous(void *user) {
  (void)user;
  errno = 0;
  if (syscall(SYS_ptrace, 0, 0, 0, 0) != -1 || errno != EPERM) return 1;
  if (syscall(SYS_io_uring_setup, 1, NULL) != -1 || errno != EPERM) return 2;
  if (syscall(SYS_unshare, 0) != -1 || errno != EPERM) return 3;
  if (syscall(SYS_bpf, 0, NULL, 0) != -1 || errno != EPERM) return 4;
  if (syscall(SYS_mount, "none", "/mnt", "tmpfs", 0, NULL) != -1 || errno != EPERM) return 5;
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 6;
  return 0;
}

static void dangerous_calls(void **state) {
  ac_proc p =
      run(state, (ac_proc_spec){.call = try_dangerous, .sandbox = {.on = true, .network = true, .exec = true}});
  if (p.sandbox_missing & AC_SB_SECCOMP) skip();
  assert_int_equal(p.status, 0);
}

static void no_exec_after_the_start(void **state) {
  ac_sandbox s = {.on = true};
  ac_proc p = shell(state, (ac_proc_spec){.sandbox = s}, "echo started; /bin/echo not this");
  if (p.sandbox_missing & AC_SB_SECCOMP) skip();
  assert_true(p.started);
  assert_string_equal(p.out, "started\n");
  assert_int_equal(p.status, 126);
  s.exec = true;
  p = shell(state, (ac_proc_spec){.sandbox = s}, "/bin/echo but now");
  assert_string_equal(p.out, "but now\n");
}

static void writing_is_confined(void **state) {
  char *dir = ac_temp_dir(*state, NULL);
  const char *env[] = {ac_sprintf(*state, "DIR=%s", dir), NULL};
  const char *writable[] = {ac_path_join(*state, dir, "in"), NULL}, *none[] = {NULL};
  assert_true(ac_mkdirs(writable[0], NULL));
  ac_proc_spec spec = {.env = env, .sandbox = {.on = true, .exec = true, .writable = writable}};
  const char *script = "echo 1 >$DIR/in/f; echo 2 >/dev/null && cat $DIR/in/f /etc/hostname >/dev/null && echo read;"
                       "mkdir $DIR/in/d && mv $DIR/in/f $DIR/in/d/g; echo 3 >$DIR/out; rm -r $DIR/in/d; ls $DIR";
  ac_proc p = shell(state, spec, script);
  if (p.sandbox_missing & AC_SB_LANDLOCK) {
    assert_non_null(strstr(ac_sandbox_missing(*state, p.sandbox_missing), "Landlock"));
    skip();
  }
  assert_int_equal(p.sandbox_missing, 0);
  assert_string_equal(p.out, "read\nin\n");
  assert_non_null(strstr(p.err, "out: Permission denied"));
  spec.sandbox.writable = none;
  p = shell(state, spec, "echo 1 >$DIR/in/f || echo refused");
  assert_string_equal(p.out, "refused\n");
}

static void reading_is_confined(void **state) {
  char *dir = ac_temp_dir(*state, NULL), *secret = ac_path_join(*state, dir, "secret");
  assert_true(ac_write_file(secret, "s\n", 2, NULL));
  const char *env[] = {ac_sprintf(*state, "F=%s", secret), NULL};
  const char *readable[] = {"/usr", "/lib", "/lib64", "/bin", "/etc", NULL};
  ac_proc_spec spec = {.env = env, .sandbox = {.on = true, .exec = true, .read_only = readable}};
  ac_proc p = shell(state, spec, "cat $F; cat /etc/debian_version >/dev/null && echo fine; echo x >/etc/ac-test");
  if (p.sandbox_missing & AC_SB_LANDLOCK) skip();
  assert_string_equal(p.out, "fine\n");
  assert_non_null(strstr(p.err, "secret: Permission denied"));
  assert_false(ac_exists("/etc/ac-test"));
}

static int eat_memory(void *user) {
  (void)user;
  for (size_t n = 0; n < 64; n++) { /* 4 GiB */
    void *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return errno == ENOMEM ? 3 : 4;
    if (n < 8 || AC_ASAN) memset(p, 1, 64 << 20);
  }
  return 0;
}

static void memory_limit(void **state) {
  ac_proc p =
      run(state, (ac_proc_spec){.call = eat_memory, .timeout = 60, .sandbox = {.on = true, .memory = 1 << 30}});
  if (AC_ASAN) { /* no limit can be set; going over it is noticed from outside */
    assert_true(p.sandbox_missing & AC_SB_RLIMIT);
    assert_int_equal(p.signal, SIGKILL);
  } else {
    assert_false(p.sandbox_missing & AC_SB_RLIMIT);
    assert_int_equal(p.status, 3);
  }
}

static int spin(void *user) {
  volatile int *n = user;
  while (*n >= 0) *n = (*n + 1) & 0xFFFF;
  return 0;
}

static void cpu_limit(void **state) {
  int n = 0;
  ac_proc p =
      run(state, (ac_proc_spec){.call = spin, .user = &n, .timeout = 30, .sandbox = {.on = true, .cpu_seconds = 1}});
  assert_false(p.timed_out);
  assert_true(p.signal == SIGXCPU || p.signal == SIGKILL);
}

static void file_size_limit(void **state) {
  const char *env[] = {ac_sprintf(*state, "F=%s/f", ac_temp_dir(*state, NULL)), NULL};
  ac_proc p =
      shell(state, (ac_proc_spec){.env = env, .sandbox = {.on = true, .exec = true, .file_size = 10000}},
            "head -c 1000 /dev/zero >$F && echo small; head -c 20000 /dev/zero >$F 2>/dev/null || echo refused");
  assert_string_equal(p.out, "small\nrefused\n");
}

static void *thread(void *x) {
  return x;
}

static int try_fork(void *user) {
  (void)user;
  pid_t pid = fork();
  if (pid == 0) _exit(0);
  if (pid > 0) return 1;
  if (errno != EAGAIN) return 2;
  pthread_t t;
  void *got = NULL;
  int x;
  if (pthread_create(&t, NULL, thread, &x)) return 3;
  pthread_join(t, &got);
  return got == &x ? 0 : 4;
}

static void threads_but_no_processes(void **state) {
  ac_proc p = run(state, (ac_proc_spec){.call = try_fork, .sandbox = {.on = true, .processes = 1}});
  if (p.sandbox_missing & AC_SB_SECCOMP) skip();
  assert_int_equal(p.status, 0);
  assert_int_equal(run(state, (ac_proc_spec){.call = try_fork, .sandbox = {.on = true}}).status, 1);
}

static int fork_bomb(void *user) {
  (void)user;
  int n = 0;
  while (n < 200) {
    pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      sleep(30);
      _exit(0);
    }
    n++;
  }
  return n;
}

static bool bomb_as_user(void *user) {
  (void)user;
  ac_arena *a = ac_arena_new();
  ac_proc p;
  ac_proc_run(a, &(ac_proc_spec){.call = fork_bomb, .timeout = 20, .sandbox = {.on = true, .processes = 20}}, &p);
  bool ok = p.status > 0 && p.status <= 40 && !(p.sandbox_missing & AC_SB_RLIMIT);
  ac_arena_free(a);
  return ok;
}

static void fork_bomb_is_limited(void **state) {
  (void)state;
  assert_int_equal(as_nobody(bomb_as_user, NULL), 0);
}

static void missing_layers_are_told(void **state) {
  assert_null(ac_sandbox_missing(*state, 0));
  const char *all = ac_sandbox_missing(*state, AC_SB_RLIMIT | AC_SB_SECCOMP | AC_SB_LANDLOCK);
  assert_non_null(strstr(all, "limit"));
  assert_non_null(strstr(all, "seccomp"));
  assert_non_null(strstr(all, "Landlock"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(output_and_status),
      TEST(input_larger_than_a_pipe),
      TEST(environment_and_folder),
      TEST(not_started),
      TEST(timeout_kills_the_whole_group),
      TEST(what_a_child_leaves_behind_is_killed),
      TEST(output_is_capped_and_drained),
      TEST(killed_by_a_signal),
      TEST(a_function_instead),
      TEST(temporary_folders_of_a_child_go_with_it),
      TEST(descriptors),
      TEST(from_several_threads),
      TEST(ctrl_c_kills_children),
      TEST(network),
      TEST(dangerous_calls),
      TEST(no_exec_after_the_start),
      TEST(writing_is_confined),
      TEST(reading_is_confined),
      TEST(memory_limit),
      TEST(cpu_limit),
      TEST(file_size_limit),
      TEST(threads_but_no_processes),
      TEST(fork_bomb_is_limited),
      TEST(missing_layers_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
