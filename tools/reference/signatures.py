"""Signatures as a reader types them: annotations without quotes, aliases written out."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import ModuleType

COLUMNS = 80  # of the book's page at 1280 pixels
ONE_LINE = 44  # of its page at 390 pixels
# Aliases of other packages, and classes: what a reader looks up stays as it is.
_KEPT = {"Callable", "Sequence", "Mapping", "Iterable"}
_ALIAS = re.compile(r"_?[A-Z]\w*[a-z]")


def signature(name: str, thing: Callable) -> str:
    """The call, on one line if it fits, else a line for each parameter."""
    found = inspect.signature(thing)
    module = sys.modules[thing.__module__]
    parts = _parameters(found, thing, module)
    result = "" if inspect.isclass(thing) else f" -> {annotation(found.return_annotation, module)}"
    line = f"{name}({', '.join(parts)}){result}"
    if len(line) <= ONE_LINE or not parts:
        return line
    lines = [wrapped for part in parts for wrapped in _wrapped(f"{part},")]
    return "\n".join((f"{name}(", *lines, f"){result}"))


def _wrapped(part: str) -> list[str]:
    """A parameter, on several lines if it is long."""
    return textwrap.wrap(
        part,
        COLUMNS,
        initial_indent=" " * 4,
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _parameters(found: inspect.Signature, thing: Callable, module: ModuleType) -> list[str]:
    parts, keyword_only = [], False
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            if not any(part.startswith("*") for part in parts):
                parts.append("*")
        if parameter.kind is parameter.VAR_POSITIONAL:
            keyword_only = True
        parts.append(_parameter(parameter, thing, module))
    return parts


def _parameter(parameter: inspect.Parameter, thing: Callable, module: ModuleType) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = stars + parameter.name
    if parameter.annotation is not parameter.empty:
        text += f": {annotation(parameter.annotation, module)}"
    if parameter.default is not parameter.empty:
        text += f" = {_default(parameter, thing)}"
    return text


def annotation(written: object, module: ModuleType) -> str:
    """An annotation as text, with the aliases of gemmlab's modules written out."""
    text = written if isinstance(written, str) else getattr(written, "__name__", repr(written))
    return re.sub(r"(?<![\w.])[A-Za-z_]\w*(?![\w.])", lambda m: _resolved(m[0], module), text)


def _resolved(name: str, module: ModuleType) -> str:
    found = None if name in _KEPT else _alias(name, module.__name__)
    return annotation(found[1], sys.modules[found[0]]) if found else name


def _alias(name: str, module: str) -> tuple[str, str] | None:
    """(module, text) of a type alias that a module defines, or imports from another of gemmlab."""
    aliases, imports = _names(module)
    if name in aliases:
        return module, aliases[name]
    if name in imports and imports[name] in sys.modules:
        return _alias(name, imports[name])
    return None


@cache
def _names(module: str) -> tuple[dict[str, str], dict[str, str]]:
    """What a module defines as aliases, name -> text; and what it imports, name -> module."""
    here = sys.modules[module]
    package = module if hasattr(here, "__path__") else module.rpartition(".")[0]
    aliases, imports = {}, {}
    for node in ast.walk(ast.parse(inspect.getsource(here))):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            source = importlib.util.resolve_name("." * node.level + node.module, package)
            imports |= {n.name: source for n in node.names}
        elif isinstance(node, ast.Assign) and _is_alias(node):
            aliases[node.targets[0].id] = ast.unparse(node.value)
    return aliases, imports


def _is_alias(node: ast.Assign) -> bool:
    target = node.targets[0]
    named = isinstance(target, ast.Name) and _ALIAS.match(target.id)
    return bool(named) and isinstance(node.value, ast.Subscript | ast.BinOp)


def _default(parameter: inspect.Parameter, thing: Callable) -> str:
    value = parameter.default
    if is_dataclass(thing) and type(value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS":
        made = next(f for f in fields(thing) if f.name == parameter.name).default_factory
        return f"{made.__name__}()" if made is not MISSING else "..."
    return literal(value)


def literal(value: object) -> str:
    """A default as code, texts in double quotes."""
    if isinstance(value, str):
        return '"' + value.replace('"', '\\"') + '"'
    if isinstance(value, tuple) and type(value) is tuple:
        inner = ", ".join(map(literal, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__name__
    if type(value).__name__ == "Precision":
        return f'PRECISIONS["{value.name}"]'
    return repr(value)
