"""Execute chapters in place (`make notebooks`).

    python -m tools.execute [--jobs N] [--cold] [--build-only] book/x.ipynb ...

A chapter is written back only if all of its cells ran. What changes from run to run for no reason
(widget ids, timings of cells, versions of the kernel) is left out, so that a difference between two
commits is a difference that a reader sees.

On a GPU, nearly all of the time goes into compiling. So every kernel is built first, by all cores:
the steps, the experiments and the cells with %%kernel, which are known without running anything;
and meanwhile what else single chapters have (variants), by rehearsing the chapters several at a
time, where benchmarks are short and nothing is kept. What two need at a time is built once. Then
several chapters run at a time, each on cores of its own, and take turns at the GPU: a measurement
has it alone (gpu/turns.py). --cold leaves the building out, --build-only stops after it.
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
from nbformat.v4 import new_code_cell

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
TUNING_S = 60  # that a call of lab.tune takes, roughly
CORES_OF_A_CHAPTER = 4  # on a GPU: enough for the simulator and for launching without a pause
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


def rehearse(path: Path) -> None:
    """Run one chapter for what it builds, with short benchmarks; a cell that fails is passed over.

    Nothing is written but the cache of kernels.
    """
    nb = nbformat.read(path, as_version=4)
    nb.cells.insert(0, new_code_cell("from tools import rehearsal; rehearsal.shorten()"))
    _run(nb, path, allow_errors=True)


def _run(nb: NotebookNode, path: Path, allow_errors: bool = False) -> None:
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
            allow_errors=allow_errors,
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


def _times(path: Path, *words: str) -> int:
    """How often words stand in the code of a chapter."""
    cells = nbformat.read(path, as_version=4).cells
    return sum(c.source.count(word) for c in cells if c.cell_type == "code" for word in words)


def prepare(chapters: Sequence[Path], jobs: int) -> list[Path]:
    """Build all that the chapters are going to need, and say how long it took.

    Returns them in the order of what they are going to take, the longest first: what a rehearsal
    took, and the measurements of lab.tune, which it leaves out.
    """
    start = time.monotonic()
    # A rehearsal builds one kernel at a time; each has its matrices on the one GPU.
    at_a_time = max(1, jobs * 3 // 4)
    took: dict[Path, float] = {}
    longest_first = sorted(chapters, key=lambda path: -_times(path, MAGIC, "lab.variant("))
    with ThreadPoolExecutor(1) as beside:
        built = beside.submit(build_all, chapters, jobs)
        tasks = [(path,) for path in longest_first]
        for path, seconds, said in each(rehearse, tasks, at_a_time):
            print(
                f"  rehearsed {path}: {seconds:.0f} s{', ' * bool(said)}{said[-200:]}", flush=True
            )
            took[path] = seconds + TUNING_S * _times(path, "lab.tune(")
        known = built.result()
    print(
        f"{known} steps, experiments and cells, and what the chapters add, built: "
        f"{time.monotonic() - start:.0f} s",
        flush=True,
    )
    return sorted(chapters, key=lambda path: -took[path])


def main() -> int:
    """The command line; the number of chapters that failed is the exit status."""
    parser = command.parser("execute", __doc__)
    parser.add_argument("chapters", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="default: all cores")
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
        given.chapters = prepare(given.chapters, given.jobs)
    if given.build_only:
        return 0
    return _execute_all(given, ran_on)


def _execute_all(given: argparse.Namespace, ran_on: dict) -> int:
    """Execute the chapters; how many failed."""
    failed, start = 0, time.monotonic()
    on_gpu = ran_on["backend"] == "gpu"
    jobs = max(1, given.jobs // CORES_OF_A_CHAPTER) if on_gpu else given.jobs
    tasks = [(path, ran_on) for path in given.chapters]
    with tempfile.NamedTemporaryFile(prefix="gemmlab-turns-") as turns:
        os.environ[VARIABLE] = turns.name
        for path, seconds, said in each(execute, tasks, jobs, own_cores=on_gpu):
            failed += _told(path, seconds, said)
    print(f"{len(given.chapters)} chapters: {time.monotonic() - start:.0f} s", flush=True)
    return failed


def _told(path: Path, seconds: float, said: str) -> bool:
    """Say how a chapter went; whether it failed."""
    if said:
        print(f"{path}: failed, not written\n{said}", file=sys.stderr, flush=True)
    else:
        print(f"{path}: {seconds:.1f} s", flush=True)
    return bool(said)


if __name__ == "__main__":
    command.run(main)
