"""Errors of a server and of its clients."""

from __future__ import annotations

from .diagnostics import DDlogError, Diagnostic


class QuestionTooLong(Diagnostic):
    """A question that does not end in the time that a server has for it."""

    title = "the answer was not found in {seconds:g} seconds, the limit of this server"
    suggestion = "ask for less, or start the server with a higher --query-seconds"
    seconds: float


class ServerEnds(Diagnostic):
    """A request that comes while the server ends."""

    title = "the server ends, and takes no more requests"


class TooMuchWaits(Diagnostic):
    """A request that comes while too many others wait."""

    title = "{count:,} requests wait already, the limit of this server"
    suggestion = "send the request again later"
    count: int


class OnlyReading(Diagnostic):
    """A change of a server for guests."""

    title = "this server is read-only"


class BadRequest(Diagnostic):
    """A request that cannot be understood."""

    title = "{reason}"
    reason: str


class NewPython(Diagnostic):
    """A program in a request that would execute a Python file which the server's program does not execute."""

    title = "this program would run {file}, which the server does not run"
    suggestion = "start the server with a program that imports its module, or use --watch"
    file: str


class RowsWithoutPlace(Diagnostic):
    """Rows of an input relation, or of a column of one, that another program does not declare, and no state
    keeps."""

    title = "{name} has rows ({count:,}), for which this program has no place"
    suggestion = "delete them first, or give the server a state (--state), which keeps them in its file"
    name: str
    count: int


class ChangesNotTold(Diagnostic):
    """A transaction whose answer was lost."""

    severity = "warning"
    title = "the transaction was committed, but the server went away before it told the changes"


class ChangedMeanwhile(Diagnostic):
    """A transaction with statements of SQL that changed rows which another client has changed since."""

    title = "another client has changed what this transaction changes: {problem}"
    suggestion = "it is rolled back: begin it again"
    problem: str


def changed_meanwhile(error: DDlogError) -> DDlogError:
    """The error of changes that were right before another client made its own, which raise another one."""
    first = error.diagnostics[0]
    return error if isinstance(first, ChangedMeanwhile) else DDlogError([ChangedMeanwhile(first.message)])


class UnknownServer(Diagnostic):
    """A server that a client cannot reach, or that answers otherwise than a server of ddlog."""

    title = "cannot use the server {url}: {reason}"
    url: str
    reason: str


class NotOverTheWire(Diagnostic):
    """A method of a session that a server does not offer."""

    title = "{what} is not offered by a server"
    what: str


class ProgramIsAnother(Diagnostic):
    """A call of a client that knows another program than that of the server."""

    title = "the program of the server is another one now"


class ChangesLost(Diagnostic):
    """A subscription that cannot go on without missing changes."""

    title = "the subscription to {relation} has ended: {reason}"
    relation: str
    reason: str


class CannotListen(Diagnostic):
    """An address on which there can be no server."""

    title = "cannot serve on {host}, port {port}: {reason}"
    host: str
    port: int
    reason: str


class NeedsTls(Diagnostic):
    """An address that others reach, without encryption."""

    title = "--host {host} is reached from other machines, and needs TLS"
    suggestion = "give --tls-cert and --tls-key, or --behind-proxy NAME if a proxy of that name has TLS"
    host: str
