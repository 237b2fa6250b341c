"""Source texts and places in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .origins import Origins

DIALECTS = ("duckdb", "spark")
"""The dialects of SQL, the usual one first."""


MOST_BYTES = 1 << 28
"""The bytes that a program file may have: a thousand times those of the longest known ones."""


@dataclass(frozen=True, slots=True)
class Source:
    """A named text: a program, a module, a query, a command file. `origins` say what the rules of a
    module of SQL stand for; `dialect` is that of SQL in it, and in what it imports, `zone` the
    time zone of its moments. `part` names what stands together in a program although its pieces are anywhere
    in the text, or in several texts."""

    name: str
    text: str = field(repr=False)
    dialect: str = field(default="duckdb", repr=False, kw_only=True)
    zone: str = field(default="UTC", repr=False, kw_only=True)
    origins: Origins | None = field(default=None, compare=False, repr=False, kw_only=True)
    part: str = field(default="", repr=False, kw_only=True)

    def another(self, name: str, text: str) -> Source:
        """A text that is read as this one is."""
        return Source(name, text, dialect=self.dialect, zone=self.zone)

    def place(self, line: int, column: int) -> str:
        """A place in the source as messages write it."""
        return f"{self.name}:{line}:{column}"

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        lines = _lines(self.text)
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source. Lines and columns count from 1; the end is exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return self.source.place(self.line, self.column)

    def to(self, other: Span) -> Span:
        """The stretch from the start of this span to the end of the other."""
        return Span(self.source, self.line, self.column, other.end_line, other.end_column)

    def within(self, other: Span) -> bool:
        """Whether the stretch is a part of another one."""
        if other.source.part:
            return self.source.part == other.source.part
        begin, end = (self.line, self.column), (self.end_line, self.end_column)
        own, last = (other.line, other.column), (other.end_line, other.end_column)
        return own <= begin and end <= last and self.source == other.source

    def text(self) -> str:
        """The source text of the span."""
        lines = _lines(self.source.text)[self.line - 1 : self.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: self.end_column - 1]
        lines[0] = lines[0][self.column - 1 :]
        return "\n".join(lines)


@lru_cache(maxsize=64)
def _lines(text: str) -> list[str]:
    return text.split("\n")


_LONE_RETURN = re.compile(r"\r(?!\n)")


def program_bytes(path: str | Path) -> bytes:
    """The bytes of a program file. Raises OSError, also for a file without end, such as /dev/zero."""
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(f"it has more than the {MOST_BYTES:,} bytes that a program may have")
    return content


def not_utf8(error: UnicodeDecodeError) -> str:
    """The reason, in words, why the bytes of a program are not UTF-8."""
    if error.object[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "it is UTF-16, and a program is UTF-8"
    return f"byte 0x{error.object[error.start]:02x} at offset {error.start:,} is not UTF-8"


def program_text(content: bytes) -> str:
    """The text of a program file, without a byte order mark; line ends that are carriage returns alone become
    line feeds. Raises UnicodeDecodeError."""
    return _LONE_RETURN.sub("\n", content.decode("utf-8").removeprefix("\ufeff"))
