"""Rows and values as explanations write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import values
from ..core import CheckedProgram, Relation
from ..errors.origins import MadeRelation
from ..types import Type, User
from ..values import local_name
from ..values.shapes import is_option
from ..values.structs import TypeDefs, make, taken_apart
from ..values.tojson import to_json
from .snapshot import ANY


def made_of(relation: Relation | None) -> MadeRelation | None:
    """The description of a relation that a translation made; None for one that a user wrote."""
    origins = None if relation is None else relation.span.source.origins
    return None if origins is None or relation is None else origins.relations.get(local_name(relation.name))


def is_passed(program: CheckedProgram, relation: str) -> bool:
    """Whether rows of a relation are not shown, so that they are no level of a tree."""
    made = made_of(program.relations.get(relation))
    return made is not None and made.passed


def wrapped(value: Any, of: Type, wrapper: str, typedefs: TypeDefs) -> tuple[Any, Type]:
    """A plain value in the struct in which users know it, and its type."""
    if wrapper not in typedefs or value is ANY:
        return value, of
    struct, known = typedefs[wrapper], User(wrapper)
    if not is_option(of):
        return make(struct, struct.constructors[0], (value,)), known
    option = typedefs[of.name]
    constructor, fields = taken_apart(value, of, typedefs)
    inner = tuple(make(struct, struct.constructors[0], (each,)) for each in fields)
    return make(option, constructor, inner), User(of.name, (known,))


class Words:
    """The texts and the JSON of rows and values of a program."""

    def __init__(self, program: CheckedProgram) -> None:
        self.program, self._typedefs = program, program.typedefs

    def relation(self, name: str) -> str:
        """The name of a relation as the user knows it."""
        declared = self.program.relations[name]
        made = made_of(declared)
        return made.words if made is not None else declared.original or name.partition("$")[0]

    def is_described(self, name: str) -> bool:
        """Whether the translation made a relation, so that words stand for its name."""
        made = made_of(self.program.relations.get(name))
        return made is not None and not made.words.isidentifier()

    def row(self, relation: str, row: Sequence[Any]) -> str:
        """A row or a pattern as programs and commands write it."""
        declared = self.program.relations[relation]
        made = made_of(declared)
        if made is not None:
            return self._in_words(made, row, declared)
        texts = [self._cell(each, of) for each, of in zip(row, _types(declared), strict=True)]
        if declared.constructor is None:
            return f"{self.relation(relation)}[{texts[0]}]"
        return f"{self.relation(relation)}({', '.join(texts)})"

    def row_json(self, relation: str, row: Sequence[Any]) -> list[Any]:
        """The values of a row, or of a pattern with null where any value will do."""
        declared = self.program.relations[relation]
        made, of = made_of(declared), _types(declared)
        if made is not None:
            known = self._wrapped(made, row, declared)
            row, of = [value for _, value, _ in known], [each for _, _, each in known]
        return [None if v is ANY else to_json(v, t, self._typedefs) for v, t in zip(row, of, strict=True)]

    def value(self, value: Any, of: Type) -> str:
        """A value as programs write it."""
        return values.show(value, of, self._typedefs, plain=True)

    def value_json(self, value: Any, of: Type) -> Any:
        """A value as in JSON facts."""
        return to_json(value, of, self._typedefs)

    def variables(self, found: Mapping[str, Any], types: Mapping[str, Type]) -> str:
        """The values of variables."""
        return ", ".join(f"{name} = {self.value(value, types[name])}" for name, value in found.items())

    def _wrapped(
        self, made: MadeRelation, row: Sequence[Any], declared: Relation
    ) -> list[tuple[str, Any, Type]]:
        """The names, values and types of the columns of a row that nobody wrote."""
        found = []
        for column, value, of in zip(made.columns, row, _types(declared), strict=True):
            if column is not None:
                known = wrapped(value, of, column.wrapper, self._typedefs)
                found.append((column.text, *known))
        return found

    def _in_words(self, made: MadeRelation, row: Sequence[Any], declared: Relation) -> str:
        known = self._wrapped(made, row, declared)
        if made.words.isidentifier():
            columns = [each is not None and each.is_column for each in made.columns if each is not None]
            cells = [self._cell(v, of) for (_, v, of), shown in zip(known, columns, strict=True) if shown]
            return f"{made.words}({', '.join(cells)})"
        cells = [
            f"{name} = {self._cell(value, of)}" for name, value, of in known if name and value is not ANY
        ]
        return f"{made.words}: {', '.join(cells)}" if cells else made.words

    def _cell(self, value: Any, of: Type) -> str:
        return "_" if value is ANY else self.value(value, of)


def _types(relation: Relation) -> list[Type]:
    return [column.type for column in relation.columns]
