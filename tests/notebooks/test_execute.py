"""`make notebooks`: what it stores, and that a failing chapter stays as it was."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from tools import execute

RAN_ON = {"backend": "sim", "found": {}, "date": "2026-01-01", "commit": "0000000"}


@pytest.fixture
def write(tmp_path: Path):
    def write_(*cells: nbformat.NotebookNode) -> Path:
        path = tmp_path / "chapter.ipynb"
        nbformat.write(new_notebook(cells=list(cells)), path)
        return path

    return write_


@pytest.mark.slow
def test_outputs_are_stored_and_a_solution_is_folded(write):
    path = write(
        new_code_cell("import ipywidgets as w\nw.IntSlider()"),
        new_code_cell("6 * 7", metadata={"tags": ["solution"]}),
    )
    execute.execute(path, RAN_ON)
    stored = nbformat.read(path, as_version=4)
    slider, solution = stored.cells
    assert "application/vnd.jupyter.widget-view+json" not in slider.outputs[0].data
    assert solution.outputs[0].data["text/plain"] == "42"
    assert solution.metadata.tags == ["solution", "hide-cell"]
    assert solution.metadata.jupyter.source_hidden
    assert stored.metadata.gemmlab == RAN_ON
    assert set(stored.metadata) == {"kernelspec", "language_info", "gemmlab"}


@pytest.mark.slow
def test_a_chapter_that_fails_stays_as_it_was(write):
    path = write(new_code_cell("1 / 0"))
    before = path.read_bytes()
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        execute.execute(path, RAN_ON)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
