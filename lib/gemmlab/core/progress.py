"""Progress on long work: a line that counts seconds. GEMMLAB_PROGRESS=0 silences it.

Where nobody watches (a pipe, a file) a line is not written anew again and again: long work is named
once, and bars are left out.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tqdm.auto import tqdm

T = TypeVar("T")


def enabled() -> bool:
    """Whether progress may be shown (stored notebooks are executed with it off)."""
    return os.environ.get("GEMMLAB_PROGRESS", "1") != "0"


def watched() -> bool:
    """Whether it is shown to somebody: in a terminal, or in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    in_notebook = shell is not None and hasattr(shell, "kernel")
    return in_notebook or (sys.stderr is not None and sys.stderr.isatty())


def bar(items: Iterable[T], text: str) -> Iterable[T]:
    """`items`, with a progress bar labelled `text`."""
    from tqdm.auto import tqdm

    hidden = not (enabled() and watched())
    shown: Iterable[T] = tqdm(items, desc=text, leave=False, disable=hidden)
    return shown


def count(total: int, text: str, unit: str, done: int = 0) -> tqdm:
    """A progress bar to be moved by hand: update(n), close()."""
    from tqdm.auto import tqdm

    how = {"leave": False, "disable": not (enabled() and watched()), "initial": done}
    return tqdm(total=total, desc=text, unit=unit, **how)


@contextmanager
def busy(text: str, after: float = 0.5) -> Iterator[None]:
    """Show `text` and the seconds gone by, from `after` seconds on, until the block ends."""
    if not enabled():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_tick, args=(text, after, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def note(text: str) -> None:
    """A line beside the results, which no progress line overwrites. It is not progress."""
    from tqdm.auto import tqdm

    tqdm.write(f"gemmlab: {text}", file=sys.stderr)


def _tick(text: str, after: float, done: threading.Event) -> None:
    if done.wait(after):
        return
    if not watched():
        print(f"{text} ...", file=sys.stderr, flush=True)
        return
    from tqdm.auto import tqdm

    with tqdm(desc=text, leave=False, bar_format="{desc}: {elapsed}") as line:
        while not done.wait(0.25):
            line.refresh()
