"""The chapters' tables: made from the recorded file, and honest about what is missing."""

import dataclasses
import functools
from collections.abc import Iterator

import pytest

import gemmlab as lab
from gemmlab import measurements, sim
from gemmlab.core.errors import MeasurementError
from gemmlab.core.paths import repository_root
from gemmlab.evidence import merged_loads as merged
from gemmlab.evidence.counters import COUNTED, agreement, conflicts, counted_as
from gemmlab.report import plots, tables
from gemmlab.steps import registry

# The last step of the recorded file: a step is there before it was recorded.
LAST = list(measurements.load().section("counters")["kernels"])[-1]


@pytest.fixture(scope="module", autouse=True)
def traced_once() -> Iterator[None]:
    """The simulator traces a step once for all tests, for it counts the same each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sim, "trace", functools.cache(sim.trace))
        yield


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


@pytest.mark.slow
def test_simulator_and_profiler_agree_on_every_recorded_kernel():
    table = agreement()
    recorded = set(measurements.load().section("counters")["kernels"])
    assert [row[0] for row in table.rows] == [
        s.name for s in registry.KERNELS if s.family == "sgemm"
    ]
    assert {row[0] for row in table.rows if "not recorded" not in row} == recorded
    others = "other " * bool(recorded & set(merged.MERGED))
    assert f"All {others}pairs are equal" in table.notes[0]


def loading(monkeypatch, load) -> None:
    """`load` in the place of what reads recordings."""
    for module in (measurements, measurements.store):
        monkeypatch.setattr(module, "load", load)


def with_counters(monkeypatch, name: str, **changed: int) -> None:
    """A recording with a few counters of one step changed, or with the last one's for it."""
    loaded = measurements.load()
    counters = loaded.section("counters")
    kernels = {**counters["kernels"]}
    kernels[name] = {**kernels.get(name, kernels[LAST]), **changed}
    sections = {**loaded.sections, "counters": {**counters, "kernels": kernels}}
    other = dataclasses.replace(loaded, sections=sections)
    loading(monkeypatch, lambda **_: other)


@pytest.mark.slow
def test_a_pair_that_differs_is_marked(monkeypatch):
    counted = measurements.load().section("counters")["kernels"][LAST]["shared_store_wavefronts"]
    with_counters(monkeypatch, LAST, shared_store_wavefronts=1)
    table = agreement()
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


@pytest.mark.slow
def test_loads_that_nvcc_leaves_out_are_no_difference(monkeypatch):
    with_counters(monkeypatch, COARSE, **READ)
    table = agreement()
    assert "All other pairs are equal" in table.notes[0]
    assert any("ld.shared: the source has 128 shared loads" in note for note in table.notes)
    row = next(row for row in table.rows if row[0] == COARSE)
    assert row[1] == "3,145,728 / 262,144  merged"
    assert row[3] == "1,048,576 / 81,920  merged"
    assert sum("merged" in cell for cell in row) == 2


@pytest.mark.slow
def test_more_than_the_source_asks_for_is_a_difference_there_too(monkeypatch):
    with_counters(monkeypatch, COARSE, **READ | {"shared_load_wavefronts": 3_145_729})
    table = agreement()
    assert "Pairs that differ: 1" in table.notes[0]


def test_dynamic_shared_memory_is_what_the_launch_asks_for():
    fewer = lab.experiment("hgemm 17, two stages")
    table = tables.resources(["hgemm_16_write_back", "hgemm_17_stages", fewer])
    assert [row[3] for row in table.rows] == ["32,768 B", "49,152 B, dynamic", "dynamic"]


