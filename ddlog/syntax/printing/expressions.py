"""Expressions as text, with parentheses only where they are needed.

An expression stands on one line if it fits. A longer one has lines of its own for the statements of its
blocks and the arms of its matches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

from ... import syntax as ast
from ..operators import ORDERINGS, PRECEDENCE
from .types import result_text, type_text

WIDTH = 100
STEP = 4  # of indentation
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}

# How tightly an expression binds: an assignment, `if` and its like, the binary operators, a prefix, a cast.
ANY, VALUE = -2, -1
PREFIX = len(PRECEDENCE)
CAST, POSTFIX = PREFIX + 1, PREFIX + 2


def expression_text(expr: ast.Expr, level: int = ANY, indent: int = 0) -> str:
    """An expression where nothing may stand that binds less tightly than `level`."""
    flat = _enclosed(expr, level, _text(expr, None))
    many = isinstance(expr, ast.Block) and len(expr.items) > 1
    if indent + len(flat) <= WIDTH and not many:
        return flat
    return _enclosed(expr, level, _text(expr, indent))


def _enclosed(expr: ast.Expr, level: int, text: str) -> str:
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


def _part(expr: ast.Expr, level: int, indent: int | None) -> str:
    if indent is not None:
        return expression_text(expr, level, indent)
    return _enclosed(expr, level, _text(expr, None))


def _list(exprs: Iterable[ast.Expr]) -> str:
    return ", ".join(_part(each, ANY, None) for each in exprs)


def _text(expr: ast.Expr, indent: int | None) -> str:
    """The text of an expression: on one line without an indentation."""
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
            return f"i{_text(value, None)}"
        case ast.VectorLit(items):
            return f"[{_list(items)}]"
        case ast.MapLit(pairs):
            return f"[{', '.join(f'{_list([key])} -> {_list([value])}' for key, value in pairs)}]"
        case ast.TupleExpr(items):
            return f"({_list(items)})"
        case ast.Struct(constructor, args):
            return constructor if args is None else f"{constructor}{{{arguments_text(args)}}}"
        case ast.Closure(parameters, result, body):
            shown = ", ".join(map(_parameter, parameters))
            return f"|{shown}|{result_text(result)} {_part(body, ANY, indent)}"
        case ast.Unary(op, arg):
            return f"{op}{' ' if op == 'not' else ''}{_part(arg, PREFIX, None)}"
        case ast.Binary(op, left, right):
            own = PRECEDENCE[op]
            first = _part(left, own + (op in ORDERINGS), None)
            return f"{first} {op} {_part(right, own + 1, None)}"
        case ast.Assign(ast.TypedExpr(target, of), value):
            return f"{_part(target, POSTFIX, None)}: {type_text(of)} = {_part(value, VALUE, indent)}"
        case ast.Assign(target, value):
            return f"{_part(target, VALUE, None)} = {_part(value, VALUE, indent)}"
        case ast.TypedExpr(arg, of):
            return f"({_part(arg, CAST, None)}: {type_text(of)})"
        case ast.Cast(arg, of):
            return f"{_part(arg, CAST, None)} as {type_text(of)}"
        case ast.Slice(arg, high, low):
            return f"{_part(arg, POSTFIX, None)}[{high}:{low}]"
        case ast.GetField(arg, name):
            return f"{_part(arg, POSTFIX, None)}.{name}"
        case ast.GetItem(arg, index):
            return f"{_part(arg, POSTFIX, None)}.{index}"
        case ast.Call(function, args):
            called = _part(function, POSTFIX, None)
            field = isinstance(function, ast.GetField)  # and no method
            return f"{f'({called})' if field else called}({_list(args)})"
        case ast.MethodCall(arg, name, args):
            return f"{_part(arg, POSTFIX, None)}.{name}({_list(args)})"
        case ast.Try(arg):
            return f"{_part(arg, POSTFIX, None)}?"
        case ast.GivenValue(name):
            return f"{{{name}}}"
        case ast.Block(items):
            return _block(items, indent)
        case ast.If():
            return _if(expr, indent)
        case ast.Match(matched, arms):
            given = [(each.pattern, _part(each.body, ANY, _inside(indent))) for each in arms]
            shown_arms = [f"{_part(pattern, VALUE, None)} -> {body}" for pattern, body in given]
            return f"match ({_list([matched])}) {braced(shown_arms, ',', indent)}"
        case ast.For(pattern, collection, body):
            heading = f"for ({_part(pattern, VALUE, None)} in {_list([collection])})"
            return f"{heading} {_part(body, ANY, indent)}"
        case ast.Break():
            return "break"
        case ast.Continue():
            return "continue"
        case ast.Return(value):
            return "return" if value is None else f"return {_part(value, ANY, None)}"
        case ast.Binding(name, pattern):
            return f"{name} @ {_part(pattern, PREFIX, None)}"
        case ast.FlatMap(arg):
            return f"FlatMap({_list([arg])})"
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
    code = _part(part, ANY, None).replace("\\", "\\\\").replace('"', '\\"')
    return f"${{{code}}}"


def _parameter(parameter: ast.ClosureParameter) -> str:
    if parameter.type is None:
        return parameter.name
    return f"{parameter.name}: {'mut ' * parameter.mutable}{type_text(parameter.type)}"


def arguments_text(args: Iterable[ast.Argument]) -> str:
    """The arguments of a struct or an atom."""
    shown = ((f".{each.name} = " if each.name is not None else "", each.value) for each in args)
    return ", ".join(f"{name}{_part(value, ANY, None)}" for name, value in shown)


def _inside(indent: int | None) -> int | None:
    return None if indent is None else indent + STEP


def braced(items: Iterable[str], separator: str, indent: int | None) -> str:
    """Items in braces: on one line without an indentation, otherwise a line each."""
    if indent is None:
        return f"{{ {f'{separator} '.join(items)} }}"
    inner = " " * (indent + STEP)
    return "{\n" + f"{separator}\n".join(f"{inner}{each}" for each in items) + "\n" + " " * indent + "}"


def _block(items: tuple[ast.Expr, ...], indent: int | None) -> str:
    return braced([_part(each, ANY, _inside(indent)) for each in items], ";", indent)


def _if(expr: ast.If, indent: int | None) -> str:
    heading = f"if ({_list([expr.condition])})"
    if expr.otherwise is None:
        return f"{heading} {_part(expr.then, VALUE, indent)}"
    open_ended = isinstance(expr.then, ast.If | ast.For | ast.Return | ast.Closure)
    then = _part(expr.then, PREFIX if open_ended else ANY, indent)
    otherwise = expr.otherwise
    level = VALUE if isinstance(otherwise, ast.If) else ANY if isinstance(otherwise, ast.Assign) else PREFIX
    shown = _part(otherwise, level, indent)
    if indent is None or "\n" in then:
        return f"{heading} {then} else {shown}"
    return f"{heading} {then}\n{' ' * indent}else {shown}"
