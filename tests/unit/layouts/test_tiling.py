"""Tilings and occupancy against the kernels, NVIDIA's calculator, and counting one by one."""

import random
import re
from collections import Counter

import numpy as np
import pytest

from gemmlab import sim, variant
from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import GPUS, STEPS, Tiling, waves
from gemmlab.layouts.shared import formula
from gemmlab.layouts.tiling.facts import describe, facts, registers
from gemmlab.layouts.tiling.occupancy import occupancy
from gemmlab.layouts.tiling.rules import CHOICES, number, problems, repairs
from gemmlab.steps import registry

H200 = GPUS["H200"]


def random_sizes(rng):
    sizes = {name: rng.choice(choices) for name, choices in CHOICES.items()}
    return sizes | {name: rng.randint(1, 40) for name in CHOICES if rng.random() < 0.04}


def random_tilings(count, seed):
    """Possible tilings, most of them unlike any kernel's."""
    rng = random.Random(seed)
    found = []
    while len(found) < count:
        sizes = random_sizes(rng)
        if not problems(sizes):
            more = {"lanes": rng.choice(["rows", "columns"]), "a": rng.choice(["km", "mk", "mk4"])}
            more |= {"order": rng.choice(["rows", "subtiles"]), "stages": rng.randint(1, 4)}
            found.append(Tiling(**sizes, **more, min_blocks=rng.randint(1, 6)))
    return found


# --- the course's kernels -------------------------------------------------------------------------


@pytest.fixture(params=STEPS)
def step(request):
    """The registered step, its tiling and the text of its kernel."""
    spec = registry.get(request.param)
    return spec, STEPS[request.param], spec.path.read_text()


def passage(text, name):
    return re.search(rf"// \[{name}\]\n(.*?)// \[/{name}\]", text, re.DOTALL)[1]


def constants(text):
    """The integers that the kernel names, in the order of their definitions."""
    found = {}
    for line in re.findall(r"^constexpr int (.*?);", text, re.MULTILINE):
        for name, value in re.findall(r"(\w+) = ([^,]+)", line):
            found[name] = formula.expression(value, found)(found)
    return found


def test_sizes_are_the_kernel_s(step):
    spec, tiling, text = step
    named = constants(text)
    assert spec.tile == (tiling.BM, tiling.BN, tiling.BK)
    assert (tiling.threads, tiling.shared_bytes) == (spec.threads, spec.shared_bytes)
    assert tiling.values == spec.thread_tile
    assert tiling.min_blocks == int(re.search(r"__launch_bounds__\(THREADS, (\d)\)", text)[1])
    for name in ("WM", "WN", "WMITER", "WNITER"):
        assert getattr(tiling, name) == named.get(name, getattr(tiling, name))
    assert tiling.stages == named.get("STAGES", 1)
    assert (tiling.a == "km") == ("sA[BK][BM]" in text or "sA[STAGES][BK][BM]" in text)


def test_every_element_has_the_owner_and_the_turn_that_the_kernel_gives_it(step):
    """The kernel runs with `alpha` replaced: it writes thread + 1024 * number of the store."""
    spec, tiling, text = step
    store = passage(text, "store")
    told = re.sub(r"alpha,(\s+)beta", r"float(threadIdx.x + 1024 * turn++),\1beta", store)
    assert told.count("turn++") == store.count("write_c4(")
    kernel = variant(spec.name, {store: f"int turn = 0;\n{told}"})
    A, B = np.ones((tiling.BM, tiling.BK), np.float32), np.ones((tiling.BK, tiling.BN), np.float32)
    C = np.zeros((tiling.BM, tiling.BN), np.float32)
    sim.compile_step(kernel).launch(A, B, C, tiling.BM, tiling.BN, tiling.BK, 1.0, 0.0)
    turn, owner = np.divmod((C / tiling.BK).astype(int), 1024)
    assert np.array_equal(owner, tiling.owners())
    for thread in range(tiling.threads):
        for number_, (m, n) in enumerate(tiling.stores(thread)):
            assert (turn[m, n : n + 4] == number_).all(), (thread, m, n)


