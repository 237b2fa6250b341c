"""Expressions as syntax trees of this language, each at the place of the expression that it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

from .. import syntax
from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..syntax.templates import arguments, integer, name, string, tree
from . import syntax as ast
from .clauses import names_of
from .functors import CALLED, CONVERSIONS, FUNCTORS, LOGICAL, OPERATORS, REAL, SHIFTS, words
from .infer import NUMERIC, Kinds
from .names import FreeNames, small
from .remarks import Remark
from .types import SouffleTypes

_ORDINAL = "the number of a text is arbitrary, and rarely that of another one, too"


@dataclass
class Naming:
    """The names here of the variables of one rule."""

    names: dict[str, str] = field(default_factory=dict)
    space: FreeNames = field(default_factory=lambda: FreeNames(CALLED))

    def name(self, variable: str) -> str:
        """The name of a variable, without the `#` and number that told it from others of its name."""
        if variable not in self.names:
            self.names[variable] = self.space.fresh(small(variable.lstrip("%").partition("#")[0]))
        return self.names[variable]


@dataclass
class ArgumentWriter:
    """Writes the expressions of one rule. `functions` gathers the functions that the program must declare."""

    types: SouffleTypes
    kinds: Kinds
    naming: Naming
    functions: dict[str, None]
    found: list[Diagnostic]
    remarks: dict[str, Remark]

    def variable(self, variable: str, at: Span) -> syntax.Expr:
        """A variable."""
        return name(self.naming.name(variable), at)

    def typed(self, expr: ast.Expr) -> syntax.Expr:
        """A value where nothing else tells its type."""
        kind = self.kinds.of(expr)
        if names_of(expr) or kind not in NUMERIC:
            return self.value(expr)
        return syntax.TypedExpr(self.value(expr), self.types.kind_type(kind), expr.span)

    def values(self, exprs: Sequence[ast.Expr]) -> list[syntax.Expr]:
        """Values, one after another."""
        return [self.value(expr) for expr in exprs]

    def value(self, expr: ast.Expr) -> syntax.Expr:
        """A value."""
        match expr:
            case ast.Named(span, name):
                return self.variable(name, span)
            case ast.Number():
                return self._number(expr)
            case ast.Real(span, text):
                return syntax.FloatLit(float(text), None, span)
            case ast.Text(span, value):
                return string(value, span)
            case ast.Boolean(span, value):
                return syntax.BoolLit(value, span)
            case ast.Nil(span):
                return syntax.Struct("None", None, span)
            case ast.RecordValue(span, items) | ast.Branch(span, _, items):
                return self.made(self.kinds.of(expr), self.constructor(expr), self.values(items), span)
            case ast.Operation(_, _, (operand,)):
                return self._prefixed(expr, operand)
            case ast.Operation(_, _, (left, right)):
                return self._binary(expr, left, right)
            case ast.FunctorCall():
                return self._call(expr)
            case ast.UserCall(span, name, args):
                self.functions[f"@{name}"] = None
                return self._called(self.types.functor_names[name], args, span)
            case ast.TypeCast(_, value, _):
                return self._cast(expr, value)
        return self._untranslated(expr)

    def _called(self, function: str, args: Sequence[ast.Expr], at: Span) -> syntax.Expr:
        return syntax.Call(name(function, at), tuple(self.values(args)), at)

    def _template(self, template: str, *given: syntax.Expr, at: Span) -> syntax.Expr:
        """A template of a functor, with the types here."""
        return tree(template.format_map(words(self.types.word)), *given, at=at)

    # ------------------------------------------------------------- constants

    def _number(self, number: ast.Number) -> syntax.Expr:
        kind, word, value = self.kinds.of(number), self.types.word, number.value
        least, most = (-(1 << word - 1), (1 << word - 1) - 1) if kind == "number" else (0, (1 << word) - 1)
        if kind in ("number", "unsigned") and not least <= value <= most:
            if number.exact and not (kind == "unsigned" and -most <= value < 0):
                self.found.append(
                    errors.ConstantTooLarge(value=value, kind=kind, word=word, span=number.span)
                )
            value = (value - least) % (1 << word) + least
        return integer(value, number.span)

    # ---------------------------------------------------- records and branches

    def constructor(self, expr: ast.RecordValue | ast.Branch) -> str:
        """The constructor here of a record or a branch."""
        key = f"${expr.name}" if isinstance(expr, ast.Branch) else self.kinds.of(expr)
        return self.types.constructors.get(key, "")

    def made(self, kind: str, constructor: str, parts: Sequence[syntax.Expr], at: Span) -> syntax.Expr:
        """A value of a record or an algebraic type."""
        made: syntax.Expr = syntax.Struct(constructor, arguments(parts), at)
        if kind in self.types.recursive:
            made = tree("ref_new($)", made, at=at)
        return tree("Some{$}", made, at=at) if kind in self.types.optional else made

    # ------------------------------------------------------------- operators

    def _numeric(self, expr: ast.Operation) -> str:
        kind = self.kinds.of(expr)
        if kind not in NUMERIC:
            self.found.append(errors.TypeClash(found=kind, wanted="number", span=expr.span))
        return kind

    def _prefixed(self, expr: ast.Operation, operand: ast.Expr) -> syntax.Expr:
        kind, at = self._numeric(expr), expr.span
        match expr.sign:
            case "-" if kind == "unsigned":
                return tree("0 - $", self.value(operand), at=at)
            case "-" if isinstance(operand, ast.Real):
                return syntax.FloatLit(-float(operand.text), None, at)
            case "-":
                return tree("-$", self.value(operand), at=at)
            case "bnot":
                return tree("~$", self.value(operand), at=at)
        return self._logical(expr, kind)

    def _binary(self, expr: ast.Operation, left: ast.Expr, right: ast.Expr) -> syntax.Expr:
        if expr.sign == "+" and self.kinds.of(expr) == "symbol":
            return tree("$ ++ $", self.value(left), self.value(right), at=expr.span)
        kind, sign = self._numeric(expr), expr.sign
        if kind == "float" and sign == "^":
            self.functions["import fp"] = None
            return self._called(f"powf_{words(self.types.word)['suffix']}", (left, right), expr.span)
        if kind == "float" and sign not in ("+", "-", "*", "/"):
            what, why = f"`{sign}` of floating-point numbers", "the library has no such function"
            self.found.append(errors.CannotTranslate(what=what, why=why, span=expr.span))
        if sign == "^":
            self._declare("power", kind)
            return self._called("power", (left, right), expr.span)
        if sign in SHIFTS or sign == "bshru":
            return self._shift(expr, kind, left, right)
        if sign in LOGICAL:
            return self._logical(expr, kind)
        return syntax.Binary(OPERATORS[sign], self.value(left), self.value(right), expr.span)

    def _shift(self, expr: ast.Operation, kind: str, left: ast.Expr, right: ast.Expr) -> syntax.Expr:
        at = expr.span
        if isinstance(right, ast.Number):
            distance = integer(right.value % self.types.word, right.span)
        else:
            distance = self.typed(right)
            casts = (["$ as {bits}"] if kind == "number" else []) + (
                ["$ as bit<32>"] if self.types.word == 64 else []
            )
            for cast in casts:
                distance = self._template(cast, distance, at=right.span)
        if expr.sign == "bshru" and kind == "number":
            return self._template("(($ as {bits}) >> $) as {number}", self.typed(left), distance, at=at)
        return syntax.Binary(SHIFTS.get(expr.sign, ">>"), self.value(left), distance, at)

    def _logical(self, expr: ast.Operation, kind: str) -> syntax.Expr:
        self._declare(LOGICAL[expr.sign], kind)
        return self._called(LOGICAL[expr.sign], expr.args, expr.span)

    def _declare(self, function: str, kind: str) -> None:
        self.functions[function + ("" if kind == "number" else f" {kind}")] = None

    def numbers_of(self, kind: str, args: Sequence[ast.Expr], at: Span) -> syntax.Expr:
        """The vector of the numbers of a range."""
        first, *others = self.values(args)
        if not any(map(names_of, args)):
            first = syntax.TypedExpr(first, self.types.kind_type(kind), at)
        if not others[1:]:
            if kind == "unsigned":
                self._declare("upward_or_down", kind)
                return tree("upward_or_down($, $)", first, *others, at=at)
            return tree("range_vec($0, $1, if ($0 <= $1) 1 else -1)", first, *others, at=at)
        if not _is_nonzero(args[2]):
            self._declare("in_steps", kind)
            return tree("in_steps($, $, $)", first, *others, at=at)
        return tree("range_vec($, $, $)", first, *others, at=at)

    def note(self, text: str, span: Span) -> None:
        """Adds a remark, once for each text."""
        self.remarks.setdefault(text, Remark(text, span))

    # -------------------------------------------------------------- functors

    def _call(self, call: ast.FunctorCall) -> syntax.Expr:
        name, args, at = call.name, call.args, call.span
        if name in ("cat", "min", "max"):
            joined = "$ ++ $" if name == "cat" else f"{name}($, $)"
            return reduce(lambda one, other: tree(joined, one, other, at=at), self.values(args))
        if name not in FUNCTORS:
            return self._conversion(call)
        if name == "substr":
            self.functions["substring"] = None
        if name in REAL:
            self.functions["import fp"] = None
        functor = FUNCTORS[name]
        if name == "to_string" and self.kinds.of(args[0]) == "float":
            self.functions["import sql as sql"] = None
            return tree("sql::fixed_text($ as double)", self.typed(args[0]), at=at)
        if name == "to_string" or functor.cast:
            return self._template(functor.template, self.typed(args[0]), at=at)
        return self._template(functor.template, *self.values(args), at=at)

    def _conversion(self, call: ast.FunctorCall) -> syntax.Expr:
        kind = self.kinds.of(call.args[0]) if call.args else ""
        if call.name == "ord" and (numbers := self.types.numbered(kind)):
            arms = ", ".join(f"{name}{{}} -> {number}" for name, number in numbers.items())
            matched = tree(f"match ($) {{{arms}}}", self.value(call.args[0]), at=call.span)
            return syntax.TypedExpr(matched, self.types.kind_type("number"), call.span)
        is_ordinal = call.name == "ord" and (kind in self.types.records or kind in self.types.unions)
        template = CONVERSIONS.get((call.name, "symbol" if is_ordinal else kind))
        if template is None:
            what, why = f"`{call.name}` of a {kind}", "there is no such conversion"
            self.found.append(errors.CannotTranslate(what=what, why=why, span=call.span))
            return integer(0, call.span)
        if template.endswith("_of($)") or template == "ordinal($)":
            self.functions[template.partition("(")[0]] = None
        if template.endswith("_of($)"):
            self.functions["import sql as sql"] = None
        if call.name == "ord":
            self.note(_ORDINAL, call.span)
        if "int_from" in template or template == "float_of($)":
            self.functions["import fp"] = None
        operand = self.typed if template.startswith("$ as") else self.value
        return self._template(template, operand(call.args[0]), at=call.span)

    def _cast(self, cast: ast.TypeCast, value: ast.Expr) -> syntax.Expr:
        found, wanted = self.kinds.of(value), self.kinds.of(cast)
        if found == wanted:
            return self.value(value)
        if wanted in ("number", "unsigned") and (found == "symbol" or self.types.numbered(found)):
            made = self._conversion(ast.FunctorCall(cast.span, "ord", (value,)))
            kind = self.types.kind_type(wanted)
            return made if wanted == "number" else syntax.Cast(made, kind, cast.span)
        if found in ("number", "unsigned") and (numbers := self.types.numbered(wanted)):
            self.functions["import sql as sql"] = None
            arms = ", ".join(f"{number} -> Some{{{name}{{}}}}" for name, number in numbers.items())
            branch = f'sql::sure(match ($0) {{{arms}, _ -> None}}, to_string($0), "number of a {wanted}")'
            return tree(branch, self.typed(value), at=cast.span)
        if {found, wanted} != {"number", "unsigned"}:
            what = f"`as` from {found} to {wanted}"
            self.found.append(errors.CannotTranslate(what=what, span=cast.span))
        return syntax.Cast(self.typed(value), self.types.kind_type(wanted), cast.span)

    def _untranslated(self, expr: ast.Expr) -> syntax.Expr:
        match expr:
            case ast.Unnamed():
                self.found.append(errors.UnnamedValue(span=expr.span))
            case ast.Counter():
                what, why = "a counter", "its values depend on the order of evaluation"
                self.found.append(errors.CannotTranslate(what=what, why=why, span=expr.span))
            case _:
                self.found.append(errors.CannotTranslate(what="an aggregate here", span=expr.span))
        return integer(0, expr.span)


def _is_nonzero(step: ast.Expr) -> bool:
    match step:
        case ast.Number(_, value):
            return value != 0
        case ast.Real(_, text):
            return float(text) != 0
    return False
