"""Fact files and tables that Spark reads and writes."""
