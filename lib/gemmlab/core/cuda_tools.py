"""Where the programs of the CUDA toolkit are on this machine."""

from __future__ import annotations

import os
import shutil

_USUAL = "/usr/local/cuda/bin"


def find_nvcc() -> str | None:
    """Path of nvcc: $CUDA_HOME/bin, then $PATH, then /usr/local/cuda/bin; or None."""
    home = os.environ.get("CUDA_HOME")
    return _first("nvcc", f"{home}/bin" if home else "")


def find_beside_nvcc(name: str) -> str | None:
    """Path of another of its programs: beside nvcc, then as nvcc is found; or None."""
    nvcc = find_nvcc()
    return _first(name, os.path.dirname(os.path.realpath(nvcc)) if nvcc else "")


def _first(name: str, folder: str) -> str | None:
    places = (*([folder] if folder else []), None, _USUAL)  # None: $PATH
    return next((one for one in (shutil.which(name, path=place) for place in places) if one), None)
