"""Functions as values.

A closure is the name of its place in the program, then the values that it captured: two are equal when they
are the same expression with equal values. Its class knows what to call, and is made by the program's
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, cast

from ..types import ANY, Constructor, FunctionType, Opaque, Tuple, Type, User
from .structs import Fault, TypeDefs, constructors_of


class FunctionValue(tuple[Any, ...]):
    """A function of the language. It is called as functions of Python are; its arguments are not checked."""

    __slots__ = ()
    text: ClassVar[str] = ""
    inner: ClassVar[type[FunctionValue] | None] = None
    """The class of the closure itself, if this one takes and gives the values that Python has."""

    @property
    def place(self) -> str:
        """The name of the expression that made the closure."""
        return cast("str", self[0])

    def __call__(self, *args: Any) -> Any:
        raise Fault(f"`{self.text}` was pickled outside of its program, and cannot be called")

    def __hash__(self) -> int:  # in Python, whose recursion has a limit
        return tuple.__hash__(self)

    def __repr__(self) -> str:
        return f"<closure: {self.text}, captured_args: [{', '.join(map(repr, self[1:]))}]>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.text, tuple(self))


def closure_class(text: str, call: Callable[..., Any]) -> type[FunctionValue]:
    """The class of the closures of one place. `call` takes a closure, then the arguments."""
    return _class(text, {"__call__": call})


@cache
def _pickled_class(text: str) -> type[FunctionValue]:
    return _class(text, {})


def outer_class(inner: type[FunctionValue], call: Callable[..., Any]) -> type[FunctionValue]:
    """A class for the same closures, where `call` takes the inner closure, then the arguments."""

    def called(self: FunctionValue, *args: Any) -> Any:
        return call(tuple.__new__(inner, self), *args)

    return _class(inner.text, {"__call__": called, "inner": inner})


def _class(text: str, members: Mapping[str, Any]) -> type[FunctionValue]:
    made = type("FunctionValue", (FunctionValue,), {"__slots__": (), "text": text, **members})
    return cast("type[FunctionValue]", made)


def _restore(text: str, items: tuple[Any, ...]) -> FunctionValue:
    return tuple.__new__(_pickled_class(text), items)


def captured_by(value: FunctionValue, typedefs: TypeDefs) -> tuple[Constructor, tuple[Any, ...]]:
    """The text of a closure, as the name of a constructor, with its captured values."""
    return typedefs[value.place].constructors[0], tuple(value)[1:]


def no_written_form(type: FunctionType) -> str:
    """The message that values of the type cannot be read from text."""
    return f"a value of type {type} cannot be written; only rules and facts of the program make functions"


def check_closure(value: Any, type: FunctionType, typedefs: TypeDefs) -> FunctionValue:
    """The value if it is a closure of the type that this program has made. Raises ValueError."""
    if not isinstance(value, FunctionValue):
        raise ValueError(f"expected {type}, a function that the program has made, found {value!r:.60}")
    typedef = typedefs.get(value.place)
    if typedef is None or value.__class__.__call__ is FunctionValue.__call__:
        raise ValueError(f"expected {type}, found {value!r:.60} of another program or process")
    if typedef.function != type:
        raise ValueError(f"expected {type}, found {value!r:.60} of type {typedef.function}")
    return value if value.inner is None else tuple.__new__(value.inner, value)


def holds_function(type: Type, typedefs: TypeDefs) -> bool:
    """Whether values of the type can contain a function."""
    return any(isinstance(each, FunctionType) for each in parts_of([type], typedefs))


def holds_object(type: Type, typedefs: TypeDefs) -> bool:
    """Whether values of the type can contain a value of an extern type of the program."""
    parts = parts_of([type], typedefs)
    return any(isinstance(each, Opaque) and each.name in typedefs for each in parts)


def storable_closures(types: Iterable[Type], typedefs: TypeDefs) -> set[str]:
    """The places of the closures that values of the types can contain."""
    everything = {name: each for name, each in typedefs.items() if each.function is not None}
    found: set[str] = set()
    waiting = list(types) if everything else []
    while waiting:
        parts = set(parts_of(waiting, typedefs))
        whatever = any(isinstance(each, Opaque) and each.name == ANY for each in parts)
        new = {name for name, each in everything.items() if whatever or each.function in parts} - found
        found |= new
        waiting = [of for name in new for _, of in typedefs[name].constructors[0].fields]
    return found


def parts_of(types: Iterable[Type], typedefs: TypeDefs) -> Iterator[Type]:
    """The types, and those that their values are made of."""
    waiting, seen = list(types), set[Type]()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        yield each
        match each:
            case Tuple(items) | Opaque(_, items):
                waiting += items
            case User(name, args):
                waiting += [of for made in constructors_of(typedefs[name], args) for _, of in made.fields]
