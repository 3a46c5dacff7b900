"""One public name as Markdown: signature, meaning, parameters, errors, fields, where it is used."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass

from .docstrings import Doc, markdown, parse
from .examples import TABLES_OF
from .face import Entry, used_in
from .signatures import annotation, signature

MOST_CHAPTERS = 5


def anchor(path: str) -> str:
    """The id of an entry's place in the page."""
    return "api-" + re.sub(r"\W", "-", path)


def link(path: str, text: str = "") -> str:
    """A link to an entry that works in the book and in JupyterLab."""
    return f'<a href="#{anchor(path)}"><code>{text or "lab." + path}</code></a>'


def summary(entry: Entry) -> str:
    """The first sentence, as Markdown."""
    if not entry.is_callable:
        return markdown(parse(TABLES_OF[entry.path], ()).summary)
    return markdown(documented(entry.thing).summary)


def documented(thing: Callable) -> Doc:
    """The parts of a docstring, for the parameters or fields of its function or class."""
    names = list(inspect.signature(thing).parameters)
    if is_dataclass(thing):
        names += [f.name for f in fields(thing) if f.name not in names]
    return parse(inspect.getdoc(thing) or "", names)


def entry_text(entry: Entry, level: int) -> str:
    """The Markdown cell of a public name, from its heading to the chapters that use it."""
    head = f'<a id="{anchor(entry.path)}"></a>\n\n{"#" * level} {_title(entry)}'
    blocks = [head]
    if entry.is_callable:
        blocks += [f"```python\n{signature(entry.name, entry.thing)}\n```"]
        blocks += described(entry.thing)
    else:
        blocks += [f"`{entry.name}`: {markdown(TABLES_OF[entry.path])}"]
    return "\n\n".join([*blocks, _places(entry)])


def _title(entry: Entry) -> str:
    return entry.short.replace("_", r"\_")  # plain and short: it stands in the margin, too


def described(thing: Callable, typed: bool = False) -> list[str]:
    """What a docstring says, in blocks: text, parameters or fields, errors, then members.

    typed: fields with their types, where no signature shows them.
    """
    doc = documented(thing)
    blocks = [markdown(doc.summary), *(markdown(text) for text in doc.body)]
    if typed and is_dataclass(thing):
        blocks.append("**Fields**\n\n" + "\n".join(_fields(thing, doc)))
    elif doc.items:
        head = "Fields" if is_dataclass(thing) else "Parameters"
        blocks.append(f"**{head}**\n\n" + "\n".join(_items(doc)))
    if doc.errors:
        blocks.append("**Errors**: " + " ".join(markdown(text) for text in doc.errors))
    if inspect.isclass(thing) and (rows := list(_members(thing))):
        blocks.append("**Members**\n\n" + "\n".join(rows))
    return blocks


def _fields(thing: type, doc: Doc) -> Iterator[str]:
    module = sys.modules[thing.__module__]
    for one in fields(thing):
        if one.name.startswith("_"):
            continue
        said = doc.of(one.name).replace(f"`{one.name}` ", "", 1)
        yield f"- `{one.name}: {annotation(one.type, module)}`" + (said and f": {markdown(said)}")


def _items(doc: Doc) -> Iterator[str]:
    for names, text in doc.items:
        shown = ", ".join(f"`{name}`" for name in names)
        if text.startswith("`"):  # a sentence that begins with the name itself
            yield f"- {markdown(text)}"
        else:
            yield f"- {shown}: {markdown(text)}"


def _members(thing: type) -> Iterator[str]:
    """An item for each property and method of its own that has a docstring."""
    for name, member in vars(thing).items():
        if name.startswith("_") or name in ("summary", "figure", "png", "fallback"):
            continue
        call, text = _member(name, member)
        if text:
            first = parse(text, ()).summary.replace("\n", " ")
            yield f"- `{call}`: {markdown(first)}"


def _member(name: str, member: object) -> tuple[str, str]:
    if isinstance(member, property):
        return name, inspect.getdoc(member) or ""
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    if not inspect.isfunction(function):
        return name, ""
    parameters = list(inspect.signature(function).parameters.values())
    taken = parameters if isinstance(member, staticmethod) else parameters[1:]
    text = ", ".join(f"{'**' * (p.kind is p.VAR_KEYWORD)}{p.name}" for p in taken)
    return f"{name}({text})", inspect.getdoc(function) or ""


def _places(entry: Entry) -> str:
    chapters = used_in(entry.path)
    links = [f"[{title}]({stem}.ipynb)" for stem, title in chapters[:MOST_CHAPTERS]]
    text = f"Defined in `{entry.home}`."
    if links:
        more = len(chapters) - len(links)
        text += f" Used in {', '.join(links)}" + (f" and {more} more." if more else ".")
    return text
