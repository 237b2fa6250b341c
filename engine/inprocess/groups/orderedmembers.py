"""The members of large groups in the order of a column, so that the least or greatest one of a round is found
from that end. See `engine.nestedtime`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ... import thresholds
from ...schema import Array
from ..arrangements.timeline import Timeline
from ..kernels import groupsbyround as kernels
from ..storage.interner import Values


@dataclass(slots=True)
class _Order:
    """Rows in order, and rows that have changed since: those that the order lacks are among them."""

    rows: Array
    new: list[Array] = field(default_factory=list)
    count: int = 0  # of new ones
    walked: int = 0

    @property
    def is_worn(self) -> bool:
        size = len(self.rows)
        return (
            self.count > thresholds.UNORDERED_MEMBERS + size // 8
            or self.walked > thresholds.UNORDERED_MEMBERS + thresholds.PASSED_MEMBERS * size
        )


class OrderedMembers:
    """The members of some groups in the order of one column."""

    def __init__(self, source: Timeline, position: int, values: Values) -> None:
        self._source, self._position, self._values = source, position, values
        self._table = source.table
        self._orders: dict[int, _Order] = {}

    def change(self, groups: Array, rows: Array) -> None:
        """Rows of groups have changed."""
        self._look()
        if not self._orders:
            return
        by_group = np.argsort(groups, kind="stable")
        cuts = np.flatnonzero(np.diff(groups[by_group])) + 1
        for some in np.split(by_group, cuts):
            order = self._orders.get(int(groups[some[0]]))
            if order is not None:
                order.new.append(rows[some])
                order.count += len(some)

    def forget(self) -> None:
        """Forgets all orders."""
        self._orders.clear()

    def _look(self) -> None:
        if self._table is not self._source.table:
            self._table = self._source.table
            self.forget()

    def best(self, group: int, members: Callable[[], Array], time: int, greatest: bool) -> int:
        """The code of the least or greatest value in a round, in which a group is not empty. `members` gives
        all rows of the group that may have an entry."""
        self._look()
        order = self._orders.get(group)
        if order is None or order.is_worn:
            order = self._orders[group] = _Order(self._in_order(members()))
        source = self._source
        place = kernels.first_present(
            source.head, source.following, source.when, source.weight,
            order.rows, time, -1 if greatest else 1,
        )  # fmt: skip
        found: Array = order.rows[place : place + 1] if place >= 0 else order.rows[:0]
        order.walked += len(order.rows) if place < 0 else len(order.rows) - place if greatest else place + 1
        if order.new:
            new = np.concatenate(order.new)
            order.new = [new]
            there, _ = source.at(new, time)
            found = np.concatenate([found, new[there > 0]])
        codes = source.table.column_at(found, self._position)
        if len(codes) > 1:
            keys = self._values.order_keys(source.schema[self._position], codes)
            return int(codes[keys.argmax() if greatest else keys.argmin()])
        return int(codes[0])

    def _in_order(self, members: Array) -> Array:
        """Those of the members that have an entry, in order."""
        _, later = self._source.at(members, -1)
        rows = members[later >= 0]
        column = self._source.schema[self._position]
        codes = self._source.table.column_at(rows, self._position)
        return rows[np.argsort(self._values.order_keys(column, codes), kind="stable")]
