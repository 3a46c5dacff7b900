"""Steps 7 to 14: their counters by arithmetic by hand, and every way to cut a warp's tile."""

from __future__ import annotations

import numpy as np
import pytest

import gemmlab as lab
from gemmlab import sim
from gemmlab.steps import registry

# Two blocks, and several tiles along k for every step.
M, N, K = 256, 128, 96
# Steps 7 to 10 have 8 warps a block, steps 11 to 14 have 4 with twice the work.
EIGHT, FOUR = 2 * 8, 2 * 4


def count(requests, *, waves=(0, 0), sectors=(0, 0)):
    """One entry of `Trace.totals`."""
    return {
        "requests": requests,
        "wavefronts": waves[0],
        "wavefronts_min": waves[1],
        "conflicts": waves[0] - waves[1],
        "sectors": sectors[0],
        "sectors_min": sectors[1],
    }


def step(warps, BK, *, ld, st, copied, stored):
    """All counters of a step whose block copies tiles of BK.

    ld: (requests, wavefronts, least) of a warp's shared loads for one k. st: the same of its shared
    stores for one tile. copied: (requests, sectors, least) of its global loads for one tile.
    stored: the same of its global stores, once.
    """
    tiles = warps * K // BK

    def times(n, row):
        return row[0] * n, (row[1] * n, row[2] * n)

    loads, load_waves = times(warps * K, ld)
    stores, store_waves = times(tiles, st)
    copies, copy_sectors = times(tiles, copied)
    writes, write_sectors = times(warps, stored)
    return {
        "ld.shared": count(loads, waves=load_waves),
        "st.shared": count(stores, waves=store_waves),
        "ld.global": count(copies, sectors=copy_sectors),
        "st.global": count(writes, sectors=write_sectors),
    }


# A thread has 64 (steps 7 to 10) or 128 elements of C: 16 or 32 stores of 16 bytes. Each is 512
# bytes, 16 sectors, or touches 32 and fills them half.
WHOLE_SECTORS, HALF_SECTORS = (16, 16 * 16, 16 * 16), (16, 16 * 32, 16 * 16)


def twice(row):
    return tuple(2 * n for n in row)


# Two loads of A (two addresses: 2 wavefronts) and two of B (256 bytes: 4). Stores: 8 of 4 bytes
# into 32 banks, 2 of 16 bytes.
SWIZZLED = {
    "ld": (4, 2 * 2 + 2 * 4, 2 * 2 + 2 * 4),
    "st": (10, 8 + 2 * 4, 8 + 2 * 4),
    "copied": (4, 64, 64),
    "stored": WHOLE_SECTORS,
}
# A row-major, two rows of a warp in one bank: 16 loads of 2 wavefronts; B in two loads of 16 bytes.
# 8 copies of A and 8 of B for each tile of 32.
LONG_A = {"st": (16, 64, 64), "copied": (16, 256, 256)}

