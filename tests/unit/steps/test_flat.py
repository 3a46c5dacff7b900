"""A step and its headers as one file."""

import dataclasses
import re

import needs
import pytest

import gemmlab as lab
from gemmlab.core.paths import kernels_folder
from gemmlab.gpu import machine_code
from gemmlab.steps import registry
from gemmlab.steps.flat import flat
from gemmlab.steps.program import Program, Source
from gemmlab.steps.text import included_files

STEPS = ("sgemm_18_block_order", "hgemm_19_stream_k", "tma_08_any_shape")


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_no_header_of_the_project_is_left(spec):
    found = flat(spec)
    assert found.text.startswith(f"// {spec.name}: ")
    names = re.findall(r'#include ["<]([^">]+)[">]', found.text)
    assert names and len(set(names)) == len(names)
    assert not [name for name in names if name.endswith(".cuh")]
    assert "#pragma once" not in found.text
    # All of them come before the first line of code.
    assert "#include" not in found.text[found.text.index("// ----") :]


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_every_header_comes_once(spec):
    found = flat(spec)
    files = [path for path in included_files(spec.path) if path != spec.path.resolve()]
    expected = {path.relative_to(kernels_folder()).as_posix() for path in files}
    assert set(found.headers) == expected and len(found.headers) == len(expected)
    assert re.findall(r"^// ---- (\S+) ----$", found.text, re.MULTILINE)[0] in expected


def test_it_says_how_long_it_is():
    found = flat(registry.get("sgemm_01_naive"))
    assert found.lines == len(found.text.splitlines()) > found.code_lines > 40
    assert f"{found.lines:,} lines, {found.code_lines:,} of them code" in repr(found)
    assert "gl-code" in found._repr_html_()


def test_comments_and_empty_lines_are_not_code():
    found = dataclasses.replace(
        flat(registry.get("sgemm_01_naive")),
        text='// one\n\n/* two\n */\nint a;  // three\nconst char* b = "// four";\n',
    )
    assert (found.lines, found.code_lines) == (6, 2)


def test_a_variant_is_flat_too():
    less = lab.variant("sgemm_02_coalesced", {"acc += a * b": "acc -= a * b"}, label="a minus")
    found = flat(less)
    assert "acc -= a * b" in found.text and found.title == "a minus"
    assert "common/launch/host.cuh" in found.headers


@needs.slow_nvcc
@pytest.mark.parametrize("name", STEPS)
def test_the_machine_code_is_the_same(name, tmp_path):
    step = registry.program(name)
    alone = flat(step).write(tmp_path / "alone.cuh")
    first = step.spec.precisions[:1]
    found = machine_code.compiled(Program(step.spec, Source(alone, step.name)), first)
    assert found.code == machine_code.compiled(step, first).code
