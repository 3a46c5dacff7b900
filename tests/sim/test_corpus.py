"""`python -m tools.corpus`, with a corpus of two tiny programs in place of the public ones."""

from __future__ import annotations

import needs
import pytest

from tools.corpus import __main__ as corpus
from tools.corpus.cases import Expected, repositories
from tools.corpus.trial import differences

pytestmark = needs.gxx

_PROGRAM = """
#include <cstdio>
__global__ void reversed(int* x) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  BARRIER
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() {
  int* x;
  cudaMallocManaged(&x, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) x[i] = i;
  reversed<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  printf("right\\n");
}
"""
_CASES = """
[[repository]]
name = "someone/kernels"
commit = "0123"

[[repository.group]]
name = "kernel {}"
variants = ["__syncthreads();", ";"]
files = ["reversed.cu"]
define = ["BARRIER={}"]
EXPECT

[[repository.group]]
variants = ["nothing.cu"]
files = ["{}"]
runs = false
lacks = "a runtime that does nothing"
"""
RACE = 'expect.";" = { findings = { race = 1 } }'


@pytest.fixture
def cases(tmp_path):
    """A function: what is expected -> the list, beside a folder with the files."""
    folder = tmp_path / "corpus" / "someone" / "kernels"
    folder.mkdir(parents=True)
    (folder / "reversed.cu").write_text(_PROGRAM)
    (folder / "nothing.cu").write_text("void nothing() { cudaNothing(); }\n")

    def written(expect: str):
        file = tmp_path / "cases.toml"
        file.write_text(_CASES.replace("EXPECT", expect))
        return file

    return written


@pytest.mark.slow
def test_a_table_and_a_status_for_what_is_as_expected(cases, tmp_path, capsys):
    assert corpus.main(["--folder", str(tmp_path / "corpus")], cases(RACE)) == corpus.AS_EXPECTED
    said = capsys.readouterr().out
    assert "2 of 3 compile unchanged; 2 of the 2 that are run are right; 1 findings" in said
    assert said.count("as expected\n") >= 2 and "1 race" in said
    assert "   1 a runtime that does nothing\n" in said


@pytest.mark.slow
def test_what_differs_has_a_status_and_words(cases, tmp_path, capsys):
    given = ["--folder", str(tmp_path / "corpus"), "--only", "kernel ;"]
    assert corpus.main(given, cases("")) == corpus.DIFFERENT
    assert "1 of race, expected 0" in capsys.readouterr().out


def test_a_repository_that_is_not_there_is_named_with_its_commands(cases, tmp_path, capsys):
    assert corpus.main(["--folder", str(tmp_path / "none")], cases("")) == corpus.NOTHING_RUN
    said = capsys.readouterr().out
    assert "git clone https://github.com/someone/kernels" in said and "checkout 0123" in said


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (Expected(findings={"race": 1}), ["1 of race, expected 2"]),
        (Expected(compiles=False, right=False), ["does not compile any more"]),
        (Expected(right=False, findings={"race": 2}), ["is not right any more"]),
        (Expected(findings={"race": 2}), []),
    ],
)
def test_differences_in_words(got, said):
    assert differences(Expected(findings={"race": 2}), got) == said


def test_the_list_names_each_case_once():
    names = [f"{case.repository} {case.name}" for one in repositories() for case in one.cases]
    assert len(names) == len(set(names)) >= 40


def test_a_key_that_is_not_known_is_refused(cases):
    with pytest.raises(ValueError, match="there is no key expects"):
        repositories(cases("expects = 1"))
