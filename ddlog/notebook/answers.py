"""The answers to the text of a cell: a query, a statement of SQL, or commands as in command files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..check.givenvalues import names_of_values
from ..commands.interpreter import Interpreter
from ..commands.passages import passage_of
from ..commands.reader import CommandReader
from ..commands.sqlreader import SqlReader, begins_sql
from ..errors.diagnostics import Diagnostic
from ..errors.source import Source
from ..explaining.explanation import Explanation
from ..sessions.results import Changes, RelationView, Result
from ..sessions.session import Session
from ..syntax.parser import parse_query


class Answers(Interpreter):
    """Carries out commands, and gathers what they show. `{x}` in a query is the value of a name of Python."""

    def __init__(self, session: Session, names: Mapping[str, Any]) -> None:
        super().__init__(session, self._say, self._changes, session.program.names("output"))
        self._names, self._shown = names, list[Any]()

    def to(self, text: str, name: str, warned: Callable[[Sequence[Diagnostic]], None]) -> list[Any]:
        """The answers to a text, which is called `name` in errors. Raises DDlogError; then the transaction is
        as it was."""
        self.warned, self._shown, self.ended = warned, [], False
        self.go_on(self.session.program.names("output"))
        mark, epochs = (self.session.mark() if self.in_transaction else None), self.session.state.epochs
        try:
            self._take(text, name)
        except BaseException:
            self.forget_batch()
            if mark is None or self.session.state.epochs > epochs:
                self.session.rollback()
            else:
                self.session.undo(mark)
            raise
        return self._shown

    def _take(self, text: str, name: str) -> None:
        if not text.lstrip().startswith("?"):
            self.run(self._reader(text, name).commands(final=True))
            self.flush()
            return
        begin, end = text.index("?") + 1, len(text.rstrip().removesuffix(";"))
        query = passage_of(name, text, 1 + text.count("\n", 0, begin), begin, end)
        with query.placing():
            self.show_rows(self.ask(query.text, name))

    def _reader(self, text: str, name: str) -> CommandReader | SqlReader:
        program = self.session.program
        if begins_sql(text):
            sql = SqlReader(program.relations, self.session.typedefs, name, program.source)
            sql.feed(text)
            return sql
        reader = CommandReader(
            program.relations,
            self.session.typedefs,
            name,
            program.indexes,
            {"circuit": lambda scanner, word: _Circuit()},
        )
        reader.feed(text if text.rstrip().endswith(";") else f"{text.rstrip()};")
        return reader

    def ask(self, query: str, name: str) -> Result:
        return self.session.ask(query, self.values_in(query), name=name, warned=self.warned)

    def values_in(self, question: str) -> Mapping[str, Any]:
        found = names_of_values(parse_query(Source("<question>", question))[0])
        return {each: self._names[each] for each in found if each in self._names}

    def show_rows(self, rows: RelationView | Result) -> None:
        self._shown.append(rows)

    def dump(self, relation: str | None) -> None:
        kinds = self.session.program.relations
        names = self._outputs if relation is None else [relation]
        self._shown += (self.session[each] for each in names if kinds[each].kind != "stream")

    def explain(self, explanation: Explanation) -> None:
        self._shown.append(explanation)

    def show_any(self, shown: Any) -> None:
        """Shows a value that says what it looks like."""
        self._shown.append(shown)

    def _changes(self, changes: Changes, dump_changes: bool) -> None:
        self._shown.append(changes)

    def _say(self, line: str) -> None:
        if self._shown and isinstance(self._shown[-1], PlainText):
            line = f"{self._shown.pop()}\n{line}"
        self._shown.append(PlainText(line))


class PlainText(str):
    """Lines of text, which show as they are."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class _Circuit:
    """Shows the circuit of the program."""

    def perform(self, on: Interpreter) -> None:
        assert isinstance(on, Answers)
        on.show_any(on.session.program.circuit())
