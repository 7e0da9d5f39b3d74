/* What the model of time costs this host (measured): the same stream of tiles with and without it, best processor time of some rounds in turn.
 * usage: bench_time_cost [ROUNDS] */
#include "sim/core.h"
#include "sim/core_internal.h"

#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 48, PASSES = 4 };
static const char *const file = "stream";
typedef struct {
  int64_t bytes, tile, row; /* row: of a strided load; 0: one piece */
  uint8_t *x, *y;
} stream;

static void tile(const stream *k, uint16_t in, uint16_t out, int64_t at) {
  acsim_local a, b;
  acsim_global x = {k->x + at, k->x, 0}, y = {k->y + at, k->y, 0};
  acsim_copy store = {.form = ACSIM_COPY_COUNT, .type = ACSIM_F32, .blocks = 1, .bytes = k->tile}, load = store;
  if (k->row) {
    load.form = ACSIM_COPY_BLOCKS;
    load.blocks = (uint32_t)(k->tile / k->row);
    load.bytes = k->row;
  }
  acsim_queue_alloc(in, &a, file, 1);
  acsim_copy_in(&a, &x, &load, file, 2);
  acsim_queue_push(in, &a, file, 3);
  acsim_queue_pop(in, &a, file, 4);
  acsim_queue_alloc(out, &b, file, 5);
  for (int i = 0; i < PASSES; i++) {
    acsim_vector v = {.op = ACSIM_OP_Exp,
                      .type = ACSIM_F32,
                      .dst_type = ACSIM_F32,
                      .dst = &b,
                      .a = i ? &b : &a,
                      .count = k->tile / 4};
    acsim_vec(&v, file, 6);
  }
  acsim_queue_push(out, &b, file, 7);
  acsim_queue_free(in, &a, file, 8);
  acsim_queue_pop(out, &b, file, 9);
  acsim_copy_out(&y, &b, &store, file, 10);
  acsim_queue_free(out, &b, file, 11);
}
static void block(void *user) {
  const stream *k = user;
  char pipe;
  acsim_pipe_open(&pipe, file, 12);
  uint16_t in = acsim_queue_init(&pipe, ACSIM_POS_VECIN, ACSIM_POS_VECIN, 1, 2, (uint32_t)k->tile, file, 13);
  uint16_t out = acsim_queue_init(&pipe, ACSIM_POS_VECOUT, ACSIM_POS_VECOUT, 1, 2, (uint32_t)k->tile, file, 14);
  for (int64_t at = acsim_block_index() * k->tile; at < k->bytes; at += acsim_block_count() * k->tile)
    tile(k, in, out, at);
  acsim_pipe_close(&pipe);
}

/* Seconds of processor time. */
static double run(stream k, const ac_chip *chip, bool no_time) {
  acsim_buffer b[] = {{.name = "x", .data = k.x, .bytes = k.bytes, .elem = 4, .kind = ACSIM_INPUT},
                      {.name = "y", .data = k.y, .bytes = k.bytes, .elem = 4, .kind = ACSIM_OUTPUT}};
  clock_t start = clock();
  acsim_session *s =
      acsim_open(&(acsim_config){.chip = chip, .buffers = b, .n_buffers = 2, .threads = 1, .no_time = no_time});
  acsim_launch(s, BLOCKS, 0, block, &k);
  acsim_finish(s);
  acsim_close(s);
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

int main(int argc, char **argv) {
  static const stream streams[] = {{.bytes = 64 << 20, .tile = 16384},
                                   {.bytes = 16 << 20, .tile = 2048},
                                   {.bytes = 4 << 20, .tile = 256},
                                   {.bytes = 16 << 20, .tile = 16384, .row = 256}};
  int rounds = argc > 1 ? atoi(argv[1]) : 7;
  ac_arena *a = ac_arena_new();
  ac_diags d;
  ac_diags_init(&d, a);
  const ac_chip *chip = ac_chip_load(a, "ascend910b2", &d);
  uint8_t *x = calloc(1, 64 << 20), *y = calloc(1, 64 << 20);
  for (size_t i = 0; chip && x && y && i < AC_COUNT(streams); i++) {
    stream k = streams[i];
    double best[2] = {1e9, 1e9};
    k.x = x;
    k.y = y;
    for (int r = 0; r < 2 * rounds; r++) {
      double t = run(k, chip, r % 2);
      if (t < best[r % 2]) best[r % 2] = t;
    }
    printf("model of time: tiles of %5lld bytes, rows of %3lld: %7.1f ms without, %7.1f ms with, %+.1f%%\n",
           (long long)k.tile, (long long)k.row, best[1] * 1e3, best[0] * 1e3, 100 * (best[0] / best[1] - 1));
  }
  ac_diags_print(&d, stderr, false);
  free(x);
  free(y);
  ac_arena_free(a);
  return chip ? AC_OK : AC_FAILED;
}
