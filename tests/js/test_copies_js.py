"""What a copy past L1 costs is the same in JavaScript and Python; needs node."""

import random

import numpy as np
import pytest

from gemmlab.layouts.shared.copies import PIECE, copy

LANES = np.arange(32)


def pieces(rng):
    """Numbers of the 16-byte pieces that 32 lanes name: rows, XORed rows, or anything."""
    kind = rng.choice(["rows", "swizzled", "any", "few"])
    if kind == "any":
        return np.array([rng.randrange(512) for _ in LANES])
    if kind == "few":  # lanes of one destination count once
        return np.array([rng.randrange(12) for _ in LANES])
    width, pitch = rng.choice([1, 2, 4, 8, 16, 32]), rng.choice([8, 12, 32, 33, 64])
    rows, columns = LANES // width, LANES % width
    if kind == "swizzled":
        columns = columns ^ rows * rng.choice([1, 2]) % 8
    return rows * pitch + columns + rng.randrange(9)


@pytest.mark.twin("shared/copies")
def test_random_copies_past_l1_agree(ask):
    rng = random.Random(5)
    drawn = [(pieces(rng) * PIECE, pieces(rng) * PIECE) for _ in range(800)]
    found = ask([("past_l1", {"to": to.tolist(), "source": of.tolist()}) for to, of in drawn])
    expected = [copy(to, of, PIECE, past_l1=True).wavefronts for to, of in drawn]
    assert found == expected
    assert len(set(expected)) > 8  # the draw is worth something
