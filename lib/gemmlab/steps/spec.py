"""What is known of one step before it is built: `KernelSpec`."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..core.arguments import brief, shape
from ..core.errors import ArgumentError
from ..core.layout import LAYOUTS, PLAIN, words
from ..core.paths import kernels_folder
from ..core.precision import PRECISIONS, SINGLE, precision

# The parts of the course that have steps, by the prefix of their steps' names.
FAMILIES = ("sgemm", "hgemm", "tma", "wgmma")

# The step of a family that an error recommends where another one cannot take a size.
ANY_SIZE = {
    "sgemm": "sgemm_02_coalesced",
    "hgemm": "hgemm_20_any_shape",
    "tma": "tma_08_any_shape",
    "wgmma": "wgmma_14_any_shape",
}


# The step of a family that an error recommends for B as nn.Linear has it, and for a transposed A.
LAYOUT_STEPS = {
    "hgemm": "hgemm_20_any_shape",
    "tma": "tma_08_any_shape",
    "wgmma": "wgmma_14_any_shape",
}
TURNED_A_STEPS = {"wgmma": "wgmma_14_any_shape"}


ELSEWHERE = (
    "Pass CPU tensors, or set GEMMLAB_BACKEND=sim, to run it on the simulator; lab.bench then "
    "shows the recorded figures"
)


@dataclass(frozen=True)
class KernelSpec:
    """One step of the course.

    Sizes are in elements, shared memory in bytes. `multiple_of` is what (M, N, K) must each be a
    multiple of; `alignment` is what the address of A, B and C must be a multiple of, in bytes.
    `seed` names the article systems that the step reproduces ("003/sgemm_at_tiling"), `departs`
    in what it differs from them, in fragments separated by "; ": "none" if in nothing but what all
    steps differ in. It is empty for a step without an article.
    `workspace`: the file defines workspace_<name>(args), the bytes of scratch memory of a launch.
    `configs` names the step's compiled configurations, in the order of GemmArgs.config.
    `least_shared_bytes`: what will do, with fewer stages, where a block cannot have shared_bytes.
    `min_arch`, `max_arch`: the compute capabilities that it runs on, ten times; 0: no newest one.
    `precisions` are those that it is compiled for, the usual one first. `layouts`: how A and B may
    lie in memory, each compiled apart.

    What `lab.check` has to reach: `stages` is how many k tiles are in shared memory at a time, at
    most. `persistent`: a block takes tile after tile, and `blocks_per_sm` are there at once.
    `cuts`: products whose tiles of C it cuts along k, at least one for each way of cutting: (tiles
    of C, k tiles, SMs of the GPU, 0 for the usual one); none if it never cuts. Where a block's k
    tiles continue in the next tile, some begin with a tile, some one k tile off, some inside.
    `config_tiles`: the tiles of configurations whose names do not say. `deterministic`: the order
    in which blocks run changes no bit of C. `scales`: it takes alpha and beta; a reader's kernel
    may be without them.
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
    departs: str = ""
    precisions: tuple[str, ...] = SINGLE
    layout: str = "A, B and C row-major"
    layouts: tuple[str, ...] = (PLAIN,)
    multiple_of: tuple[int, int, int] = (1, 1, 1)
    alignment: int = 4
    min_arch: int = 70
    max_arch: int = 0
    workspace: bool = False
    configs: tuple[str, ...] = ()
    least_shared_bytes: int = 0
    stages: int = 1
    persistent: bool = False
    blocks_per_sm: int = 1
    cuts: tuple[tuple[int, int, int], ...] = ()
    config_tiles: tuple[tuple[str, tuple[int, int, int]], ...] = ()
    deterministic: bool = True
    scales: bool = True

    @property
    def takes_any_address(self) -> bool:
        """Whether A, B and C may begin at any element."""
        return self.alignment < 16

    def tile_of(self, config: str = "") -> tuple[int, int, int]:
        """The tile of a configuration: of `config_tiles`, or that which its name begins with.

        Others have the step's.
        """
        if config in (tiles := dict(self.config_tiles)):
            return tiles[config]
        named = re.match(r"(\d+)x(\d+)\b", config)
        return (int(named[1]), int(named[2]), self.tile[2]) if named else self.tile

    @property
    def family(self) -> str:
        """One of FAMILIES: the folder of its file.

        A reader's kernel has the family of the step that it is like. Without such a step it has
        the first family with its types.
        """
        folder = self.file.partition("/")[0]
        if folder in FAMILIES:
            return folder
        return "sgemm" if self.precisions == SINGLE else "hgemm"

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The types of A and B that it takes."""
        return tuple(dict.fromkeys(PRECISIONS[name].given for name in self.precisions))

    def template_arguments(self, name: str = "", layout: str = PLAIN) -> str:
        """What follows launch_<name> to name its function for a precision, or for the first one.

        Raises ArgumentError for a precision or a layout that it is not compiled for.
        """
        self.check_layout(layout)
        asked = precision(self.precisions[0] if name == "" else name)
        if asked.name not in self.precisions:
            raise ArgumentError(
                f"precision: got {name!r}; {self.name} is compiled for {', '.join(self.precisions)}"
            )
        types = "" if self.precisions == SINGLE else asked.template_arguments
        if layout == PLAIN:
            return types
        return f"{types.removesuffix('>') or '<'}{', ' * bool(types)}{LAYOUTS.index(layout)}>"

    def check_layout(self, layout: str) -> None:
        """Raise ArgumentError, naming a step that does, unless the step takes the layout."""
        if layout not in self.layouts:
            steps = LAYOUT_STEPS if layout == "nt" else TURNED_A_STEPS
            able, turned = steps.get(self.family, ""), "B as (N, K)" if layout == "nt" else "it"
            other = f"; {able} takes {turned}" * (able not in ("", self.name))
            raise ArgumentError(
                f"layout: is {layout} ({words(layout)}), {self.name} takes "
                f"{' or '.join(self.layouts)}{other}"
            )

    @property
    def path(self) -> Path:
        """Absolute path of the kernel file."""
        return kernels_folder() / self.file

    @property
    def needed_shared_bytes(self) -> int:
        """The shared memory of a block without which it does not run."""
        return self.least_shared_bytes or self.shared_bytes

    def too_old(self, capability: tuple[int, int]) -> str:
        """Why a GPU of that compute capability cannot run the step; "" if it can."""
        major, minor = capability
        if self.max_arch and major * 10 + minor > self.max_arch:
            return (
                f"{self.name} needs a GPU of compute capability {self.max_arch / 10:.1f}, whose "
                f"wgmma later ones do not have; this one has {major}.{minor}. {ELSEWHERE}, or run "
                f"{ANY_SIZE['tma']} here."
            )
        if major * 10 + minor >= self.min_arch:
            return ""
        return (
            f"{self.name} needs a GPU of compute capability {self.min_arch / 10:.1f} or newer; "
            f"this one has {major}.{minor}. {ELSEWHERE}."
        )

    def fits(self, M: int, N: int, K: int) -> bool:
        """Whether the step takes these sizes."""
        return self.fitting(M, N, K) == (M, N, K)

    def fitting(self, M: int, N: int, K: int) -> tuple[int, int, int]:
        """The next sizes upwards that the step takes."""
        m, n, k = self.multiple_of
        return -(-M // m) * m, -(-N // n) * n, -(-K // k) * k

    def check_sizes(self, M: int, N: int, K: int) -> None:
        """Raise ArgumentError unless these are sizes of the multiples that the step needs."""
        sizes = shape((M, N, K), low=(0, 0, 0))
        known = zip("MNK", sizes, self.multiple_of, self.fitting(*sizes), strict=True)
        for name, size, multiple, up in known:
            if size != up:
                raise ArgumentError(
                    f"{name}: is {size}, {self.name} needs a multiple of {multiple}"
                    f"{self._why_multiple(name)}; pad to {up}, or use {self._general()}, which "
                    "takes any size"
                )

    def check_factors(self, alpha: float, beta: float) -> None:
        """Raise ArgumentError if the step does not take them."""
        if not self.scales and (alpha, beta) != (1, 0):
            raise ArgumentError(
                f"alpha, beta: got {alpha:g} and {beta:g}, and {self.name} has no such parameters; "
                "leave them out, or add float alpha and float beta to its own"
            )

    def _why_multiple(self, name: str) -> str:
        """What asks for a multiple that is not the tile's: tensor maps, of their rows."""
        axis = "MNK".index(name)
        if self.family not in ("tma", "wgmma") or self.multiple_of[axis] == self.tile[axis]:
            return ""
        rows = {"N": "B and C", "K": "A"}.get(name)
        return f", as rows of {rows} are multiples of 16 bytes in a tensor map" if rows else ""

    def _general(self) -> str:
        """The step of its family that takes any size."""
        return ANY_SIZE[self.family]

    def config_index(self, config: str) -> int:
        """GemmArgs.config of a configuration, -1 for "": the step chooses.

        Raises ArgumentError for one that the step does not have, naming those that it has.
        """
        if config == "":
            return -1
        if isinstance(config, str) and config in self.configs:
            return self.configs.index(config)
        if not self.configs:
            raise ArgumentError(
                f"config: got {brief(config)}, but {self.name} has no configurations to choose "
                "from; leave it out"
            )
        known = ", ".join(map(repr, self.configs))
        raise ArgumentError(f"config: got {brief(config)}; {self.name} has {known}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `list --json`."""
        return asdict(self)


def step(name: str, idea: str, **facts: Any) -> KernelSpec:
    """The step of kernels/<family>/<rest>.cuh, where `name` is <family>_<rest>."""
    family, _, rest = name.partition("_")
    return KernelSpec(name, f"{family}/{rest}.cuh", idea, **facts)
