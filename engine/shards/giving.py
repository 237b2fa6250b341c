"""Rows of workers for other processes, each of which reads them by a line of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from .starting import Address
from .tcp import Door, connected
from .wire import Parcel

_PATIENCE = 60.0  # seconds in which a worker takes a line

Give = Callable[[str], Iterator[Parcel]]
"""The rows of a relation on a worker, some at a time."""


class Doors(NamedTuple):
    """Where workers give rows, and the key to it."""

    addresses: Sequence[Address]
    key: bytes


def give_at(door: Door, give: Give) -> None:
    """Gives rows to all who come to a door, for ever."""
    while True:
        threading.Thread(target=_give, args=(door.line(None), give), daemon=True).start()


def _give(line: Connection, give: Give) -> None:
    with line, suppress(EOFError, OSError):
        for parcel in give(line.recv()):
            line.send(parcel)
        line.send(None)


def taken(doors: Doors, number: int, relation: str) -> Iterator[Parcel]:
    """The rows of a relation on one of the workers. Raises OSError or EOFError if it has ended."""
    with connected(doors.addresses[number], doors.key, _PATIENCE) as line:
        line.send(relation)
        while (parcel := line.recv()) is not None:
            yield parcel
