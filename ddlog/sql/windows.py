"""Window functions: a partition is a group, whose rows are given back with the values of the function. An
aggregate of all rows of a partition is one of a group, which is joined to the rows.

A change computes the rows anew that it can change (`engine/operators/ordered.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import items, let, tree
from ..values import quote
from . import conversions as c
from .aggregates import FUNCTIONS as AGGREGATES
from .aggregates import Arguments, is_distinct, plain_group
from .formulas import MOMENTS, PAIRED, argument_value, function_of, has_exact_mean, moment_of
from .frames import frame_of
from .orderedaggregates import GATHERED, gathered, is_unordered_list, ordered_by, plainly
from .others import SHARES
from .rules import SqlBody, SqlClause, grouped
from .topk import order_keys, padded
from .types import DOUBLE, INTEGER, NULL, SqlType, SqlValue, mean_of, null, sum_type

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock

_NUMBERS = {sql.RowNumber: "row_number", sql.Rank: "rank", sql.DenseRank: "dense_rank", sql.Ntile: "ntile"}
_VALUES: dict[type[Expression], str] = {
    sql.Lag: "lag",
    sql.Lead: "lead",
    sql.FirstValue: "first",
    sql.LastValue: "last",
    sql.NthValue: "nth",
    sql.Min: "min",
    sql.Max: "max",
    sql.Sum: "sum",
    sql.CountIf: "sum",
    sql.AnyValue: "min",
    sql.LogicalAnd: "min",
    sql.LogicalOr: "max",
}
_NUMBER = sql.Anonymous(this="number of the row among equal ones")
_OF_PLACES = (sql.Lag, sql.Lead, sql.FirstValue, sql.LastValue, sql.NthValue)
FUNCTIONS = (*_NUMBERS, *_VALUES, sql.Count, sql.Avg, *MOMENTS, *PAIRED, *GATHERED)


def attach_windows(block: SelectBlock, nodes: Sequence[Expression], bounds: Mapping[Expression, int]) -> None:
    """Computes the window functions of expressions. Of one that numbers rows with a bound, which comes last,
    only the rows with numbers up to it are left. Raises SqlError."""
    of_partitions: dict[tuple[Expression, ...], list[Expression]] = {}
    windows = list(dict.fromkeys(found for node in nodes for found in _windows(node)))
    if sum(_tells_equal_rows_apart(block, each) for each in windows) > 1:
        _number_equal_rows(block)
    numbered = [each for each in reversed(windows) if each in bounds]  # that of DISTINCT ON reads others
    bounded = min(numbered, key=bounds.__getitem__, default=None)
    for each in windows:
        if each is bounded:
            continue
        if _is_of_partition(block, each):
            of_partitions.setdefault(tuple(_parts(block, each)[1]), []).append(each)
        else:
            _attach(block, each)
    for partition, several in of_partitions.items():
        _attach_aggregates(block, partition, several)
    if bounded is not None:
        _attach(block, bounded, bounds[bounded])


def _is_of_partition(block: SelectBlock, node: Expression) -> bool:
    """Whether a window function is an aggregate of all rows of a partition, in whatever order."""
    function, _, order, spec = _parts(block, node)
    inner = function_of(function)
    if not isinstance(inner, AGGREGATES) or is_distinct(function) or (order and isinstance(inner, GATHERED)):
        return False
    if spec is None:
        return not order
    unbounded = all(spec.args.get(side) == "UNBOUNDED" for side in ("start", "end"))
    sides = [str(spec.args.get(f"{side}_side")).upper() for side in ("start", "end")]
    return unbounded and sides == ["PRECEDING", "FOLLOWING"] and not spec.args.get("exclude")


def _tells_equal_rows_apart(block: SelectBlock, node: Expression) -> bool:
    """Whether a window function may give different values to rows that its ORDER BY does not tell apart."""
    function, _, _, spec = _parts(block, node)
    if spec is not None and (str(spec.args.get("kind")).upper() == "ROWS" or spec.args.get("exclude")):
        return not _is_of_partition(block, node)
    return isinstance(function_of(function), sql.RowNumber | sql.Ntile | sql.Lag | sql.Lead)


def _number_equal_rows(block: SelectBlock) -> None:
    """Gives equal rows of the body numbers, so that all window functions take them in the same order."""
    block.store()
    output, domain, kept = block.output, block.body.domain, block.kept()
    group, number = output.variable(INTEGER, False), output.variable(INTEGER, False)
    body = block.body.copy()
    body.add(grouped(group, tree("(true, true)"), (*domain, *kept), "equal rows"))
    numbers = tree("FlatMap(range_vec((0: bigint), $.count() as bigint, 1))", group.tree)
    body.add(SqlClause(let(number.name, numbers)))
    values = [*domain, *kept, number]
    block.read_again(output.made("Numbered", values, body, is_set=True), values)
    block.scope.known[_NUMBER] = number  # before the results of windows


def _attach_aggregates(
    block: SelectBlock, partition: Sequence[Expression], nodes: Sequence[Expression]
) -> None:
    """Computes aggregates of all rows of a partition: the groups by its keys, joined to the rows."""
    output, functions = block.output, [_parts(block, each)[0] for each in nodes]
    values = [block.lasting(_typed(c.key(block.scalars.value(e))), e) for e in partition]
    arguments = Arguments(block, functions)
    block.store()
    body, own = block.body.copy(), list(dict.fromkeys([*block.body.domain, *values]))
    found = plain_group(block, body, values, functions, arguments)
    made = [found[each] for each in functions]
    relation = output.made("Partition", [*own, *made], body, is_set=True)
    results = [output.variable(each.type, each.nullable) for each in made]
    for node, result in zip(nodes, results, strict=True):
        block.scope.known[node] = output.say(result, block.places.written(node))
    block.body.add(output.term(relation, [*own, *results]))


def _windows(node: Expression) -> Iterator[Expression]:
    if isinstance(node, sql.Query):
        return
    if isinstance(node, sql.Window):
        yield node
        return
    for each in node.iter_expressions():
        yield from _windows(each)


def _attach(block: SelectBlock, node: Expression, most: int = 0) -> None:
    function, partition, order, spec = _parts(block, node)
    scalars = block.scalars
    keys = [block.lasting(_typed(c.key(scalars.value(e))), e) for e in partition]
    ordering = [(block.lasting(_typed(v)), letter) for v, letter in order_keys(block, order, (), ())]
    frame, keyed = frame_of(block, spec, ordering)
    letters = "".join(letter for _, letter in keyed)
    made = _function(block, function, frame, letters, node, most)
    block.store()
    domain = block.body.domain
    kept = block.kept()
    group, one = block.output.variable(INTEGER, False), block.output.variable(INTEGER, False)
    body = block.body.copy()
    parted = f"rows by {block.output.said(keys)}" if keys else "all rows"
    row = items(padded([v for v, _ in keyed]), padded(kept), made.argument)
    body.add(grouped(group, row, (*domain, *keys), parted, kept))
    body.add(SqlClause(let(one.name, tree(f"FlatMap({made.call})", group.tree))))
    result = block.output.say(block.output.variable(made.type, made.nullable), block.places.written(node))
    relation = block.output.relation("Windowed", [*domain, *kept, result], is_set=False)
    cells = [replace(v, tree=tree(f"$.0.{i}", one.tree)) for i, v in enumerate(kept)]
    value = made.value(tree("$.1", one.tree), lambda read: cells[kept.index(read)].tree)
    block.output.rule(relation, [*domain, *cells, replace(result, tree=value)], body)
    block.body = SqlBody(domain=domain)
    block.read_again(relation, [*domain, *kept, result])
    block.scope.known[node] = result


def _typed(value: SqlValue) -> SqlValue:
    return null(INTEGER) if value.type == NULL else value


def _parts(
    block: SelectBlock, node: Expression
) -> tuple[Expression, list[Expression], list[Expression], Expression | None]:
    """The function, the keys of the partition, those of the order, and the frame; of a named window, too."""
    partition = list(node.args.get("partition_by") or ())
    order = node.args.get("order")
    spec = node.args.get("spec")
    windows, base = dict(block.windows), node.args.get("alias")
    while base is not None:
        named = windows.pop(base.name.lower(), None)
        if named is None:
            block.places.wrong(f"there is no window `{base.name}`", node)
        if partition or (order is not None and named.args.get("order") is not None):
            block.places.wrong(f"the window `{base.name}` has a PARTITION BY or ORDER BY already", node)
        partition = list(named.args.get("partition_by") or ())
        order = order or named.args.get("order")
        spec = spec or named.args.get("spec")
        base = named.args.get("alias")
    return node.this, partition, list(order.expressions) if order is not None else [], spec


def _same(value: Expr, read: Callable[[SqlValue], Expr]) -> Expr:
    return value


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A function of the library for a partition, where `$` is the group, its argument in a row, and the type
    of the result. `value` makes the result of what the call gives, and may read variables of the row."""

    call: str
    argument: Expr
    type: SqlType
    nullable: bool = False
    value: Callable[[Expr, Callable[[SqlValue], Expr]], Expr] = _same


