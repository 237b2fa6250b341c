"""Workers that are processes elsewhere: somebody starts them, they come to the first one, and meet each
other.

    first worker        listens ─► launch ┄┄► processes ─► each connects, and says where it listens
                        gives each its rank, the addresses of all, and the circuit
                        ranks meet in pairs: the higher one connects, three times

The first worker plans and tells; the others own the rows.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, TypeAlias

from ..circuit import Circuit
from ..inprocess.storage.interner import Values
from ..interrupt import immediate
from ..maintenance import Mode
from .bootstrap import Address
from .placement import Placed, placed
from .runtime import Opened, Sharded
from .tcp import Door, connected
from .team import Lines, Team
from .tls import new_certificate
from .transfers import Doors

Launch: TypeAlias = Callable[[Address, bytes, int], None]
"""Starts so many processes, given the address and the key of the first worker: each, with a number from 0 on
of its own, by `starting.start`."""


class WorkersMissing(Exception):
    """Not all processes came that were started to be workers, or they could not come."""


class Coming(NamedTuple):
    """The first message of a worker: the number that it was given, and where it listens to others."""

    number: int
    address: Address


class Welcome(NamedTuple):
    """The answer: its place, where the others of lower rank listen, and how long to wait for others."""

    rank: int
    addresses: Sequence[Address]
    others: int
    patience: float
    work: bytes  # a pickled `Work`
    beside: int
    """The number of workers on its machine."""


class Meeting(NamedTuple):
    """The first message of a line to a worker of lower rank: from whom it is, and which of `Lines`."""

    rank: int
    purpose: str


class Work(NamedTuple):
    """The circuit of all workers, and how they run it; see `Member`."""

    placed: Placed
    nan: float
    maintain: Mode
    share: int | None


def open_remote(
    circuit: Circuit,
    count: int,
    launch: Launch,
    pickled: Callable[[Any], bytes],
    host: str = "127.0.0.1",
    bind: str = "",
    nan: float = float("nan"),
    memory_limit: int | None = None,
    patience: float = 60.0,
    values: Values | None = None,
    maintain: Mode = "auto",
    share: int | None = None,
    encrypt: bool = False,
) -> Sharded:
    """The runtime of a relational circuit on so many workers that `launch` starts, of one thread each,
    and on this process, which owns only rows that all must be together for. `host` is the address
    by which the workers reach this machine, `bind` its own one, if that differs; `pickled` pickles functions
    with their code; `memory_limit` is that of this process, and `share` the bytes that each worker may take,
    by default its part of the memory of its machine; `values` are those of another runtime; `encrypt`:
    whether what they say to each other is encrypted. Raises WorkersMissing if they do not come within
    `patience` seconds from their start, twice, now or when they are started again: one may end meanwhile."""
    whole = placed(circuit)
    work = pickled(Work(whole, nan, maintain, share))

    def opened() -> Opened:
        with immediate():  # machines may not come
            with suppress(WorkersMissing):
                return _opened(work, count, launch, host, bind or host, patience, encrypt)
            return _opened(work, count, launch, host, bind or host, patience, encrypt)

    return Sharded(whole, opened, nan, 1, memory_limit, values, maintain)


def _opened(
    work: bytes, count: int, launch: Launch, host: str, bind: str, patience: float, encrypt: bool
) -> Opened:
    """Workers that are started now, and know their work. Raises WorkersMissing."""
    key = new_certificate() if encrypt else secrets.token_bytes(32)
    try:
        door = Door(bind, key)
    except OSError as error:
        raise WorkersMissing(f"cannot listen to workers at {bind}: {error.strerror}") from None
    address = host, door.address[1]
    controls: dict[int, Connection] = {}
    lines: Mapping[int, Lines] = {}
    try:
        launch(address, key, count)
        deadline = time.monotonic() + patience
        came = _came(door, count, deadline, patience)
        addresses = [address, *(coming.address for _, coming in came)]
        controls = {rank: line for rank, (line, _) in enumerate(came, 1)}
        beside = Counter(coming.address[0] for _, coming in came)
        try:
            for rank, control in controls.items():
                control.send(
                    Welcome(rank, addresses[:rank], count, patience, work, beside[addresses[rank][0]])
                )
            lines = met(door, 0, addresses[:0], count, key, deadline)
            problems = [received(control, deadline) for control in controls.values()]
        except (TimeoutError, OSError, EOFError):
            raise _missing(len(lines), count, patience) from None
        for problem in problems:
            if problem is not None:
                raise problem.error()
    except BaseException:
        for line in [*controls.values(), *(line for each in lines.values() for line in each)]:
            line.close()
        raise
    finally:
        door.close()
    doors = Doors([coming.address for _, coming in came], key)
    return Opened(Team(0, lines, first=1), controls, doors)


def received(line: Connection, deadline: float) -> Any:
    """The next message of a line, before a moment of `time.monotonic`. Raises TimeoutError, OSError or
    EOFError."""
    if not line.poll(max(0.0, deadline - time.monotonic())):
        raise TimeoutError
    return line.recv()


def _missing(came: int, count: int, patience: float) -> WorkersMissing:
    return WorkersMissing(f"{came} of {count} workers came within {patience:g} seconds, at the second try")


def _came(door: Door, count: int, deadline: float, patience: float) -> list[tuple[Connection, Coming]]:
    """The lines of so many workers, in the order of their numbers. One that was started twice comes once."""
    came: dict[int, tuple[Connection, Coming]] = {}
    try:
        while len(came) < count:
            line = door.line(deadline)
            coming: Coming = received(line, deadline)
            if coming.number in came:
                line.close()
            else:
                came[coming.number] = line, coming
    except (TimeoutError, EOFError, OSError):
        for line, _ in came.values():
            line.close()
        raise _missing(len(came), count, patience) from None
    return [came[number] for number in sorted(came)]


def met(
    door: Door, rank: int, lower: Sequence[Address], count: int, key: bytes, deadline: float
) -> dict[int, Lines]:
    """The lines of a worker to all others: it connects to those of lower rank, and those of higher rank come
    to its door. Raises TimeoutError, OSError or EOFError."""
    ends: dict[int, dict[str, Connection]] = {}
    for peer, address in enumerate(lower):
        for purpose in Lines._fields:
            line = connected(address, key, max(0.1, deadline - time.monotonic()))
            line.send(Meeting(rank, purpose))
            ends.setdefault(peer, {})[purpose] = line
    turned = {"meet": "meet", "ask": "answer", "answer": "ask"}
    left = (count - rank) * len(Lines._fields)
    while left:
        line = door.line(deadline)
        message = received(line, deadline)
        if isinstance(message, Meeting):
            ends.setdefault(message.rank, {})[turned[message.purpose]] = line
            left -= 1
        else:  # a worker that was started twice
            line.close()
    return {peer: Lines(**each) for peer, each in ends.items()}
