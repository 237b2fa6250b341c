"""Dataclasses that are made when they are needed.

To make a dataclass takes as long as to read a file, and there are hundreds of errors, of which a run needs
none or one. So the methods of a declared error are made with its first instance.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

_waiting: dict[type[Any], bool] = {}
_lock = threading.Lock()


class Declared:
    """The base of classes that `declared` marks."""

    __slots__ = ()

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """An instance of the class, whose methods are made first if they are still missing."""
        if cls in _waiting:
            complete(cls)
        return object.__new__(cls)


T = TypeVar("T", bound=type[Declared])


@dataclass_transform(frozen_default=True)
def declared(*, kw_only: bool = False) -> Callable[[T], T]:
    """Marks a subclass of `Declared` as a frozen dataclass, whose methods are made later."""

    def mark(cls: T) -> T:
        _waiting[cls] = kw_only
        return cls

    return mark


def complete(cls: type[Any]) -> None:
    """Makes the methods of a declared class, and of those on which it builds."""
    with _lock:
        for each in reversed(cls.__mro__):
            if each in _waiting:
                dataclass(frozen=True, kw_only=_waiting[each])(each)
                del _waiting[each]
