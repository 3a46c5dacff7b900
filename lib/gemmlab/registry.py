"""The list of steps: one frozen `KernelSpec` per kernel file."""

from __future__ import annotations

import difflib
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import ArgumentError, BackendError, UnknownKernelError


@dataclass(frozen=True)
class KernelSpec:
    """One step of the course.

    Sizes are in elements, shared memory in bytes. `multiple_of` is what (M, N, K) must each be a
    multiple of; `alignment` is what the address of A, B and C must be a multiple of, in bytes.
    `seed` names the article systems that the step reproduces ("003/sgemm_at_tiling").
    `written_to` is set for a variant, whose text stands outside `kernels/`; `label` names it.
    """

    name: str
    file: str
    idea: str
    tile: tuple[int, int, int]
    thread_tile: tuple[int, int]
    threads: int
    shared_bytes: int
    parent: str | None = None
    seed: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ("float32",)
    layout: str = "A, B and C row-major"
    multiple_of: tuple[int, int, int] = (1, 1, 1)
    alignment: int = 4
    min_arch: int = 70
    written_to: str = ""
    label: str = ""

    @property
    def path(self) -> Path:
        """Absolute path of the source: the kernel file, or where a variant of it was written."""
        return Path(self.written_to or repository_root() / "kernels" / self.file)

    def fits(self, M: int, N: int, K: int) -> bool:
        """Whether the step takes these sizes."""
        return all(n % of == 0 for n, of in zip((M, N, K), self.multiple_of, strict=True))

    def check_sizes(self, M: int, N: int, K: int) -> None:
        """Raise ArgumentError, naming the multiple that is needed, unless the step `fits`."""
        for name, size, multiple in zip("MNK", (M, N, K), self.multiple_of, strict=True):
            if size % multiple:
                up = math.ceil(size / multiple) * multiple
                raise ArgumentError(
                    f"{name}: is {size}, {self.name} needs a multiple of {multiple}; "
                    f"pad to {up}, or use sgemm_02_coalesced, which takes any size"
                )
            if not 0 <= size < 2**31:
                raise ArgumentError(f"{name}: is {size}, a size is a 32-bit integer, 0 or more")

    def to_dict(self) -> dict:
        """Plain data, for `list --json`."""
        return asdict(self)


KERNELS: tuple[KernelSpec, ...] = (
    KernelSpec(
        name="sgemm_01_naive",
        file="sgemm/01_naive.cuh",
        idea="one thread per element of C; the lanes of a warp walk down a column",
        tile=(32, 8, 1),
        thread_tile=(1, 1),
        threads=256,
        shared_bytes=0,
    ),
    KernelSpec(
        name="sgemm_02_coalesced",
        file="sgemm/02_coalesced.cuh",
        idea="swap the two thread axes: the lanes of a warp walk along a row",
        tile=(8, 32, 1),
        thread_tile=(1, 1),
        threads=256,
        shared_bytes=0,
        parent="sgemm_01_naive",
        seed=("003/sgemm_naive", "001/01"),
    ),
    KernelSpec(
        name="sgemm_03_block_tiling",
        file="sgemm/03_block_tiling.cuh",
        idea="a block copies 32x32 tiles to shared memory and uses each value 32 times",
        tile=(32, 32, 32),
        thread_tile=(1, 1),
        threads=1024,
        shared_bytes=8192,
        parent="sgemm_02_coalesced",
        seed=("001/02",),
        multiple_of=(32, 32, 32),
    ),
    KernelSpec(
        name="sgemm_04_register_tiling",
        file="sgemm/04_register_tiling.cuh",
        idea="a 128x128 tile, 8x8 elements of C in the registers of each thread, 16-byte loads",
        tile=(128, 128, 16),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=16384,
        parent="sgemm_03_block_tiling",
        seed=("003/sgemm_tiling",),
        multiple_of=(128, 128, 16),
        alignment=16,
    ),
    KernelSpec(
        name="sgemm_05_transposed_a",
        file="sgemm/05_transposed_a.cuh",
        idea="store A transposed in shared memory, so that a fragment of A is two 16-byte loads",
        tile=(128, 128, 16),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=16384,
        parent="sgemm_04_register_tiling",
        seed=("003/sgemm_at_tiling",),
        multiple_of=(128, 128, 16),
        alignment=16,
    ),
    KernelSpec(
        name="sgemm_06_swizzled_a",
        file="sgemm/06_swizzled_a.cuh",
        idea="XOR the column of the transposed A with two bits of its row: no bank conflicts left",
        tile=(128, 128, 16),
        thread_tile=(8, 8),
        threads=256,
        shared_bytes=16384,
        parent="sgemm_05_transposed_a",
        seed=("003/sgemm_at_bcf_swizzling",),
        multiple_of=(128, 128, 16),
        alignment=16,
    ),
)

_BY_NAME = {spec.name: spec for spec in KERNELS}


def names() -> list[str]:
    """Names of all steps, in the order of the course."""
    return list(_BY_NAME)


def get(name: str | KernelSpec) -> KernelSpec:
    """The step called `name`.

    Raises UnknownKernelError, with the closest names, if there is none.
    """
    if isinstance(name, KernelSpec):
        return name
    if not isinstance(name, str):
        raise ArgumentError(
            f"kernel: got {type(name).__name__}, expected a name such as {KERNELS[0].name!r}"
        )
    if name in _BY_NAME:
        return _BY_NAME[name]
    # A short name ("swizzled") is more often a part of the full one than close to it.
    close = [n for n in _BY_NAME if name.lower() in n] or difflib.get_close_matches(
        name, _BY_NAME, n=3, cutoff=0.4
    )
    hint = f"did you mean {' or '.join(close)}?" if close else "see `python -m gemmlab list`"
    raise UnknownKernelError(f"kernel: there is no step called {name!r}; {hint}")


def repository_root() -> Path:
    """The folder that holds `kernels/` and `book/`: $GEMMLAB_ROOT or the checkout of this file."""
    root = os.environ.get("GEMMLAB_ROOT")
    return Path(root).resolve() if root else Path(__file__).resolve().parents[2]


def cache_dir(*parts: str) -> Path:
    """Where built kernels are kept: $GEMMLAB_CACHE or ~/.cache/gemmlab, and `parts` below it.

    The folder is made if it is missing. Raises BackendError if nothing can be written there.
    """
    base = Path(os.environ.get("GEMMLAB_CACHE") or Path.home() / ".cache" / "gemmlab")
    path = base.joinpath(*parts)
    why = "permission denied"
    try:
        path.mkdir(parents=True, exist_ok=True)
        writable = os.access(path, os.W_OK)
    except OSError as error:
        writable, why = False, (error.strerror or str(error)).lower()
    if not writable:
        raise BackendError(
            f"GEMMLAB_CACHE: built kernels cannot be kept in {path} ({why}); set GEMMLAB_CACHE to "
            "a folder that you may write to"
        )
    return path