def test_every_thread_copies_what_the_kernel_s_formulas_say(step):
    _, tiling, text = step
    named = constants(text)
    lines = re.findall(r"const int (a_row = .*?|b_row = .*?);", passage(text, "map"))
    program = "; ".join(lines).replace(", ", "; ")
    starts = formula.program(program, ("tid", *named), ("a_row", "a_col", "b_row", "b_col"))
    load = passage(text, "load")
    strides = re.findall(r"i < B[MK]; i \+= ([^)]+)\)", load)
    if not strides:  # the double buffer counts its copies
        strides = re.search(r"i \* (\d+) \* K.*?i \* (\d+) \* N", load, re.DOTALL).groups()
    step_a, step_b = (formula.expression(stride, named)(named) for stride in strides)
    for thread in range(tiling.threads):
        at = starts({"tid": thread, **named})
        rows = {
            "A": range(at["a_row"], tiling.BM, step_a),
            "B": range(at["b_row"], tiling.BK, step_b),
        }
        for matrix, col in (("A", at["a_col"]), ("B", at["b_col"])):
            assert tiling.copies(thread, matrix) == [(row, col) for row in rows[matrix]]


def test_costs_are_those_of_the_trace(step):
    spec, tiling, _ = step
    K = 2 * tiling.BK
    trace = sim.trace(spec.name, tiling.BM, tiling.BN, K)
    totals, warps = trace.totals(), tiling.threads // 32
    counted = totals["ld.shared"]["wavefronts"] / (K * warps)
    assert tiling.wavefronts("A") + tiling.wavefronts("B") == counted
    loads = tiling.loads("A")[0] + tiling.loads("B")[0]
    assert loads == totals["ld.shared"]["requests"] / (K * warps)
    stores = totals["st.global"]
    found = [stores[name] / stores["requests"] for name in ("sectors", "sectors_min")]
    assert tuple(found) == tiling.store_sectors()
    copied = "ld.global" if "ld.global" in totals else "cp.async.global"
    assert totals[copied]["requests"] * 32 * 16 == (tiling.BM + tiling.BN) * K * 4
    flop = 2 * tiling.BM * tiling.BN * K
    assert tiling.intensity == flop / (totals[copied]["requests"] * 32 * 16)


# --- any tiling -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tiling", random_tilings(60, 1), ids=lambda t: f"{t.threads} threads")
def test_each_element_has_one_owner_and_each_float4_one_copier(tiling):
    owners = tiling.owners()
    assert owners.min() == 0
    assert (np.bincount(owners.ravel()) == tiling.sums).all()
    assert np.bincount(owners.ravel()).size == tiling.threads
    for matrix, shape in (("A", (tiling.BM, tiling.BK)), ("B", (tiling.BK, tiling.BN))):
        copied = Counter(at for t in range(tiling.threads) for at in tiling.copies(t, matrix))
        assert set(copied.values()) == {1}
        assert set(copied) == {(r, c) for r in range(shape[0]) for c in range(0, shape[1], 4)}
    for thread in (0, tiling.threads - 1):
        stored = [(m, n) for m, n in tiling.stores(thread)]
        wide = tiling.sums // len(stored)
        cells = {(m, n + j) for m, n in stored for j in range(wide)}
        assert cells == set(zip(*np.nonzero(owners == thread), strict=True))


def test_lanes_may_be_numbered_down_the_columns():
    by_rows, by_columns = Tiling(), Tiling(lanes="columns")
    assert [by_rows.corner(n) for n in (1, 4)] == [(0, 8), (8, 0)]
    assert [by_columns.corner(n) for n in (1, 8)] == [(8, 0), (0, 8)]
    # Neighbouring lanes no longer agree on A, and do on B.
    assert [by_rows.loads(m) for m in "AB"] == [(2, 2), (2, 4)]
    assert by_columns.loads("A") == (2, 8)


def test_bk_changes_shared_memory_and_not_the_intensity():
    shallow, deep = Tiling(BK=8), Tiling(BK=32)
    assert deep.shared_bytes == 4 * shallow.shared_bytes
    assert deep.intensity == shallow.intensity == 32


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"BM": 96}, "BM = 96 is no multiple of WM = 64: 32 left over."),
        ({"BN": 48}, "BN = 48 is no multiple of WN = 32: 16 left over."),
        ({"TM": 24}, "WM = 64 is no multiple of WMITER x TM = 1 x 24: 16 left over."),
        ({"WNITER": 3}, "WN = 32 is no multiple of WNITER x TN = 3 x 8: 8 left over."),
        ({"BK": 6}, "BK = 6 is no multiple of 4: a row is no whole float4."),
        ({"TM": 4}, "16 x 4 pieces of 4 x 8 takes 64 lanes, and a warp has 32: 2 times too many."),
        ({"WM": 32}, "takes 16 lanes, and a warp has 32: 16 of them have nothing to do."),
        ({"WMITER": 2}, "in 2 x 1 subtiles of 4 x 4 pieces"),
        ({"BM": 1024}, "16 x 4 = 64 warps are 2,048 threads, and a block has at most 1,024: 2 "),
    ],
)  # fmt: skip
def test_what_is_impossible_is_said_with_its_measure(change, said):
    with pytest.raises(ArgumentError, match=re.escape(said)):
        Tiling(**change)


