"""Counters of public kernels: the recording itself, how one is read, and a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import needs
import pytest

from gemmlab.sim.program.widths import Widths
from tools.corpus import counters, table
from tools.corpus.cases import CASES, repositories

PROGRAMS = Path(__file__).parent / "programs"
METRIC = counters.METRICS["shared_load_wavefronts"]
LOG = f"""GROUP one
CASE first
==PROF== Connected to process 7
right
CASE second
right
"ID","Kernel Name","{METRIC}"
"","","inst"
"0","one(int)","1,024"
"1","void two<3>(int)","12"
GROUP two
CASE third
"ID","Kernel Name","{METRIC}"
"0","three()","n/a"
"""


def recorded() -> dict:
    return json.loads(counters.RECORDED.read_text(encoding="utf-8"))


def test_a_log_is_read_case_by_case():
    found = counters.launches_by_case(LOG)
    assert {name: row["Kernel Name"] for name, row in found.items()} == {
        "first": "one(int)",
        "second": "void two<3>(int)",
        "third": "three()",
    }
    assert (found["first"][METRIC], found["second"][METRIC]) == (1024, 12)
    with pytest.raises(ValueError, match="2 launches were profiled of 3 cases"):
        counters.launches_by_case(LOG.replace("CASE second", "CASE second\nCASE more"))


def test_the_recording_belongs_to_the_cases():
    data, known = recorded(), repositories(CASES)
    titles = {case.title for one in known for case in one.cases}
    commits = {one.name: one.commit for one in known}
    assert {row["case"] for row in data["kernels"]} <= titles
    assert data["commits"].items() <= commits.items()
    assert {row["case"].split()[0] for row in data["kernels"]} == set(data["commits"])
    assert set(data["machine"]) == {"gpu", "driver", "cuda", "ncu", "date"}
    for row in data["kernels"]:
        assert row["counters"].keys() <= counters.METRICS.keys()
        assert set(row["differ"]) <= row["counters"].keys()
        lines = data["widths"][row["widths"]]
        assert counters.table_text(counters.read_table(lines)) == lines


def test_at_least_thirty_kernels_have_no_counter_that_differs():
    equal = [row["case"] for row in recorded()["kernels"] if not row["differ"]]
    assert len(equal) >= 30


CASE = """
[[repository]]
name = "someone/kernels"
commit = "0123"
[[repository.group]]
variants = ["rows"]
files = ["merged.cu"]
arguments = ["{}"]
prints = "52"
"""
# As nvcc compiles it for an H200: 16 bytes for the rows' loads and stores.
READ = {"shared_load_instructions": 30, "shared_store_instructions": 4, "global_store_requests": 2}


@needs.gxx
@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "differ", "status"),
    [
        ({}, [], counters.ALL_EQUAL),
        ({"global_store_requests": 3}, [], counters.DIFFERENT),
        ({"global_store_requests": 3}, ["global_store_requests"], counters.ALL_EQUAL),
    ],
)
def test_a_comparison(tmp_path, capsys, more, differ, status):
    folder = tmp_path / "corpus" / "someone" / "kernels"
    folder.mkdir(parents=True)
    (folder / "merged.cu").write_text((PROGRAMS / "merged.cu").read_text())
    (cases := tmp_path / "cases.toml").write_text(CASE)
    lines = {
        ("merged.cu", number): text
        for number, text in enumerate((folder / "merged.cu").read_text().splitlines(), start=1)
    }
    widths = Widths(
        {
            (*place, "st.shared" if "[stores]" in text else "ld.shared"): (16,)
            for place, text in lines.items()
            if "[stores]" in text or "[loads]" in text
        }
    )
    row = {"case": "someone/kernels rows", "counters": READ | more, "differ": differ, "widths": "w"}
    data = {"kernels": [row], "widths": {"w": counters.table_text(widths)}}
    (file := tmp_path / "counters.json").write_text(json.dumps(data))
    given = ["--folder", str(tmp_path / "corpus")]
    assert counters.main(given, cases, file) == status
    equal = "1 of 1 kernels" if not more else "0 of 1 kernels"
    assert f"{equal}: all counters equal" in capsys.readouterr().out


def test_the_page_of_results_is_that_of_the_recording():
    assert table.PAGE.read_text(encoding="utf-8") == table.page()


def test_nothing_to_compare_is_said(tmp_path):
    assert counters.main(["--folder", str(tmp_path)]) == counters.NOTHING_COMPARED
