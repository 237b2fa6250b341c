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
from ..syntax.cursor import TextFault
from ..types import TypeDef
from ..values.plainforms import PatternForm, text_fields
from .commands import Commit, Rollback, Start
from .interpreter import Action, Command
from .scanner import Scanner
from .transactions import MOST_AHEAD, Transactions
from .update import UpdateRun

MOST = 1 << 14
"""Updates of one run."""
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
        texts: list[tuple[str, ...]] = []
        match = patterns.transaction.match
        at = _gather(match, text, begin, texts, MOST_AHEAD)
        if not texts:
            return None
        *parts, commits = zip(*texts, strict=True)
        try:
            rows = patterns.form.convert(parts)
        except (ValueError, TextFault):
            return None
        cursor.position = at

        def place(number: int, word: str) -> Span:
            start = begin
            for _ in range(number):
                start = match(text, start).end()  # type: ignore[union-attr]
            if word == kind:
                start = _NEXT.match(text, start).end()  # type: ignore[union-attr]
            elif word == "commit":
                start = match(text, start).start(patterns.form.groups + 1)  # type: ignore[union-attr]
            return locate(start, start + len(word))()

        run = Transactions(kind, name, rows, [each != "commit" for each in commits], place)
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
        texts: list[tuple[str, ...]] = []
        at = _gather(patterns.semicolon.match, text, begin, texts)
        apart = bool(texts)
        last = apart
        if not apart:
            at = _gather(patterns.comma.match, text, begin, texts)
            found = patterns.semicolon.match(text, at) if texts else None
            if found is not None:
                texts.append(found.groups())
                at, last = found.end(), True
        if not texts:
            return None
        try:
            rows = patterns.form.convert(list(zip(*texts, strict=True)))
        except (ValueError, TextFault):
            return None
        cursor.position = at
        scanner, width = self._scanner, len(word)
        locate = scanner.place

        def place(number: int) -> Span:
            start = begin
            for _ in range(number):
                found = patterns.semicolon.match(text, start) or patterns.comma.match(text, start)
                assert found is not None
                start = found.end()
            return locate(start, start + width)()

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


def _gather(
    match: Callable[[str, int], re.Match[str] | None],
    text: str,
    at: int,
    texts: list[tuple[str, ...]],
    most: int = MOST,
) -> int:
    """Adds the parts of the updates, or transactions, that follow each other from a position on; returns
    their end."""
    add = texts.append
    found = match(text, at)
    count = 0
    while found is not None and count < most:
        add(found.groups())
        at = found.end()
        count += 1
        found = match(text, at)
    return at
