"""Plain forms: the commonest way to write values of a type, as a pattern that reads whole rows at once.

Readers of many rows match a row with one regular expression and convert the parts column by column. The
pattern is narrower than the full form: a text that it does not match, or whose parts cannot be converted, is
left to the full reader, which knows what is wrong with it, if anything. A text that it does match has the
same value for both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from .. import values
from ..types import BigInt, Bit, Bool, Constructor, Float, JsonField, Signed, String, Tuple, Type, User
from .cells import float_of
from .fromtext import unescaped
from .numbers import integer_range
from .shapes import forms_of, is_option, shape_of
from .structs import TypeDefs, local_name

Parts: TypeAlias = Sequence[Sequence[str]]
"""The texts of the groups of a pattern, a sequence for each group, with an item for each row."""

BLANKS = r"[ \t\r]*"
"""Blanks of JSON on one line."""

_NUMBER = r"(-?[0-9]{1,18}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,18})?)"
_TRUE = "true"


@dataclass(frozen=True, slots=True)
class PatternForm:
    """A pattern with `groups` groups, and the conversion of their texts to a column of values, which raises
    ValueError or TextFault where a text is no value of the type."""

    pattern: str
    groups: int
    convert: Callable[[Parts], Sequence[Any]]


def text_form(type: Type, typedefs: TypeDefs) -> PatternForm | None:
    """The plain form of values in command files; None where a type has none."""
    match type:
        case String():
            return PatternForm(r'"([^"\\]*(?:\\[\s\S][^"\\]*)*)"', 1, _texts)
        case BigInt() | Bit() | Signed():
            return PatternForm(r"(-?[0-9]{1,18})", 1, partial(_integers, type))
        case Tuple(items):
            return text_fields(items, typedefs)
        case User() if not is_option(type):
            only = _only_constructor(type, typedefs)
            if only is None:
                return None
            constructor, make = only
            name = "|".join(sorted({constructor.name, local_name(constructor.name)}))
            parts = [text_form(each, typedefs) for _, each in constructor.fields]
            return _in_brackets(rf"(?:{name})\s*\{{", parts, r"\}", make, r"\s*")
    return _scalar_form(type)


def json_form(type: Type, typedefs: TypeDefs) -> PatternForm | None:
    """The plain form of values in JSON: a struct is an object with its fields in order."""
    match type:
        case String():
            return PatternForm(r'"([^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*)"', 1, _json_texts)
        case BigInt() | Bit() | Signed():
            return PatternForm(r"(-?(?:0|[1-9][0-9]{0,17}))", 1, partial(_integers, type))
        case Float():
            number = r"(-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,18})?)"
            return PatternForm(number, 1, partial(_floats, type))
        case Tuple(items):
            return _in_brackets(r"\[", [json_form(each, typedefs) for each in items], r"\]", None, BLANKS)
        case User() if not is_option(type):
            only = _only_constructor(type, typedefs)
            if only is None:
                return None
            constructor, make = only
            return json_fields(constructor.fields, forms_of(constructor), make, typedefs)
    return _scalar_form(type)


def json_fields(
    fields: Sequence[tuple[str, Type]],
    forms: Sequence[JsonField],
    make: Callable[..., Any] | None,
    typedefs: TypeDefs,
    by_position: bool = False,
) -> PatternForm | None:
    """The plain form of fields in JSON, an object by name or an array `by_position`. `make` makes a value of
    the fields; without it the values are tuples."""
    if any(each.optional or each.flatten or each.nested or each.key is not None for each in forms):
        return None
    parts = [json_form(of, typedefs) for _, of in fields]
    if by_position:
        return _in_brackets(r"\[", parts, r"\]", make, BLANKS)
    named = [
        None
        if part is None or not form.name.isidentifier()
        else PatternForm(f'"{form.name}"{BLANKS}:{BLANKS}{part.pattern}', part.groups, part.convert)
        for form, part in zip(forms, parts, strict=True)
    ]
    return _in_brackets(r"\{", named, r"\}", make, BLANKS)


def text_fields(types: Sequence[Type], typedefs: TypeDefs) -> PatternForm | None:
    """The plain form of `(1, "a")` in command files; the values are tuples."""
    return _in_brackets(r"\(", [text_form(each, typedefs) for each in types], r"\)", None, r"\s*")


def _in_brackets(
    opening: str,
    parts: Sequence[PatternForm | None],
    closing: str,
    make: Callable[..., Any] | None,
    blanks: str,
) -> PatternForm | None:
    known = [each for each in parts if each is not None]
    if not parts or len(known) != len(parts):
        return None
    inner = f"{blanks},{blanks}".join(each.pattern for each in known)
    groups = sum(each.groups for each in known)

    def convert(texts: Parts) -> Sequence[Any]:
        columns, start = [], 0
        for each in known:
            columns.append(each.convert(texts[start : start + each.groups]))
            start += each.groups
        return list(zip(*columns, strict=True)) if make is None else list(map(make, *columns))

    return PatternForm(f"{opening}{blanks}{inner}{blanks}{closing}", groups, convert)


def _scalar_form(type: Type) -> PatternForm | None:
    match type:
        case Bool():
            return PatternForm("(true|false)", 1, lambda texts: [text == _TRUE for text in texts[0]])
        case Float():
            return PatternForm(_NUMBER, 1, partial(_floats, type))
    return None


def _only_constructor(type: User, typedefs: TypeDefs) -> tuple[Constructor, Callable[..., Any]] | None:
    shape = shape_of(type, typedefs)
    if shape.is_union or shape.typedef.tag is not None or shape.typedef.text is not None:
        return None
    (only,) = shape.constructors
    return only, shape.make(only)


def _integers(type: BigInt | Bit | Signed, texts: Parts) -> Sequence[int]:
    numbers = list(map(int, texts[0]))
    if not isinstance(type, BigInt):
        least, greatest = integer_range(type)
        if min(numbers) < least or max(numbers) > greatest:
            raise ValueError(f"a number is out of the range of {type}")
    return numbers


def _floats(type: Float, texts: Parts) -> Sequence[float]:
    return [float_of(text, type) for text in texts[0]]


def _texts(texts: Parts) -> Sequence[str]:
    if "\\" not in "".join(texts[0]):
        return texts[0]
    return [unescaped(text) if "\\" in text else text for text in texts[0]]


def _json_texts(texts: Parts) -> Sequence[str]:
    whole = "".join(texts[0])
    if "\\" in whole:
        return [_json_text(text) if "\\" in text else text for text in texts[0]]
    return texts[0]


def _json_text(text: str) -> str:
    read: str = values.check(json.loads(f'"{text}"'), String(), {})
    return read
