"""Tables of whole kernels: pairs that differ are marked, and reports are counted by tool."""

from __future__ import annotations

import json

import pytest

from gemmlab import evidence
from gemmlab.core.errors import MeasurementError

ENVIRONMENT = {"gpu": "NVIDIA H200", "date": "2026-11-21T00:00:00Z"}
TILED = {
    "file": "kernels/sgemm/03_block_tiling.cuh",
    "launch": "launch_sgemm_03_block_tiling",
    "size": [32, 32, 32],
    "bytes": [4096, 4096, 4096],
}
COUNTERS = {
    "st.shared wavefronts": 64,
    "ld.shared wavefronts": 7,
    "ldmatrix wavefronts": 0,
    "st.global sectors": None,
}


def written(folder, kernels: dict):
    path = folder / "recorded.json"
    path.write_text(json.dumps({"environment": ENVIRONMENT, "kernels": kernels}))
    return path


def test_kernels_are_counted_now_and_pairs_that_differ_are_marked(tmp_path):
    table = evidence.whole_kernels(written(tmp_path, {"tiled": {**TILED, "counters": COUNTERS}}))
    assert table.head == ("kernel", "shared loads, wavefronts", "shared stores, wavefronts")
    assert table.rows == (("tiled", "1,536 / 7  differs", "64 / 64"),)
    assert table.notes[0].endswith("2 pairs, 1 of them differ.")
    assert "NVIDIA H200" in table.notes[-1]


def test_a_counter_that_is_zero_in_one_kernel_only_is_a_dash_there(tmp_path):
    naive = {**TILED, "file": "kernels/sgemm/01_naive.cuh", "launch": "launch_sgemm_01_naive"}
    kernels = {
        "tiled": {**TILED, "counters": {"st.shared wavefronts": 64}},
        "naive": {**naive, "counters": {"st.shared wavefronts": 0}},
    }
    assert evidence.whole_kernels(written(tmp_path, kernels)).rows[1] == ("naive", "-")


def test_reports_are_counted_by_tool(tmp_path):
    kernels = {
        "good": {"correct": {"racecheck": 0, "initcheck": 0}},
        "noisy": {"correct": {"racecheck": 1, "initcheck": 0}},
        "seen": {"broken": {"racecheck": 3}, "fixed": {"racecheck": 0}},
        "missed": {"broken": {"racecheck": 0}, "fixed": {"racecheck": 0}},
        "stuck": {"broken": {"racecheck": -1}, "fixed": {"racecheck": 0}},
    }
    table = evidence.sanitizer(written(tmp_path, kernels))
    assert table.rows == (
        ("racecheck", "1 of 3", "1 of 3", "1 of 5"),
        ("initcheck", "-", "-", "0 of 2"),
    )


@pytest.mark.parametrize("make", [evidence.whole_kernels, evidence.sanitizer])
def test_a_missing_recording_is_named(make, tmp_path):
    with pytest.raises(MeasurementError, match=r"nothing\.json: not readable"):
        make(tmp_path / "nothing.json")


def test_the_recording_of_the_sanitizer_is_there():
    table = evidence.sanitizer()
    assert [row[0] for row in table.rows] == ["memcheck", "racecheck", "synccheck", "initcheck"]
    assert "NVIDIA H200" in table.notes[-1]
