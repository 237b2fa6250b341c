"""Functions as they are declared: their names, their types, and the names of their instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .. import core, syntax
from ..errors.source import Span
from ..types import Type, TypeVar
from ..types.unify import substitute


def readable(text: str) -> str:
    """The text of types without the prefixes of the modules that every program sees."""
    return text.replace("ddlog_std::", "").replace("internment::", "")


@dataclass(frozen=True, slots=True)
class DeclaredSignature:
    """A declared function with its types; `variables` are its type variables in order."""

    name: str
    module: str
    variables: tuple[str, ...]
    parameters: tuple[core.Parameter, ...]
    result: Type
    declaration: syntax.FunctionDecl = field(compare=False, repr=False)
    overloaded: bool

    @property
    def span(self) -> Span:
        """The place of the declared name."""
        return self.declaration.name_span

    def show(self) -> str:
        """The head of the function as text."""
        shown = ", ".join(f"{p.name}: {'mut ' if p.mutable else ''}{p.type}" for p in self.parameters)
        return readable(f"{self.name}({shown}): {self.result}")

    def key(self, types: Sequence[Type]) -> str:
        """The name of the instance for these type arguments."""
        name = f"{self.module}::{self.name}" if self.module else self.name
        if self.variables:
            name += f"<{', '.join(map(str, types))}>"
        if self.overloaded:
            mapping = dict(zip(self.variables, types, strict=True))
            name += f"({', '.join(str(substitute(p.type, mapping)) for p in self.parameters)})"
            name += f": {substitute(self.result, mapping)}"
        return name

    @property
    def shape(self) -> tuple[Type, ...]:
        """The types of the parameters and of the result, whatever the names of type variables. Two functions
        of one name and shape cannot be told apart."""
        numbered: dict[str, Type] = {name: TypeVar(str(i)) for i, name in enumerate(self.variables)}
        return tuple(substitute(each, numbered) for each in (*(p.type for p in self.parameters), self.result))
