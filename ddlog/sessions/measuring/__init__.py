"""Measurements of the commits of a session."""
