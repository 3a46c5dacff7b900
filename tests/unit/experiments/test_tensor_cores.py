"""The ceilings of the tensor cores: what is shown and recorded, and the loops' machine code."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace

import needs
import pytest

import gemmlab as lab
from gemmlab import measurements, record
from gemmlab.core.errors import ArgumentError, BackendError, MeasurementError
from gemmlab.core.paths import kernels_folder
from gemmlab.experiments.tensor_cores import ceilings as tensor_core_ceilings
from gemmlab.experiments.tensor_cores import probes as tensor_core_probes
from gemmlab.experiments.tensor_cores.probes import BY_NAME, PROBES, PROTOCOL, Probe, Row, sources
from gemmlab.gpu import sass
from gemmlab.gpu.toolchain import FLAGS, cuobjdump, gencode, nvcc
from gemmlab.measurements.store import SECTIONS, Measurements, save

ENV = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
BF16, FP16 = (f"mma.sync m16n8k16, {dtype}" for dtype in ("bf16", "fp16"))
FED, WGMMA = "ldmatrix + mma.sync, 16 warps of 64x32", "wgmma m64n256k16, bf16"
ROWS = (
    Row(BF16, "burst", 2689.0, 702.0, 1978.0),
    Row(FP16, "burst", 2688.0, 701.0, 1977.0),
    Row(FED, "burst", 2510.0, 655.2, 1977.5),
    Row(WGMMA, "burst", 4010.0, 1002.0, 1893.0),
    Row(BF16, "sustained", 2689.0, 612.0, 1724.0, 689.4),
)


def section(rows: tuple[Row, ...] = ROWS, **more) -> dict:
    return {"environment": ENV, "rows": [asdict(row) for row in rows], "clock": "clock64", **more}


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """A function: data of the section -> the recording, which is also the newest one."""
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")

    def write(data: dict | None) -> Measurements:
        sections = {} if data is None else {"tensor_cores": data}
        file = measurements.file_of("NVIDIA H200", "hgemm")
        return measurements.load(save(Measurements("NVIDIA H200", sections), file))

    return write


def on_a_gpu(monkeypatch) -> None:
    monkeypatch.setattr(tensor_core_ceilings, "default_backend", lambda: "gpu")


# --- what is shown --------------------------------------------------------------------------------


def test_the_recorded_table(recording):
    recording(section())
    table = lab.experiments.tensor_cores()
    assert (table.rows, table.source) == (ROWS, "recorded")
    lines = repr(table).splitlines()
    assert lines[0].split("  ")[0] == "probe"
    assert re.split(r" {2,}", lines[1]) == [
        *(BF16, "burst", "2,689", "-", "702", "70 %", "1978 MHz", "-")
    ]
    assert re.split(r" {2,}", lines[3])[2:6] == ["2,510", "2,731", "655", "65 %"]
    assert re.split(r" {2,}", lines[5])[4:] == ["612", "-", "1724 MHz", "689 W"]
    assert "Recorded on NVIDIA H200, 2026-11-22, driver 580.1, CUDA 13.0." in lines[-1]
    html = table._repr_html_()
    assert f'<td class="t">{FED}</td>' in html
    assert "left out" not in html


def test_what_a_gpu_lacks_is_said(recording):
    reason = "wgmma is left out: it exists only on sm_90a, this GPU is sm_120a"
    recording(section(ROWS[:3], left_out=reason))
    table = lab.experiments.tensor_cores()
    assert repr(table).endswith(f"\n{reason}.")
    assert all(table.share_of_wgmma(row) is None for row in table.rows)


def test_a_row_is_found_or_the_others_are_named(recording):
    recording(section())
    table = lab.experiments.tensor_cores()
    assert table.row(BF16, "sustained").power_w == 689.4
    assert table.share_of_wgmma(table.row(WGMMA)) == 1
    with pytest.raises(ArgumentError, match=r"no 'ffma' \(burst\), only mma.sync m16n8k16, bf16"):
        table.row("ffma")
    assert table.to_dict()["rows"][0]["probe"] == BF16


def test_without_a_recording_it_is_said_how_to_make_one(recording):
    recording(None)
    with pytest.raises(MeasurementError, match="record --family hgemm --only tensor_cores"):
        lab.experiments.tensor_cores()
    recording({"environment": ENV})
    with pytest.raises(MeasurementError, match="rows is not in the recording"):
        lab.experiments.tensor_cores()


def test_on_a_gpu_it_is_measured_once(monkeypatch, tmp_path):
    on_a_gpu(monkeypatch)
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path))
    found = [section(ROWS[:count]) for count in (1, 2, 3, 4, 5)]
    monkeypatch.setattr(tensor_core_ceilings, "measure", lambda: found.pop(0))
    monkeypatch.setattr(tensor_core_ceilings, "environment", lambda: ENV)
    monkeypatch.setattr(tensor_core_ceilings, "built", lambda: "probes_0.so")
    table = lab.experiments.tensor_cores()
    assert (table.rows, table.source) == (ROWS[:1], "live")
    assert "Measured now on NVIDIA H200" in repr(table)
    table = lab.experiments.tensor_cores()
    assert (table.rows, table.source) == (ROWS[:1], "recorded")
    assert "Recorded on NVIDIA H200, 2026-11-22" in repr(table)
    assert lab.experiments.tensor_cores(again=True).rows == ROWS[:2]
    # Other code has other ceilings.
    monkeypatch.setattr(tensor_core_ceilings, "built", lambda: "probes_1.so")
    assert lab.experiments.tensor_cores().rows == ROWS[:3]
    # So has the same code in other seconds, or under another load.
    shorter = replace(PROTOCOL, sustained_s=PROTOCOL.sustained_s / 2)
    monkeypatch.setattr(tensor_core_ceilings, "PROTOCOL", shorter)
    assert lab.experiments.tensor_cores().rows == ROWS[:4]
    monkeypatch.setattr(tensor_core_ceilings, "PROBES", PROBES[1:])
    assert lab.experiments.tensor_cores().rows == ROWS[:5] and not found
    with pytest.raises(ArgumentError, match="again: got 'yes'"):
        lab.experiments.tensor_cores(again="yes")


# --- what is run ----------------------------------------------------------------------------------


class Timing:
    """What a timer found."""

    time_us, power_w = 1000.0, None


class Run:
    """Stands for a probe on a GPU."""

    flop, sms = 1 << 33, 132

    def __init__(self, probe: Probe):
        self.launch, self.row = probe, lambda load, timing: Row(
            probe.name, load, 2689.0, 700.0, 1980.0, timing.power_w
        )  # fmt: skip


class Timer:
    """Sustains what it is given, and notes for how long a launch was said to take."""

    def __init__(self):
        self.sustained = {}
        self.compiled, self.in_turn = [], []  # whether the GPU was held

    def sustain(self, launch, seconds, time_us):
        self.sustained[launch.name] = time_us
        return Timing()


def measured(
    monkeypatch, target: str, held: Callable[[], bool] = lambda: False
) -> tuple[dict, Timer]:
    timer = Timer()

    def burst_rows(probes):
        timer.in_turn.append(held())
        return [Run(probe).row("burst", Timing()) for probe in probes], timer

    def module():
        timer.compiled.append(held())

    monkeypatch.setattr(tensor_core_probes, "_module", module)
    monkeypatch.setattr(tensor_core_probes, "arch", lambda: target)
    monkeypatch.setattr(tensor_core_probes, "_Run", Run)
    monkeypatch.setattr(tensor_core_probes, "burst_rows", burst_rows)
    return tensor_core_probes.measure(), timer


def test_every_probe_is_measured_and_some_are_sustained(monkeypatch):
    data, timer = measured(monkeypatch, "90a")
    loads = [(row["probe"], row["load"]) for row in data["rows"]]
    assert loads[: len(PROBES)] == [(probe.name, "burst") for probe in PROBES]
    assert loads[len(PROBES) :] == [(p.name, "sustained") for p in PROBES if p.sustained]
    assert timer.sustained[BF16] == pytest.approx(2**33 * 132 / 700e12 * 1e6)
    assert "left_out" not in data


def test_nothing_is_compiled_while_the_gpu_is_held(monkeypatch, gpu_is_held):
    _, timer = measured(monkeypatch, "90a", gpu_is_held)
    assert timer.compiled == [False] and timer.in_turn == [True]


@pytest.mark.parametrize("target", ["80", "89", "100a", "120a"])
def test_wgmma_is_left_out_with_the_reason_where_it_does_not_exist(monkeypatch, target):
    data, _ = measured(monkeypatch, target)
    assert {row["probe"] for row in data["rows"]} == {probe.name for probe in PROBES[:-1]}
    assert data["left_out"].endswith(f"only on sm_90a, this GPU is sm_{target}")
    assert "wgmma" not in "".join(sources(target))


def test_a_gpu_without_these_instructions_is_refused(monkeypatch):
    with pytest.raises(BackendError, match="needs sm_80, not sm_75"):
        measured(monkeypatch, "75")


def test_record_has_the_section():
    assert "tensor_cores" in SECTIONS
    assert record._steps((), ())["tensor_cores"] is tensor_core_probes.measure


def test_every_probe_gives_an_sm_the_same_work():
    assert len(BY_NAME) == len(PROBES)
    assert {PROTOCOL.flop % probe.flop for probe in PROBES} == {0}
    assert BY_NAME[BF16].flop == 2 * 64 * 64 * 64 * 8
    assert {p.name: round(p.allowed) for p in PROBES if p.fed} == {
        "ldmatrix + mma.sync, 8 warps of 64x64": 4096,
        "ldmatrix + cp.async + mma.sync, 8 warps of 64x64": 2979,
        "ldmatrix + cp.async of zeros + mma.sync, 8 warps of 64x64": 2979,
        "ldmatrix + mma.sync, 8 warps of 64x32": 2731,
        "ldmatrix + mma.sync, 16 warps of 64x32": 2731,
        "ldmatrix + mma.sync, 8 warps of 32x32": 2048,
        "ldmatrix + mma.sync, 16 warps of 32x32": 2048,
    }


def test_what_a_probe_copies(root):
    """As much as hgemm_18_wide_tile in 64 k: 48 KB, 12 copies of 16 bytes a thread."""
    copying = [probe for probe in PROBES if probe.copies]
    assert {probe.copied for probe in copying} == {12 * 16 * 256}
    assert {probe.input_bytes for probe in copying} == {3 << 20}
    assert {p.input_bytes for p in PROBES if not p.copies} == {tensor_core_probes.INPUT_BYTES}
    text = (root / "kernels" / "probes" / "mma.cuh").read_text()
    for name in ("PLACES", "WARPS_N"):
        (found,) = re.findall(rf"\b{name} = (\d+)", text)
        assert int(found) == getattr(tensor_core_probes, name)


@pytest.mark.parametrize("name", ["mma", "wgmma"])
def test_a_repeat_is_what_the_kernels_say(root, name):
    text = (root / "kernels" / "probes" / f"{name}.cuh").read_text()
    (found,) = re.findall(r"\bBK = (\d+)", text)
    assert int(found) == tensor_core_probes.K_PER_REPEAT


# --- machine code ---------------------------------------------------------------------------------


def loops(code: list[sass.Instruction]) -> list[Counter]:
    """The instructions of each loop that multiplies, by what they begin with."""
    place, found = {one.address: i for i, one in enumerate(code)}, []
    for end, one in enumerate(code):
        target = re.search(r"0x([0-9a-f]+)", one.text) if "BRA" in one.text else None
        begin = place.get(int(target[1], 16), end) if target else end
        counts = Counter(each.name.split(".")[0] for each in code[begin : end + 1])
        if begin < end and counts["HMMA"] + counts["HGMMA"]:
            found.append(counts)
    return found


@pytest.fixture(scope="module", params=["90a", "80", "120a"])
def listing(request, tmp_path_factory) -> tuple[str, str]:
    """For a target: its name, and the machine code of all probes."""
    folder = tmp_path_factory.mktemp("probes")
    (folder / "probes.cu").write_text(sources(request.param)[1])
    command = [nvcc(), *FLAGS, f"-I{kernels_folder()}", gencode(request.param)]
    files = ["-cubin", folder / "probes.cu", "-o", folder / "probes.cubin"]
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    shown = subprocess.run([cuobjdump(), "-sass", files[-1]], capture_output=True, text=True)
    return request.param, shown.stdout


@needs.machine_code
def test_the_loops_multiply_and_load_and_do_not_spill(listing):
    target, text = listing
    mangled = {"bf16": "13__nv_bfloat16", "fp16": "6__half"}
    for probe in PROBES[:-1]:
        kernel = "fed" if probe.fed else "registers"
        m, n = probe.tile
        name = f"{kernel}I{mangled[probe.dtype]}Li{m}ELi{n}ELi{probe.workers}E"
        if probe.fed:  # the last parameter is an enumerator of Copies
            name += f"LNS_6CopiesE{('', 'FROM_L2', 'ZEROS').index(probe.copies)}E"
        found = loops(sass.instructions(text, name))
        assert found, name
        for counts in found:
            multiplied, loaded = m * n // 128, (m + n) // 16 if probe.fed else 0
            steps = counts["HMMA"] // multiplied
            assert counts["HMMA"] == steps * multiplied
            assert counts["LDSM"] == steps * loaded, (target, name)
            assert counts["LDGSTS"] == steps // 4 * probe.copied // (16 * probe.threads), name
            assert not counts["LDL"] + counts["STL"], (target, name)


@needs.machine_code
def test_wgmma_is_not_serialised(listing):
    target, text = listing
    found = loops(sass.instructions(text, "probe_wgmma"))
    assert bool(found) == (target == "90a")
    for counts in found:
        groups = counts["WARPGROUP"] // 2  # ARRIVE and DEPBAR
        assert counts["HGMMA"] == 4 * groups
        assert not counts["LDL"] + counts["STL"]
