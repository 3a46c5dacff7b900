"""TmaBox' and TensorMapFields' JavaScript computes and says what the Python does; needs node."""

import random
import re
from dataclasses import asdict

import pytest

from gemmlab.layouts.tma import words
from gemmlab.layouts.tma.tensor_map import DTYPES, SPANS, Arguments, TensorMap
from gemmlab.widgets import TensorMapFields, TmaBox
from gemmlab.widgets.tma_box import BOX_COLUMNS, BOX_ROWS, STARTS


def random_arguments(rng):
    """Often right, often wrong in one or two ways."""
    given = {
        "rows": rng.choice([1, 30, 40, 4096, 1 << 32]),
        "columns": rng.choice([1, 41, 100, 4096]),
        "box_rows": rng.choice([1, 5, 8, 16, 64, 256]),
        "box_columns": rng.choice([8, 16, 32, 64, 128, 256]),
        "dtype": rng.choice(list(DTYPES)),
        "swizzle": rng.choice(list(SPANS)),
        "row_stride": rng.choice([None, None, 104, 4096, 64]),
        "address": rng.choice([None, None, 0x7F0000000010]),
    }
    wrong = {
        "rows": [0, (1 << 32) + 1], "columns": [0, 1 << 33], "box_rows": [0, 257, 1000],
        "box_columns": [0, 30, 20, 7, 257, 512, 256], "row_stride": [0, 101, 1 << 40],
        "address": [0, 8, 0x7F0000000002],
    }  # fmt: skip
    for name in rng.sample(list(wrong), rng.choice([0, 0, 1, 2])):
        given[name] = rng.choice(wrong[name])
    return Arguments(**given)


@pytest.mark.twin("tma/tensor_map", "tma/words")
def test_maps_agree(ask):
    rng = random.Random(1)
    cases = [random_arguments(rng) for _ in range(600)]
    got = ask([("map", {"map": asdict(a)}) for a in cases])
    said = ""
    for a, found in zip(cases, got, strict=True):
        sizes = [a.span, a.row_bytes, a.box_bytes, a.pitch, a.alignment, a.stride_bytes]
        problems = [list(one) for one in a.problems()]
        assert found == [problems, sizes, words.describe_map(a), words.formula(a)], a
        said += found[2]
    for text in ("Taken", "no multiple of 16; take", "copy the matrix into rows", "side by side",
                 "below 2^40", "1 to 256", "1 to 2^32", "past a multiple of 16", "on each other",
                 "of shared memory that", "overlap", "of which each row fills"):  # fmt: skip
        assert text in said, text


