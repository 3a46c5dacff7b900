"""How long a chapter takes: what the book folds is counted apart from what it shows."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gemmlab.notebook.reading import FOLD, Reading, reading, section_minutes


@pytest.fixture
def read(tmp_path: Path):
    """read(cells): the Reading of a chapter with these cells; text is prose, a list is tags."""

    def of(*cells: str | list[str]) -> Reading:
        made = [
            new_markdown_cell(one)
            if isinstance(one, str)
            else new_code_cell("1", metadata={"tags": one})
            for one in cells
        ]
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.ipynb"
        nbformat.write(new_notebook(cells=made), path)
        return reading(path)

    return of


def test_exercises_and_rungs_are_in_no_words(read):
    one = read(
        "# Title", "two words", [], "## Your kernel 3: a tile\n\nnot these", [], "## Next\n\nword"
    )
    # Headings are read, also those of what is folded: 2 + 2 + 6 + 2 + 1 words, marks included.
    assert (one.words, one.cells, one.rungs) == (13, 1, 1)
    two = read("## Exercises\n\n### Exercise 1: x\n\nnot these\n\n#### Nor this", [])
    assert (two.words, two.cells, two.exercises) == (6, 0, 1)


def test_a_section_with_the_mark_is_folded_to_the_next_of_its_level(read):
    folded = read(f"## A\n\n{FOLD}\n\nnot these", [], "### B\n\nnor these", [], "## C\n\nword", [])
    assert (folded.words, folded.cells) == (5, 1)
    assert read("## A\n\nthese words", []).words == 4


def test_cells_that_are_folded_or_taken_out_do_not_count(read):
    assert read([], ["hide-input"], ["hide-cell"], ["remove-cell"], ["solution"]).cells == 2


@pytest.mark.parametrize(
    ("title", "minutes"),
    [("Exercise 2: x", 10), ("Your kernel 12: y", 15), ("Exercises", None), ("Your kernel", None)],
)
def test_only_exercises_and_rungs_have_minutes_of_their_own(title, minutes):
    assert section_minutes(title) == minutes
