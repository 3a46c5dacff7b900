"""What keeps a program from running: each with its place and with what would help."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import BuildError
from ..unsupported import explained

_ERROR = re.compile(r"^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$")
_MISSING = re.compile(r"^(.+?):(\d+):(?:\d+:)? fatal error: (\S+): No such file", re.MULTILINE)
_TWICE = re.compile(r"multiple definition of `([^']+)'")
_UNDEFINED = re.compile(r"undefined reference to `([^']+)'")
# Headers of NVIDIA's and PyTorch's libraries, which many files include and do not need.
_LIBRARY = re.compile(
    r"(cu(da|blas|rand|sparse|fft|solver|dnn|tensor|tlass|pti)|nv|nccl|npp|thrust/|cub/|cute/|"
    r"cutlass/|torch/|ATen/|c10/|helper_|device_|sm_\d|vector_|math_constants|channel_desc|builtin_)"
)


@dataclass(frozen=True)
class Blocker:
    """file, line: where, None if it has no line. what: in words. remedy: what would help."""

    file: str
    line: int | None
    what: str
    remedy: str
    is_missing_header: bool = False

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")


class NotRunnableError(BuildError):
    """A program cannot run on the simulator. blockers: all that was found to stand in its way."""

    def __init__(self, blockers: tuple[Blocker, ...]) -> None:
        super().__init__("\n".join(map(str, blockers)))
        self.blockers = blockers


def blockers_of(said: str) -> list[Blocker]:
    """Those in the messages of g++ and the linker."""
    found: dict[Blocker, None] = {}
    for line in said.splitlines():
        if missing := _MISSING.match(line):
            file, number, header = missing.groups()
            remedy = "name its folder with -I, or leave it out"
            what = f"there is no header {header}"
            found[Blocker(file, int(number), what, remedy, True)] = None
        elif error := _ERROR.match(line):
            file, number, text = error.groups()
            known = explained(line)
            what, _, remedy = (known or text).partition("; ")
            found[Blocker(file, int(number), what, remedy)] = None
        elif undefined := _UNDEFINED.search(line):
            what = f"{undefined[1]} is used and defined nowhere"
            remedy = "name the file that defines it, too; the simulator has no other libraries"
            found[Blocker(line.split(":")[0], None, what, remedy)] = None
        elif twice := _TWICE.search(line):
            what = f"{twice[1]} is defined in more than one of the files"
            remedy = "include the file that defines it in one of them only"
            found[Blocker(line.split(": multiple")[0].split(":")[0], None, what, remedy)] = None
    return list(found) or [Blocker("g++", None, said.strip() or "no message", "")]


def stand_in_for(said: str, folder: Path) -> str:
    """An empty header in `folder` for one that g++ did not find; its name, "" if there is none.

    Only for a library's, which a program may include without a need; a program's own is missed.
    """
    found = _MISSING.search(said)
    if found is None or not _LIBRARY.match(found[3]) or (folder / found[3]).exists():
        return ""
    file = folder / found[3]
    if not file.resolve().is_relative_to(folder.resolve()):
        return ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    return found[3]


def listed(blockers: Iterable[Blocker]) -> str:
    """All of them, a line each."""
    return "".join(f"  {blocker}\n" for blocker in blockers)
