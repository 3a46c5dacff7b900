"""The map: every chapter, what it needs, its hours, and what the reader has solved."""

from __future__ import annotations

import html
import re

import pytest

import gemmlab as lab
from gemmlab.notebook import solved
from gemmlab.notebook.course import CHAPTERS, chapter


@pytest.fixture
def drawn() -> str:
    return lab.overview()._repr_html_()


def test_every_chapter_is_a_link_in_the_order_of_the_book(drawn):
    links = re.findall(r'<li data-c="(\w+)"><a href="(\w+)\.ipynb">', drawn)
    assert [name for name, _ in links] == [name for _, name in links]
    assert set(CHAPTERS) == {name for name, _ in links}


def test_a_line_runs_from_each_chapter_to_those_that_need_it(drawn):
    needed = {(one, name) for name in CHAPTERS for one in chapter(name).needs}
    assert {(edge.source, edge.target) for edge in lab.overview().edges} == needed
    assert sorted(re.findall(r'class="to-(\w+)"', drawn)) == sorted(name for _, name in needed)


def test_lines_beside_each_other_do_not_share_a_lane():
    one = lab.overview()
    order = [chapter.name for chapter in one.chapters]
    taken: dict[tuple[int, int], str] = {}
    for edge in one.edges:
        rows = range(order.index(edge.source), order.index(edge.target))
        for row in rows if edge.lane is not None else ():
            assert taken.setdefault((edge.lane, row), edge.source) == edge.source


def test_the_lines_leave_room_for_titles_on_a_phone(drawn):
    assert int(re.search(r"--gutter:(\d+)px", drawn)[1]) <= 120


def test_what_a_chapter_needs_is_said_in_words(drawn):
    row = re.search(r'<li data-c="sgemm_async_copies">.*?</li>', drawn)[0]
    needs = ", ".join(chapter(name).short for name in chapter("sgemm_async_copies").needs)
    assert "core, " in row and f", needs {html.escape(needs)}" in row
    assert f"; needs {needs}" in repr(lab.overview())


def test_the_readers_progress_shows_only_if_there_is_any(monkeypatch, tmp_path):
    monkeypatch.setenv("GEMMLAB_HOME", str(tmp_path))
    monkeypatch.setenv("GEMMLAB_PROGRESS", "1")
    assert "solved" not in lab.overview()._repr_html_()
    solved.add("sgemm_naive/1", ("a",), shown=False)
    solved.add("sgemm_block_tiling/1", ("a",), shown=True)
    solved.add("your_kernel/1", ("a",), shown=False)
    text = repr(lab.overview())
    title = re.escape(chapter("sgemm_naive").title)
    assert re.search(rf"{title}: .*; 1 of \d exercises solved", text)
    assert text.count("exercises solved") == 1
    assert "Your kernel: 1 of 14 rungs." in text
    monkeypatch.setenv("GEMMLAB_PROGRESS", "0")  # as for stored notebooks
    assert "solved" not in repr(lab.overview())


def test_without_chapters_it_says_where_they_could_be(monkeypatch, tmp_path):
    from gemmlab.report import overview

    empty = overview.Overview((), {}, {})
    assert "GEMMLAB_ROOT" in empty._repr_html_() and repr(empty) == ""
