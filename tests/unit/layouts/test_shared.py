"""Banks, swizzles, formulas and layouts, against counts made by hand and against brute force."""

import re
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import (
    PRESETS,
    Access,
    Layout,
    Swizzle,
    Tile,
    describe,
    find_swizzle,
    for_columns,
    locate,
    padded,
    row_major,
    sectors,
    transposed_a_column,
    wavefronts,
)
from gemmlab.layouts.shared import formula
from gemmlab.layouts.shared.access import request
from gemmlab.steps import registry

LANE = np.arange(32)
TRANSPOSED_A = Tile(16, 128)

# Single-warp loads whose wavefronts were counted on an H200: width, byte address, wavefronts.
MEASURED_LOADS = [
    ("floats side by side", 4, LANE * 4, 1),
    ("every second float", 4, LANE * 8, 2),
    ("a column of 128-byte rows", 4, LANE * 128, 32),
    ("one float for all", 4, LANE * 0 + 64, 1),
    ("a column of rows padded to 33 floats", 4, LANE * 132, 1),
    ("float2 side by side", 8, LANE * 8, 2),
    ("every second float2", 8, LANE * 16, 4),
    ("float4 side by side", 16, LANE * 16, 4),
    ("a column of 16-byte pieces in 128-byte rows", 16, LANE * 128, 32),
    ("that column, swizzled", 16, LANE * 128 + LANE % 8 * 16, 4),
    ("halves side by side", 2, LANE * 2, 1),
    ("one float4 for all", 16, LANE * 0 + 256, 2),
    ("a float4 for each quarter of the warp", 16, LANE // 8 * 16, 2),
    ("four float4 in turn", 16, LANE % 4 * 16, 4),
    ("one float2 for all", 8, LANE * 0 + 64, 1),
    ("float4 in two alternating rows", 16, LANE % 8 * 16 + LANE // 8 % 2 * 128, 4),
    ("a float4 for each half of the warp", 16, LANE // 16 * 32, 2),
    ("sixteen float4, each for two distant lanes", 16, LANE % 16 * 16, 4),
    ("a float2 for each pair of lanes", 8, LANE // 2 * 8, 1),
    ("sixteen float2, each for two distant lanes", 8, LANE % 16 * 8, 2),
    ("sixteen float4 with gaps", 16, LANE % 16 * 32, 8),
    ("two float4 with a gap", 16, LANE // 16 * 32, 2),
]


@pytest.mark.parametrize(
    ("width", "addresses", "expected"),
    [case[1:] for case in MEASURED_LOADS],
    ids=[case[0] for case in MEASURED_LOADS],
)
def test_measured_loads(width, addresses, expected):
    assert wavefronts(addresses, width).wavefronts == expected


def test_the_pair_rule_widens_the_phases_of_loads_only():
    load = wavefronts(LANE // 2 * 8, 8)
    store = wavefronts(LANE // 2 * 8, 8, store=True)
    assert [phase.lanes for phase in load.phases] == [tuple(range(32))]
    assert [len(phase.lanes) for phase in store.phases] == [16, 16]
    assert (load.wavefronts, store.wavefronts) == (1, 2)


def test_the_transposed_store_by_hand():
    # Rows 0, 4, 8, 12 start at bank 0; eight columns: 4 lanes in each of banks 0 to 7.
    plain = request(Access("transposed A store", store=True), TRANSPOSED_A, Layout())
    assert (plain.wavefronts, plain.minimum, plain.conflicts) == (4, 1, 3)
    (phase,) = plain.phases
    assert [len(words) for words in phase.by_bank()] == [4] * 8 + [0] * 24
    assert [word.lanes for word in phase.by_bank()[0]] == [(0,), (1,), (2,), (3,)]
    assert [word.wavefront for word in phase.by_bank()[0]] == [0, 1, 2, 3]
    assert len(phase.collisions()) == 8
    swizzled = request(
        Access("transposed A store", store=True), TRANSPOSED_A, Layout.parse(Swizzle(2, 3, 6))
    )
    assert swizzled.conflicts == 0
    assert {word.bank for word in swizzled.phases[0].words} == set(range(32))


@pytest.mark.parametrize(
    ("layout", "store", "read"),
    [("none", 4, 2), ("pad 1", 2, None), ("pad 2", 1, None), ("pad 4", 2, 2), ("pad 8", 4, 2),
     ("Swizzle<2,3,6>", 1, 2), ("col ^ (row/4*8)", 1, 2)],
)  # fmt: skip
def test_no_padding_serves_both_accesses_of_a(layout, store, read):
    """A pad that mends the store misaligns the 16-byte read; the swizzle serves both."""
    where = Layout.parse(layout)
    found = request(Access("transposed A store", store=True), TRANSPOSED_A, where)
    assert found.wavefronts == store
    fragment = Access("float4 fragment of A", width=16)
    if read is None:
        with pytest.raises(ArgumentError, match="misaligned"):
            request(fragment, TRANSPOSED_A, where)
    else:
        assert request(fragment, TRANSPOSED_A, where).wavefronts == read


def test_inactive_lanes_cost_nothing():
    only_five = LANE == 5
    one = wavefronts(LANE * 128, 4, active=only_five)
    assert (one.wavefronts, one.minimum, one.phases[0].lanes) == (1, 1, (5,))
    nobody = wavefronts(LANE * 128, 4, active=np.zeros(32, bool))
    assert (nobody.wavefronts, nobody.minimum, nobody.conflicts) == (0, 0, 0)
    last_quarter = wavefronts(LANE * 128, 16, active=LANE >= 24)
    assert (last_quarter.wavefronts, last_quarter.minimum) == (8, 1)


def brute_force(addresses, width, store):
    """Wavefronts from the rule, written once more in the plainest way; all lanes are active."""

    def cost(lanes):
        banks = defaultdict(set)
        for lane in lanes:
            for byte in range(addresses[lane], addresses[lane] + width):
                banks[byte // 4 % 32].add(byte // 4)
        return max(len(words) for words in banks.values())

    size = {8: 16, 16: 8}.get(width, 32)
    phases = [range(first, first + size) for first in range(0, 32, size)]
    if width <= 4 or store:
        return sum(map(cost, phases))
    total = 0
    for low, high in zip(phases[::2], phases[1::2], strict=True):
        both = [*low, *high]
        pairs = any(all(addresses[n] == addresses[n ^ step] for n in both) for step in (1, 2))
        total += 1 if pairs and cost(both) == 1 else cost(low) + cost(high)
    return total


requests = st.sampled_from([1, 2, 4, 8, 16]).flatmap(
    lambda width: st.tuples(
        st.just(width),
        st.lists(st.integers(0, 300), min_size=32, max_size=32).map(
            lambda units: [u * width for u in units]
        ),
        st.booleans(),
    )
)


@given(requests)
def test_wavefronts_equal_brute_force(case):
    width, addresses, store = case
    found = wavefronts(addresses, width, store=store)
    assert found.wavefronts == brute_force(addresses, width, store)
    assert found.minimum <= found.wavefronts <= 32
    assert found.conflicts == found.wavefronts - found.minimum
    assert sorted(lane for phase in found.phases for lane in phase.lanes) == list(range(32))
    for phase in found.phases:
        seats = {(word.bank, word.wavefront) for word in phase.words}
        assert len(seats) == len(phase.words) == len({word.index for word in phase.words})


@given(requests, st.integers(0, 50))
def test_moving_a_request_by_128_bytes_changes_nothing(case, rows):
    width, addresses, store = case
    moved = [address + 128 * rows for address in addresses]
    before = wavefronts(addresses, width, store=store)
    assert wavefronts(moved, width, store=store).wavefronts == before.wavefronts


@given(requests)
def test_a_description_names_the_counts(case):
    width, addresses, store = case
    found = wavefronts(addresses, width, store=store)
    text = describe(found)
    assert text.startswith(f"{found.wavefronts} wavefront")
    assert ("no conflict" in text) == (found.conflicts == 0)


def test_descriptions():
    assert describe(wavefronts(LANE * 4, 4)) == "1 wavefront, the minimum is 1: no conflict."
    assert describe(wavefronts(LANE % 4 * 128 + LANE // 4 * 4, 4)) == (
        "4 wavefronts, the minimum is 1: 3 too many. Lanes 0 to 3 meet in bank 0, and as many in "
        "7 other banks."
    )
    assert describe(wavefronts(LANE * 128, 16)) == (
        "32 wavefronts, the minimum is 4: 28 too many. In phase 1 lanes 0 to 7 meet in bank 0, and "
        "as many in 3 other banks."
    )
    assert "16 lanes (0, 2, 4, ... 30) meet in bank 0" in describe(wavefronts(LANE * 64, 4))


@pytest.mark.parametrize(
    ("addresses", "width", "expected"),
    [(LANE * 4, 4, 4), (LANE * 128, 4, 32), (LANE * 0, 4, 1), (LANE * 16, 16, 16),
     (LANE * 4 + 4, 4, 5), (LANE * 2, 2, 2), (LANE // 4 * 256 + LANE % 4 * 16, 16, 16)],
)  # fmt: skip
def test_sectors(addresses, width, expected):
    assert sectors(addresses, width) == expected


def test_sectors_of_active_lanes_only():
    assert sectors(LANE * 128, 4, active=LANE < 3) == 3


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((LANE * 4, 3), "width"), ((LANE * 4, True), "width"), ((LANE[:31] * 4, 4), "addresses"),
     ((LANE * 4.0, 4), "addresses"), ((LANE * 4, 8), "addresses"), ((LANE * 4 - 4, 4), "addresses"),
     ((LANE * 4, 4, LANE), "active"), ((LANE * 4, 4, [True]), "active")],
)  # fmt: skip
@pytest.mark.parametrize("function", [wavefronts, sectors])
def test_bad_requests_are_refused(function, arguments, name):
    with pytest.raises(ArgumentError, match=name):
        function(*arguments)


def test_a_misaligned_inactive_lane_is_no_matter():
    assert wavefronts(LANE * 4 + (LANE == 3), 4, active=LANE != 3).wavefronts == 1


SWIZZLES = [
    Swizzle(b, m, s * sign)
    for b in range(4)
    for m in range(4)
    for s in range(b, 6)
    for sign in (1, -1)
]


@pytest.mark.parametrize("swizzle", SWIZZLES, ids=str)
def test_every_swizzle_is_its_own_inverse(swizzle):
    assert swizzle.is_bijective
    offsets = np.arange(2 * swizzle.period)
    np.testing.assert_array_equal(swizzle(swizzle(offsets)), offsets)
    # Runs of 2**M stay together, so a vector access of that length stays whole.
    run = np.arange(1 << swizzle.M)
    np.testing.assert_array_equal(swizzle(offsets[:: run.size, None] + run),
                                  swizzle(offsets[:: run.size])[:, None] + run)  # fmt: skip


@pytest.mark.parametrize("swizzle", [s for s in SWIZZLES if s.S >= 0], ids=str)
def test_swizzle_bit_by_bit(swizzle):
    for offset in range(0, min(swizzle.period, 4096), 7):
        expected = offset
        for i in range(swizzle.B):
            if offset >> (swizzle.M + swizzle.S + i) & 1:
                expected ^= 1 << (swizzle.M + i)
        assert swizzle(offset) == expected


def test_the_swizzles_of_tma_on_bytes():
    address = np.arange(0, 4096, 16)
    for swizzle, mask in (((3, 4, 3), 0x70), ((2, 4, 3), 0x30), ((1, 4, 3), 0x10)):
        np.testing.assert_array_equal(Swizzle(*swizzle)(address), address ^ (address >> 3 & mask))


@given(st.integers(0, 3), st.integers(0, 3), st.integers(3, 5), st.sampled_from([1, 2, 4, 8]))
def test_a_swizzle_of_elements_in_bytes(b, m, s, element):
    elements, offsets = Swizzle(b, m, s), np.arange(512)
    np.testing.assert_array_equal(
        elements.on_bytes(element)(offsets * element), elements(offsets) * element
    )


@pytest.mark.parametrize(
    ("bits", "name"),
    [((-1, 0, 0), "B"), ((1, -1, 1), "M"), ((3, 0, 2), "S"), ((3, 0, -2), "S"), ((1, 2.0, 3), "M"),
     ((True, 0, 1), "B"), ((5, 20, 6), "bits")],
)  # fmt: skip
def test_bad_swizzles_are_refused(bits, name):
    with pytest.raises(ArgumentError, match=name):
        Swizzle(*bits)


@pytest.mark.parametrize("offset", [-1, 1.5, [0, -2]])
def test_bad_offsets_are_refused(offset):
    with pytest.raises(ArgumentError, match="offset"):
        Swizzle(2, 3, 6)(offset)


def test_the_kernel_s_formula_is_a_swizzle_of_the_flat_offset():
    k, m = np.arange(16)[:, None], np.arange(128)
    columns = transposed_a_column(k, m)
    np.testing.assert_array_equal(
        row_major(k, columns, 128), Swizzle(2, 3, 6)(row_major(k, m, 128))
    )
    assert find_swizzle(columns) == Swizzle(2, 3, 6)
    # With 32 rows one more bit of k is read: no longer the same swizzle, but still one.
    taller = transposed_a_column(np.arange(32)[:, None], m)
    assert find_swizzle(taller) == Swizzle(3, 3, 6)


def test_the_formula_is_the_one_in_the_kernel_file():
    text = registry.get("sgemm_06_swizzled_a").path.read_text()
    assert re.search(r"int swizzle\(int k, int m\) \{ return m \^ \(k / 4 \* 8\); \}", text)


def test_find_swizzle_says_none_where_there_is_none():
    assert find_swizzle(np.arange(32).reshape(2, 16) % 16) == Swizzle(0, 0, 0)
    assert find_swizzle((np.arange(64).reshape(4, 16) + 1) % 16) is None
    with pytest.raises(ArgumentError, match="columns"):
        find_swizzle(np.arange(4))


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("element", [1, 2, 4, 8])
@pytest.mark.parametrize("row_bytes", [32, 64, 128, 256, 512])
def test_for_columns_frees_every_column(row_bytes, element, width):
    if width < element:
        return
    length = row_bytes // element
    layout = Layout("swizzle", swizzle=for_columns(length, element, width))
    tile = Tile(32, length, element)
    for piece in range(0, length * element // width, 3):
        column = Access(f"row = lane; col = {piece * width // element}", width)
        assert request(column, tile, layout).conflicts == 0


@pytest.mark.parametrize("arguments", [(48, 4, 16), (0, 4, 16), (2, 4, 16), (32, 4, 2), (32, 3, 4)])
def test_for_columns_refuses(arguments):
    with pytest.raises(ArgumentError):
        for_columns(*arguments)


def test_padding():
    np.testing.assert_array_equal(padded([0, 1, 2], [5, 5, 5], 32, 1), [5, 38, 71])
    for pad in (-1, 1.5, True):
        with pytest.raises(ArgumentError, match="pad"):
            padded(0, 0, 32, pad)


# --- formulas -------------------------------------------------------------------------------------

numbers = st.integers(0, 40).map(str)
expressions = st.recursive(
    numbers | st.sampled_from(["lane", "row"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*&^|"), inner).map(" ".join)
        | inner.map(lambda text: f"({text})")
        | inner.map(lambda text: f"-({text})")
    ),
    max_leaves=5,  # a product of five stays inside 32 bits
)


@given(expressions, st.integers(0, 31), st.integers(0, 31))
@settings(max_examples=300, deadline=None)
def test_formulas_have_the_precedence_of_c(text, lane, row):
    """Python gives these operators the same precedence as C."""
    expected = eval(text, {"__builtins__": {}}, {"lane": lane, "row": row})
    assert formula.expression(text, ("lane", "row"))({"lane": lane, "row": row}) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [("-7/2", -3), ("-7%2", -1), ("7/-2", -3), ("7%-2", 1), ("1<<4>>2", 4), ("2+3*4", 14),
     ("1|2^3&4", 3), ("8 - 2 - 1", 5), ("-(3)", -3), (" 5 ", 5), ("-3>>1", -2)],
)  # fmt: skip
def test_formulas_divide_as_c_does(text, value):
    assert formula.expression(text, ())({}) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "the end"), ("1 +", "the end"), ("(1", "expected '\\)'"), ("1 2", "too much"),
     ("x", "unknown name 'x'"), ("lane.__class__", "cannot read '\\.'"), ("import os", "unknown"),
     ("lane ** 2", "expected a number"), ("'a'", "cannot read"), ("1" * 161, "characters"),
     ("4294967296", "32 bits"), ("lane = 3", "too much"), ("f(3)", "unknown name 'f'"),
     ("(" * 160, "the end"), ("۳", "cannot read")],
)  # fmt: skip
def test_formulas_refuse_nonsense(text, problem):
    with pytest.raises(ArgumentError, match=problem):
        formula.expression(text, ("lane",))


@pytest.mark.parametrize(
    ("text", "problem"),
    [("1/0", "division by zero"), ("1%(lane-lane)", "division by zero"), ("1<<32", "shift"),
     ("1>>-1", "shift"), ("65536*65536", "32 bits")],
)  # fmt: skip
def test_formulas_fail_when_run(text, problem):
    compute = formula.expression(text, ("lane",))
    with pytest.raises(ArgumentError, match=problem):
        compute({"lane": 3})


def test_programs():
    run = formula.program("g = lane/4; row = g*2; col = g + lane%4;", ("lane",), ("row", "col"))
    assert run({"lane": 9}) == {"row": 4, "col": 3}
    for text in ("row = 1", "row = 1; col", "row = ; col = 1", "1 = 2", "row = 1 col = 2"):
        with pytest.raises(ArgumentError, match="formula"):
            formula.program(text, ("lane",), ("row", "col"))


# --- accesses and layouts -------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_presets_name_32_elements(name):
    found = Access(name, 4).elements(128, 4)
    assert len(found) == 32
    assert min(min(at) for at in found) >= 0


@given(
    st.sampled_from(["none", "pad 3", Swizzle(2, 0, 4), Swizzle(1, 2, 2), "col ^ row%8", "L-1-col"])
)
def test_layouts_give_every_element_a_place_of_its_own(layout):
    table = Layout.parse(layout).table(Tile(8, 16))
    assert table.shape == (8, 16)
    assert len(np.unique(table)) == table.size


def test_addresses_are_bytes():
    access = Access("row = lane/4; col = lane%4*8", width=16)
    found = locate(access, Tile(8, 32, element=2), Layout())
    np.testing.assert_array_equal(found, LANE // 4 * 64 + LANE % 4 * 16)


@pytest.mark.parametrize(
    ("pattern", "width", "layout", "problem"),
    [
        ("row = lane; col = 0", 4, "none", "lane 16 wants row 16, column 0"),
        ("row = 0; col = lane*8", 4, "none", "column 128, outside"),
        ("row = 0; col = lane - 1", 4, "none", "column -1"),
        ("row = 0; col = 126", 16, "none", "column 126"),
        ("float4 fragment of A", 16, "Swizzle<2,0,9>", "parts the 4 elements of lane 0"),
        ("float4 fragment of A", 16, "pad 1", "byte 2580, no multiple of 16"),
        ("row", 4, "col * 2", "goes to column 128, outside the row"),
        ("row", 4, "col / 2", "two elements of row 0"),
        ("row", 4, "col - 1", "column -1"),
    ],
)
def test_what_a_layout_cannot_do_is_said(pattern, width, layout, problem):
    with pytest.raises(ArgumentError, match=re.escape(problem)):
        locate(Access(pattern, width), TRANSPOSED_A, Layout.parse(layout))


def test_a_swizzle_that_leaves_the_tile_is_refused():
    with pytest.raises(ArgumentError, match="out of the tile"):
        Layout.parse("Swizzle<1,7,1>").table(Tile(3, 128))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Access("column", 3), "width"),
        (lambda: Access("column", 1), "width"),
        (lambda: Access("column", 8, op="ldmatrix.x4"), "width"),
        (lambda: Access("column", 2, op="cp.async"), "width"),
        (lambda: Access("column", 16, op="ldmatrix"), "op"),
        (lambda: Access("no such pattern"), "pattern"),
        (lambda: Access(7), "pattern"),
        (lambda: Access("row = lane"), "'col = ...' is missing"),
        (lambda: Tile(0, 32), "rows"),
        (lambda: Tile(4, 2000), "row_length"),
        (lambda: Tile(4, 32, 3), "element"),
        (lambda: Layout("diagonal"), "layout"),
        (lambda: Layout("pad", pad=-1), "pad"),
        (lambda: Layout("pad", pad=65), "pad"),
        (lambda: Layout.parse("swizzle"), "layout"),
        (lambda: Layout.parse("Swizzle<3,0,1>"), "S"),
        (lambda: Layout.parse(3), "layout"),
    ],
)
def test_bad_accesses_tiles_and_layouts_are_refused(make, name):
    with pytest.raises(ArgumentError, match=re.escape(name)):
        make()


def test_layouts_read_back():
    for text in ("none", "pad 2", "Swizzle<2,3,6>", "col ^ row"):
        assert Layout.parse(Layout.parse(text)) == Layout.parse(text)
