"""Epochs driven by Structured Streaming."""
