"""Passages and differences of kernel files."""

import pytest

import gemmlab as lab
from gemmlab.core.errors import ArgumentError


def test_passage_keeps_the_files_own_line_numbers():
    listing = lab.source("sgemm_03_block_tiling", "load")
    text = lab.kernel("sgemm_03_block_tiling").spec.path.read_text().splitlines()
    assert listing.lines[0].text == "sA[ty][tx] = A[(size_t)row * K + k_tile + tx];"
    for line in listing.lines:
        assert text[line.number - 1].strip() == line.text.strip()


def test_unknown_passage_names_those_there_are():
    with pytest.raises(ArgumentError, match="load, dot"):
        lab.source("sgemm_03_block_tiling", "lod")


def test_whole_file():
    listing = lab.source("sgemm_01_naive")
    assert len(listing.lines) == len(
        lab.kernel("sgemm_01_naive").spec.path.read_text().splitlines()
    )


def test_passage_of_a_header():
    listing = lab.source("probes/mma.cuh", "registers")
    assert listing.title == "kernels/probes/mma.cuh"
    assert any("multiply<T, WM, WN>(acc, f)" in line.text for line in listing.lines)


@pytest.mark.parametrize("name", ["probes/nma.cuh", "../kernels/probes/mma.cuh", "/mma.cuh"])
def test_header_that_is_not_in_kernels(name):
    with pytest.raises(ArgumentError, match="there is no"):
        lab.source(name)


def test_diff_shows_the_two_swapped_axes_and_not_the_name():
    marks = [(line.mark, line.text.strip()) for line in lab.diff("sgemm_02_coalesced").lines]
    assert ("+", "const int row = blockIdx.y * BLOCK_ROWS + threadIdx.y;") in marks
    assert ("-", "const int row = blockIdx.y * BLOCK_ROWS + threadIdx.x;") in marks
    assert not any("launch_sgemm" in text for mark, text in marks if mark != " ")


def test_first_step_has_no_parent():
    with pytest.raises(ArgumentError, match="first step"):
        lab.diff("sgemm_01_naive")


def test_html_is_escaped_and_repeatable():
    listing = lab.source("sgemm_06_swizzled_a", "dot")
    page = listing._repr_html_()
    assert page == lab.source("sgemm_06_swizzled_a", "dot")._repr_html_()
    assert "&lt;</span>" in page and "i < TM" not in page
    assert page.count('class="no"') == len(listing.lines)
    assert str(lab.kernel("sgemm_06_swizzled_a").spec.path.parent) not in page
