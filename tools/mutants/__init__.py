"""Mutants of the kernels: one small mistake each, made mechanically, that the simulator must find.

code: a source as tokens; removals, numbers, swizzles, loops: the operators; mutants: all mutants of
one kernel; subjects: the kernels and their sizes; judge: one mutant in the simulator; pool: many of
them in separate processes; sample: a few for every test run; table: the verdicts as they are
recorded.
"""
