"""Durable states in folders, for sessions on Spark."""
