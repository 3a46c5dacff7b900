"""What every room uses: errors, paths, files, types of a product, progress, checks of arguments."""
