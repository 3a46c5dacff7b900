"""Loops that poll memory, in whole programs: those that end do, and the others are deadlocks."""

from __future__ import annotations

from pathlib import Path

import needs
import pytest

from gemmlab import sim

PROGRAM = Path(__file__).parent / "programs" / "polling.cu"
pytestmark = needs.gxx
TRACED = pytest.mark.parametrize("trace", [True, False])


def run(*words: str, trace: bool = True):
    return sim.program(PROGRAM, arguments=words, trace=trace, seconds=20)


def line_of(mark: str) -> int:
    text = PROGRAM.read_text().splitlines()
    return next(n for n, line in enumerate(text, start=1) if f"// [{mark}]" in line)


@TRACED
@pytest.mark.parametrize(
    ("case", "memory", "place"),
    [
        ("flag", "shared memory", "flag"),
        ("atomic", "shared memory", "byte 8 of flag"),
        ("queue", "shared memory", ("head", "tail")),
        ("lock", "global memory", "taken"),
        ("counts", "global memory", "go"),
        ("crossed", "memory that the host can write", "byte 4 of the 8 bytes that polling.cu:"),
    ],
)
def test_a_poll_that_nobody_ends_is_a_deadlock(case, memory, place, trace):
    report = run(case, trace=trace)
    (found,) = report.findings
    assert (report.status, found.kind, found.line) == (1, "deadlock", line_of(case))
    places = (place,) if isinstance(place, str) else place
    waits = [f"waits in a loop that polls {memory} at line {found.line} ({p}" for p in places]
    assert any(wait in found.message for wait in waits)


def test_a_deadlock_says_what_becomes_of_those_who_could_end_it():
    flag, atomic, lock, crossed = (
        run(case).findings[0] for case in ("flag", "atomic", "lock", "crossed")
    )
    assert "63 have ended, all others poll" in flag.message
    assert f"line {line_of('clears')} wrote there last" in flag.message
    barrier = line_of("barrier")
    assert (atomic.other_line, f"32 wait at line {barrier}," in atomic.message) == (barrier, True)
    assert f"do so before it waits at line {barrier}" in atomic.message
    assert "the 2 blocks or clusters that have not ended all wait" in lock.message
    assert "the host waits for the device, and has not written there" in crossed.message


@TRACED
@pytest.mark.parametrize("case", ["flag", "atomic", "queue", "lock"])
def test_a_poll_that_is_satisfied_ends(case, trace):
    report = run(case, "well", trace=trace)
    assert {f.kind for f in report.findings} <= {"race"}
    assert (report.exit_status, report.gaps) == (0, ())
    assert report.output == ("3\n" if case == "lock" else "1\n")


@TRACED
def test_a_loop_that_ends_by_itself_is_no_deadlock(trace):
    report = run("ends", trace=trace)
    assert (report.status, report.output) == (0, "505\n")


def test_a_wait_that_the_host_ends_leaves_the_run_incomplete():
    report = run("crossed", "well")
    assert (report.status, list(report.findings)) == (3, [])


def test_a_flag_between_two_fences_orders_two_warps():
    report = run("message", "yy")
    assert (report.status, report.output) == (0, "15\n")


@pytest.mark.parametrize(
    ("fences", "advice"), [("ny", "__syncthreads()"), ("yn", "no fence follows")]
)
def test_a_flag_without_one_of_the_fences_orders_nothing(fences, advice):
    races = {found.line: found for found in run("message", fences).findings}
    for mark in ("volatile data", "atomic data"):
        found = races[line_of(mark)]
        assert (found.kind, advice in found.message) == ("race", True)


def test_a_lock_orders_its_owners_if_they_fence():
    assert run("sums", "well").status == 0
    found = run("sums").findings
    assert {f.line for f in found} == {line_of("shared sum"), line_of("global sum")}
    assert {f.kind for f in found} == {"race"}
