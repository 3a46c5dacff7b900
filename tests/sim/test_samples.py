"""The requests that a trace keeps: whose they are, and the addresses of their lanes."""

from __future__ import annotations

import numpy as np
import pytest
from step_cases import step_cases

from gemmlab import sim
from gemmlab.layouts.shared import banks, copies
from gemmlab.sim.places import Place, array_shape, element, plain_name
from gemmlab.sim.samples import MOST
from gemmlab.widgets import TraceView
from gemmlab.widgets.trace_view import served

LANES = range(32)


def samples(trace, text, op):
    """The samples of the lines that hold `text`."""
    lines = {line.line for line in trace.lines if text in line.source}
    assert lines, text
    return [s for s in trace.samples if s.line in lines and s.op == op]


def who(sample):
    return sample.block, sample.warp, sample.time


# --- by hand --------------------------------------------------------------------------------------


def test_block_tiling():
    """A warp is a row of 32 threads: it copies a row of each tile, and reads one value of sA."""
    trace = sim.trace("sgemm_03_block_tiling", 64, 96, 128)
    warps, tiles = 32 * 6, 4
    for name, load in (("A", "sA[ty][tx] ="), ("B", "sB[ty][tx] =")):
        (read,) = samples(trace, load, "ld.global")
        (write,) = samples(trace, load, "st.shared")
        assert read.elements == tuple(f"{name}[0][{lane}]" for lane in LANES)
        assert write.elements == tuple(f"s{name}[0][{lane}]" for lane in LANES)
        assert who(read) == who(write) == (0, 0, 0)
        assert read.requests == write.requests == warps * tiles
        assert np.diff(write.addresses).tolist() == [4] * 31
        assert (read.cost, read.cost_min, write.cost, write.cost_min) == (4, 4, 1, 1)
    (broadcast,) = samples(trace, "load4(&sA[ty][k])", "ld.shared")
    assert broadcast.elements == ("sA[0][0]",) * 32
    assert (broadcast.width_bytes, broadcast.cost) == (16, 2)
    (row,) = samples(trace, "acc += a.z", "ld.shared")
    assert row.elements == tuple(f"sB[2][{lane}]" for lane in LANES)


