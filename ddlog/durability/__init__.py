"""Durable state: what a session keeps in a file beyond its process."""
