"""The table of what mistakes with the copy engine do on a GPU: live or recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import measurements
from ...core.errors import ArgumentError, MeasurementError
from ...display.table import Shown, Table
from ...gpu.telemetry import environment
from . import try_wait
from .kernels import FAULTS, known
from .runs import FAMILY, SECTION, Outcome, can_try, measure


@dataclass(frozen=True, repr=False)
class TmaFaults(Shown):
    """What came of each mistake on one GPU; `source` is "live" or "recorded"."""

    outcomes: tuple[Outcome, ...]
    shape: tuple[int, int, int]
    precision: str
    source: str
    environment: dict

    def of(self, name: str) -> Outcome:
        """What came of one mistake. Raises ArgumentError, naming those in the table."""
        for outcome in self.outcomes:
            if outcome.fault == name:
                return outcome
        there = ", ".join(repr(outcome.fault) for outcome in self.outcomes)
        raise ArgumentError(f"name: there is no {name!r}, only {there}")

    def shown(self) -> Table:
        """A row for each mistake."""
        rows = [(outcome.fault, str(outcome)) for outcome in self.outcomes]
        M, N, K = self.shape
        notes = [
            f"M = {M}, N = {N}, K = {K}, {self.precision}, new random integers in every run. Each "
            "variant ran in a process of its own.",
            measurements.made_on(self.environment, self.source),
        ]
        return Table(("variant of a step", "on the GPU"), rows, "tw", notes)


def tma_faults(*names: str) -> TmaFaults:
    """What mistakes with the copy engine do: tried on a GPU with TMA (about 45 s), else recorded.

    names: of `lab.fault`; all of them if none is given. Each runs in a process of its own, which is
    killed if it does not end.
    Raises ArgumentError for an unknown name, MeasurementError without such a GPU and
    without a recording.
    """
    asked = tuple(known(name) for name in names) or tuple(FAULTS)
    if can_try():
        return _from_section({**measure(asked), "environment": environment()}, asked, "live")
    return _from_section(measurements.load(family=FAMILY).section(SECTION), asked, "recorded")


def record() -> dict:
    """The section of a recording: every mistake, and how long mbarrier.try_wait waits."""
    return {**measure(), "try_wait": try_wait.measure()}


def _from_section(data: dict, names: Sequence[str], source: str) -> TmaFaults:
    found = {outcome["fault"]: Outcome(**outcome) for outcome in data["outcomes"]}
    if lacking := [name for name in names if name not in found]:
        raise MeasurementError(
            f"{SECTION}: {', '.join(lacking)} not in the recording; `python -m gemmlab record "
            f"--family {FAMILY} --only {SECTION}` on a GPU adds them"
        )
    outcomes = tuple(found[name] for name in names)
    shape, types = tuple(data["shape"]), data["precision"]
    return TmaFaults(outcomes, shape, types, source, dict(data["environment"]))
