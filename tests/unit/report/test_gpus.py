"""Your GPU beside ours: a second recording, made here from the real one and never kept."""

from __future__ import annotations

import json
import shutil

import pytest

import gemmlab as lab
from gemmlab import measurements
from gemmlab.core.errors import ArgumentError, MeasurementError
from gemmlab.core.paths import kernels_folder, measurements_folder

YOURS, SLOWER = "NVIDIA GeForce RTX 9999", 0.5
REAL = measurements_folder()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A house with the H200's recordings and, older, one of another GPU at half the speed."""
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    home = tmp_path / "book" / "measurements"
    shutil.copytree(REAL, home, ignore=shutil.ignore_patterns("h100*"))
    (tmp_path / "kernels").symlink_to(kernels_folder())
    for family in ("", "_hgemm"):
        data = json.loads((home / f"h200{family}.json").read_text())
        data = {"schema": measurements.store.SCHEMA, "gpu": YOURS, "benchmark": data["benchmark"]}
        data["benchmark"]["environment"] |= {
            "gpu": YOURS,
            "date": "2020-01-01",
            "commit": "abc1234",
        }
        for row in data["benchmark"]["rows"]:
            row["tflops"] *= SLOWER
            row["time_us"] /= SLOWER
        (home / f"rtx-9999{family}.json").write_text(json.dumps(data))
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    return home


def test_a_recording_is_named_by_its_gpu(folder):
    assert measurements.file_of(YOURS) == folder / "rtx-9999.json"
    assert measurements.gpus() == ("NVIDIA H200", YOURS)
    assert measurements.load().gpu == "NVIDIA H200"  # the newest
    for name in (YOURS, "rtx 9999", "9999"):
        assert measurements.load(gpu=name).gpu == YOURS
    assert measurements.load(gpu="h200", family="hgemm").gpu == "NVIDIA H200"


def test_every_table_and_figure_says_whose_its_figures_are(folder):
    step = "sgemm_06_swizzled_a"
    ours = lab.bench(step, gpu="H200", baselines=())
    yours = lab.bench(step, gpu="9999", baselines=())
    assert yours.rows[0].tflops == pytest.approx(SLOWER * ours.rows[0].tflops)
    assert YOURS in repr(yours) and "NVIDIA H200" in repr(ours)
    for shown in (
        lab.plots.ladder_chart(gpu="9999").alt,
        lab.plots.lines(kernels=[step], gpu="9999").alt,
        lab.plots.walk(gpu="9999").alt,
        lab.ladder(until=step, gpu="9999").summary(),
        lab.ladder(until="hgemm_06_wmma", gpu="9999").summary(),
    ):
        assert YOURS in shown and "H200" not in shown


def test_a_ladder_lets_the_reader_choose_among_the_gpus(folder):
    ladder = lab.ladder(until="hgemm_06_wmma")
    assert ladder.config["gpu"] == "H200"
    assert [each["gpu"] for each in ladder.config["others"]] == [YOURS.removeprefix("NVIDIA ")]
    for gpu, origin in (("H200", "NVIDIA H200"), (YOURS.removeprefix("NVIDIA "), YOURS)):
        ladder.state["gpu"] = gpu
        assert origin in ladder.summary()
    assert lab.ladder(until="hgemm_06_wmma", gpu="9999").config["others"] == []


def test_the_environment_chooses_for_what_takes_no_argument(folder, monkeypatch):
    monkeypatch.setenv("GEMMLAB_GPU", "9999")
    assert measurements.load().gpu == YOURS
    assert measurements.load(gpu="H200").gpu == "NVIDIA H200"
    with pytest.raises(
        MeasurementError, match="no recording of tma on '9999', only on NVIDIA H200"
    ):
        measurements.load(family="tma")


def test_both_stand_beside_each_other(folder):
    table = lab.tables.beside()
    text = repr(table)
    assert YOURS in text and "commit abc1234" in text
    one = lab.tables.beside(gpus=["9999"])
    assert "H200" not in repr(one)
    with pytest.raises(ArgumentError, match="gpus: is empty"):
        lab.tables.beside(gpus=[])


def test_a_gpu_without_a_recording_is_refused_with_those_there_are(folder):
    with pytest.raises(MeasurementError, match="no recording of sgemm on 'H100', only on NVIDIA"):
        lab.tables.ceilings(gpu="H100")
    with pytest.raises(ArgumentError, match="leave one out"):
        lab.plots.ladder_chart(measurements.load(), gpu="H200")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda text: text[: len(text) // 2], "not readable as JSON"),
        (lambda text: text.replace('"schema": 2', '"schema": 99'), "has schema 99"),
        (lambda text: text.replace('"rows"', '"lines"'), "corrupt"),
    ],
)
def test_what_is_half_written_or_of_another_schema_is_never_read(folder, broken, said):
    path = folder / "rtx-9999.json"
    path.write_text(broken(path.read_text()))
    with pytest.raises(MeasurementError, match=said):
        measurements.load(gpu=YOURS)
    assert measurements.load().gpu == "NVIDIA H200"
    assert measurements.gpus() == ("NVIDIA H200",)


def test_figures_of_another_commit_are_shown_with_a_sentence(folder):
    path = folder / "rtx-9999.json"
    data = json.loads(path.read_text())
    code = data["benchmark"]["machine_code"]["sgemm_06_swizzled_a"]
    data["benchmark"]["machine_code"]["sgemm_06_swizzled_a"] = dict.fromkeys(code, "0" * 16)
    data["benchmark"]["sources"]["sgemm_06_swizzled_a"] = "0" * 12
    path.write_text(json.dumps(data))
    assert "sgemm_06_swizzled_a" in repr(lab.bench("sgemm_06_swizzled_a", gpu="9999").note)
    assert "NVIDIA GeForce RTX 9999: " in repr(lab.tables.beside()).splitlines()[-1]
