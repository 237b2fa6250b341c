"""The primary key of a relation, as pending changes need it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from ... import values
from ...core import Block, Column, Declare, Expr, GetField, MakeStruct, MakeTuple, Relation, Var, VarPattern
from ...errors.changes import KeyExists
from ...errors.diagnostics import DDlogError, Note
from ...errors.source import Span
from ...types import TypeDef
from ...values.rows import Row, record_text

if TYPE_CHECKING:
    from ..program import Program


@dataclass(frozen=True, slots=True)
class RelationKey:
    """`of` computes the key of a row, `show` and `show_row` give texts for messages, and `places` are those
    of the columns that it is; none where it is another function of the row. `name` is that of a table of
    SQL."""

    of: Callable[[Row], Hashable]
    show: Callable[[Any], str]
    show_row: Callable[[Row], str]
    places: tuple[int, ...]
    name: str = ""

    def exists(
        self, relation: str, row: Row, other: Row, span: Span | None = None, there: Span | None = None
    ) -> DDlogError:
        """The error of a row with the key of another one, perhaps with their places."""
        notes = (
            Note(f"this row is {self.show_row(row)}"),
            Note(f"the other row is {self.show_row(other)}", there),
        )
        return DDlogError([KeyExists(self.name or relation, self.show(self.of(row)), span=span, notes=notes)])


def primary_key(program: Program, declared: Relation) -> RelationKey | None:
    """The primary key by which changes of a relation are checked, if there is one."""
    if declared.key is None or declared.kind != "relation":
        return None
    typedefs = program.checked.typedefs
    show, show_row = partial(_text, declared.key.result, typedefs), record_text(declared, typedefs)
    places, name = key_places(declared), declared.original
    if name and places:
        show = partial(_named, [declared.columns[at] for at in places], typedefs)
    return RelationKey(program.key_function(declared), show, show_row, places, name)


def _named(columns: Sequence[Column], typedefs: Mapping[str, TypeDef], key: Any) -> str:
    """A key as SQL writes it: each column with its value."""
    parts = key if len(columns) > 1 else (key,)
    texts = (values.show(each, column.type, typedefs) for each, column in zip(parts, columns, strict=True))
    return ", ".join(f"{column.name} = {text}" for column, text in zip(columns, texts, strict=True))


def _text(type: Any, typedefs: Mapping[str, TypeDef], key: Any) -> str:
    return values.show(key, type, typedefs)


def key_places(declared: Relation) -> tuple[int, ...]:
    """The places of the columns that are a relation's primary key, in the order of the key; none where it is
    another function of the row."""
    body = None if declared.key is None else declared.key.body
    if not isinstance(body, Block):
        return ()
    match body.items:
        case (Declare(VarPattern(row), MakeStruct()), key):
            names = [column.name for column in declared.columns]
            parts = key.items if isinstance(key, MakeTuple) else (key,)
            fields = [each.name for each in parts if _is_field(each, row)]
            if len(fields) == len(parts) == len(set(fields)) and set(fields) <= set(names):
                return tuple(names.index(name) for name in fields)
    return ()


def _is_field(part: Expr, row: str) -> TypeGuard[GetField]:
    return isinstance(part, GetField) and isinstance(part.arg, Var) and part.arg.name == row
