"""The phrases of a program as steps of a layout.

Most phrases are their parts with a space between them; `_FORMS` has the others. Texts that stand without a
space are the same everywhere, or a form says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..syntax.lexer import Token
from ..syntax.parser import Phrase
from .brackets import Brackets, is_block, is_token, spliced
from .layout import Layout


class DeclarationForms(Brackets):
    """Lays out the declarations of a program in their order."""

    def declaration(self, part: Any, periods: Iterable[Any]) -> Layout:
        """The layout of a declaration, with the comments before it and on its last line."""
        self._part(part)
        for each in periods:
            self._token(each)
        return self.out

    def _part(self, part: Any) -> None:
        if type(part) is Token:
            self._token(part)
            return
        form = _FORMS.get(part.action)
        if form is None:
            for each in part.parts:
                self._part(each)
        else:
            form(self, part.parts)

    # ------------------------------------------------------------ declarations

    def _declared(self, parts: Sequence[Any]) -> None:
        *attributes, declared = parts
        for each in attributes:
            self._part(each)
            if self._gap.new_line:
                self.out.line(always=True, plain=True)
        self._part(declared)

    def _attributes(self, parts: Sequence[Any]) -> None:
        at = 0
        while at < len(parts):
            if at and self._gap.new_line:
                self.out.line(always=True, plain=True)
            end = next(k for k in range(at, len(parts)) if is_token(parts[k], "]"))
            self._part(parts[at])
            self._brackets(parts[at + 1 : end + 1], "")
            at = end + 1

    def _angles(self, parts: Sequence[Any]) -> None:
        """Parts with a list between `<` and `>`."""
        for each in parts:
            self._glued = self._glued or is_token(each, "<") or is_token(each, ">")
            self._part(each)
            if is_token(each, "<"):
                self._glued = True

    def _typedef(self, parts: Sequence[Any]) -> None:
        *heading, equals, of = parts
        for each in heading:
            if type(each) is Phrase:
                self._angles(each.parts)
            else:
                self._part(each)
        constructors = spliced([of])
        if sum(is_token(each, "|") for each in constructors) == 0:
            self._parts([equals, of])
            return
        out = self.out
        out.group(any(is_token(each, "|") and self._starts_line(each) for each in constructors))
        self._before()
        if out.at_break is None:
            out.text(" ")
        self._glued = True
        out.indent(here=True)
        self._part(equals)
        for each in constructors:
            if is_token(each, "|") and each is not constructors[-1]:
                out.line()
            self._part(each)
        out.dedent()
        out.close()

    def _starts_line(self, token: Token) -> bool:
        start = self._source.rfind("\n", 0, token.start) + 1
        return not self._source[start : token.start].strip()

    def _function(self, parts: Sequence[Any]) -> None:
        equals = next((k for k, each in enumerate(parts) if is_token(each, "=")), len(parts))
        self._call(parts[: equals + 1])
        for each in parts[equals + 1 :]:
            self._value(each)

    def _relation(self, parts: Sequence[Any]) -> None:
        """A declaration whose primary key stands on a line of its own, if one line is too short."""
        *declared, key = parts
        if type(key) is not Phrase:
            self._call(parts)
            return
        out = self.out
        out.group()
        self._call(declared)
        out.indent()
        out.line()
        self._part(key)
        out.dedent()
        out.close()

    def _loop(self, parts: Sequence[Any]) -> None:
        opening = next(k for k, each in enumerate(parts) if is_token(each, "{"))
        self._parts(parts[: opening + 1])
        out = self.out
        out.indent()
        for number, each in enumerate(parts[opening + 1 : -1]):
            if not is_token(each, "."):
                out.line(always=True, plain=number == 0)
            self._part(each)
        if self._gap.comments:
            if out.at_break is None:
                out.line(always=True)
            self._comments()
        out.dedent()
        if out.at_break is None:
            out.line(always=True, plain=True)
        self._glue(parts[-1])

    def _rule(self, parts: Sequence[Any]) -> None:
        heads, *body, period = parts
        out = self.out
        out.group(bool(body) and self._breaks_after(body[0]))
        out.group()
        self._listed(spliced([heads]))
        out.close()
        if body:
            self._part(body[0])
            out.indent()
            if body[1:]:
                out.line(plain=True)
            self._listed(spliced(body[1:]))
            out.dedent()
        self._glue(period)
        out.close()

    def _listed(self, items: Sequence[Any]) -> None:
        for number, each in enumerate(items):
            self._part(each)
            if is_token(each, ",") and number + 1 < len(items):
                self.out.line()

    # ----------------------------------------------- statements and expressions

    def _atom(self, parts: Sequence[Any]) -> None:
        """A term: its name, a tick, a delay, and its arguments or its element in brackets."""
        brackets = next(
            (k for k, each in enumerate(parts) if is_token(each, "(") or is_token(each, "[")), len(parts)
        )
        self._joined(parts[:brackets])
        if brackets < len(parts):
            self._glued = True
            self._brackets(parts[brackets:], "")

    def _for(self, parts: Sequence[Any]) -> None:
        self._parts(parts[:-1])
        self._body(parts[-1])

    def _if(self, parts: Sequence[Any]) -> None:
        out = self.out
        out.group()
        self._branches(parts)
        out.close()

    def _branches(self, parts: Sequence[Any]) -> None:
        """`if`, a condition, and its branches, whose blocks and lines break together."""
        word, condition, then, *rest = parts
        self._parts([word, condition])
        self._branch(then)
        if not rest:
            return
        if not is_block(then):
            self.out.line()
        self._part(rest[0])
        if type(rest[1]) is Phrase and rest[1].action in ("if_", "if_statement"):
            self._branches(rest[1].parts)
        else:
            self._branch(rest[1])

    def _branch(self, part: Any) -> None:
        out = self.out
        if is_block(part):
            opening, *inner, closing = part.parts
            if self._breaks_after(opening):
                out.group(True)
                out.close()
            self._part(opening)
            if inner:
                out.indent()
                out.line(plain=True)
                self._items(spliced(inner))
                if self._gap.comments:
                    self._comments()
                out.dedent()
                if out.at_break is None:
                    out.line(plain=True)
            self._glue(closing)
            return
        if self._gap.new_line:
            out.group(True)
            out.close()
        out.indent()
        out.line()
        self._part(part)
        out.dedent()

    def _matched(self, parts: Sequence[Any]) -> None:
        self._parts(parts[:2])
        self._brackets(parts[2:], " ")

    def _let(self, parts: Sequence[Any]) -> None:
        """`var x = e in`, and the statement that it is for, on the next line."""
        self._parts(parts[:-1])
        if not is_block(parts[-1]):
            self.out.group(self._gap.new_line)
            self.out.line()
            self._part(parts[-1])
            self.out.close()
        else:
            self._part(parts[-1])

    def _arm(self, parts: Sequence[Any]) -> None:
        self._parts(parts[:-1])
        self._value(parts[-1])

    def _operation(self, parts: Sequence[Any]) -> None:
        out = self.out
        if self._gap.comments:
            self._before()
        out.group()
        self._part(parts[0])
        out.indent()
        for operator, operand in zip(parts[1::2], parts[2::2], strict=True):
            out.line()
            self._part(operator)
            self._glued = False
            self._part(operand)
        out.dedent()
        out.close()

    def _prefix(self, parts: Sequence[Any]) -> None:
        self._part(parts[0])
        self._glue(parts[1])

    def _mark(self, parts: Sequence[Any]) -> None:
        self._part(parts[0])
        self._glued = True

    def _binding(self, parts: Sequence[Any]) -> None:
        *before, at, pattern = parts
        self._parts(before)
        self._glue(at)
        self._glue(pattern)

    def _bars(self, parts: Sequence[Any]) -> None:
        """A closure, or the type of a function, with its parameters between bars or parentheses."""
        bars = 0
        if not is_token(parts[0], "|"):
            self._call(parts)
            return
        for each in parts:
            bar = is_token(each, "|")
            self._glued = self._glued or (bar and bars == 1) or (bars == 1)
            self._part(each)
            bars += bar
            if bars == 1 and not bar:
                self._glued = True
        self._glued = False

    def _texts(self, parts: Sequence[Any]) -> None:
        """Strings that follow each other."""
        out = self.out
        out.group()
        out.indent()
        for number, each in enumerate(parts):
            if number:
                out.line()
            self._part(each)
        out.dedent()
        out.close()

    def _string(self, parts: Sequence[Any]) -> None:
        """A string with all code in it, as it is written."""
        end = parts[-1].end
        last = self.at
        while self._tokens[last].end < end or self._tokens[last].kind != "_CLOSE_STRING":
            last += 1
        self._text(self._source[parts[0].start : end], last + 1 - self.at)
        self._glued = False


_CALLS = (
    "extern_function", "transformer", "apply", "relation_type", "index", "until_end", "constructor",
    "plain_constructor", "struct", "call", "method", "flat_map", "aggregate",
)  # fmt: skip
_SPACED = ("vector", "map", "tuple", "tuple_type", "condition", "tuple_condition", "key")

_Form = Callable[[DeclarationForms, Sequence[Any]], None]

_FORMS: dict[str, _Form] = {
    "declaration": DeclarationForms._declared,
    "attributes": DeclarationForms._attributes,
    "rule": DeclarationForms._rule,
    "alias": DeclarationForms._typedef,
    "typedef": DeclarationForms._typedef,
    "function": DeclarationForms._function,
    "loop": DeclarationForms._loop,
    "relation_of_fields": DeclarationForms._relation,
    "relation_of_type": DeclarationForms._relation,
    "for_statement": DeclarationForms._for,
    "for_": DeclarationForms._for,
    "if_": DeclarationForms._if,
    "if_statement": DeclarationForms._if,
    "let_statement": DeclarationForms._let,
    "guard_statement": DeclarationForms._let,
    "arm": DeclarationForms._arm,
    "operation": DeclarationForms._operation,
    "binding": DeclarationForms._binding,
    "reference_mark": DeclarationForms._mark,
    "text": DeclarationForms._texts,
    "spliced_piece": DeclarationForms._string,
    **dict.fromkeys(("match", "match_statement"), DeclarationForms._matched),
    **dict.fromkeys(("named_type", "bit_type", "signed_type", "extern_type"), DeclarationForms._angles),
    **dict.fromkeys(("block", "block_statement"), DeclarationForms._block),
    **dict.fromkeys(("atom_of_args", "atom_of_element", "bare_atom"), DeclarationForms._atom),
    **dict.fromkeys(("by_ref", "reference", "negative", "complement"), DeclarationForms._prefix),
    **dict.fromkeys(("closure", "function_type"), DeclarationForms._bars),
    **dict.fromkeys(("interned", "slice", "operator"), DeclarationForms._joined),
    **dict.fromkeys(_CALLS, DeclarationForms._call),
    **dict.fromkeys(_SPACED, DeclarationForms._spaced),
}
