"""The steps by name, in the order of the course."""

from __future__ import annotations

from ..core.arguments import brief, closest
from ..core.errors import ArgumentError, UnknownKernelError
from ..core.precision import PRECISIONS
from ..core.precision import precision as types_of
from . import hgemm, sgemm, tma, wgmma
from .program import Program
from .spec import KernelSpec

__all__ = ["KERNELS", "PRECISIONS", "family_of", "get", "names", "program"]

KERNELS: tuple[KernelSpec, ...] = (
    *sgemm.STEPS,
    *hgemm.STEPS,
    *tma.STEPS,
    *wgmma.STEPS,
)
_BY_NAME = {spec.name: spec for spec in KERNELS}


def names() -> list[str]:
    """Names of all steps, in the order of the course: "sgemm_01_naive" and so on."""
    return list(_BY_NAME)


def family_of(precision: str) -> str:
    """The first family with steps of a precision: the one that is meant if only that is known.

    precision: one of PRECISIONS. The answer: "sgemm" or "hgemm". Raises ArgumentError for
    any other.
    """
    name = types_of(precision).name
    return next(spec.family for spec in KERNELS if name in spec.precisions)


def get(name: str) -> KernelSpec:
    """The step called `name`.

    Raises UnknownKernelError, with the closest names, if there is none; ArgumentError for a
    value that is not text.
    """
    if not isinstance(name, str):
        raise ArgumentError(
            f"kernel: got {type(name).__name__}, expected a name such as {KERNELS[0].name!r}"
        )
    if name in _BY_NAME:
        return _BY_NAME[name]
    # A short name ("swizzled") is more often a part of the full one than close to it.
    close = closest(name, _BY_NAME)
    hint = f"did you mean {' or '.join(close)}?" if close else "see `python -m gemmlab list`"
    raise UnknownKernelError(f"kernel: there is no step called {brief(name)}; {hint}")


def program(kernel: str | KernelSpec | Program) -> Program:
    """What a name, a spec or a handle stands for: the step's facts and the text that is compiled.

    kernel: a name such as "sgemm_06_swizzled_a", a KernelSpec, or a Program, which is returned.
    Raises UnknownKernelError, with the closest names, and ArgumentError for any other value.
    """
    if isinstance(kernel, Program):
        return kernel
    return Program(kernel if isinstance(kernel, KernelSpec) else get(kernel))
