"""The pipeline model in JavaScript is the one in Python: steps, lanes and sentences; needs node."""

import random
from dataclasses import astuple

import pytest

from gemmlab.layouts.pipeline.model import SCHEMES, simulate
from gemmlab.layouts.pipeline.words import describe, moment


def random_params(rng):
    cycles = [0, 1, 7, 64, 128, 800, 2048, 5000]
    return {
        "scheme": rng.choice(list(SCHEMES)),
        "stages": rng.randint(2, 6),
        "issue": rng.choice(cycles),
        "latency": rng.choice(cycles),
        "products": rng.choice(cycles[1:]),
        "tiles": rng.randint(2, 9),
        "blocks": rng.randint(1, 4),
    }


def python_answer(params, time, watch, tensor):
    run = simulate(params["scheme"], **{k: v for k, v in params.items() if k != "scheme"})
    return {
        "steps": [list(astuple(step)) for step in run.steps],
        "lanes": [
            [name, [list(astuple(bar)) for bar in bars]] for name, bars in run.lanes(watch, tensor)
        ],
        "counts": [run.total, run.busy, run.percent, run.per_tile, run.buffers],
        "rounds": run.rounds(),
        "pace": run.pace,
        "reading": describe(run, tensor),
        "moment": [list(said) for said in moment(run, time, watch, tensor)],
    }


@pytest.mark.twin("pipeline/model", "pipeline/words")
def test_random_runs_agree(ask):
    rng = random.Random(5)
    cases, expected = [], []
    for _ in range(400):
        params = random_params(rng)
        run = simulate(params["scheme"], **{k: v for k, v in params.items() if k != "scheme"})
        case = {"params": params, "time": rng.randrange(run.total)}
        case["watch"] = rng.randrange(params["blocks"])
        case["tensor"] = rng.random() < 0.5
        cases.append(case)
        expected.append(python_answer(**case))
    found = ask([("pipeline", case) for case in cases])
    for case, got, want in zip(cases, found, expected, strict=True):
        assert got == want, case
    # The draw is worth something: everything that can pace does, and every sentence is said.
    assert {answer["pace"] for answer in expected} == {"pipe", "path", "steps"}
    said = " ".join(answer["reading"] for answer in expected)
    for words in (
        *("one after the other", "which hide the latency", "(> products", "under way", "about"),
        *("copies arrive meanwhile", "The copy path paces", "keeps it", "keep it"),
        *(
            "FMA pipe is busy",
            "tensor cores are busy",
            "The FMA pipe paces",
            "The tensor cores pace",
        ),
        *("keeps them", "keep them"),
    ):
        assert words in said, words
    moments = " ".join(text for answer in expected for _, text in answer["moment"])
    for words in ("waits for the copy", "waits for its turn", "multiplies", "stores tile", "issues",
                  "done", "nothing yet", "nothing", "not yet stored", "complete, read", "idle from",
                  "may be overwritten", "phase 1"):  # fmt: skip
        assert words in moments, words
