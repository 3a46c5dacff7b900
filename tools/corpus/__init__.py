"""Public CUDA kernels as a regression test: `python -m tools.corpus`."""
