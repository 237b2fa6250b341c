"""Expressions as text on one line, with parentheses only where they are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

from ... import syntax as ast
from ..operators import ORDERINGS, PRECEDENCE
from .types import result_text, type_text

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}

# How tightly an expression binds: an assignment, `if` and its like, the binary operators, a prefix, a cast.
ANY, VALUE = -2, -1
PREFIX = len(PRECEDENCE)
CAST, POSTFIX = PREFIX + 1, PREFIX + 2


def expression_text(expr: ast.Expr, level: int = ANY) -> str:
    """An expression where nothing may stand that binds less tightly than `level`."""
    text = _text(expr)
    return text if _level(expr) >= level else f"({text})"


def _level(expr: ast.Expr) -> int:
    match expr:
        case ast.Assign():
            return ANY
        case ast.If() | ast.For() | ast.Return() | ast.Closure():
            return VALUE
        case ast.Binary(op):
            return PRECEDENCE[op]
        case ast.Unary() | ast.Binding():
            return PREFIX
        case ast.IntLit(value) | ast.FloatLit(value):
            return PREFIX if value < 0 else POSTFIX
        case ast.Cast():
            return CAST
    return POSTFIX


def _list(exprs: Iterable[ast.Expr]) -> str:
    return ", ".join(expression_text(each) for each in exprs)


def _text(expr: ast.Expr) -> str:
    match expr:
        case ast.Name(name):
            return name
        case ast.Wildcard():
            return "_"
        case ast.VarDecl(name):
            return f"var {name}"
        case ast.BoolLit(value):
            return "true" if value else "false"
        case ast.IntLit(value, width, signed):
            return _integer(value, width, signed)
        case ast.FloatLit(value, width):
            return _float(value, width)
        case ast.StringLit(value):
            return string_text(value)
        case ast.Interpolated(parts):
            return f'"{"".join(map(_spliced, parts))}"'
        case ast.Interned(value):
            return f"i{_text(value)}"
        case ast.VectorLit(items):
            return f"[{_list(items)}]"
        case ast.MapLit(pairs):
            entries = (f"{expression_text(key)} -> {expression_text(value)}" for key, value in pairs)
            return f"[{', '.join(entries)}]"
        case ast.TupleExpr(items):
            return f"({_list(items)})"
        case ast.Struct(constructor, args):
            return constructor if args is None else f"{constructor}{{{arguments_text(args)}}}"
        case ast.Closure(parameters, result, body):
            shown = ", ".join(map(_parameter, parameters))
            return f"|{shown}|{result_text(result)} {expression_text(body)}"
        case ast.Unary(op, arg):
            return f"{op}{' ' if op == 'not' else ''}{expression_text(arg, PREFIX)}"
        case ast.Binary(op, left, right):
            own = PRECEDENCE[op]
            first = expression_text(left, own + (op in ORDERINGS))
            return f"{first} {op} {expression_text(right, own + 1)}"
        case ast.Assign(ast.TypedExpr(target, of), value):
            return f"{expression_text(target, POSTFIX)}: {type_text(of)} = {expression_text(value, VALUE)}"
        case ast.Assign(target, value):
            return f"{expression_text(target, VALUE)} = {expression_text(value, VALUE)}"
        case ast.TypedExpr(arg, of):
            return f"({expression_text(arg, CAST)}: {type_text(of)})"
        case ast.Cast(arg, of):
            return f"{expression_text(arg, CAST)} as {type_text(of)}"
        case ast.Slice(arg, high, low):
            return f"{expression_text(arg, POSTFIX)}[{high}:{low}]"
        case ast.GetField(arg, name):
            return f"{expression_text(arg, POSTFIX)}.{name}"
        case ast.GetItem(arg, index):
            return f"{expression_text(arg, POSTFIX)}.{index}"
        case ast.Call(function, args):
            called = expression_text(function, POSTFIX)
            field = isinstance(function, ast.GetField)  # and no method
            return f"{f'({called})' if field else called}({_list(args)})"
        case ast.MethodCall(arg, name, args):
            return f"{expression_text(arg, POSTFIX)}.{name}({_list(args)})"
        case ast.Try(arg):
            return f"{expression_text(arg, POSTFIX)}?"
        case ast.GivenValue(name):
            return f"{{{name}}}"
        case ast.Block(items):
            return braced(map(expression_text, items), ";")
        case ast.If():
            return _if(expr)
        case ast.Match(matched, arms):
            cases = [
                f"{expression_text(each.pattern, VALUE)} -> {expression_text(each.body)}" for each in arms
            ]
            return f"match ({expression_text(matched)}) {braced(cases, ',')}"
        case ast.For(pattern, collection, body):
            heading = f"for ({expression_text(pattern, VALUE)} in {expression_text(collection)})"
            return f"{heading} {expression_text(body)}"
        case ast.Break():
            return "break"
        case ast.Continue():
            return "continue"
        case ast.Return(value):
            return "return" if value is None else f"return {expression_text(value)}"
        case ast.Binding(name, pattern):
            return f"{name} @ {expression_text(pattern, PREFIX)}"
        case ast.FlatMap(arg):
            return f"FlatMap({expression_text(arg)})"
        case ast.Aggregate(keys, value):
            return f"Aggregate({_list([keys, value])})"


def _integer(value: int, width: int | None, signed: bool | None) -> str:
    sized = "" if signed is None else f"{width or ''}'{'s' * signed}d"
    return f"{'-' if value < 0 else ''}{sized}{abs(value)}"


def _float(value: float, width: int | None) -> str:
    shown = f"{Decimal(repr(abs(value))):f}" if abs(value) < math.inf else "1.0e999"
    sized = f"{width}'f" if width is not None else ""
    return f"{'-' if value < 0 else ''}{sized}{shown if '.' in shown else f'{shown}.0'}"


def string_text(value: str) -> str:
    """A text between quotes."""
    return f'"{_escaped(value)}"'


def _escaped(text: str) -> str:
    shown = "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text)
    return shown.replace("${", "\\${")


def _spliced(part: ast.Expr) -> str:
    """A part of a text with code in it. The code is escaped once more."""
    if isinstance(part, ast.StringLit):
        return _escaped(part.value)
    code = expression_text(part).replace("\\", "\\\\").replace('"', '\\"')
    return f"${{{code}}}"


def _parameter(parameter: ast.ClosureParameter) -> str:
    if parameter.type is None:
        return parameter.name
    return f"{parameter.name}: {'mut ' * parameter.mutable}{type_text(parameter.type)}"


def arguments_text(args: Iterable[ast.Argument]) -> str:
    """The arguments of a struct or an atom."""
    shown = ((f".{each.name} = " if each.name is not None else "", each.value) for each in args)
    return ", ".join(f"{name}{expression_text(value)}" for name, value in shown)


def braced(items: Iterable[str], separator: str) -> str:
    """Items in braces."""
    return f"{{ {f'{separator} '.join(items)} }}"


def _if(expr: ast.If) -> str:
    heading = f"if ({expression_text(expr.condition)})"
    if expr.otherwise is None:
        return f"{heading} {expression_text(expr.then, VALUE)}"
    open_ended = isinstance(expr.then, ast.If | ast.For | ast.Return | ast.Closure)
    then = expression_text(expr.then, PREFIX if open_ended else ANY)
    otherwise = expr.otherwise
    level = VALUE if isinstance(otherwise, ast.If) else ANY if isinstance(otherwise, ast.Assign) else PREFIX
    return f"{heading} {then} else {expression_text(otherwise, level)}"
