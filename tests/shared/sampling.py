"""A fixed sample of many like cases for every test run; the rest is for `make campaign`.

Which cases a run takes is said in tests/sample.toml, by test; where the cases are made for sampling
(each step at each shape in each precision), by `sampled` beside the test. Nothing else chooses: no
date and no chance. Each run says at its end how many cases it has left to the campaign.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parents[1]
TABLE = TESTS / "sample.toml"
# A file of tests, one of its functions, and which of the cases: patterns of their ids, or "1 in 4".
Choice = Sequence[str] | str


def taken(text: str, of: int) -> bool:
    """Whether a case with this text is the one in `of` that every run takes."""
    return _number(text) % of == 0


def sampled(
    cases: Sequence[Any],
    of: int = 4,
    always: Callable[[Any], bool] = lambda case: False,
    dear: Callable[[Any], bool] = lambda case: False,
) -> list:
    """All cases, as parameters of a test; all but one in `of` are marked `campaign`.

    Chosen by a hash of the case's text, so that one more step does not change the choice among the
    others. always: whether a case is run each time. dear: whether it takes so long that only the
    campaign runs it.
    """

    def chosen(case: Any) -> bool:
        return always(case) or (taken(str(case), of) and not dear(case))

    assert any(map(chosen, cases)), "the sample is empty"
    return [
        pytest.param(case, id=str(case), marks=() if chosen(case) else pytest.mark.campaign)
        for case in cases
    ]


# ---- the table ----


def table(path: Path = TABLE) -> dict[tuple[str, str], Choice]:
    """The choice for each test of the table, by file (below tests/) and function."""
    files = tomllib.loads(path.read_text(encoding="utf-8"))
    for one in ("chapters", "pages"):
        files.pop(one, None)
    return {(file, name): said for file, tests in files.items() for name, said in tests.items()}


def whole_chapters(path: Path = TABLE) -> list[str]:
    """The chapters of which every run executes every cell."""
    return tomllib.loads(path.read_text(encoding="utf-8"))["chapters"]["whole"]


def opened_pages(path: Path = TABLE) -> list[str]:
    """The pages of the book that every run opens in a browser."""
    return tomllib.loads(path.read_text(encoding="utf-8"))["pages"]["opened"]


def chosen(ids: Sequence[str], choice: Choice) -> list[str]:
    """The ids that every run takes. ValueError: a pattern fits none, or the choice none or all."""
    if not ids:
        raise ValueError("there is no such test, or it has no cases")
    if isinstance(choice, str):
        of = int(choice.removeprefix("1 in "))
        # Were none taken, the one with the smallest number is.
        kept = [one for one in ids if taken(one, of)] or [min(ids, key=_number)]
    else:
        for pattern in choice:
            if not any(fnmatchcase(one, pattern) for one in ids):
                raise ValueError(f"no case is named {pattern!r}, but {', '.join(ids[:9])} ...")
        kept = [one for one in ids if any(fnmatchcase(one, pattern) for pattern in choice)]
    if len(kept) == len(ids) > 0:
        raise ValueError("nothing is left to the campaign")
    return kept


def mark(items: Sequence[pytest.Item], choices: dict[tuple[str, str], Choice]) -> None:
    """Mark as `campaign` what the table leaves to it; of tests that are collected with all cases.

    pytest.UsageError if the table does not fit: a case that it names is gone, or a test.
    """
    found = defaultdict(list)
    for item in items:
        if hasattr(item, "originalname") and TESTS in item.path.parents:
            found[str(item.path.relative_to(TESTS)), item.originalname].append(item)
    files, wrong = {file for file, _ in found}, []
    for (file, name), choice in choices.items():
        if file not in files:
            continue
        cases = {_id(item): item for item in found.get((file, name), ())}
        if any("NOTSET" in one for one in cases):
            continue  # the book is not built, so there are no pages yet
        # A case that a test leaves to the campaign itself is left, whatever the table says.
        open_ = [one for one, item in cases.items() if not item.get_closest_marker("campaign")]
        try:
            kept = chosen(open_, choice)
        except ValueError as error:
            wrong.append(f"{TABLE.name}: {file}::{name}: {error}")
            continue
        for one in set(open_).difference(kept):
            cases[one].add_marker("campaign")
    if wrong:
        raise pytest.UsageError("\n".join(wrong))


def whole(arguments: Iterable[str]) -> bool:
    """Whether files are collected with all their tests."""
    return not any("::" in one for one in arguments)


class Left:
    """Says at the end of a run how many cases it has left to the campaign."""

    def __init__(self) -> None:
        self.left = self.all = 0

    def count(self, left: int, everything: int) -> None:
        """So many of the collected cases are left out."""
        self.left, self.all = left, everything

    @pytest.hookimpl
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A worker of pytest-xdist tells the process that started it."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["left"] = self.left, self.all

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """All workers have collected the same."""
        self.left, self.all = getattr(node, "workeroutput", {}).get("left", (self.left, self.all))

    def __str__(self) -> str:
        run = self.all - self.left
        return (
            f"sample: {run:,} of {self.all:,} cases; `make campaign` runs the other {self.left:,}"
        )

    def tell(self, config: pytest.Config) -> None:
        """The line, if something was left out."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if self.left and reporter is not None and not hasattr(config, "workerinput"):
            reporter.write_line(str(self))


def _id(item: Any) -> str:
    return item.callspec.id if hasattr(item, "callspec") else ""


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


# The line of a run.
LEFT = pytest.StashKey[Left]()
