"""Random programs with rules that fault, and random streams in which some epochs are taken back.

Two sessions of one program take the same steps. One of them is the definition: of the steps that are no
commits it only shows trials. What the other holds after each step, and what each of its commits changes, is
compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from unittest import mock

from hypothesis import strategies as st

import ddlog
from ddlog.engine import interrupt
from ddlog.sessions.explanations import SessionHeld
from ddlog.values.structs import Fault

from ..taking import Pressed, Refused, acting_at, refuse
from .random_programs import HEADER, ROWS, filled, grouping_programs, programs, small, timed_programs

Change = tuple[str, Any, int]

FAULTS = """
input relation Bad(a: bit<2>, b: bit<2>)
input relation Keyed(k: bit<2>, v: bit<2>) primary key (x) x.k
"""
# Rules that divide by zero, or look up what is not there; R and S may be recursive.
FAULTY = [
    "R(a, c / b) :- R(a, c), Bad(a, b).",
    "R(c, a) :- Bad(a, b), R(a, c), not Num(c / b, a).",
    "S(s, a / b) :- S(s, a), Bad(a, b), Keyed(b, _).",
    "S(s, v) :- S(s, a), Bad(a, b), Keyed(a / b, v).",
    "output relation X(a: bit<2>, c: bit<2>)\nX(a, ~n / b) :- Bad(a, b).",
    "output relation X(a: bit<2>, c: bit<2>)\nX(a, c) :- Bad(a, b), Num(a / b, c), not R(c, a).",
    "output relation X(a: bit<2>, c: bit<2>)\nX(a, c / b) :- R(a, c), Bad(c, b).",
    "output relation X(a: bit<2>, n: bit<64>)\nX(a, n) :- R(a, c), Bad(a, b), c / b ~o ~n, "
    "var n = c.group_by(a).count().",
    "output relation X(a: bit<2>, n: bit<2>)\nX(a, n / k) :- Bad(a, b), var g = b.group_by(a), "
    "var n = g.max(), var k = g.min().",
    "output relation X(v: bit<2>, n: bit<64>)\n"
    "X(v, n) :- Keyed(k, v), S(_, k), var n = k.group_by(v).count().",
    "R(k, v) :- Keyed(k, v), Bad(v, _).",
]
PATHS = """
relation Way(x: bit<2>, cost: bit<32>)
output relation Cheapest(x: bit<2>, cost: bit<32>)
Way(x, 0) :- Tag(x, "a").
Way(y, n + (y as bit<32>)) :- Cheapest(x, n), Num(x, y).
Cheapest(x, n) :- Way(x, each), var n = each.group_by(x).min().
"""
LOOP = """
loop Trimming {
    output relation Kept(a: bit<2>, b: bit<2>)
    initial Kept(a, b) :- Num(a, b).
    Kept(a, b) :- Kept-1(a, b), Kept-1(b, c), not Bad(c, _).
}
loop Counting rounds 4 {
    output relation Most(a: bit<2>, n: bit<2>)
    initial Most(a, b) :- Keyed(a, b).
    Most(a, n) :- Most-1(b, m), Num(a, b), var n = m.group_by(a).max().
}
"""
BASES = [
    "R(i, j) :- Num(i, j).", 'R(i, i) :- Tag(i, "a").', "R(i, j) :- Heap(i, j), Bag(_).",
    "S(p, i) :- Tag(i, p).", 'S("a", 0) :- Bag(_).', 'S("a", k) :- Num(j, k), Bag("b"), k <= j.',
    'S("b", 1).', "R(k, v) :- Keyed(k, v).",
]  # fmt: skip
RECURSIVE = [
    "R(i, k) :- R(i, j), Num(j, k).", "R(i, k) :- R(i, j), R(j, k).", "R(j, i) :- R(i, j), Tag(j, _).",
    'R(next(i), j) :- R(i, j), not Tag(i, "a").', "R(i, k) :- S(p, i), S(p, k), not Num(i, k).",
    "S(p, k) :- S(p, j), R(j, k).", "S(turn(p), k) :- S(p, k), Tag(k, p).", "S(p, j) :- Tag(j, p), R(_, j).",
    "S(p, if (k > 1) 0 else k) :- S(p, k), not Num(_, k).", "R(i, j) :- Heap(i, j), S(_, j).",
    "R(i, v) :- R(i, j), var v = FlatMap(below(j)), Keyed(v, _).", "R(j, k) :- R(k, j), next(j) == (k ^ 1).",
]  # fmt: skip
READERS = [
    "output relation X(a: bit<2>)\nX(k) :- S(_, k), S(q, _), turn(q) != ~s.",
    "output relation X(a: bit<2>, b: bit<2>)\nX(i, k) :- R(i, j), ~w(j, k), not R(i, k).",
    "output relation X(a: bit<2>, n: bit<64>)\nX(i, n) :- R(i, j), S(_, j), var n = j.group_by(i).count().",
    "output relation X(a: bit<2>, n: bit<2>, s: string)\nX(i, n, s) :- S(p, i), R(i, j), "
    "var g = (p, j).group_by(i), var n = g.max_second(), var s = g.min().0.",
    "output relation X(a: bit<2>, v: Vec<string>)\nX(i, g.to_vec()) :- S(p, i), var g = p.group_by(i).",
    "output multiset X(a: bit<2>)\nX(i) :- R(i, _), Heap(i, _).\nX(i) :- S(_, i).",
    "output relation X(a: bit<2>, b: bit<2>)\nX(i, j) :- R(i, j), not Keyed(i, _).\n"
    "X(i, k) :- X(i, j), R(j, k).",
]
MORE_ROWS = {
    **ROWS,
    "Bad": st.tuples(small, st.sampled_from([1, 2, 3, 1, 2, 3, 0])),
    "Keyed": st.tuples(small, small),
}


@st.composite
def recursive_programs(draw: Any) -> str:
    """The text of a program with a recursion of R and S, read by other rules."""
    lines = [HEADER, "output relation R(a: bit<2>, b: bit<2>)", "output relation S(s: string, a: bit<2>)"]
    lines += draw(st.lists(st.sampled_from(BASES), min_size=1, max_size=4, unique=True))
    lines += draw(st.lists(st.sampled_from(RECURSIVE), min_size=1, max_size=5, unique=True))
    readers = draw(st.lists(st.sampled_from(READERS), max_size=3, unique=True))
    return "\n".join([*lines, *(filled(draw, each, 30 + k) for k, each in enumerate(readers))])


KINDS = {
    "recursive": recursive_programs,
    "plain": programs,
    "grouping": grouping_programs,
    "timed": timed_programs,
}


@st.composite
def faulty(draw: Any, kinds: Sequence[str] = ("recursive", "recursive", "plain", "grouping", "timed")) -> str:
    """The text of a program with rules that may fault."""
    lines = [draw(KINDS[draw(st.sampled_from(kinds))]()), FAULTS]
    rules = draw(st.lists(st.sampled_from(FAULTY), max_size=3, unique=True))
    lines += [filled(draw, rule, 20 + number) for number, rule in enumerate(rules)]
    return "\n".join([*lines, draw(st.sampled_from(["", "", "", PATHS, LOOP]))])


@dataclass(frozen=True)
class Step:
    """What is done with some changes: `way` is "commit", or how they are taken back; `at` says where."""

    way: str
    changes: Sequence[Change]
    at: int = 0


TAKEN = (
    "trial", "trial", "trial", "before", "limited", "interrupted", "interrupted", "exhausted", "refused",
    "refused", "rolled back", "question",
)  # fmt: skip
OFTEN = ["Num", "Tag", "Num", "Tag", "Bag", "Bad", "Keyed", "Flow"]


@st.composite
def scripts(draw: Any, most: int = 10, limited: bool = True) -> list[Step]:
    """Steps for a program of `faulty`: of a few relations, rows come, go and come again. Often what was taken
    back is committed then, and what was committed is undone."""
    ways = [way for way in TAKEN if limited or way != "limited"]
    names = [*OFTEN, *draw(st.lists(st.sampled_from(sorted(MORE_ROWS)), max_size=4))]
    rows: dict[str, list[Any]] = {}
    steps: list[Step] = []
    for _ in range(draw(st.integers(2, most))):
        kind = draw(st.sampled_from(["new", "new", "again", "undone"])) if steps else "new"
        if kind == "new":
            changes = [draw(changes_of(names, rows)) for _ in range(draw(st.integers(1, 5)))]
        elif kind == "again":
            changes = list(steps[-1].changes)
        else:
            past = draw(st.sampled_from(steps)).changes
            changes = [(name, row, -sign) for name, row, sign in reversed(past)]
        if draw(st.booleans()):
            steps.append(Step(draw(st.sampled_from(ways)), changes, draw(st.integers(0, 60))))
            if draw(st.booleans()):
                continue
        steps.append(Step("commit", changes))
    return steps


@st.composite
def changes_of(draw: Any, names: Sequence[str], rows: dict[str, list[Any]]) -> Change:
    """A change of a row, which is often one of those drawn before."""
    name = draw(st.sampled_from(names))
    some = rows.setdefault(name, [])
    if len(some) < 2 or draw(st.integers(0, 3)) == 0:
        some.append(draw(MORE_ROWS["Tag" if name == "Flow" else name]))
        return name, some[-1], 1
    return name, draw(st.sampled_from(some)), draw(st.sampled_from([1, 1, -1]))


class Pair:
    """A session, and one that is the definition."""

    def __init__(
        self,
        session: ddlog.Session,
        definition: ddlog.Session,
        readable: bool = True,
        failing: Callable[[int], Any] | None = None,
    ) -> None:
        """`readable`: whether all relations are compared after each step. `failing`: gives a patch by which
        something that an epoch needs fails, at some point."""
        self.session, self.definition, self.readable = session, definition, readable
        self._failing = failing
        self.names = sorted(session.state.kept & definition.state.kept)
        self.before = self.now = self.contents(definition)
        self.compare()

    def contents(self, session: ddlog.Session) -> dict[str, Any]:
        """What a session holds."""
        return {name: list(session[name].weighted()) for name in self.names}

    def compare(self) -> None:
        """Compares what the sessions hold."""
        if self.readable:
            assert self.contents(self.session) == self.now

    def give(self, session: ddlog.Session, changes: Sequence[Change]) -> list[bool]:
        """Puts changes into the transaction; says which could be."""
        done = []
        for relation, row, sign in changes:
            if relation not in session.program.relations:
                continue
            try:
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
                done.append(True)
            except ddlog.DDlogError:
                done.append(False)
        return done

    def commit(self, changes: Sequence[Change]) -> None:
        """Commits changes in both, or in neither."""
        assert self.give(self.session, changes) == self.give(self.definition, changes)
        try:
            wanted = self.definition.commit()
        except (ddlog.DDlogError, Fault) as expected:
            self.definition.rollback()
            try:
                got = self.session.commit()
            except ddlog.DDlogError as found:
                assert kind(found) == kind(expected), (found, expected)
                self.session.rollback()
                return
            raise AssertionError(f"no error, but {got}; expected: {expected}") from None
        self.accept(self.session.commit(), wanted)

    def accept(self, got: Any, wanted: Any) -> None:
        """Compares what a commit has changed."""
        assert {name: got.rows(name) for name in got} == {name: wanted.rows(name) for name in wanted}
        self.before, self.now = self.now, self.contents(self.definition)

    def take(self, step: Step) -> None:
        """Performs a step."""
        session = self.session
        match step.way:
            case "commit":
                self.commit(step.changes)
            case "trial":
                self._try(step.changes)
            case "before":
                self._look_back()
            case "rolled back":
                self.give(session, step.changes)
                session.rollback()
            case "question":
                self._ask(step.at)
            case _:
                self.give(session, step.changes)
                self._end(step)
        self.compare()

    def _try(self, changes: Sequence[Change]) -> None:
        if not SessionHeld(self.session.state).can_attempt:
            return
        relations = self.session.program.relations
        some = [each for each in changes if each[0] in relations]
        come, gone = ([(name, row) for name, row, sign in some if sign == each] for each in (1, -1))
        got = SessionHeld(self.session.state).attempt(come, gone, lambda: self.contents(self.session), None)
        if self.readable:
            wanted = None
            with suppress(Fault):
                held = SessionHeld(self.definition.state)
                wanted = held.attempt(come, gone, lambda: self.contents(self.definition), None)
            assert got == wanted

    def _look_back(self) -> None:
        held = SessionHeld(self.session.state)
        if not held.can_attempt:
            return
        with suppress(ddlog.DDlogError):
            found = held.before(lambda: self.contents(self.session))
            assert found == self.before

    def _ask(self, at: int) -> None:
        session = self.session
        rows = [(name, row) for name in self.names for row in session[name].tuples()]
        if rows and SessionHeld(session.state).can_attempt:
            name, row = rows[at % len(rows)]
            with suppress(ddlog.DDlogError):
                session.why(name, row)
            with suppress(ddlog.DDlogError):
                session.why_change(name, row)

    def _end(self, step: Step) -> None:
        """Commits the changes, which are given, in a way in which the epoch may end early."""
        session, state = self.session, self.session.state
        match step.way:
            case "limited":
                patch: Any = mock.patch.object(state, "max_iterations", 1 + step.at % 6)
            case "exhausted" if self._failing is not None:
                patch = self._failing(step.at)
            case "refused":
                patch = mock.patch.object(state, "_seal", lambda: refuse)
            case _:
                raised = Pressed if step.way == "interrupted" else MemoryError
                patch = mock.patch.object(interrupt, "check", acting_at(step.at, raised))
        try:
            with patch:
                got = session.commit()
        except (ddlog.DDlogError, Pressed, Refused, ConnectionError):
            session.rollback()
            return
        self.give(self.definition, step.changes)
        self.accept(got, self.definition.commit())


def kind(error: ddlog.DDlogError | Fault) -> list[str]:
    """The kinds of diagnostics of an error: which of several faults is told is not said."""
    if isinstance(error, Fault):
        return ["FaultInRule"]
    return sorted({type(each).__name__ for each in error.diagnostics})


def follow(pair: Pair, script: Sequence[Step]) -> None:
    """Takes all steps."""
    for step in script:
        pair.take(step)
