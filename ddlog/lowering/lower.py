"""From a checked program to its circuit (ddlog-in-dbsp: the translation of rules).

Each rule body is one Join, each relation the Distinct of the Sum of its rules, each recursive stratum a
Fixpoint. A rule body of a recursive stratum that reads only other relations is computed outside the
Fixpoint, and imported.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from .. import core
from ..codegen.functiontable import compile_function_table
from ..codegen.scalar import row_expr
from ..core.program import needed
from ..engine import memory
from ..engine.circuit import (
    Admit,
    Circuit,
    Constant,
    Distinct,
    Earlier,
    Fixpoint,
    FixpointResult,
    Import,
    Input,
    Join,
    Let,
    Loop,
    Node,
    Output,
    Sum,
    Term,
    Variable,
)
from ..engine.schema import Column, Kind
from ..engine.wellformed import check_circuit
from ..errors.source import Span
from ..types import BigInt
from ..values.structs import bound_nesting
from .builder import CircuitBuilder, NodeRef
from .records import Splitting
from .rounds import ROUND_DOMAIN, round_number
from .rulebody import BodyCircuit
from .windows import TimedWindow, Windows

Row = tuple[Any, ...]
_ROOM_OF_A_FACT = 64 << 20  # bytes that the values of a fact may take to be known before an epoch

_Made: TypeAlias = tuple[
    Mapping[int, core.Stratum], tuple[Node, ...], Mapping[str, NodeRef], Mapping[str, TimedWindow]
]
_Shared = tuple[BodyCircuit, NodeRef, tuple[str, ...]]
"""A rule body, its valuations, and the variables that the valuations are of."""


def lower(program: core.CheckedProgram, outputs: Collection[str] | None = None) -> Circuit:
    """The circuit of a program. It computes the relations `outputs` (by default the output relations), the
    relations that these depend on, and the input relations; `Circuit.relations` lists them all. Output nodes
    are made for the output relations among them, and for relations that are read delayed, whose changes come
    back as inputs in later epochs."""
    return _lowered(program, outputs, None)[0]


@dataclass(frozen=True, slots=True)
class LoweredProgram:
    """A program that was lowered over fields, from which another one goes on: the nodes of its strata without
    the outputs, and what these are."""

    splitting: Splitting
    strata: Mapping[int, core.Stratum]
    nodes: tuple[Node, ...]
    known: Mapping[str, NodeRef]
    timed: Mapping[str, TimedWindow]


def lower_in_columns(
    program: core.CheckedProgram, outputs: Collection[str], before: LoweredProgram | None
) -> tuple[Circuit, LoweredProgram]:
    """The circuit of a program over fields. What it has of a program `before` is not lowered again."""
    splitting = Splitting(program, None if before is None else before.splitting)
    circuit, strata = _lowered(splitting.whole(program), outputs, before)
    return circuit, LoweredProgram(splitting, *strata)


def _lowered(
    program: core.CheckedProgram, outputs: Collection[str] | None, before: LoweredProgram | None
) -> tuple[Circuit, _Made]:
    bound_nesting(program.typedefs)
    roles = {name: relation.role for name, relation in program.relations.items()}
    wanted = [name for name, role in roles.items() if role == "output"] if outputs is None else list(outputs)
    kept = needed(program, wanted) | {name for name, role in roles.items() if role == "input"}
    lowering = _Strata(program, compile_function_table(program))
    done = {} if before is None else lowering.going_on(before, kept)
    for stratum in program.strata:
        if id(stratum) not in done and not kept.isdisjoint(stratum.relations):
            done[id(stratum)] = stratum
            lowering.stratum(stratum)
    made = done, tuple(lowering.nodes), dict(lowering.known), lowering.windows.timed
    delayed = [each.past[0] for name, each in program.relations.items() if each.past and name in kept]
    for name in dict.fromkeys([*wanted, *delayed]):
        if roles[name] == "output" or name in delayed:
            lowering.output(program.relations[name])
    return _circuit(lowering), made


def lower_query(program: core.CheckedProgram, query: core.CheckedQuery) -> Circuit:
    """The circuit of a query. Its Inputs are relations of the program, its Output `query` is the set of
    valuations of the query's variables."""
    lowering = _Strata(program, compile_function_table(program))
    rule, variables = query.rule, query.variables
    names = dict.fromkeys(atom.relation for atom in query.reads())
    for name in names:
        lowering.input(program.relations[name])
    for relation, filling in query.auxiliary:
        lowering.relation(relation, [filling])
    answer = tuple(core.Var(each, rule.variables[each], rule.span) for each in variables)
    body = BodyCircuit(lowering, replace(rule, heads=(core.Head("query", answer, rule.span),)))
    columns = body.schema(variables)
    joined = body.join(body.columns(body.heads[0].args, columns), columns)
    schema = lowering.nodes[joined.node].schema
    distinct = lowering.add(Distinct(joined.node, schema, rule.text), (joined,))
    lowering.nodes.append(Output("query", distinct.node, schema, text=rule.text))
    return _circuit(lowering)


