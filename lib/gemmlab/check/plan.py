"""Which runs tell whether a step is right: shapes, factors, addresses, machines at its limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ..core.layout import PLAIN
from ..core.precision import PRECISIONS
from ..steps.spec import KernelSpec

Shape = tuple[int, int, int]  # M, N, K

# (alpha, beta): plain product, scaling alone, accumulation, alpha = 0 (C must only be scaled).
ALPHA_BETA = ((1.0, 0.0), (0.5, 0.0), (1.25, -2.0), (0.0, 1.0))
# What most runs have: C counts, or holds NaN and must not.
ADDED, SCALED = (1.25, -2.0), (0.5, 0.0)

# Machines on which a block of a persistent step gets several tiles of a small product, and on which
# tiles are cut; an odd number of SMs shares out unevenly.
SMALL_MACHINES = (2, 5)
_STRIP = 9  # rows of tiles: one more than a strip of kernels/common/order/block_order.cuh
_NAIVE_K = 33  # the least depth of a step that takes one k at a time
_VECTOR_BYTES = 16  # of the widest load
# Where blocks may wait for each other, small products (M * N * K) meet these orders, too.
_SMALL, _MORE_ORDERS = 1 << 26, range(4, 8)


@dataclass(frozen=True)
class Run:
    """One launch.

    shape: M, N, K. factors: alpha and beta. config: "" if the step chooses. offsets: the elements
    by which A, B and C begin behind an aligned address. sms: of the simulated GPU, 0 for the usual
    one. order: in which its blocks are dispatched. layout: how A and B lie in memory.
    """

    shape: Shape
    factors: tuple[float, float]
    precision: str
    config: str = ""
    offsets: tuple[int, int, int] = (0, 0, 0)
    sms: int = 0
    order: int = 0
    layout: str = PLAIN


@dataclass(frozen=True)
class Limits:
    """The shapes at which a step, or one of its configurations, changes what it does."""

    spec: KernelSpec
    tile: Shape

    def fit(self, M: int, N: int, K: int) -> Shape:
        """The next shape upwards that the step takes."""
        return self.spec.fitting(M, N, K)

    @property
    def tail(self) -> int:
        """What a ragged K has behind its last whole tile; 0 if the step takes whole tiles only."""
        BK, of = self.tile[2], self.spec.multiple_of[2]
        return 0 if of >= BK else max(of, BK // 2 // of * of + of % 2)

    def depth(self, tiles: int, ragged: bool = True) -> int:
        """K of so many tiles, of which the last is ragged if the step takes that."""
        return tiles * self.tile[2] - (self.tile[2] - self.tail if ragged and self.tail else 0)

    @property
    def deep(self) -> int:
        """K for which every stage is filled twice, and the first one three times."""
        tiles = max(4, 2 * self.spec.stages + 1, -(-_NAIVE_K // self.tile[2]))
        return self.depth(tiles)

    @property
    def deep_whole(self) -> int:
        """The same of whole tiles: the kernel may then be one without guards."""
        return -(-self.deep // self.tile[2]) * self.tile[2]

    @property
    def edge(self) -> int:
        """Rows that the last tile of a column lacks, less than half; 0 if tiles are whole."""
        BM, of = self.tile[0], self.spec.multiple_of[0]
        return 0 if of == BM else BM // 2 - 5

    def rings(self) -> list[Shape]:
        """One tile of C, and fewer, as many and more k tiles than stages; whole ones and ragged."""
        BM, BN, _ = self.tile
        counts = range(1, self.spec.stages + 3)
        depths = [self.depth(n, ragged=n % 2 == 0) for n in counts] + [self.depth(1)]
        return unique(self.fit(BM, BN, K) for K in depths)

    def grids(self) -> list[Shape]:
        """Several tiles each way, and more rows of them than a strip has."""
        BM, BN, BK = self.tile
        return [self.fit(_STRIP * BM, BN + 1, BK), self.fit(2 * BM, 3 * BN, 2 * BK)]

    def edges(self) -> list[Shape]:
        """Shapes around the limits of tiles, warps, boxes and vectors; none for whole tiles only.

        Each size of a list meets some of the others.
        """
        (BM, BN, BK), (m, n, k) = self.tile, self.spec.multiple_of
        if (m, n, k) == self.tile:
            return []
        rows = [BM + 1, 1, 17, BM - 1, 65, BM + 16, BM // 2, 16, BM + 64, 5, 2 * BM - 7]
        rows += [33, BM // 2 + 1, 8, 32, 9, 64]
        cols = [BN + 1, BN - 1, 1, BN + 8, BN // 2 + 2, BN, BN + 33, 8, BN + 4, 3, BN // 2 + 24]
        cols += [BN // 2, BN + BN // 2, BN // 2 + 1, BN // 4, BN // 4 + 1, 2 * BN - 1, 65]
        last = [self.deep, BK + 1, BK - 1, 2 * BK, 1, BK + 8, BK, BK // 2 + 2, 8]
        count = max(len(rows), len(cols), len(last))
        sizes = ([of[i % len(of)] for of in (rows, cols, last)] for i in range(count))
        shapes = (self.fit(*(max(1, size) for size in three)) for three in sizes)
        return unique(shapes)

    def stores(self) -> list[Shape]:
        """Rows of C of each alignment: multiples of 8, 4, 2 and 1 elements; of A and B, too."""
        (BM, BN, BK), of = self.tile, self.spec.multiple_of
        if of != (1, 1, 1):
            return []
        return [(BM // 2 + 1, BN + odd, BK + odd) for odd in (8, 4, 2, 1)]


def unique(shapes: Iterable[Shape]) -> list[Shape]:
    """Each once, in the order in which it first comes."""
    return list(dict.fromkeys(shapes))


def limits(spec: KernelSpec, config: str = "") -> Limits:
    """Those of a configuration, or of the step's own tile."""
    return Limits(spec, spec.tile_of(config))


