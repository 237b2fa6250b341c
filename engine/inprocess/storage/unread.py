"""Attributes that are read when they are first needed.

What a state is restored from is read late: a restart costs little, and a relation that nothing asks for costs
nothing. An attribute that is not read yet is not there, and the class reads it when it is missed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .threadpool import building


class Unread:
    """An object of which some attributes may be read late."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            waiting = vars(self).get("_waiting")
            if waiting is None or name.startswith("__"):
                raise AttributeError(name)
            with building:
                if name in waiting:
                    vars(self)[name] = waiting[name]()
                    del waiting[name]
            if name not in vars(self):
                raise AttributeError(name)
            return vars(self)[name]


MADE = "_slots"
"""The attribute that is not read, but made of others."""


def read_later(owner: Unread, name: str, read: Callable[[], Any]) -> None:
    """Lets an attribute be what `read` gives when it is first asked for, unless it is set before."""
    held = vars(owner)
    held.pop(name, None)
    held.setdefault("_waiting", {})[name] = read
    held["_late"] = len(held["_waiting"])


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
