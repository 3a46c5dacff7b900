"""Boxes of the copy engine of 1, 3, 4 and 5 dimensions, against NumPy."""

from __future__ import annotations

from pathlib import Path

import needs
import numpy as np
import pytest

from gemmlab import sim
from gemmlab.layouts.shared.swizzle import Swizzle

PROGRAM = Path(__file__).parent / "programs" / "tensor_ranks.cu"
SIZES, BOX = (12, 5, 3, 3, 3), (4, 3, 2, 2, 2)  # as the program has them, innermost first
pytestmark = needs.gxx


def window(whole: np.ndarray, at: list[int], box: list[int]) -> np.ndarray:
    """What a load brings: zeros outside of the tensor. All outermost first."""
    found = np.zeros(box, whole.dtype)
    for index in np.ndindex(*box):
        place = tuple(a + i for a, i in zip(at, index, strict=True))
        if all(0 <= p < n for p, n in zip(place, whole.shape, strict=True)):
            found[index] = whole[place]
    return found


def stored(content: np.ndarray, at: list[int], shape: list[int]) -> np.ndarray:
    """The tensor after a store, where it was full of -1."""
    whole = np.full(shape, -1, content.dtype)
    for index in np.ndindex(*content.shape):
        place = tuple(a + i for a, i in zip(at, index, strict=True))
        if all(0 <= p < n for p, n in zip(place, shape, strict=True)):
            whole[place] = content[index]
    return whole


@pytest.mark.parametrize("way", ["ptx", "cde"])
def test_boxes_go_to_shared_memory_and_back(way):
    report = sim.program(PROGRAM, arguments=[way])
    assert (report.status, list(report.findings), report.gaps) == (0, [], ())
    lines = report.output.splitlines()
    ranks = set()
    for head, image, out in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        rank, *at = map(int, head.split())
        shape, box = list(SIZES[:rank][::-1]), list(BOX[:rank][::-1])
        whole = np.arange(1, np.prod(shape) + 1).reshape(shape)
        content = window(whole, at[::-1], box)
        np.testing.assert_array_equal(np.array(image.split(), int), content.ravel())
        expected = stored(content, at[::-1], shape)
        np.testing.assert_array_equal(np.array(out.split(), int), expected.ravel())
        ranks.add(rank)
    assert (len(lines), ranks) == (4 * 4 * 3, {1, 3, 4, 5})


def test_planes_are_swizzled_by_their_addresses():
    """Rows of 32 bytes, five a plane: the second plane begins in the middle of a pattern."""
    head, image, out = sim.program(PROGRAM, arguments=["swizzled"]).output.splitlines()
    at, shape, box = [1, 1, -4], list(SIZES[:3][::-1]), [2, 5, 8]
    assert head == "3 -4 1 1"
    content = window(np.arange(1, np.prod(shape) + 1).reshape(shape), at, box)
    places = Swizzle(1, 4, 3)(4 * np.arange(content.size)) // 4
    np.testing.assert_array_equal(np.array(image.split(), int)[places], content.ravel())
    expected = stored(content, at, shape)
    np.testing.assert_array_equal(np.array(out.split(), int), expected.ravel())


def test_im2col_is_refused():
    CUDA_ERROR_NOT_SUPPORTED = 801
    report = sim.program(PROGRAM, arguments=["im2col"])
    assert report.output == f"{CUDA_ERROR_NOT_SUPPORTED}\n"


@pytest.mark.parametrize(
    ("case", "kind", "words"),
    [
        ("no_wait", "read-before-wait", "tma_load_3d"),
        ("read_early", "read-before-wait", "tma_store_3d"),
        ("other_rank", "bad-argument", "and the tensor map has 4"),
    ],
)
def test_a_mistake_is_found(case, kind, words):
    findings = sim.program(PROGRAM, arguments=[case]).findings
    assert {finding.kind for finding in findings} == {kind}
    assert words in findings[0].message


def test_what_a_store_does_not_write_may_be_read():
    assert list(sim.program(PROGRAM, arguments=["read_beside"]).findings) == []
