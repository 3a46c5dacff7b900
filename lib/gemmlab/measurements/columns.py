"""One number of a recording, by the name of its row, its size and its column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .rows import BenchRow
from .store import Measurements

# Where a row is looked for, in this order.
_BY_MODE = {"burst": ("power", "peers"), "sustained": ("power", "peers"), "graph": ("graphs",)}
_TIMED = (
    *("benchmark", "shapes", "experiments", "subtiles", "layouts", "tuning"),
    *("power", "graphs", "peers"),
)
_ASKED = ("power", "graphs", "peers")  # only where their mode, or they themselves, are asked for
_COUNTED = ("limits", "traffic", "counters", "arbitration", "resources")
# Of sections that are lists: section -> the list, and what a row is called.
_LISTS = {
    "tensor_cores": ("rows", "probe"),
    "pitfalls": ("ways", "way"),
    "faults": ("outcomes", "fault"),
}
_THOUSAND = 1000.0


@dataclass(frozen=True)
class Found:
    """A number, and the environment and the family of its recording."""

    value: float
    environment: dict[str, Any]
    family: str


@dataclass(frozen=True)
class Columns:
    """The rows of one recorded file, each as its columns."""

    run: Measurements

    def find(self, name: str, size: str, what: str, options: Mapping[str, str]) -> Found | None:
        """The number that a column has in the first row of that name; None if there is none.

        size: as `BenchRow.size`, or "-". options: section, mode, precision, layout, config, load.
        """
        for section in self._sections(options):
            for row in self._rows(section, name, size, options):
                value = row.get(what)
                if isinstance(value, int | float) and not isinstance(value, bool):
                    environment = self.run.sections[section]["environment"]
                    return Found(float(value), environment, self.run.family)
        return None

    def columns(self, name: str, size: str, options: Mapping[str, str]) -> list[str]:
        """What there is of rows of that name and size."""
        found: dict[str, None] = {}
        for section in self._sections(options):
            for row in self._rows(section, name, size, options):
                found |= dict.fromkeys(k for k, v in row.items() if isinstance(v, int | float))
        return list(found)

    def sizes(self, name: str) -> list[str]:
        """The sizes at which there are timed rows of that name."""
        rows = (row for rows in self._timed.values() for row in rows)
        return list(dict.fromkeys(row.size for row in rows if row.kernel == name))

    @cached_property
    def _timed(self) -> dict[str, tuple[BenchRow, ...]]:
        found = self.run.timings()
        return {name: found[name].rows for name in _TIMED if name in found}

    def _sections(self, options: Mapping[str, str]) -> list[str]:
        asked = options.get("section")
        wanted = (asked,) if asked else _BY_MODE.get(options.get("mode", ""), ())
        timed = [name for name in _TIMED if name not in _ASKED]
        known = (*timed, *_COUNTED, *_LISTS, "probes")
        return [name for name in wanted or known if name in self.run.sections]

    def _rows(
        self, section: str, name: str, size: str, options: Mapping[str, str]
    ) -> Iterator[dict[str, Any]]:
        if section in _TIMED:
            yield from map(_columns, _chosen(self._timed[section], name, size, options))
            return
        data = self.run.sections[section]
        if section in _COUNTED:
            if name in data["kernels"] and size in ("-", str(data.get("size", "-"))):
                yield data["kernels"][name]
        elif section in _LISTS:
            rows, label = _LISTS[section]
            found = [row for row in data[rows] if row[label] == name]
            for row in found:
                if _asked(row, size, options):
                    yield _converted(row, data["environment"])
        elif name == section and size == "-":
            yield data


def _chosen(
    rows: tuple[BenchRow, ...], name: str, size: str, options: Mapping[str, str]
) -> list[BenchRow]:
    """The rows of that name and size, in the first precision and layout unless one is asked for."""
    config = options.get("config")
    found = [row for row in rows if row.kernel in (name, f"{name} [{config}]")]
    found = [row for row in found if row.size == size and config in (None, row.config)]
    for option in ("precision", "layout", "mode"):
        if found:
            wanted = options.get(option, getattr(found[0], option))
            found = [row for row in found if getattr(row, option) == wanted]
    return found


def _asked(row: Mapping[str, Any], size: str, options: Mapping[str, str]) -> bool:
    load = row.get("load")
    return size in ("-", str(row.get("size", "-"))) and load in (None, options.get("load", "burst"))


def _columns(row: BenchRow) -> dict[str, Any]:
    """What prose says of a timed row."""
    low, high = row.spread
    return {
        "tflops": row.tflops,
        "ratio": row.ratio,
        "percent": None if row.ratio is None else 100 * row.ratio,
        "time_us": row.time_us,
        "time_ms": row.time_us / _THOUSAND,
        "fastest_us": low,
        "slowest_us": high,
        "fastest_ms": low / _THOUSAND,
        "slowest_ms": high / _THOUSAND,
        "clock_mhz": row.clock_mhz,
        "clock_ghz": row.clock_mhz and row.clock_mhz / _THOUSAND,
        "power_w": row.power_w,
        "pj_per_flop": _picojoules(row.power_w, row.tflops),
        "cycles": row.cycles,
        "flop_per_clk_sm": row.flop_per_clk_sm,
    }


def _picojoules(power_w: float | None, tflops: float) -> float | None:
    """Of a floating-point operation: watts over 10^12 operations a second."""
    return None if power_w is None else power_w / tflops


def _converted(row: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a list as prose quotes it: shares in per cent, times also in milliseconds."""
    columns = dict(row)
    if "time_us" in row:
        columns["time_ms"] = row["time_us"] / _THOUSAND
    if "share" in row:
        columns["share"] = 100 * row["share"]
    if "tflops" in row:
        columns["pj_per_flop"] = _picojoules(row.get("power_w"), row["tflops"])
    if "flop_per_clk_sm" in row:  # the clock in the loop, not the one that was read behind it
        per_mhz = row["flop_per_clk_sm"] * environment["sms"]
        columns["clock_mhz"] = row["tflops"] * 1e6 / per_mhz
        columns["clock_ghz"] = columns["clock_mhz"] / _THOUSAND
    return columns
