"""Aggregates: the uses of a group that the engine computes from accumulators.

A call of a library function whose only argument is the group, such as `g.sum()`, becomes a column of the
Group node. So does one with a function that takes an item of a tuple, such as `g.sum_of(|v| v.1)`. A group
that is used only by such calls is never built.

An expression that reads the weights of a group and can know them (weights.py) is such a column as well: a row
of the group then has the weight of its value as another column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeGuard

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
    Let,
    MakeStruct,
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
Members = Callable[[list[tuple[Any, ...]]], Iterable[Any]]


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
    args = [arg for head in heads for arg in head.args]
    exprs = [expr for each in rest for expr in expressions(each)] + args
    taken = {*range(len(items))} if not (split and clause.bag) else _taken(clause.name, exprs, program)
    flat = _flattened(items, clause.keys, taken, split)
    columns = flat.columns
    results: dict[str, tuple[str, Type, Aggregate]] = {}
    spread = [each.value for each in rest if isinstance(each, Unnest)]

    weight = len(clause.keys) + len(flat.items)
    make_group = _group_maker(clause, flat.members, compile_key)
    identity: tuple[Hashable, ...] = ("group", len(clause.keys), flat.shape)
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
        first = _first_rows(called, given, flat, compile_expr)
        each = _ordered(called, given, flat) if len(flat.leaves) == 3 and expr in spread else None
        if is_group(expr.type) or (first is None and each is None):
            return None
        column = f"{clause.name}.part{len(results)}"
        made = _of_part(expr, flat, compile_expr, first, each)
        results[column] = (column, expr.type, made)
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
                chosen = items[place], flat.places[place]
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
                aggregate = _aggregate(kind, items, flat.places, expr, split, compile_expr)
                if aggregate is None:
                    return part(expr, called, ())
                column = f"{clause.name}.{kind}"
                results[column] = (column, expr.type, aggregate)
                return Var(column, expr.type, expr.span)
        return None

    reading = readers if readers and any(readers.reads(expr, clause.name) for expr in exprs) else None
    rest = rest if readers is None else [pairs(each) for each in rest]
    new_rest = tuple(mapped(each, lambda expr: transform(expr, change)) for each in rest)
    new_heads = tuple(replace(head, args=tuple(transform(a, change) for a in head.args)) for head in heads)
    spreads = [name for name, _, aggregate in results.values() if aggregate.ordered is not None]
    if len(spreads) == 1 and len(results) == 1:
        (name,) = spreads
        parts, new_rest, new_heads = _in_parts(name, items[1], new_rest, new_heads, compile_expr)
        of = results[name]
        results[name] = *of[:2], replace(of[2], parts=parts)
    exprs = [e for c in new_rest for e in expressions(c)] + [e for head in new_heads for e in head.args]
    if any(mentions(e, clause.name) for e in exprs) or any(clause.name in named(c) for c in new_rest):
        aggregate = Aggregate("group", columns, make=make_group, key=identity)
        results[clause.name] = (clause.name, types[clause.name], aggregate)
    weighed = any(weight in aggregate.columns for _, _, aggregate in results.values())
    return GroupPlan(clause.keys, flat.items, tuple(results.values()), new_rest, new_heads, weighed)


def _in_parts(
    listed: str, kept: Expr, rest: tuple[Clause, ...], heads: tuple[Head, ...], compile_expr: Compile
) -> tuple[tuple[RowExpr, ...], tuple[Clause, ...], tuple[Head, ...]]:
    """The parts of an item of the list of an ordered group, which is spread: what it has of a row, and the
    value. And the rest of a rule, and its heads, in which each part is a variable."""
    at, one = next(
        (k, each)
        for k, each in enumerate(rest)
        if isinstance(each, Unnest) and isinstance(each.value, Var) and each.value.name == listed
    )
    assert isinstance(kept, MakeTuple) and isinstance(one.value.type, Opaque)
    (pair,) = one.value.type.args
    assert isinstance(pair, Tuple)
    cells, value = pair.items
    assert isinstance(cells, Tuple)
    whole = Var(one.name, pair, one.span)
    row = GetItem(whole, 0, cells, one.span)
    places = [k for k, item in enumerate(kept.items) if not _is_plain(item)]
    made: list[Expr] = [GetItem(row, k, cells.items[k], one.span) for k in places]
    made.append(GetItem(whole, 1, value, one.span))
    names = {expr: f"{one.name}.{k}" for k, expr in enumerate(made)}

    def change(expr: Expr) -> Expr | None:
        return Var(names[expr], expr.type, expr.span) if isinstance(expr, GetItem) and expr in names else None

    lets = [Let(names[expr], expr, one.span) for expr in made]
    after = (mapped(each, lambda expr: transform(expr, change)) for each in rest[at + 1 :])
    heads = tuple(replace(head, args=tuple(transform(a, change) for a in head.args)) for head in heads)
    parts = tuple(compile_expr(expr, names[expr]) for expr in made)
    return parts, (*rest[: at + 1], *lets, *after), heads


@dataclass(frozen=True, slots=True)
class _FlatMembers:
    """The members of a group in columns. `items`: what the columns beside the keys are; `places`: the column
    of each item of a member, -1 for a tuple whose items have columns of their own; `columns`: those of a
    row, from which `nest` makes the member, and `members` those of rows. `shape` is the form of both;
    `leaves`: how many columns an item that is a tuple has, if they are its own items, but for constants."""

    items: tuple[Expr, ...]
    places: tuple[int, ...]
    columns: tuple[int, ...]
    nest: Callable[[tuple[Any, ...]], Any]
    members: Members
    shape: str
    leaves: tuple[int | None, ...]


def _taken(name: str, exprs: Iterable[Expr], program: CheckedProgram) -> set[int]:
    """The places of items of a group's members that functions take alone."""
    found = set[int]()

    def look(expr: Expr) -> None:
        match expr:
            case Call(function, (Var(group), Closure() as taken)) if group == name:
                place = _item_taken(taken, program)
                kind = local_name(program.functions[function].name)
                found.update((place,) if place is not None and kind in _ITEMS else ())
            case Call(function, (Var(group),)) if group == name:
                kind = local_name(program.functions[function].name).removeprefix("group_")
                found.update((1,) if kind in _SECONDS else ())
            case Call(function, (Var(group), *_)) if group == name and _is_window(
                program.functions[function]
            ):
                found.add(2)  # the argument

    for expr in exprs:
        transform(expr, look)
    return found


