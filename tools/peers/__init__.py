"""Other people's kernels, built from checkouts that the user has, and recorded beside ours.

Nothing of theirs is in this repository: the drivers here include their headers.
"""
