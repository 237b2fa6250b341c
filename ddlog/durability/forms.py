"""Relations as Arrow tables and back, with nothing lost.

A record is a struct, an Option a null or its value, and a text a string of a dictionary. A column whose
values Arrow has no form for, or whose form does not give the same values back, holds them as texts, in the
form of command files; the field's metadata says so. Weights other than 1 are in the column `$weight`, the
epochs of rows of several epochs in `$epoch`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import values
from ..io.arrow import arrow_type, column_of, dictionary_column, numbers_in
from ..types import BigInt, Bit, Bool, Float, Signed, String, Type, TypeDef
from ..values.fromtext import parse_value
from ..values.layouts import Layouts

if TYPE_CHECKING:
    import pyarrow as pa

    from ..core import Column
    from ..io.scalarforms import ArrowForm

WEIGHT, EPOCH = "$weight", "$epoch"
_AS_TEXT = {b"ddlog.form": b"text"}
_ANY: Mapping[bytes, bytes] = {}
_FEW = 16  # rows that are not worth a dictionary


@dataclass(frozen=True, slots=True)
class _Leaf:
    type: Type


@dataclass(frozen=True, slots=True)
class _Record:
    fields: tuple[tuple[str, _Leaf | _Record], ...]


_Tree = _Leaf | _Record


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a relation as columns of its leaves, in the forms that a runtime takes; `weights` and `epochs`
    None: all 1, and all of one epoch."""

    columns: Sequence[Any]
    weights: np.ndarray[Any, Any] | None
    epochs: np.ndarray[Any, Any] | None
    length: int

    def copied(self) -> Rows:
        """A copy of the rows, which nothing changes."""
        columns = [
            (list(each[0]), each[1].copy()) if isinstance(each, tuple) else each.copy()
            for each in self.columns
        ]
        weights = None if self.weights is None else self.weights.copy()
        return Rows(columns, weights, self.epochs, self.length)

    def taken(self, places: np.ndarray[Any, Any]) -> Rows:
        """The rows at these places."""
        return Rows(
            [_taken(column, places) for column in self.columns],
            None if self.weights is None else self.weights[places],
            None if self.epochs is None else self.epochs[places],
            len(places),
        )


def _taken(column: Any, places: np.ndarray[Any, Any]) -> Any:
    if isinstance(column, tuple):
        return column[0], column[1][places]
    if isinstance(column, np.ndarray):
        return column[places]
    return [column[place] for place in places.tolist()]


def _texts_of(dictionary: Sequence[str], codes: np.ndarray[Any, Any]) -> pa.Array:
    """Texts: by a dictionary if that is shorter."""
    import pyarrow as pa

    if len(codes) <= _FEW or 2 * len(dictionary) > len(codes):
        return pa.array([dictionary[code] for code in codes.tolist()], pa.string())
    return _dictionary(pa.array(dictionary, pa.string()), codes)


