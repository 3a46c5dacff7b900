"""The subtiles experiment: counts, variants, what is recorded, and its map."""

import re
from dataclasses import asdict
from importlib import import_module
from itertools import pairwise

import pytest

import gemmlab as lab
from gemmlab import measurements, sim
from gemmlab.core.errors import ArgumentError
from gemmlab.experiments.subtiles import ARTICLE, Configuration, configurations
from gemmlab.gpu import build, ptxas
from gemmlab.gpu.ptxas import Resources
from gemmlab.measurements.rows import BenchResult, BenchRow
from gemmlab.widgets import HeatMap, Metric

subtiles = import_module("gemmlab.experiments.subtiles")  # experiments.subtiles is the function
ENV = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
EVERY = list(configurations())


# --- configurations and counts --------------------------------------------------------------------


def test_there_are_56_configurations_and_the_article_measured_14_of_them():
    assert len(EVERY) == len(set(EVERY)) == 56
    assert len(ARTICLE) == 14
    assert {tuple(asdict(one).values()) for one in EVERY} >= set(ARTICLE)


def test_the_experiment_has_the_step_s_constants():
    text = lab.kernel(subtiles.STEP).spec.path.read_text()
    found = {n: int(v) for n, v in re.findall(r"\b(BK|BN|WM|WN|TM|TN|WMITER|WNITER) = (\d+)", text)}
    assert (found["WM"], found["WN"], found["BK"], found["BN"]) == (
        subtiles.WM, subtiles.WN, subtiles.BK, subtiles.BN
    )  # fmt: skip
    own = Configuration(found["TM"], found["TN"], found["WMITER"], found["WNITER"])
    assert own.article == 28.70


@pytest.mark.parametrize(
    ("values", "a", "b", "loads"),
    [
        ((8, 4, 2, 2), [2] * 16, [4] * 2, 18),  # 40: the article's original
        ((16, 8, 1, 1), [2] * 16, [8] * 2, 18),  # 48: its kernel 05
        ((8, 4, 4, 1), [1] * 32, [4], 33),  # 36 wavefronts, but 33 loads
        ((8, 4, 1, 4), [4] * 8, [4] * 4, 12),
        ((1, 16, 1, 8), [32], [2] * 32, 33),  # all lanes read one address of B
        ((1, 16, 8, 1), [4] * 8, [16] * 4, 12),
    ],
)
def test_wavefronts_of_a_configuration(values, a, b, loads):
    one = Configuration(*values)
    assert (one.loads_of_a, one.loads_of_b, one.loads) == (a, b, loads)
    assert one.wavefronts == sum(a) + sum(b)


@pytest.mark.parametrize("values", [(8, 4, 2, 2), (1, 16, 1, 8), (4, 8, 4, 1), (32, 4, 1, 1)])
def test_the_simulator_counts_the_same_in_the_variant(values):
    one = Configuration(*values)
    counted = sim.trace(one.kernel, 128, 128, 32).totals()["ld.shared"]
    warps_times_k = 4 * 32
    assert counted["wavefronts"] == one.wavefronts * warps_times_k
    assert counted["requests"] == one.loads * warps_times_k


@pytest.mark.slow
@pytest.mark.parametrize("one", EVERY[::4], ids=lambda one: one.name)
def test_further_variants_are_right_and_counted_right(one):
    assert lab.check(one.kernel, shapes=[(128, 128, 32)], device="cpu").ok
    counted = sim.trace(one.kernel, 128, 128, 32).totals()["ld.shared"]
    assert counted["wavefronts"] == one.wavefronts * 4 * 32


def test_a_variant_is_right_and_named():
    kernel = Configuration(4, 8, 4, 1).kernel
    assert kernel.title == "TM 4, TN 8, WMITER 4, WNITER 1"
    text = kernel.source.path.read_text()
    for line in ("constexpr int TM = 4;", "constexpr int TN = 8;", "constexpr int WMITER = 4;",
                 "constexpr int WNITER = 1;"):  # fmt: skip
        assert line in text
    assert lab.check(kernel, shapes=[(128, 128, 32)], device="cpu").ok


