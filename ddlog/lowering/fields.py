"""Fields of rows as columns, where records are values: `e.time` after `Event[e]` is a column of `Event`."""

from __future__ import annotations

from dataclasses import replace

from .. import core
from ..core import CheckedProgram, Expr, Rule
from ..core.clauses import mapped
from ..core.walk import descendants, resolved


def fields_as_columns(program: CheckedProgram) -> CheckedProgram:
    """The program; in place of a field of a row that a term binds whole stands the column."""

    def of_stratum(stratum: core.Stratum) -> core.Stratum:
        return replace(
            stratum, rules=tuple(map(_rule, stratum.rules)), strata=tuple(map(of_stratum, stratum.strata))
        )

    rules, strata = tuple(map(_rule, program.rules)), tuple(map(of_stratum, program.strata))
    return replace(program, rules=rules, strata=strata)


# Expressions that bind no variable of their own, which could have the name of a row.
_PLAIN = (
    core.Call, core.Cast, core.Const, core.GetField, core.GetItem, core.If, core.MakeStruct, core.MakeTuple,
    core.Op, core.Var,
)  # fmt: skip


def _rule(rule: Rule) -> Rule:
    rows: dict[str, core.MakeStruct] = {}

    def changed(expr: Expr) -> Expr:
        return resolved(expr, rows) if all(isinstance(e, _PLAIN) for e in descendants(expr)) else expr

    body = list[core.Clause]()
    for clause in rule.body:
        match clause:
            case core.Let(name, core.MakeStruct(args=args) as row):
                if all(isinstance(arg, core.Var) for arg in args):
                    rows[name] = row
                body.append(clause)
            case core.Let(name, core.Var(other)) if other in rows:
                rows[name] = rows[other]
                body.append(clause)
            case _:
                body.append(mapped(clause, changed))
                if isinstance(clause, core.GroupBy):
                    rows.clear()
    heads = tuple(replace(head, args=tuple(map(changed, head.args))) for head in rule.heads)
    return replace(rule, body=tuple(body), heads=heads)
