"""What is recorded of each step, where it was measured, and whether its figures still hold."""

from __future__ import annotations

from dataclasses import dataclass

from .. import measurements
from ..core.errors import MeasurementError
from ..display.table import Table
from ..measurements.staleness import load_manifest, staleness
from ..steps import registry
from ..steps.program import Program
from ..steps.spec import FAMILIES

STATES = (
    "current: measured with this source. same machine code: the source is another one and compiles "
    "to the same instructions, so the figures hold. machine code changed: they are those of older "
    "instructions. not compared: the source has changed and was not compiled since."
)


@dataclass(frozen=True)
class Recorded:
    """Sections of one recording that have figures of a kernel.

    file: of the recording, "h200_hgemm". commit and date: where and when it was measured. state:
    one of the four words of `measurements.staleness`.
    """

    kernel: str
    file: str
    sections: tuple[str, ...]
    commit: str
    date: str
    state: str


def recordings() -> tuple[Recorded, ...]:
    """All that is recorded of the steps, in their order. A step without figures is left out."""
    manifest = load_manifest()
    files = [(path.stem, measurements.load(path)) for path in measurements.paths()]
    found = []
    for spec in registry.KERNELS:
        grouped: dict[tuple, list[str]] = {}
        for stem, loaded in files:
            for section, data in loaded.sections.items():
                digests = loaded.digests(section).get(spec.name)
                if digests is None:
                    continue
                origin = data["environment"]
                state = staleness(Program(spec), *digests, manifest)
                key = (stem, origin.get("commit") or "", str(origin.get("date"))[:10], state)
                grouped.setdefault(key, []).append(section)
        for (stem, commit, date, state), sections in grouped.items():
            found.append(Recorded(spec.name, stem, tuple(sections), commit, date, state))
    return tuple(found)


def recorded() -> Table:
    """The steps, what is recorded of them, at which commit, and whether it holds today.

    Raises MeasurementError where a recording or the digests of machine code are damaged.
    """
    known = recordings()
    rows = [
        (one.kernel, one.file, ", ".join(one.sections), one.commit, one.date, one.state)
        for one in known
    ]
    names = {one.kernel for one in known}
    missing = [spec.name for spec in registry.KERNELS if spec.name not in names]
    rows += [(name, "-", "nothing", "-", "-", "not recorded") for name in missing]
    nvcc = load_manifest().nvcc
    head = ("step", "recording", "sections", "commit", "date", "today")
    return Table(head, tuple(rows), "ttwttt", (STATES, f"Compared with nvcc {nvcc}, sm_90a."))


def benchmark_states() -> dict[str, str]:
    """For each step whether its benchmark still holds, in one of the four words of `staleness`.

    "not recorded" for a step without one, and where no recording can be read.
    """
    states = dict.fromkeys(registry.names(), "not recorded")
    for family in FAMILIES:
        try:
            loaded, manifest = measurements.load(family=family), load_manifest()
        except MeasurementError:
            continue
        for name, digests in loaded.digests("benchmark").items():
            if registry.get(name).family == family:
                states[name] = staleness(registry.program(name), *digests, manifest)
    return states
