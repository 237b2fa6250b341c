"""The program of a state: what it keeps, and what becomes of that when the program is another one."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ..errors.diagnostics import DDlogError
from ..errors.state import CannotUseState, StateOfOtherInputs
from .contents import FileHistory, contents_of
from .forms import RelationForm, Rows
from .inputs import same_rows
from .parts import packed, sliced
from .positions import POSITIONS
from .records import Stored
from .store import FileStore
from .sums import added_up, summed, weights_of

if TYPE_CHECKING:
    import pyarrow as pa


def take_over(
    store: FileStore,
    wanted: Mapping[str, Stored],
    program: Mapping[str, str],
    convert: Callable[[Stored, Stored, pa.Table], pa.RecordBatch] | None,
    check: Callable[[str, Iterable[pa.Table]], None],
) -> dict[str, Stored]:
    """The relations of the store for those that a program wants kept: new ones begin empty. Inputs that are
    gone or have other columns are taken over by `convert`, and kept in the file as dropped. Raises DDlogError
    if there are such inputs and no conversion, or the store is only read, and what `check` raises for the
    rows of an input with a primary key, if the program is new; then the state is as it was."""
    differences = compared(store.relations, wanted)
    found = differences.same
    if convert is None or store.read_only:
        differences.check(str(store.path))
    if store.read_only:
        if store.program() != program:
            _check_keys(store, wanted, found, {}, check)
    else:
        _write(store, wanted, found, differences.gone, differences.changed, program, convert, check)
    return {each: found.get(each, wanted[each]) for each in wanted}


LASTING: Final = ("input", "window")
"""The roles of relations whose rows follow from no others."""


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences of the relations of a state from those that a program wants kept: the same ones by name,
    inputs and windows whose columns changed with what they are now, and those that are gone."""

    same: dict[str, Stored]
    changed: list[tuple[Stored, Stored]]
    gone: list[Stored]

    def check(self, path: str, instead: str | None = None) -> None:
        """Raises DDlogError if an input relation is gone or has other columns. `instead` says what can be
        done, if it is not a migration."""
        lost = [each for each in self.gone if each.role == "input"]
        if self.changed or lost:
            lines = [f"  {_shown(old)}\n  now {_shown(new)}" for old, new in self.changed]
            lines += [f"  {_shown(each)}\n  now there is no input relation {each.name}" for each in lost]
            told = "".join(f"\n{line}" for line in lines)
            error = StateOfOtherInputs(path, told)
            raise DDlogError([error if instead is None else replace(error, instead=instead)])


def compared(relations: Sequence[Stored], wanted: Mapping[str, Stored]) -> Differences:
    """The differences of the relations of a state from those that a program wants kept."""
    known = {each.name: each for each in relations if not each.dropped}
    found = Differences({}, [], [])
    for each in wanted.values():
        there = known.get(each.name)
        if there is not None and same_rows(there, each):
            found.same[each.name] = there
        elif there is not None and there.role == each.role in LASTING:
            found.changed.append((there, each))
        elif there is not None:
            found.gone.append(there)
    found.gone.extend(e for e in known.values() if e.name not in wanted and e.role != POSITIONS.role)
    return found


def _write(
    store: FileStore,
    wanted: Mapping[str, Stored],
    found: dict[str, Stored],
    gone: Sequence[Stored],
    changed: Sequence[tuple[Stored, Stored]],
    program: Mapping[str, str],
    convert: Callable[[Stored, Stored, pa.Table], pa.RecordBatch] | None,
    check: Callable[[str, Iterable[pa.Table]], None],
) -> None:
    """Writes what is new in a program: its text, new relations, rows that were converted, and which relations
    are no longer kept."""
    if store.program() == program and not gone and found.keys() == wanted.keys():
        return
    depth = int(program.get("depth", "0"))
    converted = {new.name: list(_conversions(store, old, new, convert, depth)) for old, new in changed}
    _check_keys(store, wanted, found, converted, check)
    try:
        with store.writing():
            for each in [*gone, *(old for old, _ in changed)]:
                store.change_relation(replace(each, dropped=True))
            for each in wanted.values():
                if each.name not in found:
                    found[each.name] = store.add_relation(each)
            epochs = {store.head.epoch for _ in changed}.union(e for of in converted.values() for e, _ in of)
            for epoch in sorted(epochs):
                rows = [
                    (found[name].id, part.num_rows, packed(part))
                    for name, of in converted.items()
                    for own, batch in of
                    for part in sliced(batch)
                    if own == epoch
                ]
                store.add_span(epoch, epoch, "migrated", store.add_parts(rows))
                store.set_head(store.head)
            store.set_program(program)
    except (OSError, sqlite3.Error) as error:
        raise DDlogError([CannotUseState(str(store.path), str(error))]) from None


