"""Runs of plain updates in command files, read at once: `insert Edge(1, 2), insert Edge(2, 3);`; and runs of
transactions of one such update: `start; insert Edge(1, 2); commit;`.

A regular expression reads an update, or a transaction, and the values are converted column by column. What it
does not match is left to the reader of commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..core import Relation, relation_named
from ..errors.source import Span
from ..types import TypeDef
from ..values.plainforms import PatternForm, text_fields
from .ahead import Ahead
from .commands import Commit, Rollback, Start
from .interpreter import Action, Command
from .scanner import Scanner
from .transactions import Transactions
from .update import UpdateRun

_NEXT = re.compile(
    r"(?:(insert_or_update|insert|delete)\s+([A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)\s*\("
    r"|(start|commit(?:\s+dump_changes)?|rollback)\s*;\s*)"
)
_ACTIONS: dict[str, Action] = {"start": Start(), "commit": Commit(), "rollback": Rollback()}


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns of an update that ends with `,`, of one that ends with `;`, and of a transaction of one,
    whose last part is its commit."""

    form: PatternForm
    comma: re.Pattern[str]
    semicolon: re.Pattern[str]
    transaction: re.Pattern[str]


class TextRuns:
    """Reads runs of updates, and the commands around transactions, where they are plain."""

    def __init__(
        self, scanner: Scanner, relations: Mapping[str, Relation], typedefs: Mapping[str, TypeDef]
    ) -> None:
        self._scanner, self._relations, self._typedefs = scanner, relations, typedefs
        self._patterns: dict[tuple[str, str], _Patterns | None] = {}
        self._ahead = Ahead()

    def read(self) -> Iterator[Command]:
        """The commands and runs of updates that come next and are plain. Each is passed over when it is
        given."""
        cursor, place = self._scanner.cursor, self._scanner.place
        text, match = cursor.text, _NEXT.match
        while found := match(text, cursor.position):
            kind, name, word = found.groups()
            if word is None:
                run = self._run(kind, name)
                if run is None:
                    return
                yield run
                continue
            begin = cursor.position
            if word == "start" and (transactions := self._transactions(found.end())) is not None:
                yield transactions
                continue
            cursor.position = found.end()
            action = _ACTIONS.get(word)
            if action is None:
                action, word = Commit(True), "commit"
            yield Command(action, word, place(begin, begin + len(word)))

    def _transactions(self, then: int) -> Command | None:
        """The transactions that come next, the first of which has its update at a position."""
        cursor, locate = self._scanner.cursor, self._scanner.place
        text, begin = cursor.text, cursor.position
        update = _NEXT.match(text, then)
        patterns = None if update is None or update[1] is None else self._patterns_of(update[1], update[2])
        if update is None or patterns is None:
            return None
        kind, name, _ = update.groups()
        pattern = patterns.transaction
        texts, end = _gather(pattern, text, begin, self._ahead.most)
        rows = self._ahead.rows(patterns.form, texts)
        if not rows:
            return None
        start = _starts(pattern, text, begin)
        cursor.position = end if len(rows) == len(texts) else start(len(rows))

        def place(number: int, word: str) -> Span:
            at = start(number)
            if word == kind:
                at = _NEXT.match(text, at).end()  # type: ignore[union-attr]
            elif word == "commit":
                at = pattern.match(text, at).start(pattern.groups)  # type: ignore[union-attr]
            return locate(at, at + len(word))()

        dumps = [each[-1] != "commit" for each in texts[: len(rows)]]
        run = Transactions(kind, name, rows, dumps, place)
        return Command(run, "start", locate(begin, begin + len("start")))

    def _patterns_of(self, word: str, name: str) -> _Patterns | None:
        key = (word, name)
        if key not in self._patterns:
            self._patterns[key] = self._made(word, name)
        return self._patterns[key]

    def _run(self, word: str, name: str) -> Command | None:
        patterns = self._patterns_of(word, name)
        if patterns is None:
            return None
        cursor = self._scanner.cursor
        text, begin = cursor.text, cursor.position
        pattern = patterns.semicolon
        texts, end = _gather(pattern, text, begin, self._ahead.most)
        apart = last = bool(texts)
        if not apart:
            pattern = patterns.comma
            texts, end = _gather(pattern, text, begin, self._ahead.most)
            found = patterns.semicolon.match(text, end) if texts else None
            if found is not None:
                texts.append(found.groups())
                end, last = found.end(), True
        rows = self._ahead.rows(patterns.form, texts)
        if not rows:
            return None
        start, locate, width = _starts(pattern, text, begin), self._scanner.place, len(word)
        if len(rows) < len(texts):
            end, last = start(len(rows)), apart
        cursor.position = end

        def place(number: int) -> Span:
            at = start(number)
            return locate(at, at + width)()

        return Command(UpdateRun(word, name, rows, apart, last, place), word, locate(begin, begin + width))

    def _made(self, word: str, name: str) -> _Patterns | None:
        declared = relation_named(name, self._relations)
        if declared is None or declared.constructor is None:
            return None
        form = text_fields([column.type for column in declared.columns], self._typedefs)
        if form is None:
            return None
        update = rf"{word}\s+{name}\s*{form.pattern}\s*"
        transaction = rf"start\s*;\s*{update};\s*(commit(?:\s+dump_changes)?)\s*;\s*"
        return _Patterns(form, *map(re.compile, (rf"{update},\s*", rf"{update};\s*", transaction)))


def _gather(pattern: re.Pattern[str], text: str, at: int, most: int) -> tuple[list[tuple[str, ...]], int]:
    """The texts of the groups in the updates, or transactions, that follow each other from a position on, and
    their end."""
    texts: list[tuple[str, ...]] = []
    match, add = pattern.match, texts.append
    for _ in range(most):
        found = match(text, at)
        if found is None:
            break
        add(found.groups())
        at = found.end()
    return texts, at


def _starts(pattern: re.Pattern[str], text: str, begin: int) -> Callable[[int], int]:
    """The position of an update, or transaction, from its number, where those before it match the pattern.
    It goes on from the one that was asked for last."""
    known = 0, begin

    def start(number: int) -> int:
        nonlocal known
        count, at = known if known[0] <= number else (0, begin)
        for _ in range(number - count):
            at = pattern.match(text, at).end()  # type: ignore[union-attr]
        known = number, at
        return at

    return start
