"""The registry, and the contract that every kernel file keeps."""

import re
from dataclasses import replace

import pytest

from gemmlab.core.errors import ArgumentError, UnknownKernelError
from gemmlab.core.precision import HALF
from gemmlab.layouts.tiling.occupancy import GPUS
from gemmlab.steps import registry
from gemmlab.steps.cuda_text import without_comments
from gemmlab.steps.source import diff

FILE_LINES, BODY_LINES, CHANGED_LINES = 220, 120, 80
# What is longer has here exactly the lines that it has: who shortens it lowers the number, too.
LONG_BODIES: dict[str, int] = {}
# One idea that takes more: a kernel of its own, a schedule, a way for every shape, another
# interface for the same products, another order of all that a tile is made of.
LARGE_CHANGES = {
    "sgemm_16_packed_a": 128,
    "sgemm_17_pipeline": 202,
    "sgemm_18_block_order": 132,  # its parent's loop stands in a header from here on
    "sgemm_19_stream_k": 151,
    "sgemm_20_any_shape": 325,
    "hgemm_06_wmma": 99,
    "hgemm_10_mma": 91,
    "hgemm_12_mma_pipeline": 87,
    "hgemm_18_wide_tile": 148,
    "hgemm_19_stream_k": 225,
    "hgemm_20_any_shape": 249,
    "tma_01_load": 117,
    "tma_05_wide_tile": 209,
    "tma_08_any_shape": 201,
    "wgmma_01_one_warpgroup": 161,
    "wgmma_02_stages": 116,
    "wgmma_05_persistent": 101,
    "wgmma_06_cluster": 100,
    "wgmma_07_deferred": 144,  # its parent's loads and constants stand in headers from here on
    "wgmma_12_small": 95,
    "wgmma_14_any_shape": 247,
}
HALF_STEPS = [spec for spec in registry.KERNELS if spec.precisions == HALF]


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda s: s.name)
def test_file_keeps_the_contract(spec):
    text = spec.path.read_text()
    lines = text.splitlines()
    assert text.startswith(f"// {spec.name}: ")
    # What needs scratch memory may take a second kernel, which adds up what lies there.
    assert 1 <= text.count("__global__") <= 1 + spec.workspace
    assert f"cudaError_t launch_{spec.name}(const GemmArgs& g, cudaStream_t stream)" in text
    assert (f"inline size_t workspace_{spec.name}(const GemmArgs& g)" in text) == spec.workspace
    assert len(set(spec.configs)) == len(spec.configs) != 1
    assert "static_assert" in text and "// Source:" in text
    assert len(lines) <= FILE_LINES and max(map(len, lines)) <= 100
    opened = re.findall(r"// \[(\w+)\]", text)
    assert opened and sorted(opened) == sorted(re.findall(r"// \[/(\w+)\]", text))


@pytest.mark.parametrize("spec", HALF_STEPS, ids=lambda s: s.name)
def test_a_16_bit_step_is_a_template_of_its_types(spec):
    text = spec.path.read_text()
    types = r"class T, class TC(?:, int LAYOUT = 0)?"  # any shape: any layout, too
    assert re.search(rf"template <{types}>\ninline cudaError_t launch_{spec.name}\(", text)
    kernel = r"template <class T, class TC[^>]*>\n__global__ void __launch_bounds__\("
    assert len(re.findall(kernel, text)) == 1
    assert spec.precisions == HALF and "asm" not in text
    assert spec.alignment in (2, 16) and spec.layout == "A, B and C row-major"


@pytest.mark.parametrize("spec", HALF_STEPS, ids=lambda s: s.name)
def test_large_tiles_are_in_dynamic_shared_memory(spec):
    text = spec.path.read_text()
    host = spec.path.with_name(f"{spec.path.stem}_host.cuh")  # of a step with many configurations
    text += host.read_text() if host.exists() else ""
    dynamic = "extern __shared__" in text
    assert dynamic or spec.shared_bytes <= GPUS["H200"].shared_default
    assert dynamic == bool(re.search(r"SMEM_BYTES,\s+stream", text))
    if dynamic and spec.shared_bytes > GPUS["H200"].shared_default:
        asks = ("cudaFuncAttributeMaxDynamicSharedMemorySize", "allow_shared_memory(kernel<T, TC")
        assert any(words in text for words in asks)
    assert spec.shared_bytes <= GPUS["H200"].shared_block


