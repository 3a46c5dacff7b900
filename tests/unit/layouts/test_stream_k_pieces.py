"""common/order/stream_k.cuh, compiled for the CPU: every k tile once, every piece in its slot."""

import re
import subprocess

import needs

CHECK = """
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>
using std::max;
using std::min;
#define __host__
#define __device__
struct { int x; } blockIdx;
%s
static int cut_ones, most_pieces, two_of_a_block;

static void need(bool kept, const char* what, const Schedule& s, int most, int price) {
  if (kept) return;
  std::printf("%%s: %%d tiles of %%d on %%d, price %%d\\n", what, s.tiles, s.depth, most, price);
  std::exit(1);
}

static void check(int tiles, int depth, int most, int price) {
  const Schedule s(tiles, depth, most, price);
  auto needed = [&](bool kept, const char* what) { need(kept, what, s, most, price); };
  needed(s.blocks <= most && s.blocks >= min(tiles, most), "blocks");
  std::vector<int> done((size_t)tiles * depth), pieces(tiles * 1000);
  int busiest = 0;
  for (blockIdx.x = 0; blockIdx.x < s.blocks; ++blockIdx.x) {
    const Queue queue(s);
    int time = 0;
    two_of_a_block += queue.pieces > 1;
    needed(queue.count() > 0, "a block without work");
    for (int i = 0; i < queue.count(); ++i) {
      const Work w = queue[i];
      needed(0 <= w.tile && w.tile < tiles, "tile");
      needed(0 <= w.begin && w.end <= depth && (w.begin < w.end || depth == 0), "k tiles");
      for (int k = w.begin; k < w.end; ++k) ++done[(size_t)w.tile * depth + k];
      time += w.end - w.begin;
      if (w.end - w.begin == depth) continue;
      // A piece: of a tile with room for pieces, in a slot of its own.
      const int count = s.pieces(w.tile), own = s.piece(w);
      needed(w.tile < s.rest && count >= 2 && count <= s.slots(), "pieces");
      needed(0 <= own && own < count && pieces[w.tile * 1000 + own]++ == 0, "number of a piece");
    }
    busiest = max(busiest, time);
  }
  for (int n : done) needed(n == 1, "done once");
  for (int tile = 0; tile < s.rest; ++tile) {
    int count = 0;
    for (int i = 0; i < 1000; ++i) count += pieces[tile * 1000 + i];
    needed(count == s.pieces(tile), "all pieces");
    most_pieces = max(most_pieces, count);
  }
  const int uncut = (tiles + most - 1) / most * depth;
  needed(busiest <= s.busiest && s.busiest <= uncut, "time");
  needed((s.rest > 0) == (s.busiest < uncut), "cut where it pays");
  cut_ones += s.rest > 0;
}

int main() {
  for (int most = 1; most <= 9; ++most)
    for (int tiles = 0; tiles <= 2 * most + 1; ++tiles)
      for (int depth = 0; depth <= 40; ++depth)
        for (int price : {1, 2, 6}) check(tiles, depth, most, price);
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i)
    for (int most : {78, 132, 170})
      check(random() %% 400, random() %% 300, most, 1 + random() %% 8);
  for (int most : {132, 148}) check(1, 4096, most, 6), check(3, 5000, most, 6);
  std::printf("%%d %%d %%d\\n", cut_ones, most_pieces, two_of_a_block);
}
"""


@needs.gxx
def test_every_k_tile_is_computed_once_and_every_piece_has_a_slot(root, tmp_path):
    text = (root / "kernels/common/order/stream_k.cuh").read_text()
    schedule = re.search(r"struct Work \{.*?(?=\n// Writes a warp's sums)", text, re.DOTALL)[0]
    (tmp_path / "check.cpp").write_text(CHECK % schedule)
    command = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-fsanitize=undefined"]
    files = [tmp_path / "check.cpp", "-o", tmp_path / "check"]
    built = subprocess.run([*command, *files], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([tmp_path / "check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    cut_ones, most_pieces, two_of_a_block = map(int, done.stdout.split())
    # All of these do occur.
    assert cut_ones > 1000 and most_pieces > 20 and two_of_a_block > 100
