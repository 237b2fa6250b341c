"""A module of SQL as one of this language: tables are input relations, views output relations.

Statements are parsed (`sqlglot`), and each view becomes the syntax trees of rules (`queries`, `selects` and
what they use), whose places are those of the SQL. All errors of a module come at once, a place each.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from .. import syntax
from ..core import Relation
from ..errors import sql as errors
from ..errors.diagnostics import DDlogError, Diagnostic, in_order
from ..errors.nearest import meant, nearest
from ..errors.origins import Origins
from ..errors.source import Source, Span
from ..errors.unknown import UnknownName
from ..syntax.stackroom import deep_recursion
from .conversions import UTC, BadLiteral, begin_names, cast, in_zone, zone_called
from .foreign import instead
from .places import SqlError, SqlPlaces
from .splitter import statements, zone_set

if TYPE_CHECKING:
    from sqlglot import Token
    from sqlglot.expressions import Expr as Expression

    from .dialects import SqlDialect
    from .rules import SqlOutput
    from .statements import ModuleTranslation

DEEPEST = 300  # levels of a statement
_INCOMPLETE = re.compile(r"Required keyword: '\w+' missing for <class '[\w.]*\.(\w+)'>")
_TOKEN = re.compile(r"<Token token_type: .*?, text: (.*?), line: \d+, .*?\]>", re.DOTALL)
_KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "QUALIFY", "UNION", "INTERSECT",
    "EXCEPT", "JOIN", "LEFT", "RIGHT", "INNER", "OUTER", "USING", "DISTINCT", "BETWEEN", "INSERT", "INTO",
    "VALUES", "UPDATE", "DELETE", "MERGE", "CREATE", "TABLE", "VIEW", "RETURNING", "CONFLICT", "WITH",
)  # fmt: skip
_OPENING = re.compile(r"['\"`]|/\*|\$\w*\$")


def translate(
    source: Source,
    relations: Mapping[str, Relation] = MappingProxyType({}),
    begin: Callable[[SqlPlaces, SqlOutput], ModuleTranslation] | None = None,
    known: Collection[str] = (),
) -> syntax.Module:
    """The module as one of this language; `relations` of a program are tables. `begin` makes the translation
    of its statements. Types of structs that are `known` are not declared. Raises DDlogError with all
    errors."""
    with in_zone(_zone_of(source)):
        return _translated(source, relations, begin, known)


def _zone_of(source: Source) -> str:
    """The time zone of a module; UTC if it sets one that does not exist, an error of the statement."""
    named = zone_set(source.text)
    with suppress(BadLiteral):
        return zone_called(source.zone if named == UTC else named)
    return UTC


def _translated(
    source: Source,
    relations: Mapping[str, Relation],
    begin: Callable[[SqlPlaces, SqlOutput], ModuleTranslation] | None,
    known: Collection[str],
) -> syntax.Module:
    try:
        import sqlglot
    except ImportError:
        raise DDlogError([errors.NoParser()]) from None
    from .pivots import in_parentheses
    from .rules import SqlOutput
    from .statements import ModuleTranslation
    from .structs import with_structs

    output, dialect = SqlOutput(), dialect_of(source.dialect)
    reader = dialect.reader
    origins = Origins(output.relations, output.written, output.tables)
    places = SqlPlaces(replace(source, origins=origins), dialect)
    try:
        tokens = reader.tokenize(source.text)
    except sqlglot.errors.TokenError:
        raise DDlogError([_open_quote(places, reader.tokenize)]) from None
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it cannot read is an error here
    module, found = (begin or ModuleTranslation)(places, output), list[Diagnostic]()
    places.tokens = tokens = in_parentheses(module.reading(tokens))
    module.know_all(relations)
    for part in _statements(tokens):
        whole = output.place = places.between(part[0].start, part[-1].end + 1)
        begin_names()
        parser = reader.parser()
        try:
            with deep_recursion():
                (statement,) = parser.parse(part, source.text)
                problems = _nesting(statement, places) or _unread(statement, part, source.text, places)
                if not problems and statement is not None:
                    problems = _one(module, statement)
        except sqlglot.errors.ParseError as error:
            problems = _syntax(error, part, places, whole)
        except RecursionError:
            problems = [errors.SqlTooDeep(limit=DEEPEST, span=_reading(parser, places))]
        name = _declared(part)
        if name and name not in module.tables:
            module.broken.add(name)
        words = [token.text.upper() for token in part]
        found += [_helped(replace(each, span=each.span or whole), words) for each in problems]
    found += module.finished()
    if found:
        raise DDlogError(in_order(found))
    return with_structs(module.tree(places.between(0, len(source.text))), known)


def place_of_view(source: Source, name: str) -> tuple[int, int] | None:
    """The stretch of a module, which has no errors, that declares a view."""
    from sqlglot import expressions as sql

    from .pivots import in_parentheses
    from .queries import qualified

    reader, last = dialect_of(source.dialect).reader, name.rpartition(".")[2]
    for begin, end in statements(source.text, source.dialect):
        text = source.text[begin:end]
        if text[:6].upper() != "CREATE" or last not in text.lower():
            continue
        part = next(_statements(in_parentheses(reader.tokenize(text))))
        if "VIEW" not in [each.text.upper() for each in part[:4]]:
            continue
        (node,) = reader.parser().parse(part, text)
        assert isinstance(node, sql.Create)
        if qualified(node.this.this if isinstance(node.this, sql.Schema) else node.this) == name:
            return begin, begin + part[-1].end + 1
    return None


@cache
def dialect_of(name: str) -> SqlDialect:
    """The dialect of a name."""
    if name == "spark":
        from .spark import SPARK

        return SPARK
    from .dialects import SqlDialect
    from .functions import FUNCTIONS, NAMED
    from .readers import DuckReader
    from .scalars import TYPES

    return SqlDialect(DuckReader(), FUNCTIONS, NAMED, TYPES, cast)


def _reading(parser: object, places: SqlPlaces) -> Span | None:
    """The place of the token that a parser reads."""
    token = getattr(parser, "_curr", None)
    return None if token is None else places.between(token.start, token.end + 1)


def _nesting(statement: Expression | None, places: SqlPlaces) -> list[Diagnostic]:
    """The error for a statement that is nested too deeply."""
    waiting = [(statement, 1)] if statement is not None else []
    while waiting:
        node, level = waiting.pop()
        if level > DEEPEST:
            return [errors.SqlTooDeep(limit=DEEPEST, span=places.of(node))]
        waiting += [(each, level + 1) for each in node.iter_expressions()]
    return []


def _statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens of each statement."""
    part: list[Token] = []
    for token in tokens:
        if token.token_type.name != "SEMICOLON":
            part.append(token)
        elif part:
            yield part
            part = []
    if part:
        yield part


