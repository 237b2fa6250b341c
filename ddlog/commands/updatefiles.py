"""Update files of every form, and standard input, as commands."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TextIO

from ..core import Index, Relation
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError
from ..errors.source import Span
from ..io.faults import FaultyFile
from ..io.read import fault_in
from ..io.utf8 import decode
from ..types import TypeDef
from .changefiles import JsonReader, separated_changes
from .interpreter import Command
from .reader import CommandReader

Note = Callable[[str], None]
_BYTE_ORDER_MARK = "\ufeff"


class UpdateReader(Protocol):
    """A reader of update files: takes text piece by piece and gives commands."""

    def feed(self, text: str) -> None:
        """Adds text at the end."""

    def commands(self, *, final: bool = False) -> Iterator[Command]:
        """The complete commands. Raises DDlogError."""

    def remainder(self) -> tuple[str, Span] | None:
        """The incomplete rest of the text, and its place."""


def update_commands(
    name: str,
    relations: Mapping[str, Relation],
    typedefs: Mapping[str, TypeDef],
    note: Note,
    indexes: Mapping[str, Index] = MappingProxyType({}),
) -> Iterator[Command]:
    """The commands of an update file, or of standard input (`-`). Raises DDlogError.

    The ending of the file's name decides its form. On standard input the first character does: `{` begins
    JSON lines. `note` takes a note about an incomplete end.
    """

    def make_reader(is_json: bool, name: str) -> UpdateReader:
        if is_json:
            return JsonReader(relations, typedefs, name)
        return CommandReader(relations, typedefs, name, indexes)

    if name == "-":
        yield from _follow(sys.stdin, make_reader, note)
        return
    path = Path(name)
    text = read_update_file(path)
    suffixes = [each for each in path.suffixes if each != ".gz"]
    ending = suffixes[-1] if suffixes else ""
    if ending in (".csv", ".tsv", ".facts"):
        relation = path.name.split(".")[0]
        separator = "," if ending == ".csv" else "\t"
        yield from separated_changes(text, separator, relation, relations, typedefs, name)
        return
    is_json = ending in (".jsonl", ".ndjson", ".json")
    reader = make_reader(is_json, name)
    reader.feed(text)
    yield from reader.commands(final=True)
    note_rest(reader, note)


def check_updates(name: str) -> None:
    """Checks that an update file exists, before time is spent on facts. Raises DDlogError."""
    if name == "-":
        return
    if Path(name).is_dir():
        raise DDlogError([errors.DirectoryForFile(name)])
    try:
        Path(name).stat()
    except OSError as error:
        raise DDlogError([errors.CannotRead(name, error.strerror or str(error))]) from None


def _follow(
    stream: TextIO, make_reader: Callable[[bool, str], UpdateReader], note: Note
) -> Iterator[Command]:
    """The commands of a stream, each as soon as the line that ends it has arrived."""
    reader: UpdateReader | None = None
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8")
    try:
        for line in stream:
            if reader is None:
                line = line.removeprefix(_BYTE_ORDER_MARK)
                reader = make_reader(line.lstrip().startswith("{"), "<stdin>")
            reader.feed(line)
            yield from reader.commands()
    except UnicodeDecodeError as error:
        raise DDlogError([errors.CannotRead("<stdin>", f"it is not UTF-8: {error.reason}")]) from None
    if reader is not None:
        yield from reader.commands(final=True)
        note_rest(reader, note)


def note_rest(reader: UpdateReader, note: Note) -> None:
    """Notes an incomplete command at the end of the text."""
    rest = reader.remainder()
    if rest is not None:
        text, place = rest
        note(f"{place}: ignored, as it is not finished: {text.splitlines()[0] if text else ''}")


def read_update_file(path: Path) -> str:
    """The text of a file, which may be compressed. Raises DDlogError."""
    try:
        data = path.read_bytes()
        text = decode(gzip.decompress(data) if path.name.endswith(".gz") else data)
        return text.removeprefix(_BYTE_ORDER_MARK)
    except IsADirectoryError:
        raise DDlogError([errors.DirectoryForFile(str(path))]) from None
    except FaultyFile as faulty:
        raise DDlogError([fault_in(str(path), fault) for fault in faulty.faults]) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DDlogError([errors.CannotRead(str(path), reason)]) from None
