"""The verdicts as the recorded table, and the survivors that were looked at by a person."""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gemmlab.core.files import write_whole
from gemmlab.evidence import mutants as mutation
from gemmlab.gpu.telemetry import commit

from .mutants import Mutant
from .subjects import Subject

# Verdicts that another kernel around the mutant may change: it was not found, or took too long.
_OPEN = ("survived", "counts", "crash")
EXPLANATIONS = Path(__file__).resolve().with_name("equivalent_mutants.toml")
# One kernel's mutants, and what became of them.
Judged = tuple[Subject, Sequence[Mutant], Sequence[dict]]


def explanations() -> dict[str, dict]:
    """Why survivors are equivalent: id -> {"id", "before", "after", "why"}."""
    return {
        entry["id"]: entry for entry in tomllib.loads(EXPLANATIONS.read_text()).get("mutant", [])
    }


def outdated(known: dict[str, dict], mutants: Iterable[Mutant]) -> list[str]:
    """Explained mutants that no longer exist as they were explained."""
    texts = {mutant.id: (mutant.before, mutant.after) for mutant in mutants}
    return [
        name
        for name, entry in known.items()
        if texts.get(name) != (entry["before"], entry["after"])
    ]


def kept(mutants: Iterable[Mutant], path: Path | None = None) -> dict[str, dict]:
    """The recorded verdicts on mutants that were found, by the ids that these have now.

    A line that moved has its mutants under other numbers: what counts is the kernel, the file, the
    line and its change, and of equal ones which of them it is.
    """
    recorded: defaultdict[tuple, list[mutation.Mutant]] = defaultdict(list)
    for one in mutation.recorded_mutants(path).mutants:
        recorded[one.kernel, one.file, one.operator, one.before, one.after].append(one)
    verdicts = {}
    for mutant in mutants:
        kernel = mutant.id.partition("/")[0]
        there = recorded[kernel, mutant.file, mutant.operator, mutant.before, mutant.after]
        if there and (one := there.pop(0)).verdict not in _OPEN:
            verdicts[mutant.id] = {"verdict": one.verdict, "kinds": one.kinds, "wrong": one.wrong}
    return verdicts


def rows(judged: Iterable[Judged], known: dict[str, dict]) -> list[dict]:
    """What is recorded of each mutant."""
    return [
        {
            **{"id": mutant.id, "operator": mutant.operator, "file": mutant.file},
            **{"before": mutant.before, "after": mutant.after, "verdict": verdict["verdict"]},
            "kinds": verdict.get("kinds", []),
            "wrong": verdict.get("wrong", False),
            "why": known.get(mutant.id, {}).get("why", ""),
        }
        for _, mutants, verdicts in judged
        for mutant, verdict in zip(mutants, verdicts, strict=True)
    ]


def write(judged: Sequence[Judged], path: Path | None = None) -> mutation.Mutants:
    """Record the table in one step, and return it."""
    path = path or mutation.path()
    made = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit()}
    kernels = [subject.name for subject, _, _ in judged]
    head = json.dumps({"schema": mutation.SCHEMA, "environment": made, "kernels": kernels})
    lines = ",\n".join(json.dumps(row) for row in rows(judged, explanations()))
    text = f'{head[:-1]}, "mutants": [\n{lines}\n]}}\n'
    return mutation.recorded_mutants(write_whole(path, text))
