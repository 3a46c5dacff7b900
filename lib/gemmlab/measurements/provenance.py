"""Where a figure comes from, in words: GPU, date, driver, CUDA and commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def origins(environments: Iterable[dict[str, Any]], what: Iterable[str] = ()) -> str:
    """Where several recordings were made: what they share is said once.

    environments: of the recordings. what: words for each, put in brackets after its commit.
    """
    found: dict[str, dict[str, None]] = {}
    for environment, note in _with_notes(environments, what):
        commit = f"commit {environment['commit']}" if environment.get("commit") else ""
        words = " ".join(filter(None, (commit, f"({note})" * bool(note))))
        found.setdefault(origin({**environment, "commit": ""}), {})[words] = None
    return "; ".join(", ".join(filter(None, (where, *words))) for where, words in found.items())


def origin(environment: dict[str, Any]) -> str:
    """GPU, date, driver, CUDA and commit in one line, as shown beside every recorded figure.

    environment: of a recording or of a result, with these as its keys.
    """
    parts = [environment.get("gpu") or "an unknown GPU", str(environment.get("date") or "")[:10]]
    for key, label in (("driver", "driver"), ("cuda", "CUDA"), ("commit", "commit")):
        if environment.get(key):
            parts.append(f"{label} {environment[key]}")
    return ", ".join(filter(None, parts))


def made_on(environment: dict[str, Any], source: str = "recorded") -> str:
    """The sentence below a table: recorded, or measured now, and on what.

    environment: of a recording or of a result. source: "recorded" or "live".
    """
    return f"{'Measured now' if source == 'live' else 'Recorded'} on {origin(environment)}."


def _with_notes(
    environments: Iterable[dict[str, Any]], what: Iterable[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    notes = iter(what)
    return ((environment, next(notes, "")) for environment in environments)
