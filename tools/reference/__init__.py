"""The page `book/reference.ipynb`: every public name, from its docstring, with an example that runs.

`python -m tools.reference` writes and executes it. A public name without an example is refused.
"""
