"""The language's types and values as Spark and Arrow have them."""
