"""Macros: names that stand for tokens, some with parameters, and what their uses become.

The arguments of a use are expanded first, then replace the parameters in the macro's body, which is expanded
once more. In a body `a ## b` makes one token of two, and `#a` a string of an argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic, counted
from ..errors.source import Source
from .lexer import Lexeme, tokens

_DEFINITION = re.compile(r"([A-Za-z_]\w*)(\(([^)]*)\))?\s*(.*)", re.DOTALL)
_PARAMETER = re.compile(r"[A-Za-z_]\w*\Z")
_HASH = re.compile(r'("(?:[^"\\]|\\.)*")|(##)|#\s*([A-Za-z_]\w*)')
_PASTE, _QUOTE = "PASTE", "QUOTE"  # kinds of tokens that occur only in bodies


@dataclass(frozen=True, slots=True)
class Macro:
    """A definition. `parameters` is None for one that is used without parentheses. The last one of an open
    macro takes all further arguments."""

    text: str
    body: tuple[Lexeme, ...]
    parameters: tuple[str, ...] | None = None
    is_open: bool = False


class Macros:
    """The definitions so far. `words` are the fixed texts of the grammar; errors go to `found`."""

    def __init__(self, words: Mapping[str, str], found: list[Diagnostic]) -> None:
        self.words, self.found = words, found
        self.defined: dict[str, Macro] = {}

    def texts(self) -> dict[str, str]:
        """The text of each macro without parameters."""
        return {name: macro.text for name, macro in self.defined.items()}

    def define(self, text: str, line: Lexeme) -> str:
        """Defines a macro as `NAME text` or `NAME(a, b) text` in a line does; returns what is wrong, or
        nothing."""
        match = _DEFINITION.match(text)
        if match is None:
            return "a name is missing"
        name, bracketed, listed, body = match.groups()
        parameters: tuple[str, ...] | None = None
        is_open = False
        if bracketed is not None:
            parameters = tuple(map(str.strip, listed.split(","))) if listed.strip() else ()
            is_open = listed.rstrip().endswith("...")
            if is_open:
                parameters = (*parameters[:-1], parameters[-1][:-3].strip() or "__VA_ARGS__")
            if not all(map(_PARAMETER.match, parameters)) or len(set(parameters)) < len(parameters):
                return "the parameters of a macro are different names"
        elif text.startswith("(", match.end(1)):
            return "`)` is missing after the parameters"
        made = tuple(self._body(body, parameters or (), line))
        self.defined[name] = Macro(body, made, parameters, is_open)
        return ""

    def expanded(self, given: Sequence[Lexeme], hidden: frozenset[str] = frozenset()) -> Iterator[Lexeme]:
        """The tokens without macros, each at the place of the use that it comes from. A macro that is
        `hidden` is being expanded."""
        at = 0
        while at < len(given):
            token = given[at]
            at += 1
            macro = self.defined.get(token.value) if token.kind != "STRING" else None
            if macro is None or token.value in hidden:
                yield from self._parts(token, hidden)
                continue
            arguments: list[list[Lexeme]] = []
            if macro.parameters is not None:
                if at == len(given) or _sign(given[at]) != "(":
                    yield token
                    continue
                arguments, at = self._arguments(given, at, macro, token)
            placed = [_at(each, token) for each in self._replaced(macro, arguments, hidden)]
            made = list(self.expanded(placed, hidden | {token.value}))
            if made and at < len(given) and _sign(given[at]) == "(" and self._is_called(made[-1], hidden):
                given, at = [made.pop(), *given[at:]], 0  # its arguments stand after the use
            yield from made

    def _is_called(self, token: Lexeme, hidden: frozenset[str]) -> bool:
        """Whether the token is the name of a macro with parameters."""
        macro = self.defined.get(token.value) if token.kind != "STRING" else None
        return macro is not None and macro.parameters is not None and token.value not in hidden

    # ---------------------------------------------------------------- bodies

    def _lexed(self, text: str, use: Lexeme) -> list[Lexeme]:
        """The tokens of a text, at the place of its use."""
        found: list[Diagnostic] = []
        made = [_at(token, use) for token in tokens(Source("", text), self.words, found)]
        self.found += [replace(each, span=use.span) for each in found]
        return made

    def _body(self, text: str, parameters: Sequence[str], line: Lexeme) -> Iterator[Lexeme]:
        at = 0
        for match in _HASH.finditer(text):
            string, paste, quoted = match.groups()
            if string is not None:
                continue
            yield from self._lexed(text[at : match.start()], line)
            if paste is None and quoted not in parameters:
                problem = f"`#{quoted}`: this macro has no such parameter"
                self.found.append(errors.BadDirective(word="define", problem=problem, span=line.span))
            yield line._replace(kind=_PASTE if paste else _QUOTE, value=quoted or "")
            at = match.end()
        yield from self._lexed(text[at:], line)

    # ------------------------------------------------------------------ uses

    def _arguments(
        self, given: Sequence[Lexeme], at: int, macro: Macro, use: Lexeme
    ) -> tuple[list[list[Lexeme]], int]:
        """The arguments of a use whose parenthesis is at a place, and the place after them."""
        arguments: list[list[Lexeme]] = [[]]
        depth = 0
        for position in range(at, len(given)):
            token = given[position]
            sign = _sign(token)
            depth += (sign == "(") - (sign == ")")
            if not depth:
                return self._counted(arguments, macro, use), position + 1
            is_last = macro.is_open and len(arguments) == len(macro.parameters or ())
            if sign == "," and depth == 1 and not is_last:
                arguments.append([])
            elif position > at:
                arguments[-1].append(token)
        self._wrong(use, "its parenthesis is not closed")
        return self._counted(arguments, macro, use), len(given)

    def _counted(self, arguments: list[list[Lexeme]], macro: Macro, use: Lexeme) -> list[list[Lexeme]]:
        """The arguments, as many as the macro has parameters."""
        assert macro.parameters is not None
        width = len(macro.parameters)
        if not width and arguments == [[]]:
            return []
        if len(arguments) != width and not (macro.is_open and len(arguments) == width - 1):
            self._wrong(use, f"it has {counted(width, 'parameter')}, and {len(arguments)} are given")
        return (arguments + [[]] * width)[:width]

    def _replaced(
        self, macro: Macro, arguments: Sequence[Sequence[Lexeme]], hidden: frozenset[str]
    ) -> list[Lexeme]:
        """The body of a macro with the arguments in place of the parameters."""
        given = dict(zip(macro.parameters or (), arguments, strict=False))
        made: list[Lexeme] = []
        pasting = False
        for position, token in enumerate(macro.body):
            if token.kind == _PASTE:
                pasting = True
                continue
            beside = pasting or any(each.kind == _PASTE for each in macro.body[position + 1 : position + 2])
            if token.kind == _QUOTE:
                shown = " ".join(map(_text, given.get(token.value, ())))
                pieces = [token._replace(kind="STRING", value=shown)]
            elif token.kind != "STRING" and token.value in given:
                whole = given[token.value]
                pieces = list(whole) if beside else list(self.expanded(whole, hidden))
            else:
                pieces = self._with_parts(token, given)
            if pasting and made and pieces:
                last, first = made.pop(), pieces.pop(0)
                made += self._lexed(_text(last) + _text(first), token)
            made += pieces
            pasting = False
        return made

    def _parts(self, token: Lexeme, hidden: frozenset[str]) -> list[Lexeme]:
        """A name with periods, whose parts may be macros."""
        if "." not in token.value:
            return [token]
        bodies = {
            part: self.defined[part].body
            for part in token.value.split(".")
            if part in self.defined and part not in hidden and self.defined[part].parameters is None
        }
        return self._with_parts(token, bodies)

    def _with_parts(self, token: Lexeme, given: Mapping[str, Sequence[Lexeme]]) -> list[Lexeme]:
        if token.kind not in ("QUALIFIED", "BRANCH"):
            return [token]
        mark = "$" if token.kind == "BRANCH" else ""
        parts = token.value.removeprefix("$").split(".")
        if not any(part in given for part in parts):
            return [token]
        texts = ["".join(map(_text, given[part])) if part in given else part for part in parts]
        return self._lexed(mark + ".".join(texts), token)

    def _wrong(self, use: Lexeme, problem: str) -> None:
        self.found.append(errors.BadMacroUse(name=use.value, problem=problem, span=use.span))


def _at(token: Lexeme, use: Lexeme) -> Lexeme:
    """The token at the place of another one."""
    return use._replace(kind=token.kind, value=token.value)


def _sign(token: Lexeme) -> str:
    return "" if token.kind == "STRING" else token.value


def _text(token: Lexeme) -> str:
    """A token as it is written."""
    if token.kind != "STRING":
        return token.value
    return '"' + token.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
