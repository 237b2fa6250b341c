"""Typed expressions to Python functions, and to array operations where that is possible."""
