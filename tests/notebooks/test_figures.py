"""Measured numbers in the chapters' prose are those of the recordings, and say so."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.measurements.columns import Columns
from gemmlab.measurements.quoted import SPAN, quoted, recordings, rewritten
from tools import figures

GOLDEN = 0.6180339887
BOOK = Path(__file__).resolve().parents[2] / "book"
# A page that a script writes from recordings has no prose of its own.
PAGES = sorted({*BOOK.glob("*.ipynb"), *BOOK.glob("*.md")} - {BOOK / "coverage.md"})
# Numbers with a unit that nobody has measured: limits of `lab.bench` itself.
RULES = ("launches under 20 us are timed in batches", "launches are shorter than 20 µs")


@pytest.fixture(params=PAGES, ids=lambda path: path.stem)
def page(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_every_number_with_a_key_is_that_of_its_row(page):
    """`make widgets` writes them; a key that names nothing is refused with a sentence."""
    wrong = [fault for _, text in figures.prose(page) for fault in figures.refused(text)]
    assert wrong == []


def test_measured_numbers_say_where_they_come_from(page):
    """A number with a key, or one that says when it was measured, whose it is, or from what."""
    found = [number for _, text in figures.prose(page) for number in figures.unmarked(text)]
    assert [number for number in found if not any(rule in number for rule in RULES)] == []


@cache
def moved() -> dict[str, Columns]:
    """The recordings with every row another one: by 10 per cent or more, each by its own."""
    runs, places = {}, count()
    for family, one in recordings().items():
        sections = {name: _moved(data, places) for name, data in one.run.sections.items()}
        runs[family] = Columns(replace(one.run, sections=sections))
    return runs


def _moved(section: dict, places: Iterator[int]) -> dict:
    section = copy.deepcopy(section)
    named = section.get("kernels", section.get("resources", {}))
    rows = [row for key in ("rows", "ways", "outcomes") for row in section.get(key, ())]
    rows += [trial["row"] for trial in section.get("trials", ()) if trial["row"]]
    for row in [*rows, *named.values()] or [section]:
        factor = 1.1 + 0.3 * (next(places) * GOLDEN % 1)  # no two rows by the same
        for name, value in row.items():
            if isinstance(value, int | float) and name not in ("M", "N", "K", "size", "samples"):
                factor += 0.01  # nor two numbers of a row
                row[name] = value / factor if name == "time_us" else value * factor
        row |= {"spread": [v / factor for v in row["spread"]]} if "spread" in row else {}
    return section


def test_a_new_recording_changes_every_number(page):
    """Or refuses it, where the sentence would be false: as one that says what gains, and loses."""
    stayed = []
    for key, before in {span for _, text in figures.prose(page) for span in SPAN.findall(text)}:
        try:
            now = quoted(key, moved())
        except ArgumentError:
            continue
        old = f'"{key}">{before}<'
        kept = old in rewritten(f'<span data-figure="{key}">{before}</span>', moved())
        if now.value == quoted(key).value or kept != (now.text == before):
            stayed.append(key)
    assert stayed == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('<span data-figure="sgemm_06 4096 tflops">1.0</span>', "the page has 1.0, the recording"),
        ('<span data-figure="sgemm_6 4096 tflops">1.0</span>', "is no step"),
        ('<span data-figure="sgemm_06 4096 tflops">**1.0**</span>', "the page has"),
        ('<span data-figure="sgemm_06 4096 tflops"><b>1</b></span>', "a number's span has one"),
        ('<span data-figures="sgemm_06 4096 tflops">1</span>', "a number's span has one"),
        ('<span data-once="yesterday">1</span>', "says a GPU and a date"),
        ('<span data-cited="">1</span>', "a number's span has one"),
    ],
)
def test_a_span_that_is_wrong_is_refused(text, says):
    assert [says in fault for fault in figures.refused(text)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "It reaches 29.1 TFLOP/s.",
        "It takes 3.1 to 3.4 ms.",
        "The L2 delivers 7 TB/s.",
        "It gains 6 %, and is 1.4 times as fast.",
        "| row | 89 % of cuBLAS |",
    ],
)
def test_measured_numbers_are_found(text):
    assert [*figures.unmarked(text)]


@pytest.mark.parametrize(
    "text",
    [
        "A tile takes 2,048 cycles of the FMA units, 50 % of its slots are empty.",
        "The card has 1980 MHz and 700 W.",
        "`lane / 4 % 2 ms`, and $256 \\cdot 3$ ms.",
        '<span data-once="H200, 2026-11-23">29.1</span> TFLOP/s',
        '<span data-computed="512 tiles on 132 SMs">3</span> % are lost',
        "```\n29.1 TFLOP/s\n```",
    ],
)
def test_other_numbers_are_left_alone(text):
    assert [*figures.unmarked(text)] == []
