"""Bytes of a state that are not what was written: each is found, or of no account."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal
from unittest import mock

from ddlog import DDlogError
from ddlog.durability import folding
from ddlog.durability.store import FileStore
from ddlog.durability.walog import PAGE

from .script import PROGRAM, Script, contents, transact

Opening = Literal["read", "write"]
OPENINGS: Final[tuple[Opening, ...]] = ("read", "write")
ENDS: Final = ("", "-wal")


class Damage:
    """A state after a script: with its log of SQLite, as after the end of the machine (`logged`), or all in
    one file that was folded and has free pages."""

    def __init__(self, script: Script, home: Path, logged: bool) -> None:
        home.mkdir()
        self.counts = Counter[str]()
        self._place, self._script = home / "t", script
        with PROGRAM.session() as plain:
            plain.start()
            self._held, self._changes = [contents(plain)], list[str]()
            for steps in script:
                self._changes.append(transact(plain, steps))
                self._held.append(contents(plain))
        self._done = len(script) - 3
        with (
            mock.patch.object(folding, "MANY", 4),
            mock.patch.object(folding, "_HISTORY_BYTES", 2048),
            PROGRAM.session(state=home / "s") as session,
        ):
            durable = session.state.durable
            assert durable is not None
            for steps in script[: self._done]:
                transact(session, steps)
                if not logged:
                    durable._folder.fold_if_due()
            for end in ENDS if logged else ():
                shutil.copy(f"{home}/s{end}", f"{self._place}{end}")
        if not logged:
            shutil.copy(home / "s", self._place)
        self._files = {
            end: Path(f"{self._place}{end}").read_bytes()
            for end in ENDS
            if Path(f"{self._place}{end}").exists()
        }

    @property
    def ends(self) -> list[str]:
        """The ends of the names of its files."""
        return list(self._files)

    def size(self, end: str) -> int:
        """The bytes of the state's file, or of SQLite's log."""
        return len(self._files[end])

    def flipped(self, end: str, places: Iterable[int], opening: Opening) -> None:
        """Opens the state with each of these bytes changed. `write`: and goes on."""
        chance = random.Random(1)
        for at in places:
            self._flip(end, at, chance.choice((0xFF, 1 << chance.randrange(8))), opening)

    def heads(self, reach: int) -> None:
        """Opens the state with each bit, and all, of each of the first bytes of pages changed: they say where
        rows are."""
        for page in range(0, self.size(""), PAGE):
            start = page or 100  # the file's own head
            for at in range(start, start + reach):
                for change in (0xFF, *(1 << bit for bit in range(8))):
                    self._flip("", at, change, "read")

    def _flip(self, end: str, at: int, change: int, opening: Opening) -> None:
        whole = self._files[end]
        data = whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :]
        # a last commit that is damaged in SQLite's log cannot be told from one that was never whole
        least = self._done - ("-wal" in self._files)
        self._one({**self._files, end: data}, opening, f"{end} byte {at} by {change:#x}", least)

    def cut(self, end: str, lengths: Iterable[int], opening: Opening) -> None:
        """Opens the state with the file cut short. What is gone from SQLite's log was never there."""
        least = 0 if end else self._done
        for length in lengths:
            self._one(
                {**self._files, end: self._files[end][:length]}, opening, f"{end} cut to {length}", least
            )

    def _one(self, files: dict[str, bytes], opening: Opening, what: str, least: int) -> None:
        for end in ("", "-wal", "-shm"):
            Path(f"{self._place}{end}").unlink(missing_ok=True)
        for end, data in files.items():
            Path(f"{self._place}{end}").write_bytes(data)
        try:
            self._open(opening, least)
            self.counts[f"{opening}: of no account"] += 1
        except DDlogError as error:
            told = error.diagnostics[0].message
            assert told.startswith(str(self._place)), (what, told)
            self.counts[f"{opening}: found"] += 1
        except BaseException as error:
            error.add_note(f"{opening}: {what} of {len(self._files[''])}, in {self._place}")
            raise

    def _open(self, opening: Opening, least: int) -> None:
        done = self._done
        if opening == "read":
            FileStore.open(self._place, read_only=True).close()  # finds most of it, sooner than a session
        with PROGRAM.session(state=self._place, read_only=opening == "read") as session:
            begun = max(0, (session.epoch or 0) - 1)
            assert begun >= least, f"{begun} of {done}"
            assert contents(session) == self._held[begun]
            if opening == "write":
                for number in range(begun, len(self._script)):
                    assert transact(session, self._script[number]) == self._changes[number]
        if opening == "write":
            with PROGRAM.session(state=self._place, read_only=True) as session:
                assert contents(session) == self._held[-1]
