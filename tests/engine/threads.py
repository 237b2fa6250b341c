"""Workers that are threads of one process, for tests: each has its own state and its own numbers of
values."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from ddlog.engine.circuit import Circuit
from ddlog.engine.maintenance import Coin, Mode
from ddlog.engine.shards.member import Member
from ddlog.engine.shards.placement import placed
from ddlog.engine.shards.runtime import Opened, Sharded, follow
from ddlog.engine.shards.tcp import Door
from ddlog.engine.shards.team import Lines, Team, end_of
from ddlog.engine.shards.transfers import Doors, attend

_KEY = b"key"


def in_threads(
    circuit: Circuit,
    size: int,
    nan: float = float("nan"),
    first: int = 0,
    ends: Iterator[tuple[int, int]] | None = None,
    doors: bool = False,
    maintain: Mode | Coin = "auto",
) -> Sharded:
    """The runtime of a relational circuit on so many workers; see `Team` for `first`. `ends` says, whenever
    the workers are started, which of them ends, by its rank, and after how many messages. `doors`: rows may
    come to them from elsewhere."""
    whole = placed(circuit)
    own: list[Door] = []

    def opened() -> Opened:
        for door in own:
            door.close()
        own[:] = [Door("127.0.0.1", _KEY) for _ in range(1, size)] if doors else []
        lines, pairs = all_lines(size), {rank: Pipe() for rank in range(1, size)}
        controls = {rank: theirs for rank, (_, theirs) in pairs.items()}
        for rank, messages in [] if ends is None else [each for each in [next(ends, None)] if each]:
            mortal = Mortal(messages)
            lines[rank] = {peer: Lines(*map(mortal.line, each)) for peer, each in lines[rank].items()}
            controls[rank] = mortal.line(controls[rank])
        for rank, control in controls.items():
            member = Member(whole, Team(rank, lines[rank], first), nan, 1, maintain=maintain)
            if doors:
                attending = own[rank - 1], member.parcels, member.arrivals.add
                threading.Thread(target=_attending, args=attending, daemon=True).start()
            threading.Thread(target=follow, args=(member, control), daemon=True).start()
        controls = {rank: ours for rank, (ours, _) in pairs.items()}
        addresses = Doors([door.address for door in own], _KEY) if doors else None
        return Opened(Team(0, lines[0], first), controls, addresses)

    return Sharded(whole, opened, nan, maintain=maintain)


def _attending(*arguments: Any) -> None:
    with suppress(OSError):  # the door is closed
        attend(*arguments)


class Mortal:
    """A worker that ends when it has sent so many messages: its lines are cut."""

    def __init__(self, messages: int) -> None:
        self._left, self._lines = messages, list[Connection]()

    def line(self, line: Connection) -> Connection:
        """One of its lines."""
        mortal = self

        class Line(Connection):
            def _send_bytes(self, message: Any) -> None:
                mortal._sends()
                super()._send_bytes(message)

        self._lines.append(Line(os.dup(line.fileno())))
        line.close()
        return self._lines[-1]

    def _sends(self) -> None:
        self._left -= 1
        if self._left == 0:
            for line in self._lines:
                end_of(line)


def all_lines(size: int) -> list[dict[int, Lines]]:
    """The lines of each of so many workers to the others."""
    found: list[dict[int, Lines]] = [{} for _ in range(size)]
    for one in range(size):
        for other in range(one):
            meet, asks, answers = Pipe(), Pipe(), Pipe()
            found[one][other] = Lines(meet[0], asks[0], answers[1])
            found[other][one] = Lines(meet[1], answers[0], asks[1])
    return found
