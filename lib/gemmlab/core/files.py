"""Files: JSON as text, a read that fails with one error, a write that is complete or not done."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from .errors import MeasurementError


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
    """Write a file in one step: a reader meanwhile, or after a crash, sees a whole one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp's 0600 would stay with the file
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _rounded(value: Any) -> Any:
    """Six significant digits: more is noise, and would make every diff unreadable."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(v) for v in value]
    return value
