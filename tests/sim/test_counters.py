"""The counters of steps 1 to 6 by arithmetic by hand (7 to 14: test_kernels_part1.py), against what
ncu read, and against each other's builds.
"""

from __future__ import annotations

import pytest
from sampling import sampled
from step_cases import step_cases

from gemmlab import measurements, sim
from gemmlab.core.errors import MeasurementError
from gemmlab.evidence import merged_loads as merged
from gemmlab.evidence.counters import counted_as
from gemmlab.steps import registry

M, N, K = 256, 128, 64
# Kernels 1 to 3: a warp for 32 elements of C.
WARPS = M * N // 32
# Kernels 4 to 6: 128x128 blocks of 8 warps, which copy K / 16 tiles each.
BLOCK_WARPS = M // 128 * (N // 128) * 8
TILES = BLOCK_WARPS * K // 16


def count(requests, *, waves=(0, 0), sectors=(0, 0)):
    return {
        "requests": requests,
        "wavefronts": waves[0],
        "wavefronts_min": waves[1],
        "conflicts": waves[0] - waves[1],
        "sectors": sectors[0],
        "sectors_min": sectors[1],
    }


# A thread stores 8 rows of 8 floats, two 16-byte stores a row. A request of a warp has 8 rows of
# 4 pieces, each in a sector of its own that it fills half: 32 sectors where 512 bytes need 16.
STORE_C = count(16 * BLOCK_WARPS, sectors=(32 * 16 * BLOCK_WARPS, 16 * 16 * BLOCK_WARPS))
# Two 16-byte loads of A (8 rows of 64 bytes) and two of B (a row of 512) a tile: 16 sectors each.
LOAD_TILES = count(4 * TILES, sectors=(64 * TILES, 64 * TILES))

