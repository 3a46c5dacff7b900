"""How lanes' accesses become requests, and what a request costs."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab.layouts.shared import banks

PATTERNS = 240
BYTES = 16384  # fixtures/patterns.cuh
LOAD, STORE = 0, 1


def by_line(trace):
    return {(line.line, line.op): line for line in trace.lines}


def random_offsets(random: np.random.Generator, width: int) -> np.ndarray:
    """A lane's byte offset: strides, permutations, broadcasts, pairs, swizzles and plain noise."""
    lane = np.arange(32)
    slots = BYTES // width
    kind = random.integers(7)
    if kind == 0:
        index = lane * random.integers(0, 40)
    elif kind == 1:
        index = random.permutation(32)
    elif kind == 2:
        index = lane // random.choice([2, 4, 8, 16, 32]) * random.integers(1, 12)
    elif kind == 3:
        index = (lane & ~random.choice([1, 2, 3])) * random.integers(1, 9)
    elif kind == 4:
        index = lane * 32 + (lane ^ random.integers(32)) % random.choice([4, 8, 16, 32])
    elif kind == 5:
        index = lane % random.choice([4, 8, 16]) * random.integers(1, 20)
    else:
        index = random.integers(slots, size=32)
    return (index + random.integers(slots)) % slots * width


