"""The recorded mutants: every kernel with one small mistake at a time, and whether it was found.

`python -m tools.mutants --full` makes them and records them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import MeasurementError
from ..core.files import load_json
from ..core.paths import measurements_folder
from ..display.numbers import short
from ..display.table import Shown, Table

SCHEMA = 1
BOTH_SIDES = "swizzle, both sides"
# Verdicts that stop the kernel or name a place; those that are no program of their own.
_FINDINGS = ("finding", "refused", "endless")
_UNCOUNTED = ("compile", "same")
_MISSED = "missed"  # how a reason begins that does not excuse it
_FOUND = "Equivalent mutants compute the same and synchronise enough; found: of the others."


@dataclass(frozen=True)
class Mutant:
    """One changed copy of a kernel, and its verdict.

    id: kernel/operator/number. before, after: the changed line. verdict: "finding", "refused"
    (the launch), "endless", "values" (wrong results, no finding), "counts" (right, with other
    memory requests), "survived", "compile" (it does not), "same" (the same machine code). kinds:
    of the findings. wrong: whether results were. why: for a survivor, why it is equivalent, or,
    where it begins with "missed", why the simulator cannot find this mistake.
    """

    id: str
    operator: str
    file: str
    before: str
    after: str
    verdict: str
    kinds: tuple[str, ...]
    wrong: bool
    why: str

    @property
    def kernel(self) -> str:
        """The kernel it was made from."""
        return self.id.partition("/")[0]

    @property
    def counts(self) -> bool:
        """Whether it is a program of its own with a mistake in it.

        A swizzle that is changed for both sides of a copy is another layout, not a mistake.
        """
        return self.verdict not in _UNCOUNTED and self.operator != BOTH_SIDES

    @property
    def found(self) -> bool:
        """Whether there was a finding, or the results were wrong."""
        return self.verdict in _FINDINGS or self.verdict == "values"

    @property
    def is_equivalent(self) -> bool:
        """Whether it is not found, and explained: it does the same, and synchronises enough."""
        return not self.found and bool(self.why) and not self.why.startswith(_MISSED)


@dataclass(frozen=True, repr=False)
class Mutants(Shown):
    """All recorded mutants; shows as a table of kernels."""

    kernels: tuple[str, ...]
    mutants: tuple[Mutant, ...]
    environment: dict

    @property
    def counted(self) -> tuple[Mutant, ...]:
        """Those that may have a mistake."""
        return tuple(m for m in self.mutants if m.counts)

    @property
    def rate(self) -> float:
        """The share that was found, from 0 to 1, of those that are not equivalent."""
        mistakes = [m for m in self.counted if not m.is_equivalent]
        return sum(m.found for m in mistakes) / len(mistakes)

    def by_kernel(self) -> Table:
        """What became of the mutants of each kernel."""
        return self._table("kernel", self.kernels, lambda m: m.kernel, short)

    def by_operator(self) -> Table:
        """What became of the mutants that each operator made."""
        operators = sorted({m.operator for m in self.mutants if m.operator != BOTH_SIDES})
        return self._table("change", operators, lambda m: m.operator, str)

    def survivors(self) -> Table:
        """Every mutant that was not found, and why."""
        left = [m for m in self.counted if not m.found]
        rows = tuple((short(m.kernel), m.before, m.after, m.why or "not explained") for m in left)
        return Table(("kernel", "line", "changed to", "why"), rows, "twww", (self._origin(),))

    def _table(
        self, head: str, groups: Iterable[str], of: Callable[[Mutant], str], shown: Callable
    ) -> Table:
        rows = [(shown(g), *_cells([m for m in self.counted if of(m) == g])) for g in groups]
        results = ("finding", "of those, right results", "wrong results only")
        columns = (head, "mutants", *results, "equivalent", "missed", "found")
        notes = (_FOUND, self._uncounted(), self._origin())
        return Table(columns, (*rows, ("all", *_cells(self.counted))), "tnnnnnnn", notes)

    def _uncounted(self) -> str:
        broken, same = (sum(m.verdict == v for m in self.mutants) for v in _UNCOUNTED)
        layouts = [m for m in self.mutants if m.operator == BOTH_SIDES]
        right = sum(not m.found for m in layouts)
        text = f"Not counted: {broken} that do not compile, {same} that compile to the same code"
        if layouts:
            text += f", {len(layouts)} swizzles changed for both sides ({right} give right results)"
        return text + "."

    def _origin(self) -> str:
        date = str(self.environment.get("date") or "")[:10]
        return f"Simulator, recorded {date}, commit {self.environment.get('commit')}."

    def shown(self) -> Table:
        """What became of the mutants of each kernel."""
        return self.by_kernel()


def _cells(mutants: Sequence[Mutant]) -> tuple[str, ...]:
    findings = [m for m in mutants if m.verdict in _FINDINGS]
    right = sum(not m.wrong for m in findings)
    found, equal = sum(m.found for m in mutants), sum(m.is_equivalent for m in mutants)
    mistakes = len(mutants) - equal
    numbers = (len(mutants), len(findings), right, found - len(findings), equal, mistakes - found)
    return (*map(str, numbers), f"{100 * found / mistakes:.1f} %" if mistakes else "-")


def path() -> Path:
    """Where the recorded mutants lie: beside, not among, the recordings of GPUs."""
    return measurements_folder() / "simulator" / "mutants.json"


def recorded_mutants(file: Path | None = None) -> Mutants:
    """The recorded mutants: kernels broken on purpose, and what the simulator found of each.

    file: a recorded file (None: the repository's). Raises MeasurementError if it is missing or
    unreadable.
    """
    file = file or path()
    again = "`python -m tools.mutants --full` records them"
    data = load_json(file, again)
    try:
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']!r}, expected {SCHEMA}")
        mutants = tuple(Mutant(**{**m, "kinds": tuple(m["kinds"])}) for m in data["mutants"])
        return Mutants(tuple(data["kernels"]), mutants, data["environment"])
    except (ValueError, KeyError, TypeError) as error:
        raise MeasurementError(f"{file.name}: not readable ({error}); {again}") from None
