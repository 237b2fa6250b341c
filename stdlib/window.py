"""The extern functions of window.dl."""

from __future__ import annotations

from typing import Any

from ..values import Group, Vec


def sessions(g: Group, gap: Any) -> Vec:
    found: list[list[Any]] = []
    for time, value in g.values:  # in their order
        if found and time - found[-1][1] <= gap:
            found[-1][1] = time
            found[-1][2].append(value)
        else:
            found.append([time, time, [value]])
    return Vec((start, end, Vec(values)) for start, end, values in found)
