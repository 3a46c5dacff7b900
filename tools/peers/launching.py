"""A built driver as an entry of a benchmark, and whether what it computes is right."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from ctypes import c_int, c_void_p
from typing import TYPE_CHECKING

from gemmlab.bench.protocol import Entry
from gemmlab.core.errors import BackendError, LaunchError
from gemmlab.core.precision import precision

from .drivers import Built

if TYPE_CHECKING:
    import torch

REFUSED = 10001  # driver.cuh
_WORDS = {
    REFUSED: "it does not take this shape",
    10002: "the GPU's driver refused a tensor map",
    10003: "the GPU's driver has no cuTensorMapEncodeTiled",
}


def entry(built: Built) -> Entry:
    """What `gemmlab.bench.protocol.measure` runs beside steps and baselines."""
    try:
        function = ctypes.CDLL(str(built.library)).launch
    except (OSError, AttributeError) as error:
        raise BackendError(
            f"{built.driver.name}: the built driver cannot be used: {error}"
        ) from None
    function.argtypes = [c_void_p] * 3 + [c_int] * 3 + [c_void_p]
    function.restype = c_int
    name, layout = built.driver.name, built.driver.layout

    def prepare(A: torch.Tensor, B: torch.Tensor, C: torch.Tensor) -> Callable[[], None]:
        import torch

        M, N = C.shape
        stream = torch.cuda.current_stream().cuda_stream
        pointers = (A.data_ptr(), B.data_ptr(), C.data_ptr())

        def launch(keep: tuple = (A, B, C)) -> None:
            if code := function(*pointers, M, N, A.shape[1], stream):
                raise LaunchError(f"{name}: {_WORDS.get(code, f'CUDA error {code}')}")

        return launch

    if layout == "nn":
        return Entry(name, prepare)
    return Entry(name, prepare, _transposed, layout)


def _transposed(operands: tuple) -> tuple:
    """The operands with B as (N, K), the same values: what a kernel for "nt" reads."""
    A, B, C = operands
    return A, B.t().contiguous(), C


def right(entries: Iterable[Entry], operands: tuple) -> tuple[list[Entry], list[str]]:
    """Those whose result is that of fp32, and of each other one a sentence that says why not."""
    import torch

    A, B, C = operands
    reference = torch.matmul(A.float(), B.float())
    kept, left_out = [], []
    for each in entries:
        C.fill_(float("nan"))
        try:
            each.prepare(*each.arrange(operands))()
            torch.cuda.synchronize()
        except LaunchError as error:
            left_out.append(f"{error}, so it is left out at {len(A)}")
            continue
        off = float((C.float() - reference).norm() / reference.norm())
        if off <= precision("bf16").roundoff:
            kept.append(each)
        else:
            left_out.append(f"{each.name}: relative error {off:.2g} at {len(A)}, so it is left out")
    return kept, left_out
