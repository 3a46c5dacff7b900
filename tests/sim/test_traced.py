"""Steps whose warpgroups write down what they do: right, without findings, and lanes come of it."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from pathlib import Path

import needs
import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.paths import kernels_folder
from gemmlab.experiments.warpgroup_traces import trace_of
from gemmlab.gpu.event_clock import CAPACITY, PLACES, WARPGROUPS
from gemmlab.layouts.warpgroups import events
from gemmlab.steps import registry
from gemmlab.steps.program import Program
from gemmlab.steps.traced import EVENTS, traced

pytestmark = [needs.gxx, pytest.mark.slow]
MAIN = Path(__file__).parent / "programs" / "traced.cu.in"
SMS = "device_attribute(cudaDevAttrMultiProcessorCount)"


@dataclass(frozen=True)
class Case:
    """A product of which the block that writes has `tiles` of `depth` k tiles."""

    schedule: str
    sms: int
    shape: tuple[int, int, int]
    tiles: int
    depth: int


CASES = {
    "wgmma_05_persistent": Case("persistent", 1, (128, 1024, 320), 4, 5),
    "wgmma_08_order": Case("deferred", 2, (512, 512, 320), 4, 5),
    "wgmma_13_ping_pong": Case("ping-pong", 1, (256, 512, 192), 8, 3),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A function: a step -> the report of its program, and the lines of events."""

    @functools.cache
    def run(name: str):
        case, program = CASES[name], Program(registry.get(name))
        file = tmp_path_factory.mktemp(name) / "traced.cu"
        text = traced(name, f'#include "{program.source.path}"\n')
        assert SMS in text
        file.write_text(text.replace(SMS, str(case.sms)) + MAIN.read_text())
        sizes = dict(zip(("SIZE_M", "SIZE_N", "SIZE_K"), case.shape, strict=True))
        twins = Path(sim.__file__).parent / "include"
        report = sim.program(
            file,
            include=[twins, kernels_folder()],
            define={**sizes, "LAUNCH": f"({program.launch()})"},
            trace=True,
        )
        places = np.zeros((PLACES, 2), np.uint32)
        for line in report.output.splitlines():
            if line.startswith("event "):
                at, kind, clock = map(int, line.split()[1:])
                places[at] = kind, clock
        return report, events.of_words(places.reshape(-1, WARPGROUPS, CAPACITY, 2)[0])

    return run


@pytest.mark.parametrize("name", EVENTS)
def test_the_result_is_right_and_nothing_is_found(ran, name):
    report, _ = ran(name)
    assert "error 0, wrong 0\n" in report.output
    assert (report.status, list(report.findings), report.gaps) == (0, [], ())


@pytest.mark.parametrize("name", EVENTS)
def test_every_k_tile_is_asked_for_and_multiplied_once(ran, name):
    case, (_, lines) = CASES[name], ran(name)
    found = events.numbered(lines, case.schedule, case.depth)
    k_tiles = list(range(case.tiles * case.depth))
    turns = case.schedule == "ping-pong"
    for kind in ("empty", "asked"):
        assert [e.number for e in found[events.PRODUCER] if e.kind == kind] == k_tiles
    for c in events.CONSUMERS:
        own = [k for k in k_tiles if not turns or k // case.depth % 2 == c]
        for kind in ("full", "started", "done"):
            assert [e.number for e in found[c] if e.kind == kind] == own, kind
    tiles = list(range(case.tiles))
    for c in events.CONSUMERS:
        pieces = 4 if case.schedule == "deferred" else 1
        own = [t for t in tiles if not turns or t % 2 == c]
        stored = [e.number for e in found[c] if e.kind == "stored"]
        assert stored == [t for t in own[:-1] for _ in range(pieces)] + own[-1:]


@pytest.mark.parametrize("name", EVENTS)
def test_lanes_come_of_it(ran, name):
    case, (_, lines) = CASES[name], ran(name)
    trace = trace_of(Program(registry.get(name)), lines, case.depth)
    assert (trace.schedule, trace.group) == (case.schedule, 512)
    part = trace.middle(2)
    at = case.tiles // 2 - 1
    assert set(trace.tiles[at : at + 2]) <= set(part.tiles) and 0 < part.percent <= 100
    for _, bars in part.lanes(part.begin, part.end):
        assert all(a.end <= b.begin for a, b in itertools.pairwise(bars))
    read = tuple(events.read(events.written(line)) for line in part.lines)
    assert read == part.lines
