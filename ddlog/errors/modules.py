"""Errors about modules and imports."""

from __future__ import annotations

from collections.abc import Iterable

from .diagnostics import Diagnostic


class UnknownModule(Diagnostic):
    """A name whose prefix is not an imported module."""

    title = "Unknown module {name}.  Did you forget to import it?"
    name: str


class Ambiguous(Diagnostic):
    """A name that several of the modules declare which are imported without a prefix, or with its prefix."""

    title = "`{name}` is ambiguous: it is declared in {where}"
    suggestion = "write `{first}::{last}`, or import one of them `as` another name"
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


class NoSuchModule(Diagnostic):
    """An import of a module that has no file."""

    title = "there is no module {name}"
    suggestion = "{near}looked for {file} in {places}"
    name: str
    near: str
    file: str
    places: str


class SeveralModules(Diagnostic):
    """An import of a module that has several files."""

    title = "module {name} has several files: {files}"
    suggestion = "keep one: the folder of the program and the folders of -L must not share a module"
    name: str
    files: str


class HalfModule(Diagnostic):
    """An import of a module that another installation left in a folder, without its extern functions."""

    severity = "warning"
    title = "module {name} is the one of the library: {file} has extern functions without Python"
    suggestion = "remove {file}, or write its extern functions beside it"
    name: str
    file: str


class UnreadableModule(Diagnostic):
    """A module whose file cannot be read."""

    title = "cannot read module {name}: {reason}"
    name: str
    reason: str


class AbsentCode(Diagnostic):
    """An extern function without Python code: a program can be checked without it, but does not run."""

    severity = "warning"
    title = "extern function `{name}` has no Python code: {reason}"
    suggestion = "write `def {name}(...)` in {file}"
    name: str
    reason: str
    file: str


class MissingCode(AbsentCode):
    """An extern function whose Python code does not load, or is needed and absent."""

    severity = "error"


class AbsentClass(AbsentCode):
    """An extern type without a Python class: a program can be checked without it, but does not run."""

    title = "extern type `{name}` has no Python class: {reason}"
    suggestion = "write `class {name}` in {file}"


class MissingClass(AbsentClass):
    """An extern type whose Python class does not load, or is needed and absent."""

    severity = "error"


class UnfitClass(Diagnostic):
    """A Python class whose objects cannot be values of an extern type."""

    title = "class {name} of {file} cannot be an extern type: it {lacks}"
    suggestion = (
        "values are immutable, hashable and ordered, as those of `@dataclass(frozen=True, order=True)`"
    )
    name: str
    file: str
    lacks: str


class ExternArity(Diagnostic):
    """A Python function that cannot be called with the arguments of its declaration."""

    title = "`{name}` of {file} cannot be called with {arity} arguments, as declared here"
    name: str
    file: str
    arity: int


class ExternOverloaded(Diagnostic):
    """An extern function with the name of another function."""

    title = (
        "Extern function '{name}' clashes with another function. Only non-extern functions can be overloaded"
    )
    name: str


def required(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, with errors in place of the warnings that Python code is absent."""
    return [
        (MissingClass if isinstance(each, AbsentClass) else MissingCode)(
            span=each.span, name=each.name, reason=each.reason, file=each.file
        )
        if isinstance(each, AbsentCode)
        else each
        for each in diagnostics
    ]
