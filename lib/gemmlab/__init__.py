"""gemmlab: real GEMM kernels, checked, counted and measured. `import gemmlab as lab`."""

from __future__ import annotations

import importlib
import sys

# Seven functions have the name of their module. Imported here, the function is what `lab.check`
# means; inside the package say `from .check import ...`, which always finds the module.
from .bench import bench
from .check import check
from .device import device
from .errors import GemmlabError
from .experiments import experiment
from .pitfalls import pitfalls
from .ptx import ptx
from .run import kernel, matrices, variant
from .source import diff, source
from .tune import tune

__version__ = "0.1.0"

# Resolved at first use, so that importing gemmlab loads neither torch nor matplotlib.
_LAZY = {
    "trace": ("sim", "trace"),
    "tensor_cores": ("tensor_core_ceilings", "tensor_cores"),
    "fault": ("faults", "fault"),
    "tma_faults": ("fault_table", "tma_faults"),
    "try_wait": ("try_wait_probe", "try_wait"),
    "predict": ("widgets", "predict"),
    "ladder": ("widgets", "ladder"),
    "walk": ("plots", "walk"),
}
_MODULES = (
    *("agreement", "diagrams", "exercises", "fragments", "layouts", "measurements", "plots"),
    *("registry", "sass", "sim", "subtiles", "tables", "widgets"),
)

__all__ = [
    "GemmlabError",
    *(
        "bench",
        "check",
        "device",
        "diff",
        "experiment",
        "kernel",
        "matrices",
        "pitfalls",
        "ptx",
        "source",
        "tune",
        "variant",
    ),
    *_LAZY,
    *_MODULES,
]


def __getattr__(name: str):
    if name in _LAZY:
        module, attribute = _LAZY[name]
        return getattr(importlib.import_module(f".{module}", __name__), attribute)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"gemmlab has no {name!r}; it has {', '.join(sorted(__all__))}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: object) -> None:
    """Give an IPython shell the cell magic %%kernel; importing gemmlab in a notebook does it."""
    importlib.import_module(".magic", __name__).load_ipython_extension(shell)


if (_ipython := sys.modules.get("IPython")) and (_shell := _ipython.get_ipython()):
    load_ipython_extension(_shell)
