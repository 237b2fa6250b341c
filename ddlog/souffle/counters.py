"""Counters: `$` and `autoinc()`, a number for each row that the rest of a body gives.

The rows of the body are numbered in their order. Where there are several counters, each has numbers of its
own: those in facts the first ones, those in rules every n-th of the rest. In a recursion the rows are not
all known; there the number is a hash of the row.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import souffle as errors
from .clauses import HornClause, Numbered
from .rules import BodyWriter, OutRelation, OutRule, Share, bodies

_NOTE = "the numbers of counters are arbitrary: rows are numbered in their order"
_NOTE_HASHED = "the number of a counter in a recursion is a hash, and rarely that of another row, too"


def shares(clauses: Sequence[HornClause], recursive: Sequence[bool]) -> dict[int, Share]:
    """The share of each counter of a program, by the identity of its literal."""
    single: list[Numbered] = []
    rest: list[tuple[Numbered, bool]] = []
    for clause, is_recursive in zip(clauses, recursive, strict=True):
        found = [literal for literal in clause.body if isinstance(literal, Numbered)]
        if len(found) == len(clause.body):
            single += found
        else:
            rest += [(each, is_recursive) for each in found]
    result = {id(each): Share(i, 1) for i, each in enumerate(single)}
    for i, (each, is_recursive) in enumerate(rest):
        result[id(each)] = Share(len(single) + i, len(rest), is_recursive)
    return result


def write_number(literal: Numbered, body: BodyWriter) -> None:
    """Goes on in a body with a number for each of its rows."""
    kind, types, output = body.kinds.of_variable(literal.var), body.output.types, body.output
    if kind not in ("number", "unsigned"):
        output.found.append(errors.TypeClash(found="number", wanted=kind, span=literal.span))
        return
    share, known = output.shares[id(literal)], sorted(body.bound)
    name = body.writer.naming.name(literal.var)
    body.bound.add(literal.var)
    type = types.kind_text(kind)
    if not known:
        body.writer.note(_NOTE, literal.span)
        body.parts.append(f"var {name}: {type} = {share.first}")
        return
    columns = [body.writer.naming.name(each) for each in known]
    if share.is_hashed:
        body.writer.note(_NOTE_HASHED, literal.span)
        output.functions["row_number"] = None
        cast = "" if kind == "number" else f" as {type}"
        body.parts.append(f"var {name} = row_number(({', '.join([*columns, str(share.first)])})){cast}")
        return
    body.writer.note(_NOTE, literal.span)
    output.functions["numbered"] = None
    rows = output.fresh(body.title + "Rows")
    kinds = [types.kind_text(body.kinds.of_variable(each)) for each in known]
    output.relations.append(OutRelation("", rows, tuple(zip(columns, kinds, strict=True))))
    head = f"{rows}({', '.join(columns)})"
    for texts in bodies(body.parts):
        output.rules.append(OutRule((rows,), (head,), texts, tuple(body.reads)))
    body.follow(rows, literal.span)
    # The number tells the rows apart from here on.
    body.bound &= {*body.needed, literal.var}
    group, row = body.writer.naming.name("%rows#0"), body.writer.naming.name("%row#0")
    whole = columns[0] if len(columns) == 1 else f"({', '.join(columns)})"
    parts = [f"{row}.1"] if len(columns) == 1 else [f"{row}.1.{i}" for i in range(len(columns))]
    number = f"{row}.0" if kind == "number" else f"{row}.0 as {type}"
    if share.step != 1:
        number = f"({number}) * {share.step}" if " as " in number else f"{number} * {share.step}"
    if share.first:
        number = f"{number} + {share.first}"
    body.parts += [
        head,
        f"var {group} = {whole}.group_by(())",
        f"var {row} = FlatMap(numbered({group}))",
        f"var {name} = {number}",
        *(f"var {columns[i]} = {parts[i]}" for i, each in enumerate(known) if each in body.needed),
    ]
