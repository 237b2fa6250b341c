"""The forms of values in the columns of Spark, one for each kind of Spark type (`ddlog/io/forms.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from ...codegen.sqltypes import (
    cases_of,
    group_of,
    integer_type,
    is_binary,
    is_union,
    wide_from_bytes,
    wide_to_bytes,
)
from ...io.forms import Encoding, Forms, Integer
from ...io.scalarforms import ArrowForm, DecimalsForm, IntegersForm, WrittenForm
from ...io.structforms import ListsForm, StructsForm, UnionAlternative, UnionsForm
from ...types import BigInt, Tuple, Type, User
from ...values import Group, Map, TypeDefs, struct_class
from ...values.shapes import collection_of, shape_of
from .canonical import Canonical

_MACHINE = {"TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64()}


def _integer(type: Integer) -> ArrowForm:
    name = integer_type(type)
    if name in _MACHINE:
        return IntegersForm(_MACHINE[name])
    if name == "BINARY":
        assert not isinstance(type, BigInt)
        to_bytes, from_bytes = partial(wide_to_bytes, type=type), partial(wide_from_bytes, type=type)
        return WrittenForm(pa.binary(), to_bytes, from_bytes)
    return DecimalsForm(pa.decimal128(20 if "20" in name else 38, 0))


def _chosen(type: Type, forms: Forms, _: frozenset[str]) -> ArrowForm | None:
    group, collection = group_of(type), collection_of(type)
    if group is not None:
        key, value = map(forms.of, group)
        members = (("key", key), ("values", ListsForm(value, tuple)))
        return StructsForm(members, partial(tuple.__new__, Group))
    if is_binary(type, forms.typedefs):
        canonical = Canonical(type, forms.typedefs)
        return WrittenForm(pa.binary(), canonical.to_bytes, canonical.from_bytes)
    if is_union(type, forms.typedefs):
        assert isinstance(type, User)
        return _union_form(type, forms)
    if collection is not None and collection.kind == "Map":
        assert isinstance(collection.element, Tuple)
        names = zip(("key", "value"), collection.element.items, strict=True)
        return ListsForm(StructsForm(forms.members(list(names)), tuple), Map.ordered)
    return None


def _union_form(type: User, forms: Forms) -> ArrowForm:
    shape, alternatives = shape_of(type, forms.typedefs), []
    for case, constructor in zip(cases_of(type, forms.typedefs), shape.constructors, strict=True):
        make = partial(tuple.__new__, struct_class(shape.typedef.name, constructor, True))
        fields = StructsForm(forms.members(case.fields), tuple, skip=1) if case.fields else None
        alternatives.append(UnionAlternative(case.tag, case.member, fields, make))
    return UnionsForm(tuple(alternatives))


def _fields(type: Tuple | User, typedefs: TypeDefs) -> Sequence[tuple[str, Type]]:
    return cases_of(type, typedefs)[0].fields


SPARK = Encoding(_integer, _chosen, _fields)
