"""Text to values, in the form of command files and of composite columns in fact files.

The type decides how the text is read, so a bare `1` may become a bigint, a double or `Some{1}`.
`values.show` writes the same form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import values
from ..errors.diagnostics import counted
from ..syntax.cursor import Cursor, TextFault, Unfinished
from ..types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    FunctionType,
    Signed,
    String,
    TextForm,
    Tuple,
    Type,
    User,
)
from .cells import BOOL, FLOAT, INTEGER, float_of, integer_of
from .closures import no_written_form
from .fromjson import decode_json, from_json
from .shapes import collection_of, is_option, shape_of
from .structs import TypeDefs
from .textforms import from_written

_END = r"(?![\w.])"
_BOOL = re.compile(BOOL + r"(?!\w)")
_INTEGER = re.compile(INTEGER + _END)
_FLOAT = re.compile(FLOAT + _END)
_NULL = re.compile(r"(?i:null)\b(?!\s*[{(])")
_NAME = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_FIELD = re.compile(r"\.([A-Za-z_0-9]\w*)")
_PLAIN_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "a": "\a", "b": "\b", "f": "\f", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_ESCAPES |= {sign: sign for sign in "\\\"'?"}


def parse_value(text: str, type: Type, typedefs: TypeDefs) -> Any:
    """The value of `type` that `text` writes. Raises TextFault with the place of the fault."""
    cursor = Cursor(text)
    try:
        value = read_value(cursor, type, typedefs)
    except RecursionError:
        raise TextFault("the value is nested too deeply", 0, len(text)) from None
    if not cursor.at_end():
        raise cursor.fault("expected the end of the value")
    return value


def read_value(cursor: Cursor, type: Type, typedefs: TypeDefs) -> Any:
    """Reads one value of `type` and leaves the cursor after it. Raises TextFault."""
    if cursor.text.startswith("@json", cursor.skip()):
        return _read_json(cursor, type, typedefs)
    match type:
        case Bool():
            return _read_bool(cursor)
        case BigInt() | Bit() | Signed():
            return _read_integer(cursor, type)
        case Float():
            return _read_float(cursor, type)
        case String():
            return read_string(cursor)
        case Tuple():
            return _read_tuple(cursor, type, typedefs)
        case User():
            return _read_user(cursor, type, typedefs)
        case FunctionType():
            raise TextFault(no_written_form(type), cursor.skip(), cursor.position + 1)
    return _read_collection(cursor, type, typedefs)


def read_arguments(
    cursor: Cursor,
    close: str,
    fields: tuple[tuple[str, Type], ...],
    typedefs: TypeDefs,
    default: Callable[[str, Type], Any] | None,
) -> tuple[Any, ...]:
    """The fields between a bracket just passed and `close`, by position or as `.name = value`.

    `default` gives fields that named arguments leave out; without it they are a fault.
    """
    start = cursor.skip()
    if cursor.looking_at(".") and fields:
        return _read_named(cursor, close, fields, typedefs, default)
    given: list[Any] = []
    for _ in cursor.items(close):
        if len(given) >= len(fields):
            raise TextFault(f"expected {counted(len(fields), 'value')}, found more", *cursor.next_piece()[1:])
        given.append(read_value(cursor, fields[len(given)][1], typedefs))
    if len(given) == len(fields):
        return tuple(given)
    if default is not None and not given:
        return tuple(default(name, of) for name, of in fields)
    raise TextFault(f"expected {counted(len(fields), 'value')}, found {len(given)}", start, cursor.position)


def read_field_name(cursor: Cursor, fields: tuple[tuple[str, Type], ...], seen: Mapping[str, Any]) -> str:
    """`.name =`, where the name is one of `fields` and not yet in `seen`."""
    found = cursor.match(_FIELD)
    if found is None:
        raise cursor.fault("expected `.field = value`")
    name = found.group(1)
    if name not in dict(fields):
        known = ", ".join(f"`{each}`" for each, _ in fields)
        raise TextFault(f"there is no field `{name}`; the fields are {known}", found.start(), found.end())
    if name in seen:
        raise TextFault(f"field `{name}` is given twice", found.start(), found.end())
    cursor.expect("=", "after the field's name")
    return name


def read_name(cursor: Cursor, what: str) -> tuple[str, int, int]:
    """A name, perhaps qualified, and its place."""
    found = cursor.match(_NAME)
    if found is None:
        raise cursor.fault(f"expected {what}")
    return found.group(), found.start(), found.end()


def read_string(cursor: Cursor) -> str:
    """A string literal; in commands also `%` and the name of a file whose contents are the string."""
    start = cursor.skip()
    if cursor.accept("%"):
        name = _read_literal(cursor)
        if not cursor.commands:
            raise TextFault('only commands read files (`%"file"`)', start, cursor.position)
        try:
            return Path(name).read_text(encoding="utf-8")
        except OSError as error:
            problem = error.strerror or str(error)
        except UnicodeDecodeError as error:
            problem = f"it is not UTF-8: {error.reason} at byte {error.start}"
        except ValueError as error:
            problem = str(error)
        raise TextFault(f"cannot read {values.quote(name)}: {problem}", start, cursor.position)
    return _read_literal(cursor)


def _read_literal(cursor: Cursor) -> str:
    start = cursor.skip()
    found = cursor.match(_PLAIN_STRING)
    if found is not None:
        return unescaped(found.group(1), start + 1)
    if cursor.looking_at('"'):
        raise Unfinished("this string does not end", start, len(cursor.text))
    raise cursor.fault("expected string")


def unescaped(content: str, start: int = 0) -> str:
    """The text between the quotes of a string literal, with the characters that its escapes stand for.
    Raises TextFault; `start` is the position of the text."""
    return _ESCAPE.sub(lambda m: _unescape(m, start), content) if "\\" in content else content


def _unescape(escape: re.Match[str], base: int) -> str:
    start, end = base + escape.start(), base + escape.end()
    if escape.group(1) is not None:
        code = int(escape.group(1), 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise TextFault(f"`{escape.group()}` is no character", start, end)
        return chr(code)
    if escape.group(2) not in _ESCAPES:
        raise TextFault(f"`{escape.group()}` is no escape of a string", start, end)
    return _ESCAPES[escape.group(2)]


def _read_bool(cursor: Cursor) -> bool:
    found = cursor.match(_BOOL)
    if found is None:
        raise cursor.fault("expected bool")
    return found.group().lower() == "true"


def _read_integer(cursor: Cursor, type: BigInt | Bit | Signed) -> int:
    found = cursor.match(_INTEGER)
    if found is None:
        raise cursor.fault(f"expected {type}")
    try:
        return integer_of(found.group(), type)
    except ValueError as error:
        raise TextFault(str(error), found.start(), found.end()) from None


def _read_float(cursor: Cursor, type: Float) -> float:
    found = cursor.match(_FLOAT)
    if found is None:
        raise cursor.fault(f"expected {type}")
    return float_of(found.group(), type)


def _read_tuple(cursor: Cursor, type: Tuple, typedefs: TypeDefs) -> tuple[Any, ...]:
    if not cursor.accept("("):
        raise cursor.fault(f"expected {type}")
    fields = tuple((str(position), item) for position, item in enumerate(type.items))
    return read_arguments(cursor, ")", fields, typedefs, None)


def _read_user(cursor: Cursor, type: User, typedefs: TypeDefs) -> Any:
    shape = shape_of(type, typedefs)
    start = cursor.skip()
    form = shape.typedef.text
    if form is not None and (cursor.looking_at('"') or cursor.looking_at("%")):
        return _read_written(cursor, form, type)
    found = cursor.match(_NAME)
    if found is not None:
        chosen = shape.constructor(found.group())
        if chosen is not None:
            return _read_fields(cursor, shape.make(chosen), shape.is_union, chosen, typedefs)
        cursor.position = start
    if is_option(type):
        if shape.typedef.nullable and cursor.match(_NULL) is not None:
            return shape.make(shape.constructors[0])()
        return _read_bare_option(cursor, type, typedefs)
    known = " or ".join(f"`{constructor.name}{{…}}`" for constructor in shape.constructors)
    if form is not None:
        known = f'`"{form.example}"` or {known}'
    raise cursor.fault(f"expected {type}: {known}")


def _read_written(cursor: Cursor, form: TextForm, type: User) -> Any:
    """A value of a type that is written as text."""
    start = cursor.position
    text = read_string(cursor)
    try:
        return from_written(text, form, type)
    except ValueError as error:
        raise TextFault(str(error), start, cursor.position) from None


def _read_fields(
    cursor: Cursor, make: Callable[..., Any], union: bool, chosen: Constructor, typedefs: TypeDefs
) -> Any:
    if not cursor.accept("{"):
        if chosen.fields:
            raise cursor.fault(f"expected `{{` and the fields of {chosen.name}")
        return make()
    default = None if union else lambda _, of: values.default_value(of, typedefs)
    return make(*read_arguments(cursor, "}", chosen.fields, typedefs, default))


def _read_bare_option(cursor: Cursor, type: User, typedefs: TypeDefs) -> Any:
    """An Option written as the bare value in it, or as a list of no or one value."""
    shape = shape_of(type, typedefs)
    none, some = shape.constructors
    inner = some.fields[0][1]
    if collection_of(inner) is not None or not cursor.looking_at("["):
        return shape.make(some)(read_value(cursor, inner, typedefs))
    cursor.expect("[")
    if cursor.accept("]"):
        return shape.make(none)()
    value = read_value(cursor, inner, typedefs)
    cursor.expect("]")
    return shape.make(some)(value)


def _read_collection(cursor: Cursor, type: Type, typedefs: TypeDefs) -> Any:
    collection = collection_of(type)
    if collection is None:
        raise cursor.fault(f"values of type {type} have no text form; expected none")
    start = cursor.skip()
    if not cursor.accept("["):
        if collection.kind != "Vec":
            raise cursor.fault(f"expected {type}")
        return collection.build([read_value(cursor, collection.element, typedefs)])
    elements: list[Any] = []
    for _ in cursor.items("]"):
        if collection.kind == "Map" and not (cursor.looking_at("(") or cursor.looking_at("@json")):
            raise cursor.fault("expected an entry of a map, `(key, value)`")
        elements.append(read_value(cursor, collection.element, typedefs))
    try:
        return collection.build(elements)
    except ValueError as error:
        raise TextFault(str(error), start, cursor.position) from None


def _read_named(
    cursor: Cursor,
    close: str,
    fields: tuple[tuple[str, Type], ...],
    typedefs: TypeDefs,
    default: Callable[[str, Type], Any] | None,
) -> tuple[Any, ...]:
    start, given = cursor.position, dict[str, Any]()
    kinds = dict(fields)
    for _ in cursor.items(close):
        name = read_field_name(cursor, fields, given)
        given[name] = read_value(cursor, kinds[name], typedefs)
    missing = [name for name, _ in fields if name not in given]
    if missing and default is None:
        raise TextFault(f"missing field `{missing[0]}`", start, cursor.position)
    return tuple(given[n] if n in given else default(n, of) for n, of in fields)  # type: ignore[misc]


def _read_json(cursor: Cursor, type: Type, typedefs: TypeDefs) -> Any:
    cursor.expect("@json")
    start = cursor.skip()
    text = read_string(cursor)
    try:
        return from_json(decode_json(text), type, typedefs)
    except ValueError as error:
        raise TextFault(f"in the JSON: {error}", start, cursor.position) from None
