"""The functions that map.dl declares `extern`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..values import Map


def map_map_in_place(m: Map, f: Callable[..., Any]) -> tuple[tuple[()], Map]:
    """Each value becomes what f leaves in its second parameter."""
    return (), Map.ordered((k, f(k, v)[1]) for k, v in m)
