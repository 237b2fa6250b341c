"""Rows and values as explanations write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import values
from ..core import CheckedProgram, Relation
from ..types import Type
from ..values.tojson import to_json
from .held import ANY


class Words:
    """The texts and the JSON of rows and values of a program."""

    def __init__(self, program: CheckedProgram) -> None:
        self.program, self._typedefs = program, program.typedefs

    def relation(self, name: str) -> str:
        """The name of a relation as the user knows it."""
        declared = self.program.relations[name]
        return declared.original or name.partition("$")[0]

    def row(self, relation: str, row: Sequence[Any]) -> str:
        """A row or a pattern as commands write it."""
        declared = self.program.relations[relation]
        texts = [self._cell(each, of) for each, of in zip(row, _types(declared), strict=True)]
        if declared.constructor is None:
            return f"{self.relation(relation)}[{texts[0]}]"
        return f"{self.relation(relation)}({', '.join(texts)})"

    def row_json(self, relation: str, row: Sequence[Any]) -> list[Any]:
        """The values of a row, or of a pattern with null where any value will do."""
        of = _types(self.program.relations[relation])
        return [None if v is ANY else to_json(v, t, self._typedefs) for v, t in zip(row, of, strict=True)]

    def value(self, value: Any, of: Type) -> str:
        """A value as commands write it."""
        return values.show(value, of, self._typedefs)

    def value_json(self, value: Any, of: Type) -> Any:
        """A value as in JSON facts."""
        return to_json(value, of, self._typedefs)

    def variables(self, found: Mapping[str, Any], types: Mapping[str, Type]) -> str:
        """The values of variables."""
        return ", ".join(f"{name} = {self.value(value, types[name])}" for name, value in found.items())

    def _cell(self, value: Any, of: Type) -> str:
        return "_" if value is ANY else self.value(value, of)


def _types(relation: Relation) -> list[Type]:
    return [column.type for column in relation.columns]
