"""A warp's request to shared memory: which words it wants, where they are, what they cost."""
