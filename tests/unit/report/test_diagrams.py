"""The drawings say in words what they show, and refuse what they cannot draw."""

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.report import plots


def test_sectors_in_words():
    figure = plots.sector_diagram(
        {"column": [1024 * i for i in range(32)], "row": list(range(0, 128, 4))}
    )
    assert "column: 32 sectors, 128 of 1024 bytes used" in figure.alt
    assert "row: 4 sectors, 128 of 128 bytes used" in figure.alt
    assert figure.svg() == figure.svg()


def test_tiles_place_the_thread():
    figure = plots.tile_diagram("sgemm_04_register_tiling", thread=37)
    assert "lane 5 of warp 1 and owns rows 8 to 15, columns 40 to 47" in figure.alt
    assert figure.png.startswith(b"\x89PNG")


def test_tiles_of_single_columns_place_the_thread():
    alt = plots.tile_diagram("sgemm_03b_column_per_thread", thread=37).alt
    assert "lane 5 of warp 1 and owns rows 8 to 15, column 5." in alt
    alt = plots.tile_diagram("sgemm_03c_square_per_thread", thread=37).alt
    assert "owns rows 16 to 23, columns 5, 21, 37, 53, 69, 85, 101, 117." in alt


def test_tiles_refuse():
    with pytest.raises(ArgumentError, match="no tiles of threads"):
        plots.tile_diagram("sgemm_09_thread_coarsening")
    with pytest.raises(ArgumentError, match="no tiles of threads"):
        plots.tile_diagram("sgemm_01_naive")
    with pytest.raises(ArgumentError, match="threads 0 to 255"):
        plots.tile_diagram("sgemm_04_register_tiling", thread=256)
