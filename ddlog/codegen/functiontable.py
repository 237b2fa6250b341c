"""The table of a program's functions: Python functions, each written and compiled at its first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from typing import Any

from .. import core, stdlib
from ..core import CheckedProgram, Expr, Parameter
from ..core.walk import called
from ..engine import memory
from ..engine.schema import Deferred
from ..stdlib.options import item
from ..syntax.stackroom import deep_recursion
from ..types import CLOSURE, Constructor, Type, User
from ..values import (
    NAN,
    Fault,
    FunctionValue,
    Map,
    Set,
    Vec,
    canonical_float,
    closure_class,
    holds_function,
    int_to_double,
    int_to_single,
    local_name,
    make,
    single,
    struct_class,
)
from . import support
from .analysis import free_variables
from .arraykeys import ArrayKeys
from .programexterns import bound_extern, checked
from .statements import FunctionWriter

RECURSION_DEPTH = 10_000  # calls in each other that functions of programs may make

_SUPPORT: dict[str, Any] = {
    "__name__": "<generated>",  # a pickler of code searches all modules for a function of none
    "_new": tuple.__new__,
    "_NAN": NAN,
    "_canonical": canonical_float,
    "_single": single,
    "_int_to_double": int_to_double,
    "_int_to_single": int_to_single,
    "_by_zero": support.by_zero,
    "_divide": support.divide,
    "_remainder": support.remainder,
    "_multiply": support.multiply,
    "_shift_left": support.shift_left,
    "_float_divide": support.float_divide,
    "_single_divide": support.single_divide,
    "_float_remainder": support.float_remainder,
    "_replaced": support.replaced,
    "_Vec": Vec,
    "_Set": Set,
    "_Map": Map,
    "_check_memory": memory.check,
    "_extended": support.extended,
    "_held": support.held,
    "_item": item,
    "_concatenated": support.concatenated,
    "_field": support.field,
    "_field_index": support.field_index,
}


class Functions:
    """The function table of a program: `functions[key]` is the Python function of an instance.

    A function with `mut` parameters returns its result followed by their final values.
    """

    def __init__(self, program: CheckedProgram) -> None:
        self.array_keys = ArrayKeys(program.array_keys, lambda key: Deferred(partial(self.__getitem__, key)))
        self.typedefs = self.array_keys.typedefs(program.typedefs)
        self.externs = program.externs
        self.functions = dict(program.functions)
        self.functions |= {
            each.key.key: each.key for each in program.relations.values() if each.key is not None
        }
        self._any_effects = any(each.effects for each in self.functions.values())
        self._scope: dict[str, Any] = dict(_SUPPORT)
        self._numbers = count()
        self._names: dict[str, str] = {}
        self._classes: dict[tuple[str, str], tuple[str, bool]] = {}
        self._pending: list[str] = []
        self._holding: dict[Type, bool] = {}
        self._closures: dict[str, str] = {}
        self._unmade: list[tuple[str, str, str]] = []
        self._recursive: dict[str, bool] = {}

    def __getitem__(self, key: str) -> Callable[..., Any]:
        name = self.function(key)
        self._compile_pending()
        found: Callable[..., Any] = self._scope[name]
        return guarded(found) if self.recursive(key) else found

    def closures(self, key: str) -> type[FunctionValue]:
        """The class of the closures that call a function."""
        name, _ = self.closure(key)
        self._compile_pending()
        found: type[FunctionValue] = self._scope[name]
        return found

    def compile(self, inputs: Iterable[str], body: Expr) -> Callable[..., Any]:
        """The Python function of an expression, given the variables that are its parameters."""
        self._execute(FunctionWriter(self, tuple(inputs), (), body).source("expression"))
        self._compile_pending()
        found: Callable[..., Any] = self._scope.pop("expression")
        return guarded(found) if any(map(self.recursive, self._reached(body))) else found

    def deferred(self, inputs: Iterable[str], body: Expr) -> Callable[..., Any]:
        """The function that `compile` returns, compiled at its first call: most expressions of a large
        program are computed by array code or meet no rows."""
        return Deferred(partial(self.compile, tuple(inputs), body))

    def source(self, key: str) -> str:
        """The Python text that a function is compiled to."""
        declared = self.functions[key]
        assert declared.body is not None
        mutable = [each.name for each in declared.parameters if each.mutable]
        names = [each.name for each in declared.parameters]
        captured = self._captured(key)
        return FunctionWriter(self, names, mutable, declared.body, captured, True).source(self.function(key))

    def recursive(self, key: str) -> bool:
        """Whether a call of a function can reach one that calls itself, directly or by other functions."""
        found, waiting = self._recursive, [key] if key not in self._recursive else []
        while waiting:
            body = self.functions[waiting[-1]].body
            inner = called(body) if body is not None else set()
            if waiting[-1] not in found:
                found[waiting[-1]] = True  # until all that it calls is known
                waiting += [each for each in inner if each not in found]
            else:
                found[waiting.pop()] = any(found[each] for each in inner)
        return found[key]

    def effects(self, expr: Expr) -> bool:
        """Whether the evaluation of an expression may call a function with side effects."""
        return self._any_effects and any(each.effects for each in self._all_reached(expr))

    def foreign(self, expr: Expr) -> bool:
        """Whether the evaluation of an expression may call a function in the Python file of a module."""
        return bool(self.externs) and any(
            each.body is None and each.module in self.externs for each in self._all_reached(expr)
        )

    def _all_reached(self, expr: Expr) -> Iterator[core.Function]:
        """The functions that the evaluation of an expression may call, directly or from other functions."""
        waiting, seen = list(self._reached(expr)), set[str]()
        while waiting:
            key = waiting.pop()
            if key not in seen:
                seen.add(key)
                yield self.functions[key]
                body = self.functions[key].body
                waiting += called(body) if body is not None else ()

    def _reached(self, expr: Expr) -> set[str]:
        """The keys of the functions that an expression may call: of any closure if one is in its inputs."""
        found = called(expr)
        if any(map(self._holds_function, free_variables(expr).values())):
            found |= {key for key in self.functions if key.startswith(CLOSURE)}
        return found

    def _holds_function(self, type: Type) -> bool:
        found = self._holding.get(type)
        if found is None:
            found = self._holding[type] = holds_function(type, self.typedefs)
        return found

    # ------------------------------------------- names, for FunctionWriter

    def constant(self, value: Any) -> str:
        name = f"constant_{next(self._numbers)}"
        self._scope[name] = value
        return name

    def function(self, key: str) -> str:
        """The name of a function; it is compiled before anything runs."""
        key = self._forwarded(key)
        name = self._names.get(key)
        if name is None:
            declared = self.functions[key]
            plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in declared.name)
            name = self._names[key] = f"{plain}_{len(self._names)}"
            self._pending.append(key)
        return name

    def closure(self, key: str) -> tuple[str, str]:
        name = self._closures.get(key)
        if name is None:
            name = self._closures[key] = f"closure_{len(self._closures)}"
            self._unmade.append((name, key, self.function(key)))
        return name, repr(key)

    def parameters(self, key: str) -> tuple[Parameter, ...]:
        return self.functions[key].parameters

    def library(self, key: str) -> str:
        seen = {key}
        while (to := self._handed_on(key)) is not None and to not in seen:
            seen.add(key := to)
        declared = self.functions[key]
        return f"{declared.module}::{declared.name}" if declared.body is None else ""

    def struct(self, type: Type, constructor: Constructor) -> tuple[str, bool]:
        assert isinstance(type, User)
        found = self._classes.get((type.name, constructor.name))
        if found is None:
            typedef = self.typedefs[type.name]
            union = len(typedef.constructors) > 1
            cls = struct_class(typedef.name, typedef.constructors[constructor.index], union)
            found = self.constant(cls), union
            self._classes[type.name, constructor.name] = found
        return found

    def field_places(self, type: Type, name: str) -> set[int]:
        assert isinstance(type, User)
        constructors = self.typedefs[type.name].constructors
        offset = 1 if len(constructors) > 1 else 0
        found = set()
        for each in constructors:
            found |= {i + offset for i, (field, _) in enumerate(each.fields) if field == name}
        return found

    def option_none(self, type: Type) -> str:
        assert isinstance(type, User)
        typedef = self.typedefs[type.name]
        empty = next(each for each in typedef.constructors if local_name(each.name) == "None")
        return self.constant(make(typedef, empty, ()))

    # -------------------------------------------------------------- compiling

    def _forwarded(self, key: str) -> str:
        """The function that does the work, when this one only hands its parameters on."""
        seen = {key}
        while not self._captured(key) and not any(each.mutable for each in self.functions[key].parameters):
            to = self._handed_on(key)
            if to is None or to in seen:
                break
            seen.add(key := to)
        return key

    def _handed_on(self, key: str) -> str | None:
        """The function that a function calls with all of its parameters, if it does nothing else."""
        declared = self.functions[key]
        body = declared.body
        if isinstance(body, core.Block) and len(body.items) == 1:
            body = body.items[0]
        if not isinstance(body, core.Call):
            return None
        given = [each.name if isinstance(each, core.Var) else None for each in body.args]
        return body.function if given == [each.name for each in declared.parameters] else None

    def _captured(self, key: str) -> int:
        """The number of parameters of a function that are the items of a closure, its first argument then."""
        return len(self.typedefs[key].constructors[0].fields) if key.startswith(CLOSURE) else 0

    def _compile_pending(self) -> None:
        while self._pending:
            key = self._pending.pop()
            if self.functions[key].body is None:
                self._scope[self._names[key]] = self._extern(key)
            else:
                self._execute(self.source(key))
        for name, key, function in self._unmade:
            call, text = self._scope[function], self.typedefs[key].constructors[0].name
            self._scope[name] = closure_class(text, call if self._captured(key) else staticmethod(call))
        self._unmade.clear()

    def _extern(self, key: str) -> Any:
        declared = self.functions[key]
        if declared.module in self.externs:
            implementation = getattr(self.externs[declared.module].module, declared.name)
            return checked(implementation, declared, self.typedefs)
        found = stdlib.twin(declared.module, declared.name)
        return bound_extern(found, declared, self.typedefs)

    def _execute(self, source: str) -> None:
        exec(compile(source, "<generated>", "exec"), self._scope)


def compile_function_table(program: CheckedProgram) -> Functions:
    """The functions of a program, among them those of the primary keys, compiled on first use."""
    return Functions(program)


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with endless recursion as a fault."""

    def limited(*args: Any) -> Any:
        try:
            with deep_recursion(RECURSION_DEPTH):
                return function(*args)
        except RecursionError:
            raise Fault("functions call each other too deep") from None

    return limited
