"""A process that works until it is killed: it builds, records or tunes (test_kills.py).

python victim.py JOB FOLDER LIMIT [once]
LIMIT: bytes that a file may have, which stands for a full disk; 0: none. once: one piece of work,
else one after the other. Prints "ready" before it begins. Exit status 3: an error of gemmlab, said
in its words.
"""

from __future__ import annotations

import resource
import signal
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import numpy as np

from gemmlab import measurements, sim
from gemmlab.core.errors import GemmlabError
from gemmlab.core.paths import repository_root
from gemmlab.measurements.trials import TuningTrial
from gemmlab.run import tuned

HERE = tuned.Machine("NVIDIA H200", "580.1", "13.0")
KERNEL = """#include "{host}"
__global__ void kernel(float* out) {{ out[threadIdx.x] = {number}.0f; }}
cudaError_t launch_it(const GemmArgs& g, cudaStream_t stream) {{
  return launch(kernel, 1, 32, 0, stream, (float*)g.C);
}}
"""


def build(folder: Path, number: int) -> None:
    """A kernel that no other number has, built and run."""
    path = folder / f"kernel {number}.cuh"
    host = repository_root() / "kernels" / "common" / "launch" / "host.cuh"
    path.write_text(KERNEL.format(host=host, number=number))
    C = np.zeros(32, np.float32)
    sim.compile_source(path, "launch_it").launch(C, C, C, 1, 1, 1)
    assert set(C) == {number}


def record(folder: Path, number: int) -> None:
    """The recording of the repository, with a number in it that says which one this is."""
    recording = measurements.load(measurements.file_of(HERE.gpu))
    probes = {**recording.sections["probes"], "ffma_tflops": float(number)}
    sections = {**recording.sections, "probes": probes}
    measurements.save(replace(recording, sections=sections), folder / "h200.json")


def tune(folder: Path, number: int) -> None:
    """One more trial; M says which."""
    trial = TuningTrial("step", "0" * 12, "config", (1 + number, 1, 1), refused="no")
    tuned.add(HERE, trial)


JOBS = {"kernel": build, "all": build, "record": record, "tune": tune}


def main(job: str, folder: str, limit: str, *once: str) -> int:
    """Work, and say whether it ended in an error of gemmlab."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if int(limit):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    print("ready", flush=True)
    numbers: Iterable[int] = islice(count(), 1) if once else count()
    try:
        for number in numbers:
            JOBS[job](Path(folder), number)
    except GemmlabError as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
