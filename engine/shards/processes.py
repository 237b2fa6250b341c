"""Workers that are processes of this machine: forks of the one that begins, which is the first of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe

from ..circuit import Circuit
from .member import Member
from .placing import placed
from .runtime import Sharded, follow
from .team import Team
from .threads import all_lines


def in_processes(
    circuit: Circuit, size: int, nan: float = float("nan"), workers: int = 1, memory_limit: int | None = None
) -> Sharded:
    """The runtime of a relational circuit on so many workers, of so many threads each. `memory_limit` is
    the share of each."""
    whole = placed(circuit)
    lines = all_lines(size)
    pairs = {rank: Pipe() for rank in range(1, size)}
    children: dict[int, int] = {}
    for rank in range(1, size):
        child = os.fork()
        if child:
            children[rank] = child
            continue
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first worker tells
            for other in range(size):
                if other != rank:
                    for each in lines[other].values():
                        for line in each:
                            line.close()
                    if other:
                        for line in pairs[other]:
                            line.close()
            pairs[rank][0].close()
            follow(Member(whole, Team(rank, lines[rank]), nan, workers, memory_limit), pairs[rank][1])
            status = 0
        finally:
            os._exit(status)
    for rank, (_, theirs) in pairs.items():
        theirs.close()
        for each in lines[rank].values():
            for line in each:
                line.close()
    controls = {rank: ours for rank, (ours, _) in pairs.items()}
    return Sharded(whole, Team(0, lines[0]), controls, nan, workers, memory_limit, _ending(children))


def _ending(children: dict[int, int]) -> Callable[[], None]:
    def end() -> None:
        for child in children.values():
            with suppress(ChildProcessError):
                os.waitpid(child, 0)

    return end
