"""kernels/common/order/edges_first.cuh, compiled for the CPU: every tile once, light ones first."""

import subprocess

import needs

CHECK = """
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
using std::min;
#define __host__
#define __device__
#define __forceinline__ inline
struct int2 { int x, y; };
static int2 make_int2(int x, int y) { return {x, y}; }
%s
static int corners, rows_only, columns_only, none;

template <int BM, int BN>
static void check(int M, int N) {
  auto needed = [&](bool kept, const char* what) {
    if (kept) return;
    std::printf("%%s: %%d x %%d in tiles of %%d x %%d\\n", what, M, N, BM, BN);
    std::exit(1);
  };
  const EdgesFirst<BM, BN> tiles(M, N);
  const int rows = (M + BM - 1) / BM, columns = (N + BN - 1) / BN;
  needed(tiles.tiles() == rows * columns, "tiles");
  // A tile is light if at most half of its rows, or half of its columns, lie in C.
  auto light = [&](int2 t) {
    return min(BM, M - t.x * BM) <= BM / 2 || min(BN, N - t.y * BN) <= BN / 2;
  };
  std::vector<int> seen(rows * columns);
  int lights = 0;
  for (int t = 0; t < rows * columns; ++t) {
    const int2 tile = tiles[t];
    needed(0 <= tile.x && tile.x < rows && 0 <= tile.y && tile.y < columns, "outside");
    needed(seen[tile.x * columns + tile.y]++ == 0, "twice");
    needed(light(tile) == (t < tiles.light()), "light ones first");
    lights += light(tile);
  }
  needed(lights == tiles.light(), "light ones");
  const bool low = M %% BM > 0 && 2 * (M %% BM) <= BM, narrow = N %% BN > 0 && 2 * (N %% BN) <= BN;
  ++(low ? narrow ? corners : rows_only : narrow ? columns_only : none);
  // What is left goes as if it were all there is.
  for (int t = tiles.light(); t < rows * columns; ++t) {
    const int2 tile = tiles[t], plain = tile_at(t - tiles.light(), rows - low, columns - narrow);
    needed(tile.x == plain.x && tile.y == plain.y, "strips");
  }
}

template <int BM, int BN>
static void check_all() {
  for (int rows = 0; rows < 19; ++rows)
    for (int columns = 0; columns < 6; ++columns)
      for (int m : {1, 8, BM / 2, BM / 2 + 1, BM})
        for (int n : {1, 8, BN / 2, BN / 2 + 1, BN})
          check<BM, BN>(rows * BM + m, columns * BN + n);
}

int main() {
  check_all<256, 128>(), check_all<128, 128>(), check_all<128, 64>(), check_all<64, 64>();
  for (int M = 1; M <= 150; ++M)
    for (int N = 1; N <= 150; ++N) check<64, 64>(M, N);
  std::printf("%%d %%d %%d %%d\\n", corners, rows_only, columns_only, none);
}
"""


def _behind(root, name: str, start: str) -> str:
    text = (root / f"kernels/common/{name}.cuh").read_text()
    return text[text.index(start) :]


@needs.gxx
def test_every_tile_comes_once_and_light_ones_first(root, tmp_path):
    parts = [
        _behind(root, "launch/host", "__host__ __device__ constexpr int ceil_div").splitlines()[0],
        _behind(root, "order/block_order", "constexpr int STRIP"),
        _behind(root, "order/edges_first", "template <int BM"),
    ]
    source, program = tmp_path / "check.cpp", tmp_path / "check"
    source.write_text(CHECK % "\n".join(parts))
    command = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-fsanitize=undefined"]
    built = subprocess.run([*command, source, "-o", program], capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert all(int(kind) > 1000 for kind in done.stdout.split())  # all of these do occur
