"""Where the peers' sources lie: checkouts that the user gives by path, each at a pinned commit."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gemmlab.core.errors import ArgumentError


@dataclass(frozen=True)
class Pin:
    """A peer's repository and the commit that its driver was written for.

    title: how tables call it. has: a file that every checkout of it has.
    """

    title: str
    repository: str
    commit: str
    has: str


PINS = {
    "cutlass": Pin(
        "CUTLASS",
        "https://github.com/NVIDIA/cutlass",
        "7107b05535f8977f5ecb9d01ee203205b1fd9bc4",
        "include/cutlass/cutlass.h",
    ),
    "deepgemm": Pin(
        "DeepGEMM",
        "https://github.com/deepseek-ai/DeepGEMM",
        "54e22612409371d6364144b69086735beb54e98b",
        "deep_gemm/include/deep_gemm/impls/sm90_bf16_gemm.cuh",
    ),
    "fastcu": Pin(
        "fast.cu",
        "https://github.com/pranjalssh/fast.cu",
        "38eb642e0c081231d6f695978be63604bd7c689b",
        "examples/matmul/matmul_12.cuh",
    ),
}


def checked(given: Mapping[str, str | None]) -> dict[str, Path]:
    """The checkouts that were given, by peer. Raises ArgumentError for one that is not it."""
    found = {peer: _checked(peer, path) for peer, path in given.items() if path is not None}
    if "deepgemm" in found and cutlass_of(found) is None:
        raise ArgumentError(
            "--deepgemm: it includes CUTLASS's headers; give --cutlass, too, or run "
            "`git submodule update --init third-party/cutlass` in its checkout"
        )
    return found


def cutlass_of(checkouts: Mapping[str, Path]) -> Path | None:
    """The CUTLASS that DeepGEMM is built with: that of --cutlass, or else its own submodule."""
    if "cutlass" in checkouts:
        return checkouts["cutlass"]
    own = checkouts["deepgemm"] / "third-party" / "cutlass"
    return own if (own / PINS["cutlass"].has).is_file() else None


def _checked(peer: str, given: str) -> Path:
    pin, path = PINS[peer], Path(given).expanduser()
    how = f"git clone {pin.repository} and git checkout {pin.commit[:12]} make one"
    if not path.is_dir():
        raise ArgumentError(f"--{peer}: there is no folder {given!r}; {how}")
    if not (path / pin.has).is_file():
        raise ArgumentError(
            f"--{peer}: {given!r} is no checkout of {pin.title}: {pin.has} is not there; {how}"
        )
    if (commit := _commit(path)) != pin.commit:
        there = f"is at {commit[:12]}" if commit else "is no git checkout"
        raise ArgumentError(
            f"--{peer}: {given!r} {there}, and the driver is for {pin.commit[:12]}; "
            f"run `git checkout {pin.commit}` in it"
        )
    if _changed(path, pin):
        raise ArgumentError(f"--{peer}: {given!r} has changed headers; run `git status` in it")
    return path.resolve()


def _git(path: Path, *words: str) -> str:
    """What git says of the folder, "" where it cannot; a checkout may belong to another user."""
    command = ["git", "-c", f"safe.directory={path.resolve()}", "-C", str(path), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise ArgumentError(f"git: {error}; it is needed to know a checkout's commit") from None
    return done.stdout.strip() if done.returncode == 0 else ""


def _commit(path: Path) -> str:
    """The commit of a checkout; "" of a folder that is none, also inside another repository."""
    top = _git(path, "rev-parse", "--show-toplevel")
    return _git(path, "rev-parse", "HEAD") if top and Path(top) == path.resolve() else ""


def _changed(path: Path, pin: Pin) -> bool:
    """Whether the headers that a driver includes are not those of the commit."""
    folder = Path(pin.has).parts[0]
    return bool(_git(path, "status", "--porcelain", "--untracked-files=no", "--", folder))
