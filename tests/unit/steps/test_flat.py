"""A step and its headers as one file."""

import dataclasses
import re
import subprocess

import needs
import pytest

import gemmlab as lab
from gemmlab.core.paths import kernels_folder
from gemmlab.gpu import machine_code
from gemmlab.gpu.toolchain import FLAGS, gencode, nvcc
from gemmlab.measurements.staleness import TARGET
from gemmlab.steps import flat as flat_module
from gemmlab.steps import registry
from gemmlab.steps.cuda_text import without_comments
from gemmlab.steps.flat import flat
from gemmlab.steps.program import Program, Source
from gemmlab.steps.text import included_files

# The kernel of each step in its first precision, whose file to read is compiled.
KERNELS = {
    "sgemm_11_warp_tiling": "kernel",
    "hgemm_18_wide_tile": "kernel<__nv_bfloat16, __nv_bfloat16>",
    "tma_06_persistent": "kernel<__nv_bfloat16, __nv_bfloat16>",
    "wgmma_07_deferred": "kernel<__nv_bfloat16, __nv_bfloat16>",
    "wgmma_12_small": "kernel<__nv_bfloat16, __nv_bfloat16>",
}
STEPS = ("sgemm_18_block_order", "hgemm_19_stream_k", "tma_08_any_shape")


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_no_header_of_the_project_is_left(spec):
    found = flat(spec, whole=True)
    assert found.text.startswith(f"// {spec.name}: ")
    names = re.findall(r'#include ["<]([^">]+)[">]', found.text)
    assert names and len(set(names)) == len(names)
    assert not [name for name in names if name.endswith(".cuh")]
    assert "#pragma once" not in found.text
    # All of them come before the first line of code.
    assert "#include" not in found.text[found.text.index("// ----") :]


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_every_header_comes_once(spec):
    found = flat(spec, whole=True)
    files = [path for path in included_files(spec.path) if path != spec.path.resolve()]
    expected = {path.relative_to(kernels_folder()).as_posix() for path in files}
    assert set(found.headers) == expected and len(found.headers) == len(expected)
    assert re.findall(r"^// ---- (\S+) ----$", found.text, re.MULTILINE)[0] in expected


def test_it_says_how_long_it_is():
    found = flat(registry.get("sgemm_01_naive"), whole=True)
    assert found.lines == len(found.text.splitlines()) > found.code_lines > 40
    assert f"{found.lines:,} lines, {found.code_lines:,} of them code" in repr(found)
    assert "gl-code" in found._repr_html_()


def test_comments_and_empty_lines_are_not_code():
    found = dataclasses.replace(
        flat(registry.get("sgemm_01_naive"), whole=True),
        text='// one\n\n/* two\n */\nint a;  // three\nconst char* b = "// four";\n',
    )
    assert (found.lines, found.code_lines) == (6, 2)


def test_a_variant_is_flat_too():
    less = lab.variant("sgemm_02_coalesced", {"acc += a * b": "acc -= a * b"}, label="a minus")
    found = flat(less, whole=True)
    assert "acc -= a * b" in found.text and found.title == "a minus"
    assert "acc -= a * b" in flat(less).text
    assert "common/launch/host.cuh" in found.headers


@needs.slow_nvcc
@pytest.mark.parametrize("name", STEPS)
def test_the_machine_code_is_the_same(name, tmp_path):
    step = registry.program(name)
    alone = flat(step, whole=True).write(tmp_path / "alone.cuh")
    first = step.spec.precisions[:1]
    found = machine_code.compiled(Program(step.spec, Source(alone, step.name)), first)
    assert found.code == machine_code.compiled(step, first).code


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_a_file_to_read_has_lines_of_the_whole_one_in_their_order(spec):
    rest = iter(flat(spec, whole=True).text.splitlines())
    text = flat(spec).text
    notes = text[text.index("// Left out") :].splitlines()[:2]
    for line in text.splitlines():
        if line not in notes and line.strip() and not line.startswith(("#include", "// ----")):
            assert line in rest, line


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_in_a_file_to_read_everything_is_used(spec):
    code = without_comments(flat(spec).text)
    functions = re.findall(r"^(?!\s)[^\n(=]*?(\w+)\([^;{}]*\{", code, re.MULTILINE)
    types = re.findall(r"^(?:struct|using) (\w+)", code, re.MULTILINE)
    for name in {*functions, *types} - {"__launch_bounds__"}:
        assert len(re.findall(rf"\b{name}\b", code)) > 1, name
    for constants in re.findall(r"^constexpr int [^;]*;", code, re.MULTILINE):
        names = re.findall(r"(\w+) =", constants)
        assert any(len(re.findall(rf"\b{name}\b", code)) > 1 for name in names), constants
    assert code.count("__global__") == flat(spec, whole=True).text.count("__global__")
    assert not re.search(r"^\s*// \[/?\w+\]$", code, re.MULTILINE)


def test_the_central_kernel_is_read_in_three_minutes():
    found = flat(registry.get("wgmma_07_deferred"))
    assert found.lines <= 250
    for shown in ("ring.wait_full()", "wgmma_wait<1>()", "release(used_addr)", "struct StageRing"):
        assert shown in found.text


def test_each_header_that_stays_an_include_exists():
    for prefix in flat_module._FOLDED:
        assert (kernels_folder() / prefix).exists(), prefix


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_a_file_to_read_says_what_it_leaves_out(spec):
    found = flat(spec)
    complete, hidden, unused = (
        int(number.replace(",", ""))
        for number in re.search(
            r"Left out, of ([\d,]+) lines: ([\d,]+) of the headers .* and ([\d,]+) that", found.text
        ).groups()
    )
    assert complete == flat(spec, whole=True).lines
    assert hidden > 0 and unused > 0
    assert hidden + unused == complete - (found.lines - 2)
    named = {kernels_folder() / name for name in re.findall(r"#include <(\S+\.cuh)>", found.text)}
    reachable = {file.resolve() for path in named for file in included_files(path)}
    assert {(kernels_folder() / header).resolve() for header in found.included} <= reachable
    assert not {*found.included} & {*found.headers}


def compiled(text, folder):
    source, made = folder / "kernel.cu", folder / "kernel.cubin"
    source.write_text(text)
    command = [
        nvcc(),
        *FLAGS,
        f"-I{kernels_folder()}",
        gencode(TARGET),
        "-cubin",
        source,
        "-o",
        made,
    ]
    subprocess.run(command, check=True)
    return machine_code.functions(made.read_bytes())


@needs.slow_nvcc
@pytest.mark.parametrize("name", KERNELS)
def test_a_file_to_read_compiles_to_the_same_kernel(name, tmp_path):
    text = f"{flat(registry.get(name)).text}\nauto* volatile made = &{name}::{KERNELS[name]};\n"
    step = registry.program(name)
    whole = machine_code.functions(machine_code.cubin(step, step.spec.precisions[0]))
    (found,) = compiled(text, tmp_path).values()
    assert found in whole.values()
