"""`python -m tools.corpus.samples`, with small programs in place of NVIDIA's samples."""

from __future__ import annotations

import json

import needs
import pytest

from tools.corpus import samples as tool
from tools.corpus import table
from tools.corpus.samples import PASSED, Result, Sample

pytestmark = needs.gxx

_PROGRAM = """
#include <cstdio>
#include "size.h"
int twice(int value);
__global__ void fill(int* x) { x[threadIdx.x] = 1; FAULT }
int main(int argc, char**) {
  int* x;
  cudaMallocManaged(&x, SIZE * sizeof(int));
  fill<<<1, SIZE>>>(x);
  cudaDeviceSynchronize();
  FILE* const data = fopen("data.txt", "r");
  printf(x[0] == 1 && data && twice(argc) == 4 ? "Test passed\\n" : "Test failed\\n");
  fclose(fopen("written.txt", "w"));
}
"""
_LIST = """
repository = "someone/samples"
commit = "0123456789"
[sample.right]
folder = "0_First"
says = "Test passed"
arguments = ["more"]
[sample.racy]
folder = "0_First"
says = "Test passed"
arguments = ["more"]
FINDINGS
[sample.blocked]
folder = "0_First"
[sample.elsewhere]
not_run = "this commit does not have it"
"""


@pytest.fixture
def known(tmp_path):
    """A function: what is expected of the racy one -> the list; its samples are beside it."""
    base = tmp_path / "corpus" / "someone" / "samples"
    (base / "Common").mkdir(parents=True)
    (base / "Common" / "size.h").write_text("#define SIZE 64\n")
    for name, fault in {"right": "", "racy": "x[0] = 1;", "blocked": "nothing();"}.items():
        folder = base / "Samples" / "0_First" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.cu").write_text(_PROGRAM.replace("FAULT", fault))
        (folder / "twice.cpp").write_text("int twice(int value) { return 2 * value; }\n")
        (folder / "data.txt").write_text("data\n")

    def written(findings: str):
        file = tmp_path / "samples.toml"
        file.write_text(_LIST.replace("FINDINGS", findings))
        return file

    return written


@pytest.mark.slow
def test_samples_are_run_compared_and_recorded(known, tmp_path, capsys):
    given = ["--folder", str(tmp_path / "corpus"), "--record"]
    record = tmp_path / "samples.json"
    assert tool.main([*given, "--only", "racy"], known(""), record) == tool.DIFFERENT
    assert "findings: {'race': 1}, expected none" in capsys.readouterr().out
    assert tool.main(given, known("findings = { race = 1 }"), record) == tool.DIFFERENT
    said = capsys.readouterr().out
    assert said.count("as expected") == 2 and "does not compile: the simulator has no" not in said
    got = tool.results(record)
    assert list(got) == ["right", "racy", "blocked"]
    assert (got["right"].outcome, got["right"].launches) == (PASSED, 1)
    assert got["blocked"].outcome.startswith("does not compile: ")
    folder = tmp_path / "corpus" / "someone" / "samples" / "Samples" / "0_First" / "right"
    assert not (folder / "written.txt").exists()  # it was run in a copy


def test_nothing_to_run_has_a_status(known, tmp_path):
    given = ["--folder", str(tmp_path / "corpus"), "--only", "elsewhere"]
    assert tool.main(given, known("")) == tool.NOTHING_RUN


def test_a_checkout_that_is_missing_is_told_how_to_get(known, tmp_path, capsys):
    assert tool.main(["--folder", str(tmp_path / "empty")], known("")) == tool.NOTHING_RUN
    assert "git clone https://github.com/someone/samples" in capsys.readouterr().out


def test_a_key_that_is_not_known_is_refused(known):
    with pytest.raises(ValueError, match="racy has expects"):
        tool.samples(known("expects = 1"))


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (Result(PASSED, findings={"race": 1}), ""),
        (Result(PASSED), "findings: none, expected {'race': 1}"),
        (Result("main() has returned 1"), "main() has returned 1"),
    ],
)
def test_differences_in_words(result, said):
    assert tool.differences(Sample("one", findings={"race": 1}), result) == said


def test_each_sample_of_the_list_has_a_result_or_a_reason():
    known, got = tool.samples(), tool.results()
    assert len(known.each) == 61
    for sample in known.each:
        assert bool(sample.not_run) != (sample.name in got), sample.name
        assert bool(sample.why) or not sample.findings, sample.name
    as_expected = [one for one in known.each if not one.not_run and not _differs(one, got)]
    assert len(as_expected) >= 45
    assert json.loads(tool.RECORD.read_text())["commit"] == known.commit


def _differs(sample: Sample, got: dict[str, Result]) -> str:
    return tool.differences(sample, got[sample.name])


def test_the_page_has_what_was_recorded():
    assert table.main(["--check"]) == 0
