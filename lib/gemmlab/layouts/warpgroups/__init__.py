"""A model of two warpgroups that share the tensor cores of an SM, and its runs in words."""
