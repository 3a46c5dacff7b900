"""A reader's progress: what a notebook solves is kept, whatever happens to the file."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel
from traitlets.config import Config

from gemmlab.cli import main
from gemmlab.notebook import chapters, magic, solved

EXERCISE = next(one for one in chapters.exercises() if one.key == "sgemm_naive/1")
STUB, SOLUTION = EXERCISE.cells
IMPORT = "import gemmlab as lab\n"
JUDGE = "lab.exercises.mapping({}, rows=2, cols=16)"
RIGHT, WRONG = (JUDGE.format(f"lambda lane: {it}") for it in ("divmod(lane, 16)", "(lane, 0)"))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMMLAB_PROGRESS", "1")
    monkeypatch.setenv("GEMMLAB_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    magic.load_ipython_extension(made)
    made.run_cell(IMPORT)
    return made


@pytest.fixture
def run(shell):
    """Runs a cell as JupyterLab does, which names it; the cell itself must not fail."""

    def in_cell(text: str, cell: chapters.Cell | None = STUB) -> None:
        assert shell.run_cell(text, cell_id=cell.id if cell else None).success

    return in_cell


def entry() -> solved.Solved | None:
    found, problem = solved.load()
    assert not problem
    return found.get(EXERCISE.key)


def call(*arguments: str, **more):
    return CliRunner().invoke(main, ["progress", *arguments], **more)


# ---- what a notebook solves ----


def test_a_right_answer_is_kept_with_its_text_and_the_day(run):
    run(RIGHT)
    assert entry().answer == (RIGHT,) and not entry().shown
    assert entry().when.startswith("20")


@pytest.mark.parametrize("text", [STUB.text, WRONG, f"print({RIGHT})\nprint({WRONG})"])
def test_what_shows_anything_but_solved_is_not(run, text):
    run(text)
    assert entry() is None


def test_a_cell_that_fails_after_a_verdict_is_not_solved(shell):
    assert not shell.run_cell(f"print({RIGHT})\n1 / 0", cell_id=STUB.id).success
    assert entry() is None


def test_the_books_solution_is_told_from_an_answer(run):
    run(SOLUTION.text, SOLUTION)
    assert entry().shown
    run(SOLUTION.text + "\n", STUB)  # copied
    assert entry().shown
    run(RIGHT)
    assert not entry().shown
    run(SOLUTION.text, SOLUTION)
    assert entry().answer == (RIGHT,)


def test_a_copied_kernel_is_the_books_whatever_it_is_called():
    kernels = [
        (one, cell.text)
        for one in chapters.exercises()
        for cell in one.cells
        if cell.solution and cell.text.startswith("%%kernel")
    ]
    assert len(kernels) > 10
    for one, text in kernels:
        body = text.partition("\n")[2]
        assert one.has_solution(["%%kernel of_my_own --like sgemm_06_swizzled_a\n" + body])
        assert not one.has_solution([text + "\n// and more"])


def test_the_first_day_stays_and_the_answer_is_the_last(run, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(solved, "_now", lambda: "2025-01-01T00:00:00+00:00")
        run(RIGHT)
    run(RIGHT + "  # again")
    assert entry().when.startswith("2025") and entry().answer[0].endswith("again")


def test_a_cell_that_is_not_the_books_is_left_alone(run, home):
    run(RIGHT, None)
    run(RIGHT, chapters.Cell("another", "", False, False))
    assert not home.exists()


def test_the_variable_for_tests_switches_it_off(run, home, monkeypatch):
    monkeypatch.setenv("GEMMLAB_PROGRESS", "0")
    run(RIGHT)
    assert not home.exists()


@pytest.mark.slow
def test_a_notebook_says_which_cell_it_is_and_a_tool_does_not(home):
    """A real kernel: first as nbclient and nbval ask it, then as JupyterLab does."""
    manager, client = start_new_kernel(env={**os.environ, "GEMMLAB_BACKEND": "sim"})
    try:
        reply = client.execute(IMPORT + RIGHT, reply=True, timeout=120)
        assert reply["content"]["status"] == "ok" and not home.exists()
        content = {"code": RIGHT, "silent": False, "store_history": True}
        asked = client.session.msg("execute_request", content, metadata={"cellId": STUB.id})
        client.shell_channel.send(asked)
        assert client.get_shell_msg(timeout=120)["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert entry().answer == (RIGHT,)


# ---- the file ----


def test_notebooks_at_the_same_time_lose_nothing():
    """Each has the file open for itself, so threads lock each other out as processes do."""
    with ThreadPoolExecutor(4) as several:
        for _ in several.map(lambda n: solved.add(f"chapter/{n}", ("answer",), False), range(60)):
            pass
    assert len(solved.load()[0]) == 60


DAMAGED = (
    *(b"", b'{"schema": 1, "exerc', b"\xff\xfe\x00", b"[]", b'{"schema": 9, "exercises": {}}'),
    *(b'{"schema": 1, "exercises": {"a/1": {}}}', b'{"schema": 1, "exercises": []}'),
)


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_set_aside_and_a_new_one_begins(run, home, capsys, content):
    home.mkdir()
    (home / "progress.json").write_bytes(content)
    run(RIGHT)
    said = capsys.readouterr().err
    (aside,) = home.glob("progress-damaged-*.json")
    assert f"set aside as {aside}" in said
    assert aside.read_bytes() == content
    assert entry().answer == (RIGHT,)


def test_where_nothing_can_be_written_a_cell_says_so_and_goes_on(run, home, capsys):
    (home / ".progress.json.tmp").mkdir(parents=True)  # what is written goes there first
    run(RIGHT)
    said = f"could not be noted in {solved.path()}: Is a directory; set GEMMLAB_HOME to a folder"
    assert said in capsys.readouterr().err
    shutil.rmtree(home)
    home.write_text("a file")
    run(RIGHT)
    said = f"could not be noted in {solved.path()}: File exists; set GEMMLAB_HOME to a folder"
    assert said in capsys.readouterr().err
    done = call()
    assert done.exit_code == 1 and "GEMMLAB_HOME" in done.output


def test_without_a_variable_it_lies_with_the_users_data(monkeypatch, tmp_path):
    monkeypatch.delenv("GEMMLAB_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert solved.path() == tmp_path / "gemmlab" / "progress.json"


# ---- the chapters ----


def test_every_judged_exercise_has_cells_with_ids_of_their_own():
    judged = [one for one in chapters.exercises() if one.judged]
    assert len(judged) > 50
    ids = [cell.id for one in judged for cell in one.cells]
    assert all(ids) and len(set(ids)) == len(ids)
    assert len({one.key for one in judged}) == len(judged)
    assert all(any(cell.solution for cell in one.cells) for one in judged)
    for one in judged[::10]:
        assert chapters.exercise_of(one.cells[0].id) == one


def test_stubs_are_not_solutions():
    """Or an answer would be taken for the book's."""
    for one in chapters.exercises():
        assert not one.has_solution(cell.text for cell in one.cells if not cell.solution), one.key


