"""The keys of GROUP BY, and the sets of them by which rows are grouped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from . import conversions as c
from .places import are
from .types import SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock
from .aggregatecalls import aggregates_of


def keys_of(block: SelectBlock) -> tuple[list[Expression], list[tuple[int, ...]], list[str]]:
    """The keys, the sets of keys by which rows are grouped, and the names that the select list has for
    keys."""
    group = block.node.args.get("group")
    keys: dict[Expression, str] = {}

    def key(node: Expression) -> int:
        inner, name = node.unnest(), ""
        if isinstance(inner, sql.Literal) and not inner.is_string:
            columns = block.node.expressions
            if not (inner.this.isdigit() and 0 < int(inner.this) <= len(columns)):
                block.places.wrong(f"GROUP BY {inner.this}: there {are(len(columns))}", node)
            inner = columns[int(inner.this) - 1]
        elif (
            isinstance(inner, sql.Column) and not inner.table and not block.scope.own("", inner.name.lower())
        ):
            name = inner.name.lower()
            inner = block.scope.aliases.get(name, inner)
        inner = inner.this if isinstance(inner, sql.Alias) else inner
        if inner.find(sql.AggFunc) is not None and inner.find(sql.Query) is None:
            block.places.wrong("a key of GROUP BY has an aggregate", node)
        keys.setdefault(inner, name)
        return list(keys).index(inner)

    if group is None:
        return [], [()], []
    if group.args.get("all"):
        plain = [e for e in block.node.expressions if not aggregates_of([e])]
        return _with_names([key(each) for each in plain], keys)
    each_part = _parts(group, block.places.dialect.is_ansi)
    parts = [
        [s for one in each.expressions for s in _sets(one, key)]
        if isinstance(each, sql.GroupingSets)
        else _sets(each, key)
        for each in each_part
    ]
    sets = [tuple(dict.fromkeys(k for part in chosen for k in part)) for chosen in product(*parts)]
    return list(keys), sets, list(keys.values())


def _parts(group: Expression, is_ansi: bool) -> list[Expression]:
    """The parts of GROUP BY, whose sets are combined. `GROUP BY a, b WITH ROLLUP` and, in Spark,
    `GROUP BY a, b GROUPING SETS (…)` only list their columns before."""
    more = [each for name in ("rollup", "cube", "grouping_sets") for each in group.args.get(name) or ()]
    listed = group.expressions
    if listed and more and not more[0].expressions:
        return [type(more[0])(expressions=[each.copy() for each in listed])]
    before = is_ansi and listed and isinstance(more[0] if more else None, sql.GroupingSets)
    return more if before else [*listed, *more]


def _sets(node: Expression, key: Callable[[Expression], int]) -> list[tuple[int, ...]]:
    if isinstance(node, sql.Rollup):
        columns = [_several(each, key) for each in node.expressions]
        return [_flat(columns[:n]) for n in range(len(columns), -1, -1)]
    if isinstance(node, sql.Cube):
        columns = [_several(each, key) for each in node.expressions]
        choices = product((True, False), repeat=len(columns))
        return [_flat([k for k, on in zip(columns, chosen, strict=True) if on]) for chosen in choices]
    return [_several(node, key)]


def _several(node: Expression, key: Callable[[Expression], int]) -> tuple[int, ...]:
    if isinstance(node, sql.Tuple):
        return tuple(key(each) for each in node.expressions)
    return (key(node),)


def _flat(columns: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(place for each in columns for place in each)


def _with_names(
    places: Sequence[int], keys: dict[Expression, str]
) -> tuple[list[Expression], list[tuple[int, ...]], list[str]]:
    return list(keys), [tuple(dict.fromkeys(places))], list(keys.values())


def grouping(
    node: Expression, places: dict[Expression, int], chosen: Sequence[int], block: SelectBlock
) -> SqlValue:
    """GROUPING, GROUPING_ID: a bit for each argument, or each key, 1 where rows are not grouped by it."""
    number = 0
    for each in node.expressions or ([node.this] if node.this else places):
        if each not in places:
            block.places.wrong("the argument of GROUPING is no key of GROUP BY", each)
        number = 2 * number + (places[each] not in chosen)
    return c.integer(number)
