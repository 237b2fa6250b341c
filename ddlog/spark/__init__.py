"""The language on Spark: its types, its expressions, sessions over DataFrames, streams."""
