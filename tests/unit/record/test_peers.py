"""Other people's kernels: what is refused before anything is built, and what a table says."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from gemmlab import measurements
from gemmlab.bench import protocol
from gemmlab.core.errors import ArgumentError, LaunchError, MeasurementError
from gemmlab.measurements.rows import BenchRow
from gemmlab.measurements.store import Measurements, save
from gemmlab.measurements.trials import TuningTrial
from gemmlab.report.peers import peers
from tools.peers import __main__ as line
from tools.peers import checkouts, drivers, launching, recording

ENV = {"gpu": "NVIDIA H200", "date": "2026-11-24", "driver": "580.1", "cuda": "13.0"}
FASTCU = checkouts.PINS["fastcu"]


def git(folder, *words):
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    command = ["git", *who, "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository that has fast.cu's file, and is at the pinned commit."""
    folder = tmp_path / "fastcu"
    (folder / FASTCU.has).parent.mkdir(parents=True)
    (folder / FASTCU.has).write_text("// a kernel\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    pin = checkouts.Pin(
        FASTCU.title, FASTCU.repository, git(folder, "rev-parse", "HEAD"), FASTCU.has
    )
    monkeypatch.setitem(checkouts.PINS, "fastcu", pin)
    return folder


def test_a_checkout_at_its_commit_is_taken(checkout):
    assert checkouts.checked({"fastcu": str(checkout), "cutlass": None}) == {"fastcu": checkout}


def test_another_commit_is_named_with_the_one_that_it_has_to_be(checkout):
    git(checkout, "commit", "-qm", "two", "--allow-empty")
    wanted = checkouts.PINS["fastcu"].commit
    with pytest.raises(ArgumentError, match=f"is at .*git checkout {wanted}"):
        checkouts.checked({"fastcu": str(checkout)})


def test_changed_headers_are_refused(checkout):
    (checkout / FASTCU.has).write_text("// another kernel\n")
    with pytest.raises(ArgumentError, match="changed headers"):
        checkouts.checked({"fastcu": str(checkout)})


def test_a_copy_inside_another_repository_is_no_checkout(checkout):
    inner = checkout / "copy"
    (inner / FASTCU.has).parent.mkdir(parents=True)
    (inner / FASTCU.has).write_text("// a kernel\n")
    with pytest.raises(ArgumentError, match="is no git checkout"):
        checkouts.checked({"fastcu": str(inner)})


def test_deepgemm_needs_cutlass(checkout, monkeypatch):
    monkeypatch.setitem(checkouts.PINS, "deepgemm", checkouts.PINS["fastcu"])
    with pytest.raises(ArgumentError, match="give --cutlass, too"):
        checkouts.checked({"deepgemm": str(checkout)})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no peer is given"),
        (["--cutlass", "/nowhere"], "--cutlass: there is no folder '/nowhere'; git clone"),
        (["--fastcu", "{tmp}"], "is no checkout of fast.cu: examples/matmul/matmul_12.cuh"),
        (["--built", "{tmp}", "--build-only"], "there is no built driver in"),
        *(
            (["--sizes", text], "cubes, as in 1024,4096")
            for text in ("4k", "", "0", "12x13", "1.5", "-5")
        ),
        *((["--modes", text], "allowed are interleaved") for text in ("fast", "", "burst,")),
        *((["--seconds", text], "time above 0") for text in ("0", "-1", "x", "nan", "inf")),
    ],
)
def test_command_lines_that_cannot_be_right(words, said, tmp_path, monkeypatch):
    words = [word.format(tmp=tmp_path) for word in words]
    monkeypatch.setattr(sys, "argv", ["peers", *words])
    with pytest.raises(ArgumentError, match=said) as refused:
        line.main()
    assert "\n" not in str(refused.value)


def test_a_library_of_another_driver_is_not_used(tmp_path):
    driver = drivers.DRIVERS[-1]
    (tmp_path / f"{driver.name}.so").touch()
    entry = {"commit": FASTCU.commit, "digest": driver.digest()}
    text = '{{"{}": {{"commit": "{}", "digest": "{}"}}}}'
    manifest = tmp_path / drivers.MANIFEST
    manifest.write_text(text.format(driver.name, *entry.values()))
    assert [each.driver for each in drivers.built(tmp_path)] == [driver]
    manifest.write_text(text.format(driver.name, "0" * 40, entry["digest"]))
    with pytest.raises(ArgumentError, match="another commit or another driver; give --fastcu"):
        drivers.built(tmp_path)


def test_a_driver_is_built_once(tmp_path, monkeypatch):
    made = []

    def compiled(driver, checkouts, library):
        made.append(driver.name)
        library.touch()

    monkeypatch.setattr(drivers, "_compile", compiled)
    for _ in range(2):
        drivers.build({"deepgemm": tmp_path}, tmp_path / "built")
    assert made == ["deepgemm_nn", "deepgemm_nt"]


def test_graphs_are_for_short_launches():
    assert recording.modes_at(1024, ["burst", "graph"]) == ["burst", "graph"]
    assert recording.modes_at(4096, ["burst", "graph"]) == ["burst"]
    assert recording.steps()[0].startswith("wgmma_08") and len(recording.steps()) >= 7


