"""What Machine says of a step is what the step does; a question offers its answer."""

from __future__ import annotations

import re

import pytest
from sampling import sampled

import gemmlab as lab
from gemmlab.core.errors import ArgumentError
from gemmlab.report.parts import parts
from gemmlab.report.walk import course, here
from gemmlab.steps import registry
from gemmlab.steps.chapters import CHAPTERS, chapter_of, steps_of
from gemmlab.widgets import Coalescing, Machine, RegisterTile, TileTraffic
from gemmlab.widgets.machine.facts import facts
from gemmlab.widgets.machine.geometry import NARROW, WIDE

STEPS = registry.names()


def traced_bytes(step: str) -> int:
    """Bytes that the lanes of one block read from shared memory in one k tile, counted in a run.

    The pass that packs A is not part of a k tile: it stands in sgemm_16's file, later in its own.
    """
    spec = registry.get(step)
    M, N, K = spec.tile

    def multiplies(line) -> bool:
        return line.file.endswith(spec.file) and "turned[" not in line.source

    few, more = (
        sum(
            line.requests * line.lanes * line.width_bytes
            for line in lab.trace(step, M=M, N=N, K=k).lines
            if line.op in ("ld.shared", "ldmatrix") and multiplies(line)
        )
        for k in (K, 2 * K)
    )
    return more - few  # the epilogue reads, too


@pytest.mark.parametrize("step", STEPS)
def test_every_step_has_a_picture(step):
    machine = Machine(step)
    found = machine.facts
    for way in (*found.ways, *found.home, *found.about):
        assert way.lstrip("-") in WIDE["ways"] and way.lstrip("-") in NARROW["ways"]
    assert found.about, "what the step is about is not set off"
    kinds = {kind for kind, *_ in found.events()}
    assert {"load", "multiply", "write"} <= kinds
    assert ("store" in kinds) == (found.route == "registers")
    assert len(machine._esm) + len(machine._css) <= 60_000


@pytest.mark.parametrize("step", sampled(["sgemm_03_block_tiling", "sgemm_06_swizzled_a"], of=2))
def test_bytes_from_shared_memory_are_those_of_a_run(step):
    assert facts(step).read == traced_bytes(step)


@pytest.mark.campaign
@pytest.mark.parametrize("step", [name for name in STEPS if name.startswith("sgemm_")][2:19])
def test_bytes_of_every_sgemm_step_are_those_of_a_run(step):
    assert facts(step).read == traced_bytes(step)


def test_routes():
    assert facts("sgemm_01_naive").route == "direct"
    assert facts("sgemm_08_double_buffer").route == "registers"
    assert facts("sgemm_14_async_double_buffer").route == "cp.async"
    assert facts("tma_01_load").route == "tma"
    assert [facts(name).tensor for name in ("hgemm_05_warp_subtiles", "hgemm_06_wmma")] == [
        False,
        True,
    ]


def test_every_step_has_one_chapter():
    taught = [step for chapter in CHAPTERS for step in steps_of(chapter)]
    assert sorted(taught) == sorted(STEPS)
    assert chapter_of("sgemm_06_swizzled_a") == "sgemm_bank_conflicts"
    assert chapter_of("my_kernel") is None


def test_the_strip_and_the_parts():
    strip = here("sgemm_bank_conflicts")
    assert repr(strip).startswith("Part I, steps 5 and 6: ")
    assert strip._repr_html_().count("gl-strip-now") == 2 + 1  # and its rule
    with pytest.raises(ArgumentError, match=r"^chapter: "):
        here("sgemm_nowhere")
    text = repr(parts())
    assert re.search(r"Part I: SGEMM: \d+ kernels; \d core chapters, ", text)
    assert "TMA" in course().summary()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Machine("sgemm_99"), "sgemm_99"),
        (lambda: Coalescing(3), "rows: "),
        (lambda: Coalescing(column=40), "column: "),
        (lambda: Coalescing(ask="How many?", choices=(1, 2)), "choices: "),
        (lambda: TileTraffic(64, 5, tiles=(5,)), "tile: "),
        (lambda: TileTraffic(tile=64), "tile: "),
        (lambda: RegisterTile(3, 3), "m: "),
        (lambda: RegisterTile(ask="How many?", larger=1), "larger: "),
    ],
)
def test_what_cannot_be_is_refused(make, name):
    with pytest.raises(lab.GemmlabError, match=name):
        make()


@pytest.mark.parametrize("make", [Coalescing, TileTraffic, RegisterTile])
def test_a_question_hides_the_answer(make):
    asked = make(ask="How many?")
    assert asked.config["ask"]["answer"] in asked.config["ask"]["choices"]
    assert "How many?" in asked.summary()
    assert len(asked.png()) < 20_000 and "data-widget" in asked.to_html()