class RelationForm:
    """The form of the rows of one relation. `columns` are its columns; a record that lies in columns of its
    own, as `Layouts` says, is a column for each leaf in `Rows`."""

    def __init__(self, columns: Sequence[Column], typedefs: Mapping[str, TypeDef]) -> None:
        self._typedefs, self._layouts = typedefs, Layouts(typedefs)
        self._columns = [(column.name, self._tree(column.type)) for column in columns]
        self._forms: dict[Type, ArrowForm] = {}

    @staticmethod
    def of_values(of: Type, typedefs: Mapping[str, TypeDef]) -> RelationForm:
        """The form of one column of values, which also holds records as they are."""
        form = RelationForm((), typedefs)
        form._columns = [("value", _Leaf(of))]
        return form

    def _tree(self, of: Type) -> _Tree:
        parts = self._layouts.parts(of)
        return (
            _Leaf(of)
            if parts is None
            else _Record(tuple((each.name, self._tree(each.type)) for each in parts))
        )

    # ------------------------------------------------------------- writing

    def batch(self, rows: Rows) -> pa.RecordBatch:
        """Rows as a record batch. Raises ValueError for a value that no text gives back."""
        import pyarrow as pa

        left = iter(rows.columns)
        fields, arrays = [], []
        for name, tree in self._columns:
            field, array = self._array(name, tree, left)
            fields.append(field)
            arrays.append(array)
        for name, extra in ((WEIGHT, rows.weights), (EPOCH, rows.epochs)):
            if extra is not None:
                fields.append(pa.field(name, pa.int64()))
                arrays.append(pa.array(extra, pa.int64()))
        if not arrays:
            fields, arrays = [pa.field(WEIGHT, pa.int64())], [pa.array(np.ones(rows.length, np.int64))]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def table(self, parts: Sequence[Rows]) -> pa.Table:
        """Rows as one table. Raises ValueError for a value that no text gives back."""
        import pyarrow as pa

        return pa.Table.from_batches([self.batch(joined(parts))])

    def _array(self, name: str, tree: _Tree, left: Any) -> tuple[pa.Field, pa.Array]:
        import pyarrow as pa

        if isinstance(tree, _Leaf):
            array, text = self._leaf(next(left), tree.type)
            return pa.field(name, array.type, metadata=_AS_TEXT if text else None), array
        inner = [self._array(field, of, left) for field, of in tree.fields]
        fields = [field for field, _ in inner]
        array = pa.StructArray.from_arrays([array for _, array in inner], fields=fields)
        return pa.field(name, array.type), array

    def _leaf(self, data: Any, of: Type) -> tuple[pa.Array, bool]:
        """A column, and whether it is as text."""
        import pyarrow as pa

        match of:
            case BigInt() | Bit() | Signed() if isinstance(of, BigInt) or of.width > 64:
                return self._wide_integers(_listed(data))
            case String() if isinstance(data, tuple):
                return _texts_of(*data), False
            case Bool() | Float() | Bit() | Signed() | String():
                return self._form(of).encode(_listed(data)), False
        dictionary, codes = data if isinstance(data, tuple) else (data, None)
        array = self._values(list(dictionary), of)
        text = array is None
        if array is None:
            texts = self._texts(list(dictionary), of)
            return (texts if codes is None else _dictionary(texts, codes)), text
        if codes is None:
            return array, text
        plain = pa.types.is_nested(array.type) or pa.types.is_boolean(array.type) or array.null_count
        return (array.take(pa.array(codes)) if plain else _dictionary(array, codes)), text

    def _wide_integers(self, data: Any) -> tuple[pa.Array, bool]:
        import pyarrow as pa

        try:
            return pa.array(data, pa.int64()), False
        except (OverflowError, pa.ArrowInvalid):
            return pa.array([values.decimal(each) for each in data], pa.string()), True

    def _values(self, listed: list[Any], of: Type) -> pa.Array | None:
        """Values in Arrow's form for their type; None if that does not give them back."""
        import pyarrow as pa

        try:
            array = self._form(of).encode(listed)
            back = self._form(of).decode(array)
        except (pa.ArrowException, ValueError, TypeError, OverflowError, KeyError):
            return None
        return array if back == listed else None

    def _texts(self, listed: list[Any], of: Type) -> pa.Array:
        import pyarrow as pa

        texts = [values.show(value, of, self._typedefs) for value in listed]
        for value, text in zip(listed, texts, strict=True):
            try:
                same = parse_value(text, of, self._typedefs) == value
            except ValueError:
                same = False
            if not same:
                raise ValueError(f"a value of type {of} cannot be written: {text:.60}")
        return pa.array(texts, pa.string())

    # ------------------------------------------------------------- reading

    def check(self, table: pa.Table) -> None:
        """Raises ValueError for a table that `batch` cannot have made; values of collections and unions, and
        texts of values, are not looked into."""
        import pyarrow as pa

        names = [name for name, _ in self._columns]
        extra = table.column_names[len(names) :]
        if table.column_names[: len(names)] != names or len({WEIGHT, EPOCH}.intersection(extra)) < len(extra):
            raise ValueError(f"its columns are {', '.join(table.column_names)}")
        for name in extra:
            if table.column(name).type != pa.int64() or table.column(name).null_count:
                raise ValueError(f"the column {name} is not of numbers")
        for name, tree in self._columns:
            if not self._fits(table.schema.field(name), table.column(name), tree):
                raise ValueError(f"the column {name} has values of another type")

    def _fits(self, field: pa.Field, column: pa.ChunkedArray, tree: _Tree) -> bool:
        """Whether a column can be what `batch` made of values."""
        import pyarrow as pa

        of = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if isinstance(tree, _Record):
            if not pa.types.is_struct(of) or [each.name for each in of] != [name for name, _ in tree.fields]:
                return False
            parts = [[chunk.field(k) for chunk in column.chunks] for k in range(of.num_fields)]
            inner = [pa.chunked_array(part, of.field(k).type) for k, part in enumerate(parts)]
            return column.null_count == 0 and all(
                self._fits(of.field(k), each, tree.fields[k][1]) for k, each in enumerate(inner)
            )
        text = (field.metadata or _ANY).get(b"ddlog.form") == b"text"
        if text and not isinstance(tree.type, Bool | Float | String):
            return bool(pa.types.is_string(of)) and not column.null_count
        match tree.type:
            case BigInt() | Bit() | Signed() as whole if isinstance(whole, BigInt) or whole.width > 64:
                return bool(of == pa.int64()) and not column.null_count
            case Bool() | Float() | Bit() | Signed() | String():
                return bool(of == arrow_type(tree.type, self._typedefs)) and not column.null_count
        return True

    def rows(self, table: pa.Table) -> Rows:
        """The rows of a table that `batch` made. Raises ValueError."""
        columns: list[Any] = []
        for name, tree in self._columns:
            self._read(table.schema.field(name), table.column(name), tree, columns)
        extra = [
            numbers_in(table.column(name)) if name in table.column_names else None for name in (WEIGHT, EPOCH)
        ]
        return Rows(columns, extra[0], extra[1], table.num_rows)

    def _read(self, field: pa.Field, column: pa.ChunkedArray, tree: _Tree, out: list[Any]) -> None:
        import pyarrow as pa

        if isinstance(tree, _Leaf):
            out.append(self._column(field, column, tree.type))
            return
        for position, (_, of) in enumerate(tree.fields):
            parts = [chunk.field(position) for chunk in column.chunks]
            inner = field.type.field(position)
            self._read(inner, pa.chunked_array(parts, inner.type), of, out)

    def _column(self, field: pa.Field, column: pa.ChunkedArray, of: Type) -> Any:
        import pyarrow as pa

        numeric = isinstance(of, Bit | Signed | BigInt)
        if (field.metadata or _ANY).get(b"ddlog.form") == b"text":
            return dictionary_column(
                column, int if numeric else lambda text: parse_value(text, of, self._typedefs)
            )
        if numeric or isinstance(of, Bool | Float | String):
            return column_of(column, of, self._typedefs, as_text=False)
        form = self._form(of)
        if pa.types.is_dictionary(column.type):
            whole = column.unify_dictionaries().combine_chunks()
            whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
            return form.decode(whole.dictionary.cast(form.arrow)), numbers_in(whole.indices)
        array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        if pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType):
            return form.decode(array)
        encoded = array.dictionary_encode("encode")
        return form.decode(encoded.dictionary.cast(form.arrow)), numbers_in(encoded.indices)

    def _form(self, of: Type) -> ArrowForm:
        found = self._forms.get(of)
        if found is None:
            from ..io.forms import FRAMES, Forms

            found = self._forms[of] = Forms(self._typedefs, FRAMES).of(of)
        return found


