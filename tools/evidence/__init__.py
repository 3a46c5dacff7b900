"""Recordings of what a GPU, nvcc and compute-sanitizer say, beside which the simulator is put.

record_*: `python -m tools.evidence.record_<name> --help`; draw_*: what is measured.
"""
