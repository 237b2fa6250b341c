"""The program of a state: what it keeps, and what becomes of that when the program is another one."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from ..errors.state import CannotUseState, StateOfOtherInputs
from .contents import Contents
from .forms import WEIGHT, RelationForm, Rows
from .inputs import same_rows
from .parts import packed, sliced
from .store import Store, Stored
from .sums import summed, weights_of, without_dictionaries

if TYPE_CHECKING:
    import pyarrow as pa


def take_over(
    store: Store, wanted: Mapping[str, Stored], name: str, text: str, depth: int
) -> dict[str, Stored]:
    """The relations of the store for those that a program wants kept: new ones begin empty. Raises DDlogError
    if an input is gone or has other columns."""
    found: dict[str, Stored] = {}
    lines: list[str] = []
    for each in wanted.values():
        there = store.relation(each.name)
        if there is not None and same_rows(there, each):
            found[each.name] = there
        elif there is not None and "input" in (there.role, each.role):
            lines += [f"  {_shown(there)}", f"  now {_shown(each)}"]
    for there in store.relations:
        if not there.dropped and there.role == "input" and there.name not in wanted:
            lines += [f"  {_shown(there)}", f"  now there is no input relation {there.name}"]
    if lines:
        raise DDlogError([StateOfOtherInputs(str(store.path), "".join(f"\n{line}" for line in lines))])
    if not store.read_only:
        _write(store, wanted, found, name, text, depth)
    return {each: found.get(each, wanted[each]) for each in wanted}


def _write(
    store: Store, wanted: Mapping[str, Stored], found: dict[str, Stored], name: str, text: str, depth: int
) -> None:
    """Writes what is new in a program: its text, new relations, and those that are no longer kept."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    known = store.program()
    gone = [each for each in store.relations if not each.dropped and each.name not in found]
    texts = {"name": name, "digest": digest, "text": text, "depth": str(depth)}
    if known == texts and not gone and found.keys() == wanted.keys():
        return
    from dataclasses import replace

    try:
        with store.writing():
            for each in gone:
                store.change_relation(replace(each, dropped=True))
            for each in wanted.values():
                if each.name not in found:
                    found[each.name] = store.add_relation(each)
            store.set_program(texts)
    except (OSError, sqlite3.Error) as error:
        raise DDlogError([CannotUseState(str(store.path), str(error))]) from None


def add_differences(
    store: Store, contents: Contents, held: Mapping[str, tuple[Stored, RelationForm, Rows]]
) -> dict[str, Rows]:
    """Writes how the contents of relations differ from what the store has of them, as of its last epoch.
    Returns the differences that are not empty."""
    found: dict[str, Rows] = {}
    rows: list[tuple[int, int, bytes]] = []
    for name, (stored, form, now) in held.items():
        difference = _difference(form, now, list(contents.until(stored.id, store.head.epoch)))
        if difference.num_rows:
            found[name] = form.rows(difference)
            batch = form.batch(found[name])
            rows += [(stored.id, part.num_rows, packed(part)) for part in sliced(batch)]
    if rows and not store.read_only:
        from dataclasses import replace

        with store.writing():
            store.add_span(store.head.epoch, store.head.epoch, "added", store.add_parts(rows))
            store.set_head(replace(store.head))
    return found


def _difference(form: RelationForm, now: Rows, before: list[pa.Table]) -> pa.Table:
    """What has to be added to tables so that they sum up to rows."""
    import pyarrow as pa

    tables = [pa.Table.from_batches([form.batch(now)])]
    for table in before:
        again = pa.Table.from_batches([form.batch(form.rows(table))])
        plain = again.drop_columns([WEIGHT]) if WEIGHT in again.column_names else again
        tables.append(plain.append_column(WEIGHT, pa.array(-weights_of(again))))
    kept = [without_dictionaries(table) for table in tables]
    return summed(kept) if any(table.num_rows for table in kept) else kept[0].slice(0, 0)


def _shown(stored: Stored) -> str:
    columns = ", ".join(f"{name}: {type}" for name, type in stored.columns)
    return f"input {stored.kind} {stored.name}({columns})"
