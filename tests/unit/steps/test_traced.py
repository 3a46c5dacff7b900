"""The text of the build that traces: where events are put, and that a step's own text has none."""

from __future__ import annotations

import re
import subprocess

import needs
import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.core.paths import kernels_folder
from gemmlab.gpu import build, event_clock
from gemmlab.gpu.ptxas import parse
from gemmlab.gpu.toolchain import FLAGS, compiler_lines, gencode, nvcc
from gemmlab.layouts.warpgroups.events import KINDS
from gemmlab.steps import registry
from gemmlab.steps.program import Program
from gemmlab.steps.traced import EVENTS, traced

CALL = re.compile(r"ring\.events\.(?:put|note|put_noted)\(EVENT_(\w+)")


def cuda_of(name: str) -> str:
    program = Program(registry.get(name))
    return build.source_text(program.source.path, program.launch(), workspace=False)


@pytest.mark.parametrize("name", EVENTS)
def test_every_old_text_occurs_once_and_nothing_but_events_is_added(name):
    text = traced(name, cuda_of(name))
    without = re.sub(r"[ \t,]*ring\.events\.\w+\(EVENT_\w+[^;]*\)(?=;)", "", text)
    plain = traced(name, cuda_of(name), {"EventCursor {": "EventCursor {"})
    own = re.sub(r"EventCursor events;|;|\s", "", without)
    assert own == re.sub(r";|\s", "", plain)
    assert "EVENT_" not in cuda_of(name) + Program(registry.get(name)).source.path.read_text()


@pytest.mark.parametrize("name", EVENTS)
def test_a_step_says_what_its_lanes_need(name):
    found = {kind.lower() for kind in CALL.findall(traced(name, cuda_of(name)))}
    turns, packs = {"awaits", "turn", "passed"}, {"pack", "packed"}
    of = {"wgmma_08_order": packs, "wgmma_13_ping_pong": turns}.get(name, set())
    assert found == {*KINDS} - (turns | packs) | of


def test_instructions_stay_an_include_for_the_simulator():
    text = traced("wgmma_08_order", cuda_of("wgmma_08_order"))
    assert "#include <ptx/wgmma.cuh>" in text and "wgmma.mma_async" not in text
    assert text.count("struct StageRing {") == 1 and '#include "../common' not in text


@pytest.mark.parametrize("old", ["ring.wait_full();", "ring.wait_for_ever();"])
def test_a_text_that_does_not_occur_once_is_refused(old):
    with pytest.raises(ArgumentError, match=r"occurs \d+ times in the text of wgmma_08_order"):
        traced("wgmma_08_order", cuda_of("wgmma_08_order"), {old: ""})


def test_a_step_without_events_is_refused():
    with pytest.raises(ArgumentError, match="traced steps"):
        traced("wgmma_06_cluster", "")


@needs.slow_nvcc
@pytest.mark.parametrize("name", EVENTS)
def test_it_compiles_for_hopper_without_spills(name, tmp_path):
    source = tmp_path / "traced.cu"
    cpp, cuda = event_clock.texts(Program(registry.get(name)))
    for function in ("events_clear", "events_read"):
        assert f'm.def("{function}", &{function});' in cpp and f"int {function}(" in cuda
    source.write_text(cuda)
    options = [*FLAGS, f"-I{kernels_folder()}", gencode("90a"), "-Xptxas=-v"]
    command = [nvcc(), *options, "-cubin", str(source), "-o", str(tmp_path / "traced.cubin")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, compiler_lines(done.stderr)
    used = parse(done.stderr)
    assert (used.spill_stores_bytes, used.spill_loads_bytes) == (0, 0)
    assert "serialized" not in done.stderr  # what ptxas says if it cannot keep wgmma asynchronous
