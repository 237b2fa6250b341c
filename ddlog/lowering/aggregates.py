"""Aggregates: the uses of a group that the engine computes from accumulators.

A call of a library function whose only argument is the group, such as `g.sum()`, becomes a column of the
Group node. So does one with a function that takes an item of a tuple, such as `g.sum_of(|v| v.1)`. A group
that is used only by such calls is never built.

An expression that reads the weights of a group and can know them (weights.py) is such a column as well: a row
of the group then has the weight of its value as another column.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .. import values
from ..codegen.analysis import free_variables
from ..core import (
    Block,
    Call,
    CheckedProgram,
    Clause,
    Closure,
    Const,
    Expr,
    Function,
    GetItem,
    GroupBy,
    Head,
    MakeTuple,
    Unnest,
    Var,
)
from ..core.clauses import expressions, mapped, named
from ..core.walk import mentions, transform
from ..engine.circuit import Aggregate, First
from ..engine.schema import RowExpr
from ..engine.sortedrows import RowFunction
from ..errors.source import Span
from ..types import BigInt, Bit, Float, Opaque, Signed, Tuple, Type
from ..values import Group, Vec, local_name
from .weights import WeightReaders, is_group, second_is_read

_ANY = {
    "count": "count",
    "count_distinct": "count",
    "size": "count",
    "min": "min",
    "first": "min",
    "max": "max",
}
_NUMBERS = {"sum": "sum", "avg": "avg"}
_SECONDS = {"min_second": "min", "max_second": "max", "sum_second": "sum", "avg_second": "avg"}
_ITEMS = {"min_of": "min", "max_of": "max", "sum_of": "sum", "avg_of": "avg"}
_BY_FUNCTION = ("arg_min", "min_of", "arg_max", "max_of")
_LAST = ("max", "arg_max", "max_of")
_FEW = 32
"""Places from the start of a group that are kept rather than read."""
_LIBRARY = ("ddlog_std", "group")

Compile = Callable[[Expr, str], RowExpr]


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """The plan of a group_by: the key columns, the expressions of the members, the result columns after the
    keys as (variable, type, aggregate), and the rest of the rule, which reads result columns in place of the
    calls. `weighed`: each member has its weight as its last item."""

    keys: tuple[str, ...]
    items: tuple[Expr, ...]
    results: tuple[tuple[str, Type, Aggregate], ...]
    rest: tuple[Clause, ...]
    heads: tuple[Head, ...]
    weighed: bool = False


def plan_grouping(
    clause: GroupBy,
    rest: Sequence[Clause],
    heads: Sequence[Head],
    types: dict[str, Type],
    program: CheckedProgram,
    compile_expr: Compile,
    compile_key: Callable[[Expr], RowExpr],
    readers: WeightReaders | None,
) -> GroupPlan:
    """The plan of a group_by, by the uses of the group in the rest of the rule and in its heads.
    `compile_key` compiles an expression over the keys. `readers`: None if all weights are 1."""
    split = isinstance(clause.value, MakeTuple) and len(clause.value.items) > 1
    items = clause.value.items if isinstance(clause.value, MakeTuple) and split else (clause.value,)
    columns = tuple(range(len(clause.keys), len(clause.keys) + len(items)))
    results: dict[str, tuple[str, Type, Aggregate]] = {}
    spread = [each.value for each in rest if isinstance(each, Unnest)]

    weight = len(clause.keys) + len(items)
    make_group = _group_maker(clause, split, compile_key)
    identity: tuple[Hashable, ...] = ("group", len(clause.keys), split)
    if clause.key is not None:
        identity = (*identity, compile_expr(clause.key, "").key)

    def weighing(
        expr: Expr, of: Type, inputs: Sequence[str], value: Callable[..., Any], key: Hashable
    ) -> Var:
        """The column that is a value of the inputs: the group with weights, and keys."""
        places = [None if name == clause.name else clause.keys.index(name) for name in inputs]

        def make(key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
            group = make_group(key, [row[:-1] for row in rows])
            group = Group(group.key, group.values, tuple(row[-1] for row in rows))
            return value(*(group if place is None else key[place] for place in places))

        column = f"{clause.name}.weighed{len(results)}"
        known = ("weighed", tuple(places), key, identity)
        aggregate = Aggregate("group", (*columns, weight), make=make, key=known, origin=expr.span)
        results[column] = (column, of, aggregate)
        return Var(column, of, expr.span)

    def pairs(each: Clause) -> Clause:
        """A FlatMap of the group as one of its values with their weights."""
        if not (isinstance(each, Unnest) and is_group(each.value.type) and mentions(each.value, clause.name)):
            return each
        members = {clause.name, *clause.keys}
        if not (members.issuperset(free_variables(each.value)) and second_is_read(rest, args, each.name)):
            return each
        group, of = compile_key(each.value), Opaque("ddlog_std::Vec", (types[each.name],))

        def listed(*inputs: Any) -> Vec:
            return Vec(group.scalar(*inputs).weighed())

        return replace(each, value=weighing(each.value, of, group.inputs, listed, ("pairs", group.key)))

    def part(expr: Call, called: Function, given: Sequence[Expr]) -> Expr | None:
        """The column of a call that needs the first rows of the group, or that makes something of each."""
        first = _first_rows(called, given, split, compile_expr)
        each = _ordered(called, given) if split and expr in spread else None
        if is_group(expr.type) or (first is None and each is None):
            return None
        column = f"{clause.name}.part{len(results)}"
        results[column] = (column, expr.type, _of_part(expr, columns, split, compile_expr, first, each))
        return Var(column, expr.type, expr.span)

    def change(expr: Expr) -> Expr | None:
        if reading is not None and reading.knows(expr, clause):
            compiled = compile_key(expr)
            return weighing(expr, expr.type, compiled.inputs, compiled.scalar, compiled.key)
        match expr:
            case Call(function, (Var(name), Closure() as taken)) if name == clause.name:
                called = program.functions[function]
                kind, place = local_name(called.name), _item_taken(taken, program)
                if not split or place is None or called.module not in _LIBRARY or kind not in _ITEMS:
                    return part(expr, called, expr.args[1:])
                chosen = items[place], columns[place]
                aggregate = _of_column(_ITEMS[kind], *chosen, expr, None)
                if aggregate is None:
                    return None
                column = f"{clause.name}.{kind}{place}"
                results[column] = (column, expr.type, aggregate)
                return Var(column, expr.type, expr.span)
            case Call(function, (Var(name), *given)) if name == clause.name and given:
                return part(expr, program.functions[function], given)
            case Call(function, (Var(name),)) if name == clause.name:
                called = program.functions[function]
                kind = local_name(called.name).removeprefix("group_")
                if called.module not in _LIBRARY:
                    return None
                if kind == "key":
                    return _key(clause, types, expr.span)
                if clause.bag and kind in ("count_distinct", "size"):
                    return None
                aggregate = _aggregate(kind, items, columns, expr, split, compile_expr)
                if aggregate is None:
                    return part(expr, called, ())
                column = f"{clause.name}.{kind}"
                results[column] = (column, expr.type, aggregate)
                return Var(column, expr.type, expr.span)
        return None

    args = [arg for head in heads for arg in head.args]
    exprs = [expr for each in rest for expr in expressions(each)] + args
    reading = readers if readers and any(readers.reads(expr, clause.name) for expr in exprs) else None
    rest = rest if readers is None else [pairs(each) for each in rest]
    new_rest = tuple(mapped(each, lambda expr: transform(expr, change)) for each in rest)
    new_heads = tuple(replace(head, args=tuple(transform(a, change) for a in head.args)) for head in heads)
    exprs = [e for c in new_rest for e in expressions(c)] + [e for head in new_heads for e in head.args]
    if any(mentions(e, clause.name) for e in exprs) or any(clause.name in named(c) for c in new_rest):
        aggregate = Aggregate("group", columns, make=make_group, key=identity)
        results[clause.name] = (clause.name, types[clause.name], aggregate)
    weighed = any(weight in aggregate.columns for _, _, aggregate in results.values())
    return GroupPlan(clause.keys, items, tuple(results.values()), new_rest, new_heads, weighed)


def _aggregate(
    kind: str, items: Sequence[Expr], columns: tuple[int, ...], call: Call, split: bool, compile_expr: Compile
) -> Aggregate | None:
    if _ANY.get(kind) == "count":
        return Aggregate("count", (), origin=call.span)
    if kind in _SECONDS and len(items) == 2:
        function, item, column = _SECONDS[kind], items[1], columns[1]
    elif kind in _ANY | _NUMBERS and not split:
        function, item, column = (_ANY | _NUMBERS)[kind], items[0], columns[0]
    else:
        return None
    made = partial(_float, function, column, kind in _SECONDS, call, compile_expr)
    return _of_column(function, item, column, call, made)


def _first_rows(called: Function, given: Sequence[Expr], split: bool, compile_expr: Compile) -> First | None:
    """The rows of a group that a function needs which is called with it and these arguments; None: all."""
    name = local_name(called.name).partition("<")[0]
    if called.module in _LIBRARY:
        return _first_of(name.removeprefix("group_"), given, split, compile_expr)
    if called.module != "sql" or name != "top" or not split:
        return None
    match given:
        case [Const(str(order)), Const(int(start)), Const(int(count))] if count >= 0:
            from ..stdlib.sql import order_key

            return First(start + count, order_key(order))
    return None


def _first_of(name: str, given: Sequence[Expr], split: bool, compile_expr: Compile) -> First | None:
    """The rows that a function of a group in the library needs: the first, or the last, by value or by what
    a function makes of it."""
    match given:
        case [] if name in ("min", "first", "max"):
            return First(1, tuple, name in _LAST)
        case [Const(int(place))] if name == "nth" and place < _FEW:
            return First(place + 1, tuple)
        case [Closure(_, ()) as taken] if name in _BY_FUNCTION:
            rank = compile_expr(taken, "").scalar()
            return First(1, lambda row: (rank(row if split else row[0]), row), name in _LAST)
    return None


def _ordered(called: Function, rest: Sequence[Expr]) -> RowFunction | None:
    """The window function whose values a function of the library lists when it is called with a group and
    these arguments; None for any other function."""
    name = local_name(called.name).partition("<")[0]
    given = [each.value for each in rest if isinstance(each, Const)]
    if called.module != "sql" or not name.startswith("window_") or len(given) < len(rest):
        return None
    from ..stdlib.sqlwindows import window_of

    return window_of(name, *given)


def _of_part(
    call: Call,
    columns: tuple[int, ...],
    split: bool,
    compile_expr: Compile,
    first: First | None,
    each: RowFunction | None,
) -> Aggregate:
    """A function of the first rows of a group, or of each of its rows, as an aggregate."""
    compiled = compile_expr(call, "")
    scalar = compiled.scalar

    def make(key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
        return scalar(Group((), _members(rows, split)))

    identity = ("part", compiled.key)
    return Aggregate("group", columns, make=make, key=identity, origin=call.span, first=first, ordered=each)


def _item_taken(closure: Closure, program: CheckedProgram) -> int | None:
    """The item of a tuple that a function gives: 1 of `|v| v.1`. None for another function."""
    function = program.functions[closure.function]
    body = function.body
    while isinstance(body, Block) and len(body.items) == 1:
        (body,) = body.items
    match body:
        case GetItem(Var(name), place) if not closure.captured and name == function.parameters[0].name:
            return place
    return None


def _of_column(
    function: str, item: Expr, column: int, call: Call, of_floats: Callable[[], Aggregate] | None
) -> Aggregate | None:
    """The aggregate of one column. `of_floats` makes that of floats from the call; None: there is no need for
    it to be that of the library."""
    if function in ("min", "max"):
        return Aggregate(function, (column,), origin=call.span)
    if isinstance(item.type, Float):
        return of_floats() if of_floats is not None else _float_column(function, column, item.type, call)
    if not isinstance(item.type, BigInt | Bit | Signed):
        return None
    number = item.type
    if function == "avg" or isinstance(number, BigInt):
        return Aggregate(function, (column,), origin=call.span)
    return Aggregate(
        function,
        (column,),
        wrap=lambda total: values.wrap(total, number),
        range=values.integer_range(number),
        key=str(number),
        origin=call.span,
    )


def _float(function: str, column: int, second: bool, call: Call, compile_expr: Compile) -> Aggregate:
    """A sum or mean of floats, exact and rounded once: the library function, applied to the group."""
    compiled = compile_expr(call, "")
    scalar = compiled.scalar

    def make(key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
        values = [value for (value,) in rows]
        return scalar(Group((), [((), value) for value in values] if second else values))

    return Aggregate(function, (column,), make=make, key=compiled.key, origin=call.span)


def _float_column(function: str, column: int, type: Float, call: Call) -> Aggregate:
    """A sum or mean of one column of floats, exact and rounded once."""
    from ..stdlib.group import mean, total

    of: Callable[[list[Any]], Any] = mean if function == "avg" else lambda rows: total(rows, type, function)

    def make(key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
        return of([value for (value,) in rows])

    return Aggregate(function, (column,), make=make, key=("floats", function, str(type)), origin=call.span)


def _group_maker(
    clause: GroupBy, split: bool, compile_key: Callable[[Expr], RowExpr]
) -> Callable[[tuple[Any, ...], list[tuple[Any, ...]]], Group]:
    keys = len(clause.keys)
    if clause.key is None:
        return lambda key, rows: Group(key[0] if keys == 1 else tuple(key), _members(rows, split))
    compiled = compile_key(clause.key)
    places = [clause.keys.index(name) for name in compiled.inputs]
    key_of = compiled.scalar
    return lambda key, rows: Group(key_of(*(key[i] for i in places)), _members(rows, split))


def _members(rows: list[tuple[Any, ...]], split: bool) -> Iterable[Any]:
    return rows if split else [value for (value,) in rows]


def _key(clause: GroupBy, types: dict[str, Type], span: Span) -> Expr:
    """The key of a group_by as its group has it."""
    return key_of(clause.keys, types, span) if clause.key is None else clause.key


def key_of(names: Sequence[str], types: Mapping[str, Type], span: Span) -> Expr:
    """The key of a group whose keys are some variables: the variable, or the tuple of the variables."""
    variables = tuple(Var(key, types[key], span) for key in names)
    if len(variables) == 1:
        return variables[0]
    return MakeTuple(variables, Tuple(tuple(v.type for v in variables)), span)