def test_steady_load_chooses_its_own_configuration(monkeypatch):
    """Of those that are nearly alike in single launches; the others are not tried."""
    spec = recording.registry.get("wgmma_14_any_shape")
    ratios = dict.fromkeys(spec.configs, 0.5) | {"128x256": 1.0, "128x256 alone": 0.99}
    shape = (2048, 2048, 2048)
    trials = tuple(
        TuningTrial(spec.name, "", config, shape, row(spec.name, ratio))
        for config, ratio in ratios.items()
    )
    tried = []

    def measured(handles, shape, protocol):
        tried.append((list(handles), protocol.mode))
        found = {"128x256": 0.95, "128x256 alone": 0.97}
        return [row(name, found[name], protocol.mode) for name in handles], {}, ""

    monkeypatch.setattr(recording, "tune", lambda *_: SimpleNamespace(trials=trials))
    monkeypatch.setattr(recording, "measure", measured)
    assert recording._configured(spec.name, shape, "sustained").config == "128x256 alone"
    assert tried == [(["128x256", "128x256 alone"], "sustained")]
    assert recording._configured(spec.name, shape, "burst").config == ""


def test_wrong_and_refusing_peers_are_left_out_with_a_sentence(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    A, B = torch.randn(32, 16).bfloat16(), torch.randn(16, 24).bfloat16()
    C = torch.empty(32, 24, dtype=torch.bfloat16)

    def by(factor):
        def prepare(A, B, C):
            return lambda: C.copy_(
                factor * (A.float() @ (B if B.shape[0] == 16 else B.t()).float())
            )

        return prepare

    def refuses(A, B, C):
        def launch():
            raise LaunchError("third: it does not take this shape")

        return launch

    entries = [
        protocol.Entry("first", by(1.0), launching._transposed, "nt"),
        protocol.Entry("second", by(1.1)),
        protocol.Entry("third", refuses),
        protocol.Entry("idle", lambda A, B, C: lambda: None),
    ]
    kept, said = launching.right(entries, (A, B, C))
    assert [each.name for each in kept] == ["first"]
    assert said[0].startswith("second: relative error 0.1 at 32")
    assert said[1] == "third: it does not take this shape, so it is left out at 32"
    assert said[2].startswith("idle: relative error nan")


# ---- the table ----


def row(kernel: str, ratio: float, mode: str = "burst", **more) -> BenchRow:
    time_us = 180 / ratio
    spread = (time_us * 0.99, time_us * 1.01)
    return BenchRow(
        kernel, 4096, 4096, 4096, time_us, spread, 760.0 * ratio, ratio, *[None] * 3, 30,
        precision="bf16", mode=mode, **more,
    )  # fmt: skip


@pytest.fixture
def recorded(tmp_path, monkeypatch, root):
    (tmp_path / "kernels").symlink_to(root / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    (tmp_path / "book" / "measurements").mkdir(parents=True)

    def write(**sections):
        benchmark = {"environment": ENV, "source": "recorded", "rows": [asdict(row("cublas", 1.0))]}
        return save(Measurements("NVIDIA H200", {"benchmark": benchmark, **sections}, "wgmma"))

    return write


def section() -> dict:
    rows = [
        row("wgmma_10_in_step", 1.02),
        row("wgmma_14_any_shape", 1.04, config="256x192"),
        row("cublas", 1.0),
        row("cublaslt_best", 1.01),
        row("cutlass_pingpong_128x128_nn", 0.97),
        row("fastcu_12_nt", 1.03, layout="nt"),
        row("wgmma_10_in_step", 1.01, "sustained"),
        row("cublas", 1.0, "sustained"),
        row("fastcu_12_nt", 1.02, "sustained", layout="nt"),
    ]
    built = {
        "cutlass_pingpong_128x128_nn": {
            "title": "pp",
            "peer": "CUTLASS",
            "commit": "7107b05535f8977f",
        },
        "fastcu_12_nt": {"title": "kernel 12", "peer": "fast.cu", "commit": "38eb642e0c081231"},
    }
    rows = [asdict(each) for each in rows]
    return {"environment": ENV, "source": "recorded", "rows": rows, "built": built, "note": "said"}


def test_the_table_names_the_best_of_each_side(recorded):
    recorded(peers=section())
    table = peers()
    size, mode, base, *cells = table.rows[0]
    assert (size, mode, base) == ("4096", "burst", "760 TFLOP/s")
    assert cells[:2] == ["14 any shape [256x192]", "1.040 ± 1.0 %"]
    assert cells[2:] == ["kernel 12", "1.030 ± 1.0 %", "1.010", "0.970", "1.030"]
    assert table.rows[1][-3:] == ("-", "-", "1.020")
    assert list(table.quiet) == [1]  # where a peer is ahead
    assert {len(each) for each in table.rows} == {len(table.head)} == {len(table.align)}
    notes = " ".join(table.notes)
    assert "NVIDIA H200" in notes and "CUTLASS 7107b05535f8, fast.cu 38eb642e0c08" in notes
    assert notes.endswith("said.")


def test_nothing_recorded_is_a_sentence(recorded):
    recorded()
    table = peers()
    assert table.rows == (("not recorded",),)
    assert "`make peers` on that GPU adds it" in table.notes[0]


def test_peers_are_in_no_ladder(recorded):
    recorded(peers=section())
    loaded = measurements.load(family="wgmma")
    for everything in (False, True):
        assert {each.kernel for each in loaded.bench(everything).rows} == {"cublas"}
    assert len(loaded.timings()["peers"].rows) == 9


def test_a_recording_without_rows_is_damaged(recorded):
    path = recorded(peers={**section(), "rows": []})
    with pytest.raises(MeasurementError, match="peers: has no rows"):
        measurements.load(path)
