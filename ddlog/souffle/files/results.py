"""Results as Soufflé writes them: delimited files, and the same on standard output with a heading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import itemgetter

from ...core import Relation
from ...io.formats import Row
from ...types import Bit, Float, Signed, String
from .resulttexts import value_writer
from .transfers import FileForm, Vocabulary

_CHUNK = 1 << 14  # rows that are written at once


def ordered(rows: Iterable[Row], form: FileForm) -> Iterable[Row]:
    """The rows in the order of the form, as many as it lets through."""
    for place, descending in reversed(form.order):
        rows = sorted(rows, key=itemgetter(place), reverse=descending)
    return rows if form.limit is None else islice(rows, form.limit)


def delimited_texts(
    rows: Iterable[Row],
    form: FileForm,
    relation: Relation,
    words: Vocabulary,
) -> Iterator[str]:
    """The text of a result in pieces."""
    header = form.header + "\n" if form.headers else ""
    lines = _lines(rows, form, relation, words)
    if form.medium != "console":
        yield header
        yield from lines
        return
    yield f"---------------\n{form.name}\n{header}===============\n"
    yield from lines
    yield "===============\n"


def _lines(
    rows: Iterable[Row],
    form: FileForm,
    relation: Relation,
    words: Vocabulary,
) -> Iterator[str]:
    line = _line_writer(form, relation, words)
    remaining = iter(rows)
    while chunk := list(islice(remaining, _CHUNK)):
        yield "".join(map(line, chunk))


def _line_writer(form: FileForm, relation: Relation, words: Vocabulary) -> Callable[[Row], str]:
    """A function that writes a row as a line."""
    types = [column.type for column in relation.columns]
    if not types:
        return lambda row: "True\n" if words.of_flowlog else "()\n"
    template = form.delimiter.replace("%", "%%").join(["%s"] * len(types)) + "\n"
    if all(isinstance(type, Bit | Signed) or (type == String() and not form.quoted) for type in types):
        return template.__mod__
    writers = [value_writer(type, words) for type in types]
    if form.quoted:
        writers = [
            write if isinstance(type, Bit | Signed | Float) else _quoting(write)
            for type, write in zip(types, writers, strict=True)
        ]
    return lambda row: template % tuple([write(value) for write, value in zip(writers, row, strict=True)])


def _quoting(write: Callable[[object], str]) -> Callable[[object], str]:
    return lambda value: '"' + write(value).replace('"', '""') + '"'
