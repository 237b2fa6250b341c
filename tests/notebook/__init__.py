"""Notebooks: what answers look like there, the magics, and the examples."""
