"""The files in book/measurements/wavefronts: what a GPU counted, to hold the simulator against."""

from __future__ import annotations

from pathlib import Path

from ..core.files import load_json
from ..core.paths import measurements_folder

GPU = "h200"


def path_of(name: str) -> Path:
    """Where a recording of that name lies."""
    return measurements_folder() / "wavefronts" / f"{name}_{GPU}.json"


def load(path: str | Path) -> dict:
    """A recorded file. Raises MeasurementError if it is missing or not JSON."""
    return load_json(Path(path), "`python -m tools.evidence.record_patterns` on a GPU writes it")
