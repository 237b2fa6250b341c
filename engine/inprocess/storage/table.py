"""Row tables: the distinct rows ever seen of a relation or a key, numbered from 0 as they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ... import thresholds
from ...derivedcolumns import Derived
from ...memory import reserve
from ...schema import Array
from ..kernels import hashing
from . import rowscan, threadpool
from .arrays import grow, lengthen
from .layout import (
    WORD,
    PackedColumns,
    PackedField,
    PackedLayout,
    PackOne,
    UnpackOne,
    bounds,
    fit,
    of_one,
    picking_one,
)
from .unread import Unread, read_later

_FIRST_BITS = 6  # of the number of slots of an empty table
_FULL = 0.66  # slots are doubled beyond this load
_PART = 1 << 19  # rows that are numbered in a part
_NO_IDS: Any = np.empty(0, np.int32)


class ReadColumn(Protocol):
    """A column that is read when it is needed."""

    def read(self) -> Array:
        """The column."""

    def add_to(self, words: Array, field: PackedField, is_first: bool) -> None:
        """Adds the column to the words of packed rows, which have nothing yet if it `is_first`."""


class _OfOne(NamedTuple):
    """What packs one row by a layout, and unpacks it: whole, or some of its columns with a 1 after them."""

    layout: PackedLayout
    pack: PackOne
    unpack: UnpackOne
    picks: dict[tuple[int, ...], UnpackOne]


class RowTable(Unread):
    """Assigns dense ids to distinct rows of int64 columns.

    Rows are packed in one word each while the columns' ranges allow it, and are otherwise kept as
    they are. Ids are given in order of arrival and stay: a table only grows, but for `truncate`.
    """

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.size = 0
        self.made = False  # whether the rows were to be made later, not read
        self._layout: PackedLayout | None = fit([(0, 0)] * arity) if arity else PackedLayout(())
        self._untouched = True
        self._words: Array = np.empty(16, np.int64)
        self._wide: Array = np.empty((0, arity), np.int64)
        self._bits = self._shape = _FIRST_BITS
        self._slots: Any = np.full(1 << _FIRST_BITS, -1, np.int64)
        self._has_whole_words = False  # whether slots have 64 bits, for good
        self._shortened = 0  # rows when words were last made short
        self._ids: Array | None = None  # at each slot, the id; built when an id is first asked for
        self._begun: tuple[Any, int] | None = None  # the ids at the slots of so many rows
        self._one: _OfOne | None = None  # what packs one row by the layout
        self.sought = Counter[tuple[Any, ...]]()
        """The keys that were looked for without an index, by their columns."""
        self.derived: dict[Derived, Any] = {}  # `derivedcolumns`: columns computed of those of the row

    def restore(self, size: int, layout: PackedLayout | None, columns: Sequence[ReadColumn]) -> None:
        """Makes an empty table one of so many distinct rows, which are read when they are first needed.
        `layout` None: rows are wide, unless they have no columns."""
        if layout is None and self.arity:
            self._words = np.empty(0, np.int64)
            read_later(self, "_wide", lambda: _stack([each.read() for each in columns], size))
            self._filled(size, None)
        else:
            read_later(self, "_words", partial(self._packed, columns))
            self._filled(size, layout or PackedLayout(()))

    def fill_later(self, size: int, layout: PackedLayout, words: Callable[[], Array]) -> None:
        """Makes an empty table one of so many distinct rows, whose words are made when they are needed."""
        self.made = True
        read_later(self, "_words", words)
        self._filled(size, layout)

    def _filled(self, size: int, layout: PackedLayout | None) -> None:
        self.size, self._untouched, self._layout = size, False, layout
        self._bits = _FIRST_BITS
        while int((1 << self._bits) * _FULL) < size + 16:
            self._bits += 1
        self._shape = self._bits
        read_later(self, "_slots", self._entered)

    def _packed(self, columns: Sequence[ReadColumn]) -> Array:
        """The words of columns."""
        assert self._layout is not None
        reserve(8 * self.size)
        words = np.empty(self.size, np.int64) if columns else np.zeros(self.size, np.int64)
        for number, (field, column) in enumerate(zip(self._layout.fields, columns, strict=True)):
            column.add_to(words, field, number == 0)
        return words

    def _entered(self) -> Any:
        """The slots of the rows."""
        slots = self._empty(self._bits, self._layout)
        return slots if self._enter(slots) else self._entered()

    def read_ahead(self) -> None:
        """Reads the rows, and enters them into the slots, if that is to be done later."""
        if self.size and self._layout is not None:
            self._words, self._slots  # noqa: B018 (read now)

    # ------------------------------------------------------------- reading

    def column(self, position: int, start: int = 0, stop: int | None = None) -> Array:
        """One column of the rows start .. stop, in order of id."""
        stop = self.size if stop is None else stop
        reserve(8 * (stop - start))
        if self._layout is None:
            return np.ascontiguousarray(self._wide[start:stop, position])
        return self._layout.column(self._words[start:stop], position)

    def column_at(self, rows: Array, position: int) -> Array:
        """One column of the rows with these ids."""
        reserve(8 * len(rows))
        if self._layout is None:
            column: Array = self._wide[rows, position]
            return column
        return self._layout.column_at(self._words, rows, position)

    def columns(self, start: int = 0, stop: int | None = None) -> tuple[Array, ...]:
        """All columns of the rows start .. stop."""
        return tuple(self.column(k, start, stop) for k in range(self.arity))

    def columns_at(self, rows: Array) -> tuple[Array, ...]:
        """All columns of the rows with these ids."""
        return tuple(self.column_at(rows, k) for k in range(self.arity))

    def later_at(self, rows: Array) -> Sequence[Array]:
        """As `columns_at`: of packed rows, each column is unpacked when it is read."""
        if self._layout is None:
            return self.columns_at(rows)
        return PackedColumns(self._layout, self._words[rows])

    def apart(self, rows: Array | None) -> Sequence[Array]:
        """The columns of the rows with these ids, or of all. They do not change when the table does, and are
        unpacked when they are read."""
        reserve(8 * (self.size if rows is None else len(rows)) * (self.arity if self._layout is None else 1))
        if rows is not None:
            return self.later_at(rows)
        if self._layout is None:
            return tuple(self._wide[: self.size].copy().T)
        return PackedColumns(self._layout, self._words[: self.size].copy())

    @property
    def bytes(self) -> int:
        """The bytes of the rows and their slots."""
        arrays = (vars(self).get(name) for name in ("_words", "_wide", "_slots", "_ids"))
        return sum(int(array.nbytes) for array in arrays if array is not None)

    @property
    def layout(self) -> PackedLayout | None:
        """How rows are packed; None: rows are wide, or the table has not had any yet."""
        return None if self._untouched and self.arity else self._layout

    @property
    def words(self) -> Array:
        """The packed rows by id; refer to it in passing only, for it may have to grow where it lies."""
        return self._words

    def slots(self) -> tuple[Any, int]:
        """The hash set of the packed rows, and the number of bits of a place in it, as kernels take it."""
        return self._slots, self._shape

    def numbered_slots(self) -> tuple[Any, Array, int]:
        """The hash set of the packed rows, the id at each place, and the number of bits of a place."""
        return self._slots, self._numbered(), self._shape

    def numbered_words(self) -> tuple[Array, Array, int]:
        """As `numbered_slots`, for a kernel that takes the sets of several tables: slots have 64 bits."""
        self._have_whole_words()
        return self.numbered_slots()

    def find(self, columns: Sequence[Array], length: int) -> Array:
        """The ids of rows; -1 for a row that the table does not hold."""
        reserve(16 * length)
        if self.size == 0:
            return np.full(length, -1, np.int64)
        if self._layout is None:
            return hashing.find_rows(self._slots, self._bits, self._wide, _stack(columns, length))  # type: ignore[no-any-return]
        words, _ = self._layout.pack(columns, length)
        located = self._located(words)
        if located is not None:
            return located
        return hashing.find_words(*self.numbered_slots(), words)  # type: ignore[no-any-return]

    def holds(self, columns: Sequence[Array], length: int) -> Array:
        """Whether the table holds each of some rows."""
        if self.size == 0 or self._layout is None or self._ids is not None:
            return self.find(columns, length) >= 0  # type: ignore[return-value]
        words, _ = self._layout.pack(columns, length)
        return hashing.find_words(self._slots, self._slots, self._shape, words) >= 0  # type: ignore[no-any-return]

    # ------------------------------------------------------------- one row

    @property
    def is_numbered(self) -> bool:
        """True if ids are found by numbers at the slots."""
        return self._ids is not None

    def row(self, at: int) -> tuple[int, ...]:
        """The columns of the row with this id."""
        layout, one = self._layout, self._one
        if layout is None:
            return tuple(self._wide[at].tolist())
        if one is None or one.layout is not layout:
            one = self._packing_one(layout)
        return one.unpack(self._words.item(at))

    def picked(self, ids: Sequence[int], columns: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Some columns of the rows with these ids, and a 1 after those of each."""
        layout, one, words = self._layout, self._one, self._words
        if layout is None:
            return [(*[row[k] for k in columns], 1) for row in map(self.row, ids)]
        if one is None or one.layout is not layout:
            one = self._packing_one(layout)
        pick = one.picks.get(columns)
        if pick is None:
            pick = one.picks[columns] = picking_one(layout, columns)
        return [pick(words.item(at)) for at in ids]

    def find_row(self, row: tuple[int, ...]) -> int:
        """As `find`, of one row."""
        layout, ids = self._layout, self._ids
        if layout is None and self.size:
            given = np.array((row,), np.int64)
            return hashing.find_rows(self._slots, self._bits, self._wide, given).item(0)  # type: ignore[no-any-return]
        if layout is None or ids is None or not self.size:
            return int(self.find([np.array([value], np.int64) for value in row], 1)[0])
        one = self._one
        if one is None or one.layout is not layout:
            one = self._packing_one(layout)
        word = one.pack(row)
        find = hashing.find_word if self._shape == self._bits else hashing.find_narrow_word
        return -1 if word < 0 else find(self._slots, ids, self._shape, word)

    def insert_row(self, row: tuple[int, ...]) -> int:
        """As `insert`, of one row."""
        ids, size, layout, one, slots = self._ids, self.size, self._layout, self._one, self._slots
        if (
            ids is not None
            and one is not None
            and one.layout is layout
            and size < len(self._words)
            and size + 1 <= len(slots) * _FULL
            and (word := one.pack(row)) >= 0
        ):
            number = hashing.number_word if self._shape == self._bits else hashing.number_narrow_word
            at: int = number(slots, ids, self._shape, word, self._words, size)
            if at == size:
                self.size += 1
            if at >= 0:
                return at
        return self._insert_row(row)

    def _insert_row(self, row: tuple[int, ...]) -> int:
        """`insert_row` where there is no room, or no layout in which the row was packed before."""
        ids, size, word = self._ids, self.size, self._word_with_room(row)
        if self._layout is None and size < min(len(self._wide), int(len(self._slots) * _FULL)):
            given, out = np.array((row,), np.int64), np.empty(1, np.int64)
            _, self.size = hashing.number_new_rows(
                self._slots, self._bits, given, self._wide, size, out, 0, 1
            )
            return out.item(0)
        at = -1
        if word >= 0 and ids is not None:
            number = hashing.number_word if self._shape == self._bits else hashing.number_narrow_word
            at = number(self._slots, ids, self._shape, word, self._words, size)
            if at == size:
                self.size += 1
        if at < 0:
            at = int(self.insert([np.array([value], np.int64) for value in row], 1)[0])
        return at

    def add_row(self, row: tuple[int, ...]) -> bool:
        """As `insert_new`, of one row; says whether it is new."""
        size = self.size
        if self._ids is not None or self._layout is None:
            return self.insert_row(row) == size
        if (word := self._word_with_room(row)) >= 0:
            insert = hashing.insert_word if self._shape == self._bits else hashing.insert_narrow_word
            reached = insert(self._slots, self._shape, word, self._words, size)
            self.size = max(size, reached)
        if word < 0 or reached < 0:
            self.insert_new([np.array([value], np.int64) for value in row], 1)
        return self.size > size

    def _word_with_room(self, row: tuple[int, ...]) -> int:
        """The packed row; -1 if it may not be entered as it is."""
        layout, one = self._layout, self._one
        if layout is None or (self._untouched and self.arity) or self.size == len(self._words):
            return -1
        if self.size + 1 > len(self._slots) * _FULL:
            return -1
        if one is None or one.layout is not layout:
            one = self._packing_one(layout)
        return one.pack(row)

    def _packing_one(self, layout: PackedLayout) -> _OfOne:
        self._one = _OfOne(layout, *of_one(layout), {})
        return self._one

    # ------------------------------------------------------------- inserting

    def insert(self, columns: Sequence[Array], length: int) -> Array:
        """The ids of rows, new ones for rows not seen before."""
        reserve(16 * length)
        out = np.empty(length, np.int64)
        if length == 0:
            return out
        words = self._fit(columns, length)
        at = 0
        if words is None:
            wide = _stack(columns, length)
            while True:
                room = self._room(length - at)
                grow(self, "_wide", self.size + min(room, length - at))
                at, self.size = hashing.number_new_rows(
                    self._slots, self._bits, wide, self._wide, self.size, out, at, min(room, length - at)
                )
                if at == length:
                    return out
        located = self._located(words)
        if located is not None and self._ids is None:  # to look may have numbered the last slots
            return self._with_new(located, words)
        ids = self._numbered()
        while True:
            room = min(self._room(length - at), length - at)
            if self._ids is not ids:
                ids = self._numbered()
            grow(self, "_words", self.size + room)
            full = self.size + room
            at, self.size = hashing.number_new_words(
                self._slots, ids, self._shape, words, self._words, self.size, out, at, room
            )
            if at == length:
                return out
            if self.size < full:
                self._have_whole_words()

    def fitted(self, columns: Sequence[Array], length: int) -> Sequence[Array]:
        """The columns of rows that are to be inserted, as words where the table packs its rows."""
        words = self._fit(columns, length) if length else None
        return columns if words is None or self._layout is None else PackedColumns(self._layout, words)

    def insert_new(self, columns: Sequence[Array], length: int) -> None:
        """Adds the rows that the table does not hold yet: they get the next ids, in order."""
        if length == 0:
            return
        reserve(8 * length)
        words = self._fit(columns, length)
        if words is None or self._ids is not None:
            self.insert(columns, length)
            return
        self._insert_words(words)

    def with_room(self, wanted: int) -> tuple[Array, Array, Array, int, int]:
        """For a kernel that inserts so many words or more: the words; their hash set, the ids at its slots if
        these are numbered, and the number of bits of a place; and the size up to which there is room. Rows
        are packed. Whoever inserts sets `size`."""
        self._have_whole_words()
        while int(len(self._slots) * _FULL) < self.size + wanted:
            self._spread(self._bits + 1)
        grow(self, "_words", self.size + wanted)
        ids = _NO_IDS if self._ids is None else self._ids
        room = min(len(self._words), int(len(self._slots) * _FULL))
        return self._words, self._slots, ids, self._shape, room

    def _insert_words(self, words: Array) -> None:
        length = len(words)
        at = 0
        while at < length:
            room = min(self._room(length - at), length - at)
            grow(self, "_words", self.size + room)
            # Nothing else may refer to the arrays when they grow.
            new = self._words[self.size :]
            at, found = hashing.insert_words(self._slots, self._shape, words, new, at, room)
            self.size += found
            if at < length and found < room:
                self._have_whole_words()

    def _located(self, words: Array) -> Array | None:
        """The ids of a few rows, -1 for new ones, found without numbers at the slots; None: these are to be
        numbered."""
        if (
            self._ids is not None
            or self.size < thresholds.LARGE_TABLE
            or len(words) > thresholds.LOCATED_ROWS
        ):
            return None
        found = np.full(len(words), -1, np.int64)
        there = np.flatnonzero(hashing.find_words(self._slots, self._slots, self._shape, words) >= 0)
        if len(there) > thresholds.SCANNED_ROWS:
            return None
        if len(there):
            with threadpool.building:
                self.number_some()
            found[there] = rowscan.ids_of(self._words[: self.size], words[there])
        return found

    def matching(self, positions: tuple[Any, ...], keys: Sequence[Array], length: int) -> Array | None:
        """The ids of the rows that have one of a few keys in these columns, found by reading all rows. None:
        that has come to cost more than an index, or the keys are not of packed columns."""
        layout, few = self._layout, thresholds.SCANNED_ROWS
        if self.size < thresholds.SOUGHT_TABLE or length > few or layout is None or not positions:
            return None
        if self.sought[positions] + length > thresholds.SOUGHT_KEYS:
            return None
        if not all(isinstance(each, int) for each in positions):
            return None
        self.sought[positions] += length
        return rowscan.matching(self._words[: self.size], layout, positions, keys, length)

    def _with_new(self, located: Array, words: Array) -> Array:
        """The ids of rows of which some are new. These are inserted."""
        new = np.flatnonzero(located < 0)
        if len(new):
            before = self.size
            self._insert_words(words[new])
            places = {word: before + at for at, word in enumerate(self._words[before : self.size].tolist())}
            located[new] = [places[word] for word in words[new].tolist()]
        return located

    def only(self, rows: Array, room: int | None = None) -> RowTable:
        """A table of the rows with these ids alone, in this order, with room for as many more, or so many."""
        kept = RowTable(self.arity)
        if self._untouched and self.arity:
            return kept
        reserve(8 * len(rows) * (self.arity if self._layout is None else 1))
        kept.size, kept._layout, kept._untouched = len(rows), self._layout, False
        if self._layout is None:
            kept._words, kept._wide = np.empty(0, np.int64), self._wide[rows]
        else:
            kept._words = self._words[rows]
        room = len(rows) if room is None else room
        kept._rehash(max(_FIRST_BITS, int((len(rows) + room + 16) / _FULL).bit_length()))
        return kept

    def truncate(self, size: int) -> None:
        """Forgets the rows with ids from `size` on."""
        if size < self.size:
            self.size, self._begun = size, None
            try:
                self._shorten()
            except MemoryError:
                self._enter_again()
            for column in self.derived.values():
                column.truncate(size)

    def _shorten(self) -> None:
        """Enters all rows again, with less room where there is far too much."""
        most = max(16, 2 * self.size)
        if len(self._slots) <= 16 * most:
            self._enter_again()
            return
        words, wide = self._words[:most].copy(), self._wide[:most].copy()
        slots = self._empty(max(_FIRST_BITS, int(most / _FULL).bit_length()), self._layout)
        self._words, self._wide, self._ids = words, wide, None
        self._fill(slots)

    # ------------------------------------------------------------- layout and slots

    def _fit(self, columns: Sequence[Array], length: int) -> Array | None:
        """The packed words of new rows, after making the layout wide enough; None for wide rows."""
        if self._layout is None:
            return None
        if self.size <= thresholds.NARROW_ROWS < self.size + length and self._layout.width == WORD:
            self._lay_out(columns, length)
            if self._layout is None:
                return None
        if isinstance(columns, PackedColumns) and columns.layout is self._layout:
            self._untouched = False
            return columns.words
        if not self._untouched or not self.arity:
            words, misfits = self._layout.pack(columns, length)
            if not misfits:
                return words
        self._lay_out(columns, length)
        if self._layout is None:
            return None
        words, misfits = self._layout.pack(columns, length)
        assert not misfits, "a layout too narrow for its rows"
        return words

    def _lay_out(self, columns: Sequence[Array], length: int) -> None:
        """Gives the rows a layout that also fits these, with bits to spare while they are not many, and where
        values outgrow short words faster than rows come: each layout takes a pass over all rows."""
        ranges = [bounds(column) for column in columns]
        if self.size:
            held = [bounds(self.column(k)) for k in range(self.arity)]
            ranges = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(ranges, held, strict=True)]
        short = self.size + length > thresholds.NARROW_ROWS and self.size >= 2 * self._shortened
        layout = fit(ranges, thresholds.NARROW_WORD if short else WORD)
        slots, words, wide = self._slots, np.empty(0, np.int64), self._wide
        if slots.dtype != self._kind(self._bits, layout):
            slots = self._empty(self._bits, layout)
        if layout is None:
            wide = _stack(self.columns(), self.size) if self.size else np.empty((16, self.arity), np.int64)
            self._ids = None
        else:
            reserve(8 * self.size)
            words = np.empty(len(self._words), np.int64)
            for at in range(0, self.size, thresholds.CHUNK):
                end = min(at + thresholds.CHUNK, self.size)
                words[at:end], _ = layout.pack(self.columns(at, end), end - at)
        self._slots, self._words, self._wide = slots, words, wide
        self._layout, self._untouched = layout, False
        self._shortened = self.size if short else self._shortened
        self._enter_again()

    def _room(self, wanted: int) -> int:
        """The number of rows that may come before the slots are too full; grows the slots first if it is 0.

        `wanted` is the greatest number that may come: growth is by four while that is far more.
        """
        room = int(len(self._slots) * _FULL) - self.size
        if room < min(wanted, 16):
            bits = self._bits + (2 if self._bits < 20 else 1)
            while int((1 << bits) * _FULL) < self.size + 16 or (
                (1 << (bits + 2)) * _FULL < self.size + wanted
            ):
                bits += 1
            self._spread(bits)
            room = int(len(self._slots) * _FULL) - self.size
        return room

    def _spread(self, bits: int) -> None:
        """More slots for the same rows. Large ones are spread where they lie, with their numbers."""
        self._begun = None
        held = len(self._slots)
        if (
            self._layout is None
            or held < thresholds.LARGE_SLOTS
            or self._slots.dtype != self._kind(bits, self._layout)
        ):
            self._rehash(bits)
            return
        displaced = hashing.most_displaced(self._slots, self._shape)
        if 2 * displaced >= held:
            self._rehash(bits)
            return
        if self._ids is not None and len(self._ids) < 1 << bits:  # longer where memory ended at the next line
            lengthen(self, "_ids", 1 << bits)
        lengthen(self, "_slots", 1 << bits, -1)
        ids = _NO_IDS if self._ids is None else self._ids
        before, self._bits, self._shape = self._shape, bits, self._shape - self._bits + bits
        hashing.spread_words(self._slots, ids, before, self._shape, 2 * displaced + 1)

    def _rehash(self, bits: int) -> None:
        self._begun = None
        slots = self._empty(bits, self._layout)
        numbered, self._ids = self._ids is not None, None
        self._fill(slots)
        if numbered:
            self._numbered()

    def _kind(self, bits: int, layout: PackedLayout | None) -> Any:
        """The type of 2**bits slots: 32 bits if they tell the words of a layout apart, and have many bits for
        distances left. See `kernels.hashing`."""
        if layout is None or self._has_whole_words or bits < thresholds.NARROW_BITS:
            return np.int64
        return np.int32 if 0 <= layout.width - bits <= 31 - thresholds.NARROW_DISTANCE else np.int64

    def _empty(self, bits: int, layout: PackedLayout | None) -> Any:
        """2**bits empty slots for words of a layout."""
        kind = self._kind(bits, layout)
        reserve(np.dtype(kind).itemsize << bits)
        return np.full(1 << bits, -1, kind)

    def _enter(self, slots: Any) -> bool:
        """Enters all rows into empty slots, which are to be those of the table. False: these tell too few
        distances, and others are to be made, of whole words."""
        self._bits = self._shape = len(slots).bit_length() - 1
        if self._layout is None:
            hashing.rehash_rows(slots, self._shape, self._wide, self.size)
            return True
        if slots.dtype == np.int32:
            self._shape += self._layout.width << 8
        if hashing.rehash_words(slots, self._shape, self._words, self.size):
            return True
        self._has_whole_words, self._shape = True, self._bits
        return False

    def _fill(self, slots: Any) -> None:
        """Makes empty slots those of the table, and enters all rows."""
        self._slots = slots
        if not self._enter(slots):
            self.made, self._ids = True, None
            read_later(self, "_slots", self._entered)

    def _have_whole_words(self) -> None:
        """Gives the slots 64 bits, for good."""
        self._has_whole_words = True
        if self._shape != self._bits:
            self._rehash(self._bits)

    def _enter_again(self) -> None:
        """Enters all rows into the slots, emptied. Takes no memory, so that it cannot fail."""
        self._begun = None
        self._slots.fill(-1)
        self._fill(self._slots)
        if self._ids is not None:
            hashing.number_words(self._slots, self._ids, self._shape, self._words, 0, self.size)

    def number_some(self) -> None:
        """Goes on to build the ids at the slots, by a part of the rows."""
        ids, done = self._begun or (np.empty(len(self._slots), np.int32), 0)
        part = max(_PART, self.size // 32)
        stop = min(done + part, self.size)
        hashing.number_words(self._slots, ids, self._shape, self._words, done, stop)
        self._begun = ids, stop
        if stop == self.size:
            self._ids, self._begun = ids, None

    def _numbered(self) -> Array:
        """The ids at the slots, built on first demand."""
        if self._ids is None:
            with threadpool.building:
                if self._ids is None:
                    reserve(4 * len(self._slots))
                    ids: Any = np.empty(len(self._slots), np.int32)
                    hashing.number_words(self._slots, ids, self._shape, self._words, 0, self.size)
                    self._ids, self._begun = ids, None
        assert self._ids is not None
        return self._ids


def _stack(columns: Sequence[Array], length: int) -> Array:
    reserve(8 * length * len(columns))
    wide = np.empty((length, len(columns)), np.int64)
    for k, column in enumerate(columns):
        wide[:, k] = column
    return wide
