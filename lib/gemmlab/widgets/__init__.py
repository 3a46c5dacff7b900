"""What the reader touches: live in JupyterLab, responsive in the static book, else a picture."""

from __future__ import annotations

from .bank_map import BankMap
from .ladder import Ladder, ladder
from .predict import Predict, predict
from .trace_view import TraceView

__all__ = ["BankMap", "Ladder", "Predict", "TraceView", "ladder", "predict"]
