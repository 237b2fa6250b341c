"""Values as Soufflé writes them: `[1, [2, nil]]`, `$Branch(1, 2)`, floats that can be read back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from ...types import Bool, Float, Type, User
from ...values.shapes import is_option
from ...values.structs import taken_apart
from .transfers import Vocabulary

Piece = str | tuple[Any, Type]
"""A text, or a value with its type whose text is still to come."""


def value_writer(type: Type, words: Vocabulary) -> Callable[[Any], str]:
    """A function that writes a value of the type."""
    match type:
        case Bool():
            return lambda value: "true" if value else "false"
        case Float() if words.of_flowlog:
            return plain_float
        case Float(width):
            return lambda value: float_text(value, width)
        case User():
            return lambda value: nested_text(value, type, lambda value, of: _pieces(value, of, words))
    return str


def float_text(value: float, width: int) -> str:
    """A floating-point number as Soufflé prints it: with the digits that suffice to read back any number."""
    return f"{value:.{9 if width == 32 else 17}g}"


def plain_float(value: float) -> str:
    """A floating-point number as FlowLog prints it: the fewest digits, without an exponent."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else str(value)
    return f"{Decimal(repr(value)):f}".removesuffix(".0")


def nested_text(value: Any, type: Type, pieces: Callable[[Any, Type], list[Piece]]) -> str:
    """The text of a value, whose `pieces` may be values with types. Lists of any length are written, without
    recursion."""
    texts: list[str] = []
    remaining: list[Piece] = [(value, type)]
    while remaining:
        piece = remaining.pop()
        if isinstance(piece, str):
            texts.append(piece)
        else:
            remaining += reversed(pieces(*piece))
    return "".join(texts)


def separated(values: Iterable[Piece]) -> list[Piece]:
    """The pieces with commas between them."""
    inner: list[Piece] = []
    for value in values:
        inner += [", ", value] if inner else [value]
    return inner


def _pieces(value: Any, type: Type, words: Vocabulary) -> list[Piece]:
    if not isinstance(type, User):
        return [value_writer(type, words)(value)]
    constructor, fields = taken_apart(value, type, words.typedefs)
    if is_option(type):
        return [(fields[0], type.args[0])] if fields else ["nil"]
    inner = separated(zip(fields, (of for _, of in constructor.fields), strict=True))
    name = words.branches.get(constructor.name)
    if name is None and words.of_flowlog:
        return ["(", *inner, "," * (len(fields) == 1), ")"]
    if name is None:
        return ["[", *inner, "]"]
    return [f"${name}(", *inner, ")"] if inner else [f"${name}"]