def _check_keys(
    store: FileStore,
    wanted: Mapping[str, Stored],
    found: Mapping[str, Stored],
    converted: Mapping[str, Sequence[tuple[int, pa.RecordBatch]]],
    check: Callable[[str, Iterable[pa.Table]], None],
) -> None:
    """Calls `check` with the rows that inputs with a primary key will hold."""
    import pyarrow as pa

    for each in wanted.values():
        if each.keyed and each.role == "input" and each.name in converted:
            check(each.name, [pa.Table.from_batches([batch]) for _, batch in converted[each.name]])
        elif each.keyed and each.role == "input" and each.name in found:
            known = found[each.name]
            check(each.name, contents_of(store, {known.id}).held(known, store.head.epoch))


def _conversions(
    store: FileStore,
    old: Stored,
    new: Stored,
    convert: Callable[[Stored, Stored, pa.Table], pa.RecordBatch] | None,
    depth: int,
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of an input in their new form, with the epochs whose changes they are: what it held before the
    last epochs, and the changes of these, which may be read with a delay."""
    if convert is None or (old.kind == "stream") != (new.kind == "stream"):
        return
    contents, now = contents_of(store, {old.id}), store.head.epoch
    first = max(0, now - depth - 1)
    if old.kind == "multiset" and new.kind == "relation":
        for epoch in range(first + 1, now + 1):  # a row may have come in two epochs
            for table in added_up(old, list(contents.held(old, epoch))):
                convert(old, new, table)
    if old.kind != "stream":
        for table in added_up(old, list(contents.held(old, first))):
            yield first, convert(old, new, table)
    for epoch in range(first + 1, now + 1):
        for table in contents.of_epoch(old, epoch):
            yield epoch, convert(old, new, table)


def texts(name: str, text: str, depth: int) -> dict[str, str]:
    """The rows of the table `program` for a program. The name of its file may be no UTF-8."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    name = name.encode("utf-8", "backslashreplace").decode()
    return {"name": name, "digest": digest, "text": text, "depth": str(depth)}


def add_differences(
    store: FileStore, contents: FileHistory, held: Mapping[str, tuple[Stored, RelationForm, Rows]]
) -> dict[str, Rows]:
    """Writes how the contents of relations differ from what the store has of them, as of its last epoch.
    Relations that have no id yet are added. Returns the differences that are not empty."""
    found: dict[str, Rows] = {}
    batches: dict[str, pa.RecordBatch] = {}
    for name, (stored, form, now) in held.items():
        before = list(contents.held(stored, store.head.epoch)) if stored.id else []
        difference = _difference(form, now, before)
        if difference.num_rows:
            found[name] = form.rows(difference)
            batches[name] = form.batch(found[name])
    new = [name for name, (stored, _, _) in held.items() if not stored.id]
    if (batches or new) and not store.read_only:
        with store.writing():
            ids = {name: stored.id for name, (stored, _, _) in held.items()}
            ids |= {name: store.add_relation(held[name][0]).id for name in new}
            rows = [
                (ids[name], part.num_rows, packed(part))
                for name, batch in batches.items()
                for part in sliced(batch)
            ]
            if rows:
                store.add_span(store.head.epoch, store.head.epoch, "added", store.add_parts(rows))
            store.set_head(store.head)
    return found


def _difference(form: RelationForm, now: Rows, before: list[pa.Table]) -> pa.Table:
    """The rows that are to be added to the tables `before`, so that they sum up to `now`."""
    whole = form.table([now, *(replace(form.rows(table), weights=-weights_of(table)) for table in before)])
    return summed([whole]) if whole.num_rows else whole


def _shown(stored: Stored) -> str:
    columns = ", ".join(f"{name}: {type}" for name, type in stored.columns)
    return f"{stored.role} {stored.kind} {stored.name}({columns})"
