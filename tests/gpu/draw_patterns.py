"""The accesses that are measured one by one: of a single warp, seeded, and of wgmma's operands."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

SHARED_BYTES = 16384  # fixtures/patterns.cuh
GLOBAL_BYTES = 65536
LANE = np.arange(32)

# (operation, bytes a lane or number of matrices): how many patterns.
PLAN = {
    **{("ld", width): n for width, n in {1: 8, 2: 14, 4: 16, 8: 46, 16: 46}.items()},
    **{("st", width): n for width, n in {1: 6, 2: 14, 4: 14, 8: 32, 16: 32}.items()},
    **{("ldmatrix", matrices): 10 for matrices in (1, 2, 4)},
    **{("ldmatrix.trans", matrices): 5 for matrices in (1, 2, 4)},
    **{("stmatrix", matrices): 10 for matrices in (1, 2, 4)},
    **{("stmatrix.trans", matrices): 5 for matrices in (1, 2, 4)},
    **{("cp.async.ca", width): n for width, n in {4: 12, 8: 18, 16: 18}.items()},
    ("cp.async.cg", 16): 22,
    **{("cp.async.ca.zfill", width): 5 for width in (4, 8, 16)},
    ("cp.async.cg.zfill", 16): 7,
    ("red", 4): 16,
    ("atom", 4): 10,
    ("red", 8): 10,
    ("red.f32", 4): 10,
}


def draw(seed: int) -> list[dict]:
    """Patterns by PLAN, those of different kinds taking turns."""
    random = np.random.default_rng(seed)
    kinds = [_kind(random, op, size, count) for (op, size), count in PLAN.items()]
    longest = max(map(len, kinds))
    return [kind[i] for i in range(longest) for kind in kinds if i < len(kind)]


def _kind(random: np.random.Generator, op: str, size: int, count: int) -> list[dict]:
    matrix = "matrix" in op
    width = 16 if matrix else size
    patterns = []
    for number in range(count):
        whole = np.ones(32, bool)
        mask = whole if matrix or number % 5 < 2 else _mask(random)
        pattern = {"op": op, "size": size, "mask": _bits(mask)}
        shape = _matrix_rows if matrix else _offsets
        pattern["shared"] = shape(random, SHARED_BYTES, width).tolist()
        if not matrix and not op.startswith(("red", "atom")):
            pattern["global"] = _offsets(random, GLOBAL_BYTES, width).tolist()
        if "zfill" in op:
            pattern["source_bytes"] = random.choice([0, width // 2, width], size=32).tolist()
        patterns.append(pattern)
    return patterns


def _offsets(random: np.random.Generator, size: int, width: int) -> np.ndarray:
    """Byte offset of each lane: strides, swizzles, broadcasts, pairs (almost) and noise."""
    slots = size // width
    a_row = 128 // width
    odd = int(random.integers(32))
    some = random.integers(slots, size=32)
    index = [
        lambda: LANE * random.integers(0, 40),
        lambda: random.permutation(32),
        lambda: LANE // random.choice([2, 4, 8, 16, 32]) * random.integers(1, 12),
        lambda: (LANE & ~random.choice([1, 2, 3])) * random.integers(1, 9),
        lambda: LANE * a_row + (LANE ^ random.integers(32)) % min(a_row, 32),
        lambda: LANE % random.choice([4, 8, 16]) * random.integers(1, 20),
        lambda: some,
        lambda: some[LANE & ~random.choice([1, 2, 3])],
        lambda: np.where(odd == LANE, some, some[LANE & ~random.choice([1, 2])]),
        lambda: np.where(LANE < 16, some[LANE & ~1], some[LANE & ~2]),
        lambda: some[LANE & ~random.choice([4, 8, 16])],
        lambda: some[random.integers(random.choice([1, 2, 4, 8]), size=32)],
        lambda: random.integers(40, size=32),
    ][random.integers(13)]()
    return (index + random.integers(slots)) % slots * width


def _mask(random: np.random.Generator) -> np.ndarray:
    """Which lanes take part: some, a half of each pair, whole pairs, a range, a single one."""
    some = random.random(32) < random.choice([0.2, 0.5, 0.8, 0.95])
    one_of = random.choice([1, 2])
    mask = [
        lambda: random.integers(1, 33) > LANE,
        lambda: some,
        lambda: (LANE & one_of == 0) == (random.random(32)[LANE & ~one_of] < 0.5),
        lambda: LANE & one_of == 0,
        lambda: some[LANE & ~one_of],
        lambda: LANE // random.choice([4, 8, 16]) == 1,
        lambda: random.integers(32) != LANE,
    ][random.integers(7)]()
    return mask if mask.any() else random.integers(32) == LANE


def _matrix_rows(random: np.random.Generator, size: int, width: int) -> np.ndarray:
    """Byte offset of the row that each lane points to."""
    slots = size // width
    some = random.integers(slots, size=32)
    index = [
        lambda: LANE * random.integers(0, 20),
        lambda: LANE * 8 + (LANE ^ random.integers(8)) % 8,
        lambda: some,
        lambda: some % 64,
        lambda: some[LANE % 8],
        lambda: some[LANE & ~random.choice([1, 2, 3, 8, 16])],
        lambda: some[random.integers(random.choice([1, 2, 4, 8]), size=32)],
        lambda: np.concatenate([LANE[:8] * stride for stride in random.integers(1, 9, size=4)]),
    ][random.integers(8)]()
    return (index + random.integers(slots)) % slots * width


# ---- wide loads whose lanes agree in pairs ----

# Which of four lanes want the same address: all, neighbours, every second one, none.
QUADS = {"all": (0, 0, 0, 0), "n^1": (0, 0, 1, 1), "n^2": (0, 1, 0, 1), "none": (0, 1, 2, 3)}


def draw_pairs(seed: int) -> list[dict]:
    """8- and 16-byte loads, near what makes the GPU serve twice as many lanes at a time."""
    random = np.random.default_rng(seed)
    patterns = []
    for width in (8, 16):
        for quad in QUADS:
            for active in range(1, 16):
                mask = np.tile([bool(active >> n & 1) for n in range(4)], 8)
                patterns.append(_load(width, mask, _agreeing(random, width, [quad])))
        for _ in range(90):
            quads = random.choice(list(QUADS), size=random.choice([1, 1, 2, 8])).tolist()
            offsets = _agreeing(random, width, quads)
            if random.random() < 0.5:  # one lane, or one group of them, goes elsewhere
                other = int(random.integers(32))
                alone = random.random() < 0.4
                moved = other == LANE if alone else offsets == offsets[other]
                offsets = np.where(moved, random.integers(SHARED_BYTES // width) * width, offsets)
            mask = np.ones(32, bool) if random.random() < 0.4 else _mask(random)
            patterns.append(_load(width, mask, offsets))
    return patterns


def _load(width: int, mask: np.ndarray, offsets: np.ndarray) -> dict:
    return {"op": "ld", "size": width, "mask": _bits(mask), "shared": offsets.tolist()}


def _bits(mask: np.ndarray) -> int:
    return sum(1 << int(n) for n in np.flatnonzero(mask))


def _agreeing(random: np.random.Generator, width: int, quads: list[str]) -> np.ndarray:
    """Offsets of lanes that agree as `quads` say (in turn along the warp).

    Different addresses stand in random rows, and in different banks as long as there are any.
    """
    groups = 128 // width
    wanted, total = [], 0
    for quad in range(8):
        places = QUADS[quads[quad * len(quads) // 8]]
        wanted += [total + place for place in places]
        total += max(places) + 1
    banks = np.concatenate([random.permutation(groups) for _ in range(32 // groups)])
    rows = random.permutation(SHARED_BYTES // 128)[:32]
    return ((rows * groups + banks) * width)[wanted]


# ---- copies ----


def draw_copies(seed: int) -> list[dict]:
    """cp.async as kernels use it (rows of tiles), one phase alone, random, and zero-filled."""
    random = np.random.default_rng(seed)
    patterns = []
    for op, width in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        for row in (32, 64, 128, 256, 512):
            for pitch in (row, 2048) if width < 16 else (row, 2048, 2064):
                for layout in ("plain", "padded", "swizzled"):
                    patterns.append(_copy(op, width, *_tile(width, row, pitch, layout)))
        for number in range(30):
            patterns.append(_one_phase(random, op, width, number))
        for _ in range(15):
            places = [random.permutation(size // width)[:32] * width for size in (4096, 8192)]
            patterns.append(_copy(op, width, *places, mask=_mask(random)))
        for number in range(10):
            row = int(random.choice([64, 128]))
            copy = _copy(f"{op}.zfill", width, *_tile(width, row, 2048, "swizzled"))
            inside = random.integers(1, 32) if number % 2 else 0
            filled = inside > LANE if number % 2 else random.random(32) < 0.5
            partly = width // 2 if number % 5 == 0 else 0
            patterns.append(copy | {"source_bytes": np.where(filled, width, partly).tolist()})
    return patterns


def _copy(
    op: str, width: int, to: np.ndarray, source: np.ndarray, mask: np.ndarray | None = None
) -> dict:
    bits = 0xFFFFFFFF if mask is None else _bits(mask)
    places = {"shared": to.tolist(), "global": source.tolist()}
    return {"op": f"cp.async.{op}", "size": width, "mask": bits, **places}


def _tile(width: int, row: int, pitch: int, layout: str) -> tuple[np.ndarray, np.ndarray]:
    """Lanes copy neighbouring pieces of rows of `row` bytes, `pitch` bytes apart in the source."""
    flat = LANE * width
    if layout == "padded":
        to = flat + flat // row * 16
    elif layout == "swizzled":
        to = flat ^ (flat >> 3 & 0x70 & ~(width - 1) & (row - 1))
    else:
        to = flat
    return to, flat // row * pitch + flat % row


def _one_phase(random: np.random.Generator, op: str, width: int, number: int) -> dict:
    """The lanes of 128 bytes alone; banks collide in the source, in the destination, or in both."""
    lanes = min(32, 128 // width)

    def places(collide: bool) -> np.ndarray:
        rows = random.permutation(32)[:lanes] * lanes
        free, few = random.permutation(lanes), random.integers(lanes, size=lanes)
        within = np.where(random.random(lanes) < 0.4, few, free) if collide else free
        return np.resize((rows + within) * width, 32)

    to, source = places(number % 3 != 0), places(number % 3 != 1)
    return _copy(op, width, to, source, mask=lanes > LANE)


# ---- wgmma ----

WIDTHS = (8, 16, 32, 64, 96, 128, 192, 256)
SPANS = (128, 64, 32, 0)  # bytes of the swizzle
_MODES = {0: 0, 128: 1, 64: 2, 32: 3}


def operand(span: int, transposed: bool = False, start: int = 0, **strides: int) -> dict:
    """Descriptor fields in bytes; the canonical strides of a 16-deep slice unless given.

    K-major: 8 rows of `span` bytes, the next 8 after them (stride). MN-major: 8 values of k, each
    `span` bytes of m or n, then the other 8 (stride), then the next m or n (leading). Without
    swizzle: 8 x 16 bytes, then what is next in k, then what is next in m or n.
    """
    if span == 0:
        leading, stride = 128, 256
    else:
        leading, stride = (16 * span, 8 * span) if transposed else (16, 8 * span)
    fields = {"mode": _MODES[span], "start": start, "leading": leading, "stride": stride}
    return fields | strides


def draw_wgmma() -> list[dict]:
    """Shapes, layouts and swizzles, each varied with the others at rest, and some together."""
    cases = list(_wgmma_cases())
    order = np.random.default_rng(0).permutation(len(cases))
    return [cases[i] for i in order]


def _wgmma_cases() -> Iterator[dict]:
    def case(n: int, a: dict | None, b: dict, form: str, groups: int = 1, times: int = 1) -> dict:
        fields = {"form": form, "n": n, "a": a, "b": b, "warpgroups": groups, "instructions": times}
        return {"op": "wgmma", **fields}

    k128, mn128 = operand(128), operand(128, transposed=True)
    for n in WIDTHS:
        for span in SPANS:
            k, mn = operand(span), operand(span, transposed=True)
            yield case(n, k128, k, "ss")
            yield case(n, k128, mn, "ss.b_trans")
            yield case(n, None, k, "rs")
            if n in (8, 64, 96, 256):
                yield case(n, None, mn, "rs.b_trans")
            if n in (8, 64, 256):
                yield case(n, k, k128, "ss")
                yield case(n, mn, k128, "ss.a_trans")
                yield case(n, mn, mn, "ss.both_trans")
        yield case(n, k128, k128, "ss", groups=2)
    for n in (8, 64, 256):
        yield case(n, None, k128, "rs", groups=2)
        yield case(n, k128, mn128, "ss.b_trans", groups=2)
        for times in (2, 4):
            yield case(n, k128, k128, "ss", times=times)
    for start in (32, 64, 96):
        yield case(64, operand(128, start=start), operand(128, start=start), "ss")
    for span in SPANS:
        for stride in (0, 128, 16, 272):
            yield case(64, k128, operand(span, stride=stride), "ss")
            yield case(64, None, operand(span, True, stride=stride), "rs.b_trans")
            yield case(64, operand(span, stride=stride), k128, "ss")
        yield case(64, None, operand(span, True, leading=144), "rs.b_trans")
        yield case(64, None, operand(span, False, leading=144), "rs")
