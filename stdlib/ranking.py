"""Which element of a collection a function ranks first or last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..values import Struct
from .options import NONE, some

Rank = Callable[[Any], Any]


def arg_min(elements: tuple[Any, ...], f: Rank) -> Struct:
    """The first of the elements for which f is least."""
    return some(min(elements, key=f)) if elements else NONE


def arg_max(elements: tuple[Any, ...], f: Rank) -> Struct:
    """The last of the elements for which f is greatest."""
    if not elements:
        return NONE
    _, last = max((f(each), n) for n, each in enumerate(elements))
    return some(elements[last])
