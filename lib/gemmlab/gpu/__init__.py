"""NVIDIA GPUs: build for them, read what the compiler made, probe them, and isolate new kernels."""
