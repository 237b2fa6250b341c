"""Layouts: records as columns. A value of a struct with one constructor, or of a tuple, lies in a column for
each of its fields, and these likewise, so that joins, groups and indexes see the fields.

    Edge(from: Id, to: Id), typedef Id = Id{ctr: u64, node: u64}

    from                to                          from.ctr  from.node  to.ctr  to.node
    Id{1, 7}            Id{2, 7}          ◄────►           1          7       2        7

The records that are made again from columns are equal to those that were taken apart, and columns in the
order of the fields sort as the records do. A record of more than MOST fields in all stays one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from ..types import Constructor, Tuple, Type, User
from . import TypeDefs
from .shapes import shape_of

MOST = 8
"""The most columns that one record takes; a wider one is moved and compared as a single value."""


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of a record: its name (of a tuple, its number), and its type."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """A record as columns: `parts` are the layouts of its fields, None for one that is a single column;
    `make` makes the record of its fields."""

    make: Callable[[Sequence[Any]], Any]
    parts: tuple[ColumnLayout | None, ...]

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(width(part) for part in self.parts)


def width(layout: ColumnLayout | None) -> int:
    """The number of columns of a value."""
    return 1 if layout is None else layout.width


class Layouts:
    """The layouts of the types of a program."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self._typedefs = typedefs
        self._parts: dict[Type, tuple[RecordField, ...] | None] = {}
        self._layouts: dict[Type, ColumnLayout | None] = {}

    def parts(self, type: Type) -> tuple[RecordField, ...] | None:
        """The fields of a record that lies in columns; None for another type."""
        if type not in self._parts:
            fields = self._fields(type) if self._is_record(type) else ()
            self._parts[type] = tuple(RecordField(name, of) for name, of in fields) or None
        return self._parts[type]

    def of(self, type: Type) -> ColumnLayout | None:
        """The layout of a type; None where a value is a single column."""
        if type not in self._layouts:
            parts = self.parts(type)
            self._layouts[type] = (
                None
                if parts is None
                else ColumnLayout(self._maker(type), tuple(self.of(p.type) for p in parts))
            )
        return self._layouts[type]

    def columns(self, name: str, type: Type) -> Iterator[tuple[str, Type]]:
        """The columns of a value: their names, which begin with `name`, and their types."""
        parts = self.parts(type)
        if parts is None:
            yield name, type
            return
        for part in parts:
            yield from self.columns(f"{name}.{part.name}", part.type)

    def constructor(self, type: User) -> Constructor:
        """The constructor of a struct."""
        return shape_of(type, self._typedefs).constructors[0]

    def _fields(self, type: Type) -> tuple[tuple[str, Type], ...]:
        """The fields of a record, none of any other type."""
        match type:
            case Tuple(items):
                return tuple((str(i), item) for i, item in enumerate(items))
            case User():
                shape = shape_of(type, self._typedefs)
                return () if shape.is_union else shape.constructors[0].fields
        return ()

    def _is_record(self, type: Type) -> bool:
        return bool(self._fields(type)) and not self._endless(type, ()) and self._width(type) <= MOST

    def _width(self, type: Type) -> int:
        """The number of columns of the fields of a record; 1 for another type."""
        widths = [self._width(of) for _, of in self._fields(type)]
        return sum(width if width <= MOST else 1 for width in widths) or 1

    def _endless(self, type: Type, around: tuple[Type, ...]) -> bool:
        """Whether a record holds a record that holds itself, so that it has no values."""
        inner = (*around, type)
        return type in around or any(self._endless(of, inner) for _, of in self._fields(type))

    def _maker(self, type: Type) -> Callable[[Sequence[Any]], Any]:
        if isinstance(type, User):
            shape = shape_of(type, self._typedefs)
            make = shape.make(shape.constructors[0])
            return lambda fields: make(*fields)
        return tuple


def taken_apart(layout: ColumnLayout | None, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """A column of values as the columns of its layout."""
    if layout is None:
        yield values
        return
    for i, part in enumerate(layout.parts):
        yield from taken_apart(part, list(map(itemgetter(i), values)))


def put_together(layouts: Sequence[ColumnLayout | None], columns: Iterator[list[Any]]) -> list[list[Any]]:
    """Columns of values, each from as many columns as its layout has."""
    return [_together(layout, columns) for layout in layouts]


def _together(layout: ColumnLayout | None, columns: Iterator[list[Any]]) -> list[Any]:
    if layout is None:
        return next(columns)
    parts = put_together(layout.parts, columns)
    return list(map(layout.make, zip(*parts, strict=True)))
