"""Record the last steps beside other people's kernels, all in turns in one run.

    python -m tools.peers --cutlass PATH --deepgemm PATH --fastcu PATH
    make peers CUTLASS=PATH DEEPGEMM=PATH FASTCU=PATH

Each PATH is a checkout at the commit that its driver was written for (it is named if another one is
there); a peer that is not given is left out. Their kernels are built, checked against an fp32
product, and measured beside the last WGMMA steps, torch.matmul and the best of cublasLt's
heuristics, at each size in each mode; the section `peers` of this GPU's recording is then theirs.
--built names the folder of built drivers: with --build-only they are only made, which needs no GPU,
and where the folder has them already, no checkout has to be given.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gemmlab.bench.bench import MODES
from gemmlab.core.arguments import MAX_SIZE, choice, integer, seconds
from gemmlab.core.errors import ArgumentError
from gemmlab.core.paths import cache_dir
from gemmlab.measurements.sizes import SIZES

from .. import command
from . import checkouts, drivers, recording


def _parser() -> argparse.ArgumentParser:
    parser = command.parser("peers", __doc__)
    for peer, pin in checkouts.PINS.items():
        parser.add_argument(f"--{peer}", metavar="PATH", help=f"{pin.title}, {pin.commit[:12]}")
    parser.add_argument("--built", metavar="DIR", help="where the built drivers lie")
    parser.add_argument("--build-only", action="store_true", help="measure nothing")
    listed = ",".join(map(str, SIZES[recording.FAMILY]))
    parser.add_argument("--sizes", default=listed, help=f"M = N = K ({listed})")
    parser.add_argument("--modes", default=",".join(MODES), help=f"of {', '.join(MODES)}")
    parser.add_argument("--seconds", default="3", help="of each kernel at steady load (3)")
    parser.add_argument("--path", metavar="FILE", help="of the recording, if not this GPU's")
    return parser


def sizes_of(text: str) -> list[int]:
    """Sizes of cubes: "1024,4096". Raises ArgumentError."""
    found = []
    for word in text.split(","):
        if not word.strip().isdecimal() or not word.isascii():
            raise ArgumentError(f"--sizes: got {text!r}; give cubes, as in 1024,4096")
        found.append(integer("--sizes", int(word), 1, MAX_SIZE, allowed="cubes, as in 1024,4096"))
    return list(dict.fromkeys(found))


def modes_of(text: str) -> list[str]:
    """Modes of `lab.bench`: "interleaved,burst". Raises ArgumentError."""
    found = [word.strip() for word in text.split(",")]
    for mode in found:
        choice("--modes", mode, MODES, lead="; allowed are ")
    return list(dict.fromkeys(found))


def seconds_of(text: str) -> float:
    """A time. Raises ArgumentError."""
    try:
        return seconds("--seconds", float(text))
    except ValueError:
        raise ArgumentError(f"--seconds: got {text!r}; give a time above 0, as in 3") from None


def main() -> int:
    """Build, check, measure, write."""
    asked = _parser().parse_args()
    sizes, modes, steady = sizes_of(asked.sizes), modes_of(asked.modes), seconds_of(asked.seconds)
    found = checkouts.checked({peer: getattr(asked, peer) for peer in checkouts.PINS})
    if not found and not asked.built:
        raise ArgumentError(
            "no peer is given: name a checkout with --cutlass, --deepgemm or --fastcu, or built "
            "drivers with --built"
        )
    folder = Path(asked.built) if asked.built else cache_dir("peers")
    if not asked.build_only:
        command.require_gpu()
    drivers.build(found, folder)
    ready = drivers.built(folder)
    if not asked.built:
        ready = [each for each in ready if each.driver.peer in found]
    print("\n".join(f"{each.driver.name}: {each.commit[:12]}" for each in ready))
    if not asked.build_only:
        path = Path(asked.path) if asked.path else None
        print(recording.record(ready, sizes, modes, steady, path))
    return 0


if __name__ == "__main__":
    command.run(main)
