"""Sphinx extension: a recorded number of the prose says on hover where and when it was measured."""

from __future__ import annotations

import html
import re

from docutils import nodes
from sphinx.application import Sphinx

from gemmlab.measurements import paths
from gemmlab.measurements.quoted import quoted

_SPAN = re.compile(r'<span data-(figure|once|cited|computed)="([^"]+)">')


def origin(kind: str, words: str) -> str:
    """What the title of a number's span says."""
    if kind == "figure":
        return f"measured on {quoted(words).origin}"
    said = {"once": "measured once, on", "cited": "quoted from", "computed": "follows from"}
    return f"{said[kind]} {words}"


def titled(text: str) -> str:
    """HTML whose spans of numbers have a title. Raises ArgumentError for an unknown key."""

    def with_title(span: re.Match) -> str:
        title = html.escape(origin(span[1], html.unescape(span[2])))
        return f'<span data-{span[1]}="{span[2]}" title="{title}">'

    return _SPAN.sub(with_title, text)


def say_origins(app: Sphinx, doctree: nodes.document) -> None:
    """Give the numbers of one page their titles; a new recording makes the page anew."""
    for node in list(doctree.findall(nodes.raw)):
        if _SPAN.search(node.astext()):
            new = titled(node.astext())
            node.replace_self(nodes.raw(new, new, format=node["format"]))
            for path in paths():
                app.env.note_dependency(str(path))


def setup(app: Sphinx) -> dict:
    """Register with Sphinx, in front of what collects the headings of a page."""
    app.connect("doctree-read", say_origins, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
