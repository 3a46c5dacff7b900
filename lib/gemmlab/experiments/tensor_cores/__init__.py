"""The highest rates that the tensor cores reach: measured, recorded and shown."""
