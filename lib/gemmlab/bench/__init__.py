"""How fast a kernel is: timings beside cuBLAS's, and the best of a step's configurations."""
