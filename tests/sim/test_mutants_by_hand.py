"""Mutants made by hand: the files that hold them, and whether `lab.check` finds them as recorded.

All of them take half an hour (`python -m tools.mutants --by-hand`); here, a few small ones.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest

from gemmlab.steps import registry
from tools.mutants.by_hand import table
from tools.mutants.by_hand.judge import judge, witnessed
from tools.mutants.by_hand.mutants import mutants
from tools.mutants.child import in_child

EVERY = mutants()
BY_ID = {mutant.id: mutant for mutant in EVERY}
FEW = (
    "sgemm/guard-on-m-only",
    "sgemm/c-read-without-beta",
    "sgemm/swizzle-one-bit-less-where-read",
    "sgemm/no-empty-group-behind-the-last-tile",
    "sgemm/one-counter-not-cleared",
    "hgemm/rounded-before-it-is-scaled",
    "hgemm/bits-of-a-neighbour",
    "tma/b-on-the-next-barrier",
)


def test_there_are_many_of_every_family():
    families = [registry.get(mutant.step).family for mutant in EVERY]
    assert families == [mutant.id.partition("/")[0] for mutant in EVERY]
    assert min(map(families.count, ("sgemm", "hgemm", "tma"))) >= 20
    assert len(BY_ID) == len(EVERY)
    assert set(FEW) < set(BY_ID)


@pytest.mark.parametrize("mutant", EVERY, ids=lambda m: m.id)
def test_the_text_that_is_changed_stands_in_the_step_once(mutant):
    assert mutant.files()[mutant.file] == mutant.after != mutant.before
    assert mutant.shows.endswith(".")


def test_a_text_that_is_not_there_once_is_refused():
    mutant = EVERY[0]
    for old, times in (("no such text", 0), ("int", mutant.before.count("int"))):
        with pytest.raises(ValueError, match=f"`old` occurs {times} times in kernels/hgemm/"):
            _ = replace(mutant, old=old).after
    with pytest.raises(ValueError, match=r"does not include kernels/tma/01_load\.cuh"):
        replace(mutant, file="tma/01_load.cuh").files()


# ---- lab.check on them ----


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(m, marks=() if m.id in FEW else pytest.mark.campaign, id=m.id) for m in EVERY],
)
def test_check_finds_what_it_is_recorded_to_find(mutant):
    recorded = table.recorded()[mutant.id]["verdict"] in table.FOUND
    verdict = judge(mutant)
    assert (verdict["verdict"] in table.FOUND) == recorded, verdict
    assert verdict["verdict"] not in ("compile", "crash"), verdict


def test_a_copy_without_a_mistake_is_right():
    mutant = BY_ID["hgemm/rows-of-the-second-sums"]
    assert judge(replace(mutant, new=mutant.old))["verdict"] == "missed"


def test_a_witness_shows_a_mistake_and_only_a_mistake():
    mutant = BY_ID["tma/stale-sums-of-the-piece-before"]
    assert witnessed(mutant) == "values"
    assert witnessed(replace(mutant, new=mutant.old)) == ""


def test_one_that_does_not_compile_says_so():
    verdict = judge(replace(BY_ID["sgemm/guard-on-m-only"], new="no such name;"))
    assert verdict["verdict"] == "compile" and "no such name" in verdict["message"]


def test_what_ends_the_process_is_a_verdict():
    def killed() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(killed, 5, 5) == {"verdict": "crash", "message": "signal 9"}
    assert in_child(lambda: {"verdict": "values"}, 5, 5) == {"verdict": "values"}

    def endless() -> dict:
        while True:
            pass

    assert in_child(endless, 1, 20)["verdict"] == "endless"


# ---- the recorded table ----


def test_recorded_are_those_that_there_are():
    recorded = table.recorded()
    assert list(recorded) == list(BY_ID), "python -m tools.mutants --by-hand --full"
    for mutant in EVERY:
        row = recorded[mutant.id]
        assert [row[key] for key in ("step", "kind", "file")] == [
            *(mutant.step, mutant.kind, mutant.file)
        ]
        assert row["verdict"] in (*table.FOUND, "missed")


def test_a_row_is_replaced_kept_or_dropped(tmp_path):
    file = tmp_path / "by_hand.json"
    one, two, three = EVERY[:3]
    found, missed = ({"verdict": verdict, "seconds": 1.5} for verdict in ("values", "missed"))
    table.write([one, two], {one.id: found, two.id: found}, file)
    table.write([two, three], {three.id: missed}, file)
    rows = table.recorded(file)
    assert {name: row["verdict"] for name, row in rows.items()} == {
        two.id: "values",
        three.id: "missed",
    }
    shown = str(table.shown(rows.values()))
    assert "lab.check finds 1 of 2;" in shown and three.id in shown
    assert table.recorded(tmp_path / "none.json") == {}
