"""Circuits as dataflow machines: a second meaning, by messages (dbsp-spec, part 10). Only tests use it.

reset     the state of a delay becomes zero; in nested time, the list of states begins again
latch     the delay of a cycle gives its state, before data come
data      a value has come on an input; when one has come on each, a node computes and sends its own
repeat    from ∫ to δ₀: the body runs once more, on zero
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import circuit as c
from . import zset
from .node import Stateful
from .settling import MOST_ROUNDS, Endless, IterationLimit
from .zset import Row, Zset


class Primitive:
    """A lifted scalar node: it waits for data on all inputs, computes, and waits again."""

    def __init__(self, node: c.Node, send: Callable[[Any], None]) -> None:
        self.node, self.send, self.waiting = node, send, dict[c.NodeId, Any]()
        self.memory: Any = None  # of a Stateful node, which stands in no body

    def reset(self) -> None:
        """A node without state has nothing to do."""

    def data(self, source: c.NodeId, value: Any) -> None:
        self.waiting[source] = value
        if len(self.waiting) == len(set(self.node.reads())):
            values, self.waiting = self.waiting, {}
            self.send(self.computed([values[each] for each in self.node.reads()]))

    def computed(self, values: list[Any]) -> Any:
        node = self.node
        if isinstance(node, Stateful):
            value, self.memory = node.step(values, self.memory)
            return value
        return values[0][node.relation] if isinstance(node, c.Result) else node.value(values, (0, 0))


class Delay(Primitive):
    """z⁻¹, and D, I and the trace, which are made of it: one value of state. That of a Feedback goes out on a
    latch; the Feed gives it the next one."""

    def __init__(self, node: c.Node, send: Callable[[Any], None]) -> None:
        super().__init__(node, send)
        self.state: Zset = {}

    def reset(self) -> None:
        self.state = {}

    def computed(self, values: list[Zset]) -> Zset:
        before, (now,) = self.state, values
        self.state = zset.add(before, now) if isinstance(self.node, c.Integrate | c.Trace) else now
        if isinstance(self.node, c.Differentiate):
            return zset.subtract(now, before)
        return self.state if isinstance(self.node, c.Integrate) else before


class Remembering(Primitive):
    """A window, its clock or its late rows: one state."""

    memory: Any = None

    def computed(self, values: list[Any]) -> Any:
        assert isinstance(self.node, Stateful)
        value, self.memory = self.node.step(values, self.memory)
        return value


class NestedTrace(Primitive):
    """A trace over epochs in nested time: a list of states by iteration, the last one for all later ones."""

    def __init__(self, node: c.Node, send: Callable[[Any], None]) -> None:
        super().__init__(node, send)
        self.before, self.after = [dict[Row, int]()], list[Zset]()

    def reset(self) -> None:
        self.before, self.after = self.after or self.before, []

    def computed(self, values: list[Zset]) -> Zset:
        state = self.before[min(len(self.after), len(self.before) - 1)]
        self.after.append(zset.add(state, values[0]))
        return state


class Bracket(Primitive):
    """δ₀ and ∫ with the body between them: data begin it anew, and it repeats until no state changes."""

    def __init__(self, node: c.Fixpoint, send: Callable[[Any], None], body: Machine) -> None:
        super().__init__(node, send)
        self.names, self.body = [name for name, _ in node.results], body

    def computed(self, values: list[Zset]) -> dict[str, Zset]:
        entering = {str(at): value for at, value in zip(self.node.reads(), values, strict=True)}
        now = sums = {name: dict[Row, int]() for name in self.names}
        before, number, longest = self.body.states(), 0, max(2, self.body.reset())
        while number < longest or self.body.states() != before:
            if number > self.body.limit:
                raise IterationLimit(self.body.limit, self.names)
            before, now = self.body.states(), self.body.step({} if number else entering)
            sums = {name: zset.add(rows, now[name]) for name, rows in sums.items()}
            number += 1
        if any(now.values()):
            raise Endless(self.names, ())
        return sums


class Machine:
    """The controller of a circuit: it sends resets and latches to its nodes, and data along its edges. With
    `incremental` a Constant is a change of the first epoch. `inside`: a body, whose epochs are the resets."""

    def __init__(
        self, of: c.Circuit, incremental: bool = False, limit: int | None = None, inside: bool = False
    ):
        self.incremental, self.inside, self.limit = (
            incremental,
            inside,
            MOST_ROUNDS if limit is None else limit,
        )
        self.epoch, self.out, self.fed = -1 if inside else 0, dict[str, Zset](), dict[str, Zset]()
        self.nodes = [self._made(at, node) for at, node in enumerate(of.nodes)]

    def _made(self, at: c.NodeId, node: c.Node) -> Primitive:
        def send(value: Any) -> None:
            self._send(at, value)

        match node:
            case c.Rounds() | c.DeltaBracket():
                raise TypeError(f"{type(node).__name__} is evaluated anew: it is D ∘ {node.sign} ∘ I")
            case c.Fixpoint():
                return Bracket(node, send, Machine(_body(node), self.incremental, self.limit, True))
            case c.Trace() if self.inside:
                return NestedTrace(node, send)
            case c.Delay() | c.Integrate() | c.Differentiate() | c.Trace() | c.Feedback():
                return Delay(node, send)
            case Stateful():
                return Remembering(node, send)
        return Primitive(node, send)

    def reset(self) -> int:
        """A new epoch of a body. Returns the iterations that were in the one before."""
        self.epoch += 1
        for machine in self.nodes:
            machine.reset()
        return max((len(each.before) for each in self.nodes if isinstance(each, NestedTrace)), default=0)

    def states(self) -> list[Zset]:
        """The states of the delays over the machine's own times."""
        return [each.state for each in self.nodes if isinstance(each, Delay)]

    def step(self, given: Mapping[str, Mapping[Row, int]]) -> dict[str, Zset]:
        """One time: latches, and data on all inputs. Returns the data that come out, by output."""
        for at, machine in enumerate(self.nodes):
            match machine.node:
                case c.Feedback():
                    assert isinstance(machine, Delay)
                    self._send(at, machine.state)
                case c.Input(relation):
                    self._send(at, dict(given.get(relation, {})))
                case c.Constant(rows):
                    past = self.incremental and self.epoch
                    self._send(at, {} if past else zset.zset((row, 1) for row in rows))
                case c.Fixpoint() if not machine.node.reads():
                    machine.send(machine.computed([]))
        for machine in self.nodes:
            if isinstance(machine, Delay) and isinstance(machine.node, c.Feedback):
                machine.state = self.fed[machine.node.name]
        self.epoch += not self.inside
        return dict(self.out)

    def _send(self, at: c.NodeId, value: Any) -> None:
        match self.nodes[at].node:
            case c.Output(relation):
                self.out[relation] = value
            case c.Feed(name):
                self.fed[name] = value
        for machine in self.nodes:
            if at in machine.node.reads():
                machine.data(at, value)


def _body(node: c.Fixpoint) -> c.Circuit:
    """The body as a circuit. A fixpoint is in the bracket of part 7: an import is held, by I after δ₀; a
    variable is z⁻¹ of its result; and the changes of the results, by D, are what ∫ adds up."""
    nodes, new, plain = list[c.Node](), list[c.NodeId](), isinstance(node, c.Bracket)
    for each in node.body.nodes:
        match each:
            case c.Import(source, schema):
                nodes.append(c.Input(str(source), schema, True))
                nodes += [] if plain else [c.Integrate(len(nodes) - 1, schema)]
            case c.Variable(relation, schema):
                nodes.append(c.Feedback(relation, schema))
            case _:
                nodes.append(each.reading(new.__getitem__))
        new.append(len(nodes) - 1)
    for name, at in node.results:
        source, schema = new[at], node.body.nodes[at].schema
        if not plain:
            nodes += [c.Feed(name, source, schema), c.Differentiate(source, schema)]
        nodes.append(c.Output(name, source if plain else len(nodes) - 1, schema))
    return c.Circuit(tuple(nodes))
