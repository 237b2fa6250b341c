"""Queries over relations that a session does not keep: each evaluates what it needs, beside the session.

A query with its constants left open is a program whose inputs are relations of the session, and one more
that has the constants. Its state is kept up to date with the session. So to ask again is a look-up, and to
ask with other constants is an epoch that inserts them.

Demand pays while it is for a part. A question that takes more work than that has the relations computed whole
(`demandbudget`). Once the values that a relation is asked for are half as many as the rows
of the largest input that it rests on, all of it is computed when it is next asked. Then it is a look-up, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...core import CheckedProgram, CheckedQuery
from ...core.program import needed
from ...demand.adornment import DEMAND
from ...demand.program import effectful, there_anyway
from ...demand.question import FOUND, SEEDS, AskedProgram, over, question
from ...engine import interrupt
from ...errors.diagnostics import DDlogError
from ...errors.lookups import EffectsNotKept, NotDelayed, WindowNotKept
from ...values.rows import Row
from ..hosts.host import Host
from ..results.listedrows import found_rows
from .demandbudget import sparing

if TYPE_CHECKING:
    from ...engine.circuit import Circuit
    from ...engine.runtime import Batch, RowSet
    from ..program import Program

MOST = 4
"""The most questions that are kept up to date."""

MOST_ASKED = 256
"""The most choices of constants for which a question is kept up to date."""


MOST_MADE = 64
"""The most circuits of questions that are kept, to begin these again."""

MOST_VALUES = 10_000
"""Values that a relation may be asked for, however small its inputs are."""


@dataclass
class _Standing:
    """A question that is kept up to date: its host, what it rests on, and the constants that it was asked
    with."""

    host: Host
    demands: Mapping[str, str]  # each relation of demanded values, with the relation that is asked
    inputs: frozenset[str]
    streams: tuple[str, ...]
    asked: set[Row] = field(default_factory=set)


class Questions:
    """The questions of one session, those asked last first."""

    def __init__(self, program: Program, host: Host, kept: frozenset[str]) -> None:
        self._program, self._host, self._kept = program, host, kept
        self._standing: dict[str, _Standing] = {}
        self._whole: set[str] = set()  # relations for which demand did not pay
        self._made: dict[tuple[str, tuple[str, ...]], tuple[Program, Circuit]] = {}  # of questions

    @contextmanager
    def on_trial(self) -> Iterator[Questions]:
        """Questions to the session in another state than that of its last commit."""
        other = Questions(self._program, self._host, self._kept)
        other._whole, other._made = self._whole, self._made
        try:
            yield other
        finally:
            other.close()

    def answer(self, query: CheckedQuery, max_iterations: int | None) -> RowSet:
        """The valuations of the variables of a query. Raises DDlogError, and what a runtime raises."""
        given = self._given(query)
        asked = question(over(self._program.checked, given), query)
        standing = self._standing.pop(asked.form, None)
        if standing is not None and len(standing.asked) >= MOST_ASKED:
            standing.host.runtime.close()
            standing = None
        if standing is None or asked.values not in standing.asked:
            standing = self._asked_of(standing, asked, given, max_iterations)
        self._standing = {asked.form: standing, **self._standing}
        rows = self._found(standing, asked)
        if too_many := self._too_many(standing):
            self._whole |= too_many
            self._drop(asked.form)
        for form in list(islice(self._standing, MOST, None)):
            self._standing.pop(form).host.runtime.close()
        return rows

    def _asked_of(
        self,
        standing: _Standing | None,
        asked: AskedProgram,
        given: frozenset[str],
        max_iterations: int | None,
    ) -> _Standing:
        """The question with its answer, from the one that stands already if there is one."""
        on_demand = set[str]()

        def attempt(whole: bool, budget: int | None) -> _Standing:
            nonlocal standing
            known = self._whole | on_demand if whole else self._whole
            found, standing = standing or self._begun(asked, given, known), None
            on_demand.update(found.demands.values())
            budgeted = found.host.offer.budgeted
            with nullcontext() if budgeted is None else budgeted.within(budget if on_demand else None):
                self._ask(found, asked, max_iterations)
            self._whole |= known
            return found

        return sparing(sum(map(self._host.runtime.size, given)), attempt)

    def _found(self, standing: _Standing, asked: AskedProgram) -> RowSet:
        runtime = standing.host.runtime
        if not asked.values:
            return runtime.rows(FOUND)
        rows = runtime.find(FOUND, dict(enumerate(asked.values)))
        width = len(asked.values)
        schema = runtime.rows(FOUND).schema[width:]
        return found_rows(schema, dict.fromkeys((row[width:] for row in rows), 1))

    def follow(self, changes: Mapping[str, Sequence[tuple[Batch, int]]], max_iterations: int | None) -> None:
        """Takes in the changes of a commit of the session. A question that cannot is evaluated anew when it
        is asked again: whatever is wrong with it does not concern the commit, and an interrupt is acted on
        after it."""
        for form, standing in list(self._standing.items()):
            if self._host.offer.here is None or not standing.inputs <= self._followed():
                self._drop(form)
                continue
            own = {name: each for name, each in changes.items() if name in standing.inputs}
            if not own and not standing.streams:
                continue
            try:
                standing.host.runtime.commit(own, max_iterations=max_iterations)
            except Exception:
                self._drop(form)
            except BaseException:
                self._drop(form)
                interrupt.note()

    def _too_many(self, standing: _Standing) -> set[str]:
        """The relations that are asked for so much that all of them would cost no more."""
        size = standing.host.runtime.size
        many = {of for name, of in standing.demands.items() if size(name) > MOST_VALUES}
        return {of for of in many if 2 * self._asked(standing, of) > self._largest(of)}

    def _asked(self, standing: _Standing, relation: str) -> int:
        size = standing.host.runtime.size
        return max(size(name) for name, of in standing.demands.items() if of == relation)

    def _largest(self, relation: str) -> int:
        """The rows of the largest relation of the session that a relation rests on."""
        there = there_anyway(self._program.checked)
        read = needed(self._program.checked, [relation], there) & there & self._kept
        return max((self._host.runtime.size(name) for name in read), default=0)

    def hosts(self) -> Iterator[Host]:
        """The hosts of the questions."""
        yield from (each.host for each in self._standing.values())

    def close(self) -> None:
        """Forgets all questions."""
        for form in list(self._standing):
            self._drop(form)

    def _drop(self, form: str) -> None:
        self._standing.pop(form).host.runtime.close()

    def _followed(self) -> set[str]:
        """The relations whose changes a commit tells."""
        relations = self._program.relations
        return {name for name in self._kept if relations[name].role in ("input", "delayed")}

    def _given(self, query: CheckedQuery) -> frozenset[str]:
        """The relations of the session that a query rests on. Raises DDlogError if one is not kept that has
        to be."""
        program: CheckedProgram = self._program.checked
        there = there_anyway(program)
        read = needed(program, (each.relation for each in query.reads()), there)
        effects = effectful(program)
        for name in sorted((read & there) - self._kept):
            if program.relations[name].past is not None:
                raise DDlogError(
                    [NotDelayed(name, tuple(sorted(each for each in self._kept if "-" in each)))]
                )
            if window := program.relations[name].window:
                raise DDlogError([WindowNotKept(window.shown_by or name.partition("$")[0])])
            if name in effects:
                raise DDlogError([EffectsNotKept(name)])
        return frozenset(read & there)

    def _begun(self, asked: AskedProgram, given: frozenset[str], whole: Collection[str]) -> _Standing:
        """The question, before it is asked. Some relations are computed whole."""
        from ..program import Program

        key = asked.form, tuple(sorted(whole))
        if key not in self._made:
            program = Program(self._program.source, asked.program)
            self._made[key] = program, self._host.offer.lowered(program, [FOUND, *sorted(whole)], True)
            for old in list(islice(self._made, max(0, len(self._made) - MOST_MADE))):
                del self._made[old]
        program, circuit = self._made[key]
        host = self._host.beside(program, circuit)
        demands = {name: name.partition("$")[0] for name, _ in circuit.relations if name.endswith(DEMAND)}
        inputs = frozenset(given)
        streams = tuple(name for name in sorted(inputs) if program.relations[name].kind == "stream")
        return _Standing(host, demands, inputs, streams)

    def _ask(self, standing: _Standing, asked: AskedProgram, max_iterations: int | None) -> None:
        """Inserts constants; the first time with all that the question reads."""
        runtime = standing.host.runtime
        changes: dict[str, Sequence[tuple[Any, int]]] = {}
        for name in standing.streams if standing.asked else sorted(standing.inputs):
            changes[name] = [(self._host.handed(name, standing.host), 1)]
        if asked.values:
            changes[SEEDS] = [(runtime.batch(SEEDS, [asked.values]), 1)]
        try:
            runtime.commit(changes, max_iterations=max_iterations)
        except BaseException:
            standing.host.runtime.close()
            raise
        standing.asked.add(asked.values)
