"""What `lab.check` says of the mutants made by hand: shown, recorded and read again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from gemmlab.core.files import load_json, write_whole
from gemmlab.core.paths import measurements_folder
from gemmlab.display.table import Table
from gemmlab.gpu.telemetry import commit

from .mutants import HandMade

SCHEMA = 1
# Verdicts of a check that has found the mistake; "missed", "compile" and "crash" are not.
FOUND = ("finding", "values", "refused", "endless")


def path() -> Path:
    """Where the verdicts are recorded."""
    return measurements_folder() / "simulator" / "mutants_by_hand.json"


def recorded(file: Path | None = None) -> dict[str, dict]:
    """The recorded rows by id; none if nothing was recorded yet."""
    file = file or path()
    if not file.exists():
        return {}
    data = load_json(file, "`python -m tools.mutants --by-hand --full` records it")
    if data["schema"] != SCHEMA:
        raise ValueError(f"{file.name}: schema {data['schema']!r}, expected {SCHEMA}")
    return {row["id"]: row for row in data["mutants"]}


def write(mutants: Iterable[HandMade], verdicts: dict[str, dict], file: Path | None = None) -> Path:
    """Record the verdicts on those judged; of `mutants`, all others keep theirs."""
    file = file or path()
    made = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit()}
    rows = recorded(file)
    rows |= {m.id: row(m, verdicts[m.id]) for m in mutants if m.id in verdicts}
    kept = [rows[mutant.id] for mutant in mutants if mutant.id in rows]
    head = json.dumps({"schema": SCHEMA, "environment": made})
    lines = ",\n".join(json.dumps(one) for one in kept)
    return write_whole(file, f'{head[:-1]}, "mutants": [\n{lines}\n]}}\n')


def row(mutant: HandMade, verdict: dict) -> dict:
    """What is recorded of a mutant."""
    about = {"id": mutant.id, "step": mutant.step, "kind": mutant.kind, "file": mutant.file}
    keys = ("verdict", "kinds", "case", "cases", "message", "seconds", "witness")
    return about | {key: verdict[key] for key in keys if key in verdict}


def shown(rows: Iterable[dict]) -> Table:
    """A row for each mutant: found by what, where first, in how many seconds."""
    rows = list(rows)
    cells = tuple(
        (r["id"], r["verdict"], ", ".join(r.get("kinds", [])), r.get("case", ""), str(r["seconds"]))
        for r in rows
    )
    count = Counter(r["verdict"] in FOUND for r in rows)
    shows = sum(bool(r.get("witness")) for r in rows)
    note = f"lab.check finds {count[True]} of {len(rows)}; of the others, {shows} have shown "
    note += "themselves at an input of their own."
    return Table(("mutant", "verdict", "findings", "first case", "s"), cells, "ttttn", (note,))
