"""Values of Any, each with its type."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from ..types import Type


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
