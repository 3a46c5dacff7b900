"""Execute chapters in place (`make notebooks`).

    python -m tools.execute [--jobs N] [--check] [--cold] [--build-only] book/x.ipynb ...

A chapter is written back only if all of its cells ran. What changes from run to run for no reason
(widget ids, timings of cells, versions of the kernel) is left out, so that a difference between two
commits is a difference that a reader sees.

On a GPU, most of the time goes into compiling. So every kernel that is known without running a
chapter is built first, by all cores: the steps, the experiments and the cells with %%kernel. Then
as many chapters run at a time as there are cores, the longest first, each on a core of its own,
where it compiles what else it has (variants, and everything for the simulator), and takes turns at
the GPU: a measurement has it alone (gpu/turns.py). --cold leaves the building out, --build-only
stops after it.

--check runs every chapter to see that none of its cells fails, and writes nothing. What chapters
measure meanwhile is thrown away, so they take no turns.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from multiprocessing.queues import Queue
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from gemmlab.core.errors import GemmlabError
from gemmlab.core.files import write_whole
from gemmlab.experiments.variants import EXPERIMENTS, experiment, precision_of
from gemmlab.gpu import build, requirements
from gemmlab.gpu.telemetry import commit
from gemmlab.gpu.turns import VARIABLE
from gemmlab.notebook.cell import make
from gemmlab.notebook.magic import first_line
from gemmlab.run.doctor import device
from gemmlab.steps import registry
from gemmlab.steps.program import Program
from gemmlab.steps.registry import KERNELS

from . import command

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_S = 900
MAGIC = "%%kernel "
# What a call takes on a GPU, roughly: nvcc for a variant, measuring, the simulator.
SECONDS_OF = {
    "lab.variant(": 10,
    MAGIC: 10,
    "lab.exercises.": 10,
    "lab.experiments.": 5,
    "lab.tune(": 5,
    "lab.bench(": 4,
    "lab.trace(": 1,
    "lab.check(": 1,
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# A code cell tagged `solution` is folded in the book and in JupyterLab.
SOLUTION = {
    "jupyter": {"source_hidden": True},
    "mystnb": {"code_prompt_show": "Show the solution", "code_prompt_hide": "Hide the solution"},
}


def environment() -> dict:
    """What the chapters are executed on: backend, versions, date and commit."""
    report = device()
    return {
        "backend": report.backend,
        "found": {item.name: item.found for item in report.items if item.ok},
        "date": datetime.date.today().isoformat(),
        "commit": commit() or "unknown",
    }


def tidy(nb: NotebookNode, ran_on: dict) -> None:
    """Take out what no reader sees, fold the solutions, and note what the notebook ran on."""
    nb.metadata = NotebookNode(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        language_info={"name": "python", "file_extension": ".py", "pygments_lexer": "ipython3"},
        gemmlab=ran_on,
    )
    for cell in nb.cells:
        cell.metadata.pop("execution", None)
        tags = cell.metadata.get("tags", [])
        if "solution" in tags:
            cell.metadata.update(SOLUTION)
            cell.metadata["tags"] = [*tags, *({"hide-cell"} - set(tags))]
        if "remove-input" in tags:  # a prediction's own code would give the answer away
            cell.metadata["jupyter"] = {"source_hidden": True}
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)


def execute(path: Path, ran_on: dict) -> None:
    """Run one chapter from its first cell to its last and write it back.

    Raises CellExecutionError, and leaves the file as it was, if a cell fails.
    """
    nb = nbformat.read(path, as_version=4)
    _run(nb, path)
    tidy(nb, ran_on)
    write_whole(path, nbformat.writes(nb) + "\n")


def check(path: Path) -> None:
    """Run one chapter from its first cell to its last, and write nothing.

    Raises CellExecutionError if a cell fails.
    """
    _run(nbformat.read(path, as_version=4), path)


def _run(nb: NotebookNode, path: Path) -> None:
    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Several processes that look for free ports at a time take each other's; sockets have names.
    with tempfile.TemporaryDirectory(prefix="gemmlab-") as folder:
        client = NotebookClient(
            nb,
            AsyncKernelManager(transport="ipc", ip=f"{folder}/kernel"),
            timeout=TIMEOUT_S,
            kernel_name="python3",
            resources={"metadata": {"path": str(path.parent)}},
            store_widget_state=False,
            record_timing=False,
        )
        environment = {**os.environ, "GEMMLAB_PROGRESS": "0", "PYTHONPATH": search}
        # A kernel that was started by a manager of ours would otherwise live, with what it has
        # loaded, until the last chapter is done.
        client.execute(env=environment, cleanup_kc=True)


def wanted() -> list[tuple[Program, str]]:
    """The programs that many chapters share, with each precision that they are compiled for."""
    steps = [(Program(spec), precision) for spec in KERNELS for precision in spec.precisions]
    return [*steps, *((experiment(name), precision_of(name)) for name in EXPERIMENTS)]


def written(path: Path) -> list[tuple[str, str]]:
    """The kernels that a chapter writes: what stands behind %%kernel, and the lines below it."""
    sources = (c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code")
    parts = (source.partition("\n") for source in sources if source.startswith(MAGIC))
    return [(line.removeprefix(MAGIC), f"{body}\n") for line, _, body in parts]


def build_written(line: str, body: str) -> bool:
    """Build such a kernel; False for one that is not meant to compile, or not on this GPU."""
    try:
        name, like, options = first_line(line)
        make(name, body, registry.get(like) if like else None, options)
    except GemmlabError:
        return False
    return True


def build_all(chapters: Sequence[Path], jobs: int) -> int:
    """Build all that is known without running a chapter, `jobs` at a time; how many it is."""
    possible = [(one, precision) for one, precision in wanted() if not requirements.lacking(one)]
    cells = [cell for path in chapters for cell in written(path)]
    with ThreadPoolExecutor(jobs) as pool:
        shared = pool.map(lambda pair: build.load(*pair), possible)
        own = pool.map(lambda cell: build_written(*cell), cells)
        return len([*shared]) + sum(own)


def each(
    work: Callable[..., None], tasks: Sequence[tuple], jobs: int, *, own_cores: bool = False
) -> Iterator[tuple]:
    """(chapter, seconds, what went wrong) of each task, as they end, `jobs` processes at a time.

    own_cores: each process, and what it starts, has an equal part of the cores for itself.
    """
    context = multiprocessing.get_context("spawn")  # torch's CUDA does not survive a fork
    parts = context.Queue()
    cores = sorted(os.sched_getaffinity(0))
    for i in range(jobs):
        parts.put(cores[i::jobs] if own_cores else cores)
    with ProcessPoolExecutor(jobs, context, initializer=_settle, initargs=(parts,)) as pool:
        futures = [pool.submit(_timed, work, task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()


def _settle(parts: Queue) -> None:
    os.sched_setaffinity(0, parts.get())


def _timed(work: Callable[..., None], task: tuple) -> tuple[Path, float, str]:
    start = time.monotonic()
    try:
        work(*task)
        said = ""
    except (CellExecutionError, TimeoutError, RuntimeError) as error:
        said = str(error) or type(error).__name__
    return task[0], time.monotonic() - start, said


def seconds_of(path: Path) -> int:
    """What a chapter takes on a GPU, roughly: by what its code asks for."""
    cells = nbformat.read(path, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    return sum(code.count(word) * seconds for word, seconds in SECONDS_OF.items())


def prepare(chapters: Sequence[Path], jobs: int) -> None:
    """Build what is known of the chapters' kernels, and say how long it took."""
    start = time.monotonic()
    known = build_all(chapters, jobs)
    took = time.monotonic() - start
    print(f"{known} steps, experiments and cells built: {took:.0f} s", flush=True)


