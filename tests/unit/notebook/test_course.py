"""The way through the book: core chapters, deep dives, and what each needs."""

from __future__ import annotations

import re

import pytest

import gemmlab as lab
from gemmlab.core.errors import ArgumentError
from gemmlab.core.paths import repository_root
from gemmlab.notebook.course import CHAPTERS, chapter, course, minutes

# Tracks, the first page, the map and what one looks up: no chapters.
PAGES = {
    *("intro", "how_to_use", "map", "departures", "glossary", "coverage", "reference"),
    *("your_kernel", "bug_hunt", "workbench"),
}
MOST_WORDS, MOST_MINUTES = {True: 2000, False: 2500}, 25
FIRST_PARTS = ("Before the first kernel", "Part I: SGEMM")


def test_every_page_of_the_contents_is_a_chapter_or_known_as_none():
    contents = (repository_root() / "_toc.yml").read_text(encoding="utf-8")
    pages = set(re.findall(r"book/(\w+)", contents))
    assert pages - PAGES == set(CHAPTERS)


def test_a_chapter_needs_only_what_stands_before_it():
    order = [one.name for one in course()]
    late = [
        (one.name, needed)
        for one in course()
        for needed in one.needs
        if order.index(needed) >= order.index(one.name)
    ]
    assert late == []


def test_no_core_chapter_needs_a_deep_dive():
    assert [one.name for one in course() if one.core and not all(map(_core, one.needs))] == []


def _core(name: str) -> bool:
    return chapter(name).core


def test_the_core_of_part_one_takes_eight_hours_or_less():
    """With the primer, and with the rungs of "Your kernel" that its chapters hold."""
    first = [one for one in course() if one.core and one.part in FIRST_PARTS]
    assert {one.name for one in first} >= {"primer", "sgemm_naive", "sgemm_async_copies"}
    assert sum(one.reading.rungs for one in first if one.reading) == 10
    assert minutes(first) <= 8 * 60


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_chapter_is_too_long(name):
    one = chapter(name)
    assert one.reading.words <= MOST_WORDS[one.core]
    assert not one.core or one.reading.minutes <= MOST_MINUTES


def test_the_strip_says_core_or_deep_dive_how_long_and_what_to_read_before():
    strip = lab.here("sgemm_bank_conflicts")
    before = re.escape(chapter("sgemm_register_tiling").short)
    assert re.search(rf"Core\. About \d+ minutes, .* Read before: {before}\.", repr(strip))
    assert '<a href="sgemm_register_tiling.ipynb">' in strip._repr_html_()
    assert "Deep dive. " in repr(lab.here("sgemm_write_back"))


def test_a_chapter_without_a_kernel_has_a_strip_without_a_place_in_it():
    strip = lab.here("hgemm_ceiling")
    assert (
        strip.own == ()
        and strip.bars
        and "gl-strip-now" not in strip._repr_html_().split("</style>")[1]
    )
    assert repr(strip).startswith("Part II\nCore. ")
    assert lab.here("measuring").bars == ()


def test_a_page_that_is_no_chapter_is_refused():
    with pytest.raises(ArgumentError, match="chapter: got 'intro'"):
        lab.here("intro")


def test_the_cards_say_hours_of_core_and_of_deep_dives():
    card = next(iter(lab.parts().cards))
    assert re.fullmatch(
        r"\d+ kernels; \d core chapters, about \d hours; \d deep dives, about \d hours", card.words
    )
    assert card.first == "sgemm_naive"
