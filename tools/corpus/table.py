"""What comes of each public kernel that is run: RESULTS.md, out of cases.toml and counters.json.

Also of each whole program among NVIDIA's samples, out of samples.toml and samples.json.

python -m tools.corpus.table            write it
python -m tools.corpus.table --check    compare, write nothing
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from gemmlab.core.files import write_whole

from .. import command
from .cases import Case, Repository, repositories
from .counters import RECORDED
from .samples import Result, Sample, differences, results, samples

PAGE = Path(__file__).with_name("RESULTS.md")
_HEAD = """# Public kernels on the simulator

Made by `python -m tools.corpus.table`. Each kernel is compiled unchanged from its public repository
and run with whole numbers for operands, and its result is compared exactly. *Findings* are those
that are expected:
`cases.toml` says what each is, and where a rule is stricter than PTX. *Counters* are shared and
global requests, wavefronts, sectors and instructions, by the simulator and by Nsight Compute on an
{gpu} (driver {driver}, CUDA {cuda}, {date}). The simulator has the widths of the machine code, so
that loads that nvcc has merged are counted as it has them. {equal} of the {pairs} counters of
{kernels} kernels are equal, and of {whole} kernels all are.

What is known of the others:

- `global_load_sectors`: copies past L1 (`cp.async.cg`) whose pieces stand in the other half of a
  sector at their destination than at their source. The simulator counts a sector once for each
  half; the GPU often fewer. Why is not known.
- `shared_load_*`, `shared_store_*`: nvcc keeps values that the source loads again in an inner loop,
  or merges halves that stand on several lines.
- `ldmatrix_*`, and kernel 12 of siboehm's with `cuda::memcpy_async`: the GPU executes fewer. Why is
  not known.
"""
_SAMPLES = """## Whole programs: NVIDIA's samples

The {count} samples that use only the runtime's functions and the language of kernels, as the list
of javier-cabezas/cuda4cpu names them, at commit `{commit}` of {repository}:
`python -m tools.corpus.samples` runs each with all of its files, unchanged. {passed} end with the
result that they themselves check, and without a finding that is not expected. *Traced*: accesses
are counted, and races looked for; the others run without (`--no-trace`). Seconds are those of
compilation and run, on two cores that did other work as well, without a GPU.
"""


def main(given: list[str] | None = None) -> int:
    """0; with --check 1 if the page is another one."""
    parser = command.parser("corpus.table", __doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    text = page()
    if not parser.parse_args(given).check:
        write_whole(PAGE, text)
        return 0
    return int(PAGE.read_text(encoding="utf-8") != text)


def page() -> str:
    """The page's text."""
    data = json.loads(RECORDED.read_text(encoding="utf-8"))
    rows = {row["case"]: row for row in data["kernels"]}
    pairs = sum(len(row["counters"]) for row in rows.values())
    numbers = {
        "pairs": f"{pairs:,}",
        "kernels": len(rows),
        "equal": f"{pairs - sum(len(row['differ']) for row in rows.values()):,}",
        "whole": sum(not row["differ"] for row in rows.values()),
    }
    parts = [_HEAD.format(**numbers, **data["machine"])]
    return "\n".join([*parts, *(_section(one, rows) for one in repositories()), _programs()])


def _programs() -> str:
    """The section on NVIDIA's samples."""
    known, got = samples(), results()
    ran = [one for one in known.each if one.name in got]
    passed = sum(not differences(one, got[one.name]) for one in ran)
    head = _SAMPLES.format(
        count=len(known.each),
        passed=passed,
        repository=known.repository,
        commit=known.commit[:8],
    )
    lines = [
        "| sample | result | findings | traced | launches | seconds |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_program(sample, got.get(sample.name)) for sample in known.each]
    reasons = [f"- {one.name}: {one.why}." for one in known.each if one.why]
    return "\n".join([head, *lines, "", "Where it says more:", "", *reasons]) + "\n"


def _program(sample: Sample, got: Result | None) -> str:
    if got is None:
        return f"| {sample.name} | not run: {sample.not_run} | | | | |"
    found = ", ".join(f"{number} {kind}" for kind, number in got.findings.items()) or "none"
    arguments = f" `{' '.join(sample.arguments)}`" if sample.arguments else ""
    traced = "yes" if got.traced else "no"
    return (
        f"| {sample.name}{arguments} | {got.outcome} | {found} | {traced} | {got.launches:,} "
        f"| {got.seconds:.0f} |"
    )


def _section(one: Repository, rows: dict[str, dict]) -> str:
    compiled = sum(case.expected.compiles for case in one.cases)
    lacking = Counter(case.lacks for case in one.cases if case.lacks)
    text = [
        f"## {one.name}\n",
        f"At commit `{one.commit[:8]}`. {compiled} of {len(one.cases)} files and kernels compile "
        "unchanged.",
    ]
    if lacking:
        text += ["Not those that need:", ""]
        text += [f"- {what}: {number}" for what, number in lacking.most_common()]
    run = [case for case in one.cases if case.expected.right is not None]
    if run:
        text += ["", "| kernel | compiled unchanged | result | findings | counters |"]
        text += ["|---|---|---|---|---|", *(_row(case, rows.get(case.title)) for case in run)]
    return "\n".join(text) + "\n"


def _row(case: Case, row: dict | None) -> str:
    expected = case.expected
    found = ", ".join(f"{number} {kind}" for kind, number in expected.findings.items()) or "none"
    result = "right" if expected.right else "wrong, as its findings say"
    counters = "not recorded"
    if row:
        total = len(row["counters"])
        counters = f"all {total} equal"
        if row["differ"]:
            names = ", ".join(f"`{name}`" for name in row["differ"])
            counters = f"{total - len(row['differ'])} of {total} equal; not {names}"
    compiled = "yes" if expected.compiles else "no"
    return f"| {case.name} | {compiled} | {result} | {found} | {counters} |"


if __name__ == "__main__":
    command.run(main)
