"""Call a step: check its operands, choose a backend, launch it."""
