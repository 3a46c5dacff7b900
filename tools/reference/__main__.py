"""Write `book/reference.ipynb` and execute it: `python -m tools.reference [--check]`."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from gemmlab.core.files import write_whole
from tools import execute

from .face import PAGE, FaceError
from .page import notebook

COMMAND = "python -m tools.reference"


def sources(page: NotebookNode) -> list[tuple[str, str, tuple[str, ...]]]:
    """What of each cell is generated: its kind, its text, and its tags."""
    return [
        (cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ()))) for cell in page.cells
    ]


def stale() -> str:
    """What differs between the page and what would be written now; "" if nothing does."""
    if not PAGE.exists():
        return f"{PAGE.name} is missing: {COMMAND}"
    now, then = sources(notebook()), sources(nbformat.read(PAGE, as_version=4))
    changed = [new for new, old in zip(now, then, strict=False) if new != old]
    if changed:
        _, text, _ = changed[
            min(1, len(changed) - 1)
        ]  # the index, which has most changes, is first
        found = re.search(r"^(?:lab\.[\w.]+|## .*)", text, re.MULTILINE)
        return f"{PAGE.name} is older than gemmlab, at {found[0] if found else text}: {COMMAND}"
    return "" if len(now) == len(then) else f"{PAGE.name} has other cells: {COMMAND}"


def main() -> int:
    """Write and execute the page, or only say whether it is current."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="the page of all public names")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if it is old")
    options = parser.parse_args()
    try:
        if options.check:
            print(found := stale())
            return bool(found)
        write(notebook())
    except (FaceError, CellExecutionError) as error:
        print(f"{PAGE.name} stays as it was: {error}", file=sys.stderr)
        return 1
    return 0


def write(page: NotebookNode) -> None:
    """Execute the page elsewhere; it takes the old one's place if no cell fails.

    Raises CellExecutionError if one does.
    """
    # The same page on every machine: what runs, runs on the simulator; times are the recorded ones.
    os.environ |= {"GEMMLAB_BACKEND": "sim", "GEMMLAB_PROGRESS": "0"}
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, PAGE.name)
        nbformat.write(page, draft)
        execute.execute(draft, execute.environment())
        write_whole(PAGE, draft.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
