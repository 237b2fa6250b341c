"""Vec, Set, Map, Group and Any."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, cast

from ..types import Type


class Vec(tuple[Any, ...]):
    """A vector."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Vec([{', '.join(map(repr, self))}])"


class Set(tuple[Any, ...]):
    """A set: its elements in order, each once."""

    __slots__ = ()

    def __new__(cls, elements: Iterable[Any] = ()) -> Set:
        return tuple.__new__(cls, sorted(set(elements)))

    @staticmethod
    def ordered(elements: Iterable[Any]) -> Set:
        """The set of elements that are in order and distinct already."""
        return tuple.__new__(Set, elements)

    def has(self, element: Any) -> bool:
        """Whether the element is in the set."""
        try:
            at = bisect_left(self, element)
        except (
            TypeError
        ):  # Python cannot compare the element with others: None, or an address of another kind
            return element in self
        return at < len(self) and bool(self[at] == element)

    def __repr__(self) -> str:
        return f"Set([{', '.join(map(repr, self))}])"


class Map(tuple[tuple[Any, Any], ...]):
    """A map: its (key, value) pairs in the order of keys, each key once. Of equal keys the last wins.

    It iterates over its pairs, as in the language, and is indexed by key, as Python's mappings are.
    """

    __slots__ = ()

    def __new__(cls, pairs: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> Map:
        return tuple.__new__(cls, sorted(dict(pairs).items(), key=itemgetter(0)))

    @staticmethod
    def ordered(pairs: Iterable[tuple[Any, Any]]) -> Map:
        """The map of pairs that are in order, with distinct keys, already."""
        return tuple.__new__(Map, pairs)

    def pair(self, n: int) -> tuple[Any, Any]:
        """The n-th pair in the order of keys."""
        return tuple.__getitem__(self, n)

    def find(self, key: Any) -> tuple[int, bool]:
        """The position at which the key is or would be, and whether the map has it."""
        try:
            at = bisect_left(range(len(self)), key, key=lambda n: self.pair(n)[0])
        except TypeError:  # as in Set
            keys = self.keys()
            at = keys.index(key) if key in keys else len(keys)
        return at, at < len(self) and bool(self.pair(at)[0] == key)

    def has(self, key: Any) -> bool:
        """Whether the key is in the map."""
        return self.find(key)[1]

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of the key, or the default."""
        at, found = self.find(key)
        return self.pair(at)[1] if found else default

    def __getitem__(self, key: Any) -> Any:
        """The value of a key; a tuple of pairs for a slice."""
        if isinstance(key, slice):
            return tuple.__getitem__(self, key)
        at, found = self.find(key)
        if not found:
            raise KeyError(key)
        return self.pair(at)[1]

    def keys(self) -> tuple[Any, ...]:
        """The keys, in order."""
        return tuple(key for key, _ in self)

    def values(self) -> tuple[Any, ...]:
        """The values, in the order of their keys."""
        return tuple(value for _, value in self)

    def items(self) -> tuple[tuple[Any, Any], ...]:
        """The pairs, in order."""
        return tuple(self)

    def __repr__(self) -> str:
        return f"Map({{{', '.join(f'{key!r}: {value!r}' for key, value in self)}}})"


class Group(tuple[Any, ...]):
    """A group that `group_by` makes: a key, the distinct values of its group in order, and, where these are
    looked at, their weights."""

    __slots__ = ()

    def __new__(cls, key: Any, values: Iterable[Any], *weights: Sequence[int]) -> Group:
        return tuple.__new__(cls, (key, tuple(values), *weights))

    @staticmethod
    def of(key: Any, values: Iterable[Any]) -> Group:
        """The group of values that are in no order and may repeat."""
        return Group(key, sorted(set(values)))

    @property
    def key(self) -> Any:
        """The key."""
        return self[0]

    @property
    def values(self) -> tuple[Any, ...]:
        """The values."""
        values: tuple[Any, ...] = self[1]
        return values

    def weighed(self) -> Iterable[tuple[Any, int]]:
        """The values with their weights, which are 1 where nothing else is known."""
        return zip(self[1], self[2], strict=True) if len(self) > 2 else ((value, 1) for value in self[1])

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return f"Group({self[0]!r}, [{', '.join(map(repr, self[1]))}])"


class AnyValue(tuple[Any, ...]):
    """A value with the text of its type. Values of one type order as they do; others by their types."""

    __slots__ = ()
    type: Type

    def __new__(cls, value: Any) -> AnyValue:
        return tuple.__new__(cls, (str(cls.type), value))

    @property
    def value(self) -> Any:
        """The value itself."""
        return self[1]

    def __repr__(self) -> str:
        return f"Any({self[1]!r}: {self[0]})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self).type, self[1])


@cache
def any_class(of: Type) -> type[AnyValue]:
    """The class of the values of Any that hold a value of a type."""
    return cast("type[AnyValue]", type("AnyValue", (AnyValue,), {"__slots__": (), "type": of}))


def _restore(of: Type, value: Any) -> AnyValue:
    return any_class(of)(value)