def lanes(offsets: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """fixtures/patterns.cuh's Pattern: offsets in shared and global memory, sizes, active lanes."""
    bits = np.packbits(mask, bitorder="little").view(np.int32)
    return np.concatenate([offsets, offsets, np.zeros(32), bits]).astype(np.int32)


def random_mask(random: np.random.Generator) -> np.ndarray:
    kind = random.integers(4)
    if kind == 0:
        return np.ones(32, bool)
    if kind == 1:
        return np.arange(32) < random.integers(1, 33)
    mask = random.random(32) < random.choice([0.2, 0.5, 0.9])
    mask[random.integers(32)] = True
    return mask


def test_random_patterns_cost_what_the_layouts_package_says(kernel_file):
    fixture = kernel_file("patterns")
    module = fixture.module("patterns")
    random = np.random.default_rng(20)
    memory, out = np.zeros(BYTES, np.uint8), np.zeros(64 * 16, np.uint8)
    for number in range(PATTERNS):
        width = (2, 4, 8, 16, 1)[number % 5]
        store = bool(random.integers(2))
        offsets, mask = random_offsets(random, width), random_mask(random)
        operation = STORE if store else LOAD
        lines = by_line(module.trace(lanes(offsets, mask), memory, out, operation, width, 1))
        kind = "st" if store else "ld"
        shared = lines[fixture.lines[f"{kind}.shared"], f"{kind}.shared"]
        far = lines[fixture.lines[f"{kind}.global"], f"{kind}.global"]
        request = banks.wavefronts(offsets, width, mask, store)
        counted = (shared.requests, shared.wavefronts, shared.wavefronts_min, shared.conflicts)
        expected = (1, request.wavefronts, request.minimum, request.conflicts)
        given = np.where(mask, offsets, -1).tolist()
        case = f"pattern {number}: {kind} of {width} bytes, offsets {given}"
        assert counted == expected, case
        assert far.sectors == banks.sectors(offsets, width, mask), case
        distinct = len(set(offsets[mask].tolist())) * width
        assert far.sectors_min == -(-distinct // 32), case
        assert shared.lanes == far.lanes == mask.sum(), case


def test_lanes_that_part_are_separate_requests(kernel_file):
    fixture = kernel_file("divergence")
    out = np.zeros(64, np.float32)
    lines = by_line(fixture.module("divergence").trace(out, out, out, 8, 8, 0))

    def line(mark, op):
        found = lines[fixture.lines[mark], op]
        return found.requests, found.lanes, found.wavefronts

    assert line("fill", "st.shared") == (32, 32, 32)
    assert line("then", "ld.shared") == (1, 16, 1)
    # Lanes 16 to 31 read words 32, 34, ... 62: 16 even banks.
    assert line("else", "ld.shared") == (1, 16, 1)
    # Rounds 1, 2, 3 of the loop: lanes with t % 4 above 0, 1, 2.
    assert line("loop", "ld.shared") == (3, (24 + 16 + 8) / 3, 3)
    assert lines[fixture.lines["store"], "st.global"].requests == 1


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("count", [1, 511, 512, 513, 2000])
def test_any_number_of_accesses_between_barriers(kernel_file, count, uneven):
    """Two warps; with uneven lanes, the second half of the rounds has 16 lanes."""
    fixture = kernel_file("long_loop")
    data, out = np.ones(128, np.float32), np.zeros(64, np.float32)
    trace = fixture.module("long_loop").trace(data, data, out, int(uneven), count, 0)
    lines = by_line(trace)
    loop = lines[fixture.lines["loop"], "ld.global"]
    assert loop.requests == 2 * count * (2 if uneven else 1)
    assert loop.lanes == (24 if uneven else 32)
    assert lines[fixture.lines["store"], "st.global"].requests == 2
    assert out.sum() == 64 * count * (1.5 if uneven else 1)


def test_one_access_for_a_vector(kernel_file):
    fixture = kernel_file("vector_types")
    data = np.random.default_rng(0).integers(256, size=4096).astype(np.uint8)
    out = np.zeros(4096, np.uint8)
    trace = fixture.module("vector_types").trace(data, data, out, 8, 8, 0)
    for mark, line in fixture.lines.items():
        count, width = (int(number) for number in mark.split(" of "))
        found = [(c.op, c.width_bytes, c.requests) for c in trace.lines if c.line == line]
        assert found == [("ld.global", width, count), ("st.global", width, count)], mark
    for row, size in enumerate((2, 4, 8, 8, 16, 16, 12, 32)):
        piece = slice(512 * row, 512 * row + 16 * size)
        np.testing.assert_array_equal(out[piece], data[piece])


def test_shuffles_and_votes(kernel_file):
    out = np.zeros((17, 32))
    trace = kernel_file("shuffles").module("shuffles").trace(out, out, out, 8, 8, 0)
    assert trace.findings == ()
    lane = np.arange(32)
    value = lane + 100
    expected = [
        np.full(32, 105),
        value[lane // 8 * 8 + 3],
        np.where(lane >= 3, value - 3, value),
        np.where(lane % 4 >= 1, value - 1, value),
        np.where(lane + 7 < 32, value + 7, value),
        np.where(lane % 16 + 2 < 16, value + 2, value),
        value[lane ^ 1],
        value[lane ^ 16],
        value[lane ^ 9] + 0.25,
        value[(lane + 1) % 32] * 2.0**40,
        np.full(32, sum(1 << n for n in range(0, 32, 3))),
        *(np.full(32, vote) for vote in (1, 0, 1, 0)),
        np.where(lane < 8, value[lane ^ 4], 0),
        np.full(32, lane.sum()),
    ]
    np.testing.assert_array_equal(out, np.array(expected, dtype=float))


def test_a_thread_knows_its_place_and_atomics_add_up(kernel_file):
    fixture = kernel_file("grid")
    out = np.zeros(368, np.int32)
    trace = fixture.module("grid").trace(out, out, out, 8, 8, 0)
    places, sums = out[:360].reshape(12, 30), out[360:]
    np.testing.assert_array_equal(places, np.arange(12)[:, None] * 1000 + np.arange(30))
    assert sums[0] == 30 * (0 + 1 + 2 + 9 * 3)
    assert sums[1] == 360
    assert sums[2:3].view(np.float32) == 180.0
    assert sums[4:6].view(np.int64) == 360 << 20
    atomics = [line for line in trace.lines if line.op == "atom.global"]
    assert [(a.width_bytes, a.requests, a.lanes) for a in atomics] == [
        *[(4, 12, 30)] * 3,
        (8, 12, 30),
    ]
    assert trace.findings == ()
