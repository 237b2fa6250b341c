"""Values as Soufflé writes them: `[1, [2, nil]]`, `$Branch(1, 2)`, floats with six digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...types import Float, Type, User
from ...values.shapes import is_option
from ...values.structs import taken_apart
from .transfers import Vocabulary

_Piece = str | tuple[Any, Type]


def value_writer(type: Type, words: Vocabulary) -> Callable[[Any], str]:
    """A function that writes a value of the type."""
    match type:
        case Float():
            return float_text
        case User():
            return lambda value: _composite_text(value, type, words)
    return str


def float_text(value: float) -> str:
    """A floating-point number as C++ prints it by default."""
    return f"{value:g}"


def _composite_text(value: Any, type: Type, words: Vocabulary) -> str:
    """The text of a record or a branch. Lists of any length are written, without recursion."""
    texts: list[str] = []
    open_pieces: list[_Piece] = [(value, type)]
    while open_pieces:
        piece = open_pieces.pop()
        if isinstance(piece, str):
            texts.append(piece)
        elif isinstance(piece[1], User):
            open_pieces += reversed(_pieces(piece[0], piece[1], words))
        else:
            texts.append(value_writer(piece[1], words)(piece[0]))
    return "".join(texts)


def _pieces(value: Any, type: User, words: Vocabulary) -> list[_Piece]:
    constructor, fields = taken_apart(value, type, words.typedefs)
    if is_option(type):
        return [(fields[0], constructor.fields[0][1])] if fields else ["nil"]
    inner: list[_Piece] = []
    for field, (_, of) in zip(fields, constructor.fields, strict=True):
        inner += [", ", (field, of)] if inner else [(field, of)]
    name = words.branches.get(constructor.name)
    if name is None:
        return ["[", *inner, "]"]
    return [f"${name}(", *inner, ")"] if inner else [f"${name}"]