def test_swizzled_store():
    """Lane l of warp w copies four values of row 8 w + l / 4, for k = l % 4 * 4 and the next."""
    trace = sim.trace("sgemm_06_swizzled_a", 128, 128, 32)
    found = samples(trace, "sA[a_col + 1]", "st.shared")
    # The rows 8 w are columns of sA and differ in bits 3 and 4: the XOR gives them four shapes.
    assert [who(s) for s in found] == [(0, warp, 0) for warp in range(4)]
    for warp, sample in enumerate(found):
        rows = [lane % 4 * 4 + 1 for lane in LANES]
        columns = [(8 * warp + lane // 4) ^ (lane % 4 * 8) for lane in LANES]
        expected = [f"sA[{row}][{column}]" for row, column in zip(rows, columns, strict=True)]
        assert list(sample.elements) == expected
        start = sample.addresses[0] - 4 * (128 * rows[0] + columns[0])
        assert [a - start for a in sample.addresses] == [
            4 * (128 * row + column) for row, column in zip(rows, columns, strict=True)
        ]
        assert (sample.cost, sample.requests) == (1, 2 * 2 * 2)


def test_swizzled_load():
    """The fragment of A starts at column l / 4 * 8 of row k, which the XOR moves with k / 4."""
    trace = sim.trace("sgemm_06_swizzled_a", 128, 128, 32)
    found = samples(trace, "&rA[4]", "ld.shared")
    assert [who(s) for s in found] == [(0, 0, k) for k in (0, 4, 8, 12)]
    for k, sample in zip((0, 4, 8, 12), found, strict=True):
        columns = [(lane // 4 * 8 ^ k // 4 * 8) + 4 for lane in LANES]
        assert list(sample.elements) == [f"sA[{k}][{column}]" for column in columns]


def test_lanes_that_take_no_part_have_no_address():
    trace = sim.trace("sgemm_01_naive", 33, 8, 4)
    whole, rest = samples(trace, "write_c", "st.global")
    assert whole.elements == tuple(f"C[{lane}][0]" for lane in LANES)
    assert rest.elements == ("C[32][0]", *[None] * 31)
    assert rest.addresses[1:] == (None,) * 31
    assert (whole.requests, rest.requests, who(rest)) == (8, 8, (1, 0, 0))


def test_rows_of_matrices(kernel_file):
    """Lane l of an ldmatrix.x4 points to row l % 16, at the half l / 16 of 16 k."""
    A, B = (np.ones((64, 64), np.float16) for _ in "AB")
    C = np.zeros((64, 64), np.float32)
    trace = kernel_file("gemm_ldmatrix_mma").module("plain").trace(A, B, C, 64, 64, 64)
    (rows,) = samples(trace, "ldmatrix_x4(a[m]", "ldmatrix")
    assert rows.elements == tuple(f"sA[{lane % 16 * 32 + lane // 16 * 8}]" for lane in LANES)
    assert (rows.cost, rows.cost_min) == (16, 4)  # rows of 64 bytes: four of a matrix in one bank
    assert "In phase 1 lanes 0, 2, 4, 6 meet" in repr(TraceView(trace, "ldmatrix_x4(a[m]"))


def test_both_sides_of_a_copy(kernel_file):
    A, B, C = sim.integer_matrices(64, 64, 64)
    trace = kernel_file("gemm_cp_async").module("gemm_cp_async").trace(A, B, C, 64, 64, 64)
    (source,) = samples(trace, "// [copy B]", "cp.async.global")
    (target,) = samples(trace, "// [copy B]", "cp.async.shared")
    pieces = [(lane // 16, lane % 16 * 4) for lane in LANES]
    assert source.elements == tuple(f"B[{row}][{column}]" for row, column in pieces)
    assert target.elements == tuple(f"sB[0][{row}][{column}]" for row, column in pieces)
    (target,) = samples(trace, "// [copy A]", "cp.async.shared")
    assert (target.cost, target.cost_min) == (8, 4)
    view = TraceView(trace, "// [copy A]", op="cp.async.shared")
    assert "8 wavefronts, the minimum is 4: 4 too many. A copy's wavefronts depend" in repr(view)


# --- which ones are kept --------------------------------------------------------------------------


def traced_shapes(kernel_file, strides, threads=2):
    out = np.zeros(64, np.float32)
    given = np.array(strides, np.int32)
    fixture = kernel_file("shapes")
    trace = fixture.module("shapes").trace(given, given, out, len(strides), 1, 1, threads=threads)
    assert trace.findings == ()
    line = fixture.lines["read"]
    (count,) = (c for c in trace.lines if (c.line, c.op) == (line, "ld.shared"))
    return trace, count, [s for s in trace.samples if (s.line, s.op) == (line, "ld.shared")]


def test_few_shapes_are_all_kept_and_counted(kernel_file):
    _, line, found = traced_shapes(kernel_file, [1, 2, 1, 32, 2, 1])
    assert [(who(s), s.cost, s.requests) for s in found] == [
        ((0, 0, 0), 1, 1 + 1 + 2),  # odd blocks have two warps
        ((1, 0, 0), 2, 2 + 1),
        ((3, 0, 0), 32, 2),
    ]
    assert sum(s.requests for s in found) == line.requests
    assert sum(s.requests * s.cost for s in found) == line.wavefronts


def test_of_many_shapes_the_first_and_the_dearest_are_kept(kernel_file):
    strides = [1, 3, 5, 7, 9, 11, 13, 15, 17, 32, 16, 32]
    _, line, found = traced_shapes(kernel_file, strides)
    assert [(who(s), s.cost) for s in found] == [
        *[((block, 0, 0), 1) for block in range(5)],
        ((9, 0, 0), 32),
    ]
    assert {s.requests for s in found} == {0}
    assert line.requests == 18


def test_other_lanes_are_another_shape(kernel_file):
    _, _, found = traced_shapes(kernel_file, [0, -16, -1, -16])
    assert [(who(s), s.cost, s.requests) for s in found] == [
        ((0, 0, 0), 1, 1),
        ((1, 0, 0), 1, 2 + 2),
        ((2, 0, 0), 1, 1),
    ]
    assert [sum(a is not None for a in s.addresses) for s in found] == [32, 16, 1]


def test_any_number_of_threads_keeps_the_same(kernel_file):
    # A shape at a time, so that any thread may be the first to meet one.
    for kinds, blocks in ((8, 60), (12, 40)):
        strides = np.repeat(np.arange(1, 1 + kinds), blocks)
        found = [traced_shapes(kernel_file, strides, threads) for threads in (1, 2, 5)]
        assert found[0] == found[1] == found[2]


def test_an_atomic_has_no_cost_and_no_sample(kernel_file):
    trace, _, _ = traced_shapes(kernel_file, [1])
    assert any(line.op == "atom.global" for line in trace.lines)
    assert not any(sample.op.startswith("atom") for sample in trace.samples)


@pytest.mark.parametrize("case", step_cases(every_precision=False), ids=str)
def test_every_line_has_samples_that_agree_with_its_counts(case):
    trace = sim.trace(case.spec, *case.sizes)
    for line in trace.lines:
        key = (line.file, line.line, line.op, line.width_bytes)
        found = [s for s in trace.samples if (s.file, s.line, s.op, s.width_bytes) == key]
        if not line.by_lanes or line.op == "atom.global":  # one thread, or no cost
            assert not found
            continue
        assert 1 <= len(found) <= MOST
        assert sum(s.requests for s in found) <= line.requests
        if len(found) < MOST and all(s.requests for s in found):
            total = sum(s.requests * s.cost for s in found)
            assert total == line.wavefronts + line.sectors
            assert sum(s.requests for s in found) == line.requests


def on_a_gpu(trace, sample):
    """A sample's addresses in shared memory, where the dynamic array begins at a row of banks."""
    shared = (place for place in trace.places if place.memory == "shared")
    dynamic = max(shared, key=lambda place: place.bytes)
    past = {a: dynamic.start % 128 if dynamic.holds(a) else 0 for a in sample.addresses if a}
    return [a - past[a] if a else 0 for a in sample.addresses]


def copies_of(trace, sample):
    """The cp.async that may be this one's other side: what it costs hangs on its source as well.

    With a source size, a copy of the same line may have read nothing, and have no other side; in
    some lines all of them have none. Where tiles are swizzled, warps whose sources have one shape
    write in several: then the source that was kept is another warp's.
    """
    sources = [s for s in trace.samples if (s.op, s.line) == ("cp.async.global", sample.line)]
    sources = sources or [sample]
    source = next((s for s in sources if who(s) == who(sample)), sources[0])
    assert who(source) == who(sample) or len(sources) == 1
    active = np.array([a is not None for a in sample.addresses])
    form = form_of_copy(trace, sample)
    to, read = on_a_gpu(trace, sample), [a or 0 for a in source.addresses]
    for reads in (active, np.zeros(32, bool)) if form["zero_fill"] else (active,):
        yield copies.copy(to, read, sample.width_bytes, active, reads=reads, **form)


def sectors_of_copy(trace, source):
    """What the source may take: past L1, one for each pair of its sector and a destination's.

    The destinations are another side of the same request, or of one with the same source.
    """
    targets = [s for s in trace.samples if (s.op, s.line) == ("cp.async.shared", source.line)]
    reads = np.array([a is not None for a in source.addresses])
    for target in [s for s in targets if who(s) == who(source)] or targets:
        active = np.array([a is not None for a in target.addresses])
        to, read = on_a_gpu(trace, target), [a or 0 for a in source.addresses]
        form = form_of_copy(trace, source)
        yield copies.copy(to, read, source.width_bytes, active, reads=reads, **form).sectors


def form_of_copy(trace, sample):
    """Which cp.async stands in the line of a sample."""
    line = next(
        line for line in trace.lines if (line.file, line.line) == (sample.file, sample.line)
    )
    return {"past_l1": "cp_async_cg" in line.source, "zero_fill": "_zfill" in line.source}


@pytest.mark.parametrize("case", step_cases(every_precision=False), ids=str)
def test_the_cost_is_that_of_the_addresses(case):
    trace = sim.trace(case.spec, *case.sizes)
    for sample in trace.samples:
        if sample.op == "cp.async.shared":
            found = {(one.wavefronts, one.minimum) for one in copies_of(trace, sample)}
            assert (sample.cost, sample.cost_min) in found
        elif sample.memory == "shared":
            request = served(sample.addresses, sample.width_bytes, sample.op)
            assert (request.wavefronts, request.minimum) == (sample.cost, sample.cost_min)
        elif sample.op == "cp.async.global":
            assert sample.cost in sectors_of_copy(trace, sample)
        else:
            active = np.array([a is not None for a in sample.addresses])
            values = [a or 0 for a in sample.addresses]
            assert banks.sectors(values, sample.width_bytes, active) == sample.cost


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZZN21sgemm_03_block_tiling6kernelEPKfS1_PfiiiffE2sA", "sA"),
        ("_ZZN12_GLOBAL__N_11SILi4EfE1fEvE2sA_0", "sA"),
        ("_ZZ6kernelPfE7tile_2d", "tile_2d"),
        ("_ZL4ring", "ring"),
        ("smem", "smem"),
    ],
)
def test_plain_names(symbol, name):
    assert plain_name(symbol) == name


SOURCE = """
constexpr int BM = 128, BN = BM / 2, BK = 16;
constexpr int STAGES = 3, PAD = BK == 16 ? 4 : 0;
__shared__ __align__(16) float sA[BK][BM];  // transposed
__shared__ alignas(128) __half sB[STAGES][BK * 2][BN + 8];
__shared__ float padded[BM][BK + PAD];
extern __shared__ unsigned char smem[];
__shared__ float sum;
"""


@pytest.mark.parametrize(
    ("name", "size", "shape"),
    [
        ("sA", 16 * 128 * 4, (16, 128)),
        ("sA", 16 * 128 * 4 + 4, ()),  # not what is declared
        ("sB", 3 * 32 * 72 * 2, (3, 32, 72)),
        ("padded", 128 * 20 * 4, ()),  # PAD is more than arithmetic
        ("smem", 1000, ()),
        ("sum", 4, ()),
        ("s", 4, ()),
    ],
)
def test_shapes_of_arrays(name, size, shape):
    assert array_shape(SOURCE, name, size) == shape


def test_elements_in_words():
    places = (
        Place("A", "global", 4096, 4 * 6 * 10, (6, 10)),
        Place("sA", "shared", 4096, 2 * 3 * 4 * 8, (3, 4, 8)),
        Place("smem", "shared", 0, 1000),
    )
    assert element(places, "global", 4096 + 4 * 37) == "A[3][7]"
    assert element(places, "global", 4096 + 4 * 37 + 3) == "A[3][7] + 3 B"
    assert element(places, "shared", 4096 + 2 * (32 + 8 + 5)) == "sA[1][1][5]"
    assert element(places, "shared", 999) == "smem + 999 B"
    assert element(places, "global", 100) == "global + 100 B"
