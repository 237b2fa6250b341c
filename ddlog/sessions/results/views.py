"""The answers of a session: the rows of a relation, the rows of a query, the changes of a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import values
from ...core import Relation, relation_named
from ...engine.runtime import CountedDelta
from ...errors.diagnostics import DDlogError, Diagnostic
from ...errors.lookups import NotAnOutput
from ...errors.sessions import NoTable, NotInstalled
from ...errors.spark import SameView
from ...errors.unknown import unknown_relation
from ...types import Type, TypeDef
from ...values.rows import Row, has_plain_columns, record_maker, record_text
from ...values.topython import row_maker
from .nestedvalues import in_room, nested_values
from .records import RecordDelta

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from pyspark.sql import DataFrame

    from ...engine.runtime import Delta, RowSet


class Table:
    """Rows with named and typed columns, which can be given to other libraries as tables."""

    def __init__(self, relation: Relation, stored: RowSet, typedefs: Mapping[str, TypeDef]) -> None:
        self.relation, self._stored, self.typedefs = relation, stored, typedefs
        self._columns = relation.titled_types

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self._columns)

    @property
    def types(self) -> tuple[Type, ...]:
        """The types of the columns."""
        return tuple(type for _, type in self._columns)

    def __len__(self) -> int:
        return len(self._stored)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table; those of a multiset as often as they are there. Raises DDlogError for a
        value that Arrow cannot hold."""
        from ...io.arrow import to_table

        try:
            with nested_values():
                return to_table(self._columns, self._stored.columns(), self.typedefs, self._stored.weights)
        except ValueError as error:
            raise DDlogError([NoTable(str(error))]) from None

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas data frame; a bigint column is int64 if all its values fit. Raises DDlogError
        if pandas is not installed."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise DDlogError([NotInstalled("pandas")]) from None
        return self._narrow_table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars data frame; a bigint column is int64 if all its values fit, and UUIDs are
        texts. Raises DDlogError if polars is not installed."""
        try:
            import polars
        except ImportError:
            raise DDlogError([NotInstalled("polars")]) from None
        from ...io.arrow import portable, without_uuids

        return polars.from_arrow(portable(without_uuids(self._narrow_table())))  # type: ignore[return-value]

    def _narrow_table(self) -> pyarrow.Table:
        from ...io.arrow import narrowed

        return narrowed(self.to_arrow())

    def texts(self) -> Iterator[tuple[str, ...]]:
        """Each row as the texts that commands have of its values."""

        def show(row: Row) -> tuple[str, ...]:
            return tuple(values.show(v, type, self.typedefs) for v, type in zip(row, self.types, strict=True))

        return map(in_room(show), self._stored)

    def repeated(self) -> Iterator[Row]:
        """The rows as the runtime has them; those of a multiset as often as they are there, as files have
        them."""
        return (row for row, weight in zip(self._stored, self._weights(), strict=True) for _ in range(weight))

    def _weights(self) -> Sequence[int]:
        return self._stored.weights or [1] * len(self._stored)

    @property
    def stored(self) -> RowSet:
        """The rows as the runtime has them."""
        return self._stored


class RelationView(Table):
    """The rows of a relation as of the last commit, in the language's order.

    Iterating gives struct values (plain values for a relation `R[T]`), each row once. For a multiset,
    `weighted` gives the weight of each row, too.
    """

    def __init__(
        self,
        relation: Relation,
        stored: RowSet,
        contains: Callable[[Any], bool],
        typedefs: Mapping[str, TypeDef],
        frame: Callable[[], DataFrame],
    ) -> None:
        super().__init__(relation, stored, typedefs)
        self._contains, self._frame = contains, frame

    def __iter__(self) -> Iterator[Any]:
        make = record_maker(self.relation, self.typedefs)
        return map(make, self.tuples())

    def __contains__(self, value: object) -> bool:
        return self._contains(value)

    def weighted(self) -> Iterator[tuple[Any, int]]:
        """Each row with its weight."""
        return zip(self, self._weights(), strict=True)

    def to_spark(self) -> DataFrame:
        """The rows as a Spark DataFrame, which does not change when the relation does; for a multiset with a
        column `weight`. No row is collected. Raises DDlogError if the session is not on Spark."""
        return self._frame()

    def tuples(self) -> Iterator[Row]:
        """The rows as plain tuples, a value for each column, as Python has it."""
        return map(row_maker(self.types, self.typedefs), self._stored)

    def records(self) -> Iterator[str]:
        """The record texts of a dump. A weight other than 1 follows its record."""
        show = in_room(record_text(self.relation, self.typedefs))
        for row, weight in zip(self._stored, self._weights(), strict=True):
            yield show(row) if weight == 1 else f"{show(row)} {weight:+}"

    def __repr__(self) -> str:
        return f"<{self.relation.name}: {len(self)} rows>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .display import shown_table

        return shown_table(self, self.relation.name)


class Result(Table):
    """The answer to a query: a row for each valuation of its variables, in the language's order.

    A query without variables has one empty row if it holds, and no row if not. `warnings` say what it
    perhaps does not mean.
    """

    def __init__(
        self,
        relation: Relation,
        stored: RowSet,
        typedefs: Mapping[str, TypeDef],
        warnings: Sequence[Diagnostic] = (),
    ) -> None:
        super().__init__(relation, stored, typedefs)
        self.warnings = tuple(warnings)

    @property
    def rows(self) -> list[Row]:
        """The rows as tuples."""
        return list(self)

    def __iter__(self) -> Iterator[Row]:
        return map(row_maker(self.types, self.typedefs), self._stored)

    def records(self) -> Iterator[str]:
        """The texts that `query` prints: the variables with their values."""
        for texts in self.texts():
            fields = (f".{name} = {text}" for name, text in zip(self.columns, texts, strict=True))
            yield f"{{{', '.join(fields)}}}"

    def __bool__(self) -> bool:
        return len(self) > 0

    def __repr__(self) -> str:
        return f"<{len(self)} rows of ({', '.join(self.columns)})>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .display import shown_result

        return shown_result(self)


class Changes(Mapping[str, "list[tuple[Any, int]]"]):
    """The exact change of each output relation that a commit changed: rows with weights +1 and -1, in order.

    Printed, it is the text of `commit dump_changes`.
    """

    def __init__(
        self,
        deltas: Mapping[str, Delta],
        relations: Mapping[str, Relation],
        typedefs: Mapping[str, TypeDef],
        frame: Callable[[Delta], DataFrame],
        texts: dict[str, Callable[[Row], str]] | None = None,
    ) -> None:
        """`texts` keeps the writers of records from one commit to the next."""
        self._all, self._relations, self._typedefs, self._frame = deltas, relations, typedefs, frame
        self._texts = {} if texts is None else texts
        self._found: dict[str, Delta] | None = None

    @property
    def _deltas(self) -> dict[str, Delta]:
        """The deltas that are not empty, found when first asked for, since counting takes time after a large
        load."""
        if self._found is None:
            self._found = {name: each for name, each in sorted(self._all.items()) if len(each)}
        return self._found

    def __getitem__(self, relation: str) -> list[tuple[Any, int]]:
        """The changed rows of an output relation, none if it did not change. Raises DDlogError for another
        name."""
        make = record_maker(self._output(relation), self._typedefs)
        return [(make(row), weight) for row, weight in self.rows(relation)]

    def __contains__(self, relation: object) -> bool:
        declared = relation_named(relation, self._relations) if isinstance(relation, str) else None
        return declared is not None and declared.name in self._deltas

    def _output(self, relation: str) -> Relation:
        declared = relation_named(relation, self._relations)
        if declared is None:
            raise DDlogError([unknown_relation(relation, self._relations)])
        if declared.role != "output":
            outputs = tuple(sorted(each.name for each in self._relations.values() if each.role == "output"))
            raise DDlogError([NotAnOutput(relation, outputs)])
        return declared

    def __iter__(self) -> Iterator[str]:
        return iter(self._deltas)

    def __len__(self) -> int:
        return len(self._deltas)

    def rows(self, relation: str) -> list[tuple[Row, int]]:
        """The changed rows of an output relation as plain tuples. Raises DDlogError for another name."""
        make = row_maker([column.type for column in self._output(relation).columns], self._typedefs)
        return [(make(row), weight) for row, weight in self.stored(relation)]

    def stored(self, relation: str) -> list[tuple[Row, int]]:
        """The same rows as the runtime has them."""
        delta = self._deltas.get(self._output(relation).name)
        return [] if delta is None else list(zip(delta.rows, delta.weights, strict=True))

    def counts(self, relation: str) -> tuple[int, int]:
        """The numbers of rows of an output relation that came, and that went. Raises DDlogError for another
        name."""
        delta = self._deltas.get(self._output(relation).name)
        inner = delta.stored if isinstance(delta, RecordDelta) else delta
        if isinstance(inner, CountedDelta):
            return inner.counts()
        weights = [] if delta is None else delta.weights
        came = sum(each > 0 for each in weights)
        return came, len(weights) - came

    def to_spark(self, relation: str) -> DataFrame:
        """The change of an output relation as a Spark DataFrame: its columns, and `weight`, +1 or -1 (for a
        multiset any number but 0). Raises DDlogError if the session is not on Spark or the relation is not an
        output."""
        name = self._output(relation).name
        if name not in self._all:
            raise DDlogError([NotAnOutput(relation, tuple(sorted(self._all)))])
        return self._frame(self._all[name])

    def lines(self, only: Sequence[str] | None = None) -> Iterator[str]:
        """The lines of `commit dump_changes`, for some relations or for all."""
        for name, delta in self._deltas.items():
            if only is None or name in only:
                yield f"{name}:"
                show = self._texts.get(name)
                if show is None:
                    show = record_text(relation := self._relations[name], self._typedefs)
                    show = self._texts[name] = show if has_plain_columns(relation) else in_room(show)
                for row, weight in zip(delta.rows, delta.weights, strict=True):
                    yield f"{show(row)}: +{weight}" if weight > 0 else f"{show(row)}: {weight}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {len(delta)}" for name, delta in self._deltas.items())
        return f"<Changes {counts}>" if counts else "<Changes: none>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .display import shown_changes

        return shown_changes(self._deltas, self._relations, self._typedefs)


def register_views(
    frames: Mapping[str, DataFrame], relations: Mapping[str, Relation], prefix: str
) -> list[str]:
    """Makes a temp view of each DataFrame, in place of one with its name. The name is the prefix and the
    relation's name, for a program of SQL that of its view there. Returns the names. Raises DDlogError if
    Spark would take two of them for one; then nothing is registered."""
    declared = {each: relation_named(each, relations) for each in frames}
    names = {each: prefix + ((found and found.original) or each) for each, found in declared.items()}
    if names:
        spark = next(iter(frames.values())).sparkSession
        sensitive = str(spark.conf.get("spark.sql.caseSensitive")).lower() == "true"
        taken: dict[str, str] = {}
        for name in names.values():
            other = taken.setdefault(name if sensitive else name.lower(), name)
            if other != name:
                raise DDlogError([SameView(other, name)])
    for each, frame in frames.items():
        frame.createOrReplaceTempView("`" + names[each].replace("`", "``") + "`")
    return list(names.values())
