"""gemmlab: real GEMM kernels, checked, counted and measured. `import gemmlab as lab`.

What chapters use stands here: verbs (`lab.check`) and rooms (`lab.layouts`). They are resolved at
their first use, so that importing gemmlab loads neither torch nor matplotlib.
"""

from __future__ import annotations

import importlib
import sys

from .core import machine
from .core.errors import BackendError, GemmlabError

if sys.platform == "win32":  # the modules below need what only Unix has
    # A notebook shows the sentence of an error; a command would show where it came from.
    raise (BackendError if "IPython" in sys.modules else SystemExit)(machine.elsewhere())

# Two verbs have the name of the package that they stand in. Imported here, the verb is what
# `lab.check` means; inside the package `from ..check.check import ...` finds the module.
from .bench.bench import bench
from .check.check import check

__version__ = "0.1.0"

_VERBS = {
    "course": "report.walk",
    "device": "run.doctor",
    "diff": "steps.source",
    "estimate": "bench.estimate",
    "experiment": "experiments",
    "flat": "steps.flat",
    "here": "report.walk",
    "kernel": "run.kernel",
    "ladder": "report.ladder",
    "matrices": "run.kernel",
    "number": "measurements.quoted",
    "overview": "report.overview",
    "parts": "report.parts",
    "predict": "widgets",
    "ptx": "gpu.ptx",
    "replay": "widgets",
    "source": "steps.source",
    "trace": "sim",
    "tune": "bench.tune",
    "variant": "run.kernel",
}
_ROOMS = {
    "evidence": "evidence",
    "exercises": "exercises",
    "experiments": "experiments",
    "layouts": "layouts",
    "measurements": "measurements",
    "plots": "report.plots",
    "registry": "steps.registry",
    "sim": "sim",
    "tables": "report.tables",
    "widgets": "widgets",
}

__all__ = ["GemmlabError", "bench", "check", *sorted(_VERBS), *sorted(_ROOMS)]


def __getattr__(name: str) -> object:
    if name in _VERBS:
        return getattr(importlib.import_module(f".{_VERBS[name]}", __name__), name)
    if name in _ROOMS:
        return importlib.import_module(f".{_ROOMS[name]}", __name__)
    raise AttributeError(f"gemmlab has no {name!r}; it has {', '.join(sorted(__all__))}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: object) -> None:
    """Give an IPython shell %%kernel and %%cuda, as importing gemmlab in a notebook does."""
    importlib.import_module(".notebook.magic", __name__).load_ipython_extension(shell)


if (_ipython := sys.modules.get("IPython")) and (_shell := _ipython.get_ipython()):
    load_ipython_extension(_shell)