def test_steps_of_two_parts_are_compared_each_by_its_own_recording(monkeypatch):
    second = measurements.load(family="hgemm")
    sections = {name: dict(second.section(name)) for name in ("limits", "resources", "counters")}
    for data in sections.values():
        data["kernels"] = {"tma_01_load": data["kernels"]["hgemm_18_wide_tile"]}
        data["environment"] = {**data["environment"], "commit": "abcdef0"}
    third = measurements.Measurements(second.gpu, sections, "tma")
    found = {"hgemm": second, "tma": third}
    loading(monkeypatch, lambda family, gpu=None: found[family])
    pair = ["hgemm_17_stages", "tma_01_load"]
    both, mine = tables.limits(pair), tables.limits("hgemm_18_wide_tile")
    assert both.head == ("unit", "17 stages", "01 load")
    assert [row[2] for row in both.rows] == [row[1] for row in mine.rows]
    commit = second.section("limits")["environment"]["commit"]
    assert "commit abcdef0" in both.notes[0] and f"commit {commit[:7]}" in both.notes[0]
    assert [row[0] for row in tables.resources(pair).rows] == ["hgemm_17_stages", "tma_01_load"]
    found = conflicts(pair)
    assert len(found.notes) == 3 and "abcdef0" in found.notes[2]
    assert found.rows[-1][5].split()[0] not in ("not", "0")


def test_a_section_that_was_not_recorded_says_how_to_get_it(monkeypatch):
    loaded = measurements.load()
    sections = {name: data for name, data in loaded.sections.items() if name != "limits"}
    other = dataclasses.replace(loaded, sections=sections)
    loading(monkeypatch, lambda **_: other)
    with pytest.raises(MeasurementError, match="--only limits"):
        tables.limits(LAST)


# ---- 16-bit steps ----

SWIZZLED, PLAIN = "hgemm_11_mma_swizzled", "hgemm_10_mma"
ENV = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z"}


@pytest.fixture(scope="module")
def equal_counters():
    """What ncu would count, were it equal to the simulator, of two steps."""
    counters = {}
    for name in (SWIZZLED, PLAIN):
        totals = sim.trace(name, 256, 256, 256).totals()
        pairs = COUNTED["hgemm"].values()
        counters[name] = {key: counted_as(what, totals) for what, key in pairs}
    return counters


@pytest.fixture
def hgemm_recording(monkeypatch, equal_counters):
    """A recording of them alone; what the function is given changes counters of the first."""
    plain = measurements.load

    def install(**changed: int | None):
        kernels = {**equal_counters, SWIZZLED: {**equal_counters[SWIZZLED], **changed}}
        kernels[SWIZZLED] = {k: v for k, v in kernels[SWIZZLED].items() if v is not None}
        section = {"environment": ENV, "size": 256, "kernels": kernels}
        made = measurements.Measurements("NVIDIA H200", {"counters": section}, "hgemm")
        loading(monkeypatch, lambda *_, family="sgemm": made if family == "hgemm" else plain())

    return install


def row_of(table, name: str) -> dict[str, str]:
    return dict(zip(table.head, next(row for row in table.rows if row[0] == name), strict=True))


def test_agreement_of_16_bit_steps(hgemm_recording, equal_counters):
    hgemm_recording()
    table = agreement(family="hgemm")
    assert [row[0] for row in table.rows] == [
        s.name for s in registry.KERNELS if s.family == "hgemm"
    ]
    assert "All pairs are equal" in table.notes[0]
    assert table.head[1:4] == (
        *("ldmatrix, wavefronts", "ldmatrix, instructions", "cp.async, wavefronts"),
    )
    # Of a 256x256 product 4 blocks of 4 warps take 16 steps of K, each 4 ldmatrix of A and 8 of B.
    assert row_of(table, SWIZZLED)["ldmatrix, instructions"] == "3,072 / 3,072"
    assert row_of(table, "hgemm_01_naive")["ldmatrix, wavefronts"] == "not recorded"
    assert all(len(row) == len(table.head) == len(table.align) for row in table.rows)


