"""Errors about applications of the transformers of the module `window`."""

from __future__ import annotations

from .diagnostics import Diagnostic


class WindowNumber(Diagnostic):
    """A range, a lateness or a number of transactions that is not known before the program runs."""

    title = "`{name}` must be a number, such as `3600` or `24 * 3600`"
    name: str


class WindowTooSmall(Diagnostic):
    """A negative range."""

    title = "`{name}` is {value}: it must be at least {least}"
    name: str
    value: int
    least: int


class WindowOfStream(Diagnostic):
    """The last elements of something that is no stream."""

    title = "{transformer} needs a stream, but `{name}` is a {kind}"
    suggestion = "`window::range` also takes relations and multisets"
    transformer: str
    name: str
    kind: str


class ClockColumns(Diagnostic):
    """A clock of several columns."""

    title = "a clock has one column, the time, but `{name}` has another number of columns"
    suggestion = "declare it as in `input relation Now(time: u64)`"
    name: str


class ClockType(Diagnostic):
    """A clock and times of different types."""

    title = "the times of the rows are of type {time}, but those of the clock `{clock}` of {of}"
    clock: str
    of: str
    time: str


class TimeType(Diagnostic):
    """A time that is no integer."""

    title = "a time must be an integer, not of type {type}"
    suggestion = "count seconds or milliseconds, for example from 1970 on"
    type: str


class WindowColumns(Diagnostic):
    """An output whose columns are not those of the rows."""

    title = "`{name}` has the columns ({given}), but the rows of `{source}` have ({wanted})"
    suggestion = "columns of the same names and types, or `{name}[{record}]`, hold these rows"
    name: str
    source: str
    given: str
    wanted: str
    record: str


class WindowOutput(Diagnostic):
    """An output of the wrong kind."""

    title = "`{name}` is a {kind}, but this output of the window is a {wanted}"
    suggestion = "a window holds rows between transactions; late rows come and go with theirs"
    name: str
    kind: str
    wanted: str
