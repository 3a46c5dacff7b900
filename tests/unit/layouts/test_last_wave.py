"""The schedule of hgemm_19: nothing forgotten, the chapter's numbers, the kernel's integers."""

import random
import re
import subprocess
from collections import Counter
from itertools import groupby
from operator import itemgetter

import needs
import pytest

from gemmlab.layouts.schedules.evenly import waves_paid
from gemmlab.layouts.schedules.last_wave import LastWave
from gemmlab.report.diagrams import schedule_diagram

CASES = [(2048, 128), (512, 64), (8192, 256), (800, 80), (1, 96), (1, 64), (5, 0), (0, 4), (132, 9)]


@pytest.mark.parametrize(("tiles", "k_tiles"), CASES)
def test_every_k_tile_is_done_once(tiles, k_tiles):
    plan = LastWave(tiles, k_tiles)
    pieces = sorted((p.tile, p.begin, p.end) for p in plan.everything() if p.begin < p.end)
    for tile, of_tile in groupby(pieces, key=itemgetter(0)):
        begins, ends = zip(*((begin, end) for _, begin, end in of_tile), strict=True)
        assert (*begins, k_tiles) == (0, *ends), tile  # one after the other, none left out
    assert {tile for tile, _, _ in pieces} == set(range(tiles if k_tiles else 0))
    shares = [plan.begin(b + 1) - plan.begin(b) for b in range(plan.sharers)]
    assert not shares or max(shares) - min(shares) <= 1


@pytest.mark.parametrize("n", [5120, 8192, 16384])
def test_a_block_leaves_two_parts_at_most(n):
    plan = LastWave((n // 128) * (n // 256), n // 64)
    parts = [p for p in plan.everything() if p.end - p.begin < plan.k_tiles]
    assert max(Counter(p.block for p in parts).values()) <= 2
    assert len(parts) == plan.parts > 0


@pytest.mark.parametrize(
    ("n", "split", "sharers", "before", "longest", "parts"),
    [
        (4096, 0, 0, 256, 256, 0),
        (5120, 8, 20, 560, 512, 24),
        (8192, 68, 132, 2048, 1986, 198),
        (16384, 8, 64, 16128, 15904, 64),
    ],
)
def test_numbers_that_the_chapter_names(n, split, sharers, before, longest, parts):
    plan = LastWave((n // 128) * (n // 256), n // 64)
    assert waves_paid(plan.tiles, 132) * plan.k_tiles == before
    assert (plan.split, plan.sharers, plan.longest, plan.parts) == (split, sharers, longest, parts)


def test_it_is_drawn():
    assert "10 k tiles of time, 4 parts" in schedule_diagram(LastWave(5, 8, 4, min_share=1)).alt


@needs.gxx
def test_it_is_the_kernel_s_own(root, tmp_path):
    """`Schedule` of the kernel, compiled for the CPU."""
    text = (root / "kernels/hgemm/19_stream_k.cuh").read_text()
    struct = re.search(r"struct Schedule \{.*?\n\};\n", text, re.DOTALL)[0]
    least = re.search(r"constexpr int MIN_SHARE = \d+;", text)[0]
    rng = random.Random(3)
    cases = CASES + [(rng.randint(1, 5000), rng.randint(1, 600)) for _ in range(60)]
    listed = ",".join(f"{{{t},{k},{m}}}" for t, k in cases for m in (7, 132))
    source = tmp_path / "share.cpp"
    source.write_text(
        "#include <algorithm>\n#include <cstdio>\nusing std::max;\nusing std::min;\n"
        f"#define __host__\n#define __device__\n{least}\n{struct}"
        f"int main() {{\n  const int cases[][3] = {{{listed}}};\n  for (auto& c : cases) {{\n"
        '    Schedule s(c[0], c[1], c[2]);\n    printf("%d %d %d", s.blocks, s.split, s.sharers);\n'
        "    for (int b = 0; b < s.sharers; ++b)\n"
        '      printf(" %d %d", s.begin(b + 1), s.owner(s.begin(b + 1) - 1));\n'
        '    puts("");\n  }\n}\n'
    )
    subprocess.run(["g++", "-std=c++17", source, "-o", tmp_path / "share"], check=True)
    done = subprocess.run([tmp_path / "share"], capture_output=True, text=True, check=True)
    found = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    for (t, k, m), got in zip(((t, k, m) for t, k in cases for m in (7, 132)), found, strict=True):
        plan = LastWave(t, k, m)
        want = [plan.blocks, plan.split, plan.sharers]
        for b in range(plan.sharers):
            want += [plan.begin(b + 1), plan.owner(plan.begin(b + 1) - 1)]
        assert got == want, (t, k, m)
