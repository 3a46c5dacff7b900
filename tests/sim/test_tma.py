"""The copy engine: boxes, swizzles, what lies outside of a tensor, groups, clusters, mistakes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import LaunchError, RefusedError
from gemmlab.layouts.shared.swizzle import Swizzle
from gemmlab.sim.findings import told

IMAGE_BYTES, FILL = 36 * 1024, 0xAB  # as in fixtures/tma_copy.cu
# By CUtensorMapSwizzle. On byte addresses: chunks of 16 bytes, their low bits XORed with bits 7-9.
SWIZZLES = (Swizzle(0, 4, 3), Swizzle(1, 4, 3), Swizzle(2, 4, 3), Swizzle(3, 4, 3))
# name -> bytes of an element.
TYPES = {"float": 4, "half": 2, "bfloat16": 2}


@dataclass(frozen=True)
class Box:
    """A box, in bytes along a row, at column x of row y; `place`: where it is put, in 128 bytes."""

    row_bytes: int
    rows: int
    swizzle: int
    x: int = 0
    y: int = 0
    place: int = 0

    @property
    def code(self) -> int:
        """As fixtures/tma_copy.cu wants it."""
        return self.swizzle | self.row_bytes // 16 << 2 | self.rows - 1 << 6 | self.place << 14


def tensor(rows: int, columns: int, element: int) -> np.ndarray:
    """Random bytes in rows that start at multiples of 16 bytes; (rows, bytes)."""
    stride = -(-columns * element // 16) * 16
    return np.random.default_rng(0).integers(0, 255, (rows, stride), np.uint8)


def window(matrix: np.ndarray, columns: int, element: int, box: Box) -> np.ndarray:
    """What a load brings, row-major: zeros outside of the tensor."""
    found = np.zeros((box.rows, box.row_bytes), np.uint8)
    for r in range(box.rows):
        for c in range(0, box.row_bytes, element):
            row, column = box.y + r, box.x + c // element
            if 0 <= row < len(matrix) and 0 <= column < columns:
                at = column * element
                found[r, c : c + element] = matrix[row, at : at + element]
    return found


def image_of(content: np.ndarray, box: Box) -> np.ndarray:
    """Shared memory after the load: with a swizzle rows start a span of it apart."""
    image = np.full(IMAGE_BYTES, FILL, np.uint8)
    pitch = max(box.row_bytes, 16 << box.swizzle)
    row, at = np.indices(content.shape)
    image[SWIZZLES[box.swizzle](box.place * 128 + row * pitch + at)] = content
    return image


def stored(content: np.ndarray, shape: tuple, columns: int, element: int, box: Box) -> np.ndarray:
    """The matrix after the store, where it was full of FILL."""
    matrix = np.full(shape, FILL, np.uint8)
    for r in range(box.rows):
        for c in range(0, box.row_bytes, element):
            row, column = box.y + r, box.x + c // element
            if 0 <= row < shape[0] and 0 <= column < columns:
                at = column * element
                matrix[row, at : at + element] = content[r, c : c + element]
    return matrix


BOXES = [
    *(Box(16 << s, 24, s) for s in range(4)),
    *(Box(16 << s, 8, s, place=3) for s in range(4)),
    *(Box(32, 5, s, x=8, y=3) for s in range(1, 4)),
    *(Box(48, 7, s, place=1) for s in (0, 2, 3)),
    Box(240, 40, 0),
    Box(64, 256, 2),
    *(Box(64, 16, s, x=-8, y=-8) for s in (0, 2, 3)),
    *(Box(128, 16, 3, x=x, y=y) for x in (-56, 8, 24) for y in (-15, 14)),
    Box(128, 16, 3, x=1000, y=1000),
    Box(128, 16, 3, x=-(2**30), y=2**30),
    Box(16, 1, 0, x=32, y=29),
]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("box", BOXES, ids=str)
def test_a_box_through_shared_memory(kernel_file, name, box):
    element, (rows, columns) = TYPES[name], (30, 33)
    A = tensor(rows, columns, element)
    content = window(A, columns, element, box)
    expected = np.concatenate(
        [image_of(content, box), stored(content, A.shape, columns, element, box).ravel()]
    )
    module = kernel_file("tma_copy").module(name)
    C = np.full_like(expected, FILL)
    trace = module.trace(A, A, C, rows, columns, box.code, box.x, box.y)
    assert trace.findings == ()
    np.testing.assert_array_equal(C, expected)
    C[:] = FILL
    module.launch(A, A, C, rows, columns, box.code, box.x, box.y)
    np.testing.assert_array_equal(C, expected)


@pytest.mark.parametrize("swizzle", range(4))
@pytest.mark.parametrize(
    ("name", "x", "byte"),
    [
        *(("bfloat16", x, 2 * x) for x in (1, 2, 4, 7, 9, -1, -4)),
        *(("half", 33, 66), ("half", -(2**30) + 64, None), ("float", 2, 8), ("float", -4, None)),
    ],
)
def test_along_a_row_a_box_begins_at_16_bytes(kernel_file, name, x, byte, swizzle):
    """Seen on an H200 with bfloat16: else the kernel ends with an illegal instruction."""
    fixture, A, element = kernel_file("tma_copy"), tensor(30, 40, TYPES[name]), TYPES[name]
    C = np.zeros(IMAGE_BYTES + A.size, np.uint8)
    given = (A, A, C, 30, 40, Box(16 << swizzle, 8, swizzle).code, x, 3)
    if byte is None:
        assert fixture.module(name).trace(*given).findings == ()
        return
    (found,) = fixture.module(name).trace(*given).findings
    assert (found.kind, found.line, found.fatal) == ("misaligned", fixture.lines["load"], True)
    assert f"gives tma_load_2d column {x}, byte {byte} of a row" in found.message
    assert "'an illegal instruction was encountered'; start" in found.message
    assert found.message.endswith(f"a multiple of 16 bytes, here {16 // element} elements")
    with pytest.raises(LaunchError, match=f"column {x}, byte {byte} of a row"):
        fixture.module(name).launch(*given)


def tiles(count: int = 3) -> tuple[np.ndarray, np.ndarray, tuple[int, int, int]]:
    """Tiles of 32 x 32 floats, one below the other; as fixtures/tma_tile.cuh."""
    A = np.arange(count * 1024, dtype=np.float32)
    return A, np.full_like(A, np.nan), (count * 32, 32, count)


# name -> kind, marks of the lines, advice; then kinds that follow from the mistake.
MISTAKES = {
    "tma_expect_large": (
        ("transaction-bytes", "here", None),
        "16 bytes short: expected 4112, 4096 arrived",
    ),
    "tma_expect_small": (
        ("transaction-bytes", "here", None),
        "16 bytes over: expected 4080, 4096 arrived",
    ),
    "tma_underflow": (("bad-argument", "here", None), "that no phase expects"),
    "tma_expect_half": (("read-before-wait", "here", "there"), "wait for the copy"),
    "tma_no_full_wait": (("read-before-wait", "here", "there"), "wait for the copy"),
    "tma_one_waits": (("read-before-wait", "here", "there"), "wait for the copy"),
    "tma_no_empty_wait": (("overwrite-before-release", "here", "there"), "release it"),
    "tma_no_init_fence": (("missing-fence", "here", "there"), "call fence_mbarrier_init()"),
    "tma_no_proxy_fence": (("missing-fence", "here", "there"), "call fence_proxy_async()"),
    "tma_over_writes": (("missing-fence", "here", "there"), "call fence_proxy_async()"),
    "tma_no_bulk_wait": (("overwrite-before-release", "here", "there"), "has finished before"),
    "tma_exit_early": (("unfinished", "here", None), "wait for it"),
    "tma_store_read_back": (("read-before-wait", "here", "there"), "call bulk_wait<0>() (not"),
    "tma_store_overwritten": (("write-before-wait", "here", "there"), "need not have written yet"),
    "tma_store_twice": (("write-before-wait", "here", "here"), "in thread 0, which has started it"),
    "tma_no_commit": (("unfinished", "here", None), "wait for it"),
    "tma_inval": (("unfinished", "here", None), "wait for it"),
    "tma_overrun": (
        ("barrier-overrun", "here", "there"),
        "already has its 1 arrival; it arrived last itself",
    ),
    "tma_all_arrive": (
        ("barrier-overrun", "here", "there"),
        "Thread 1 of block 0 (warp 0, lane 1) arrives at line 15 (mbarrier_arrive_expect_tx) at "
        "the mbarrier of line 10, whose phase already has its 1 arrival, the last by thread 0; let",
    ),
    "tma_parity_stays": (
        ("barrier-overrun", "here", "there"),
        "1 arrival. The wait of line 19 has returned at once: thread 0 of block 0 (warp 0, lane 0) "
        "waits there for parity 0 again, and that is the parity of phase 0",
    ),
    "tma_parity_first": (
        ("barrier-overrun", "here", "there"),
        "line 19 has returned at once: thread 0 of block 0 (warp 0, lane 0) waits there for parity "
        "1 in the first phase",
    ),
    "tma_misaligned": (("misaligned", "here", None), "16 past a multiple of 128 bytes"),
    "tma_store_misaligned": (("misaligned", "here", None), "64 past a multiple of 128 bytes"),
    "tma_odd_column": (("misaligned", "here", None), "tma_load_2d column 1, byte 4 of a row"),
    "tma_store_odd_column": (
        ("misaligned", "here", None),
        "tma_store_2d column -2, byte -8 of a row",
    ),
    "tma_no_map": (("bad-argument", "here", None), "const __grid_constant__ CUtensorMap"),
    "tma_outside": (("out-of-bounds", "here", None), "writes 4096 bytes of shared memory"),
    "tma_outside_global": (("out-of-bounds", "here", None), "reads 128 bytes, 128 bytes past"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_found(kernel_file, name):
    (kind, here, there), advice = MISTAKES[name]
    fixture = kernel_file(name)
    A, C, shape = tiles()
    findings = fixture.module("broken").trace(A, A, C, *shape).findings
    found = [f for f in findings if f.kind == kind and f.line == fixture.lines[here]]
    if there:
        found = [f for f in found if f.other_line == fixture.lines[there]]
    assert found, findings
    assert advice in found[0].message
    assert found[0].file == f"tests/sim/fixtures/{name}.cu"


def test_the_wait_that_returns_at_once_explains_early_reads_too_and_is_told_once(kernel_file):
    A, C, shape = tiles()
    findings = kernel_file("tma_parity_stays").module("broken").trace(A, A, C, *shape).findings
    (early,) = (f for f in findings if f.kind == "read-before-wait")
    assert ". The wait of line 19 has returned at once: " in early.message
    assert str(findings).count("returned at once") == 1
    assert [text.count("returned at once") for text in told(findings)] == [1, 0]


def test_a_phase_that_expects_too_few_bytes_is_told_with_both_numbers(kernel_file):
    A, C, shape = tiles()
    fixture = kernel_file("tma_expect_half")
    findings = fixture.module("broken").trace(A, A, C, *shape).findings
    (found,) = (f for f in findings if f.kind == "unfinished")
    assert found.line == fixture.lines["there"]
    assert "boxes of 4096 bytes were requested in it, and only 2048 announced" in found.message


@pytest.mark.parametrize("name", MISTAKES)
def test_the_fixed_twin_is_clean(kernel_file, name):
    A, C, shape = tiles()
    module = kernel_file(name).module("fixed")
    assert module.trace(A, A, C, *shape).findings == ()
    if name != "tma_outside":  # leaves out the last row
        np.testing.assert_array_equal(C, A)
    C[:] = np.nan
    module.launch(A, A, C, *shape)


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize("name", ["tma_exit_early", "tma_no_commit"])
def test_a_store_that_nobody_waited_for_reads_what_is_there_later(kernel_file, name, traced):
    """It is delivered, and what it delivers is not what was there when the block ended."""
    A, C, shape = tiles()
    C[:] = A  # of a launch before, for example
    module = kernel_file(name).module("broken")
    (module.trace if traced else module.launch)(A, A, C, *shape)
    np.testing.assert_array_equal(C[:-1024], A[:-1024])
    assert np.isnan(C[-1024:]).all()


def test_a_box_too_wide_for_its_swizzle(kernel_file):
    A, C, shape = tiles()
    kernel_file("tma_wide_box").module("fixed").launch(A, A, C, *shape)
    with pytest.raises(
        LaunchError, match="a row of its box has 128 bytes, more than the swizzle's 64"
    ):
        kernel_file("tma_wide_box").module("broken").launch(A, A, C, *shape)


@pytest.mark.parametrize("threads", [1, 2])
def test_two_blocks_load_for_each_other(kernel_file, threads):
    A, _, shape = tiles()
    C = np.full(2 * A.size, np.nan, np.float32)
    module = kernel_file("tma_multicast").module("tma_multicast")
    module.launch(A, A, C, *shape, threads=threads)
    np.testing.assert_array_equal(C, np.tile(A, 2))
    C[:] = np.nan
    trace = module.trace(A, A, C, *shape, threads=threads)
    assert trace.findings == ()
    np.testing.assert_array_equal(C, np.tile(A, 2))
    # Each half of a tile is read once for both blocks.
    assert trace.totals()["tma.load"]["requests"] == 2 * 3
    assert trace.totals()["tma.load"]["sectors"] == 3 * 4096 // 32


@pytest.mark.parametrize(
    ("launch", "kind", "mark"),
    [
        ("no_start", "cluster-lifetime", "load"),
        ("no_end", "cluster-lifetime", "release"),
        ("no_release", "overwrite-before-release", "load"),
        ("bad_mask", "bad-argument", "load"),
        ("odd_column", "misaligned", "load"),
    ],
)
def test_blocks_that_do_not_wait_for_each_other(kernel_file, launch, kind, mark):
    fixture = kernel_file("tma_multicast")
    A, _, shape = tiles()
    C = np.zeros(2 * A.size, np.float32)
    findings = fixture.module(launch).trace(A, A, C, *shape).findings
    assert (kind, fixture.lines[mark]) in {(f.kind, f.line) for f in findings}


@pytest.mark.parametrize("size", [(64, 64, 32), (128, 128, 160), (100, 72, 40), (1, 4, 4)])
@pytest.mark.parametrize("portable", [False, True])
def test_a_matrix_product(kernel_file, size, portable):
    M, N, K = size
    module = kernel_file("gemm_tma_pipeline").module("gemm_tma_pipeline", portable)
    A, B, C = sim.integer_matrices(M, N, K)
    C[:] = np.nan
    module.launch(A, B, C, M, N, K)
    np.testing.assert_array_equal(C, A @ B)
    C[:] = np.nan
    assert module.trace(A, B, C, M, N, K).findings == ()
    np.testing.assert_array_equal(C, A @ B)


def test_what_a_box_costs(kernel_file):
    """Requests are boxes; sectors are those of 32 bytes that the box has in the tensor."""
    module = kernel_file("gemm_tma_pipeline").module("gemm_tma_pipeline")
    A, B, C = sim.integer_matrices(100, 72, 40)
    totals = module.trace(A, B, C, 100, 72, 40).totals()
    # 2 x 2 tiles, 2 steps of k, a box of A and two of B each; C in two boxes a tile.
    assert totals["tma.load"]["requests"] == 2 * 2 * 2 * 3
    assert totals["tma.store"]["requests"] == 2 * 2 * 2
    # Rows of A: 160 bytes, 5 sectors. Rows of B: 288, 9. Every tile column (row) reads A (B) again.
    assert totals["tma.load"]["sectors"] == 2 * 100 * 5 + 2 * 40 * 9
    assert totals["tma.store"]["sectors"] == 100 * 9


# Cases of fixtures/tma_encode.cu that the driver refuses, and what the simulator says of them.
REFUSED = {
    **{1: "tensorRank is 0", 2: "tensorRank is 6", 3: "globalAddress is 8 past", 4: "globalDim"},
    **{5: "globalDim", 6: r"globalStrides\[0\] is 264", 7: "globalStrides", 9: "boxDim holds 0"},
    **{10: "boxDim holds 257", 11: r"boxDim\[0\] is 120 bytes", 12: "the swizzle's 64"},
    **{14: "elementStrides holds 0", 15: "elementStrides holds 9", 16: "tensorRank"},
    **{21: "boxDim makes boxes of 262144 bytes", 23: r"globalStrides\[3\] is 8 bytes"},
    24: "boxDim makes boxes of 262144 bytes",
}


@pytest.mark.parametrize("case", range(26))
def test_what_a_tensor_map_may_say(kernel_file, case):
    module = kernel_file("tma_encode").module("encode")
    A = np.zeros(64 * 64, np.float32)
    if case in REFUSED:
        with pytest.raises(LaunchError, match=f"cudaErrorInvalidValue: .*{REFUSED[case]}"):
            module.launch(A, A, A, 1, 1, case)
    else:
        module.launch(A, A, A, 1, 1, case)


def test_interleaved_layouts_are_not_simulated(kernel_file):
    A = np.zeros(64 * 64, np.float32)
    with pytest.raises(LaunchError, match=r"cudaErrorNotSupported: .*interleaved layouts"):
        kernel_file("tma_encode").module("encode").launch(A, A, A, 1, 1, 26)


# Cases of fixtures/tma_rules.cu that are refused before the driver is asked, and in which words.
BROKEN_RULES = {
    1: "64x64 matrix: its address is 2 past a multiple of 16 bytes; copy the matrix",
    2: "64x63 matrix: its rows are 126 bytes apart, no multiple of 16; pad them",
    3: "64x64 matrix: box_rows is 257, allowed are 1 to 256; use several boxes",
    4: "64x64 matrix: box_columns is 0, allowed are 1 to 256; use several boxes",
    5: "64x64 matrix: a row of its box has 40 bytes, no multiple of 16",
    6: "a row of its box has 128 bytes, more than the swizzle's 64; use several boxes",
    7: "64x64 matrix: the driver's CUresult is 1",
    9: "this driver has no cuTensorMapEncodeOther; update it to one of CUDA 12.0 or newer",
    11: "a block asks for 232449 bytes of shared memory, and this GPU gives it 232448 at most; use",
}


@pytest.mark.parametrize("case", range(12))
def test_what_is_refused_says_which_rule_it_breaks(kernel_file, case):
    module, A = kernel_file("tma_rules").module("rules"), np.zeros(64 * 64, np.float32)
    if case not in BROKEN_RULES:
        module.launch(A, A, A, 1, 1, case)
        return
    with pytest.raises(LaunchError, match=BROKEN_RULES[case]) as caught:
        module.launch(A, A, A, 1, 1, case)
    assert isinstance(caught.value, RefusedError) == (case != 9)
    module.launch(A, A, A, 1, 1, 0)


def test_rows_that_start_inside_a_sector(kernel_file):
    """Rows of 32 bytes that start 16 bytes into a sector have two each."""
    A, box = tensor(30, 40, 4), Box(32, 5, 1, x=4, y=3)
    C = np.zeros(IMAGE_BYTES + A.size, np.uint8)
    module = kernel_file("tma_copy").module("float")
    totals = module.trace(A, A, C, 30, 40, box.code, box.x, box.y).totals()
    for op in ("tma.load", "tma.store"):
        assert (totals[op]["sectors"], totals[op]["sectors_min"]) == (10, 5)


# Of gemm_tma_pipeline.cu: text, replacement, kinds of which one at least must be found. Without
# kinds the values are wrong.
MUTANTS = [
    ("ring.phase ^ 1)", "ring.phase)", {"deadlock"}),
    ("sizeof(Stage));", "sizeof(Stage::A));", {"read-before-wait"}),
    ("    __syncwarp();\n", "", {"overwrite-before-release"}),
    ("CONSUMER_WARPS);\n", "CONSUMER_WARPS - 1);\n", {"overwrite-before-release"}),
    ("CONSUMER_WARPS);\n", "CONSUMER_WARPS + 1);\n", {"deadlock"}),
    ("bulk_wait_read<0>();\n  bar", "bulk_wait_read<1>();\n  bar", {"overwrite-before-release"}),
    ("bar_sync(CONSUMER_BARRIER, CONSUMERS);\n  for", "for", {"race"}),
    ("bar_sync(CONSUMER_BARRIER, CONSUMERS);\n  if", "if", {"race"}),
    ("stage = 0, phase ^= 1", "stage = 0", {"barrier-overrun"}),
    ("row % 8 * 4", "row % 4 * 4", set()),
]


@pytest.mark.parametrize(("old", "new", "kinds"), MUTANTS, ids=[m[0][:40] for m in MUTANTS])
def test_a_mutant_is_found(kernel_file, tmp_path, old, new, kinds):
    path = kernel_file("gemm_tma_pipeline").path
    text = path.read_text()
    assert text.count(old) == 1
    kernels = path.parents[3] / "kernels"
    text = text.replace(old, new).replace("../../../kernels", str(kernels))
    (tmp_path / "mutant.cu").write_text(text)
    module = sim.compile_source(tmp_path / "mutant.cu", "launch_gemm_tma_pipeline")
    A, B, C = sim.integer_matrices(128, 192, 160)
    C[:] = np.nan
    found = {f.kind for f in module.trace(A, B, C, 128, 192, 160).findings}
    if kinds:
        assert found & kinds
    else:
        assert not np.array_equal(C, A @ B)
