"""Crashes of a session with a state and an output folder, and what the next session finds.

A run is recorded once. After each number of its writes and syncs the disk is what a crash can leave of it, in
several ways; there the next session begins, goes on, and is compared with a session without a state.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from ddlog.console.epochfiles import StateFiles
from ddlog.durability import folding
from ddlog.durability.log import Durability
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

from .disk import LOSSES, Disk, disks, is_change
from .recording import Recorder, recorded
from .script import PROGRAM, Script, contents, outputs, transact

GOES_ON = 2
"""The transactions after a crash whose changes are compared."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a script does: the contents after each number of transactions, the changes of each of them, and
    the published lines of each epoch. The first epoch is that of the program's facts."""

    script: Script
    contents: Sequence[str]
    changes: Sequence[str]
    lines: dict[int, list[str]]
    program: Program = PROGRAM


def reference(script: Script, home: Path, program: Program = PROGRAM) -> Reference:
    """Runs a script without a crash; the changes and contents are those of a session without a state."""
    with program.session() as plain:
        plain.start()
        held, changes = [contents(plain)], []
        for steps in script:
            changes.append(transact(plain, steps))
            held.append(contents(plain))
    home.mkdir()
    with program.session(state=home / "s") as session:
        StateFiles(session, outputs(program), home / "out")
        for steps, expected in zip(script, changes, strict=True):
            assert transact(session, steps) == expected
        assert contents(session) == held[-1]
    return Reference(script, held, changes, published(home), program)


def published(home: Path) -> dict[int, list[str]]:
    """The lines of each published epoch."""
    folders = (path for path in (home / "out" / "changes").iterdir() if path.name.startswith("epoch="))
    return {
        int(path.name.removeprefix("epoch=")): (path / "changes.jsonl").read_text().splitlines()
        for path in folders
    }


def run(recorder: Recorder, known: Reference, durability: Durability, until: int | None = None) -> None:
    """Goes on with a script to its end or to some transaction; folds and checkpoints in between."""
    script = known.script
    with (
        mock.patch.object(folding, "MANY", 4),
        mock.patch.object(folding, "_HISTORY_BYTES", 4096),
        mock.patch.object(folding, "_SLICE_ROWS", 16),
        known.program.session(state=recorder.home / "s", durability=durability) as session,
    ):
        StateFiles(session, outputs(known.program), recorder.home / "out")
        begun = max(0, (session.epoch or 0) - 1)
        for number, steps in enumerate(script[begun:until], begun):
            _note(session, number)
            transact(session, steps)
            if durability == "commit":
                recorder.mark(number + 1)
            _tidy(session, number)
    recorder.mark(len(script) if until is None else until)


def _note(session: Session, number: int) -> None:
    """Gives the transaction the id of an update."""
    assert not session.applied.has(f"id {number}")
    session.applied.note([f"id {number}"])


def _tidy(session: Session, number: int) -> None:
    """The work of the background thread, which else is done in pauses."""
    durable = session.state.durable
    assert durable is not None
    if durability_of(session) == "exit":
        if number % 4 == 2:
            durable._log.flush()  # as where many rows wait: what is written does not last yet
        return
    upkeep = durable.upkeep
    assert upkeep is not None and session.epoch is not None
    if number % 4 == 0:
        upkeep.take(session.epoch)
    if number % 4 == 2:
        if durability_of(session) == "interval":
            durable._log.flush()
        upkeep.write_waiting()
    if number % 5 == 4:
        durable._folder.fold_if_due()
    if number % 7 == 3:
        durable.store.base.execute("PRAGMA wal_checkpoint(PASSIVE)")


def durability_of(session: Session) -> Durability:
    """How durable the session's commits are."""
    assert session.state.durable is not None
    return session.state.durable.durability


@dataclass(slots=True)
class Crashes:
    """Crashes of runs of a script; `counts` says how many of each kind were checked."""

    known: Reference
    home: Path
    chance: random.Random
    durability: Durability = "commit"
    counts: Counter[str] = field(default_factory=Counter)

    def all(self, share: float = 1.0, again: float = 0.0) -> None:
        """Checks crashes after a share of the writes and syncs of a run; after a share of the crashes, one
        in the run that goes on."""
        begin = self.home / "empty"
        begin.mkdir(parents=True)
        self._run(begin, share, again, 0, None)

    def _run(self, begin: Path, share: float, again: float, returned: int, until: int | None) -> None:
        place = self._fresh(begin)
        with recorded(place) as recorder:
            run(recorder, self.known, self.durability, until)
        self.counts["writes and syncs"] += sum(map(is_change, recorder.events))
        for number, disk in disks(begin, recorder.events):
            if number and not is_change(recorder.events[number - 1]):
                continue
            if self.chance.random() < share:
                disk.returned = max(disk.returned, returned)
                self._crash(disk, number, share, again)
        shutil.rmtree(place)

    def _crash(self, disk: Disk, number: int, share: float, again: float) -> None:
        for loss in LOSSES:
            left = self.home / "left"
            disk.crash(left, loss, self.chance)
            if self.chance.random() < again:
                after = self.home / f"again{number}"
                left.rename(after)
                self._run(after, 0.1, 0.0, disk.returned, min(disk.returned + 3, len(self.known.script)))
                shutil.rmtree(after)
                continue
            try:
                self._check(left, disk.returned)
            except BaseException as error:
                error.add_note(f"{self.durability}: crash after event {number}, losing {loss}, in {left}")
                raise
            self.counts[f"losing {loss}"] += 1
            shutil.rmtree(left)

    def _check(self, left: Path, returned: int) -> None:
        """Goes on where a crash has left a folder, and compares all that can be seen."""
        known = self.known
        with known.program.session(state=left / "s") as session:
            StateFiles(session, outputs(known.program), left / "out")
            begun = max(0, (session.epoch or 0) - 1)
            assert begun >= returned, f"{begun} commits of {returned} that returned"
            assert contents(session) == known.contents[begun]
            assert sorted(session.state.durable.store.applied()) == sorted(f"id {n}" for n in range(begun))  # type: ignore[union-attr]
            end = min(begun + GOES_ON, len(known.script))
            for number in range(begun, end):
                _note(session, number)
                assert transact(session, known.script[number]) == known.changes[number]
        assert published(left) == {e: lines for e, lines in known.lines.items() if e <= end + 1}

    def _fresh(self, begin: Path) -> Path:
        place = self.home / f"run{len(list(self.home.iterdir()))}"
        shutil.copytree(begin, place)
        return place
