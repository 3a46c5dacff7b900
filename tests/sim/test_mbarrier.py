"""mbarriers and named barriers: phases, what they order, and mistakes with them."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab.core.errors import LaunchError

NO_INIT = "(warp 0, lane 0) calls mbarrier_arrive at line 17 with an address at which no mbarrier"
# name -> kind, marks of the lines, advice, fatal.
MISTAKES = {
    "mbarrier_no_init": ("barrier-misuse", "here", None, NO_INIT, True),
    "mbarrier_no_sync": ("race", "here", "there", "after the initialisation", False),
    "mbarrier_arrivals": ("deadlock", "here", None, "phase 0 of the mbarrier of line 13", True),
    "mbarrier_stuck": ("deadlock", "here", None, "which lacks 32 arrivals", True),
    "mbarrier_count": ("bad-argument", "here", None, "let it be 1 to 1048575", True),
    "mbarrier_expect": ("bad-argument", "here", None, "expect fewer at a time", True),
    "mbarrier_parity": ("race", "here", "there", "put __syncthreads() between", False),
    "mbarrier_parity_range": ("bad-argument", "here", None, "2 as the parity", True),
    "mbarrier_skipped_phase": ("barrier-phase", "here", "there", "the wait returns at once", False),
    "mbarrier_overtaken": ("barrier-phase", "here", "there", "is for phase 2, which may", False),
    "mbarrier_touched": ("barrier-misuse", "here", "there", "lane 0) accesses at line", False),
    "mbarrier_reused": ("barrier-misuse", "here", "there", "whose value is opaque", False),
    "mbarrier_twice": ("barrier-misuse", "here", "there", "8 bytes of its own", False),
    "mbarrier_init_by_all": ("barrier-misuse", "here", "here", "and so has thread 0", False),
    "mbarrier_init_in_loop": ("barrier-misuse", "here", "here", "once, before the loop:", False),
    "mbarrier_misaligned": ("misaligned", "here", None, "4 past a multiple of 8", True),
    "bar_count": ("deadlock", "here", None, "64 of 96 threads have come", True),
    "bar_mixed": ("barrier-misuse", "here", "there", "32 of block 0 (warp 1, lane 0)", False),
    "bar_zero": ("barrier-misuse", "here", "there", "for 64 threads", False),
    "race_third_reader": ("race", "here", "there", "no barrier orders", False),
    "bar_race": ("race", "here", "there", "no barrier orders", False),
    "bar_number": ("bad-argument", "here", None, "let it be 0 to 15", True),
    "bar_threads": ("bad-argument", "here", None, "that of whole warps", True),
}


def matrices(count: int = 96) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(count, dtype=np.float32), np.zeros(count, np.float32)


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_found(kernel_file, name):
    kind, here, there, advice, fatal = MISTAKES[name]
    fixture = kernel_file(name)
    A, C = matrices()
    findings = fixture.module("broken").trace(A, A, C, 8, 8, 8).findings
    found = [f for f in findings if f.kind == kind and f.line == fixture.lines[here]]
    assert found, findings
    assert advice in found[0].message
    assert found[0].fatal is fatal
    if there:
        assert found[0].other_line == fixture.lines[there]


@pytest.mark.parametrize("name", MISTAKES)
def test_the_fixed_twin_is_clean(kernel_file, name):
    A, C = matrices()
    module = kernel_file(name).module("fixed")
    assert module.trace(A, A, C, 8, 8, 8).findings == ()
    module.launch(A, A, C, 8, 8, 8)


@pytest.mark.parametrize("name", [name for name, mistake in MISTAKES.items() if mistake[4]])
def test_an_untraced_run_stops_too(kernel_file, name):
    A, C = matrices()
    with pytest.raises(LaunchError, match=f"{name}.cu:"):
        kernel_file(name).module("broken").launch(A, A, C, 8, 8, 8)


@pytest.mark.parametrize("name", ["mbarrier_ring", "bar_ring"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 8])
@pytest.mark.parametrize("portable", [False, True])
def test_warps_that_hand_on_a_buffer(kernel_file, name, rounds, portable):
    A, C = matrices(32 * rounds)
    module = kernel_file(name).module(name, portable)
    trace = module.trace(A, A, C, rounds, 32, 1)
    expected = A.reshape(rounds, 32)[:, ::-1].ravel()
    assert trace.findings == ()
    assert np.array_equal(C, expected)
    C[:] = 0
    module.launch(A, A, C, rounds, 32, 1)
    assert np.array_equal(C, expected)
