"""The drivers of the peers: a shared library for each kernel that is measured, with one function.

`int launch(void* A, void* B, void* C, int M, int N, int K, cudaStream_t)` is C and links the CUDA
runtime statically, so that a library runs wherever the GPU and its driver are. A folder of built
libraries has `built.json`, which says from which commits and driver texts they were made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gemmlab.core import commands
from gemmlab.core.errors import ArgumentError, BuildError
from gemmlab.core.files import json_text, write_whole
from gemmlab.core.progress import busy
from gemmlab.gpu.toolchain import nvcc

from .checkouts import PINS, cutlass_of

HERE = Path(__file__).parent
MANIFEST = "built.json"
_COMMON = (
    *("-gencode", "arch=compute_90a,code=sm_90a", "-O3", "-DNDEBUG", "-w", "-shared"),
    *("--expt-relaxed-constexpr", "--expt-extended-lambda", "-cudart", "static"),
    "-Xcompiler=-fPIC,-fvisibility=hidden",
)


@dataclass(frozen=True)
class Driver:
    """A kernel of a peer.

    name: of its row and its library. title: how tables call it. layout: "nn", or "nt" if it takes B
    as (N, K). flags: what nvcc gets besides those of all.
    """

    name: str
    peer: str
    title: str
    layout: str
    flags: tuple[str, ...]

    @property
    def source(self) -> Path:
        """The driver's text."""
        return HERE / f"{self.peer}.cu"

    def digest(self) -> str:
        """Of all that decides what is built, but for the checkouts."""
        texts = [path.read_bytes() for path in (HERE / "driver.cuh", self.source)]
        flags = "\0".join((*_COMMON, *self.flags)).encode()
        return hashlib.sha256(b"\0".join((*texts, flags))).hexdigest()[:16]


def _cutlass(schedule: str, rows: int, columns: int, layout: str) -> Driver:
    """One of the configurations that its profiler finds best on an H200, in clusters of 2x1."""
    name = f"cutlass_{schedule}_{rows}x{columns}_{layout}"
    title = f"CUTLASS {schedule} {rows}x{columns}, {layout}"
    given = {
        "PEER_TILE_M": rows,
        "PEER_TILE_N": columns,
        "PEER_PINGPONG": int(schedule == "pingpong"),
        "PEER_B_K_MAJOR": int(layout == "nt"),
        "CUTLASS_ENABLE_GDC_FOR_SM90": 1,
    }
    flags = ("-std=c++17", *(f"-D{key}={value}" for key, value in given.items()))
    return Driver(name, "cutlass", title, layout, flags)


def _deepgemm(layout: str) -> Driver:
    """With the flags of its own compiler at run time."""
    major = f"-DPEER_B_K_MAJOR={int(layout == 'nt')}"
    flags = ("-std=c++20", "--ptxas-options=--register-usage-level=10", major)
    return Driver(f"deepgemm_{layout}", "deepgemm", f"DeepGEMM, {layout}", layout, flags)


TILES = (("pingpong", 128, 128), ("cooperative", 128, 256), ("cooperative", 256, 128))
DRIVERS = (
    *(_cutlass(*tile, layout) for tile in TILES for layout in ("nn", "nt")),
    *map(_deepgemm, ("nn", "nt")),
    Driver(
        "fastcu_12_nt", "fastcu", "fast.cu, kernel 12, nt", "nt", ("-std=c++17", "--use_fast_math")
    ),
)


@dataclass(frozen=True)
class Built:
    """A driver, its library, and the commit of the peer that it was made of."""

    driver: Driver
    library: Path
    commit: str


def build(checkouts: Mapping[str, Path], folder: Path) -> None:
    """Compile the drivers of the checkouts into the folder; what is there as it should be stays.

    Raises BuildError with what nvcc said, BackendError without nvcc.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for driver in (each for each in DRIVERS if each.peer in checkouts):
        entry = {"commit": PINS[driver.peer].commit, "digest": driver.digest()}
        library = folder / f"{driver.name}.so"
        if _manifest(folder).get(driver.name) == entry and library.is_file():
            continue
        with busy(f"building {driver.name} with nvcc"):
            _compile(driver, checkouts, library)
        write_whole(folder / MANIFEST, json_text({**_manifest(folder), driver.name: entry}))


def _compile(driver: Driver, checkouts: Mapping[str, Path], library: Path) -> None:
    includes = (HERE, *_includes(driver.peer, checkouts))
    half = library.with_suffix(".half.so")
    command = [nvcc(), *_COMMON, *driver.flags, *(f"-I{path}" for path in includes)]
    command += [str(driver.source), "-o", str(half)]
    code, said = commands.run(command, driver.name, library.parent)
    if code:
        half.unlink(missing_ok=True)
        raise BuildError(f"{driver.name} did not compile:\n{said}")
    half.replace(library)


def _includes(peer: str, checkouts: Mapping[str, Path]) -> tuple[Path, ...]:
    own = checkouts[peer]
    if peer == "cutlass":
        return own / "include", own / "tools" / "util" / "include"
    if peer == "deepgemm":
        theirs = cutlass_of(checkouts)
        assert theirs is not None  # checked has seen to it
        return own / "deep_gemm" / "include", theirs / "include"
    return (own,)


def built(folder: Path) -> list[Built]:
    """The libraries of a folder, in the order of DRIVERS. Raises ArgumentError if one is not what
    this driver and the pinned commit give, or if there is none.
    """
    known, found = _manifest(folder), []
    for driver in DRIVERS:
        library = folder / f"{driver.name}.so"
        if driver.name not in known or not library.is_file():
            continue
        entry = {"commit": PINS[driver.peer].commit, "digest": driver.digest()}
        if known[driver.name] != entry:
            raise ArgumentError(
                f"--built: {library.name} in {str(folder)!r} was made of another commit or another "
                f"driver; give --{driver.peer}, and it is built anew"
            )
        found.append(Built(driver, library.resolve(), entry["commit"]))
    if not found:
        raise ArgumentError(
            f"--built: there is no built driver in {str(folder)!r}; give --cutlass, --deepgemm or "
            "--fastcu, a checkout each"
        )
    return found


def _manifest(folder: Path) -> dict[str, dict[str, str]]:
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text()) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise ArgumentError(f"--built: {str(path)!r} cannot be read ({error})") from None
    if not isinstance(found, dict):
        raise ArgumentError(f"--built: {str(path)!r} is not what a build writes; remove it")
    return found
