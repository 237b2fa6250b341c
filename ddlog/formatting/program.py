"""The layout of a program."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors.diagnostics import DDlogError
from ..errors.formatting import WouldChange
from ..errors.source import Source
from ..syntax.lexer import Places, Token, tokenize
from ..syntax.parser import Phrase, parse_phrases, parse_program
from ..syntax.stackroom import deep_recursion
from .comments import gap_of
from .forms import DeclarationForms

WIDTH = 100


def formatted(source: Source, width: int = WIDTH, lines: tuple[int, int] | None = None) -> str:
    """A program with the same tokens and comments in the layout of this language, in lines of `width` columns
    where that is possible; of some lines only, the declarations on them. Raises DDlogError with the errors of
    syntax."""
    with deep_recursion():
        parts, tokens, found = parse_phrases(source)
        if found:
            raise DDlogError(found)
        text = "".join(_chunks(source.text, parts, tokens, width, lines)).lstrip("\n").rstrip()
    result = f"{text}\n" if text else ""
    if result != source.text:
        _check(source, tokens, result)
    return result


def _chunks(
    text: str, parts: list[Phrase | Token], tokens: list[Token], width: int, lines: tuple[int, int] | None
) -> Iterator[str]:
    """Each declaration with the line end and the comments before it; last, the comments at the end."""
    forms, done, at = DeclarationForms(text, tokens), 0, 0
    while at < len(parts) or done < len(text):
        end = next((k for k in range(at + 1, len(parts)) if isinstance(parts[k], Phrase)), len(parts))
        empty = forms.begin()
        last = at == len(parts)
        layout = forms.rest() if last else forms.declaration(parts[at], parts[at + 1 : end])
        begin, done = done, len(text) if last else tokens[forms.at - 1].end
        if lines is None or _meets(text, begin, done, lines):
            shown = layout.lines(width)
            yield ("\n\n" if empty else "\n") + shown if shown else ""
        else:
            yield text[begin:done]
        at = end


def _meets(text: str, begin: int, end: int, lines: tuple[int, int]) -> bool:
    start = begin + len(text[begin:end]) - len(text[begin:end].lstrip())
    return text.count("\n", 0, start) + 1 <= lines[1] and lines[0] <= text.count("\n", 0, end) + 1


def _check(source: Source, tokens: list[Token], result: str) -> None:
    """Raises DDlogError if a text does not have these tokens, or the comments and declarations of the source:
    a fault of this room, that must not reach a file. The two tokens of `>>` mean another thing apart."""
    there = Source(source.name, result)
    again = tokenize(Places(there))
    same = [each[:2] for each in again.tokens] == [each[:2] for each in tokens]
    (before, wrong), (after, wrong_now) = parse_program(source), parse_program(there)
    if wrong and not wrong_now:
        raise DDlogError(wrong)
    same = same and before.declarations == after.declarations and len(wrong) == len(wrong_now)
    if not same or again.found or _comments(source.text, tokens) != _comments(result, again.tokens):
        raise DDlogError([WouldChange(source.name)])


def _comments(text: str, tokens: list[Token]) -> list[str]:
    """The words of the comments, in their order."""
    found, end = list[str](), 0
    for start, after in [*((each.start, each.end) for each in tokens), (len(text), len(text))]:
        if start - end > 1 and "/" in text[end:start]:
            found += [word for each in gap_of(text[end:start]).comments for word in each.text.split()]
        end = after
    return found
