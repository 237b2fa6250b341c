"""Calls of library functions, a module of the library in a table, with what each gives."""
