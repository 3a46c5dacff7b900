"""How a product is cut into tiles: what a tiling costs, what fits on an SM, in which order."""
