"""Digests of the machine code of all kernels: book/measurements/machine_code/sm_90a.json.

    python -m tools.machine_code          compile what has changed since, and write its digests
    python -m tools.machine_code --all      compile everything anew (minutes)
    python -m tools.machine_code --check    compile everything, compare, write nothing
    python -m tools.machine_code NAME ...   only these steps and variants

Needs nvcc, no GPU. Digests can be compared within one version of nvcc: with another one than the
manifest's, only --all is taken, and figures that were recorded before then count as not compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime

from gemmlab.core.errors import MeasurementError
from gemmlab.experiments.subtiles import configurations
from gemmlab.experiments.variants import EXPERIMENTS, experiment, precision_of
from gemmlab.gpu import machine_code
from gemmlab.gpu.toolchain import FLAGS
from gemmlab.measurements import staleness
from gemmlab.measurements.staleness import Code, Manifest, name_of
from gemmlab.steps import registry
from gemmlab.steps.program import Program
from gemmlab.steps.text import source_digest

from . import command


def kernels() -> Iterator[tuple[Program, tuple[str, ...]]]:
    """What is recorded: each step in all its precisions, each variant in the usual one.

    A variant that is timed in other types is compiled for these, too.
    """
    for spec in registry.KERNELS:
        yield Program(spec), spec.precisions
    for name in EXPERIMENTS:
        program = experiment(name)
        types = dict.fromkeys((program.spec.precisions[0], precision_of(name)))
        yield program, tuple(types)
    for one in configurations():
        yield one.kernel, one.kernel.spec.precisions[:1]


def main() -> int:
    """0 if all was written or, with --check, is as the manifest says."""
    options = _options()
    known = _known(options)
    wanted = {name_of(step): (step, types) for step, types in kernels()}
    if unknown := set(options.names) - set(wanted):
        raise MeasurementError(f"no step or variant is called {', '.join(sorted(unknown))}")
    if options.check:
        return _check(wanted, known, options.names)
    _write(wanted, known, options)
    return 0


def _options() -> argparse.Namespace:
    parser = command.parser("machine_code", __doc__)
    parser.add_argument("names", nargs="*", help="steps and variants; all, if none is given")
    parser.add_argument("--all", action="store_true", help="compile what has not changed, too")
    parser.add_argument("--check", action="store_true", help="compile and compare only")
    return parser.parse_args()


def _known(options: argparse.Namespace) -> Manifest:
    """The manifest, if it can be gone on with."""
    version = machine_code.version()
    if options.all and not options.check:
        return Manifest(version, "", {})
    if not staleness.manifest_path().exists():
        return Manifest(version, "", {})
    known = staleness.load_manifest()
    if known.nvcc != version:
        raise MeasurementError(
            f"the digests were made with nvcc {known.nvcc}, and here is {version}: use --all"
        )
    return known


def _write(wanted: dict, known: Manifest, options: argparse.Namespace) -> None:
    found = {name: code for name, code in known.kernels.items() if name in wanted}
    dropped = len(known.kernels) - len(found)
    todo = [
        (name, step, types)
        for name, (step, types) in wanted.items()
        if (not options.names or name in options.names) and _lacks(found.get(name), step, types)
    ]
    changed = 0
    for name, step, types in todo:
        before, now = found.get(name), machine_code.compiled(step, types)
        found[name] = now
        _save(found, wanted)
        if before:
            same = dict(before.code) == dict(now.code)
            changed += not same
            word = "same machine code" if same else "MACHINE CODE CHANGED"
        else:
            word = "new"
        print(f"{name}: {word}", flush=True)
    if dropped and not todo:
        _save(found, wanted)
    print(f"{len(todo)} compiled, {changed} changed, {dropped} dropped")


def _lacks(code: Code | None, step: Program, types: tuple[str, ...]) -> bool:
    return (
        code is None or code.source != source_digest(step.source.path) or set(code.code) != {*types}
    )


def _save(found: dict[str, Code], order: dict) -> None:
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    ordered = {name: found[name] for name in order if name in found}
    staleness.save_manifest(Manifest(machine_code.version(), date, ordered, FLAGS))


def _check(wanted: dict, known: Manifest, names: list[str]) -> int:
    wrong = 0
    for name, (step, types) in wanted.items():
        if names and name not in names:
            continue
        there, now = known.kernels.get(name), machine_code.compiled(step, types)
        what = []
        if there is None:
            what = ["not in the manifest"]
        else:
            what += ["another source"] * (there.source != now.source)
            off = [p for p in types if there.code.get(p) != now.code[p]]
            what += [f"other machine code in {', '.join(off)}"] * bool(off)
        wrong += bool(what)
        print(f"{name}: {'; '.join(what) or 'as recorded'}", flush=True)
    print(f"{wrong} of {len(names or wanted)} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    command.run(main)
