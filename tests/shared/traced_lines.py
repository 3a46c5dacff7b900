"""Events as a GPU could have written them, of kernels that do everything on time."""

from __future__ import annotations

from gemmlab.experiments.warpgroup_traces import SIZE, TILES, trace_of
from gemmlab.layouts.warpgroups.events import Event
from gemmlab.measurements.staleness import CURRENT
from gemmlab.measurements.traces import RecordedTrace
from gemmlab.steps import registry
from gemmlab.steps.program import Program
from gemmlab.steps.traced import SCHEDULES

ENV = {"gpu": "NVIDIA H200", "date": "2026-11-29T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
DEPTH, STORE, PACK = 64, 900, 200

Lines = tuple[tuple[Event, ...], ...]


def lines_of(schedule: str) -> Lines:
    """The lines of a block that computes 4 tiles, of one with turns 8."""
    consumers = [_turns(c) for c in (0, 1)]
    if schedule != "ping-pong":
        consumers = [_cooperative(c, late=schedule == "deferred") for c in (0, 1)]
    tiles, each = (8, 512) if schedule == "ping-pong" else (4, 1024)
    asked = []
    for k in range(tiles * DEPTH):
        at = max(300 * k, (k - 3) * each)
        asked += [Event("empty", k % DEPTH, at + 100), Event("asked", k % DEPTH, at + 300)]
    return (*map(tuple, consumers), tuple(asked))


def _products(begin: int, each: int, late: bool = False) -> list[Event]:
    """Of a tile: k tiles of `each` cycles; late: pieces of the tile before are stored beside."""
    line = []
    for k in range(DEPTH):
        at = begin + each * k
        line += [Event("full", k, at - 90 * (k > 0)), Event("started", k, at - 60 * (k > 0))]
        if late and k < 4:
            line += [Event("store", k, at - 50 * (k > 0)), Event("stored", k, at + 5)]
        line += [Event("done", k - 1, at + 20)] * (k > 0)
    return [*line, Event("done", DEPTH - 1, begin + each * DEPTH + 20)]


def _cooperative(c: int, late: bool) -> list[Event]:
    """Half a k tile apart; between two tiles sums are packed, or C is stored."""
    line: list[Event] = []
    pause, kinds = (PACK, ("pack", "packed")) if late else (STORE, ("store", "stored"))
    for t in range(4):
        begin = t * (DEPTH * 1024 + pause + 100) + 512 * c
        line += _products(begin, 1024, late)
        end = line[-1].cycle
        line += [Event(kinds[0], 0, end), Event(kinds[1], 0, end + pause)]
    return line


def _turns(c: int) -> list[Event]:
    """Each has every second tile; the other begins 200 cycles behind the last products."""
    line: list[Event] = []
    for t in range(c, 8, 2):
        begin = t * (DEPTH * 512 + 200)
        line += [Event("awaits", 0, max(0, begin - 20_000)), Event("turn", 0, max(0, begin - 30))]
        *products, last = _products(begin, 512)
        line += [*products, Event("passed", 0, last.cycle - 400), last]
        line += [Event("store", 0, last.cycle), Event("stored", 0, last.cycle + STORE)]
    return line


def recorded(step: str, state: str = CURRENT) -> RecordedTrace:
    """A trace as it would be read from a recording."""
    trace = trace_of(Program(registry.get(step)), lines_of(SCHEDULES[step])).middle(TILES)
    return RecordedTrace(step, trace, SIZE, 0.004, ENV, state)
