"""FORMAT and PRINTF: a constant text, in whose places the values of arguments stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import string, tree
from . import conversions as c
from .scalars import Scalars
from .types import DOUBLE, INTEGER, VARCHAR, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_BRACES = re.compile(r"\{\{|\}\}|\{(?P<at>\d*)(?::(?P<spec>[^{}]*))?\}|[^{}]+|(?P<wrong>[{}])")
_PERCENT = re.compile(
    r"%%|%(?P<flags>[-+ #0,]*)(?P<width>\d*)(?P<places>\.\d+)?(?P<kind>[a-zA-Z])|[^%]+|(?P<wrong>%)"
)
_SPEC = re.compile(r"(.?[<>^])?[-+ ]?#?0?\d*,?(\.\d+)?([a-zA-Z]?)\Z")
_KINDS = {"integer": "dxXob", "double": "feEgGF", "text": "s"}
_Piece = tuple[str, int | None]  # a text, or how an argument of a number is written


def formatted(s: Scalars, node: Expression) -> SqlValue:
    """FORMAT('{} of {:.2f}', x, y)."""
    return _filled(s, node, node.this, node.expressions, _in_braces)


def printed(s: Scalars, node: Expression) -> SqlValue:
    """PRINTF('%d of %.2f', x, y)."""
    if not node.expressions:
        s.places.wrong(f"{s.places.called(node)} takes 1 or more arguments", node)
    return _filled(s, node, node.expressions[0], node.expressions[1:], _behind_percent)


def _in_braces(text: str) -> Iterator[_Piece | None]:
    count = 0
    for found in _BRACES.finditer(text):
        spec = (found["spec"] or "").replace("t,", ",")
        if found["wrong"] or not _SPEC.match(spec):
            yield None
        elif found["at"] is None:
            yield found[0].replace("{{", "{").replace("}}", "}"), None
        else:
            yield spec, int(found["at"] or count)
            count += 1


def _behind_percent(text: str) -> Iterator[_Piece | None]:
    count = 0
    for found in _PERCENT.finditer(text):
        if found["wrong"]:
            yield None
        elif found["kind"] is None:
            yield found[0].replace("%%", "%"), None
        else:
            flags, kind = found["flags"], found["kind"].replace("i", "d")
            side = "<" if "-" in flags else "" if "0" in flags else ">"
            zero = "0" if not side else ""
            sign = "+" if "+" in flags else " " if " " in flags else ""
            more = "#" if "#" in flags else ""
            comma = "," if "," in flags else ""
            yield f"{side}{sign}{more}{zero}{found['width']}{comma}{found['places'] or ''}{kind}", count
            count += 1


def _filled(
    s: Scalars,
    node: Expression,
    text: Expression,
    arguments: list[Expression],
    pieces: Callable[[str], Iterator[_Piece | None]],
) -> SqlValue:
    """The text with the arguments in it; NULL where one of them is. Raises SqlError."""
    if not isinstance(text, sql.Literal) or not text.is_string:
        s.places.refuse(f"{s.places.called(node)} of a text that is not a constant", node)
    values = [_value(s, each, node) for each in arguments]
    parts: list[_Piece] = []
    for piece in pieces(text.name):
        if piece is None:
            s.places.wrong(f"'{text.name}' is no form of {s.places.called(node)}", text)
        spec, at = piece
        if at is not None and at >= len(values):
            s.places.wrong(f"'{text.name}' has a place for an argument {at + 1}: there is none", node)
        wanted = spec[-1:] if at is not None and spec[-1:].isalpha() else ""
        if at is not None and wanted and wanted not in _KINDS[values[at][0]]:
            s.places.wrong(f"`{wanted}` does not write a {values[at][1].type}", arguments[at])
        parts.append(piece)

    def build(*plain: Expr) -> Expr:
        texts = [
            string(spec)
            if at is None
            else tree(f"sql::format_{values[at][0]}($, $)", string(spec), plain[at])
            for spec, at in parts
        ]
        return reduce(lambda a, b: tree("$ ++ $", a, b), texts, string(""))

    return c.strict([value for _, value in values], build, VARCHAR)


def _value(s: Scalars, node: Expression, whole: Expression) -> tuple[str, SqlValue]:
    """An argument as it is written: an integer, a double or a text, and which of them."""
    value = s.value(node)
    kind, type = "text", VARCHAR
    if value.type.is_number:
        kind, type = ("double", DOUBLE) if value.type == DOUBLE or value.type.scale else ("integer", INTEGER)
    made = c.convert(value, type) or c.cast(value, type, may_fail=False)
    if made is None:
        s.places.mistyped(s.places.called(whole), str(value.type), node)
    return kind, made
