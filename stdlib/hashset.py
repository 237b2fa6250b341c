"""The functions that hashset.dl declares `extern`. A HashSet is a Set at run time."""

from __future__ import annotations

from typing import Any

from ..values import Set
from . import collections as sets
from .groups import group_set_unions
from .ranking import arg_max, arg_min

hashset_singleton, hashset_empty = sets.set_singleton, sets.set_empty
hashset_size, hashset_is_empty = sets.set_size, sets.set_is_empty
hashset_insert, hashset_insert_imm = sets.set_insert, sets.set_insert_imm
hashset_contains, hashset_nth = sets.set_contains, sets.set_nth
hashset_to_vec = sets.set_to_vec
hashset_union, hashset_unions = sets.set_union, sets.set_unions
group_hashset_unions = group_set_unions
hashset_intersection, hashset_difference = sets.set_intersection, sets.set_difference
hashset_arg_min, hashset_arg_max = arg_min, arg_max


def hashset_remove(s: Set, v: Any) -> tuple[tuple[()], Set]:
    return (), hashset_remove_imm(s, v)


def hashset_remove_imm(s: Set, v: Any) -> Set:
    return Set.ordered(x for x in s if x != v) if s.has(v) else s
