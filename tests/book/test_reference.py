"""The reference page: made from the docstrings, with every public name."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys

import nbformat
import pytest

import gemmlab as lab
from gemmlab.core import errors
from tools.reference import __main__ as command
from tools.reference import describe, examples, face
from tools.reference.docstrings import markdown, parse

ENTRIES, AGAIN = face.everything()
CALLABLES = [entry for entry in ENTRIES if entry.is_callable]
ERRORS = {name for name, e in vars(errors).items() if inspect.isclass(e)} - {"GemmlabError"}

# Parameters that a docstring need not name, and why.
UNNAMED = {
    "layouts.TensorMap": "they are those of Arguments, which its docstring names",
}
# Errors that a function catches itself.
CAUGHT = {"device": {"BackendError"}}  # it reports what is missing
LARGEST_PAGE = 1_500_000


def path(entry: face.Entry) -> str:
    return entry.path


# ---- the page ----


def test_page_is_what_would_be_written_now():
    assert not (why := command.stale()), why


def test_changed_docstring_makes_the_page_stale(monkeypatch):
    monkeypatch.setattr(lab.layouts.wavefronts, "__doc__", "Something else.")
    assert "lab.layouts.wavefronts: python -m tools.reference" in command.stale()


def test_page_is_small():
    assert face.PAGE.stat().st_size <= LARGEST_PAGE


def test_every_public_name_is_there():
    cells = nbformat.read(face.PAGE, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    rooms = [f"{room}.{name}" for room in face.ROOMS for name in getattr(lab, room).__all__]
    names = [*(name for name in lab.__all__ if name not in face.ROOMS), *rooms]
    assert [
        name for name in names if not re.search(rf"\blab\.{re.escape(name)}\b", unescaped(text))
    ] == []


def unescaped(text: str) -> str:
    return text.replace("\\_", "_")


def test_links_within_the_page_arrive():
    cells = nbformat.read(face.PAGE, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    places = re.findall(r'<a id="([^"]+)"', text)
    assert len(places) == len(set(places))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(places)


# ---- names and examples ----


def test_names_and_examples_fit_together():
    face.check(ENTRIES)


def test_name_without_an_example_is_refused(monkeypatch):
    monkeypatch.delitem(face.EXAMPLES, "layouts.wavefronts")
    with pytest.raises(face.FaceError, match=r"lab\.layouts\.wavefronts has no example: add one"):
        face.check(ENTRIES)


def test_verb_without_an_example_is_refused(monkeypatch):
    monkeypatch.delitem(face.VERBS, "bench")
    with pytest.raises(face.FaceError, match=r"lab\.bench has no example"):
        face.verbs()


@pytest.mark.parametrize("table", ["EXAMPLES", "TABLES_OF"])
def test_example_of_a_name_that_is_gone_is_refused(monkeypatch, table):
    monkeypatch.setitem(getattr(face, table), "layouts.wave_fronts", "")
    with pytest.raises(face.FaceError, match=r"there is no lab\.layouts\.wave_fronts"):
        face.check(ENTRIES)


@pytest.mark.parametrize("name", sorted(examples.EXAMPLES))
def test_example_uses_what_it_is_an_example_of(name):
    used = re.findall(r"\w+", examples.EXAMPLES[name])
    assert name.rpartition(".")[2] in used


# ---- docstrings ----


@pytest.mark.parametrize("entry", CALLABLES, ids=path)
def test_docstring_has_a_summary(entry):
    first = (inspect.getdoc(entry.thing) or "").split("\n\n")[0]
    assert "\n" not in first
    assert first.endswith((".", "?", "...")) and describe.documented(entry.thing).summary


@pytest.mark.parametrize("entry", CALLABLES, ids=path)
def test_docstring_names_every_parameter(entry):
    if entry.path in UNNAMED:
        return
    text = inspect.getdoc(entry.thing)
    names = inspect.signature(entry.thing).parameters
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize("entry", CALLABLES, ids=path)
def test_docstring_says_what_is_raised(entry):
    text = inspect.getdoc(entry.thing)
    errors_ = raised(entry) - CAUGHT.get(entry.path, set())
    assert [name for name in sorted(errors_) if name not in text] == []


def test_exceptions_are_needed():
    assert {*UNNAMED, *CAUGHT} <= {entry.path for entry in CALLABLES}


def raised(entry: face.Entry) -> set[str]:
    """Errors that a function, or the making of a class, raises by itself.

    What it calls in its own module counts, and the checks of arguments in gemmlab.core.
    """
    node = definitions(entry.home)[entry.thing.__name__]
    made = ("__init__", "__post_init__")
    parts = (
        [node]
        if isinstance(node, ast.FunctionDef)
        else [n for n in node.body if name_of(n) in made]
    )
    return set().union(*(raised_in(part, entry.home, frozenset()) for part in parts))


def name_of(node: ast.stmt) -> str:
    return node.name if isinstance(node, ast.FunctionDef) else ""


def raised_in(node: ast.AST, module: str, seen: frozenset[str]) -> set[str]:
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Raise) and part.exc is not None:
            words = {n.id for n in ast.walk(part.exc) if isinstance(n, ast.Name)}
            found |= words & ERRORS
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            found |= raised_by_call(part.func.id, module, seen)
    return found


def raised_by_call(name: str, module: str, seen: frozenset[str]) -> set[str]:
    called = getattr(sys.modules[module], name, None)
    home = getattr(called, "__module__", "")
    near = home == module or home.startswith("gemmlab.core.")
    if name in seen or not near or not inspect.isfunction(called):
        return set()
    inside = definitions(home).get(called.__name__)
    return raised_in(inside, home, seen | {name}) if inside else set()


@functools.cache
def definitions(module: str) -> dict[str, ast.stmt]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}


# ---- from a docstring to Markdown ----


def test_docstring_is_taken_apart():
    doc = parse(
        "What it does. And more.\n\nA paragraph. rows, cols: of a tile, 2**n each. `wide` lets it\n"
        "be wide. Raises ArgumentError for a tile of 0 rows.",
        ("rows", "cols", "wide"),
    )
    assert doc.summary == "What it does."
    assert doc.body == ["And more.", "A paragraph."]
    assert doc.items == [
        (("rows", "cols"), "of a tile, 2**n each."),
        (("wide",), "`wide` lets it be wide."),
    ]
    assert doc.errors == ["ArgumentError for a tile of 0 rows."]


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("a * b, Swizzle<2,3,6>", r"a \* b, `Swizzle<2,3,6>`"),
        ("2**M offsets, |S| <= 3", r"`2**M` offsets, \|S\| \<= 3"),
        ("`a_b`, and row_length", "`a_b`, and `row_length`"),
        ("Raises ArgumentError", "Raises `ArgumentError`"),
    ],
)
def test_markup_is_escaped_and_code_is_code(plain, shown):
    assert markdown(plain) == shown
