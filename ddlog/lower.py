"""From a checked program to its circuit (ddlog-in-dbsp: the translation of rules).

Each rule body is one Join, each relation the Distinct of the Sum of its rules, each recursive
stratum a Fixpoint. What a recursive stratum computes from other relations alone is computed
outside its body, and imported.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import core
from .aggregates import is_group, plan_grouping
from .codegen.functions import Functions, compile_function_table
from .codegen.scalar import Structure, kind_of, row_expr
from .engine.circuit import (
    Circuit,
    Constant,
    Distinct,
    Fixpoint,
    Group,
    Guard,
    Import,
    Input,
    Inspect,
    Join,
    Let,
    Node,
    NodeId,
    Output,
    Result,
    Step,
    Sum,
    Term,
    Unnest,
    Variable,
    rename_step,
)
from .engine.schema import Column, RowExpr, Schema
from .substitute import mentions, transform
from .types import Type

Row = tuple[Any, ...]


def lower(program: core.CheckedProgram, outputs: Collection[str] | None = None) -> Circuit:
    """The circuit of a program: it computes the relations `outputs` (by default the output
    relations), whatever they need, and the input relations; `Circuit.relations` lists them all.
    Output nodes are made for the output relations among them."""
    roles = {name: relation.role for name, relation in program.relations.items()}
    wanted = [name for name, role in roles.items() if role == "output"] if outputs is None else list(outputs)
    needed = _needed(program, wanted) | {name for name, role in roles.items() if role == "input"}
    lowering = _Lowering(program, compile_function_table(program))
    for stratum in program.strata:
        kept = tuple(name for name in stratum.relations if name in needed)
        if kept and stratum.recursive:
            lowering.recursive(stratum)
        elif kept:
            lowering.relation(program.relations[kept[0]], stratum.rules)
    nodes = lowering.nodes
    for name in wanted:
        if roles[name] == "output":
            nodes.append(Output(name, lowering.known[name].node, nodes[lowering.known[name].node].schema))
    return Circuit(tuple(nodes), tuple((name, place.node) for name, place in lowering.known.items()))


def lower_query(program: core.CheckedProgram, rule: core.Rule, variables: Sequence[str]) -> Circuit:
    """The circuit of a query, a rule without head: its Inputs are relations of the program, its
    Output `query` the set of valuations of the variables."""
    lowering = _Lowering(program, compile_function_table(program))
    for name in dict.fromkeys(clause.relation for clause in rule.body if isinstance(clause, core.Atom)):
        lowering.input(program.relations[name])
    body = _Body(lowering, rule)
    joined = body.join(tuple(map(body.alias, variables)), body.schema(variables))
    schema = lowering.nodes[joined.node].schema
    distinct = lowering.add(Distinct(joined.node, schema), (joined,))
    lowering.nodes.append(Output("query", distinct.node, schema, text=rule.text))
    return Circuit(tuple(lowering.nodes), tuple((name, place.node) for name, place in lowering.known.items()))


def _needed(program: core.CheckedProgram, wanted: Collection[str]) -> set[str]:
    """The relations that some relation depends on, with the relation itself."""
    reads: dict[str, set[str]] = {}
    for stratum in program.strata:
        for rule in stratum.rules:
            read = {clause.relation for clause in rule.body if isinstance(clause, core.Atom)}
            for head in rule.heads:
                reads.setdefault(head.relation, set()).update(read)
        if stratum.recursive:
            for name in stratum.relations:
                reads.setdefault(name, set()).update(stratum.relations)
    needed, pending = set[str](), list(wanted)
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending += reads.get(name, ())
    return needed


@dataclass(frozen=True, slots=True)
class _Place:
    """A node: of the circuit, or of the body of the fixpoint being built."""

    node: NodeId
    inside: bool = False


@dataclass
class _Lowering:
    """A circuit in the making, and while a recursive stratum is lowered, the body of its fixpoint."""

    program: core.CheckedProgram
    functions: Functions
    nodes: list[Node] = field(default_factory=list)
    body: list[Node] = field(default_factory=list)
    known: dict[str, _Place] = field(default_factory=dict)
    imports: dict[NodeId, NodeId] = field(default_factory=dict)

    def input(self, relation: core.Relation) -> _Place:
        """The Input node of a relation, made its value."""
        multiset = relation.kind == "multiset"
        self.nodes.append(Input(relation.name, self.schema(relation), multiset, relation.name))
        self.known[relation.name] = place = _Place(len(self.nodes) - 1)
        return place

    def relation(self, relation: core.Relation, rules: Sequence[core.Rule]) -> None:
        """Adds the value of a relation that is not recursive."""
        if relation.role != "input":
            self.known[relation.name] = self.union(relation, self.parts(relation, rules), False)
            return
        contents = self.input(relation)
        if rules:
            self.known[relation.name] = self.union(relation, [contents, *self.parts(relation, rules)], False)

    def recursive(self, stratum: core.Stratum) -> None:
        """Adds the values of mutually recursive relations: a Fixpoint, and a Result for each."""
        relations = [self.program.relations[name] for name in stratum.relations]
        self.body, self.imports = [], {}
        for relation in relations:
            self.body.append(Variable(relation.name, self.schema(relation), relation.name))
            self.known[relation.name] = _Place(len(self.body) - 1, True)
        results = []
        for relation in relations:
            parts = self.parts(relation, stratum.rules)
            results.append((relation.name, self.union(relation, parts, True).node))
        text = "recursive " + ", ".join(stratum.relations)
        self.nodes.append(Fixpoint(Circuit(tuple(self.body)), tuple(results), text=text))
        fixpoint = len(self.nodes) - 1
        for relation in relations:
            self.nodes.append(Result(fixpoint, relation.name, self.schema(relation), relation.name))
            self.known[relation.name] = _Place(len(self.nodes) - 1)

    def union(self, relation: core.Relation, parts: Sequence[_Place], inside: bool) -> _Place:
        """The Sum of a relation's parts, made distinct unless it is a multiset."""
        schema = self.schema(relation)
        total = parts[0]
        if len(parts) != 1:
            sources = tuple(self.local(part, inside) for part in parts)
            total = self.add(Sum(sources, schema, relation.name), parts, inside)
        if relation.kind == "multiset" and not inside:
            return total
        return self.add(Distinct(self.local(total, inside), schema, relation.name), (total,), inside)

    def parts(self, relation: core.Relation, rules: Sequence[core.Rule]) -> list[_Place]:
        """The values of the rules for a relation, and of its facts in one Constant."""
        parts, rows, texts = [], list[Row](), list[str]()
        for rule in rules:
            for index, head in enumerate(rule.heads):
                if head.relation == relation.name:
                    row = None if rule.body else self.fact(head)
                    if row is None:
                        parts.append(self.rule(rule, index))
                    else:
                        rows.append(row)
                        texts.append(rule.text)
        if rows or not parts:
            text = texts[0] if len(texts) == 1 else f"{len(texts)} facts of {relation.name}"
            parts.append(self.add(Constant(tuple(rows), self.schema(relation), text), ()))
        return parts

    def fact(self, head: core.Head) -> Row | None:
        """The row of a fact, or None when evaluating it fails, which then the rule does on a commit."""
        try:
            return tuple(
                arg.value if isinstance(arg, core.Const) else row_expr(arg, self.functions, "").scalar()
                for arg in head.args
            )
        except Exception:
            return None

    def rule(self, rule: core.Rule, index: int) -> _Place:
        """The projection of a rule's body on one head; several heads share the valuations."""
        schema = self.schema(self.program.relations[rule.heads[index].relation])
        body = _Body(self, rule)
        if len(rule.heads) == 1:
            return body.join(body.columns(body.heads[0].args, schema), schema)
        used: dict[str, None] = {}
        for each in body.heads:
            for arg in each.args:
                used.update(dict.fromkeys(body.compile(arg, "").inputs))
        shared = body.join(tuple(used), body.schema(used))
        apply = _Body(self, replace(rule, body=(), heads=(body.heads[index],)), body.types)
        apply.aliases = body.aliases
        apply.terms.append((shared, tuple(used), False))
        return apply.join(apply.columns(apply.heads[0].args, schema), schema)

    def add(self, node: Node, reads: Sequence[_Place], inside: bool = False) -> _Place:
        """Adds a node whose sources are `local` already; inside the body when a source is."""
        inside = inside or any(place.inside for place in reads)
        nodes = self.body if inside else self.nodes
        nodes.append(node)
        return _Place(len(nodes) - 1, inside)

    def local(self, place: _Place, inside: bool) -> NodeId:
        """The node seen from the circuit or from the body; there through an Import."""
        if place.inside or not inside:
            return place.node
        if place.node not in self.imports:
            outer = self.nodes[place.node]
            self.body.append(Import(place.node, outer.schema, outer.text))
            self.imports[place.node] = len(self.body) - 1
        return self.imports[place.node]

    def schema(self, relation: core.Relation) -> Schema:
        """The columns of a relation."""
        return tuple(column(c.name, c.type) for c in relation.columns)

    def kind(self, name: str) -> str:
        """relation or multiset."""
        return self.program.relations[name].kind


