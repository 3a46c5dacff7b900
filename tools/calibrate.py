"""Fit `lab.estimate` to the recorded steps: book/measurements/estimate/calibration.json.

    python -m tools.calibrate

Run it after a new recording, or after a change of a step or of the simulator's counts; it traces
every step without configurations (about a minute) and needs no GPU. Registers come from the
recording.
"""

from __future__ import annotations

from gemmlab import measurements
from gemmlab.bench.estimate import calibration
from gemmlab.bench.estimate.features import work_of
from gemmlab.core.files import json_text, write_whole
from gemmlab.run.kernel import kernel
from gemmlab.steps import registry

from . import command


def recorded_registers(name: str) -> int | None:
    """Registers of a thread of a step, as its family's recording has them; None if it has none."""
    recorded = measurements.load(family=registry.get(name).family).sections
    found = recorded.get("resources", {}).get("kernels", {}).get(name)
    return found and int(found["registers"])


def main() -> int:
    """Trace, fit, write, and show the errors."""
    timed = dict.fromkeys(name for name, _ in calibration.measured())
    registers = {name: known for name in timed if (known := recorded_registers(name))}
    works = {name: work_of(kernel(name), count) for name, count in registers.items()}
    found = calibration.calibrate(works)
    target = calibration.path()
    target.parent.mkdir(exist_ok=True)
    write_whole(target, json_text(calibration.to_json(found)))
    print(found)
    return 0


if __name__ == "__main__":
    command.run(main)