def default_runs(
    spec: KernelSpec, precisions: Sequence[str], configs: Sequence[str], backend: str
) -> list[Run]:
    """What is run if nothing else is asked for, what shows most mistakes first.

    configs: the step's own choice, "", or several of its configurations. The first meets every
    limit with and without C; the others, whose code is largely the same, meet a share of them.
    """
    runs: list[Run] = []
    for number, config in enumerate(configs):
        own, first = limits(spec, config), number % len(precisions)
        types = [*precisions[first:], *precisions[:first]]
        runs += (_thorough if number == 0 else _brief)(own, config, types)
        runs += _turned(own, config, types[0], brief=number > 0)
        if backend == "sim":
            runs += _machines(own, config, types, brief=number > 0)
        else:
            runs += _large(own, config, types)
    return _allowed(spec, runs)


def _allowed(spec: KernelSpec, runs: Iterable[Run]) -> list[Run]:
    """Each once; of a kernel without alpha and beta, plain products only.

    Without any k last: a kernel that loads its first tile nevertheless ends the check there, and
    would hide what else is wrong with it.
    """
    plain = (1.0, 0.0)
    kept = (run if spec.scales else replace(run, factors=plain) for run in runs)
    return sorted(dict.fromkeys(kept), key=lambda run: run.shape[2] == 0)


def given_runs(
    spec: KernelSpec, shapes: Sequence[Shape], precisions: Sequence[str], configs: Sequence[str]
) -> list[Run]:
    """Shapes that were asked for: in the first precision with all factors, else with one pair.

    Blocks that leave something for each other come backwards in every second run.
    """
    first, *others = precisions
    runs = [
        Run(shape, factors, first, configs[0], order=i % 2 if spec.workspace else 0)
        for shape in shapes
        for i, factors in enumerate(ALPHA_BETA)
    ]
    runs += [Run(shape, ADDED, other, configs[0]) for other in others for shape in shapes]
    runs += [
        Run(shape, ADDED, first, configs[0], layout=layout)
        for layout in spec.layouts[1:]
        for shape in shapes
        if has_layouts(shape)
    ]
    runs += [Run(shape, ADDED, first, one) for one in configs[1:] for shape in shapes]
    return _allowed(spec, runs)


