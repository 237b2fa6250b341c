"""Columns of values as Arrow arrays and back, a form for each kind of Spark type."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa

from ...codegen.sqltypes import (
    Case,
    cases_of,
    element_of,
    group_of,
    integer_type,
    is_binary,
    is_union,
    wide_from_bytes,
    wide_to_bytes,
)
from ...types import BigInt, Bit, Bool, Float, Signed, String, Tuple, Type, User
from ...values import Group, Map, TypeDefs, struct_class
from ...values.shapes import shape_of
from .canonical import Canonical
from .collectionmakers import collection_maker
from .scalarforms import ArrowForm, BoolsForm, BytesForm, DecimalsForm, FloatsForm, IntegersForm, StringsForm
from .structforms import ListsForm, StructsForm, UnionAlternative, UnionsForm

_MACHINE = {"TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64()}


def form_of(type: Type, typedefs: TypeDefs) -> ArrowForm:
    """The form of a type."""
    match type:
        case Bool():
            return BoolsForm()
        case Bit() | Signed() | BigInt():
            return _integer_form(type)
        case Float(width):
            return FloatsForm(pa.float32() if width == 32 else pa.float64())
        case String():
            return StringsForm()
        case User() if is_union(type, typedefs) and not is_binary(type, typedefs):
            return _union_form(type, typedefs)
        case Tuple() | User() if not is_binary(type, typedefs):
            (case,) = cases_of(type, typedefs)
            return StructsForm(_members(case, typedefs), _struct_maker(type, typedefs))
    element = element_of(type)
    if element is not None:
        make = collection_maker(type)
        return ListsForm(_element_form(element, typedefs, make is Map.ordered), make)
    group = group_of(type)
    if group is not None:
        key, value = (form_of(each, typedefs) for each in group)
        return StructsForm((("key", key), ("values", ListsForm(value, tuple))), partial(tuple.__new__, Group))
    canonical = Canonical(type, typedefs)
    return BytesForm(canonical.to_bytes, canonical.from_bytes)


def _integer_form(type: Bit | Signed | BigInt) -> ArrowForm:
    name = integer_type(type)
    if name in _MACHINE:
        return IntegersForm(_MACHINE[name])
    if name == "BINARY":
        assert isinstance(type, Bit | Signed)
        return BytesForm(partial(wide_to_bytes, type=type), partial(wide_from_bytes, type=type))
    return DecimalsForm(pa.decimal128(20 if "20" in name else 38, 0))


def _members(case: Case, typedefs: TypeDefs) -> tuple[tuple[str, ArrowForm], ...]:
    return tuple((name, form_of(of, typedefs)) for name, of in case.fields)


def _struct_maker(type: Tuple | User, typedefs: TypeDefs) -> Callable[[Any], Any]:
    if isinstance(type, Tuple):
        return tuple
    shape = shape_of(type, typedefs)
    return partial(tuple.__new__, struct_class(shape.typedef.name, shape.constructors[0], False))


def _element_form(element: Type, typedefs: TypeDefs, is_map: bool) -> ArrowForm:
    if is_map:
        assert isinstance(element, Tuple)
        names = zip(("key", "value"), element.items, strict=True)
        return StructsForm(tuple((name, form_of(of, typedefs)) for name, of in names), tuple)
    return form_of(element, typedefs)


def _union_form(type: User, typedefs: TypeDefs) -> ArrowForm:
    shape, alternatives = shape_of(type, typedefs), []
    for case, constructor in zip(cases_of(type, typedefs), shape.constructors, strict=True):
        make = partial(tuple.__new__, struct_class(shape.typedef.name, constructor, True))
        fields = StructsForm(_members(case, typedefs), tuple, skip=1) if case.fields else None
        alternatives.append(UnionAlternative(case.tag, case.member, fields, make))
    return UnionsForm(tuple(alternatives))
