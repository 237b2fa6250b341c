"""Values as Soufflé reads them from fact files: numbers, raw symbols, `[1, [2, nil]]`, `$Branch(1, 2)`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from ...syntax.cursor import Cursor
from ...types import Bit, Bool, Float, Signed, String, Type, User
from ...values.numbers import canonical_float, integer_range, single
from ...values.shapes import Shape, is_option, shape_of, some_maker
from .transfers import Vocabulary

_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)(?![\w.])")
_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)(?![\w.])", re.IGNORECASE
)
_BOOL = re.compile(r"(?:true|false)(?!\w)", re.IGNORECASE)
_NIL = re.compile(r"nil(?!\w)")
_BRANCH = re.compile(r"\$([A-Za-z_?][\w?.]*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_WORDS = {"inf", "infinity", "nan"}


def is_plain(type: Type) -> bool:
    """Whether the values of the type are numbers or symbols."""
    return isinstance(type, Bit | Signed | Float | String | Bool)


def cell_reader(type: Type, words: Vocabulary) -> Callable[[str], Any]:
    """A function that reads a cell of a fact file as a value of the type. It raises ValueError."""
    if isinstance(type, String):
        return lambda text: text

    def read(text: str) -> Any:
        cell = _Cell(text, words)
        try:
            value = cell.value(type, "")
        except RecursionError:
            raise ValueError("the value is nested too deeply") from None
        cell.end(type)
        return value

    return read


class _Cell(Cursor):
    """A cell, and how far it is read."""

    def __init__(self, text: str, words: Vocabulary) -> None:
        super().__init__(text)
        self.words = words

    def value(self, type: Type, stops: str) -> Any:
        """The value of the type that comes next. A symbol ends at one of `stops`."""
        self.skip()
        match type:
            case Bit() | Signed():
                return self._integer(type)
            case Float():
                return self._float(type)
            case Bool():
                return self._bool()
            case String():
                return self._symbol(stops)
            case User() if is_option(type):
                if self.match(_NIL) is None:
                    return some_maker(type, self.words.typedefs)(self.value(type.args[0], stops))
                option = shape_of(type, self.words.typedefs)
                return option.make(option.constructors[0])()
            case User():
                shape = shape_of(type, self.words.typedefs)
                is_record = shape.constructors[0].name not in self.words.branches
                return self._record(shape) if is_record else self._branch(shape)
        raise AssertionError(f"no column of a Soufflé program is a {type}")

    def end(self, type: Type) -> None:
        """Checks that nothing is left."""
        if not self.at_end():
            if isinstance(type, Bit | Signed | Float):
                self.position = 0
            self._fail(_named(type))

    def _integer(self, type: Bit | Signed) -> int:
        found = self.match(_INTEGER)
        if found is None or (isinstance(type, Bit) and found.group()[0] == "-"):
            self._fail(_named(type), found)
        base = {"0x": 16, "0b": 2}.get(found.group().lstrip("+-")[:2].lower(), 10)
        value = int(found.group(), base)
        least, greatest = integer_range(type)
        if not least <= value <= greatest:
            raise ValueError(f"{found.group()} is out of the range of {_named(type)} of {type.width} bits")
        return value

    def _float(self, type: Float) -> float:
        found = self.match(_FLOAT)
        if found is None:
            self._fail(_named(type))
        value = float(found.group())
        value = single(value) if type.width == 32 else value
        if math.isinf(value) and found.group().lstrip("+-").lower() not in _WORDS:
            raise ValueError(f"{found.group()} is out of the range of a floating-point number")
        return canonical_float(value)

    def _bool(self) -> bool:
        found = self.match(_BOOL)
        if found is None:
            self._fail("true or false")
        return found.group().lower() == "true"

    def _symbol(self, stops: str) -> str:
        quoted = self.match(_QUOTED)
        if quoted is not None:
            return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), quoted.group(1))
        begin = self.position
        while self.position < len(self.text) and self.text[self.position] not in stops:
            self.position += 1
        return self.text[begin : self.position]

    def _record(self, shape: Shape) -> Any:
        (constructor,) = shape.constructors
        return shape.make(constructor)(*self._fields([of for _, of in constructor.fields], "[", "]"))

    def _branch(self, shape: Shape) -> Any:
        begin, found = self.position, self.match(_BRANCH)
        names = {self.words.branches[each.name]: each for each in shape.constructors}
        if found is None or found.group(1) not in names:
            self.position = begin
            self._fail(" or ".join(f"${name}" for name in names))
        constructor = names[found.group(1)]
        types = [of for _, of in constructor.fields]
        if types or self.looking_at("("):
            return shape.make(constructor)(*self._fields(types, "(", ")"))
        return shape.make(constructor)()

    def _fields(self, types: list[Type], opening: str, closing: str) -> list[Any]:
        self._sign(opening)
        values: list[Any] = []
        for position, type in enumerate(types):
            if position:
                self._sign(",")
            values.append(self.value(type, "," + closing))
        self._sign(closing)
        return values

    def _sign(self, sign: str) -> None:
        if not self.accept(sign):
            self._fail(f"`{sign}`")

    def _fail(self, expected: str, found: re.Match[str] | None = None) -> NoReturn:
        rest = self.text[self.position if found is None else found.start() :]
        raise ValueError(f"expected {expected}, found " + (f'"{rest[:40]}"' if rest else "nothing"))


def _named(type: Type) -> str:
    match type:
        case Signed():
            return "a number"
        case Bit():
            return "an unsigned number"
        case Float():
            return "a floating-point number"
    return "the end of the value"
