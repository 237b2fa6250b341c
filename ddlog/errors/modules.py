"""Errors about modules and imports."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class UnknownModule(Diagnostic):
    """A name whose prefix is not an imported module."""

    title: ClassVar[str] = "Unknown module {name}.  Did you forget to import it?"
    name: str


@declared(kw_only=True)
class Ambiguous(Diagnostic):
    """A name that several of the modules declare which are imported without a prefix, or with its prefix."""

    title: ClassVar[str] = "`{name}` is ambiguous: it is declared in {where}"
    suggestion: ClassVar[str] = "write `{first}::{last}`, or import one of them `as` another name"
    name: str
    modules: tuple[str, ...]

    @property
    def where(self) -> str:
        """The names of the modules, as a list in words."""
        return " and in ".join(self.modules)

    @property
    def last(self) -> str:
        """The name without its prefix."""
        return self.name.rpartition("::")[2]

    @property
    def first(self) -> str:
        """The name of the first module."""
        return self.modules[0]


@declared(kw_only=True)
class NoSuchModule(Diagnostic):
    """An import of a module that has no file."""

    title: ClassVar[str] = "there is no module {name}"
    suggestion: ClassVar[str] = "looked for {file} in {places}"
    name: str
    file: str
    places: str


@declared(kw_only=True)
class SeveralModules(Diagnostic):
    """An import of a module that has several files."""

    title: ClassVar[str] = "module {name} has several files: {files}"
    suggestion: ClassVar[str] = (
        "keep one: the folder of the program and the folders of -L must not share a module"
    )
    name: str
    files: str


@declared(kw_only=True)
class UnreadableModule(Diagnostic):
    """A module whose file cannot be read."""

    title: ClassVar[str] = "cannot read module {name}: {reason}"
    name: str
    reason: str


@declared(kw_only=True)
class NoExternFile(Diagnostic):
    """An extern function without a Python file, or with one that does not load."""

    title: ClassVar[str] = "extern function `{name}` has no Python code: {reason}"
    suggestion: ClassVar[str] = "write `def {name}(...)` in {file}"
    name: str
    reason: str
    file: str


@declared(kw_only=True)
class NoExtern(Diagnostic):
    """An extern function that its Python file does not define."""

    title: ClassVar[str] = "{file} has no function `{name}`"
    suggestion: ClassVar[str] = "write `def {name}(...)` there"
    name: str
    file: str


@declared(kw_only=True)
class ExternArity(Diagnostic):
    """A Python function that cannot be called with the arguments of its declaration."""

    title: ClassVar[str] = "`{name}` of {file} cannot be called with {arity} arguments, as declared here"
    name: str
    file: str
    arity: int


@declared(kw_only=True)
class ExternOverloaded(Diagnostic):
    """An extern function with the name of another function."""

    title: ClassVar[str] = (
        "Extern function '{name}' clashes with another function. Only non-extern functions can be overloaded"
    )
    name: str
