"""Accumulators of groups on Spark: a change of members adds to what count, sum and avg need of their keys,
and no other member is read.

One spine has the accumulators of a grouping: rows (key, slot), whose weight is the number in the slot `t`.
Slot 0 is the number of members, the others are sums of columns. A column of 64 bits has two: the sums of its
high and of its low half, which 2³¹ members do not bring beyond 64 bits.

The least and the greatest value of a key are those of its row of before, unless a change takes them away:
then the members of this key are read. So only a group with `min` or `max` keeps members.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..circuit import (
    Aggregate,
    Circuit,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Distinct,
    Group,
    Input,
    Join,
    NodeId,
    Result,
)
from ..integrals import signed_nodes, weighted
from ..operators.join import keeps_valuations
from ..schema import Kind, Schema
from .aggregates import Aggregates
from .change import Change
from .expressions import SparkExpressions
from .pruning import leading
from .spine import Spine
from .sqltext import (
    As,
    Joined,
    Query,
    Select,
    Source,
    broadcast,
    consolidated,
    equal,
    names,
    of_side,
    shuffle_hash,
    sourced,
)
from .table import TIME, Table
from .tables import Tables

_NARROW = ("TINYINT", "SMALLINT", "INT")
_HALF = 1 << 32


class AccumulatorSpine(Spine):
    """The accumulators of the keys of a grouping."""

    def __init__(self, tables: Tables, keys: Schema) -> None:
        super().__init__(tables, keys, timed=True)

    def _merged(self, large: Sequence[Table]) -> Table:
        """One table that has each slot of a key once: unlike the rows of a set, they come again and again."""
        query = consolidated(self.columns, self.aligned(large), times=self.time)
        return self.tables.stored(query, lies=self.columns, ordered=leading(self.tables.codec, self.schema))


class Accumulators:
    """The accumulators of one grouping, as `spine`, and their SQL."""

    def __init__(
        self, node: DeltaGroup, source: Schema, tables: Tables, expressions: SparkExpressions
    ) -> None:
        self._tables = tables
        self._aggregates = Aggregates(expressions)
        self._node, self._source = node, source
        self.spine = AccumulatorSpine(tables, source[: node.keys])
        self._keys = names(source[: node.keys])
        self._slots: list[str] = ["1L"]  # what a member adds to each slot
        self._of_column: dict[int, tuple[int, ...]] = {}
        for column in (a.columns[0] for a in node.aggregates if a.function in ("sum", "avg")):
            if column not in self._of_column:
                parts = _parts(f"c{column}", self._aggregates.codec.sql_type(source[column]))
                start = len(self._slots)
                self._slots += parts
                self._of_column[column] = tuple(range(start, len(self._slots)))

    @property
    def slots(self) -> int:
        """The number of slots of a key."""
        return len(self._slots)

    def slots_of(self, aggregate: int) -> tuple[int, ...]:
        """The slots of a sum or a mean: of numbers of 64 bits the high halves and the low ones."""
        return self._of_column[self._node.aggregates[aggregate].columns[0]]

    @property
    def extremes(self) -> list[int]:
        """The aggregates that are the least or the greatest value."""
        return [k for k, a in enumerate(self._node.aggregates) if a.function in ("min", "max")]

    @property
    def in_slots(self) -> list[int]:
        """Those of them that are numbers which one slot can hold."""
        return [k for k in self.extremes if self._fits_slot(self._node.aggregates[k])]

    @property
    def in_columns(self) -> list[int]:
        """The others, of values of any type."""
        return [k for k in self.extremes if not self._fits_slot(self._node.aggregates[k])]

    def _fits_slot(self, aggregate: Aggregate) -> bool:
        column = self._source[aggregate.columns[0]]
        stored = self._aggregates.codec.sql_type(column)
        return column.kind in (Kind.INT, Kind.BOOL) and stored in (*_NARROW, "BIGINT", "BOOLEAN")

    def extreme(self, members: Query, position: int, greatest: bool) -> Select:
        """The least or greatest value of a column by key, as the column after the keys, of some members."""
        function = "max" if greatest else "min"
        one = next(a for a in self._node.aggregates if (a.function, a.columns) == (function, (position,)))
        keys, source, name = len(self._keys), self._source, f"c{len(self._keys)}"
        gathered = As(self._aggregates.gathered(one, source), "a")
        groups = Select([*self._keys, gathered, As("count(*)", "n")], members, grouped=self._keys)
        done = self._aggregates.finish(one, source, keys, source[position], "a")
        found = Select([*self._keys, As(done.text, "f")], groups)
        return Select([*self._keys, As("f.v" if done.udf else "f", name), As("1L", "w")], found)

    def added(self, change: Change) -> Table:
        """The change of the accumulators that a change of the members makes."""
        sums = [As(f"sum(w * ({part}))", f"s{slot}") for slot, part in enumerate(self._slots)]
        inner = Select([*self._keys, *sums], change.sql, grouped=self._keys)
        slots = f"array({', '.join(each.name for each in sums)})"
        source = f"{sourced(inner)} LATERAL VIEW posexplode({slots}) AS slot, x"
        items: list[str | As] = [*self._keys, As("x", "w"), As("CAST(slot AS INT)", "t")]
        query = Select(items, source, where="x <> 0")
        return self._tables.settled(query, self.spine.schema, small=change.small, extra=[TIME], ordered=True)

    def gathered(self, keys: Source | None, size: int) -> Select:
        """The sums and values that the aggregates gather of the members now, as `Aggregates.gathered`: a0,
        a1, …, and the number `n` of members; of some keys, or of all. `size` is the number of the keys or
        more."""
        seen: Source = self.spine.contents()
        if keys is not None:
            joined = Joined("LEFT SEMI JOIN", keys, "d", equal("s", "d", self._keys))
            hint = broadcast("d") if size <= self._tables.most_sent else shuffle_hash("d")
            seen = Select(of_side("s", [*self._keys, "w", "t"]), seen, "s", [joined], hints=[hint])
        sums = [As(f"sum(IF(t = {slot}, w, 0L))", f"s{slot}") for slot in range(len(self._slots))]
        there = Select([*self._keys, *sums], seen, grouped=self._keys, having="sum(IF(t = 0, w, 0L)) > 0")
        found = [
            As("s0" if a.function == "count" else self._sum(a.columns[0]), f"a{k}")
            for k, a in enumerate(self._node.aggregates)
        ]
        return Select([*self._keys, *found, As("s0", "n")], there)

    def _sum(self, column: int) -> str:
        slots = [f"s{slot}" for slot in self._of_column[column]]
        if len(slots) == 1:
            return slots[0]
        high, low = (f"CAST({slot} AS DECIMAL(38,0))" for slot in slots)
        return f"CAST({high} * {_HALF}BD + {low} AS DECIMAL(38,0))"


def _parts(value: str, sql_type: str) -> list[str]:
    """The amounts that a value adds to the slots of its sum."""
    if sql_type in _NARROW:
        return [f"CAST({value} AS BIGINT)"]
    if sql_type == "BIGINT":
        return [f"shiftright({value}, 32)", f"{value} & {_HALF - 1}L"]
    return [f"CAST({value} div {_HALF}BD AS BIGINT)", f"CAST({value} % {_HALF}BD AS BIGINT)"]


def accumulating(circuit: Circuit, expressions: SparkExpressions) -> dict[NodeId, bool]:
    """The groupings that accumulators can stand for: of counts, sums and means of numbers of up to 64 bits,
    of the least and the greatest value, and of rows whose weights are what counts; and whether each needs
    members, too, since it has a least or a greatest value."""
    signed, aggregates = signed_nodes(circuit), Aggregates(expressions)
    found: dict[NodeId, bool] = {}
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, DeltaGroup) and node.aggregates:
            source = circuit.nodes[node.source].schema
            adds = not signed[node.source] if node.bag else _is_set(circuit, node.source)
            if adds and all(_is_kept(each, aggregates, source) for each in node.aggregates):
                found[at] = node.reads_members
    return found


def _is_kept(aggregate: Aggregate, aggregates: Aggregates, source: Schema) -> bool:
    """Whether an aggregate is kept by key: a count, a sum or a mean of numbers that two slots can sum up, or
    the least or greatest value."""
    if aggregate.make is None and aggregate.function in ("count", "min", "max"):
        return True
    if aggregates.collects(aggregate, source):
        return False
    stored = aggregates.codec.sql_type(source[aggregate.columns[0]])
    return aggregate.function in ("sum", "avg") and stored in (*_NARROW, "BIGINT", "DECIMAL(20,0)")


def _is_set(circuit: Circuit, at: NodeId) -> bool:
    """Whether all weights of a node's integral are 1."""
    node = circuit.nodes[at]
    match node:
        case Input():
            return not node.multiset and not node.signed
        case DeltaDistinct() | Distinct() | DeltaGroup() | Group():
            return True
        case Result():
            return not weighted(circuit, at)
        case DeltaJoin() | Join():
            sources = [term.source for term in node.terms if not term.negated]
            return all(_is_set(circuit, each) for each in sources) and keeps_valuations(node, circuit.nodes)
    return False
