"""Window functions: a partition is a group, whose rows are given back with the values of the function.

A change of a partition computes it anew, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax.templates import items, let, tree
from ..values import quote
from .extents import written
from .rules import SqlBody, SqlClause, grouped
from .topk import order_keys, padded
from .types import BOOLEAN, DOUBLE, INTEGER, NULL, SqlValue, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock

_NUMBERS = {sql.RowNumber: "row_number", sql.Rank: "rank", sql.DenseRank: "dense_rank", sql.Ntile: "ntile"}
_SHARES = {sql.PercentRank: "percent_rank", sql.CumeDist: "cume_dist"}
_VALUES: dict[type[Expression], str] = {
    sql.Lag: "lag",
    sql.Lead: "lead",
    sql.FirstValue: "first",
    sql.LastValue: "last",
    sql.NthValue: "nth",
    sql.Min: "min",
    sql.Max: "max",
    sql.Sum: "sum",
}
FUNCTIONS = (*_NUMBERS, *_SHARES, *_VALUES, sql.Count, sql.Avg)


def attach_windows(block: SelectBlock, nodes: Sequence[Expression]) -> None:
    """Computes the window functions of expressions. Raises SqlError."""
    for each in dict.fromkeys(found for node in nodes for found in _windows(node)):
        _attach(block, each)


def _windows(node: Expression) -> Iterator[Expression]:
    if isinstance(node, sql.Query):
        return
    if isinstance(node, sql.Window):
        yield node
        return
    for each in node.iter_expressions():
        yield from _windows(each)


def _attach(block: SelectBlock, node: Expression) -> None:
    function, partition, order, spec = _parts(block, node)
    scalars = block.scalars
    keys = [block.lasting(_typed(scalars.as_key(scalars.value(e), "PARTITION BY", e)), e) for e in partition]
    ordering = [(block.lasting(_typed(v)), letter) for v, letter in order_keys(block, order, (), ())]
    letters = "".join(letter for _, letter in ordering)
    call, result, argument = _function(block, function, _frame(block, spec, bool(order)), letters, node)
    block.extra.append(argument)
    block.store()
    domain = block.body.domain
    kept = block.kept()
    group, one = block.output.variable(INTEGER, False), block.output.variable(INTEGER, False)
    body = block.body.copy()
    parted = f"rows by {block.output.said(keys)}" if keys else "all rows"
    row = items(padded([v for v, _ in ordering]), argument.tree, padded(kept))
    body.add(grouped(group, row, (*domain, *keys), parted, kept))
    body.add(SqlClause(let(one.name, tree(f"FlatMap({call})", group.tree))))
    made = block.output.say(block.output.variable(result.type, result.nullable), written(node))
    relation = block.output.relation("Windowed", [*domain, *kept, made], is_set=False)
    cells = [replace(v, tree=tree(f"$.0.{i}", one.tree)) for i, v in enumerate(kept)]
    block.output.rule(relation, [*domain, *cells, replace(made, tree=tree("$.1", one.tree))], body)
    block.body = SqlBody(domain=domain)
    block.read_again(relation, [*domain, *kept, made])
    block.scope.known[node] = made


def _typed(value: SqlValue) -> SqlValue:
    return null(INTEGER) if value.type == NULL else value


def _parts(
    block: SelectBlock, node: Expression
) -> tuple[Expression, list[Expression], list[Expression], Expression | None]:
    """The function, the keys of the partition, those of the order, and the frame; of a named window, too."""
    partition = list(node.args.get("partition_by") or ())
    order = node.args.get("order")
    spec = node.args.get("spec")
    name = node.args.get("alias")
    if name is not None:
        named = block.windows.get(name.name.lower())
        if named is None:
            block.places.wrong(f"there is no window `{name.name}`", node)
        partition = partition or list(named.args.get("partition_by") or ())
        order = order or named.args.get("order")
        spec = spec or named.args.get("spec")
    function = node.this
    if isinstance(function, sql.IgnoreNulls | sql.RespectNulls):
        if isinstance(function, sql.IgnoreNulls) and not isinstance(function.this, sql.AnyValue):
            block.places.refuse("IGNORE NULLS", node)
        function = function.this
    if isinstance(function, sql.Filter):
        block.places.refuse("FILTER of a window function", node)
    return function, partition, list(order.expressions) if order is not None else [], spec


def _frame(block: SelectBlock, spec: Expression | None, ordered: bool) -> str:
    """The frame as a text: its kind, and its two ends, each a number of rows or `-` or `+` without a
    limit."""
    if spec is None:
        return "range - 0" if ordered else "range - +"
    kind = str(spec.args.get("kind") or "").lower()
    if spec.args.get("exclude") or kind not in ("rows", "range"):
        block.places.refuse(f"a frame of {kind.upper()}" if kind != "rows" else "EXCLUDE", spec)
    ends = []
    for side in ("start", "end"):
        end, way = spec.args.get(side), str(spec.args.get(f"{side}_side") or "").upper()
        if end is None or end == "CURRENT ROW":
            ends.append("0")
        elif end == "UNBOUNDED":
            ends.append("-" if way == "PRECEDING" else "+")
        elif kind == "rows" and isinstance(end, sql.Literal) and end.this.isdigit():
            ends.append(f"{'-' if way == 'PRECEDING' and end.this != '0' else ''}{end.this}")
        else:
            block.places.refuse("this frame", spec)
    return f"{kind} {ends[0]} {ends[1]}"


def _function(
    block: SelectBlock, node: Expression, frame: str, letters: str, window: Expression
) -> tuple[str, SqlValue, SqlValue]:
    """The call, where `$` is the group; the type of its values; and the argument, an Option."""
    nothing, empty = SqlValue(tree("true"), BOOLEAN), tree("()")
    kind = type(node)

    def call(name: str, what: str, *more: str) -> str:
        return f"sql::{name}({', '.join(['$', *map(quote, (letters, what, frame)), *more])})"

    if kind in _NUMBERS:
        size = _constant(block, node.this, 1) if kind is sql.Ntile else 0
        return (
            call("window_number", f"{_NUMBERS[kind]} {size}"),
            SqlValue(empty, INTEGER),
            _argument(block, nothing),
        )
    if kind in _SHARES:
        return call("window_share", _SHARES[kind]), SqlValue(empty, DOUBLE), _argument(block, nothing)
    if isinstance(node.this, sql.Distinct) or kind not in FUNCTIONS:
        block.places.refuse(f"{block.places.called(node)} over a window", window)
    if kind is sql.Count and (node.this is None or isinstance(node.this, sql.Star)):
        return call("window_number", "count 0"), SqlValue(empty, INTEGER), _argument(block, nothing)
    value = _typed(block.scalars.value(node.this))
    if kind in (sql.Min, sql.Max):
        block.scalars.as_key(value, block.places.called(node), node)
    if kind is sql.Count:
        return call("window_number", "count 0"), SqlValue(empty, INTEGER), _argument(block, value)
    if kind in (sql.Avg, sql.Sum) and not value.type.is_number:
        block.places.mistyped(block.places.called(node), str(value.type), node)
    if kind is sql.Avg:
        scale = f"({10**value.type.scale}: bigint)"
        name = "window_mean_of_doubles" if value.type == DOUBLE else "window_mean"
        return call(name, "avg", scale), SqlValue(empty, DOUBLE, True), _argument(block, value)
    number = 1
    if kind in (sql.Lag, sql.Lead) or kind is sql.NthValue:
        number = _constant(block, node.args.get("offset"), 1)
    default = node.args.get("default")
    if default is not None:
        block.places.refuse("a default value of LAG and LEAD", window, "COALESCE can often say the same")
    return (
        call("window_value", f"{_VALUES[kind]} {number}"),
        SqlValue(empty, value.type, True),
        _argument(block, value),
    )


def _argument(block: SelectBlock, value: SqlValue) -> SqlValue:
    return block.variable(value.optional())


def _constant(block: SelectBlock, node: Expression | None, default: int) -> int:
    if node is None:
        return default
    value = block.scalars.value(node)
    if not isinstance(value.constant, int):
        block.places.refuse("a number that is not a constant", node)
    return value.constant
