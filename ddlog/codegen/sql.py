"""Expressions as Spark SQL text, in the types of `sqltypes`: those that cannot fault and mean the same there.

Every other expression has no form and runs as Python on the workers. A variable of a pattern or a function is
the text of its value, so an expression that uses a variable often may grow too long to be worth it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import core
from ..core import Expr, Pattern
from ..types import BigInt, Bit, Float, Signed, Type
from ..values import TypeDefs
from . import sqlnumbers
from .analysis import bound_in, folded
from .functiontable import Functions
from .sqllibrary import LIBRARY
from .sqlnumbers import NoSqlForm, NumberText
from .sqltypes import integer_type, is_ordered, is_union, spark_type
from .sqlvalues import constant, field, field_texts, record, stored_cases, string, to_string

Bindings = Mapping[str, NumberText]

MAX_LENGTH = 20_000  # characters of an expression; a longer one is left to Python
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class SqlWriter:
    """Writes the SQL of one expression."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.typedefs: TypeDefs = functions.typedefs
        self.calls: list[str] = []

    def stored(self, expr: Expr, env: Bindings) -> str:
        """The text of an expression's value as it is stored."""
        return sqlnumbers.stored(self.value(expr, env), expr.type)

    def overflowing(self, expr: Expr, env: Bindings) -> str:
        """The text of an operation on bigints whose operands have forms; null where that is too long."""
        match expr:
            case core.Op("+" | "-" | "*" as op, (left, right), BigInt()):
                text = f"({self.stored(left, env)} {op} {self.stored(right, env)})"
                return f"CAST({text} AS {integer_type(BigInt())})"
        raise NoSqlForm

    def value(self, expr: Expr, env: Bindings, tail: Type | None = None) -> NumberText:
        """An expression's value. `tail` is the type of a function's result where the expression is what the
        function gives, so that `return` may stand there."""
        found = self._value(folded(expr), env, tail)
        if len(found.text) > MAX_LENGTH:
            raise NoSqlForm
        return found

    def _value(self, expr: Expr, env: Bindings, tail: Type | None) -> NumberText:
        match expr:
            case core.Const(value, type):
                return NumberText(self._constant(value, type), bounds=_exactly(value, type))
            case core.Var(name):
                if name not in env:
                    raise NoSqlForm
                return env[name]
            case core.Op(op, args, type):
                return self.operation(op, args, type, env)
            case core.Cast(arg, type):
                return sqlnumbers.cast(self.value(arg, env), arg.type, type)
            case core.Slice(arg, high, low):
                return sqlnumbers.slice_of(self.value(arg, env), arg.type, high, low)
            case core.MakeTuple(items, type):
                return self._record(type, 0, items, env)
            case core.MakeStruct(constructor, args, type):
                return self._record(type, constructor.index, args, env)
            case core.GetField(arg, name):
                return NumberText(field(self.value(arg, env).text, arg.type, name, self.typedefs))
            case core.GetItem(arg, index):
                return NumberText(self._fields(self.value(arg, env).text, arg.type)[index])
            case core.If(condition, then, otherwise, type):
                yes, no = self.value(then, env, tail), self.value(otherwise, env, tail)
                return self.choice(self.stored(condition, env), yes, no, tail or type)
            case core.Match(arg, arms, type):
                return self.match(self.value(arg, env), arg.type, list(arms), tail or type, env, tail)
            case core.Block(items):
                return self.block(items, env, tail)
            case core.Return(value) if tail is not None:
                return self.value(value, env, tail)
            case core.Call(function, args):
                return self.call(function, args, env)
        raise NoSqlForm

    # -------------------------------------------------------------- operators

    def operation(self, op: str, args: tuple[Expr, ...], type: Type, env: Bindings) -> NumberText:
        """An operator."""
        if op in _COMPARISONS:
            return NumberText(self.comparison(op, args[0], args[1], env))
        values = [self.value(each, env) for each in args]
        texts = [each.text for each in values]
        match op:
            case "not":
                return NumberText(f"(NOT {texts[0]})")
            case "and" | "or":
                return NumberText(f"({texts[0]} {op.upper()} {texts[1]})")
            case "=>":
                return NumberText(f"(NOT {texts[0]} OR {texts[1]})")
            case "concat":
                return NumberText(f"concat({', '.join(texts)})")
            case "++":
                return sqlnumbers.joined(values[0], values[1], args[1].type, type)
        known = folded(args[-1])
        constant = known.value if isinstance(known, core.Const) else None
        if isinstance(type, Float):
            return NumberText(sqlnumbers.floating(op, texts, type, constant))
        if not isinstance(type, Bit | Signed | BigInt):
            raise NoSqlForm
        if op in ("/", "%"):
            if not constant:
                raise NoSqlForm
            return sqlnumbers.division(op, values[0], constant, type)
        if op in ("<<", ">>"):
            return sqlnumbers.shift(op, values[0], values[1], constant, type)
        return sqlnumbers.arithmetic(op, values, type)

    def comparison(self, op: str, left: Expr, right: Expr, env: Bindings) -> str:
        """A comparison; an order only where Spark has the same."""
        type = left.type
        if op not in ("==", "!=") and not is_ordered(type, self.typedefs):
            raise NoSqlForm
        return self.compared(op, self.value(left, env), self.value(right, env), type)

    def compared(self, op: str, left: NumberText, right: NumberText, type: Type) -> str:
        """A comparison of values."""
        if (left.machine or right.machine) and type != Bit(64):
            a, b = sqlnumbers.machine(left), sqlnumbers.machine(right)
        else:
            a, b = sqlnumbers.stored(left, type), sqlnumbers.stored(right, type)
        return f"({a} {'=' if op == '==' else '<>' if op == '!=' else op} {b})"

    def choice(self, test: str, yes: NumberText, no: NumberText, type: Type) -> NumberText:
        """One value or the other by a test."""
        bounds = None
        if isinstance(type, Bit | Signed | BigInt):
            one, other = sqlnumbers.bounds_of(yes, type), sqlnumbers.bounds_of(no, type)
            bounds = min(one[0], other[0]), max(one[1], other[1])
        if yes.machine and no.machine:
            return NumberText(f"CASE WHEN {test} THEN {yes.text} ELSE {no.text} END", True, bounds)
        a, b = sqlnumbers.stored(yes, type), sqlnumbers.stored(no, type)
        return NumberText(f"CASE WHEN {test} THEN {a} ELSE {b} END", False, bounds)

    # ----------------------------------------------------- structs and matches

    def _record(self, type: Type, number: int, fields: tuple[Expr, ...], env: Bindings) -> NumberText:
        return NumberText(record(type, number, [self.stored(each, env) for each in fields], self.typedefs))

    def _constant(self, value: Any, type: Type) -> str:
        return constant(value, type, self.typedefs)

    def _fields(self, text: str, type: Type, number: int = 0) -> list[str]:
        return field_texts(text, type, number, self.typedefs)

    def match(
        self,
        subject: NumberText,
        of: Type,
        arms: list[tuple[Pattern, Expr]],
        type: Type,
        env: Bindings,
        tail: Type | None,
    ) -> NumberText:
        """The value of the first arm that matches; the last one always does."""
        (pattern, body), *others = arms
        bound = dict(env)
        tests = self.pattern(pattern, subject, of, bound)
        found = self.value(body, bound, tail)
        if not others or not tests:
            return found
        rest = self.match(subject, of, others, type, env, tail)
        return self.choice(" AND ".join(tests), found, rest, type)

    def pattern(
        self, pattern: Pattern, subject: NumberText, of: Type, env: dict[str, NumberText]
    ) -> list[str]:
        """The conditions under which a pattern matches; its variables go to `env`."""
        match pattern:
            case core.VarPattern(name, _, inner):
                env[name] = subject
                return self.pattern(inner, subject, of, env) if inner is not None else []
            case core.ConstPattern(value, type):
                return [self.compared("==", subject, NumberText(self._constant(value, type)), type)]
            case core.TuplePattern(items, type):
                return self._all(items, self._fields(subject.text, type), env)
            case core.StructPattern(constructor, args, type):
                case, tests = stored_cases(type, self.typedefs)[constructor.index], []
                if is_union(type, self.typedefs):
                    tests = [f"(({subject.text}).`tag` = {string(case.tag)})"]
                return tests + self._all(args, self._fields(subject.text, type, constructor.index), env)
        return []

    def _all(self, patterns: tuple[Pattern, ...], parts: list[str], env: dict[str, NumberText]) -> list[str]:
        tests: list[str] = []
        for each, part in zip(patterns, parts, strict=True):
            tests += self.pattern(each, NumberText(part), each.type, env)
        return tests

    # ---------------------------------------------------- blocks and functions

    def block(self, items: tuple[Expr, ...], env: Bindings, tail: Type | None) -> NumberText:
        """Declarations of variables, and a value; in a function, `if (c) return x` between them."""
        inner, own = dict(env), set[str]()
        for at, each in enumerate(items[:-1]):
            match each:
                case core.Declare(pattern, value):
                    self.pattern(pattern, self.value(value, inner), value.type, inner)
                    own.update(bound_in(pattern))
                case core.Assign(core.Var(name), value) if name in own:
                    inner[name] = self.value(value, inner)
                case core.Call(function, (core.Var(name), value)) if name in own and self.is_push(function):
                    inner[name] = NumberText(f"array_append({inner[name].text}, {self.stored(value, inner)})")
                case core.If(condition, then, core.MakeTuple(())) if tail is not None and _returns(then):
                    yes = self.value(then, inner, tail)
                    no = self.block(items[at + 1 :], inner, tail)
                    return self.choice(self.stored(condition, inner), yes, no, tail)
                case _:
                    raise NoSqlForm
        if not items or isinstance(items[-1], core.Declare):
            return NumberText("true")
        return self.value(items[-1], inner, tail)

    def call(self, key: str, args: tuple[Expr, ...], env: Bindings) -> NumberText:
        """A library function that Spark has, or the body of a function in place of its call."""
        function = self.functions.functions[key]
        if key in self.calls or any(each.mutable for each in function.parameters):
            raise NoSqlForm
        given = [self.value(each, env) for each in args]
        if function.body is None:
            texts = [sqlnumbers.stored(v, each.type) for v, each in zip(given, args, strict=True)]
            return self.library(function, texts)
        self.calls.append(key)
        inner = {each.name: value for each, value in zip(function.parameters, given, strict=True)}
        result = self.value(function.body, inner, function.result)
        self.calls.pop()
        return result

    def is_push(self, key: str) -> bool:
        """Whether the function is `vec_push` of the library: vectors in brackets are made with it."""
        function = self.functions.functions[key]
        return (function.module, function.name) == ("ddlog_std", "vec_push")

    def library(self, function: core.Function, texts: list[str]) -> NumberText:
        """A call of a function written in Python that Spark can compute too."""
        types = [each.type for each in function.parameters]
        if function.name == "__builtin_2string":
            return NumberText(to_string(texts[0], types[0]))
        form = LIBRARY.get((function.module, function.name))
        if form is None or (form.sorts and not all(is_ordered(each, self.typedefs) for each in types)):
            raise NoSqlForm
        result = spark_type(function.result, self.typedefs)
        text = form.text.format(*texts, result=result)
        return NumberText(f"CAST({text} AS BIGINT)", machine=True) if form.counts else NumberText(text)


def _exactly(value: Any, type: Type) -> tuple[int, int] | None:
    return (value, value) if isinstance(type, Bit | Signed | BigInt) else None


def _returns(expr: Expr) -> bool:
    """Whether a statement always ends its function."""
    match expr:
        case core.Return():
            return True
        case core.Block(items):
            return bool(items) and _returns(items[-1])
    return False
