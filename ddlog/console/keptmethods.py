"""The methods that `dataclasses` writes for its classes, compiled once.

It writes them as text, and to compile those of all classes of ddlog takes a third of the time of a small run.
So their code is kept in the user's cache, by the texts: it is what Python would compile again. It
stays bytes until a class of this process needs it.
`DDLOG_CACHE=off` turns this off.
"""

from __future__ import annotations

import dataclasses
import marshal
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

from ..syntax.cachefiles import cache_directory, read_cached, write_cached

MOST = 5_000  # texts whose code is kept

_kept: dict[str, bytes] = {}
_compiled: dict[str, bytes] = {}  # in this process


def use_kept_methods() -> None:
    """Lets `dataclasses` use kept code in this process."""
    content = read_cached(_path())
    if content is not None:
        with suppress(EOFError, TypeError, ValueError):
            _kept.update(marshal.loads(content))
    vars(dataclasses)["exec"] = _execute


def keep_methods() -> None:
    """Keeps the code that this process had to compile, too."""
    if _compiled:
        kept = _kept if len(_kept) < MOST else {}
        write_cached(_path(), marshal.dumps(kept | _compiled))


def _execute(text: str, names: dict[str, Any], into: dict[str, Any]) -> None:
    if text in _kept:
        code: CodeType = marshal.loads(_kept[text])
    else:
        code = compile(text, "<string>", "exec", dont_inherit=True)
        _compiled[text] = marshal.dumps(code)
    exec(code, names, into)


def _path() -> Path | None:
    directory = cache_directory()
    if directory is None or os.environ.get("DDLOG_CACHE") == "off":
        return None
    return directory / "methods" / f"{sys.implementation.cache_tag}-{sys.hexversion:x}-bytes"
