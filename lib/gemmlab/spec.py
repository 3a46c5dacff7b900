"""What is known of one step: `KernelSpec`."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import ArgumentError
from .paths import repository_root
from .precision import PRECISIONS, SINGLE, precision

# The parts of the course that have steps, by the prefix of their steps' names.
FAMILIES = ("sgemm", "hgemm", "tma")


@dataclass(frozen=True)
class KernelSpec:
    """One step of the course.

    Sizes are in elements, shared memory in bytes. `multiple_of` is what (M, N, K) must each be a
    multiple of; `alignment` is what the address of A, B and C must be a multiple of, in bytes.
    `seed` names the article systems that the step reproduces ("003/sgemm_at_tiling").
    `written_to` is set for a variant, whose text stands outside `kernels/`; `label` names it.
    `workspace`: the file defines workspace_<name>(args), the bytes of scratch memory of a launch.
    `configs` names the step's compiled configurations, in the order of GemmArgs.config.
    `least_shared_bytes`: what will do, with fewer stages, where a block cannot have shared_bytes.
    `precisions` are those that it is compiled for, the usual one first. `entry` is the name in
    launch_<name>, if it is another than the step's. `untrusted`: written in a notebook, so that it
    runs in a process of its own before it runs on the GPU here.
    """

    name: str
    file: str
    idea: str
    tile: tuple[int, int, int]
    thread_tile: tuple[int, int]
    threads: int
    shared_bytes: int
    parent: str | None = None
    seed: tuple[str, ...] = ()
    precisions: tuple[str, ...] = SINGLE
    layout: str = "A, B and C row-major"
    multiple_of: tuple[int, int, int] = (1, 1, 1)
    alignment: int = 4
    min_arch: int = 70
    written_to: str = ""
    label: str = ""
    workspace: bool = False
    configs: tuple[str, ...] = ()
    entry: str = ""
    untrusted: bool = False
    least_shared_bytes: int = 0

    @property
    def launch(self) -> str:
        """The function that launches it, or the template of it."""
        return f"launch_{self.entry or self.name}"

    @property
    def family(self) -> str:
        """One of FAMILIES: the folder of its file.

        A reader's kernel so has that of the step that it is like; one that is like none has the
        first one of its types.
        """
        folder = self.file.partition("/")[0]
        if folder in FAMILIES:
            return folder
        return "sgemm" if self.precisions == SINGLE else "hgemm"

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The types of A and B that it takes."""
        return tuple(dict.fromkeys(PRECISIONS[name].given for name in self.precisions))

    def template_arguments(self, name: str = "") -> str:
        """What follows `launch` to name its function for a precision, or for the first one.

        Raises ArgumentError for a precision that it is not compiled for.
        """
        asked = precision(name or self.precisions[0])
        if asked.name not in self.precisions:
            raise ArgumentError(
                f"precision: got {name!r}; {self.name} is compiled for {', '.join(self.precisions)}"
            )
        return "" if self.precisions == SINGLE else asked.template_arguments

    @property
    def path(self) -> Path:
        """Absolute path of the source: the kernel file, or where a variant of it was written."""
        return Path(self.written_to or repository_root() / "kernels" / self.file)

    @property
    def needed_shared_bytes(self) -> int:
        """The shared memory of a block without which it does not run."""
        return self.least_shared_bytes or self.shared_bytes

    @property
    def dynamic_shared(self) -> bool:
        """Whether its shared memory is asked for at the launch, so that ptxas does not know it."""
        from .build import included_files

        return any("extern __shared__" in file.read_text() for file in included_files(self.path))

    def fits(self, M: int, N: int, K: int) -> bool:
        """Whether the step takes these sizes."""
        return all(n % of == 0 for n, of in zip((M, N, K), self.multiple_of, strict=True))

    def check_sizes(self, M: int, N: int, K: int) -> None:
        """Raise ArgumentError, naming the multiple that is needed, unless the step `fits`."""
        for name, size, multiple in zip("MNK", (M, N, K), self.multiple_of, strict=True):
            if size % multiple:
                up = math.ceil(size / multiple) * multiple
                raise ArgumentError(
                    f"{name}: is {size}, {self.name} needs a multiple of {multiple}"
                    f"{self._why_multiple(name)}; pad to {up}, or use {self._general()}, which "
                    "takes any size"
                )
            if not 0 <= size < 2**31:
                raise ArgumentError(f"{name}: is {size}, a size is a 32-bit integer, 0 or more")

    def _why_multiple(self, name: str) -> str:
        """What asks for a multiple that is not the tile's: tensor maps, of their rows."""
        axis = "MNK".index(name)
        if self.family != "tma" or self.multiple_of[axis] == self.tile[axis]:
            return ""
        rows = {"N": "B and C", "K": "A"}.get(name)
        return f", as rows of {rows} are multiples of 16 bytes in a tensor map" if rows else ""

    def _general(self) -> str:
        """A step that takes any size, of its family if there is one."""
        from .steps import STEPS

        if self.precisions == SINGLE:
            return "sgemm_02_coalesced"
        any_size = [step.name for step in STEPS if step.multiple_of == (1, 1, 1)]
        own = [name for name in any_size if name.startswith(f"{self.family}_")]
        return own[-1] if own else "hgemm_20_any_shape"

    def config_index(self, config: str) -> int:
        """GemmArgs.config of a configuration, -1 for "": the step chooses.

        Raises ArgumentError for one that the step does not have, naming those that it has.
        """
        if not config:
            return -1
        if config in self.configs:
            return self.configs.index(config)
        if not self.configs:
            raise ArgumentError(
                f"config: got {config!r}, but {self.name} has no configurations to choose from; "
                "leave it out"
            )
        known = ", ".join(map(repr, self.configs))
        raise ArgumentError(f"config: got {config!r}; {self.name} has {known}")

    def to_dict(self) -> dict:
        """Plain data, for `list --json`."""
        return asdict(self)
