"""`%%kernel` cells: their text made into a kernel file, compiled, and their lines in every message.

`passages` and `constants` read a cell, `compose` puts them into the parent's file, `cell` compiles
it, `diagnostics` rewrites the compiler's messages. `magic` is what IPython calls.

And a reader's progress: `watch` sees which exercises of the `chapters` a notebook solves, `solved`
is the file of them, `progress` its table.
"""
