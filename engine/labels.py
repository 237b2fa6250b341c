"""What a node does, in words and signs: the pieces that the text and the drawings of circuits share."""

from __future__ import annotations

from collections.abc import Callable

from .circuit import (
    Aggregate,
    Circuit,
    Constant,
    Delay,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Differentiate,
    Distinct,
    Fixpoint,
    Group,
    Guard,
    Import,
    Input,
    Inspect,
    Integrate,
    Join,
    Let,
    Negate,
    Node,
    NodeId,
    Output,
    Result,
    Step,
    Sum,
    Term,
    Trace,
    Unnest,
    Variable,
)
from .schema import Schema

Name = Callable[[NodeId], str]


def title(node: Node) -> str:
    """The operator alone."""
    match node:
        case Input(relation, _, multiset):
            return f"input {'stream ' if node.stream else 'multiset ' if multiset else ''}{relation}"
        case Constant(rows):
            return f"constant, {len(rows)} row{'' if len(rows) == 1 else 's'}"
        case Variable(relation):
            return f"z⁻¹ {relation}"
        case Result(_, relation):
            return f"result {relation}"
        case Output(relation):
            return f"output {'stream ' if node.stream else ''}{relation}"
        case Fixpoint(_, results):
            return "fixpoint " + ", ".join(relation for relation, _ in results)
        case Join(terms):
            return "apply" if len(terms) == 1 and not terms[0].negated else "join"
        case DeltaJoin():
            return "joinΔ"
        case _:
            return _SIGNS[type(node)]


_SIGNS: dict[type, str] = {
    Sum: "+ sum",
    Negate: "- negate",
    Distinct: "distinct",
    Group: "group",
    Delay: "z⁻¹ delay",
    Integrate: "∫ integrate",
    Differentiate: "D differentiate",
    Import: "δ₀ import",
    DeltaDistinct: "distinctΔ",
    DeltaGroup: "groupΔ",
    Trace: "z⁻¹∫ trace",
}


def details(node: Node, name: Name) -> str:
    """What the operator is applied to, with its sources by name."""
    match node:
        case Constant(rows):
            shown = ", ".join(map(repr, rows[:3]))
            return shown + (", …" if len(rows) > 3 else "")
        case Sum(operands):
            return " + ".join(name(source) for source in operands)
        case Join(terms, steps, output) | DeltaJoin(terms, _, steps, output):
            parts = [*(term_text(term, name) for term in terms), *(step_text(step) for step in steps)]
            return f"{', '.join(parts)} -> ({', '.join(output)})"
        case Group(source, keys, aggregates, schema) | DeltaGroup(source, _, keys, aggregates, schema):
            by = ", ".join(column.name for column in schema[:keys])
            found = (aggregate_text(a, c.name) for a, c in zip(aggregates, schema[keys:], strict=False))
            return f"{name(source)} by ({by}): {', '.join(found)}"
        case Input() | Variable() | Fixpoint():
            return ""
        case Import():
            return name(node.node)
        case Result():
            return name(node.fixpoint)
        case _:
            return name(node.source)


def term_text(term: Term, name: Name) -> str:
    """A term as it would stand in a rule."""
    columns = ", ".join(column or "_" for column in term.columns)
    return f"{'not ' if term.negated else ''}{name(term.source)}({columns})"


def step_text(step: Step) -> str:
    """A step as it would stand in a rule."""
    match step:
        case Let(variable, value):
            return f"{variable} = {value.text}"
        case Guard(condition):
            return condition.text
        case Unnest(variable, value):
            return f"{variable} in {value.text}"
        case Inspect(value):
            return f"Inspect {value.text}"


def aggregate_text(aggregate: Aggregate, column: str) -> str:
    """An aggregate as the definition of its column."""
    return f"{column} = {aggregate.function}({', '.join(f'.{c}' for c in aggregate.columns)})"


def schema_text(schema: Schema) -> str:
    """The columns with their types."""
    return "(" + ", ".join(f"{column.name}: {column.domain}" for column in schema) + ")"


def relation_names(circuit: Circuit) -> dict[NodeId, str]:
    """The relation that each node is the value of; of several the first."""
    names: dict[NodeId, str] = {}
    for relation, node in circuit.relations:
        names.setdefault(node, relation)
    return names


def one_line(text: str) -> str:
    """Source text on one line."""
    return " ".join(text.split())
