"""Files: JSON as text, a read that fails with one error, a write that is complete or not done."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .errors import MeasurementError, WriteError


def json_text(data: dict[str, Any]) -> str:
    """`data` as JSON, with six significant digits. Raises ValueError for NaN and infinity."""
    return json.dumps(_rounded(data), indent=1, allow_nan=False) + "\n"


def load_json(path: Path, remedy: str) -> Any:
    """The content of a JSON file.

    Raises MeasurementError, which ends in `remedy`, if it is missing, unreadable or not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MeasurementError(
            f"{path.name}: not readable, there is no such recorded run; {remedy}"
        ) from None
    except (OSError, ValueError) as error:
        raise MeasurementError(f"{path.name}: not readable as JSON ({error}); {remedy}") from None


def write_whole(path: Path, text: str) -> Path:
    """Write a file in one step: a reader meanwhile, or after a crash, sees a whole one.

    Several processes that write it take turns. What a killed one has left, the next one takes over.
    Raises WriteError if it cannot be written; then it is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.tmp")
        with locked(draft) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
            os.replace(draft, path)
            sync(path.parent)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise WriteError(
            f"{path}: could not be written ({why}), and is as it was; see to the space and the "
            "rights there, and try again"
        ) from error
    return path


@contextmanager
def locked(place: Path, wait: bool = True) -> Iterator[IO[bytes]]:
    """The file `place`, empty, which one process (or thread) has at a time; others wait for it.

    It is gone afterwards, unless it was renamed. A lock ends with its process, however that ends.
    wait: False raises BlockingIOError instead of waiting.
    """
    while True:
        with open(os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if not _is_at(place, file):
                continue  # whoever had it has renamed or removed it
            try:
                file.truncate()
                yield file
            finally:
                if _is_at(place, file):
                    place.unlink()
                fcntl.flock(file, fcntl.LOCK_UN)  # a forked process may have it open, too
            return


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_at(place: Path, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(place))
    except FileNotFoundError:
        return False


def _rounded(value: Any) -> Any:
    """Six significant digits: more is noise, and would make every diff unreadable."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(v) for v in value]
    return value
