"""`make notebooks`: what it stores, and that a failing chapter stays as it was."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from gemmlab.notebook import cell, magic
from gemmlab.steps import registry
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
def test_a_chapter_leaves_no_kernel_behind(write):
    """Each keeps hundreds of megabytes, and the book has some sixty chapters."""
    path = write(new_code_cell("import os\nos.getpid()"))
    execute.execute(path, RAN_ON)
    (cell,) = nbformat.read(path, as_version=4).cells
    with pytest.raises(ProcessLookupError):
        os.kill(int(cell.outputs[0].data["text/plain"]), 0)


@pytest.mark.slow
def test_a_chapter_that_fails_stays_as_it_was(write):
    path = write(new_code_cell("1 / 0"))
    before = path.read_bytes()
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        execute.execute(path, RAN_ON)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


# ---- building before anything is executed ----


def test_cells_with_a_kernel_are_found_as_the_notebook_gives_them(write):
    path = write(new_code_cell("import gemmlab"), new_code_cell("%%kernel mine --like x\na;\nb;"))
    assert execute.written(path) == [("mine --like x", "a;\nb;\n")]


def test_a_kernel_is_built_from_its_cell_and_the_notebook_finds_it_built(monkeypatch):
    """The file that is compiled, whose name is made from its text, is the one of the magic."""
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    monkeypatch.setattr(cell, "find_nvcc", lambda: None)
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    made, make = [], cell.make
    for module in (execute, magic):
        monkeypatch.setattr(module, "make", lambda *given: made.append(make(*given)) or made[-1])
    shell.register_magics(magic.KernelMagics)
    line, body = "mine --like sgemm_17_pipeline", "constexpr int STAGES = 2;\n"
    assert execute.build_written(line, body)
    shell.run_cell(f"%%kernel {line}\n{body.strip()}").raise_error()
    first, again = (built.kernel.source.path for built in made)
    assert first == again
    assert not execute.build_written("mine --like no_such_step", body)
    assert not execute.build_written(line, "constexpr int NO_SUCH = 16;\n")


def test_every_chapters_kernels_are_read(root):
    """An option that the magic does not know would leave a cell unbuilt without a word."""
    cells = [one for path in (root / "book").glob("*.ipynb") for one in execute.written(path)]
    assert len(cells) > 30
    for line, _ in cells:
        name, like, _ = magic.first_line(line)
        assert name.isidentifier() and (like is None or registry.get(like))


def test_a_chapter_that_tunes_goes_first(tmp_path):
    paths = [tmp_path / name for name in ("plain.ipynb", "tuning.ipynb")]
    for path, source in zip(paths, ("1", "lab.tune('x')"), strict=True):
        nbformat.write(new_notebook(cells=[new_code_cell(source)]), path)
    assert sorted(paths, key=execute.seconds_of, reverse=True) == paths[::-1]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "failed"), [("6 * 7", 0), ("1 / 0", 1)])
def test_a_check_runs_every_cell_and_writes_nothing(write, monkeypatch, source, failed):
    path = write(new_code_cell(source))
    before = path.read_bytes()
    monkeypatch.setattr("sys.argv", ["execute", "--check", "--jobs", "1", str(path)])
    assert execute.main() == failed
    assert path.read_bytes() == before
