"""The functions that vec.dl declares `extern`."""

from __future__ import annotations

from ..values import Vec
from .ranking import Rank, arg_max, arg_min

vec_arg_min, vec_arg_max = arg_min, arg_max


def vec_sort_by(v: Vec, f: Rank) -> tuple[tuple[()], Vec]:
    return (), Vec(sorted(v, key=f))
