"""Texts of programs, facts and file names, made fit for a terminal."""

from __future__ import annotations


def visible(text: str) -> str:
    """The text with escapes in place of the characters that a terminal obeys or does not show, as in printed
    strings. Lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\u{{{ord(c):x}}}" for c in text)
