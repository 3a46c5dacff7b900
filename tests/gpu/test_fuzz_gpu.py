"""Random launches on the GPU; `python -m tools.fuzz.launches --device cuda` makes thousands."""

from __future__ import annotations

import pytest

from tools.fuzz import launches

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("subject", launches.subjects(device="cuda"), ids=str)
def test_random_launches_are_right(subject):
    outcome = launches.fuzz(subject, 20, seed=2, device="cuda")
    assert outcome.ok and outcome.launches == 20, outcome
