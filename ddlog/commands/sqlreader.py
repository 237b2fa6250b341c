"""The reader of statements of SQL: a file of them, a stream, the text of a prompt.

Statements are told apart without the parser, and so is an INSERT of literals read, which is an update like
those of other files. Any other statement is carried out as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..core import Relation
from ..errors.source import Source, Span
from ..sql.literals import PlainInserts
from ..sql.splitter import statements
from ..types import TypeDef
from ..values.rows import Row
from .interpreter import Command, Interpreter, Locate
from .passages import Passage
from .update import UpdateRun

if TYPE_CHECKING:
    from ..sessions.statements import Outcome

_WORD = re.compile(r"\w*")
_OF_SQL = re.compile(
    r"""\s*(?:-- | /\* | (?i:(\(\s*select|select|from|values|with|update|truncate|savepoint|release|describe
    | explain)\s
    | (insert\s+(into|or)|delete\s+from|merge\s+into|create\s+(or\s+replace\s+)?view|drop\s+view|show\s+tables
    | start\s+transaction|rollback\s+to|begin(\s+transaction)?|abort|end)\b(?!\s*\())
    | (COMMIT|ROLLBACK)\b)""",
    re.VERBOSE,
)
_BEGINS, _ENDS = ("BEGIN", "START"), ("COMMIT", "END", "ROLLBACK", "ABORT")


def begins_sql(text: str) -> bool:
    """Whether a text begins with the words of a statement of SQL, and not with those of a command."""
    return _OF_SQL.match(text) is not None


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement."""

    passage: Passage

    def perform(self, on: Interpreter) -> None:
        rows = self.carried_out(on).rows
        if rows is not None:
            on.show_rows(rows)

    def carried_out(self, on: Interpreter) -> Outcome:
        """The outcome of the statement, whose changes are shown. Raises DDlogError."""
        with self.passage.placing():
            return on.execute(self.passage.text, self.passage.name)


USUAL = Source("", "")
"""A program whose statements are in the usual dialect, and in UTC."""


class SqlReader:
    """Reads the statements of a text that may still grow, in the dialect and the time zone of a program."""

    def __init__(
        self,
        relations: Mapping[str, Relation],
        typedefs: Mapping[str, TypeDef],
        name: str,
        like: Source = USUAL,
    ) -> None:
        self._inserts = PlainInserts(relations, typedefs, like)
        self._name, self._dialect = name, like.dialect
        self._text, self._at, self._line = "", 0, 1
        self._open = False  # whether a transaction is

    def feed(self, text: str) -> None:
        """Adds text at the end."""
        self._text, self._at = self._text[self._at :] + text, 0

    def commands(self, *, final: bool = False, runs: bool = False) -> Iterator[Command]:
        """The whole statements; with `final`, also one without a `;`. With `runs`, inserts of a row into one
        relation that follow each other in a transaction come as one `UpdateRun`."""
        relation, rows, places = "", list[Row](), list[Passage]()
        for each in self._statements(final):
            plain = self._inserts.of(each.text) if runs and self._open else None
            is_row = plain is not None and len(plain[1]) == 1
            if rows and not (is_row and plain is not None and plain[0] == relation):
                yield _run(relation, rows, places)
                rows, places = [], []
            if is_row and plain is not None:
                relation = plain[0]
                rows.append(plain[1][0])
                places.append(each)
                continue
            word = _WORD.match(each.text)[0].upper()  # type: ignore[index]
            self._open = word in _BEGINS or (self._open and not self._ends(word, each.text))
            yield Command(Statement(each), word, each.span)
        if rows:
            yield _run(relation, rows, places)

    def _ends(self, word: str, text: str) -> bool:
        return word in _ENDS and not re.match(r"(?i)rollback\s+to\b", text)

    def _statements(self, final: bool) -> Iterator[Passage]:
        text = self._text
        for begin, end in statements(text, self._dialect, self._at, final):
            self._line += text.count("\n", self._at, begin)
            start = text.rfind("\n", 0, begin) + 1
            whole = text[begin:end].rstrip().removesuffix(";")
            made = Passage(whole, text[start:begin], self._name, self._line)
            self._line += text.count("\n", begin, end)
            self._at = end
            yield made


def _run(relation: str, rows: list[Row], single: list[Passage]) -> Command:
    def place(number: int) -> Span:
        return single[number].span()

    locate: Locate = partial(place, 0)
    return Command(UpdateRun("insert", relation, rows, True, True, place), "INSERT", locate)
