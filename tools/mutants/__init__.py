"""Mutants of the kernels: one small mistake each, made mechanically, that the simulator must find.

code: a source as tokens; removals, stores, numbers, loops, guards, owners, swizzles: the operators;
mutants: all mutants of one kernel; subjects: the kernels and their sizes; judge: one mutant in the
simulator, in a child process; pool: many of them in separate processes; sample: a few for every
test run; table: the verdicts as they are recorded. by_hand: mutants that are made by hand, and held
against `lab.check`.
"""
