"""Tensor maps, boxes in shared memory, and the widgets TmaBox and TensorMapFields."""

from __future__ import annotations

import base64
import io
import json
import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from PIL import Image

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import Swizzle, for_columns
from gemmlab.layouts.tma import words
from gemmlab.layouts.tma.tensor_map import DTYPES, SPANS, Arguments, TensorMap
from gemmlab.widgets import TensorMapFields, TmaBox

# On byte addresses, as CuTe names the swizzles of the copy engine.
CUTE = {"32B": Swizzle(1, 4, 3), "64B": Swizzle(2, 4, 3), "128B": Swizzle(3, 4, 3)}


def map_of(**more):
    return TensorMap(**{"rows": 30, "columns": 100, "box_rows": 16, "box_columns": 64, **more})


# --- tensor maps ----------------------------------------------------------------------------------


def test_what_follows_from_a_map():
    m = map_of(box_columns=32)
    assert (m.element, m.span, m.row_bytes, m.pitch, m.box_bytes) == (2, 128, 64, 128, 1024)
    assert m.stride_bytes == 208  # 100 elements of 2 bytes, and up to a multiple of 16
    assert map_of(row_stride=120).stride_bytes == 240
    starts = {name: map_of(box_columns=16, swizzle=name).alignment for name in SPANS}
    assert starts == {"none": 128, "32B": 256, "64B": 512, "128B": 1024}
    with pytest.raises(FrozenInstanceError):
        m.rows = 3


BAD = [
    ({"address": 8}, "address: got 0x8, which is 8 past a multiple of 16 bytes"),
    ({"address": 0}, "address: .* or null; copy the matrix to an aligned address"),
    ({"rows": 0}, "rows: got 0, allowed are 1 to 2^32"),
    ({"columns": (1 << 32) + 1}, "columns: got 4294967297, allowed are 1 to 2^32"),
    (
        {"row_stride": 100},
        "row_stride: got 100 bf16: 200 bytes, no multiple of 16; .* 104 elements",
    ),
    ({"row_stride": 1 << 39}, "row_stride: .* must be below 2^40"),
    ({"row_stride": 0}, "row_stride: got 0"),
    ({"box_rows": 257}, "box_rows: got 257, allowed are 1 to 256; load a larger tile as several"),
    ({"box_columns": 0}, "box_columns: got 0, allowed are 1 to 256"),
    ({"box_columns": 20}, "box_columns: got 20 bf16: 40 bytes a row, no multiple of 16; take 24"),
    (
        {"box_columns": 128},
        "box_columns: got 128 bf16: 256 bytes a row, more than the 128 that the 128B swizzle "
        "spans; take 64, and load the tile as 2 boxes side by side",
    ),
    ({"box_columns": 33, "swizzle": "64B"}, "box_columns: .* no multiple of 16"),
    ({"box_columns": 40, "swizzle": "64B"}, "box_columns: .* take 32, and load the tile as 2"),
    (
        {"box_columns": 256, "box_rows": 256, "dtype": "fp32", "swizzle": "none"},
        "box_rows: got 256 rows of 1024 bytes: 262144 bytes, more than the 232448",
    ),
    ({"dtype": "fp8"}, "dtype: got 'fp8', allowed are bf16, fp16, fp32, uint8"),
    ({"swizzle": "96B"}, "swizzle: got '96B', allowed are none, 32B, 64B, 128B"),
    ({"rows": 3.0}, "rows: got 3.0, expected an integer"),
    ({"rows": True}, "rows: got True, expected an integer"),
    ({"box_rows": None}, "box_rows: got None, expected an integer"),
    ({"row_stride": -8}, "row_stride: got -8, expected an integer from 0 on"),
]


@pytest.mark.parametrize(("given", "said"), BAD)
def test_what_is_refused(given, said):
    pattern = said.replace("^", re.escape("^"))
    with pytest.raises(ArgumentError, match=f"^{pattern}"):
        map_of(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"rows": 1 << 32},
        {"box_rows": 256},
        {"rows": 2, "columns": 3},  # smaller than the box
        {"row_stride": 64},  # rows overlap
        {"box_columns": 8},
        {"box_columns": 256, "swizzle": "none"},
        {"box_columns": 128, "dtype": "uint8"},
        {"address": 1 << 40},
        {"row_stride": (1 << 39) - 8},
    ],
)
def test_what_is_taken(given):
    assert map_of(**given).problems() == ()
    assert words.describe_map(map_of(**given)).startswith("Taken.")


