"""One writer of a state on a file system without locks: a file that names its holder, who renews it.

A holder writes the file again every few seconds. A session that finds the file watches it for longer than
that: if it is renewed, the state is in use. If not, its holder has ended, and the session takes it over.
A holder that slept so long that it lost the state finds another name in the file before it commits, and a
commit is refused where another one has the same number: so two writers never mix.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from contextlib import suppress
from typing import Final

from ...errors.diagnostics import DDlogError
from ...errors.state import StateInUse, StateLost
from .files import HadoopFiles

RENEWED: Final = 5.0
"""Seconds after which a holder writes its file again."""

STALE: Final = 20.0
"""Seconds after which a file that nobody renews has no holder."""

_NAME = "lock"


class Lease:
    """The lock on a state, until `release` or the end of the process."""

    def __init__(self, files: HadoopFiles) -> None:
        """Raises DDlogError if another session holds the state, and OSError."""
        self._files = files
        self._own = uuid.uuid4().hex
        self._ended = threading.Event()
        self._take()
        self._thread = threading.Thread(target=self._renew, name="ddlog lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raises DDlogError if another session has taken the state over, and OSError."""
        if self._holder().get("token") != self._own:
            raise DDlogError([StateLost(self._files.root, self._shown(self._holder()))])

    def release(self) -> None:
        """Gives the state to others."""
        if not self._ended.is_set():
            self._ended.set()
            self._thread.join()
            with suppress(OSError):
                if self._holder().get("token") == self._own:
                    self._files.delete(_NAME)

    def _take(self) -> None:
        try:
            self._files.create(_NAME, self._text())
        except FileExistsError:
            found = self._holder()
            if not self._is_stale(found):
                raise DDlogError([StateInUse(self._files.root, self._shown(found))]) from None
            aside = f"{_NAME}.{self._own}"
            self._files.move(_NAME, aside)
            self._files.delete(aside)
            try:
                self._files.create(_NAME, self._text())
            except FileExistsError:
                raise DDlogError([StateInUse(self._files.root, self._shown(self._holder()))]) from None
        self.check()

    def _is_stale(self, found: dict[str, str]) -> bool:
        if found.get("host") == socket.gethostname() and not _is_running(found.get("pid", "")):
            return True
        until, seen = time.monotonic() + STALE, self._files.renewed(_NAME)
        while time.monotonic() < until:
            time.sleep(0.5)
            with suppress(FileNotFoundError):
                if self._files.renewed(_NAME) != seen:
                    return False
        return True

    def _renew(self) -> None:
        while not self._ended.wait(RENEWED):
            with suppress(OSError, DDlogError):
                self.check()
                self._files.write(_NAME, self._text())

    def _text(self) -> bytes:
        holder = {"token": self._own, "host": socket.gethostname(), "pid": str(os.getpid())}
        return json.dumps(holder).encode()

    def _holder(self) -> dict[str, str]:
        for _ in range(5):
            try:
                return dict(json.loads(self._files.read(_NAME)))
            except FileNotFoundError:
                return {}
            except (ValueError, TypeError):  # it is being written
                time.sleep(0.1)
        return {}

    def _shown(self, holder: dict[str, str]) -> str:
        return f"{holder.get('pid', 'that is beginning')} on {holder.get('host', 'another machine')}"


def _is_running(pid: str) -> bool:
    if not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
