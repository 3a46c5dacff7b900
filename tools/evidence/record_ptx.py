"""Keep the PTX that chapters show, for where no nvcc is.

    python -m tools.evidence.record_ptx

Needs nvcc, no GPU. Writes book/measurements/ptx/sm_90a.json.
"""

from __future__ import annotations

import datetime
import json

from gemmlab.core.files import write_whole
from gemmlab.gpu.ptx import compiled, recording
from gemmlab.run.kernel import variant
from gemmlab.steps.text import source_digest

from .. import command

# Shown as -> step, and what is replaced in its text.
KERNELS: dict[str, tuple[str, dict[str, str]]] = {
    "tma_01_load": ("tma_01_load", {}),
    "tma_01_load with maps by value": ("tma_01_load", {"__grid_constant__ ": ""}),
}


def main() -> None:
    """Compile all of them and write the file."""
    parser = command.parser("evidence.record_ptx", __doc__)
    parser.parse_args()
    kernels = {}
    for name, (step, changes) in KERNELS.items():
        handle = variant(step, changes)
        digest = source_digest(handle.source.path)
        lines = compiled(handle)
        kernels[name] = {"step": step, "changes": changes, "source": digest, "ptx": lines}
    data = {"date": datetime.date.today().isoformat(), "kernels": kernels}
    text = json.dumps(data, indent=0, ensure_ascii=False)
    print(write_whole(recording(), text + "\n"))


if __name__ == "__main__":
    command.run(main)
