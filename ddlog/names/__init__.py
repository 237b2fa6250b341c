"""The meaning of names: modules, imports, the environment of declarations, attributes."""