def _function(
    block: SelectBlock, node: Expression, frame: str, letters: str, window: Expression, most: int
) -> WindowCall:
    """The function of a window, on a frame; of numbers, only those up to `most`, if that is not 0. Raises
    SqlError."""
    test, leaves, node = _stripped(block, node, window)
    kind, places = type(node), block.places
    called = places.called(node).removeprefix("the function ")

    def call(name: str, *what: str, more: str = "") -> str:
        return f"sql::{name}({', '.join(['$', *map(quote, (letters, *what, frame))])}{more})"

    def tested(value: SqlValue) -> Expr:
        """The argument, NULL where FILTER leaves the row out."""
        made = value.optional()
        if test is not None:
            left = tree("if ($) $ else $", test, made.tree, null(value.type).tree)
            made = replace(made, tree=left)
        return block.lasting(made).tree

    if kind in _NUMBERS:
        size = _constant(block, node.this, 1) if kind is sql.Ntile else most
        if kind is sql.Ntile and size < 1:
            places.wrong("NTILE has at least one part", node)
        return WindowCall(call("window_number", f"{_NUMBERS[kind]} {size}"), tree("Some{true}"), INTEGER)
    if kind not in FUNCTIONS:
        places.refuse(f"{places.called(node)} over a window", window)
    counts = call("window_number", "count 0")
    if kind is sql.Count and (node.this is None or isinstance(node.this, sql.Star)):
        return WindowCall(counts, tested(c.boolean(True)), INTEGER)
    argument = node.this.this if isinstance(node.this, sql.Order) else node.this
    distinct = isinstance(argument, sql.Distinct)
    if distinct:
        if len(argument.expressions) != 1 or kind not in (sql.Count, sql.Min, sql.Max):
            places.refuse(f"DISTINCT in {called} over a window", window)
        argument = argument.expressions[0]
    value = argument_value(block, node, argument)
    if kind in GATHERED:
        return _gathered(block, node, value, tested, call("window_frames"))
    if kind in MOMENTS:
        number, (name, population) = c.convert(value, DOUBLE), moment_of(node)
        assert number is not None
        made = f"sql::{name}_of_doubles($, {population})"
        return WindowCall(
            call("window_frames"), tested(number), DOUBLE, True, lambda found, _: tree(made, found)
        )
    if kind in PAIRED:
        form = f'sql::of_pairs($, "{PAIRED[kind]}")'
        return WindowCall(
            call("window_frames"), tested(value), DOUBLE, True, lambda found, _: tree(form, found)
        )
    if kind is sql.Count:
        number_of = call("window_number", "distinct 0") if distinct else counts
        return WindowCall(number_of, tested(value), INTEGER)
    if kind is sql.Avg and has_exact_mean(block, value):
        mean_type = mean_of(value.type)
        form = f"sql::mean_of_values($, {10 ** (mean_type.scale - value.type.scale)})"
        return WindowCall(
            call("window_frames"), tested(value), mean_type, True, lambda found, _: tree(form, found)
        )
    if kind is sql.Avg:
        name = "window_mean_of_doubles" if value.type == DOUBLE else "window_mean"
        mean = call(name, "avg", more=f", ({10**value.type.scale}: bigint)")
        return WindowCall(mean, tested(value), DOUBLE, True)
    offset = _constant(block, node.args.get("offset"), 1)
    name = "doubles" if kind is sql.Sum and value.type == DOUBLE else _VALUES[kind]
    form = f"{name}{'_there' if leaves else ''} {offset}"
    default = node.args.get("default")
    if default is None:
        type_of = sum_type if kind in (sql.Sum, sql.CountIf) else lambda of: of
        return WindowCall(call("window_value", form), tested(value), type_of(value.type), True)
    return _with_default(block, node, call("window_value", form), value, default, leaves and offset > 0)


