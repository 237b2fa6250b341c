"""Tables of HTML for notebooks. They read without their style, which some notebooks leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ..types import Type
from .tables import is_number

_LONGEST = 300
"""Characters of a cell that are shown."""

_STYLE = """
.ddlog-rows { overflow-x: auto; font-variant-numeric: tabular-nums; }
.ddlog-rows table { border-collapse: collapse; }
.ddlog-rows caption { text-align: left; font-weight: 600; padding: .2em 0; }
.ddlog-rows th, .ddlog-rows td { padding: .15em .6em; border-bottom: 1px solid #8884; text-align: left; }
.ddlog-rows .n { text-align: right; }
.ddlog-rows tr.came { background: #2a8a3e22; }
.ddlog-rows tr.went { background: #c0392b22; }
.ddlog-rows p { margin: .3em 0; opacity: .75; }
"""


def html_rows(parts: Iterable[str]) -> str:
    """Tables and remarks as one piece of HTML."""
    return f'<div class="ddlog-rows"><style>{_STYLE}</style>{"".join(parts)}</div>'


def html_remark(text: str) -> str:
    """A line below a table."""
    return f"<p>{escape(text)}</p>"


def html_table(
    title: str,
    names: Sequence[str],
    types: Sequence[Type],
    rows: Iterable[Sequence[str]],
    classes: Iterable[str] | None = None,
) -> Iterator[str]:
    """A table under a title, if that is a text; `classes` are those of the rows."""
    of_column = [" class=n" if is_number(each) else "" for each in types]
    yield "<table>" + (f"<caption>{escape(title)}</caption>" if title else "") + "<thead>"
    yield _row(names, of_column, "th", "")
    yield "</thead><tbody>"
    kinds = iter(classes or ())
    for row in rows:
        yield _row(row, of_column, "td", next(kinds, ""))
    yield "</tbody></table>"


def _row(cells: Sequence[str], of_column: Sequence[str], tag: str, kind: str) -> str:
    made = (f"<{tag}{of}>{escape(_cut(cell))}</{tag}>" for cell, of in zip(cells, of_column, strict=True))
    return f"<tr{f' class={kind}' if kind else ''}>{''.join(made)}</tr>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
