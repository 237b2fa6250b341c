"""Extern functions of a program: Python functions in the file beside its `.dl` file, with checked results.

`extern function f(x: u32): string` in rules.dl is `def f(x)` in rules.py. Arguments come as the values that
sessions give (ints, strings, tuples, `Vec`, `Map`, None for an absent Option, dates of `datetime`, structs
with fields as attributes); a result may be any Python value that a session takes for the type. A function
with `mut` parameters returns its result and then their new values, as one tuple.

The checker only reads the file: `static_problem`. A session executes it: `loading_problems`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import errors
from ..core import CheckedProgram, Function
from ..core.pythonfile import PythonFile
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..types import Tuple, Type
from ..values import Fault, TypeDefs, check
from ..values.topython import row_maker


def static_problem(file: PythonFile, name: str, arity: int, span: Span) -> Diagnostic | None:
    """The error that the text of a file shows for an extern function of `arity` parameters, or None."""
    if file.path is None or file.content is None:
        return _no_file(file, name, span)
    try:
        found = list(_definitions(file.tree.body, name))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _not_loaded(file, name, span, error)
    if not found:
        return _no_function(file, name, span)
    if not _takes(found[-1], arity):
        return errors.modules.ExternArity(span=span, name=name, file=str(file.path), arity=arity)
    return None


def loading_problems(program: CheckedProgram) -> list[Diagnostic]:
    """Executes the Python files of a program. Returns the errors of its extern functions."""
    own = [
        each for each in program.functions.values() if each.body is None and each.module in program.externs
    ]
    found = (_loading_problem(program.externs[each.module], each) for each in own)
    return errors.modules.required(each for each in found if each is not None)


def _loading_problem(file: PythonFile, declared: Function) -> Diagnostic | None:
    name, arity, span = declared.name, len(declared.parameters), declared.span
    if file.content is None:
        return _no_file(file, name, span)
    try:
        module = file.module
    except (Exception, SystemExit) as error:
        return _not_loaded(file, name, span, error)
    found = getattr(module, name, None)
    if not callable(found):
        return _no_function(file, name, span)
    try:
        inspect.signature(found).bind(*range(arity))
    except TypeError:
        return errors.modules.ExternArity(span=span, name=name, file=str(file.path), arity=arity)
    except ValueError:  # a function written in C that does not say
        return None
    return None


def _no_file(file: PythonFile, name: str, span: Span) -> Diagnostic:
    if file.path is None:
        reason, place = "the program is in no file", "a Python file beside the program's"
    else:
        there = "cannot read" if file.path.exists() else "there is no"
        reason, place = f"{there} {file.path}", str(file.path)
    return errors.modules.AbsentCode(span=span, name=name, reason=reason, file=place)


def _no_function(file: PythonFile, name: str, span: Span) -> Diagnostic:
    reason = f"{file.path} does not define it"
    return errors.modules.AbsentCode(span=span, name=name, reason=reason, file=str(file.path))


def _not_loaded(file: PythonFile, name: str, span: Span, error: BaseException) -> Diagnostic:
    reason = f"{file.path} does not load: {type(error).__name__}: {error}"
    return errors.modules.MissingCode(span=span, name=name, reason=reason, file=str(file.path))


def _definitions(body: Iterable[ast.stmt], name: str) -> Iterator[ast.stmt]:
    """The statements at the top level of a file, and inside its conditions, that may define a name."""
    for each in body:
        if _defines(each, name):
            yield each
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _definitions(getattr(each, part, ()), name)


def _defines(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return statement.name == name
        case ast.Import(names) | ast.ImportFrom(names=names):
            given = (each.asname or each.name.partition(".")[0] for each in names)
            return any(each in ("*", name) for each in given)
    return any(isinstance(each, ast.Name) and each.id == name for each in _targets(statement))


def _targets(statement: ast.stmt) -> Iterator[ast.AST]:
    """The names that a statement other than a definition assigns to."""
    for each in ast.iter_child_nodes(statement):
        if not isinstance(each, ast.stmt):
            yield from (node for node in ast.walk(each) if isinstance(getattr(node, "ctx", None), ast.Store))


def _takes(statement: ast.stmt, arity: int) -> bool:
    """Whether the function that a statement defines may take `arity` arguments."""
    if not isinstance(statement, ast.FunctionDef) or statement.decorator_list:
        return True
    given = statement.args
    most = len(given.posonlyargs) + len(given.args)
    needed = any(default is None for default in given.kw_defaults)
    return not needed and most - len(given.defaults) <= arity and (arity <= most or given.vararg is not None)


def checked(implementation: Callable[..., Any], declared: Function, typedefs: TypeDefs) -> Callable[..., Any]:
    """The implementation with arguments as Python has them, and with its results checked. An exception that
    it raises, or a result of another type, becomes a Fault."""
    changed = [each.type for each in declared.parameters if each.mutable]
    result: Type = Tuple((declared.result, *changed)) if changed else declared.result
    given = row_maker([each.type for each in declared.parameters], typedefs)

    def call(*args: Any) -> Any:
        try:
            value = implementation(*given(args))
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
