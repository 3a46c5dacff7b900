"""The recorded run: where it lies, how it is read, written and named.

A file `book/measurements/<gpu>.json` holds Part I's steps, `<gpu>_hgemm.json` Part II's and
`<gpu>_tma.json` Part III's: families of steps are recorded apart. Each has a schema number and
sections, each with the environment it was made in, because sections may be recorded on different
days:

- benchmark, experiments, subtiles, power, shapes, layouts: what `BenchResult.to_dict` gives, and
  digests of the sources; benchmark may also have steps of an earlier family, to compare with in one
  run; shapes has the steps that take any shape, at awkward ones; layouts those that take A or
  B transposed, in each of their layouts; subtiles also has what ptxas said of each variant;
- graphs: the family's steps at small sizes, launches captured in CUDA graphs; peers: the last steps
  beside other people's kernels in the same runs, by mode, with the commits of what those were built
  from (`make peers`). Both have the form of benchmark, and are in no ladder of the book;
- tuning: every configuration of the steps that have several, as `TuningTrial.to_dict` gives them;
- traces: when the warpgroups of a block do what, by `clock64`, as measurements/traces.py reads it;
- pitfalls: one product timed in several ways;
- faults: what mistakes with the copy engine did, how fast those are that did none, and for how long
  mbarrier.try_wait waits;
- probes, tensor_cores: ceilings of the GPU; resources: registers, spills and shared memory per
  kernel;
- counters, traffic, limits, arbitration: ncu's counters per kernel at one size, or why there are
  none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.arguments import choice, file_path, text
from ..core.errors import MeasurementError
from ..core.files import json_text, load_json, write_whole
from ..core.paths import measurements_folder, root_without
from ..steps import registry
from ..steps.program import Program
from ..steps.spec import FAMILIES
from ..steps.text import source_digest
from .rows import OTHER_PRECISION, BenchResult
from .staleness import CURRENT, SAME, holds, staleness
from .trials import TuningTrial

SCHEMA = 2
# GPUs that the book shows beside its own. Unless they are asked for, they come after all others.
BESIDE = ("NVIDIA H100 80GB HBM3",)
# Schema 1 has the SM clock that was read behind a launch: rows.py leaves it out and says so.
_READABLE = (1, SCHEMA)
SECTIONS = (
    "benchmark",
    "experiments",
    "subtiles",
    "power",
    "shapes",
    "layouts",
    "graphs",
    "peers",
    "tuning",
    "traces",
    "pitfalls",
    "probes",
    "tensor_cores",
    "faults",
    "resources",
    "counters",
    "traffic",
    "limits",
    "arbitration",
)
_TIMED = ("benchmark", "power", "experiments", "subtiles", "shapes", "layouts", "graphs", "peers")
_APART = ("layouts", "graphs", "peers")  # the same kernels again, in other ways
# Of lists in a section: what an entry is called, and its keys.
_KEYS = {
    ("pitfalls", "ways"): ("a way", {"way", "size", "time_us", "power_w"}),
    ("faults", "outcomes"): ("an outcome", {"fault", "runs", "wrong", "share", "end"}),
}
_Pairs = Mapping[str, Any] | Iterable[tuple[str, Any]]


class _Recorded(dict[str, Any]):
    """A table of a section: what it lacks is a MeasurementError that says how to record it.

    It can be made of (key, value) pairs alone, because `dataclasses.asdict` copies it so.
    """

    def __init__(self, data: _Pairs, section: str = "", family: str = FAMILIES[0]):
        super().__init__(
            {
                key: _Recorded(value, section, family) if isinstance(value, dict) else value
                for key, value in dict(data).items()
            }
        )
        self._section, self._family = section, family

    def __missing__(self, key: str) -> Any:
        raise MeasurementError(
            f"{self._section}: {key} is not in the recording; "
            f"`{_command(self._family, self._section)}` on a GPU adds it"
        )


@dataclass(frozen=True)
class Measurements:
    """One recorded file.

    gpu: its name. sections: name -> data; one that was never recorded is missing. family: the steps
    that were recorded, "sgemm", "hgemm", "tma" or "wgmma".
    """

    gpu: str
    sections: dict[str, Any]
    family: str = FAMILIES[0]

    @property
    def environment(self) -> dict[str, Any]:
        """The environment of the benchmark, or of whatever section there is."""
        for name in SECTIONS:
            if name in self.sections:
                return dict(self.sections[name]["environment"])
        return {}

    def section(self, name: str) -> dict[str, Any]:
        """A section's data. Raises MeasurementError if it was not recorded or was left out."""
        data = self.sections.get(name)
        if data is None:
            raise MeasurementError(
                f"{name}: not recorded for {self.gpu}; `{_command(self.family, name)}` on that "
                "GPU adds it"
            )
        if reason := data.get("omitted"):
            raise MeasurementError(f"{name}: could not be recorded for {self.gpu}: {reason}")
        return _Recorded(data, name, self.family)

    def bench(self, experiments: bool = False) -> BenchResult:
        """All recorded timings of the steps and of the baselines of their precision, at cubes.

        experiments: also those that no ladder shows: of the chapters' variants, at awkward shapes,
        of configurations, and cuBLAS with TF32.
        """
        self.section("benchmark")  # must be there
        found = self.timings()
        usual = [name for name in found if name in ("benchmark", "power")]
        kept = [name for name in found if name not in _APART] if experiments else usual
        rows = tuple(
            row
            for name in kept
            for row in found[name].rows
            if experiments or row.kernel not in OTHER_PRECISION
        )
        first = found["benchmark"]
        return BenchResult(rows, "recorded", first.environment, first.conditions)

    def timings(self) -> dict[str, BenchResult]:
        """The sections that have rows, benchmark first, each in its own environment."""
        found = {
            name: BenchResult.from_dict(self.section(name))
            for name in _TIMED
            if name in self.sections
        }
        if "tuning" in self.sections:
            rows = tuple(trial.row for trial in self.trials() if trial.row)
            environment = self.section("tuning")["environment"]
            found["tuning"] = BenchResult(rows, "recorded", environment)
        return found

    def trials(self) -> tuple[TuningTrial, ...]:
        """Everything that tuning measured.

        A trial of a step whose machine code is that of today has the digest of today's source.
        Raises MeasurementError if it was not recorded.
        """
        data = self.section("tuning")
        code = data.get("machine_code", {})
        present: dict[tuple[str, str], str] = {}

        def source_of(name: str, recorded: str) -> str:
            if (name, recorded) not in present and name in registry.names():
                step = Program(registry.get(name))
                same = holds(step, recorded, code.get(name, {}))
                present[name, recorded] = source_digest(step.source.path) if same else recorded
            return present.get((name, recorded), recorded)

        trials = map(TuningTrial.from_dict, data["trials"])
        return tuple(
            replace(trial, source=source_of(trial.kernel, trial.source)) for trial in trials
        )

    def digests(self, section: str) -> dict[str, tuple[str, Mapping[str, str]]]:
        """Kernel -> what a section says of its source, and of its machine code by precision.

        section: one of SECTIONS. Raises MeasurementError if it is missing.
        """
        data = self.section(section)
        sources = data.get("sources", {})
        if section == "tuning":
            sources = {trial["kernel"]: trial["source"] for trial in data["trials"]}
        code = data.get("machine_code", {})
        return {name: (source, code.get(name, {})) for name, source in sources.items()}

    def to_dict(self) -> dict[str, Any]:
        """The file's content."""
        return {"schema": SCHEMA, "gpu": self.gpu, **self.sections}


