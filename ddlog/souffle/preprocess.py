"""The lines that begin with `#`: files that are included, names that are defined, parts that are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Source, Span
from .lexer import Token, tokens

_LINE = re.compile(r"#\s*(\w*)\s*(.*)", re.DOTALL)
_DEFINE = re.compile(r"([A-Za-z_]\w*)(\(?)\s*(.*)", re.DOTALL)
_INCLUDE = re.compile(r'"([^"]+)"|<([^>]+)>')


def preprocess(source: Source, words: Mapping[str, str]) -> tuple[list[Token], list[Diagnostic]]:
    """The tokens of a program as the grammar sees them, and the errors in its texts."""
    run = _Preprocessor(words)
    run.file(source)
    return run.tokens, run.found


@dataclass
class _Preprocessor:
    words: Mapping[str, str]
    tokens: list[Token] = field(default_factory=list)
    found: list[Diagnostic] = field(default_factory=list)
    macros: dict[str, list[Token]] = field(default_factory=dict)
    including: list[Path] = field(default_factory=list)
    # For each open #if of a file: whether its present part counts, and where it began.
    conditions: list[tuple[bool, Span]] = field(default_factory=list)

    def file(self, source: Source) -> None:
        outer, self.conditions = self.conditions, []
        self.including.append(Path(source.name))
        found: list[Diagnostic] = []
        for token in tokens(source, self.words, found):
            if token.kind == "LINE":
                self._line(token)
            elif self._active():
                if token.value in self.macros:
                    self.tokens += self._expanded(token, token, frozenset())
                else:
                    self.tokens.append(token)
        self.found += found
        for _, span in self.conditions:
            self._wrong(span, "if", "it has no `#endif`")
        self.including.pop()
        self.conditions = outer

    def _active(self) -> bool:
        return all(counts for counts, _ in self.conditions)

    def _expanded(self, token: Token, use: Token, inside: frozenset[str]) -> Iterator[Token]:
        """The tokens that a token stands for, all at the place where it is used."""
        name = token.value
        if token.kind == "STRING" or name in inside or name not in self.macros:
            yield use._replace(kind=token.kind, value=token.value)
            return
        for each in self.macros[name]:
            yield from self._expanded(each, use, inside | {name})

    def _line(self, token: Token) -> None:
        match = _LINE.match(token.value)
        word, rest = match.groups() if match else ("", "")
        rest = rest.replace("\\\r\n", " ").replace("\\\n", " ").split("//")[0].strip()
        if word in ("ifdef", "ifndef"):
            self.conditions.append(((rest in self.macros) == (word == "ifdef"), token.span))
        elif word in ("else", "endif"):
            self._end_of_part(word, token.span)
        elif word == "if" or word == "elif":
            self._wrong(token.span, word, "only `#ifdef` and `#ifndef` are carried out")
            if word == "if":
                self.conditions.append((True, token.span))
        elif self._active():
            self._effective(word, rest, token.span)

    def _end_of_part(self, word: str, span: Span) -> None:
        if not self.conditions:
            self._wrong(span, word, "there is no `#ifdef` before it")
            return
        counts, begun = self.conditions.pop()
        if word == "else":
            self.conditions.append((not counts, begun))

    def _effective(self, word: str, rest: str, span: Span) -> None:
        match word:
            case "define":
                self._define(rest, span)
            case "undef":
                self.macros.pop(rest, None)
            case "include":
                self._include(rest, span)
            case "line" | "" | "pragma":
                pass
            case "error":
                self._wrong(span, word, rest)
            case _:
                self._wrong(span, word, "unknown to the preprocessor")

    def _define(self, rest: str, span: Span) -> None:
        match = _DEFINE.match(rest)
        if match is None:
            self._wrong(span, "define", "a name is missing")
        elif match.group(2):
            self._wrong(span, "define", "macros with parameters are not supported")
        else:
            body = Source(span.source.name, match.group(3))
            self.macros[match.group(1)] = list(tokens(body, self.words, self.found))

    def _include(self, rest: str, span: Span) -> None:
        match = _INCLUDE.match(rest)
        if match is None:
            self._wrong(span, "include", 'a file is named as "file"')
            return
        path = Path(span.source.name).parent / (match.group(1) or match.group(2))
        if any(path.resolve() == other.resolve() for other in self.including):
            self._wrong(span, "include", f"{path} includes itself")
            return
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            self._wrong(span, "include", f"{path} cannot be read: {error.strerror or error}")
        except UnicodeDecodeError:
            self._wrong(span, "include", f"{path} is not UTF-8")
        else:
            self.file(Source(str(path), text))

    def _wrong(self, span: Span, word: str, problem: str) -> None:
        self.found.append(errors.BadDirective(word=word, problem=problem, span=span))