def test_every_load_of_an_operand_costs_the_same():
    for one in EVERY:
        assert len(set(one.loads_of_a)) == len(set(one.loads_of_b)) == 1


def test_the_article_s_speed_follows_the_wavefronts_but_where_loads_abound():
    """Errata: its table depends on what shared memory is asked for, not on chains of FMAs."""
    few = {one: one.article for one in EVERY if one.article and one.loads < 30}
    by_count: dict[int, list[float]] = {}
    for one, speed in few.items():
        by_count.setdefault(one.wavefronts, []).append(speed)
    ordered = [by_count[count] for count in sorted(by_count)]
    assert sorted(by_count) == [40, 48, 64, 96]
    assert all(min(a) > max(b) for a, b in pairwise(ordered))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((8, 4, 2, 4), r"8 \* 4 \* 2 \* 4 = 256 elements a thread, not 128"),
        ((1, 2, 8, 8), "TN = 2 is no multiple of 4"),
        ((8, 4, 8, 1), "= 256 elements"),
        ((64, 4, 1, 1), "= 256 elements"),
        ((8, 4, 2, 2), "^$"),
    ],
)
def test_why_a_configuration_is_none(values, reason):
    assert re.search(reason, Configuration(*values).against)


# --- what is measured -----------------------------------------------------------------------------


def section() -> dict:
    rows, used = [], {}
    for one in EVERY:
        rate = 1500 / one.wavefronts
        rows.append(BenchRow(one.name, 4096, 4096, 4096, 1.0, (1.0, 1.0), rate, rate / 51, 9.0,
                             1980.0, None, 50))  # fmt: skip
        used[one.name] = {"registers": 168, "spill_stores_bytes": 8, "spill_loads_bytes": 4}
    data = BenchResult(tuple(rows), "recorded", ENV).to_dict()
    return {**data, "resources": used, "sources": {}}


@pytest.fixture
def recorded(monkeypatch):
    loaded = measurements.load()
    sections = {**loaded.sections, "subtiles": {**section(), "environment": ENV}}
    monkeypatch.setattr(
        measurements, "load", lambda *_, **__: measurements.Measurements(loaded.gpu, sections)
    )


def test_without_a_recording_the_article_and_the_counts_are_shown(monkeypatch):
    loaded = measurements.load()
    sections = {k: v for k, v in loaded.sections.items() if k != "subtiles"}
    bare = measurements.Measurements(loaded.gpu, sections)
    monkeypatch.setattr(measurements, "load", lambda *_, **__: bare)
    found = lab.experiments.subtiles()
    assert len(found.rows) == 14
    assert all(row.tflops is None for row in found.rows)
    assert "Not measured" in repr(found)
    assert "28.73" in found._repr_html_()
    assert found.heat_map().summary().startswith("published, RTX 5070 Ti of 14 configurations")


def test_the_recorded_rows_are_shown_and_labelled(recorded):
    found = lab.experiments.subtiles(every=True)
    assert len(found.rows) == 56
    own = next(row for row in found.rows if row.configuration == Configuration(8, 4, 2, 2))
    assert (own.tflops, own.ratio) == (1500 / 40, 1500 / 40 / 51)
    assert (own.registers, own.spill_bytes) == (168, 12)
    assert "Recorded on NVIDIA H200, 2026-11-22" in repr(found)
    assert len(found.article.rows) == 14


def test_bench_finds_the_recorded_variants(recorded):
    kernel = Configuration(8, 4, 2, 2).kernel
    assert lab.bench(kernel, [4096]).row(kernel.title).tflops == 1500 / 40


