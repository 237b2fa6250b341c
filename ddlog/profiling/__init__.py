"""Measurements of time: those of sessions as data, text and pages."""