def _declared(part: Sequence[Token]) -> str:
    """The name of the table or the view that a statement declares, also one that is not SQL; or nothing."""
    from .scopes import is_usual

    words = [token.text.upper() for token in part[:9]]
    at = next((at + 1 for at, word in enumerate(words[:5]) if word in ("TABLE", "VIEW")), 0)
    if words[0] not in ("CREATE", "DECLARE") or at == 0:
        return ""
    at += 3 * (words[at : at + 3] == ["IF", "NOT", "EXISTS"])
    names = [token.text.lower() for token in part[at : at + 3 : 2]]
    if words[at + 1 : at + 2] != ["."]:
        return names[0] if names else ""
    return names[-1] if is_usual(names[0]) else ".".join(names)


def _unread(
    statement: Expression | None, part: list[Token], text: str, places: SqlPlaces
) -> list[Diagnostic]:
    """The errors in the query of a CREATE that the parser gives up; none for other statements."""
    from sqlglot import errors, expressions

    starts = [at for at, token in enumerate(part) if token.token_type.name == "ALIAS"]
    if not isinstance(statement, expressions.Command) or not starts:
        return []
    rest = part[starts[0] + 1 :]
    try:
        places.dialect.reader.parser().parse(rest, text)
    except errors.ParseError as error:
        return _syntax(error, rest, places, places.between(part[0].start, part[-1].end + 1))
    return []


def _helped(found: Diagnostic, words: Sequence[str]) -> Diagnostic:
    """An error of a statement that is not understood, with what to write in its place."""
    is_syntax = isinstance(found, errors.SqlSyntax)
    known = is_syntax or getattr(found, "what", "").startswith(("this statement", "the statement"))
    begin = 2 if is_syntax and words[:2] == ["CREATE", "TABLE"] else 0
    return replace(found, help=instead(words[begin:])) if known and not found.help else found


def _one(module: object, statement: Expression) -> list[Diagnostic]:
    from .inheritedorder import inherit_orders
    from .numberbounds import note_bounds
    from .queries import without_schemas
    from .statements import ModuleTranslation
    from .unread import check_read

    assert isinstance(module, ModuleTranslation)
    try:
        check_read(statement, module.places)
        without_schemas(statement)
        inherit_orders(statement, module.places)
        note_bounds(statement)
        module.add(statement)
    except BadLiteral as error:
        return [errors.WrongSql(what=str(error))]
    except SqlError as error:
        found = error.diagnostic
        return [] if isinstance(found, UnknownName) and found.name in module.broken else [found]
    return []


def _open_quote(places: SqlPlaces, tokenize: Callable[[str], object]) -> Diagnostic:
    """The error for a text with a quote or a comment that does not end: it begins at the last such sign
    before which all is well."""
    from sqlglot.errors import TokenError

    text = places.source.text
    for found in reversed(list(_OPENING.finditer(text))):
        with suppress(TokenError):
            tokenize(text[: found.start()])
            span = places.between(found.start(), found.end())
            return errors.SqlSyntax(reason=f"{found.group()} does not end", span=span)
    return errors.SqlSyntax(reason="it has no words that can be told apart")


def _words(reason: str, words: Collection[str]) -> str:
    """A reason of the parser without the objects of Python that it shows; `words` are those of the text."""

    def lacking(found: re.Match[str]) -> str:
        return f"`{found[1].upper()}` is not complete" if found[1].upper() in words else "a part is missing"

    reason = _INCOMPLETE.sub(lacking, reason)
    return _TOKEN.sub(lambda found: "nothing" if found[1] == "SENTINEL" else f"`{found[1]}`", reason)


def _syntax(error: Exception, tokens: Sequence[Token], places: SqlPlaces, whole: Span) -> list[Diagnostic]:
    """The parser's errors, each at its token."""
    found: list[Diagnostic] = []
    for each in getattr(error, "errors", None) or [{}]:
        at = [t for t in tokens if (t.line, t.col) == (each.get("line"), each.get("col"))]
        span = places.between(at[0].start, at[0].end + 1) if at else whole
        words = [token.text.upper() for token in tokens]
        reason = _words(each.get("description") or str(error).split("\n")[0], words).rstrip(".")
        if at and reason.startswith("Invalid expression"):
            reason = f"`{at[0].text}` is not expected here"
        before = tokens[: tokens.index(at[0]) + 1] if at else tokens
        unknown = [each for each in (*before[-2:], tokens[0]) if each.token_type.name == "VAR"]
        near = next(filter(None, (nearest(each.text.upper(), _KEYWORDS) for each in unknown)), None)
        found.append(errors.SqlSyntax(reason=reason[:1].lower() + reason[1:], span=span, help=meant(near)))
    return found
