"""What an answer prints is not judged."""

from __future__ import annotations

from dataclasses import replace

import pytest
from readers_kernels import TILED

from gemmlab import exercises
from gemmlab.exercises.prints import without_prints
from gemmlab.notebook import cell as cells
from gemmlab.run.kernel import kernel
from gemmlab.steps import patch

LOOP = "    for (int k = 0; k < 32; ++k)"
BODY = TILED.replace(
    LOOP,
    """\
    if (x + y == 0) printf("(%d) \\")%f %f\\n", k0, A[0],  // printf(
                           B[0]);
"""
    + LOOP,
)
OPTIONS = {"block": (32, 32), "tile": (32, 32, 32)}


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def test_an_answer_may_print_what_it_reads(capsys):
    mine = cells.make("mine", BODY, None, OPTIONS).kernel
    verdict = exercises.rung(mine, 3)
    assert verdict.solved, verdict
    assert capsys.readouterr().out == ""


def test_what_stands_beside_a_print_stays_and_keeps_its_line():
    body = BODY.replace("printf(", "sum += A[0], printf(")
    mine = cells.make("mine", body, None, OPTIONS).kernel
    text = without_prints(mine).source.path.read_text()
    assert "sum += A[0], (0)\n;\n    for" in text
    assert text.count("\n") == mine.source.path.read_text().count("\n")
    assert not exercises.rung(mine, 3).solved


@pytest.mark.parametrize("name", ["printf", "::printf", "std::printf", "::std::printf"])
def test_a_print_goes_with_its_namespace(name):
    mine = cells.make("mine", BODY, None, OPTIONS).kernel
    path = patch.keep(BODY.replace("printf(", f"{name}(", 1), f"kernels/{mine.spec.file}")
    text = without_prints(replace(mine, source=replace(mine.source, path=path)))
    assert "if (x + y == 0) (0)\n;" in text.source.path.read_text()


def test_a_text_that_prints_nothing_and_a_step_stay_the_same_kernel():
    first, last = BODY.index("    if"), BODY.index("    for (int k = 0")
    mine = cells.make("mine", BODY[:first] + BODY[last:], None, OPTIONS).kernel
    assert without_prints(mine) is mine
    step = kernel("sgemm_03_block_tiling")
    assert without_prints(step) is step
