"""What the names of a program mean: modules, imports, scopes, attributes."""
