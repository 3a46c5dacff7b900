"""The tilings, costs and sentences of the JavaScript are those of the Python; needs node."""

import random
import re
from dataclasses import asdict

import numpy as np
import pytest

from gemmlab.layouts import GPUS, STEPS, Tiling
from gemmlab.layouts.shared import banks
from gemmlab.layouts.tiling.facts import describe, facts
from gemmlab.layouts.tiling.occupancy import occupancy
from gemmlab.layouts.tiling.rules import CHOICES, number, problems, repairs


def random_sizes(rng):
    sizes = {name: rng.choice(choices) for name, choices in CHOICES.items()}
    return sizes | {name: rng.randint(1, 50) for name in CHOICES if rng.random() < 0.1}


def random_tiling(rng):
    while True:
        sizes = {name: rng.choice(choices) for name, choices in CHOICES.items()}
        sizes |= {"BM": sizes["WM"] * rng.randint(1, 3), "BN": sizes["WN"] * rng.randint(1, 3)}
        if not problems(sizes) and sizes["BM"] * sizes["BN"] <= 2**15:
            break
    return Tiling(
        **sizes,
        stages=rng.randint(1, 4),
        min_blocks=rng.randint(1, 9),
        lanes=rng.choice(["rows", "columns"]),
        a=rng.choice(["km", "mk", "mk4"]),
        order=rng.choice(["rows", "subtiles"]),
    )


def python_answer(tiling, gpu, size, threads):
    return {
        "owners": tiling.owners().ravel().tolist(),
        "copies": [[list(map(list, tiling.copies(n, name))) for name in "AB"] for n in threads],
        "stores": [list(map(list, tiling.stores(n))) for n in threads],
        "loads": [list(tiling.loads(name)) for name in "AB"],
        "sectors": list(tiling.store_sectors()),
        "facts": [asdict(fact) for fact in facts(tiling, GPUS[gpu], size)],
        "words": [describe(tiling, n) for n in threads],
    }


@pytest.mark.twin("tiling/tiling", "tiling/facts")
def test_random_tilings_agree(ask):
    rng = random.Random(11)
    tilings = [*STEPS.values(), *(random_tiling(rng) for _ in range(120))]
    cases, expected = [], []
    for tiling in tilings:
        gpu, size = rng.choice(list(GPUS)), rng.choice([100, 512, 1024, 4096, 5000])
        threads = [0, tiling.threads - 1, rng.randrange(tiling.threads)]
        limits = GPUS[gpu].to_dict()
        cases.append(("tiling", {"t": asdict(tiling), "gpu": limits, "size": size,
                                 "threads": threads}))  # fmt: skip
        expected.append(python_answer(tiling, gpu, size, threads))
    for (_, case), got, want in zip(cases, ask(cases), expected, strict=True):
        for key, value in want.items():
            assert got[key] == value, (key, case["t"])
    # The draw is worth something: both pipes set the pace, and every sentence is said.
    said = " ".join(fact["how"] for answer in expected for fact in answer["facts"])
    for words in (
        *("FMAs at most", "shared memory is busy", "every byte is used", "would do", "spills"),
        *("no block fits", "a block has at most", "the launch must ask", "compiler ignores it"),
        *("limited by threads", "limited by registers", "have no block at all", "subtiles"),
        *("float2", "float by", "in each of", "1 warp of"),
    ):
        assert words in said, words
    words = " ".join(text for answer in expected for text in answer["words"])
    assert all(text in words for text in ("Copies nothing", "row ", "column ", " and ", "float2)"))


def test_random_sizes_are_refused_and_mended_alike(ask):
    rng = random.Random(12)
    sizes = [random_sizes(rng) for _ in range(1500)]
    cases = [("problems", {"sizes": s, "choices": CHOICES}) for s in sizes]
    expected = [[problems(s), [list(pair) for pair in repairs(s)]] for s in sizes]
    for one, got, want in zip(sizes, ask(cases), expected, strict=True):
        assert got == want, one
    said = " ".join(text for found, _ in expected for text in found)
    for words in ("is no multiple of W", "ITER x T", "whole float4", "times too many",
                  "have nothing to do", "a block has at most", "subtiles of"):  # fmt: skip
        assert words in said, words
    assert sum(bool(mend) for found, mend in expected if found) > 200


