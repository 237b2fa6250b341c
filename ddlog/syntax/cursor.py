"""A reading position in a text, for the readers of values and of command files."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPACE = re.compile(r"\s*")
_SPACE_AND_COMMENTS = re.compile(r"(?:\s+|#[^\n]*)*")
_PIECE = re.compile(r"<-|->|\d+(?:\.\d\w*)+|[^\w\s]|\w+")


class TextFault(Exception):
    """An error in the text from `start` to `end`."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.message, self.start, self.end = message, start, end


class Unfinished(TextFault):
    """The text ends in the middle of something: more of it may make it right."""


class Cursor:
    """Steps through `text`. Blanks separate and mean nothing. In `commands` that a person writes, neither do
    `#` comments, and files can be named in the place of texts."""

    __slots__ = ("_space", "commands", "position", "text")

    def __init__(self, text: str, position: int = 0, *, commands: bool = False) -> None:
        self._space = _SPACE_AND_COMMENTS if commands else _SPACE
        self.commands = commands
        self.text = text
        self.position = position

    def skip(self) -> int:
        """Passes over spaces and comments; returns the position after them."""
        match = self._space.match(self.text, self.position)
        assert match is not None
        self.position = match.end()
        return self.position

    def at_end(self) -> bool:
        """Whether only blanks and comments are left."""
        text, at = self.text, self.position
        if at < len(text) and text[at].isalpha():
            return False  # without looking for blanks: every command of a file comes here
        return self.skip() >= len(text)

    def looking_at(self, literal: str) -> bool:
        """Whether `literal` comes next."""
        return self.text.startswith(literal, self.skip())

    def accept(self, literal: str) -> bool:
        """Passes over `literal` if it comes next."""
        if self.text.startswith(literal, self.skip()):
            self.position += len(literal)
            return True
        return False

    def expect(self, literal: str, after: str = "") -> None:
        """Passes over `literal`, which must come next."""
        if not self.accept(literal):
            raise self.fault(f"expected `{literal}`{' ' + after if after else ''}")

    def items(self, close: str) -> Iterator[None]:
        """Yields before each of the items up to a closing bracket, which the caller reads; commas stand
        between them, and perhaps behind the last."""
        while not self.accept(close):
            yield
            if not self.accept(","):
                self.expect(close)
                return

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Passes over a match of `pattern`, if there is one here."""
        found = pattern.match(self.text, self.skip())
        if found is not None:
            self.position = found.end()
        return found

    def next_piece(self) -> tuple[str, int, int]:
        """The next word or sign, and its place, without passing over it."""
        found = _PIECE.match(self.text, self.skip())
        if found is None:
            return "", self.position, self.position
        return found.group(), found.start(), found.end()

    def fault(self, expected: str) -> TextFault:
        """A fault at the next piece: `expected …, found …`."""
        piece, start, end = self.next_piece()
        if not piece:
            return Unfinished(f"{expected}, found the end of the text", start, end)
        return TextFault(f"{expected}, found `{piece}`", start, end)
