"""Row tables, indexes and stores against dicts, through layouts that widen and rows that grow wide."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine import thresholds
from ddlog.engine.inprocess.arrangements.index import RowIndex
from ddlog.engine.inprocess.arrangements.store import Store
from ddlog.engine.inprocess.recursion.growingset import GrowingSet
from ddlog.engine.inprocess.storage import interner, sweep, threadpool
from ddlog.engine.inprocess.storage import rows as rows_module
from ddlog.engine.inprocess.storage import table as table_module
from ddlog.engine.inprocess.storage.batch import Batch, Gathering, concat, consolidate, few_rows
from ddlog.engine.inprocess.storage.interner import Values, decode_each, encode_each, encode_rows
from ddlog.engine.inprocess.storage.layout import PackedField, PackedLayout, fit
from ddlog.engine.inprocess.storage.rows import ArrayDelta, ArrayRows, LaterDelta
from ddlog.engine.inprocess.storage.table import RowTable
from ddlog.engine.schema import Column, Kind

from ..trying import trying

quick = trying(20)
words = st.one_of(
    st.integers(0, 3),
    st.integers(-5, 100),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**63), 5 - 2**63),
)


def columns(rows: list[tuple[int, ...]], arity: int) -> list[np.ndarray]:
    """Rows as int64 columns."""
    return [np.array([row[k] for row in rows], np.int64) for k in range(arity)]


@st.composite
def row_lists(draw: st.DrawFn) -> tuple[int, list[list[tuple[int, ...]]]]:
    arity = draw(st.integers(0, 3))
    lists = st.lists(st.tuples(*[words] * arity), max_size=30)
    return arity, draw(st.lists(lists, min_size=1, max_size=5))


@quick
@given(row_lists(), st.booleans())
def test_ids_are_given_in_order_of_arrival(case: tuple[int, list[list[tuple[int, ...]]]], ids: bool) -> None:
    arity, lists = case
    table, known, apart = RowTable(arity), {}, []
    for rows in lists:
        apart.append((len(known), table.apart(None)))
        for row in rows:
            known.setdefault(row, len(known))
        if ids:
            got = table.insert(columns(rows, arity), len(rows)).tolist()
            assert got == [known[row] for row in rows]
        else:
            table.insert_new(columns(rows, arity), len(rows))
        assert table.size == len(known)
        assert table.find(columns(rows, arity), len(rows)).tolist() == [known[row] for row in rows]
    stored = [table.column(k).tolist() for k in range(arity)]
    assert list(zip(*stored, strict=True)) == list(known) if arity else table.size == len(known)
    for size, held in apart:
        assert [each.tolist() for each in held] == [each[:size] for each in stored]


@trying(40)
@given(st.integers(31, 38), st.integers(0, 1 << 32))
def test_rows_are_told_apart_by_slots_of_32_bits(width: int, seed: int) -> None:
    """Where these tell few distances or none, layouts change, rows go, and slots get 64 bits in the end."""
    rng = random.Random(seed)
    narrow = {"NARROW_ROWS": 0, "NARROW_BITS": 0, "NARROW_WORD": width, "NARROW_DISTANCE": rng.randint(0, 8)}
    table, known = RowTable(2), dict[tuple[int, ...], int]()
    most, least = 1 << rng.randint(2, 14), 0
    with mock.patch.multiple(thresholds, LARGE_SLOTS=rng.choice([0, 1 << 20]), CHUNK=3, **narrow):
        for _ in range(12):
            rows = [(rng.randint(least, most), rng.randint(0, 5)) for _ in range(rng.randint(1, 60))]
            match rng.randint(0, 6):
                case 0 | 1:
                    table.insert_new(columns(rows, 2), len(rows))
                case 2:
                    table.insert(columns(rows, 2), len(rows))
                case 3:
                    for row in rows:
                        table.add_row(row)
                case 4:
                    for row in rows:
                        assert table.insert_row(row) == known.setdefault(row, len(known))
                case 5:
                    kept = rng.randint(0, len(known))
                    table.truncate(kept)
                    known, rows = dict([*known.items()][:kept]), []
                case 6:
                    rows, least, most = [], -rng.randint(0, 1) << 9, most << rng.randint(0, 2)
                    if not rng.randint(0, 5):
                        table.numbered_words()
            for row in rows:
                known.setdefault(row, len(known))
            asked = [*known, *((rng.randint(least, most), k) for k in range(6) for _ in range(20))]
            expected = [known.get(row, -1) for row in asked]
            assert table.size == len(known)
            assert table.holds(columns(asked, 2), len(asked)).tolist() == [at >= 0 for at in expected]
            if rng.randint(0, 1):
                assert table.find(columns(asked, 2), len(asked)).tolist() == expected
                assert [table.find_row(row) for row in asked[-9:]] == expected[-9:]


def test_rows_whose_values_outgrow_short_words_are_seldom_laid_out_again() -> None:
    """Times grow on, and short words leave little room for them, of which half lies below the first one."""
    table, layouts, far = RowTable(3), set[PackedLayout | None](), 1 << 15
    with mock.patch.object(thresholds, "NARROW_ROWS", 64):
        for at in range(0, 1 << 14, 16):
            rows = [(far + at + k, far * (k % 2), far * (k % 3)) for k in range(16)]
            table.insert_new(columns(rows, 3), len(rows))
            layouts.add(table.layout)
    assert len(layouts) < 6
    assert table.find_row((far + 77, far, far)) == 77


def test_words_with_bits_between_their_fields_are_told_apart() -> None:
    table, layout = RowTable(2), PackedLayout((PackedField(0, 10, 0), PackedField(0, 10, 30)))
    rows = [(1, k) for k in range(9)]
    with mock.patch.multiple(thresholds, NARROW_BITS=0):
        table.fill_later(9, layout, lambda: layout.pack(columns(rows, 2), 9)[0])
        assert table.find(columns(rows, 2), 9).tolist() == [*range(9)]


def test_a_value_outside_the_layout_has_no_match() -> None:
    table = RowTable(2)
    table.insert(columns([(1, 2), (3, 4)], 2), 2)
    assert table.find(columns([(1, 2), (2**61, 4), (-(2**61), 0)], 2), 3).tolist() == [0, -1, -1]


def test_a_table_outgrows_its_slots() -> None:
    table = RowTable(1)
    many = np.arange(200_000, dtype=np.int64)
    table.insert_new([many], len(many))
    table.insert_new([many[::-1].copy()], len(many))
    assert table.size == len(many)
    assert table.insert([many[-3:].copy()], 3).tolist() == [199_997, 199_998, 199_999]


def test_truncate_forgets_the_latest_rows() -> None:
    table = RowTable(1)
    table.insert([np.array([5, 6, 7])], 3)
    table.truncate(1)
    assert table.insert([np.array([7, 5])], 2).tolist() == [1, 0]


@quick
@given(row_lists(), st.booleans(), st.data())
def test_a_table_of_some_rows_numbers_them_anew(
    case: tuple[int, list[list[tuple[int, ...]]]], ids: bool, data: st.DataObject
) -> None:
    arity, lists = case
    table = RowTable(arity)
    for rows in lists[1:]:
        table.insert_new(columns(rows, arity), len(rows))
        if ids:
            table.find(columns(rows, arity), len(rows))
    every = [table.row(at) for at in range(table.size)]
    kept = sorted(data.draw(st.sets(st.sampled_from(range(table.size)))) if every else [])
    some = table.only(np.array(kept, np.int64))
    known = {every[at]: number for number, at in enumerate(kept)}
    assert [some.row(at) for at in range(some.size)] == list(known)
    assert some.find(columns(every, arity), len(every)).tolist() == [known.get(row, -1) for row in every]
    for row in lists[0] + every:
        assert some.insert_row(row) == known.setdefault(row, len(known))
    assert [table.row(at) for at in range(table.size)] == every


def test_a_table_that_begins_with_packed_rows_has_their_layout() -> None:
    """Rows of zeros are packed as a table without rows is."""
    zero, other = RowTable(1), RowTable(1)
    zero.insert([np.array([0])], 1)
    other.insert(zero.later_at(np.array([0])), 1)
    assert other.layout is zero.layout
    assert other.only(np.array([0])).row(0) == (0,)


def test_layouts_share_out_spare_bits() -> None:
    layout = fit([(0, 1), (-3, 100)])
    assert layout is not None
    assert sum(field.width for field in layout.fields) == 62
    assert fit([(0, 2**40), (0, 2**40)]) is None
    for (low, high), field in zip([(0, 1), (-3, 100)], layout.fields, strict=True):
        assert field.offset <= low and high <= field.offset + field.mask


def test_values_of_batches_are_held_while_these_are_alive() -> None:
    values, schema = Values(), (Column("a", Kind.OBJECT, "text"),)
    held = []
    for number in range(2000):
        batch = Batch(encode_rows(values, schema, [(f"text {number}",)]), 1)
        values.hold(schema, batch)
        if number % 100 == 0:
            held.append(batch)
    del batch
    sweep.sweep(values, lambda marks: None, sweep.everything)
    left = [f"text {number}" for number in range(0, 2000, 100)]
    assert [values.decode_column(schema[0], each.columns[0]) for each in held] == [[text] for text in left]
    assert sorted(values.domain("text").ids) == sorted(left)


@quick
@given(st.tuples(words, words), st.tuples(words, words), st.tuples(words, words))
def test_one_row_is_packed_as_many_are(
    low: tuple[int, int], high: tuple[int, int], row: tuple[int, int]
) -> None:
    layout = fit([(min(pair), max(pair)) for pair in zip(low, high, strict=True)])
    if layout is not None:
        one, misfits = layout.pack(columns([row], 2), 1)
        both, twice = layout.pack(columns([row, row], 2), 2)
        assert [*one, *one] == both.tolist() and 2 * misfits == twice


@quick
@given(st.lists(st.tuples(words, words, words), min_size=1, max_size=5), st.permutations([0, 1, 2]))
def test_columns_are_picked_of_rows_packed_or_wide(rows: list[tuple[int, ...]], order: list[int]) -> None:
    table, picked = RowTable(3), tuple(order[:2])
    ids = table.insert(columns(rows, 3), len(rows)).tolist()
    assert table.picked(ids, picked) == [(row[picked[0]], row[picked[1]], 1) for row in rows]


MIXED = (
    Column("n", Kind.INT, "int"),
    Column("b", Kind.BOOL, "bool"),
    Column("f", Kind.FLOAT, "double"),
    Column("s", Kind.OBJECT, "string"),
)


@quick
@given(
    st.lists(
        st.tuples(st.integers(-(2**64), 2**64), st.booleans(), st.floats(allow_nan=False), st.text()),
        max_size=4,
    )
)
def test_rows_are_encoded_one_by_one_as_columns_are(rows: list[tuple]) -> None:
    values = Values()
    codes = encode_each(values, MIXED, rows)
    assert codes == list(zip(*(each.tolist() for each in encode_rows(values, MIXED, rows)), strict=True))
    assert decode_each(values, MIXED, codes) == rows
    with mock.patch.object(interner, "_TURNED", 2):
        assert list(zip(*encode_rows(values, MIXED, rows), strict=True)) == codes
        if len(rows) > 2:
            with pytest.raises(ValueError, match="zip"):
                encode_rows(values, MIXED, [*rows[:2], (1, True, 1.0)])


@quick
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50)), max_size=60), st.data())
def test_an_index_follows_insertions_and_removals(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    rows = list(dict.fromkeys(rows))
    table = RowTable(2)
    table.insert(columns(rows, 2), len(rows))
    alive = set(range(len(rows) // 2))
    index = RowIndex(table, (0,), np.array(sorted(alive), np.int64))
    row = len(rows) // 2
    while row < len(rows):
        stop = min(row + data.draw(st.integers(1, 7)), len(rows))
        with mock.patch.multiple(thresholds, PACKED_IDS=0, INDEX_CHUNK=2):
            index.insert(range(row, stop))
        alive.update(range(row, stop))
        row = stop
        if data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(sorted(alive)))
            index.remove(np.array([gone]))
            alive.discard(gone)
    for key in range(6):
        groups = index.groups([np.array([key])], 1)
        _, found = index.expand(groups, index.matches(groups))
        assert sorted(found.tolist()) == sorted(r for r in alive if rows[r][0] == key)


SCHEMA = (Column("a", Kind.INT, "bigint"), Column("b", Kind.INT, "bigint"))


def contents(store: Store) -> dict[tuple[int, int], int]:
    """A store as a Z-set."""
    batch = store.batch()
    rows = zip(*(c.tolist() for c in batch.columns), strict=True)
    return dict(zip(rows, batch.weight_array().tolist(), strict=True))


changes = st.lists(
    st.tuples(st.tuples(st.integers(0, 2), st.integers(0, 2)), st.sampled_from([1, -1])), max_size=8
)


@quick
@given(st.lists(st.tuples(changes, st.booleans()), max_size=6))
def test_a_set_ignores_what_changes_nothing_and_rolls_back(epochs: list[tuple[list, bool]]) -> None:
    store, rows = Store(SCHEMA), set()
    for signed, keep in epochs:
        batches = [(Batch(columns([row], 2), 1), sign) for row, sign in signed]
        delta = store.set_rows(batches) if batches else None
        after = set(rows)
        for row, sign in signed:
            after.add(row) if sign > 0 else after.discard(row)
        if delta is not None:
            got = dict(
                zip(
                    zip(*(c.tolist() for c in delta.columns), strict=True),
                    delta.weight_array().tolist(),
                    strict=True,
                )
            )
            assert got == {r: (1 if r in after else -1) for r in after ^ rows}
        store.index((0,))
        if keep:
            store.commit()
            rows = after
        else:
            store.rollback()
        assert contents(store) == dict.fromkeys(rows, 1)
        assert store.present == len(rows)
        for key in range(3):
            index = store.index((0,))
            groups = index.groups([np.array([key])], 1)
            _, found = index.expand(groups, index.matches(groups))
            assert sorted(store.table.column_at(found, 1).tolist()) == sorted(b for a, b in rows if a == key)


@quick
@given(st.lists(st.lists(st.tuples(st.integers(-3, 40), st.integers(0, 40)), max_size=30), max_size=4))
def test_new_rows_have_the_columns_of_their_batch_or_of_the_table(
    batches: list[list[tuple[int, int]]],
) -> None:
    store, rows = Store(SCHEMA), list[tuple[int, int]]()
    for batch in batches:
        given = Batch(tuple(columns(batch, 2)), len(batch))
        new = [row for row in dict.fromkeys(batch) if row not in rows]
        change = store.set_rows([(given, 1)])
        rows += new
        assert change.length == len(new) and change.rows() == new
        for at in range(2):
            assert change.columns[at].tolist() == [row[at] for row in new]
            shared = change.columns[at] is given.columns[at]
            assert shared == (len(new) == len(batch)) or len(batch) <= thresholds.ROWS_ONE_BY_ONE
        store.commit()


@pytest.mark.parametrize("first", [0, 20])
@pytest.mark.parametrize("one_by_one", [0, 99])
@pytest.mark.parametrize("weights", [None, -1, 2])
def test_counted_rows_are_taken_back(
    first: int, one_by_one: int, weights: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thresholds, "ROWS_ONE_BY_ONE", one_by_one)
    store = Store(SCHEMA[:1])
    batches = [
        Batch((np.arange(start, stop),), stop - start, w if w is None else np.full(stop - start, w))
        for start, stop, w in ((0, first, None), (20, 40, None), (10, 30, weights))
    ]
    store.add_counted(batches[0], as_set=False)
    store.commit()
    for batch in batches[1:]:
        store.add_counted(batch, as_set=False)
    store.rollback()
    assert list(store.batch().rows()) == [(row,) for row in range(first)]
    assert store.present == first and store.batch().weight_list() == [1] * first


def test_rows_that_come_and_go_are_forgotten_in_the_end() -> None:
    store = Store(SCHEMA)
    for start in range(0, 40_000, 4_000):
        batch = Batch(columns([(k, 0) for k in range(start, start + 4_000)], 2), 4_000)
        store.set_rows([(batch, 1)])
        store.commit()
        store.set_rows([(batch, -1)])
        store.commit()
    assert store.present == 0
    assert store.table.size < 20_000


@pytest.mark.parametrize("arity", [1, 2, 5])
def test_wide_rows_are_kept_as_they_are(arity: int) -> None:
    rng = np.random.default_rng(arity)
    rows = [tuple(int(v) for v in rng.integers(-(2**62), 2**62, arity)) for _ in range(500)]
    table = RowTable(arity)
    assert table.insert(columns(rows, arity), 500).tolist() == list(range(500))
    assert table.column_at(np.array([499]), arity - 1).tolist() == [rows[499][-1]]


@quick
@given(st.lists(st.lists(st.tuples(st.tuples(words, words), st.integers(-2, 2)), max_size=12), max_size=8))
def test_a_gathering_is_the_sum_of_its_batches(parts: list[list[tuple[tuple[int, int], int]]]) -> None:
    gathering, total = Gathering(2, room=10), {}
    for part in parts:
        weights = np.array([weight for _, weight in part], np.int64)
        gathering.extend([Batch(columns([row for row, _ in part], 2), len(part), weights)])
        for row, weight in part:
            total[row] = total.get(row, 0) + weight
    batch = gathering.total()
    assert (batch is None) == (not parts)
    held = consolidate(batch) if batch is not None else Batch(columns([], 2), 0)
    rows = zip(*(c.tolist() for c in held.columns), strict=True)
    got = dict(zip(rows, held.weight_array().tolist(), strict=True))
    assert got == {row: weight for row, weight in total.items() if weight}


@pytest.mark.parametrize("length", [1, thresholds.FEW_ROWS])
def test_rows_have_their_times_in_the_sum_of_batches(length: int) -> None:
    """Workers send each other the sum of what the rules of an iteration derive."""
    parts = [Batch((np.arange(length),), length, None, times) for times in (np.full(length, 7), None)]
    times = concat(parts, 1).times
    assert times is not None and times.tolist() == [7] * length + [-1] * length
    timed = concat(parts[:1] * 2, 1).times
    assert timed is not None and timed.tolist() == [7] * 2 * length


def test_threads_that_help_with_an_index_do_not_wait_for_the_one_that_makes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It holds `building`, under which a large table numbers its slots."""
    low = {"LARGE_TABLE": 0, "INDEX_CHUNK": 2, "INDEX_WAVE": 2, "INDEX_ROWS_PER_KEY": 0}
    store = Store(SCHEMA[:2])
    store.add_present(Batch((np.arange(99), np.arange(99) % 5), 99))

    def helped(tasks: list[Callable[[], object]]) -> None:
        helper = threading.Thread(target=lambda: [task() for task in tasks], daemon=True)
        helper.start()
        helper.join(9)
        assert not helper.is_alive()

    monkeypatch.setattr(threadpool, "run_parts", helped)
    with mock.patch.multiple(thresholds, **low), threadpool.among(2):
        index = store.index((1,))
    assert index.sizes(index.groups([np.arange(5)], 5)).tolist() == [20, 20, 20, 20, 19]


