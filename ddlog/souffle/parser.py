"""Text to syntax tree: Lark's LALR automaton, which goes on with the next declaration after an error."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors.diagnostics import Diagnostic, in_order
from ..errors.nearest import nearest
from ..errors.source import Source, Span
from ..errors.syntax import MissingPeriod, Unexpected
from . import syntax as ast
from .actions import Actions
from .lexer import Token
from .preprocess import preprocess

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR = Path(__file__).with_name("grammar.lark")

DIRECTIVES = (
    *(".type", ".symbol_type", ".number_type", ".decl", ".input", ".output", ".printsize", ".limitsize"),
    *(".pragma", ".functor", ".lattice", ".comp", ".init", ".override"),
)
_KINDS = {
    "IDENT": "a name",
    "QUALIFIED": "a name",
    "BRANCH": "`$Name`",
    "NUMBER": "a number",
    "FLOAT": "a number",
    "STRING": "a string",
}
_EXPRESSION = {"IDENT", "NUMBER", "STRING"}


def parse(source: Source) -> tuple[tuple[ast.Item, ...], list[Diagnostic]]:
    """The declarations and rules of a program, and all that is wrong with its syntax."""
    lark = _lark()
    words = _words(lark)
    tokens, found = preprocess(source, words)
    tree = _Parser(lark, words, tokens, found).run()
    if found:
        return (), in_order(found)
    actions = Actions()
    items = _build(tree, actions, tokens)
    return items, in_order(actions.found)


@cache
def _lark() -> Lark:
    from lark import Lark
    from lark.lexer import Lexer

    class NoLexer(Lexer):
        def __init__(self, conf: Any) -> None: ...

        def lex(self, *unused: Any) -> Any:
            return iter(())

    text = GRAMMAR.read_text(encoding="utf-8")
    return Lark(
        text, parser="lalr", lexer=NoLexer, start="program", maybe_placeholders=True, propagate_positions=True
    )


def _words(lark: Lark) -> dict[str, str]:
    """The terminal of each fixed text."""
    from lark.lexer import PatternStr

    return {t.pattern.value: t.name for t in lark.terminals if isinstance(t.pattern, PatternStr)}


class _Parser:
    """One run of the automaton over the tokens; Lark's tokens have the numbers of ours as positions."""

    def __init__(
        self, lark: Lark, words: dict[str, str], tokens: list[Token], found: list[Diagnostic]
    ) -> None:
        self.automaton: Any = lark.parse_interactive("")
        self.texts = {terminal: text for text, terminal in words.items()}
        self.period, self.declaration = words["."], words[".decl"]
        self.tokens, self.found = tokens, found
        # What follows from an error below the grammar is not reported.
        self.bad_lines = {(e.span.source.name, e.span.line) for e in found if e.span is not None}

    def run(self) -> Any:
        """The tree, or None after an error."""
        from lark import UnexpectedToken

        at = 0
        while at < len(self.tokens):
            try:
                self.automaton.feed_token(self._lark_token(at))
                at += 1
            except UnexpectedToken:
                ended = self._lacks_period(at)
                if not ended:
                    self._unexpected(at)
                at = self._resume(at, ended)
        try:
            return self.automaton.feed_eof()
        except UnexpectedToken:
            self._unexpected(at)
            return None

    def _lark_token(self, at: int) -> Any:
        from lark import Token as LarkToken

        kind = self.tokens[at].kind
        return LarkToken(kind, str(at), at, 1, 1, 1, 1, at + 1)

    def _lacks_period(self, at: int) -> bool:
        """Reports that a rule has no end, when the next one seems to begin with the token on a new line."""
        token, before = self.tokens[at], self.tokens[at - 1].span
        begins = token.kind in ("IDENT", "QUALIFIED") or token.value in DIRECTIVES
        if not begins or token.span.line == before.end_line or self.period not in self.automaton.accepts():
            return False
        if self._is_bad(self.tokens[at - 1]):
            return True
        end = Span(before.source, before.end_line, before.end_column, before.end_line, before.end_column)
        self.found.append(MissingPeriod(span=end))
        return True

    def _is_bad(self, token: Token) -> bool:
        return (token.span.source.name, token.span.line) in self.bad_lines

    def _unexpected(self, at: int) -> None:
        if any(self._is_bad(token) for token in self.tokens[max(0, at - 1) : at + 1]):
            return
        fitting = {self.texts.get(kind, kind) for kind in self.automaton.accepts()}
        if at == len(self.tokens):
            last = self.tokens[-1].span
            span = Span(last.source, last.end_line, last.end_column, last.end_line, last.end_column)
            found, help = "end of the text", ""
        else:
            token = self.tokens[at]
            span, found = token.span, f"`{token.span.text()}`"
            near = nearest(token.value, {text for text in fitting if text.islower() and len(text) > 2})
            help = f"did you mean `{near}`?" if near and token.kind == "IDENT" else ""
        self.found.append(Unexpected(found, _wanted(fitting), span=span, help=help))

    def _resume(self, at: int, begins: bool) -> int:
        """Forgets the open phrase; the number of the token with which the next one seems to begin, which is
        `at` when that `begins` one."""
        state = self.automaton.parser_state
        moves = state.parse_conf.parse_table.states
        while len(state.state_stack) > 1 and self.declaration not in moves[state.state_stack[-1]]:
            state.state_stack.pop()
            state.value_stack.pop()
        for i in range(at, len(self.tokens)):
            if begins or (i > at and self.tokens[i - 1].kind == self.period):
                return i
            if self.texts.get(self.tokens[i].kind) in DIRECTIVES:
                return i
        return len(self.tokens)


def _wanted(fitting: set[str]) -> str:
    if fitting >= _EXPRESSION:
        return "a value" if "!" not in fitting else "a term"
    closing: list[str] = [text for text in (")", "]", "}", ",", ":", "=", ":-", ".") if text in fitting]
    shown = closing or sorted(fitting - {"$END"})
    return " or ".join(dict.fromkeys(_KINDS.get(text, f"`{text}`") for text in shown[:5]))


def _build(tree: Any, actions: Actions, tokens: list[Token]) -> Any:
    from lark import Tree

    def build(node: Any) -> Any:
        if node is None:
            return None
        if not isinstance(node, Tree):
            return tokens[node.start_pos]
        meta: Any = node.meta
        span = tokens[0].span if meta.empty else tokens[meta.start_pos].span
        if not meta.empty and tokens[meta.end_pos - 1].span.source is span.source:
            span = span.to(tokens[meta.end_pos - 1].span)
        return getattr(actions, node.data)(span, *map(build, node.children))

    return build(tree) if tokens else ()
