"""Counters: `$` and `autoinc()`, a number for each row that the rest of a body gives.

The rows of the body are numbered in their order. Where there are several counters, each has numbers of its
own: those in facts the first ones, those in rules every n-th of the rest. In a recursion the rows are not
all known; there the number is a hash of the row.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import syntax
from ..errors import souffle as errors
from ..syntax.templates import integer, items, let, name, tree
from .clauses import HornClause, RowNumber
from .rules import BodyWriter, Share, bodies, row

_NOTE = "the numbers of counters are arbitrary: rows are numbered in their order"
_NOTE_HASHED = "the number of a counter in a recursion is a hash, and rarely that of another row, too"


def shares(clauses: Sequence[HornClause], recursive: Sequence[bool]) -> dict[int, Share]:
    """The share of each counter of a program, by the identity of its literal."""
    single: list[RowNumber] = []
    rest: list[tuple[RowNumber, bool]] = []
    for clause, is_recursive in zip(clauses, recursive, strict=True):
        found = [literal for literal in clause.body if isinstance(literal, RowNumber)]
        if len(found) == len(clause.body):
            single += found
        else:
            rest += [(each, is_recursive) for each in found]
    result = {id(each): Share(i, 1) for i, each in enumerate(single)}
    for i, (each, is_recursive) in enumerate(rest):
        result[id(each)] = Share(len(single) + i, len(rest), is_recursive)
    return result


def write_number(literal: RowNumber, body: BodyWriter) -> None:
    """Goes on in a body with a number for each of its rows: that of a variable if it has a value already."""
    is_given = literal.var in body.bound
    number = body.writer.naming.name(f"%{literal.var}#number" if is_given else literal.var)
    _write(literal, number, body)
    if is_given:
        variable = body.writer.variable(literal.var, literal.span)
        body.say(tree("$ == $", name(number, literal.span), variable, at=literal.span))


def _write(literal: RowNumber, number: str, body: BodyWriter) -> None:
    kind, types, output = body.kinds.of_variable(literal.var), body.output.types, body.output
    if kind not in ("number", "unsigned"):
        output.found.append(errors.TypeClash(found="number", wanted=kind, span=literal.span))
        return
    share, known, at = output.shares[id(literal)], sorted(body.bound), literal.span
    body.bound.add(literal.var)
    type = types.kind_type(kind)
    if not known:
        body.writer.note(_NOTE, at)
        body.say(let(number, integer(share.first, at), at, type))
        return
    columns = [body.writer.naming.name(each) for each in known]
    variables = [name(each, at) for each in columns]
    if share.is_hashed:
        body.writer.note(_NOTE_HASHED, at)
        output.functions["row_number"] = None
        hashed = tree("row_number($)", items(*variables, integer(share.first, at), at=at), at=at)
        body.say(let(number, hashed if kind == "number" else syntax.Cast(hashed, type, at), at))
        return
    body.writer.note(_NOTE, at)
    output.functions["numbered"] = None
    rows = output.fresh(body.title + "Rows")
    kinds = [types.kind_type(body.kinds.of_variable(each)) for each in known]
    output.declare(rows, zip(columns, kinds, strict=True), at)
    head = row(rows, columns, at)
    for clauses in bodies(body.parts):
        output.rule(head, clauses, at)
    # The number tells the rows apart from here on.
    body.bound &= {*body.needed, literal.var}
    group, numbered = body.writer.naming.name("%rows#0"), body.writer.naming.name("%row#0")
    value = tree("$.0", name(numbered, at), at=at)
    if kind != "number":
        value = syntax.Cast(value, type, at)
    if share.step != 1:
        value = tree("$ * $", value, share.step, at=at)
    if share.first:
        value = tree("$ + $", value, share.first, at=at)
    body.parts[:] = [head]
    body.say(let(group, tree("$.group_by(())", items(*variables, at=at), at=at), at))
    body.say(let(numbered, tree("FlatMap(numbered($))", name(group, at), at=at), at))
    body.say(let(number, value, at))
    for i, each in enumerate(known):
        if each in body.bound:
            part = tree("$.1", name(numbered, at), at=at)
            body.say(let(columns[i], part if len(columns) == 1 else syntax.GetItem(part, i, at), at))