def column(name: str, type: Type) -> Column:
    """A column for values of a type."""
    kind, domain = kind_of(type)
    return Column(name, kind, domain)


class _Body:
    """A rule body in the making: the terms and steps of its last Join, after those that a group_by ended."""

    def __init__(self, lowering: _Lowering, rule: core.Rule, types: dict[str, Type] | None = None) -> None:
        self.lowering = lowering
        self.text = rule.text
        self.types: dict[str, Type] = dict(rule.variables if types is None else types)
        self.terms: list[tuple[_Place, tuple[str | None, ...], bool]] = []
        self.steps: list[Step] = []
        self.heads = rule.heads
        self.aliases: dict[str, core.Var] = {}
        self.tested = _bound_twice(rule.body)
        pending = list(rule.body)
        while pending:
            clause = pending.pop(0)
            if isinstance(clause, core.GroupBy):
                pending = list(self.group(clause, pending))
            else:
                self.clause(clause)

    def clause(self, clause: core.Clause) -> None:
        """Adds a term or a step."""
        match clause:
            case core.Atom(relation, columns, negated):
                place = self.lowering.known[relation]
                columns = tuple(name and self.alias(name) for name in columns)
                if negated and (None in columns or self.lowering.kind(relation) == "multiset"):
                    place, columns = self.presence(place, columns)
                self.terms.append((place, columns, negated))
            case core.Let(name, core.Var() as value) if name not in self.tested:
                self.aliases[name] = self.aliases.get(value.name, value)
            case core.Let(name, value):
                self.types.setdefault(name, value.type)
                self.steps.append(Let(name, self.compile(value, name)))
            case core.Guard(condition):
                for each in conjuncts(self.resolved(condition)):
                    self.condition(each)
            case core.Inspect(value):
                self.steps.append(Inspect(self.compile(value, "")))
            case core.Unnest(name, value):
                self.steps.append(Unnest(name, self.elements(name, value)))

    def condition(self, condition: core.Expr) -> None:
        """Adds a condition; one that equates columns of terms makes them one variable, and one that
        equates a column with an expression defines it, so that both become lookups."""
        columns = {name for _, names, negated in self.terms if not negated for name in names}
        match condition:
            case core.Op("==", (core.Var(a), core.Var(b) as other)) if a != b and {a, b} <= columns:
                self.unify(a, other)
            case core.Op("==", (core.Var(name), value)) if name in columns and not mentions(value, name):
                self.steps.append(Let(name, self.compile(value, name)))
            case core.Op("==", (value, core.Var(name))) if name in columns and not mentions(value, name):
                self.steps.append(Let(name, self.compile(value, name)))
            case _:
                self.steps.append(Guard(self.compile(condition, "")))

    def unify(self, name: str, other: core.Var) -> None:
        """Makes one variable of two, in what there is already and in what will come."""

        def new(each: str) -> str:
            return other.name if each == name else each

        self.terms = [(p, tuple(c and new(c) for c in columns), neg) for p, columns, neg in self.terms]
        self.steps = [rename_step(step, new) for step in self.steps]
        self.aliases = {key: other if v.name == name else v for key, v in self.aliases.items()}
        self.aliases[name] = other

    def presence(self, place: _Place, columns: tuple[str | None, ...]) -> tuple[_Place, tuple[str, ...]]:
        """The set of the values that a relation has in the columns that are not None."""
        source = self.node(place)
        used = [i for i, name in enumerate(columns) if name is not None]
        schema = tuple(source.schema[i] for i in used)
        names = tuple(f"c{i}" if i in used else None for i in range(len(columns)))
        term = Term(place.node, names)
        projected = Join((term,), (), tuple(f"c{i}" for i in used), schema, self.text)
        joined = self.lowering.add(projected, (place,))
        distinct = self.lowering.add(Distinct(joined.node, schema), (joined,))
        return distinct, tuple(name for name in columns if name is not None)

    def group(self, clause: core.GroupBy, rest: Sequence[core.Clause]) -> tuple[core.Clause, ...]:
        """Ends the Join with the grouping, begins the next with its result; the clauses still to do."""
        lowering = self.lowering
        plan = plan_grouping(clause, rest, self.heads, self.types, lowering.program, self.compile)
        values = tuple(self.bind(item, f"{clause.name}.value{i}") for i, item in enumerate(plan.items))
        joined = self.join((*map(self.alias, plan.keys), *values), self.schema((*plan.keys, *values)))
        schema = self.node(joined).schema
        grouped = lowering.add(Distinct(joined.node, schema), (joined,))
        self.aliases = {}
        self.types |= {name: type for name, type, _ in plan.results}
        names = (*plan.keys, *(name for name, _, _ in plan.results))
        aggregates = tuple(aggregate for _, _, aggregate in plan.results)
        node = Group(grouped.node, len(plan.keys), aggregates, self.schema(names), self.text)
        self.terms, self.steps, self.heads = [(lowering.add(node, (grouped,)), names, False)], [], plan.heads
        return plan.rest

    def columns(self, args: Sequence[core.Expr], schema: Schema) -> tuple[str, ...]:
        """The variables that are a head's arguments."""
        return tuple(self.bind(arg, f"head.{c.name}") for arg, c in zip(args, schema, strict=True))

    def bind(self, expr: core.Expr, name: str) -> str:
        """A variable that has the value of an expression."""
        if isinstance(expr, core.Var):
            return self.alias(expr.name)
        self.types[name] = expr.type
        self.steps.append(Let(name, self.compile(expr, name)))
        return name

    def join(self, output: tuple[str, ...], schema: Schema) -> _Place:
        """Ends the body: its valuations projected on `output`."""
        if not any(not negated for _, _, negated in self.terms):
            unit = self.lowering.add(Constant(((),), (), "one row without columns"), ())
            self.terms.insert(0, (unit, (), False))
        places = [place for place, _, _ in self.terms]
        inside = any(place.inside for place in places)
        read = self.read(output)
        terms = tuple(
            Term(self.lowering.local(p, inside), columns if negated else _pruned(columns, read), negated)
            for p, columns, negated in self.terms
        )
        return self.lowering.add(Join(terms, tuple(self.steps), output, schema, self.text), places, inside)

    def read(self, output: tuple[str, ...]) -> set[str]:
        """The variables of terms that are used: read by a step, by the output, or in two places."""
        counts: dict[str, int] = dict.fromkeys(output, 2)
        for _, columns, _ in self.terms:
            for name in columns:
                if name is not None:
                    counts[name] = counts.get(name, 0) + 1
        for step in self.steps:
            bound = (step.name,) if isinstance(step, Let | Unnest) else ()
            expr = step.condition if isinstance(step, Guard) else step.value
            for name in (*bound, *expr.inputs):
                counts[name] = 2
        return {name for name, count in counts.items() if count > 1}

    def alias(self, name: str) -> str:
        """The variable that a name stands for."""
        return self.aliases[name].name if name in self.aliases else name

    def schema(self, names: Collection[str]) -> Schema:
        """Columns for variables."""
        return tuple(column(name, self.types[name]) for name in names)

    def compile(self, expr: core.Expr, name: str) -> RowExpr:
        """The row expression of an expression; the names of its variables are no part of its key."""
        resolved = self.resolved(expr)
        compiled = row_expr(resolved, self.lowering.functions, name)
        places = {variable: str(place) for place, variable in enumerate(compiled.inputs)}

        def place(part: core.Expr) -> core.Expr | None:
            if isinstance(part, core.Var) and part.name in places:
                return replace(part, name=places[part.name])
            return None

        return replace(compiled, key=Structure(transform(resolved, place)))

    def resolved(self, expr: core.Expr) -> core.Expr:
        """The expression over the variables that aliases stand for."""

        def change(part: core.Expr) -> core.Expr | None:
            return self.aliases.get(part.name) if isinstance(part, core.Var) else None

        return transform(expr, change) if self.aliases else expr

    def elements(self, name: str, value: core.Expr) -> RowExpr:
        """The row expression of a collection, for its elements; those of a group are (value, 1)."""
        compiled = replace(self.compile(value, name), column=column(name, self.types[name]), arrays=None)
        if not is_group(value.type):
            return compiled
        scalar = compiled.scalar
        return replace(compiled, scalar=lambda *row: [(each, 1) for each in scalar(*row).values])

    def node(self, place: _Place) -> Node:
        """The node at a place."""
        return (self.lowering.body if place.inside else self.lowering.nodes)[place.node]


def conjuncts(condition: core.Expr) -> list[core.Expr]:
    """The conditions that all hold when the condition does, in order."""
    match condition:
        case core.Op("and", (left, right)):
            return [*conjuncts(left), *conjuncts(right)]
        case _:
            return [condition]


def _bound_twice(body: Sequence[core.Clause]) -> set[str]:
    """The variables of atoms, and those with two definitions: for them a definition is a test."""
    atoms = [name for clause in body if isinstance(clause, core.Atom) for name in clause.columns if name]
    others = [clause.name for clause in body if isinstance(clause, core.Let | core.Unnest | core.GroupBy)]
    return {*atoms, *(name for name in others if others.count(name) > 1)}


def _pruned(columns: tuple[str | None, ...], read: set[str]) -> tuple[str | None, ...]:
    return tuple(name if name in read else None for name in columns)