def test_a_refusal_names_a_change_that_would_do():
    with pytest.raises(ArgumentError, match="One change would do: WM = 32, or WN = 16, or WMITER"):
        Tiling(TM=4)


def test_repairs_repair_and_none_is_missed():
    rng = random.Random(2)
    offered = 0
    for _ in range(300):
        sizes = random_sizes(rng)
        mended = {**sizes}
        for name, value in repairs(sizes):
            offered += 1
            assert not problems({**mended, name: value})
    assert offered > 100
    assert ("WMITER", 2) in repairs({**vars(Tiling()), "TM": 4})


@pytest.mark.parametrize(
    ("change", "name"),
    [({"BM": 0}, "BM"), ({"TN": "8"}, "TN"), ({"WM": True}, "WM"), ({"stages": 0}, "stages"),
     ({"min_blocks": 1.0}, "min_blocks"), ({"lanes": "zigzag"}, "lanes"), ({"a": "kk"}, "a"),
     ({"order": "columns"}, "order"), ({"BN": 4096}, "BN")],
)  # fmt: skip
def test_bad_arguments_are_refused(change, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        Tiling(**change)


# --- occupancy ------------------------------------------------------------------------------------

# GPU, threads, registers, shared bytes -> blocks, and by registers, shared memory, threads: from
# cuda_occupancy.h of CUDA 13.0, with the largest split for shared memory.
NVIDIA = """
A100, 320, 168, 76192, 1, 1, 2, 6
A100, 384, 111, 147520, 1, 1, 1, 5
A100, 448, 228, 169520, 0, 0, 0, 4
H200, 160, 130, 26880, 2, 2, 8, 12
H200, 96, 185, 175424, 1, 2, 1, 21
H200, 256, 208, 37344, 1, 1, 6, 8
H200, 192, 233, 147440, 1, 1, 1, 10
H200, 832, 30, 90640, 2, 2, 2, 2
H200, 992, 29, 13792, 2, 2, 15, 2
H200, 224, 100, 144848, 1, 2, 1, 9
H200, 768, 24, 76976, 2, 3, 2, 2
H200, 448, 17, 39168, 4, 6, 5, 4
H200, 544, 219, 65424, 0, 0, 3, 3
H200, 288, 239, 233056, 0, 0, 0, 7
H200, 960, 43, 234992, 0, 1, 0, 2
RTX 4090, 224, 212, 78944, 1, 1, 1, 6
RTX 4090, 864, 47, 99536, 1, 1, 1, 1
RTX 4090, 288, 87, 80144, 1, 2, 1, 5
RTX 4090, 768, 199, 71392, 0, 0, 1, 2
RTX 5090, 256, 247, 89648, 1, 1, 1, 6
RTX 5090, 832, 36, 41376, 1, 1, 2, 1
"""


def row(line):
    gpu, *numbers = line.split(", ")
    return pytest.param(gpu, *map(int, numbers), id=line)


@pytest.mark.parametrize(
    ("gpu", "threads", "registers", "shared", "blocks", "by_registers", "by_shared", "by_threads"),
    [row(line) for line in NVIDIA.strip().splitlines()],
)
def test_occupancy_is_nvidia_s(
    gpu, threads, registers, shared, blocks, by_registers, by_shared, by_threads
):
    found = occupancy(threads, registers, shared, GPUS[gpu])
    assert (found.blocks, found.warps) == (blocks, blocks * -(-threads // 32))
    assert list(found.allowed.values())[:3] == [by_registers, by_shared, by_threads]
    assert all(found.allowed[name] == blocks for name in found.limited_by)


def test_what_limits_is_named():
    assert occupancy(256, 128, 16384, H200).limited_by == ["registers"]
    assert occupancy(256, 32, 100_000, H200).limited_by == ["shared memory"]
    assert occupancy(1024, 32, 0, H200).limited_by == ["registers", "threads"]
    assert occupancy(32, 32, 0, H200).limited_by == ["block slots"]
    with pytest.raises(ArgumentError, match="registers"):
        occupancy(256, 0, 0, H200)


def test_waves_of_a_grid():
    assert waves(1024, 2, 132).waves == 4
    assert waves(1024, 2, 132).last == 1024 - 3 * 264
    assert waves(264, 2, 132).efficiency == 1
    assert waves(265, 2, 132).efficiency == 265 / 528


# --- in words -------------------------------------------------------------------------------------


def fact(tiling, name, gpu="H200", size=4096):
    return next(f for f in facts(tiling, GPUS[gpu], size) if f.name.startswith(name))


def test_which_pipe_sets_the_pace():
    rows, transposed = STEPS["sgemm_04_register_tiling"], STEPS["sgemm_05_transposed_a"]
    assert fact(rows, "Wavefronts").value == "24"
    assert "sets the pace, FMAs at most 67 % of the time" in fact(rows, "Wavefronts").how
    assert fact(transposed, "Wavefronts").value == "12"
    assert "shared memory is busy 75 % of the time" in fact(transposed, "Cycles").how
    assert [fact(transposed, name).bar for name in ("Wavefronts", "Cycles")] == [0.75, 1]
    assert fact(transposed, "Cycles", "A100").value == "32"


def test_launch_bounds_limit_the_registers():
    tiling = STEPS["sgemm_11_warp_tiling"]
    assert registers(tiling, H200) == (168, 168)
    assert fact(tiling, "Blocks on an SM").value == "3"
    spills = Tiling(WM=32, WN=128, TM=16, TN=8, min_blocks=4)
    assert "4 blocks an SM leave 128, 24 too few: the rest spills" in fact(spills, "Registers").how
    ignored = Tiling(min_blocks=9)
    assert "9 blocks cannot be, so the compiler ignores it" in fact(ignored, "Registers").how
    assert registers(ignored, H200) == (104, 255)


def test_a_block_that_fits_nowhere():
    deep = Tiling(BM=256, BN=256, BK=64, TM=8, TN=8, stages=2)
    assert deep.shared_bytes == 256 * 1024
    assert fact(deep, "Shared").bad
    assert fact(deep, "Blocks on").how.startswith("no block fits: too much of shared memory")
    assert fact(deep, "Waves").value == "none"
    assert "above 48 KB the launch must ask" in fact(Tiling(BK=64), "Shared").how


def test_waves_in_words():
    how = fact(STEPS["sgemm_06_swizzled_a"], "Waves", size=1024).how
    assert how.endswith("24 % full, all together 24 %; 68 SMs have no block at all")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("sgemm_04_register_tiling",
         "Thread 37 (warp 1, lane 5): rows 8 to 15, columns 40 to 47. Copies A[9][4..7], "
         "A[73][4..7] and B[1][20..23], B[9][20..23]. Stores C[8][40..43], C[8][44..47], "
         "C[9][40..43], ... (16 float4)."),
        ("sgemm_12_warp_subtiles",
         "Thread 37 (warp 1, lane 5): rows 32 to 39 and 48 to 55, columns 20 to 23 and 84 to 87. "
         "Copies A[4][20..23], A[20][20..23], A[36][20..23], A[52][20..23], ... (8 float4) and "
         "B[1][20..23], B[5][20..23], B[9][20..23], B[13][20..23], ... (8 float4). Stores "
         "C[32][20..23], C[33][20..23], C[34][20..23], ... (32 float4)."),
    ],
)  # fmt: skip
def test_a_thread_in_words(step, said):
    assert describe(STEPS[step], 37) == said


def test_a_thread_that_copies_nothing():
    small = Tiling(BM=16, BN=128, BK=4, WM=16, WN=8, TM=2, TN=2)
    assert "Copies B[3][124..127]." in describe(small, 127)
    assert "Copies nothing. Stores C[0][120..121], C[1][120..121]." in describe(
        Tiling(BM=16, BN=128, BK=4, WM=16, WN=8, TM=2, TN=2), 480
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.3"),
        (5.3333, "5.3"),
        (1.0, "1"),
        (1024, "1,024"),
        (1234.56, "1,234.6"),
        (0.04, "0"),
    ],
)
def test_numbers_have_one_decimal(value, text):
    assert number(value) == text
