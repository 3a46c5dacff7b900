"""Blocks of a grid: races in global memory, waits for each other, and the orders they come in."""

from __future__ import annotations

import numpy as np
import pytest

ORDERS = (0, 1, 2, 3)

# name -> the lines of each finding, and what the message tells to do.
RACES = {
    "grid_flag_first": [("here", "there", "let the writer call __threadfence()")],
    "grid_no_release": [("here", "there", "let the writer call __threadfence()")],
    "grid_no_acquire": [("here", "there", "no fence follows it; call __threadfence()")],
    "grid_plain_flag": [
        ("data", "read", "let the writer call __threadfence()"),
        ("here", "there", "use atomics"),
    ],
    "grid_shared_cell": [("here", "here", "give each block memory of its own")],
    "grid_neighbour": [("here", "there", "give each block memory of its own")],
    "grid_counter": [("here", "here", "use atomics")],
    "grid_last_block": [("here", "there", "let the writer call __threadfence()")],
    "grid_last_block_warp": [("here", "there", "let the writer call __threadfence()")],
    "global_race": [("here", "there", "put __syncthreads() between them")],
    "global_race_narrow": [("here", "there", "elements of its own")],
}


def matrices():
    return np.arange(64, dtype=np.float32), np.zeros(64, np.float32)


def run(fixture, launch, **how):
    A, C = matrices()
    return fixture.module(launch).trace(A, A, C, 8, 8, 8, **how), C.view(np.int32)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", RACES)
def test_a_race_in_global_memory_is_found(kernel_file, name, order):
    fixture = kernel_file(name)
    trace, _ = run(fixture, "broken", order=order)
    expected = RACES[name]
    assert [(f.kind, f.line, f.other_line) for f in trace.findings] == [
        ("race", fixture.lines[here], fixture.lines[there]) for here, there, _ in expected
    ]
    for finding, (_, _, advice) in zip(trace.findings, expected, strict=True):
        assert advice in finding.message
        assert not finding.fatal


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", [*RACES, "grid_wait", "grid_too_many"])
def test_the_mended_twin_is_clean(kernel_file, name, order):
    trace, _ = run(kernel_file(name), "fixed", order=order)
    assert trace.findings == ()


def test_blocks_that_wait_for_each_other_are_a_deadlock(kernel_file):
    fixture = kernel_file("grid_wait")
    (finding,) = run(fixture, "broken")[0].findings
    assert (finding.kind, finding.line, finding.fatal) == ("deadlock", fixture.lines["here"], True)
    assert "waits in a loop that polls global memory" in finding.message
    assert "for a change that nobody makes" in finding.message


def test_more_waiting_blocks_than_there_is_room_for_are_a_deadlock(kernel_file):
    fixture = kernel_file("grid_too_many")
    (finding,) = run(fixture, "broken")[0].findings
    assert (finding.kind, finding.line) == ("deadlock", fixture.lines["here"])
    assert "132 blocks or clusters are resident" in finding.message
    assert "1 have no room to start" in finding.message


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", RACES)
def test_findings_of_an_order_do_not_depend_on_threads(kernel_file, name, order):
    fixture = kernel_file(name)
    first, *others = (run(fixture, "broken", order=order, threads=n)[0] for n in (1, 2, 3))
    assert all(trace == first for trace in others)
