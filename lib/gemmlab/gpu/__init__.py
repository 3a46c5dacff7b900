"""NVIDIA: what is compiled for a GPU, and what is known of it."""
