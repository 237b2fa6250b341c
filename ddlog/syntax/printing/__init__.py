"""Syntax trees as text: what is parsed from the text is equal to the tree."""

from .declarations import declaration_text, module_text

__all__ = ["declaration_text", "module_text"]
