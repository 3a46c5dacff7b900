"""Kernels with one small mistake: made mechanically, and found by the simulator.

All of them take minutes (`python -m tools.mutants --full`); here, some of every kind.
"""

from __future__ import annotations

import dataclasses

import pytest

from gemmlab.core.errors import MeasurementError
from gemmlab.evidence import mutants as mutation
from tools.mutants import table
from tools.mutants.code import Code
from tools.mutants.mutants import mutants
from tools.mutants.pool import Pool
from tools.mutants.sample import sample
from tools.mutants.subjects import SUBJECTS, Subject

ALL = {s.name: mutants(s.name, s.sources()) for s in SUBJECTS}
EVERY = [mutant for of_one in ALL.values() for mutant in of_one]
EXPLAINED = table.explanations()
# A mutant of this one takes 15 s of a processor, of the others one or two. No other has the
# operator "owner", so that one is left to `make mutants`.
DEAR = "tma_08_any_shape"
CHEAP = [m for m in EVERY if m.id.partition("/")[0] != DEAR]
CHOSEN = sample(
    [m for m in CHEAP if m.operator != mutation.BOTH_SIDES and m.id not in EXPLAINED], of_each=1
)
EQUIVALENT = sample([m for m in CHEAP if m.id in EXPLAINED], of_each=1)
JUDGED = {m.id.partition("/")[0] for m in (*CHOSEN, *EQUIVALENT)}


@pytest.fixture(scope="module")
def pool():
    with Pool() as pool:
        yield pool


@pytest.fixture(scope="module")
def verdicts(pool):
    """The verdict on each mutant of the samples, by id."""
    found = {}
    for subject in SUBJECTS:
        if wanted := [m for m in ALL[subject.name] if m in CHOSEN or m in EQUIVALENT]:
            judged = zip(wanted, pool.judge(subject, wanted), strict=True)
            found.update((mutant.id, verdict) for mutant, verdict in judged)
    return found


# ---- the kernels ----


@pytest.mark.parametrize("mutant", CHOSEN, ids=lambda m: m.id)
def test_the_mutant_is_found_as_recorded(verdicts, mutant):
    recorded = next(m.verdict for m in mutation.recorded_mutants().mutants if m.id == mutant.id)
    verdict = verdicts[mutant.id]["verdict"]
    if "same" not in (recorded, verdict):  # as which other mutant: not all are here
        assert verdict == recorded, mutant.after
    assert verdict not in ("survived", "counts", "crash"), mutant.after


@pytest.mark.parametrize("mutant", EQUIVALENT, ids=lambda m: m.id)
def test_an_equivalent_mutant_is_not_found(verdicts, mutant):
    assert verdicts[mutant.id]["verdict"] in ("survived", "counts"), mutant.after


def test_explanations_are_of_mutants_that_exist():
    assert table.outdated(EXPLAINED, EVERY) == []


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(s, id=s.name, marks=() if s.name in JUDGED else pytest.mark.campaign)
        for s in SUBJECTS
    ],
)
def test_the_kernel_itself_is_right(pool, subject):
    assert pool.judge(subject, []) == []


# ---- the recorded table ----


def test_recorded_mutants_are_those_of_todays_kernels():
    recorded = {m.id: (m.before, m.after) for m in mutation.recorded_mutants().mutants}
    assert recorded == {m.id: (m.before, m.after) for m in EVERY}, "python -m tools.mutants --full"


def test_nearly_all_are_found_and_the_others_explained():
    recorded = mutation.recorded_mutants()
    assert recorded.rate >= 0.98
    left = [m for m in recorded.counted if not m.found]
    assert [m.id for m in left if not m.why] == []
    assert {m.verdict for m in left} <= {"survived", "counts"}
    assert {m.id: m.why for m in left} == {name: e["why"] for name, e in EXPLAINED.items()}


def test_tables_add_up():
    recorded = mutation.recorded_mutants()
    for shown in (recorded.by_kernel(), recorded.by_operator()):
        *rows, total = shown.rows
        assert total[1] == str(len(recorded.counted))
        for column in range(1, 7):
            assert sum(int(row[column]) for row in rows) == int(total[column])
        for row in rows:
            mutants, findings, _, values, equivalent, missed = map(int, row[1:7])
            assert mutants == findings + values + equivalent + missed
    assert len(recorded.survivors().rows) == sum(not m.found for m in recorded.counted)
    assert "recorded 20" in recorded._repr_html_()


def test_a_missing_table_says_how_to_make_it(tmp_path):
    with pytest.raises(MeasurementError, match="--full"):
        mutation.recorded_mutants(tmp_path / "none.json")


