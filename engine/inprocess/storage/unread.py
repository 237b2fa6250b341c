"""Attributes that are read when they are first needed.

What a state is restored from is read late: a restart costs little, and a relation that nothing asks for costs
nothing. An attribute that is not read yet is not there, and the class reads it when it is missed. An object
has such a class only while something is to be read: where a class has `__getattr__`, all attributes take
several times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from .threadpool import building


class Unread:
    """An object of which some attributes may be read late."""

    def __copy__(self) -> Self:
        """A copy, which reads them by itself."""
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        if is_unread(self):
            vars(found)["_waiting"] = {**vars(self)["_waiting"]}
        return found


_readers: dict[type[Unread], type[Unread]] = {}


def _read(owner: Unread, name: str) -> Any:
    """An attribute that is missed."""
    held = vars(owner)
    waiting = held.get("_waiting")
    if waiting is None or name.startswith("__"):
        raise AttributeError(name)
    with building:
        if name in waiting:
            held[name] = waiting[name]()
            del waiting[name]
            if not waiting:
                owner.__class__ = type(owner).__bases__[0]
    if name not in held:
        raise AttributeError(name)
    return held[name]


def _reading(kind: type[Unread]) -> type[Unread]:
    """The class of objects of a class of which attributes are still to be read."""
    if kind not in _readers:
        _readers[kind] = type(kind.__name__, (kind,), {"__getattr__": _read})
    return _readers[kind]


MADE = "_slots"
"""The attribute that is not read, but made of others."""


def read_later(owner: Unread, name: str, read: Callable[[], Any]) -> None:
    """Lets an attribute be what `read` gives when it is first asked for, unless it is set before."""
    held = vars(owner)
    held.pop(name, None)
    held.setdefault("_waiting", {})[name] = read
    held["_late"] = len(held["_waiting"])
    if not hasattr(type(owner), "__getattr__"):
        owner.__class__ = _reading(type(owner))


def read_now(owner: object) -> None:
    """Reads the attributes that are to be read late, but for what is made of others."""
    for name in list(vars(owner).get("_waiting", ())) if hasattr(owner, "__dict__") else ():
        if name != MADE:
            getattr(owner, name)


def is_unread(owner: object) -> bool:
    """Whether attributes are to be read late."""
    return bool(vars(owner).get("_waiting"))


def all_unread(owner: object) -> bool:
    """Whether there are attributes to be read late, none of which is read."""
    held = vars(owner)
    waiting = held.get("_waiting", {})
    return bool(waiting) and len(waiting) == held["_late"] and held.keys().isdisjoint(waiting)


def some_read(owner: object) -> bool:
    """Whether there were attributes to be read late, some of which are read, or made in another way."""
    return "_waiting" in vars(owner) and not all_unread(owner)


AHEAD = "_ahead"
"""The attribute of a restored store that says by which columns it had been arranged."""


def arrange_ahead(store: Any) -> None:
    """Makes the arrangements that a restored store had when it was kept."""
    for positions in vars(store).pop(AHEAD, ()):
        store.index(positions)