EXPECTED = {
    "sgemm_07_coalesced_c": step(EIGHT, 16, **SWIZZLED),
    "sgemm_08_double_buffer": step(EIGHT, 16, **SWIZZLED),
    # As the source says: for each of 64 products a load of A (two words in one bank) and one of B
    # (16 words in four banks). 4 + 4 copies of 4 bytes; 64 stores with 32 bytes between lanes.
    "sgemm_09_thread_coarsening": step(
        EIGHT,
        8,
        ld=(128, 64 * 2 + 64 * 4, 128),
        st=(8, 8, 8),
        copied=(8, 32, 32),
        stored=(64, 64 * 32, 64 * 4),
    ),
    # 8 loads of A, two words in one bank; two of B, 32 bytes between lanes.
    "sgemm_10_vectorized": step(
        EIGHT,
        8,
        ld=(10, 8 * 2 + 2 * 8, 8 + 2 * 4),
        st=(2, 8, 8),
        copied=(2, 32, 32),
        stored=HALF_SECTORS,
    ),
    "sgemm_11_warp_tiling": step(
        FOUR, 32, ld=(18, 16 * 2 + 2 * 8, 16 + 2 * 4), stored=twice(HALF_SECTORS), **LONG_A
    ),
    "sgemm_12_warp_subtiles": step(
        FOUR, 32, ld=(18, 16 * 2 + 2 * 4, 16 + 2 * 4), stored=twice(WHOLE_SECTORS), **LONG_A
    ),
    # Four loads of A of 16 bytes, two of B. 32 stores of A with 8 lanes in each of four banks.
    "sgemm_13_subtiles_transposed_a": step(
        FOUR,
        32,
        ld=(6, 4 * 2 + 2 * 4, 4 * 2 + 2 * 4),
        st=(32 + 8, 32 * 8 + 8 * 4, 32 + 8 * 4),
        copied=(16, 256, 256),
        stored=twice(WHOLE_SECTORS),
    ),
    # No store to shared memory and no load from global memory: copies, 4 + 4 for each tile of 16.
    # A row of A's tile is half a line of global memory: 8 wavefronts where whole lines take 4.
    "sgemm_14_async_double_buffer": {
        "ld.shared": count(18 * FOUR * K, waves=(40 * FOUR * K, 24 * FOUR * K)),
        "st.global": count(32 * FOUR, sectors=(32 * 16 * FOUR, 32 * 16 * FOUR)),
        "cp.async.shared": count(
            8 * FOUR * K // 16, waves=(48 * FOUR * K // 16, 32 * FOUR * K // 16)
        ),
        "cp.async.global": count(8 * FOUR * K // 16, sectors=(128 * FOUR * K // 16,) * 2),
    },
}

# The ways to give a thread 128 of a warp's 32 x 128 elements that article 001 compares, and step
# 11's: (TM, TN, WMITER, WNITER) -> wavefronts of the shared loads of a warp for one k.
CUTS = {
    (8, 4, 1, 4): 48,
    (8, 4, 2, 2): 40,
    (8, 4, 4, 1): 36,
    (4, 4, 1, 8): 64,
    (4, 4, 2, 4): 48,
    (4, 4, 4, 2): 40,
    (4, 4, 8, 1): 36,
    (4, 8, 1, 4): 64,
    (4, 8, 2, 2): 64,
    (4, 8, 4, 1): 48,
    (1, 16, 1, 8): 96,
    (1, 16, 2, 4): 64,
    (1, 16, 4, 2): 96,
    (1, 16, 8, 1): 96,
    (16, 8, 1, 1): 48,
}
SUBTILES = "sgemm_12_warp_subtiles"


def traced(spec, shape, beta=0.0):
    """The trace of an exact product; C is NaN where it must not be read."""
    A, B, C = sim.integer_matrices(*shape)
    expected = A @ B + beta * C
    if not beta:
        C[:] = np.nan
    trace = sim.compile_step(spec).trace(A, B, C, *shape, 1.0, beta)
    np.testing.assert_array_equal(C, expected)
    return trace


@pytest.mark.parametrize("name", EXPECTED)
def test_counters_and_no_findings(name):
    trace = traced(registry.get(name), (M, N, K))
    assert trace.findings == ()
    assert trace.totals() == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("tiles", [0, 1, 2, 5])
def test_any_number_of_tiles(name, tiles):
    spec = registry.get(name)
    assert traced(spec, (128, 256, tiles * spec.tile[2]), beta=2.0).findings == ()


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_every_cut_of_the_warp_tile_is_right(cut):
    before = {"TM": 8, "TN": 4, "WMITER": 2, "WNITER": 2}
    now = dict(zip(before, cut, strict=True))
    changes = {f"{name} = {before[name]};": f"{name} = {now[name]};" for name in before}
    trace = traced(lab.variant(SUBTILES, changes), (M, N, K))
    assert trace.findings == ()
    assert trace.totals()["ld.shared"]["wavefronts"] == CUTS[cut] * FOUR * K


def test_a_cut_that_leaves_lanes_over_does_not_compile():
    from gemmlab.core.errors import BuildError

    wrong = lab.variant(SUBTILES, {"WMITER = 2;": "WMITER = 1;"})
    with pytest.raises(BuildError, match="32 lanes cover each subtile"):
        traced(wrong, (128, 128, 32))


def test_the_articles_conflicts_of_the_transposed_store():
    """Article 001 expects 4 for the rows as they are and 32 for the transposed ones."""
    stores = {
        name: [line for line in sim.trace(name, 128, 128, 32).lines if line.op == "st.shared"]
        for name in (SUBTILES, "sgemm_13_subtiles_transposed_a")
    }
    assert all(line.conflicts == 0 for line in stores[SUBTILES])
    transposed = [
        line for line in stores["sgemm_13_subtiles_transposed_a"] if line.width_bytes == 4
    ]
    assert {line.wavefronts / line.requests for line in transposed} == {8}


# Without it, a thread may read what is not there yet or overwrite what is still to be read.
BROKEN = {
    "the barrier of a tile": (
        "sgemm_08_double_buffer",
        {"__syncthreads();        // the next": "// the next"},
    ),
    "the first barrier": (
        "sgemm_08_double_buffer",
        {"__syncthreads();  // it is in place": ""},
    ),
    "the other buffer": ("sgemm_08_double_buffer", {"store_next(stage ^ 1)": "store_next(stage)"}),
    "the wait": ("sgemm_14_async_double_buffer", {"cp_async_wait<1>": "cp_async_wait<2>"}),
    "the barrier after it": (
        "sgemm_14_async_double_buffer",
        {"__syncthreads();      // everyone's": "// everyone's"},
    ),
    "the barrier at the end": (
        "sgemm_14_async_double_buffer",
        {"__syncthreads();  // everyone has read before the copy": "// before the copy"},
    ),
}


@pytest.mark.parametrize("missing", BROKEN)
def test_what_a_pipeline_needs_is_missed(missing):
    name, changes = BROKEN[missing]
    wrong = lab.variant(name, changes)
    A, B, C = sim.integer_matrices(128, 128, 64)
    trace = sim.compile_step(wrong).trace(A, B, C, 128, 128, 64)
    assert trace.findings
