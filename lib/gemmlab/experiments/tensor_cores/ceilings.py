"""What the tensor cores can do at most, as `probes.py` measured it: live or recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from ... import measurements
from ...core import arguments
from ...core.cache import DIGITS, Store
from ...core.errors import ArgumentError
from ...core.files import json_text, load_json
from ...display.numbers import show, show_rate, show_share
from ...display.table import Shown, Table
from ...gpu.telemetry import environment
from ...measurements.store import Measurements
from ...run.backend import default_backend
from .probes import PROBES, PROTOCOL, Row, built, measure

SECTION, FAMILY = "tensor_cores", "hgemm"  # where it is recorded
KEPT = Store("ceilings")


@dataclass(frozen=True, repr=False)
class TensorCores(Shown):
    """All probes on one GPU; `source` is "live" or "recorded"; left_out: what and why."""

    rows: tuple[Row, ...]
    source: str
    environment: dict
    left_out: str = ""

    def row(self, probe: str, load: str = "burst") -> Row:
        """The row of a probe. Raises ArgumentError, naming those there are."""
        for row in self.rows:
            if (row.probe, row.load) == (probe, load):
                return row
        known = "; ".join(f"{row.probe} ({row.load})" for row in self.rows)
        raise ArgumentError(f"probe: there is no {probe!r} ({load}), only {known}")

    def share_of_wgmma(self, row: Row) -> float | None:
        """A row's TFLOP/s as a share of wgmma's under the same load, if that was measured."""
        for other in self.rows:
            if other.probe.startswith("wgmma") and other.load == row.load:
                return row.tflops / other.tflops
        return None

    def shown(self) -> Table:
        """A row for each probe under each load."""
        head = ("probe", "load", "FLOP/clk/SM", "shared memory allows", "TFLOP/s", "of wgmma")
        rows = [
            (
                row.probe,
                row.load,
                f"{row.flop_per_clk_sm:,.0f}",
                show(row.allowed, "{:,.0f}"),
                show_rate(row.tflops),
                show_share(self.share_of_wgmma(row)),
                show(row.clock_mhz, "{:.0f} MHz"),
                show(row.power_w, "{:.0f} W"),
            )
            for row in self.rows
        ]
        return Table((*head, "SM clock", "power"), rows, "ttnnnnnn", self._notes())

    def _notes(self) -> list[str]:
        lines = [
            "fp32 accumulators, normal random operands. FLOP/clk/SM: by the SMs' own cycle "
            f"counters. Burst: {PROTOCOL.burst_launches} launches after a rest; sustained: "
            f"{PROTOCOL.sustained_s:.0f} s back to back, the last third. SM clock: by the same "
            "counters and the GPU's timer, in a launch behind these. Shared memory allows: at 128 "
            "bytes a clock.",
            measurements.made_on(self.environment, self.source),
        ]
        return lines + ([f"{self.left_out}."] if self.left_out else [])


def tensor_cores(again: bool = False) -> TensorCores:
    """The ceilings of the tensor cores: measured on a GPU (10 s), else the recorded ones.

    They are measured once for a GPU, driver, CUDA and protocol, and kept in GEMMLAB_CACHE, since
    several chapters ask for them. again: measure although that was done.
    Raises MeasurementError without a GPU and without a recording, BackendError before sm_80.
    """
    arguments.flag("again", again)
    if default_backend() != "gpu":
        return recorded()
    name = _kept_as(environment())
    if again:
        KEPT.remove(name)
    now = []

    def make(folder: Path) -> None:
        now.append({**measure(), "environment": environment()})
        (folder / f"{name}.json").write_text(json_text(now[0]), encoding="utf-8")

    (file,) = KEPT.get(name, (".json",), make)
    data = load_json(file, "`lab.experiments.tensor_cores(again=True)` measures it")
    return _from_section(data, "live" if now else "recorded")


def _kept_as(environment: dict) -> str:
    """What a measurement is called: that of these probes, by this protocol, on this machine."""
    machine = [str(environment[key]) for key in ("gpu", "driver", "cuda")]
    key = repr((built(), PROBES, PROTOCOL, machine))
    return f"tensor_cores-{sha256(key.encode()).hexdigest()[:DIGITS]}"


def recorded(loaded: Measurements | None = None) -> TensorCores:
    """The recorded ceilings, of the newest recording if none is given."""
    loaded = loaded or measurements.load(family=FAMILY)
    return _from_section(loaded.section(SECTION), "recorded")


def _from_section(data: dict, source: str) -> TensorCores:
    rows = tuple(Row(**row) for row in data["rows"])
    notes = [data["left_out"]] if "left_out" in data else []
    if "clock" not in data:
        rows = tuple(replace(row, clock_mhz=None) for row in rows)
        notes.append("No SM clock: recorded when it was still read behind a launch")
    return TensorCores(rows, source, dict(data["environment"]), ". ".join(notes))
