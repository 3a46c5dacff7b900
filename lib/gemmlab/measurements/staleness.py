"""Whether a recorded figure still holds: it belongs to machine code, not to text.

`book/measurements/machine_code/sm_90a.json` has the digests of every step's source and machine code
as they were last compiled; `python -m tools.machine_code` writes it, with nvcc. A recording holds
the digests of what it measured. So a change of text that leaves the instructions as they were, such
as another name of a header, leaves the recorded figures valid, and this can be told without nvcc
and without a GPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..core.errors import MeasurementError
from ..core.files import json_text, load_json, write_whole
from ..core.paths import measurements_folder
from ..steps.program import Program
from ..steps.text import source_digest

TARGET = "90a"
CURRENT = "current"
SAME = "same machine code"
CHANGED = "machine code changed"
NOT_COMPARED = "not compared"
# What stands below figures that may not be those of the present code, with names for {}.
STALE = {
    CHANGED: "The machine code of {} has changed since the recording",
    NOT_COMPARED: "The source of {} has changed since the recording, machine code not compared",
}


@dataclass(frozen=True)
class Code:
    """The digests of one kernel: of its source, and of its instructions for each precision."""

    source: str
    code: Mapping[str, str]


@dataclass(frozen=True)
class Manifest:
    """Digests of the kernels as they stood when they were last compiled.

    kernels: by the step's name, or by the label of a variant. nvcc: "13.0.88". date: of the last
    compilation, "2026-11-22". flags: nvcc's options.
    """

    nvcc: str
    date: str
    kernels: Mapping[str, Code]
    flags: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The file's content."""
        kernels = {n: {"source": k.source, "code": dict(k.code)} for n, k in self.kernels.items()}
        return {
            "nvcc": self.nvcc,
            "target": TARGET,
            "flags": list(self.flags),
            "date": self.date,
            "kernels": kernels,
        }


def manifest_path() -> Path:
    """Where the manifest lies."""
    return measurements_folder() / "machine_code" / f"sm_{TARGET}.json"


def load_manifest(path: Path | None = None) -> Manifest:
    """The manifest. Raises MeasurementError if it is missing or not whole."""
    path = path or manifest_path()
    again = "`python -m tools.machine_code` writes it, with nvcc"
    data = load_json(path, again)
    try:
        kernels = {n: Code(one["source"], one["code"]) for n, one in data["kernels"].items()}
        return Manifest(data["nvcc"], data["date"], kernels, tuple(data.get("flags", ())))
    except (TypeError, KeyError, AttributeError) as error:
        raise MeasurementError(f"{path.name}: damaged ({error!r}); {again}") from None


def save_manifest(manifest: Manifest, path: Path | None = None) -> Path:
    """Write the manifest, in one step."""
    return write_whole(path or manifest_path(), json_text(manifest.to_dict()))


def name_of(step: Program) -> str:
    """What a kernel is called in the manifest and in recordings: its label, or the step's name."""
    return step.source.label or step.name


def staleness(
    step: Program,
    recorded_source: str,
    recorded_code: Mapping[str, str],
    manifest: Manifest | None = None,
) -> str:
    """Whether figures that were recorded with these digests hold for a kernel as it stands now.

    "current": the source is the one that was recorded. "same machine code": it is another one that
    compiles to the same instructions, in each recorded precision, so the figures hold. "machine
    code changed": it does not, and they are old. "not compared": the source is another one, and its
    machine code, or the recorded one, is not known. manifest: if not given, the recorded one; where
    it is missing, nothing is known of machine code.
    """
    present, name = source_digest(step.source.path), name_of(step)
    if present == recorded_source:
        return CURRENT
    if (manifest := manifest or _manifest()) is None:
        return NOT_COMPARED
    known = manifest.kernels.get(name)
    if known is None or known.source != present or not recorded_code:
        return NOT_COMPARED
    if not set(recorded_code) <= set(known.code):
        return NOT_COMPARED
    same = all(known.code[types] == code for types, code in recorded_code.items())
    return SAME if same else CHANGED


def holds(step: Program, recorded_source: str, recorded_code: Mapping[str, str]) -> bool:
    """Whether figures recorded with these digests are those of the kernel as it stands now."""
    return staleness(step, recorded_source, recorded_code) in (CURRENT, SAME)


def _manifest() -> Manifest | None:
    path = manifest_path()
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        return None
    return _read(path, stamp)


@lru_cache(maxsize=4)
def _read(path: Path, _stamp: int) -> Manifest | None:
    """`_stamp` is there for the cache: a file that was written anew is read anew."""
    try:
        return load_manifest(path)
    except MeasurementError:
        return None
