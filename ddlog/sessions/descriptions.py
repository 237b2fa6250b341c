"""Statements that tell of a session: tables and their columns, the plan of a query, why a row is there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..core import Relation
from ..errors.diagnostics import DDlogError, counted
from ..errors.source import Source
from ..errors.sql import NoRowToExplain, WrongSql
from ..errors.unknown import unknown_name
from ..sql.literals import readable
from ..syntax.lexer import Places
from .answers import Executing, asked, result_of
from .extension import check_changeable
from .hosts.host import Host
from .measuring.plans import plans_text
from .pending.keys import key_places
from .program import Program
from .results.views import Result
from .runtimeviews import NAME, with_views_changed

_TELLS = re.compile(
    r"""\s*(?:(?P<describe>DESC(?:RIBE)?)\b | (?P<show>SHOW\s+(?:ALL\s+)?TABLES)\b | (?P<why>EXPLAIN\s+WHY)\b
    | (?P<explain>EXPLAIN)\b)(?P<rest>.*?);?\s*\Z""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ROW = re.compile(r"\s*(\w+)\(")
_NAME = re.compile(rf"\s*{NAME}\s*\Z", re.IGNORECASE)


def told(session: Executing, text: str, name: str) -> Result | None:
    """The answer to DESCRIBE, SHOW TABLES, EXPLAIN or EXPLAIN WHY; None for another statement. `name` names
    the text in errors. Raises DDlogError."""
    found = _TELLS.match(text)
    if found is None:
        return None
    blank = re.sub(r"\S", " ", text[: found.start("rest")])
    rest = session.program.source.another(name, blank + found["rest"])
    if found["describe"]:
        rows = list(_columns(_described(session, rest, found["rest"])))
        return _table(session, ("column_name", "column_type", "nullable", "primary_key"), rows)
    if found["show"]:
        return _table(session, ("name", "kind"), list(_tables(session.program)))
    asked_of = _ROW.match(found["rest"])
    if asked_of is not None and asked_of[1] in session.program.relations:
        span = Places(rest).span(len(blank) + asked_of.start(1), len(rest.text.rstrip()))
        help = "`why` explains a row of a relation"
        raise DDlogError([WrongSql("EXPLAIN is about a statement of SQL", span=span, help=help)])
    lines = _why(session, rest) if found["why"] else _plan(session, rest)
    return _table(session, ("why" if found["why"] else "plan",), [(line,) for line in lines])


def _table(session: Executing, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Result:
    """Texts as rows."""
    text = "SELECT " + ", ".join(f"'' AS \"{each}\"" for each in columns)
    plan, _ = session.plans.of(Source("<columns>", text), ())
    schema, _ = asked(session, plan, ())
    return result_of(session.state, plan, plan.answer, (schema, list(rows)))


def _tables(program: Program) -> Iterator[tuple[str, str]]:
    for each in readable(program.relations):
        yield each.source_name, "table" if each.role == "input" else "view"


def _described(session: Executing, rest: Source, text: str) -> Relation:
    """The table that DESCRIBE names, or the rows of its query."""
    named = _NAME.match(text)
    if named is None:
        plan, _ = session.plans.of(rest, ())
        return plan.answer
    name = named["name"].strip('"').lower()
    for each in readable(session.program.relations):
        if each.source_name.lower() == name:
            return each
    names = [each.source_name for each in readable(session.program.relations)]
    raise DDlogError([unknown_name("table", name, names)])


def _columns(relation: Relation) -> Iterator[tuple[str, str, str, str]]:
    from ..sql.attach import known_table

    key = key_places(relation)
    for at, each in enumerate(known_table(relation).relation.columns):
        nullable, keyed = ("YES" if yes else "NO" for yes in (each.nullable, at in key))
        yield each.name, each.type.declared, nullable, keyed


def _plan(session: Executing, rest: Source) -> list[str]:
    """The joins of a statement as they ran, with their rows, and the number of rows that it asks for."""
    plan, given = session.plans.of(rest, ())
    answer, lines = plan.answer, list[str]()
    assert plan.program is not None
    program = plan.program

    def look(host: Host) -> None:
        lines.extend(plans_text(program, host.runtime.plans() or ()))

    _, rows = asked(session, plan, given, look)
    return [*lines, f"{answer.name}: {counted(len(rows), 'row')}"]


def _why(session: Executing, rest: Source) -> list[str]:
    """Why the first row of a query is there: it is a view for that long."""
    check_changeable(session.state, session.transaction.is_open)
    plan, given = session.plans.of(rest, ())
    if plan.statement.kind != "select":
        raise DDlogError([WrongSql("EXPLAIN WHY is about a row of a SELECT")])
    _, rows = asked(session, plan, given)
    if not rows:
        raise DDlogError([NoRowToExplain()])
    before, first = session.program, min(rows)[: len(plan.answer.columns)]
    taken = {each.source_name.lower() for each in before.relations.values()}
    name = next(each for each in ("Answer", "The_answer", "This_answer") if each.lower() not in taken)
    session.go_on_with(with_views_changed(before, f"CREATE VIEW {name} AS\n{rest.text}", rest.name))
    try:
        return session.why(name, first).lines()
    finally:
        session.go_on_with(before)
