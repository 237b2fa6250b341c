"""Places in a text of SQL, and the errors that point at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from ..errors import sql as errors
from ..errors.diagnostics import Diagnostic, counted
from ..errors.source import Source, Span
from ..syntax.lexer import Places as Offsets

if TYPE_CHECKING:
    from sqlglot import Token
    from sqlglot.expressions import Expr as Expression


class SqlError(Exception):
    """An error in one statement: `diagnostic` says which."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic


def are(number: int) -> str:
    """`is 1 column`, `are 2 columns`."""
    return f"{'is' if number == 1 else 'are'} {counted(number, 'column')}"


class SqlPlaces:
    """The places of the nodes of one text, which has these tokens."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._offsets = Offsets(source)
        self.tokens: Sequence[Token] = ()

    def between(self, start: int, end: int) -> Span:
        """The span from one offset up to another."""
        return self._offsets.span(start, end)

    def of(self, node: Expression | None) -> Span | None:
        """The span of a node: from the first token that the parser notes in it to the last."""
        if node is None:
            return None
        marks = [each.meta for each in node.walk() if "start" in each.meta]
        if not marks:
            return self.of(node.parent)
        return self.between(min(m["start"] for m in marks), max(m["end"] for m in marks) + 1)

    def refuse(self, what: str, node: Expression | None, why: str = "") -> NoReturn:
        """Raises the error for a construct that is not supported."""
        raise SqlError(errors.NotSupported(what=what, why=why, span=self.of(node)))

    def wrong(self, what: str, node: Expression | None) -> NoReturn:
        """Raises the error for a construct that means nothing here."""
        raise SqlError(errors.WrongSql(what=what, span=self.of(node)))

    def mistyped(self, what: str, types: str, node: Expression | None) -> NoReturn:
        """Raises the error for an operation on wrong types."""
        raise SqlError(errors.WrongTypes(what=what, types=types, span=self.of(node)))
