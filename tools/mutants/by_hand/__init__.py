"""Mutants made by hand: mistakes that a colleague might make, and whether `lab.check` finds them.

A file of mutants for each family of steps; mutants: reads them; judge: `lab.check` on one of them,
in a process of its own; witness: an input at which one goes wrong that `lab.check` may miss; table:
the verdicts as they are recorded; trial: the command.
"""
