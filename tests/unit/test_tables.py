"""The chapters' tables: made from the recorded file, and honest about what is missing."""

import dataclasses

import pytest

from gemmlab import measurements, registry, tables
from gemmlab.errors import MeasurementError

LAST = registry.names()[-1]


@pytest.mark.parametrize(
    "make",
    [
        tables.ceilings,
        tables.steady,
        lambda: tables.limits([LAST, "sgemm_01_naive"]),
        lambda: tables.stalls(LAST),
        lambda: tables.arbitration(LAST),
        lambda: tables.traffic(LAST),
        lambda: tables.resources(LAST),
    ],
)
def test_names_where_its_numbers_come_from(make):
    table = make()
    assert table.rows
    assert "NVIDIA H200" in " ".join(table.notes) or "ptxas" in table.notes[0]
    assert all(len(row) == len(table.head) == len(table.align) for row in table.rows)
    assert table.rows[0][0] in repr(table) and "<table>" in table._repr_html_()


def test_simulator_and_profiler_agree_on_every_kernel():
    table = tables.agreement()
    assert len(table.rows) == len(registry.KERNELS)
    assert "All pairs are equal" in table.notes[0]


def test_a_pair_that_differs_is_marked(monkeypatch):
    loaded = measurements.load()
    counters = loaded.section("counters")
    changed = {**counters["kernels"][LAST], "shared_store_wavefronts": 1}
    kernels = {**counters["kernels"], LAST: changed}
    sections = {**loaded.sections, "counters": {**counters, "kernels": kernels}}
    other = dataclasses.replace(loaded, sections=sections)
    monkeypatch.setattr(measurements, "load", lambda: other)
    table = tables.agreement()
    assert "Pairs that differ: 1" in table.notes[0]
    assert "8,192 / 1  differs" in table.rows[-1]


def test_a_section_that_was_not_recorded_says_how_to_get_it(monkeypatch):
    loaded = measurements.load()
    sections = {name: data for name, data in loaded.sections.items() if name != "limits"}
    other = dataclasses.replace(loaded, sections=sections)
    monkeypatch.setattr(measurements, "load", lambda: other)
    with pytest.raises(MeasurementError, match="--only limits"):
        tables.limits(LAST)
