"""Where wgmma finds its operands in shared memory, and which thread has which sum."""
