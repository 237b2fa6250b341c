"""Relations that only windows read, on Spark: they drop the rows that no window holds.

See `engine.forgetting`.
"""

from __future__ import annotations

from ..circuit import Input, NodeId
from ..forgetting import Holder
from ..schema import Schema
from .operators import touched
from .spine import Spine
from .sqltext import As, Query, Select, UnionAll, everything
from .state import State
from .tables import Table
from .windows import WindowSpine


def forget(state: State) -> dict[NodeId, Table]:
    """Drops the rows of forgetful relations that are in no window after this epoch. Returns those of inputs,
    with negative weights."""
    found = {}
    for at, holders in state.forgetful.items():
        windows = [state.windows[holder.window] for holder in holders]
        left = any(window.gone for window in windows)
        alone = [window for holder, window in zip(holders, windows, strict=True) if _reads(state, holder, at)]
        for spine in (state.spines.get(at), state.counts.get(at)):
            come = sum(table.rows for table in spine.fresh) if spine is not None else 0
            if spine is not None and (left or (come and not any(_took(each, come) for each in alone))):
                node = state.circuit.nodes[at]
                gone = _forget(node.schema, spine, holders, windows)
                if isinstance(node, Input) and gone.rows:
                    found[at] = gone
    return found


def _reads(state: State, holder: Holder, at: NodeId) -> bool:
    """Whether the rows of a window come from a node, one by one."""
    window = state.circuit.nodes[holder.window]
    (source, *_) = window.reads()
    return state.circuit.nodes[source].reads() == (at,)


def _took(window: WindowSpine, rows: int) -> bool:
    """Whether a window holds all rows that came."""
    return window.whole and sum(table.rows for table in window.fresh) == rows


def _forget(schema: Schema, spine: Spine, holders: tuple[Holder, ...], windows: list[WindowSpine]) -> Table:
    """Drops rows of one relation, and returns them with negative weights."""
    columns, tables = spine.columns, spine.tables
    changed: list[Query] = [Select(columns, table.view) for table in spine.fresh]
    size = sum(table.rows for table in spine.fresh)
    for holder, window in zip(holders, windows, strict=True):
        changed += [Select(_of_source(holder), table.view) for table in window.gone]
        size += sum(table.rows for table in window.gone)
    looked_up = UnionAll(changed)
    weights = ["i", *(f"h{number}" for number in range(len(holders)))]

    def weighing(kept: str) -> list[str | As]:
        return [As("w" if each == kept else "0L", each) for each in weights]

    there = touched(spine, looked_up, columns, size, now=True)
    parts: list[Query] = [Select([*columns, *weighing("i")], there)]
    for number, (holder, window) in enumerate(zip(holders, windows, strict=True)):
        held = touched(window, Select(_of_window(holder), looked_up), window.columns[:-1], size, now=True)
        within = everything(held, "" if window.limit is None else f"{window.columns[-1]} >= {window.limit}")
        parts.append(Select([*_of_source(holder), *weighing(f"h{number}")], within))
    lost = " AND ".join(["sum(i) <> 0", *(f"sum({each}) <= 0" for each in weights[1:])])
    gone = Select([*columns, As("-sum(i)", "w")], UnionAll(parts), grouped=columns, having=lost)
    dropped = tables.settled(gone, schema, small=size <= tables.most_small)
    spine.add(dropped)
    return dropped


def _of_source(holder: Holder) -> list[str | As]:
    """The columns of a window's row as those of the relation."""
    places = sorted((place, column) for column, place in enumerate(holder.columns))
    return [As(f"c{column}", f"c{place}") for place, column in places]


def _of_window(holder: Holder) -> list[str | As]:
    """The columns of a row of the relation as those of the window."""
    return [As(f"c{place}", f"c{column}") for column, place in enumerate(holder.columns)]