def test_agreement_of_steps_with_the_copy_engine(monkeypatch):
    totals = sim.trace("tma_01_load", 256, 256, 256).totals()
    columns = COUNTED["tma"].values()
    read = {key: counted_as(what, totals) for what, key in columns}
    section = {"environment": ENV, "size": 256, "kernels": {"tma_01_load": read}}
    made = measurements.Measurements("NVIDIA H200", {"counters": section}, "tma")
    loading(monkeypatch, lambda family: made)
    table = agreement("tma")
    row = row_of(table, "tma_01_load")
    assert row["global loads, sectors"] == "0 / 0"  # the copy engine's are none of a thread's
    assert row["ldmatrix, wavefronts"] == "12,288 / 12,288"
    assert "All pairs are equal. Global loads and stores: without the copy" in table.notes[0]
    assert "cp.async" not in repr(table)


def test_a_16_bit_pair_that_differs_or_that_ncu_does_not_know(hgemm_recording):
    hgemm_recording(copy_wavefronts=7, ldmatrix_instructions=None)
    table = agreement(family="hgemm")
    assert "Pairs that differ: 1" in table.notes[0]
    row = row_of(table, SWIZZLED)
    assert row["cp.async, wavefronts"].endswith(" / 7  differs")
    assert row["ldmatrix, instructions"] == "3,072 / not counted"


def test_conflicts_by_simulator_and_profiler(hgemm_recording):
    hgemm_recording()
    table = conflicts([PLAIN, SWIZZLED])
    plain, swizzled = (
        next(r for r in table.rows if r[0] == n) for n in ("10 mma", "11 mma swizzled")
    )
    assert swizzled[1:4] == ("ldmatrix", "3,072", "8,192")
    assert swizzled[4] == swizzled[5] == swizzled[3] and swizzled[6] == "0"
    assert plain[4] == plain[5] and plain[6] != "0"
    assert "conflicts are those above the minimum" in table.notes[0]
    assert "recorded on NVIDIA H200, 2026-11-22" in table.notes[1]
    # A name stands once, before all accesses of its step.
    assert [row[0] for row in table.rows if row[0]] == ["10 mma", "11 mma swizzled"]
    assert {row[1] for row in table.rows} == {"ldmatrix", "cp.async"}


def test_conflicts_that_differ_or_were_not_counted_are_marked(hgemm_recording):
    hgemm_recording(ldmatrix_wavefronts=9000, copy_wavefronts=None)
    cells = [row[5] for row in conflicts(SWIZZLED).rows]
    assert cells == ["9,000  differs", "not counted"]
    assert conflicts("hgemm_17_stages").rows[0][5] == "not recorded"


def test_conflicts_without_a_recording_are_the_simulator_s(monkeypatch, tmp_path):
    table = conflicts(SWIZZLED)
    (tmp_path / "kernels").symlink_to(repository_root() / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    bare = conflicts(SWIZZLED)
    assert [row[:5] + row[6:] for row in bare.rows] == [row[:5] + row[6:] for row in table.rows]
    assert {row[5] for row in bare.rows} == {"not recorded"}
    assert "holds no recorded run of hgemm; `python -m gemmlab record --family hg" in bare.notes[1]


def test_conflicts_of_an_fp32_step_are_those_of_its_recording():
    rows = conflicts("sgemm_05_transposed_a").rows
    assert [row[1] for row in rows] == ["loads", "stores"]
    assert rows[0][4] == rows[0][5] and rows[1][6] == "12,288"


def test_limits_of_16_bit_steps_name_the_tensor_cores(monkeypatch):
    values = {"tensor_pipe": 61.2, "fma_pipe": 0.0, "stall_math_pipe_throttle": 1.25}
    section = {"environment": ENV, "size": 4096, "kernels": {SWIZZLED: values}}
    made = measurements.Measurements("NVIDIA H200", {"limits": section}, "hgemm")
    loading(monkeypatch, lambda *_, **__: made)
    assert tables.limits(SWIZZLED).rows == (("tensor cores, instructions", "61 %"),)
    assert tables.stalls(SWIZZLED).rows == (("for tensor cores or the FMA pipe", "1.25"),)
