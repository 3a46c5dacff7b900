"""The page `book/reference.ipynb`: every public name, its docstring, an example that runs.

`python -m tools.reference` writes and executes it. A public name without an example is refused.
"""
