"""Questions about a session, as requests ask them. Each function reads the session and makes the answer, in
the session's thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from ..core import Relation
from ..engine.inprocess.runtime import InProcess
from ..engine.runtime import RowSet
from ..engine.svg import to_svg
from ..engine.text import to_text
from ..errors.diagnostics import DDlogError
from ..errors.server import BadRequest
from ..explaining.explanation import Explanation
from ..io.arrow import to_table
from ..io.jsonfiles import row_from_json
from ..sessions.program import Program
from ..sessions.results.listedrows import ListedRows
from ..sessions.results.records import RecordRuntime
from ..sessions.results.views import RelationView, Result
from ..sessions.session import Session
from ..types import Bit, Bool, Float, Signed, String, Type
from ..values.rows import Row
from .answers import ARROW, JSON, arrow_parts, body_of, columns_of
from .bodies import reading_values
from .failures import told

WORDS = ("why", "why_all", "why_not", "why_ends", "why_change")
FORMS = {"json": "application/json", "text": "text/plain", "html": "text/html", "dot": "text/vnd.graphviz"}

MANY = 100_000
"""The rows of a large relation: a page of one that is not larger is in order."""
_PART = 1 << 16  # rows of a batch of Arrow, whose columns stay in the cache of a processor


def prepare(session: Session) -> None:
    """Asks what imports most of what answers need, which takes half a second. A copy of the process would
    import it anew for each commit."""
    import pyarrow as pa

    pa.array(np.arange(1))  # which imports pandas, if it is installed
    with suppress(DDlogError):
        session.select("SELECT 1 AS one")


def told_of(program: Program) -> list[str]:
    """The relations that answers tell of: not those that a module of SQL makes of parts of its views."""
    return [name for name, each in program.relations.items() if not (each.hidden or each.made)]


def schema(program: Program, session: Session, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The relations and indexes of a program, with the numbers of rows."""
    relations = [
        {
            "name": each.source_name, "role": each.role, "kind": each.kind,
            "columns": columns_of(each), "record": each.constructor is not None,
            "key": None if each.key is None else str(each.key.result), "rows": sizes.get(name),
        }
        for name in told_of(program) for each in [program.relations[name]]
    ]  # fmt: skip
    indexes = [
        {"name": name, "relation": each.relation, "variables": [v.name for v in each.variables]}
        for name, each in program.indexes.items()
    ]
    return {"relations": relations, "indexes": indexes}


def query(session: Session, text: str, sql: bool, media: str, most: int, offset: int) -> Any:
    """The body of the answer to a query in the language or in SQL. Raises DDlogError."""
    warnings: list[Any] = []
    result = session.select(text) if sql else session.ask(text, warned=warnings.extend)
    return body_of(result, media, {"warnings": told(warnings)}, most, offset)


def page(
    session: Session, relation: str, media: str, most: int, offset: int, order: str, holding: str
) -> Any:
    """The body with rows of a relation: those with a cell that holds a text, in the order of a column.
    Without either, pages of a large relation are in no order."""
    count, here = session.size(relation), session.state.host.offer.here
    declared, more = session.state.declared(relation), {"rows_in_all": count}
    if count > MANY and not (order or holding) and type(here) is InProcess:
        if media == ARROW and (tables := _whole(session, here, declared)) is not None:
            return arrow_parts(tables)
        if media == JSON:
            part = Result(declared, _some(session, here, declared, offset, most), session.typedefs)
            return body_of(part, media, {**more, "count": count, "offset": offset}, most)
    view = session[relation]
    if order or holding:
        return body_of(_chosen(view, order, holding), media, more, most, offset)
    return body_of(view, media, more, most, offset)


def _some(session: Session, here: InProcess, of: Relation, first: int, count: int) -> RowSet:
    stored = here.some(of.name, first, count, of.kind == "multiset")
    runtime = session.state.host.runtime
    return runtime.shown_rows(of.name, stored) if isinstance(runtime, RecordRuntime) else stored


