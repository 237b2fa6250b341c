"""Expressions as text of this language, with parentheses only where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from . import syntax as ast
from .clauses import names_of
from .functors import CALLED, CONVERSIONS, FUNCTORS, LOGICAL, OPERATORS, REAL, SHIFTS, words
from .infer import NUMERIC, Kinds
from .names import Names, small
from .remarks import Remark
from .types import Types

# How tightly the operators here bind.
POSTFIX, PREFIX, PRODUCT, SUM, SHIFT, CONCAT, COMPARISON = 100, 90, 80, 70, 60, 50, 40
_LEVELS = {"*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "+": SUM, "-": SUM, "&": 38, "^": 36, "|": 34}

_ORDINAL = "the number of a text is arbitrary, and rarely that of another one, too"


@dataclass
class Naming:
    """The names here of the variables of one rule."""

    names: dict[str, str] = field(default_factory=dict)
    space: Names = field(default_factory=lambda: Names(CALLED))

    def name(self, variable: str) -> str:
        """The name of a variable, without the `#` and number that told it from others of its name."""
        if variable not in self.names:
            self.names[variable] = self.space.fresh(small(variable.lstrip("%").partition("#")[0]))
        return self.names[variable]


@dataclass
class Writer:
    """Writes the expressions of one rule. `functions` gathers the functions that the program must declare."""

    types: Types
    kinds: Kinds
    naming: Naming
    functions: dict[str, None]
    found: list[Diagnostic]
    remarks: dict[str, Remark]

    def value(self, expr: ast.Expr, level: int = 0) -> str:
        """The text of a value, as an operand of an operator of precedence `level`."""
        text, own = self._value(expr)
        return f"({text})" if own < level else text

    def typed(self, expr: ast.Expr) -> str:
        """The text of a value where nothing else tells its type."""
        kind = self.kinds.of(expr)
        if names_of(expr) or kind not in NUMERIC:
            return self.value(expr)
        return f"({self.value(expr)}: {self.types.kind_text(kind)})"

    def values(self, exprs: Sequence[ast.Expr]) -> str:
        return ", ".join(self.value(expr) for expr in exprs)

    def _value(self, expr: ast.Expr) -> tuple[str, int]:
        match expr:
            case ast.Var(_, name):
                return self.naming.name(name), POSTFIX
            case ast.Number():
                return self._number(expr)
            case ast.Float(_, text):
                return text, POSTFIX
            case ast.Text(_, value):
                return quoted(value), POSTFIX
            case ast.Nil():
                return "None", POSTFIX
            case ast.Record(_, items):
                return self.made(self.kinds.of(expr), self.constructor(expr), self.values(items)), POSTFIX
            case ast.Branch(_, _, items):
                return self.made(self.kinds.of(expr), self.constructor(expr), self.values(items)), POSTFIX
            case ast.Op(_, _, (operand,)):
                return self._prefixed(expr, operand)
            case ast.Op(_, _, (left, right)):
                return self._binary(expr, left, right)
            case ast.FunctorCall():
                return self._call(expr)
            case ast.UserCall(_, name, args):
                self.functions[f"@{name}"] = None
                return f"{self.types.functor_names[name]}({self.values(args)})", POSTFIX
            case ast.Cast(_, value, _):
                return self._cast(expr, value)
        return self._untranslated(expr), POSTFIX

    # ------------------------------------------------------------- constants

    def _number(self, number: ast.Number) -> tuple[str, int]:
        kind, word, value = self.kinds.of(number), self.types.word, number.value
        least, most = (-(1 << word - 1), (1 << word - 1) - 1) if kind == "number" else (0, (1 << word) - 1)
        if kind in ("number", "unsigned") and not least <= value <= most:
            if number.exact and not (kind == "unsigned" and -most <= value < 0):
                self.found.append(
                    errors.ConstantTooLarge(value=value, kind=kind, word=word, span=number.span)
                )
            value = (value - least) % (1 << word) + least
        return str(value), POSTFIX if value >= 0 else PREFIX

    # ---------------------------------------------------- records and branches

    def constructor(self, expr: ast.Record | ast.Branch) -> str:
        """The constructor here of a record or a branch."""
        key = f"${expr.name}" if isinstance(expr, ast.Branch) else self.kinds.of(expr)
        return self.types.constructors.get(key, "")

    def made(self, kind: str, constructor: str, parts: str) -> str:
        """A value of a record or an algebraic type."""
        text = f"{constructor}{{{parts}}}"
        if kind in self.types.recursive:
            text = f"ref_new({text})"
        return f"Some{{{text}}}" if kind in self.types.optional else text

    # ------------------------------------------------------------- operators

    def _numeric(self, expr: ast.Op) -> str:
        kind = self.kinds.of(expr)
        if kind not in NUMERIC:
            self.found.append(errors.TypeClash(found=kind, wanted="number", span=expr.span))
        return kind

    def _prefixed(self, expr: ast.Op, operand: ast.Expr) -> tuple[str, int]:
        kind = self._numeric(expr)
        match expr.sign:
            case "-" if kind == "unsigned":
                return f"0 - {self.value(operand, SUM + 1)}", SUM
            case "-":
                return f"-{self.value(operand, POSTFIX)}", PREFIX
            case "bnot":
                return f"~{self.value(operand, POSTFIX)}", PREFIX - 1
        return self._logical(expr, kind), POSTFIX

    def _binary(self, expr: ast.Op, left: ast.Expr, right: ast.Expr) -> tuple[str, int]:
        kind, sign = self._numeric(expr), expr.sign
        if kind == "float" and sign == "^":
            self.functions["import fp"] = None
            suffix = words(self.types.word)["suffix"]
            return f"powf_{suffix}({self.values((left, right))})", POSTFIX
        if kind == "float" and sign not in ("+", "-", "*", "/"):
            what, why = f"`{sign}` of floating-point numbers", "the library has no such function"
            self.found.append(errors.CannotTranslate(what=what, why=why, span=expr.span))
        if sign == "^":
            self._declare("power", kind)
            return f"power({self.values((left, right))})", POSTFIX
        if sign in SHIFTS or sign == "bshru":
            return self._shift(sign, kind, left, right)
        if sign in LOGICAL:
            return self._logical(expr, kind), POSTFIX
        level = _LEVELS[OPERATORS[sign]]
        return f"{self.value(left, level)} {OPERATORS[sign]} {self.value(right, level + 1)}", level

    def _shift(self, sign: str, kind: str, left: ast.Expr, right: ast.Expr) -> tuple[str, int]:
        known = words(self.types.word)
        if isinstance(right, ast.Number):
            distance = str(right.value % self.types.word)
        else:
            casts = ([known["bits"]] if kind == "number" else []) + (
                ["bit<32>"] if self.types.word == 64 else []
            )
            distance = " as ".join((self._operand(right), *casts))
            distance = f"({distance})" if casts else distance
        if sign == "bshru" and kind == "number":
            shifted = f"{self._operand(left)} as {known['bits']}"
            return f"(({shifted}) >> {distance}) as {known['number']}", POSTFIX - 1
        return f"{self.value(left, SHIFT)} {SHIFTS.get(sign, '>>')} {distance}", SHIFT

    def _logical(self, expr: ast.Op, kind: str) -> str:
        self._declare(LOGICAL[expr.sign], kind)
        return f"{LOGICAL[expr.sign]}({self.values(expr.args)})"

    def _declare(self, function: str, kind: str) -> None:
        self.functions[function + ("" if kind == "number" else f" {kind}")] = None

    def range_text(self, kind: str, args: Sequence[ast.Expr]) -> str:
        """The vector of the numbers of a range."""
        texts = [self.value(arg) for arg in args]
        if not any(map(names_of, args)):
            texts[0] = f"({texts[0]}: {self.types.kind_text(kind)})"
        if len(texts) == 2 and kind == "unsigned":
            self._declare("upward_or_down", kind)
            return f"upward_or_down({', '.join(texts)})"
        if len(texts) == 2:
            texts.append(f"if ({texts[0]} <= {texts[1]}) 1 else -1")
        elif not isinstance(args[2], ast.Number | ast.Float) or not float(texts[2]):
            self._declare("in_steps", kind)
            return f"in_steps({', '.join(texts)})"
        return f"range_vec({', '.join(texts)})"

    def note(self, text: str, span: Span) -> None:
        """Adds a remark, once for each text."""
        self.remarks.setdefault(text, Remark(text, span))

    # -------------------------------------------------------------- functors

    def _call(self, call: ast.FunctorCall) -> tuple[str, int]:
        name, args = call.name, call.args
        if name == "cat":
            parts = [self.value(arg, CONCAT + (i > 0)) for i, arg in enumerate(args)]
            return " ++ ".join(parts), CONCAT
        if name in ("min", "max"):
            text = self.value(args[0])
            for arg in args[1:]:
                text = f"{name}({text}, {self.value(arg)})"
            return text, POSTFIX
        if name not in FUNCTORS:
            return self._conversion(call)
        if name == "substr":
            self.functions["substring"] = None
        if name == "to_string":
            return f"to_string({self.typed(args[0])})", POSTFIX
        if name in REAL:
            self.functions["import fp"] = None
        functor = FUNCTORS[name]
        shown = (self._operand(arg) if functor.tight else self.value(arg) for arg in args)
        level = POSTFIX - 1 if " as " in functor.text else POSTFIX
        return functor.text.format(*shown, **words(self.types.word)), level

    def _conversion(self, call: ast.FunctorCall) -> tuple[str, int]:
        kind = self.kinds.of(call.args[0]) if call.args else ""
        text = CONVERSIONS.get((call.name, kind))
        if text is None:
            what, why = f"`{call.name}` of a {kind}", "there is no such conversion"
            self.found.append(errors.CannotTranslate(what=what, why=why, span=call.span))
            return "0", POSTFIX
        if text.endswith("({0})"):
            self.functions[text.partition("(")[0]] = None
            if call.name == "to_float":
                self.functions["import fp"] = None
            elif call.name == "ord":
                self.note(_ORDINAL, call.span)
            return text.format(self.value(call.args[0])), POSTFIX
        if "int_from" in text:
            self.functions["import fp"] = None
            shown = text.format(self.value(call.args[0]), **words(self.types.word))
            return shown, POSTFIX - 1
        if text == "{0}":
            return self._value(call.args[0])
        shown = text.format(self._operand(call.args[0]), **words(self.types.word))
        return shown, POSTFIX - 1

    def _cast(self, cast: ast.Cast, value: ast.Expr) -> tuple[str, int]:
        found, wanted = self.kinds.of(value), self.kinds.of(cast)
        if found == wanted:
            return self._value(value)
        if (found, wanted) == ("symbol", "number"):
            return self._conversion(ast.FunctorCall(cast.span, "ord", (value,)))
        if {found, wanted} != {"number", "unsigned"}:
            what = f"`as` from {found} to {wanted}"
            self.found.append(errors.CannotTranslate(what=what, span=cast.span))
        return f"{self._operand(value)} as {self.types.kind_text(wanted)}", POSTFIX - 1

    def _operand(self, expr: ast.Expr) -> str:
        """The operand of a cast, with its type where it has no variable that tells it."""
        return self.value(expr, POSTFIX) if names_of(expr) else self.typed(expr)

    def _untranslated(self, expr: ast.Expr) -> str:
        match expr:
            case ast.Wildcard():
                self.found.append(errors.UnnamedValue(span=expr.span))
            case ast.Counter():
                what, why = "a counter", "its values depend on the order of evaluation"
                self.found.append(errors.CannotTranslate(what=what, why=why, span=expr.span))
            case _:
                self.found.append(errors.CannotTranslate(what="an aggregate here", span=expr.span))
        return "0"


def quoted(text: str) -> str:
    """A string literal."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + plain.replace("\r", "\\r").replace("\0", "\\0").replace("${", "\\${") + '"'