def test_measuring_times_all_in_one_run(monkeypatch):
    calls = []

    def bench(kernels, sizes, baselines):
        calls.append([kernel.title for kernel in kernels])
        rows = [row for row in section()["rows"] if row["kernel"] in calls[-1]]
        rows = tuple(BenchRow(**row) for row in rows)
        return BenchResult(rows, "live", ENV)

    used = Resources(168, 0, 0, 0, 32768)
    monkeypatch.setattr(subtiles, "bench", bench)
    built, asked = [], []
    monkeypatch.setattr(build, "load", lambda program: built.append(program.source.path))
    monkeypatch.setattr(subtiles, "arch", lambda: "90a")
    monkeypatch.setattr(
        ptxas, "resources", lambda program, target: asked.append(program.source.path) or used
    )
    data = subtiles.measure()
    assert [len(names) for names in calls] == [56]
    assert len(set(built)) == 56 and set(asked) == set(built)
    assert data["source"] == "recorded"
    assert subtiles.STEP in data["sources"]
    found = subtiles.from_section(data, EVERY)
    assert all(row.tflops and row.spill_bytes == 0 for row in found.rows)


# --- the map --------------------------------------------------------------------------------------


def test_the_article_s_map_has_its_axes_and_hatches_the_rest(recorded):
    widget = lab.experiments.subtiles().heat_map("article")
    config = widget.config
    assert config["labels"][0] == ["1, 16", "4, 4", "4, 8", "8, 4"]
    assert len(config["labels"][1]) == 7
    cells = [cell for row in config["cells"] for cell in row]
    assert sum("values" in cell for cell in cells) == 14
    assert all("elements a thread, not 128" in c["reason"] for c in cells if "reason" in c)
    assert widget.chosen["name"] == "TM 4, TN 4, WMITER 4, WNITER 2"
    assert "15.11 to 28.73" in widget.summary()


def test_the_map_of_all_has_a_column_for_each_wmiter(recorded):
    widget = lab.experiments.subtiles(every=True).heat_map("wavefronts")
    assert widget.config["labels"][1] == ["1", "2", "4", "8", "16", "32"]
    cells = [cell for row in widget.config["cells"] for cell in row]
    assert sum("values" in cell for cell in cells) == 56
    assert "WNITER" in widget.chosen["name"]
    assert widget.metric.less
    assert "36 wavefronts per k" in widget.summary()
    assert len(widget.to_html()) < 64 * 1024


def test_a_map_follows_its_state(recorded):
    widget = lab.experiments.subtiles().heat_map()
    assert widget.metric.label == "measured, H200"
    widget.state = {"metric": "loads", "row": 0, "col": 0}
    assert "reason" in widget.chosen
    assert widget.chosen["reason"] in widget.summary()
    assert widget.png()[:4] == b"\x89PNG"


ROWS = [{"a": 1, "b": 2, "x": 3.0}, {"a": 2, "b": 2, "x": None}]
METRICS = {"x": Metric("speed", "TFLOP/s", "made up")}


def heat_map(**more):
    arguments = {"rows": ROWS, "metrics": METRICS, "rows_by": ["a"], "columns_by": ["b"]}
    return HeatMap(**{**arguments, **more})


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"rows": []}, "rows"),
        ({"rows": [{"a": 1}]}, "rows"),
        ({"rows": ROWS + ROWS[:1]}, "rows"),
        ({"rows": ROWS[1:]}, "rows"),
        ({"metrics": {}}, "metrics"),
        ({"metrics": {"x": "speed"}}, "metrics"),
        ({"metric": "y"}, "metric"),
        ({"together": "y"}, "together"),
        ({"chosen": {"a": 3, "b": 2}}, "chosen"),
        ({"caption": 3}, "caption"),
    ],
)
def test_bad_arguments_of_heat_map_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        heat_map(**arguments)


def test_a_cell_can_be_chosen_and_a_hole_has_a_reason():
    assert heat_map(chosen={"a": 2, "b": 2}).chosen["values"] == [None]
    rows = [{"a": 1, "b": 2, "x": 3.0}, {"a": 2, "b": 3, "x": 4.0}]
    cells = heat_map(rows=rows, invalid=lambda at: f"{at['a']} goes not with {at['b']}").config
    assert cells["cells"][0][1] == {"reason": "1 goes not with 3"}
    plain = heat_map(rows=rows).config["cells"][0][1]
    assert plain == {"reason": "not part of this experiment"}
