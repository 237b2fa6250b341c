"""Errors about applications of the transformers of the module `window`."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class WindowNumber(Diagnostic):
    """A range, a lateness or a number of transactions that is not known before the program runs."""

    title: ClassVar[str] = "`{name}` must be a number, such as `3600` or `24 * 3600`"
    name: str


@declared(kw_only=True)
class WindowTooSmall(Diagnostic):
    """A negative range."""

    title: ClassVar[str] = "`{name}` is {value}: it must be at least {least}"
    name: str
    value: int
    least: int


@declared(kw_only=True)
class WindowOfStream(Diagnostic):
    """The last elements of something that is no stream."""

    title: ClassVar[str] = "{transformer} needs a stream, but `{name}` is a {kind}"
    suggestion: ClassVar[str] = "`window::range` also takes relations and multisets"
    transformer: str
    name: str
    kind: str


@declared(kw_only=True)
class ClockColumns(Diagnostic):
    """A clock of several columns."""

    title: ClassVar[str] = "a clock has one column, the time, but `{name}` has another number of columns"
    suggestion: ClassVar[str] = "declare it as in `input relation Now(time: u64)`"
    name: str


@declared(kw_only=True)
class ClockType(Diagnostic):
    """A clock and times of different types."""

    title: ClassVar[str] = (
        "the times of the rows are of type {time}, but those of the clock `{clock}` of {of}"
    )
    clock: str
    of: str
    time: str


@declared(kw_only=True)
class TimeType(Diagnostic):
    """A time that is no integer."""

    title: ClassVar[str] = "a time must be an integer, not of type {type}"
    suggestion: ClassVar[str] = "count seconds or milliseconds, for example from 1970 on"
    type: str


@declared(kw_only=True)
class WindowColumns(Diagnostic):
    """An output whose columns are not those of the rows."""

    title: ClassVar[str] = "`{name}` has the columns ({given}), but the rows of `{source}` have ({wanted})"
    suggestion: ClassVar[str] = "columns of the same names and types, or `{name}[{record}]`, hold these rows"
    name: str
    source: str
    given: str
    wanted: str
    record: str


@declared(kw_only=True)
class WindowOutput(Diagnostic):
    """An output of the wrong kind."""

    title: ClassVar[str] = "`{name}` is a {kind}, but this output of the window is a {wanted}"
    suggestion: ClassVar[str] = "a window holds rows between transactions; late rows come and go with theirs"
    name: str
    kind: str
    wanted: str
