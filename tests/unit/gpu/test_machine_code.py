"""Figures belong to machine code: digests by content, the manifest, and what a figure is worth."""

import json
import shutil

import needs
import pytest

from gemmlab import measurements
from gemmlab.core.errors import MeasurementError
from gemmlab.core.paths import kernels_folder
from gemmlab.gpu import machine_code
from gemmlab.measurements import staleness, store
from gemmlab.measurements.staleness import Code, Manifest, name_of
from gemmlab.report import recorded as report
from gemmlab.steps import registry
from gemmlab.steps.program import Program, Source
from gemmlab.steps.text import source_digest
from tools import machine_code as tool

SPEC = registry.get("sgemm_02_coalesced")
STEP = Program(SPEC)
SAMPLE = ("sgemm_02_coalesced", "sgemm_17_pipeline", "hgemm_18_wide_tile", "tma_03_store")
SECTIONS_WITH_STEPS = (
    *("benchmark", "power", "shapes", "tuning", "resources"),
    *("counters", "traffic", "limits", "arbitration"),
)


@pytest.fixture(scope="module")
def manifest():
    return staleness.load_manifest()


# ---- digests of sources ----


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A kernel file with a header that includes another; `digest` takes the folder as it is."""
    monkeypatch.setattr("gemmlab.steps.text.kernels_folder", lambda: tmp_path)
    write(tmp_path, "sgemm/01.cuh", '#pragma once\n#include "../common/a.cuh"\nint c = a + b;\n')
    write(tmp_path, "common/a.cuh", "#pragma once\n#include <ptx/b.cuh>\nint a = 1;\n")
    write(tmp_path, "ptx/b.cuh", "#pragma once\n#include <cuda_fp16.h>\nint b = 2;\n")
    return tmp_path


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def digest(folder):
    return source_digest(folder / "sgemm/01.cuh")


def test_a_moved_or_renamed_header_leaves_the_digest(project):
    before = digest(project)
    write(project, "common/tile/other.cuh", (project / "common/a.cuh").read_text())
    (project / "common/a.cuh").unlink()
    write(project, "sgemm/01.cuh", '#include "../common/tile/other.cuh"\nint c = a + b;\n')
    assert digest(project) == before
    write(project, "sgemm/01.cuh", "#include <common/tile/other.cuh>\nint c = a + b;\n")
    assert digest(project) == before


def test_what_a_header_says_counts_wherever_it_stands(project):
    before = digest(project)
    write(project, "ptx/b.cuh", "#pragma once\n#include <cuda_fp16.h>\nint b = 3;\n")
    assert digest(project) != before
    write(project, "ptx/b.cuh", "#pragma once\n#include <cuda_bf16.h>\nint b = 2;\n")
    assert digest(project) != before


def test_a_passage_that_moves_into_its_header_leaves_the_digest(project):
    before = digest(project)
    write(project, "sgemm/01.cuh", "#include <cuda_fp16.h>\nint b = 2; int a = 1; int c = a + b;\n")
    assert digest(project) == before


def test_comments_spaces_and_a_second_include_do_not_count(project):
    before = digest(project)
    text = (
        '/* two\nlines */ #include "../common/a.cuh"\n#include <ptx/b.cuh>\nint c = a +\n  b;  // c'
    )
    write(project, "sgemm/01.cuh", text.replace(" #include", "\n#include", 1))
    assert digest(project) == before
    write(project, "sgemm/01.cuh", '#include "../common/a.cuh"\nint c = a + b; char d[] = "// x";')
    with_comment_in_text = digest(project)
    write(project, "sgemm/01.cuh", '#include "../common/a.cuh"\nint c = a + b; char d[] = "// y";')
    assert digest(project) != with_comment_in_text


# ---- the manifest ----


def test_every_kernel_is_in_the_manifest_as_it_stands(manifest):
    refresh = "python -m tools.machine_code compiles it, with nvcc"
    for step, precisions in tool.kernels():
        name = name_of(step)
        known = manifest.kernels.get(name)
        assert known, f"{name} is not in the manifest: {refresh}"
        assert known.source == source_digest(step.source.path), f"{name} has changed: {refresh}"
        assert set(known.code) == set(precisions), f"{name}: {refresh}"


def test_the_manifest_has_nothing_else(manifest):
    assert set(manifest.kernels) == {name_of(step) for step, _ in tool.kernels()}


def test_a_missing_or_damaged_manifest_says_how_to_make_it(tmp_path):
    for text in (None, "{", "[]", json.dumps({"nvcc": "13.0.88"})):
        path = tmp_path / "sm_90a.json"
        if text is not None:
            path.write_text(text)
        with pytest.raises(MeasurementError, match=r"tools\.machine_code"):
            staleness.load_manifest(path)


def test_a_manifest_is_read_as_it_was_written(tmp_path, manifest):
    path = staleness.save_manifest(manifest, tmp_path / "sm_90a.json")
    assert staleness.load_manifest(path) == manifest


# ---- what a figure is worth ----


def test_the_four_words():
    present = source_digest(SPEC.path)

    def word(source, recorded, known_source=present, known="code"):
        kernels = {SPEC.name: Code(known_source, {"fp32": known})}
        return staleness.staleness(STEP, source, recorded, Manifest("13", "", kernels))

    assert word(present, {}) == "current"
    assert word("older", {"fp32": "code"}) == "same machine code"
    assert word("older", {"fp32": "other"}) == "machine code changed"
    assert word("older", {"fp32": "code"}, known_source="older still") == "not compared"
    assert word("older", {}) == "not compared"
    assert word("older", {"fp32": "code", "bf16": "code"}) == "not compared"
    assert staleness.staleness(STEP, "older", {"fp32": "c"}, Manifest("13", "", {})) == (
        "not compared"
    )


@pytest.mark.slow
def test_every_recorded_kernel_has_been_compared():
    known = report.recordings()
    assert {one.kernel for one in known} == set(registry.names())
    assert not [one for one in known if one.state == staleness.NOT_COMPARED]


def test_every_section_with_steps_has_their_machine_code():
    for path in measurements.paths():
        for name, data in measurements.load(path).sections.items():
            if name in SECTIONS_WITH_STEPS:
                assert data["machine_code"], f"{path.name}, {name}"


@pytest.mark.slow
def test_the_table_says_where_and_whether(monkeypatch):
    table = report.recorded()
    rows = [row for row in table.rows if row[0] == SPEC.name]
    assert {"h200", "h100-80gb-hbm3"} == {row[1] for row in rows}
    assert all("benchmark" in row[2] for row in rows)
    assert report.benchmark_states()[SPEC.name] == rows[0][-1]
    nothing = Manifest("13", "", {})
    monkeypatch.setattr(report, "load_manifest", lambda: nothing)
    monkeypatch.setattr(staleness, "source_digest", lambda path: "another")
    assert report.benchmark_states()[SPEC.name] == "not compared"


# ---- machine code ----


def variant_of(tmp_path, change):
    """The step's text in a file of its own, its headers in a folder of another name."""
    kernels = kernels_folder()
    shutil.copytree(kernels / "common", tmp_path / "elsewhere")
    text = change(SPEC.path.read_text().replace('"../common/', '"../elsewhere/'))
    write(tmp_path, "steps/kernel.cuh", text)
    return Program(SPEC, Source(tmp_path / "steps/kernel.cuh", SPEC.name))


