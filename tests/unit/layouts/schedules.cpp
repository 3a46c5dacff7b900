// The kernels' schedules as functions of arrays: a row of points in, a row of answers out. For
// test_schedule_twins.py, which holds the same of Python.
#include "common/order/edges_first.cuh"
#include "common/order/snake.cuh"
#include "hgemm/19_stream_k.cuh"
#include "sgemm/18_block_order.cuh"
#include "sgemm/19_stream_k.cuh"

// Behind them: the Schedule of stream_k.cuh stands in no namespace, and theirs are meant above.
#include "common/order/last_wave.cuh"
#include "common/order/stream_k.cuh"

#define EXPORT extern "C" __attribute__((visibility("default")))

// What the simulator's blockIdx asks for.
static unsigned block_index;
extern "C" SimIndex sim_block_index() { return {block_index, 0, 0}; }

// Calls `answer` for each of `count` points of P numbers, which writes A numbers.
template <int P, int A, class F>
static void each(int count, const int* points, int* answers, F answer) {
  for (int i = 0; i < count; ++i) answer(points + i * P, answers + i * A);
}

// {tiles, k tiles, most, any} -> {blocks, split, begin, next begin, owner}, of a block and of a
// shared k tile that `any` chooses; -1: there is none.
EXPORT void evenly(int count, const int* points, int* answers) {
  each<4, 5>(count, points, answers, [](const int* p, int* a) {
    const sgemm_19_stream_k::Schedule share(p[0], p[1], p[2]);
    const int block = p[3] % share.blocks, row = share.split * share.k_tiles;
    a[0] = share.blocks, a[1] = share.split;
    a[2] = share.begin(block), a[3] = share.begin(block + 1);
    a[4] = row > 0 ? share.owner(p[3] % row) : -1;
  });
}

// The same with the number of sharers behind `split`.
EXPORT void last_wave(int count, const int* points, int* answers) {
  each<4, 6>(count, points, answers, [](const int* p, int* a) {
    const hgemm_19_stream_k::Schedule share(p[0], p[1], p[2]);
    const int block = p[3] % share.blocks, row = share.split * share.k_tiles;
    a[0] = share.blocks, a[1] = share.split, a[2] = share.sharers;
    a[3] = share.begin(block), a[4] = share.begin(block + 1);
    a[5] = row > 0 ? share.owner(p[3] % row) : -1;
  });
}

// {tiles, k tiles, most, price, any} -> {blocks, busiest, rest, cut, helpers; the helper of a k
// tile that was left, the pieces of a tile that is cut, whether its slots hold them; how much work
// a block has, and of one of it tile, begin, end and, if it is a piece, which}.
EXPORT void owners(int count, const int* points, int* answers) {
  each<5, 13>(count, points, answers, [](const int* p, int* a) {
    const Schedule share(p[0], p[1], p[2], p[3]);
    const int any = p[4], tile = share.rest > 0 ? any % share.rest : 0;
    a[0] = share.blocks, a[1] = share.busiest;
    a[2] = share.rest, a[3] = share.cut, a[4] = share.helpers;
    a[5] = share.rest > 0 ? share.helper_of(any % (share.rest * share.cut)) : -1;
    a[6] = share.rest > 0 ? share.pieces(tile) : -1;
    a[7] = a[6] <= share.slots();
    block_index = any % share.blocks;
    const Queue queue(share);
    a[8] = queue.count();
    const Work work = queue[any % queue.count()];
    a[9] = work.tile, a[10] = work.begin, a[11] = work.end;
    a[12] = work.end - work.begin < share.depth ? share.piece(work) : -1;
  });
}

// {tiles, k tiles, most, price, price of the second kernel, any} -> {teams, waves, busiest, rest,
// cut, helpers; how much work a team has, and of one of it tile, begin, end, and of a piece its
// number, how many its tile has, and whether its slots hold them}.
EXPORT void teams(int count, const int* points, int* answers) {
  each<6, 13>(count, points, answers, [](const int* p, int* a) {
    const LastWave share(p[0], p[1], p[2], p[3], p[4]);
    const int team = p[5] % share.teams, works = share.count(team);
    const Work work = share.work(team, p[5] % works);
    const bool piece = work.end - work.begin < share.depth;
    a[0] = share.teams, a[1] = share.waves, a[2] = share.busiest;
    a[3] = share.rest, a[4] = share.cut, a[5] = share.helpers, a[6] = works;
    a[7] = work.tile, a[8] = work.begin, a[9] = work.end;
    a[10] = piece ? share.piece(work, team) : -1, a[11] = piece ? share.pieces(work) : -1;
    a[12] = a[11] <= share.slots();
  });
}

// {value, by}, of 32 bits without a sign -> {quotient}
EXPORT void divisor(int count, const int* points, int* answers) {
  each<2, 1>(count, points, answers, [](const int* p, int* a) { a[0] = Divisor(p[1])(p[0]); });
}

// {rows, columns, most, t} -> {row, column}
EXPORT void snake(int count, const int* points, int* answers) {
  each<4, 2>(count, points, answers, [](const int* p, int* a) {
    const int2 tile = Snake(p[0], p[1], p[2])[p[3]];
    a[0] = tile.x, a[1] = tile.y;
  });
}

// {rows, columns, t} -> {row, column}
EXPORT void strips(int count, const int* points, int* answers) {
  each<3, 2>(count, points, answers, [](const int* p, int* a) {
    const int2 tile = tile_at(p[2], p[0], p[1]);
    a[0] = tile.x, a[1] = tile.y;
  });
}

EXPORT void strips_of_sgemm_18(int count, const int* points, int* answers) {
  each<3, 2>(count, points, answers, [](const int* p, int* a) {
    const int2 tile = sgemm_18_block_order::tile_at(p[2], p[0], p[1]);
    a[0] = tile.x, a[1] = tile.y;
  });
}

// {M, N, any} -> {tiles, light ones, row, column}, in tiles of 256x128.
EXPORT void edges_first(int count, const int* points, int* answers) {
  each<3, 4>(count, points, answers, [](const int* p, int* a) {
    const EdgesFirst<256, 128> tiles(p[0], p[1]);
    const int2 tile = tiles[p[2] % tiles.tiles()];
    a[0] = tiles.tiles(), a[1] = tiles.light(), a[2] = tile.x, a[3] = tile.y;
  });
}
