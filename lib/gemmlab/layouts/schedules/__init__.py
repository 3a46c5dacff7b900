"""How stream-K kernels share the k tiles of C out among blocks."""
