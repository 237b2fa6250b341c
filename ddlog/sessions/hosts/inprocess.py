"""The in-process host: relations in the memory of this process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ... import values
from ...core import CheckedProgram, CheckedQuery, Relation
from ...engine.machine import UNLIMITED, default_limit, processors
from ...engine.runtime import Batch, ComparingRuntime, RowSet
from ...errors.diagnostics import DDlogError
from ...errors.spark import NeedsSpark
from ...lowering.lower import lower_query
from ...lowering.records import query_in_columns
from ...values.layouts import Layouts
from ...values.rows import Row
from ..pending import PendingChanges, stored_changes
from ..program import Program
from ..results.records import RecordColumns, RecordRuntime, with_records
from .host import FactSource, Host, LocatedFacts, Offer, here_of
from .inputrows import IncomingRows, file_rows, is_frame, table_rows

if TYPE_CHECKING:
    from pathlib import Path

    from ...engine.circuit import Circuit
    from ...engine.inprocess.runtime import InProcess
    from ...engine.maintenance import Mode
    from ...io.files import FactFile
    from ...io.places import Place
    from ...io.refusals import Refuse


MOST_LOWERED = 256
"""The most circuits of queries that are kept, to ask these queries again of other rows. An explanation asks
about a dozen queries, each many times."""


def open_host(
    program: Program,
    circuit: Circuit,
    workers: int | None,
    memory_limit: int | None = None,
    maintain: Mode = "auto",
    spill: str | Path | None = None,
) -> InProcessHost:
    """A host for an incremental circuit of a program. So many threads share its work; None: one for each
    processor that the process may use. `memory_limit` is in bytes, by default a part of the machine's memory;
    `maintain` says whether recursions are maintained, and `spill` is the folder to which large arrays go."""
    from ...engine.inprocess.runtime import InProcess

    workers = workers or processors()
    limit = default_limit() if memory_limit is None else memory_limit
    bounded = None if limit == UNLIMITED else limit
    runtime = InProcess(circuit, values.NAN, workers, bounded, maintain=maintain, spill=spill)
    return InProcessHost(program, runtime)


class InProcessHost:
    """A runtime of this process. See `Host`."""

    def __init__(self, program: Program, runtime: ComparingRuntime) -> None:
        self.runtime = with_records(runtime, program.relations, program.checked.typedefs)
        shown = self.runtime.shown if isinstance(self.runtime, RecordRuntime) else dict
        here = cast("InProcess", runtime)  # a runtime of tests may stand for it
        self.offer = Offer(shown=shown, budgeted=here, here=here)
        self._program, self._typedefs = program, program.checked.typedefs
        # By identity, those asked last at the end.
        self._lowered: dict[int, tuple[CheckedQuery, Circuit]] = {}

    def pending(self, declared: Relation) -> PendingChanges:
        return stored_changes(self._program, declared, self.runtime)

    def incoming(self, declared: Relation, table: Any) -> IncomingRows:
        if is_frame(table):
            raise DDlogError([NeedsSpark("a Spark DataFrame")])
        return table_rows(self.runtime, declared, table, self._typedefs)

    def locate(
        self,
        places: Sequence[Place],
        inputs: Sequence[str],
        others: Collection[str],
        originals: Mapping[str, str],
    ) -> LocatedFacts:
        from ...io.places import find_local
        from ...io.rowplaces import placed_rows

        found = find_local(places, inputs, others, originals)
        relations = self._program.relations
        sources = [
            FactSource(
                file.relation,
                file.path.name,
                partial(self._read, file),
                partial(placed_rows, file, relations[file.relation], self._typedefs),
            )
            for file in found.files
        ]
        return LocatedFacts(sources, found.missing, found.ignored)

    def _read(self, file: FactFile, note: Callable[[str], None], refuse: Refuse | None) -> IncomingRows:
        with here_of(self).bounded():
            declared = self._program.relations[file.relation]
            return file_rows(self.runtime, declared, file, self._typedefs, note, refuse)

    def query(
        self,
        program: CheckedProgram,
        query: CheckedQuery,
        given: Mapping[str, Sequence[Row]] | None = None,
        most: int | None = None,
    ) -> RowSet:
        layouts = Layouts(program.typedefs)
        apart = {
            name: RecordColumns(
                ((each.name, each.type) for each in program.relations[name].columns), layouts
            ).rows_apart(rows)
            for name, rows in (given or {}).items()
        }
        kept = self._lowered.pop(id(query), None) or (query, lower_query(*query_in_columns(program, query)))
        if given:
            self._lowered[id(query)] = kept
            if len(self._lowered) > MOST_LOWERED:
                del self._lowered[next(iter(self._lowered))]
        stored = self.runtime.query(kept[1], apart, most)
        types = query.rule.variables
        of = RecordColumns(((each, types[each]) for each in query.variables), layouts)
        return of.shown(stored)

    def beside(self, program: Program, circuit: Circuit) -> InProcessHost:
        return InProcessHost(program, here_of(self).beside(circuit))

    def handed(self, relation: str, to: Host) -> Batch:
        return here_of(self).contents(relation)
