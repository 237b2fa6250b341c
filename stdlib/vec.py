"""The functions that vec.dl declares `extern`."""

from __future__ import annotations

from ..values import Vec
from .elements import Apply, arg_max, arg_min, chosen, flattened

vec_arg_min, vec_arg_max = arg_min, arg_max


def vec_map(v: Vec, f: Apply) -> Vec:
    return Vec(map(f, v))


def vec_flatmap(v: Vec, f: Apply) -> Vec:
    return Vec(flattened(v, f))


def vec_filter(v: Vec, f: Apply) -> Vec:
    return Vec(filter(f, v))


def vec_filter_map(v: Vec, f: Apply) -> Vec:
    return Vec(chosen(v, f))


def vec_sort_by(v: Vec, f: Apply) -> tuple[tuple[()], Vec]:
    return (), Vec(sorted(v, key=f))