def paths(family: str | None = None) -> list[Path]:
    """All recorded files, by name, or those of one family of steps."""
    found = sorted(measurements_folder().glob("*.json"))
    return [path for path in found if family in (None, _family_of(path))]


def _family_of(path: Path) -> str:
    return next((name for name in FAMILIES[1:] if path.stem.endswith(f"_{name}")), FAMILIES[0])


def _command(family: str, section: str = "") -> str:
    """How a recording, or a section of one, is made."""
    if section == "peers":
        return "make peers"
    options = f" --family {family}" * (family != FAMILIES[0]) + f" --only {section}" * bool(section)
    return f"python -m gemmlab record{options}"


def file_of(gpu: str, family: str = FAMILIES[0]) -> Path:
    """The file of a GPU's recording of one family of steps.

    gpu: its name, "NVIDIA H200". family: "sgemm", "hgemm", "tma" or "wgmma".
    """
    suffix = "" if family == FAMILIES[0] else f"_{family}"
    return measurements_folder() / f"{slug(gpu)}{suffix}.json"


def slug(gpu: str) -> str:
    """File name of a GPU's recording: "NVIDIA H200" -> "h200".

    gpu: its name, as the driver gives it.
    """
    words = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    return words.removeprefix("nvidia-").removeprefix("geforce-") or "gpu"


def load(
    path: str | Path | None = None, family: str = FAMILIES[0], gpu: str | None = None
) -> Measurements:
    """Read a recorded file; without a path, the newest one of a family of steps.

    path: a file as `save` writes it. family: "sgemm", "hgemm", "tma" or "wgmma". gpu: whose
    recording, by its name or a part of it, "H200"; None: that of $GEMMLAB_GPU, or the newest, which
    is your own if you have recorded one (those of BESIDE are left for who asks for them).
    Raises ArgumentError for another family, MeasurementError if the file is missing, not JSON, cut
    short, or of another schema, or if there is none of that GPU.
    """
    choice("family", family, FAMILIES)
    gpu = text("gpu", gpu) if gpu is not None else os.environ.get("GEMMLAB_GPU")
    if path is None:
        return _of_gpu(gpu, family) if gpu else _newest(family)
    path = file_path("path", path)
    again = "run `python -m gemmlab record` on a GPU, or restore the file from version control"
    data = load_json(path, again)
    if not isinstance(data, dict) or data.get("schema") not in _READABLE:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise MeasurementError(
            f"{path.name}: has schema {found!r}, expected {SCHEMA} or an older one that can be "
            f"read; {again}"
        )
    sections = {name: data[name] for name in SECTIONS if name in data}
    try:
        _validate(data.get("gpu"), sections)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise MeasurementError(f"{path.name}: corrupt ({error!r}); {again}") from None
    return Measurements(data["gpu"], sections, _family_of(path))


