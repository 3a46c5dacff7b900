"""Ask a GPU for the device attributes that the simulator gives to programs.

    python -m tools.evidence.record_device

Writes them into tests/sim/recorded/launches.json, beside the answers of its launches.
"""

from __future__ import annotations

import ctypes
import json
import re
from pathlib import Path

import torch

from gemmlab.core.errors import LaunchError
from gemmlab.core.files import write_whole
from gemmlab.sim.build import INCLUDE

from .. import command

RECORDED = Path(__file__).resolve().parents[2] / "tests/sim/recorded/launches.json"
ATTRIBUTE = re.compile(r"X\((cudaDevAttr\w+), (\d+), \d+\)")


def attributes() -> dict[str, int]:
    """Of this GPU: those that the simulator names in device.h."""
    named = ATTRIBUTE.findall((INCLUDE / "gemmlab_sim" / "device.h").read_text(encoding="utf-8"))
    torch.cuda.init()
    driver, value, found = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), {}
    device = torch.cuda.current_device()
    for name, number in named:  # the driver's numbers are the runtime's
        if error := driver.cuDeviceGetAttribute(ctypes.byref(value), int(number), device):
            raise LaunchError(f"{name}: error {error} of cuDeviceGetAttribute")
        found[name] = value.value
    return found


def main() -> None:
    """The command line."""
    command.parser("evidence.record_device", __doc__).parse_args()
    command.require_gpu()
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    recorded["attributes"] |= attributes()
    write_whole(RECORDED, json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    command.run(main)