EXPECTED = {
    # For each k the 32 lanes read 32 rows of A, a sector each where 128 bytes need 4, and one
    # element of B. They write 32 rows of C.
    "sgemm_01_naive": {
        "ld.global": count(2 * K * WARPS, sectors=(33 * K * WARPS, 5 * K * WARPS)),
        "st.global": count(WARPS, sectors=(32 * WARPS, 4 * WARPS)),
    },
    # One element of A and 32 neighbours of B; 32 neighbours of C.
    "sgemm_02_coalesced": {
        "ld.global": count(2 * K * WARPS, sectors=(5 * K * WARPS, 5 * K * WARPS)),
        "st.global": count(WARPS, sectors=(4 * WARPS, 4 * WARPS)),
    },
    # K / 32 tiles: a load and a store of A and of B. For four k one 16-byte load of A at one
    # address (two wavefronts: pairs agree, so a phase is half a warp) and four rows of B.
    "sgemm_03_block_tiling": {
        "ld.shared": count(
            5 * (K // 4) * WARPS, waves=(6 * (K // 4) * WARPS, 6 * (K // 4) * WARPS)
        ),
        "st.shared": count(2 * (K // 32) * WARPS, waves=(2 * (K // 32) * WARPS,) * 2),
        "ld.global": count(2 * (K // 32) * WARPS, sectors=(8 * (K // 32) * WARPS,) * 2),
        "st.global": count(WARPS, sectors=(4 * WARPS, 4 * WARPS)),
    },
    # For four k: 8 loads of A and 8 of B, four times a tile. Lanes 4i to 4i + 3 read one row of A;
    # the rows of a load are 512 bytes apart, so the 4 of each half-warp meet in one bank group:
    # 8 wavefronts instead of 2. B: 4 pieces for each quarter-warp, 4 wavefronts.
    "sgemm_04_register_tiling": {
        "ld.shared": count(
            64 * TILES, waves=((32 * 8 + 32 * 4) * TILES, (32 * 2 + 32 * 4) * TILES)
        ),
        "st.shared": count(4 * TILES, waves=(16 * TILES, 16 * TILES)),
        "ld.global": LOAD_TILES,
        "st.global": STORE_C,
    },
    # For each k: two loads of A (8 pieces of 16 bytes, 2 wavefronts) and two of B (4 wavefronts).
    # Stores: 8 of 4 bytes into four rows 512 bytes apart, 4 wavefronts instead of 1, for A; two of
    # 16 bytes for B.
    "sgemm_05_transposed_a": {
        "ld.shared": count(64 * TILES, waves=(16 * 12 * TILES, 16 * 12 * TILES)),
        "st.shared": count(10 * TILES, waves=((8 * 4 + 2 * 4) * TILES, (8 + 2 * 4) * TILES)),
        "ld.global": LOAD_TILES,
        "st.global": STORE_C,
    },
    # The same, and the stores of A fill 32 banks.
    "sgemm_06_swizzled_a": {
        "ld.shared": count(64 * TILES, waves=(16 * 12 * TILES, 16 * 12 * TILES)),
        "st.shared": count(10 * TILES, waves=((8 + 2 * 4) * TILES, (8 + 2 * 4) * TILES)),
        "ld.global": LOAD_TILES,
        "st.global": STORE_C,
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_totals(name):
    trace = sim.trace(name, M, N, K)
    assert trace.totals() == EXPECTED[name]
    assert trace.findings == ()


RECORDED = {
    "shared_load_wavefronts": "ld.shared wavefronts",
    "shared_store_wavefronts": "st.shared wavefronts",
    "shared_load_instructions": "ld.shared requests",
    "shared_store_instructions": "st.shared requests",
    "global_load_requests": "ld.global requests",
    "global_store_requests": "st.global requests",
    "global_load_sectors": "ld.global sectors",
    "global_store_sectors": "st.global sectors",
}
# ncu may count an ldmatrix as a shared load, too.
RECORDED_16_BIT = {key: what for key, what in RECORDED.items() if "shared_load_i" not in key} | {
    "ldmatrix_wavefronts": "ldmatrix wavefronts",
    "ldmatrix_instructions": "ldmatrix requests",
    "stmatrix_wavefronts": "stmatrix wavefronts",
    "copy_wavefronts": "cp.async.shared wavefronts",
}


def counters_of(spec):
    """The recorded size, and what ncu counted of a step there."""
    try:
        section = measurements.load(family=spec.family).section("counters")
    except MeasurementError:
        return 0, None
    return section["size"], section["kernels"].get(spec.name)


# Steps with cp.async.cg that have the copies of several tiles in flight at once.
OVERLAPPING = {
    *("hgemm_12_mma_pipeline", "hgemm_15_double_buffer", "hgemm_16_write_back"),
    *("hgemm_17_stages", "hgemm_18_wide_tile", "hgemm_19_stream_k"),
}


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_totals_equal_what_nsight_compute_read(spec):
    size, read = counters_of(spec)
    if read is None:
        pytest.skip("not in the recording yet; `make record` on a GPU adds it")
    compared = RECORDED if spec.family == "sgemm" else RECORDED_16_BIT
    totals = sim.trace(spec, size, size, size).totals()
    counted = {key: counted_as(what, totals) for key, what in compared.items()}
    fewer = {key for key in compared if merged.is_merged(spec.name, key)}
    # What ncu counts for cp.async.cg while other copies are on their way is a matter of time: more
    # than the simulator in five of six steps, less in hgemm_19. Why is not known.
    timed = {"copy_wavefronts"} if spec.name in OVERLAPPING else set()
    equal = compared.keys() - fewer - timed
    assert {key: counted[key] for key in equal} == {key: read[key] for key in equal}
    assert all(counted[key] != read[key] for key in timed)  # else it has no business there
    for key in fewer:  # else the step has no business in merged.MERGED
        assert 0 < read[key] < counted[key]


def test_beta_adds_a_load_of_c():
    trace = sim.trace("sgemm_06_swizzled_a", M, N, K, beta=1.0)
    with_c = EXPECTED["sgemm_06_swizzled_a"]["ld.global"]["requests"] + 16 * BLOCK_WARPS
    assert trace.totals()["ld.global"]["requests"] == with_c


def test_lines_are_the_kernels_own():
    """Loads and stores inside of helper functions count for the line that calls the helper."""
    trace = sim.trace("sgemm_05_transposed_a", 128, 128, 16)
    assert {line.file for line in trace.lines} == {"kernels/sgemm/05_transposed_a.cuh"}
    stores = [line for line in trace.lines if line.source.startswith("sA[a_col")]
    assert [(s.op, s.width_bytes, s.requests, s.wavefronts, s.conflicts) for s in stores] == [
        ("st.shared", 4, 16, 64, 48)
    ] * 4
    assert all(line.lanes == 32 for line in trace.lines)


def test_partial_blocks_have_fewer_lanes():
    """33 rows: the second block of rows has one row, so one lane in each of its 8 warps works."""
    trace = sim.trace("sgemm_01_naive", 33, 8, 4)
    store = next(line for line in trace.lines if line.op == "st.global")
    assert store.requests == 16
    assert store.lanes == (8 * 32 + 8 * 1) / 16


@pytest.mark.parametrize("case", sampled(step_cases(every_precision=False), of=8))
def test_any_number_of_threads_counts_the_same(case):
    M, N, K = case.sizes
    sizes = 2 * M, 2 * N, K
    A, B, C = case.matrices(*sizes)
    module = case.module()
    traces = [module.trace(A, B, C, *sizes, threads=threads) for threads in (1, 2, 3)]
    assert traces[0] == traces[1] == traces[2]


@pytest.mark.parametrize("case", sampled(step_cases(every_precision=False), of=8))
def test_the_portable_switch_counts_the_same(case):
    A, B, C = case.matrices()
    trace = case.compiled(portable=True).trace(A, B, C, *case.sizes)
    assert (trace.lines, trace.findings) == (sim.trace(case.program, *case.sizes).lines, ())
    plain = sim.integer_matrices(*case.sizes)
    assert (case.rounded(plain[0] @ plain[1]) == C).all()


def test_sizes_that_a_step_does_not_take_are_refused():
    with pytest.raises(ValueError, match="K: is 40, sgemm_03_block_tiling needs"):
        sim.trace("sgemm_03_block_tiling", 64, 64, 40)
