"""What a check gives back: its cases, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.precision import precision
from ..display.table import Judgement, Shown


@dataclass(frozen=True)
class Case:
    """One run: sizes, factors, and the largest error as a share of what is allowed.

    config: the configuration, of a step that has several; empty if the step chose. precision: the
    types of A, B and C, such as "bf16".
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


@dataclass(frozen=True, repr=False)
class CheckReport(Shown):
    """All cases of one step on one backend, and what the simulator found besides wrong values."""

    kernel: str
    backend: str
    cases: tuple[Case, ...]
    findings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """No wrong element and no finding."""
        return not self.findings and not any(case.problem for case in self.cases)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `check --json`."""
        return {**super().to_dict(), "ok": self.ok}

    def shown(self) -> Judgement:
        """One line if all is right; else the wrong cases and the findings, too."""
        head, *problems = self._lines()
        return Judgement(self.ok, "Right" if self.ok else "Wrong", head, problems)

    def _types(self) -> str:
        """The precisions, if there is something to tell."""
        names = dict.fromkeys(precision(case.precision).words for case in self.cases)
        return "" if list(names) == ["fp32"] else f" ({'; '.join(names)})"

    def _lines(self) -> list[str]:
        where = {"gpu": "on the GPU", "sim": "on the simulator"}[self.backend]
        bad = [case for case in self.cases if case.problem]
        if self.ok:
            worst = max(case.error for case in self.cases)
            return [
                f"{self.kernel}: right in all {len(self.cases)} cases {where}{self._types()}; "
                f"largest error {worst:.2f} of what rounding allows"
            ]
        lines = [f"{self.kernel}: WRONG {where}, {len(bad)} of {len(self.cases)} cases"]
        lines += [
            f"  M={c.M} N={c.N} K={c.K} alpha={c.alpha} beta={c.beta}"
            f"{f' {c.precision}' if c.precision != 'fp32' else ''}"
            f"{f' [{c.config}]' if c.config else ''}: {c.problem}"
            for c in bad
        ]
        return lines + [f"  {finding}" for finding in self.findings]
