"""Lists of the module `sql`, whose elements are Options."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..engine.rounding import rounded
from ..values import Fault, Map, Struct, Vec, canonical_float
from .group import float_sum, mean
from .options import NONE, some

_QUOTED = re.compile(r"""^$|^\s|\s$|^null$|['"\\,:={}\[\]()]""", re.IGNORECASE)  # a part of a list's text


def element(values: Vec, at: int) -> Struct:
    place = at - 1 if at > 0 else at + len(values)
    return values[place] if at and 0 <= place < len(values) else NONE


def slice(values: Vec, from_: int, to: int) -> Vec:
    first, last = (each + len(values) + 1 if each < 0 else each for each in (from_, to))
    return Vec(values[max(first, 1) - 1 : max(last, 0)])


def list_position(values: Vec, value: Struct) -> Struct:
    return some(values.index(value) + 1) if value in values else NONE


def list_sorted(values: Vec, down: bool, nulls_first: bool) -> Vec:
    there = sorted(_present(values), reverse=down)
    nulls = [NONE] * (len(values) - len(there))
    return Vec([*nulls, *there] if nulls_first else [*there, *nulls])


def list_reversed(values: Vec) -> Vec:
    return Vec(values[::-1])


def list_distinct(values: Vec) -> Vec:
    return Vec(dict.fromkeys(_present(values)))


def list_intersect(a: Vec, b: Vec) -> Vec:
    return Vec(each for each in dict.fromkeys(_present(a)) if each in b)


def list_has_any(a: Vec, b: Vec) -> bool:
    return not {*_present(a)}.isdisjoint(b)


def list_has_all(a: Vec, b: Vec) -> bool:
    return {*a} >= {*_present(b)}


def list_min(values: Vec) -> Struct:
    return min(_present(values), default=NONE)


def list_max(values: Vec) -> Struct:
    return max(_present(values), default=NONE)


def sum_of_units(values: Vec) -> Struct:
    there = _plain(values)
    return some(sum(there)) if there else NONE


def not_empty(values: Vec) -> Vec:
    if not values:
        raise Fault("LIST_REDUCE of an empty list needs a value to begin with")
    return values


def product_of(values: Vec) -> Struct:
    there = _plain(values)
    return some(canonical_float(math.prod(there))) if there else NONE


def histogram(values: Vec) -> Struct:
    counts = Counter(_plain(values))
    return some(Map((value, some(count)) for value, count in counts.items())) if counts else NONE


def sum_of_doubles(values: Vec) -> Struct:
    there = _plain(values)
    return some(float_sum(there)) if there else NONE


def mean_of_units(values: Vec, scale: int) -> Struct:
    there = _plain(values)
    return some(rounded(sum(there), len(there) * scale)) if there else NONE


def mean_of_doubles(values: Vec) -> Struct:
    there = _plain(values)
    return some(mean(there)) if there else NONE


def list_text(values: Vec) -> str:
    return f"[{', '.join(map(_text, values))}]"


def struct_text(names: Vec, values: Vec) -> str:
    parts = zip(names, values, strict=True)
    return f"{{{', '.join(f'{chr(39)}{name[1]}{chr(39)}: {_text(value)}' for name, value in parts)}}}"


def map_text(keys: Vec, values: Vec) -> str:
    parts = zip(keys, values, strict=True)
    return f"{{{', '.join(f'{key[1]}={_text(value)}' for key, value in parts)}}}"


def part_text(text: str) -> str:
    if not _QUOTED.search(text):
        return text
    return "'" + re.sub(r"['\\]", r"\\\g<0>", text) + "'"


def _text(value: Struct) -> str:
    return str(value[1]) if value[0] else "NULL"


def map_of(keys: Vec, values: Vec) -> Map:
    if len(keys) != len(values):
        raise Fault(f"a map of {len(keys)} keys and {len(values)} values")
    if NONE in keys:
        raise Fault("a key of a map is NULL")
    made = Map((key[1], value) for key, value in zip(keys, values, strict=True))
    if len(made) < len(keys):
        raise Fault("a key comes twice in a map")
    return made


def list_join(values: Vec, by: str) -> Struct:
    there = [each[1] for each in values if each[0]]
    return NONE if values and not there else some(by.join(there))


def split(text: str, by: str) -> Vec:
    return Vec(text.split(by) if by else text)


def _present(values: Iterable[Struct]) -> list[Struct]:
    """The values that are not NULL."""
    return [each for each in values if each[0]]


def _plain(values: Iterable[Struct]) -> list[Any]:
    return [each[1] for each in values if each[0]]
