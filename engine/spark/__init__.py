"""The Spark runtime: the circuit's operators as SQL over typed DataFrames."""
