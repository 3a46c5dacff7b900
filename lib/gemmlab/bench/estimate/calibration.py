"""The constants of the estimate, fitted to the recorded steps, and how far off they leave it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from ... import measurements
from ...core.arguments import number
from ...core.errors import MeasurementError
from ...core.files import load_json
from ...core.paths import measurements_folder
from ...display.table import Shown, Table
from ...measurements.provenance import made_on
from ...steps import registry
from .model import Constants, Work, time_us

SIZES = (1024, 2048, 3072, 4096, 5120, 8192)
# Where the fit may look for a clock in GHz and for the rate of L2 in TB/s: what an H200 has.
_BOUNDS = {"clock_fma": (1.85, 1.98), "clock_tensor": (1.6, 1.85), "l2_rate": (4.0, 7.0)}
_CAPPED = 0.6  # of |ln(estimated / measured)|: a step that the model cannot describe pulls no more
_ROUNDS = 12

# Of a step and M = N = K: microseconds.
Times = Mapping[tuple[str, int], float]


def measured() -> dict[tuple[str, int], float]:
    """The recorded median times of the steps without configurations, in their usual types."""
    found: dict[tuple[str, int], float] = {}
    for family in dict.fromkeys(spec.family for spec in registry.KERNELS):
        if not measurements.paths(family):
            continue
        for row in measurements.load(family=family).bench().rows:
            if row.kernel in registry.names() and _usual(row):
                found[row.kernel, row.M] = row.time_us
    return found


def _usual(row: measurements.BenchRow) -> bool:
    spec = registry.get(row.kernel)
    own = row.kernel.startswith(spec.family) and not spec.configs
    how = (row.mode, row.l2, row.precision) == ("interleaved", "cold", spec.precisions[0])
    return own and how and row.M == row.N == row.K and row.M in SIZES


def log_errors(
    constants: Constants, works: Mapping[str, Work], times: Times
) -> dict[tuple[str, int], float]:
    """ln(estimated / measured) of each step and size."""
    return {
        (name, size): math.log(time_us(works[name], (size, size, size), constants) / time)
        for (name, size), time in times.items()
    }


def fit(works: Mapping[str, Work], times: Times, start: Constants | None = None) -> Constants:
    """The constants that make the estimates of these times best: a search along one at a time."""
    best = start or Constants()
    least = _loss(best, works, times)
    step = {field.name: 0.3 for field in fields(Constants)}
    for _ in range(_ROUNDS):
        for name in step:
            for factor in (1 + step[name], 1 / (1 + step[name])):
                low, high = _BOUNDS.get(name, (0.0, math.inf))
                value = min(max(getattr(best, name) * factor, low), high)
                tried = replace(best, **{name: value})
                if (loss := _loss(tried, works, times)) < least:
                    best, least = tried, loss
                    break
            else:
                step[name] /= 1.8
    return best


def _loss(constants: Constants, works: Mapping[str, Work], times: Times) -> float:
    found = log_errors(constants, works, times).values()
    return sum(min(abs(one), _CAPPED) ** 1.5 for one in found) / len(found)


def left_out(works: Mapping[str, Work], times: Times) -> dict[tuple[str, int], float]:
    """`log_errors` of each step under constants that were fitted without it."""
    everything = fit(works, times)
    found: dict[tuple[str, int], float] = {}
    for name in dict.fromkeys(name for name, _ in times):
        others = {key: time for key, time in times.items() if key[0] != name}
        own = {key: time for key, time in times.items() if key[0] == name}
        found |= log_errors(fit(works, others, everything), works, own)
    return found


@dataclass(frozen=True, repr=False)
class Calibration(Shown):
    """What the estimate rests on.

    constants: fitted to all steps. works: what each step asks for. errors: estimated / measured of
    each step and size ("4096"), by constants that were fitted without that step. environment: of
    the recording.
    """

    constants: Constants
    works: dict[str, Work]
    errors: dict[str, dict[str, float]]
    environment: dict[str, Any]

    def within(self, share: float = 0.25) -> float:
        """The share of steps and sizes whose estimate is off by at most this share."""
        share = number("share", share)
        ratios = [ratio for row in self.errors.values() for ratio in row.values()]
        return sum(abs(ratio - 1) <= share for ratio in ratios) / len(ratios)

    def spread(self, share: float = 0.8) -> tuple[float, float]:
        """Measured / estimated: the range that holds this share of the steps, without the tails."""
        share = number("share", share)
        ratios = sorted(1 / ratio for row in self.errors.values() for ratio in row.values())
        cut = int(len(ratios) * (1 - share) / 2)
        return ratios[cut], ratios[-1 - cut]

    def shown(self) -> Table:
        """A row for each step: estimated / measured at each size."""
        sizes = [str(size) for size in SIZES]
        rows = [
            [name, *(f"{row[size]:.2f}" if size in row else "-" for size in sizes)]
            for name, row in self.errors.items()
        ]
        notes = [
            "Estimated time / measured time; the constants were fitted without that step. "
            f"{self.within():.0%} are within 25 %.",
            made_on(self.environment),
        ]
        return Table(["step", *sizes], rows, "t" + "n" * len(sizes), notes)


def path() -> Path:
    """The committed calibration; `python -m tools.calibrate` writes it."""
    return measurements_folder() / "estimate" / "calibration.json"


@cache
def load() -> Calibration:
    """The committed calibration. Raises MeasurementError if it is not there or damaged."""
    data = load_json(path(), "write it again with python -m tools.calibrate")
    try:
        works = {
            name: Work(**{**work, "tile": tuple(work["tile"])})
            for name, work in data["works"].items()
        }
        return Calibration(
            Constants(**data["constants"]), works, data["errors"], data["environment"]
        )
    except (KeyError, TypeError) as error:
        raise MeasurementError(
            f"{path().name}: is no calibration ({error!r}); write it again with "
            "python -m tools.calibrate"
        ) from None


def calibrate(works: Mapping[str, Work]) -> Calibration:
    """Fit the constants to what is recorded of these steps."""
    times = {key: time for key, time in measured().items() if key[0] in works}
    families = sorted({registry.get(name).family for name in works})
    environments = [measurements.load(family=family).environment for family in families]
    off: dict[str, dict[str, float]] = {}
    for (name, size), error in left_out(works, times).items():
        off.setdefault(name, {})[str(size)] = round(math.exp(error), 4)
    return Calibration(fit(works, times), dict(works), off, environments[0])


def to_json(found: Calibration) -> dict[str, Any]:
    """Plain data for the file."""
    return {
        "environment": found.environment,
        "constants": asdict(found.constants),
        "errors": found.errors,
        "works": {name: asdict(work) for name, work in found.works.items()},
    }
