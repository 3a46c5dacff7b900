"""The files in book/measurements/wavefronts: what a GPU counted, to hold the simulator against."""

from __future__ import annotations

import json
from pathlib import Path

from ..core.errors import MeasurementError
from ..core.paths import measurements_folder

GPU = "h200"


def path_of(name: str) -> Path:
    """Where a recording of that name lies."""
    return measurements_folder() / "wavefronts" / f"{name}_{GPU}.json"


def load(path: str | Path) -> dict:
    """A recorded file. Raises MeasurementError if it is missing or not JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MeasurementError(
            f"{Path(path).name}: not readable ({error}); tools/evidence/record_patterns.py writes it on "
            "a GPU"
        ) from None
