"""The operators of circuits, a family a file: the node, its meaning, its incremental version, its text, its
well-formedness."""
