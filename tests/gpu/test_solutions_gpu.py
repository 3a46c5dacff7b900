"""On a GPU every solution of the book is accepted, and of the cheats a fixed sample is not."""

from __future__ import annotations

import pytest
from sampling import taken
from stored_solutions import outcome, solved_exercises
from wrong_answers import Answer, answers, verdict

pytestmark = pytest.mark.gpu

REFUSED = [answer for answer in answers() if taken(str(answer), 10)]


@pytest.mark.parametrize("key", solved_exercises())
def test_the_solution_is_accepted(key: str):
    seen = outcome(key)
    assert seen.accepted is not False, seen.said


@pytest.mark.parametrize("answer", REFUSED, ids=str)
def test_is_not_accepted(answer: Answer):
    said = verdict(answer.chapter, answer.exercise, answer)
    assert not said.solved, said