def test_what_is_written_is_read(tmp_path):
    subject = SUBJECTS[-1]
    three = ALL[subject.name][:3]
    made = [{"verdict": "finding", "kinds": ["race"]}, {"verdict": "values", "wrong": True}]
    path = tmp_path / "mutants.json"
    written = table.write([(subject, three, [*made, {"verdict": "survived"}])], path)
    assert written == mutation.recorded_mutants(path)
    assert [m.verdict for m in written.mutants] == ["finding", "values", "survived"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_recorded_verdict_goes_with_its_line(tmp_path):
    """A mutant keeps its verdict under another number, unless it was not found or is another."""
    subject = SUBJECTS[-1]
    one, two, three = ALL[subject.name][:3]
    path = tmp_path / "mutants.json"
    made = [{"verdict": "values"}, {"verdict": "survived"}, {"verdict": "refused"}]
    table.write([(subject, [one, two, three], made)], path)
    moved = dataclasses.replace(one, id=f"{subject.name}/moved/7")
    twice = dataclasses.replace(one, id=f"{subject.name}/moved/8")  # the text is there once more
    other = dataclasses.replace(three, after=three.after + "!")
    kept = table.kept([moved, two, other, twice], path)
    assert {name: row["verdict"] for name, row in kept.items()} == {moved.id: "values"}


def test_a_changed_mutant_needs_a_new_explanation():
    mutant = EVERY[0]
    entry = {"id": mutant.id, "before": mutant.before, "after": mutant.after, "why": "..."}
    assert table.outdated({mutant.id: entry}, EVERY) == []
    assert table.outdated({mutant.id: entry | {"before": "x"}}, EVERY) == [mutant.id]
    assert table.outdated({mutant.id: entry}, EVERY[1:]) == [mutant.id]


def test_a_kernel_that_is_wrong_by_itself_is_refused(pool):
    # Its launcher takes multiples of 32 only; the pool knows subjects by name.
    wrong = dataclasses.replace(SUBJECTS[0], name="no such kernel")
    with pytest.raises(ValueError, match="without any change"):
        pool.judge(wrong, [])


# ---- the operators, on a text that has everything ----

SAMPLE = """
// stage __syncthreads(); x ^ 1
constexpr int STAGES = 3;
__device__ int swizzle(int row, int col) { return col ^ ((row & 7) << 4); }
__device__ int place(int row, int col) { return row * 64 + swizzle(row, col); }
__global__ void kernel(const float* A, float* C, int K) {
  mbarrier_init(&full[i], 1);
  fence_mbarrier_init();
  uint32_t phase = 0;
  if (tid == 0) { mbarrier_arrive_expect_tx(&full[stage], BYTES); tma_load_2d(a, &b, c, x, y); }
  for (int k = 0; k < K; k += BK) {
    while (!mbarrier_try_wait(&full[k % STAGES], phase)) {}
    cp_async_cg(smem_addr(&s[place(row, col)]), A);
    if (k + BK < K) cp_async_commit();
    cp_async_wait<STAGES - 2>();
    x = s[place(lane, k)];
    __syncthreads();
    if (++stage == STAGES) { stage = 0; phase ^= 1; }
  }
}
"""


def changes(operator: str) -> list[str]:
    return [m.after for m in mutants("k", {"k.cu": SAMPLE}) if m.operator == operator]


def test_removals():
    assert changes("remove barrier") == [";"]
    assert changes("remove wait") == ["while (!true) {}", ";"]
    assert changes("remove commit") == ["if (k + BK < K) ;"]
    assert changes("remove copy") == [
        "if (tid == 0) { mbarrier_arrive_expect_tx(&full[stage], BYTES); ; }",
        ";",
    ]
    assert changes("remove fence") == [";"]
    assert changes("remove init") == [";"]
    assert changes("weaken wait") == ["cp_async_wait<(STAGES - 2) + 1>();"]


def test_stages_and_phases():
    stages = changes("stage")
    assert len(stages) == 8
    assert "while (!mbarrier_try_wait(&full[(k + 1) % STAGES], phase)) {}" in stages
    assert any("&full[((stage + STAGES - 1) % STAGES)], BYTES" in text for text in stages)
    assert "if (stage == STAGES) { stage = 0; phase ^= 1; }" in stages
    assert "if (++stage == STAGES) { stage = 0 + 1; phase ^= 1; }" in stages
    assert "if (++stage == (STAGES - 1)) { stage = 0; phase ^= 1; }" in stages
    assert changes("phase") == [
        "uint32_t phase = ((0) ^ 1);",
        "while (!mbarrier_try_wait(&full[k % STAGES], ((phase) ^ 1))) {}",
        "if (++stage == STAGES) { stage = 0; ; }",
    ]


def test_a_ring_of_two_without_a_name():
    text = "__global__ void kernel() { x = s[tile % 2][i % 2]; int slot = tile % 4; y = s[i % n]; }"
    found = [m.after for m in mutants("k", {"k.cu": text}) if m.operator == "stage"]
    assert [after.replace(text[:27], "")[:40] for after in found] == [
        "x = s[(tile + 1) % 2][i % 2]; int slot =",
        "x = s[tile % 2][i % 2]; int slot = (tile",
        "x = s[tile % 2][i % 2]; int slot = (tile",
    ]


def test_numbers():
    assert [text.partition(", ")[2][:11] for text in changes("transaction bytes")] == [
        *("(BYTES) + 1", "(BYTES) - 1", "(BYTES) / 2"),
    ]
    assert changes("arrival count") == [
        "mbarrier_init(&full[i], (1) + 1);",
        "mbarrier_init(&full[i], (1) - 1);",
    ]


def test_loop_bounds():
    assert changes("loop bound") == [
        "for (int k = 0; k < (K) - (BK); k += BK) {",
        "for (int k = 0; k < (K) + (BK); k += BK) {",
        "if (k + BK < (K) - (BK)) cp_async_commit();",
        "if (k + BK < (K) + (BK)) cp_async_commit();",
    ]


GUARDED = """
__device__ int owner(int x) const { return ((x + 1) * blocks - 1) / row; }
__device__ int parity(int x) { return x / 2 & 1; }
__global__ void kernel(const float* A, float* C, int M, int N) {
  __shared__ float sA[32][33], other;
  const bool inside = row < M && col <= N;
  sA[row][col] = A[at];
  const float a = sA[col][row];
  store4(C + at, a);
  if (row < M || col < 8) other = sA[0][swizzle<3, 3>(col)];
  if (THREADS < 32 && row < M) C[0] = 0;
  if (k < last) C[1] = sA[0][0];
}
"""


def guarded(operator: str) -> list[str]:
    found = mutants("k", {"k.cu": GUARDED})
    return [m.after.removeprefix("__device__ ") for m in found if m.operator == operator]


def test_stores():
    assert guarded("remove store") == [";", ";"]


def test_guards_on_sizes():
    conditions = "row <= M && col <= N", "row < M", "col <= N"
    assert sorted(guarded("guard")) == sorted(
        [
            *(f"const bool inside = {condition};" for condition in conditions),
            "if (row <= M || col < 8) other = sA[0][swizzle<3, 3>(col)];",
            "if (row < M) other = sA[0][swizzle<3, 3>(col)];",
            "if (col < 8) other = sA[0][swizzle<3, 3>(col)];",
        ]
    )


def test_owners():
    changed = "(x + 2) * blocks - 1", "(x + 0) * blocks - 1", "(x + 1) * blocks - 2"
    every = (*changed, "(x + 1) * blocks - 0")
    assert guarded("owner") == [f"int owner(int x) const {{ return ({c}) / row; }}" for c in every]


def test_a_bit_less_at_one_place():
    after = "if (row < M || col < 8) other = sA[0][swizzle<3 - 1, 3>(col)];"
    assert guarded("swizzle bits") == [after]


def test_swizzles_on_one_side_and_on_both():
    both = changes(mutation.BOTH_SIDES)
    bodies = [
        "col",
        *(f"col ^ ((row & {n}) << 4)" for n in (14, 3)),
        *(f"col ^ ((row & 7) << {n})" for n in (5, 3)),
    ]
    assert [text.partition("return ")[2] for text in both] == [f"{body}; }}" for body in bodies]
    one = changes("swizzle")
    assert len(one) == 2 * len(bodies)
    assert f"x = s[place_mutant(lane, k)];  [swizzle_mutant: {bodies[0]}]" in one
    # The copy of the helper that calls it, and the copy of itself, are there for the one caller.
    mutant = next(m for m in mutants("k", {"k.cu": SAMPLE}) if m.operator == "swizzle")
    text = mutant.changed["k.cu"]
    assert text.count("place_mutant") == 2 and text.count("swizzle_mutant") == 2
    assert text.count("\n") == SAMPLE.count("\n")


def test_tokens_are_code_only():
    code = Code('a /* x ^ y */ = "b ^ c"; // d\n#define E f ^ \\\n  g\nh >>= 0x1f >> 2;')
    words = [token.text for token in code.tokens]
    assert words == ["a", "=", '"b ^ c"', ";", "h", ">>=", "0x1f", ">>", "2", ";"]


def test_a_helper_in_another_file_is_changed_there():
    helper = "__device__ int swizzle(int k) { return k ^ 8; }\n"
    kernel = '#include "h.cuh"\n__global__ void kernel() { s[swizzle(1)] = 0; }\n'
    found = mutants("k", {"k.cu": kernel, "h.cuh": helper})
    one = next(m for m in found if m.operator == "swizzle")
    assert one.file == "k.cu" and set(one.changed) == {"k.cu", "h.cuh"}
    assert "swizzle_mutant(1)" in one.changed["k.cu"]


def test_the_sample_has_every_operator():
    few = sample(EVERY)
    assert {m.operator for m in few} == {m.operator for m in EVERY}
    assert few == sample(EVERY)
    assert isinstance(SUBJECTS[0], Subject)