def shared_bytes(spec, text, numbers):
    """Of the buffers for the tiles of A and B, a fragment of C for each warp, and mbarriers."""
    BM, BN, BK = spec.tile
    element, pad = 2 if spec.precisions == HALF else 4, numbers.get("PAD", 0)
    stages = numbers.get("STAGES", 1)
    tiles = stages * element * (BM * (BK + pad) + BK * (BN + pad))
    if "mbarrier_init" in text or "ring.init" in text:
        # Full, and from the producer warp on empty, too.
        tiles += 8 * stages * (2 if "empty_addr" in text or "ring.init" in text else 1)
    if "PART_BYTES" in text:  # a warp's part of C: lines of 128 bytes, and an mbarrier
        WM, WN = numbers["WM"], numbers["WN"]
        tiles += BM // WM * (BN // WN) * (WM * 128 + 8)
    if "StoreRing" in text or "BUFFERS" in text:  # a warp's two buffers of 16 lines of C
        tiles += (spec.threads // 32 - 4) * 2 * 16 * 128
    tiles += 16 if "turn_addr" in text else 0  # an mbarrier for each of two
    if "float sC[THREADS / 32][MMA_M][MMA_N]" in text:
        tiles += 4 * spec.threads // 32 * numbers["MMA_M"] * numbers["MMA_N"]
    return tiles


def tiles_of(text):
    """The constants of each tile of a step that has several, each with stages of its own."""
    if "int STAGES_>" not in text:
        return []
    names, tile = ("BM", "BN", "WM", "WN", "STAGES"), r"Tile<(\d+), (\d+), (\d+), (\d+), (\d+)>"
    return [dict(zip(names, map(int, of), strict=True)) for of in re.findall(tile, text)]


def numbers_of(spec, text):
    """The constants of a step; of several tiles those of the first one of the spec's size."""
    numbers = {name: int(n) for name, n in re.findall(r"\b([A-Z_]+) = (\d+)[,;]", text)}
    if spec.family == "wgmma":
        numbers["PRODUCERS"] = 128
    if shape := re.search(r"WgmmaShape<(\d+), (\d+), (\d+), ", text):
        names = ("BM", "BN", "STAGES", "BK")
        numbers |= dict(zip(names, map(int, (*shape.groups(), 64)), strict=True))
    tiles = (tile for tile in tiles_of(text) if (tile["BM"], tile["BN"]) == spec.tile[:2])
    return numbers | next(tiles, {})


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda s: s.name)
def test_spec_agrees_with_the_source(spec):
    text = spec.path.read_text()
    numbers = numbers_of(spec, text)
    if "BM" in numbers:
        assert spec.tile == tuple(numbers[n] for n in ("BM", "BN", "BK"))
        assert spec.shared_bytes == shared_bytes(spec, text, numbers)
    if "TM" in numbers:  # of each of the subtiles that a thread has, if it has several
        subtiles = numbers.get("WMITER", 1), numbers.get("WNITER", 1)
        assert spec.thread_tile == (numbers["TM"] * subtiles[0], numbers["TN"] * subtiles[1])
    computing = spec.tile[0] * spec.tile[1] // (spec.thread_tile[0] * spec.thread_tile[1])
    if "elect_one()" in text:  # threads that copy: a warp, or a warpgroup that gives registers
        # Where consumers take turns, each computes a tile.
        computing *= 2 if "turn_addr" in text else 1
        assert spec.threads == computing + numbers.get("PRODUCERS", 32)
        assert numbers.get("CONSUMERS", computing) == computing
    else:
        assert numbers.get("THREADS", spec.threads) == spec.threads == computing


@pytest.mark.parametrize(
    "spec", [s for s in registry.KERNELS if s.least_shared_bytes], ids=lambda s: s.name
)
def test_a_step_says_what_its_smallest_tile_takes(spec):
    text = spec.path.read_text()
    takes = [
        shared_bytes(replace(spec, tile=(tile["BM"], tile["BN"], spec.tile[2])), text, tile)
        for tile in tiles_of(text)
    ]
    assert len(takes) == len(spec.configs)
    assert spec.least_shared_bytes == min(takes)
    assert sorted(takes)[1] <= GPUS["RTX 5090"].shared_block  # "the last two have room"


def longest_body(text):
    """Lines of code between the braces of a __global__ function, without comments and blanks."""
    found = re.findall(r"__global__\b[^{]*\{\n(.*?)^\}", without_comments(text), re.M | re.S)
    return max(sum(bool(line.strip()) for line in body.splitlines()) for body in found)


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda s: s.name)
def test_a_kernel_has_a_short_body(spec):
    longest = longest_body(spec.path.read_text())
    if spec.name in LONG_BODIES:
        assert longest == LONG_BODIES[spec.name] > BODY_LINES
    else:
        assert longest <= BODY_LINES


@pytest.mark.parametrize("spec", [s for s in registry.KERNELS if s.parent], ids=lambda s: s.name)
def test_difference_to_the_parent_is_small(spec):
    changed = sum(line.mark != " " for line in diff(spec.name).lines)
    if spec.name in LARGE_CHANGES:
        assert changed == LARGE_CHANGES[spec.name] > CHANGED_LINES
    else:
        assert 0 < changed <= CHANGED_LINES


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
