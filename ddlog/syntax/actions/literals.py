"""Literals: numbers, strings, vectors and maps."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from ... import syntax as ast
from ...errors import syntax as errors
from ...errors.source import Span
from ..digits import to_int
from ..lexer import Token
from .builder import TreeBuilder

_BASES = {
    "d": (10, "a decimal number"),
    "h": (16, "a hexadecimal number"),
    "o": (8, "an octal number"),
    "b": (2, "a binary number"),
}


def wrapped(value: int, width: int) -> int:
    """The number of `width` bits in two's complement that is equal to the value modulo 2**width."""
    return (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))


def _is_plain(part: ast.Expr) -> bool:
    return isinstance(part, ast.StringLit)


def _joined(pieces: list[Any]) -> ast.Expr:
    """Pieces of text that follow each other as one."""
    return ast.StringLit("".join(each.value for each in pieces), pieces[0].span.to(pieces[-1].span))


class Literals(TreeBuilder):
    """Literals: numbers, strings, vectors and maps."""

    def integer(self, span: Span, token: Token) -> ast.Expr:
        return ast.IntLit(to_int(token.value.replace("_", "")), None, None, span)

    def sized(self, span: Span, token: Token) -> ast.Expr:
        before, _, after = token.value.replace("_", "").partition("'")
        signed = after.startswith("s")
        base, name = _BASES[after[signed]]
        width = int(before) if before else None
        try:
            digits = after[signed + 1 :]
            value = to_int(digits) if base == 10 else int(digits, base)
        except ValueError:
            self.found.append(errors.BadDigits(token.value, name, span=span))
            value = 0
        if width is not None:
            written, width = width, self._width(width, span)
            if written == width and signed and base != 10:
                value = self._pattern(value, width, span)
            elif written == width:
                self._check_width(value, width, signed, span)
        return ast.IntLit(value, width, signed, span)

    def _pattern(self, value: int, width: int, span: Span) -> int:
        """The signed number of the bits that a number in another base than 10 says."""
        if value >> width:
            self.found.append(errors.PatternTooWide(value.bit_length(), width, span=span))
            return 0
        return wrapped(value, width)

    def _check_width(self, value: int, width: int, signed: bool, span: Span) -> None:
        least, greatest = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        if not least <= value <= greatest:
            shown = f"{'signed' if signed else 'bit'}<{width}>"
            self._too_wide[span] = errors.LiteralTooWide(value, shown, least, greatest, span=span)

    def floating(self, span: Span, token: Token) -> ast.Expr:
        before, sized, after = token.value.replace("_", "").partition("'f")
        width = int(before) if sized else None
        if width not in (None, 32, 64):
            self.found.append(errors.BadFloatWidth(width or 0, span=span))
            width = None
        return ast.FloatLit(float(after or before), width, span)

    def plain_piece(self, span: Span, token: Token) -> list[ast.Expr]:
        return [ast.StringLit(token.value, span)]

    def spliced_piece(self, span: Span, *parts: Any) -> list[ast.Expr]:
        return [
            ast.StringLit(part.value, self._at(part)) if isinstance(part, Token) else part for part in parts
        ]

    def text(self, span: Span, *pieces: Any) -> ast.Expr:
        parts: list[ast.Expr] = []
        for plain, run in groupby((part for piece in pieces for part in piece), _is_plain):
            adjacent = list(run)
            parts += [_joined(adjacent)] if plain else adjacent
        parts = [each for each in parts if not isinstance(each, ast.StringLit) or each.value]
        if any(not isinstance(part, ast.StringLit) for part in parts):
            return ast.Interpolated(tuple(parts), span)
        return ast.StringLit("".join(part.value for part in parts if isinstance(part, ast.StringLit)), span)
