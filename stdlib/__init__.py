"""The library: modules in the language itself, each with a Python twin for its extern functions."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..types import TextForm

AUTO_IMPORTED: tuple[str, ...] = (
    "ddlog_std", "ddlog_rt", "ddlog_bigint", "ddlog_log", "debug", "internment", "group", "vec",
)  # fmt: skip
"""The modules that every program sees, `<name>.dl` in this package."""


def text_form(typedef: str) -> TextForm | None:
    """The form of a type of the library that is written as text, by its qualified name; None for others."""
    from .written import TEXT_FORMS

    return TEXT_FORMS.get(typedef)


def twin(module: str, function: str) -> Callable[..., Any]:
    """The Python function that implements an extern function of a library module.

    Raises LookupError when the module has no Python twin or the twin lacks the function.
    """
    name = f"{__name__}.{module.replace('::', '.')}"
    try:
        found = getattr(import_module(name), function, None)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        found = None
    if found is None:
        raise LookupError(f"no Python function implements {module}::{function}")
    return found  # type: ignore[no-any-return]
