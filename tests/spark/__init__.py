"""Tests of the language on Spark."""
