"""The registry, and the contract that every kernel file keeps."""

import re

import pytest

from gemmlab import registry
from gemmlab.errors import ArgumentError, UnknownKernelError

DIFF_BUDGET = 80  # changed lines from a step to its parent


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda s: s.name)
def test_file_keeps_the_contract(spec):
    text = spec.path.read_text()
    lines = text.splitlines()
    assert text.startswith(f"// {spec.name}: ")
    assert text.count("__global__") == 1
    assert f"cudaError_t launch_{spec.name}(const GemmArgs& g, cudaStream_t stream)" in text
    assert "static_assert" in text and "// Source:" in text
    assert len(lines) <= 220 and max(map(len, lines)) <= 100
    opened = re.findall(r"// \[(\w+)\]", text)
    assert opened and opened == re.findall(r"// \[/(\w+)\]", text)


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda s: s.name)
def test_spec_agrees_with_the_source(spec):
    text = spec.path.read_text()
    numbers = dict(re.findall(r"\b([A-Z_]+) = (\d+)[,;]", text))
    if "BM" in numbers:
        assert spec.tile == tuple(int(numbers[n]) for n in ("BM", "BN", "BK"))
        assert spec.shared_bytes == 4 * spec.tile[2] * (spec.tile[0] + spec.tile[1])
    if "TM" in numbers:
        assert spec.thread_tile == (int(numbers["TM"]), int(numbers["TN"]))
    assert spec.threads == spec.tile[0] * spec.tile[1] // (
        spec.thread_tile[0] * spec.thread_tile[1]
    )


@pytest.mark.parametrize("spec", [s for s in registry.KERNELS if s.parent], ids=lambda s: s.name)
def test_difference_to_the_parent_is_small(spec):
    from gemmlab.source import diff

    changed = [line for line in diff(spec.name).lines if line.mark != " "]
    assert 0 < len(changed) <= DIFF_BUDGET


def test_names_are_unique_and_parents_exist():
    names = registry.names()
    assert len(set(names)) == len(names)
    for spec in registry.KERNELS:
        assert spec.parent is None or names.index(spec.parent) < names.index(spec.name)


@pytest.mark.parametrize(
    ("wrong", "offered"),
    [
        ("sgemm_06_swizled_a", "sgemm_06_swizzled_a"),
        ("swizzled", "sgemm_06_swizzled_a"),
        ("naive", "sgemm_01_naive"),
    ],
)
def test_unknown_name_offers_the_closest(wrong, offered):
    with pytest.raises(UnknownKernelError, match=f"did you mean .*{offered}"):
        registry.get(wrong)


def test_nothing_close_points_to_the_list():
    with pytest.raises(UnknownKernelError, match="gemmlab list"):
        registry.get("zzz")
    with pytest.raises(ArgumentError, match="expected a name"):
        registry.get(3)


def test_import_loads_neither_torch_nor_matplotlib():
    import subprocess
    import sys

    code = "import sys, gemmlab; sys.exit(any(m in sys.modules for m in ('torch', 'matplotlib')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
