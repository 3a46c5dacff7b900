"""What tuning has found: the cache of this machine's trials, and what a launch takes from it.

The cache holds for one GPU, driver and CUDA version; a trial in it for one text of the step's code.
Whatever else stands there is passed over, which is said once.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path

from .. import measurements
from ..core.errors import MeasurementError
from ..core.files import locked, write_whole
from ..core.paths import cache_dir
from ..gpu.telemetry import Gpu
from ..measurements.trials import Shape, TuningTrial, choose
from ..steps.program import Program
from ..steps.text import source_digest

SCHEMA = 1


@dataclass(frozen=True)
class Machine:
    """What a trial's times depend on besides the code."""

    gpu: str
    driver: str | None
    cuda: str | None

    def __str__(self) -> str:
        return f"{self.gpu}, driver {self.driver}, CUDA {self.cuda}"


def machine() -> Machine | None:
    """The GPU that torch launches on now, or None."""
    import torch

    return _machine(torch.cuda.current_device()) if torch.cuda.is_available() else None


@cache
def _machine(index: int) -> Machine:
    import torch

    return Machine(torch.cuda.get_device_name(index), Gpu(index).driver(), torch.version.cuda)


def path(here: Machine) -> Path:
    """The cache of this GPU."""
    return cache_dir("tuning") / f"{measurements.slug(here.gpu)}.json"


def load(here: Machine) -> tuple[tuple[TuningTrial, ...], str]:
    """This machine's trials; and if there is a file that is not taken, why."""
    return _read(*_stamped(path(here)), here)


def add(here: Machine, trial: TuningTrial) -> None:
    """Write a trial into the cache, over one of the same step, shape and configuration.

    Trials of other code of the step go.
    """
    file = path(here)
    with locked(file.with_suffix(".lock")):  # two that tune keep each other's trials
        kept = []
        for known in load(here)[0]:
            same = (known.config, known.shape) == (trial.config, trial.shape)
            if known.kernel != trial.kernel or (known.source == trial.source and not same):
                kept.append(known)
        trials = [known.to_dict() for known in (*kept, trial)]
        text = json.dumps({"schema": SCHEMA, **asdict(here), "trials": trials}, allow_nan=False)
        write_whole(file, text + "\n")


def chosen(step: Program, shape: Shape) -> str:
    """The configuration that was best for a step at exactly this shape on this GPU, "" if unknown.

    This machine's cache comes before the recording of a GPU of the same name. GEMMLAB_TUNING=0
    leaves the choice to the step.
    """
    spec = step.spec
    if not spec.configs or os.environ.get("GEMMLAB_TUNING") == "0":
        return ""
    here = machine()
    if here is None:
        return ""
    source = digest(step)
    for trials, why in (load(here), recorded(here, spec.family)):
        mine, other = of_step(trials, step.title, source)
        if why or other:
            _say(f"tuning: {why or other}")
        if best := choose((trial for trial in mine if trial.shape == shape), spec.configs):
            return best.config
    return ""


def of_step(
    trials: Iterable[TuningTrial], title: str, source: str
) -> tuple[tuple[TuningTrial, ...], str]:
    """The trials of a step's present code; and a remark if there are only those of older code."""
    named = [trial for trial in trials if trial.kernel == title]
    mine = tuple(trial for trial in named if trial.source == source)
    changed = f"{title}: its code has changed since it was tuned, and those choices are not taken"
    return mine, changed if named and not mine else ""


def digest(step: Program) -> str:
    """The fingerprint of a step's code, as it was at the first call: it is built only once, too."""
    return _digest(step.source.path)


@cache
def _digest(path: Path) -> str:
    return source_digest(path)


def recorded(here: Machine, family: str) -> tuple[tuple[TuningTrial, ...], str]:
    """The trials of a recording made on a GPU of this name, whatever its driver."""
    file = measurements.file_of(here.gpu, family)
    return _read_recorded(*_stamped(file), here.gpu)


def _stamped(file: Path) -> tuple[Path, tuple[int, int] | None]:
    """A file and what changes when it is written; None if it is not there."""
    try:
        status = file.stat()
    except OSError:
        return file, None
    return file, (status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _read(file: Path, stamp: object, here: Machine) -> tuple[tuple[TuningTrial, ...], str]:
    if stamp is None:
        return (), ""
    again = "it is not taken; the next lab.tune writes it anew"
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            return (), f"{file}: has schema {data['schema']!r}, expected {SCHEMA}; {again}"
        found = Machine(data["gpu"], data["driver"], data["cuda"])
        trials = tuple(TuningTrial.from_dict(trial) for trial in data["trials"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return (), f"{file}: is damaged ({error!r}); {again}"
    if found != here:
        return (), f"{file}: was measured with {found}, and here is {here}; {again}"
    return trials, ""


@lru_cache(maxsize=8)
def _read_recorded(file: Path, stamp: object, gpu: str) -> tuple[tuple[TuningTrial, ...], str]:
    if stamp is None:
        return (), ""
    try:
        loaded = measurements.load(file)
    except MeasurementError as error:
        return (), str(error)
    if loaded.gpu != gpu or "tuning" not in loaded.sections:
        return (), ""
    return loaded.trials(), ""


@cache
def _say(text: str) -> None:
    warnings.warn(text, stacklevel=2)