def _stripped(
    block: SelectBlock, node: Expression, window: Expression
) -> tuple[Expr | None, bool, Expression]:
    """The test of FILTER, if there is one, whether NULLs are ignored, and the function itself. Raises
    SqlError."""
    test: Expr | None = None
    leaves = False
    while isinstance(node, sql.Filter | sql.IgnoreNulls | sql.RespectNulls):
        if isinstance(node, sql.Filter):
            test = block.scalars.true(node.expression.this)
        leaves = leaves or isinstance(node, sql.IgnoreNulls)
        node = node.this
    node = plainly(node)
    called = block.places.called(node).removeprefix("the function ")
    if type(node) in (*_NUMBERS, *SHARES, *_OF_PLACES):
        of_none = not isinstance(node, (*_OF_PLACES, sql.Ntile))
        wrong = [each for each in node.iter_expressions() if of_none or isinstance(each, sql.Order)]
        if wrong or node.args.get("from_first"):
            block.places.refuse(f"{called} with an order or other arguments inside", window)
        if test is not None:
            block.places.refuse(f"FILTER of {called}", window)
    if leaves and not isinstance(node, (*_OF_PLACES, sql.AnyValue)):
        block.places.refuse(f"IGNORE NULLS of {called}", window)
    return test, leaves and isinstance(node, _OF_PLACES), node


