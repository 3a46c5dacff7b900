"""The accesses of a single warp that are measured one by one, seeded.

A pattern is a dictionary as in the recorded file (`gemmlab.evidence.patterns`), without counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SHARED_BYTES = 16384  # fixtures/patterns.cuh
GLOBAL_BYTES = 65536
LANE = np.arange(32)
WHOLE = np.ones(32, bool)

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
    **{("red", 4): 16, ("atom", 4): 10, ("red", 8): 10, ("red.f32", 4): 10},
    **{("exch", 4): 30, ("max", 4): 30, ("cas", 4): 30},
}


def draw_all(seed: int) -> dict[str, list[dict]]:
    """Sets of patterns by what they are."""
    return {
        "random": draw(seed),
        "loads whose lanes agree in pairs": draw_pairs(seed + 2),
        "copies": draw_copies(seed + 3),
        "loads with few active lanes": draw_masks(seed + 4),
    }


def _pattern(op: str, size: int, active: np.ndarray, **places: np.ndarray) -> dict:
    """Places in bytes; written in units of the bytes a lane, source_bytes as they are."""
    unit = {"source_bytes": 1}
    width = 16 if "matrix" in op else size
    texts = {
        name: _text(active, values // unit.get(name, width)) for name, values in places.items()
    }
    return {"op": op, "size": size, **texts}


def _text(active: np.ndarray, values: np.ndarray) -> str:
    """Lanes as `gemmlab.evidence.patterns.lanes` reads them."""
    tokens, n = [], 0
    while n < 32:
        count = _run(active, values, n)
        first = values[n] if active[n] else "."
        step = int(values[n + 1] - values[n]) if active[n] and count > 1 else 0
        tokens.append(f"{first}{f':{step}' if step else ''}{f'*{count}' if count > 1 else ''}")
        n += count
    return " ".join(tokens)


def _run(active: np.ndarray, values: np.ndarray, first: int) -> int:
    """How many lanes from `first` on are inactive, or active and equally far apart."""
    end = first + 1
    while end < 32 and active[end] == active[first]:
        steps = values[first + 1 : end + 1] - values[first:end]
        if active[first] and (steps != steps[0]).any():
            break
        end += 1
    count = end - first
    is_worth_it = (
        not active[first] or count > 2 or (count == 2 and values[first] == values[end - 1])
    )
    return count if is_worth_it else 1


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
        active = 8 * size > LANE if matrix else WHOLE if number % 5 < 2 else _mask(random)
        shape = _matrix_rows if matrix else _offsets
        places = {"shared": shape(random, SHARED_BYTES, width)}
        if op.startswith(("ld", "st", "cp.async")) and not matrix:
            places["global"] = _offsets(random, GLOBAL_BYTES, width)
        if op.endswith("zfill"):
            places["source_bytes"] = random.choice([0, width // 2, width], size=32)
        patterns.append(_pattern(op, size, active, **places))
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


# ---- wide loads ----

# Which of four lanes want the same address: all, neighbours, every second one, none.
QUADS = {"all": (0, 0, 0, 0), "n^1": (0, 0, 1, 1), "n^2": (0, 1, 0, 1), "none": (0, 1, 2, 3)}


def draw_pairs(seed: int) -> list[dict]:
    """8- and 16-byte loads, near what makes the GPU serve twice as many lanes at a time."""
    random = np.random.default_rng(seed)
    patterns = []
    for width in (8, 16):
        for quad in QUADS:
            for some in range(1, 16):
                active = np.tile([bool(some >> n & 1) for n in range(4)], 8)
                places = _agreeing(random, width, [quad])
                patterns.append(_pattern("ld", width, active, shared=places))
        for _ in range(90):
            places = _agreeing(random, width, _quads(random))
            if random.random() < 0.5:  # one lane, or one group of them, goes elsewhere
                other = int(random.integers(32))
                alone = random.random() < 0.4
                moved = other == LANE if alone else places == places[other]
                places = np.where(moved, random.integers(SHARED_BYTES // width) * width, places)
            active = WHOLE if random.random() < 0.4 else _mask(random)
            patterns.append(_pattern("ld", width, active, shared=places))
    return patterns


def draw_masks(seed: int) -> list[dict]:
    """8- and 16-byte loads of few lanes, in one half of the warp or both."""
    random = np.random.default_rng(seed)
    patterns = []
    for number in range(450):
        width = 8 if number % 5 == 0 else 16
        active = random.random(32) < random.choice([0.2, 0.4, 0.6, 0.9])
        active &= [LANE < 16, LANE >= 16, WHOLE][random.integers(3)]
        active[random.integers(32)] = True
        places = _agreeing(random, width, _quads(random))
        if number % 8 == 0:
            places[:] = places[0]
        patterns.append(_pattern("ld", width, active, shared=places))
    return patterns


def _quads(random: np.random.Generator) -> list[str]:
    return random.choice(list(QUADS), size=random.choice([1, 1, 2, 8])).tolist()


def _agreeing(random: np.random.Generator, width: int, quads: Sequence[str]) -> np.ndarray:
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
                    patterns.append(_copy(op, width, WHOLE, *_tile(width, row, pitch, layout)))
        for number in range(30):
            patterns.append(_one_phase(random, op, width, number))
        for _ in range(15):
            places = [random.permutation(size // width)[:32] * width for size in (4096, 8192)]
            patterns.append(_copy(op, width, _mask(random), *places))
        for number in range(10):
            patterns.append(_filled(random, op, width, number))
    return patterns


def _copy(op: str, width: int, active: np.ndarray, to: np.ndarray, source: np.ndarray) -> dict:
    return _pattern(f"cp.async.{op}", width, active, shared=to, **{"global": source})


def _filled(random: np.random.Generator, op: str, width: int, number: int) -> dict:
    """Rows of a tile, of which the last lanes or some are zeros."""
    row = int(random.choice([64, 128]))
    to, source = _tile(width, row, 2048, "swizzled")
    inside = random.integers(1, 32) if number % 2 else 0
    whole = inside > LANE if number % 2 else random.random(32) < 0.5
    partly = width // 2 if number % 5 == 0 else 0
    sizes = np.where(whole, width, partly)
    places = {"shared": to, "global": source, "source_bytes": sizes}
    return _pattern(f"cp.async.{op}.zfill", width, WHOLE, **places)


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
    return _copy(op, width, lanes > LANE, to, source)
