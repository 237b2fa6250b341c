"""Sources and targets of the rows of a relation, as `.input`, `.output` and `.printsize` name them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import souffle as errors
from ...errors.diagnostics import DDlogError
from ...errors.nearest import nearest
from ...errors.source import Span
from ...io.delimited import RowShape
from ...types import TypeDef

_MEDIA = {
    "input": {
        "file": "file",
        "stdin": "console",
        "jsonfile": "json",
        "sqlite": "sqlite",
        "command": "updates",
    },
    "output": {
        "file": "file",
        "stdout": "console",
        "stdoutprintsize": "size",
        "jsonfile": "json",
        "json": "json on the console",
        "sqlite": "sqlite",
    },
    "printsize": {"stdoutprintsize": "size"},
}
_ENDINGS = {"json": ".json", "sqlite": ".sqlite"}
_PARAMETERS = (
    *("IO", "name", "filename", "delimiter", "rfc4180", "columns", "headers", "compress", "dbname", "format"),
    *("attributeNames", "operation", "intermediate", "order_by", "limit"),
)


@dataclass(frozen=True, slots=True)
class Transfer:
    """A directive: `what` is input, output or printsize. `shown` is the name of the relation in Soufflé's
    program and `columns` are those of its columns; `relation` is its name here."""

    what: str
    shown: str
    relation: str
    columns: tuple[str, ...]
    parameters: Mapping[str, str]
    span: Span


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that texts of values use: the types of the translated program, and the branch of Soufflé's
    program that each constructor of an algebraic type stands for, and the fields of each record type by its
    constructor. Those `of_flowlog` have its forms: tuples, `True` for a row without columns."""

    typedefs: Mapping[str, TypeDef]
    branches: Mapping[str, str]
    fields: Mapping[str, tuple[str, ...]]
    of_flowlog: bool = False


@dataclass(frozen=True, slots=True)
class FileForm:
    """The parameters of a directive with their defaults. `medium` is file, console, json, json on the
    console, sqlite or size. `header` is the line with the names of the columns. `places` are the columns of
    the file that hold those of the relation. The rows of JSON are `objects`, or else arrays. Results are
    sorted by the columns in `order`, each with whether the greatest comes first, and end after `limit`."""

    medium: str
    path: Path
    name: str
    delimiter: str
    quoted: bool
    headers: bool
    header: str
    compressed: bool
    places: tuple[int, ...]
    columns: tuple[str, ...]
    objects: bool
    order: tuple[tuple[int, bool], ...] = ()
    limit: int | None = None

    @property
    def shape(self) -> RowShape:
        """The shape of delimited rows."""
        return RowShape(self.delimiter, '"' if self.quoted else "", keep_empty=True)


def form_of(
    transfer: Transfer, folder: Path, note: Callable[[str], None], *, to_console: bool = False
) -> FileForm:
    """The form of a directive; `folder` is that of relative paths. An output that goes `to_console` has no
    other medium. `note` is told of parameters without a meaning. Raises DDlogError."""
    given, is_input = transfer.parameters, transfer.what == "input"
    for key in given:
        if key not in _PARAMETERS:
            near = nearest(key, _PARAMETERS)
            hint = f"; did you mean `{near}`?" if near else ""
            note(f"{transfer.span}: the parameter `{key}` has no meaning{hint}")
    medium = "console" if to_console else _medium(transfer)
    quoted = given.get("rfc4180", "false") == "true"
    compressed = given.get("compress", "false") != "false"
    delimiter = _delimiter(transfer, quoted)
    name = given.get("name", transfer.shown)
    table = "dbname" if medium == "sqlite" and "dbname" in given else "filename"
    ending = _ENDINGS.get(medium) or (".facts" if is_input else ".csv" + ".gz" * compressed)
    file = given.get(table) or name + ending
    return FileForm(
        medium,
        folder / file,
        name,
        delimiter,
        quoted,
        to_console or given.get("headers", "false") == "true",
        given.get("attributeNames") or delimiter.join(transfer.columns),
        compressed,
        _places(transfer) if is_input else (),
        transfer.columns,
        _chosen(transfer, "format", ("list", "object")) == "object",
        () if is_input else tuple(_order(transfer)),
        None if is_input else _limit(transfer),
    )


def _order(transfer: Transfer) -> Iterator[tuple[int, bool]]:
    """The columns by which the rows are sorted, each with whether it is descending."""
    for part in filter(None, transfer.parameters.get("order_by", "").split(",")):
        name, _, direction = part.strip().partition(" ")
        if name not in transfer.columns or direction.strip().lower() not in ("", "asc", "desc"):
            raise _bad(transfer, "order_by", 'columns with ASC or DESC, such as "a DESC, b"')
        yield transfer.columns.index(name), direction.strip().lower() == "desc"


def _limit(transfer: Transfer) -> int | None:
    text = transfer.parameters.get("limit")
    if text is not None and not text.isdecimal():
        raise _bad(transfer, "limit", "a number of rows")
    return None if text is None else int(text)


def _medium(transfer: Transfer) -> str:
    media = _MEDIA[transfer.what]
    if transfer.what == "printsize":
        return "size"
    return media[_chosen(transfer, "IO", list(media))]


def _chosen(transfer: Transfer, key: str, words: Sequence[str]) -> str:
    """The value of a parameter, which is one of some words; the first if it is not given."""
    word = transfer.parameters.get(key, words[0])
    if word not in words:
        raise _bad(transfer, key, ", ".join(words))
    return word


def _delimiter(transfer: Transfer, quoted: bool) -> str:
    delimiter = transfer.parameters.get("delimiter", "," if quoted else "\t").replace("\\t", "\t")
    if not delimiter or "\n" in delimiter or (quoted and '"' in delimiter):
        raise _bad(transfer, "delimiter", "a text on one line" + (" without quotes" if quoted else ""))
    return delimiter


def _places(transfer: Transfer) -> tuple[int, ...]:
    """The column of the file for each column of the relation, as `columns` lists them."""
    width = len(transfer.columns)
    listed = transfer.parameters.get("columns", "")
    if not listed:
        return tuple(range(width))
    parts = listed.split(":")
    numbers = [int(part) for part in parts if part.isdecimal()]
    if len(numbers) < len(parts) or len(set(numbers)) < len(numbers) or len(numbers) != width:
        raise _bad(transfer, "columns", f"{width} different numbers of columns, such as 0:1")
    return tuple(numbers)


def _bad(transfer: Transfer, key: str, expected: str) -> DDlogError:
    value = transfer.parameters.get(key, "")
    return DDlogError([errors.BadParameter(key=key, value=value, expected=expected, span=transfer.span)])
