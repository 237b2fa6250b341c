"""Checks in a process of their own, so that no question waits for one: `python -m ddlog.lsp.checkprocess`.

The process reads pickled jobs, each a length of eight bytes and so many bytes, and writes what it finds in
the same form. A check whose text has changed is ended with its process.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..errors.diagnostics import InternalError, internal_error_text
from ..errors.source import Source
from ..syntax.stackroom import deep_recursion
from .findings import Findings, find

_SIZE = 8  # bytes that say how long a message is


class Checker:
    """One process, which checks one document after the other."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._lock = asyncio.Lock()

    async def find(
        self, source: Source, folders: Sequence[Path], unsaved: Mapping[Path, bytes | None]
    ) -> Findings:
        """What a check finds. Raises InternalError where it fails."""
        async with self._lock:
            process = await self.start()
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(_packed((source, list(folders), dict(unsaved))))
                await process.stdin.drain()
                size = int.from_bytes(await process.stdout.readexactly(_SIZE))
                answer = await process.stdout.readexactly(size)
            except asyncio.CancelledError:
                self.end()
                raise
            except (OSError, asyncio.IncompleteReadError) as error:
                self.end()
                raise InternalError("the process that checks ended") from error
        with deep_recursion():
            found = pickle.loads(answer)
        if isinstance(found, Findings):
            return found
        raise InternalError(found)

    async def start(self) -> Process:
        """The process, which is started if there is none."""
        if self._process is None or self._process.returncode is not None:
            command = (sys.executable, "-P", "-m", "ddlog.lsp.checkprocess")
            self._process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        return self._process

    def end(self) -> None:
        """Ends the process."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            self._process = None


def _packed(value: object) -> bytes:
    with deep_recursion():
        content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(content).to_bytes(_SIZE) + content


def _serve() -> None:
    from ..names.modules import library

    library()
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    while size := given.read(_SIZE):
        with deep_recursion():
            source, folders, unsaved = pickle.loads(given.read(int.from_bytes(size)))
        try:
            answer: Findings | str = find(source, folders, unsaved)
        except Exception as error:
            answer = internal_error_text(error)
        answers.write(_packed(answer))
        answers.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError, KeyboardInterrupt):
        _serve()
