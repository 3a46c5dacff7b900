"""Which kernel is compiled for the simulator, and how: what names it in another process, too."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from ..core.layout import PLAIN
from ..steps.program import Program
from . import build


@dataclass(frozen=True)
class SimSource:
    """A kernel file and its launcher.

    name: as it is shown. launch: the function that launches it. portable, workspace: as those of
    `compile_source`. inline, fill: of `build.kernel`.
    """

    name: str
    path: Path
    launch: str
    portable: bool = False
    workspace: bool = False
    inline: bool = False
    fill: str = ""

    def kernel(self) -> build.KernelLibrary:
        """Its library, compiled if it is not in the cache."""
        return build.kernel(
            self.path,
            self.launch,
            self.portable,
            self.workspace,
            inline=self.inline,
            fill=self.fill,
        )

    def runtime(self) -> Path:
        """The simulator's library, on which it runs."""
        return build.runtime(self.portable)

    def plain(self) -> dict:
        """As plain data, for JSON."""
        return {**asdict(self), "path": str(self.path)}

    @classmethod
    def from_plain(cls, data: dict) -> SimSource:
        """What `plain` gave."""
        return cls(**{**data, "path": Path(data["path"])})


def source_of(program: Program, precision: str = "", layout: str = PLAIN) -> SimSource:
    """A step in a precision (its first, if not given) and a layout.

    A reader's text is compiled so that the lines which call small functions are named, and that
    variables which are declared without a value hold one that shows in C.
    Raises ArgumentError for a precision or a layout that the step does not have.
    """
    return SimSource(
        program.name,
        program.source.path,
        program.launch(precision, layout),
        workspace=program.spec.workspace,
        inline=not program.source.trusted,
        fill="" if program.source.trusted else "pattern",
    )