@needs.slow_nvcc
def test_names_and_lines_do_not_count_but_instructions_do(tmp_path):
    before = machine_code.compiled(STEP).code
    renamed = variant_of(
        tmp_path / "a",
        lambda text: "\n\n// Longer.\n" + text.replace(f"namespace {SPEC.name}", "namespace other")
        .replace("kernel(", "product(")
        .replace("launch(kernel", "launch(product"),
    )  # fmt: skip
    changed = variant_of(tmp_path / "b", lambda text: text.replace("acc += ", "acc -= "))
    assert machine_code.compiled(renamed).code == before
    assert machine_code.compiled(changed).code != before


@needs.slow_nvcc
@pytest.mark.parametrize("name", SAMPLE)
def test_this_nvcc_makes_what_the_manifest_says(name, manifest):
    needs.same_nvcc(machine_code.version(), manifest.nvcc)
    step = registry.program(name)
    first = step.spec.precisions[0]
    now = machine_code.compiled(step, [first])
    assert now.code[first] == manifest.kernels[name].code[first]


@needs.slow_nvcc
def test_a_section_takes_from_the_manifest_what_holds(monkeypatch, manifest):
    needs.same_nvcc(machine_code.version(), manifest.nvcc)
    known = manifest.kernels[SPEC.name]
    with monkeypatch.context() as patch:
        patch.setattr(machine_code, "cubin", None)  # nothing is compiled
        found = machine_code.stamp([(STEP, SPEC.precisions)])
    assert found["sources"] == {SPEC.name: known.source}
    assert found["machine_code"] == {SPEC.name: dict(known.code)}
    monkeypatch.setattr(machine_code, "load_manifest", lambda: Manifest(manifest.nvcc, "", {}))
    assert machine_code.stamp([(STEP, SPEC.precisions)]) == found


def edited(monkeypatch):
    """The sources are others than any that was recorded."""
    for module in (staleness, store):
        monkeypatch.setattr(module, "source_digest", lambda path: "edited")
    return "edited"


@pytest.mark.parametrize("same", [True, False])
def test_recorded_tuning_is_that_of_todays_source_where_the_machine_code_is_the_same(
    monkeypatch, same
):
    loaded = measurements.load()
    name, tuning = "sgemm_20_any_shape", loaded.section("tuning")
    recorded = {trial["source"] for trial in tuning["trials"]}
    present = edited(monkeypatch)
    code = tuning["machine_code"][name] if same else {"fp32": "another"}
    now = Manifest("13", "", {name: Code(present, code)})
    monkeypatch.setattr(staleness, "_manifest", lambda: now)
    assert {trial.source for trial in loaded.trials()} == ({present} if same else recorded)
    assert measurements.stale(loaded, "tuning") == ({} if same else {name: staleness.CHANGED})


def test_recorded_tuning_of_other_machine_code_keeps_its_own_digest(monkeypatch):
    loaded = measurements.load()
    recorded = {trial["source"] for trial in loaded.section("tuning")["trials"]}
    edited(monkeypatch)
    monkeypatch.setattr(staleness, "_manifest", lambda: Manifest("13", "", {}))
    assert {trial.source for trial in loaded.trials()} == recorded
    assert measurements.stale(loaded, "tuning") == {"sgemm_20_any_shape": "not compared"}
