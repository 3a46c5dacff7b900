"""The cache: what is damaged or planted is made anew, what is left over goes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time

import pytest

from gemmlab.core import cache
from gemmlab.core.cache import Store
from gemmlab.core.errors import BackendError, BuildError, WriteError
from gemmlab.core.files import locked, write_whole

NAME = "step-0123456789abcdef"
OTHER = "other_fedcba9876543210"
LIBRARY = bytes(range(256)) * 40
DAY = 24 * 3600


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """The room of the cache that is tested."""
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "room"


@pytest.fixture
def get(home):
    """A function that asks for the artefact; `get.made` counts how often it was made."""

    def get_(name: str = NAME):
        return Store("room").get(name, (".so", ".json"), make)

    def make(work):
        get_.made += 1
        (name,) = {path.name.split(".")[1] for path in home.glob(".*.lock")}
        (work / f"{name}.so").write_bytes(LIBRARY)
        (work / f"{name}.json").write_text("[1]")
        (work / "unit.o").touch()

    get_.made = 0
    return get_


def test_it_is_made_once_and_lies_there_with_its_digests(get, home):
    files = get()
    assert get() == files and get.made == 1
    assert sorted(path.name for path in home.iterdir()) == [
        *(f"{NAME}.json", f"{NAME}.sha256", f"{NAME}.so")
    ]
    assert {path.stat().st_mode & 0o777 for path in home.iterdir()} == {0o600}
    subprocess.run(["sha256sum", "--check", "--strict", f"{NAME}.sha256"], cwd=home, check=True)


def zeroed(path):
    with path.open("r+b") as file:
        file.seek(5000)
        file.write(bytes(100))


def linked(path):
    """Elsewhere there is the same, which can be changed after it was read."""
    path.rename(path.parents[2] / "elsewhere")
    path.symlink_to(path.parents[2] / "elsewhere")


def another_users(path):
    """Only root can give a file away; one that others may write to is as good as theirs."""
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
    else:
        path.chmod(0o666)


def a_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: os.truncate(path, 2),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "planted": lambda path: path.write_bytes(b"#" * path.stat().st_size),
    "missing": lambda path: path.unlink(),
    "unreadable bytes": lambda path: path.write_bytes(b"\xff\xfe"),
    "a link": linked,
    "another user's": another_users,
    "a folder": a_folder,
}
CASES = [(suffix, name) for suffix in (".so", ".json", ".sha256") for name in DAMAGES]


@pytest.mark.parametrize(("suffix", "damage"), [*CASES, (".so", "zeroed")])
def test_what_is_not_as_it_was_is_made_anew(get, home, capsys, suffix, damage):
    files = get()
    path = home / f"{NAME}{suffix}"
    zeroed(path) if damage == "zeroed" else DAMAGES[damage](path)
    cache._agrees.cache_clear()  # as in another process
    assert get() == files and get.made == 2
    assert [file.read_bytes() for file in files] == [LIBRARY, b"[1]"]
    assert not any(file.is_symlink() for file in files)
    assert {file.stat().st_uid for file in home.iterdir()} == {os.geteuid()}
    said = capsys.readouterr().err
    if (suffix, damage) != (".sha256", "missing"):  # as after a making that was interrupted
        assert said == f"gemmlab: {NAME} was damaged in {home}; it is made anew\n"
    assert get() == files and get.made == 2


def test_a_file_without_a_manifest_is_not_used(get, home):
    home.mkdir(parents=True, mode=0o700)
    home.parent.chmod(0o700)
    (home / f"{NAME}.so").write_bytes(b"planted")
    assert get()[0].read_bytes() == LIBRARY


def test_a_making_that_fails_leaves_nothing_and_its_error(home):
    def make(work):
        (work / "half").touch()
        raise BuildError("no")

    with pytest.raises(BuildError, match="no"):
        Store("room").get(NAME, (".so",), make)
    assert list(home.iterdir()) == []


def test_a_full_disk_is_said_with_the_remedy(home, monkeypatch):
    def make(work):
        with open("/dev/full", "w") as file:
            file.write("x")

    with pytest.raises(BackendError, match=r"\(no space left on device\); make room"):
        Store("room").get(NAME, (".so",), make)


@pytest.mark.slow
def test_two_processes_make_it_once(home):
    code = f"""
import time
from gemmlab.core.cache import Store
def make(work):
    time.sleep(1)
    (work / "{NAME}.so").touch()
    print("made")
