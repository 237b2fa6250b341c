"""Join plans to be shown: what comes after the rows of each term, by which keys, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from .circuit import (
    Circuit,
    DeltaJoin,
    Fixpoint,
    FixpointResult,
    Guard,
    Import,
    Input,
    Join,
    NodeId,
    Term,
    Variable,
)
from .derivedcolumns import derived_keys
from .integrals import shown
from .joinplan import JoinPlan, LookUpRows
from .labels import one_line
from .operators.steps import step_text
from .planner import LookUp, PlanStep, RunStep, Stages, cheapest, guessed
from .schema import Schema

ASSUMED = 1_000_000
"""The rows that a relation is taken to have where its contents are unknown."""

ONLY = "only candidate"


class Texts:
    """The texts of the terms and tests of one join. `sources` names the source of each term."""

    def __init__(self, terms: Sequence[Term], sources: Sequence[str]) -> None:
        self._terms, self._sources = terms, sources

    def term(self, number: int) -> str:
        """A term as it would stand in a rule."""
        columns = ", ".join(column or "_" for column in self._terms[number].columns)
        return f"{'not ' if self._terms[number].negated else ''}{self._sources[number]}({columns})"

    def keys(self, look_up: LookUp) -> tuple[str, ...]:
        """The variables by which a term is looked up; of a derived column also what it is."""
        pairs = zip(look_up.positions, look_up.keys, strict=True)
        return tuple(
            key if isinstance(position, int) else f"{key} = {one_line(repr(position))}"
            for position, key in pairs
        )

    def tests(self, steps: Sequence[PlanStep]) -> tuple[str, ...]:
        """The terms and conditions among steps that only remove rows."""
        shown = []
        for step in steps:
            if not isinstance(step, RunStep):
                shown.append(self.term(step.term))
            elif isinstance(step.step, Guard):
                shown.append(one_line(step_text(step.step)))
        return tuple(shown)


def plans(
    circuit: Circuit, stages_of: Callable[[Join | DeltaJoin, Sequence[Schema]], Stages] | None = None
) -> Iterator[JoinPlan]:
    """The plans of the joins of a circuit by mean fan-outs, from a change of each term, if every relation had
    `ASSUMED` rows. `stages_of` makes the stages of a join for a runtime."""
    yield from _plans(circuit, source_names(circuit), stages_of or _stages)


def _plans(
    circuit: Circuit,
    names: Mapping[NodeId, str],
    stages_of: Callable[[Join | DeltaJoin, Sequence[Schema]], Stages],
) -> Iterator[JoinPlan]:
    for node in circuit.nodes:
        if isinstance(node, Fixpoint):
            yield from _plans(node.body, source_names(node.body, names), stages_of)
        elif isinstance(node, Join | DeltaJoin) and len(node.terms) > 1:
            schemas = [circuit.nodes[term.source].schema for term in node.terms]
            texts = Texts(node.terms, [names[term.source] for term in node.terms])
            stages = stages_of(node, schemas)
            for start in range(len(node.terms)):
                yield _planned(one_line(node.text), stages, start, schemas, texts)


def _stages(node: Join | DeltaJoin, schemas: Sequence[Schema]) -> Stages:
    return Stages(node.terms, node.steps, node.output, (), derived_keys(node.terms, node.steps))


def _planned(rule: str, stages: Stages, start: int, schemas: Sequence[Schema], texts: Texts) -> JoinPlan:
    def fanout(each: LookUp) -> float:
        return guessed(ASSUMED, len(each.positions), len(schemas[each.term]))

    stage = first = stages.first(start)
    look_ups: list[LookUpRows] = []
    rows = 1.0
    while stage.candidates:
        means = [fanout(each) for each in stage.candidates]
        best = cheapest(
            stage.candidates, lambda term, bound: guessed(ASSUMED, len(bound), len(schemas[term]))
        )
        look_up = stage.candidates[best]
        others = [
            f"{_by(texts.term(each.term), texts.keys(each))} {number(mean)}"
            for each, mean in zip(stage.candidates, means, strict=True)
            if each is not look_up
        ]
        why = f"least mean; others: {', '.join(others)}" if others else ONLY
        stage = stages.after(stage, look_up)
        tests = texts.tests(stage.tests)
        term, keys, expected = texts.term(look_up.term), texts.keys(look_up), rows * means[best]
        look_ups.append(LookUpRows(len(look_ups), term, keys, rows, expected, None, why, tests))
        rows = expected
    return JoinPlan(rule, texts.term(start), tuple(look_ups), texts.tests(first.tests))


def source_names(circuit: Circuit, outside: Mapping[NodeId, str] | None = None) -> dict[NodeId, str]:
    """A name for each node as the source of a term: its relation, or the title of the node. `outside` are the
    names of the nodes around the body of a recursion."""
    relations = {shown(circuit, at): name for name, at in circuit.relations}
    names = {}
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Import):
            name = (outside or {}).get(node.node, "import")
        elif isinstance(node, Input | FixpointResult | Variable):
            name = node.relation
        else:
            name = relations.get(at, node.title().rstrip("Δ"))
        names[at] = name.partition("$")[0] or "(internal)"
    return names


# ---------------------------------------------------------------------- text


def plan_lines(plan: JoinPlan) -> Iterator[str]:
    """The lines of a plan, without its rule."""
    given = plan.look_ups[0].given if plan.look_ups else None
    yield f"  from {plan.start or 'nothing'}{_tests(plan.tests)}" + ("" if plan.look_ups else ": no look-up")
    for each in plan.look_ups:
        indent = "  " * each.depth
        if given is None and each.given is None:
            assert each.expected is not None
            figures = f"{number(each.expected)} expected for each row"
        else:
            guess = "not asked" if each.expected is None else f"{number(each.expected)} expected"
            figures = f"{number(each.rows)} rows in, {guess}, {number(each.given or 0)} given"
        yield f"    {indent}{_by(each.term, each.keys)}: {figures}; {each.why}{_tests(each.tests)}"


def number(value: float) -> str:
    """A number of rows, in short."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.2g}"


def _by(term: str, keys: Sequence[str]) -> str:
    return f"{term} by {', '.join(keys)}" if keys else f"all of {term}"


def _tests(tests: Sequence[str]) -> str:
    return f"; then tests {', '.join(tests)}" if tests else ""
