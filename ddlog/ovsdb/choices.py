"""The options of `ddlog import-ovsdb`, applied to a schema: the tables that the program writes, and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..errors import ovsdb as errors
from ..errors.diagnostics import DDlogError, Diagnostic
from ..errors.nearest import meant, nearest
from ..errors.options import CannotBeCombined
from ..syntax.lexer import RESERVED
from .schema import Schema, SchemaColumn, SchemaTable

_RELATION = re.compile(r"[A-Z][a-zA-Z0-9_]*")
_FIELD = re.compile(r"[a-z_][a-zA-Z0-9_]*")
ROW_NAME = "uuid_name"  # the field for the name of a new row, beside its columns


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of `ddlog import-ovsdb`; columns are written TABLE.COLUMN."""

    outputs: Sequence[str] = ()
    only_outputs: Sequence[str] = ()
    read_only: Sequence[str] = ()
    writable: Sequence[str] = ()
    keys: Sequence[str] = ()
    proxies: Sequence[str] = ()
    interned: Sequence[str] = ()
    intern_strings: bool = False
    renamed: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ModuleColumn:
    """A column as the module has it: `name` is its field, `table` the output table that it refers to."""

    of: SchemaColumn
    name: str
    table: str | None
    writable: bool
    key: bool


@dataclass(frozen=True, slots=True)
class ModuleTable:
    """A table as the module has it: `name` is its relation, `role` what the program does with it."""

    name: str
    role: str
    columns: tuple[ModuleColumn, ...]
    interned: bool
    proxy: bool

    @property
    def written(self) -> tuple[ModuleColumn, ...]:
        """The columns that the program writes."""
        return tuple(each for each in self.columns if each.writable)

    @property
    def keys(self) -> tuple[ModuleColumn, ...]:
        """The columns that say which row is meant; none: `_uuid` does."""
        return tuple(each for each in self.columns if each.key)


def plan(schema: Schema, choices: Choices) -> list[ModuleTable]:
    """The tables with what was chosen for them. Raises DDlogError."""
    return _Planner(schema, choices).plans()


class _Planner:
    def __init__(self, schema: Schema, choices: Choices) -> None:
        self.schema, self.choices = schema, choices
        self.errors: list[Diagnostic] = []
        self.both = self.tables("--output-table", choices.outputs)
        self.only = self.tables("--output-only-table", choices.only_outputs)
        self.proxies = self.among("--proxy", choices.proxies, self.both)
        self.interned = self.tables("--intern-table", choices.interned)
        outputs = {*self.both, *self.only}
        self.read_only = self.columns("--ro", choices.read_only, outputs)
        self.writable = self.columns("--rw", choices.writable, outputs)
        self.keys = self.columns("--key", choices.keys, self.both)
        self.renamed = dict(self.names())
        self.exclusive()

    def plans(self) -> list[ModuleTable]:
        found = [self.table(each) for each in self.schema.tables.values()]
        self.distinct(zip(self.schema.tables, (each.name for each in found), strict=True), "")
        if self.errors:
            raise DDlogError(self.errors)
        return found

    def table(self, table: SchemaTable) -> ModuleTable:
        name = table.name
        role = "both" if name in self.both else "output" if name in self.only else "input"
        columns = tuple(self.column(table, each) for each in table.columns.values())
        named = zip(table.columns, (each.name for each in columns), strict=True)
        self.distinct([(ROW_NAME, ROW_NAME), *named] if role == "both" else named, f"{name}.")
        relation = self.renamed.get(name, name[0].upper() + name[1:])
        return ModuleTable(relation, role, columns, name in self.interned, name in self.proxies)

    def column(self, table: SchemaTable, column: SchemaColumn) -> ModuleColumn:
        place = f"{table.name}.{column.name}"
        if column.key.table in self.both and column.kind == "map":
            self.errors.append(
                errors.ReferenceInKey(span=column.span, name=column.name, table=str(column.key.table))
            )
        element = column.value if column.value is not None else column.key
        refers = element.table if element.table in self.both else None
        chosen = self.writable.get(table.name)
        writable = column.name in chosen if chosen else column.name not in self.read_only.get(table.name, ())
        key = column.name in self.keys.get(table.name, ())
        if key and not writable:
            self.errors.append(errors.ReadOnlyKey(table=table.name, name=column.name))
        if key and refers is not None and column.kind != "one":
            self.errors.append(errors.KeyOfReferences(table=table.name, name=column.name))
        own = column.name[0].lower() + column.name[1:]
        plain = own not in RESERVED and own != ROW_NAME
        return ModuleColumn(
            column, self.renamed.get(place, own if plain else f"__{own}"), refers, writable, key
        )

    def tables(self, option: str, names: Iterable[str]) -> list[str]:
        for name in names:
            if name not in self.schema.tables:
                help = meant(nearest(name, self.schema.tables))
                self.errors.append(errors.UnknownTable(where=option, name=name, help=help))
        return [name for name in names if name in self.schema.tables]

    def among(self, option: str, names: Iterable[str], outputs: Iterable[str]) -> list[str]:
        found = self.tables(option, names)
        self.errors += (errors.NotOutput(option=option, table=name) for name in found if name not in outputs)
        return found

    def columns(self, option: str, places: Iterable[str], outputs: Iterable[str]) -> Mapping[str, set[str]]:
        """The columns of each table that an option names."""
        found: dict[str, set[str]] = {}
        for place in places:
            table, dot, column = place.partition(".")
            if not dot:
                self.errors.append(errors.NotAColumn(option=option, value=place))
            elif self.among(option, [table], outputs) and self.has(option, table, column):
                found.setdefault(table, set()).add(column)
        return found

    def has(self, option: str, table: str, column: str) -> bool:
        known = self.schema.tables[table].columns
        if column not in known:
            help = meant(nearest(column, known))
            self.errors.append(errors.NoSuchColumn(option=option, table=table, name=column, help=help))
        return column in known

    def names(self) -> Iterator[tuple[str, str]]:
        """The new names of tables and columns: OLD=NEW, of a column TABLE.OLD=NEW."""
        for each in self.choices.renamed:
            old, _, new = each.partition("=")
            table, dot, column = old.partition(".")
            if not self.tables("--rename", [table]) or (dot and not self.has("--rename", table, column)):
                continue
            form, what, letter = (
                (_FIELD, "a column", "a small letter")
                if dot
                else (_RELATION, "a relation", "a capital letter")
            )
            if form.fullmatch(new) is None or new in RESERVED:
                self.errors.append(errors.NotAName(old=old, new=new, what=what, letter=letter))
            else:
                yield old, new

    def exclusive(self) -> None:
        for name in self.both:
            if name in self.only:
                self.errors.append(CannotBeCombined(f"--output-table {name}", f"--output-only-table {name}"))
        for name in self.read_only:
            if name in self.writable:
                reason = "the columns that it does not name are of the other sort"
                self.errors.append(CannotBeCombined(f"--ro {name}", f"--rw {name}", reason))
        for name in self.interned:
            if name in self.only:
                reason = "the table is no input"
                self.errors.append(
                    CannotBeCombined(f"--intern-table {name}", f"--output-only-table {name}", reason)
                )

    def distinct(self, names: Iterable[tuple[str, str]], prefix: str) -> None:
        first: dict[str, str] = {}
        for old, new in names:
            if first.setdefault(new, old) != old:
                self.errors.append(
                    errors.NameTaken(first=f"{prefix}{first[new]}", second=f"{prefix}{old}", name=new)
                )
