"""Sessions on Spark."""
