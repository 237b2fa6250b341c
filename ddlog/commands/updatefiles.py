"""Update files of every form, and standard input, as commands."""

from __future__ import annotations

import codecs
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TextIO

from ..core import Index, Relation
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError, system_errors
from ..errors.source import Source
from ..io.decompression import unpacked
from ..io.delimited import usual_shape
from ..io.dialects import PLAIN, Dialect
from ..io.faults import FaultyFile
from ..io.filenames import is_separated
from ..io.read import faulty_file, too_large
from ..io.refusals import Refuse, stop
from ..io.utf8 import decode
from ..types import TypeDef
from .changefiles import JsonReader, separated_changes
from .interpreter import Command
from .reader import CommandReader
from .sqlreader import USUAL, SqlReader, begins_sql

_BLOCK = 1 << 18  # bytes read at once, if they have arrived
_BYTE_ORDER_MARK = "\ufeff"


class UpdateReader(Protocol):
    """A reader of update files: takes text piece by piece and gives commands."""

    def feed(self, text: str) -> None:
        """Adds text at the end."""

    def commands(self, *, final: bool = False, runs: bool = False) -> Iterator[Command]:
        """The complete commands; with `runs`, plain updates come in runs. Raises DDlogError for a wrong
        command, after which it goes on when it is called again."""


def update_commands(
    name: str,
    relations: Mapping[str, Relation],
    typedefs: Mapping[str, TypeDef],
    indexes: Mapping[str, Index] = MappingProxyType({}),
    *,
    relation: str | None = None,
    runs: bool = False,
    refuse: Refuse = stop,
    dialect: Dialect = PLAIN,
    like: Source = USUAL,
) -> Iterator[Command]:
    """The commands of an update file, or of standard input (`-`). Raises DDlogError; wrong lines and commands
    go to `refuse`.

    The ending of the file's name decides its form. On standard input the first words do: `{` begins JSON
    lines, and `INSERT INTO` and the like statements of SQL. Separated rows change `relation`, or the one that
    the file is named after. With `runs`, plain updates of one relation that follow each other come as one
    `UpdateRun`. Statements of SQL are in the dialect and the zone of the program `like`.
    """

    def make_reader(form: str, name: str) -> UpdateReader:
        if form == "json":
            return JsonReader(relations, typedefs, name)
        if form == "sql":
            return SqlReader(relations, typedefs, name, like)
        return CommandReader(relations, typedefs, name, indexes)

    if name == "-":
        yield from _follow(sys.stdin, make_reader, runs, refuse)
        return
    path = Path(name)
    text = read_update_file(path, dialect.encoding)
    ending = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    if is_separated(name):
        relation = relation or path.name.split(".")[0]
        shape = usual_shape(ending)
        yield from separated_changes(text, shape, relation, relations, typedefs, name, refuse, dialect)
        return
    reader = make_reader("json" if ending in ("jsonl", "ndjson") else ending, name)
    reader.feed(text)
    yield from commands_of(reader, True, runs, refuse)


def check_updates(name: str) -> None:
    """Checks that an update file exists, before time is spent on facts. Raises DDlogError."""
    if name == "-":
        return
    if Path(name).is_dir():
        raise DDlogError([errors.DirectoryForFile(name)])
    with system_errors(errors.CannotRead, name):
        Path(name).stat()


def _follow(
    stream: TextIO, make_reader: Callable[[str, str], UpdateReader], runs: bool, refuse: Refuse
) -> Iterator[Command]:
    """The commands of a stream, each as soon as the line that ends it has arrived."""
    reader: UpdateReader | None = None
    try:
        for lines in _arriving(stream):
            if reader is None:
                lines = lines.removeprefix(_BYTE_ORDER_MARK)
                is_json = lines.lstrip().startswith("{")
                form = "json" if is_json else "sql" if begins_sql(lines) else "commands"
                reader = make_reader(form, "<stdin>")
            reader.feed(lines)
            yield from commands_of(reader, False, runs, refuse)
    except UnicodeDecodeError as error:
        raise DDlogError([errors.CannotRead("<stdin>", f"it is not UTF-8: {error.reason}")]) from None
    if reader is not None:
        yield from commands_of(reader, True, runs, refuse)


def commands_of(reader: UpdateReader, final: bool, runs: bool, refuse: Refuse) -> Iterator[Command]:
    """The commands of a reader; wrong ones are refused."""
    while True:
        try:
            yield from reader.commands(final=final, runs=runs)
            return
        except DDlogError as error:
            refuse(error)


def _arriving(stream: TextIO) -> Iterator[str]:
    """The lines of a stream, as many at a time as have arrived. Raises UnicodeDecodeError."""
    read = getattr(getattr(stream, "buffer", None), "read1", None)
    if read is None:
        yield from stream
        return
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")(), translate=True)
    waiting: list[str] = []  # the beginning of a line
    data = b" "
    while data:
        data = read(_BLOCK)
        text = decoder.decode(data, final=not data)
        end = text.rfind("\n") + 1
        if end or not data:
            whole = "".join((*waiting, text[:end] if data else text))
            waiting = []
            if whole:
                yield whole
        waiting.append(text[end:])


def read_update_file(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file, which may be compressed. Raises DDlogError."""
    try:
        data = path.read_bytes()
        text = decode(unpacked(data) if path.name.endswith(".gz") else data, encoding)
        return text.removeprefix(_BYTE_ORDER_MARK)
    except IsADirectoryError:
        raise DDlogError([errors.DirectoryForFile(str(path))]) from None
    except FaultyFile as faulty:
        raise faulty_file(str(path), faulty) from None
    except MemoryError as error:
        raise DDlogError([errors.CannotRead(str(path), too_large(error))]) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DDlogError([errors.CannotRead(str(path), reason)]) from None
