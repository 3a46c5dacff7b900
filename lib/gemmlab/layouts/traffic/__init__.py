"""What a warp, a block and a thread move for each FMA: sectors, tiles, registers."""
