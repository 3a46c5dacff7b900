"""No wrong answer and no cheat that is written down is accepted, and every solution is."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from sampling import sampled
from wrong_answers import ROOT, Answer, answers, solutions, verdict


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def test_each_exercise_has_three_wrong_answers_and_two_cheats():
    kinds = Counter((one.chapter, one.exercise, one.cheat) for one in answers())
    few = [
        (*exercise, cheat)
        for exercise in solutions()
        for cheat in (False, True)
        if kinds[(*exercise, cheat)] < (2 if cheat else 3)
    ]
    assert not few


@pytest.mark.slow
@pytest.mark.parametrize("answer", sampled(answers(), of=80))
def test_is_not_accepted(answer: Answer):
    said = verdict(answer.chapter, answer.exercise, answer)
    assert not said.solved, said
    assert answer.says in f"{said}", said
    assert "does not stand in" not in said.message, said


@pytest.mark.campaign
@pytest.mark.parametrize(("chapter", "exercise"), solutions())
def test_the_solution_is_accepted(chapter: str, exercise: int):
    setup = next(one.setup for one in answers() if one.chapter == chapter)
    assert verdict(chapter, exercise, setup=setup).solved


def test_no_solution_is_stored_as_refused():
    refused = []
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if "solution" in cell["metadata"].get("tags", []):
                refused += [path.stem for one in cell["outputs"] if "Not yet: " in str(one)]
    assert not refused