def _circuit(builder: CircuitBuilder) -> Circuit:
    relations = tuple((name, place.node) for name, place in builder.known.items())
    circuit = Circuit(tuple(builder.nodes), relations)
    check_circuit(circuit)
    return circuit


@dataclass
class _Strata(CircuitBuilder):
    """The relations of the strata, one after another."""

    bodies: dict[int, _Shared] = field(default_factory=dict)
    wholes: dict[tuple[int, Span], core.Rule] = field(init=False)
    windows: Windows = field(init=False)

    def __post_init__(self) -> None:
        # A stratum has a rule with only the heads in it, but with the body and span of the whole rule.
        self.windows = Windows(self)
        self.wholes = {(id(rule.body), rule.span): rule for rule in self.program.rules}

    def going_on(self, before: LoweredProgram, needed: Collection[str]) -> dict[int, core.Stratum]:
        """Takes over what is lowered of the strata of a program before that are needed. Returns these; none
        if most of the nodes would be of other strata, or an input would be."""
        done = {
            id(each): each
            for each in self.program.strata
            if id(each) in before.strata and any(name in needed for name in each.relations)
        }
        names = {name for each in done.values() for name in each.relations}.intersection(needed)
        inputs = {each.relation for each in before.nodes if isinstance(each, Input)}
        if 2 * len(done) < len(before.strata) or not inputs <= names:
            return {}
        self.nodes = list(before.nodes)
        self.known = {name: place for name, place in before.known.items() if name in names}
        self.windows.timed = dict(before.timed)
        return done

    def input(self, relation: core.Relation) -> NodeRef:
        """The Input node of a relation, made its value."""
        stream = relation.kind == "stream"
        multiset = stream or relation.kind == "multiset"
        lasting = relation.key is not None or relation.original != ""  # statements of SQL may read it
        self.nodes.append(
            Input(relation.name, self.schema(relation), multiset, relation.name, stream, lasting=lasting)
        )
        self.known[relation.name] = place = NodeRef(len(self.nodes) - 1)
        return place

    def output(self, relation: core.Relation) -> None:
        """Adds the Output of a relation."""
        node = self.known[relation.name].node
        stream = relation.kind == "stream"
        self.nodes.append(Output(relation.name, node, self.nodes[node].schema, stream=stream))

    def relation(self, relation: core.Relation, rules: Sequence[core.Rule]) -> None:
        """Adds the value of a relation that is not recursive."""
        if relation.window is not None:
            self.known[relation.name] = self.windows.window(relation, relation.window, rules)
            return
        if relation.earlier is not None:
            self.nodes.append(Earlier(*relation.earlier, self.schema(relation), relation.name))
            self.known[relation.name] = NodeRef(len(self.nodes) - 1)
            return
        if relation.role not in ("input", "delayed"):
            self.known[relation.name] = self.union(relation, self.summands(relation, rules), False)
            return
        contents = self.input(relation)
        if rules:
            summands = [contents, *self.summands(relation, rules)]
            self.known[relation.name] = self.union(relation, summands, False)

    def recursive(self, stratum: core.Stratum) -> None:
        """Adds the values of mutually recursive relations: a Fixpoint, and a FixpointResult for each."""
        relations = [self.program.relations[name] for name in stratum.relations]
        self.begin_body()
        for relation in relations:
            self.body.append(Variable(relation.name, self.schema(relation), relation.name))
            self.known[relation.name] = NodeRef(len(self.body) - 1, True)
        results = []
        for relation in relations:
            summands = self.summands(relation, stratum.rules)
            results.append((relation.name, self.union(relation, summands, True).node))
        text = "recursive " + ", ".join(stratum.relations)
        self.nodes.append(Fixpoint(Circuit(tuple(self.body)), tuple(results), text=text))
        fixpoint = len(self.nodes) - 1
        for relation in relations:
            self.nodes.append(FixpointResult(fixpoint, relation.name, self.schema(relation), relation.name))
            self.known[relation.name] = NodeRef(len(self.nodes) - 1)
        self.bodies = {rule: shared for rule, shared in self.bodies.items() if not shared[1].inside}

    def stratum(self, stratum: core.Stratum) -> None:
        """Adds the values of the relations of a stratum."""
        if stratum.loop is not None:
            self.loop(stratum)
        elif stratum.recursive:
            self.recursive(stratum)
        else:
            self.relation(self.program.relations[stratum.relations[0]], stratum.rules)

    def loop(self, stratum: core.Stratum) -> None:
        """Adds the values of the relations of a loop: a Loop, and a FixpointResult for each."""
        assert stratum.loop is not None
        body = _Round(self)
        for each in stratum.strata:
            body.stratum(each)
        relations = [name for name in stratum.relations if self.program.relations[name].earlier is None]
        results = tuple((name, body.known[name].node) for name in relations)
        loop, text = stratum.loop, f"loop {stratum.loop.name}"
        self.nodes.append(
            Loop(
                Circuit(tuple(body.nodes)), results, text=text, name=loop.name, rounds=loop.rounds,
                empty=loop.empty, most=loop.most, origin=loop.span,
            )
        )  # fmt: skip
        made = len(self.nodes) - 1
        for name in relations:
            relation = self.program.relations[name]
            self.nodes.append(FixpointResult(made, name, self.schema(relation), name))
            self.known[name] = NodeRef(len(self.nodes) - 1)

    def union(self, relation: core.Relation, summands: Sequence[NodeRef], inside: bool) -> NodeRef:
        """The Sum of the summands, made distinct unless the relation is a multiset or a stream."""
        schema = self.schema(relation)
        total = summands[0]
        if len(summands) != 1:
            sources = tuple(self.local(each, inside) for each in summands)
            total = self.add(Sum(sources, schema, relation.name), summands, inside)
        if relation.kind != "relation" and not inside:
            return total
        return self.add(Distinct(self.local(total, inside), schema, relation.name), (total,), inside)

    def summands(self, relation: core.Relation, rules: Sequence[core.Rule]) -> list[NodeRef]:
        """The values of the rules for a relation, and of its facts in one Constant."""
        summands, rows, texts = [], list[Row](), list[str]()
        begins = any(rule.initial for rule in rules for head in rule.heads if head.relation == relation.name)
        for rule in rules:
            for head in rule.heads:
                if head.relation == relation.name:
                    row = None if rule.body or begins else self.fact(head)
                    if row is None:
                        made = self.rule(rule, head)
                        summands.append(self.first_or_later(made, rule) if begins else made)
                    else:
                        rows.append(row)
                        texts.append(rule.text)
        if rows or not summands:
            text = texts[0] if len(texts) == 1 else f"{len(texts)} facts of {relation.name}"
            summands.append(self.add(Constant(tuple(rows), self.schema(relation), text), ()))
        return summands

    def first_or_later(self, rule_value: NodeRef, rule: core.Rule) -> NodeRef:
        """The value of a rule of a relation that has initial rules: in round 0 only, or after it."""
        schema = self.node(rule_value).schema
        names = tuple(f"c{k}" for k in range(len(schema)))
        one = core.Const(1, BigInt(), rule.span)
        bound = Let("$round", round_number(row_expr(one, self.functions, "$round", 1), 0))
        column = Column("$round", Kind.INT, ROUND_DOMAIN)
        term = Term(self.local(rule_value, rule_value.inside), names)
        join = Join((term,), (bound,), (*names, "$round"), (*schema, column), rule.text)
        source = self.add(join, (rule_value,))
        since, until = (0, 1) if rule.initial else (1, 0)
        admit = Admit(source.node, schema, since, until, int(source.inside), rule.text)
        return self.add(admit, (source,))

    def fact(self, head: core.Head) -> Row | None:
        """The row of a fact. None when its evaluation fails, or calls Python code of the program, which runs
        in sessions only: then the fact is a rule, and fails on a commit. So is one that takes much memory: an
        epoch has a limit."""
        if any(map(self.functions.foreign, head.args)):
            return None
        try:
            with memory.limited((memory.resident() or 0) + _ROOM_OF_A_FACT):
                return tuple(
                    arg.value if isinstance(arg, core.Const) else row_expr(arg, self.functions, "").scalar()
                    for arg in head.args
                )
        except Exception:
            return None

    def rule(self, rule: core.Rule, head: core.Head) -> NodeRef:
        """The projection of a rule's body on one head; the heads of a rule share its valuations."""
        schema = self.schema(self.program.relations[head.relation])
        whole = self.wholes.get((id(rule.body), rule.span), rule)
        if len(whole.heads) == 1:
            body = BodyCircuit(self, rule)
            return body.join(body.columns(body.heads[0].args, schema), schema)
        body, shared, used = self.shared_body(whole)
        own = body.heads[whole.heads.index(head)]
        apply = BodyCircuit(self, replace(rule, body=(), heads=(own,)), body.types)
        apply.aliases = body.aliases
        apply.terms.append((shared, used, False))
        return apply.join(apply.columns(own.args, schema), schema)

    def shared_body(self, rule: core.Rule) -> _Shared:
        """The body of a rule of several heads, which may be in different strata."""
        if id(rule) not in self.bodies:
            body = BodyCircuit(self, rule)
            args = [arg for head in body.heads for arg in head.args]
            used = tuple(dict.fromkeys(name for arg in args for name in body.compile(arg, "").inputs))
            self.bodies[id(rule)] = body, body.join(used, body.schema(used)), used
        return self.bodies[id(rule)]


class _Round(_Strata):
    """The relations of one round of a loop, with what the body imports of the circuit around it."""

    def __init__(self, around: _Strata) -> None:
        super().__init__(around.program, around.functions)
        self.known = _Known(self, around)


class _Known(dict[str, NodeRef]):
    """The nodes of relations in a round: an Import for each that is computed around the loop."""

    def __init__(self, body: _Round, around: _Strata) -> None:
        super().__init__()
        self._body, self._around = body, around

    def __missing__(self, name: str) -> NodeRef:
        outer = self._around.known[name].node
        source = self._around.nodes[outer]
        self._body.nodes.append(Import(outer, source.schema, source.text))
        self[name] = place = NodeRef(len(self._body.nodes) - 1)
        return place
