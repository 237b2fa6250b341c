"""Proof trees of rows of loops, against the contents of the loop in each of its rounds."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ddlog
from ddlog.engine.reference import evaluate
from ddlog.explaining.byrounds import decisive
from ddlog.explaining.tree import Absent, Tree
from ddlog.sessions.program import Program

from ..programs.random_programs import edges
from .trees import Checked, Contents, children, fits

ROUNDS = 5

TEXT = """
input relation Num(a: bit<2>, b: bit<2>)
input relation Tag(a: bit<2>, s: string)
output relation Pair(a: bit<2>, b: bit<2>)
Pair(a, c) :- Num(a, b), Num(b, c).
loop Some rounds {rounds} {{
    output relation A(x: bit<2>, y: bit<2>)
    output relation B(x: bit<2>, y: bit<2>)
    {rules}
}}
output relation After(x: bit<2>)
After(x) :- A(x, y), B(y, _).
"""

RULES = [
    "initial A(x, y) :- Num(x, y).", "A(x, y) :- A-1(x, z), Num(z, y), not B-1(x, y).",
    "A(x, y) :- B(x, y), round >= 2.", "A(x, n) :- A-1(x, y), var n = y.group_by(x).max().",
    "A(x, y) :- Pair(x, y), not A-1(y, x).", "A(x, y) :- A-1(x, y).", "A(2, 1).",
    "B(x, y) :- A-1(y, x), not A-2(x, y).", "B(x, y) :- B-1(x, y), round < 4.",
    "B(x, z) :- B(x, y), Num(y, z).",
    "B(x, y) :- Num(x, y), round > x.", "B(x, y) :- Num(x, y), not A-1(x, _), round == y as bigint + 1.",
    "initial B(x, x) :- Tag(x, _).", "B(x, n as bit<2>) :- A-1(x, y), var n = y.group_by(x).count().",
]  # fmt: skip


@settings(deadline=None, max_examples=6, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(RULES), min_size=2, max_size=6, unique=True), edges())
def test_trees_of_random_loops(
    rules: list[str], stream: list[list[tuple[str, tuple[Any, ...], int]]]
) -> None:
    text = "\n    ".join(rules)
    program = ddlog.compile(TEXT.format(rounds=ROUNDS, rules=text))
    with program.session() as session:
        for transaction in stream:
            for relation, row, sign in transaction:
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            session.commit()
        inputs: Contents = {name: dict.fromkeys(session[name].tuples(), 1) for name in ("Num", "Tag")}
        states = [_round(text, number, inputs) for number in range(ROUNDS + 1)]
        checked = _Rounds(program, {**inputs, **states[-1]}, states)
        for name in ("A", "B", "After"):
            assert dict.fromkeys(session[name].tuples(), 1) == states[-1][name]
            for row in list(states[-1][name])[:6]:
                explained = session.why(name, row)
                checked.node(explained.tree)
                assert explained.json() and explained.dot() and explained.html() and str(explained)
                assert [each.tree.row for each in session.why_all(name, row)]


def _round(text: str, number: int, inputs: Contents) -> Contents:
    circuit = ddlog.compile(TEXT.format(rounds=number, rules=text)).circuit("relational")
    return {name: dict(rows) for name, rows in evaluate(circuit, inputs).items()}


class _Rounds:
    """The contents of the relations of a loop in its rounds."""

    def __init__(self, program: Program, contents: Contents, states: list[Contents]) -> None:
        self.program, self.contents, self.states = program, contents, states
        self._instances: dict[int, Checked] = {}

    def node(self, tree: Tree) -> None:
        """A row is there since its round, by an instance of its rule over the rows of the rounds that the
        rule reads."""
        if tree.rule is None:
            assert tree.kind == "cut" or tree.row in self.contents[tree.relation]
            return
        number = tree.rounds[0] if tree.rounds else len(self.states) - 1
        if tree.rounds:
            there = [tree.row in state[tree.relation] for state in self.states]
            assert there[number] and not (number and there[number - 1])
            assert tree.ended != all(there[number:])
        assert (tuple(sorted(tree.variables.items())), tree.row) in self._of(number, tree)
        for each in children(tree.body):
            match each:
                case Tree(relation, row, rounds=rounds):
                    assert bool(rounds) == (relation in "AB") and (not rounds or rounds[0] <= number)
                    assert rounds or row in self.contents[relation]
                    self.node(each)
                case Absent(relation, pattern, _, (past,)) if past >= 0:
                    assert not any(fits(pattern, row) for row in self.states[past][relation])
        heights = [each.height for each in decisive(tree.body)]
        if tree.rule.body and None not in heights:
            assert tree.height == 1 + max((each for each in heights if each is not None), default=0)

    def _of(self, number: int, tree: Tree) -> Any:
        if number not in self._instances:
            contents = {**self.contents, **self.states[number]}
            for name, each in self.program.relations.items():
                if each.earlier is not None:
                    relation, back = each.earlier
                    contents[name] = self.states[number - back][relation] if number >= back else {}
            self._instances[number] = Checked(self.program, contents)
        assert tree.rule is not None
        return self._instances[number].instances(tree.rule, tree.relation)
