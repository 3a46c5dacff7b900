"""wgmma: layouts, fragments, groups, and what is found when something of it is missing."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from conftest import FIXTURES
from wgmma_probes import addresses_read, probes, read_entry
from wgmma_products import products
from wgmma_tiles import bits_of

from gemmlab.core.errors import LaunchError
from gemmlab.core.paths import repository_root

RECORDED = FIXTURES.parent / "recorded" / "wgmma_addresses.json"
WAVEFRONTS = repository_root() / "book/measurements/wavefronts/wgmma_h200.json"
# Of fixtures/wgmma_reads.cu, in the order of its enumeration.
READ_FORMS = ("ss", "ss.a_trans", "ss.b_trans", "ss.both_trans", "rs", "rs.b_trans")

# name -> kind, marks of the lines, what the message tells to do, stops the kernel.
MISTAKES = {
    "missing_wait": ("register-before-wait", "here", "there", "wgmma_wait<0>() before", False),
    "missing_commit": ("register-before-wait", "here", "there", "wgmma_commit() after", False),
    "wait_too_few": ("register-before-wait", "here", "there", "reads an accumulator", False),
    "fragment_changed": (
        "register-before-wait",
        "here",
        "there",
        "writes the fragment",
        False,
    ),
    "missing_fence": ("missing-fence", "here", None, "wgmma_fence() before it", False),
    "missing_second_fence": ("missing-fence", "here", "there", "wgmma_fence() between", False),
    "fragment_unfenced": ("missing-fence", "here", "there", "wgmma_fence() between", False),
    "other_shape": ("missing-fence", "here", "there", "wgmma_fence() between", False),
    "missing_proxy_fence": ("missing-fence", "here", "there", "fence_proxy_async() after", False),
    "missing_barrier": ("race", "here", "there", "put __syncthreads() between", False),
    "one_warp_early": ("race", "here", "there", "put __syncthreads() between", False),
    "overwritten": ("overwrite-before-release", "here", "there", "wait until it has", False),
    "unfinished": ("unfinished", "here", None, "wait for it, or leave it out", False),
    "partial": ("deadlock", "here", None, "for warp 3 of its warpgroup", True),
    "small_block": ("deadlock", "here", None, "for warp 3 of its warpgroup", True),
    "lanes_differ": ("divergent-collective", "here", None, "the same in all 128 threads", True),
    "warps_differ": ("divergent-collective", "here", "here", "warps of a warpgroup", True),
    "descriptor_bits": ("bad-descriptor", "here", None, "has bits 0x4000 set", True),
    "descriptor_outside": ("bad-descriptor", "here", None, "outside of every __shared__", True),
    "descriptor_start": ("bad-descriptor", "here", None, "128 bytes past a multiple of", False),
    "descriptor_stride": ("bad-descriptor", "here", None, "no multiple of the 256", False),
    "descriptor_overlap": ("bad-descriptor", "here", None, "two elements in one place", False),
}
# What an untraced run has in place of the accumulators: what was there before the wgmma, unless it
# does not add to that.
LATE = {"missing_wait": 0.0, "missing_commit": np.nan}


def operands():
    """A (64, 16), B (8, 16) and C (64, 8) of the small product."""
    random = np.random.default_rng(3)
    A, B = (random.integers(-8, 9, shape).astype(np.float16) for shape in ((64, 16), (8, 16)))
    return A, B, np.full((64, 8), np.nan, np.float32)


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_found(kernel_file, check_mistake, name):
    fixture = kernel_file(f"wgmma_{name}")
    trace = fixture.module("broken").trace(*operands(), 64, 8, 16)
    check_mistake(fixture, trace, MISTAKES[name])


@pytest.mark.parametrize("name", MISTAKES)
def test_the_fixed_twin_is_clean(kernel_file, name):
    A, B, C = operands()
    module = kernel_file(f"wgmma_{name}").module("fixed")
    assert module.trace(A, B, C, 64, 8, 16).findings == ()
    traced, C[:] = C.copy(), np.nan
    module.launch(A, B, C, 64, 8, 16)
    assert np.array_equal(C, traced, equal_nan=True)


@pytest.mark.parametrize("name", [name for name, mistake in MISTAKES.items() if mistake[4]])
def test_an_untraced_run_stops_too(kernel_file, name):
    with pytest.raises(LaunchError, match=f"wgmma_{name}.cu:"):
        kernel_file(f"wgmma_{name}").module("broken").launch(*operands(), 64, 8, 16)


@pytest.mark.parametrize("name", LATE)
def test_accumulators_come_with_the_wait(kernel_file, name):
    A, B, C = operands()
    fixture = kernel_file(f"wgmma_{name}")
    fixture.module("broken").launch(A, B, C, 64, 8, 16)
    assert np.array_equal(C, np.full_like(C, LATE[name]), equal_nan=True)
    fixture.module("fixed").launch(A, B, C, 64, 8, 16)
    assert np.array_equal(C, A.astype(np.float32) @ B.T.astype(np.float32))


def test_shared_memory_is_read_at_the_wait(kernel_file):
    A, B, C = operands()
    kernel_file("wgmma_overwritten").module("broken").launch(A, B, C, 64, 8, 16)
    A[:, :8] = 0
    assert np.array_equal(C, A.astype(np.float32) @ B.T.astype(np.float32))


def test_fragments_of_a_are_read_at_the_wait(kernel_file):
    A, B, C = operands()
    module = kernel_file("wgmma_fragment_changed").module("broken")
    fixed = kernel_file("wgmma_fragment_changed").module("fixed")
    module.launch(A, B, C, 64, 8, 16)
    late = C.copy()
    fixed.launch(A, B, C, 64, 8, 16)
    assert np.array_equal(late, 2 * C)  # at both times the fragment that came in between


@pytest.mark.parametrize("launch", ["one_group", "many_groups"])
def test_hundreds_of_unfinished_products(kernel_file, launch):
    A, B, C = operands()
    module = kernel_file("wgmma_many").module(launch)
    assert module.trace(A, B, C, 64, 8, 16).findings == ()
    assert np.array_equal(C, 600 * (A.astype(np.float32) @ B.T.astype(np.float32)))


def test_a_forgotten_swizzle_shows_in_the_values_only(kernel_file):
    A, B, C = operands()
    expected = A.astype(np.float32) @ B.T.astype(np.float32)
    for launch, is_right in (("broken", False), ("fixed", True)):
        trace = kernel_file("wgmma_wrong_swizzle").module(launch).trace(A, B, C, 64, 8, 16)
        assert trace.findings == ()
        assert np.array_equal(C, expected) is is_right


@pytest.mark.parametrize("case", list(products()), ids=str)
def test_products(kernel_file, case):
    def launch(call, memory, D, form, n, bfloat, name):
        module = kernel_file("wgmma_layouts").module(name)
        assert module.trace(call, memory, D, form, n, int(bfloat)).findings == ()

    D, expected = case.run(launch)
    assert np.array_equal(D, expected)


def launch_half(module, call, memory, D, form, n):
    module.launch(call, memory, D, form, n, 0)


def test_operands_are_read_where_the_layouts_say(kernel_file):
    launch = partial(launch_half, kernel_file("wgmma_layouts").module("forms"))
    for operand, tile in probes():
        assert np.array_equal(addresses_read(launch, operand, tile), tile.addresses()), tile


def test_operands_are_read_where_an_h200_read_them(kernel_file):
    launch = partial(launch_half, kernel_file("wgmma_layouts").module("forms"))
    for entry in json.loads(RECORDED.read_text())["probes"]:
        operand, tile, recorded = read_entry(entry)
        assert np.array_equal(addresses_read(launch, operand, tile), recorded), tile


@pytest.mark.parametrize(
    ("name", "dtype", "sizes"),
    [
        ("gemm_wgmma", "f16", (128, 256, 192)),
        ("gemm_wgmma", "bf16", (128, 256, 192)),
        ("gemm_wgmma_registers", "f16", (128, 192, 96)),
        ("gemm_wgmma_registers", "bf16", (128, 192, 96)),
        ("gemm_tma_wgmma", "f16", (128, 128, 64)),
        ("gemm_tma_wgmma", "f16", (200, 328, 440)),
    ],
)
def test_matrix_products(kernel_file, name, dtype, sizes):
    M, N, K = sizes
    random = np.random.default_rng(5)
    A, B = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    C = np.full((M, N), np.nan, np.float32)
    given = [bits_of(x, dtype == "bf16") for x in (A, B)]
    module = kernel_file(name).module(dtype)
    trace = module.trace(*given, C, M, N, K)
    assert trace.findings == ()
    assert np.array_equal(C, A @ B)


@pytest.mark.parametrize(
    ("name", "sizes", "wavefronts"),
    # B: N / 4 of an instruction; A: 16, or none if it is in registers.
    [("gemm_wgmma", (128, 256, 192), 48), ("gemm_wgmma_registers", (128, 256, 192), 16)],
)
def test_operand_reads_are_counted(kernel_file, name, sizes, wavefronts):
    M, N, K = sizes
    fixture = kernel_file(name)
    matrices = np.zeros((M, K), np.float16), np.zeros((K, N), np.float16)
    trace = fixture.module("f16").trace(*matrices, np.zeros((M, N), np.float32), M, N, K)
    columns = {"gemm_wgmma": 128, "gemm_wgmma_registers": 64}[name]
    instructions = M // 64 * (N // columns) * (K // 16)
    (reads,) = (line for line in trace.lines if line.op == "wgmma.shared")
    assert reads.line == fixture.lines["wgmma"]
    assert (reads.requests, reads.lanes, reads.width_bytes) == (instructions, 128, 16)
    assert reads.wavefronts == reads.wavefronts_min == instructions * wavefronts


def test_operand_reads_cost_what_nsight_compute_read(kernel_file):
    """Layouts with and without conflicts, if they were read by lanes: they cost the same."""
    module = kernel_file("wgmma_reads").module("wgmma_reads")
    nothing, out = np.zeros(16, np.float32), np.zeros(512, np.float32)
    recorded = json.loads(WAVEFRONTS.read_text())["instructions"]
    assert len(recorded) > 200
    for entry in recorded:
        operands = (entry["a"] or entry["b"], entry["b"])
        fields = [o[name] for o in operands for name in ("mode", "start", "leading", "stride")]
        reads = np.array([*fields, entry["instructions"]], np.int32)
        form = READ_FORMS.index(entry["form"])
        trace = module.trace(reads, nothing, out, form, entry["n"], entry["warpgroups"])
        assert trace.totals()["wgmma.shared"]["wavefronts"] == entry["wavefronts"], entry
