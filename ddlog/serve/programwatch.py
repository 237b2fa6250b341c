"""`--watch`: the program is changed when its file is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from ..errors.diagnostics import DDlogError
from .service import Service

_PAUSE = 0.5  # seconds between two looks


def watched(file: Path, say: Callable[[str], None]) -> Callable[[Service], None]:
    """A function that lets a service follow the file of its program. `say` is told of each change, and of the
    errors of one that is refused."""

    async def follow(service: Service) -> None:
        taken = service.program.source.text
        while not service.owner.ends:
            await asyncio.sleep(_PAUSE)
            try:
                text = file.read_text()
            except (OSError, UnicodeDecodeError):
                continue  # it is being replaced
            if text == taken:
                continue
            taken = text
            try:
                found = await service.change_program(text, own=True)
                gone = "".join(
                    f"; the input {name} is gone, its rows ({count:,}) stay in the state"
                    for name, count in found["gone"].items()
                )
                taken_over = "".join(f"; the rows of {name} were migrated" for name in found["migrated"])
                say(
                    f"note: the program is that of {file} now, as of epoch {found['epoch']}{taken_over}{gone}"
                )
            except DDlogError as error:
                say(f"{error}\nnote: the program stays as it was")

    def begin(service: Service) -> None:
        assert service.owner.loop is not None
        asyncio.run_coroutine_threadsafe(follow(service), service.owner.loop)

    return begin