def random_box(rng):
    dtype, swizzle = rng.choice(list(DTYPES)), rng.choice(list(SPANS))
    widest = 20 if swizzle == "none" else SPANS[swizzle] // 16
    columns = min(256, rng.randint(1, widest) * 16 // DTYPES[dtype][0])
    m = TensorMap(rng.choice([1, 30, 40]), rng.choice([3, 41, 100]), rng.choice([1, 5, 8, 16, 31]),
                  columns, dtype, swizzle)  # fmt: skip
    x, y = rng.randint(-columns, m.columns), rng.randint(-m.box_rows, m.rows)
    if rng.random() < 0.7:  # where it may begin
        x -= x % (16 // m.element)
    box = m.box(x, y, rng.choice([*STARTS, 896, 1024]))
    return box, (rng.randrange(m.box_rows), rng.randrange(m.row_bytes // 16))


@pytest.mark.twin("tma/tensor_map", "tma/words")
def test_boxes_agree(ask):
    rng = random.Random(2)
    cases = [random_box(rng) for _ in range(300)]
    sent = [
        ("box", {
            "box": {"map": asdict(box.map), "x": box.x, "y": box.y, "address": box.address},
            "chosen": chosen,
        })
        for box, chosen in cases
    ]  # fmt: skip
    said = ""
    for (box, chosen), found in zip(cases, ask(sent), strict=True):
        held, request = box.matrix(*chosen)
        text = [
            words.describe_box(box),
            words.describe_chunk(box, box.chunk(*chosen)),
            words.describe_matrix(held, request),
            words.describe_start(box.map, box.address, box.misplaced),
        ]
        chunks = [[*asdict(one).values(), one.line, one.slot] for one in box.chunks]
        assert found == [
            chunks,
            [box.bytes, box.zero_bytes, box.lines, box.misplaced],
            [[one.row for one in held], request.wavefronts],
            text,
        ], (box, chosen)
        said += " ".join(text)
    for part in ("all of them zeros", "the whole box", "lie in the matrix.", "which lie outside",
                 "exist: the rest", "looks in slot", "too many", "1 wavefront.", "Without a",
                 "Begin at column", "finds every",
                 "bits 7 to 9", "bits 7 and 8", "bit 7 of"):  # fmt: skip
        assert part in said, part


def test_states_agree(ask):
    rng = random.Random(3)
    cases, expected = [], []
    for _ in range(150):
        columns, rows = rng.choice(BOX_COLUMNS), rng.choice(BOX_ROWS)
        widget = TmaBox(
            box_rows=rows, box_columns=columns, dtype=rng.choice(list(DTYPES)),
            swizzle=rng.choice(list(SPANS)), x=rng.randint(-columns, 100),
            y=rng.randint(-rows, 40), start=rng.choice(STARTS),
            chosen=(rng.randrange(32), rng.randrange(16)), row_stride=rng.choice([None, 104]),
        )  # fmt: skip
        cases.append(("box_model", {"config": widget.config, "state": widget.state}))
        expected.append(widget.readings())
    assert ask(cases) == expected
    assert {len(one) for one in expected} == {1, 4}


def test_fields_agree(ask):
    rng = random.Random(4)
    cases, expected = [], []
    for _ in range(100):
        a = random_arguments(rng)
        widget = TensorMapFields(**asdict(a))
        cases.append(("fields", {"config": widget.config, "state": widget.state}))
        expected.append([asdict(one) for one in words.decode(a)])
    assert ask(cases) == expected
    assert any(one["problem"] for fields in expected for one in fields)


def test_a_box_stays_near_the_matrix(ask):
    config = {"rows": 40, "columns": 100}
    for x, y, to in ((-65, -17, (-64, -16)), (101, 41, (100, 40)), (3, 4, (3, 4))):
        state = {"x": x, "y": y, "box_rows": 16, "box_columns": 64}
        found = ask([("held", {"config": config, "state": state})])[0]
        assert (found["x"], found["y"]) == to


@pytest.mark.parametrize(
    ("key", "whole", "step"),
    [
        ("ArrowLeft", False, [-8, 0]),
        ("ArrowDown", False, [0, 1]),
        ("ArrowRight", True, [64, 0]),
        ("ArrowUp", True, [0, -16]),
        ("Tab", False, [0, 0]),
    ],
)
def test_keys(ask, key, whole, step):
    case = {"map": {"box_rows": 16, "box_columns": 64}, "count": 8, "key": key, "whole": whole}
    assert ask([("step", case)]) == [step]


@pytest.mark.parametrize(
    ("text", "key", "number"),
    [
        (" 100 ", "rows", 100),
        ("", "row_stride", None),
        ("0", "rows", 0),
        ("4294967297", "rows", (1 << 32) + 1),
    ],
)
def test_numbers_that_are_read(ask, text, key, number):
    case = {"text": text, "key": key}
    assert ask([("field_number", case), ("is_field_number", case)]) == [number, True]


@pytest.mark.parametrize("text", ["", "-1", "1e3", "x", "1.5", "12345678901234"])
def test_what_is_no_number(ask, text):
    assert ask([("is_field_number", {"text": text, "key": "rows"})]) == [False]


@pytest.mark.parametrize("width", [300, 430])
def test_the_picture_of_the_matrix(ask, width):
    widget = TmaBox(swizzle="128B")
    case = {"config": widget.config, "state": widget.state, "width": width}
    g, svg = ask([("picture", case)])[0]
    # x = 64, y = 32 of a box of 16 x 64, relative to the matrix.
    x, y, wide, tall = (
        float(re.search(rf'class="gl-t-frame"[^>]* {name}="([^"]+)"', svg)[1])
        for name in ("x", "y", "width", "height")
    )
    assert (x, y) == pytest.approx((64 * g["sx"], 32 * g["sy"]), abs=0.01)
    assert (wide, tall) == pytest.approx((64 * g["sx"], 16 * g["sy"]), abs=0.01)
    assert svg.count("gl-t-stripe") == 8
    assert g["width"] == width
    assert "NaN" not in svg