def _dictionary(array: pa.Array, codes: np.ndarray[Any, Any]) -> pa.Array:
    import pyarrow as pa

    if len(codes) <= _FEW:
        return array.take(pa.array(codes))
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), array)


def joined(parts: Sequence[Rows], epochs: Sequence[int] | None = None) -> Rows:
    """Rows one after another; `epochs` gives the epoch of each part."""
    length = sum(part.length for part in parts)
    columns = [_joined_column([part.columns[k] for part in parts]) for k in range(len(parts[0].columns))]
    weights = None
    if any(part.weights is not None for part in parts):
        ones = [np.ones(p.length, np.int64) if p.weights is None else p.weights for p in parts]
        weights = np.concatenate(ones)
    known = None
    if epochs is not None:
        known = np.repeat(np.array(epochs, np.int64), [part.length for part in parts])
    elif any(part.epochs is not None for part in parts):
        known = np.concatenate([part.epochs for part in parts if part.epochs is not None])
    return Rows(columns, weights, known, length)


def _joined_column(parts: Sequence[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    if all(isinstance(part, tuple) for part in parts):
        places: dict[Any, int] = {}
        codes = []
        for dictionary, own in parts:
            of = np.array([places.setdefault(value, len(places)) for value in dictionary], np.int64)
            codes.append(of[own])
        return list(places), np.concatenate(codes)
    return [
        value
        for part in parts
        for value in (part.tolist() if isinstance(part, np.ndarray) else _listed(part))
    ]


def listed(data: Any) -> list[Any]:
    """The values of a column of `Rows`."""
    return data.tolist() if isinstance(data, np.ndarray) else list(_listed(data))


def _listed(data: Any) -> Any:
    """A column without a dictionary: an array or a list."""
    if isinstance(data, tuple):
        return [data[0][place] for place in data[1].tolist()]
    return data