def main() -> int:
    """The command line; the number of chapters that failed is the exit status."""
    parser = command.parser("execute", __doc__)
    parser.add_argument("chapters", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="default: all cores")
    parser.add_argument("--check", action="store_true", help="run them, and write nothing")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--cold", action="store_true", help="build nothing beforehand")
    how.add_argument("--build-only", action="store_true", help="execute nothing afterwards")
    given = parser.parse_args()
    if missing := [str(path) for path in given.chapters if not path.is_file()]:
        parser.error(f"no such chapter: {', '.join(missing)}")
    if given.jobs < 1:
        parser.error("--jobs: at least 1")
    os.environ["GEMMLAB_PROGRESS"] = "0"
    ran_on = environment()
    on_gpu = ran_on["backend"] == "gpu"
    if given.build_only and not on_gpu:
        raise GemmlabError("--build-only: kernels are built for a GPU, and there is none here")
    print(f"on {ran_on['backend']}: {ran_on['found'].get('GPU', 'no GPU')}", flush=True)
    if on_gpu and not given.cold:
        prepare(given.chapters, given.jobs)
    if given.build_only:
        return 0
    return _execute_all(given, ran_on)


def _execute_all(given: argparse.Namespace, ran_on: dict) -> int:
    """Execute the chapters, or only check them; how many failed."""
    failed, start = 0, time.monotonic()
    turns = ran_on["backend"] == "gpu" and not given.check
    ordered = sorted(given.chapters, key=seconds_of, reverse=True)
    work, rest = (check, ()) if given.check else (execute, (ran_on,))
    with tempfile.TemporaryDirectory(prefix="gemmlab-turns-") as folder:
        os.environ[VARIABLE] = f"{folder}/turns" if turns else ""
        for path, seconds, said in each(
            work, [(path, *rest) for path in ordered], given.jobs, own_cores=turns
        ):
            failed += _told(path, seconds, said)
    print(f"{len(ordered)} chapters: {time.monotonic() - start:.0f} s", flush=True)
    return failed


def _told(path: Path, seconds: float, said: str) -> bool:
    """Say how a chapter went; whether it failed."""
    if said:
        print(
            f"{path}: failed after {seconds:.0f} s, not written\n{said}",
            file=sys.stderr,
            flush=True,
        )
    else:
        print(f"{path}: {seconds:.1f} s", flush=True)
    return bool(said)


if __name__ == "__main__":
    command.run(main)
