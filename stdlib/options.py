"""The values of Option and Result, for functions written in Python."""

from __future__ import annotations

from typing import Any

from ..types import Constructor, TypeVar
from ..values import Struct, struct_class

_NONE = Constructor("ddlog_std::None", 0, ())
_SOME = Constructor("ddlog_std::Some", 1, (("x", TypeVar("A")),))
_OK = Constructor("ddlog_std::Ok", 0, (("res", TypeVar("V")),))
_ERR = Constructor("ddlog_std::Err", 1, (("err", TypeVar("E")),))

NONE: Struct = struct_class("ddlog_std::Option", _NONE, True)()
Some = struct_class("ddlog_std::Option", _SOME, True)
Ok = struct_class("ddlog_std::Result", _OK, True)
Err = struct_class("ddlog_std::Result", _ERR, True)


def some(value: Any) -> Struct:
    """`Some{value}`"""
    return tuple.__new__(Some, (1, value))


def ok(value: Any) -> Struct:
    """`Ok{value}`"""
    return tuple.__new__(Ok, (0, value))


def err(error: Any) -> Struct:
    """`Err{error}`"""
    return tuple.__new__(Err, (1, error))


def item(values: tuple[Any, ...], n: int) -> Struct:
    """`Some` of the n-th value, or None."""
    return some(values[n]) if n < len(values) else NONE
