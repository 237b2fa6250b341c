"""Dataclasses that are made when they are needed.

To make a dataclass takes as long as to read a file, and there are hundreds of errors, of which a run needs
none or one. So the methods of a declared error are made with its first instance.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, dataclass_transform

_waiting: dict[type[Any], bool] = {}
_lock = threading.Lock()


@dataclass_transform(frozen_default=True)
class Declared:
    """Every class below this one is a frozen dataclass."""

    __slots__ = ()

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        _waiting[cls] = kw_only

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """An instance of the class, whose methods are made first if they are still missing."""
        if cls in _waiting:
            _complete(cls)
        return object.__new__(cls)


def _complete(cls: type[Any]) -> None:
    """Makes the methods of a class, and of those on which it builds."""
    with _lock:
        for each in reversed(cls.__mro__):
            if each in _waiting:
                dataclass(frozen=True, kw_only=_waiting[each])(each)
                del _waiting[each]
