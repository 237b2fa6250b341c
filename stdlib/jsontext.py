"""JSON as text: Python's decoded form from it and to it, and where a value stands in it.

The decoded form is that of the module json: None, bool, int, float, str, list, dict. A float of single
precision is a `Single`, an object that repeats a key an `AmbiguousObject`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from ..values import canonical_float, decimal, float_text

DEPTH = 128  # of nested arrays and objects that are read; deeper ones are refused
Path = Sequence[str | int]


class Refused(Exception):
    """Why JSON is not of a type; `path` leads, from the inside out, to the value that is not.

    `placed` says that the message names the place already.
    """

    def __init__(self, message: str, *, placed: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.placed = placed
        self.path: list[str | int] = []


class Single(float):
    """A number of single precision."""

    __slots__ = ()


class AmbiguousObject(dict[str, Any]):
    """An object whose text repeats `key`."""

    key = ""


# -------------------------------------------------------------------- reading


def decode(text: str) -> Any:
    """The decoded form of a text. Raises Refused."""
    try:
        data = json.loads(
            text, parse_int=_whole, parse_float=_float, parse_constant=_refuse, object_pairs_hook=_object
        )
        if "\\u" in text:
            json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise Refused(f"{_decapitalised(error.msg)} {place(text, error.pos + 1)}", placed=True) from None
    except UnicodeEncodeError:
        raise Refused("half of a surrogate pair in a string", placed=True) from None
    except RecursionError:
        raise Refused("recursion limit exceeded", placed=True) from None
    return data


def place(text: str, offset: int) -> str:
    """`at line L column C`, of the byte before an offset."""
    before = text[:offset]
    line = before[before.rfind("\n") + 1 :]
    return f"at line {before.count(chr(10)) + 1} column {len(line.encode())}"


def end_of(text: str, path: Path) -> int:
    """The offset after the value that a path leads to."""
    at = _skip(text, 0)
    for step in path:
        at = _item(text, at, step)
    end: int = _DECODER.raw_decode(text, at)[1]
    return end


def _item(text: str, at: int, step: str | int) -> int:
    """The start of the item of an array or object that a step names; of several with one name, the last."""
    keyed, found, number = text[at] == "{", at, 0
    while text[at] not in "]}":
        at = _skip(text, at + 1)
        name: str | int = number
        if keyed:
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if name == step:
            found = at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        number += 1
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def _whole(digits: str) -> int:
    """The integer, of however many digits."""
    try:
        return int(digits)
    except ValueError:
        if digits[0] == "-":
            return -_whole(digits[1:])
        half = len(digits) // 2
        scale: int = 10**half
        return _whole(digits[:-half]) * scale + _whole(digits[-half:])


def _float(digits: str) -> float:
    found = float(digits)
    if math.isinf(found):
        raise Refused("number out of range", placed=True)
    return canonical_float(found)


def _refuse(constant: str) -> Any:
    raise Refused(f"{constant} is no JSON", placed=True)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    ambiguous, seen = AmbiguousObject(made), set()
    for key, _ in pairs:
        if key in seen:
            ambiguous.key = key
        seen.add(key)
    return ambiguous


def _decapitalised(message: str) -> str:
    return message[:1].lower() + message[1:]


# -------------------------------------------------------------------- writing


def encode(data: Any) -> str:
    """The text of a decoded form, without spaces."""
    match data:
        case None:
            return "null"
        case bool():
            return "true" if data else "false"
        case int():
            return decimal(data)
        case float():
            return number_text(data, 32 if isinstance(data, Single) else 64)
        case str():
            return json.dumps(data, ensure_ascii=False)
        case dict():
            pairs = (f"{json.dumps(key, ensure_ascii=False)}:{encode(value)}" for key, value in data.items())
            return f"{{{','.join(pairs)}}}"
    return f"[{','.join(map(encode, data))}]"


def number_text(value: float, width: int) -> str:
    """The shortest digits that give the float back; null where it is not finite."""
    if not math.isfinite(value):
        return "null"
    sign = "-" if value < 0 else ""
    text = float_text(abs(value), width)
    whole, _, fraction = text.partition(".")
    digits = (whole + fraction).strip("0")
    point = len(whole) if whole != "0" else len(fraction.lstrip("0")) - len(fraction)
    least, greatest = (-6, 13) if width == 32 else (-5, 16)
    if not digits or least < point <= greatest:
        return f"{sign}{text}" if fraction else f"{sign}{text}.0"
    mantissa = f"{digits[0]}.{digits[1:]}" if digits[1:] else digits
    return f"{sign}{mantissa}e{point - 1}"
