"""A step and the text that is compiled for it: its own file, a changed copy, or a cell."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..core.layout import PLAIN
from .spec import KernelSpec
from .text import included_files


@dataclass(frozen=True)
class Origins:
    """Where the lines of a file made from a notebook's cell come from.

    lines: for each line of the file, the line of the cell, or minus the line of `parent`. parent:
    the file of the step that the cell changes, "kernels/sgemm/06_swizzled_a.cuh"; "" if the cell is
    a file of its own.
    """

    lines: tuple[int, ...]
    parent: str = ""

    def place(self, line: int) -> str:
        """A line of the file, counted from 1, as the reader knows it."""
        origin = self.lines[line - 1] if 0 < line <= len(self.lines) else 0
        if origin > 0:
            return f"line {origin} of the cell"
        if origin < 0 and self.parent:
            return f"line {-origin} of {self.parent} (unchanged)"
        return "the end of the file"

    def translate(self, text: str, file: str) -> str:
        """`text`, with each line that it names of the file `file` as the reader knows it.

        A line that says what it is of stays: it has been translated.
        """
        places = re.compile(rf"(?:{re.escape(file)}:|\b[Ll]ine )(\d+)\b(?! of )")
        return places.sub(lambda found: self.place(int(found[1])), text)


@dataclass(frozen=True)
class Source:
    """The text that is compiled.

    path: the file. entry: the name in launch_<entry>. label: the name to show, "" for the step's.
    trusted: False for a text written in a notebook, which runs in a process of its own before it
    runs on the GPU here. origins: of a text made from a cell.
    """

    path: Path
    entry: str
    label: str = ""
    trusted: bool = True
    origins: Origins | None = field(default=None, compare=False)

    @property
    def launch(self) -> str:
        """The function that launches it, or the template of it."""
        return f"launch_{self.entry}"

    def in_the_cell(self, text: str) -> str:
        """`text` with the lines of this file as lines of the cell that it was made from."""
        return self.origins.translate(text, self.path.name) if self.origins else text


@dataclass(frozen=True)
class Program:
    """What is built and run: the facts of a step, and a text. Without one, the step's own file."""

    spec: KernelSpec
    source: Source = None  # type: ignore[assignment]  # filled in below, so never None

    def __post_init__(self) -> None:
        if self.source is None:
            object.__setattr__(self, "source", Source(self.spec.path, self.spec.name))

    @property
    def name(self) -> str:
        """The step's name, or that of a kernel written in a notebook."""
        return self.spec.name

    @property
    def is_own_file(self) -> bool:
        """Whether the text is the step's own file in kernels/."""
        return self.source.path == self.spec.path

    @property
    def dynamic_shared(self) -> bool:
        """Whether its shared memory is asked for at the launch, so that ptxas does not know it."""
        files = included_files(self.source.path)
        return any("extern __shared__" in file.read_text() for file in files)

    @property
    def title(self) -> str:
        """The name to show: a changed copy says that it is one."""
        return self.source.label or self.name + " (variant)" * (not self.is_own_file)

    @property
    def parent(self) -> str | None:
        """The step that the text was made from: of a changed copy, the step itself."""
        changed = self.source.trusted and not self.is_own_file
        return self.name if changed else self.spec.parent

    def launch(self, precision: str = "", layout: str = PLAIN) -> str:
        """The function that launches it in a precision and a layout, with its template's arguments.

        Raises ArgumentError for a precision or a layout that the step is not compiled for.
        """
        return self.source.launch + self.spec.template_arguments(precision, layout)