def _gathered(
    block: SelectBlock, node: Expression, value: SqlValue, tested: Callable[[SqlValue], Expr], call: str
) -> WindowCall:
    """An aggregate that reads the values of a frame in an order, by default that of the window."""
    value = block.lasting(SqlValue(tested(value), value.type, True))
    order = () if is_unordered_list(node) else ordered_by(block, node, value)
    members, templates = list[Expr](), list[tuple[str, tuple[Expr, ...]]]()

    def item(member: Expr) -> int:
        members.append(member)
        return len(members) - 1

    def result(template: str, type: SqlType, nullable: bool, *more: Expr) -> Expr:
        templates.append((template, more))
        return members[0]

    made = gathered(block, node, value, order, item, result)
    ((template, more),) = templates
    return WindowCall(
        call, items(*members, tree("true")), made.type, True, lambda found, _: tree(template, found, *more)
    )


def _with_default(
    block: SelectBlock, node: Expression, call: str, value: SqlValue, default: Expression, leaves: bool
) -> WindowCall:
    """LAG or LEAD with the value that stands where there is no row."""
    called = block.places.called(node)
    value, other = block.scalars.chosen([value, block.scalars.value(default)], node, called)
    argument, other = block.lasting(value), block.lasting(other)
    if leaves:
        form = "sql::first_of($, $)" if other.nullable else "unwrap_or($, $)"
    else:  # a row that is there may have NULL
        argument = SqlValue(tree("Some{$}", argument.tree), value.type, True)
        form = "match ($) {Some{var y} -> y, None -> $}"

    def made(found: Expr, read: Callable[[SqlValue], Expr]) -> Expr:
        return tree(form, found, read(other))

    return WindowCall(call, argument.optional().tree, value.type, other.nullable, made)


def _constant(block: SelectBlock, node: Expression | None, default: int) -> int:
    if node is None:
        return default
    value = block.scalars.value(node)
    if not isinstance(value.constant, int):
        block.places.refuse("a number that is not a constant", node)
    return value.constant