def is_exported_beside(relation: Relation) -> bool:
    """Whether all rows of a relation are soon read, to be written as Arrow after the question: whether it is
    a set of numbers."""
    return relation.kind == "relation" and all(
        isinstance(each.type, Bool | Bit | Signed | Float) for each in relation.columns
    )


def _whole(session: Session, here: InProcess, declared: Relation) -> Iterator[Any] | None:
    """All rows of a set of numbers and texts as tables of Arrow, in no order; None for another relation. They
    are made where they are wanted, of what is there now."""
    columns = declared.titled_types
    simple = all(isinstance(of, Bool | Bit | Signed | Float | String) for _, of in columns)
    wide = any(isinstance(of, Bit | Signed) and of.width > 64 for _, of in columns)
    if declared.kind != "relation" or not simple or wide:
        return None
    return (
        to_table(columns, list(map(_arrow_form, part.columns, (of for _, of in columns))), session.typedefs)
        for part in here.parts(declared.name, _PART)
    )


def _arrow_form(column: Any, of: Type) -> Any:
    return column.astype(bool) if isinstance(of, Bool) else column


def _chosen(view: RelationView, order: str, holding: str) -> Result:
    weights = view.stored.weights or [1] * len(view)
    rows: list[tuple[Row, int]] = list(zip(view.stored, weights, strict=True))
    if holding:
        wanted = holding.casefold()
        texts = view.texts()
        found = (any(wanted in cell.casefold() for cell in each) for each in texts)
        rows = [row for row, keep in zip(rows, found, strict=True) if keep]
    if order:
        name = order.removeprefix("-")
        if name not in view.columns:
            known = ", ".join(view.columns)
            raise DDlogError([BadRequest(f"{view.relation.name} has no column {name!r}; it has {known}")])
        at = view.columns.index(name)
        rows.sort(key=lambda each: each[0][at], reverse=order.startswith("-"))
    listed = ListedRows(view.stored.schema, [row for row, _ in rows], None)
    if view.stored.weights is not None:
        listed.weights = [weight for _, weight in rows]
    return Result(view.relation, listed, view.typedefs)


def explanation(session: Session, asked: Mapping[str, Any]) -> list[Explanation]:
    """The explanations that a question asks for. Raises DDlogError."""
    word, depth = asked.get("ask", "why"), asked.get("depth")
    if word not in WORDS:
        raise DDlogError([BadRequest(f"ask is one of {', '.join(WORDS)}, not {word!r}")])
    if depth is not None and not 1 <= depth <= 100:
        raise DDlogError([BadRequest("depth is a number from 1 to 100")])
    if "question" in asked:
        given = [asked["question"]]
    elif "relation" in asked and "row" in asked:
        declared = session.state.declared(asked["relation"])
        with reading_values():
            row = row_from_json(asked["row"], declared, session.typedefs)
        given = [declared.name, row]
    else:
        raise DDlogError([BadRequest("a question has `question`, or `relation` and `row`")])
    named: dict[str, Any] = {} if depth is None or word == "why_ends" else {"depth": depth}
    found = getattr(session, word)(*given, **named)
    return list(found) if word == "why_all" else [found]


def explained(session: Session, asked: Mapping[str, Any]) -> str:
    """The body of an explanation, in the form that is asked for. Raises DDlogError."""
    form = asked.get("format", "json")
    if form not in FORMS:
        raise DDlogError([BadRequest(f"format is one of {', '.join(FORMS)}, not {form!r}")])
    found = explanation(session, asked)
    if asked.get("ask") != "why_all":
        return found[0].form(form)
    if form == "html":
        return found[0].html(found[1:])
    texts = [each.form(form) for each in found]
    return f"[{','.join(texts)}]" if form == "json" else "".join(texts)


def drawn(program: Program, svg: bool) -> str:
    """The circuit of a program as a picture or as text."""
    circuit = program.circuit()
    return to_svg(circuit) if svg else to_text(circuit)


def changes_of(session: Session, epoch: int, most: int) -> dict[str, Sequence[Any]]:
    """The changed rows of each output relation in an epoch of the state. Raises DDlogError."""
    changes = session.changes_of(epoch)
    return {name: list(islice(changes.stored(name), most)) for name in changes}
