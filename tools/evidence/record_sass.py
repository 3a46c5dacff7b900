"""Count the main loops of steps in machine code.

    python -m tools.evidence.record_sass

Needs nvcc and cuobjdump, no GPU. Writes book/measurements/sass/sm_90a.json.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence

from gemmlab.core.files import write_whole
from gemmlab.core.paths import measurements_folder
from gemmlab.experiments import variants as experiments
from gemmlab.gpu import machine_code, sass
from gemmlab.gpu.sass import Instruction
from gemmlab.measurements.staleness import name_of
from gemmlab.run.kernel import Kernel, kernel

from .. import command

STEPS = (
    *("sgemm_08_double_buffer", "sgemm_15_large_thread_tile", "sgemm_16_packed_a"),
    *("sgemm_17_pipeline", "sgemm_18_block_order", "sgemm_19_stream_k"),
)
OF_STEPS = ("17, ", "19, ")  # experiments that are counted
_BEFORE, _AFTER = 6, 3  # instructions of an excerpt around its load


def excerpt(loop: Sequence[Instruction]) -> list[tuple]:
    """The instructions around the middle load of a fragment, with stalls and reads."""
    loads = [i for i, one in enumerate(loop) if one.name == "LDS.128"]
    at = loads[len(loads) // 2]
    counted = list(sass.reads(loop))
    return [
        (re.sub(r"\s+", " ", loop[i].text), loop[i].stall, *(counted[i] or ("", "")))
        for i in range(max(0, at - _BEFORE), at + _AFTER)
    ]


def counts(handle: Kernel) -> dict:
    """What `sass.table` shows of a step."""
    loop = sass.main_loop(sass.instructions(sass.listing_of(handle), "6kernelE"))
    name, types = name_of(handle), handle.spec.precisions[:1]
    stamped = machine_code.stamp([(handle, types)])
    return {
        "source": stamped["sources"][name],
        "machine_code": stamped["machine_code"][name],
        "instructions": len(loop),
        "ffma": sum(one.name == "FFMA" for one in loop),
        "shared_loads": sum(one.name == "LDS.128" for one in loop),
        "stalls": sum(one.stall for one in loop),
        "conflicts": sass.conflicts(loop),
        "excerpt": excerpt(loop),
    }


def main() -> None:
    """Count all of them and write the file."""
    parser = command.parser("evidence.record_sass", __doc__)
    parser.parse_args()
    labels = [name for name in experiments.EXPERIMENTS if name.startswith(OF_STEPS)]
    handles = [*map(kernel, STEPS), *map(experiments.experiment, labels)]
    loops = {handle.source.label or handle.name: counts(handle) for handle in handles}
    data = {
        "nvcc": machine_code.version(),
        "date": datetime.date.today().isoformat(),
        "loops": loops,
    }
    path = measurements_folder() / "sass" / "sm_90a.json"
    print(write_whole(path, json.dumps(data, indent=1) + "\n"))


if __name__ == "__main__":
    command.run(main)
