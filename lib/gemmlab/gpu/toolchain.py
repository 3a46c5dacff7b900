"""How CUDA's programs and their like are called on this machine, and what is said without them."""

from __future__ import annotations

import re
import shutil
import sys
from glob import glob
from pathlib import Path

from ..core.cuda_tools import find_beside_nvcc, find_nvcc
from ..core.errors import BackendError

FLAGS = ("-std=c++17", "-O3", "-lineinfo")


def nvcc() -> str:
    """Path of nvcc, as `find_nvcc` finds it. Raises BackendError."""
    found = find_nvcc()
    if found is None:
        raise BackendError(
            "nvcc: not found, so no kernel can be built for the GPU. Install the CUDA toolkit of "
            "your torch's CUDA version and put its bin folder on PATH. CPU tensors still run, on "
            "the simulator."
        )
    return found


def cuobjdump() -> str:
    """Path of cuobjdump, as `find_beside_nvcc` finds it. Raises BackendError."""
    found = find_beside_nvcc("cuobjdump")
    if found is None:
        raise BackendError(
            "cuobjdump: not found, so machine code cannot be listed. It comes with the CUDA "
            "toolkit, in the package cuda-cuobjdump of some distributions."
        )
    return found


def arch() -> str:
    """What to compile for on torch's current GPU, such as "90a".

    From Hopper on the architecture-specific target: wgmma and setmaxnreg exist only in sm_90a.
    """
    import torch

    major, minor = torch.cuda.get_device_capability()
    return f"{major}{minor}a" if major >= 9 else f"{major}{minor}"


def gencode(target: str) -> str:
    """nvcc's option for one target: "90a"."""
    return f"-gencode=arch=compute_{target},code=sm_{target}"


def compiler_lines(log: str) -> str:
    """The compiler's diagnostics out of ninja's log, or its end if none is recognised."""
    lines = log.splitlines()
    keep = [
        line
        for i, line in enumerate(lines)
        if re.search(r"\b(error|fatal|warning)\b.*:|\(\d+\): (error|warning)", line)
        or (i and re.search(r"\(\d+\): error|: error:", lines[i - 1]))
    ]
    return "\n".join(keep[:40] or lines[-20:])


def find_ncu() -> str | None:
    """Path of Nsight Compute's command line, on PATH or where its installers put it; or None."""
    places = (
        *glob("/usr/local/cuda/bin/ncu"),
        *sorted(glob("/opt/nvidia/nsight-compute/*/ncu"), reverse=True),
        *sorted(glob("/usr/local/cuda-*/bin/ncu"), reverse=True),
    )
    return shutil.which("ncu") or next(iter(places), None)


def find_ninja() -> str | None:
    """Path of ninja: on PATH, or the one that pip installed beside this Python; or None."""
    return shutil.which("ninja") or shutil.which("ninja", path=str(Path(sys.executable).parent))
