"""The conditions of `#if` and `#elif`: integers, names that stand for them, `defined`, C's operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne

_TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+|[0-9]+|[A-Za-z_]\w*|&&|\|\||[=!<>]=|[-+*/%<>!()])")
_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: bool(a or b)},
    {"&&": lambda a, b: bool(a and b)},
    {"==": eq, "!=": ne},
    {"<": lt, "<=": le, ">": gt, ">=": ge},
    {"+": int.__add__, "-": int.__sub__},
    {"*": int.__mul__, "/": int.__floordiv__, "%": int.__mod__},
)
_UNARY: dict[str, Callable[[int], int]] = {"!": lambda a: not a, "-": int.__neg__, "+": int.__pos__}
_DEEPEST = 50  # names that stand for names


def holds(text: str, macros: Mapping[str, str]) -> bool:
    """Whether a condition holds; `macros` are the texts of the names that are defined. Other names are 0.
    Raises ValueError for a text that is no condition."""
    condition = _ConditionReader(text, macros, 0)
    value = condition.level(0)
    if condition.tokens:
        raise ValueError(f"`{condition.tokens[0]}` is unexpected")
    return bool(value)


class _ConditionReader:
    def __init__(self, text: str, macros: Mapping[str, str], depth: int) -> None:
        self.macros, self.depth, self.tokens = macros, depth, []
        at, text = 0, text.strip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise ValueError(f"`{text[at:].lstrip()[:1]}` is unexpected")
            self.tokens.append(match.group(1))
            at = match.end()

    tokens: list[str]

    def level(self, number: int) -> int:
        """The value of operators of a level and of those that bind more tightly."""
        if number == len(_LEVELS):
            return self._unary()
        operators, value = _LEVELS[number], self.level(number + 1)
        while self.tokens and self.tokens[0] in operators:
            operator = operators[self.tokens.pop(0)]
            try:
                value = int(operator(value, self.level(number + 1)))
            except ZeroDivisionError:
                raise ValueError("division by zero") from None
        return value

    def _unary(self) -> int:
        token = self._next()
        if token in _UNARY:
            return int(_UNARY[token](self._unary()))
        if token == "(":
            value = self.level(0)
            self._closing()
            return value
        if token == "defined":
            name = self._next()
            if name == "(":
                name = self._next()
                self._closing()
            return int(name in self.macros)
        if token[0].isdigit():
            return int(token, 16 if token[:2] in ("0x", "0X") else 10)
        if not re.fullmatch(r"\w+", token):
            raise ValueError(f"`{token}` is unexpected")
        if token not in self.macros or self.depth == _DEEPEST:
            return 0
        inner = _ConditionReader(self.macros[token], self.macros, self.depth + 1)
        return inner.level(0)

    def _next(self) -> str:
        if not self.tokens:
            raise ValueError("a value is missing")
        return self.tokens.pop(0)

    def _closing(self) -> None:
        if self._next() != ")":
            raise ValueError("`)` is missing")
