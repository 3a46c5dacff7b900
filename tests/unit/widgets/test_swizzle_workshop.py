"""The XOR of offset bits, what it costs ldmatrix and cp.async, and SwizzleWorkshop."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import for_columns
from gemmlab.layouts.shared import banks
from gemmlab.layouts.shared import ldmatrix as phases
from gemmlab.layouts.shared.ldmatrix import READERS, ChunkTile
from gemmlab.layouts.shared.swizzle import BitXor, Swizzle
from gemmlab.widgets import SwizzleWorkshop
from gemmlab.widgets.swizzle_workshop import TILES

A16, A32, A64, B128 = (ChunkTile(32, n) for n in (32, 64, 128, 256))


def of(*bits, tile=A16):
    """The XOR of a Swizzle on 16-bit elements."""
    return BitXor.of(Swizzle(*bits).on_bytes(2), tile.bits)


# --- BitXor ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bits", [(0, 3, 3), (1, 3, 3), (3, 3, 3), (3, 3, 4), (2, 0, 5), (3, 4, -3)]
)
def test_a_swizzle_as_pairs_of_bits(bits):
    swizzle, offsets = Swizzle(*bits), np.arange(4096)
    assert np.array_equal(BitXor.of(swizzle)(offsets), swizzle(offsets))
    assert BitXor.of(swizzle, 12)(4095) == BitXor.of(swizzle)(4095) % 4096
    if bits[0] and bits[2] > 0:
        assert BitXor.of(swizzle).swizzle() == swizzle


@pytest.mark.parametrize(
    "pairs",
    [
        (),
        ((5, 4), (4, 5)),  # S would be -1 and 1
        ((7, 4), (9, 5)),
        ((7, 4), (8, 5), (9, 7)),
        ((5, 4), (6, 5)),  # S = 1 is less than B = 2
        ((4, 7),),
    ],
)
def test_pairs_that_are_no_swizzle(pairs):
    assert BitXor(pairs).swizzle() is None


def test_sources_are_read_before_targets_change():
    both = BitXor(((5, 4), (6, 5)))
    assert both(0b1100000) == 0b1010000 ^ 0b1100000 ^ 0b1100000
    assert [both(n << 4) >> 4 for n in range(8)] == [n ^ n >> 1 for n in range(4)] + [6, 7, 5, 4]


def test_what_is_one_to_one():
    assert of(3, 3, 3).collision(10) is None
    assert BitXor(((5, 4), (4, 5))).collision(6) == (16, 32)
    assert BitXor(((5, 4), (6, 4), (7, 4))).collision(8) is None


@pytest.mark.parametrize("pairs", [((4, 4),), ((5, 4), (5, 4)), ((30, 4),), ((-1, 4),), ((5,),),
                                   ((True, 4),), ((5.0, 4),)])  # fmt: skip
def test_bad_pairs_are_refused(pairs):
    with pytest.raises(ArgumentError, match="pairs: got"):
        BitXor(pairs)


# --- costs ----------------------------------------------------------------------------------------


# Measured on an H200 with Nsight Compute: l1tex wavefronts of one ldmatrix.
MEASURED = [
    (A16, "ldmatrix.x4", (0, 3, 3), 8, 4),
    (A16, "ldmatrix.x4", (1, 3, 3), 4, 4),
    (A32, "ldmatrix.x4", (0, 3, 3), 16, 4),
    (A32, "ldmatrix.x4", (2, 3, 3), 4, 4),
    (A64, "ldmatrix.x4", (0, 3, 3), 32, 4),
    (A64, "ldmatrix.x4", (3, 3, 3), 4, 4),
    (B128, "ldmatrix.x2.trans", (0, 3, 3), 16, 2),
    (B128, "ldmatrix.x2.trans", (3, 3, 3), 4, 2),
    (B128, "ldmatrix.x2.trans", (3, 3, 4), 2, 2),
    (B128, "ldmatrix.x4.trans", (3, 3, 4), 4, 4),
]


@pytest.mark.parametrize(("tile", "reader", "bits", "wavefronts", "minimum"), MEASURED)
def test_reads_cost_what_was_measured(tile, reader, bits, wavefronts, minimum):
    found = phases.read(tile, of(*bits, tile=tile), reader)
    assert (found.wavefronts, found.minimum) == (wavefronts, minimum)


@pytest.mark.parametrize(
    ("tile", "bits", "formula"),
    [
        (A16, (0, 3, 3), "chunk"),
        (A16, (1, 3, 3), "chunk ^ (row >> 2 & 1)"),
        (A32, (2, 3, 3), "chunk ^ (row >> 1 & 3)"),
        (A64, (3, 3, 3), "chunk ^ (row & 7)"),
        (B128, (3, 3, 4), "chunk ^ (row & 7)"),
        (B128, (2, 4, 4), "chunk ^ ((row >> 1 & 3) << 1)"),
        (B128, (3, 3, 3), "offset ^ (offset >> 3 & 0x70)"),
    ],
)
def test_formulas_compute_what_they_stand_for(tile, bits, formula):
    xor = of(*bits, tile=tile)
    assert phases.formula(xor, tile) == formula
    for row in range(tile.rows):
        for chunk in range(tile.chunks):
            offset = tile.offset(row, chunk)
            value = eval(formula, {"row": row, "chunk": chunk, "offset": offset})
            place = tile.offset(row, value) if formula.startswith("chunk") else value
            assert place == xor(offset)


def test_a_formula_of_more_than_one_distance():
    xor = BitXor(((8, 4), (10, 5), (11, 6), (7, 6)))
    assert phases.formula(xor, A64) == (
        "chunk ^ ((row & 1) << 2) ^ (row >> 1 & 1) ^ ((row >> 3 & 3) << 1)"
    )
    assert phases.formula(BitXor(((4, 6), (8, 4))), A64) == (
        "offset ^ (offset << 2 & 0x40) ^ (offset >> 4 & 0x10)"
    )


def test_copies_take_a_wavefront_a_line_whatever_the_swizzle():
    for tile, wavefronts in ((A16, 16), (A32, 8), (A64, 4), (B128, 4)):
        for bits in ((0, 3, 3), (3, 3, 3), (3, 3, 4)):
            found = phases.write(tile, of(*bits, tile=tile))
            assert (found.wavefronts, found.minimum) == (wavefronts, 4)


def test_an_xor_within_a_line_splits_its_write():
    xor = BitXor(((5, 4),))
    found = phases.write(A64, xor)
    assert found.wavefronts == 8
    assert "splits its write" in phases.describe_write(found, A64)


def test_words_for_a_phase():
    def said(tile, bits, phase=0, reader="ldmatrix.x4"):
        cells = phases.pointed(reader)[8 * phase : 8 * phase + 8]
        return phases.describe_phase(phases.groups(tile, of(*bits, tile=tile), cells), phase)

    assert said(A16, (0, 3, 3)) == (
        "Phase 1: rows 0, 4 meet in banks 0 to 3, and as many in 3 other groups: 2 wavefronts, "
        "1 too many."
    )
    assert said(A16, (0, 3, 3), 3).startswith("Phase 4: rows 8, 12 meet in banks 4 to 7, and as")
    assert said(A32, (0, 3, 3)).endswith("1 other group: 4 wavefronts, 3 too many.")
    assert said(A16, (1, 3, 3), 1) == "Phase 2: its 8 rows stand in 8 groups of banks: 1 wavefront."


def test_words_for_maps():
    assert phases.describe_map(of(3, 2, 4), A16).startswith("The 16 bytes of a chunk do not stay")
    assert phases.describe_map(of(3, 3, 4), B128).startswith("One-to-one")
    assert phases.describe_map(BitXor(((5, 4), (4, 5))), A32) == (
        "Not one-to-one: row 0, chunk 1 and row 0, chunk 2 have the same place."
    )
    assert phases.describe_map(BitXor(((5, 4), (4, 5))), A16) == (
        "Not one-to-one: row 0, chunk 1 and row 1, chunk 0 have the same place."
    )


def test_rows_at_one_address_are_read_once():
    """Of a map that is not one-to-one, a phase reads each place once."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        chosen = rng.permutation([(s, t) for s in range(4, 10) for t in (4, 5, 6) if s != t])
        xor = BitXor(tuple(tuple(map(int, pair)) for pair in chosen[: rng.integers(1, 7)]))
        request = phases.read(A16, xor, "ldmatrix.x4")
        for n in range(4):
            cells = phases.pointed("ldmatrix.x4")[8 * n : 8 * n + 8]
            deepest = max(map(len, phases.groups(A16, xor, cells)))
            assert request.phases[n].wavefronts == deepest


