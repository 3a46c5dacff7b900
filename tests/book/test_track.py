"""The rungs of "Your kernel" are the same on their page and in the chapters that explain them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gemmlab.exercises.track import RUNGS
from gemmlab.notebook import chapters

BOOK = Path(__file__).resolve().parents[2] / "book"
HEADING = re.compile(r"^## Your kernel (\d+): (.*)$", re.MULTILINE)


def rungs(page: Path) -> dict[int, list[str]]:
    """The texts of the cells below each rung's heading, without the task itself."""
    found: dict[int, list[str]] = {}
    number = 0
    for cell in json.loads(page.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if match := HEADING.search(text):
            number = int(match[1])
            found[number] = [match[0]]
        elif text.startswith("## ") or "\n## " in text:
            number = 0
        elif number:
            found[number].append(text)
    return found


OWN = rungs(BOOK / "your_kernel.ipynb")
ELSEWHERE = {
    number: texts
    for page in sorted(BOOK.glob("*_*.ipynb"))
    if page.stem != "your_kernel"
    for number, texts in rungs(page).items()
}


def test_every_rung_is_on_its_page_and_in_a_chapter():
    assert list(OWN) == list(range(1, len(RUNGS) + 1))
    assert sorted(ELSEWHERE) == list(OWN)


@pytest.mark.parametrize("number", OWN)
def test_a_rung_is_the_same_in_both_places(number):
    assert OWN[number] == ELSEWHERE[number]


@pytest.mark.parametrize("number", OWN)
def test_a_rung_has_a_stub_a_judge_three_hints_and_a_solution(number):
    _, stub, judge, hints, solution, verdict = OWN[number]
    assert stub.startswith("%%kernel mine") and judge == f"lab.exercises.rung(mine, {number})"
    assert hints.count("<summary>Hint") == 3
    assert solution.startswith(f"%%kernel rung{number}")
    assert verdict == f"lab.exercises.rung(rung{number}, {number})"


def test_solving_a_rung_there_or_here_is_the_same():
    known = {one.key: one for one in chapters.exercises()}
    assert all(len(known[f"your_kernel/{number}"].cells) == 8 for number in OWN)
