"""What a wrong C says of the matrices that tensor cores take and give."""

from __future__ import annotations

import pytest

from gemmlab.check.compare import problem
from gemmlab.check.fragments import fragments_in
from gemmlab.check.plan import Run

M, N, K = 32, 48, 64


def by_blocks(matrix, rows, columns, place):
    """Each rows x columns of a matrix, with element (r, c) at place(r, c)."""
    made = matrix.clone()
    for r in range(matrix.shape[0]):
        for c in range(matrix.shape[1]):
            to = place(r % rows, c % columns)
            made[r - r % rows + to[0], c - c % columns + to[1]] = matrix[r, c]
    return made


def flipped(matrix, size):
    return by_blocks(matrix, size, size, lambda r, c: (c, r))


def swapped(matrix):
    """A lane stores register r where register r % 2 * 2 + r / 2 belongs."""
    return by_blocks(matrix, 16, 8, lambda r, c: (r % 8 + c % 2 * 8, c // 2 * 2 + r // 8))


MISTAKES = {
    "right": (lambda a, b: a @ b, ""),
    "B, 8": (lambda a, b: a @ flipped(b, 8), "with the 8x8 matrices of B transposed: a row-major"),
    "B, 16": (lambda a, b: a @ flipped(b, 16), "with the 16x16 matrices of B transposed: let the"),
    "A, 8": (lambda a, b: flipped(a, 8) @ b, "with the 8x8 matrices of A transposed"),
    "A, 16": (lambda a, b: flipped(a, 16) @ b, "with the 16x16 matrices of A transposed"),
    "C, 8": (lambda a, b: flipped(a @ b, 8), "each 8x8 of C is transposed: exchange row and col"),
    "C, 16": (lambda a, b: flipped(a @ b, 16), "each 16x16 of C is transposed"),
    "registers": (lambda a, b: swapped(a @ b), "registers 1 and 2 are exchanged: register r of"),
    "something else": (lambda a, b: flipped(a, 4) @ b, ""),
}


@pytest.mark.parametrize("factors", [(1.0, 0.0), (1.25, -2.0)])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_a_mistake_with_fragments_leaves_in_c(mistake, factors):
    make, says = MISTAKES[mistake]
    given = problem(Run((M, N, K), factors, "fp16_fp32"), "cpu")
    alpha, beta = factors
    made = alpha * make(given.A.matrix.float(), given.B.matrix.float())
    given.C.matrix.copy_(made + (beta * given.C.matrix if beta else 0))
    said = fragments_in(given, alpha)
    assert says in said and bool(said) == bool(says)


@pytest.mark.parametrize("shape", [(30, 44, 33), (32, 48, 0)])
def test_shapes_that_have_no_whole_matrices_are_left_alone(shape):
    given = problem(Run(shape, (1.0, 0.0), "fp32"), "cpu")
    given.C.matrix.fill_(1.0)
    assert not fragments_in(given, 1.0)