@pytest.mark.parametrize("tile", [A16, A32, A64, B128])
def test_for_columns_frees_every_reader(tile):
    xor = BitXor.of(for_columns(tile.row_bytes // 2, 2, 16).on_bytes(2), tile.bits)
    for reader, count in READERS.items():
        for row in range(0, tile.rows, 16):
            assert phases.read(tile, xor, reader, row).wavefronts == count


def test_roles_of_bits():
    assert [A16.role(bit) for bit in (3, 4, 5, 9)] == ["byte", "chunk 0", "row 0", "row 4"]
    assert [B128.role(bit) for bit in (4, 7, 8)] == ["chunk 0", "chunk 3", "row 0"]
    assert (A16.bits, B128.bits) == (10, 13)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ChunkTile(24, 64), "rows"),
        (lambda: ChunkTile(32, 48), "row_bytes"),
        (lambda: ChunkTile(32, 512), "row_bytes"),
        (lambda: phases.pointed("ldmatrix.x3"), "reader"),
        (lambda: phases.pointed(4), "reader"),
    ],
)
def test_what_there_is_not_is_refused(make, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        make()


# --- the widget -----------------------------------------------------------------------------------


def test_it_opens_with_the_problem_and_one_step_solves_it():
    widget = SwizzleWorkshop()
    assert "8 wavefronts, the minimum is 4: 4 too many" in widget.summary()
    assert not widget.solved
    widget.state = {**widget.state, "pairs": [[7, 4]]}
    assert widget.solved
    assert "chunk ^ (row >> 2 & 1)" in widget.summary()


@pytest.mark.parametrize("name", TILES)
def test_the_last_known_swizzle_solves_it(name):
    tile, reader, known = TILES[name]
    *_, last = known.values()
    text = "Swizzle<{},{},{}>".format(*last)
    assert SwizzleWorkshop(name, swizzle=text).solved
    assert not SwizzleWorkshop(name).solved
    found = phases.read(tile, of(*last, tile=tile), reader)
    assert found.conflicts == 0


def test_the_swizzle_of_article_001_for_b():
    widget = SwizzleWorkshop("B, BN = 128", swizzle="Swizzle<3,3,3>")
    assert "ldmatrix.x2.trans: 4 wavefronts, the minimum is 2: 2 too many." in widget.summary()
    assert not widget.solved
    assert SwizzleWorkshop(
        "B, BN = 128", swizzle=Swizzle(3, 3, 4), reader="ldmatrix.x4.trans"
    ).solved


def test_torn_chunks_and_places_that_are_taken_twice_solve_nothing():
    torn = SwizzleWorkshop("A, BK = 64", swizzle="Swizzle<3,2,4>")
    assert not torn.solved
    assert "do not stay together" in torn.summary()
    assert torn.png()[:4] == b"\x89PNG"
    widget = SwizzleWorkshop("A, BK = 64")
    widget.state = {**widget.state, "pairs": [[5, 4], [4, 5], [7, 4], [8, 5], [9, 6]]}
    assert not widget.solved
    assert "Not one-to-one" in widget.summary()
    assert "cp.async" not in widget.summary()


def test_an_exercise_gives_no_solution_away():
    widget = SwizzleWorkshop("A, BK = 32", exercise=True)
    assert [label for label, _ in widget.config["tiles"][0]["starts"]] == ["none"]
    assert len(SwizzleWorkshop("A, BK = 32").config["tiles"][0]["starts"]) > 1


def test_the_picture():
    widget = SwizzleWorkshop("B, BN = 128", swizzle="Swizzle<3,3,3>")
    image = Image.open(io.BytesIO(widget.png()))
    assert 700 <= image.width <= 800
    widget.state = {**widget.state, "phase": 1}
    assert "Phase 2" in widget.summary()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"tiles": "C"}, "tiles"),
        ({"tiles": []}, "tiles"),
        ({"tiles": ["A, BK = 16"] * 2}, "tiles"),
        ({"reader": "ldmatrix"}, "reader"),
        ({"swizzle": "row"}, "swizzle"),
        ({"swizzle": Swizzle(3, 3, -3)}, "swizzle"),
        ({"swizzle": 3}, "swizzle"),
        ({"swizzle": "Swizzle<3,3,2>"}, "S"),
        ({"caption": 3}, "caption"),
    ],
)
def test_bad_arguments_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        SwizzleWorkshop(**arguments)


def test_a_row_of_a_matrix_is_served_as_banks_says():
    """The phases are `banks.wavefronts` of a 16-byte store, which the simulator uses."""
    lanes = phases.pointed("ldmatrix.x4")
    addresses = [A32.offset(*at) for at in lanes]
    assert phases.read(A32, BitXor(), "ldmatrix.x4") == banks.wavefronts(addresses, 16, store=True)
