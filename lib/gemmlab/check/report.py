"""What a check gives back: its cases, what was covered, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..core.layout import PLAIN
from ..core.precision import precision
from ..display.table import Judgement, Shown
from .plan import Shape
from .separate import separated

CLEAN, FINDING, WRONG, INCOMPLETE = "clean", "finding", "wrong", "incomplete"


@dataclass(frozen=True)
class Case:
    """One run: sizes, factors, and the largest error as a share of what is allowed.

    config: the configuration, of a step that has several; empty if the step chose. precision: the
    types of A, B and C, such as "bf16". offsets: the elements by which A, B and C begin behind an
    aligned address. sms: of a simulated GPU that is smaller than usual, else 0. order: in which
    blocks were dispatched, 0 by number. layout: how A and B lie in memory, "nt" for B as (N, K),
    "tn" for A as (K, M).
    """

    M: int
    N: int
    K: int
    alpha: float
    beta: float
    error: float
    problem: str = ""
    config: str = ""
    precision: str = "fp32"
    offsets: tuple[int, int, int] = (0, 0, 0)
    sms: int = 0
    order: int = 0
    layout: str = PLAIN

    def __str__(self) -> str:
        return "".join(
            (
                f"M={self.M} N={self.N} K={self.K} alpha={self.alpha} beta={self.beta}",
                f" {self.precision}" * (self.precision != "fp32"),
                f" [{self.config}]" * bool(self.config),
                f" layout {self.layout}" * (self.layout != PLAIN),
                " A+{} B+{} C+{}".format(*self.offsets) * any(self.offsets),
                f" on {self.sms} SMs" * bool(self.sms),
                f" in order {self.order}" * bool(self.order),
                f": {self.problem}",
            )
        )


@dataclass(frozen=True, repr=False)
class CheckReport(Shown):
    """All cases of one step on one backend, and what the simulator found besides wrong values.

    coverage: what was run, in words. lacks: what should have been run and was not. given: what the
    caller chose, "at the shapes given": the verdict covers only these. tile: of the kernel.
    """

    kernel: str
    backend: str
    cases: tuple[Case, ...]
    findings: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    given: str = ""
    tile: Shape = (1, 1, 1)

    @property
    def verdict(self) -> str:
        """One of "wrong" (values), "finding", "incomplete" and "clean"; the first that holds."""
        if any(case.problem for case in self.cases):
            return WRONG
        if self.findings:
            return FINDING
        return INCOMPLETE if self.lacks or not self.cases else CLEAN

    @property
    def ok(self) -> bool:
        """No wrong element, no finding, and nothing left out."""
        return self.verdict == CLEAN

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `check --json`."""
        return {**super().to_dict(), "verdict": self.verdict, "ok": self.ok}

    def shown(self) -> Judgement:
        """One line if all is right; else the findings, the wrong cases, and what was left out."""
        word = {CLEAN: "Right", FINDING: "Finding", WRONG: "Wrong", INCOMPLETE: "Incomplete"}
        return Judgement(self.ok, word[self.verdict], self._head(), self._items())

    def _types(self) -> str:
        """The precisions, if there is something to tell."""
        names = dict.fromkeys(precision(case.precision).words for case in self.cases)
        return "" if list(names) == ["fp32"] else f" ({'; '.join(names)})"

    def _head(self) -> str:
        where = {"gpu": "on the GPU", "sim": "on the simulator"}[self.backend]
        bad, count = sum(bool(case.problem) for case in self.cases), len(self.cases)
        found = f"{len(self.findings)} finding{'s' * (len(self.findings) != 1)}"
        if self.verdict == WRONG:
            more = f" with {found}" * bool(self.findings)
            return f"{self.kernel}: WRONG {where}{more}, {bad} of {count} cases"
        if self.verdict == FINDING:
            return f"{self.kernel}: {found} {where}; the values of all {count} cases are right"
        if self.verdict == INCOMPLETE:
            run = f"the values of {count} cases are right" if count else "nothing was run"
            return f"{self.kernel}: INCOMPLETE {where}; {run}"
        given = f" {self.given}" * bool(self.given)
        worst = max(case.error for case in self.cases)
        return (
            f"{self.kernel}: right in all {count} cases{given} {where}{self._types()}; "
            f"largest error {worst:.2f} of what rounding allows"
        )

    def _items(self) -> list[str]:
        wrong = [*grouped(self.cases), told_apart(self.cases, self.tile)]
        return [f"  {item}" for item in (*self.findings, *filter(None, wrong), *self.lacks)]


_VARIES = re.compile(r"-?\d[\d.,]*(?:e[+-]?\d+)?|\binf\b|\bnan\b")


def grouped(cases: Iterable[Case]) -> list[str]:
    """The wrong cases, those that fail alike as one line: the first of them, and how many more.

    Two fail alike if they have the same precision and their problems differ in numbers only.
    """
    alike: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        if case.problem:
            key = (case.precision, _VARIES.sub("#", case.problem))
            alike.setdefault(key, []).append(case)
    return [f"{group[0]}{_and_more(group)}" for group in alike.values()]


def told_apart(cases: Iterable[Case], tile: Shape) -> str:
    """What tells the right shapes from the wrong ones; "" if nothing does. tile: of the kernel."""
    shapes: dict[bool, set[Shape]] = {True: set(), False: set()}
    for case in cases:
        if case.alpha != 0:  # else no product counts
            shapes[not case.problem].add((case.M, case.N, case.K))
    return separated(shapes[True], shapes[False], tile)


def _and_more(group: list[Case]) -> str:
    return f" (and {len(group) - 1} more like it)" if len(group) > 1 else ""
