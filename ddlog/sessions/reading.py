"""Reading a session: contents of relations, look-ups in indexes, and queries, as of the last commit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core import Column, Relation, answer_relation
from ..errors.diagnostics import DDlogError
from ..errors.reading import RelationNotKept
from ..errors.source import Source
from ..errors.unknown import unknown_index
from ..values.rows import row_of
from .gaps import Ability, check_offered, refused
from .hosts.host import frames_of
from .program import check_delays
from .results.indexes import IndexView
from .results.tempviews import register_views
from .results.views import RelationView, Result
from .transactions.state import SessionState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SessionReader:
    """The relations and indexes of a session, to be read. Every method raises DDlogError where `Session`
    does."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    def view(self, relation: str) -> RelationView:
        """The rows of a relation."""
        declared, host = self._readable(relation), self._state.host

        def frame() -> DataFrame:
            return frames_of(host, Ability.FRAMES_OUT).frame(declared.name)

        stored = host.runtime.rows(declared.name)
        return RelationView(declared, stored, partial(self._contains, declared), self._state.typedefs, frame)

    def size(self, relation: str) -> int:
        """The number of rows of a relation."""
        return self._state.host.runtime.size(self._readable(relation).name)

    def index(self, name: str) -> IndexView:
        """An index, for look-ups."""
        program = self._state.program
        index = program.indexes.get(name)
        if index is None:
            raise DDlogError([unknown_index(name, program.indexes, program.relations)])
        self._state.check_open()
        if index.source not in self._state.kept:
            raise DDlogError([RelationNotKept(f"the index {name}")])
        self._state.start()
        relation = program.relations[index.relation]
        host = self._state.host

        def no_frame() -> DataFrame:
            raise refused(host.offer.kind, Ability.LOOKUP_FRAMES)

        return IndexView(index, relation, host.runtime, self._state.typedefs, no_frame)

    def query(self, text: str, name: str, values: Mapping[str, Any]) -> Result:
        """The valuations that satisfy a rule body with values for names."""
        from ..check.query import check_query

        self._state.check_open()
        checked = self._state.program.checked
        query = check_query(checked, Source(name, text), values)
        program, types = query.within(checked), query.rule.variables
        check_delays(query, self._state.program.relations)
        self._state.start()
        with self._state.diagnosing():
            if all(atom.relation in self._state.kept for atom in query.reads()):
                stored = self._state.host.query(program, query)
            else:
                stored = self._state.questions.answer(query, self._state.max_iterations)
        columns = [Column(each.partition("$")[0], types[each]) for each in query.variables]
        relation = answer_relation("query", columns, query.rule.span)
        return Result(relation, stored, program.typedefs, query.warnings)

    def write(self, relation: str, place: str, format: str) -> str:
        """Lets Spark write a relation, and returns the folder or table."""
        declared = self._readable(relation)
        return frames_of(self._state.host, Ability.WRITE).write(declared, place, format)

    def register_views(self, prefix: str) -> list[str]:
        """Makes a temp view of Spark of each output relation, and returns their names."""
        self._state.check_open()
        check_offered(self._state.host.offer.kind, Ability.FRAMES_OUT)
        program = self._state.program
        kept = [name for name in program.names("output") if name in self._state.kept]
        return register_views({name: self.view(name).to_spark() for name in kept}, program.relations, prefix)

    def _readable(self, name: str) -> Relation:
        self._state.check_open()
        declared = self._state.declared(name)
        if declared.name not in self._state.kept:
            raise DDlogError([RelationNotKept(name)])
        self._state.start()
        return declared

    def _contains(self, declared: Relation, value: Any) -> bool:
        try:
            row = row_of(value, declared, self._state.typedefs)
        except DDlogError:
            return False
        return self._state.host.runtime.contains(declared.name, [row])[0]
