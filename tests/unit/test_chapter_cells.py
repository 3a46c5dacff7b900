"""Which cells of a chapter the run of all chapters leaves to the campaign."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import chapter_cells
import pytest
import sampling

ROOT = Path(__file__).resolve().parents[2]
WHOLE, OTHER = "intro", "a_chapter_that_is_not_whole"
SETUP = "import gemmlab as lab\nN = 64"
USED = "trace = lab.trace('sgemm_01_naive', N, N, 8)"
UNUSED = "report = lab.check('sgemm_01_naive')\nprint(report)"
CELLS = {
    SETUP: (),
    USED: (),
    "trace.totals()": (),
    UNUSED: (),
    "lab.exercises.judge(mine, conflicts=0)": (),
    "lab.exercises.judge(solved, conflicts=0)": ("solution",),
    "%%kernel mine --like sgemm_01_naive\n__global__ void kernel() {}": (),
    "lab.source('sgemm_01_naive')": (),
}
LEFT = {UNUSED, *(source for source in CELLS if "judge" in source)}


def cells(chapter: str) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(
            path=Path(f"book/{chapter}.ipynb"),
            cell=SimpleNamespace(metadata={"tags": list(tags)}, source=source),
        )
        for source, tags in CELLS.items()
    ]


@pytest.mark.parametrize(
    ("chapter", "everything", "left"),
    [(OTHER, False, LEFT), (OTHER, True, set()), (WHOLE, False, set())],
)
def test_verdicts_that_no_later_cell_needs_are_left_out_and_nothing_else(chapter, everything, left):
    items = cells(chapter)
    before, deselected = list(items), []
    config = SimpleNamespace(
        getoption=lambda name: everything,
        hook=SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items)),
        stash={sampling.LEFT: sampling.Left()},
    )
    chapter_cells.pytest_collection_modifyitems(config, items)
    assert sorted(map(id, items + deselected)) == sorted(map(id, before))
    assert {item.cell.source for item in deselected} == left
    assert config.stash[sampling.LEFT].left == len(left)


def test_what_cells_define_use_and_call():
    source = "%load_ext x\nfor k in range(3):\n    lab.exercises.rung(k, 2)\nfrom a.b import c as d"
    assert chapter_cells.names(source) == ({"k", "d"}, {"range", "lab", "k"}, {"range", "rung"})
    assert chapter_cells.names("%%kernel mine --like a") == ({"mine"}, set(), set())


def test_chapters_that_run_whole_exist():
    chapters = {path.stem for path in (ROOT / "book").glob("*.ipynb")}
    assert set(sampling.whole_chapters()) < chapters
