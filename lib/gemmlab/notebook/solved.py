"""The reader's file: which exercises were solved, with what, and when.

It lies where the system keeps a user's data, not in the cache, which may be swept at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from ..core.errors import WriteError
from ..core.files import locked, write_whole

SCHEMA = 1


@dataclass(frozen=True)
class Solved:
    """An exercise that a judge has called solved.

    when: the first time, in UTC. answer: the texts of its cells. shown: with the book's solution;
    the reader has not solved it without.
    """

    when: str
    answer: tuple[str, ...]
    shown: bool = False


def path() -> Path:
    """The file: in $GEMMLAB_HOME, or in the user's data folder."""
    folder = os.environ.get("GEMMLAB_HOME") or platformdirs.user_data_dir("gemmlab", False)
    return Path(folder) / "progress.json"


def unusable(error: OSError) -> str:
    """Why the file cannot be read or written, and what to do."""
    origin = error.__cause__ if isinstance(error, WriteError) else error
    why = getattr(origin, "strerror", None) or origin
    return f"{path()}: {why}; set GEMMLAB_HOME to a folder that you may read and write"


def load() -> tuple[dict[str, Solved], str]:
    """What was solved, by the exercise's key ("sgemm_naive/1"), and what was wrong with the file.

    A file that cannot be read is set aside, and the sentence says where it is now; nothing is
    solved then. Raises OSError where the folder cannot be read.
    """
    file = path()
    try:
        return _parse(file.read_text(encoding="utf-8")), ""
    except FileNotFoundError:
        return {}, ""
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        aside = file.with_name(f"progress-damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.json")
        os.replace(file, aside)
        return {}, (
            f"The record of solved exercises could not be read ({error}). It was set aside as "
            f"{aside}, and a new one begins."
        )


def add(key: str, answer: tuple[str, ...], shown: bool) -> str:
    """Note that an exercise was solved; what was wrong with the file, or "".

    The day of the first answer stays, and so does an answer of the reader's own where only the
    book's solution follows. Raises OSError where nothing can be written.
    """
    with _alone():
        known, problem = load()
        before = known.get(key)
        if before and shown and not before.shown:
            return problem
        first = before.when if before and before.shown == shown else _now()
        entry = Solved(first, answer, shown)
        if entry != before:
            _write(known | {key: entry})
    return problem


def reset() -> None:
    """Forget everything."""
    with _alone():
        path().unlink(missing_ok=True)


def _parse(text: str) -> dict[str, Solved]:
    data = json.loads(text)
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']!r}, expected {SCHEMA}")
    return {
        key: Solved(str(row["when"]), tuple(map(str, row["answer"])), bool(row["shown"]))
        for key, row in data["exercises"].items()
    }


def _write(entries: dict[str, Solved]) -> None:
    rows = {key: asdict(entry) for key, entry in sorted(entries.items())}
    write_whole(path(), json.dumps({"schema": SCHEMA, "exercises": rows}, indent=1) + "\n")


@contextmanager
def _alone() -> Iterator[None]:
    """One notebook at a time reads, changes and writes."""
    path().parent.mkdir(parents=True, exist_ok=True)
    with locked(path().with_suffix(".lock")):
        yield


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
