"""The epochs that a state in a file has by themselves: what each changed, and which can be told."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from ...durability.history import History
from ...errors.diagnostics import DDlogError
from ...errors.state import NoHistory
from .keptrelations import KeptRelations

_SHOWN = 10  # epochs of the history


def check_past(kept: KeptRelations, history: History, epoch: int) -> None:
    """Raises DDlogError if the state as of an epoch cannot be told."""
    if epoch:
        history.check(epoch)
        history.check(max(0, epoch - kept.depth))


def check_change(history: History, epoch: int) -> None:
    """Raises DDlogError if what an epoch changed cannot be told."""
    history.check(epoch)
    if epoch < max(1, history.first):
        raise DDlogError([NoHistory(epoch, history.known)])


def described(kept: KeptRelations, history: History, durability: str) -> Iterator[str]:
    """Lines about a state and its last epochs. Raises DDlogError."""
    path, last = kept.store.path, history.last
    size = os.path.getsize(path)
    names = {stored.id: name for name, stored in kept.stored.items() if stored.role == "input"}
    yield f"{path}: epoch {last:,}, durability {durability}, {size:,} bytes"
    yield f"history of {history.known}" if history.first <= last else history.known
    for epoch, written, counts in history.changed(_SHOWN):
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(written))
        rows = ", ".join(f"{names[each]} {counts[each]:,}" for each in sorted(names) if each in counts)
        yield f"  epoch {epoch:,}  {at}  {rows or 'no changes'}"
