"""Queries over relations that a session does not keep, and rounds that run again."""
