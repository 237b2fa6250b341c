"""Values as Python has them: an Option is its value or None, a date an object of `datetime`, and a
closure takes and gives such values.

Values that Python has no object for stay as they are, and so does an Option in an Option, so that
`Some{None}` is told apart from None. `check` takes all these forms back.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from ..types import FunctionType, Opaque, Tuple, Type, User
from .closures import FunctionValue, outer_class, parts_of
from .collections import Group
from .fromplain import check
from .shapes import collection_of, is_option, shape_of
from .structs import TypeDefs, local_name
from .textforms import text_form

Maker: TypeAlias = Callable[[Any], Any]


def row_maker(types: Iterable[Type], typedefs: TypeDefs) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A function that makes the row that Python has of a row of values."""
    makers = [python_maker(type, typedefs) for type in types]
    return tuple if all(each is None for each in makers) else _items(makers)


def python_maker(type: Type, typedefs: TypeDefs) -> Maker | None:
    """A function that makes the form that Python has of a value; None if it is the value itself."""
    return _Makers(typedefs).of(type)


class _Makers:
    """The makers of types, each made once, since a type can hold itself."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self._typedefs = typedefs
        self._made: dict[Type, Maker] = {}

    def of(self, type: Type) -> Maker | None:
        if not isinstance(type, Tuple | User | Opaque | FunctionType) or not self._differs(type):
            return None
        if type not in self._made:
            self._made[type] = lambda value: self._made[type](value)
            self._made[type] = self._maker(type)
        return self._made[type]

    def _differs(self, type: Type) -> bool:
        waiting, seen = [type], set[Type]()
        while waiting:
            for each in parts_of(waiting, self._typedefs):
                if is_option(each) or self._object(each) is not None:
                    return True
                seen.add(each)
            called = [each for each in seen if isinstance(each, FunctionType)]
            waiting = [of for each in called for of in (*each.parameters, each.result) if of not in seen]
        return False

    def _object(self, type: Type) -> Maker | None:
        form = text_form(type, self._typedefs)
        return None if form is None else form.python

    def _maker(self, type: Tuple | User | Opaque | FunctionType) -> Maker:
        match type:
            case FunctionType():
                return self._function(type)
            case Opaque(name, (key, of)) if local_name(name) == "Group":
                own, held = self.of(key) or _same, self.of(of) or _same
                return lambda group: Group(own(group.key), map(held, group.values))
            case Tuple(items):
                return _items([self.of(item) for item in items])
            case User():
                return self._object(type) or self._struct(type)
        collection = collection_of(type)
        if collection is None:
            return _same
        element = self.of(collection.element) or _same
        return lambda value: collection.ordered(map(element, value))

    def _function(self, type: FunctionType) -> Maker:
        """Makes a closure that takes and gives the values that Python has."""
        changed = [of for of, mutable in zip(type.parameters, type.mutable, strict=True) if mutable]
        result = self.of(Tuple((type.result, *changed)) if changed else type.result) or _same
        classes: dict[builtins.type[FunctionValue], builtins.type[FunctionValue]] = {}

        def call(closure: FunctionValue, *args: Any) -> Any:
            given = zip(args, type.parameters, strict=True)
            return result(closure(*(check(each, of, self._typedefs) for each, of in given)))

        def outer(closure: FunctionValue) -> FunctionValue:
            made = classes.get(closure.__class__)
            if made is None:
                made = classes[closure.__class__] = outer_class(closure.__class__, call)
            return tuple.__new__(made, closure)

        return outer

    def _struct(self, type: User) -> Maker:
        shape = shape_of(type, self._typedefs)
        makers = [
            _fields([self.of(of) for _, of in each.fields], shape.is_union) for each in shape.constructors
        ]
        if not shape.is_union:
            return makers[0]
        if is_option(type) and not is_option(type.args[0]):
            held = self.of(type.args[0]) or _same
            return lambda value: held(value[1]) if value[0] else None
        if is_option(type):
            return lambda value: makers[1](value) if value[0] else None
        return lambda value: makers[value[0]](value)


def _same(value: Any) -> Any:
    return value


def _items(makers: Sequence[Maker | None]) -> Maker:
    """A function that makes the items of a tuple."""
    return lambda value: tuple(
        item if make is None else make(item) for make, item in zip(makers, value, strict=True)
    )


def _fields(makers: Sequence[Maker | None], union: bool) -> Maker:
    """A function that makes the fields of a struct; those of a union follow the constructor's number."""
    made = _items([None, *makers] if union else makers)
    return lambda value: tuple.__new__(value.__class__, made(value))
