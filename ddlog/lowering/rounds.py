"""Conditions on the round of a loop: from which round on, or up to which, a row is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from .. import core
from ..engine.schema import Array, Column, Kind, NotVectorised, RowExpr, ready

Bound: TypeAlias = tuple[core.Expr, int]
"""A round: the value of an expression, and a number to add to it."""

SINCE = {">=": (0,), ">": (1,), "==": (0,)}
UNTIL = {"<": (0,), "<=": (1,), "==": (1,)}
"""The meaning of each comparison `round op e`: the round is at least e + n, or less than e + n."""

ROUND_DOMAIN = "round"

_GREATEST = 1 << 61
"""A round that no loop comes to."""


def round_number(value: RowExpr, plus: int) -> RowExpr:
    """The round that an integer and a number make: 0 for what is less."""
    column = Column(value.column.name, Kind.INT, ROUND_DOMAIN)
    scalar, arrays = ready(value.scalar), value.arrays

    def clipped(*row: Any) -> int:
        return int(min(max(scalar(*row) + plus, 0), _GREATEST))

    def clipped_arrays(encoder: Any, *columns: Array) -> Array:
        assert arrays is not None
        found = arrays(encoder, *columns)
        if len(found) and int(np.abs(found).max()) >= _GREATEST:
            raise NotVectorised
        return np.clip(found + plus, 0, _GREATEST)

    return replace(
        value,
        column=column,
        key=("round", value.key, plus),
        scalar=clipped,
        arrays=None if arrays is None else clipped_arrays,
        sql=None,
    )
