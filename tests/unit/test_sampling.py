"""Which cases of a test every run takes, and that the table of choices fits the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sampling

HERE = Path(__file__).resolve()
IDS = [f"{family}-{number}" for family in ("a", "b") for number in range(20)]


def test_patterns_choose():
    assert sampling.chosen(IDS, ["a-1", "b-1*"]) == ["a-1", "b-1", *(f"b-1{n}" for n in range(10))]


def test_one_in_four_is_the_same_in_every_run_and_never_none():
    few = sampling.chosen(IDS, "1 in 4")
    assert 0 < len(few) < len(IDS) / 2
    # One more case does not change the choice among the others.
    assert [one for one in sampling.chosen([*IDS, "c"], "1 in 4") if one != "c"] == few
    assert len(sampling.chosen(["x", "y"], "1 in 1000003")) == 1


@pytest.mark.parametrize(
    ("ids", "choice", "says"),
    [
        (IDS, ["a-1", "gone*"], r"no case is named 'gone\*'"),
        (IDS, ["*"], "nothing is left"),
        ([], "1 in 4", "no such test"),
        ([], ["a"], "no such test"),
    ],
)
def test_a_choice_that_does_not_fit_is_refused(ids, choice, says):
    with pytest.raises(ValueError, match=says):
        sampling.chosen(ids, choice)


def collected(*options: str) -> list[str]:
    """What pytest prints of this file, of which the table has one entry; it runs nothing."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, "-p", "no:nbval", *options, str(HERE)],
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
    ).stdout.splitlines()


@pytest.mark.parametrize("case", ["one", "two", "three"])
def test_of_which_the_table_takes_one_case(case):
    """What the test below sees."""


@pytest.mark.slow
def test_a_run_says_what_it_leaves_and_with_the_campaign_it_is_everything():
    run, campaign = collected("-m", "not campaign"), collected("-m", "campaign")
    taken, left, every = (
        sorted(line for line in lines if "::" in line) for lines in (run, campaign, collected())
    )
    assert [one.rpartition("[")[2] for one in left] == ["one]", "three]"]
    assert sorted(taken + left) == every
    count = f"{len(taken)} of {len(every)} cases"
    assert run[-2] == f"sample: {count}; `make campaign` runs the other 2"
    assert not any("sample: " in line for line in campaign)


def test_the_table_names_files_that_exist():
    assert [file for file, _ in sampling.table() if not (sampling.TESTS / file).exists()] == []
