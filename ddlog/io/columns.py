"""Rows as columns on their way between files and a runtime, and the text of one cell."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .. import values
from ..core import Relation
from ..cursor import TextFault
from ..jsonvalue import from_json
from ..types import BigInt, Bit, Bool, Float, Signed, String, Type, TypeDef
from ..valuetext import parse_value, to_int

TypeDefs: TypeAlias = dict[str, TypeDef]
ColumnData: TypeAlias = "np.ndarray[Any, Any] | list[Any] | tuple[list[Any], np.ndarray[Any, Any]]"

_INTEGER = re.compile(r"-?[0-9]+\Z")
WIDEST = 1 << 63


@dataclass(frozen=True, slots=True)
class Columns:
    """The rows of a file: a column of data for each column of the relation, as a runtime takes them."""

    data: tuple[ColumnData, ...]
    count: int


def integer_bounds(type: Type) -> tuple[int, int] | None:
    """The least and greatest integer of a type as far as int64 holds them; None for other types."""
    match type:
        case Bit(width):
            return 0, min((1 << width) - 1, WIDEST - 1)
        case Signed(width):
            return max(-(1 << (width - 1)), -WIDEST), min((1 << (width - 1)) - 1, WIDEST - 1)
        case BigInt():
            return -WIDEST, WIDEST - 1
    return None


def cell_reader(type: Type, typedefs: TypeDefs) -> Callable[[str], Any]:
    """What reads one cell of a text file as a value of the type. It raises ValueError."""
    match type:
        case String():
            return _identity
        case Bit() | Signed() | BigInt():
            return lambda text: _integer_cell(text, type, typedefs)
        case Bool() | Float():
            return lambda text: _scalar_cell(text, type, typedefs)
    return lambda text: _composite_cell(text, type, typedefs)


def cell_writer(type: Type, typedefs: TypeDefs) -> Callable[[Any], str]:
    """What writes a value of the type as one cell of a text file."""
    match type:
        case String():
            return _identity
        case Bit() | Signed() | BigInt():
            return str
    return lambda value: values.show(value, type, typedefs)


def _identity(text: str) -> str:
    return text


def _integer_cell(text: str, type: Type, typedefs: TypeDefs) -> Any:
    if _INTEGER.match(text):
        return values.check(to_int(text), type, typedefs)
    return _scalar_cell(text, type, typedefs)


def _scalar_cell(text: str, type: Type, typedefs: TypeDefs) -> Any:
    try:
        return parse_value(text, type, typedefs)
    except TextFault as fault:
        if fault.message.startswith(("expected", "this")):
            raise ValueError(f'expected {type}, found "{text}"') from None
        raise ValueError(fault.message) from None


def _composite_cell(text: str, type: Type, typedefs: TypeDefs) -> Any:
    try:
        return parse_value(text, type, typedefs)
    except TextFault as fault:
        try:
            return from_json(json.loads(text), type, typedefs)
        except json.JSONDecodeError:
            raise ValueError(f"expected {type}: {fault.message}") from None
        except RecursionError:
            raise ValueError("the value is nested too deeply") from None


def transpose(rows: Sequence[tuple[Any, ...]], width: int) -> Columns:
    """Rows of values as columns."""
    if not rows:
        return Columns(tuple([] for _ in range(width)), 0)
    return Columns(tuple(list(column) for column in zip(*rows, strict=True)), len(rows))


def column_types(relation: Relation) -> Mapping[str, Type]:
    """The type of each column, by name."""
    return {column.name: column.type for column in relation.columns}
