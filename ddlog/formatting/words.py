"""The tokens of a program and the comments around them, as texts of a layout."""

from __future__ import annotations

from collections.abc import Sequence

from ..syntax.lexer import Token
from .comments import Comment, TokenGap, gap_of
from .layout import Layout, LineBreak

_OPENING = ("(", "[", "{", "#", "")
_CLOSING = (")", "]", ",", ";", "?", ":")
_NO_GAP = TokenGap((), False, False)


class TokenWriter:
    """Writes the tokens of a program one after another. Most have a space before them."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self._source, self._tokens = text, tokens
        self.at = 0  # the number of the next token
        self.out = Layout()
        self._glued = True  # no space comes before the next token
        self._gap = self._gap_before(0)

    def begin(self) -> bool:
        """Begins with the next declaration, or with what follows the last one; returns whether an empty line
        is before it."""
        self.out, self._glued = Layout(at_break=LineBreak("", plain=True)), True
        first = self._gap.comments[0] if self._gap.comments else self._gap
        return first.after_empty

    def rest(self) -> Layout:
        """The comments after the last token."""
        self._comments()
        return self.out

    def _gap_before(self, number: int) -> TokenGap:
        start = self._tokens[number - 1].end if number else 0
        end = self._tokens[number].start if number < len(self._tokens) else len(self._source)
        return gap_of(self._source[start:end], number == 0)

    def _breaks_after(self, token: Token) -> bool:
        """Whether the author ends the line after a token."""
        text, at = self._source, token.end
        while at < len(text) and text[at] in " \t\r":
            at += 1
        return text.startswith(("\n", "//"), at)

    def _token(self, token: Token) -> None:
        kind, value = token.kind, token.value
        if kind == "MEMBER":
            shown = f".{value}"
        elif value[:7] == "primary" and value[7:8].isspace():
            shown = "primary key"
        else:
            shown = self._source[token.start : token.end]
        self._text(shown, 1)

    def _text(self, shown: str, tokens: int) -> None:
        """A text of some tokens, with the comments around it."""
        out = self.out
        if self._gap is not _NO_GAP or out.owed:
            self._before()
        spaced = out.at_break is None and not (self._glued or shown in _CLOSING or shown[0] == ".")
        self._glued = shown in _OPENING
        out.text(f" {shown}" if spaced else shown)
        self.at += tokens
        start = self._tokens[self.at - 1].end
        end = self._tokens[self.at].start if self.at < len(self._tokens) else len(self._source)
        if end - start < 2 and self._source[start:end] in ("", " "):
            self._gap = _NO_GAP
        else:
            self._gap = gap_of(self._source[start:end])
            self._trailing()

    def _before(self) -> None:
        """The comments, the line end and the empty line before the next token."""
        gap = self._gap
        if gap.comments:
            self._comments()
        if self.out.owed:
            self.out.line(always=True)
        self._empty(gap.after_empty)

    def _empty(self, empty: bool) -> None:
        before = self.out.at_break
        if before is not None and not before.plain:
            before.empty = before.empty or empty

    def _trailing(self) -> None:
        """The comments on the line of the last token."""
        comments = self._gap.comments
        while comments and not comments[0].new_line and (comments[0].alone or comments[0].ends_line):
            space = "" if self._glued and not comments[0].ends_line else " "
            self.out.text(f"{space}{comments[0].text}")
            self._glued = False
            if comments[0].ends_line:
                self.out.end_line()
            comments = comments[1:]
        self._gap = TokenGap(comments, self._gap.new_line, self._gap.after_empty)

    def _comments(self) -> None:
        """The comments before the next token."""
        gap, self._gap = self._gap, _NO_GAP
        for comment in gap.comments:
            self._comment(comment)
        self._gap = TokenGap((), gap.new_line, gap.after_empty)
        if gap.new_line:
            self.out.end_line()

    def _comment(self, comment: Comment) -> None:
        out = self.out
        if out.owed or (comment.new_line and out.at_break is None):
            out.line(always=True)
        self._empty(comment.after_empty)
        space = "" if out.at_break is not None or self._glued else " "
        out.text(f"{space}{comment.text}")
        self._glued = False
        if comment.ends_line or comment.alone:
            out.end_line()
