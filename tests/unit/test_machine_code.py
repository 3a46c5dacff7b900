"""Figures belong to machine code: digests by content, the manifest, and what a figure is worth."""

import dataclasses
import importlib.util
import json
import shutil

import pytest

from gemmlab import build, measurements, registry, report_draft_recorded
from gemmlab.errors import MeasurementError
from gemmlab.gpu import machine_code
from gemmlab.gpu._digests_draft import source_digest_by_content
from gemmlab.gpu.machine_code import Code, Manifest

SPEC = registry.get("sgemm_02_coalesced")
SAMPLE = ("sgemm_02_coalesced", "sgemm_17_pipeline", "hgemm_18_wide_tile", "tma_03_store")
SECTIONS_WITH_STEPS = (
    *("benchmark", "power", "shapes", "tuning", "resources"),
    *("counters", "traffic", "limits", "arbitration"),
)

needs_nvcc = pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")


@pytest.fixture(scope="module")
def tool(root):
    """tools/machine_code.py as a module."""
    path = root / "tools" / "machine_code.py"
    spec = importlib.util.spec_from_file_location("machine_code_tool", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def manifest():
    return machine_code.load_manifest()


# ---- digests of sources ----


@pytest.fixture
def project(tmp_path):
    """A kernel file with a header that includes another; `digest` takes the folder as it is."""
    write(tmp_path, "sgemm/01.cuh", '#pragma once\n#include "../common/a.cuh"\nint c = a + b;\n')
    write(tmp_path, "common/a.cuh", "#pragma once\n#include <ptx/b.cuh>\nint a = 1;\n")
    write(tmp_path, "ptx/b.cuh", "#pragma once\n#include <cuda_fp16.h>\nint b = 2;\n")
    return tmp_path


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def digest(folder):
    return source_digest_by_content(folder / "sgemm/01.cuh", folder)


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


def test_the_digest_of_a_step_is_that_of_its_recordings():
    assert measurements.source_digest(SPEC) == machine_code.source_of(SPEC)


# ---- the manifest ----


def test_every_kernel_is_in_the_manifest_as_it_stands(tool, manifest):
    refresh = "python tools/machine_code.py compiles it, with nvcc"
    for spec, precisions in tool.kernels():
        name = machine_code.name_of(spec)
        known = manifest.kernels.get(name)
        assert known, f"{name} is not in the manifest: {refresh}"
        assert known.source == machine_code.source_of(spec), f"{name} has changed: {refresh}"
        assert set(known.code) == set(precisions), f"{name}: {refresh}"


def test_the_manifest_has_nothing_else(tool, manifest):
    assert set(manifest.kernels) == {machine_code.name_of(spec) for spec, _ in tool.kernels()}


def test_a_missing_or_damaged_manifest_says_how_to_make_it(tmp_path):
    for text in (None, "{", "[]", json.dumps({"nvcc": "13.0.88"})):
        path = tmp_path / "sm_90a.json"
        if text is not None:
            path.write_text(text)
        with pytest.raises(MeasurementError, match=r"tools/machine_code\.py"):
            machine_code.load_manifest(path)


def test_a_manifest_is_read_as_it_was_written(tmp_path, manifest):
    path = machine_code.save_manifest(manifest, tmp_path / "sm_90a.json")
    assert machine_code.load_manifest(path) == manifest


# ---- what a figure is worth ----


def test_the_four_words():
    present = machine_code.source_of(SPEC)

    def word(source, recorded, known_source=present, known="code"):
        kernels = {SPEC.name: Code(known_source, {"fp32": known})}
        return machine_code.currency(SPEC, source, recorded, Manifest("13", "", kernels))

    assert word(present, {}) == "current"
    assert word("older", {"fp32": "code"}) == "same machine code"
    assert word("older", {"fp32": "other"}) == "machine code changed"
    assert word("older", {"fp32": "code"}, known_source="older still") == "not compared"
    assert word("older", {}) == "not compared"
    assert word("older", {"fp32": "code", "bf16": "code"}) == "not compared"
    assert machine_code.currency(SPEC, "older", {"fp32": "c"}, Manifest("13", "", {})) == (
        "not compared"
    )


def test_every_recorded_kernel_has_been_compared():
    known = report_draft_recorded.recorded()
    assert {one.kernel for one in known} == set(registry.names())
    assert not [one for one in known if one.state == machine_code.NOT_COMPARED]


def test_every_section_with_steps_has_their_machine_code():
    for path in measurements.paths():
        for name, data in measurements.load(path).sections.items():
            if name in SECTIONS_WITH_STEPS:
                assert data["machine_code"], f"{path.name}, {name}"


def test_the_table_says_where_and_whether(monkeypatch):
    table = report_draft_recorded.recorded_state()
    rows = [row for row in table.rows if row[0] == SPEC.name]
    assert rows and rows[0][1] == "h200" and "benchmark" in rows[0][2]
    assert report_draft_recorded.state_of(SPEC) == rows[0][-1]
    nothing = Manifest("13", "", {})
    monkeypatch.setattr(machine_code, "load_manifest", lambda: nothing)
    monkeypatch.setattr(machine_code, "source_of", lambda spec: "another")
    assert report_draft_recorded.state_of(SPEC) == "not compared"


# ---- machine code ----


def variant_of(tmp_path, change):
    """The step's text in a file of its own, its headers in a folder of another name."""
    kernels = build.kernels_folder()
    shutil.copytree(kernels / "common", tmp_path / "elsewhere")
    text = change(SPEC.path.read_text().replace('"../common/', '"../elsewhere/'))
    write(tmp_path, "steps/kernel.cuh", text)
    return dataclasses.replace(SPEC, written_to=str(tmp_path / "steps/kernel.cuh"))


@needs_nvcc
def test_names_and_lines_do_not_count_but_instructions_do(tmp_path):
    before = machine_code.compiled(SPEC).code
    renamed = variant_of(
        tmp_path / "a",
        lambda text: "\n\n// Longer.\n" + text.replace(f"namespace {SPEC.name}", "namespace other")
        .replace("kernel(", "product(")
        .replace("launch(kernel", "launch(product"),
    )  # fmt: skip
    changed = variant_of(tmp_path / "b", lambda text: text.replace("acc += ", "acc -= "))
    assert machine_code.compiled(renamed).code == before
    assert machine_code.compiled(changed).code != before


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_this_nvcc_makes_what_the_manifest_says(name, manifest):
    if machine_code.version() != manifest.nvcc:
        pytest.skip("another nvcc")
    spec = registry.get(name)
    first = spec.precisions[0]
    now = machine_code.compiled(spec, [first])
    assert now.code[first] == manifest.kernels[name].code[first]


@needs_nvcc
def test_a_section_takes_from_the_manifest_what_holds(monkeypatch, manifest):
    if machine_code.version() != manifest.nvcc:
        pytest.skip("another nvcc")
    known = manifest.kernels[SPEC.name]
    with monkeypatch.context() as patch:
        patch.setattr(machine_code, "cubin", None)  # nothing is compiled
        found = machine_code.stamp([(SPEC, SPEC.precisions)])
    assert found["sources"] == {SPEC.name: known.source}
    assert found["machine_code"] == {SPEC.name: dict(known.code)}
    monkeypatch.setattr(machine_code, "load_manifest", lambda: Manifest(manifest.nvcc, "", {}))
    assert machine_code.stamp([(SPEC, SPEC.precisions)]) == found


def test_what_has_the_same_machine_code_counts_as_present(monkeypatch):
    present = machine_code.source_of(SPEC)
    kernels = {SPEC.name: Code(present, {"fp32": "code"})}
    monkeypatch.setattr(machine_code, "load_manifest", lambda: Manifest("13", "", kernels))
    old = {SPEC.name: "older", "another": "left"}
    same = machine_code.today([SPEC], old, {SPEC.name: {"fp32": "code"}})
    assert same == {SPEC.name: present, "another": "left"}
    assert machine_code.today([SPEC], old, {SPEC.name: {"fp32": "other"}}) == old
    assert machine_code.today([SPEC], old, {}) == old
