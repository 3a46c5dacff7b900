"""The public names of gemmlab: verbs, rooms, what calls return; and which chapters use each."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import yaml

import gemmlab as lab

from .examples import EXAMPLES, MEASURED, RETURNED, TABLES_OF, VERBS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book" / "reference.ipynb"
ROOMS = tuple(name for name in lab.__all__ if isinstance(getattr(lab, name), ModuleType))
LAYOUTS = {  # folder or module below layouts/ -> the heading of its section
    "shared": "shared memory",
    "fragments": "fragments",
    "tiling": "tiling",
    "schedules": "schedules",
    "pipeline": "pipeline",
    "mbarrier": "mbarrier",
    "tma": "TMA",
}


class FaceError(Exception):
    """A public name and the table of examples do not fit together."""


@dataclass(frozen=True)
class Entry:
    """A public name. path: without "lab."; home: the module that defines it."""

    path: str
    thing: object
    home: str

    @property
    def name(self) -> str:
        """As a reader writes it."""
        return f"lab.{self.path}"

    @property
    def short(self) -> str:
        """Without its room; a verb as a reader writes it."""
        return self.path.partition(".")[2] or self.name

    @property
    def is_callable(self) -> bool:
        """Whether it is a function or a class."""
        return callable(self.thing)


def verbs() -> list[Entry]:
    """The verbs, in the order of the examples. Raises FaceError for one without an example."""
    there = [n for n in lab.__all__ if n not in ROOMS and n != "GemmlabError"]
    if missing := sorted(set(there) - set(VERBS)):
        raise FaceError(_without(f"lab.{missing[0]}"))
    ordered = [name for name in VERBS if name in there]
    return [Entry(name, getattr(lab, name), getattr(lab, name).__module__) for name in ordered]


def room(name: str) -> list[Entry]:
    """The public names of a room, in the order of the examples; what has none comes last."""
    module = getattr(lab, name)
    homes = _homes(module)
    found = []
    for each in module.__all__:
        thing = getattr(module, each)
        if isinstance(thing, ModuleType):
            found += _inside(f"{name}.{each}", thing)
        else:
            home = getattr(thing, "__module__", None) if callable(thing) else homes[each]
            found.append(Entry(f"{name}.{each}", thing, home))
    place = {path: number for number, path in enumerate(EXAMPLES)}
    return sorted(found, key=lambda entry: place.get(entry.path, len(place)))


def _inside(path: str, module: ModuleType) -> list[Entry]:
    """The functions and classes that a public module defines, and the tables it names READERS."""
    found = []
    for name, thing in vars(module).items():
        own = getattr(thing, "__module__", None) == module.__name__ and callable(thing)
        if (own and not name.startswith("_")) or f"{path}.{name}" in EXAMPLES:
            found.append(Entry(f"{path}.{name}", thing, module.__name__))
    return found


@cache
def _homes(module: ModuleType) -> dict[str, str]:
    """Which module a room has each name from; its own for what it defines."""
    tree = ast.parse(inspect.getsource(module))
    package = module.__name__ if hasattr(module, "__path__") else module.__package__
    found = dict.fromkeys(module.__all__, module.__name__)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            found |= {n.asname or n.name: source for n in node.names}
    return found


def layouts_group(entry: Entry) -> str:
    """The part of `lab.layouts` that a name belongs to: a key of LAYOUTS."""
    part = entry.home.removeprefix("gemmlab.layouts.").split(".")[0]
    if part not in LAYOUTS:
        raise FaceError(f"{entry.name} stands in {entry.home}: add {part!r} to LAYOUTS in face.py")
    return part


def everything() -> tuple[list[Entry], list[Entry]]:
    """All public names, each thing once; and second names of the same things."""
    found, again = verbs(), []
    seen = {id(entry.thing) for entry in found}
    for name in ROOMS:
        for entry in room(name):
            double = entry.is_callable and id(entry.thing) in seen
            (again if double else found).append(entry)
            seen |= {id(entry.thing)} if entry.is_callable else set()
    return found, again


def check(entries: list[Entry]) -> None:
    """Refuse a public name without an example, and an example without a name. Raises FaceError."""
    for entry in entries:
        if entry.path not in EXAMPLES and entry.path not in RETURNED:
            raise FaceError(_without(entry.name))
        if not entry.is_callable and entry.path not in TABLES_OF:
            raise FaceError(f"{entry.name} has no meaning: add it to TABLES_OF in examples.py")
    names = {entry.path for entry in entries}
    for path in (*EXAMPLES, *MEASURED, *RETURNED, *TABLES_OF):
        if path not in names:
            raise FaceError(f"tools/reference/examples.py has {path!r}, and there is no lab.{path}")


def _without(name: str) -> str:
    return (
        f"{name} has no example: add one to EXAMPLES in tools/reference/examples.py "
        "(or to RETURNED, if it is a class that readers only get back)"
    )


def results(entries: list[Entry]) -> list[type]:
    """The classes that public calls return and that no room names."""
    named = {id(entry.thing) for entry in entries}
    found: dict[str, type] = {}
    for entry in entries:
        if inspect.isfunction(entry.thing):
            said = entry.thing.__annotations__.get("return", "")
            for word in re.findall(r"[A-Z]\w+", str(said)):
                made = _class(word, entry.thing.__module__)
                if made and id(made) not in named:
                    found[word] = made
    return [found[name] for name in sorted(found)]


def _class(name: str, module: str) -> type | None:
    """gemmlab's class of that name: the one that a module sees, or the only one there is."""
    seen = getattr(sys.modules[module], name, None)
    found = [seen] if inspect.isclass(seen) else _defined(name)
    return next((c for c in found if c.__module__.startswith("gemmlab")), None)


def _defined(name: str) -> list[type]:
    modules = [m for key, m in sorted(sys.modules.items()) if key.startswith("gemmlab")]
    there = [getattr(m, name, None) for m in modules]
    return [c for c in there if inspect.isclass(c)]


@cache
def chapters() -> dict[str, tuple[str, str]]:
    """File stem -> (title, code) of every notebook of the book, in the order of the contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]
    found = {}
    for path in (ROOT / f"{file}.ipynb" for file in files):
        if not path.exists() or path == PAGE:
            continue
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        found[path.stem] = (title[1] if title else path.stem, code)
    return found


def used_in(path: str) -> list[tuple[str, str]]:
    """(file stem, title) of the chapters whose code names `lab.<path>`."""
    name = re.compile(rf"\blab\.{re.escape(path)}\b")
    return [(stem, title) for stem, (title, code) in chapters().items() if name.search(code)]
