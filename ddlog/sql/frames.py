"""The frames of window functions, as the library takes them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from . import conversions as c
from .types import DATE, DOUBLE, INTEGER, INTERVAL, TIMESTAMP, TIMESTAMPTZ, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock


def frame_of(
    block: SelectBlock, spec: Expression | None, order: Sequence[tuple[SqlValue, str]]
) -> tuple[str, Sequence[tuple[SqlValue, str]]]:
    """The frame as `sql::window_number` takes it, and the order, whose key is a moment if the frame is one of
    intervals."""
    if spec is None:
        return f"range - {'0' if order else '+'} none", order
    kind = str(spec.args.get("kind") or "").lower()
    ends = list[str]()
    for side in ("start", "end"):
        end, way = spec.args.get(side), str(spec.args.get(f"{side}_side") or "").upper()
        if end is None or end == "CURRENT ROW":
            ends.append("0")
        elif end == "UNBOUNDED":
            ends.append("-" if way == "PRECEDING" else "+")
        else:
            order = _ordered_for(block, spec, kind, end, order)
            ends.append(_distance(block, kind, end, -1 if way == "PRECEDING" else 1, order))
    without = str(spec.args.get("exclude") or "NO OTHERS").upper().split()
    left_out = {"NO OTHERS": "none", "CURRENT ROW": "row"}.get(" ".join(without), without[0].lower())
    return f"{kind} {ends[0]} {ends[1]} {left_out}", order


def _ordered_for(
    block: SelectBlock, spec: Expression, kind: str, end: Expression, order: Sequence[tuple[SqlValue, str]]
) -> Sequence[tuple[SqlValue, str]]:
    """The order for a frame with such an end. Raises SqlError."""
    if kind == "rows":
        return order
    if not order or (kind == "range" and len(order) > 1):
        needed = "an ORDER BY" if kind == "groups" else "an ORDER BY of one value"
        block.places.wrong(f"a frame of {kind.upper()} with a distance needs {needed}", spec)
    ((value, letter), *_) = order
    if kind == "range" and isinstance(end.unnest(), sql.Interval) and value.type == DATE:
        moment = c.convert(value, TIMESTAMP)
        assert moment is not None
        return [(block.lasting(moment), letter)]
    return order


def _distance(
    block: SelectBlock, kind: str, end: Expression, sign: int, order: Sequence[tuple[SqlValue, str]]
) -> str:
    """The distance of an end of a frame: a number of rows or groups, or of what the order has. Raises
    SqlError."""
    value = block.scalars.value(end)
    if value.constant is None:
        block.places.refuse("a frame whose end is not a constant", end)
    wanted = order[0][0].type if kind == "range" else INTEGER
    is_moment = wanted in (TIMESTAMP, TIMESTAMPTZ)
    if is_moment and value.type == INTERVAL and isinstance(value.constant, tuple):
        months, days, micros = value.constant
        if wanted == TIMESTAMPTZ and (months or days) and c.zone() != c.UTC:
            why = f"days of {c.zone()} are not all alike: order by CAST(… AS TIMESTAMP), or write hours"
            block.places.refuse("a frame of days of instants", end, why)
        return f"{sign * months}/{sign * (days * 86_400_000_000 + micros)}"
    number = c.convert(value, INTEGER if wanted == DATE else wanted) if not is_moment else None
    if number is None or not (number.type.is_number or wanted == DATE):
        block.places.mistyped(f"a frame of {wanted}", str(value.type), end)
    exact = Decimal(str(value.constant))
    if exact < 0:
        block.places.wrong("a distance in a frame is not negative", end)
    text = str(exact if wanted == DOUBLE else int(exact.scaleb(wanted.scale)))
    return f"-{text}" if sign < 0 and exact else text
