"""Extern functions and types of a program: Python functions, with checked results, and classes in the file
beside its `.dl` file.

`extern function f(x: u32): string` in rules.dl is `def f(x)` in rules.py. Arguments come as the values that
sessions give (ints, strings, tuples, `Vec`, `Map`, None for an absent Option, dates of `datetime`, structs
with fields as attributes); a result may be any Python value that a session takes for the type. A function
with `mut` parameters returns its result and then their new values, as one tuple.

The checker only reads the file: `static_problem`. A session executes it: `loading_problems`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MemberDescriptorType
from typing import Any

from .. import errors
from ..core import CheckedProgram, Function
from ..core.pythonfile import PythonClass, PythonFile
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..stdlib.typed import Signature
from ..types import Tuple, Type, TypeDef
from ..values import Fault, TypeDefs, check
from ..values.topython import row_maker


def static_problem(file: PythonFile, name: str, arity: int | None, span: Span) -> Diagnostic | None:
    """The error that the text of a file shows for an extern function of `arity` parameters, or for an extern
    type (None), or None."""
    if file.path is None or file.content is None:
        return _no_file(file, name, arity, span)
    try:
        found = list(_definitions(file.tree.body, name))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _not_loaded(file, name, arity, span, error)
    if not found:
        return _undefined(file, name, arity, span)
    if arity is not None and not _takes(found[-1], arity):
        return errors.modules.ExternArity(span=span, name=name, file=str(file.path), arity=arity)
    return None


def loading_problems(program: CheckedProgram) -> list[Diagnostic]:
    """Executes the Python files of a program. Returns the errors of its extern functions and types."""
    own = [
        each for each in program.functions.values() if each.body is None and each.module in program.externs
    ]
    found = [_loading_problem(program.externs[each.module], each) for each in own]
    classes = (each.extern for each in program.typedefs.values())
    found += [_class_problem(each) for each in classes if isinstance(each, PythonClass)]
    return errors.modules.required(each for each in found if each is not None)


def _class_problem(declared: PythonClass) -> Diagnostic | None:
    file, name, span = declared.file, declared.name, declared.span
    if file.content is None:
        return _no_file(file, name, None, span)
    try:
        found = getattr(file.module, name, None)
    except (Exception, SystemExit) as error:
        return _not_loaded(file, name, None, span, error)
    if found is None:
        return _undefined(file, name, None, span)
    lacks = ", ".join(_lacking(found)) if isinstance(found, type) else "is no class"
    if not lacks:
        return None
    return errors.modules.UnfitClass(span=span, name=name, file=str(file.path), lacks=lacks)


def _lacking(found: type[Any]) -> Iterator[str]:
    """The requirements of values that the objects of a class do not meet, each as a phrase of an error."""
    for name in ("__eq__", "__hash__", "__lt__", "__le__"):
        if getattr(found, name) in (None, getattr(object, name)):
            yield f"has no {name}"
    slots = (part for each in found.__mro__ for part in vars(each).values())
    settable = found.__dictoffset__ != 0 or any(isinstance(each, MemberDescriptorType) for each in slots)
    if settable and vars(object)["__setattr__"] is getattr(found, "__setattr__"):  # noqa: B009
        yield "has attributes that can be set"


def _loading_problem(file: PythonFile, declared: Function) -> Diagnostic | None:
    name, arity, span = declared.name, len(declared.parameters), declared.span
    if file.content is None:
        return _no_file(file, name, arity, span)
    try:
        module = file.module
    except (Exception, SystemExit) as error:
        return _not_loaded(file, name, arity, span, error)
    found = getattr(module, name, None)
    if not callable(found):
        return _undefined(file, name, arity, span)
    try:
        inspect.signature(found).bind(*range(arity))
    except TypeError:
        return errors.modules.ExternArity(span=span, name=name, file=str(file.path), arity=arity)
    except ValueError:  # a function written in C that does not say
        return None
    return None


def _no_file(file: PythonFile, name: str, arity: int | None, span: Span) -> Diagnostic:
    if file.path is None:
        reason, place = "the program is in no file", "a Python file beside the program's"
    else:
        there = "cannot read" if file.path.exists() else "there is no"
        reason, place = f"{there} {file.path}", str(file.path)
    return _absent(name, arity, span, reason, place)


def _undefined(file: PythonFile, name: str, arity: int | None, span: Span) -> Diagnostic:
    return _absent(name, arity, span, f"{file.path} does not define it", str(file.path))


def _absent(name: str, arity: int | None, span: Span, reason: str, file: str) -> Diagnostic:
    kind = errors.modules.AbsentClass if arity is None else errors.modules.AbsentCode
    return kind(span=span, name=name, reason=reason, file=file)


def _not_loaded(
    file: PythonFile, name: str, arity: int | None, span: Span, error: BaseException
) -> Diagnostic:
    reason = f"{file.path} does not load: {type(error).__name__}: {error}"
    return errors.modules.required([_absent(name, arity, span, reason, str(file.path))])[0]


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


def bound_extern(
    implementation: Callable[..., Any], declared: Function, typedefs: Mapping[str, TypeDef]
) -> Any:
    """The implementation for one signature, passed as stdlib/typed.py describes."""
    signature = Signature(tuple(each.type for each in declared.parameters), declared.result, typedefs)
    if getattr(implementation, "specialises", False):
        return implementation(signature)
    if getattr(implementation, "takes_signature", False):
        return partial(implementation, signature=signature)
    return implementation
