"""The layout of a box, as `layouts.tma_box` has it, is what the simulator's copy engine does."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gemmlab.core.errors import ArgumentError, LaunchError
from gemmlab.layouts.tma.tensor_map import SPANS, Arguments, Box, TensorMap, up

IMAGE_BYTES, FILL = 36 * 1024, 0xAB  # as in fixtures/tma_copy.cu
ROWS, COLUMNS = 30, 41  # odd: the last chunk of a row is partly outside
MODULES = {"fp32": "float", "fp16": "half", "bf16": "bfloat16"}
SWIZZLES = list(SPANS)


def code(box: Box) -> int:
    """As fixtures/tma_copy.cu wants it."""
    m = box.map
    return (
        SWIZZLES.index(m.swizzle)
        | m.row_bytes // 16 << 2
        | m.box_rows - 1 << 6
        | box.address // 128 << 14
    )


def stored_bytes(matrix: np.ndarray, box: Box) -> np.ndarray:
    """Shared memory after the load, chunk by chunk as the layout says."""
    image, e = np.full(IMAGE_BYTES, FILL, np.uint8), box.map.element
    for c in box.chunks:
        content = np.zeros(16, np.uint8)
        if c.begin < c.end:
            of_row = matrix[c.y, (c.x + c.begin) * e : (c.x + c.end) * e]
            content[c.begin * e : c.end * e] = of_row
        image[box.address + c.offset :][:16] = content
    return image


def matrix_of(m: TensorMap) -> np.ndarray:
    """Random bytes, none of them zero, in rows that start at multiples of 16 bytes."""
    return np.random.default_rng(0).integers(1, 255, (m.rows, m.stride_bytes), np.uint8)


def run(kernel_file, box: Box) -> np.ndarray:
    m = box.map
    module, A = kernel_file("tma_copy").module(MODULES[m.dtype]), matrix_of(m)
    C = np.full(IMAGE_BYTES + A.size, FILL, np.uint8)
    trace = module.trace(A, A, C, m.rows, m.columns, code(box), box.x, box.y)
    assert trace.findings == ()
    return C


def check(kernel_file, box: Box) -> None:
    C = run(kernel_file, box)
    np.testing.assert_array_equal(C[:IMAGE_BYTES], stored_bytes(matrix_of(box.map), box))


@pytest.mark.parametrize("dtype", MODULES)
@pytest.mark.parametrize("swizzle", SWIZZLES)
@pytest.mark.parametrize("address", [0, 128, 256, 512, 896])
def test_every_swizzle_at_every_start(kernel_file, dtype, swizzle, address):
    element = 4 if dtype == "fp32" else 2
    for row_bytes in {16, SPANS[swizzle]}:
        m = TensorMap(ROWS, COLUMNS, 16, row_bytes // element, dtype, swizzle)
        check(kernel_file, m.box(16 // element, 5, address))


@pytest.mark.parametrize(
    ("x", "y"), [(-8, -3), (-64, 0), (0, -16), (32, 20), (40, 29), (48, 0), (8, 30), (-1000, 1000)]
)
def test_edges_and_what_lies_beyond(kernel_file, x, y):
    for swizzle in ("none", "128B"):
        check(kernel_file, TensorMap(ROWS, COLUMNS, 16, 64, "bf16", swizzle).box(x, y, 256))


def test_random_boxes(kernel_file):
    rng = random.Random(3)
    for _ in range(40):
        dtype, swizzle = rng.choice(list(MODULES)), rng.choice(SWIZZLES)
        element = 4 if dtype == "fp32" else 2
        widest = 15 if swizzle == "none" else SPANS[swizzle] // 16
        columns = rng.randint(1, widest) * 16 // element
        m = TensorMap(ROWS, COLUMNS, rng.randint(1, 64), columns, dtype, swizzle)
        x, y = rng.randrange(-columns, COLUMNS, 16 // element), rng.randint(-m.box_rows, ROWS)
        check(kernel_file, m.box(x, y, rng.randrange(0, 16) * 128))


def test_the_engine_counts_all_bytes_of_the_box(kernel_file):
    """The fixture expects box_bytes; another number would hang, or be a finding."""
    box = TensorMap(ROWS, COLUMNS, 16, 64).box(40, 29)
    assert box.bytes == 2048
    assert box.zero_bytes == 2048 - 2
    run(kernel_file, box)


# Values that `Arguments` has too, of fixtures/tma_encode.cu: 64 x 64 floats, boxes of 64 x 32.
CASES = {
    3: {"address": 8},
    4: {"rows": 0},
    5: {"rows": (1 << 32) + 1},
    6: {"row_stride": 66},
    7: {"row_stride": 1 << 38},
    8: {"row_stride": 32},
    9: {"box_rows": 0},
    10: {"box_rows": 257},
    11: {"box_columns": 30},
    12: {"swizzle": "64B"},
    13: {"swizzle": "none"},
    19: {"rows": 8, "columns": 16},
    21: {"box_rows": 256, "box_columns": 256, "swizzle": "none"},
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_is_refused(kernel_file, case):
    plain = {"rows": 64, "columns": 64, "box_rows": 64, "box_columns": 32, "dtype": "fp32"}
    given = {**plain, "row_stride": 64, **CASES[case]}
    A = np.zeros(64 * 64, np.float32)
    try:
        kernel_file("tma_encode").module("encode").launch(A, A, A, 1, 1, case)
        refused = False
    except LaunchError:
        refused = True
    assert bool(Arguments(**given).problems()) == refused
    if refused:
        name = {"swizzle": "box_columns"}.get(first := next(iter(CASES[case])), first)
        with pytest.raises(ArgumentError, match=f"^{name}: got"):
            TensorMap(**given)
    else:
        TensorMap(**given)


def test_rows_are_as_short_as_they_may_be():
    assert TensorMap(ROWS, COLUMNS, 8, 8).stride_bytes == up(COLUMNS * 2) == 96


@pytest.mark.parametrize("swizzle", ["32B", "64B", "128B"])
@pytest.mark.parametrize("address", [0, 128, 256, 512, 1024])
def test_what_a_kernel_misreads_that_xors_with_the_row(kernel_file, swizzle, address):
    m = TensorMap(ROWS, COLUMNS, 16, SPANS[swizzle] // 4, "fp32", swizzle)
    box = m.box(4, 5, address)
    assert box.zero_bytes == 0  # no two chunks are alike
    tile, right = run(kernel_file, box)[address:], stored_bytes(matrix_of(m), box)[address:]
    wrong = 0
    for c in box.chunks:
        at = box.place_by_row(c.row, c.chunk * 16)
        wrong += not np.array_equal(tile[at : at + 16], right[c.offset : c.offset + 16])
    assert wrong == box.misplaced == (0 if address % m.alignment == 0 else len(box.chunks))
