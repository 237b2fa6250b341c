"""A session's relations, as explanations ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from ..core import Atom, CheckedProgram, CheckedQuery, Clause, Const, GroupBy, Let, Stratum
from ..demand.program import effectful
from ..engine.runtime import NotKept
from ..errors.diagnostics import DDlogError
from ..errors.why import NoStateBefore
from ..explaining.derivations import Derivations
from ..explaining.oneround import one_round
from ..explaining.snapshot import Fact, HeldRelations, Replay, is_given
from ..explaining.stages import GIVEN, KEYS
from ..values.rows import Row, row_of
from .pending import PendingChanges

if TYPE_CHECKING:
    from ..engine.runtime import Batch
    from ..explaining.goals import Goal
    from .asking.questions import Questions
    from .hosts.host import Host
    from .transactions.state import SessionState


T = TypeVar("T")


class SessionHeld:
    """The relations of a session. See `HeldRelations`."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self.program = state.program.checked
        self._questions: Questions | None = None  # those asked in another state
        self._replays: dict[tuple[str, ...], Replay | None] = {}
        self._written: dict[tuple[str, ...], Host | None] = {}  # see `_as_written`
        self._replayed = -1  # the epoch of both

    def valuations(
        self,
        program: CheckedProgram,
        query: CheckedQuery,
        given: Mapping[str, Sequence[Row]],
        most: int | None = None,
    ) -> Iterable[Row]:
        state = self._state
        with state.diagnosing():
            if all(each.relation in state.kept or each.relation in given for each in query.reads()):
                return state.host.query(program, query, given, most)
            found = (row for each in _constant(query, given) for row in self._asked(each))
            return list(islice(found, most))

    def _asked(self, query: CheckedQuery) -> Iterable[Row]:
        questions = self._questions or self._state.questions
        return questions.answer(query, self._state.max_iterations)

    def holds(self, relation: str, rows: Sequence[Row]) -> list[bool]:
        state = self._state
        if relation in state.kept:
            return state.host.runtime.contains(relation, rows)
        from ..explaining.stages import membership

        present = membership(self, relation, rows)
        return [row in present for row in rows]

    def weights(self, relation: str, rows: Sequence[Row]) -> list[int]:
        if relation in self._state.kept:
            return self._state.host.runtime.lookup(relation, rows)
        return [int(there) for there in self.holds(relation, rows)]

    def births(self, relation: str, rows: Sequence[Row]) -> tuple[Sequence[int], bool] | None:
        """An iteration of a recursion is a level of proofs if all else that its rules read is given. One that
        may have been made linear (`engine.passes.transitive`) has other iterations, so it is evaluated
        again by its rules."""
        stratum = self._levels.get(relation)
        if stratum is None or relation not in self._state.kept:
            return None
        host = self._as_written(stratum) if _may_be_linear(stratum) else self._state.host
        found = None if host is None else host.runtime.births(relation, rows, stratum.relations)
        return None if found is None else ([birth + 1 for birth in found[0]], found[1])

    def _as_written(self, stratum: Stratum) -> Host | None:
        """A host with the relations of a recursion, evaluated by its rules as they are written; None if one
        has an effect."""
        from .asking.replay import as_written

        of = partial(as_written, self._state.program, stratum, self._contents)
        return self._once(self._written, stratum, of)

    @cached_property
    def _levels(self) -> dict[str, Stratum]:
        """The recursions whose iterations are levels of proofs, by their relations."""
        return {
            name: stratum
            for stratum in self.program.strata
            if stratum.recursive and stratum.loop is None and self._by_levels(stratum)
            for name in stratum.relations
        }

    def _by_levels(self, stratum: Stratum) -> bool:
        if any(not rule.body or any(isinstance(c, GroupBy) for c in rule.body) for rule in stratum.rules):
            return False
        terms = [each for rule in stratum.rules for each in rule.body if isinstance(each, Atom)]
        outside = {each.relation for each in terms if not each.negated} - set(stratum.relations)
        return all(is_given(self.program.relations[name]) for name in outside)

    def replay(self, stratum: Stratum) -> Replay | None:
        from .asking.replay import Replayed

        def made(near: Host | None) -> Replay | None:
            of = one_round(self.program, stratum)
            return None if of is None else Replayed(self._state.program, of, self._contents, near)

        return self._once(self._replays, stratum, made)

    def _once(self, known: dict[tuple[str, ...], T], stratum: Stratum, made: Callable[[Host | None], T]) -> T:
        """The host or the replay that `made` gives for a stratum; it is made once an epoch. `made` gets the
        host of the session, or None for one on Spark."""
        state = self._state
        if self._replayed != state.epochs:
            self._replayed = state.epochs
            self._replays.clear()
            self._written.clear()
        if stratum.relations not in known:
            with state.diagnosing():
                known[stratum.relations] = made(state.host if state.host.offer.frames is None else None)
        return known[stratum.relations]

    def _contents(self, relation: str, to: Host) -> Batch:
        state = self._state
        if relation in state.kept and state.host.offer.frames is None:
            return state.host.handed(relation, to)
        declared = self.program.relations[relation]
        names = tuple(f"c{at}" for at in range(len(declared.columns)))
        return to.runtime.batch(relation, Derivations(self).some(relation, names, None))

    @contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """Inside, the session is in another state: nothing that was computed for this one is used."""
        kept = self._replayed, self._replays, self._written
        self._replays, self._written = {}, {}
        try:
            with self._state.questions.on_trial() as self._questions:
                yield
        finally:
            (self._replayed, self._replays, self._written), self._questions = kept, None

    def attempt(
        self, insert: Sequence[Fact], delete: Sequence[Fact], look: Callable[[], T], otherwise: T
    ) -> T:
        state = self._state
        pending: dict[str, PendingChanges] = {}
        try:
            with state.diagnosing():
                for sign, facts in ((-1, delete), (1, insert)):
                    for name, row in facts:
                        if name not in pending:
                            pending[name] = state.host.pending(self.program.relations[name])
                        (pending[name].insert if sign > 0 else pending[name].delete)([row])
                changes = {name: each.batches() for name, each in pending.items()}
                with self._elsewhere():
                    return state.host.runtime.attempt(changes, look, state.max_iterations)
        except DDlogError:
            return otherwise

    @property
    def first(self) -> bool:
        return self._state.first

    def before(self, look: Callable[[], T]) -> T:
        state = self._state
        if not self.can_attempt:
            raise DDlogError(
                [NoStateBefore("the program has streams, windows or effects, or a load was static")]
            )
        try:
            with state.diagnosing(), self._elsewhere():
                return state.host.runtime.before(look, state.max_iterations)
        except NotKept as unknown:
            raise DDlogError([NoStateBefore(str(unknown))]) from None

    @property
    def can_attempt(self) -> bool:
        return not self._leaves_traces and not self._state.static

    @cached_property
    def _leaves_traces(self) -> bool:
        relations = self.program.relations.values()
        timed = any(each.kind == "stream" or each.window is not None for each in relations)
        return timed or bool(effectful(self.program))


