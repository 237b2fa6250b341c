"""Aggregates: a relation for each, from the variables that it shares with its rule to its value.

    n = count : { Edge(x, _) }    becomes    DegreeCount(x, n) :- Edge(x, y), var n = y.group_by(x).count()
    ...

Where the body never holds, the relation has no row. A count or a sum is then 0: the rule that uses it has a
second body for that case (`rules.Alternatives`), unless it says itself that the body holds. A group is a set
of values. Equal values of different rows must count apart, so all local variables of the body, which tell
the rows apart, stand beside the value. If the body does not bind the shared variables, a further relation
does; it holds the values that the rest of the rule gives them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import syntax
from ..errors import souffle as errors
from ..errors.source import Span
from ..syntax.templates import arguments, atom, integer, items, let, name, tree, tuple_type
from . import syntax as ast
from .clauses import Literal, Summary, names_of, variables
from .expressions import Naming
from .inline import bound_in
from .rules import BodyWriter, Supply, bodies, occurrences

_OF_ROWS = {"sum": "sum_of", "mean": "avg_of"}
_NUMBER = re.compile(r"#(?:in|w)?[0-9]+")


def relation_of(summary: Summary, rule: BodyWriter) -> str:
    """The relation of an aggregate of a rule: its shared variables, then its value. Aggregates that say the
    same have one, unless the rule gives it the values of its variables."""
    output = rule.output
    identity = _identity(summary, rule)
    known = output.summaries.get(id(summary)) or output.shared.get(identity)
    if known is not None:
        return known
    made = output.fresh(rule.title + summary.function.capitalize())
    _declare(made, (*summary.outer, summary.var), rule, summary.span)
    domains = len(output.domains)
    if rule.in_recursion and _lacks_domain(summary) and summary.function in ("count", "sum"):
        _complete(made, summary, rule)
    else:
        _define(made, summary, rule)
    output.summaries[id(summary)] = made
    if len(output.domains) == domains:
        output.shared[identity] = made
    return made


def _identity(summary: Summary, rule: BodyWriter) -> str:
    """A text that aggregates have in common when they say the same; local variables are numbered in it."""
    kinds = [rule.kinds.of_variable(name) for name in (*summary.outer, summary.var)]
    text = repr((summary.function, summary.target, summary.bodies, summary.outer, kinds))
    numbers: dict[str, str] = {}
    return _NUMBER.sub(lambda found: numbers.setdefault(found.group(), f"#{len(numbers)}"), text)


def _declare(relation: str, columns_of: Sequence[str], rule: BodyWriter, at: Span) -> None:
    """Declares a relation with a column for each of some variables."""
    naming, types = Naming(), rule.output.types
    columns = [(naming.name(each), types.kind_type(rule.kinds.of_variable(each))) for each in columns_of]
    rule.output.declare(relation, columns, at)


def _define(relation: str, summary: Summary, rule: BodyWriter) -> None:
    local = _local_variables(summary)
    if len(summary.bodies) == 1 and not any(map(_may_be_nothing, summary.bodies[0])):
        _group(relation, summary, summary.bodies[0], local, rule)
        return
    united = _united(relation, summary, local, rule)
    columns = tuple(ast.Named(summary.span, each) for each in (*summary.outer, *local))
    _group(relation, summary, (ast.Predicate(summary.span, f"%{united}", columns),), local, rule)


def _may_be_nothing(literal: Literal) -> bool:
    """Whether the literal takes two rules: one for rows, and one for none."""
    return isinstance(literal, Summary) and literal.function in ("count", "sum")


def _local_variables(summary: Summary) -> list[str]:
    """The variables that tell the rows of the body apart, in their order."""
    names: dict[str, None] = {}
    for body in summary.bodies:
        for literal in body:
            own = literal.var if isinstance(literal, Summary) else None
            names |= dict.fromkeys([own] if own else [var.name for var in variables(literal)])
    return [name for name in names if name not in summary.outer]


def _united(relation: str, summary: Summary, local: Sequence[str], rule: BodyWriter) -> str:
    """A relation of all rows of a body that takes several rules."""
    output = rule.output
    united = output.fresh(relation + "Rows")
    columns = (*summary.outer, *local)
    _declare(united, columns, rule, summary.span)
    for alternative in summary.bodies:
        for each in local:
            if each not in names_of(alternative):
                error = errors.Ungrounded(
                    name=each.partition("#")[0], where="alternative of the aggregate", span=summary.span
                )
                output.found.append(error)
                return united
        body = _body(united, summary, alternative, columns, rule)
        if body is not None:
            head = atom(united, arguments(body.variables(columns)), summary.span)
            for clauses in bodies(body.parts):
                output.rule(head, clauses, summary.span)
    return united


def _body(
    title: str, summary: Summary, literals: Sequence[Literal], needed: Sequence[str], rule: BodyWriter
) -> BodyWriter | None:
    """The body of a rule that binds all of the variables `needed`."""
    uses = occurrences(tuple(literals))
    uses.update(needed)
    body = BodyWriter(
        rule.output, rule.kinds, title, uses, summary.span, "aggregate", in_recursion=rule.in_recursion
    )
    if not body.arrange(literals, summary.outer, _supply(title, rule, summary.span)):
        return None
    missing = [ast.Named(summary.span, name) for name in needed if name not in body.bound]
    return body if body.check_bound(tuple(missing)) else None


def _supply(title: str, rule: BodyWriter, at: Span) -> Supply:
    """Makes a relation of the values that the rule around the aggregate binds to variables."""
    literals = tuple(rule.done[:-1])  # the last one is the aggregate itself

    def supply(names: Sequence[str]) -> str:
        output = rule.output
        domain = output.fresh(title + "Domain")
        output.domains.append(domain)
        _declare(domain, names, rule, at)
        uses = occurrences(literals)
        uses.update(names)
        outer = BodyWriter(output, rule.kinds, title, uses, at, rule.where, in_recursion=rule.in_recursion)
        outer.patterns.known = frozenset(rule.bound)
        known = [name for literal in literals for name in names_of(literal)]
        lacking = [name for name in names if name not in known]
        lacking += [name for name in rule.supplied if name in known]
        outer.arrange(literals, lacking, rule.supply)
        head = atom(domain, arguments(outer.variables(names)), at)
        for clauses in bodies(outer.parts):
            output.rule(head, clauses, at)
        return domain

    return supply


# --------------------------------------------------------------- in a recursion


def _lacks_domain(summary: Summary) -> bool:
    """Whether the body leaves variables open that the rule around it has."""
    return any(not bound_in(body, ()) >= set(summary.outer) for body in summary.bodies)


def _complete(relation: str, summary: Summary, rule: BodyWriter) -> None:
    """The relation of a count or a sum with a row also where there is nothing to count, for a recursion that
    gives the variables their values: a negation of the relation could not stand there. Each group has one row
    more, without witnesses."""
    output, at = rule.output, summary.span
    local = _local_variables(summary)
    types, kinds = output.types, rule.kinds
    rows = output.fresh(relation + "Rows")
    is_sum = summary.function == "sum"
    naming = Naming()
    key_names = [naming.name(each) for each in summary.outer]
    row_name, value_name = naming.name("%row#0"), naming.name(summary.var)
    key_types = [types.kind_type(kinds.of_variable(each)) for each in summary.outer]
    witness = tuple_type([types.kind_type(kinds.of_variable(each)) for each in local])
    columns = [
        *zip(key_names, key_types, strict=True),
        (row_name, syntax.NamedType("Option", (witness,), at)),
    ]
    value_column = [(value_name, types.kind_type(kinds.of_variable(summary.var)))] if is_sum else []
    output.declare(rows, [*columns, *value_column], at)
    domain = _supply(relation, rule, at)(summary.outer)
    given = ast.Predicate(at, f"%{domain}", tuple(ast.Named(at, each) for each in summary.outer))
    keys = [name(each, at) for each in key_names]
    nothing = [*keys, tree("None", at=at), *([integer(0, at)] if is_sum else [])]
    output.rule(atom(rows, arguments(nothing), at), [atom(domain, arguments(keys), at)], at)
    target = () if summary.target is None else tuple(sorted(names_of(summary.target)))
    for alternative in summary.bodies:
        body = _body(rows, summary, (given, *alternative), (*summary.outer, *target, *local), rule)
        if body is None:
            return
        shown = body.variables(summary.outer)
        shown.append(tree("Some{$}", items(*body.variables(local), at=at), at=at))
        if summary.target is not None:
            shown.append(body.writer.value(summary.target))
        for clauses in bodies(body.parts):
            output.rule(atom(rows, arguments(shown), at), clauses, at)
    row, value, result = name(row_name, at), name(value_name, at), naming.name("%all#0")
    key, total = items(*keys, at=at), name(result, at)
    if is_sum:
        grouped = tree("($, $).group_by($).sum_second()", row, value, key, at=at)
    else:
        grouped = _cast(tree("$.group_by($).count()", row, key, at=at), summary, rule)
        total = tree("$ - 1", total, at=at)
    term = atom(rows, arguments([*keys, row, *([value] if is_sum else [])]), at)
    clause = syntax.Condition(let(result, grouped, at), at)
    output.rule(atom(relation, arguments([*keys, total]), at), [term, clause], at)
    output.complete.add(relation)


# ---------------------------------------------------------------------- groups


def _group(
    relation: str, summary: Summary, literals: Sequence[Literal], local: Sequence[str], rule: BodyWriter
) -> None:
    target = () if summary.target is None else tuple(sorted(names_of(summary.target)))
    witnesses = () if summary.function in ("min", "max") else tuple(local)
    body = _body(relation, summary, literals, (*summary.outer, *target, *witnesses), rule)
    if body is None:
        return
    at = summary.span
    keys, taken = body.variables(summary.outer), _taken(summary, witnesses, body)
    function = f"{_function(summary, local)}()"
    if _is_witness(summary, witnesses):
        row, place = body.writer.naming.name("%row#0"), list(witnesses).index(target[0])
        function = f"{_OF_ROWS[summary.function]}(|{row}| {row}.{place})"
    grouped = tree(f"$.group_by($).{function}", taken, items(*keys, at=at), at=at)
    result = body.writer.naming.name(summary.var)
    head = atom(relation, arguments([*keys, name(result, at)]), at)
    clause = syntax.Condition(let(result, _cast(grouped, summary, rule), at), at)
    for clauses in bodies(body.parts):
        rule.output.rule(head, [*clauses, clause], at)


def _taken(summary: Summary, witnesses: Sequence[str], body: BodyWriter) -> syntax.Expr:
    """The value that the aggregate takes from each row."""
    rows = items(*body.variables(witnesses), at=summary.span)
    if summary.target is None or _is_witness(summary, witnesses):
        return rows
    value = body.writer.typed(summary.target)
    if _is_only_witness(summary, witnesses) or not witnesses:
        return value
    return items(rows, value, at=summary.span)


def _is_only_witness(summary: Summary, witnesses: Sequence[str]) -> bool:
    """Whether the value itself tells the rows apart."""
    return isinstance(summary.target, ast.Named) and list(witnesses) == [summary.target.name]


def _is_witness(summary: Summary, witnesses: Sequence[str]) -> bool:
    """Whether the value is one of the variables that tell the rows apart."""
    target = summary.target
    return isinstance(target, ast.Named) and target.name in witnesses and len(witnesses) > 1


def _function(summary: Summary, local: Sequence[str]) -> str:
    single = not local or _is_only_witness(summary, local)
    match summary.function:
        case "sum":
            return "sum" if single else "sum_second"
        case "mean":
            return "avg" if single else "avg_second"
    return summary.function


def _cast(result: syntax.Expr, summary: Summary, rule: BodyWriter) -> syntax.Expr:
    """The result of the function here as a value of the type of the aggregate."""
    types, at = rule.output.types, summary.span
    kind = rule.kinds.of_variable(summary.var)
    if summary.function not in ("count", "mean") or (types.word == 64 and kind != "number"):
        return result
    if summary.function == "count" and kind == "number" and types.word < 64:
        result = tree(f"$ as bit<{types.word}>", result, at=at)
    return syntax.Cast(result, types.kind_type(kind), at)
