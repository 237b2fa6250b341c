"""The functions that set.dl declares `extern`."""

from __future__ import annotations

from ..values import Set
from .elements import Apply, arg_max, arg_min, chosen

set_arg_min, set_arg_max = arg_min, arg_max


def set_map(s: Set, f: Apply) -> Set:
    return Set(map(f, s))


def set_filter(s: Set, f: Apply) -> Set:
    return Set.ordered(filter(f, s))


def set_filter_map(s: Set, f: Apply) -> Set:
    return Set(chosen(s, f))
