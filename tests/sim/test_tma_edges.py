"""tma_08 where C ends within a tile: what is loaded, what is cut, how the last elements leave."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sampling import sampled
from step_cases import begun_behind, is_untouched_around
from tma_cases import (
    ANY_SHAPE,
    CONFIGS,
    FOUR_SMS,
    TILES,
    assert_cut,
    case_of,
    right_without_findings,
    unblamed,
)

from gemmlab import sim

# Rows and columns of C in the last row and the last column of tiles. With 8 columns the engine
# stores C, with an odd number pairs or lanes do.
EDGES = ((1, 8), (8, 1), (16, 63), (16, 8), (17, 65), (63, 1), (64, 65), (65, 8), (1, 63))


@pytest.mark.parametrize("case", sampled(list(product(CONFIGS, EDGES)), of=6))
def test_edges_that_are_cut_along_k(case):
    """Two rows of three tiles on 4 SMs, light ones first: two tiles are in pieces."""
    config, edge = case
    (BM, BN), (M, N) = TILES[config], edge
    sizes = (BM + (M - 1) % BM + 1, 2 * BN + (N - 1) % BN + 1, 456)
    for beta in (0.0, -1.0):
        trace = right_without_findings(
            case_of(ANY_SHAPE), sizes, FOUR_SMS[ANY_SHAPE], beta, config=config
        )
        assert_cut(trace, TILES[config])


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("edge", EDGES[::2], ids=str)
def test_edges_that_stay_whole(config, edge):
    (BM, BN), (last_rows, last_columns) = TILES[config], edge
    sizes = (BM + last_rows, BN + last_columns, 72)
    for precision, beta in (("bf16", 0.0), ("fp16", -1.0), ("bf16_fp32", 0.0)):
        trace = right_without_findings(
            case_of(ANY_SHAPE, precision), sizes, None, beta, config=config
        )
        assert "atom.global" not in trace.totals()


@pytest.mark.parametrize("config", [0, 1, 4])  # parts of 64, 32 and 32 columns
@pytest.mark.parametrize("behind", [0, 1, 2])
@pytest.mark.parametrize("width", [1, 2, 31, 32])
def test_pairs_of_rows_that_begin_anywhere(config, behind, width):
    """The last part of a row has `width` columns; C begins `behind` elements after 16 bytes.

    What lies in front of C and behind it stays. With an even width all rows begin alike, with an
    odd one every other row does.
    """
    M, N, K, case = 37, TILES[config][1] + width, 40, case_of(ANY_SHAPE)
    (A, B, C), plain = case.matrices(M, N, K), sim.integer_matrices(M, N, K)
    C = begun_behind(np.full_like(C, 0x7FC0), behind)  # NaN
    unblamed(case.module().trace(A, B, C, M, N, K, 2.0, 0.0, config=config))
    np.testing.assert_array_equal(C, case.rounded(2.0 * (plain[0] @ plain[1])))
    assert is_untouched_around(C)


# Sizes of C with tiles of 256x128, and the boxes of each tile for a k tile: of A one for each 64
# rows in which there are some, of B for each 64 columns.
BOXES = {
    (256, 128): 4 + 2,
    (8, 128): 1 + 2,
    (17, 8): 1 + 1,
    (64, 64): 1 + 1,
    (65, 65): 2 + 2,
    (256 + 8, 128 + 8): (1 + 2) + (1 + 1) + (4 + 1) + (4 + 2),
    (256 + 129, 128 + 72): (3 + 2) + (3 + 2) + (4 + 2) + (4 + 2),
}


@pytest.mark.parametrize("sizes", BOXES, ids=str)
def test_boxes_outside_of_c_are_not_asked_for(sizes):
    K_TILES = 3
    trace = right_without_findings(case_of(ANY_SHAPE), (*sizes, 64 * K_TILES - 8), config=0)
    loads = [line.requests for line in trace.lines if line.op == "tma.load"]
    assert sum(loads) == K_TILES * BOXES[sizes]


@pytest.mark.parametrize(("rows", "height"), [(16, 16), (17, 64), (80, 80), (81, 128)])
def test_fragments_below_c_are_not_loaded(rows, height):
    """In a part of which 16 rows at most are in C, that is one fragment of A of four."""
    trace = right_without_findings(case_of(ANY_SHAPE), (rows, 64, 64), config=0)
    parts = 1 + (rows > 64)  # warps with 64 columns of C: 4 loads of B for each 16 k
    assert trace.totals()["ldmatrix"]["requests"] == 4 * (4 * parts + height // 16)
