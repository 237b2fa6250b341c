"""The relations of a session that a state in a file keeps: its inputs, the past that rules read, and what
windows hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...durability.forms import RelationForm, Rows, listed
from ...durability.inputs import PAST
from ...durability.migration import Migration, check_fill
from ...durability.program import compared, take_over, texts
from ...durability.records import Stored
from ...durability.store import FileStore
from ...durability.sums import summed, weights_of
from ...durability.typetexts import relation_of
from ...errors.diagnostics import DDlogError
from ...errors.state import KeyOfSeveral
from ...values.layouts import Layouts
from ..results.records import RecordColumns
from ..transactions.durable_state import SignedRows
from .kept_schema import KeptSchema, kept_schema
from .windowcontents import KeptWindows

if TYPE_CHECKING:
    import pyarrow as pa

    from ..program import Program


class KeptRelations(KeptSchema):
    """The relations of a session that a file keeps. `stored` are the relations of the file by their names,
    and `forms` the forms of their rows by their ids; `delays` are the relations that are read with a delay,
    and `depth` is the longest delay. `fresh` are windows that a state which is begun does not know yet: they
    are added when it is known what they hold. `changed`: the program is another one than the state's last."""

    def __init__(
        self,
        program: Program,
        computed: frozenset[str],
        store: FileStore,
        windows: KeptWindows,
        fill: Mapping[str, Any] | None,
    ) -> None:
        """For a session that computes these relations; `fill` not None: rows are migrated. Raises
        DDlogError."""
        self.store, self.windows = store, windows
        self._typedefs = program.checked.typedefs
        found = kept_schema(program, computed, windows)
        super().__init__(found.relations, {}, found.delays, found.depth)
        self.fresh = self._new_windows(found.stored)
        known = store.program()
        self._text = texts(program.source.name, program.source.text, self.depth)
        self.changed = bool(known) and known.get("digest") != self._text["digest"]
        self.stored = self._taken_over(
            program, {n: s for n, s in found.stored.items() if n not in self.fresh}, fill
        )
        self.forms = {each.id: self.form(name) for name, each in self.stored.items()}

    def form(self, name: str) -> RelationForm:
        """The form of the rows of a relation of the file."""
        return RelationForm(self.relations[name].columns, self._typedefs)

    def rows(self, name: str, signed: SignedRows) -> Rows:
        """Rows of values of a relation of the file, in the form of the file."""
        columns = [list(values) for values in zip(*(row for row, _ in signed), strict=True)]
        weights = np.array([weight for _, weight in signed], np.int64)
        return Rows(self._layouts(name).apart(columns) if columns else [], weights, None, len(signed))

    def _layouts(self, name: str) -> RecordColumns:
        columns = ((each.name, each.type) for each in self.relations[name].columns)
        return RecordColumns(columns, Layouts(self._typedefs))

    def _new_windows(self, wanted: Mapping[str, Stored]) -> dict[str, Stored]:
        """The relations of windows that a state which is begun does not know yet."""
        known = {each.name: each.role for each in self.store.relations if not each.dropped}
        roles = {name: role for name, role in self.windows.roles.items() if role == "window"}
        if not self.store.head.epoch:
            return {}
        return {name: wanted[name] for name, role in roles.items() if known.get(name) != role}

    def _taken_over(
        self, program: Program, wanted: Mapping[str, Stored], fill: Mapping[str, Any] | None
    ) -> dict[str, Stored]:
        """The relations of the store for those that the program wants kept."""
        check = partial(self._check_key, program)
        if fill is None:
            return take_over(self.store, wanted, self._text, None, check)
        typedefs = self._typedefs
        inputs = map(program.relations.__getitem__, program.names("input"))
        check_fill(fill, inputs, compared(self.store.relations, wanted).changed)
        migration = Migration(str(self.store.path), typedefs, fill)

        def convert(old: Stored, new: Stored, table: pa.Table) -> pa.RecordBatch:
            relation = self.relations[new.name]
            columns, weights = migration.migrated(old, relation, table)
            parts = self._layouts(new.name).apart(columns.data)
            return RelationForm(relation.columns, typedefs).batch(Rows(parts, weights, None, columns.count))

        return take_over(self.store, wanted, self._text, convert, check)

    def _check_key(self, program: Program, name: str, tables: Iterable[pa.Table]) -> None:
        """Raises DDlogError if two rows of an input, the sum of these changes, have the same primary key."""
        relation, form = self.relations[name], self.form(name)
        parts = [replace(form.rows(table), weights=weights_of(table)) for table in tables]
        if not parts:
            return
        rows = form.rows(summed([form.table(parts)]))
        columns = self._layouts(name).together([listed(column) for column in rows.columns])
        keys = list(map(program.key_function(relation), zip(*columns, strict=True)))
        if len(set(keys)) < len(keys):
            raise DDlogError([KeyOfSeveral(name)])

    def take_in_fresh(self) -> None:
        """Takes in the windows that were new, and are in the file now."""
        for name in self.fresh:
            added = self.store.relation(name)
            assert added is not None
            self.stored[name] = added
            self.forms[added.id] = self.form(name)
        self.fresh = {}

    def take_in(self, stored: Stored) -> None:
        """Takes in a relation of the file that is none of the program."""
        self.relations[stored.name] = relation_of(stored, str(self.store.path))
        self.forms[stored.id] = self.form(stored.name)

    @property
    def has_all_windows(self) -> bool:
        """Whether the state has the contents of all windows."""
        return not self.fresh

    @property
    def ids(self) -> set[int]:
        """The ids of all that is kept."""
        return {each.id for each in self.stored.values()}

    def without(self, there: Collection[str]) -> list[Stored]:
        """The kept rows of windows, and of the inputs and delayed relations that are not there."""
        inputs = [s for name, s in self.stored.items() if s.role == "input" and name not in there]
        delayed = [self.source(source) for name, (source, _) in self.delays.items() if name not in there]
        windows = self.windows
        last = [self.source(source) for source, _ in windows.last.values()]
        return inputs + delayed + last + [s for name, s in self.stored.items() if name in windows.nodes]

    @property
    def with_rows(self) -> list[str]:
        """The relations whose rows the state holds, but for streams and clocks."""
        windows = self.windows
        others = [
            n for n, each in self.stored.items() if n not in windows.relations and each.kind != "stream"
        ]
        return [n.removesuffix(PAST) for n in others] + [*windows.sizes.values()]

    @property
    def derived(self) -> list[str]:
        """The derived relations whose contents the state holds, because they are read with a delay."""
        return [
            name.removesuffix(PAST)
            for name, each in self.stored.items()
            if each.role == "past" and each.kind != "stream"
        ]