def test_random_loads_take_the_same_wavefronts(ask):
    rng = random.Random(13)
    cases, expected = [], []
    for _ in range(800):
        width = rng.choice([4, 8, 16])
        rows, apart = rng.choice([1, 2, 4, 8, 16, 32]), rng.choice([1, 2, 3, 8, 32, 33, 128])
        lane = np.arange(32)
        place = rng.choice([lane // rows, lane % rows, lane ^ rows, lane * 0])
        if rng.random() < 0.3:
            place = np.array([rng.randrange(rows) for _ in range(32)])
        addresses = (place * apart * width).tolist()
        cases.append(("loads_of", {"addresses": addresses, "width": width}))
        expected.append(banks.wavefronts(addresses, width).wavefronts)
    assert ask(cases) == expected
    assert len(set(expected)) > 6


def test_random_occupancies_agree(ask):
    rng = random.Random(14)
    cases, expected = [], []
    for _ in range(500):
        gpu = GPUS[rng.choice(list(GPUS))]
        threads, registers = rng.randint(1, 1100), rng.randint(1, 260)
        shared = rng.randint(0, gpu.shared_block + 4000)
        found = occupancy(threads, registers, shared, gpu)
        cases.append(("occupancy", {"threads": threads, "registers": registers, "shared": shared,
                                    "gpu": gpu.to_dict()}))  # fmt: skip
        expected.append([found.blocks, found.warps, list(found.allowed.values())])
    assert ask(cases) == expected


def test_numbers_are_written_alike(ask):
    rng = random.Random(15)
    values = [rng.choice([rng.random() * 10, rng.randint(0, 10**6) / 20]) for _ in range(300)]
    cases = [("written", {"value": value}) for value in [*values, 0, 1000, 0.25, 1234.55]]
    assert ask(cases) == [number(case["value"]) for _, case in cases]


def test_the_thread_under_the_pointer(ask):
    rng = random.Random(16)
    for tiling in (*STEPS.values(), *(random_tiling(rng) for _ in range(10))):
        owners = tiling.owners()
        copiers = {(name, *at): n for name in "AB" for n in range(tiling.threads)
                   for at in tiling.copies(n, name)}  # fmt: skip
        places, expected = [], []
        for _ in range(40):
            m, n = rng.randrange(tiling.BM), rng.randrange(tiling.BN)
            k = rng.randrange(tiling.BK)
            places += [["C", m, n], ["A", m, k], ["B", k, n]]
            expected += [owners[m, n], copiers["A", m, k // 4 * 4], copiers["B", k, n // 4 * 4]]
        case = {"t": asdict(tiling), "width": rng.choice([250, 330, 520]), "places": places}
        assert ask([("under", case)]) == [expected], tiling


def test_the_enlarged_thread_numbers_its_stores(ask):
    """The number of a store stands where the store is: left to right, then down, in each group."""
    for step, order in (
        ("sgemm_07_coalesced_c", [1, 2, 3, 4]),  # along the row, over the gap
        ("sgemm_12_warp_subtiles", [1, 9, 2, 10]),  # one subtile after the other
    ):
        svg = ask([("zoom", {"t": asdict(STEPS[step]), "thread": 37})])[0]
        found = re.findall(r'store-text" x="([\d.]+)" y="([\d.]+)"[^>]*>(\d+)<', svg)
        assert len(found) == len(STEPS[step].stores(37))
        reading_order = sorted(found, key=lambda at: (float(at[1]), float(at[0])))
        assert [int(number) for *_, number in reading_order[:4]] == order


def test_what_a_change_has_moved(ask):
    def table(**change):
        return [asdict(f) for f in facts(Tiling(**change), GPUS["H200"], 4096)]

    before, deeper = table(), table(BK=32)
    assert ask([("changes", {"before": before, "now": deeper}),
                ("changes", {"before": None, "now": deeper})]) == [
        [["Shared memory", "16 KB"]], []
    ]  # fmt: skip