def test_all_that_is_wrong_is_told_at_once():
    a = Arguments(0, 100, 300, 128, row_stride=99, address=4)
    assert [name for name, _ in a.problems()] == [
        "address", "rows", "row_stride", "box_rows", "box_columns"
    ]  # fmt: skip


# --- boxes ----------------------------------------------------------------------------------------


def test_one_chunk_by_hand():
    one = map_of().box(64, 24).chunk(5, 2)
    assert (one.line, one.slot, one.offset) == (5, 2 ^ 5, 5 * 128 + 7 * 16)
    assert (one.y, one.x, one.begin, one.end) == (29, 80, 0, 8)


@pytest.mark.parametrize("swizzle", CUTE)
@pytest.mark.parametrize("address", [0, 128, 384, 512, 896])
def test_a_box_stands_as_cute_says(swizzle, address):
    box = map_of(box_columns=SPANS[swizzle] // 2, swizzle=swizzle).box(0, 0, address)
    row, at = np.indices((16, SPANS[swizzle]))
    plain = address + row * SPANS[swizzle] + at
    np.testing.assert_array_equal(box.place(row, at) + address, CUTE[swizzle](plain))


@pytest.mark.parametrize("swizzle", SPANS)
def test_rows_tell_the_xor_at_a_multiple_of_eight_spans(swizzle):
    m = map_of(box_columns=SPANS[swizzle] // 2, swizzle=swizzle)
    total = m.box_bytes // 16
    for address in range(0, 2048, 128):
        right = swizzle == "none" or address % m.alignment == 0
        assert m.box(0, 0, address).misplaced == (0 if right else total)


@pytest.mark.parametrize("swizzle", CUTE)
def test_the_formula_is_where_chunks_stand(swizzle):
    m = map_of(box_columns=SPANS[swizzle] // 2, swizzle=swizzle)
    for one in m.box().chunks:
        slot = eval(words.formula(m), {"row": one.row, "chunk": one.chunk})
        assert one.offset == one.row * m.pitch + slot * 16
    assert CUTE[swizzle] == for_columns(m.box_columns, 2, 16).on_bytes(2)


def test_every_chunk_has_a_place_of_its_own():
    for swizzle in SPANS:
        for columns in (8, 16, 24, 64):
            if 2 * columns > SPANS[swizzle] > 16:
                continue
            chunks = map_of(box_columns=columns, swizzle=swizzle).box(0, 0, 640).chunks
            assert len({one.offset for one in chunks}) == len(chunks) == 2 * columns


@pytest.mark.parametrize(
    ("x", "y", "outside"),
    [(0, 0, 0), (64, 0, 16 * 28), (-8, -1, 16 * 64 - 15 * 56), (36, 14, 0), (100, 0, 1024),
     (0, 30, 1024), (-64, 0, 1024), (-63, -15, 1023)],
)  # fmt: skip
def test_bytes_outside_of_the_matrix(x, y, outside):
    box = map_of().box(x, y)
    assert (box.bytes, box.zero_bytes) == (2048, 2 * outside)


def test_a_chunk_may_be_partly_outside():
    assert [map_of().box(92, 0).chunk(0, c).end for c in range(3)] == [8, 0, 0]
    one = map_of().box(96, 0).chunk(0, 0)
    assert (one.begin, one.end) == (0, 4)
    one = map_of().box(-3, 0).chunk(0, 0)
    assert (one.begin, one.end, one.x) == (3, 8, -3)


@pytest.mark.parametrize(
    ("swizzle", "columns", "wavefronts"),
    [("none", 64, 8), ("none", 32, 4), ("none", 16, 2), ("none", 8, 1), ("128B", 64, 1),
     ("64B", 32, 1), ("32B", 16, 1), ("128B", 16, 1), ("64B", 8, 1), ("none", 128, 8)],
)  # fmt: skip
def test_what_an_ldmatrix_of_a_column_of_chunks_costs(swizzle, columns, wavefronts):
    m = map_of(box_columns=columns, swizzle=swizzle)
    for address in (0, 128, 512):
        for row in range(16):
            for chunk in range(m.row_bytes // 16):
                held, request = m.box(0, 0, address).matrix(row, chunk)
                assert request.wavefronts == wavefronts
                assert [one.row for one in held] == list(range(row // 8 * 8, row // 8 * 8 + 8))


def test_a_box_of_fewer_rows_than_a_matrix():
    held, request = map_of(box_rows=11).box().matrix(9, 0)
    assert ([one.row for one in held], request.wavefronts) == ([8, 9, 10], 1)


@pytest.mark.parametrize(("x", "y", "address", "name"),
    [(0.5, 0, 0, "x"), (0, None, 0, "y"), (0, 0, 64, "address"), (0, 0, -128, "address"),
     (0, 0, "0", "address")])  # fmt: skip
def test_bad_places_are_refused(x, y, address, name):
    with pytest.raises(ArgumentError, match=f"^{name}: got"):
        map_of().box(x, y, address)


# --- words ----------------------------------------------------------------------------------------


def test_words_of_a_chunk():
    def said(x, y, at, address=0, **more):
        box = map_of(**more).box(x, y, address)
        return words.describe_chunk(box, box.chunk(*at))

    assert said(0, 0, (5, 2)) == (
        "Row 5, chunk 2 → line 5, slot 7 (2 xor 5), banks 28 to 31. It holds row 5, columns 16 to "
        "23 of the matrix."
    )
    assert "columns 96 to 103 of the matrix, of which 96 to 99 exist: the rest" in said(
        64, 0, (0, 4)
    )
    assert said(0, 20, (12, 0)).endswith("which lie outside: zeros.")
    assert "line 2, slot 4 (6 xor 2)" in said(0, 0, (5, 2), swizzle="64B", box_columns=32)
    assert "line 5, slot 2, banks" in said(0, 0, (5, 2), swizzle="none")
    moved = said(0, 0, (5, 2), 128)
    assert "slot 4 (2 xor 6)" in moved
    assert moved.endswith("A kernel that takes chunk ^ (row & 7) looks in slot 7.")


@pytest.mark.parametrize(
    ("x", "dtype", "said"),
    [
        (33, "bf16", "column 33, byte 66 of a row and no multiple of 16: .* column 32 or 40."),
        (-1, "bf16", "column -1, byte -2 of a row and no multiple of 16: .* column -8 or 0."),
        (6, "fp32", "column 6, byte 24 of a row and no multiple of 16: .* column 4 or 8."),
        (-16, "uint8", "column -16 of row 3. The mbarrier gets 256 bytes"),
    ],
)
def test_where_a_box_cannot_begin(x, dtype, said):
    box = map_of(dtype=dtype, box_columns=16).box(x, 3)
    assert re.match(f"The box begins at {said}", words.describe_box(box))


def test_words_of_a_start():
    box = map_of().box(0, 0, 1024 + 256)
    assert words.describe_start(box.map, box.address, box.misplaced) == (
        "The tile begins 256 bytes past a multiple of 1,024. The XOR takes bits 7 to 9 of the "
        "address, not the row: chunk ^ (row & 7) reads 128 of 128 chunks wrong. Align the tile to "
        "1,024 bytes."
    )


def test_fields():
    fields = {one.name: one for one in words.decode(map_of())}
    assert list(fields) == list(words.FIELDS)
    assert len(fields) == 12  # the arguments of cuTensorMapEncodeTiled
    shown = {name: one.value for name, one in fields.items()}
    assert shown["globalDim"] == "{100, 30}"
    assert shown["globalStrides"] == "{208}"
    assert shown["boxDim"] == "{64, 16}"
    assert shown["swizzle"] == "CU_TENSOR_MAP_SWIZZLE_128B"
    assert all(one.meaning and one.rule and one.otherwise for one in fields.values())
    assert not any(one.problem for one in fields.values())


def test_every_argument_belongs_to_a_field():
    given = [name for *_, names in words.FIELDS.values() for name in names]
    assert sorted([*given, "dtype", "swizzle"]) == sorted(Arguments.__dataclass_fields__)
    wrong = words.decode(Arguments(30, 100, 16, 128, row_stride=100))
    assert {one.name for one in wrong if one.problem} == {"globalStrides", "boxDim"}


def test_types_are_named_as_in_cuda():
    values = {words.values(map_of(dtype=d, box_columns=16))["tensorDataType"] for d in DTYPES}
    assert values == {
        f"CU_TENSOR_MAP_DATA_TYPE_{n}" for n in ("BFLOAT16", "FLOAT16", "FLOAT32", "UINT8")
    }


# --- the widgets ----------------------------------------------------------------------------------


def test_it_opens_with_the_problem_and_one_choice_solves_it():
    widget = TmaBox()
    assert "8 wavefronts, 7 too many" in widget.summary()
    widget.state = {**widget.state, "swizzle": "128B"}
    assert "1 wavefront." in widget.summary()
    assert widget.box.zero_bytes == 1472
    widget.state = {**widget.state, "start": 128}
    assert widget.box.misplaced == 128
    assert "reads 128 of 128 chunks wrong" in widget.summary()


def test_a_refusal_is_shown():
    widget = TmaBox(box_columns=128, swizzle="128B")
    assert "cuTensorMapEncodeTiled refuses it. box_columns: got 128 bf16" in widget.summary()
    assert len(widget.readings()) == 1
    assert widget.png()[:4] == b"\x89PNG"
    with pytest.raises(ArgumentError, match=r"^box_columns:"):
        _ = widget.box


def test_the_chosen_chunk_stays_in_the_box():
    widget = TmaBox(box_rows=8, box_columns=16, chosen=(30, 5))
    assert widget.chosen() == (7, 1)
    assert "Row 7, chunk 1 →" in widget.summary()


@pytest.mark.parametrize("make", [TmaBox, TensorMapFields], ids=lambda make: make.__name__)
def test_four_faces(make):
    bundle = make()._repr_mimebundle_()
    assert set(bundle) == {
        "application/vnd.jupyter.widget-view+json", "text/html", "image/png", "text/plain"
    }  # fmt: skip
    image = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"])))
    assert 700 <= image.width <= 800
    assert bundle["text/plain"] == repr(make())
    html = bundle["text/html"]
    assert html == make().to_html()
    assert len(html) < 150_000
    module = base64.b64decode(re.search(r"text/javascript;base64,([^\"]+)", html)[1]).decode()
    assert not re.findall(r"https?://|^import |fetch\(", module, re.MULTILINE)
    key = re.search(r'data-gemmlab="([0-9a-f]{12})"', html)[1]
    data = json.loads(base64.b64decode(re.search(r'atob\("([^"]+)"\)', html)[1]))
    assert data == [key, make().config, make().state]


def test_fields_follow_the_state():
    widget = TensorMapFields(columns=100)
    assert "Taken. A box is 128 x 64 elements, 16,384 bytes" in widget.summary()
    widget.state = {**widget.state, "row_stride": 100}
    assert "refuses it. row_stride: got 100 bf16" in widget.summary()
    assert widget.png()[:4] == b"\x89PNG"
    assert ["0x40", 64] in TensorMapFields(address=64).config["addresses"]


@pytest.mark.parametrize(
    ("make", "arguments", "name"),
    [
        (TmaBox, {"box_rows": 12}, "box_rows"),
        (TmaBox, {"box_columns": 256}, "box_columns"),
        (TmaBox, {"start": 64}, "start"),
        (TmaBox, {"rows": 0}, "rows"),
        (TmaBox, {"columns": 257}, "columns"),
        (TmaBox, {"x": 101}, "x"),
        (TmaBox, {"y": -17}, "y"),
        (TmaBox, {"x": 1.5}, "x"),
        (TmaBox, {"dtype": "fp8"}, "dtype"),
        (TmaBox, {"swizzle": "256B"}, "swizzle"),
        (TmaBox, {"row_stride": 1.5}, "row_stride"),
        (TmaBox, {"chosen": 3}, "chosen"),
        (TmaBox, {"chosen": (-1, 0)}, "chosen"),
        (TmaBox, {"caption": 3}, "caption"),
        (TensorMapFields, {"rows": -1}, "rows"),
        (TensorMapFields, {"dtype": "fp8"}, "dtype"),
        (TensorMapFields, {"shown": "strides"}, "shown"),
        (TensorMapFields, {"caption": 3}, "caption"),
    ],
)
def test_bad_arguments_are_refused(make, arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        make(**arguments)
