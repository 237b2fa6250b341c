"""Errors and warnings about attributes `#[name=value]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownAttribute(Diagnostic):
    """An attribute that nothing of its kind has."""

    severity: ClassVar[str] = "warning"
    title: ClassVar[str] = "attribute `{name}` means nothing for {owner}"
    name: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SerdeSetting(Diagnostic):
    """A setting of serde that has no effect here."""

    severity: ClassVar[str] = "warning"
    title: ClassVar[str] = "`serde({setting})` has no effect here"
    suggestion: ClassVar[str] = (
        'of a field, `rename="name"` and `default` have; of a constructor, `rename`; '
        'of a type, `tag="key"` and `untagged`'
    )
    setting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeValue(Diagnostic):
    """An attribute with a value of the wrong kind."""

    title: ClassVar[str] = "attribute `{name}` takes {wanted}"
    name: str
    wanted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyOriginal(Diagnostic):
    """`original=""`."""

    title: ClassVar[str] = '"original" attribute with 0 characters: a relation has a name'


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedAttribute(Diagnostic):
    """An attribute that is given twice."""

    title: ClassVar[str] = "attribute `{name}` is given twice"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayOfNoMap(Diagnostic):
    """`deserialize_from_array` of a field that is no map."""

    title: ClassVar[str] = "`deserialize_from_array` is for fields of type Map, and `{name}` is `{type}`"
    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFunction(Diagnostic):
    """A key function that does not compute the keys of the map."""

    title: ClassVar[str] = "there is no function `{name}({value}): {key}` to compute the keys of this map"
    name: str
    value: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SameJsonName(Diagnostic):
    """Two fields of one name in JSON."""

    title: ClassVar[str] = "two fields of `{owner}` are named `{name}` in JSON"
    owner: str
    name: str