def _may_be_linear(stratum: Stratum) -> bool:
    """True for a recursion of one relation in which a rule has two terms of that relation."""
    bodies = [[each for each in rule.body if isinstance(each, Atom)] for rule in stratum.rules]
    own = [sum(each.relation in stratum.relations for each in body) for body in bodies]
    return len(stratum.relations) == 1 and max(own, default=0) > 1


def _constant(query: CheckedQuery, given: Mapping[str, Sequence[Row]]) -> Iterable[CheckedQuery]:
    """The query for each of the rows that are given, as constants."""
    rule = query.rule
    rest = tuple(
        each for each in rule.body if not (isinstance(each, Atom) and each.relation in (GIVEN, KEYS))
    )
    terms = [each for each in rule.body if isinstance(each, Atom) and each.relation == GIVEN]
    if not terms:
        yield replace(query, rule=replace(rule, body=rest))
        return
    columns, types = terms[0].columns, rule.variables
    for row in given[GIVEN]:
        known: list[Clause] = [
            Let(name, Const(value, types[name], rule.span), rule.span)
            for name, value in zip(columns, row, strict=True)
            if name is not None
        ]
        yield replace(query, rule=replace(rule, body=(*known, *rest)))


class Explaining:
    """The explanations that a session gives. All methods raise DDlogError."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._held = SessionHeld(state)
        self._derivations = Derivations(self._held)

    def explained(
        self, word: str, relation: str, value: Any, values: Mapping[str, Any], more: Mapping[str, Any]
    ) -> Any:
        """The result of the function of `explaining.why` with the name `word`, for a row and `more`
        arguments. A question without a `value` is a text."""
        from ..explaining import why

        choose = {"why_not": why.whole_row, "why_change": why.row_changed}.get(word, why.row_asked)
        name, row, matches = self._asked(relation, value, values, choose)
        about = self._held if word == "why_change" else self._derivations
        matching = {"matches": matches} if word in ("why", "why_change") else {}
        return getattr(why, word)(about, name, row, **more, **matching)

    def _asked(
        self,
        relation: str,
        value: Any,
        values: Mapping[str, Any],
        choose: Callable[[HeldRelations, Goal], tuple[Row, Sequence[Row]]],
    ) -> tuple[str, Row, Sequence[Row]]:
        """The relation and the row of a question, and the rows that match it. `values` are those of names in
        its text."""
        state = self._state
        state.check_open()
        if value is not None:
            declared = state.declared(relation)
            row = row_of(value, declared, state.typedefs)
            state.start()
            return declared.name, row, ()
        from ..explaining.goals import goal

        state.start()
        found = goal(self._held, relation, values)
        return found.relation, *choose(self._held, found)
