"""A process that is a worker: `python -m ddlog.engine.shards.worker`, as `starting.start` starts it."""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection
from ssl import SSLError

from ..machine import default_limit
from ..spilling import local_folder
from .bootstrap import told
from .member import Member
from .remote import Coming, Welcome, Work, met
from .runtime import follow, sendable
from .tcp import Door, connected, own_host
from .team import Team
from .transfers import attend

_PATIENCE = 60.0  # seconds in which the first worker takes this one
_TURN = 0.0002  # seconds after which a thread that answers another worker gets its turn


def main() -> None:
    """Works until the first worker closes its line, or ends, or the watched process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first worker tells
    sys.setswitchinterval(_TURN)
    begin = told()
    if begin.watched is not None:
        threading.Thread(target=_end_with, args=(begin.watched,), daemon=True).start()
    key = bytes.fromhex(begin.key)
    # Where the first worker is gone:
    with suppress(EOFError, ConnectionError, SSLError, AuthenticationError, TimeoutError):
        control = connected(begin.address, key, _PATIENCE)
        door = Door(own_host(control), key)
        control.send(Coming(begin.number, door.address))
        welcome: Welcome = control.recv()
        deadline = time.monotonic() + welcome.patience
        lines = met(door, welcome.rank, welcome.addresses, welcome.others, key, deadline)
        _work(welcome, Team(welcome.rank, lines, first=1), control, door)


def _work(welcome: Welcome, team: Team, control: Connection, door: Door) -> None:
    try:
        work: Work = pickle.loads(welcome.work)
        limit = default_limit() if work.share is None else None
        share = work.share if limit is None else limit // welcome.beside
        maintain, spill = work.maintain, local_folder()
        member = Member(work.placed, team, work.nan, 1, share, maintain=maintain, spill=spill)
    except Exception as error:  # a module of the program's functions is missing here
        control.send(sendable(error))
        return
    control.send(None)
    threading.Thread(
        target=attend, args=(door, member.parcels, member.arrivals.add, share), daemon=True
    ).start()
    follow(member, control)


def _end_with(process: int) -> None:
    """Ends this process when another one has ended."""
    try:
        select.select([os.pidfd_open(process)], [], [])
    except (AttributeError, OSError):  # the system has no such call
        with suppress(ProcessLookupError):
            while True:
                with suppress(PermissionError):  # it runs, for another user
                    os.kill(process, 0)
                time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main()
    os._exit(0)  # memory goes faster so
