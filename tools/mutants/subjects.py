"""The kernels that are mutated, the sizes they are run at, and what they must compute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gemmlab.core.paths import repository_root
from gemmlab.steps import registry
from gemmlab.steps.text import included_files

from .removals import REMOVED

ROOT = repository_root()
_SYNCHRONISES = re.compile("|".join(REMOVED.values()))


@dataclass(frozen=True)
class Run:
    """One launch: sizes, configuration, seed of the data, and C = alpha * A @ B + beta * C."""

    M: int
    N: int
    K: int
    config: int = -1
    seed: int = 0
    alpha: float = 1.0
    beta: float = 0.0


@dataclass(frozen=True)
class Subject:
    """A kernel file (from the repository's root) and its launcher.

    sizes: (M, N, K), or (M, N, K, number of a configuration), with several k tiles, more than one
    block and, where the kernel takes them, edges; small, because every mutant runs at all of them.
    scaled: it takes alpha and beta. dtype, out: of A and B, and of C: float32, float16 or bfloat16.
    transposed_b: B lies in memory as (N, K). computes: what C becomes, by its name in COMPUTES.
    small: (text, other text) of its file, which make a GPU of few SMs of it, so that small sizes
    are large for it; the mutants are of the text as it is. helpers: theirs are mutated, too; not
    those of a kernel that only shares them with another subject.
    """

    name: str
    file: str
    launch: str
    sizes: tuple[tuple[int, ...], ...]
    dtype: str = "float32"
    out: str = "float32"
    scaled: bool = True
    transposed_b: bool = False
    computes: str = "product"
    small: tuple[tuple[str, str], ...] = ()
    helpers: bool = True

    @property
    def path(self) -> Path:
        """The kernel file."""
        return ROOT / self.file

    @property
    def workspace(self) -> bool:
        """Whether a launch needs scratch memory."""
        return "size_t workspace_" in self.path.read_text()

    def files(self) -> dict[str, str]:
        """Every file of kernels/ and tests/ that it is made of: name -> text."""
        found = [p.relative_to(ROOT).as_posix() for p in included_files(self.path)]
        found.sort(key=lambda name: not self._own(name))  # its own first, the others as they are
        return {name: (ROOT / name).read_text() for name in found if not name.startswith("lib/")}

    def _own(self, name: str) -> bool:
        """Whether it is the kernel's file, or what that does on the host."""
        return name in (self.file, self.file.replace(".cuh", "_host.cuh"))

    def sources(self) -> dict[str, str]:
        """The files that are mutated: its own, and helpers that synchronise or swizzle.

        One-instruction functions (kernels/ptx/) are not: they are the vocabulary.
        """
        return {
            name: text
            for name, text in self.files().items()
            if self._own(name)
            or (
                self.helpers
                and not name.startswith("kernels/ptx/")
                and (_SYNCHRONISES.search(text) or "^" in text)
            )
        }

    def made_small(self, text: str) -> str:
        """The text of its file for a GPU of few SMs."""
        for old, new in self.small:
            if old not in text:
                raise ValueError(f"{self.name}: {old!r} does not stand in it")
            text = text.replace(old, new)
        return text

    def runs(self) -> Iterator[Run]:
        """Two sets of data at every size; the second scaled, if the kernel can."""
        for size in self.sizes:
            yield Run(*size)
        for size in self.sizes:
            alpha, beta = (2.0, -1.0) if self.scaled else (1.0, 0.0)
            yield replace(Run(*size), seed=1, alpha=alpha, beta=beta)

    def data(self, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """A, B and C as the kernel takes them, and the C that it must leave.

        Integers so small that every sum is exact, in 16 bits too. C is NaN where it is not read.
        """
        random = np.random.default_rng(run.seed)
        most = 4 if self.out == "float32" else 2
        shapes = ((run.M, run.K), (run.K, run.N), (run.M, run.N))
        A, B, C = (random.integers(-most, most + 1, s).astype(np.float32) for s in shapes)
        expected = COMPUTES[self.computes](run, A, B, C)
        if not run.beta:
            C[:] = np.nan
        B = np.ascontiguousarray(B.T) if self.transposed_b else B
        stored = (_store(A, self.dtype), _store(B, self.dtype), _store(C, self.out))
        return *stored, _store(expected.astype(np.float32), self.out)


def _product(run: Run, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    return run.alpha * (A @ B) + (run.beta * C if run.beta else 0.0)


def _sums_of_clusters(run: Run, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Four blocks a cluster, 64 numbers a block: each becomes the sum over the cluster."""
    blocks = A.reshape(-1, 4, 64)
    return blocks.sum(1, keepdims=True).repeat(4, 1).reshape(A.shape)


def _doubled_product(run: Run, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    return 2.0 * (A @ B)


def _reversed(run: Run, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Each 32 numbers of A in reverse."""
    return A.reshape(-1, 32)[:, ::-1].reshape(C.shape)


COMPUTES = {
    "reversed": _reversed,
    "product": _product,
    "doubled product": _doubled_product,
    "sums of clusters": _sums_of_clusters,
}


def _store(values: np.ndarray, dtype: str) -> np.ndarray:
    """float32 values in the bits of `dtype`; NumPy has no bfloat16, so those are its upper half."""
    if dtype == "bfloat16":
        return (values.view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(dtype)


_ANY_SIZE = ((33, 40, 5), (64, 100, 37))
_TILED = ((128, 128, 48), (256, 128, 64), (128, 256, 16))
_LONG_TILED = ((128, 128, 96), (256, 128, 64), (128, 256, 32))
_STEPS = {
    "sgemm_01_naive": _ANY_SIZE,
    "sgemm_02_coalesced": _ANY_SIZE,
    "sgemm_03_block_tiling": ((32, 32, 96), (64, 32, 64), (32, 64, 32)),
    "sgemm_04_register_tiling": _TILED,
    "sgemm_05_transposed_a": _TILED,
    "sgemm_06_swizzled_a": _TILED,
    "sgemm_07_coalesced_c": _TILED,
    "sgemm_08_double_buffer": _TILED,
    "sgemm_09_thread_coarsening": _TILED,
    "sgemm_10_vectorized": _TILED,
    "sgemm_11_warp_tiling": _LONG_TILED,
    "sgemm_12_warp_subtiles": _LONG_TILED,
    "sgemm_13_subtiles_transposed_a": _LONG_TILED,
    "sgemm_14_async_double_buffer": _TILED,
}
# By TMA, in 16 bits: more k tiles than stages, the last one ragged.
_COPIED = {
    "tma_01_load": (((128, 128, 328), (256, 128, 64), (128, 256, 136)), "float16"),
    "tma_02_two_blocks": (((128, 128, 168), (256, 128, 32), (128, 256, 72)), "float32"),
    "tma_03_store": (((128, 128, 328), (130, 136, 72), (64, 200, 64)), "float32"),
    "tma_04_producer_warp": (((128, 128, 456), (130, 136, 72), (64, 200, 64)), "float32"),
    "tma_05_wide_tile": (((256, 128, 456), (264, 136, 72), (64, 200, 64)), "float16"),
}
# On 4 SMs, tiles of 256x128: 8 of 4 k tiles, 6 and 5 of 8. Where tiles are cut, the two of the
# first wave are in two pieces each, of which one block has two; or its one tile is in three.
_WHOLE, _TWO_CUT, _ONE_CUT = (200, 904, 200), (264, 328, 456), (200, 584, 456)
_ODD = (264, 261, 331)  # A and B are copied, C leaves in pairs or element by element
_EMPTY = (264, 261, 0)  # without k tiles, a warp meets nowhere else between two parts of C
_ADDED = (21, 69, 456, 4)  # two tiles of 64x64, in pieces for the second kernel; all edges ragged
_FOUR_SMS = ("device_attribute(cudaDevAttrMultiProcessorCount)", "4")
_FEW_SMS: dict[str, dict] = {
    "tma_06_persistent": {
        "sizes": (_WHOLE, (64, 72, 456)),
        "small": (_FOUR_SMS,),
    },
    "tma_07_stream_k": {
        "sizes": (_WHOLE, _TWO_CUT, _ONE_CUT),
        "small": (_FOUR_SMS, ("PRICE = 6;", "PRICE = 1;")),
    },
    "tma_08_any_shape": {
        "sizes": (
            *((*size, 0) for size in (_WHOLE, _TWO_CUT, _ONE_CUT, _ODD, _EMPTY)),
            _ADDED,
        ),
        "small": (
            _FOUR_SMS,
            ("PRICE = 6, LIGHT_PRICE = 3;", "PRICE = 1, LIGHT_PRICE = 1;"),
            ("ADDING = 8;", "ADDING = 1;"),
        ),
        "helpers": True,
    },
}
_NAMES = {"float16": "__half", "float32": "float"}


def _fixture(name: str, sizes: tuple, launch: str = "", **options) -> Subject:
    """A kernel of tests/sim/fixtures/, which neither scales the product nor reads C."""
    file, launch = f"tests/sim/fixtures/{name}.cu", f"launch_{launch or name}"
    return Subject(name, file, launch, sizes, scaled=False, **options)


SUBJECTS = (
    *(
        Subject(name, f"kernels/{registry.get(name).file}", f"launch_{name}", sizes)
        for name, sizes in _STEPS.items()
    ),
    *(
        Subject(
            *(name, f"kernels/{registry.get(name).file}", f"launch_{name}<__half, {_NAMES[out]}>"),
            *(sizes, "float16", out),
            helpers=name != "tma_05_wide_tile",
        )
        for name, (sizes, out) in _COPIED.items()
    ),
    *(
        Subject(
            *(name, f"kernels/{registry.get(name).file}", f"launch_{name}<__half, __half>"),
            **{"dtype": "float16", "out": "float16", "helpers": False, **about},
        )
        for name, about in _FEW_SMS.items()
    ),
    _fixture("gemm_ldmatrix_mma", ((64, 64, 64), (128, 64, 96)), "f16", dtype="float16"),
    _fixture(
        "gemm_wmma",
        ((32, 32, 32), (64, 32, 64)),
        "f16_16_shared",
        dtype="float16",
        computes="doubled product",
    ),
    _fixture("gemm_wgmma", ((64, 128, 128), (128, 128, 192)), "f16", dtype="float16"),
    _fixture(
        *("gemm_wgmma_cluster", ((256, 128, 320), (136, 200, 456), (256, 128, 64))),
        dtype="float16",
    ),
    _fixture("gemm_cp_async", ((64, 64, 16), (128, 64, 96), (64, 128, 32))),
    _fixture("pipeline_cp_async", ((64, 64, 16), (128, 64, 96), (64, 128, 112))),
    _fixture("gemm_tma_pipeline", ((64, 64, 160), (130, 136, 100), (64, 64, 32))),
    _fixture("gemm_pipeline_primitives", ((16, 16, 16), (33, 20, 37), (48, 32, 64))),
    _fixture("mbarrier_ring", ((7, 32, 32),), computes="reversed"),
    _fixture("bar_ring", ((7, 32, 32),), computes="reversed"),
    _fixture("cluster_ring", ((512, 1, 1),), computes="sums of clusters"),
)


def subject(name: str) -> Subject:
    """The subject of that name."""
    return next(s for s in SUBJECTS if s.name == name)
