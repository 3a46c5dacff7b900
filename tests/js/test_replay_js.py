"""The replay in the page says what the run in Python says; needs node and g++."""

from __future__ import annotations

import random
from dataclasses import replace

import needs
import pytest
from replay_values import known

from gemmlab import sim
from gemmlab.sim.journal import KINDS
from gemmlab.sim.replay import UNKNOWN, Step, replayed
from gemmlab.widgets import Replay

pytestmark = needs.gxx
READS = ("ld.shared", "ldmatrix", "ld.global")
WRITES = ("st.shared", "st.global", "mark tma.load")  # of a box its first 16 bytes


def _values(values: dict, step: Step, address: int, size: int) -> list[int | None]:
    """What the step's lane has read or written at an address."""
    kind = KINDS[step.kind]
    if address < 0 or kind not in (*READS, *WRITES):
        return []
    in_global = "global" in kind
    memory = "to " * (kind in WRITES) + ("global" if in_global else "shared")
    seen = values[memory].get(0 if in_global else step.epoch, {})
    width = 16 if kind.startswith("mark") else step.width
    found = [seen.get(address + size * n, UNKNOWN) for n in range(max(1, width // size))]
    told = [None if value == UNKNOWN else value for value in found]
    return [] if set(told) == {None} else told


@pytest.mark.parametrize(
    ("name", "dtype", "size"),
    [("sgemm_06_swizzled_a", "float32", 4), ("hgemm_10_mma", "bfloat16", 2)],
)
def test_steps_and_values_agree(ask, name, dtype, size):
    trace = sim.trace(name, 128, 128, 64, journal=True)
    run, widget = replayed(trace, dtype), Replay(trace, dtype=dtype)
    steps = [(warp, step) for warp, own in enumerate(run.warps) for step in own]
    # In bf16 C is stored as fp32 or bf16, whose place says which: only A and B are looked at.
    some = [
        (warp, step)
        for warp, step in random.Random(4).sample(steps, 400)
        if size == 4 or KINDS[step.kind] != "st.global"
    ]
    at = [(warp, step.tick) for warp, step in some]
    (found,) = ask([("replay", {"config": widget.config, "at": at})])
    told, values_of = 0, known(run)
    for (_, step), (line, epoch, _, addresses, values) in zip(some, found, strict=True):
        assert (line, epoch) == (step.line, step.epoch)
        assert [-1 if a is None else a for a in addresses] == list(step.addresses)
        if KINDS[step.kind] in (*READS, *WRITES):
            expected = [_values(values_of, step, a, size) for a in step.addresses]
            assert values == expected
            told += any(expected)
    assert told > 20


def test_a_box_shows_its_first_values(ask):
    trace = sim.trace("tma_01_load", 128, 128, 64, journal=True)
    run, widget = replayed(trace, "bfloat16"), Replay(trace, dtype="bfloat16")
    boxes = [step for step in run.warps[0] if KINDS[step.kind] == "mark tma.load"]
    (found,) = ask([("replay", {"config": widget.config, "at": [(0, box.tick) for box in boxes]})])
    assert len(boxes) == 3
    values_of = known(run)
    for box, (*_, values) in zip(boxes, found, strict=True):
        assert values == [_values(values_of, box, address, 2) for address in box.addresses]
        assert len(values[0]) == 8 and None not in values[0]


def test_a_warp_that_does_nothing_has_ended(ask):
    """One between others, as where a kernel divides the work among its warps."""
    trace = sim.trace("sgemm_02_coalesced", 32, 32, 8, journal=True)
    journal = trace.events()
    others = replace(journal, rows=journal.rows[journal.rows["thread"] // 32 != 2])
    widget = Replay(replace(trace, journal=others), warp=2)
    assert "warp 2: has nothing to do" in widget.summary() and widget.figure()
    ((first, idle),) = ask([("replay", {"config": widget.config, "at": [(0, 0), (2, 0)]})])
    assert first[0] > 0 and len(first[3]) == 32
    assert (idle[0], idle[3]) == (0, [])
