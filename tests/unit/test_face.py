"""What `import gemmlab as lab` gives: every name is there, and no two functions share one."""

from __future__ import annotations

import inspect
import types

import gemmlab as lab

# The rows of a run in lab.measurements, and what all runs have in lab.tables.
TO_RENAME = {"recorded"}
# A CUDA program or kernel of a file, and beside it a step's or a recording's, of other rooms.
OF_OTHER_THINGS = {"load", "program"}


def public(room: types.ModuleType) -> dict[str, object]:
    """What a room gives: the names of its __all__, or what is public in it and written there."""
    if names := getattr(room, "__all__", None):
        return {name: getattr(room, name) for name in names}
    return {
        name: value
        for name, value in vars(room).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == room.__name__
    }


def test_every_name_of_the_face_is_there():
    for name in lab.__all__:
        assert getattr(lab, name) is not None
    assert set(dir(lab)) == set(lab.__all__)


def test_every_name_that_a_room_gives_is_there():
    for name in lab.__all__:
        room = getattr(lab, name)
        if inspect.ismodule(room):
            assert public(room), name
            assert len(set(getattr(room, "__all__", []))) == len(getattr(room, "__all__", []))


def test_no_two_functions_have_one_name():
    """`lab.ladder` beside a `lab.plots.ladder` would be two answers to one question."""
    known: dict[str, tuple[str, object]] = {}
    clashes = []

    def add(name: str, where: str, value: object) -> None:
        if not inspect.isroutine(value) or name in TO_RENAME | OF_OTHER_THINGS:
            return
        first, other = known.setdefault(name, (where, value))
        if other is not value:
            clashes.append(f"{first} and {where}")

    for name in lab.__all__:
        add(name, f"lab.{name}", getattr(lab, name))
    for name in lab.__all__:
        room = getattr(lab, name)
        for inner, value in public(room).items() if inspect.ismodule(room) else ():
            add(inner, f"lab.{name}.{inner}", value)
    assert clashes == []
