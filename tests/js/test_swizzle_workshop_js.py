"""SwizzleWorkshop's JavaScript computes what the Python does, sentences included; needs node."""

import random

import pytest

from gemmlab.layouts.shared import ldmatrix as phases
from gemmlab.layouts.shared.ldmatrix import READERS, ChunkTile
from gemmlab.layouts.shared.swizzle import BitXor, Swizzle
from gemmlab.widgets import SwizzleWorkshop
from gemmlab.widgets.swizzle_workshop import TILES

ROWS = {32: 32, 64: 32, 128: 16, 256: 16}
READER_LIST = [{"name": name, "matrices": count} for name, count in READERS.items()]


def expected(tile, xor, swizzle):
    whole = not phases.torn(xor)
    found = xor.swizzle()
    answer = {
        "bits": [tile.row_bit, [tile.role(bit) for bit in range(tile.bits)]],
        "moved": [xor(at) for at in range(1 << tile.bits)],
        "map": phases.describe_map(xor, tile),
        "formula": phases.formula(xor, tile),
        "reads": [read(tile, xor, reader) for reader in READERS] if whole else [],
        "swizzle": [found.B, found.M - 1, found.S] if found and found.M else None,
        "cell": [500 // tile.row_bytes, 500 % tile.row_bytes // 16],
        "pairs": [list(p) for p in BitXor.of(swizzle.on_bytes(2), tile.bits).pairs],
        "collision": xor.collision(tile.bits) and list(xor.collision(tile.bits)),
        "write": None,
    }
    if whole:
        cost = phases.write(tile, xor)
        answer["write"] = [cost.wavefronts, cost.minimum, phases.describe_write(cost, tile)]
    return answer


def read(tile, xor, reader):
    request, lanes = phases.read(tile, xor, reader), phases.pointed(reader)
    found = [
        phases.groups(tile, xor, lanes[first : first + 8]) for first in range(0, len(lanes), 8)
    ]
    said = [phases.describe_phase(one, n) for n, one in enumerate(found)]
    wavefronts = [phase.wavefronts for phase in request.phases]
    return [wavefronts, request.minimum, phases.describe_read(request, reader), found, said]


def random_case(rng):
    row_bytes = rng.choice(list(ROWS))
    tile = ChunkTile(ROWS[row_bytes], row_bytes)
    b = rng.randint(0, 4)
    swizzle = Swizzle(b, rng.randint(0, 5), rng.randint(b, 8))
    if rng.random() < 0.4:
        return tile, BitXor.of(swizzle.on_bytes(2), tile.bits), swizzle
    low = 4 if rng.random() < 0.9 else 0
    every = [(s, t) for s in range(low, tile.bits) for t in range(low, 8) if s != t]
    return tile, BitXor(tuple(rng.sample(every, rng.randint(0, 6)))), swizzle


@pytest.mark.slow
@pytest.mark.twin("shared/ldmatrix", "shared/swizzle")
def test_random_maps_agree(ask):
    rng = random.Random(5)
    cases = [random_case(rng) for _ in range(250)]
    sent = [
        ("workshop", {
            "tile": {"rows": tile.rows, "row_bytes": tile.row_bytes},
            "pairs": xor.pairs, "swizzle": [swizzle.B, swizzle.M, swizzle.S],
            "readers": READER_LIST,
        })
        for tile, xor, swizzle in cases
    ]  # fmt: skip
    said = ""
    for case, got in zip(cases, ask(sent), strict=True):
        want = expected(*case)
        assert got == want, case
        said += f"{want['map']} {want['formula']} {want['write']}"
    # The draw is worth something: every kind of map.
    for words in ("One-to-one", "Not one-to-one", "do not stay", "splits", "chunk ^", "offset ^",
                  "No swizzle changes that", "no conflict"):  # fmt: skip
        assert words in said, words


def test_states_agree(ask):
    cases, expect = [], []
    for name in TILES:
        widget = SwizzleWorkshop(name)
        start = widget.state
        for change in (
            {}, {"pairs": [[7, 4]]}, {"pairs": [[7, 4], [8, 5]], "phase": 1},
            {"pairs": [[8, 4], [9, 5], [10, 6]]}, {"pairs": [[5, 4], [4, 5]]},
            {"pairs": [[7, 3]]}, {"reader": "ldmatrix.x1", "pairs": [[7, 4], [8, 5], [9, 6]]},
        ):  # fmt: skip
            widget.state = {**start, **change}
            cases.append(("workshop_model", {"config": widget.config, "state": widget.state}))
            expect.append([widget.readings(), widget.solved])
    assert ask(cases) == expect
    assert {solved for _, solved in expect} == {True, False}


@pytest.mark.parametrize(
    ("pairs", "swizzle", "pair", "after"),
    [
        ([], [0, 3, 3], [7, 4], ([[7, 4]], [1, 3, 3])),
        ([[7, 4]], [1, 3, 3], [8, 5], ([[7, 4], [8, 5]], [2, 3, 3])),
        ([[7, 4], [8, 5]], [2, 3, 3], [9, 5], ([[7, 4], [8, 5], [9, 5]], [2, 3, 3])),
        ([[7, 4]], [1, 3, 3], [7, 4], ([], [0, 3, 3])),
        ([[9, 5]], [1, 4, 4], [8, 4], ([[8, 4], [9, 5]], [2, 3, 4])),
    ],
)
def test_a_toggle_and_what_the_triple_becomes(ask, pairs, swizzle, pair, after):
    state = {"pairs": pairs, "swizzle": swizzle}
    got = ask([("toggled", {"state": state, "pair": pair})])[0]
    assert (got["pairs"], got["swizzle"]) == after


@pytest.mark.parametrize(
    ("i", "value", "swizzle", "pairs"),
    [
        (0, 1, [1, 3, 3], [[7, 4]]),
        (0, 4, [4, 3, 4], [[8, 4], [9, 5]]),  # S gives way; the tile has no bits 10 and 11
        (2, 2, [2, 3, 2], [[6, 4], [7, 5]]),
    ],
)
def test_a_step_of_the_triple(ask, i, value, swizzle, pairs):
    state = {"pairs": [], "swizzle": [3, 3, 3] if i else [0, 3, 3]}
    tile = {"rows": 32, "row_bytes": 32}
    got = ask([("stepped", {"state": state, "tile": tile, "i": i, "value": value})])[0]
    assert (got["swizzle"], got["pairs"]) == (swizzle, pairs)


@pytest.mark.parametrize(
    ("access", "name"),
    [
        ({"width": 4, "store": False}, "load, 4 bytes a lane"),
        ({"width": 16, "store": False, "op": "ldmatrix.x4"}, "ldmatrix.x4, 16 bytes a row"),
        ({"width": 8, "store": True, "op": "cp.async"}, "cp.async, 8 bytes a lane"),
    ],
)
def test_names_of_accesses_in_bank_map(ask, access, name):
    assert ask([("access_name", {"access": access})]) == [name]