def save(measurements: Measurements, path: str | Path | None = None) -> Path:
    """Write a recorded file, whole or not at all: a reader never sees a part of it.

    measurements: what it holds. path: where; None: its place in book/measurements/. Raises
    WriteError if it cannot be written; the old file is then still there.
    """
    path = Path(path) if path else file_of(measurements.gpu, measurements.family)
    return write_whole(path, json_text(measurements.to_dict()))


def sections(
    families: Iterable[str], name: str, gpu: str | None = None
) -> dict[str, dict[str, Any]]:
    """A section of the newest recording of each family.

    families: such as ["sgemm", "tma"]. name: one of SECTIONS. gpu: as for `load`. Raises
    MeasurementError if one has none, ArgumentError for other names.
    """
    found = dict.fromkeys(families)
    return {family: load(family=family, gpu=gpu).section(name) for family in found}


def gpus(family: str = FAMILIES[0]) -> tuple[str, ...]:
    """The GPUs that have a readable recording, the one that is shown by default first.

    family: "sgemm", "hgemm", "tma" or "wgmma". Raises ArgumentError for another one,
    MeasurementError if there is none.
    """
    choice("family", family, FAMILIES)
    return tuple(dict.fromkeys(one.gpu for one in _readable(family)))


def recorded(path: str | Path | None = None) -> BenchResult:
    """The recorded benchmark.

    path: a recorded file; None: the newest of "sgemm". Raises MeasurementError if there is none,
    ArgumentError for anything but a path.
    """
    return load(path).bench()


def stale(measurements: Measurements, section: str = "benchmark") -> dict[str, str]:
    """Kernels whose recorded figures may be out of date, and what `staleness` says of them.

    measurements: a recorded file. section: one of SECTIONS. Raises MeasurementError if it is
    missing.
    """
    digests = measurements.digests(section)
    states = {
        spec.name: staleness(Program(spec), *digests[spec.name])
        for spec in registry.KERNELS
        if spec.name in digests
    }
    return {name: state for name, state in states.items() if state not in (CURRENT, SAME)}


def _newest(family: str) -> Measurements:
    return _readable(family)[0]


def _of_gpu(gpu: str, family: str) -> Measurements:
    """The recording of a GPU whose name is, or else contains, what was asked for."""
    wanted = slug(gpu)
    if file_of(gpu, family).exists():
        return load(file_of(gpu, family))  # raises what is wrong with it
    there = _readable(family)
    if not (found := [one for one in there if wanted in slug(one.gpu)]):
        names = ", ".join(dict.fromkeys(one.gpu for one in there))
        raise MeasurementError(
            f"gpu: there is no recording of {family} on {gpu!r}, only on {names}; "
            f"`{_command(family)}` on that GPU makes one"
        )
    return found[0]


def _readable(family: str) -> list[Measurements]:
    """The recordings that are whole, the newest first, and behind them those of BESIDE.

    Raises MeasurementError if there is none.
    """
    found = paths(family)
    if not found:
        folder = "book/measurements"
        no_folder = "" if measurements_folder().is_dir() else f": {root_without(folder)}"
        raise MeasurementError(
            f"{folder}: holds no recorded run of {family}; `{_command(family)}` on a machine with "
            f"a GPU and nvcc writes one{no_folder}"
        )
    loaded, broken = [], []
    for path in found:
        try:
            loaded.append(load(path))
        except MeasurementError as error:  # another GPU's file may be whole
            broken.append(error)
    if not loaded:
        raise broken[0]
    return sorted(
        loaded,
        key=lambda m: (m.gpu not in BESIDE, str(m.environment.get("date") or "")),
        reverse=True,
    )


def _validate(gpu: object, sections: dict[str, Any]) -> None:
    if not isinstance(gpu, str):
        raise TypeError("gpu is not a name")
    for name, data in sections.items():
        if not isinstance(data["environment"], dict):
            raise TypeError(f"{name}: environment is not a table")
    for name in set(_TIMED) & set(sections):
        if not BenchResult.from_dict(sections[name]).rows:
            raise TypeError(f"{name}: has no rows")
    for trial in sections["tuning"]["trials"] if "tuning" in sections else ():
        TuningTrial.from_dict(trial)
    for (section, part), (what, keys) in _KEYS.items():
        for entry in sections.get(section, {}).get(part, ()):
            if set(entry) != keys:
                raise TypeError(f"{section}: {what} is not complete")
