"""The schedule of tma_07: nothing forgotten, the chapter's numbers, the kernel's integers."""

import random
import subprocess
from collections import Counter

import needs
import pytest

from gemmlab.layouts.schedules.evenly import waves_paid
from gemmlab.layouts.schedules.owners import Owners
from gemmlab.report.diagrams import schedule_diagram

CASES = [(332, 128), (512, 64), (800, 80), (1, 96), (1, 64), (5, 0), (0, 4), (132, 9), (140, 256)]


def cube(n: int) -> Owners:
    return Owners((n // 256) * (n // 128), n // 64)


@pytest.mark.parametrize(("tiles", "k_tiles"), CASES)
@pytest.mark.parametrize("price", [1, 6])
def test_every_k_tile_is_done_once(tiles, k_tiles, price):
    plan = Owners(tiles, k_tiles, price=price)
    done = Counter((p.tile, k) for p in plan.everything() for k in range(p.begin, p.end))
    assert done == Counter((t, k) for t in range(tiles) for k in range(k_tiles))
    shares = [plan.begin(b + 1) - plan.begin(b) for b in range(plan.split, plan.blocks)]
    assert not plan.split or max(shares[: plan.helpers]) - min(shares[: plan.helpers]) <= 1


@pytest.mark.parametrize(
    ("n", "split", "helpers", "cut", "before", "longest", "parts"),
    [
        (1024, 0, 0, 0, 16, 16, 0),
        (2048, 0, 0, 0, 32, 32, 0),
        (4096, 0, 0, 0, 256, 256, 0),
        (5120, 8, 23, 58, 560, 502, 38),
        (8192, 68, 63, 57, 2048, 1991, 197),
        (16384, 8, 47, 218, 16128, 15910, 62),
    ],
)
def test_numbers_that_the_chapter_names(n, split, helpers, cut, before, longest, parts):
    plan = cube(n)
    assert waves_paid(plan.tiles, 132) * plan.k_tiles == before
    assert (plan.split, plan.helpers, plan.cut) == (split, helpers, cut)
    assert (plan.longest, plan.parts) == (longest, parts)


def test_it_is_drawn():
    assert "k tiles of time" in schedule_diagram(Owners(5, 16, 4, price=1)).alt


def _compiled(root, folder, cases):
    """The schedule of common/order/stream_k.cuh, compiled for the CPU, a line for each case."""
    text = (root / "kernels/common/order/stream_k.cuh").read_text()
    text = text[text.index("struct Work") : text.index("// Leaves a warp's sums")]
    listed = ",".join(f"{{{t},{k},{most},{price}}}" for t, k, most, price in cases)
    source = folder / "share.cpp"
    source.write_text(
        "#include <algorithm>\n#include <cstdio>\nusing std::max;\nusing std::min;\n"
        "#define __host__\n#define __device__\nstruct { int x; } blockIdx;\n"
        f"{text}int main() {{\n  const int cases[][4] = {{{listed}}};\n"
        "  for (auto& c : cases) {\n    Schedule s(c[0], c[1], c[2], c[3]);\n"
        '    printf("%d %d", s.blocks, s.busiest);\n'
        "    for (blockIdx.x = 0; blockIdx.x < s.blocks; ++blockIdx.x) {\n"
        "      Queue queue(s);\n      for (int i = 0; i < queue.count(); ++i) {\n"
        "        Work w = queue[i];\n"
        '        printf(" %d %d %d", w.tile, w.begin, w.end);\n      }\n    }\n'
        '    puts("");\n  }\n}\n'
    )
    subprocess.run(["g++", "-std=c++17", source, "-o", folder / "share"], check=True)
    done = subprocess.run([folder / "share"], capture_output=True, text=True, check=True)
    return [list(map(int, line.split())) for line in done.stdout.splitlines()]


@needs.gxx
def test_it_is_the_kernel_s_own(root, tmp_path):
    rng = random.Random(3)
    shapes = CASES + [(rng.randint(1, 900), rng.randint(1, 300)) for _ in range(60)]
    shapes = [shape for shape in shapes if shape[0]]
    cases = [(*shape, most, price) for shape in shapes for most in (7, 132) for price in (1, 6)]
    for case, got in zip(cases, _compiled(root, tmp_path, cases), strict=True):
        plan = Owners(*case)
        want = [plan.blocks, plan.busiest]
        for block in range(plan.blocks):
            want += [value for p in plan.pieces(block) for value in (p.tile, p.begin, p.end)]
        assert got == want, case
