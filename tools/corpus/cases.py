"""The cases of cases.toml: which files of which public repository, and what to expect of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CASES = Path(__file__).with_name("cases.toml")
DRIVERS = Path(__file__).with_name("drivers")
_KEYS = {
    *("name", "driver", "files", "include", "define", "arguments", "runs", "variants", "expect"),
    *("each", "lacks", "prints"),
}


@dataclass(frozen=True)
class Expected:
    """What should come of a case.

    compiles: as it is. right: the program has printed the line that says so (None: it is not run).
    findings: how many of each kind.
    """

    compiles: bool = True
    right: bool | None = True
    findings: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One kernel. driver: a file of ours with a main(), "" if the files have one or are compiled
    only. files, include: in the repository's folder. lacks: what it would need to compile, "" if it
    does. prints: the line that says that its result is right.
    """

    repository: str
    name: str
    driver: str
    files: tuple[str, ...]
    include: tuple[str, ...]
    define: tuple[str, ...]
    arguments: tuple[str, ...]
    expected: Expected
    lacks: str = ""
    prints: str = "right"

    @property
    def title(self) -> str:
        """Its repository and its name."""
        return f"{self.repository} {self.name}"


@dataclass(frozen=True)
class Repository:
    """name: "owner/repository" on GitHub. commit: the one that the expectations belong to."""

    name: str
    commit: str
    cases: tuple[Case, ...]


def repositories(file: Path = CASES) -> list[Repository]:
    """All that the list names. Raises ValueError for a key that is not known."""
    given = tomllib.loads(file.read_text(encoding="utf-8"))
    return [
        Repository(
            one["name"],
            one["commit"],
            tuple(case for group in one["group"] for case in _cases(one["name"], group)),
        )
        for one in given["repository"]
    ]


def _cases(repository: str, group: dict[str, Any]) -> Iterator[Case]:
    """A case for each variant of a group; "{}" in its texts stands for the variant's name.

    each.<variant>: macros of this variant alone.
    """
    if unknown := set(group) - _KEYS:
        raise ValueError(f"{repository}: there is no key {', '.join(sorted(unknown))}")
    for variant in group["variants"]:

        def texts(key: str, name: str = variant) -> tuple[str, ...]:
            return tuple(text.replace("{}", name) for text in group.get(key, ()))

        lacks = group.get("lacks", "")
        rule = {"compiles": not lacks} | ({} if group.get("runs", True) else {"right": None})
        expected = Expected(**{**rule, **group.get("expect", {}).get(variant, {})})
        name = group.get("name", "{}").replace("{}", variant)
        yield Case(
            repository,
            name,
            group.get("driver", ""),
            files=texts("files"),
            include=texts("include"),
            define=(*texts("define"), *group.get("each", {}).get(variant, ())),
            arguments=texts("arguments"),
            expected=expected,
            lacks=lacks,
            prints=group.get("prints", "right"),
        )
