"""A whole program without errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

from ..types import TypeDef
from .functions import Function
from .relations import Index, Relation
from .rules import Rule


@dataclass(frozen=True, slots=True)
class Stratum:
    """Relations that depend on each other, and all rules with a head among them."""

    relations: tuple[str, ...]
    recursive: bool
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """A program without errors. `strata` is in dependency order and holds every rule once. `externs` are
    the Python modules that implement the extern functions of its modules, by their names."""

    typedefs: dict[str, TypeDef]
    functions: dict[str, Function]
    relations: dict[str, Relation]
    rules: tuple[Rule, ...]
    strata: tuple[Stratum, ...]
    indexes: dict[str, Index] = field(default_factory=dict)
    externs: Mapping[str, ModuleType] = field(default_factory=dict, compare=False, repr=False, kw_only=True)
