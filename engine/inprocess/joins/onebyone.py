"""Delta joins of a few rows, one by one.

For a few rows the calls of NumPy take far longer than the work. So a plan, the tests and look-ups from one
term in their order, is written as one function of Python: loops in loops, over the codes of columns.

    A(x, y), B(y, z), z > x, not C(z)         for (v0, v1,), w in zip(rows, weights):
                                                  for v2, w0, in f0((v1,)):
    from A, by B                                      if not e0(v2, v0):
                                                          continue
                                                      if f1((v2,)):
                                                          continue
                                                      out.append((v0, v2,)); made.append(w * w0)

The rows of a recursion with ranks have times: a row that is made has the greatest of those of its rows.

A run changes nothing. Where it meets too many matches, a fault of a step, or a view that it does not know,
it gives up, and the join runs in the general way, which tells of faults.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from ... import memory, thresholds
from ...circuit import DeltaJoin, Guard, Inspect, Join, Let, Unnest
from ...derivedcolumns import Position
from ...interrupt import immediate
from ...operators.steps import expression
from ...planner import Exclude, LookUp, PlanStep, RunStep, Stage
from ...schema import INLINE_LIMIT, Array, Column, Kind, RowExpr, ready
from ..arrangements.index import RowIndex, picking
from ..arrangements.views import BeforeView, EmptyView, GrowingView, Readable, StoreView, View
from ..storage.interner import Values

Row: TypeAlias = tuple[int, ...]
Find: TypeAlias = Callable[[Row], Iterable[Row] | bool]
"""Of a key: the rows that match, each with its weight as a last column; or whether there is one."""

_LOOPS = 16  # that stand in each other: Python takes 20


class Arranged(Protocol):
    """A view of one relation."""

    @property
    def relation(self) -> Readable:
        """The relation."""

    def index(self, positions: tuple[Position, ...]) -> RowIndex:
        """The arrangement of the relation by these columns."""


class NotOneByOne(Exception):
    """A join is to run in the general way."""


class Noted(NamedTuple):
    """A look-up in a plan: the stage at which it was chosen, and its place in the counts of a run."""

    stage: Stage
    look_up: LookUp
    place: int


def is_known(views: Iterable[View | None]) -> bool:
    """True if rows can be looked up one by one in each of these views."""
    return {*map(type, views)} <= _KNOWN


def is_fit(steps: Collection[PlanStep]) -> bool:
    """True if a plan can be written as a function."""
    loops = sum(isinstance(each, LookUp) or _is_unnest(each) for each in steps)
    return loops <= _LOOPS and not any(
        isinstance(each.step, Inspect) or expression(each.step).effect
        for each in steps
        if isinstance(each, RunStep)
    )


def _is_unnest(step: PlanStep) -> bool:
    return isinstance(step, RunStep) and isinstance(step.step, Unnest)


def knows(kind: type, find: Callable[..., Find]) -> None:
    """Lets rows be looked up one by one in the views of a class: `find` is given a view, the step, the
    columns that are asked for, and the matches that may still come. The rows have their times as another last
    column."""
    _FINDERS[kind] = find
    _KNOWN.add(kind)
    _TIMED.add(kind)


def timed_terms(views: Sequence[View | None]) -> tuple[int, ...]:
    """The terms whose rows have times."""
    if _TIMED.isdisjoint(map(type, views)):
        return ()
    return tuple([k for k, view in enumerate(views) if type(view) in _TIMED])


class RowPlan:
    """A plan of one join, as a function."""

    def __init__(
        self,
        node: Join | DeltaJoin,
        start: int,
        chosen: Sequence[tuple[Stage, LookUp]],
        steps: Sequence[PlanStep],
        schemas: Sequence[Sequence[Column]],
        values: Values,
        timed: Collection[int] = (),
    ) -> None:
        """`steps` are fit, and `chosen` those among them that were chosen, each with the stage at which.
        `timed` are the terms whose rows have times: a row that is made has the greatest of its times."""
        self._asking: list[tuple[LookUp | Exclude, Row]] = []
        writer = _JoinWriter(values, schemas, frozenset(timed), start in timed, node.terms[start].negated)
        with writer.started(node.terms[start].columns, schemas[start]):
            for step in steps:
                if isinstance(step, RunStep):
                    writer.step(step)
                    continue
                columns = writer.exclude(step) if isinstance(step, Exclude) else writer.look_up(step)
                self._asking.append((step, columns))
            writer.output(node.output)
        self._function = writer.function()
        self.is_steady = not timed and all(len(stage.candidates) == 1 for stage, _ in chosen)
        """Whether it is the plan whatever the sizes of the views."""
        self.room = [0]
        """The matches that look-ups of `steady` may still give."""
        asked = [step for step, _ in self._asking if isinstance(step, LookUp)]
        places = {id(step): k for k, step in enumerate(asked)}
        self.noting = [Noted(stage, one, places[id(one)]) for stage, one in chosen]
        """The look-ups whose counts a run gives."""

    def run(
        self,
        rows: Sequence[Row],
        weights: Sequence[int],
        times: Array | None,
        views: Sequence[View | None],
    ) -> tuple[list[Row], list[int], Sequence[int], Sequence[tuple[int, int]]]:
        """The join of weighted rows in place of the start with what the views show: its rows, their weights,
        and their times if a term has times, with the keys and matches of its look-ups. Raises NotOneByOne."""
        self.room[0] = thresholds.MATCHES_ONE_BY_ONE
        since = () if times is None else times.tolist()
        return self._function(self._finders(views, self.room), rows, weights, since)  # type: ignore[no-any-return]

    def steady(self, views: Sequence[View | None]) -> Callable[..., Any]:
        """`run` of rows without times, again and again with views that show the same stores."""
        return partial(self._function, self._finders(views, self.room))

    def _finders(self, views: Sequence[View | None], room: list[int]) -> Sequence[Find]:
        return [
            _FINDERS[views[step.term].__class__](views[step.term], step, columns, room)
            for step, columns in self._asking
        ]


# ------------------------------------------------------------------- writing


class _JoinWriter:
    """Writes a function of what finds matches, and of rows with weights. The rows of `timed` terms have
    times; `from_timed`: also those that it begins with, whose weights change their signs if they are
    `negated`."""

    def __init__(
        self,
        values: Values,
        schemas: Sequence[Sequence[Column]],
        timed: Collection[int],
        from_timed: bool,
        negated: bool,
    ) -> None:
        self._domains: list[str] = []
        self._values, self._schemas = values, schemas
        self._names: dict[str, str] = {}
        self._columns: dict[str, Column] = {}
        self._given: dict[str, Any] = {}
        self._weights = ["-w" if negated else "w"]
        self._timed, self._times = timed, ["t"] if from_timed else []
        self._lines: list[str] = []
        self._counters: list[str] = []
        self._depth = 2
        self._asked = 0

    def _write(self, line: str, opens: bool = False) -> None:
        self._lines.append("    " * self._depth + line)
        self._depth += opens

    def _skip_if(self, test: str) -> None:
        self._write(f"if {test}:")
        self._write("    continue")

    def _name(self, variable: str, column: Column) -> str:
        self._columns[variable] = column
        return self._names.setdefault(variable, f"v{len(self._names)}")

    def _row(self, variables: Iterable[str]) -> str:
        return f"({''.join(f'{self._names[each]}, ' for each in variables)})"

    @contextmanager
    def started(self, variables: Sequence[str | None], schema: Sequence[Column]) -> Iterator[None]:
        """Begins with the rows of a term."""
        heads, alike = [], []
        for k, variable in enumerate(variables):
            if variable is None or variable in self._names:
                heads.append(f"c{k}")
                if variable is not None:
                    alike.append(f"c{k} != {self._names[variable]}")
            else:
                heads.append(self._name(variable, schema[k]))
        row = "".join(f"{head}, " for head in heads)
        given = "rows, weights, since" if self._times else "rows, weights"
        self._write(f"for ({row}), {', '.join(('w', *self._times))} in zip({given}):", opens=True)
        for test in alike:
            self._skip_if(test)
        yield

    def exclude(self, step: Exclude) -> Row:
        """Writes the test of a negated term."""
        self._skip_if(f"finds[{self._asked}]({self._row(step.keys)})")
        self._asked += 1
        return ()

    def look_up(self, step: LookUp) -> Row:
        """Writes a look-up. Returns the columns that it needs."""
        columns: dict[int, str] = {}
        for position, variable in step.binds:
            columns[position] = self._name(variable, self._schemas[step.term][position])
        for _, position in step.equal:
            columns.setdefault(position, f"c{position}")
        number, weight = self._asked, f"w{self._asked}"
        self._counters += [f"k{number}", f"n{number}"]
        self._write(f"m = finds[{number}]({self._row(step.keys)})")
        self._write(f"k{number} += 1")
        self._write(f"n{number} += len(m)")
        given = [*columns.values(), weight]
        if step.term in self._timed:
            self._times.append(f"t{number}")
            given.append(f"t{number}")
        self._write(f"for {''.join(f'{each}, ' for each in given)}in m:", opens=True)
        for a, b in step.equal:
            self._skip_if(f"{columns[a]} != {columns[b]}")
        self._weights.append(weight)
        self._asked += 1
        return tuple(columns)

    def step(self, planned: RunStep) -> None:
        """Writes a step."""
        step, value = planned.step, expression(planned.step)
        self._given[f"e{planned.number}"] = _called(value)
        call = f"e{planned.number}({', '.join(map(self._decoded, value.inputs))})"
        if isinstance(step, Guard):
            self._skip_if(f"not {call}")
            return
        assert isinstance(step, Let | Unnest)
        encode = partial(self._values.encode, value.column.kind, value.column.domain)
        self._given[f"x{planned.number}"] = encode
        if isinstance(step, Unnest):
            self._write(f"for e in tuple({call}):", opens=True)
            call = "e"
        encoded = f"x{planned.number}({call})"
        if value.column.kind is Kind.INT:
            self._write(f"i = {call}")
            is_plain = f"i.__class__ is int and {-INLINE_LIMIT} <= i < {INLINE_LIMIT}"
            encoded = f"i if {is_plain} else x{planned.number}(i)"
        if planned.check:
            self._skip_if(f"({encoded}) != {self._names[step.name]}")
        else:
            self._write(f"{self._name(step.name, value.column)} = {encoded}")

    def _decoded(self, variable: str) -> str:
        """The value of a variable."""
        code, column = self._names[variable], self._columns[variable]
        if column.kind is Kind.BOOL:
            return f"{code} != 0"
        if column.kind is Kind.FLOAT:
            self._given["decode"] = partial(self._values.decode, Kind.FLOAT, "")
            return f"decode({code})"
        if column.domain not in self._domains:
            self._domains.append(column.domain)
        values = f"list{self._domains.index(column.domain)}"
        if column.kind is Kind.OBJECT:
            return f"{values}[{code}]"
        return f"{code} if {code} < {INLINE_LIMIT} else {values}[{code} - {INLINE_LIMIT}]"

    def output(self, variables: Sequence[str]) -> None:
        """Writes the end of the loops."""
        row = "".join(f"{self._names[each]}, " for each in variables)
        self._write(f"add(({row}))")
        self._write(f"weigh({' * '.join(self._weights)})")
        if self._times:
            latest = ", ".join(self._times)
            self._write(f"time({latest if len(self._times) == 1 else f'max({latest})'})")

    def function(self) -> Callable[..., Any]:
        """The function. It gives rows, their weights and times, and the numbers of keys and matches of each
        look-up."""
        pairs = zip(self._counters[::2], self._counters[1::2], strict=True)
        counts = "".join(f"({keys}, {matches}), " for keys, matches in pairs)
        self._given |= {"domain": self._values.domain, "NotOneByOne": NotOneByOne}
        lines = ["def run(finds, rows, weights, since=()):"]
        lines += ["    out, made = [], []", "    add, weigh = out.append, made.append"]
        lines += ["    times = []", "    time = times.append"] if self._times else []
        lines += [f"    list{k} = domain({name!r}).values" for k, name in enumerate(self._domains)]
        lines += [f"    {name} = 0" for name in self._counters]
        lines += ["    try:", *self._lines, "    except (NotOneByOne, MemoryError):", "        raise"]
        lines += ["    except Exception as fault:", "        raise NotOneByOne from fault"]
        lines += [f"    return out, made, {'times' if self._times else '()'}, ({counts})"]
        exec("\n".join(lines), self._given)  # of names that are made here
        run: Callable[..., Any] = self._given["run"]
        return run


def _called(value: RowExpr) -> Callable[..., Any]:
    """The function of an expression. What may run for long, or make large values, can be interrupted."""
    function = ready(value.scalar)
    if value.arrays is not None:
        return function

    def called(*arguments: Any) -> Any:
        with immediate():
            result = function(*arguments)
        memory.check()
        return result

    return called


# ------------------------------------------------------------------- finding


@lru_cache(maxsize=256)
def _picking(columns: Row) -> Callable[[Row, int], Row]:
    """The function that gives some columns of a row, and its weight."""
    picked: Callable[[Row, int], Row] = eval(f"lambda row, w: ({''.join(f'row[{k}], ' for k in columns)}w,)")
    return picked


def _in_store(view: StoreView, step: LookUp | Exclude, columns: Row, room: list[int]) -> Find:
    """Finds rows of a store as it is when it is asked."""
    store, pick, counted = view.relation, _picking(columns), view.weighted

    def weight(key: Row) -> int:
        at, weights = store.table.find_row(key), store.weights
        if at < 0 or weights is None:
            return 0 if at < 0 else 1
        held: int = weights.item(at)
        return held if counted else int(held > 0 if isinstance(step, Exclude) else held != 0)

    if isinstance(step, Exclude):
        return lambda key: weight(key) != 0
    if view.whole(step.positions):
        return lambda key: ((held,),) if (held := weight(key)) else ()
    ids = arranged(view, step, room)

    def find(key: Row) -> list[Row]:
        found = ids(key)
        if not found:
            return []
        table, weights, ghosts = store.table, store.weights, store.ghosts
        if weights is None or not (ghosts or counted):
            return table.picked(found, columns)
        held = ((at, weights.item(at)) for at in found)
        return [pick(table.row(at), each if counted else 1) for at, each in held if each or not ghosts]

    return find


def _in_growing(view: GrowingView, step: LookUp | Exclude, columns: Row, room: list[int]) -> Find:
    """Finds rows of a growing relation, as far as they are seen when it is asked."""
    assert isinstance(step, LookUp), "a relation is not negated inside its own recursion"
    relation, table = view.relation, view.table
    whole = view.whole(step.positions)
    ready = table.is_numbered if whole else step.positions in relation.indexes
    if not ready and table.size >= thresholds.LARGE_TABLE:
        raise NotOneByOne
    if whole:
        return lambda key: ((1,),) if 0 <= table.find_row(key) < view.size else ()
    ids = arranged(view, step, room)
    if view.now:
        return lambda key: table.picked(ids(key), columns)
    return lambda key: table.picked([at for at in ids(key) if at < relation.low], columns)


def arranged(view: Arranged, step: LookUp, room: list[int]) -> Callable[[Row], list[int]]:
    """Gives the ids of the rows of a key, from an index. They are taken from the room."""
    positions = step.positions

    def ids(key: Row) -> list[int]:
        index = view.relation.indexes.get(positions)
        if index is None:
            if view.relation.table.size >= thresholds.SOUGHT_TABLE:
                raise NotOneByOne  # the rows are looked for, or many are arranged
            index = view.index(positions)
        found = index.rows_of(key, room[0]) if index.__class__ is RowIndex else None
        if found is None:
            raise NotOneByOne
        room[0] -= len(found)
        return found

    return ids


def _before_change(view: BeforeView, step: LookUp | Exclude, columns: Row, room: list[int]) -> Find:
    """Finds rows of a store as it was before a change."""
    now, touched = view.now, _touched(view)
    table = now.table
    if isinstance(step, Exclude) or now.whole(step.positions):
        is_there = isinstance(step, Exclude)
        find_now = _in_store(now, step, columns, room)

        def whole(key: Row) -> Iterable[Row] | bool:
            at = table.find_row(key)
            if at not in touched:
                return find_now(key)
            weight = touched[at][1]
            return weight != 0 if is_there else ((weight,),) if weight else ()

        return whole
    if step.derived:
        raise NotOneByOne
    positions, pick, weights = step.positions, _picking(columns), now.relation.weights
    pick_key = picking(tuple(place for place in positions if isinstance(place, int)))
    ids, ghosts = arranged(now, step, room), now.relation.ghosts
    counted = now.weighted

    def find(key: Row) -> list[Row]:
        found = []
        for at in ids(key):
            weight = 1 if weights is None else weights.item(at)
            if at not in touched and (weight or not ghosts):
                found.append(pick(table.row(at), weight if counted else 1))
        for row, weight in touched.values():
            if weight and pick_key(row) == key:
                found.append(pick(row, weight))
        return found

    return find


def _touched(view: BeforeView) -> dict[int, tuple[Row, int]]:
    """The rows that a change touches, by their ids in the store, each with its weight before."""
    batch, table, weights = view.batch, view.now.table, view.now.relation.weights
    if batch.length > thresholds.FEW_ROWS:
        raise NotOneByOne
    net: dict[int, tuple[Row, int]] = {}
    for row, change in zip(batch.rows(), batch.weight_list(), strict=True):
        at = table.find_row(row)
        net[at] = row, change + (net[at][1] if at in net else 0)
    if -1 in net:
        raise NotOneByOne
    held = {at: 1 if weights is None else weights.item(at) for at in net}
    now = {at: weight if view.now.weighted else int(weight > 0) for at, weight in held.items()}
    return {at: (row, now[at] - change) for at, (row, change) in net.items() if change}


def _nothing(_view: EmptyView, step: LookUp | Exclude, _columns: Row, _room: list[int]) -> Find:
    found: Iterable[Row] | bool = False if isinstance(step, Exclude) else ()
    return lambda _: found


_FINDERS: dict[type, Callable[..., Find]] = {
    StoreView: _in_store,
    BeforeView: _before_change,
    GrowingView: _in_growing,
    EmptyView: _nothing,
}
_KNOWN = {*_FINDERS, type(None)}
_TIMED = set[type]()
