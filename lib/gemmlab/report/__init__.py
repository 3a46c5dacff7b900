"""Recorded runs as tables, figures and diagrams."""
