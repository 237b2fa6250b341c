"""Places in a text of SQL, and the errors that point at them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from ..errors import sql as errors
from ..errors.diagnostics import Diagnostic, counted
from ..errors.source import Source, Span
from ..syntax.lexer import Places as Offsets

if TYPE_CHECKING:
    from sqlglot import Token
    from sqlglot.expressions import Expr as Expression

    from .dialects import SqlDialect


class SqlError(Exception):
    """An error in one statement: `diagnostic` says which."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic


def are(number: int) -> str:
    """`is 1 column`, `are 2 columns`."""
    return f"{'is' if number == 1 else 'are'} {counted(number, 'column')}"


class SqlPlaces:
    """The places of the nodes of one text, in a dialect, which has these tokens."""

    def __init__(self, source: Source, dialect: SqlDialect) -> None:
        self.source, self.dialect = source, dialect
        self._offsets = Offsets(source)
        self.tokens: Sequence[Token] = ()

    def kind(self, number: int) -> str:
        """The kind of a token, by its number."""
        kind: str = self.tokens[number].token_type.name
        return kind

    def between(self, start: int, end: int) -> Span:
        """The span from one offset up to another."""
        return self._offsets.span(start, end)

    def of(self, node: Expression | None) -> Span | None:
        """The span of a node: from the first token that the parser notes in it to the last."""
        if node is None:
            return None
        found = self._noted(node)
        if found is None:
            return self.of(node.parent)
        name = self._name(node)
        return self.between(found[0] if name is None else name.start, found[1])

    def of_query(self, node: Expression) -> Span | None:
        """The stretch of a query; None for one that does not stand in the text."""
        from sqlglot import expressions as sql

        first, last = node, node
        while isinstance(first, sql.SetOperation) and "query" not in first.meta:
            first = first.this
        while isinstance(last, sql.SetOperation) and "query" not in last.meta:
            last = last.expression
        if "query" not in first.meta or "query" not in last.meta:
            return None
        return self.between(first.meta["query"][0], last.meta["query"][1])

    def _noted(self, node: Expression) -> tuple[int, int] | None:
        """The offsets from the first token that the parser notes in a node up to the end of the last."""
        marks = [each.meta for each in node.walk() if "start" in each.meta]
        return (min(m["start"] for m in marks), max(m["end"] for m in marks) + 1) if marks else None

    def _at(self, offset: int) -> int:
        """The number of the token at an offset."""
        return bisect_right(self.tokens, offset, key=lambda token: token.start) - 1

    def _name(self, node: Expression) -> Token | None:
        """The token of a function's name: the one that the parser notes, or the one before its arguments."""
        from sqlglot import expressions as sql

        if not isinstance(node, sql.Func) or isinstance(node, sql.Binary | sql.Case | sql.Connector):
            return None
        if "start" in node.meta:
            return self.tokens[self._at(node.meta["start"])]
        noted = self._noted(node)
        at = self._at(noted[0]) if noted else 0
        opened = at >= 2 and self.tokens[at - 1].text == "("
        return self.tokens[at - 2] if opened and self.tokens[at - 2].text.isidentifier() else None

    def called(self, node: Expression | None) -> str:
        """What a message calls a construct: a function by the name that stands in the text."""
        if node is None:
            return "this"
        name = self._name(node)
        if name is not None:
            return f"the function {name.text.upper()}"
        return f"the expression {self.written(node)[:60]}"

    def written(self, node: Expression) -> str:
        """An expression as the dialect writes it."""
        return node.sql(dialect=self.dialect.reader)

    def refuse(self, what: str, node: Expression | None, why: str = "") -> NoReturn:
        """Raises the error for a construct that is not supported: at its keyword, where `what` has one that
        stands just before what the parser notes of it."""
        span, noted = self.of(node), None if node is None else self._noted(node)
        if span is not None and noted is not None:
            at, words = self._at(noted[0]), {each for each in what.split() if each.isupper()}
            before = [t for t in self.tokens[max(at - 4, 0) : at] if t.text.upper() in words]
            span = self.between(before[0].start, noted[1]) if before else span
        raise SqlError(errors.NotSupported(what=what, why=why, span=span))

    def check_named(self, names: Sequence[str], there: int, node: Expression) -> None:
        """Raises SqlError if more columns are named than there are."""
        if len(names) > there:
            self.wrong(f"{len(names)} columns are named, and there {are(there)}", node)

    def wrong(self, what: str, node: Expression | None) -> NoReturn:
        """Raises the error for a construct that means nothing here."""
        raise SqlError(errors.WrongSql(what=what, span=self.of(node)))

    def mistyped(self, what: str, types: str, node: Expression | None) -> NoReturn:
        """Raises the error for an operation on wrong types."""
        raise SqlError(errors.WrongTypes(what=what, types=types, span=self.of(node)))
