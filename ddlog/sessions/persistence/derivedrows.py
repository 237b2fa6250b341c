"""The rows of derived relations and of windows in a file, brought up to those that they have after a session
has begun: the rules may be others than before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...durability.contents import FileHistory, count_of
from ...durability.forms import Rows
from ...durability.program import add_differences
from ...engine.runtime import Coded
from .keptrelations import KeptRelations

if TYPE_CHECKING:
    from ...engine.inprocess.runtime import InProcess


def settle(kept: KeptRelations, contents: FileHistory, held: Mapping[str, Coded]) -> dict[str, Rows]:
    """Brings derived relations up to what they hold. Returns the differences, by the relation's name. Raises
    DDlogError."""
    wanted = {}
    for name, rows in held.items():
        stored = kept.source(name)
        wanted[name] = stored, kept.forms[stored.id], rows_of(rows)
    return add_differences(kept.store, contents, wanted)


def settle_windows(kept: KeptRelations, contents: FileHistory, runtime: InProcess, epoch: int) -> None:
    """Brings the stored rows of windows, and of inputs that forget rows outside of all windows, up to the
    runtime's after the last epoch: other rules may let rows go. Takes in the windows that are new. Raises
    DDlogError."""
    wanted = {}
    for name in (*kept.windows.relations, *kept.windows.forgetful):
        stored = kept.fresh.get(name) or kept.stored[name]
        if stored.kind == "stream":
            continue
        held = runtime.input_held if stored.role == "input" else runtime.held
        rows = rows_of(held(name))
        is_clock = name in kept.windows.relations and stored.kind == "relation"
        if not stored.id or is_clock or _count(rows) != count_of(contents, stored, epoch):
            wanted[name] = stored, kept.form(name), rows
    if wanted:
        add_differences(kept.store, contents, wanted)
    if not kept.store.read_only:
        kept.take_in_fresh()


def rows_of(coded: Coded) -> Rows:
    """Rows of a runtime, as those of a file."""
    return Rows(coded.columns, coded.weights, None, coded.length)


def _count(rows: Rows) -> int:
    return rows.length if rows.weights is None else int(rows.weights.sum())