# ---- the command ----


def test_the_command_lists_what_is_solved(run):
    run(RIGHT)
    solved.add("gone/7", ("an answer",), True)
    output = call().output
    count = sum(one.judged for one in chapters.exercises()) + 1
    assert f"1 of {count} solved, 1 with the book's solution only" in output
    lines = output.splitlines()
    (row,) = (line for line in lines if line.startswith("sgemm_naive"))
    assert "1: square blocks" in row and " yes " in row and entry().when[:10] in row
    (row,) = (line for line in lines if line.startswith("gone"))
    assert " solution " in row
    data = json.loads(call("--json").stdout)
    assert data["file"] == str(solved.path())
    (row,) = (row for row in data["exercises"] if row["solved"])
    assert (row["chapter"], row["exercise"], row["answer"]) == ("sgemm_naive", 1, [RIGHT])


def test_without_the_chapters_it_lists_what_was_solved(run, monkeypatch, tmp_path):
    run(RIGHT)
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    output = call().output
    assert "1 of 1 solved" in output and "GEMMLAB_ROOT names a checkout" in output


def test_starting_over_asks_first(run):
    run(RIGHT)
    refused = call("--reset", input="n\n")
    assert refused.exit_code == 0 and "Forget 1 solved exercises" in refused.output
    assert entry() and "sgemm_naive" not in refused.output
    assert call("--reset", input="y\n").exit_code == 0
    assert entry() is None and not Path(solved.path()).exists()


def test_the_command_sets_a_damaged_file_aside_too(home):
    home.mkdir()
    (home / "progress.json").write_text("{")
    assert "set aside as" in json.loads(call("--json").stdout)["problem"]
    (home / "progress.json").write_text("{")
    done = call()
    assert done.exit_code == 0 and "set aside as" in done.output
