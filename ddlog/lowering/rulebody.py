"""Rule bodies: the clauses of a rule become one Join, and another one after each group_by."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from .. import core
from ..codegen.scalar import Structure, free_variables, row_expr
from ..core.walk import mentions, transform
from ..engine.circuit import (
    EPOCH,
    ITERATION,
    WEIGHT,
    Admit,
    Aggregate,
    Constant,
    Distinct,
    Group,
    Guard,
    Inspect,
    Join,
    Let,
    Node,
    Step,
    Term,
    Unnest,
)
from ..engine.operators.steps import binds, rename_step, variables
from ..engine.schema import Column, Kind, RowExpr, Schema
from ..types import Bool, Signed, Type, User
from .aggregates import plan_grouping
from .builder import CircuitBuilder, NodeRef, column
from .equations import Equation, between_terms, equation
from .rounds import ROUND_DOMAIN, SINCE, UNTIL, Bound, round_number
from .weights import is_group


class BodyCircuit:
    """A rule body in the making: the terms and steps of its last Join, the one after the last group_by so
    far."""

    def __init__(
        self, builder: CircuitBuilder, rule: core.Rule, types: dict[str, Type] | None = None
    ) -> None:
        self.builder = builder
        self.text = rule.text
        self.types: dict[str, Type] = dict(rule.variables if types is None else types)
        self.terms: list[tuple[NodeRef, tuple[str | None, ...], bool]] = []
        self.steps: list[Step] = []
        self.equations: list[Equation] = []
        self.rounds: tuple[list[Bound], list[Bound]] = [], []
        self.heads = rule.heads
        self.aliases: dict[str, core.Var] = {}
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
                place = self.builder.known[relation]
                columns = tuple(name and self.alias(name) for name in columns)
                if negated and (None in columns or self.builder.kind(relation) != "relation"):
                    place, columns = self.presence(place, columns)
                self.terms.append((place, columns, negated))
            case core.Let(name, core.Var() as value) if not self.defined(name):
                self.aliases[name] = self.aliases.get(value.name, value)
            case core.Let(name, core.Var() as value):
                pair = core.Var(name, value.type, value.span), value
                self.condition(self.resolved(core.Op("==", pair, Bool(), value.span)))
            case core.Let(name, value):
                name = self.alias(name)
                self.types.setdefault(name, value.type)
                self.steps.append(Let(name, self.compile(value, name)))
            case core.Guard(core.Op(op, (core.Var(core.ROUND), bound))):
                since, until = self.rounds
                since += [(bound, plus) for plus in SINCE.get(op, ())]
                until += [(bound, plus) for plus in UNTIL.get(op, ())]
            case core.Guard(condition):
                for each in conjuncts(self.resolved(condition)):
                    self.condition(each)
            case core.Inspect(value):
                compiled = self.compile(self.in_circumstances(value), "")
                self.steps.append(Inspect(replace(compiled, effect=True)))
            case core.Unnest(name, value):
                name = self.alias(name)
                self.steps.append(Unnest(name, self.elements(name, value)))

    def in_circumstances(self, value: core.Expr) -> core.Expr:
        """The expression of an Inspect, over the weight of the row, the epoch and the iteration."""

        def change(part: core.Expr) -> core.Expr | None:
            match part:
                case core.Var(core.WEIGHT, of, span):
                    return core.Var(WEIGHT, of, span)
                case core.Var(core.TIMESTAMP, User(name) as of, span):
                    (nested,) = self.builder.program.typedefs[name].constructors
                    numbers = zip((EPOCH, ITERATION), nested.fields, strict=True)
                    moment = tuple(core.Var(each, type_, span) for each, (_, type_) in numbers)
                    return core.MakeStruct(nested, moment, of, span)
                case core.Var(core.TIMESTAMP, of, span):
                    return core.Var(EPOCH, of, span)
            return None

        return transform(value, change)

    def defined(self, name: str) -> bool:
        """Whether a term or a step so far gives a variable its value."""
        terms = (columns for _, columns, negated in self.terms if not negated)
        return (
            name in self.aliases
            or any(name in columns for columns in terms)
            or any(binds(step) == name for step in self.steps)
        )

    def condition(self, condition: core.Expr) -> None:
        """Adds a condition. Where it equates two columns of terms, they become one variable; where it equates
        a column with an expression, it becomes a definition. Both then serve look-ups."""
        columns = {name for _, names, negated in self.terms if not negated for name in names}
        match condition:
            case core.Op("==", (core.Var(a), core.Var(b))) if a == b:
                pass
            case core.Op("==", (core.Var(a), core.Var(b) as other)) if {a, b} <= columns:
                self.unify(a, other)
            case core.Op("==", (core.Var(name), value)) if name in columns and not mentions(value, name):
                self.steps.append(Let(name, self.compile(value, name)))
            case core.Op("==", (value, core.Var(name))) if name in columns and not mentions(value, name):
                self.steps.append(Let(name, self.compile(value, name)))
            case _:
                found = equation(condition, len(self.steps))
                self.equations += [] if found is None else [found]
                self.steps.append(Guard(self.compile(condition, "")))

    def unify(self, name: str, other: core.Var) -> None:
        """Makes one variable of two, in the terms and steps so far and in later clauses."""

        def new(each: str) -> str:
            return other.name if each == name else each

        self.terms = [(p, tuple(c and new(c) for c in columns), neg) for p, columns, neg in self.terms]
        self.steps = [rename_step(step, new) for step in self.steps]
        self.aliases = {key: other if v.name == name else v for key, v in self.aliases.items()}
        self.aliases[name] = other

    def presence(self, place: NodeRef, columns: tuple[str | None, ...]) -> tuple[NodeRef, tuple[str, ...]]:
        """The relation projected on the columns that are not None, as a set, and the variables of these
        columns."""
        source = self.builder.node(place)
        used = [i for i, name in enumerate(columns) if name is not None]
        schema = tuple(source.schema[i] for i in used)
        names = tuple(f"c{i}" if i in used else None for i in range(len(columns)))
        term = Term(place.node, names)
        projected = Join((term,), (), tuple(f"c{i}" for i in used), schema, self.text)
        joined = self.builder.add(projected, (place,))
        distinct = self.builder.add(Distinct(joined.node, schema, self.text), (joined,))
        return distinct, tuple(name for name in columns if name is not None)

    def group(self, clause: core.GroupBy, rest: Sequence[core.Clause]) -> tuple[core.Clause, ...]:
        """Ends the Join with a Group, and begins the next Join with its result. Returns the clauses after
        it."""
        builder = self.builder
        weighs = not clause.bag and not any(place.inside for place, _, _ in self.terms)
        plan = plan_grouping(
            clause, rest, self.heads, self.types, builder.program, self.compile, self.compile_key,
            builder.readers if weighs else None,
        )  # fmt: skip
        values = tuple(self.bind(item, f"{clause.name}.value{i}") for i, item in enumerate(plan.items))
        joined = self.join((*map(self.alias, plan.keys), *values), self.schema((*plan.keys, *values)))
        schema = self.builder.node(joined).schema
        counted = Aggregate("count", (), origin=clause.span)
        weighed = (*schema, column(f"{clause.name}.weight", Signed(64)))
        each: Node = Distinct(joined.node, schema, self.text)
        if plan.weighed:
            each = Group(joined.node, len(schema), (counted,), weighed, self.text, True)
        grouped = joined if clause.bag else builder.add(each, (joined,))
        self.aliases = {}
        self.types |= {name: type for name, type, _ in plan.results}
        names = (*plan.keys, *(name for name, _, _ in plan.results))
        aggregates = tuple(aggregate for _, _, aggregate in plan.results)
        node = Group(grouped.node, len(plan.keys), aggregates, self.schema(names), self.text, clause.bag)
        self.terms, self.steps, self.heads = [(builder.add(node, (grouped,)), names, False)], [], plan.heads
        self.equations = []
        return plan.rest

    def columns(self, args: Sequence[core.Expr], schema: Schema) -> tuple[str, ...]:
        """A variable for each argument of a head."""
        return tuple(self.bind(arg, f"head.{c.name}") for arg, c in zip(args, schema, strict=True))

    def bind(self, expr: core.Expr, name: str) -> str:
        """A variable that has the value of an expression."""
        if isinstance(expr, core.Var):
            return self.alias(expr.name)
        self.types[name] = expr.type
        self.steps.append(Let(name, self.compile(expr, name)))
        return name

    def join(self, output: tuple[str, ...], schema: Schema) -> NodeRef:
        """Ends the body: its valuations projected on `output`, in the rounds of a loop that admit them."""
        if not any(self.rounds):
            return self.joined(output, schema)
        since, until = self.rounds
        names = [f"$round{k}" for k in range(len(since) + len(until))]
        for name, (value, plus) in zip(names, (*since, *until), strict=True):
            self.steps.append(Let(name, round_number(self.compile(value, name), plus)))
        self.rounds = [], []
        columns = tuple(Column(name, Kind.INT, ROUND_DOMAIN) for name in names)
        source = self.joined((*output, *names), (*schema, *columns))
        admit = Admit(source.node, schema, len(since), len(until), int(source.inside), self.text)
        return self.builder.add(admit, (source,))

    def joined(self, output: tuple[str, ...], schema: Schema) -> NodeRef:
        """Ends the body: its valuations projected on `output`."""
        if not any(not negated for _, _, negated in self.terms):
            unit = self.builder.add(Constant(((),), (), "one row without columns"), ())
            self.terms.insert(0, (unit, (), False))
        self.steps = list(self.with_keys())
        places = [place for place, _, _ in self.terms]
        inside = any(place.inside for place in places)
        read = self.read(output)
        terms = tuple(
            Term(self.builder.local(p, inside), columns if negated else _pruned(columns, read), negated)
            for p, columns, negated in self.terms
        )
        return self.builder.add(Join(terms, tuple(self.steps), output, schema, self.text), places, inside)

    def with_keys(self) -> Iterator[Step]:
        """The steps; for an equation between terms, the definitions of a variable that both sides are."""
        positive = [columns for _, columns, negated in self.terms if not negated]
        found = {each.number: each for each in between_terms(self.equations, positive, self.steps)}
        for number, step in enumerate(self.steps):
            if number not in found:
                yield step
                continue
            left, right = self.resolved(found[number].left), self.resolved(found[number].right)
            if isinstance(right, core.Var):
                left, right = right, left
            name = left.name if isinstance(left, core.Var) else f"$key{number}"
            if not isinstance(left, core.Var):
                self.types[name] = left.type
                yield Let(name, self.compile(left, name))
            yield Let(name, self.compile(right, name))

    def read(self, output: tuple[str, ...]) -> set[str]:
        """The variables of terms that are used: read by a step or by the output, or in two columns."""
        counts: dict[str, int] = dict.fromkeys(output, 2)
        for _, columns, _ in self.terms:
            for name in columns:
                if name is not None:
                    counts[name] = counts.get(name, 0) + 1
        for step in self.steps:
            counts |= dict.fromkeys(variables(step), 2)
        return {name for name, count in counts.items() if count > 1}

    def alias(self, name: str) -> str:
        """The variable that a name stands for."""
        return self.aliases[name].name if name in self.aliases else name

    def schema(self, names: Collection[str]) -> Schema:
        """Columns for variables."""
        return tuple(column(name, self.types[name]) for name in names)

    def compile(self, expr: core.Expr, name: str) -> RowExpr:
        """The row expression of an expression. Its key does not depend on the names of variables."""
        resolved = self.resolved(expr)
        places = {variable: str(place) for place, variable in enumerate(free_variables(resolved))}

        def place(part: core.Expr) -> core.Expr | None:
            if isinstance(part, core.Var) and part.name in places:
                return replace(part, name=places[part.name])
            return None

        key = Structure(transform(resolved, place))
        return row_expr(resolved, self.builder.functions, name, key)

    def compile_key(self, expr: core.Expr) -> RowExpr:
        """The row expression of an expression over the keys of a group."""
        return row_expr(expr, self.builder.functions, "", Structure(expr))

    def resolved(self, expr: core.Expr) -> core.Expr:
        """The expression over the variables that aliases stand for."""

        def change(part: core.Expr) -> core.Expr | None:
            return self.aliases.get(part.name) if isinstance(part, core.Var) else None

        return transform(expr, change) if self.aliases else expr

    def elements(self, name: str, value: core.Expr) -> RowExpr:
        """The row expression of the elements of a collection; those of a group have their weights."""
        compiled = replace(self.compile(value, name), column=column(name, self.types[name]), arrays=None)
        if not is_group(value.type):
            return compiled
        scalar = compiled.scalar
        return replace(compiled, scalar=lambda *row: list(scalar(*row).weighed()))


def conjuncts(condition: core.Expr) -> list[core.Expr]:
    """The conditions whose conjunction the condition is, in order."""
    match condition:
        case core.Op("and", (left, right)):
            return [*conjuncts(left), *conjuncts(right)]
        case _:
            return [condition]


def _pruned(columns: tuple[str | None, ...], read: set[str]) -> tuple[str | None, ...]:
    return tuple(name if name in read else None for name in columns)
