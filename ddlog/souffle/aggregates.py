"""Aggregates: a relation for each, from the variables that it shares with its rule to its value.

    n = count : { Edge(x, _) }    becomes    DegreeCount(x, n) :- Edge(x, y), var n = y.group_by(x).count()
    ...

Where the body never holds, the relation has no row. A count or a sum is then 0: the rule that uses it has a
second body for that case (`rules.Choice`). A group is a set of values. Equal values of different rows must
count apart, so all local variables of the body, which tell the rows apart, stand beside the value. If the
body does not bind the shared variables, a further relation does; it holds the values that the rest of the
rule gives them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import souffle as errors
from . import syntax as ast
from .clauses import Literal, Summary, names_of, variables
from .expressions import Naming
from .inline import bound_in
from .rules import BodyWriter, Dependency, OutRelation, OutRule, Supply, bodies, occurrences

_NUMBER = re.compile(r"#(?:in|w)?[0-9]+")


def relation_of(summary: Summary, rule: BodyWriter) -> str:
    """The relation of an aggregate of a rule: its shared variables, then its value. Aggregates that say the
    same have one, unless the rule gives it the values of its variables."""
    output = rule.output
    identity = _identity(summary, rule)
    known = output.summaries.get(id(summary)) or output.shared.get(identity)
    if known is not None:
        return known
    name = output.fresh(rule.title + summary.function.capitalize())
    _declare(name, (*summary.outer, summary.var), rule)
    domains = len(output.domains)
    if rule.in_recursion and _lacks_domain(summary) and summary.function in ("count", "sum"):
        _complete(name, summary, rule)
    else:
        _define(name, summary, rule)
    output.summaries[id(summary)] = name
    if len(output.domains) == domains:
        output.shared[identity] = name
    return name


def _identity(summary: Summary, rule: BodyWriter) -> str:
    """A text that aggregates have in common when they say the same; local variables are numbered in it."""
    kinds = [rule.kinds.of_variable(name) for name in (*summary.outer, summary.var)]
    text = repr((summary.function, summary.target, summary.bodies, summary.outer, kinds))
    numbers: dict[str, str] = {}
    return _NUMBER.sub(lambda found: numbers.setdefault(found.group(), f"#{len(numbers)}"), text)


def _declare(name: str, columns_of: Sequence[str], rule: BodyWriter) -> None:
    """Declares a relation with a column for each of some variables."""
    naming, types = Naming(), rule.output.types
    columns = [(naming.name(each), types.kind_text(rule.kinds.of_variable(each))) for each in columns_of]
    rule.output.relations.append(OutRelation("", name, tuple(columns)))


def _define(name: str, summary: Summary, rule: BodyWriter) -> None:
    local = _local_variables(summary)
    if len(summary.bodies) == 1 and not any(map(_may_be_nothing, summary.bodies[0])):
        _group(name, summary, summary.bodies[0], local, rule)
        return
    united = _united(name, summary, local, rule)
    columns = tuple(ast.Var(summary.span, each) for each in (*summary.outer, *local))
    _group(name, summary, (ast.Atom(summary.span, f"%{united}", columns),), local, rule)


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


def _united(name: str, summary: Summary, local: Sequence[str], rule: BodyWriter) -> str:
    """A relation of all rows of a body that takes several rules."""
    output = rule.output
    united = output.fresh(name + "Rows")
    columns = (*summary.outer, *local)
    _declare(united, columns, rule)
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
            head = f"{united}({', '.join(map(body.writer.naming.name, columns))})"
            for texts in bodies(body.parts):
                output.rules.append(OutRule((united,), (head,), texts, tuple(body.reads)))
    return united


def _body(
    title: str, summary: Summary, literals: Sequence[Literal], needed: Sequence[str], rule: BodyWriter
) -> BodyWriter | None:
    """The body of a rule that binds all of the variables `needed`."""
    uses = occurrences(tuple(literals))
    uses.update(needed)
    body = BodyWriter(rule.output, rule.kinds, title, uses, "aggregate")
    if not body.arrange(literals, summary.outer, _supply(title, rule, body, summary)):
        return None
    missing = [ast.Var(summary.span, name) for name in needed if name not in body.bound]
    return body if body.check_bound(tuple(missing)) else None


def _supply(title: str, rule: BodyWriter, body: BodyWriter, summary: Summary) -> Supply:
    """Makes a relation of the values that the rule around the aggregate binds to variables."""
    literals = tuple(rule.done[:-1])  # the last one is the aggregate itself

    def supply(names: Sequence[str]) -> str:
        output = rule.output
        domain = output.fresh(title + "Domain")
        output.domains.append(domain)
        _declare(domain, names, rule)
        uses = occurrences(literals)
        uses.update(names)
        outer = BodyWriter(output, rule.kinds, title, uses, rule.where)
        known = [name for literal in literals for name in names_of(literal)]
        lacking = [name for name in names if name not in known]
        lacking += [name for name in rule.supplied if name in known]
        outer.arrange(literals, lacking, rule.supply)
        head = f"{domain}({', '.join(map(outer.writer.naming.name, names))})"
        for texts in bodies(outer.parts):
            output.rules.append(OutRule((domain,), (head,), texts, tuple(outer.reads)))
        body.reads.append(Dependency(domain, "positive", summary.span))
        return domain

    return supply


# --------------------------------------------------------------- in a recursion


def _lacks_domain(summary: Summary) -> bool:
    """Whether the body leaves variables open that the rule around it has."""
    return any(not bound_in(body, ()) >= set(summary.outer) for body in summary.bodies)


def _complete(name: str, summary: Summary, rule: BodyWriter) -> None:
    """The relation of a count or a sum with a row also where there is nothing to count, for a recursion that
    gives the variables their values: a negation of the relation could not stand there. Each group has one row
    more, without witnesses."""
    output, span = rule.output, summary.span
    local = _local_variables(summary)
    types, kinds = output.types, rule.kinds
    rows = output.fresh(name + "Rows")
    witness = _tuple([types.kind_text(kinds.of_variable(each)) for each in local])
    value = types.kind_text(kinds.of_variable(summary.var))
    is_sum = summary.function == "sum"
    naming = Naming()
    keys = [naming.name(each) for each in summary.outer]
    row, number = naming.name("%row#0"), naming.name(summary.var)
    outer = [types.kind_text(kinds.of_variable(each)) for each in summary.outer]
    columns = [*zip(keys, outer, strict=True), (row, f"Option<{witness}>")]
    output.relations.append(OutRelation("", rows, (*columns, (number, value)) if is_sum else tuple(columns)))
    holder = BodyWriter(output, kinds, name, occurrences(summary.bodies), "aggregate")
    domain = _supply(name, rule, holder, summary)(summary.outer)
    given = ast.Atom(span, f"%{domain}", tuple(ast.Var(span, each) for each in summary.outer))
    nothing = [*keys, "None", *(["0"] if is_sum else [])]
    read = Dependency(domain, "positive", span)
    output.rules.append(
        OutRule((rows,), (f"{rows}({', '.join(nothing)})",), (f"{domain}({', '.join(keys)})",), (read,))
    )
    target = () if summary.target is None else tuple(sorted(names_of(summary.target)))
    for alternative in summary.bodies:
        body = _body(rows, summary, (given, *alternative), (*summary.outer, *target, *local), rule)
        if body is None:
            return
        named = body.writer.naming.name
        shown = [*map(named, summary.outer), f"Some{{{_tuple(list(map(named, local)))}}}"]
        if summary.target is not None:
            shown.append(body.writer.value(summary.target))
        for texts in bodies(body.parts):
            output.rules.append(OutRule((rows,), (f"{rows}({', '.join(shown)})",), texts, tuple(body.reads)))
    key, result = _tuple(keys), naming.name("%all#0")
    if is_sum:
        grouped, shown_result = f"({row}, {number}).group_by({key}).sum_second()", result
        term = f"{rows}({', '.join([*keys, row, number])})"
    else:
        grouped, shown_result = f"{row}.group_by({key}).count(){_casts(summary, rule)}", f"{result} - 1"
        term = f"{rows}({', '.join([*keys, row])})"
    head = f"{name}({', '.join([*keys, shown_result])})"
    read = Dependency(rows, "grouped", span)
    output.rules.append(OutRule((name,), (head,), (term, f"var {result} = {grouped}"), (read,)))
    output.complete.add(name)


def _tuple(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


# ---------------------------------------------------------------------- groups


def _group(
    name: str, summary: Summary, literals: Sequence[Literal], local: Sequence[str], rule: BodyWriter
) -> None:
    target = () if summary.target is None else tuple(sorted(names_of(summary.target)))
    witnesses = () if summary.function in ("min", "max") else tuple(local)
    body = _body(name, summary, literals, (*summary.outer, *target, *witnesses), rule)
    if body is None:
        return
    named = body.writer.naming.name
    keys = tuple(map(named, summary.outer))
    key = keys[0] if len(keys) == 1 else f"({', '.join(keys)})"
    grouped = f"{_grouped(summary, witnesses, body)}.group_by({key}).{_function(summary, local)}"
    result = named(summary.var)
    head = f"{name}({', '.join((*keys, result))})"
    clause = f"var {result} = {grouped}{_casts(summary, rule)}"
    reads = tuple(Dependency(each.relation, "grouped", summary.span) for each in body.reads)
    for texts in bodies(body.parts):
        rule.output.rules.append(OutRule((name,), (head,), (*texts, clause), reads))


def _grouped(summary: Summary, witnesses: Sequence[str], body: BodyWriter) -> str:
    """The text of the value that the aggregate takes from each row."""
    shown = [body.writer.naming.name(each) for each in witnesses]
    rows = shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
    if summary.target is None:
        return rows
    value = body.writer.typed(summary.target)
    if _is_only_witness(summary, witnesses) or not witnesses:
        plain = isinstance(summary.target, ast.Var) or value.startswith("(")
        return value if plain else f"({value})"
    return f"({rows}, {value})"


def _is_only_witness(summary: Summary, witnesses: Sequence[str]) -> bool:
    """Whether the value itself tells the rows apart."""
    return isinstance(summary.target, ast.Var) and list(witnesses) == [summary.target.name]


def _function(summary: Summary, local: Sequence[str]) -> str:
    single = not local or _is_only_witness(summary, local)
    match summary.function:
        case "sum":
            return "sum()" if single else "sum_second()"
        case "mean":
            return "avg()" if single else "avg_second()"
    return f"{summary.function}()"


def _casts(summary: Summary, rule: BodyWriter) -> str:
    """The cast from the result of the function here to the type of the aggregate."""
    types = rule.output.types
    kind = rule.kinds.of_variable(summary.var)
    match summary.function, kind:
        case "count", "number":
            narrow = "" if types.word == 64 else f" as bit<{types.word}>"
            return f"{narrow} as {types.kind_text(kind)}"
        case "count", _:
            return "" if types.kind_text(kind) == "bit<64>" else f" as {types.kind_text(kind)}"
        case "mean", _:
            return "" if types.word == 64 else " as float"
    return ""
