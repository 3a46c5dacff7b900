"""Tensor maps and their boxes: what a map describes, what it refuses, and both in words."""
