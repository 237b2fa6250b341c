"""Extern functions of a program: Python functions in the file beside its `.dl` file, with checked results.

`extern function f(x: u32): string` in rules.dl is `def f(x)` in rules.py. Arguments come as the values that
sessions give (ints, strings, tuples, `Vec`, `Map`, structs with fields as attributes); a result may be any
Python value that a session takes for the type. A function with `mut` parameters returns its result and then
their new values, as one tuple.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from .. import errors
from ..core import Function
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..types import Tuple, Type
from ..values import Fault, TypeDefs, check


def load_externs(path: Path) -> ModuleType:
    """The Python module beside a `.dl` file, executed. Raises FileNotFoundError or an error of the module."""
    file = path.with_suffix(".py")
    if not file.is_file():
        raise FileNotFoundError(file)
    name = f"ddlog_externs_{path.stem}"
    spec = spec_from_file_location(name, file, loader=_FromText(name, str(file)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _FromText(SourceFileLoader):
    """Compiles a module's text each time: kept bytecode is taken for a text of the same size and second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def problem(module: ModuleType, file: str, name: str, arity: int, span: Span) -> Diagnostic | None:
    """The error in the implementation of an extern function with `arity` parameters, or None."""
    found = getattr(module, name, None)
    if not callable(found):
        return errors.modules.NoExtern(span=span, name=name, file=file)
    try:
        inspect.signature(found).bind(*range(arity))
    except TypeError:
        return errors.modules.ExternArity(span=span, name=name, file=file, arity=arity)
    except ValueError:  # a function written in C that does not say
        return None
    return None


def checked(implementation: Callable[..., Any], declared: Function, typedefs: TypeDefs) -> Callable[..., Any]:
    """The implementation with its results checked. An exception that it raises, or a result of another type,
    becomes a Fault."""
    changed = [each.type for each in declared.parameters if each.mutable]
    result: Type = Tuple((declared.result, *changed)) if changed else declared.result

    def call(*args: Any) -> Any:
        try:
            value = implementation(*args)
        except Fault:
            raise
        except Exception as error:
            raise Fault(f"extern function {declared.name}: {type(error).__name__}: {error}") from None
        if value is None and not changed and result == Tuple(()):
            return ()
        try:
            return check(value, result, typedefs)
        except ValueError as error:
            raise Fault(f"extern function {declared.name} returned {value!r}: {error}") from None

    return call
