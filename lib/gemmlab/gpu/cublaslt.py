"""The best of cublasLt's own heuristics, through ctypes: the strongest cuBLAS baseline there is.

torch.matmul takes the first algorithm that cuBLAS offers. cublasLt lists several, and the first is
not always the fastest. Enumerations and structures are those of cublasLt.h; descriptors stay opaque
pointers, so only `cublasLtMatmulHeuristicResult_t` has a layout here.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from ctypes import byref, c_float, c_int, c_size_t, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import ArgumentError, BackendError, LaunchError

if TYPE_CHECKING:
    import torch

WORKSPACE_BYTES = 32 << 20  # what torch gives cuBLAS on Hopper

_COMPUTE_32F = 68  # CUBLAS_COMPUTE_32F: fp32 arithmetic; TF32 would be 77
_SCALE_32F = 0  # CUDA_R_32F
_DATA_TYPE = {"float32": 0, "float16": 2, "bfloat16": 14}  # CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF
_PREF_MAX_WORKSPACE_BYTES = 1


class _Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t: 96 bytes, the first 64 are the algorithm."""

    _fields_ = (
        ("algo", c_uint64 * 8),
        ("workspace_size", c_size_t),
        ("state", c_int),
        ("waves_count", c_float),
        ("reserved", c_int * 4),
    )


class Plan:
    """C = A @ B for matrices of one shape and dtype, with the algorithms that cublasLt proposes.

    All three are contiguous, row-major CUDA tensors; sums are kept in fp32 and TF32 is off.
    Raises ArgumentError for a dtype it does not know, LaunchError if cublasLt refuses.
    """

    def __init__(self, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, requested: int = 8):
        import torch

        (M, K), N = A.shape, B.shape[1]
        self._lib, self._handle = _library(), _handle()
        self._desc = self._make("cublasLtMatmulDescCreate", c_int(_COMPUTE_32F), c_int(_SCALE_32F))
        # cublasLt thinks in columns. A row-major matrix is the column-major matrix of its
        # transpose, and C^T = B^T A^T: hand over B first, then A, each with rows and columns
        # exchanged and the row length as leading dimension.
        self._b = self._layout(B, rows=N, cols=K)
        self._a = self._layout(A, rows=K, cols=M)
        self._c = self._layout(C, rows=N, cols=M)
        self._workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=A.device)
        self._one, self._zero = c_float(1.0), c_float(0.0)
        self._found = self._heuristics(requested)

    def __len__(self) -> int:
        return len(self._found)

    def launcher(
        self, index: int, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor
    ) -> Callable[[], None]:
        """A function that runs algorithm `index` on these tensors, on what is the stream now."""
        import torch

        stream = torch.cuda.current_stream(A.device).cuda_stream
        algo = self._found[index].algo
        one, zero = byref(self._one), byref(self._zero)
        pointers = [c_void_p(t.data_ptr()) for t in (B, A, C, self._workspace)]
        b, a, c, workspace = pointers
        args = (
            self._handle,
            self._desc,
            one,
            b,
            self._b,
            a,
            self._a,
            zero,
            c,
            self._c,
            c,
            self._c,
            byref(algo),
            workspace,
            c_size_t(WORKSPACE_BYTES),
            c_void_p(stream),
        )
        matmul = self._lib.cublasLtMatmul

        def launch(plan: Plan = self) -> None:  # holding the plan keeps descriptors and workspace
            if status := matmul(*args):
                raise LaunchError(f"cublasLtMatmul failed with status {status}")

        return launch

    def _heuristics(self, requested: int) -> list[_Heuristic]:
        preference = self._make("cublasLtMatmulPreferenceCreate")
        limit = c_uint64(WORKSPACE_BYTES)
        self._call(
            "cublasLtMatmulPreferenceSetAttribute",
            preference,
            c_int(_PREF_MAX_WORKSPACE_BYTES),
            byref(limit),
            c_size_t(8),
        )
        results, count = (_Heuristic * requested)(), c_int(0)
        self._call(
            "cublasLtMatmulAlgoGetHeuristic",
            self._handle,
            self._desc,
            self._b,
            self._a,
            self._c,
            self._c,
            preference,
            c_int(requested),
            results,
            byref(count),
        )
        self._lib.cublasLtMatmulPreferenceDestroy(preference)
        return [r for r in results[: count.value] if r.state == 0]

    def _layout(self, t: torch.Tensor, rows: int, cols: int) -> c_void_p:
        dtype = str(t.dtype).removeprefix("torch.")
        if dtype not in _DATA_TYPE:
            raise ArgumentError(f"dtype: is {dtype}, allowed are {', '.join(_DATA_TYPE)}")
        return self._make(
            "cublasLtMatrixLayoutCreate",
            c_int(_DATA_TYPE[dtype]),
            c_uint64(rows),
            c_uint64(cols),
            ctypes.c_int64(rows),
        )

    def _make(self, function: str, *args) -> c_void_p:
        made = c_void_p()
        self._call(function, byref(made), *args)
        return made

    def _call(self, function: str, *args) -> None:
        if status := getattr(self._lib, function)(*args):
            raise LaunchError(f"{function} failed with status {status}")

    def __del__(self) -> None:
        for name, destroy in (
            ("_desc", "cublasLtMatmulDescDestroy"),
            ("_a", "cublasLtMatrixLayoutDestroy"),
            ("_b", "cublasLtMatrixLayoutDestroy"),
            ("_c", "cublasLtMatrixLayoutDestroy"),
        ):
            if made := getattr(self, name, None):
                getattr(self._lib, destroy)(made)


def version() -> str:
    """Version of the cuBLAS that torch has loaded, such as "13.1.0"."""
    number = _library().cublasLtGetVersion()
    # 11.0 to 12.9 counted 10000 * major; 13.0 still does: 130100 is 13.1.0.
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    """The libcublasLt that torch has loaded into this process, so that both baselines are one."""
    import torch

    torch.cuda.init()
    maps = Path("/proc/self/maps")
    loaded = re.findall(r"(/\S*libcublasLt\.so[.\d]*)", maps.read_text()) if maps.exists() else []
    major = (torch.version.cuda or "").split(".")[0]
    for name in (*loaded[:1], f"libcublasLt.so.{major}", "libcublasLt.so"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.cublasLtGetVersion.restype = c_size_t
        return library
    raise BackendError(
        "libcublasLt: not found in this process; a torch built with CUDA brings it. "
        "Use baselines=('cublas',) to compare with torch.matmul alone"
    )


@lru_cache(maxsize=1)
def _handle() -> c_void_p:
    handle = c_void_p()
    if status := _library().cublasLtCreate(byref(handle)):
        raise LaunchError(f"cublasLtCreate failed with status {status}")
    return handle
