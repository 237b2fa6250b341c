"""NOW(): the time of the session's clock, which is the one row of the table `now`.

A condition that compares a moment of a row with one that only grows with the clock is a window:

    WHERE ts > NOW() - INTERVAL 1 HOUR        the rows of a window, which leave it as the clock passes
    WHERE ts <= NOW()                         the rows that are not in the window of `ts > NOW()`

A commit that advances the clock then costs what leaves the window. Anything else that reads the clock joins
its row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..errors.sessions import BROKEN
from ..stdlib.sqlintervals import unit_of
from ..syntax.templates import integer, string, tree
from . import conversions as c
from .moments import NAME, is_local, present_of, reads_clock
from .rules import Item, NamedRows, SqlBody, SqlColumn, SqlGuard, SqlLet, SqlOutput, SqlRelation, SqlTerm
from .types import DATE, INTEGER, MOMENTS, TIMESTAMP, TIMESTAMPTZ, VARCHAR, SqlValue, variables_in

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock

_PROBLEM = f"{BROKEN}that the clock `now` does not go back does not hold: it is "
_FLIPPED: dict[type[Expression], type[Expression]] = {
    sql.GT: sql.LT, sql.GTE: sql.LTE, sql.LT: sql.GT, sql.LTE: sql.GTE,
}  # fmt: skip


def _table() -> NamedRows:
    """The table of the clock, whose row is an instant where the time zone is not UTC."""
    type = TIMESTAMP if c.zone() == c.UTC else TIMESTAMPTZ
    return NamedRows(SqlRelation("Now", (SqlColumn("time", "time", type, False, True),)), ("time",))


def present(block: SelectBlock, node: Expression) -> SqlValue:
    """The value of the clock: the one that the body has, or a new term. Raises SqlError."""
    clock = _clock(block, node)
    terms = (each for each in block.body.items if isinstance(each, SqlTerm) and not each.negated)
    there = next((each for each in terms if each.relation == clock.relation), None)
    if there is None:
        (moment,) = block.translator.opened(clock, block.body)
        block.output.say(moment, "now()")
    else:
        moment = block.output.types[there.variables[0]]
    if not is_local(node):
        return moment
    return c.cast(c.wall_clock(moment), present_of(node) or TIMESTAMP, may_fail=False) or moment


def _clock(block: SelectBlock, node: Expression) -> NamedRows:
    """The table of the clock, which is declared where it is read first."""
    tables, output = block.names.tables, block.output
    found = tables.get(NAME)
    if found is None:
        if output.is_statement:
            why = "no view reads the clock, so the program has none: give the moment itself"
            block.places.refuse(block.places.called(node), node, why)
        output.clock = output.clock or block.places.of(node) or output.place
        return _table()
    if not is_clock(found):
        block.places.wrong(
            f"{block.places.called(node)} reads the clock, which is a table `{NAME}` of one TIMESTAMP: "
            "give the other table another name",
            node,
        )
    return found


def is_clock(table: NamedRows) -> bool:
    """Whether a table is that of the clock."""
    columns = table.relation.columns
    is_moment = [each.nullable for each in columns] == [False] and columns[0].type in (TIMESTAMP, TIMESTAMPTZ)
    return is_moment and table.relation.name == "Now"


def write_clock(output: SqlOutput) -> None:
    """Writes the table of the clock, and the constraint that it does not go back."""
    clock = _table().relation
    type = clock.columns[0].type
    output.declare("input relation", clock, NAME, tree("()"))
    latest = SqlRelation("Latest__0", (SqlColumn("time", "time", INTEGER, False),))
    output.declare("relation", latest)
    output.apply("window::clock", (clock.name, tree("|row| row.time.micros")), latest)
    now, before = output.variable(type, False), output.variable(type, False)
    body = SqlBody([output.term(clock, [now]), output.term(latest, [before])])
    body.add(SqlGuard(tree("$ < $", now.tree, before.tree)))
    moments = (c.as_text(each.tree, type) for each in (before, now))
    problem = tree('sql::broken($ ++ $ ++ ", not " ++ $)', string(_PROBLEM), *moments)
    broken = SqlRelation("Constraint__0", (SqlColumn("problem", "problem", VARCHAR, False),))
    output.declare("relation", broken)
    output.rule(broken, [SqlValue(problem, VARCHAR)], body, output.clock)


def is_window(block: SelectBlock, node: Expression) -> bool:
    """Keeps the rows for which a condition holds by a window, if it compares a moment with one that grows
    with the clock. Raises SqlError."""
    without = block.output.is_statement or block.output.is_recursive
    if type(node) not in _FLIPPED or without or node.find(sql.Query) is not None:
        return False
    time, bound, kind = node.this, node.expression, type(node)
    if reads_clock(time):
        time, bound, kind = bound, time, _FLIPPED[kind]
    if reads_clock(time) or not _grows(bound):
        return False
    output, said = block.output, block.places.written(node)
    other = type(block)(block.translator, sql.select("1"), block.names, None)
    both = [block.scalars.value(time), other.scalars.value(bound)]
    first, last = block.scalars.alike(both, node, "a comparison")
    first, kept = block.variable(first, time), block.kept()
    part, rest = _parts(block.body, first)
    if first.type.kind not in MOMENTS or last.nullable or not part:
        return False
    is_later = kind in (sql.GT, sql.LTE)  # the window is that of `>`, and not of `>=`
    plain = tree("unwrap_or($, 0)", first.tree) if first.nullable else first.tree
    at = output.variable(INTEGER, False)
    inner = SqlBody(part)
    inner.add(
        *([SqlGuard(tree("is_some($)", first.tree))] if first.nullable else []),
        SqlLet(at.name, tree("$ - 1", plain) if is_later else plain),
    )
    read = {each.name for each in kept} | {v.name for v in block.body.domain} | SqlBody(rest).read
    values = [output.types[name] for name in sorted(inner.bound & read)] + [at]
    rows = output.made("Rows", values, inner, is_set=False, words="rows with a time")
    recent = output.relation("Recent", values, is_set=False, words=f"rows of the window {said}")
    edge = output.made("Bound", [last], other.body, is_set=True, words=block.places.written(bound))
    row = tree(f"|row| row.{rows.columns[-1].field}")
    output.apply("window::range", (rows.name, row, edge.name, integer(0)), recent)
    began = output.made("Began", [], SqlBody([*other.body.items]), is_set=True)
    term = output.term(recent, values, kind in (sql.LT, sql.LTE), said)
    body = [term] if not term.negated else [output.term(rows, values), term]
    block.body = SqlBody([*body, output.term(began, []), *rest], block.body.domain)
    return True


def _grows(node: Expression) -> bool:
    """Whether the value of an expression never becomes less when the session's clock goes on. In a zone whose
    clocks are put forward and back, local times, and sums with days, may become less."""
    in_utc = c.zone() == c.UTC
    match node:
        case sql.Paren() | sql.TimestampTrunc() | sql.DateTrunc():
            return in_utc and _grows(node.this)
        case sql.Cast():
            return (
                in_utc and node.to.this.value in ("DATE", "TIMESTAMP", "TIMESTAMPNTZ") and _grows(node.this)
            )
        case sql.Add() | sql.Sub() | sql.DateAdd() | sql.DateSub():
            shift = node.expression.unnest()
            constant = isinstance(shift, sql.Literal) or (
                isinstance(shift, sql.Interval) and isinstance(shift.this, sql.Literal)
            )
            exact = isinstance(shift, sql.Interval) and (unit_of(shift.text("unit")) or (0, 0))[0] == 2
            return constant and (in_utc or exact) and _grows(node.this)
    return present_of(node) in (DATE, TIMESTAMP) and (in_utc or not is_local(node))


def _parts(body: SqlBody, value: SqlValue) -> tuple[list[Item], list[Item]]:
    """The clauses of the one table on which a value depends, or all if there are several; and the others.
    None where no clause binds the value."""
    lets = {each.variable: each for each in body.items if isinstance(each, SqlLet)}
    needed, waiting = set[str](), [value.name]
    while waiting:
        name = waiting.pop()
        if name in lets:
            waiting += variables_in(lets[name].value)
        else:
            needed.add(name)
    if not needed or not needed <= body.bound:
        return [], []
    terms = [each for each in body.items if isinstance(each, SqlTerm) and not each.negated]
    of = next((each for each in terms if needed <= set(each.variables)), None)
    if of is None or not body.is_plain or needed <= {each.name for each in body.domain}:
        return list(body.items), []
    part, rest = SqlBody([of]), list[Item]()
    for each in body.items:
        inside = isinstance(each, SqlLet | SqlGuard) and SqlBody([each]).read <= part.bound
        if each is not of:
            (part.items if inside else rest).append(each)
    return part.items, rest
