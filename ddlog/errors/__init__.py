"""Declared errors by subject. A module is imported when its first error is made, so that programs without
errors start faster."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        attributes,
        functions,
        groups,
        loops,
        modules,
        names,
        patterns,
        rules,
        strata,
        streams,
        typedefs,
        types,
        unsupported,
        windows,
    )

__all__ = [
    "attributes",
    "functions",
    "groups",
    "loops",
    "modules",
    "names",
    "patterns",
    "rules",
    "strata",
    "streams",
    "typedefs",
    "types",
    "unsupported",
    "windows",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
