"""Ask a GPU which lane has which element of WMMA's fragments.

    python -m tools.evidence.record_wmma

writes book/measurements/fragments/wmma_<gpu>.json, which tests/unit/layouts/test_fragments.py
compares with `layouts.FRAGMENTS`, and prints what differs. Needs a GPU and nvcc; half a minute.
"""

from __future__ import annotations

import json

from gemmlab import measurements
from gemmlab.core.files import write_whole
from gemmlab.evidence import wmma_fragments as fragments
from gemmlab.evidence.wmma_fragments import Measured
from gemmlab.gpu import telemetry

from .. import command


def text_of(found: list[Measured], environment: dict) -> str:
    """The file: a line for each fragment."""
    lines = ",\n".join(json.dumps(one.to_dict(), separators=(",", ":")) for one in found)
    return f'{{"environment": {json.dumps(environment)},\n"fragments": [\n{lines}\n]}}\n'


def main() -> int:
    """Measure all of them and write the file; 1 if any is not as the formula says."""
    parser = command.parser("evidence.record_wmma", __doc__)
    parser.parse_args()
    command.require_gpu()
    found = [fragments.measured_fragment(**kind) for kind in fragments.kinds()]
    if not all(one.origin for one in found):
        print("the simulator answered: this needs a GPU and nvcc, without GEMMLAB_BACKEND=sim")
        return 2
    environment = telemetry.environment()
    path = fragments.recording(measurements.slug(environment["gpu"]))
    print(write_whole(path, text_of(found, environment)))
    other = [one for one in found if not one.agrees]
    for one in other:
        print(f"other than the formula:\n{one!r}\n")
    print(f"{len(found)} fragments, {len(other)} other than the formula")
    return 1 if other else 0


if __name__ == "__main__":
    command.run(main)
