"""Rows and changes as notebooks show them: as text and as HTML. A line says how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...core import Column, Relation
from ...engine.runtime import PartedDelta, PartedRows
from ...engine.svg import to_svg
from ...errors.diagnostics import counted
from ...io.htmltables import html_remark, html_rows, html_table
from ...io.tables import cell_texts, table_lines
from ...types import BigInt, String, Type

if TYPE_CHECKING:
    from ...engine.circuit import Circuit
    from ...engine.runtime import Delta
    from .views import Result, Table

SHOWN = 50
"""The rows of a table that are shown."""

_DRAWN = 200  # nodes of a circuit that is drawn beside its program
_ORDERED = 100_000  # rows that are put in order to show the first
_WIDTH = 100  # characters of a line of text

Bundle = dict[str, str]
"""The forms of a value, by their media types."""


def bundle(text: str, html: str) -> Bundle:
    """A value as text and as HTML."""
    return {"text/plain": text, "text/html": html}


def shown_table(table: Table, title: str = "") -> Bundle:
    """The first rows of a relation; of a multiset with their weights."""
    stored, count = table.stored, len(table)
    if count > _ORDERED and isinstance(stored, PartedRows):
        stored = stored.some(0, SHOWN)
    names, types, rows = list(table.columns), list(table.types), list(islice(stored, SHOWN))
    texts = list(cell_texts(types, table.typedefs, rows))
    if stored.weights is not None:
        names, types = [*names, "weight"], [*types, BigInt()]
        texts = [[*text, f"{weight:+,}"] for text, weight in zip(texts, stored.weights, strict=False)]
    told = counted(count, "row")
    if count > SHOWN:
        some = "the first" if stored is table.stored else "some"
        told = f"{some} {SHOWN} of {told}; to_pandas(), to_polars() and to_arrow() have all"
    return bundle(
        "\n".join([*([title] if title else []), *table_lines(names, types, texts, _WIDTH), f"({told})"]),
        html_rows([*html_table(title, names, types, texts), html_remark(told)]),
    )


def shown_result(result: Result) -> Bundle:
    """The first rows of an answer; without columns, whether it holds."""
    if result.columns:
        return shown_table(result)
    told = "true" if result else "false"
    return bundle(told, html_rows([html_remark(told)]))


def shown_program(relations: Iterable[Relation], circuit: Circuit) -> Bundle:
    """The relations of a program, and its circuit."""
    declared = [each for each in relations if not each.hidden]
    rows = [
        [each.name, each.role, each.kind, ", ".join(f"{c.name}: {c.type}" for c in each.columns)]
        for each in declared
    ]
    names, types = ["relation", "role", "kind", "columns"], [String()] * 4
    drawing = f"<p>its circuit has {len(circuit.nodes):,} nodes</p>"
    if len(circuit.nodes) <= _DRAWN:
        drawing = f"<details><summary>circuit</summary>{to_svg(circuit)}</details>"
    return bundle(
        "\n".join(table_lines(names, types, rows, _WIDTH)),
        html_rows([*html_table("", names, types, rows), drawing]),
    )


def shown_changes(
    deltas: Mapping[str, Delta], relations: Mapping[str, Relation], typedefs: Mapping[str, Any]
) -> Bundle:
    """The changed rows of each relation, with the changes of their weights."""
    lines, parts = list[str](), list[str]()
    for name, delta in deltas.items():
        text, html = _shown_change(name, relations[name].columns, delta, typedefs)
        lines += text
        parts += html
    if not parts:
        return bundle("no output changed", html_rows([html_remark("no output changed")]))
    return bundle("\n".join(lines), html_rows(parts))


def _shown_change(
    name: str, columns: Sequence[Column], delta: Delta, typedefs: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    names = ["", *(each.name for each in columns)]
    types: list[Type] = [BigInt(), *(each.type for each in columns)]
    count, title, left = len(delta), name, ""
    if count > _ORDERED and isinstance(delta, PartedDelta):
        delta, left = delta.some(0, SHOWN), f"some {SHOWN} of {count:,} changed rows"
    else:
        came, went = (sum(w for w in delta.weights if w * sign > 0) for sign in (1, -1))
        title = f"{name}: {' '.join(f'{total:+,}' for total in (came, went) if total)}"
        left = f"the first {SHOWN} of {count:,} changed rows" if count > SHOWN else ""
    weights = delta.weights[:SHOWN]
    texts = cell_texts(types[1:], typedefs, delta.rows[:SHOWN])
    rows = [[f"{weight:+,}", *text] for text, weight in zip(texts, weights, strict=True)]
    kinds = ["came" if weight > 0 else "went" for weight in weights]
    return (
        [title, *table_lines(names, types, rows, _WIDTH), *([f"({left})"] if left else [])],
        [*html_table(title, names, types, rows, kinds), *([html_remark(left)] if left else [])],
    )
