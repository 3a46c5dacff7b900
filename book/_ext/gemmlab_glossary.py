"""Sphinx extension: the first use of a term leads to the glossary, and says what the term means.

The terms stand in book/glossary.md, in `{glossary}` directives: lines with names of one term, the
names with which chapters call it, and below them its meaning. A link carries the meaning as its
title; book/_static/glossary.js shows it on hover, on focus and on the first touch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.nodes import _make_id

PAGE = "glossary"
# Pages without prose of their own, that list terms, or that explain them as they come.
LEFT_OUT = (PAGE, "reference", "coverage", "departures", "intro")
_DIRECTIVE = re.compile(r"^:::\{glossary\}\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
_VARIABLES = frozenset({"bank", "block", "box", "lane", "stage", "tile", "warp"})
# In `<details>` text is folded, and in a link of the text's own HTML it is a link already.
_CLOSING = re.compile(r"<(/?)(?:details|a)\b")
# Text in these is no prose, or is a link or a heading already.
_CLOSED = (
    nodes.title,
    nodes.reference,
    pending_xref,
    nodes.FixedTextElement,
    nodes.math,
    nodes.raw,
)


@dataclass(frozen=True)
class Term:
    """A term of the glossary: what it is called, its anchor on the page, its meaning."""

    names: tuple[str, ...]
    anchor: str
    meaning: str


@cache
def terms(path: Path) -> tuple[Term, ...]:
    """The terms of the glossary in this file."""
    found = []
    for directive in _DIRECTIVE.finditer(path.read_text(encoding="utf-8")):
        for entry in re.split(r"\n\s*\n", directive[1].strip("\n")):
            lines = entry.splitlines()
            names = [line.strip("`") for line in lines if not line.startswith("  ")]
            meaning = " ".join(line.strip() for line in lines if line.startswith("  "))
            anchor = _make_id(f"term-{names[0]}")
            found.append(Term(tuple(names), anchor, meaning.replace("`", "").replace("*", "")))
    return tuple(found)


def pattern(known: tuple[Term, ...]) -> re.Pattern:
    """Any name of a term as a word, also in the plural and at the beginning of a sentence."""
    names = sorted({name for term in known for name in term.names}, key=len, reverse=True)
    forms = [
        f"[{name[0]}{name[0].upper()}]{re.escape(name[1:])}"
        if name[0].islower()
        else re.escape(name)
        for name in names
    ]
    return re.compile(rf"(?<![\w./-])(?:{'|'.join(forms)})(?:e?s)?(?![\w/-]|\.\w)")


def link_terms(doctree: nodes.document, known: tuple[Term, ...]) -> None:
    """Make the first use of each term in a page's open prose a link to the glossary."""
    words = pattern(known)
    left = {name: term for term in known for name in term.names}
    for text in list(_prose(doctree)):
        if isinstance(text.parent, nodes.literal):
            _link_code(text.parent, left)
        elif pieces := _pieces(text.astext(), words, left):
            text.parent.replace(text, pieces)


def _prose(doctree: nodes.document) -> Iterator[nodes.Text]:
    """The text of a page in its order, without what is folded away or in a link."""
    depth = 0
    for node in doctree.findall():
        if isinstance(node, nodes.raw):
            for tag in _CLOSING.finditer(node.astext()):
                depth += -1 if tag[1] else 1
        elif isinstance(node, nodes.Text) and depth == 0 and _open(node):
            yield node


def _open(text: nodes.Text) -> bool:
    above = text.parent
    while above is not None:
        if isinstance(above, _CLOSED) or "book-minutes" in above.get("classes", ()):
            return False
        above = above.parent
    return True


def _link_code(literal: nodes.literal, left: dict[str, Term]) -> None:
    """A term in code's letters, such as `cp.async`, becomes a link as a whole.

    `tile` in code's letters is a variable of some program, not the term.
    """
    term = left.get(literal.astext())
    if term is not None and literal.astext() not in _VARIABLES:
        _forget(term, left)
        link = _link("", term)
        literal.replace_self(link)
        link += literal


def _pieces(text: str, words: re.Pattern, left: dict[str, Term]) -> list[nodes.Node]:
    """The text with links at the terms that were not linked yet; none if there is no such term."""
    pieces: list[nodes.Node] = []
    end = 0
    for word in words.finditer(text):
        term = _named(word[0], left)
        if term is None:
            continue
        _forget(term, left)
        pieces += [nodes.Text(text[end : word.start()]), _link(word[0], term)]
        end = word.end()
    return [*pieces, nodes.Text(text[end:])] if pieces else []


def _named(word: str, left: dict[str, Term]) -> Term | None:
    """The term that a word of the text is, if it is still to be linked."""
    for form in (word, word.removesuffix("s"), word.removesuffix("es")):
        for name in (form, form[:1].lower() + form[1:]):
            if name in left:
                return left[name]
    return None


def _forget(term: Term, left: dict[str, Term]) -> None:
    for name in term.names:
        left.pop(name, None)


def _link(text: str, term: Term) -> nodes.reference:
    return nodes.reference(
        text,
        text,
        refuri=f"{PAGE}.html#{term.anchor}",
        internal=True,
        reftitle=term.meaning,
        classes=["gl-term"],
    )


def link_page(app: Sphinx, doctree: nodes.document) -> None:
    """Link the terms of one chapter; a changed glossary makes it anew."""
    source = Path(app.env.doc2path(app.env.docname))
    glossary = source.with_name(f"{PAGE}.md")
    if source.stem in LEFT_OUT or not glossary.is_file():
        return
    app.env.note_dependency(str(glossary))
    link_terms(doctree, terms(glossary))


def setup(app: Sphinx) -> dict:
    """Register with Sphinx. Behind the extension that writes below a title."""
    app.add_js_file("glossary.js", loading_method="defer")
    app.connect("doctree-read", link_page, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
