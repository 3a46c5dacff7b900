"""Execute chapters in place: `python book/_ext/execute.py book/x.ipynb ...` (`make notebooks`).

A chapter is written back only if all of its cells ran. What changes from run to run for no reason
(widget ids, timings of cells, versions of the kernel) is left out, so that a difference between two
commits is a difference that a reader sees.
"""

from __future__ import annotations

import datetime
import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from gemmlab.gpu.telemetry import commit
from gemmlab.run.doctor import device

TIMEOUT_S = 900
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
    client = NotebookClient(
        nb,
        timeout=TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
    )
    client.execute()
    tidy(nb, ran_on)
    draft = path.with_suffix(".ipynb.tmp")
    nbformat.write(nb, draft)
    os.replace(draft, path)


def main(names: list[str]) -> int:
    """Execute the named chapters; the number of failures is the exit status."""
    os.environ["GEMMLAB_PROGRESS"] = "0"
    ran_on = environment()
    print(f"on {ran_on['backend']}: {ran_on['found'].get('GPU', 'no GPU')}")
    failed = 0
    for path in map(Path, names):
        start = time.monotonic()
        try:
            execute(path, ran_on)
            print(f"{path}: {time.monotonic() - start:.1f} s")
        except CellExecutionError as error:
            failed += 1
            print(f"{path}: failed, not written\n{error}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
