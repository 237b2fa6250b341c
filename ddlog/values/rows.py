"""Rows and the forms that users see: tuples, mappings and dataclasses to rows, rows to struct values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .. import values
from ..core import Column, Relation
from ..errors.changes import BadValue, NoRow, WrongColumns, WrongWidth
from ..errors.diagnostics import DDlogError
from ..types import BigInt, Bit, Bool, Float, Signed, String, Type, TypeDef, User
from .fromplain import by_attributes
from .numbers import decimal, integer_range
from .shapes import Shape, is_option, shape_of, some_maker
from .structs import reason

Row = tuple[Any, ...]


def row_of(value: Any, relation: Relation, typedefs: Mapping[str, TypeDef]) -> Row:
    """The row, a value for each column, that a user's value stands for, checked and made canonical.

    Of a relation `R(a: A, b: B)` a row may be a tuple, a mapping by column name (without Options, perhaps), a
    struct value, a dataclass, a named tuple or another object with the columns as attributes, and with one
    column the value itself; of a relation `R[T]` it is a value of T. Raises DDlogError.
    """
    if relation.constructor is None:
        (column,) = relation.columns
        return (_checked(value, column, relation, typedefs),)
    try:
        given = _by_position(value, relation)
        return tuple(
            _checked(each, column, relation, typedefs)
            for each, column in zip(given, relation.columns, strict=True)
        )
    except DDlogError:
        if isinstance(value, list) and value and all(isinstance(each, tuple | list | dict) for each in value):
            raise _no_row("a list of rows", relation) from None
        raise


def row_taker(relation: Relation, typedefs: Mapping[str, TypeDef]) -> Callable[[Any], Row]:
    """`row_of` for one relation. Tuples of plain numbers and texts, which are rows as they are, take a tenth
    of its time, and those with NULLs a fifth."""
    if relation.constructor is None:
        return lambda value: row_of(value, relation, typedefs)
    given: dict[str, Any] = {"row_of": partial(row_of, relation=relation, typedefs=typedefs)}
    is_row = f"value.__class__ is tuple and len(value) == {len(relation.columns)}"
    tests = [_plain_test(column.type, f"value[{k}]") for k, column in enumerate(relation.columns)]
    if all(tests):
        made, is_row = "value", " and ".join([is_row, *map(str, tests)])
    else:
        parts = [_part(k, test, relation, typedefs, given) for k, test in enumerate(tests)]
        made = f"({''.join(f'{part}, ' for part in parts)})"
    take: Callable[[Any], Row] = eval(f"lambda value: {made} if {is_row} else row_of(value)", given)
    return take


def _part(
    at: int, test: str | None, relation: Relation, typedefs: Mapping[str, TypeDef], given: dict[str, Any]
) -> str:
    """The expression of the canonical value of a column of a tuple, by what is added to `given`."""
    column, name = relation.columns[at], f"value[{at}]"
    given[f"check{at}"] = partial(_checked, column=column, relation=relation, typedefs=typedefs)
    checked = f"check{at}({name})"
    if test is not None:
        return f"{name} if {test} else {checked}"
    if not is_option(column.type) or (test := _plain_test(column.type.args[0], name)) is None:
        return checked
    given[f"none{at}"] = values.check(None, column.type, typedefs)
    given[f"some{at}"] = some_maker(column.type, typedefs)
    return f"none{at} if {name} is None else some{at}({name}) if {test} else {checked}"


def has_plain_columns(relation: Relation) -> bool:
    """Whether all columns of a relation have types without parts, such as numbers and texts, or are Options
    of such: no other struct, tuple or collection."""
    return relation.constructor is not None and all(
        _plain_test(each.type.args[0] if is_option(each.type) else each.type, "") for each in relation.columns
    )


def _plain_test(type: Type, name: str) -> str | None:
    """The expression that holds of a value of Python only if it is the canonical value of a type."""
    match type:
        case Bool():
            return f"{name}.__class__ is bool"
        case BigInt():
            return f"{name}.__class__ is int"
        case Bit() | Signed():
            least, greatest = integer_range(type)
            return f"{name}.__class__ is int and {least} <= {name} <= {greatest}"
        case Float(64):
            return f"{name}.__class__ is float and {name} == {name} != 0.0"
        case String():
            return f"{name}.__class__ is str and {name}.isascii()"
    return None


def _by_position(value: Any, relation: Relation) -> tuple[Any, ...]:
    names = [column.name for column in relation.columns]
    if hasattr(value, "__arrow_c_stream__"):  # its columns may be attributes
        raise _no_row(f"a table ({value.__class__.__name__})", relation)
    value = by_attributes(value, names)
    match value:
        case tuple() if len(value) == len(names):
            return value
        case Mapping():
            unknown = [str(name) for name in value if name not in names]
            missing = [
                column.name
                for column in relation.columns
                if column.name not in value and not is_option(column.type)
            ]
            if unknown or missing:
                raise DDlogError([WrongColumns(relation.name, tuple(unknown), tuple(missing), tuple(names))])
            return tuple(value.get(name) for name in names)
        case tuple():
            raise DDlogError([WrongWidth(relation.name, len(value), tuple(names))])
    if len(names) == 1:
        return (value,)
    if isinstance(value, list):
        return _by_position(tuple(value), relation)
    raise _no_row(repr(value), relation)


def _no_row(shown: str, relation: Relation) -> DDlogError:
    return DDlogError([NoRow(relation.name, shown, tuple([column.name for column in relation.columns]))])


def _checked(value: Any, column: Column, relation: Relation, typedefs: Mapping[str, TypeDef]) -> Any:
    try:
        return values.check(value, column.type, typedefs)
    except (ValueError, RecursionError) as error:
        raise DDlogError([BadValue(relation.name, column.name, reason(error))]) from None


def record_maker(relation: Relation, typedefs: Mapping[str, TypeDef]) -> Callable[[Row], Any]:
    """A function that makes an element of the relation, as users see it, from its row."""
    if relation.constructor is None or not isinstance(relation.record, User):
        return lambda row: row[0]
    shape: Shape = shape_of(relation.record, typedefs)
    make = shape.make(shape.constructors[0])
    return lambda row: make(*row)


def record_text(relation: Relation, typedefs: Mapping[str, TypeDef]) -> Callable[[Row], str]:
    """A function that writes a row as the record text of dumps."""
    writers = [_value_text(column.type, typedefs) for column in relation.columns]
    if relation.constructor is None:
        (write,) = writers
        return lambda row: write(row[0])
    given: dict[str, Any] = {f"w{k}": write for k, write in enumerate(writers)}
    parts = (f"{{row[{k}]}}" if write is str else f"{{w{k}(row[{k}])}}" for k, write in enumerate(writers))
    names = (_escaped(column.name) for column in relation.columns)
    fields = ", ".join(f".{name} = {part}" for name, part in zip(names, parts, strict=True))
    text = f"{_escaped(relation.constructor.name)}{{{{{fields}}}}}"
    written: Callable[[Row], str] = eval(f"lambda row: f{text!r}", given)
    return written


def _escaped(name: str) -> str:
    """A name as a template has it."""
    return name.replace("{", "{{").replace("}", "}}")


def _value_text(type: Type, typedefs: Mapping[str, TypeDef]) -> Callable[[Any], str]:
    match type:
        case Bit() | Signed():
            return str
        case BigInt():
            return decimal
        case String():
            return values.quote
    return lambda value: values.show(value, type, typedefs)