def _flattened(
    items: Sequence[Expr], keys: Sequence[str], taken: Collection[int], split: bool
) -> _FlatMembers:
    """The members with these items in columns: a tuple that is not taken alone as a column for each of its
    items, or for the content of one that is Some; constants have none. Equal variables have one column.
    `split`: a member is the tuple of the items, not the one that there is."""
    found = list[Expr]()
    columns, places = list[int](), list[int]()
    nested = [isinstance(item, MakeTuple) and at not in taken for at, item in enumerate(items)]

    def column(expr: Expr) -> int:
        if any(nested) and isinstance(expr, Var) and expr.name in keys:
            return keys.index(expr.name)
        if not (any(nested) and isinstance(expr, Var) and expr in found):
            found.append(expr)
            return len(keys) + len(found) - 1
        return len(keys) + found.index(expr)

    def leaf(expr: Expr) -> str:
        columns.append(column(expr))
        return f"row[{len(columns) - 1}]"

    def part(expr: Expr) -> str:
        match expr:
            case Const(bool(value)):
                return str(value)
            case MakeStruct(constructor, (inside,)) if constructor.name == "ddlog_std::Some":
                return f"some({leaf(inside)})"
            case MakeTuple(inner):
                return f"({', '.join(map(part, inner))},)"
        return leaf(expr)

    def leaves(item: MakeTuple) -> int | None:
        inner = [part for part in item.items if not _is_plain(part)]
        return None if any(map(_has_parts, inner)) else len(inner)

    parts = list[str]()
    for at, item in enumerate(items):
        if isinstance(item, MakeTuple) and nested[at]:
            parts.append(part(item))
            places.append(-1)
        else:
            parts.append(leaf(item))
            places.append(columns[-1])
    shape = f"({', '.join(parts)},)" if any(nested) else "" if split else parts[0]
    from ..stdlib.options import some

    nest = eval(f"lambda row: {shape or 'row'}", {"some": some})
    members = eval(f"lambda rows: {f'[{shape} for row in rows]' if shape else 'rows'}", {"some": some})
    counts = (
        leaves(item) if isinstance(item, MakeTuple) and flat else None
        for item, flat in zip(items, nested, strict=True)
    )
    return _FlatMembers(tuple(found), tuple(places), tuple(columns), nest, members, shape, tuple(counts))


def _has_parts(expr: Expr) -> bool:
    """True for an item of a tuple whose parts have the columns: a tuple, or Some of a value."""
    return isinstance(expr, MakeTuple) or (
        isinstance(expr, MakeStruct) and expr.constructor.name == "ddlog_std::Some" and len(expr.args) == 1
    )


