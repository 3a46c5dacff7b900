"""What a test needs of the machine: marks that skip it, each with the one reason for all tests.

In CI a reason has to be in tests/allowed_skips.txt.
"""

from __future__ import annotations

import shutil

import pytest

from gemmlab.core.cuda_tools import find_beside_nvcc, find_nvcc
from gemmlab.sim import build

GXX, NVCC, CUOBJDUMP = (f"{program} is not installed" for program in ("g++", "nvcc", "cuobjdump"))

gxx = pytest.mark.skipif(shutil.which("g++") is None, reason=GXX)
fills = pytest.mark.skipif(
    shutil.which("g++") is None or not build.knows_fills(),
    reason="g++ 12 or later is not installed",
)
nvcc = pytest.mark.skipif(find_nvcc() is None, reason=NVCC)


def slow_nvcc(test):
    """A mark: the test calls nvcc, which takes seconds."""
    return pytest.mark.slow(nvcc(test))


def machine_code(test):
    """A mark: the test compiles with nvcc and lists the machine code with cuobjdump."""
    listed = pytest.mark.skipif(find_beside_nvcc("cuobjdump") is None, reason=CUOBJDUMP)
    return slow_nvcc(listed(test))


def same_nvcc(found: str, recorded: str) -> None:
    """Skip a test that compares with what another version of nvcc has made."""
    if found != recorded:
        pytest.skip(f"nvcc is {found}, and the recording is of {recorded}")
