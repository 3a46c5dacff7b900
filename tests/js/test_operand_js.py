"""What wgmma reads is the same in JavaScript, in Python and in the ISA's layouts; needs node."""

import random
import sys
from dataclasses import astuple
from pathlib import Path

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.wgmma import operand_words as words
from gemmlab.layouts.wgmma.operand import ROWS, SPANS, Descriptor, Operand, wavefronts

sys.path.append(str(Path(__file__).parents[1] / "sim"))

import wgmma_tiles

OPERANDS = [Operand(mn, span, rows) for mn in (False, True) for span in SPANS for rows in ROWS]


def drawn(rng):
    """An operand, and a descriptor of it that is right in most of its fields."""
    o, step = rng.choice(OPERANDS), rng.randrange(4)
    given = vars(o.descriptor(step)).copy()
    if rng.random() < 0.8:
        wrong = rng.choice(["start", "leading", "stride", "span"])
        given[wrong] = (
            rng.choice(SPANS) if wrong == "span" else 16 * rng.choice([0, 1, 32, 64, 512])
        )
    return o, Descriptor(**given), step


def python_answer(o, given, step):
    pieces = o.pieces(given, step)
    cores = [o.core(i) for i in range(len(pieces))]
    offsets = range(0, o.bytes, 16)
    return {
        "right": list(astuple(o.descriptor(step))),
        "box": o.box,
        "bits": f"0x{given.bits:016x}",
        "fields": [list(one) for one in words.fields(given)],
        "pieces": [[*astuple(p)[:4], p.found and list(p.found), p.right] for p in pieces],
        "cells": [list(o.piece_at(at)) for at in offsets],
        "bytes": [words.describe_byte(o, at) for at in offsets],
        "cores": [
            [list(core), wavefronts([pieces[n] for n in core]), words.describe_core(o, pieces, i)]
            for i, core in enumerate(cores)
        ],
        "words": [words.describe(pieces), [words.describe_piece(o, p) for p in pieces]],
    }


@pytest.mark.slow
@pytest.mark.twin("wgmma/operand", "wgmma/operand_words")
def test_random_descriptors_agree(ask):
    rng = random.Random(3)
    cases = [drawn(rng) for _ in range(80)]
    expected = [python_answer(*case) for case in cases]
    given = [
        {"o": {"mnMajor": o.mn_major, "span": o.span, "rows": o.rows}, "given": vars(d), "step": s}
        for o, d, s in cases
    ]
    found = ask([("operand", one) for one in given])
    for one, got, want in zip(given, found, expected, strict=True):
        assert got == want, one
    said = " ".join(answer["words"][0] for answer in expected)
    for part in ("All 128", "second time", "behind the tile"):
        assert part in said


@pytest.mark.parametrize("o", OPERANDS, ids=str)
def test_the_right_descriptor_reads_what_the_engine_has_written(o):
    for step in range(4):
        right = o.descriptor(step)
        pieces = o.pieces(right, step)
        assert all(piece.right for piece in pieces)
        assert all(wavefronts([pieces[n] for n in o.core(i)]) == 1 for i in range(len(pieces)))
        # The layout of the ISA, computed another way: the same bits, the same addresses.
        isa = wgmma_tiles.Tile(o.rows, o.span, o.mn_major, right.start, right.leading, right.stride)
        assert isa.descriptor() == right.bits
        rows, ks = range(o.rows), range(16)
        assert isa.addresses().tolist() == [
            [right.reads(row, k, o.mn_major) for k in ks] for row in rows
        ]


def test_every_piece_of_the_tile_has_one_place():
    for o in OPERANDS:
        found = {o.piece_at(at) for at in range(0, o.bytes, 16)}
        assert len(found) == o.bytes // 16
        assert all(o.place(*o.piece_at(at)) == at for at in range(0, o.bytes, 16))
        assert o.piece_at(o.bytes) is None


def test_half_a_stride_reads_patterns_twice():
    o = Operand(mn_major=True, rows=128)
    pieces = o.pieces(Descriptor(0, 8192, 512, 128))
    assert "second time" in words.describe(pieces)
    assert {piece.right for piece in pieces} == {True, False}


def test_what_cannot_be_is_refused():
    for make, name in (
        (lambda: Operand(span=48), "span"),
        (lambda: Operand(rows=8), "rows"),
        (lambda: Descriptor(8, 16, 16, 128), "start"),
        (lambda: Operand().descriptor(4), "step"),
    ):
        with pytest.raises(ArgumentError, match=name):
            make()
