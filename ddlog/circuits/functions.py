"""Python functions in circuits: opaque to the engine, which calls them a row at a time.

The parameters of a function name columns. What it returns is checked against the declared type; a fault is
that of the row, ends the epoch, and rolls it back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from .. import values
from ..engine.circuit import Aggregate, Guard, Let, Step, Unnest
from ..engine.schema import Column as Stored
from ..engine.schema import Kind, RowExpr
from ..errors.nearest import meant_of
from ..errors.source import Span
from ..lowering.builder import column as stored_column
from ..types import Bit, Bool, Float, Signed, String, Type, TypeDef
from .language import Columns, Language, TypeText
from .places import refuse


@dataclass(frozen=True, slots=True)
class Python:
    """A Python function with the type of what it returns; see `python`."""

    type: TypeText
    function: Callable[..., Any]


def python(type: TypeText, function: Callable[..., Any]) -> Python:
    """A Python function as a row expression of a type of the language. Its parameters name the columns that
    it is given. In `flat_map` it returns elements of the type; in `group`, its parameters are lists, a
    value for each row of the group."""
    return Python(type, function)


def typed(operator: str, name: str, given: object, elements: bool = False) -> Python:
    """A function with the type of its result: as `python` gave it, or from its annotation. With `elements` it
    returns a collection, and the type is that of the elements. Raises DDlogError."""
    if isinstance(given, Python):
        return given
    if not callable(given):
        refuse(
            operator,
            f"`{name}` is {given!r}, not an expression",
            "an expression is a text, or a Python function",
        )
    try:
        result = inspect.signature(given, eval_str=True).return_annotation
    except (TypeError, ValueError, NameError):
        result = inspect.Signature.empty
    if elements:
        result = _element(result)
    if not isinstance(result, type | str) or result is inspect.Signature.empty:
        refuse(operator, f"the type of `{name}` is not known", f'say it: `{name}=python("signed<32>", …)`')
    return Python(result, given)


def _element(collection: object) -> object:
    """The type of the elements of an annotation such as `list[str]`."""
    origin, given = get_origin(collection), [each for each in get_args(collection) if each is not ...]
    is_collection = isinstance(origin, type) and issubclass(origin, Iterable)
    return given[0] if is_collection and len(given) == 1 else inspect.Signature.empty


def parameters(operator: str, function: Callable[..., Any], columns: Columns) -> tuple[str, ...]:
    """The columns that a function is given. Raises DDlogError."""
    names = [each.name for each in columns]
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        refuse(
            operator,
            f"the parameters of {function!r} are not known",
            "use a `lambda` with columns as parameters",
        )
    inputs: list[str] = []
    for each in found:
        if each.kind is each.VAR_POSITIONAL:
            inputs += [name for name in names if name not in inputs]
        elif each.name in names:
            inputs.append(each.name)
        elif each.default is each.empty and each.kind is not each.VAR_KEYWORD:
            help = meant_of(each.name, names, "the columns")
            refuse(operator, f"the function has a parameter `{each.name}`, which is no column", help)
    return tuple(inputs)


def let(
    language: Language, operator: str, place: Span, columns: Columns, name: str, given: Python, to: str
) -> tuple[Step, Type]:
    """The step that binds a variable to a function of columns, and its type."""
    of = language.type(operator, name, given.type)
    stored = stored_column(name, of)
    call = Checked(given.function, of, _needed(of, language.typedefs))
    return Let(to, _expression(operator, place, columns, given.function, stored, call)), of


def guard(operator: str, place: Span, columns: Columns, function: Callable[..., Any]) -> Step:
    """The step that keeps the rows for which a function returns True."""
    stored = Stored("", Kind.BOOL, "bool", Bool())
    return Guard(_expression(operator, place, columns, function, stored, Checked(function, Bool(), {})))


def unnest(
    language: Language, operator: str, place: Span, columns: Columns, name: str, given: Python, to: str
) -> tuple[Step, Type]:
    """The step that binds a variable to each element that a function returns, and the type of elements."""
    of = language.type(operator, name, given.type)
    call = CheckedElements(given.function, of, _needed(of, language.typedefs))
    return Unnest(
        to, _expression(operator, place, columns, given.function, stored_column(name, of), call)
    ), of


def aggregate(
    language: Language, operator: str, place: Span, columns: Columns, name: str, given: Python
) -> tuple[tuple[str, ...], Aggregate, Type]:
    """An aggregate by a function of lists: the columns it is given, the aggregate over them (counted from 0),
    and the type of its result."""
    inputs = parameters(operator, given.function, columns)
    of = language.type(operator, name, given.type)
    make = OfLists(Checked(given.function, of, _needed(of, language.typedefs)), len(inputs))
    return inputs, Aggregate("group", tuple(range(len(inputs))), make, key=given.function, origin=place), of


def _expression(
    operator: str,
    place: Span,
    columns: Columns,
    function: Callable[..., Any],
    column: Stored,
    call: Callable[..., Any],
) -> RowExpr:
    inputs = parameters(operator, function, columns)
    types = {each.name: each.type for each in columns}
    described = tuple(stored_column(each, types[each]) for each in inputs)
    return RowExpr(inputs, column, ("python", function), shown(function), place, call, columns=described)


def shown(function: Callable[..., Any]) -> str:
    """A function for people: its name and its parameters."""
    try:
        names = ", ".join(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = "…"
    name = getattr(function, "__name__", type(function).__name__)
    return f"python {name.strip('<>')}({names})"


# ------------------------------------------------------------ what they return


@dataclass(frozen=True, slots=True)
class Checked:
    """A function whose results are values of a type."""

    function: Callable[..., Any]
    type: Type
    typedefs: Mapping[str, TypeDef]

    def __call__(self, *row: Any) -> Any:
        return _checked(self.function(*row), self.type, self.typedefs)


@dataclass(frozen=True, slots=True)
class CheckedElements:
    """A function that returns elements of a type."""

    function: Callable[..., Any]
    type: Type
    typedefs: Mapping[str, TypeDef]

    def __call__(self, *row: Any) -> Any:
        found = self.function(*row)
        if isinstance(found, str | bytes) or not hasattr(found, "__iter__"):
            raise ValueError(f"the function returns {found!r}, not a collection")
        return tuple(_checked(each, self.type, self.typedefs) for each in found)


@dataclass(frozen=True, slots=True)
class OfLists:
    """A function of lists as a function of the rows of a group."""

    function: Callable[..., Any]
    width: int

    def __call__(self, key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
        return self.function(*([row[k] for row in rows] for k in range(self.width)))


def _checked(value: Any, of: Type, typedefs: Mapping[str, TypeDef]) -> Any:
    try:
        return values.check(value, of, typedefs)
    except ValueError as error:
        raise ValueError(f"the function returns {value!r}: {error}") from None


def _needed(of: Type, typedefs: Mapping[str, TypeDef]) -> Mapping[str, TypeDef]:
    """The type definitions that checks of a type may need. A copy, since it is sent to other processes."""
    return {} if isinstance(of, Bool | Bit | Signed | Float | String) else dict(typedefs)
