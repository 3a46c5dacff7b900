"""cp.async and the __pipeline primitives: what is copied and when, the counts, the findings."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import LaunchError

# name -> kind, marks of the lines, what the message tells to do, stops the kernel.
MISTAKES = {
    "copy_missing_wait": ("read-before-wait", "here", "there", "group: cp_async_wait<N>()", False),
    "copy_wait_too_few": ("read-before-wait", "here", "there", "wait for the copy", False),
    "copy_not_committed": ("read-before-wait", "here", "there", "in no commit group", False),
    "copy_one_waits": ("read-before-wait", "here", "there", "know by a barrier", False),
    "copy_barrier_before_wait": ("read-before-wait", "here", "there", "know by a barrier", False),
    "copy_missing_barrier": ("race", "here", "there", "put __syncthreads() between", False),
    "copy_other_lane": ("race", "here", "there", "put __syncthreads() between", False),
    "copy_trailing_barrier": ("race", "here", "there", "at the end of a loop", False),
    "copy_arrive_early": ("read-before-wait", "here", "there", "wait for the copy", False),
    "copy_arrive_no_wait": ("read-before-wait", "here", "there", "wait for the copy", False),
    "copy_after_arrive": ("read-before-wait", "here", "there", "wait for the copy", False),
    "copy_arrive_other": ("read-before-wait", "here", "there", "wait for the copy", False),
    "copy_arrive_store": ("race", "here", "there", "put __syncthreads() between", False),
    "copy_over_copy": ("write-before-wait", "here", "there", "wait for the first", False),
    "copy_over_store": ("write-before-wait", "here", "there", "wait for the first", False),
    "copy_no_group": ("unfinished", "here", None, "call cp_async_commit() after", False),
    "copy_unfinished": ("unfinished", "here", None, "wait for it, or leave it out", False),
    "copy_left_in_flight": ("unfinished", "here", None, "<1>(), leaves the newest group", False),
    "copy_misaligned_source": ("misaligned", "here", None, "4 past a multiple of 16", True),
    "copy_misaligned_target": ("misaligned", "here", None, "4 past a multiple of 8", True),
    "copy_past_end": ("out-of-bounds", "here", None, "4 bytes past the end of A", True),
    "copy_no_source": ("out-of-bounds", "here", None, "pass a pointer into a matrix", True),
    "copy_no_target": ("out-of-bounds", "here", None, "outside of every __shared__", True),
    "copy_size": ("copy-size", "here", None, "a copy has 4, 8 or 16 bytes", True),
}
# Without the wait, the memory has what it had before: NaNs.
UNWRITTEN = ("copy_missing_wait", "copy_wait_too_few", "copy_not_committed", "copy_one_waits")
UNWRITTEN += ("copy_arrive_early", "copy_arrive_no_wait", "copy_after_arrive")


def matrices():
    return np.arange(64, dtype=np.float32), np.zeros(64, np.float32)


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_found(kernel_file, check_mistake, name):
    fixture = kernel_file(name)
    A, C = matrices()
    check_mistake(fixture, fixture.module("broken").trace(A, A, C, 8, 8, 8), MISTAKES[name])


@pytest.mark.parametrize("name", MISTAKES)
def test_the_fixed_twin_is_clean(kernel_file, name):
    A, C = matrices()
    module = kernel_file(name).module("fixed")
    assert module.trace(A, A, C, 8, 8, 8).findings == ()
    traced, C[:] = C.copy(), 0
    module.launch(A, A, C, 8, 8, 8)
    assert np.array_equal(C, traced)


@pytest.mark.parametrize("name", [name for name, mistake in MISTAKES.items() if mistake[4]])
def test_an_untraced_run_stops_too(kernel_file, name):
    A, C = matrices()
    with pytest.raises(LaunchError, match=f"{name}.cu:"):
        kernel_file(name).module("broken").launch(A, A, C, 8, 8, 8)


@pytest.mark.parametrize("name", UNWRITTEN)
def test_a_missing_wait_gives_wrong_values(kernel_file, name):
    A, C = matrices()
    kernel_file(name).module("broken").launch(A, A, C, 8, 8, 8)
    assert np.isnan(C[:63]).all()


def test_a_copy_of_what_is_left_reads_no_more(kernel_file):
    """63 elements in pieces of four: the last piece has three, and a zero."""
    A, C = np.arange(1, 64, dtype=np.float32), np.zeros(64, np.float32)
    module = kernel_file("copy_tail").module("fixed")
    assert module.trace(A, A, C, 63, 8, 8).findings == ()
    assert np.array_equal(C, [*A, 0])
    (finding,) = kernel_file("copy_tail").module("broken").trace(A, A, C, 63, 8, 8).findings
    assert (finding.kind, finding.fatal) == ("out-of-bounds", True)
    assert "reads 16 bytes, 4 bytes past the end of A" in finding.message


def expected_copies(source):
    """By case of copies.cu: 32 lanes with 16 bytes each."""
    cases = []

    def case(width, read):
        row = np.full((32, 16), 0xEE, np.uint8)
        row[:, :width] = 0
        row[:, :read] = source[:, :read]
        cases.append(row)

    for width in (4, 8, 16):
        case(width, width)
        for read in range(width + 1):
            case(width, read)
            case(width, read)
    case(16, 16)
    for read in range(17):
        case(16, read)
    case(16, 0)
    return np.stack(cases)


@pytest.mark.parametrize("portable", [False, True])
def test_every_width_and_every_number_of_bytes(kernel_file, portable):
    source = np.random.default_rng(0).integers(1, 200, (32, 16)).astype(np.uint8)
    expected = expected_copies(source)
    C = np.zeros_like(expected)
    module = kernel_file("copies").module("copies", portable)
    assert module.trace(source, source, C, 8, 8, 8).findings == ()
    np.testing.assert_array_equal(C, expected)
    C[:] = 0
    module.launch(source, source, C, 8, 8, 8)
    np.testing.assert_array_equal(C, expected)


def test_what_one_launch_leaves_unfinished_does_not_reach_the_next(kernel_file):
    A, C = matrices()
    broken = kernel_file("copy_unfinished").module("broken")
    for _ in range(2):
        assert [f.count for f in broken.trace(A, A, C, 8, 8, 8).findings] == [64]


# Also fewer tiles than stages, and shapes that no tile divides.
GEMMS = {
    "gemm_cp_async": [(64, 64, 16), (64, 128, 32), (128, 64, 48), (64, 64, 160)],
    "pipeline_cp_async": [(64, 64, 16), (64, 128, 32), (128, 64, 48), (64, 64, 160)],
    "gemm_pipeline_primitives": [(1, 1, 1), (16, 16, 16), (5, 7, 3), (33, 40, 50), (17, 1, 100)],
}


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize(("name", "shape"), [(n, s) for n, shapes in GEMMS.items() for s in shapes])
def test_gemm(kernel_file, name, shape, portable):
    A, B, C = sim.integer_matrices(*shape)
    module = kernel_file(name).module(name, portable)
    assert module.trace(A, B, C, *shape).findings == ()
    assert np.array_equal(C, A @ B)
    C[:] = np.nan
    module.launch(A, B, C, *shape)
    assert np.array_equal(C, A @ B)


def test_an_arrival_of_copies_may_be_one_too_many(kernel_file):
    fixture = kernel_file("copy_arrive_overrun")
    A, C = matrices()
    findings = fixture.module("broken").trace(A, A, C, 8, 8, 8).findings
    assert ("barrier-overrun", fixture.lines["here"]) in [(f.kind, f.line) for f in findings]
    assert fixture.module("fixed").trace(A, A, C, 8, 8, 8).findings == ()


def test_any_number_of_copies_and_groups(kernel_file):
    A = np.arange(6000, dtype=np.float32)
    C = np.zeros_like(A)
    for count in (15, 16, 17, 4095, 4096, 4097, 6000):
        C[:] = -1
        trace = kernel_file("copy_many").module("copy_many").trace(A, A, C, count, 1, 1)
        assert trace.findings == ()
        assert np.array_equal(C[:count], A[:count])
        assert (C[count:] == -1).all()


def counts(trace, op):
    return {
        line.line: (line.width_bytes, line.requests, line.lanes, line.wavefronts, line.sectors)
        for line in trace.lines
        if line.op == op
    }


def test_a_copy_is_a_request_to_shared_and_one_to_global_memory(kernel_file):
    """Two blocks, eight warps each, three tiles. A warp copies 512 bytes, without gaps in shared
    memory: of A 8 rows of 64 bytes, each in a line of its own, so 8 wavefronts where 4 would do;
    of B two rows of 256 bytes."""
    fixture = kernel_file("gemm_cp_async")
    A, B, C = sim.integer_matrices(64, 128, 48)
    trace = fixture.module("gemm_cp_async").trace(A, B, C, 64, 128, 48)
    requests = 2 * 8 * 3
    line_a, line_b = (fixture.lines[mark] for mark in ("copy A", "copy B"))
    assert counts(trace, "cp.async.shared") == {
        line_a: (16, requests, 32, 8 * requests, 0),
        line_b: (16, requests, 32, 4 * requests, 0),
    }
    far = (16, requests, 32, 0, 16 * requests)
    assert counts(trace, "cp.async.global") == {line_a: far, line_b: far}


def test_lanes_that_only_fill_with_zeros_ask_nothing_of_global_memory(kernel_file):
    """5 rows of 3 elements of A: three warps of two rows have some, one sector a row or one for
    both. Two rows of 16 elements of shared memory lie in different banks."""
    fixture = kernel_file("gemm_pipeline_primitives")
    A, B, C = sim.integer_matrices(5, 7, 3)
    trace = fixture.module("gemm_pipeline_primitives").trace(A, B, C, 5, 7, 3)
    line = fixture.lines["copy A"]
    assert counts(trace, "cp.async.shared")[line] == (4, 8, 32, 8, 0)
    width, requests, lanes, _, sectors = counts(trace, "cp.async.global")[line]
    assert (width, requests, lanes) == (4, 3, 5.0)
    # Bytes 0 to 23, 24 to 47 and 48 to 59.
    assert sectors == 1 + 2 + 1


@pytest.mark.parametrize("name", GEMMS)
def test_any_number_of_threads_gives_the_same(kernel_file, name):
    A, B, C = sim.integer_matrices(128, 128, 64)
    module = kernel_file(name).module(name)
    first, second = (module.trace(A, B, C, 128, 128, 64, threads=n) for n in (1, 3))
    assert first == second


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize(("launch", "first"), [("broken", -1.0), ("fixed", 1.0)])
def test_a_copy_reads_as_late_as_it_may(kernel_file, launch, first, traced):
    """Who overwrites the source before the wait may have overwritten what is copied."""
    C = np.array([1, 2, 3, 4, 0, 0, 0, 0], np.float32)
    module = kernel_file("copy_source_changed").module(launch)
    (module.trace if traced else module.launch)(C, C, C, 1, 8, 1)
    np.testing.assert_array_equal(C, np.array([-1, 2, 3, 4, first, 2, 3, 4], np.float32))
