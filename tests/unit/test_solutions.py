"""Which cells of a chapter the run of all chapters leaves to the campaign."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import solutions
from sampling import taken


def cells(chapter: str) -> list[SimpleNamespace]:
    """A chapter of one solution between two other cells."""
    tags = (["hide-input"], ["solution", "hide-cell"], [])
    return [
        SimpleNamespace(path=Path(chapter), cell=SimpleNamespace(metadata={"tags": one}))
        for one in tags
    ]


@pytest.mark.parametrize("everything", [False, True])
def test_solutions_of_most_chapters_are_left_out_and_nothing_else(everything):
    chapters = [f"book/chapter_{number}.ipynb" for number in range(30)]
    items = [item for chapter in chapters for item in cells(chapter)]
    before, left = list(items), []
    config = SimpleNamespace(
        getoption=lambda name: everything,
        hook=SimpleNamespace(pytest_deselected=lambda items: left.extend(items)),
    )
    solutions.pytest_collection_modifyitems(config, items)
    assert sorted(map(id, items + left)) == sorted(map(id, before))
    assert all("solution" in item.cell.metadata["tags"] for item in left)
    kept = {item.path.stem for item in items if "solution" in item.cell.metadata["tags"]}
    some = {Path(one).stem for one in chapters if taken(Path(one).stem, solutions.ONE_IN)}
    assert kept == ({Path(one).stem for one in chapters} if everything else some)
    assert 0 < len(some) < len(chapters)
