"""Of the modules that a widget imports only what it uses, since every page carries a copy."""

from __future__ import annotations

import re
from collections import Counter

# A statement at the left edge, up to the next one; what closes it stands at the edge, too.
_STATEMENT = re.compile(r"(?=^[^\s})\]])", re.MULTILINE)
_DEFINES = re.compile(r"(?:async )?(?:const|let|function) (\w+)")
_TOP = re.compile(r"^(?:export )?(?:async )?(?:const|let|function) (\w+)", re.MULTILINE)
# A name, but not a property; three dots spread what follows them.
_NAME = re.compile(r"(?:(?<![\w.$])|(?<=\.\.\.))[A-Za-z_$][\w$]*")


def used_only(modules: list[str]) -> str:
    """The modules in one text, without the definitions that the last of them never comes to.

    They have no comments and no `export`, but for the last one, which stays whole. Whatever is no
    definition of one name stays. A name inside a string counts as used. Raises ValueError if two
    modules define the same name: in one text the second would silently take the first one's place.
    """
    _refuse_twice(modules)
    pieces = [piece for text in modules[:-1] for piece in _STATEMENT.split(text)]
    kept = [not _DEFINES.match(piece) for piece in pieces]
    known = {found[1]: at for at, piece in enumerate(pieces) if (found := _DEFINES.match(piece))}
    reached = [modules[-1], *(piece for piece, keep in zip(pieces, kept, strict=True) if keep)]
    while reached:
        for name in set(_NAME.findall(reached.pop())) & known.keys():
            at = known.pop(name)
            kept[at] = True
            reached.append(pieces[at])
    return "".join(piece for piece, keep in zip(pieces, kept, strict=True) if keep) + modules[-1]


def _refuse_twice(modules: list[str]) -> None:
    defined = Counter(name for text in modules for name in _TOP.findall(text))
    if twice := [name for name, count in defined.items() if count > 1]:
        raise ValueError(f"defined by two modules of one widget: {', '.join(sorted(twice))}")
