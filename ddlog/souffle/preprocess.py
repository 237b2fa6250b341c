"""The lines that begin with `#`, as a preprocessor of C takes them: files that are included, macros, and
parts that are left out. `.include` and `.once` are carried out here, too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Source, Span, not_utf8, program_bytes, program_text
from ..syntax.lexer import Places
from .conditions import holds
from .lexer import Lexeme, tokens
from .macros import Macros

_LINE = re.compile(r"#\s*(\w*)\s*(.*)", re.DOTALL)
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//.*|/\*.*?\*/', re.DOTALL)
_INCLUDED = re.compile(r'"([^"]+)"|<([^>]+)>')


@dataclass(frozen=True, slots=True)
class PreprocessorSettings:
    """Options of the command line: macros as `NAME` or `NAME=text`, and folders of files to include."""

    macros: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()


@dataclass(slots=True)
class _OpenIf:
    """An open `#if`: whether its present part counts, whether one has counted, and where it began."""

    counts: bool
    has_counted: bool
    span: Span


def preprocess(
    source: Source, words: Mapping[str, str], settings: PreprocessorSettings
) -> tuple[list[Lexeme], list[Diagnostic]]:
    """The tokens of a program as the grammar sees them, and the errors in its texts."""
    run = _Preprocessor(words, settings)
    run.file(source)
    run.flush()
    return run.tokens, run.found


class _Preprocessor:
    def __init__(self, words: Mapping[str, str], settings: PreprocessorSettings) -> None:
        self.words, self.folders = words, settings.folders
        self.tokens: list[Lexeme] = []
        self.pending: list[Lexeme] = []
        self.found: list[Diagnostic] = []
        self.macros = Macros(words, self.found)
        self.including: list[Path] = []
        self.once: set[Path] = set()
        self.conditions: list[_OpenIf] = []
        self.counts = True  # whether all open conditions count
        for macro in settings.macros:
            name, _, text = macro.partition("=")
            self._define(f"{name} {text or 1}", Lexeme("", macro, Places(Source("-M", macro)), 0, len(macro)))

    def file(self, source: Source) -> None:
        """Takes the tokens of a file."""
        outer, self.conditions = self.conditions, []
        self.including.append(Path(source.name))
        found: list[Diagnostic] = []
        included: Lexeme | None = None  # an .include whose file has not come yet
        for token in tokens(source, self.words, found):
            self.found += found if self.counts else ()
            found.clear()
            if token.kind == "LINE":
                self._line(token)
            elif not self.counts:
                continue
            elif included is not None:
                self._include(f'"{token.value}"' if token.kind == "STRING" else "", included.span, ".include")
                included = None
            elif token.kind == "INCLUDE":
                included = token
            elif token.kind == "ONCE":
                self.once.add(self.including[-1].resolve())
            else:
                self.pending.append(token)
        self.found += found if self.counts else ()
        for condition in self.conditions:
            self._wrong(condition.span, "if", "it has no `#endif`")
        self.including.pop()
        self.conditions, self.counts = outer, True

    def flush(self) -> None:
        """Expands the tokens since the last change of the macros. A use of a macro lies between two such
        changes."""
        expanded = self.macros.expanded(self.pending) if self.macros.defined else self.pending
        for token in expanded:
            if token.value == "__LINE__" and token.kind == "IDENT":
                token = token._replace(kind="NUMBER", value=str(token.span.line))
            elif token.value == "__FILE__" and token.kind == "IDENT":
                token = token._replace(kind="STRING", value=token.places.source.name)
            self.tokens.append(token)
        self.pending = []

    def _line(self, token: Lexeme) -> None:
        match = _LINE.match(token.value)
        word, rest = match.groups() if match else ("", "")
        rest = rest.replace("\\\r\n", " ").replace("\\\n", " ")
        rest = _COMMENT.sub(lambda comment: comment.group(1) or " ", rest).strip()
        if word in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
            self._condition(word, rest, token.span)
            self.counts = all(condition.counts for condition in self.conditions)
        elif self.counts:
            self._effective(word, rest, token)

    def _condition(self, word: str, rest: str, span: Span) -> None:
        if word in ("if", "ifdef", "ifndef"):
            # What stands inside a part that does not count is not looked at.
            counts = self.counts and self._holds(word, rest, span)
            self.conditions.append(_OpenIf(counts, counts, span))
            return
        if not self.conditions:
            self._wrong(span, word, "there is no `#if` before it")
        elif word == "endif":
            self.conditions.pop()
        else:
            last = self.conditions[-1]
            last.counts = not last.has_counted and (word == "else" or self._holds("if", rest, span))
            last.has_counted = last.has_counted or last.counts

    def _holds(self, word: str, rest: str, span: Span) -> bool:
        if word != "if":
            return (rest in self.macros.defined) == (word == "ifdef")
        try:
            return holds(rest, self.macros.texts())
        except ValueError as error:
            self._wrong(span, word, str(error))
            return True

    def _effective(self, word: str, rest: str, line: Lexeme) -> None:
        match word:
            case "define":
                self._define(rest, line)
            case "undef":
                self.flush()
                self.macros.defined.pop(rest, None)
            case "include":
                self._include(rest, line.span, word)
            case "pragma" if rest == "once":
                self.once.add(self.including[-1].resolve())
            case "line" | "" | "pragma" | "warning":
                pass
            case _ if word.isdecimal():  # where the lines come from, as a preprocessor writes it
                pass
            case "error":
                self._wrong(line.span, word, rest)
            case _:
                self._wrong(line.span, word, "unknown to the preprocessor")

    def _define(self, rest: str, line: Lexeme) -> None:
        self.flush()
        problem = self.macros.define(rest, line)
        if problem:
            self._wrong(line.span, "define", problem)

    def _include(self, rest: str, span: Span, word: str) -> None:
        match = _INCLUDED.match(rest)
        if match is None:
            self._wrong(span, word, 'a file is named as "file"')
            return
        path = self._path(match.group(1) or match.group(2))
        if path.resolve() in self.once:
            return
        if any(path.resolve() == other.resolve() for other in self.including):
            self._wrong(span, word, f"{path} includes itself")
            return
        try:
            text = program_text(program_bytes(path))
        except OSError as error:
            self._wrong(span, word, f"{path} cannot be read: {error.strerror or error}")
        except UnicodeDecodeError as error:
            self._wrong(span, word, f"{path}: {not_utf8(error)}")
        else:
            self.file(Source(str(path), text))

    def _path(self, name: str) -> Path:
        """The file of a name: beside the file that includes it, else in a folder of the command line."""
        beside = self.including[-1].parent / name
        paths = [beside, *(folder / name for folder in self.folders)]
        return next((path for path in paths if path.is_file()), beside)

    def _wrong(self, span: Span, word: str, problem: str) -> None:
        self.found.append(errors.BadDirective(word=word, problem=problem, span=span))
