"""Circuits as dataflow machines: a second meaning, by messages (dbsp-spec, part 10).

reset     a delay holds zero again; on nested streams it goes back to the beginning of its list
latch     the delay of a cycle sends what it holds, before data come
data      a value has come on an edge; when one has come on each, a node computes, and sends its own
repeat    from ∫ to δ₀: the body runs once more
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ddlog.engine import circuit as c
from ddlog.engine import zset
from ddlog.engine.divergence import MOST_ROUNDS, Endless, IterationLimit
from ddlog.engine.node import Stateful
from ddlog.engine.zset import Zset


class Primitive:
    """A lifted scalar node. A window, its clock and its late rows have a memory, and stand in no body."""

    def __init__(self, node: c.Node, send: Callable[[Any], None]) -> None:
        self.node, self.send, self.memory = node, send, None
        self.edges, self.waiting = set(node.reads()), dict[c.NodeId, Any]()
        self.reset()

    def reset(self) -> None:
        """It has no state."""

    def data(self, source: c.NodeId, value: Any) -> None:
        self.waiting[source] = value
        if len(self.waiting) == len(self.edges):
            values, self.waiting = [self.waiting[each] for each in self.node.reads()], {}
            self.send(self.computed(values))

    def computed(self, values: list[Any]) -> Any:
        if isinstance(self.node, Stateful):
            value, self.memory = self.node.step(values, self.memory)
            return value
        if isinstance(self.node, c.FixpointResult):
            return values[0][self.node.relation]
        return self.node.value(values, (0, 0))


class Delay(Primitive):
    """z⁻¹, with I and D, which are made of it. That of a cycle sends at a latch; its end sets it."""

    def reset(self) -> None:
        self.held: Zset = {}

    def computed(self, values: list[Zset]) -> Zset:
        held, (now,) = self.held, values
        self.held = zset.add(held, now) if isinstance(self.node, c.Integrate | c.Trace) else now
        if isinstance(self.node, c.Differentiate):
            return zset.subtract(now, held)
        return self.held if isinstance(self.node, c.Integrate) else held


class NestedTrace(Primitive):
    """z⁻¹ I on nested streams: a list of sums, one for each iteration, the last one for all later ones."""

    before: tuple[Zset, ...] = ({},)
    after: tuple[Zset, ...] = ()

    def reset(self) -> None:
        self.before, self.after = self.after or self.before, ()

    def computed(self, values: list[Zset]) -> Zset:
        held = self.before[min(len(self.after), len(self.before) - 1)]
        self.after = (*self.after, zset.add(held, values[0]))
        return held


class Bracket(Primitive):
    """δ₀ and ∫ with a body between them: data reset it, and ∫ has δ₀ repeat until no delay changes. For a
    fixpoint they are I ∘ δ₀, which holds the data, and ∫ ∘ D, the last value (5.1.4). Around a body that is
    evaluated anew stand I and D as well: `sums` and `last` are their states."""

    def __init__(self, node: c.Fixpoint, send: Callable[[Any], None], body: Machine, anew: bool) -> None:
        super().__init__(node, send)
        self.body, self.anew, self.sums = body, anew, [dict[Any, int]() for _ in node.reads()]
        self.last = {name: dict[Any, int]() for name, _ in node.results}

    def computed(self, values: list[Zset]) -> dict[str, Zset]:
        if not self.anew:
            return self.run(values)
        self.sums = list(map(zset.add, self.sums, values))
        before, self.last = self.last, self.run(self.sums)
        return {name: zset.subtract(rows, before[name]) for name, rows in self.last.items()}

    def run(self, values: list[Zset]) -> dict[str, Zset]:
        given, streams = dict(zip(self.node.reads(), values, strict=True)), isinstance(self.node, c.Bracket)
        now = sums = {name: dict[Any, int]() for name in self.last}
        number, least, before = 0, max(2, self.body.reset()), self.body.held()
        while number < least or self.body.held() != before:
            if number > self.body.limit:
                raise IterationLimit(self.body.limit, list(sums))
            before, now = self.body.held(), self.body.step({} if streams and number else given)
            sums = {name: zset.add(rows, now[name]) for name, rows in sums.items()}
            number += 1
        if streams and any(now.values()):
            raise Endless(list(sums), ())
        return sums if streams else now


class Machine:
    """The controller of a circuit, or of the body of `owner`: latches and data for its nodes, and data along
    its edges. With `incremental` a Constant is a change of the first epoch."""

    def __init__(
        self, of: c.Circuit, incremental: bool = False, limit: int | None = None, owner: Any = None
    ) -> None:
        self.incremental, self.limit = incremental, MOST_ROUNDS if limit is None else limit
        self.nested, self.epoch = owner is not None and not isinstance(owner, c.Bracket), 0
        self.nodes = [self._made(at, node) for at, node in enumerate(of.nodes)]
        self.readers = [[each for each in self.nodes if at in each.edges] for at in range(len(of.nodes))]
        self.values: dict[c.NodeId, Any] = {}
        ends = {node.relation: at for at, node in enumerate(of.nodes) if isinstance(node, c.Output)}
        self.results = ends if owner is None else dict(owner.results)
        feeds = {node.name: at for at, node in enumerate(of.nodes) if isinstance(node, c.Feed)}
        self.delays, self.cycles = list[Delay](), list[tuple[Delay, c.NodeId]]()
        for each in self.nodes:
            self.delays += [each] if isinstance(each, Delay) else []
            match each.node:
                case c.Feedback(name):
                    self.cycles.append((self.delays[-1], feeds[name]))
                case c.Variable(name):
                    self.cycles.append((self.delays[-1], self.results[name]))

    def _made(self, at: c.NodeId, node: c.Node) -> Primitive:
        def send(value: Any) -> None:
            self.values[at] = value
            for each in self.readers[at]:
                each.data(at, value)

        match node:
            case c.Earlier() | c.Admit():
                raise TypeError(f"{node.title()} has no machine")
            case c.Fixpoint():
                anew = self.incremental and node.lifted
                changes = self.incremental and not node.lifted
                return Bracket(node, send, Machine(node.body, changes, self.limit, node), anew)
            case c.Trace() if self.nested:
                return NestedTrace(node, send)
            case c.Delay() | c.Integrate() | c.Differentiate() | c.Trace() | c.Feedback() | c.Variable():
                return Delay(node, send)
        return Primitive(node, send)

    def reset(self) -> int:
        """Begins an epoch of a body. Returns the iterations that were in the one before."""
        self.epoch = self.epoch + 1 if self.nested else 0
        for each in self.nodes:
            each.reset()
        return max((len(each.before) for each in self.nodes if isinstance(each, NestedTrace)), default=0)

    def held(self) -> list[Zset]:
        """What the delays hold."""
        return [each.held for each in self.delays]

    def step(self, given: Mapping[Any, Mapping[Any, int]]) -> dict[str, Zset]:
        """One time: latches, and data on all inputs. Returns the data that come out, by output."""
        for cycle, _ in self.cycles:
            cycle.send(cycle.held)
        for each in self.nodes:
            match each.node:
                case c.Input(name) | c.Import(name):
                    each.send(dict(given.get(name, {})))
                case c.Constant(rows):
                    past = self.incremental and self.epoch > self.nested
                    each.send({} if past else zset.zset((row, 1) for row in rows))
                case c.Fixpoint() if not each.edges:
                    each.send(each.computed([]))
        for cycle, end in self.cycles:
            cycle.held = self.values[end]
        self.epoch += not self.nested
        return {name: self.values[at] for name, at in self.results.items()}
