"""Malformed launches and random operations: each ends in an error or a result, never in a crash.

    python -m tools.fuzz.malformed SEED COUNT [--verbose]

runs COUNT random cases, and prints how many ended how. A case depends on the seed and its number
alone; --verbose prints it (and flushes) before it runs.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np

from gemmlab import sim
from gemmlab.core.errors import GemmlabError

from .. import command

FIXTURE = Path(__file__).resolve().parents[2] / "tests" / "sim" / "fixtures" / "random_ops.cu"
OPERATIONS = 58
BYTES = 1 << 16  # of each matrix
OPERATION = np.dtype([("code", "i4"), ("who", "i4"), ("a", "i8"), ("b", "i4"), ("c", "i4")])
# In an untraced run these could write anywhere: what checks them is the trace.
UNCHECKED = (0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 14)
SIZES = (
    0,
    1,
    2,
    3,
    5,
    8,
    16,
    17,
    31,
    32,
    33,
    64,
    65,
    128,
    256,
    1024,
    1025,
    65535,
    65536,
    2**32 - 1,
)


def ends(seed: int, count: int, verbose: bool = False) -> dict[str, int]:
    """How many of the cases ended how."""
    module = sim.compile_source(FIXTURE, "launch_random")
    found: Counter[str] = Counter()
    for number in range(count):
        random = np.random.default_rng((seed, number))
        found[run_case(module, random, number, verbose)] += 1
    return dict(sorted(found.items()))


def run_case(
    module: sim.SimModule, random: np.random.Generator, number: int, verbose: bool = False
) -> str:
    """Run one case: the kind of its end."""
    traced = bool(random.integers(2))
    setup, operations = draw_setup(random), draw_operations(random, traced)
    setup[-1] = len(operations)
    if verbose:
        print(number, traced, setup.tolist(), operations.tolist(), flush=True)
    A = np.zeros(BYTES, np.uint8)
    A[: setup.nbytes] = setup.view(np.uint8)
    B, C = np.zeros(BYTES, np.uint8), np.zeros(BYTES, np.uint8)
    B[: operations.nbytes] = operations.view(np.uint8)
    problem = (int(random.integers(-(2**31), 2**31)), -1, 2**31 - 1, float("nan"), float("inf"))
    try:
        if not traced:
            module.launch(A, B, C, *problem)
            return "finished"
        findings = module.trace(A, B, C, *problem).findings
    except GemmlabError as error:
        # "name: cudaError...: reason", or "name: stopped", then findings, "[file:line: ]kind: ...".
        named = re.search(r"(?:^|: )(cudaError\w+|[a-z-]+): ", str(error).splitlines()[-1])
        return named[1] if named else str(error)
    return findings[0].kind if findings else "clean"


def draw_setup(random: np.random.Generator) -> np.ndarray:
    """The launch: most of them sane, so that their kernels run."""
    setup = np.zeros(20, np.uint32)
    if random.integers(4):
        setup[0:9] = (*random.integers(1, 4, 3), random.choice([1, 32, 64, 128, 160]), *[1] * 5)
        setup[9], setup[10] = random.choice([4096, 8192, 48000, 65536]), 232000
        if not random.integers(3):
            setup[6:9] = random.integers(1, 3, 3)
            setup[0:3] *= setup[6:9]
    else:
        setup[0:9] = random.choice(SIZES, 9)
        setup[0:3] = np.where(setup[0:3] < 2**16, setup[0:3] % 40, setup[0:3])
        setup[9] = random.choice([0, 64, 49152, 49153, 232448, 300000, 2**32 - 1])
        setup[10] = random.choice([0, 4096, 65536, 232448, 231000, 300000, 2**32 - 5])
    setup[11] = random.integers(2)
    setup[12] = random.choice([0, 0, 0, 0, 1, 4, 5])
    setup[13:15] = random.choice([1, 7, 16, 64, 2**31 - 1], 2)
    setup[15:18] = random.choice([8, 16, 64, 3], 3)
    setup[18] = random.integers(5)
    return setup


def draw_operations(random: np.random.Generator, traced: bool) -> np.ndarray:
    """What the kernel does."""
    operations = np.zeros(random.integers(1, 24), OPERATION)
    allowed = [code for code in range(OPERATIONS) if traced or code not in UNCHECKED]
    for row in operations:
        near = random.integers(-64, 2048), random.integers(-64, 4096), random.integers(-4, 64)
        far = (
            random.integers(-(2**40), 2**40),
            random.integers(-(2**31), 2**31),
            random.integers(-(2**31), 2**31),
        )
        numbers = far if not random.integers(8) else near
        align = int(random.choice([1, 4, 16, 16, 128]))
        row["code"], row["who"] = random.choice(allowed), random.choice([0, 0, 0, 0, *range(8)])
        row["a"], row["b"], row["c"] = (
            numbers[0] // align * align,
            numbers[1] // align * align,
            far[2],
        )
        if random.integers(8):
            row["c"] = numbers[2]
        if row["code"] in (10, 11, 12) and random.integers(4):
            row["b"] = -1  # the full mask
    return operations


def main() -> None:
    """The command line."""
    parser = command.parser("fuzz.malformed", __doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--verbose", action="store_true", help="print each case before it runs")
    given = parser.parse_args()
    print(ends(given.seed, given.count, given.verbose))


if __name__ == "__main__":
    command.run(main)
