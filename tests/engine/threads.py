"""Workers that are threads of one process, for tests: each has its own state and its own numbers of
values."""

from __future__ import annotations

import threading
from multiprocessing import Pipe

from ddlog.engine.circuit import Circuit
from ddlog.engine.shards.member import Member
from ddlog.engine.shards.placing import placed
from ddlog.engine.shards.runtime import Sharded, follow
from ddlog.engine.shards.team import Lines, Team


def in_threads(circuit: Circuit, size: int, nan: float = float("nan"), first: int = 0) -> Sharded:
    """The runtime of a relational circuit on so many workers; see `Team` for `first`."""
    whole = placed(circuit)
    teams = [Team(rank, lines, first) for rank, lines in enumerate(all_lines(size))]
    pairs = {rank: Pipe() for rank in range(1, size)}
    for rank, (_, theirs) in pairs.items():
        member = Member(whole, teams[rank], nan, 1)
        threading.Thread(target=follow, args=(member, theirs), daemon=True).start()
    return Sharded(whole, teams[0], {rank: ours for rank, (ours, _) in pairs.items()}, nan)


def all_lines(size: int) -> list[dict[int, Lines]]:
    """The lines of each of so many workers to the others."""
    found: list[dict[int, Lines]] = [{} for _ in range(size)]
    for one in range(size):
        for other in range(one):
            meet, asks, answers = Pipe(), Pipe(), Pipe()
            found[one][other] = Lines(meet[0], asks[0], answers[1])
            found[other][one] = Lines(meet[1], answers[0], asks[1])
    return found
