"""Bring what chapters store up to date (`make widgets`): widgets, and recorded numbers in prose.

    python -m tools.refresh [--check] book/x.ipynb ...

A stored widget carries its module and its style sheet. When those change, this puts the new ones in
without executing anything, so that what was measured on a GPU stays as it is. When a recording
changes, the numbers of the prose that name its rows change with it (tools.figures). --check writes
nothing, and fails if there is something to bring up to date.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat

from gemmlab import widgets
from gemmlab.core.files import write_whole
from gemmlab.widgets.shared.base import Widget

from . import command, figures

STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
MODULE = re.compile(r"data:text/javascript;base64,[A-Za-z0-9+/=]+")
NAME = re.compile(r'data-widget="(\w+)"')


def refreshed(html: str) -> str:
    """The static HTML of one widget with its current module and style; other HTML as it is.

    Raises AttributeError if there is no such widget any more.
    """
    name = NAME.search(html)
    if name is None:
        return html
    widget: type[Widget] = getattr(widgets, name[1])
    module = base64.b64encode(widget._esm.encode()).decode()
    html = STYLE.sub(lambda _: f"<style>{widget._css}</style>", html, count=1)
    return MODULE.sub(lambda _: f"data:text/javascript;base64,{module}", html, count=1)


def refresh(path: Path, check: bool = False) -> bool:
    """Refresh the widgets and numbers of one chapter, or only look; whether any was old."""
    nb = nbformat.read(path, as_version=4)
    changed = figures.fill(nb)
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            html = output.get("data", {}).get("text/html")
            if html and (new := refreshed(html)) != html:
                output.data["text/html"] = new
                changed = True
    if changed and not check:
        write_whole(path, nbformat.writes(nb) + "\n")
    return changed


def main() -> int:
    """The command line."""
    parser = command.parser("refresh", __doc__)
    parser.add_argument("chapters", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    given = parser.parse_args()
    if missing := [str(path) for path in given.chapters if not path.is_file()]:
        parser.error(f"no such chapter: {', '.join(missing)}")
    old = [path for path in given.chapters if refresh(path, given.check)]
    for path in old:
        print(f"{path}: {'to bring' if given.check else 'brought'} up to date")
    return 1 if given.check and old else 0


if __name__ == "__main__":
    command.run(main)
