"""What is built once and kept: verified before it is used, made anew if it is not as it was."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from .errors import BackendError
from .files import locked, sync
from .paths import cache_dir
from .progress import note

DIGITS = 16  # of a digest in a name
LARGEST = 2 << 30  # bytes of a room
_DAY = 24 * 3600.0
_MONTH = 30 * _DAY
_MANIFEST = ".sha256"
# sgemm_01-0123456789abcdef.so, .sgemm_01-0123456789abcdef.lock
_ENTRY = re.compile(rf"\.?(?P<name>.+[-_][0-9a-f]{{{DIGITS}}})(\..*)?")
# Folders of builds, and of variants, by versions that had no manifests.
_EARLIER = re.compile(r"\.build-\w{8}|tmp\w{8}|[0-9a-f]{12}")

# path, number of the file, size, time of the last change: another one, and it is read again.
Stamp = tuple[str, int, int, int]


class Store:
    """A room of the cache: artefacts of one or several files, made in one go and verified together.

    Beside an artefact lies a manifest with the digests of its files, as `sha256sum` writes and
    checks it. It is put there last, so an artefact whose making was interrupted is not whole, and
    what does not agree with its manifest, or is another user's, is made anew, never used.
    """

    def __init__(self, room: str) -> None:
        self._room = room

    def get(self, name: str, suffixes: Sequence[str], make: Callable[[Path], None]) -> list[Path]:
        """The files of an artefact: `name` with each of `suffixes`.

        name: ends in DIGITS of the digest of all that it is made from. make: writes them into the
        folder that it gets; its other files there are dropped. It is called if they are not there
        or not as they were, by one process at a time. Raises what `make` raises, and BackendError
        if they cannot be kept.
        """
        folder = self._swept()
        paths = [folder / f"{name}{suffix}" for suffix in suffixes]
        manifest = folder / f"{name}{_MANIFEST}"
        if _is_whole(manifest, paths):
            return paths
        try:
            with locked(folder / f".{name}.lock"):
                if not _is_whole(manifest, paths):  # nobody made it while this process waited
                    if manifest.exists():
                        note(f"{name} was damaged in {folder}; it is made anew")
                    _make(paths, manifest, make)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise BackendError(
                f"GEMMLAB_CACHE: {name} cannot be kept in {folder} ({why}); make room there, or "
                "set GEMMLAB_CACHE to another folder"
            ) from error
        return paths

    def remove(self, name: str) -> None:
        """Drop an artefact, for one that will not be asked for again."""
        folder = cache_dir(self._room)
        paths = [path for path in folder.iterdir() if path.name.startswith(f"{name}.")]
        _remove(folder, name, paths)

    def folder(self, name: str) -> Path:
        """A folder of the room for files without a manifest: its user writes and compares them.

        name: as that of an artefact. It is swept like one.
        """
        self._swept()
        folder = cache_dir(self._room, name)
        os.utime(folder)
        return folder

    def _swept(self) -> Path:
        """The room's folder."""
        folder = cache_dir(self._room)
        with suppress(OSError):  # another process may be sweeping, too
            _sweep(folder)
        return folder


def _make(paths: Sequence[Path], manifest: Path, make: Callable[[Path], None]) -> None:
    """Make the files in a folder beside their place, and move them there."""
    folder, name = manifest.parent, manifest.stem
    work_folder = tempfile.TemporaryDirectory(
        dir=folder,
        prefix=f".{name}.build-",
        ignore_cleanup_errors=True,  # a compiler that was interrupted may still write to it
    )
    with work_folder as work:
        made = [Path(work) / path.name for path in paths]
        make(Path(work))
        listing = Path(work) / manifest.name
        listing.write_text(_digests(made))
        for draft in (*made, listing):  # the manifest last
            draft.chmod(0o600)
            sync(draft)
            if (folder / draft.name).is_dir():  # planted: no file can be renamed over it
                delete(folder / draft.name)
            os.replace(draft, folder / draft.name)
        sync(folder)


def _digests(paths: Sequence[Path]) -> str:
    """A manifest."""
    lines = []
    for path in paths:
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return "".join(lines)


def _is_whole(manifest: Path, paths: Sequence[Path]) -> bool:
    """Whether an artefact is there, as it was made and by this user. Notes that it was used."""
    try:
        listing = manifest.lstat()
        if time.time() - listing.st_mtime > _DAY:
            os.utime(manifest)
        return _agrees(_stamp(manifest), tuple(map(_stamp, paths)))
    except OSError:
        return False


def _stamp(path: Path) -> Stamp:
    """What changes with a file. Raises OSError unless only this user could have written it."""
    status = path.lstat()
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or shared:
        raise PermissionError(f"{path} may be another user's")
    return str(path), status.st_ino, status.st_size, status.st_mtime_ns


@lru_cache(maxsize=4096)
def _agrees(manifest: Stamp, files: tuple[Stamp, ...]) -> bool:
    """Whether files have the digests in a manifest; each is read once in a process."""
    return Path(manifest[0]).read_bytes() == _digests([Path(file[0]) for file in files]).encode()


# ---- what is not needed any more ----


@lru_cache(maxsize=16)
def _sweep(folder: Path) -> None:
    """Remove what killed processes left, what was not used for a month, and what is too much.

    Once in a process for each room. Nothing goes that some process is making, nor, for its age or
    size, what was used within a day.
    """
    entries: dict[str, list[Path]] = defaultdict(list)
    for path in folder.iterdir():
        if match := _ENTRY.fullmatch(path.name):
            entries[match["name"]].append(path)
        elif _EARLIER.fullmatch(path.name) and _idle([path]) > _DAY:
            delete(path)
    for name, paths in entries.items():
        if unfinished := [path for path in paths if path.name.startswith(".")]:
            _remove(folder, name, unfinished)
            entries[name] = [path for path in paths if path not in unfinished]
    total = sum(path.lstat().st_size for paths in entries.values() for path in paths)
    for name, paths in sorted(entries.items(), key=lambda entry: -_idle(entry[1])):
        if _idle(paths) > (_DAY if total > LARGEST else _MONTH):
            total -= sum(path.lstat().st_size for path in paths)
            _remove(folder, name, paths)


def _idle(paths: Sequence[Path]) -> float:
    """Seconds since an artefact was made or, which its manifest's date says, used."""
    return time.time() - max((path.lstat().st_mtime for path in paths), default=time.time())


def _remove(folder: Path, name: str, paths: Sequence[Path]) -> None:
    """Delete files of an artefact, unless some process is making it."""
    with suppress(BlockingIOError), locked(folder / f".{name}.lock", wait=False):
        for path in paths:
            delete(path)


def delete(path: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
