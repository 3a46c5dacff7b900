"""Bring the widgets that chapters store up to date: `python book/_ext/refresh.py book/*.ipynb`.

A stored widget carries its module and its style sheet. When those change, this puts the new ones in
without executing anything (`make widgets`), so that what was measured on a GPU stays as it is.
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

import nbformat

from gemmlab import widgets
from gemmlab.widgets.shared.base import Widget

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


def refresh(path: Path) -> bool:
    """Refresh the widgets of one chapter; whether anything changed."""
    nb = nbformat.read(path, as_version=4)
    changed = False
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            html = output.get("data", {}).get("text/html")
            if html and (new := refreshed(html)) != html:
                output.data["text/html"] = new
                changed = True
    if changed:
        nbformat.write(nb, path)
    return changed


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]):
        if refresh(file):
            print(f"{file}: widgets brought up to date")
