"""Facts and results as JSON: an array of rows, each an array, or an object by the names of the columns.

A record is an array or an object in the same way, and `nil` is null. Algebraic types have no form in JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ...core import Relation
from ...io.columns import Columns, transpose
from ...io.formats import Row
from ...io.jsonfiles import item_rows
from ...io.utf8 import decode
from ...types import Bit, Float, Signed, String, Type, User
from ...values.fromplain import check
from ...values.shapes import is_option, shape_of, some_maker
from ...values.structs import taken_apart
from .resulttexts import Piece, float_text, nested_text, separated
from .transfers import FileForm, Vocabulary

_CHUNK = 1 << 14  # rows that are written at once


def has_json(type: Type, words: Vocabulary) -> bool:
    """Whether the values of a type have a form in JSON. The types that contain one that is looked at are
    not looked at again."""
    return _has_json(type, words, set())


def _has_json(type: Type, words: Vocabulary, seen: set[Type]) -> bool:
    if not isinstance(type, User) or type in seen:
        return True
    seen.add(type)
    if is_option(type):
        return _has_json(type.args[0], words, seen)
    constructors = shape_of(type, words.typedefs).constructors
    inner = [of for constructor in constructors for _, of in constructor.fields]
    return constructors[0].name in words.fields and all(_has_json(of, words, seen) for of in inner)


# ------------------------------------------------------------------ results


def json_texts(rows: Iterable[Row], form: FileForm, relation: Relation, words: Vocabulary) -> Iterator[str]:
    """The text of a result in pieces."""
    types = [column.type for column in relation.columns]
    pieces = _piece_maker(form, words)

    def text(row: Row) -> str:
        values = list(zip(row, types, strict=True))
        return "".join(
            piece if isinstance(piece, str) else nested_text(*piece, pieces)
            for piece in _composed(values, form.columns, form.objects)
        )

    yield "["
    remaining, before = iter(rows), ""
    while chunk := list(islice(remaining, _CHUNK)):
        yield before + ",\n".join(map(text, chunk))
        before = ",\n"
    yield "]\n"


def _composed(values: Sequence[Piece], names: Sequence[str], objects: bool) -> list[Piece]:
    if not objects:
        return ["[", *separated(values), "]"]
    pieces: list[Piece] = []
    for name, value in zip(names, values, strict=True):
        pieces += [f"{', ' if pieces else ''}{json.dumps(name, ensure_ascii=False)}: ", value]
    return ["{", *pieces, "}"]


def _piece_maker(form: FileForm, words: Vocabulary) -> Callable[[Any, Type], list[Piece]]:
    def pieces(value: Any, type: Type) -> list[Piece]:
        match type:
            case String():
                return [json.dumps(value, ensure_ascii=False)]
            case Float(width):
                return [float_text(value, width) if math.isfinite(value) else "null"]
            case User():
                constructor, fields = taken_apart(value, type, words.typedefs)
                if is_option(type):
                    return [(fields[0], type.args[0])] if fields else ["null"]
                values = list(zip(fields, (of for _, of in constructor.fields), strict=True))
                return _composed(values, words.fields[constructor.name], form.objects)
        return [str(value)]

    return pieces


# -------------------------------------------------------------------- facts


def read_json_facts(data: bytes, form: FileForm, relation: Relation, words: Vocabulary) -> Columns:
    """The rows of a JSON text. Raises FaultyFile."""
    text = decode(data)
    types = [column.type for column in relation.columns]
    read = _reader(words)

    def row(item: Any) -> tuple[Any, ...]:
        try:
            return tuple(_fields(item, types, form.columns, read))
        except RecursionError:
            raise ValueError("the value is nested too deeply") from None

    return transpose(item_rows(text, False, row), len(types))


def _fields(
    item: Any, types: list[Type], names: tuple[str, ...], read: Callable[[Any, Type], Any]
) -> list[Any]:
    """The values of an array or an object. Raises ValueError."""
    if isinstance(item, dict):
        missing = next((name for name in names if name not in item), None)
        if missing is not None:
            raise ValueError(f'there is no "{missing}"')
        item = [item[name] for name in names]
    if not isinstance(item, list) or len(item) != len(types):
        raise ValueError(f"expected an array of {len(types)} values, or an object with {', '.join(names)}")
    return [read(each, of) for each, of in zip(item, types, strict=True)]


def _reader(words: Vocabulary) -> Callable[[Any, Type], Any]:
    def read(item: Any, type: Type) -> Any:
        match type:
            case User() if is_option(type):
                shape = shape_of(type, words.typedefs)
                if item is None:
                    return shape.make(shape.constructors[0])()
                return some_maker(type, words.typedefs)(read(item, type.args[0]))
            case User():
                shape = shape_of(type, words.typedefs)
                (constructor,) = shape.constructors
                types = [of for _, of in constructor.fields]
                return shape.make(constructor)(*_fields(item, types, words.fields[constructor.name], read))
            case Bit() | Signed() | Float() if isinstance(item, bool):
                raise ValueError(f"expected a number, found {json.dumps(item)}")
        return check(item, type, words.typedefs)

    return read
