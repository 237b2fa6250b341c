"""Windows: the operators that the relations of `core.Window` stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .. import core
from ..engine.circuit import Clock, Integrate, Late, Negate, Sum, Window
from .builder import CircuitBuilder, NodeRef
from .rulebody import BodyCircuit

TimedWindow: TypeAlias = tuple[NodeRef, NodeRef, core.Rule]
"""Of a window: its rows with their times, its clock and its rule."""


@dataclass
class Windows:
    """The windows of a circuit in the making. A stream comes in as all its elements so far."""

    builder: CircuitBuilder
    timed: dict[str, TimedWindow] = field(default_factory=dict)

    def window(self, relation: core.Relation, of: core.WindowRelation, rules: Sequence[core.Rule]) -> NodeRef:
        """The node of a window."""
        builder = self.builder
        schema = builder.schema(relation)
        if of.kind == "late":
            source, clock, rule = self.timed[of.of]
            assert of.lateness is not None
            late = Late(source.node, clock.node, schema, rule.text, rule.span, of.lateness)
            return builder.add(late, (source, clock))
        joined = [self._joined(rule, of.kind in ("range", "clock")) for rule in rules]
        if of.kind == "last":
            gone = builder.add(Negate(joined[1].node, schema, rules[1].text), joined[1:])
            return builder.add(Sum((joined[0].node, gone.node), schema, relation.name), (joined[0], gone))
        (source,), (rule,) = joined, rules
        if of.kind == "all":
            return source
        if of.kind == "clock":
            return builder.add(Clock(source.node, schema, rule.text, rule.span), (source,))
        clock = self._clock(of.clock, rule)
        self.timed[relation.name] = source, clock, rule
        node = Window(
            source.node, clock.node, schema, rule.text, rule.span, range=of.range, lateness=of.lateness
        )
        return builder.add(node, (source, clock))

    def _clock(self, name: str, rule: core.Rule) -> NodeRef:
        source = self.builder.known[name]
        schema = self.builder.node(source).schema
        return self.builder.add(Clock(source.node, schema, name, rule.span), (source,))

    def _joined(self, rule: core.Rule, timed: bool) -> NodeRef:
        """The rows that a rule gives. `timed`: with their times; of a clock, these alone."""
        known = dict(self.builder.known)
        for clause in rule.body:
            if isinstance(clause, core.Atom) and self.builder.kind(clause.relation) == "stream":
                source = known[clause.relation]
                schema = self.builder.node(source).schema
                integral = self.builder.add(Integrate(source.node, schema, clause.relation), (source,))
                self.builder.known[clause.relation] = integral
        (head,) = rule.heads
        schema = self.builder.schema(self.builder.program.relations[head.relation])
        body = BodyCircuit(self.builder, rule)
        columns = body.columns(head.args, schema)
        window = self.builder.program.relations[head.relation].window
        if timed and window is not None and window.kind != "clock":
            columns = (*columns, body.alias(core.TIME))
            schema = (*schema, *body.schema([core.TIME]))
        self.builder.known = known
        return body.join(columns, schema)
