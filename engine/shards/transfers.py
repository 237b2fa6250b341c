"""Rows between workers and other processes, which take some, or bring some, by lines of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from .. import memory
from .bootstrap import Address
from .tcp import Door, connected
from .wire import Parcel

_PATIENCE = 60.0  # seconds in which a worker takes a line

Give = Callable[[str], Iterator[Parcel]]
"""The rows of a relation on a worker, some at a time."""
Take = Callable[[str, str, list[Parcel]], None]
"""Takes a piece of a load that was brought: the names of both, and its rows."""


class Doors(NamedTuple):
    """Where workers give and take rows, and the key to it."""

    addresses: Sequence[Address]
    key: bytes


class Bringing(NamedTuple):
    """The first message of a process that brings a piece of a load; parcels follow, and None."""

    load: str
    piece: str


class NoRoom(Exception):
    """A worker has no memory for rows that are brought."""


def attend(door: Door, give: Give, take: Take, limit: int | None = None) -> None:
    """Gives rows to all who come to a door, and takes what they bring, for ever, as long as the process has
    fewer bytes than its limit."""
    while True:
        threading.Thread(target=_attend, args=(door.line(None), give, take, limit), daemon=True).start()


def _attend(line: Connection, give: Give, take: Take, limit: int | None) -> None:
    with line, suppress(EOFError, OSError):
        wish: Bringing | str = line.recv()
        refused = None
        if isinstance(wish, Bringing):
            parcels: list[Parcel] = []
            while (parcel := line.recv()) is not None:
                parcels.append(parcel)
                if limit is not None and (memory.resident() or 0) > limit:
                    parcels.clear()  # and so is what follows
                    refused = (
                        f"a worker has its whole share of memory, {limit >> 20} MiB, and rows still come"
                    )
            if refused is None:
                take(*wish, parcels)
        else:
            for parcel in give(wish):
                line.send(parcel)
        line.send(refused)


def taken(doors: Doors, number: int, relation: str) -> Iterator[Parcel]:
    """The rows of a relation on one of the workers. Raises OSError or EOFError if it has ended."""
    with connected(doors.addresses[number], doors.key, _PATIENCE) as line:
        line.send(relation)
        while (parcel := line.recv()) is not None:
            yield parcel


class Carrier:
    """Brings one piece of a load to workers. Raises OSError or EOFError if one has ended."""

    def __init__(self, doors: Doors, bringing: Bringing) -> None:
        self._doors, self._bringing = doors, bringing
        self._lines: dict[int, Connection] = {}

    def bring(self, number: int, parcel: Parcel) -> None:
        """Sends rows to a worker."""
        if number not in self._lines:
            self._lines[number] = connected(self._doors.addresses[number], self._doors.key, _PATIENCE)
            self._lines[number].send(self._bringing)
        self._lines[number].send(parcel)

    def finish(self) -> None:
        """Waits until the workers have all of it. Raises NoRoom if one cannot have it."""
        for line in self._lines.values():
            line.send(None)
        for line in self._lines.values():
            refused = line.recv()
            line.close()
            if refused is not None:
                raise NoRoom(refused)
