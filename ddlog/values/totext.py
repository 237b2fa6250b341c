"""Values to text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..types import ANY, BigInt, Bit, Bool, Float, FunctionType, Opaque, Signed, String, Tuple, Type, User
from .closures import captured_by
from .numbers import decimal, float_text
from .structs import Fault, TypeDefs, local_name, taken_apart

NULL = "NULL"
_STANDARD = "ddlog_std::"
_ESCAPED = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def quote(text: str) -> str:
    """The string between quotes, with escapes where a character does not print."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    shown = (_ESCAPED.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text)
    return f'"{"".join(shown)}"'


def show(value: Any, type: Type, typedefs: TypeDefs, plain: bool = False) -> str:
    """The value as command files write it: `Cons{.field = 1}`, `["a", "b"]`, `(1, true)`. If `plain`, the
    constructors are written as in programs: `None`, `Some{1}`, not `ddlog_std::Some{.x = 1}`."""
    match type:
        case Bool():
            return "true" if value else "false"
        case BigInt() | Bit() | Signed():
            return decimal(value)
        case Float(width):
            return float_text(value, width)
        case String():
            return quote(value)
        case Tuple(items):
            shown = (show(v, of, typedefs, plain) for v, of in zip(value, items, strict=True))
            return f"({', '.join(shown)})"
        case User(name) if (text := _dumped(value, name, typedefs)) is not None:
            return quote(text)
        case User(name) if typedefs[name].nullable:
            return show(value[1], type.args[0], typedefs, plain) if value[0] else NULL
        case User():
            constructor, fields = taken_apart(value, type, typedefs)
            standard = plain and constructor.name.startswith(_STANDARD)
            shown = (
                f"{'' if standard else f'.{name} = '}{show(v, of, typedefs, plain)}"
                for v, (name, of) in zip(fields, constructor.fields, strict=True)
            )
            word = local_name(constructor.name) if standard else constructor.name
            return word if plain and not fields else f"{word}{{{', '.join(shown)}}}"
        case FunctionType():
            holder, captured = captured_by(value, typedefs)
            known = zip(captured, holder.fields, strict=True)
            held = (show(v, of, typedefs, plain) for v, (_, of) in known)
            return f"<closure: {holder.name}, captured_args: [{', '.join(held)}]>"
        case Opaque() if type.name == ANY:
            return show(value.value, value.type, typedefs, plain)
        case Opaque(name) if name in typedefs:
            return str(value)
        case Opaque():
            element, elements = _elements(value, type)
            return f"[{', '.join(show(each, element, typedefs, plain) for each in elements)}]"
    return repr(value)


def _dumped(value: Any, name: str, typedefs: TypeDefs) -> str | None:
    """The text of a value that is dumped as a text of its own."""
    typedef = typedefs.get(name)
    form = None if typedef is None else typedef.text
    return form.write(value) if form is not None and form.dumped else None


def to_string(value: Any, type: Type, typedefs: TypeDefs) -> str:
    """The value as interpolation prints it: strings without quotes, collections between brackets."""
    match type:
        case String():
            return str(value)
        case Opaque(name) if name != ANY and name not in typedefs:
            element, elements = _elements(value, type)
            return f"[{', '.join(to_string(each, element, typedefs) for each in elements)}]"
        case Tuple(items):
            return f"({', '.join(to_string(v, of, typedefs) for v, of in zip(value, items, strict=True))})"
        case User(name) if (text := _dumped(value, name, typedefs)) is not None:
            return text
    return show(value, type, typedefs)


def _elements(value: Any, type: Opaque) -> tuple[Type, Iterable[Any]]:
    match local_name(type.name), type.args:
        case "Vec" | "Set", (element,):
            return element, value
        case "Map", (key, of):
            return Tuple((key, of)), value
        case "Group", (_, element):
            return element, value[1]
    raise Fault(f"values of type {type} do not print")
