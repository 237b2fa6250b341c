"""From reductions of the grammar to nodes of the syntax tree: a method for each rule or alias there.

A method gets the offsets at which its phrase starts and ends, then the values of the parts:
nodes, lists, tokens, None for an optional part that is absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import syntax as ast
from ..errors import syntax as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from .lexer import Places, Token
from .operators import climb

WIDEST = 1 << 16  # bits of an integer

_BASES = {
    "d": (10, "a decimal number"),
    "h": (16, "a hexadecimal number"),
    "o": (8, "an octal number"),
    "b": (2, "a binary number"),
}


class Actions:
    """Builds the tree of one text; `found` are the errors in it that are not about grammar."""

    def __init__(self, places: Places) -> None:
        self.span = places.span
        self.found: list[Diagnostic] = []
        self._too_wide: dict[Span, errors.LiteralTooWide] = {}

    def errors(self) -> list[Diagnostic]:
        return [*self.found, *self._too_wide.values()]

    def _at(self, token: Token) -> Span:
        return self.span(token.start, token.end)

    # -------------------------------------------------------------- whole texts

    def module(self, start: int, end: int, *declarations: ast.Declaration) -> ast.Module:
        return ast.Module(declarations, self.span(start, end))

    def query(self, start: int, end: int, clauses: tuple[ast.Clause, ...]) -> ast.Query:
        return ast.Query(clauses, self.span(start, end))

    def listing(self, start: int, end: int, *items: Any) -> tuple[Any, ...]:
        return items

    def pair(self, start: int, end: int, left: Any, right: Any) -> tuple[Any, Any]:
        return left, right

    def _mark(self, start: int, end: int, token: Token) -> str:
        return token.value

    mut = role = kind = reference_mark = prime = semicolon = _mark

    # ----------------------------------------------------------------- literals

    def true(self, start: int, end: int) -> ast.Expr:
        return ast.BoolLit(True, self.span(start, end))

    def false(self, start: int, end: int) -> ast.Expr:
        return ast.BoolLit(False, self.span(start, end))

    def integer(self, start: int, end: int, token: Token) -> ast.Expr:
        return ast.IntLit(int(token.value.replace("_", "")), None, None, self.span(start, end))

    def sized(self, start: int, end: int, token: Token) -> ast.Expr:
        span = self.span(start, end)
        before, _, after = token.value.replace("_", "").partition("'")
        signed = after.startswith("s")
        base, name = _BASES[after[signed]]
        width = int(before) if before else None
        try:
            value = int(after[signed + 1 :], base)
        except ValueError:
            self.found.append(errors.BadDigits(token.value, name, span=span))
            value = 0
        if width is not None:
            written, width = width, self._width(width, span)
            if written == width:
                self._check_width(value, width, signed, span)
        return ast.IntLit(value, width, signed, span)

    def _check_width(self, value: int, width: int, signed: bool, span: Span) -> None:
        least, greatest = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        if not least <= value <= greatest:
            shown = f"{'signed' if signed else 'bit'}<{width}>"
            self._too_wide[span] = errors.LiteralTooWide(value, shown, least, greatest, span=span)

    def floating(self, start: int, end: int, token: Token) -> ast.Expr:
        span = self.span(start, end)
        before, sized, after = token.value.replace("_", "").partition("'f")
        width = int(before) if sized else None
        if width not in (None, 32, 64):
            self.found.append(errors.BadFloatWidth(width or 0, span=span))
        return ast.FloatLit(float(after or before), width, span)

    def plain_piece(self, start: int, end: int, token: Token) -> list[ast.Expr]:
        return [ast.StringLit(token.value, self.span(start, end))]

    def spliced_piece(self, start: int, end: int, *parts: Any) -> list[ast.Expr]:
        return [
            ast.StringLit(part.value, self._at(part)) if isinstance(part, Token) else part for part in parts
        ]

    def text(self, start: int, end: int, *pieces: Any) -> ast.Expr:
        parts: list[ast.Expr] = []
        for part in (part for piece in pieces for part in piece):
            before = parts[-1] if parts else None
            if isinstance(part, ast.StringLit) and isinstance(before, ast.StringLit):
                parts[-1] = ast.StringLit(before.value + part.value, before.span.to(part.span))
            else:
                parts.append(part)
        span = self.span(start, end)
        if any(not isinstance(part, ast.StringLit) for part in parts):
            return ast.Interpolated(tuple(parts), span)
        return ast.StringLit("".join(part.value for part in parts if isinstance(part, ast.StringLit)), span)

    def interned(self, start: int, end: int, value: ast.Expr) -> ast.Expr:
        return ast.Interned(value, self.span(start, end))

    def vector(self, start: int, end: int, items: tuple[ast.Expr, ...]) -> ast.Expr:
        return ast.VectorLit(items, self.span(start, end))

    def map(self, start: int, end: int, items: tuple[tuple[ast.Expr, ast.Expr], ...]) -> ast.Expr:
        return ast.MapLit(items, self.span(start, end))

    # -------------------------------------------------------------------- types

    def builtin_type(self, start: int, end: int, name: Token) -> ast.Type:
        return ast.NamedType(name.value, (), self.span(start, end))

    def named_type(self, start: int, end: int, name: Token, args: tuple[ast.Type, ...] = ()) -> ast.Type:
        return ast.NamedType(name.value, args, self.span(start, end))

    def bit_type(self, start: int, end: int, width: Token) -> ast.Type:
        return self._int_type(start, end, width, False)

    def signed_type(self, start: int, end: int, width: Token) -> ast.Type:
        return self._int_type(start, end, width, True)

    def _int_type(self, start: int, end: int, token: Token, signed: bool) -> ast.Type:
        width = self._width(int(token.value.replace("_", "")), self._at(token))
        return ast.IntType(width, signed, self.span(start, end))

    def _width(self, width: int, span: Span) -> int:
        if width == 0:
            self.found.append(errors.ZeroWidth(span=span))
        elif width > WIDEST:
            self.found.append(errors.GreatWidth(WIDEST, span=span))
        return min(max(1, width), WIDEST)

    def var_type(self, start: int, end: int, name: Token) -> ast.Type:
        return ast.VarType(name.value[1:], self.span(start, end))

    def tuple_type(self, start: int, end: int, items: tuple[ast.Type, ...] | None) -> ast.Type:
        if items and len(items) == 1:
            return items[0]
        return ast.TupleType(items or (), self.span(start, end))

    def mut_type(
        self, start: int, end: int, name: Token | None, mut: str | None, type: ast.Type
    ) -> tuple[ast.Type, bool]:
        return type, mut is not None

    def function_type(
        self, start: int, end: int, given: Sequence[tuple[ast.Type, bool]] | None, result: ast.Type | None
    ) -> ast.Type:
        types = tuple(type for type, _ in given or ())
        mutable = tuple(mut for _, mut in given or ())
        return ast.FunctionType(types, mutable, result, self.span(start, end))

    def relation_type(self, start: int, end: int, kind: str, element: ast.Type) -> ast.Type:
        return ast.RelationType(kind, element, self.span(start, end))

    # ------------------------------------------------------------- declarations

    def declaration(
        self, start: int, end: int, attributes: Any, declared: ast.Declaration
    ) -> ast.Declaration:
        if attributes and not isinstance(declared, ast.Import):
            declared = replace(declared, attributes=attributes)
        return declared

    def attributes(self, start: int, end: int, *attributes: ast.Attribute) -> tuple[ast.Attribute, ...]:
        return attributes

    def attribute(self, start: int, end: int, name: Token, value: ast.Expr | None) -> ast.Attribute:
        return ast.Attribute(name.value, value, self.span(start, end))

    def import_(self, start: int, end: int, name: Token, alias: Token | None) -> ast.Import:
        return ast.Import(name.value, alias and alias.value, self.span(start, end))

    def _declared(self, name: Token) -> str:
        if "::" in name.value:
            self.found.append(errors.QualifiedDeclaration(name.value, span=self._at(name)))
        return name.value

    def alias(
        self, start: int, end: int, name: Token, given: Sequence[Token] | None, type: ast.Type
    ) -> ast.Declaration:
        span, parameters = self.span(start, end), _names(given)
        if isinstance(type, ast.NamedType) and type.name == name.value and not type.args:
            only = ast.ConstructorDecl(type.name, (), (), type.span)
            return ast.TypeDecl(self._declared(name), parameters, (only,), (), span, self._at(name))
        return ast.AliasDecl(self._declared(name), parameters, type, (), span, self._at(name))

    def typedef(
        self, start: int, end: int, name: Token, given: Sequence[Token] | None, constructors: Any
    ) -> ast.Declaration:
        span, parameters = self.span(start, end), _names(given)
        return ast.TypeDecl(self._declared(name), parameters, constructors, (), span, self._at(name))

    def constructor(
        self, start: int, end: int, attributes: Any, name: Token, fields: tuple[ast.Field, ...] | None
    ) -> ast.ConstructorDecl:
        span = self.span(start, end)
        return ast.ConstructorDecl(self._declared(name), fields or (), attributes or (), span)

    def plain_constructor(
        self, start: int, end: int, name: Token, fields: tuple[ast.Field, ...] | None = None
    ) -> ast.ConstructorDecl:
        return self.constructor(start, end, None, name, fields)

    def field(self, start: int, end: int, attributes: Any, name: Token, type: ast.Type) -> ast.Field:
        return ast.Field(self._declared(name), type, attributes or (), self.span(start, end))

    def extern_type(
        self, start: int, end: int, name: Token, given: Sequence[Token] | None
    ) -> ast.Declaration:
        span = self.span(start, end)
        return ast.ExternTypeDecl(self._declared(name), _names(given), (), span, self._at(name))

    def function(
        self, start: int, end: int, name: Token, given: Any, result: ast.Type | None, body: ast.Expr | None
    ) -> ast.Declaration:
        span = self.span(start, end)
        return ast.FunctionDecl(self._declared(name), given or (), result, body, (), span, self._at(name))

    def extern_function(
        self, start: int, end: int, name: Token, given: Any, result: ast.Type | None
    ) -> ast.Declaration:
        return self.function(start, end, name, given, result, None)

    def argument(
        self, start: int, end: int, attributes: Any, name: Token, mut: str | None, type: ast.Type
    ) -> ast.Parameter:
        span = self.span(start, end)
        return ast.Parameter(self._declared(name), type, mut is not None, attributes or (), span)

    def transformer(self, start: int, end: int, name: Token, inputs: Any, outputs: Any) -> ast.Declaration:
        span = self.span(start, end)
        return ast.TransformerDecl(
            self._declared(name), inputs or (), outputs or (), (), span, self._at(name)
        )

    def port(self, start: int, end: int, name: Token, type: ast.Type) -> ast.Field:
        return ast.Field(self._declared(name), type, (), self.span(start, end))

    def apply(self, start: int, end: int, name: Token, inputs: Any, outputs: Any) -> ast.Declaration:
        return ast.ApplyDecl(name.value, _names(inputs), _names(outputs), (), self.span(start, end))

    def relation_of_fields(
        self, start: int, end: int, role: str | None, kind: str, ref: Any, name: Token, given: Any, key: Any
    ) -> ast.Declaration:
        fields = tuple(
            column if isinstance(column, ast.Field) else ast.Field(str(i), column, (), column.span)
            for i, column in enumerate(given or ())
        )
        return ast.RelationDecl(
            self._declared(name), role or "internal", kind, ref is not None, fields, None, key, (),
            self.span(start, end), self._at(name),
        )  # fmt: skip

    def relation_of_type(
        self, start: int, end: int, role: str | None, kind: str, ref: Any, name: Token, type: Any, key: Any
    ) -> ast.Declaration:
        return ast.RelationDecl(
            self._declared(name), role or "internal", kind, ref is not None, None, type, key, (),
            self.span(start, end), self._at(name),
        )  # fmt: skip

    def unnamed_column(self, start: int, end: int, type: ast.Type) -> ast.Type:
        return type

    def key(self, start: int, end: int, variable: Token, value: ast.Expr) -> ast.PrimaryKey:
        return ast.PrimaryKey(variable.value, value, self.span(start, end))

    def index(self, start: int, end: int, name: Token, fields: Any, atom: ast.Atom) -> ast.Declaration:
        span = self.span(start, end)
        return ast.IndexDecl(self._declared(name), fields or (), atom, (), span, self._at(name))

    # -------------------------------------------------------------------- rules

    def rule(self, start: int, end: int, heads: tuple[ast.Atom, ...], body: Any) -> ast.Declaration:
        return ast.RuleDecl(heads, body or (), (), self.span(start, end))

    def heads(self, start: int, end: int, *heads: ast.Atom) -> tuple[ast.Atom, ...]:
        return heads

    def clauses(self, start: int, end: int, *clauses: ast.Clause) -> tuple[ast.Clause, ...]:
        return clauses

    def located(self, start: int, end: int, atom: ast.Atom, location: ast.Expr) -> ast.Atom:
        return replace(atom, location=location, span=self.span(start, end))

    def negated(self, start: int, end: int, atom: ast.Atom) -> ast.Atom:
        return replace(atom, negated=True, span=self.span(start, end))

    def bound(self, start: int, end: int, name: Token, atom: ast.Atom) -> ast.Atom:
        return replace(atom, binder=name.value, span=self.span(start, end))

    def by_ref(self, start: int, end: int, atom: ast.Atom) -> ast.Atom:
        return replace(atom, by_ref=True, span=self.span(start, end))

    def condition(self, start: int, end: int, expr: ast.Expr) -> ast.Clause:
        return ast.Condition(expr, self.span(start, end))

    def inspect(self, start: int, end: int, expr: ast.Expr) -> ast.Clause:
        return ast.Inspect(expr, self.span(start, end))

    def atom_of_args(
        self, start: int, end: int, name: Token, prime: Any, delay: Token | None, args: Any
    ) -> ast.Atom:
        return ast.Atom(
            name.value, self._uniform(args), None, self.span(start, end), self._at(name),
            differentiated=prime is not None, delay=int(delay.value) if delay else None,
        )  # fmt: skip

    def atom_of_element(
        self, start: int, end: int, name: Token, prime: Any, delay: Token | None, element: ast.Expr
    ) -> ast.Atom:
        return ast.Atom(
            name.value, None, element, self.span(start, end), self._at(name),
            differentiated=prime is not None, delay=int(delay.value) if delay else None,
        )  # fmt: skip

    def bare_atom(self, start: int, end: int, name: Token) -> ast.Atom:
        return ast.Atom(name.value, None, None, self.span(start, end), self._at(name))

    def positional(self, start: int, end: int, value: ast.Expr) -> ast.Argument:
        return ast.Argument(None, value, self.span(start, end))

    def named(self, start: int, end: int, member: Token, value: ast.Expr) -> ast.Argument:
        return ast.Argument(member.value, value, self.span(start, end))

    def rest(self, start: int, end: int, member: Token) -> ast.Argument | None:
        if member.value != "_":
            found = f"`.{member.value}` without a value"
            self.found.append(errors.Unexpected(found, f"`.{member.value} = ...`", span=self._at(member)))
        return None

    def _uniform(self, args: Sequence[ast.Argument | None] | None) -> tuple[ast.Argument, ...]:
        """The arguments without `._`, which says what holds anyhow: the other fields do not matter."""
        given = tuple(arg for arg in args or () if arg is not None)
        if given and any((arg.name is None) != (given[0].name is None) for arg in given):
            other = next(arg for arg in given if (arg.name is None) != (given[0].name is None))
            self.found.append(errors.MixedArguments(span=other.span))
        return given

    # ------------------------------------------------- statements of `for` rules

    def for_rule(self, start: int, end: int, statement: ast.ForStatement) -> ast.Declaration:
        return ast.ForDecl(statement, (), self.span(start, end))

    def for_statement(
        self, start: int, end: int, pattern: ast.Expr, atom: ast.Atom, condition: Any, body: ast.Statement
    ) -> ast.Statement:
        return ast.ForStatement(pattern, atom, condition, body, self.span(start, end))

    def if_statement(
        self, start: int, end: int, condition: ast.Expr, then: ast.Statement, otherwise: Any
    ) -> ast.Statement:
        return ast.IfStatement(condition, then, otherwise, self.span(start, end))

    def match_statement(self, start: int, end: int, arg: ast.Expr, arms: Any) -> ast.Statement:
        return ast.MatchStatement(arg, arms or (), self.span(start, end))

    def let_statement(
        self, start: int, end: int, pattern: ast.Expr, value: ast.Expr, body: ast.Statement
    ) -> ast.Statement:
        return ast.LetStatement(pattern, value, body, self.span(start, end))

    def insert_statement(self, start: int, end: int, atom: ast.Atom) -> ast.Statement:
        return ast.InsertStatement(atom, self.span(start, end))

    def block_statement(self, start: int, end: int, items: Any) -> ast.Statement:
        return ast.BlockStatement(items or (), self.span(start, end))

    def skip_statement(self, start: int, end: int) -> ast.Statement:
        return ast.BlockStatement((), self.span(start, end))

    # -------------------------------------------------------------- expressions

    def assign(self, start: int, end: int, target: ast.Expr, value: ast.Expr) -> ast.Expr:
        return ast.Assign(target, value, self.span(start, end))

    def operator(self, start: int, end: int, *signs: Token) -> Token:
        if len(signs) == 2 and signs[0].end != signs[1].start:
            self.found.append(errors.SplitShift(span=self._at(signs[1])))
        return Token("", "".join(sign.value for sign in signs), start, end)

    def operation(self, start: int, end: int, *parts: Any) -> ast.Expr:
        return climb(self._connectives(parts), self.found)

    def _connectives(self, parts: Sequence[Any]) -> Sequence[Any]:
        """The operands and operators; `a && b` is an error, and read as `a and b`."""
        read = list(parts)
        for i in range(1, len(read), 2):
            if read[i].value == "&" and self._touching(read[i], read[i + 1]):
                self.found.append(errors.DoubledSign(span=self._at(read[i])))
                read[i : i + 2] = read[i]._replace(value="and"), read[i + 1].arg
        return read

    def _touching(self, sign: Token, operand: ast.Expr) -> bool:
        """Whether the operand is a reference, and its `&` touches the sign."""
        if not isinstance(operand, ast.Unary) or operand.op != "&":
            return False
        span = self._at(sign)
        return (operand.span.line, operand.span.column) == (span.end_line, span.end_column)

    def negative(self, start: int, end: int, arg: ast.Expr) -> ast.Expr:
        span = self.span(start, end)
        if isinstance(arg, ast.IntLit) and arg.value >= 0:
            wide = self._too_wide.get(arg.span)
            if wide is not None and -arg.value >= wide.least and arg.signed:
                del self._too_wide[arg.span]
            return replace(arg, value=-arg.value, span=span)
        if isinstance(arg, ast.FloatLit):
            return replace(arg, value=-arg.value, span=span)
        return ast.Unary("-", arg, span)

    def complement(self, start: int, end: int, arg: ast.Expr) -> ast.Expr:
        return ast.Unary("~", arg, self.span(start, end))

    def inverse(self, start: int, end: int, arg: ast.Expr) -> ast.Expr:
        return ast.Unary("not", arg, self.span(start, end))

    def reference(self, start: int, end: int, arg: ast.Expr) -> ast.Expr:
        return ast.Unary("&", arg, self.span(start, end))

    def try_(self, start: int, end: int, arg: ast.Expr) -> ast.Expr:
        return ast.Try(arg, self.span(start, end))

    def slice(self, start: int, end: int, arg: ast.Expr, high: Token, low: Token) -> ast.Expr:
        return ast.Slice(arg, int(high.value), int(low.value), self.span(start, end))

    def method(self, start: int, end: int, arg: ast.Expr, member: Token, args: Any) -> ast.Expr:
        name_span = self.span(member.end - len(member.value), member.end)
        return ast.MethodCall(arg, member.value, args or (), self.span(start, end), name_span)

    def call(self, start: int, end: int, function: ast.Expr, args: Any) -> ast.Expr:
        span = self.span(start, end)
        if isinstance(function, ast.Struct) and function.args is None:
            self.found.append(errors.CallOfUpper(function.constructor, span=span))
        return ast.Call(function, args or (), span)

    def get_field(self, start: int, end: int, arg: ast.Expr, member: Token) -> ast.Expr:
        return ast.GetField(arg, member.value, self.span(start, end))

    def get_item(self, start: int, end: int, arg: ast.Expr, item: Token) -> ast.Expr:
        return ast.GetItem(arg, int(item.value[1:]), self.span(start, end))

    def typed(self, start: int, end: int, arg: ast.Expr, type: ast.Type) -> ast.Expr:
        return ast.Typed(arg, type, self.span(start, end))

    def cast(self, start: int, end: int, arg: ast.Expr, type: ast.Type) -> ast.Expr:
        return ast.Cast(arg, type, self.span(start, end))

    def name(self, start: int, end: int, name: Token) -> ast.Expr:
        return ast.Name(name.value, self.span(start, end))

    def wildcard(self, start: int, end: int) -> ast.Expr:
        return ast.Wildcard(self.span(start, end))

    def variable(self, start: int, end: int, name: Token) -> ast.Expr:
        return ast.VarDecl(self._declared(name), self.span(start, end))

    def binding(self, start: int, end: int, name: Token, pattern: ast.Expr) -> ast.Expr:
        return ast.Binding(self._declared(name), pattern, self.span(start, end))

    def bare_struct(self, start: int, end: int, name: Token) -> ast.Expr:
        return ast.Struct(name.value, None, self.span(start, end))

    def struct(self, start: int, end: int, name: Token, args: Any) -> ast.Expr:
        return ast.Struct(name.value, self._uniform(args), self.span(start, end))

    def tuple(self, start: int, end: int, items: tuple[ast.Expr, ...] | None) -> ast.Expr:
        if items and len(items) == 1:
            return replace(items[0], span=self.span(start, end))
        return ast.TupleExpr(items or (), self.span(start, end))

    def block(self, start: int, end: int, *parts: Any) -> ast.Expr:
        *items, semicolon = parts
        given = [item for item in items if item is not None]
        if semicolon or not given:
            given.append(ast.TupleExpr((), self.span(end - 1, end)))
        return ast.Block(tuple(given), self.span(start, end))

    def if_(self, start: int, end: int, condition: ast.Expr, then: ast.Expr, otherwise: Any) -> ast.Expr:
        return ast.If(condition, then, otherwise, self.span(start, end))

    def match(self, start: int, end: int, arg: ast.Expr, arms: Any) -> ast.Expr:
        return ast.Match(arg, arms or (), self.span(start, end))

    def arm(self, start: int, end: int, pattern: ast.Expr, body: ast.Expr) -> ast.Arm:
        return ast.Arm(pattern, body, self.span(start, end))

    def for_(self, start: int, end: int, pattern: ast.Expr, items: ast.Expr, body: ast.Expr) -> ast.Expr:
        return ast.For(pattern, items, body, self.span(start, end))

    def break_(self, start: int, end: int) -> ast.Expr:
        return ast.Break(self.span(start, end))

    def continue_(self, start: int, end: int) -> ast.Expr:
        return ast.Continue(self.span(start, end))

    def return_(self, start: int, end: int, value: ast.Expr | None) -> ast.Expr:
        return ast.Return(value, self.span(start, end))

    def closure(self, start: int, end: int, given: Any, result: ast.Type | None, body: ast.Expr) -> ast.Expr:
        return ast.Closure(given or (), result, body, self.span(start, end))

    def closure_parameter(
        self, start: int, end: int, name: Token, mut: str | None, type: ast.Type | None
    ) -> ast.ClosureParameter:
        return ast.ClosureParameter(self._declared(name), type, mut is not None, self.span(start, end))

    def flat_map(self, start: int, end: int, arg: ast.Expr) -> ast.Expr:
        return ast.FlatMap(arg, self.span(start, end))

    def aggregate(self, start: int, end: int, keys: ast.Expr, value: ast.Expr) -> ast.Expr:
        return ast.Aggregate(keys, value, self.span(start, end))


def _names(tokens: Sequence[Token] | None) -> tuple[str, ...]:
    return tuple(token.value.removeprefix("'") for token in tokens or ())
