"""Functions: an instance for each choice of types that a program calls one with."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors.source import Span
from ..types import Type
from .expressions import Expr, Parameter


@dataclass(frozen=True, slots=True)
class Function:
    """One instance of a function. `key` is unique, e.g. `ddlog_std::map_get<string, bigint>`.

    `body` is None for an extern function, implemented in Python by `module`'s function `name`
    (`name` unqualified). `effects` says that an attribute gives it side effects.
    """

    key: str
    module: str
    name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: Expr | None
    span: Span = field(compare=False, repr=False)
    effects: bool = False
