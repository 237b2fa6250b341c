"""The types of a state's columns, read back from their texts in the file.

A state says of each column the type as text, and the definitions of the types that occur. So what holds for
the columns can be told without the program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..core import Column, Relation
from ..errors.source import Source, Span
from ..io.arrow import arrow_type
from ..types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    TypeDef,
    TypeVar,
    User,
)  # fmt: skip
from .forms import RelationForm
from .inputs import PAST
from .records import Stored

if TYPE_CHECKING:
    import pyarrow as pa

_WORDS = re.compile(r"\s*([\w:']+|[<>(),|])")
_PLAIN: Final[dict[str, Type]] = {
    "bool": Bool(), "string": String(), "bigint": BigInt(), "float": Float(32), "double": Float(64),
}  # fmt: skip


def schema_of(stored: Stored) -> pa.Schema:
    """The Arrow schema of a relation's rows; a column of a type that Arrow has no form for is of texts."""
    import pyarrow as pa

    columns, known = types_of(stored)
    typedefs = {name: each for name, each in known.items() if len(each.parameters) < 2}
    found = []
    for name, of in columns:
        if isinstance(of, BigInt) or (isinstance(of, Bit | Signed) and of.width > 64):
            found.append(pa.field(name, pa.int64()))
            continue
        try:
            found.append(pa.field(name, arrow_type(of, typedefs)))
        except KeyError:  # a type of several parameters, whose order its definition does not tell
            found.append(pa.field(name, pa.string()))
    return pa.schema(found)


def types_of(stored: Stored) -> tuple[list[tuple[str, Type]], dict[str, TypeDef]]:
    """The columns of a relation, and the types that they are made of. The order of several parameters of a
    type is that in which they occur, which may be another one than the program's."""
    names = {each.partition(": ")[0] for each in stored.types}
    defined = [_TypeReader(_WORDS.findall(each), names).definition() for each in stored.types]
    columns = [(name, _TypeReader(_WORDS.findall(text), names).type()) for name, text in stored.columns]
    return columns, {each.name: each for each in defined}


def is_readable(stored: Stored) -> bool:
    """Whether the texts of a relation's columns are types."""
    try:
        types_of(stored)
    except (LookupError, ValueError, RecursionError):
        return False
    return True


def form_of_rows(stored: Stored) -> RelationForm | None:
    """The form of a relation's rows; None if only the program knows their types: the order of several
    parameters of a type is not in the file."""
    columns, typedefs = types_of(stored)
    if any(len(each.parameters) > 1 for each in typedefs.values()):
        return None
    return RelationForm([Column(name, of) for name, of in columns], typedefs)


def relation_of(stored: Stored, place: str) -> Relation:
    """A relation as the state at a place describes it."""
    columns, _ = types_of(stored)
    record = Tuple(tuple(of for _, of in columns))
    declared = tuple(Column(name, of) for name, of in columns)
    name, span = stored.name.removesuffix(PAST), Span(Source(place, ""), 1, 1, 1, 1)
    return Relation(name, stored.role, stored.kind, record, None, declared, None, span)


class _TypeReader:
    """Reads a type or a definition from its words. `names` are the types with constructors."""

    def __init__(self, words: Sequence[str], names: set[str]) -> None:
        self._words, self._at, self._names = words, 0, names

    def type(self) -> Type:
        """The type that begins here."""
        word = self._next()
        if word == "(":
            return Tuple(self._until(")"))
        if word.startswith("'"):
            return TypeVar(word[1:])
        if word in _PLAIN:
            return _PLAIN[word]
        if not self._takes("<"):
            return User(word) if word in self._names else Opaque(word)
        if word in ("bit", "signed"):
            width = int(self._next())
            self._takes(">")
            return Bit(width) if word == "bit" else Signed(width)
        args = self._until(">")
        return User(word, args) if word in self._names else Opaque(word, args)

    def definition(self) -> TypeDef:
        """A type with its constructors; its parameters are in the order in which they occur."""
        name, found = self._next().rstrip(":"), list[Constructor]()
        while not found or self._takes("|"):
            constructor, fields = self._next(), list[tuple[str, Type]]()
            self._takes("(")
            while not self._takes(")"):
                fields.append((self._next().rstrip(":"), self.type()))
                self._takes(",")
            found.append(Constructor(constructor, len(found), tuple(fields)))
        parameters = dict.fromkeys(word[1:] for word in self._words if word.startswith("'"))
        return TypeDef(name, tuple(parameters), tuple(found))

    def _until(self, end: str) -> tuple[Type, ...]:
        found = []
        while not self._takes(end):
            found.append(self.type())
            self._takes(",")
        return tuple(found)

    def _takes(self, word: str) -> bool:
        taken = self._at < len(self._words) and self._words[self._at] == word
        self._at += taken
        return taken

    def _next(self) -> str:
        self._at += 1
        return self._words[self._at - 1]
