"""One function of the language, or one expression of a rule, as the source of one Python function.

Expressions that Python has none for become statements that put their value somewhere: into a variable, into
a `return`, or nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import core
from ..core import Expr, Pattern
from ..core.walk import children
from ..types import Opaque, Tuple, User
from ..values import local_name
from .accumulators import FILLING, LOOKING_UP, filled
from .analysis import assigned
from .expressions import ExpressionWriter, GeneratedNames, changed_arguments
from .patterns import bindings, conditions

RETURN = "return"
NOWHERE = ""


class FunctionWriter(ExpressionWriter):
    """Writes the source of one Python function. The first `captured` of its parameters are the items of a
    closure, which is its first argument then. With `asks` all strings ask for memory before they grow."""

    def __init__(
        self,
        names: GeneratedNames,
        parameters: Sequence[str],
        mutable: Iterable[str],
        body: Expr,
        captured: int = 0,
        asks: bool = False,
    ) -> None:
        super().__init__(names, set(assigned(body, names.parameters)))
        self.asks = asks
        self.builders: dict[str, str] = {}
        self.result_names = tuple(mutable)
        self.parameters = [self.variable(name) for name in parameters]
        self.mutable = [self.variable(name) for name in self.result_names]
        if captured:
            held, self.parameters = self.parameters[:captured], ["self", *self.parameters[captured:]]
            self.emit(f"_, {', '.join(held)} = self")
        self.into(body, RETURN)

    def source(self, name: str) -> str:
        """The text of the function's definition."""
        return "\n".join([f"def {name}({', '.join(self.parameters)}):", *self.lines, ""])

    def combined(self, expr: Expr, args: list[str]) -> str:
        """As of an expression of a rule, but strings that grow ask for memory; in a rule those with a part
        twice. A collection that a loop fills is looked up in as it grows."""
        match expr:
            case core.Call(function, (core.Var(name), *_)) if name in self.builders:
                return LOOKING_UP[self.names.library(function)].format(self.builders[name], *args[1:])
        if isinstance(expr, core.Op) and expr.op == "concat":
            parts = [
                text for each, text in zip(expr.args, args, strict=True) if not isinstance(each, core.Const)
            ]
            if self.asks or len({*parts}) < len(parts):
                return f"_concatenated({', '.join(args)})"
        return super().combined(expr, args)

    def put(self, text: str, target: str) -> None:
        """Emits the statement that puts a value where it belongs."""
        if target == RETURN:
            self.emit(f"return {self.returned(text)}")
        elif target != NOWHERE:
            self.emit(f"{target} = {text}")
        elif not text.isidentifier() and text != "()":
            self.emit(text)

    def returned(self, text: str) -> str:
        """A result together with the final values of the `mut` parameters."""
        return f"({', '.join([text, *self.mutable])})" if self.mutable else text

    def into(self, expr: Expr, target: str) -> None:
        """Emits statements that compute a value and put it where `target` says."""
        match expr:
            case core.Block(items):
                for each in items[:-1]:
                    self.into(each, NOWHERE)
                self.into(items[-1], target) if items else self.put("()", target)
            case core.If() if target != NOWHERE and self.simple(expr):
                self.put(self.text(expr), target)
            case core.If(condition, then, otherwise):
                self.branch(self.text(condition), then, otherwise, target)
            case core.Match(arg, arms):
                self.match(arg, arms, target)
            case core.Op(op, (left, right)) if op in ("and", "or", "=>") and not self.simple(right):
                self.short_circuit(op, left, right, target)
            case core.Declare(pattern, value):
                self.declare(pattern, value)
                self.put("()", target)
            case core.Assign(place, value):
                self.assign(place, self.text(value))
                self.put("()", target)
            case core.For(pattern, collection, body):
                self.loop(pattern, collection, body)
                self.put("()", target)
            case core.Break():
                self.emit("break")
            case core.Continue():
                self.emit("continue")
            case core.Return(value):
                self.into(value, RETURN)
            case core.Try():
                self.put(self.attempt(expr), target)
            case core.Call(function, (core.Var(name), *args)) if name in self.builders and (
                how := FILLING.get(self.names.library(function))
            ):
                self.emit(how.add.format(self.builders[name], *self.operands(args)))
                self.put("()", target)
            case core.Call(function, args) if not self.simple(expr):
                mutable = [each.mutable for each in self.names.parameters(function)]
                self.put(self.call(self.names.function(function), mutable, args), target)
            case core.Apply(function, args) if not self.simple(expr):
                called = self.saved(self.text(function))
                self.put(self.call(called, changed_arguments(function), args), target)
            case _ if self.simple(expr):
                self.put(self.text(expr), target)
            case _:
                self.put(self.combined(expr, self.operands(children(expr))), target)

    def nested(self, expr: Expr, target: str) -> None:
        """Emits an indented suite."""
        self.indent += 1
        before = len(self.lines)
        self.into(expr, target)
        if len(self.lines) == before:
            self.emit("pass")
        self.indent -= 1

    def branch(self, condition: str, then: Expr, otherwise: Expr, target: str) -> None:
        """Emits an `if` statement."""
        self.emit(f"if {condition}:")
        self.nested(then, target)
        if target != NOWHERE or otherwise != core.MakeTuple((), Tuple(()), otherwise.span):
            self.emit("else:")
            self.nested(otherwise, target)

    def short_circuit(self, op: str, left: Expr, right: Expr, target: str) -> None:
        """Emits a logical operator whose right side needs statements."""
        held = self.saved(self.text(left))
        if op == "=>":
            self.emit(f"{held} = not {held}")
        self.emit(f"if {held}:" if op == "and" else f"if not {held}:")
        self.nested(right, held)
        self.put(held, target)

    def match(self, arg: Expr, arms: Sequence[tuple[Pattern, Expr]], target: str) -> None:
        """Emits a chain of `if` statements; the last arm needs no test."""
        subject = self.text(arg)
        if not isinstance(arg, core.Var) or arg.name in self.assigned:
            subject = self.saved(subject)
        keyword = "if"
        for i, (pattern, body) in enumerate(arms):
            tests = conditions(subject, pattern, self.names) if i < len(arms) - 1 else []
            if tests:
                self.emit(f"{keyword} {' and '.join(tests)}:")
                keyword = "elif"
            elif keyword == "elif":
                self.emit("else:")
            nesting = 1 if tests or keyword == "elif" else 0
            self.indent += nesting
            before = len(self.lines)
            self.bind(subject, pattern)
            self.into(body, target)
            if len(self.lines) == before and nesting:
                self.emit("pass")
            self.indent -= nesting
            if not tests:
                return

    def bind(self, subject: str, pattern: Pattern) -> None:
        """Emits the assignments of a pattern's variables."""
        for name, text in bindings(subject, pattern, self.names):
            self.emit(f"{self.variable(name)} = {text}")

    def declare(self, pattern: Pattern, value: Expr) -> None:
        """Emits a declaration."""
        if isinstance(pattern, core.VarPattern) and pattern.inner is None:
            self.into(value, self.variable(pattern.name))
        else:
            self.bind(self.saved(self.text(value)), pattern)

    def assign(self, place: Expr, text: str) -> None:
        """Emits the replacement of a variable, or of a part of the value that it holds."""
        match place:
            case core.Var(name):
                if self.variable(name) != text:
                    self.emit(f"{self.variable(name)} = {text}")
            case core.GetItem(arg, index):
                self.assign(arg, f"_replaced({self.text(arg)}, {index}, {text})")
            case core.GetField(arg, name):
                places = self.names.field_places(arg.type, name)
                whole = self.text(arg)
                at = f"{places.pop()}" if len(places) == 1 else f"_field_index({whole}, {name!r})"
                self.assign(arg, f"_replaced({whole}, {at}, {text})")
            case _:
                raise AssertionError(f"{type(place).__name__} is no place")

    def loop(self, pattern: Pattern, collection: Expr, body: Expr) -> None:
        """Emits a `for` statement, and around it what collections that it fills need."""
        elements = self.text(collection)
        fillings = {
            name: how
            for name, how in filled(body, self.names.library, self.result_names).items()
            if name not in self.builders
        }
        for name, how in fillings.items():
            self.builders[name] = self.saved(f"{how.builder}({self.variable(name)})")
        self.iterate(pattern, collection, elements, body)
        for name, how in fillings.items():
            self.emit(f"{self.variable(name)} = {how.result}({self.builders.pop(name)})")

    def iterate(self, pattern: Pattern, collection: Expr, elements: str, body: Expr) -> None:
        """Emits a `for` statement. The values of a group come with their weights, if these are looked at."""
        item = pattern
        if isinstance(collection.type, Opaque) and local_name(collection.type.name) == "Group":
            alone = isinstance(pattern, core.TuplePattern) and isinstance(pattern.items[1], core.AnyPattern)
            elements += "[1]" if alone else ".weighed()"
            item = pattern.items[0] if alone else pattern  # type: ignore[union-attr]
        plain = isinstance(item, core.VarPattern) and item.inner is None
        element = self.variable(item.name) if plain else self.fresh()  # type: ignore[union-attr]
        self.emit(f"for {element} in {elements}:")
        self.indent += 1
        if not plain:
            self.bind(element, item)
        self.indent -= 1
        self.nested(body, NOWHERE)

    def attempt(self, expr: core.Try) -> str:
        """Emits the early return of `e?`; gives the text of the content."""
        held = self.saved(self.text(expr.arg))
        option = isinstance(expr.arg.type, User) and local_name(expr.arg.type.name) == "Option"
        to_option = isinstance(expr.result, User) and local_name(expr.result.name) == "Option"
        self.emit(f"if {held}[0] == {0 if option else 1}:")
        self.indent += 1
        self.put(self.names.option_none(expr.result) if to_option else held, RETURN)
        self.indent -= 1
        return f"{held}[1]"

    def call(self, function: str, mutable: Sequence[bool], args: Sequence[Expr]) -> str:
        """Emits a call with its assignments to `mut` arguments; gives the text of its result."""
        texts = self.operands(args)
        text = f"{function}({', '.join(texts)})"
        places = [arg for arg, changed in zip(args, mutable, strict=True) if changed]
        if not places:
            return text
        result, held = self.fresh(), [self.fresh() for _ in places]
        self.emit(f"{', '.join([result, *held])} = {text}")
        for place, new in zip(places, held, strict=True):
            self.assign(place, new)
        return result
