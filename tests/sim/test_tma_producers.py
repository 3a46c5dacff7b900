"""Part III with a producer: every tile, cuts along k, other rings, and mistakes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sampling import sampled
from tma_cases import (
    ANY_SHAPE,
    CHEAP,
    CONFIGS,
    FOUR_SMS,
    PERSISTENT,
    STREAM_K,
    TILES,
    assert_cut,
    case_of,
    right_without_findings,
)

from gemmlab.core.errors import RefusedError
from gemmlab.core.precision import HALF

PRODUCER, WIDE = "tma_04_producer_warp", "tma_05_wide_tile"
K = 456  # 8 tiles, the last one ragged


# ---- tiles of 4 SMs ----


@pytest.mark.parametrize("precision", HALF)
@pytest.mark.parametrize("beta", [0.0, -1.0])
def test_a_block_with_several_tiles(precision, beta):
    sizes = (264, 616, 200)  # 10 tiles on 4 SMs
    case = case_of(PERSISTENT, precision)
    right_without_findings(case, sizes, FOUR_SMS[PERSISTENT], beta)


# Rows and columns of tiles -> pieces of each tile that is cut, and blocks.
CUTS = {
    (1, 1): "one tile in three pieces, three blocks",
    (2, 1): "two tiles in two pieces each, both left to one block",
    (1, 5): "one tile in three pieces, then whole ones",
    (2, 3): "two tiles in two pieces each, then whole ones",
}


CUT = product([(STREAM_K, 0), *((ANY_SHAPE, c) for c in CONFIGS)], CUTS, ["bf16", "fp16_fp32"])


@pytest.mark.parametrize("case", sampled(list(CUT)))
def test_tiles_that_are_cut(case):
    (name, config), tiles, precision = case
    (BM, BN), (rows, columns) = TILES[config], tiles
    sizes = (rows * BM - 8, columns * BN - 40, K)
    case, changes = case_of(name, precision), FOUR_SMS[name]
    trace = right_without_findings(case, sizes, changes, -1.0, config=config)
    assert_cut(trace, TILES[config])


@pytest.mark.parametrize("cheap", [True, False])
@pytest.mark.parametrize("name", [STREAM_K, ANY_SHAPE])
def test_more_blocks_than_tiles(name, cheap):
    """On all 132 SMs: many helpers of one tile, some of which have a k tile or two."""
    right_without_findings(case_of(name), (64, 72, 2056), CHEAP[name] if cheap else {}, 1.0)


def test_pieces_are_added_in_the_order_of_k():
    """Whoever is last: each piece as the product of its columns of A and rows of B."""
    case, sizes = case_of(STREAM_K, "fp16_fp32"), (256, 128, K)
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal(s).astype(np.float16) for s in (sizes[::2], (K, sizes[1])))

    def product(first: int, last: int, changes: dict | None = None, threads: int = 1) -> np.ndarray:
        module = case.compiled(changes=changes)
        C = np.full(sizes[:2], np.nan, np.float32)
        a, b = (np.ascontiguousarray(of) for of in (A[:, first:last], B[first:last]))
        module.launch(a, b, C, *sizes[:2], last - first, threads=threads)
        return C

    first, second, third = product(0, 192), product(192, 320), product(320, K)
    expected = first + second + third
    assert not np.array_equal(expected, third + second + first)
    for threads in (1, 2, 4, 4, 4, 4):
        found = product(0, K, FOUR_SMS[STREAM_K], threads)
        np.testing.assert_array_equal(found, expected)


# ---- any shape ----


SHAPES = [(5, 70, 33), (1, 1, 1), (131, 67, 130), (72, 136, 71), (64, 65, 64), (40, 129, 0)]


@pytest.mark.parametrize("case", sampled(list(product(CONFIGS, SHAPES, ["bf16", "fp16_fp32"]))))
def test_every_tile_takes_every_shape(case):
    config, sizes, precision = case
    for beta in (0.0, -1.0):
        right_without_findings(case_of(ANY_SHAPE, precision), sizes, None, beta, config=config)


# ---- rings of other lengths ----


@pytest.mark.parametrize(
    ("name", "stages"), [(PRODUCER, 2), (PRODUCER, 5), (WIDE, 2), (PERSISTENT, 2), (STREAM_K, 2)]
)
def test_rings_of_other_lengths(name, stages):
    changes = {"STAGES = 3": f"STAGES = {stages}", **FOUR_SMS.get(name, {})}
    right_without_findings(case_of(name), (264, 392, K), changes, 1.0)


@pytest.mark.parametrize("name", [WIDE, PERSISTENT, STREAM_K])
def test_what_has_no_room_is_refused(name):
    with pytest.raises(RefusedError) as caught:
        case_of(name).traced((8, 8, 8), {"STAGES = 3": "STAGES = 4"})
    assert "262272 bytes of shared memory" in str(caught.value)


# ---- mistakes ----

_WAIT_04 = "      mbarrier_wait(empty_addr + stage * 8, parity);\n"
_CLEAR = "error = cudaMemsetAsync(arrived, 0, share.rest * WARPS * sizeof(int), stream)"
# What is changed, and the kind of finding; without one, only the result tells.
MISTAKES = {
    "a stage is filled that is not empty": (PRODUCER, {_WAIT_04: ""}, "barrier-overrun"),
    "a warp of the block does not arrive": (
        PRODUCER,
        {"k_tile > 0 && lane_id == 0)": "k_tile > 0 && lane_id == 0 && warp_id > 0)"},
        "deadlock",
    ),
    "C over tiles that others read": (
        PRODUCER,
        {"  bar_sync(1, CONSUMERS);  // everyone has": "  // everyone has"},
        "race",
    ),
    "the block ends before its store has read": (
        WIDE,
        {"  if (lane_id == 0) bulk_wait_read<0>();": "  "},
        "unfinished",
    ),
    "a tile of the other k": (
        WIDE,
        {"map_a, ring.full_addr(), k_tile,": "map_a, ring.full_addr(), 0,"},
        "",
    ),
    "counters are not cleared": (STREAM_K, {_CLEAR: "error = cudaSuccess"}, ""),
    "both pieces of a block in one place": (
        STREAM_K,
        {"own, count, lane_id": "0, count, lane_id"},
        "",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_found(what):
    name, changes, kind = MISTAKES[what]
    trace, right = case_of(name).traced((264, 328, K), changes | FOUR_SMS.get(name, {}), beta=1.0)
    if kind:
        assert any(finding.kind.startswith(kind) for finding in trace.findings), trace.findings
    else:
        assert not right and trace.findings == ()
