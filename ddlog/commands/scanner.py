"""The scanner of command files: it reads the parts of commands, with the program's names and types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .. import values
from ..core import Index, Relation, index_named, relation_named
from ..core.relations import originals
from ..errors.diagnostics import DDlogError
from ..errors.excerpt import span_in
from ..errors.unknown import unknown_index, unknown_relation
from ..syntax.cursor import Cursor, TextFault, Unfinished
from ..syntax.digits import to_int
from ..types import Type, TypeDef, User
from ..values.fromtext import read_arguments, read_name, read_value
from ..values.mutation import read_mutation
from ..values.rows import Row, record_maker
from ..values.shapes import shape_of
from .interpreter import Locate
from .passages import Passage, passage_of

_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_NUMBER = re.compile(r"[0-9]+")
_UNTIL_END = re.compile(r"\s*([^;]*);")
_QUERY = re.compile(r'\s*((?:"(?:[^"\\]|\\.)*"|[^;"])*)(?=;)', re.DOTALL)


class Scanner:
    """Reads from `cursor`, over a text that may still grow. Places count from the start of the whole text.

    The methods pass over the part that they read. They raise TextFault when another part is there, Unfinished
    when the text ends too early, and DDlogError for an unknown name.
    """

    def __init__(
        self,
        relations: Mapping[str, Relation],
        typedefs: Mapping[str, TypeDef],
        name: str,
        indexes: Mapping[str, Index],
    ) -> None:
        self._relations, self._typedefs, self._indexes = relations, typedefs, indexes
        self._name, self._first = name, 1
        self._counted = "", 1, 0, 1  # a text, its first line, a position in it, and the line of that
        self.cursor = Cursor("", commands=True)

    def feed(self, text: str) -> None:
        """Adds text at the end, and drops the lines that were read."""
        cursor = self.cursor
        done = cursor.text.rfind("\n", 0, cursor.position) + 1
        self._first += cursor.text.count("\n", 0, done)
        self.cursor = Cursor(cursor.text[done:] + text, cursor.position - done, commands=True)

    def place(self, start: int, end: int) -> Locate:
        """The place of a part of the text, between two positions of the cursor."""
        text, first = self.cursor.text, self._first
        return lambda: span_in(self._name, text, self._line(text, first, start), start, end)

    def _line(self, text: str, first: int, at: int) -> int:
        """The line of a position of a text that begins at a line. Lines are counted once, from one position
        that is asked for to the next."""
        known, known_first, before, line = self._counted
        if known is not text or known_first != first or before > at:
            before, line = 0, first
        line += text.count("\n", before, at)
        self._counted = text, first, at, line
        return line

    def skip_command(self, begin: int) -> None:
        """Passes over the rest of the command that begins at a position."""
        end = self.cursor.text.find(";", max(begin, self.cursor.position))
        self.cursor.position = end + 1 if end >= 0 else len(self.cursor.text)

    def at_command_end(self) -> bool:
        """Whether the command has no further part."""
        return self.cursor.at_end() or self.cursor.looking_at(";")

    def accept_word(self, word: str) -> bool:
        """Passes over a word, if it comes next."""
        piece, _, end = self.cursor.next_piece()
        if piece == word:
            self.cursor.position = end
        return piece == word

    def choice(self, *words: str) -> str:
        """One of several words."""
        piece, _, end = self.cursor.next_piece()
        if piece not in words:
            raise self.cursor.fault(f"expected {' or '.join(f'`{each}`' for each in words)}")
        self.cursor.position = end
        return piece

    def number(self, what: str) -> int:
        """A natural number."""
        found = self.cursor.match(_NUMBER)
        if found is None:
            raise self.cursor.fault(f"expected {what}")
        return to_int(found.group())

    def text_until_end(self) -> str:
        """The text before the next `;`, which is passed over, too."""
        found = _UNTIL_END.match(self.cursor.text, self.cursor.position)
        if found is None:
            end = len(self.cursor.text)
            raise Unfinished("expected `;` after the text", end, end)
        self.cursor.position = found.end()
        return found.group(1)

    def query(self) -> Passage:
        """A query: the text before the next `;` that is not in a string."""
        found = _QUERY.match(self.cursor.text, self.cursor.position)
        if found is None:
            end = len(self.cursor.text)
            raise Unfinished("expected `;` after the query", end, end)
        self.cursor.position = found.end()
        begin, end = found.span(1)
        text = self.cursor.text
        return passage_of(self._name, text, self._line(text, self._first, begin), begin, end)

    def relation(self, what: str) -> Relation:
        """A relation, by its name."""
        name, begin, end = self._quoted_name() or read_name(self.cursor, what)
        declared = relation_named(name, self._relations)
        if declared is None:
            problem = unknown_relation(name, self._relations, self._indexes)
            raise DDlogError([replace(problem, span=self.place(begin, end)())])
        return declared

    def _quoted_name(self) -> tuple[str, int, int] | None:
        """A name in quotes, which relations of modules of SQL may have, and its place; None: another piece
        comes next."""
        if not self.cursor.looking_at('"') or not originals(self._relations):
            return None
        found = self.cursor.match(_QUOTED)
        return None if found is None else (found.group(1).replace('""', '"'), found.start(), found.end())

    def index(self, what: str) -> Index:
        """An index, by its name."""
        name, begin, end = read_name(self.cursor, what)
        index = index_named(name, self._indexes)
        if index is None:
            problem = unknown_index(name, self._indexes, self._relations)
            raise DDlogError([replace(problem, span=self.place(begin, end)())])
        return index

    def index_key(self, index: Index) -> tuple[Any, ...]:
        """The key `(1, "a")` of an index."""
        self.cursor.expect("(", f"after `{index.name}`")
        fields = tuple((each.name, each.type) for each in index.variables)
        return read_arguments(self.cursor, ")", fields, self._typedefs, None)

    def row(self, declared: Relation) -> Row:
        """A row: `(1, 2)`, `(.x = 1)` or `[element]`."""
        cursor = self.cursor
        if declared.constructor is None and cursor.looking_at("("):
            named = self._constructed(declared)
            if named is not None:
                return named
        if declared.constructor is None or cursor.looking_at("["):
            return self._element(declared)
        cursor.expect("(", f"after `{declared.name}`")
        columns = tuple((column.name, column.type) for column in declared.columns)
        default = self._default if cursor.looking_at(".") else None
        return read_arguments(cursor, ")", columns, self._typedefs, default)

    def _constructed(self, declared: Relation) -> Row | None:
        """`(1, 2)` where the relation's type is a union, and one of its constructors has the relation's name:
        the arguments are the constructor's. None elsewhere."""
        record = declared.record
        shape = shape_of(record, self._typedefs) if isinstance(record, User) else None
        chosen = shape.constructor(values.local_name(declared.name)) if shape is not None else None
        if shape is None or chosen is None:
            return None
        self.cursor.expect("(", f"after `{declared.name}`")
        return (shape.make(chosen)(*read_arguments(self.cursor, ")", chosen.fields, self._typedefs, None)),)

    def _default(self, _: str, type: Type) -> Any:
        return values.default_value(type, self._typedefs)

    def _element(self, declared: Relation) -> Row:
        """`[value]`: with a constructor, the fields of the value are the columns."""
        self.cursor.expect("[", f"after `{declared.name}`")
        element = read_value(self.cursor, declared.record, self._typedefs)
        self.cursor.expect("]")
        return (element,) if declared.constructor is None else tuple(element)

    def primary_key(self, declared: Relation) -> Any:
        """A value of the relation's primary key."""
        if declared.key is None:
            position = self.cursor.position
            raise TextFault(f"{declared.name} has no primary key", position - 1, position)
        return read_value(self.cursor, declared.key.result, self._typedefs)

    def mutation(self, declared: Relation) -> Callable[[Row], Row]:
        """The mutation of a row after `<-`."""
        self.cursor.expect("<-", "after the key")
        mutate = read_mutation(self.cursor, declared.record, self._typedefs)
        if declared.constructor is None:
            return lambda row: (mutate(row[0]),)
        make = record_maker(declared, self._typedefs)
        return lambda row: tuple(mutate(make(row)))

    def ends_batch(self) -> bool:
        """Whether an update ends with `;`, not with `,`."""
        if self.cursor.accept(","):
            return False
        self.cursor.expect(";", "or `,` after an update")
        return True
