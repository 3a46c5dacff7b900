"""WMMA's fragments, measured: which element of a matrix is which x[i] of which lane.

`kernels/probes/wmma_map.cuh` loads a matrix of indices with load_matrix_sync and writes out what
every lane has got. `measure` runs it here. tools/evidence/record_wmma.py writes what a GPU says to
book/measurements/fragments/, which `recorded` reads and `layouts.FRAGMENTS` is held equal to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .. import measurements, sim
from ..core.arguments import choice
from ..core.errors import LaunchError, MeasurementError
from ..core.files import load_json
from ..core.paths import measurements_folder, repository_root
from ..display.table import Shown, Table
from ..gpu import build
from ..layouts.fragments import FRAGMENTS, WARP, Fragment
from ..run.backend import default_backend

PROBE = "kernels/probes/wmma_map.cuh"
NAMES = tuple(name for name, f in FRAGMENTS.items() if f.wmma)
ORDERS = ("row_major", "col_major")

_ROOM = 16  # elements of a lane that the probe has room for
_OPERANDS = {"float16": "__half", "bfloat16": "__nv_bfloat16"}
_SUMS = {"fp32": {"float32": "float"}, "fp16": {"float16": "__half"}}

Elements = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, repr=False)
class Measured(Shown):
    """What each lane of a fragment was found to hold.

    elements: of each lane, (row, column) of x[0], x[1] and so on, also of those that repeat.
    origin: the GPU, in a sentence; "" for the simulator.
    """

    name: str
    dtype: str
    order: str
    elements: Elements
    origin: str = ""

    @property
    def agrees(self) -> bool:
        """Whether this is what `layouts.FRAGMENTS`, and so FragmentMap, says."""
        f = FRAGMENTS[self.name]
        count = f.elements * (f.repeats if self.dtype == "float16" else 1)
        said = tuple(tuple(f.x(lane, i) for i in range(count)) for lane in range(WARP))
        return said == self.elements

    def to_dict(self) -> dict:
        """An entry of the recorded file: of each lane, row * columns + column of its elements."""
        columns = FRAGMENTS[self.name].columns
        lanes = [[row * columns + column for row, column in held] for held in self.elements]
        return {"name": self.name, "dtype": self.dtype, "order": self.order, "lanes": lanes}

    @classmethod
    def from_dict(cls, data: dict, origin: str) -> Measured:
        """The inverse of `to_dict`."""
        columns = FRAGMENTS[data["name"]].columns
        elements = tuple(tuple(divmod(n, columns) for n in held) for held in data["lanes"])
        return cls(data["name"], data["dtype"], data["order"], elements, origin)

    @property
    def _distinct(self) -> int:
        """Elements of a lane before they repeat."""
        every = len(self.elements[0])
        for n in (n for n in range(1, every) if every % n == 0):
            if all(held == held[:n] * (every // n) for held in self.elements):
                return n
        return every

    def shown(self) -> Table:
        """A row for each lane, without what repeats."""
        count = self._distinct
        rows = [
            [str(lane), *(f"{row},{column}" for row, column in held[:count])]
            for lane, held in enumerate(self.elements)
        ]
        head = ["lane", *(f"x[{i}]" for i in range(count))]
        return Table(head, rows, "n" * len(head), self._notes())

    def _notes(self) -> list[str]:
        every, count = len(self.elements[0]), self._distinct
        lines = [f"{self.name}, {self.dtype}, {self.order}: row,column of each element."]
        if count < every:
            lines.append(f"x[{count}] to x[{every - 1}] hold x[0] to x[{count - 1}] again.")
        lines.append(
            self.origin or f"The simulator's layout, which is built in. {self._gpu_says()}"
        )
        return [*lines, f"FragmentMap shows {'the same' if self.agrees else 'another layout'}."]

    def _gpu_says(self) -> str:
        """What the recording has of the same fragment."""
        try:
            known = [one for one in recorded_fragments() if one.to_dict() == self.to_dict()]
        except MeasurementError:
            return "No GPU's is recorded."
        return f"{known[0].origin[:-1]}: the same." if known else "The recorded one is another."


def measured_fragment(
    name: str = "wmma.m16n16k16 A", *, dtype: str = "", order: str = "row_major"
) -> Measured:
    """Ask the GPU, or the simulator where there is none, what each lane of a fragment holds.

    name: one of `NAMES`. dtype: "float16" (if not given) or "bfloat16" for A and B; C/D has its
    type in its name. order: how the matrix lies in memory, "row_major" or "col_major".
    Raises ArgumentError, naming the argument; BackendError, BuildError and LaunchError.
    """
    choice("name", name, NAMES)
    types = _types(name)
    dtype = dtype or next(iter(types))
    choice("dtype", dtype, types)
    choice("order", order, ORDERS)
    f = FRAGMENTS[name]
    # Element n of the memory is n; all ones stay where the kernel writes nothing.
    width: type[np.unsignedinteger[Any]] = np.uint32 if f.bits == 32 else np.uint16
    memory = np.arange(f.rows * f.columns, dtype=width)
    out = np.full((WARP, _ROOM), np.iinfo(width).max, width)
    run = _on_the_gpu if default_backend() == "gpu" else _in_the_simulator
    origin = run(f"launch_wmma_map<{types[dtype]}>", memory, out, _arguments(name, order))
    return Measured(name, dtype, order, _places(f, order, out), origin)


def recorded_fragments(path: str | Path | None = None) -> list[Measured]:
    """What each lane of every wmma fragment held on the H200.

    path: a recorded file (None: the H200's). Raises MeasurementError if there is nothing to be
    read.
    """
    path = Path(path) if path else recording()
    remedy = "`python -m tools.evidence.record_wmma` on a GPU writes it"
    data = load_json(path, remedy)
    try:
        origin = measurements.made_on(data["environment"])
        return [Measured.from_dict(entry, origin) for entry in data["fragments"]]
    except (ValueError, TypeError, KeyError) as error:
        raise MeasurementError(f"{path.name}: corrupt ({error!r}); {remedy}") from None


def recording(gpu: str = "h200") -> Path:
    """Where the recorded file of a GPU lies."""
    return measurements_folder() / "fragments" / f"wmma_{gpu}.json"


def kinds() -> list[dict[str, str]]:
    """The arguments of `measure` for all that it can be asked."""
    return [
        {"name": name, "dtype": dtype, "order": order}
        for name in NAMES
        for dtype in _types(name)
        for order in ORDERS
    ]


def _types(name: str) -> dict[str, str]:
    """Torch's names of the types that a fragment may have, and CUDA's."""
    return _SUMS.get(name.split()[-1], _OPERANDS)


def _arguments(name: str, order: str) -> tuple[int, int, int]:
    """M, N and the configuration, as wmma_map.cuh takes them."""
    shape, what = name.split()[:2]
    m, n = shape.removeprefix("wmma.m").removesuffix("k16").split("n")
    return int(m), int(n), 2 * ("A", "B", "C/D").index(what) + ORDERS.index(order)


def _places(f: Fragment, order: str, out: np.ndarray) -> Elements:
    """What each lane wrote, as rows and columns."""
    written = out < f.rows * f.columns
    count = int(written[0].sum())
    if not written[:, :count].all() or written[:, count:].any():
        raise LaunchError(f"{f.name}: lanes wrote {written.sum(axis=1).tolist()} elements")
    held = out[:, :count].tolist()
    if order == "row_major":
        return tuple(tuple(divmod(n, f.columns) for n in lane) for lane in held)
    return tuple(tuple((n % f.rows, n // f.rows) for n in lane) for lane in held)


def _in_the_simulator(launcher: str, memory, out, arguments: tuple[int, int, int]) -> str:
    m, n, config = arguments
    module = sim.compile_source(repository_root() / PROBE, launcher)
    module.launch(memory, memory, out, m, n, 16, config=config)
    return ""


def _on_the_gpu(launcher: str, memory, out, arguments: tuple[int, int, int]) -> str:
    import torch

    m, n, config = arguments
    module = _gpu_module(launcher)
    given, held = (torch.from_numpy(x.reshape(-1).view(np.uint8)).cuda() for x in (memory, out))
    stream = torch.cuda.current_stream().cuda_stream
    pointers = (given.data_ptr(), given.data_ptr(), held.data_ptr())
    if code := module.launch(*pointers, m, n, 16, 1.0, 0.0, stream, 0, config):
        raise LaunchError(f"{launcher}: {module.error_string(code)}")
    out[:] = held.cpu().numpy().view(out.dtype).reshape(out.shape)
    return f"Measured now on {torch.cuda.get_device_name()}."


@lru_cache
def _gpu_module(launcher: str):
    return build.load_source(repository_root() / PROBE, launcher, "wmma_map")
