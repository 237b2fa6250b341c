"""The tables and columns of a schema, checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from ..errors import ovsdb as errors
from ..errors.nearest import meant, nearest
from ..errors.source import Source, Span
from .jsonplaces import Located, LocatedReader, read_json

Kind: TypeAlias = Literal["one", "option", "set", "map"]
T = TypeVar("T")

ATOMS = {"integer": "integer", "real": "double", "boolean": "bool", "string": "string", "uuid": "uuid"}
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_SCHEMA = ("name", "version", "cksum", "tables")
_TABLE = ("columns", "maxRows", "isRoot", "indexes")
_COLUMN = ("type", "ephemeral", "mutable")
_TYPE = ("key", "value", "min", "max")
_BOUNDS = {
    "integer": ("minInteger", "maxInteger"),
    "real": ("minReal", "maxReal"),
    "string": ("minLength", "maxLength"),
    "uuid": ("refTable", "refType"),
}


@dataclass(frozen=True, slots=True)
class ElementType:
    """The type of an element: an atomic type, the table that it refers to, and the values that it has."""

    atom: str
    table: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """A column of a table: its elements, of a map its values, and how many there may be."""

    name: str
    key: ElementType
    value: ElementType | None
    kind: Kind
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """A table of the database."""

    name: str
    columns: Mapping[str, SchemaColumn]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Schema:
    """A database: its name and its tables, in the order of the text."""

    name: str
    tables: Mapping[str, SchemaTable]


def read_schema(source: Source) -> Schema:
    """The schema that a text holds. Raises DDlogError with all that is wrong."""
    reader = _SchemaReader()
    found = reader.schema(read_json(source))
    reader.end()
    return found


class _SchemaReader(LocatedReader):
    """Reads a schema."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[tuple[str, Span]] = []

    def schema(self, given: Located) -> Schema:
        members = self.object(given, "a schema", _SCHEMA, ("name", "tables"))
        name = self.text(members.get("name"), "the name of a schema")
        tables = dict(self.each(members.get("tables"), "`tables`", self.table))
        for table, span in self.references:
            if table not in tables:
                help = meant(nearest(table, tables))
                self.errors.append(errors.UnknownTable(span=span, where="refTable", name=table, help=help))
        return Schema(name, tables)

    def table(self, name: str, given: Located) -> SchemaTable:
        members = self.object(given, f"table `{name}`", _TABLE, ("columns",))
        columns = dict(self.each(members.get("columns"), f"`columns` of table `{name}`", self.column))
        return SchemaTable(name, columns, given.name_span)

    def column(self, name: str, given: Located) -> SchemaColumn:
        members = self.object(given, f"column `{name}`", _COLUMN, ("type",))
        type_ = members.get("type")
        if type_ is None or isinstance(type_.value, str):
            return SchemaColumn(name, self.base(type_), None, "one", given.name_span)
        parts = self.object(type_, "a type", _TYPE, ("key",))
        value = self.base(parts["value"]) if "value" in parts else None
        kind = self.kind(parts, type_.span, value is not None)
        return SchemaColumn(name, self.base(parts.get("key")), value, kind, given.name_span)

    def kind(self, parts: Mapping[str, Located], span: Span, has_values: bool) -> Kind:
        least = parts["min"].value if "min" in parts else 1
        most = parts["max"].value if "max" in parts else 1
        enough = most == "unlimited" or (_is_number(most) and most >= 1)  # type: ignore[operator]
        if least not in (0, 1) or not _is_number(least) or not enough:
            expected = "`min` 0 or 1, and `max` a number from 1 on or `unlimited`"
            self.errors.append(
                errors.BadBounds(span=span, least=str(least), most=str(most), expected=expected)
            )
        if has_values:
            return "map"
        return "set" if most != 1 else "one" if least == 1 else "option"

    def base(self, given: Located | None) -> ElementType:
        if given is None:
            return ElementType("string")
        if isinstance(given.value, str):
            return ElementType(self.atom(given))
        atom = self.atom(self.members(given, "a type").get("type"))
        named = ("type", "enum", *_BOUNDS.get(atom, ()))
        members = self.object(given, f"the type `{atom}`", named, ("type",))
        table = self.text(members["refTable"], "refTable") if "refTable" in members else None
        if table is not None:
            self.references.append((table, members["refTable"].span))
        return ElementType(atom, table, self.values(members.get("enum")))

    def atom(self, given: Located | None) -> str:
        if given is None:
            return "string"
        name = self.text(given, "a type")
        if name in ATOMS:
            return name
        if isinstance(given.value, str):
            self.errors.append(errors.UnknownAtom(span=given.span, name=name))
        return "string"

    def values(self, given: Located | None) -> tuple[str, ...]:
        """The values of an enumeration: `["set", [A, B]]`, or one alone."""
        match given:
            case None:
                return ()
            case Located(value=[Located(value="set"), Located(value=list(values))]):
                return tuple(each.span.text() for each in values)
            case Located(value=str() | int() | float()):
                return (given.span.text(),)
        self.wrong(given, "`enum`", '["set", […]] or one value')
        return ()

    def each(
        self, given: Located | None, what: str, read: Callable[[str, Located], T]
    ) -> Iterator[tuple[str, T]]:
        """The members of an object whose names are the user's."""
        if given is None:
            return
        for name, each in self.members(given, what).items():
            if name.startswith("_") or _NAME.fullmatch(name) is None:
                wrong = "letters, digits and _, and begin with a letter"
                self.errors.append(
                    errors.WrongForm(span=each.name_span, what=f"the name `{name}`", wanted=wrong)
                )
            else:
                yield name, read(name, each)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
