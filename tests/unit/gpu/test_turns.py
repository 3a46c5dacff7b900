"""Turns at the GPU: who measures is alone, who launches shares, and nobody waits for ever."""

import threading
import time

import pytest

from gemmlab.gpu import turns

ALONE, TOGETHER = turns.fcntl.LOCK_EX, turns.fcntl.LOCK_SH


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    monkeypatch.setenv(turns.VARIABLE, str(tmp_path / "turns"))


class Process(threading.Thread):
    """Takes a turn, as a process of its own would, and gives it back when it is told to."""

    def __init__(self, how: int) -> None:
        super().__init__(daemon=True)
        self.how, self.has, self.done = how, threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        with turns._Turn().take(self.how):
            self.has.set()
            self.done.wait(20)

    def gets_in(self, seconds: float) -> bool:
        return self.has.wait(seconds)


def test_launches_share_and_a_measurement_is_alone():
    first, second = Process(TOGETHER), Process(TOGETHER)
    assert first.gets_in(10) and second.gets_in(10)
    measures = Process(ALONE)
    assert not measures.gets_in(0.1)
    first.done.set()
    assert not measures.gets_in(0.1)
    second.done.set()
    assert measures.gets_in(10)
    measures.done.set()


def test_a_measurement_comes_before_launches_that_came_later():
    first = Process(TOGETHER)
    assert first.gets_in(10)
    measures = Process(ALONE)
    time.sleep(0.1)  # it waits now
    later = Process(TOGETHER)
    assert not later.gets_in(0.2)
    first.done.set()
    assert measures.gets_in(10)
    assert not later.gets_in(0.1)
    measures.done.set()
    assert later.gets_in(10)
    later.done.set()


def test_a_turn_within_a_turn_is_the_same_one():
    turn = turns._Turn()
    with turn.take(ALONE), turn.take(TOGETHER):
        assert turn.held
    assert not turn.held


def test_without_the_variable_nobody_waits(monkeypatch):
    monkeypatch.delenv(turns.VARIABLE)
    with turns._Turn().take(ALONE), turns._Turn().take(ALONE):
        pass
