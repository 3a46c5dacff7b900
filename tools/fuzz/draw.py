"""A random launch of a step: a shape near its limits, factors, addresses, layout, the machine."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from gemmlab.check.plan import SMALL_MACHINES, Limits, Run, Shape, has_layouts, limits
from gemmlab.core.layout import PLAIN
from gemmlab.core.precision import precision as types_of
from gemmlab.steps.spec import KernelSpec

# Multiplications of a launch, about: launches are to be small. A tile that is cut along k may take
# more; one in so many is.
WORK = {"cpu": 2 << 20, "cuda": 64 << 20}
_CUT = 16
ALPHAS = (1.0, 0.5, 1.25, -1.0, 0.0)
BETAS = (0.0, 0.0, -0.0, 1.0, -2.0)  # C counts in some, and where it does not it is NaN
AROUND = (0, 0, 0, 1, -1, 2, -2, 3, 4, -4, 8, -8, 16, -16, 17, 32, -33, 64)


@dataclass(frozen=True)
class Subject:
    """What is launched: a step in one of its precisions."""

    spec: KernelSpec
    precision: str

    def __str__(self) -> str:
        return f"{self.spec.name}-{self.precision}"


def draw(subject: Subject, seed: int, number: int, device: str) -> Run:
    """Launch `number` of a subject: it depends on these arguments alone."""
    spec = subject.spec
    random = np.random.default_rng((seed, zlib.crc32(str(subject).encode()), number))
    configs = ("", *spec.configs)
    config = configs[number % len(configs)]
    shape = _shape(limits(spec, config), random, WORK[device])
    factors = (_factor(ALPHAS, random), _factor(BETAS, random))
    sms, order = 0, 0
    if device == "cpu":
        sms = int(random.choice((0, *SMALL_MACHINES)))
        order = int(random.choice([0, 1, int(random.integers(2, 2**31))]))
    offsets = _offsets(subject, random)
    layout = _layout(spec, shape, random)
    return Run(shape, factors, subject.precision, config, offsets, sms, order, layout)


def _shape(own: Limits, random: np.random.Generator, work: int) -> Shape:
    """M, N and K: few tiles, around whole ones, and as deep as there is work left."""
    spec, (BM, BN, BK) = own.spec, own.tile
    if spec.cuts and not random.integers(_CUT):
        cut_tiles, k_tiles, _ = spec.cuts[int(random.integers(len(spec.cuts)))]
        return own.fit(cut_tiles * BM, BN, own.depth(k_tiles + int(random.integers(3))))
    tiles = random.choice((1, 1, 1, 1, 2, 3), 2)
    M, N, _ = own.fit(_size(BM, tiles[0], random), _size(BN, tiles[1], random), 0)
    deepest = min(2 * spec.stages + 2, max(2, work // (M * N * BK)))
    K = int(random.integers(deepest + 1)) * BK + int(random.choice(AROUND))
    return own.fit(M, N, max(0, K))


def _size(tile: int, tiles: int, random: np.random.Generator) -> int:
    """Rows or columns of C, 1 or more."""
    match random.integers(4):
        case 0:
            return int(random.integers(1, 40))
        case 1:
            return int(random.integers(1, tile * tiles + 1))
    return max(1, int(tile * tiles + random.choice(AROUND)))


def _factor(usual: tuple[float, ...], random: np.random.Generator) -> float:
    """One of the usual, or any; a float32, as a launch takes it."""
    one = random.choice(usual) if random.integers(4) else random.standard_normal()
    return float(np.float32(one))


def _offsets(subject: Subject, random: np.random.Generator) -> tuple[int, int, int]:
    """Elements by which A, B and C begin behind an aligned address, where the step allows."""
    if not random.integers(3):
        return 0, 0, 0
    unit = max(1, subject.spec.alignment // types_of(subject.precision).bytes[0])
    a, b, c = (int(n) * unit for n in random.integers(0, 9, 3))
    return a, b, c


def _layout(spec: KernelSpec, shape: Shape, random: np.random.Generator) -> str:
    """One of those that the step takes, where the shape tells them apart."""
    if len(spec.layouts) == 1 or not has_layouts(shape):
        return PLAIN
    return str(random.choice(spec.layouts))
