"""Proof trees of rows of loops, against the contents of the loop in each of its rounds."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

import ddlog
from ddlog.engine.reference import evaluate
from ddlog.explaining.byrounds import with_loops
from ddlog.explaining.derivations import Derivations
from ddlog.explaining.node import Reason, decisive
from ddlog.explaining.why import why_not
from ddlog.sessions.explanations import SessionHeld
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

from ..programs.random_programs import edges
from ..trying import trying
from .test_changes import SAME
from .trees import Checked, Contents, Fact, Row, children, fits

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


@trying(6)
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
        states, inputs = _states(text, session)
        checked = _Rounds(program, {**inputs, **states[-1]}, states)
        for name in ("A", "B", "After"):
            assert dict.fromkeys(session[name].tuples(), 1) == states[-1][name]
            for row in list(states[-1][name])[:6]:
                explained = session.why(name, row)
                checked.node(explained.tree)
                assert explained.json() and explained.dot() and explained.html() and str(explained)
                assert [each.tree.row for each in session.why_all(name, row)]


LEAVING = [
    "initial A(x, y) :- Num(x, y).", "B(x, y) :- B-1(x, y), round < 4.", "A(2, 1).",
    "A(x, y) :- B(x, y), round >= 2.", "B(x, y) :- A-1(y, x), not A-2(x, y).",
    "B(x, z) :- B(x, y), Num(y, z).",
]  # fmt: skip
"""After the second of two commits, rows that were there in early rounds before and now are there in the last
round, too, so that a rule around the loop finds them."""


@trying(4)
@example(LEAVING, [[("Num", (1, 3), 1), ("Num", (2, 0), 1)], [("Num", (0, 1), 1)]])
@given(st.lists(st.sampled_from(RULES), min_size=2, max_size=6, unique=True), edges())
def test_changes_and_absences_of_random_loops(
    rules: list[str], stream: list[list[tuple[str, tuple[Any, ...], int]]]
) -> None:
    text = "\n    ".join(rules)
    program = ddlog.compile(TEXT.format(rounds=ROUNDS, rules=text))
    with program.session() as session:
        session.start()
        before: list[Contents] = []
        for number, transaction in enumerate(stream):
            if number == len(stream) - 1:
                before = [
                    {**each, **inputs} for states, inputs in [_states(text, session)] for each in states
                ]
            for relation, row, sign in transaction:
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            session.commit()
        now = [{**each, **inputs} for states, inputs in [_states(text, session)] for each in states]
        for name in ("A", "B", "After"):
            rows = now[-1][name]
            for row in sorted(rows.keys() ^ before[-1][name].keys())[:2]:
                change = session.why_change(name, row)
                assert change.came == (row in rows)
                for proof in change.proofs:
                    _check_change(proof, before, now)
        derivations = Derivations(SessionHeld(session.state))
        for name in ("A", "B", "After"):
            rows = now[-1][name]
            absent = [row for row in product(*[range(4)] * (2 if name in "AB" else 1)) if row not in rows]
            for row in absent[:: max(1, len(absent) // 2)][:2]:
                absence = why_not(derivations, name, row, within=0.5)
                _check_missing(absence.missing, now)
                for each in absence.insert[:2]:
                    assert _with(session, each, 1, name, row)
            for row in list(rows)[:1]:
                for ending in session.why_ends(name, row, within=0.5)[:2]:
                    if not ending.insertions:
                        assert not _with(session, ending, -1, name, row)


def _with(session: Session, facts: Iterable[Fact], sign: int, name: str, row: Row) -> bool:
    """Whether a row holds with some facts inserted or deleted, which is taken back."""
    for each in (sign, -sign):
        for relation, fact in facts:
            (session.insert_rows if each > 0 else session.delete_rows)(relation, [fact])
        session.commit()
        if each == sign:
            found = row in set(session[name].tuples())
    return found


def _at(states: list[Contents], relation: str, rounds: tuple[int, ...]) -> dict[Row, int]:
    """The rows of a relation in a round."""
    number = rounds[0] if rounds else len(states) - 1
    return states[number][relation] if number >= 0 else {}


def _check_change(part: Reason, before: list[Contents], now: list[Contents]) -> None:
    relation, row, rounds = part.relation, part.row, part.rounds
    kinds = ("fact", "rule", "cut", "above", "same", "absent", "condition", "excluded", "regrouped", "ended")
    assert part.kind in (*kinds, "more")
    if part.kind in ("fact", "rule", "cut", "above"):
        there = [row in _at(states, relation, rounds) for states in (before, now)]
        assert there == [not part.came, part.came]
        assert part.kind != "rule" or any(each.kind not in SAME for each in part.children)
        assert part.kind != "cut" or relation in "AB"
    elif part.kind == "same":
        assert all(row in _at(states, relation, part.looked) for states in (before, now))
    elif part.kind == "absent":
        rows = [*_at(before, relation, rounds), *_at(now, relation, rounds)]
        assert not any(fits(row, each) for each in rows)
    elif part.kind == "excluded":
        found = [each for each in part.children if each.kind != "more"]
        assert found and all(fits(row, each.row) for each in found)
    elif part.kind == "regrouped":
        assert part.count is not None and part.before is not None
        members = [each for each in part.children if each.kind == "member"]
        counted = sum(1 if each.came else -1 for each in members)
        assert counted == part.count - part.before or len(members) < len(part.children)
    for each in part.children:
        for inner in each.children if each.kind == "member" else (each,):
            _check_change(inner, before, now)


def _check_missing(missing: Reason, states: list[Contents]) -> None:
    if missing.kind != "no fact":
        assert not any(fits(missing.row, row) for row in _at(states, missing.relation, missing.rounds))
    for attempt in missing.children:
        if attempt.kind == "attempt":
            *holds, fails = attempt.children
            for item in holds:
                rows = _at(states, item.relation, item.rounds) if item.relation else {}
                assert item.kind != "holds" or item.row in rows
                assert item.kind != "absent" or not any(fits(item.row, row) for row in rows)
            _check_failure(fails, states)


def _check_failure(fails: Reason, states: list[Contents]) -> None:
    assert fails.kind in ("no row", "found", "false")
    rows = _at(states, fails.relation, fails.rounds) if fails.relation else {}
    if fails.kind == "no row":
        assert not fails.exact or not any(fits(fails.row, row) for row in rows)
        for each in fails.children:
            if each.kind == "near":
                assert each.row in rows
            else:
                _check_missing(each, states)
    elif fails.kind == "found":
        assert fails.children
        assert all(each.row in rows and fits(fails.row, each.row) for each in fails.children)


PASSED_ON = """
input relation Num(a: bit<4>, number: bigint)
loop Some rounds 5 {
    output relation A(x: bit<4>)
    output relation G(x: bit<4>)
    A(x) :- Num(x, n), round == n.
    G(x) :- Num(x, _), round == 0.
    G(x) :- A(x).
    G(x) :- G-1(x).
}
"""


def test_trees_of_rounds_asked_for_one_by_one() -> None:
    """Each tree is of its own row, however many were made and forgotten before."""
    with ddlog.compile(PASSED_ON).session() as session:
        session.insert("Num", *product(range(16), (2, 4)))
        session.commit()
        rounds = with_loops(Derivations(SessionHeld(session.state))).rounds_in("G")
        assert rounds is not None
        for number, x in product(range(6), range(16)):
            tree = rounds.tree_of_round(("G", (x,)), number, 3)
            below = [each.row[0] for each in tree.children if each.is_row]
            assert tree.kind == "rule" and set(below) == {x}


def _states(text: str, session: Session) -> tuple[list[Contents], Contents]:
    """The relations in each round, and the inputs."""
    inputs: Contents = {name: dict.fromkeys(session[name].tuples(), 1) for name in ("Num", "Tag")}
    return [_round(text, number, inputs) for number in range(ROUNDS + 1)], inputs


def _round(text: str, number: int, inputs: Contents) -> Contents:
    circuit = ddlog.compile(TEXT.format(rounds=number, rules=text)).circuit("relational")
    return {name: dict(rows) for name, rows in evaluate(circuit, inputs).items()}


class _Rounds:
    """The contents of the relations of a loop in its rounds."""

    def __init__(self, program: Program, contents: Contents, states: list[Contents]) -> None:
        self.program, self.contents, self.states = program, contents, states
        self._instances: dict[int, Checked] = {}

    def node(self, tree: Reason) -> None:
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
        for each in children(tree.children):
            relation, row, rounds = each.relation, each.row, each.rounds
            if each.is_row:
                assert bool(rounds) == (relation in "AB") and (not rounds or rounds[0] <= number)
                assert rounds or row in self.contents[relation]
                self.node(each)
            elif each.kind == "absent" and rounds and rounds[0] >= 0:
                assert not any(fits(row, other) for other in self.states[rounds[0]][relation])
        heights = [each.height for each in decisive(tree.children)]
        if tree.rule.body and None not in heights:
            assert tree.height == 1 + max((each for each in heights if each is not None), default=0)

    def _of(self, number: int, tree: Reason) -> Any:
        if number not in self._instances:
            contents = {**self.contents, **self.states[number]}
            for name, each in self.program.relations.items():
                if each.earlier is not None:
                    relation, back = each.earlier
                    contents[name] = self.states[number - back][relation] if number >= back else {}
            self._instances[number] = Checked(self.program, contents)
        assert tree.rule is not None
        return self._instances[number].instances(tree.rule, tree.relation)
