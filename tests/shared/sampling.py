"""A fixed sample of many like cases for every test run; the rest is for `make campaign`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest


def taken(text: str, of: int) -> bool:
    """Whether a case with this text is the one in `of` that every run takes."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % of == 0


def sampled(
    cases: Sequence[Any],
    of: int = 4,
    always: Callable[[Any], bool] = lambda case: False,
    dear: Callable[[Any], bool] = lambda case: False,
) -> list:
    """All cases, as parameters of a test; all but one in `of` are marked `campaign`.

    Chosen by a hash of the case's text, so that one more step does not change the choice among the
    others. always: whether a case is run each time. dear: whether it takes so long that only the
    campaign runs it.
    """

    def chosen(case: Any) -> bool:
        return always(case) or (taken(str(case), of) and not dear(case))

    assert any(map(chosen, cases)), "the sample is empty"
    return [
        pytest.param(case, id=str(case), marks=() if chosen(case) else pytest.mark.campaign)
        for case in cases
    ]
