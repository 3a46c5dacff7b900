"""Which of the two backends runs a kernel here: the GPU or the simulator."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from ..core.arguments import choice
from ..core.cuda_tools import find_nvcc
from ..core.errors import BackendError

if TYPE_CHECKING:
    import torch


DEVICES = ("cuda", "cpu")  # the GPU, and the simulator


def default_backend() -> str:
    """ "gpu" or "sim": what runs a kernel when no tensor decides. GEMMLAB_BACKEND forces one.

    Raises BackendError if GEMMLAB_BACKEND is neither, or asks for a GPU that is not there.
    """
    forced = forced_backend()
    if forced == "gpu" and (lacks := why_no_gpu()):
        raise BackendError(
            f"GEMMLAB_BACKEND=gpu, but {lacks}; unset it or set it to sim, "
            "and see `python -m gemmlab doctor`"
        )
    return forced or ("sim" if why_no_gpu() else "gpu")


def backend_for(tensor: torch.Tensor) -> str:
    """ "gpu" for a CUDA tensor and "sim" for a CPU tensor, unless GEMMLAB_BACKEND forces one."""
    if forced_backend():
        return default_backend()
    return "gpu" if tensor.device.type == "cuda" else "sim"


def device_for(asked: str | None) -> str:
    """ "cuda" or "cpu" as asked for, or where kernels run if nothing is.

    Raises ArgumentError for any other word, BackendError for a GPU that is not there.
    """
    if asked is None:
        return "cuda" if default_backend() == "gpu" else "cpu"
    if choice("device", asked, DEVICES, quoted=True) == "cuda" and (lacks := why_no_gpu()):
        raise BackendError(f"device: {lacks}; device='cpu' takes the simulator")
    return asked


@lru_cache(maxsize=1)
def why_no_gpu() -> str:
    """What keeps kernels from being built and run on a GPU here, or "" if nothing does."""
    import torch

    if not torch.cuda.is_available():
        return "torch sees no CUDA GPU" if torch.version.cuda else "this torch has no CUDA"
    if find_nvcc() is None:
        return "there is a GPU but no nvcc"
    return ""


def forced_backend() -> str:
    """What $GEMMLAB_BACKEND asks for, "" if it is not set. Raises BackendError for another word."""
    forced = os.environ.get("GEMMLAB_BACKEND", "")
    if forced not in ("", "gpu", "sim"):
        raise BackendError(f"GEMMLAB_BACKEND: is {forced!r}, allowed are gpu and sim, or unset it")
    return forced
