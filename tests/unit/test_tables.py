"""The chapters' tables: made from the recorded file, and honest about what is missing."""

import dataclasses

import pytest

from gemmlab import measurements, merged, plots, registry, tables
from gemmlab.errors import MeasurementError

# The last step of the recorded file: a step is there before it was recorded.
LAST = list(measurements.load().section("counters")["kernels"])[-1]


@pytest.mark.parametrize(
    "make",
    [
        tables.ceilings,
        tables.steady,
        lambda: tables.limits([LAST, "sgemm_01_naive"]),
        lambda: tables.stalls(LAST),
        lambda: tables.arbitration(LAST),
        lambda: tables.traffic(plots.recorded_points(measurements.load(), "threads")[-1].name),
        lambda: tables.resources(LAST),
    ],
)
def test_names_where_its_numbers_come_from(make):
    table = make()
    assert table.rows
    assert "NVIDIA H200" in " ".join(table.notes) or "ptxas" in table.notes[0]
    assert all(len(row) == len(table.head) == len(table.align) for row in table.rows)
    assert table.rows[0][0] in repr(table) and "<table>" in table._repr_html_()


def test_simulator_and_profiler_agree_on_every_recorded_kernel():
    table = tables.agreement()
    recorded = set(measurements.load().section("counters")["kernels"])
    assert [row[0] for row in table.rows] == registry.names()
    assert {row[0] for row in table.rows if "not recorded" not in row} == recorded
    others = "other " * bool(recorded & set(merged.MERGED))
    assert f"All {others}pairs are equal" in table.notes[0]


def with_counters(monkeypatch, name: str, **changed: int) -> None:
    """A recording with a few counters of one step changed, or with the last one's for it."""
    loaded = measurements.load()
    counters = loaded.section("counters")
    kernels = {**counters["kernels"]}
    kernels[name] = {**kernels.get(name, kernels[LAST]), **changed}
    sections = {**loaded.sections, "counters": {**counters, "kernels": kernels}}
    other = dataclasses.replace(loaded, sections=sections)
    monkeypatch.setattr(measurements, "load", lambda: other)


def test_a_pair_that_differs_is_marked(monkeypatch):
    counted = measurements.load().section("counters")["kernels"][LAST]["shared_store_wavefronts"]
    with_counters(monkeypatch, LAST, shared_store_wavefronts=1)
    table = tables.agreement()
    assert "Pairs that differ: 1" in table.notes[0]
    row = next(row for row in table.rows if row[0] == LAST)
    assert f"{counted:,} / 1  differs" in row


COARSE = "sgemm_09_thread_coarsening"
WARPS = 4 * 8  # of 256 x 256
READ = {  # by the machine code: 10 loads for each of 256 k
    **{"shared_load_wavefronts": 32 * 256 * WARPS, "shared_load_instructions": 10 * 256 * WARPS},
    **{"shared_store_wavefronts": 8 * 32 * WARPS, "shared_store_instructions": 8 * 32 * WARPS},
    **{"global_load_sectors": 32 * 32 * WARPS, "global_store_sectors": 64 * 32 * WARPS},
}


def test_loads_that_nvcc_leaves_out_are_no_difference(monkeypatch):
    with_counters(monkeypatch, COARSE, **READ)
    table = tables.agreement()
    assert "All other pairs are equal" in table.notes[0]
    assert any("ld.shared: the source has 128 shared loads" in note for note in table.notes)
    row = next(row for row in table.rows if row[0] == COARSE)
    assert row[1] == "3,145,728 / 262,144  merged"
    assert row[3] == "1,048,576 / 81,920  merged"
    assert sum("merged" in cell for cell in row) == 2


def test_more_than_the_source_asks_for_is_a_difference_there_too(monkeypatch):
    with_counters(monkeypatch, COARSE, **READ | {"shared_load_wavefronts": 3_145_729})
    table = tables.agreement()
    assert "Pairs that differ: 1" in table.notes[0]


def test_a_section_that_was_not_recorded_says_how_to_get_it(monkeypatch):
    loaded = measurements.load()
    sections = {name: data for name, data in loaded.sections.items() if name != "limits"}
    other = dataclasses.replace(loaded, sections=sections)
    monkeypatch.setattr(measurements, "load", lambda: other)
    with pytest.raises(MeasurementError, match="--only limits"):
        tables.limits(LAST)
