"""Processes that are killed at any time, alone or while two fight for a state.

The processes are forked from one that holds no state. Each notes in a file the commits that returned; one
more process looks at what is left.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from ddlog import DDlogError
from ddlog.console.epochfiles import StateFiles
from ddlog.durability import background
from ddlog.sessions.persistence import checkpoint_policy, checkpoints

from .crashes import Reference, published, reference
from .script import PLAIN, contents, outputs, script, transact

_AT_ONCE = 4
"""The commits after which a process gives the state to another."""


def kills(count: int, home: Path, seed: int = 0, length: int = 60, most: float = 0.3) -> Counter[str]:
    """Kills so many times one or two processes, within so many seconds. Returns how many of each."""
    chance, counts = random.Random(seed), Counter[str]()
    known = reference(script(seed, length), home / "known", PLAIN)
    place, number = home / "kept", 0
    for _ in range(count):
        if not place.exists():
            place.mkdir()
        returned = _returned(place)
        processes = [forked(lambda: _work(known, place)) for _ in range(chance.randint(1, 2))]
        time.sleep(chance.random() * most)
        for process in processes:
            os.kill(process, signal.SIGKILL)
            assert os.waitpid(process, 0)[1] in (0, signal.SIGKILL), "a process failed"
        wait_for(forked(lambda: _look(known, place)))
        counts[f"kills of {len(processes)}"] += 1
        number = _returned(place)
        counts["commits that returned"] += number - returned
        if number == length:
            shutil.rmtree(place)
            counts["whole scripts"] += 1
    return counts


def _work(known: Reference, place: Path) -> None:
    """Goes on with the script until the end; gives the state to others now and then, and writes checkpoints
    all the time."""
    checkpoints.WORTH, background.INTERVAL = 0.0, 0.001
    checkpoint_policy.LONG, checkpoint_policy._ROWS, checkpoint_policy._PAUSES = 0.0, 0, 0
    notes = os.open(place / "returned", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        try:
            session = known.program.session(state=place / "s")
        except DDlogError as error:
            assert "is in use by the process" in str(error), error
            time.sleep(0.002)
            continue
        with session:
            StateFiles(session, outputs(known.program), place / "out")
            begun = max(0, (session.epoch or 0) - 1)
            if begun == len(known.script):
                return
            for number in range(begun, len(known.script))[:_AT_ONCE]:
                assert transact(session, known.script[number]) == known.changes[number]
                os.write(notes, f"{number + 1}\n".encode())


def _look(known: Reference, place: Path) -> None:
    """Checks what is left."""
    with known.program.session(state=place / "s") as session:
        StateFiles(session, outputs(known.program), place / "out")
        epoch = session.epoch or 0
        begun = max(0, epoch - 1)
        assert begun >= _returned(place)
        assert contents(session) == known.contents[begun]
    assert published(place) == {number: lines for number, lines in known.lines.items() if number <= epoch}
    (place / "returned").write_text(f"{begun}\n")


def _returned(place: Path) -> int:
    notes = place / "returned"
    numbers = notes.read_text().split() if notes.exists() else []
    return max(map(int, numbers), default=0)


def forked(work: Callable[[], None]) -> int:
    """A process that does some work; 0 is its end without an error."""
    process = os.fork()
    if process:
        return process
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def wait_for(process: int) -> None:
    """Waits for a process. Raises AssertionError if it failed."""
    assert os.waitpid(process, 0)[1] == 0, "what is left is not what was written"