def _is_plain(expr: Expr) -> TypeGuard[Const]:
    return isinstance(expr, Const) and isinstance(expr.value, bool)


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


def _first_rows(
    called: Function, given: Sequence[Expr], flat: _FlatMembers, compile_expr: Compile
) -> First | None:
    """The rows of a group that a function needs which is called with it and these arguments; None: all."""
    name = local_name(called.name).partition("<")[0]
    if called.module in _LIBRARY:
        return _first_of(name.removeprefix("group_"), given, flat.nest, compile_expr)
    if called.module != "sql" or not _begins_with_keys(flat, given):
        return None
    match name, given:
        case "top", [Const(str(order)), Const(int(start)), Const(int(count))] if count >= 0:
            from ..stdlib.sqlgroups import column_order, order_key

            return First(start + count, order_key(order), orders=[*map(column_order, order)])
        case "window_number", [Const(str()) as order, Const(str()) as what, Const(str()) as frame]:
            from ..stdlib.sqlwindows import window_of

            window = window_of(name, order.value, what.value, frame.value)
            if window.most is None:
                return None
            return First(window.most, window.key, counts=window.name, orders=window.orders)
    return None


def _first_of(
    name: str, given: Sequence[Expr], nest: Callable[..., Any], compile_expr: Compile
) -> First | None:
    """The rows that a function of a group in the library needs: the first, or the last, by value or by what
    a function makes of it."""
    match given:
        case [] if name in ("min", "first", "max"):
            return First(1, tuple, name in _LAST)
        case [Const(int(place))] if name == "nth" and place < _FEW:
            return First(place + 1, tuple)
        case [Closure(_, ()) as taken] if name in _BY_FUNCTION:
            rank = compile_expr(taken, "").scalar()
            return First(1, lambda row: (rank(nest(row)), row), name in _LAST)
    return None


def _is_window(called: Function) -> bool:
    return called.module == "sql" and local_name(called.name).startswith("window_")


def _begins_with_keys(flat: _FlatMembers, given: Sequence[Expr]) -> bool:
    """True if the first argument is an order, and rows begin with a column for each of its keys."""
    match given:
        case [Const(str(order)), *_]:
            return flat.leaves[0] == len(order)
    return False


def _ordered(called: Function, rest: Sequence[Expr], flat: _FlatMembers) -> RowFunction | None:
    """The window function whose values a function of the library lists when it is called with a group and
    these arguments; None for any other function, and where rows are not in columns."""
    given = [each.value for each in rest if isinstance(each, Const)]
    if not _is_window(called) or len(given) < len(rest):
        return None
    if not _begins_with_keys(flat, rest) or flat.leaves[1] is None:
        return None
    from ..stdlib.sqlwindows import window_of

    window = window_of(local_name(called.name).partition("<")[0], *given)
    return window if window.most is None else None


def _of_part(
    call: Call,
    flat: _FlatMembers,
    compile_expr: Compile,
    first: First | None,
    each: RowFunction | None,
) -> Aggregate:
    """A function of the first rows of a group, or of each of its rows, as an aggregate."""
    compiled = compile_expr(call, "")
    scalar = compiled.scalar

    def make(key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
        return scalar(Group((), flat.members(rows)))

    identity = ("part", compiled.key, flat.shape)
    return Aggregate(
        "group", flat.columns, make=make, key=identity, origin=call.span, first=first, ordered=each
    )


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
    clause: GroupBy, members: Members, compile_key: Callable[[Expr], RowExpr]
) -> Callable[[tuple[Any, ...], list[tuple[Any, ...]]], Group]:
    keys = len(clause.keys)
    if clause.key is None:
        return lambda key, rows: Group(key[0] if keys == 1 else tuple(key), members(rows))
    compiled = compile_key(clause.key)
    places = [clause.keys.index(name) for name in compiled.inputs]
    key_of = compiled.scalar
    return lambda key, rows: Group(key_of(*(key[i] for i in places)), members(rows))


def _key(clause: GroupBy, types: dict[str, Type], span: Span) -> Expr:
    """The key of a group_by as its group has it."""
    return key_of(clause.keys, types, span) if clause.key is None else clause.key


def key_of(names: Sequence[str], types: Mapping[str, Type], span: Span) -> Expr:
    """The key of a group whose keys are some variables: the variable, or the tuple of the variables."""
    variables = tuple(Var(key, types[key], span) for key in names)
    if len(variables) == 1:
        return variables[0]
    return MakeTuple(variables, Tuple(tuple(v.type for v in variables)), span)
