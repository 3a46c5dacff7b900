"""What every stored chapter keeps to, so that a reader sees a complete, short, honest notebook."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path

import pytest

from tools.refresh import refreshed

BOOK = Path(__file__).resolve().parents[2] / "book"
NOTEBOOKS = sorted(BOOK.glob("*.ipynb"))
LONGEST_CELL = 25
LONGEST_KERNEL = 75  # of a whole kernel, which a reader writes in one cell
MEDIAN_CELL = 8
LARGEST_FILE = 1_500_000
SHOWS_ONLY = re.compile(r"lab\.(source|diff|ladder|(tables|evidence)\.\w+)\(.*\)")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> dict:
    return json.loads(request.param.read_text(encoding="utf-8"))


def source(cell: dict) -> str:
    return "".join(cell["source"])


def code_cells(notebook: dict) -> list[dict]:
    return [c for c in notebook["cells"] if c["cell_type"] == "code" and source(c).strip()]


def outputs(notebook: dict) -> list[dict]:
    return [output for cell in code_cells(notebook) for output in cell["outputs"]]


def test_there_are_chapters_that_run():
    assert NOTEBOOKS


def test_cells_were_executed_once_and_in_order(notebook):
    counts = [cell["execution_count"] for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1)), "make notebooks NB=book/..."


def test_no_output_is_an_error_or_a_warning(notebook):
    bad = [o for o in outputs(notebook) if o["output_type"] == "error" or o.get("name") == "stderr"]
    assert not bad


def test_cells_are_short(notebook):
    texts = [source(cell) for cell in code_cells(notebook)]
    kernels = [text for text in texts if text.startswith("%%kernel") and "__global__" in text]
    lengths = [len(text.splitlines()) for text in texts if text not in kernels]
    assert max((len(text.splitlines()) for text in kernels), default=0) <= LONGEST_KERNEL
    assert max(lengths) <= LONGEST_CELL
    assert statistics.median(lengths) <= MEDIAN_CELL


def test_cells_that_only_show_something_are_folded(notebook):
    """What they show is the page's text; their line is there for who wants to run it."""
    if notebook["cells"][0]["source"][0].startswith("# API reference"):
        return  # there the call is the text
    for cell in code_cells(notebook):
        if SHOWS_ONLY.fullmatch(source(cell).strip()):
            tags = cell["metadata"].get("tags", [])
            assert any(tag.startswith(("hide-", "remove-")) for tag in tags), source(cell)


def test_no_path_of_one_machine(notebook, root):
    text = json.dumps(notebook)
    for path in (str(root), str(Path.home()), "/home/", "/Users/", "site-packages"):
        assert path not in text


def test_says_what_it_ran_on(notebook):
    ran_on = notebook["metadata"]["gemmlab"]
    assert ran_on["backend"] in ("gpu", "sim")
    assert ran_on["found"]
    assert ran_on["date"]
    assert ran_on["commit"]


def test_no_state_of_a_live_widget(notebook):
    assert "widgets" not in notebook["metadata"], "make notebooks writes chapters without it"
    assert not [o for o in outputs(notebook) if any("widget-view" in m for m in o.get("data", {}))]


def test_stored_widgets_have_the_current_code(notebook):
    html = ["".join(o.get("data", {}).get("text/html", "")) for o in outputs(notebook)]
    assert all(refreshed(text) == text for text in html), "make widgets"


def test_some_output_is_compared(notebook):
    tags = [cell["metadata"].get("tags", []) for cell in code_cells(notebook)]
    assert any("nbval-check-output" in t for t in tags), "tag cells whose output is deterministic"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_file_is_small(path):
    assert path.stat().st_size <= LARGEST_FILE
