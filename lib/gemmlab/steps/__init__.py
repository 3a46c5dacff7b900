"""The list of steps, in the order of the course: one entry per kernel file."""

from __future__ import annotations

from . import hgemm, sgemm, tma

STEPS = (*sgemm.STEPS, *hgemm.STEPS, *tma.STEPS)
