"""The main loop of a step in machine code (SASS), counted: instructions, stalls, operand reads.

Each instruction carries control bits in which ptxas has written how many cycles the warp waits
before its next one. `tools/evidence/record_sass.py` counts with nvcc and cuobjdump and keeps the
numbers in `book/measurements/sass/sm_90a.json`, which the tables show.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import measurements
from ..core import arguments
from ..core.errors import BuildError, MeasurementError
from ..core.files import load_json
from ..core.paths import kernels_folder, measurements_folder
from ..display.numbers import show_rate
from ..display.table import Table
from ..measurements.staleness import TARGET, holds
from ..steps.program import Program
from ..steps.registry import program
from ..steps.spec import KernelSpec
from . import build
from .toolchain import FLAGS, cuobjdump, gencode, nvcc

CONFLICT = 0.25  # cycles for two operands from one bank: what fits the measured variants
_NO_SCOREBOARD = 7  # in the place of a scoreboard's number
_LEAST = 256  # FFMAs of a loop that counts as the main one
_LINE = re.compile(
    r"/\*([0-9a-f]{4,5})\*/\s+([^;]+?)\s*;\s+/\* 0x[0-9a-f]{16} \*/\s*/\* 0x([0-9a-f]{16}) \*/"
)


@dataclass(frozen=True)
class Instruction:
    """One instruction, and what ptxas has written into its control bits.

    stall: the cycles that the warp waits after it. A warp has six scoreboards. sets: the one that
    is busy until this instruction has written its result, or None. waits: those that must be free
    before it is issued, a bit each.
    """

    address: int
    text: str
    stall: int
    sets: int | None = None
    waits: int = 0

    @property
    def name(self) -> str:
        """What it does, without its predicate: "LDS.128"."""
        return re.sub(r"^@!?\w+\s+", "", self.text).split()[0]


def functions(listing: str) -> dict[str, list[Instruction]]:
    """The instructions of each function, by its name, from `cuobjdump -sass`."""
    found = {}
    for part in listing.split("Function : ")[1:]:
        name, _, body = part.partition("\n")
        found[name.split()[0]] = [_read(*row) for row in _LINE.findall(body)]
    return found


def instructions(listing: str, function: str) -> list[Instruction]:
    """Those of the first function whose name contains `function`, from `cuobjdump -sass`."""
    return next((code for name, code in functions(listing).items() if function in name), [])


def _read(address: str, text: str, word: str) -> Instruction:
    """One line of the listing. word: the upper 64 bits, with the control bits from 41 on."""
    bits = int(word, 16) >> 41
    sets = bits >> 5 & 7
    return Instruction(
        int(address, 16), text, bits & 15, sets if sets < _NO_SCOREBOARD else None, bits >> 11 & 63
    )


def main_loop(code: Sequence[Instruction]) -> list[Instruction]:
    """The shortest loop with many FFMAs; [] if there is none."""
    place = {instruction.address: i for i, instruction in enumerate(code)}
    loops = []
    for end, instruction in enumerate(code):
        target = (
            re.search(r"0x([0-9a-f]+)", instruction.text) if "BRA" in instruction.text else None
        )
        begin = place.get(int(target[1], 16)) if target else None
        if begin is not None and begin < end:
            loops.append(code[begin : end + 1])
    many = [loop for loop in loops if sum(i.name == "FFMA" for i in loop) >= _LEAST]
    if not many:
        return []
    shortest = min(many, key=len)
    return list(shortest)


def reads(loop: Sequence[Instruction]) -> Iterator[tuple[int, int] | None]:
    """Registers that each FFMA reads from the even and from the odd bank; None for the others.

    An operand is not read if the FFMA before it had the same register in the same place, marked
    with .reuse. Any other instruction in between is taken to empty the operand cache.
    """
    kept: dict[int, str] = {}
    for instruction in loop:
        if instruction.name != "FFMA":
            kept = {}
            yield None
            continue
        banks, operands = [0, 0], re.split(r",\s*", instruction.text)[1:4]
        found = [re.fullmatch(r"-?R(\d+)(\.reuse)?", operand) for operand in operands]
        for place, match in enumerate(found):
            if match and kept.get(place) != match[1]:
                banks[int(match[1]) % 2] += 1
        kept = {place: match[1] for place, match in enumerate(found) if match and match[2]}
        yield banks[0], banks[1]


def conflicts(loop: Sequence[Instruction]) -> int:
    """Reads in which an FFMA wants another register of the same bank."""
    return sum(max(0, max(banks) - 1) for banks in reads(loop) if banks)


def listing_of(kernel: str | KernelSpec | Program) -> str:
    """`cuobjdump -sass` of a step that is compiled for sm_90a. Needs nvcc and cuobjdump, no GPU.

    Raises BackendError where one of the two is missing, BuildError for what does not compile.
    """
    step = program(kernel)
    tool = cuobjdump()
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "kernel.cu", Path(folder) / "kernel.cubin"
        source.write_text(build.source_text(step.source.path, step.launch(), step.spec.workspace))
        include, code = f"-I{kernels_folder()}", gencode(TARGET)
        command = [nvcc(), *FLAGS, include, code, "-cubin", str(source), "-o", str(cubin)]
        for call in (command, [tool, "-sass", str(cubin)]):
            done = subprocess.run(call, capture_output=True, text=True)
            if done.returncode:
                raise BuildError(f"{step.title}, machine code:\n{done.stderr}")
    return done.stdout


def recorded() -> dict:
    """The recorded counts. Raises MeasurementError if there are none."""
    path = measurements_folder() / "sass" / f"sm_{TARGET}.json"
    return load_json(path, "`python -m tools.evidence.record_sass` adds it")


def main_loops(kernels: Sequence[str | KernelSpec | Program], size: int = 4096) -> Table:
    """The main loops side by side, by instruction and stall, and the recorded speed.

    kernels: steps or variants whose SASS was counted. size: M = N = K of the speed.
    Raises MeasurementError for one that was not counted.
    """
    rows, old, data = [], [], recorded()
    size = arguments.size("size", size)
    timed = {r.kernel: r for r in measurements.load().bench(True).only(sizes=[(size,) * 3]).rows}
    for step in map(program, kernels):
        name = step.title
        loop = _recorded_loop(data, name)
        old += [name] * (not holds(step, loop["source"], loop.get("machine_code", {})))
        cost = loop["stalls"] + CONFLICT * loop["conflicts"]
        speed = show_rate(timed[name].tflops) if name in timed else "-"
        counts = (loop[key] for key in ("instructions", "ffma", "stalls", "conflicts"))
        shown = name.removeprefix("sgemm_").replace("_", " ")
        rows.append((shown, *(f"{n:,}" for n in counts), f"{cost:,.0f}", speed))
    head = ("main loop", "instructions", "FFMA", "sum of stalls", "bank conflicts")
    notes = [
        f"nvcc {data['nvcc']}, sm_{TARGET}, {data['date']}. Conflicts: operands of an FFMA beyond "
        "the first from the same register bank. The estimate is the stalls and a quarter of the "
        f"conflicts, in cycles. TFLOP/s: recorded at M = N = K = {size}.",
        *(f"The code of {name} has changed since it was counted." for name in old),
    ]
    return Table((*head, "estimate", "TFLOP/s"), tuple(rows), "tnnnnnn", tuple(notes))


def main_loop_excerpt(name: str) -> Table:
    """A few instructions of a step's main loop, and what each reads from the register banks.

    name: a step whose SASS was counted. Raises MeasurementError for another.
    """
    data = recorded()
    rows = tuple(tuple(map(str, row)) for row in _recorded_loop(data, name)["excerpt"])
    note = f"{name}, nvcc {data['nvcc']}, sm_{TARGET}, {data['date']}."
    return Table(("instruction", "stall", "even", "odd"), rows, "tnnn", (note,))


def _recorded_loop(data: dict, name: str) -> dict:
    if name not in data["loops"]:
        known = ", ".join(data["loops"])
        raise MeasurementError(f"sass: {name} was not counted; there are {known}")
    return data["loops"][name]
