"""A warning where a group merges equal values of different rows, and a function looks at how many there are.

`price.group_by(item).sum()` adds a price once, though two sales have it: groups are sets. The warning is for
functions to which that matters, and only if a variable of the body can differ where the value and the key do
not. It shows the rule with what tells rows apart in the value, and functions that look at its second part.
A column that the body leaves out, as `_`, counts only where values are added: to count others without it is
what `_` is for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .. import core, errors
from ..core.clauses import binds, expressions
from ..core.walk import descendants, resolved
from ..errors.diagnostics import Diagnostic
from ..errors.groups import EqualValues
from ..errors.source import Span
from .declaredrules import written_in
from .dependencies import Dependencies, inverted, records
from .ruletexts import Edit, called_name, place_of, rewritten
from .wildcards import with_names

_ADDING = frozenset({"sum", "avg"})
_ADDING_WHAT = frozenset({"sum_of", "avg_of"})  # a function makes of a value
_COUNTING = _ADDING | _ADDING_WHAT | {"count", "fold"}
_OF_PAIRS = {name: f"{name}_second" for name in ("sum", "avg", "min", "max", "fold", "sum_of", "count")}
_UNCHANGED = ("key", "group_key")


def equal_values(
    relations: Mapping[str, core.Relation],
    functions: Mapping[str, core.Function],
    rules: Sequence[core.Rule],
    declarations: Iterable[object],
) -> list[EqualValues]:
    """The warnings about the rules of these declarations, which are some of all `rules`; none for those that
    `#[distinct]` marks."""
    found: list[EqualValues] = []
    grouping = [rule for rule in rules if any(isinstance(each, core.GroupBy) for each in rule.body)]
    if not grouping:
        return found
    dependencies, uses = Dependencies(relations, rules), _Uses(functions)
    for rule, span in written_in(declarations, grouping, "distinct"):
        found += _in_rule(dependencies, uses, rule, span)
    return found


def equal_values_in_query(program: core.CheckedProgram, query: core.CheckedQuery) -> list[EqualValues]:
    """The warnings about a query."""
    if not any(isinstance(each, core.GroupBy) for each in query.rule.body):
        return []
    whole = query.within(program)
    dependencies, uses = Dependencies(whole.relations, program.rules), _Uses(whole.functions)
    return list(_in_rule(dependencies, uses, query.rule, query.rule.span))


def _in_rule(dependencies: Dependencies, uses: _Uses, rule: core.Rule, whole: Span) -> Iterator[EqualValues]:
    for place, clause in enumerate(rule.body):
        if isinstance(clause, core.GroupBy) and not clause.bag:
            yield from _in_group(dependencies, uses, rule, whole, place, clause)


def explained(diagnostics: Iterable[Diagnostic], warnings: Sequence[EqualValues]) -> list[Diagnostic]:
    """The diagnostics but for unused variables that a warning tells to use."""
    return [
        each
        for each in diagnostics
        if not (
            isinstance(each, errors.names.UnusedVariable)
            and any(each.name in w.missing and each.span.within(w.rule) for w in warnings if each.span)
        )
    ]


def _in_group(
    dependencies: Dependencies,
    uses: _Uses,
    rule: core.Rule,
    whole: Span,
    place: int,
    group: core.GroupBy,
) -> Iterator[EqualValues]:
    later = [each for clause in rule.body[place + 1 :] for each in expressions(clause)]
    later += [arg for head in rule.heads for arg in head.args]
    counting = [name for each in later for name in uses.counting(each, group.name)]
    if not counting:
        return
    body: Sequence[core.Clause] = rule.body[:place]
    known = {*inverted(resolved(group.value, records(body))), *group.keys}
    is_pair = isinstance(group.value, core.MakeTuple)  # which has something that tells values apart
    adding = _ADDING if is_pair else _ADDING | _ADDING_WHAT
    every = not adding.isdisjoint(counting) or bool(_missing(dependencies, body, known))
    body, edits = with_names(dependencies.relations, body) if every else (body, {})
    missing = _missing(dependencies, body, known)
    if missing:
        shown = [_written(name) for name in missing]
        instead = _instead(
            whole, group, shown, uses, later, [edits[name] for name in missing if name in edits]
        )
        alone = f"{_pair(group.value, shown, _text(group.value), only_counts=False)}.group_by({_keys(group)})"
        same = " and ".join(f"`{each}`" for each in (_text(group.value), *map(_written, group.keys)))
        yield EqualValues(
            span=group.span, function=counting[0], missing=tuple(shown), rule=whole,
            instead=instead or alone, what=_what(rule) if instead is not None else "group", same=same,
            owner=_what(rule),
        )  # fmt: skip


def _what(rule: core.Rule) -> str:
    return "rule" if rule.heads else "query"


def _missing(dependencies: Dependencies, body: Sequence[core.Clause], known: set[str]) -> list[str]:
    """A smallest choice of variables in scope that tells apart all rows with the same known variables."""
    bound = _bound(body)
    known = dependencies.determined(body, known)
    left = [name for name in bound if name not in known and _written(name)]
    for name in left:
        if dependencies.determined(body, {*known, name}).issuperset(left):
            return [name]
    chosen: list[str] = []
    for name in left:
        if name not in known:
            chosen.append(name)
            known = dependencies.determined(body, {*known, name})
    return chosen


def _bound(body: Sequence[core.Clause]) -> list[str]:
    """The variables in scope at the end of a body: those of terms first, then those of definitions."""
    groups = [place for place, clause in enumerate(body) if isinstance(clause, core.GroupBy)]
    terms: dict[str, None] = {}
    defined: dict[str, None] = {}
    for clause in body[groups[-1] :] if groups else body:
        kind = defined if isinstance(clause, core.Let | core.Unnest) else terms
        kind.update((name, None) for name in binds(clause))
    return [*terms, *(name for name in defined if name not in terms)]


class _Uses:
    """The functions of a program to which equal values in a group matter."""

    def __init__(self, functions: Mapping[str, core.Function]) -> None:
        self._functions = functions
        self._found: dict[tuple[str, int], tuple[str, ...]] = {}

    def name(self, call: core.Call) -> str:
        """The name of the function that is called, if the module `group` or `ddlog_std` has it."""
        called = self._functions.get(call.function)
        return called.name if called is not None and called.module in ("group", "ddlog_std") else ""

    def counting(self, expr: core.Expr, group: str) -> Iterator[str]:
        """The functions to which equal values matter that an expression calls for a group, a variable;
        perhaps through others."""
        for call in descendants(expr):
            if isinstance(call, core.Call):
                for place, arg in enumerate(call.args):
                    if isinstance(arg, core.Var) and arg.name == group:
                        yield from self._by_call(call, place)

    def _by_call(self, call: core.Call, place: int) -> tuple[str, ...]:
        called = self._functions.get(call.function)
        if called is None:
            return ()
        if called.module in ("group", "ddlog_std"):
            return (called.name,) if called.module == "group" and called.name in _COUNTING else ()
        found = self._found.get((called.key, place))
        if found is None:
            self._found[called.key, place] = ()  # while a recursive function asks for itself
            found = ()
            if called.body is not None:
                found = tuple(self.counting(called.body, called.parameters[place].name))
            self._found[called.key, place] = found
        return found


def _instead(
    whole: Span,
    group: core.GroupBy,
    missing: Sequence[str],
    uses: _Uses,
    later: Sequence[core.Expr],
    edits: list[Edit],
) -> str | None:
    """The text of the rule that takes every row, with these edits for columns that it leaves out; None if
    other uses of the group would change."""
    calls: list[core.Call] = []
    mentioned = 0
    for expr in later:
        for each in descendants(expr):
            if isinstance(each, core.Var) and each.name == group.name:
                mentioned += 1
            elif isinstance(each, core.Call) and each.args and isinstance(each.args[0], core.Var):
                calls += [each] if each.args[0].name == group.name else []
    if len(calls) != mentioned:
        return None
    names = [uses.name(call) for call in calls]
    if any(name not in _OF_PAIRS and name not in _UNCHANGED for name in names):
        return None
    counts = all(name == "count" and len(call.args) == 1 for name, call in zip(names, calls, strict=True))
    for name, call in zip(names, calls, strict=True):
        if name in _OF_PAIRS and not (name == "count" and len(call.args) == 1):
            place = called_name(call, name)
            if place is None:
                return None
            edits.append((place, _OF_PAIRS[name]))
    value = _pair(group.value, missing, group.value.span.text(), only_counts=counts)
    edits.append((place_of(group.value.span), value))
    return rewritten(whole, edits)


def _pair(value: core.Expr, missing: Sequence[str], text: str, *, only_counts: bool) -> str:
    """The text of a value with the missing variables in front."""
    if only_counts and isinstance(value, core.MakeTuple) and text.startswith("("):
        return f"({', '.join(missing)}, {text[1:]}"
    first = missing[0] if len(missing) == 1 else f"({', '.join(missing)})"
    return f"({', '.join(missing)}, {text})" if only_counts else f"({first}, {text})"


def _written(name: str) -> str:
    """The name of a variable as the program has it; empty for one of the checker's."""
    return name.partition("$")[0]


def _text(value: core.Expr) -> str:
    return " ".join(value.span.text().split())


def _keys(group: core.GroupBy) -> str:
    names = [_written(key) for key in group.keys]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
