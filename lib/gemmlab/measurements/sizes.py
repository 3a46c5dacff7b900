"""The sizes and shapes at which `record` measures the steps of a family."""

from __future__ import annotations

from ..steps import registry

_SIZES_16_BIT = (1024, 2048, 4096, 8192, 16384)
SIZES = {
    "sgemm": (1024, 2048, 3072, 4096, 5120, 8192),
    "hgemm": _SIZES_16_BIT,
    "tma": _SIZES_16_BIT,
    "wgmma": _SIZES_16_BIT,
}
# The steps that take any shape, and the shapes at which they meet cuBLAS: around a size, with one
# side short, small, or long in K.
ANY_SHAPE = tuple(name for name in registry.names() if name.endswith("_any_shape"))
SHAPES = (
    (4095, 4097, 4093),
    (1, 8192, 8192),
    (8192, 64, 8192),
    (64, 8192, 8192),
    (100, 100, 100),
    (16, 8192, 8192),
    (1000, 1000, 1000),
    (1023, 1025, 1024),
    (2047, 2049, 2048),
    (128, 128, 16384),
    (8192, 8192, 64),
    (4096, 4096, 4100),
    (511, 513, 8191),
)
# The same, and shapes of other kinds: one column, a few, one short row, prime sizes, a long k.
SHAPES_SGEMM = (
    *SHAPES,
    (4096, 1, 4096),
    (8191, 8, 8191),
    (1, 8192, 4096),
    (997, 1009, 1013),
    (512, 512, 32768),
)
# The first ones, and few rows before a weight matrix whose columns give no whole number of waves.
SHAPES_HGEMM = (*SHAPES, (16, 6144, 4096))
# Those, and sizes beside a square, whose rows may or may not be multiples of 16 bytes.
SHAPES_TMA = (
    *SHAPES_HGEMM,
    (2056, 2040, 2056),
    (4104, 4088, 4104),
    (8200, 8184, 8200),
    (8191, 8193, 8189),
)
# Those, and squares between the sizes of the benchmark.
SHAPES_WGMMA = (*SHAPES_TMA, (1536, 1536, 1536), (3072, 3072, 3072), (6144, 6144, 6144))

# Where steps that take several layouts are recorded in each of them.
LAYOUT_SHAPES = ((4096, 4096, 4096), (4095, 4097, 4093), (64, 8192, 8192))


_SHAPES_OF = {
    "sgemm": SHAPES_SGEMM,
    "hgemm": SHAPES_HGEMM,
    "tma": SHAPES_TMA,
    "wgmma": SHAPES_WGMMA,
}


def shapes_of(family: str) -> tuple[tuple[int, int, int], ...]:
    """The shapes (M, N, K) that are recorded beside the squares."""
    return _SHAPES_OF[family]
