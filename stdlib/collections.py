"""Vectors, maps and sets. A function with `mut` parameters returns its result and then their new values."""

from __future__ import annotations

from itertools import chain
from typing import Any

from ..engine.memory import reserve
from ..types import Float, Opaque
from ..values import Fault, Map, Set, Struct, Vec, canonical_float, single, wrap
from .options import NONE, item, some
from .typed import Signature, demand_number, typed

Unit = tuple[()]
_ITEM, _NUMBER = 8, 40  # bytes of an item that is there, and of a new number
_MANY = 1 << 16

# -------------------------------------------------------------------- vectors


@typed
def range_vec(start: Any, end: Any, step: Any, *, signature: Signature) -> Vec:
    """From start, by step, to the end, which is left out; nothing for a step of 0."""
    assert isinstance(signature.result, Opaque)
    of = signature.result.args[0]
    demand_number(of, "range_vec")
    if isinstance(of, Float):
        return _float_range(start, end, step, of)
    if step == 0:
        return Vec()
    _length(max(0, -((start - end) // step)), _NUMBER)
    return Vec(wrap(value, of) for value in range(start, end, step))


def _float_range(start: float, end: float, step: float, of: Float) -> Vec:
    rounded = single if of.width == 32 else canonical_float
    found, value = [], start
    while (value < end) if step > 0 else (step < 0 and value > end):
        found.append(value)
        if not len(found) % _MANY:
            reserve(_MANY * _NUMBER)
        following = rounded(value + step)
        if following == value:
            raise Fault(f"the step {step} does not change {value}")
        value = following
    return Vec(found)


def vec_empty() -> Vec:
    return Vec()


def vec_with_length(length: int, x: Any) -> Vec:
    return Vec((x,) * _length(length))


def vec_with_capacity(length: int) -> Vec:
    return Vec()


def vec_singleton(x: Any) -> Vec:
    return Vec((x,))


def vec_len(v: Vec) -> int:
    return len(v)


def vec_push(v: Vec, x: Any) -> tuple[Unit, Vec]:
    reserve(_ITEM * len(v))
    return (), Vec((*v, x))


def vec_pop(v: Vec) -> tuple[Struct, Vec]:
    return (some(v[-1]), Vec(v[:-1])) if v else (NONE, v)


def vec_append(v: Vec, other: Vec) -> tuple[Unit, Vec]:
    reserve(_ITEM * (len(v) + len(other)))
    return (), Vec((*v, *other))


def vec_push_imm(v: Vec, x: Any) -> Vec:
    reserve(_ITEM * len(v))
    return Vec((*v, x))


def vec_contains(v: Vec, x: Any) -> bool:
    return x in v


def vec_is_empty(v: Vec) -> bool:
    return not v


def vec_nth(v: Vec, n: int) -> Struct:
    return item(v, n)


def vec_to_set(s: Vec) -> Set:
    return Set(s)


def vec_to_map(v: Vec) -> Map:
    return Map(v)


def vec_sort(v: Vec) -> tuple[Unit, Vec]:
    return (), Vec(sorted(v))


def vec_sort_imm(v: Vec) -> Vec:
    return Vec(sorted(v))


def vec_resize(v: Vec, new_len: int, value: Any) -> tuple[Unit, Vec]:
    return (), Vec((*v[:new_len], *(value,) * max(0, _length(new_len) - len(v))))


def vec_truncate(v: Vec, length: int) -> tuple[Unit, Vec]:
    return (), Vec(v[:length])


def vec_swap_nth(v: Vec, idx: int, value: Any) -> tuple[bool, Vec, Any]:
    if idx >= len(v):
        return False, v, value
    return True, Vec((*v[:idx], value, *v[idx + 1 :])), v[idx]


def vec_update_nth(v: Vec, idx: int, value: Any) -> tuple[bool, Vec]:
    if idx >= len(v):
        return False, v
    return True, Vec((*v[:idx], value, *v[idx + 1 :]))


def vec_zip(v1: Vec, v2: Vec) -> Vec:
    return Vec(zip(v1, v2, strict=False))


def vec_unzip(v: Vec) -> tuple[Vec, Vec]:
    return Vec(x for x, _ in v), Vec(y for _, y in v)


def vec_reverse(v: Vec) -> tuple[Unit, Vec]:
    return (), Vec(v[::-1])


def _length(length: int, size: int = _ITEM) -> int:
    """The length of a vector that is to be made, of items of so many bytes."""
    if length > 1 << 31:
        raise Fault(f"cannot make a vector of length {length}")
    reserve(length * size)
    return length


# ----------------------------------------------------------------------- maps


def map_empty() -> Map:
    return Map()


def map_singleton(k: Any, v: Any) -> Map:
    return Map.ordered(((k, v),))


def map_size(m: Map) -> int:
    return len(m)


def map_insert(m: Map, k: Any, v: Any) -> tuple[Unit, Map]:
    return (), map_insert_imm(m, k, v)


def map_insert_imm(m: Map, k: Any, v: Any) -> Map:
    at, found = m.find(k)
    return Map.ordered((*m[:at], (k, v), *m[at + found :]))


def map_remove(m: Map, k: Any) -> tuple[Struct, Map]:
    at, found = m.find(k)
    if not found:
        return NONE, m
    return some(m.pair(at)[1]), Map.ordered((*m[:at], *m[at + 1 :]))


def map_get(m: Map, k: Any) -> Struct:
    at, found = m.find(k)
    return some(m.pair(at)[1]) if found else NONE


def map_contains_key(m: Map, k: Any) -> bool:
    return m.has(k)


def map_is_empty(m: Map) -> bool:
    return not m


def map_nth_key(m: Map, n: int) -> Struct:
    return some(m.pair(n)[0]) if n < len(m) else NONE


def map_nth_value(m: Map, n: int) -> Struct:
    return some(m.pair(n)[1]) if n < len(m) else NONE


def map_union(m1: Map, m2: Map) -> Map:
    return Map(chain(m1, m2))


def map_keys(m: Map) -> Vec:
    return Vec(m.keys())


def map_values(m: Map) -> Vec:
    return Vec(m.values())


# ----------------------------------------------------------------------- sets


def set_singleton(x: Any) -> Set:
    return Set.ordered((x,))


def set_empty() -> Set:
    return Set()


def set_size(s: Set) -> int:
    return len(s)


def set_insert(s: Set, v: Any) -> tuple[Unit, Set]:
    return (), set_insert_imm(s, v)


def set_insert_imm(s: Set, v: Any) -> Set:
    return s if s.has(v) else Set((*s, v))


def set_contains(s: Set, v: Any) -> bool:
    return s.has(v)


def set_is_empty(s: Set) -> bool:
    return not s


def set_nth(s: Set, n: int) -> Struct:
    return item(s, n)


def set_to_vec(s: Set) -> Vec:
    return Vec(s)


def set_union(s1: Set, s2: Set) -> Set:
    return Set(chain(s1, s2))


def set_unions(sets: Vec) -> Set:
    return Set(chain.from_iterable(sets))


def set_intersection(s1: Set, s2: Set) -> Set:
    kept = set(s2)
    return Set.ordered(x for x in s1 if x in kept)


def set_difference(s1: Set, s2: Set) -> Set:
    dropped = set(s2)
    return Set.ordered(x for x in s1 if x not in dropped)
