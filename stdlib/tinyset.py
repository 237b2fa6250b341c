"""The functions that tinyset.dl declares `extern`. A Set64 is a Set at run time."""

from __future__ import annotations

from typing import Any

from ..values import Fault, Set, Struct, wrap_bit
from . import collections as sets
from .groups import group_set_unions, group_setref_unions, group_to_set
from .options import NONE, some

__all__ = ["group_set_unions", "group_setref_unions", "group_to_set"]

size, empty, singleton, is_empty = sets.set_size, sets.set_empty, sets.set_singleton, sets.set_is_empty
insert, insert_imm, contains = sets.set_insert, sets.set_insert_imm, sets.set_contains
union, unions = sets.set_union, sets.set_unions
intersection, difference = sets.set_intersection, sets.set_difference


def nth(s: Set, n: int) -> Struct:
    """The n-th element as 64 bits. Raises Fault where it is no integer, or one that does not fit."""
    return some(_bits(s[n])) if n < len(s) else NONE


def _bits(element: Any) -> int:
    if not isinstance(element, int) or not -(1 << 63) <= element < 1 << 64:
        raise Fault("a Set64 numbers only integers of up to 64 bits")
    return wrap_bit(int(element), 64)
