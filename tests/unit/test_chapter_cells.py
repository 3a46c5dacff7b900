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
    "%%kernel shown --like sgemm_01_naive\n__global__ void kernel() {}": (),
    "%%kernel judged --like sgemm_01_naive\n__global__ void kernel() {}": (),
    "lab.diff(shown)": (),
    "lab.exercises.judge(judged, conflicts=0)": (),
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


@pytest.mark.parametrize(
    ("source", "made", "used", "called"),
    [
        ("%load_ext x\nfor k in range(3):\n    rung(k, N)", "k", "N range rung", "range rung"),
        ("from a.b import c as d\nimport e.f", "d e", "", ""),
        ("x = 1\nprint(x)", "x", "print", "print"),
        ("x = x + 1", "x", "x", ""),
        ("x += 1", "x", "x", ""),
        ("y = [k for k in x]", "y k", "x", ""),
        ("def judge(k):\n    z = lab.trace(k, N)\n    return z", "judge", "N lab", "trace"),
        ("%%kernel mine --like a\nint x;", "mine", "", "%%kernel"),
        ("%%cuda\nint x;", "", "", ""),
    ],
)
def test_what_a_cell_defines_uses_and_calls(source, made, used, called):
    expected = tuple(set(text.split()) for text in (made, used, called))
    assert chapter_cells.names(source) == expected


def test_a_name_that_a_later_cell_makes_anew_is_not_needed():
    texts = ("report = lab.check('a')", "report = 1", "print(report)")
    items = [SimpleNamespace(cell=SimpleNamespace(metadata={}, source=one)) for one in texts]
    assert chapter_cells.left_out(items) == items[:1]
    assert chapter_cells.left_out([items[0], items[2]]) == []


def test_a_function_of_the_chapters_that_asks_for_a_verdict_is_dear_and_so_is_who_calls_it():
    texts = (
        "def seen(k):\n    return lab.trace(k, 8, 8, 8)",
        "def said(k):\n    print(seen(k))",
        "said('sgemm_01_naive')",
        "print(seen)",
    )
    assert chapter_cells.dear_functions(list(texts)) == {*chapter_cells.DEAR, "seen", "said"}
    items = [SimpleNamespace(cell=SimpleNamespace(metadata={}, source=one)) for one in texts]
    assert chapter_cells.left_out(items) == items[1:3]
    assert chapter_cells.left_out(items[:3]) == items[:3]


def test_chapters_that_run_whole_exist():
    chapters = {path.stem for path in (ROOT / "book").glob("*.ipynb")}
    assert set(sampling.whole_chapters()) < chapters
