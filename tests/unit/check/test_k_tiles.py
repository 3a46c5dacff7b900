"""What a wrong C says of the k tiles that are in it."""

from __future__ import annotations

import pytest

import gemmlab as lab
from gemmlab.check.compare import problem
from gemmlab.check.k_tiles import k_tiles_in
from gemmlab.check.plan import Run

BK = 16
M, N, K = 24, 40, 4 * BK
# The loop's product of k tile i, of 4, and the sentence that it leads to.
MISTAKES = {
    "right": (lambda a, b, i: a[i] @ b[i], ""),
    "sums begin again": (
        lambda a, b, i: a[3] @ b[3] * (i == 3),
        "only the last k tile: set the sums",
    ),
    "one step": (lambda a, b, i: a[i] @ b[i] * (i == 0), "only the first k tile: does the loop"),
    "A without k": (lambda a, b, i: a[0] @ b[i], "with the first one of A: look at A's copy"),
    "B without k": (lambda a, b, i: a[i] @ b[0], "with the first one of B: look at B's copy"),
    "both without k": (lambda a, b, i: a[0] @ b[0], "multiplied again and again"),
    "one tile early": (lambda a, b, i: a[i] @ b[i] * (i < 3), "the last k tile is missing"),
    "one tile late": (lambda a, b, i: a[i] @ b[i] * (i > 0), "the first k tile is missing"),
    "the old stage": (
        lambda a, b, i: a[max(i - 1, 0)] @ b[max(i - 1, 0)],
        "every step but the first multiplies the k tile before its own",
    ),
    "something else": (lambda a, b, i: a[i] @ b[i - 1], ""),
}


@pytest.mark.parametrize("factors", [(1.0, 0.0), (1.25, -2.0)])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_a_mistake_with_whole_tiles_leaves_in_c(mistake, factors):
    step, says = MISTAKES[mistake]
    given = problem(Run((M, N, K), factors, "fp32"), "cpu")
    alpha, beta = factors
    a, b = given.A.matrix.split(BK, 1), given.B.matrix.split(BK, 0)
    made = alpha * sum(step(a, b, i) for i in range(4))
    given.C.matrix.copy_(made + (beta * given.C.matrix if beta else 0))
    told = k_tiles_in(given, alpha, BK)
    if mistake == "right":
        assert bool((given.error() <= 1).all())
    assert says in told and bool(told) == bool(says)


def test_one_k_tile_says_nothing_of_the_others():
    given = problem(Run((M, N, BK), (1.0, 0.0), "fp32"), "cpu")
    given.C.matrix.copy_(given.A.matrix[:, :1] @ given.B.matrix[:1])
    assert not k_tiles_in(given, 1.0, BK)


def test_a_check_says_it_behind_the_wrong_element(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    early = lab.variant("sgemm_03_block_tiling", {"k_tile < K;": "k_tile + BK < K;"})
    report = lab.check(early, shapes=[(32, 32, 128)], device="cpu")
    assert report.cases[0].problem.endswith("is missing: does the loop end one too early?")
