"""How results look in a notebook, in the book and in a terminal."""
