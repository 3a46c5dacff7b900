"""Kernels with one mistake each, and what a GPU does with them."""