def has_layouts(shape: Shape) -> bool:
    """Whether a transposed view lies in memory in another way than a matrix of its shape.

    One of a single row or column, or without elements, does not.
    """
    return min(shape) > 1


def few_shapes(spec: KernelSpec) -> list[Shape]:
    """Where there is time for a few only, as in a judge: small, deep, wide, and with edges."""
    own, (BM, BN, BK), (m, n, k) = limits(spec), spec.tile, spec.multiple_of
    edges = [own.fit(BM + 3, BN + 1, own.deep), own.fit(BM, BN, BK + 8)]
    if (m, n, k) == (1, 1, 1):
        small = [(1, 1, 1), (33, 65, 17), (64, 40, 96)]
        return [*edges, *small] if max(BM, BN) > 64 else small
    shapes = [(m, n, k), own.fit(2 * m, n, own.deep), (m, 3 * n, 2 * k)]
    if (m, n, k) != spec.tile:
        shapes = [*edges, *shapes]
    # Long enough in K that tiles of C are cut, if the step cuts them.
    return [*shapes, (m, 2 * n, 80 * k)] if spec.workspace else shapes


def _thorough(own: Limits, config: str, precisions: Sequence[str]) -> Iterator[Run]:
    """Every limit; a deep product in each precision, the rest in precisions that take turns."""
    (BM, BN, _), deep = own.tile, own.deep
    whole, cut = own.fit(BM, BN, deep), own.fit(BM + 3, BN + 5, deep)
    for i, precision in enumerate(precisions):
        for factors in ALPHA_BETA if i == 0 else (ADDED, SCALED):
            yield Run(whole, factors, precision, config)
    even = own.fit(BM, BN, own.deep_whole)
    both = [even, cut, *own.grids(), *own.edges(), *own.stores(), own.fit(BM, BN, 0)]
    for i, (shape, factors) in enumerate(product(both, (ADDED, SCALED))):
        yield Run(shape, factors, precisions[(i + i // 2) % len(precisions)], config)
    for i, shape in enumerate(own.rings()):
        yield Run(shape, (ADDED, SCALED)[i % 2], precisions[i % len(precisions)], config)
    yield from _addresses(own, config, precisions)


def _brief(own: Limits, config: str, precisions: Sequence[str]) -> Iterator[Run]:
    """Of a configuration: deep, several tiles, edges, stores and an address, each once."""
    (BM, BN, _), deep = own.tile, own.deep
    shapes = [own.fit(BM, BN, own.deep_whole), own.fit(BM, BN, deep)]
    shapes += [own.fit(BM + 3, BN + 5, deep), own.fit(BM, BN, 0)]
    shapes += [*own.rings()[:1], *own.grids()[1:], *own.edges()[1:], *own.stores()[1::2]]
    for i, shape in enumerate(shapes):
        yield Run(shape, (ADDED, SCALED)[i % 2], precisions[i % len(precisions)], config)
    yield Run(shapes[2], SCALED, precisions[0], config)
    yield from _addresses(own, config, precisions, brief=True)


def _turned(own: Limits, config: str, precision: str, brief: bool) -> Iterator[Run]:
    """The other layouts of A and B: whole tiles, edges, rows of each alignment, odd addresses.

    In one precision, as each layout is compiled apart. brief: few shapes.
    """
    (BM, BN, _), deep = own.tile, own.deep
    shapes = [own.fit(BM, BN, own.deep_whole), own.fit(BM + 3, BN + 5, deep)]
    shapes += own.stores()[1::2] if brief else [*own.edges(), *own.stores()]
    shapes = [shape for shape in shapes if has_layouts(shape)]
    places = [(0, 0, 0), (1, 1, 1), (0, 8, 0)]
    for layout in own.spec.layouts[1:]:
        for i, shape in enumerate(shapes):
            factors = (ADDED, SCALED)[i % 2]
            yield Run(shape, factors, precision, config, layout=layout)
        for offsets in () if brief else places[1:]:
            yield Run(shapes[0], ADDED, precision, config, offsets, layout=layout)


def _machines(own: Limits, config: str, precisions: Sequence[str], brief: bool) -> Iterator[Run]:
    """Small machines and other orders, on which the result may not depend.

    brief: each machine once, its blocks by number or backwards.
    """
    small = [*_waves(own, config, precisions[0]), *_cut(own, config, precisions[0])]
    if brief:
        yield from (replace(run, order=i % 2) for i, run in enumerate(small))
        return
    for i, run in enumerate((*small, Run(own.grids()[-1], ADDED, precisions[0], config))):
        yield from (run, replace(run, order=1 + i % 2))
    for run in small:
        yield replace(run, factors=SCALED, precision=precisions[-1], order=3)
        if own.spec.persistent and math.prod(run.shape) <= _SMALL:
            yield from (replace(run, order=order) for order in _MORE_ORDERS)


def _waves(own: Limits, config: str, precision: str) -> Iterator[Run]:
    """Two and three tiles for a block of a persistent step."""
    spec, (BM, BN, _) = own.spec, own.tile
    for columns, sms in zip((2, 1), SMALL_MACHINES if spec.persistent else (), strict=False):
        rows = (sms * spec.blocks_per_sm + 1) * BM - own.edge
        shape = own.fit(rows, columns * BN, own.depth(spec.stages + 2))
        yield Run(shape, ADDED, precision, config, sms=sms)


def _cut(own: Limits, config: str, precision: str) -> Iterator[Run]:
    """Tiles that are cut along k: in a column on small machines, low ones in a row on the usual."""
    BM, BN, _ = own.tile
    for tiles, k_tiles, sms in own.spec.cuts:
        rows, columns = (tiles * BM - own.edge, BN) if sms else (BM // 4, tiles * BN - own.edge)
        shape = own.fit(rows, columns, own.depth(k_tiles))
        yield Run(shape, ADDED, precision, config, sms=sms)


def _addresses(
    own: Limits, config: str, precisions: Sequence[str], brief: bool = False
) -> Iterator[Run]:
    """Views that begin somewhere inside a buffer: at any element, or where the step allows.

    Whole tiles come there, too: nothing but the address then asks for guards. One matrix alone is
    off by half of what the step's widest access needs: the others do not ask for guards, either.
    brief: whole tiles only.
    """
    spec, (BM, BN, BK) = own.spec, own.tile
    widest = _VECTOR_BYTES // PRECISIONS[precisions[0]].bytes[0]
    unit = 1 if spec.takes_any_address else spec.alignment // PRECISIONS[precisions[0]].bytes[0]
    whole = own.fit(BM, BN, 2 * BK)
    rows = own.stores() or [own.fit(BM // 2 + 1, BN, BK + BK // 2)]
    places = [(unit, unit, unit)]
    if spec.takes_any_address:
        half = widest // 2
        alone = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, half, 0), (half, 0, 0), (0, 0, half)]
        places = [alone[0], *places, *alone[1:], (2, 2, 2), (4, 4, 4), (3, 8, 5)]
    if brief:
        for i, offsets in enumerate(places[:-3] if spec.takes_any_address else places):
            yield Run(
                whole, (ADDED, SCALED)[i % 2], precisions[i % len(precisions)], config, offsets
            )
        return
    for i, offsets in enumerate(places):
        shapes = (whole, rows[i // 2 % len(rows)])
        pairs = (
            product(shapes, (ADDED, SCALED)) if i < 2 else zip(shapes, (SCALED, ADDED), strict=True)
        )
        for j, (shape, factors) in enumerate(pairs):
            yield Run(shape, factors, precisions[(i + j) % len(precisions)], config, offsets)


def _large(own: Limits, config: str, precisions: Sequence[str]) -> Iterator[Run]:
    """What fills a GPU, and gives each SM several tiles."""
    BM, BN, BK = own.tile
    shape = own.fit(8 * BM + 6, 6 * BN + 5, 40 * BK + 3)
    yield from (Run(shape, factors, precisions[0], config) for factors in (ADDED, SCALED))
    if own.spec.persistent:
        waves = own.fit(20 * BM, 20 * BN, own.depth(own.spec.stages + 2))
        yield from (Run(waves, factors, precisions[0], config) for factors in (ADDED, SCALED))