def test_a_gathering_does_not_pile_up_what_is_found_over_and_over() -> None:
    gathering = Gathering(1, room=100)
    for _ in range(1000):
        gathering.extend([Batch((np.arange(20),), 20)])
    batch = gathering.total()
    assert batch is not None
    assert batch.length <= 120
    assert int(batch.weight_array().sum()) == 20_000


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_rows_of_a_table_are_found_while_it_is_numbered_in_parts(
    arity: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thresholds, "LARGE_TABLE", 0)
    monkeypatch.setattr(table_module, "_PART", 20)
    rng, spans = random.Random(arity), [(0, 4), (0, 40), (-9, 9), (0, 1 << 30), (-(1 << 63), 1 << 63)]
    for _ in range(100):
        kind, rows = rng.choice([GrowingSet, Store]), dict[tuple[int, ...], int]()
        held = kind(SCHEMA[:1] * arity)
        table = held.table
        for _ in range(rng.randrange(4, 40)):
            act = rng.random()
            if act < 0.05 and kind is GrowingSet:
                by = (rng.randrange(arity),)
                held.indexes[by] = RowIndex(table, by, range(table.size))
            elif act < 0.15:
                low, top = rng.choice(spans[: rng.choice([3, 4, 5])])
                count = rng.randrange(1, 60)
                new = [tuple(rng.randrange(low, top) for _ in range(arity)) for _ in range(count)]
                for row in new:
                    rows.setdefault(row, len(rows))
                if kind is GrowingSet:
                    table.insert_new(columns(new, arity), len(new))
                else:
                    assert table.insert(columns(new, arity), len(new)).tolist() == [rows[row] for row in new]
            elif act < 0.2:
                kept = rng.randrange(len(rows) + 1)
                table.truncate(kept)
                held.indexes.clear()
                rows = {row: at for row, at in rows.items() if at < kept}
            else:
                asked = [*rng.choices([*rows, (1,) * arity], k=2), (rng.randrange(50),) * arity]
                by_column = columns(asked, arity)
                assert table.find(by_column, len(asked)).tolist() == [rows.get(row, -1) for row in asked]
                assert table.holds(by_column, len(asked)).tolist() == [row in rows for row in asked]


def test_rows_whose_ordering_failed_are_ordered_by_the_next_reader() -> None:
    """As where memory is short, or after Ctrl-C."""
    values = np.arange(2 * thresholds.FEW_ROWS)[::-1]
    rows = ArrayRows(Values(), (Column("x", Kind.INT, "int"),), Batch((values,), len(values)))
    with mock.patch.object(rows_module, "order_of", side_effect=MemoryError), pytest.raises(MemoryError):
        list(rows)
    assert list(rows) == [(k,) for k in range(len(values))]


def test_a_late_change_is_made_before_the_state_changes_whoever_reads_it() -> None:
    """As a thread reads the changes of the last commit, and another commits."""
    values, still, made = Values(), threading.RLock(), list[int]()
    schema = (Column("a", Kind.INT, ""),)

    def make() -> ArrayDelta:
        with still:
            made.append(1)
            return ArrayDelta(values, schema, few_rows([(1,)], [1], 1), False)

    delta = LaterDelta(make, still)
    with still:
        reader = threading.Thread(target=lambda: made.append(len(delta.rows)), daemon=True)
        reader.start()
        reader.join(0.05)
        assert not made
        delta.settle()
    reader.join(10)
    assert made == [1, 1]