Store("room").get("{NAME}", (".so",), make)
"""
    command = [sys.executable, "-c", code]
    three = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sorted(process.communicate()[0] for process in three) == ["", "", "made\n"]
    assert not list(home.glob(".*"))


# ---- what goes ----


@pytest.fixture
def sweep(home):
    """A function that sweeps as a new process would."""

    def sweep_():
        cache._sweep.cache_clear()
        Store("room").folder("used-0000000000000000").rmdir()
        return sorted(path.name for path in home.iterdir())

    return sweep_


def unused(path, days):
    then = time.time() - days * DAY
    os.utime(path, (then, then), follow_symlinks=False)


def test_what_killed_processes_left_goes_and_what_is_being_made_stays(get, home, sweep):
    get()
    (home / f".{NAME}.build-abcd1234").mkdir()
    (home / f".{OTHER}.build-abcd1234").mkdir()
    (home / f".{NAME}.lock").touch()
    with (home / f".{OTHER}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        whole = [f"{NAME}.json", f"{NAME}.sha256", f"{NAME}.so"]
        assert sweep() == [f".{OTHER}.build-abcd1234", f".{OTHER}.lock", *whole]
    assert sweep() == whole


def test_what_was_not_used_for_a_month_goes(get, home, sweep):
    for name in (NAME, OTHER):
        get(name)
        for path in home.glob(f"{name}*"):
            unused(path, 40)
    get()  # used today
    assert sweep() == [f"{NAME}.json", f"{NAME}.sha256", f"{NAME}.so"]


def test_what_is_too_much_goes_the_longest_unused_first(get, home, sweep, monkeypatch):
    names = [f"step-{number:016x}" for number in range(4)]
    for days, name in zip((0.1, 3, 9, 5), names, strict=True):
        get(name)
        for path in home.glob(f"{name}*"):
            unused(path, days)
    each = sum(path.stat().st_size for path in home.glob(f"{names[0]}*"))
    monkeypatch.setattr(cache, "LARGEST", 2 * each)
    assert {name.split(".")[0] for name in sweep()} == {names[0], names[1]}
    monkeypatch.setattr(cache, "LARGEST", 0)
    assert {name.split(".")[0] for name in sweep()} == {names[0]}


def test_what_earlier_versions_left_goes_and_what_is_not_gemmlabs_stays(home, sweep):
    home.mkdir(parents=True, mode=0o700)
    home.parent.chmod(0o700)
    for name in ("step-0123456789abcdef.so", "notes.txt", "step.so"):
        (home / name).touch()
        unused(home / name, 400)
    for name in (".build-abcd1234", "tmpabcd1234", "0123456789ab", "prelude-0123456789abcdef"):
        (home / name).mkdir()
        (home / name / "file").touch()
        unused(home / name, 400)
    (home / ".build-1234abcd").mkdir()  # of a process that may run
    assert sweep() == [".build-1234abcd", "notes.txt", "step.so"]


# ---- files that are written whole ----


def test_a_draft_of_a_killed_process_is_taken_over(tmp_path):
    (tmp_path / ".record.json.tmp").write_text("half of a much longer text")
    write_whole(tmp_path / "record.json", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]
    assert (tmp_path / "record.json").read_text() == "new"


@pytest.mark.slow
def test_writers_take_turns(tmp_path):
    """Each waits for a draft that is then gone; each has to write one of its own."""
    code = """
import sys
from pathlib import Path
from gemmlab.core.files import write_whole
for number in range(20):
    write_whole(Path(sys.argv[1]), sys.argv[2] * 10_000)
"""
    place = tmp_path / "record.json"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(place), word]) for word in "abc"]
    while any(writer.poll() is None for writer in writers):
        if place.exists():
            assert place.read_text() in {word * 10_000 for word in "abc"}
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert list(tmp_path.iterdir()) == [place]


def test_a_write_that_fails_says_so_and_leaves_what_was_there(tmp_path):
    place = write_whole(tmp_path / "record.json", "old")
    (tmp_path / ".record.json.tmp").symlink_to("/dev/full")
    with pytest.raises(WriteError, match=r"record\.json: could not be written .* is as it was"):
        write_whole(place, "new")
    assert place.read_text() == "old"


def test_a_lock_that_is_held_is_not_waited_for_if_that_is_asked(tmp_path):
    with (
        locked(tmp_path / "lock"),
        pytest.raises(BlockingIOError),
        locked(tmp_path / "lock", wait=False),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
