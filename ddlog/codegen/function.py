"""One function of the language, or one expression of a rule, to the source of one Python function.

An expression is *simple* when Python has an expression for it. All others become statements that
put their value somewhere: into a variable, into a `return`, or nowhere. The operands before one that
needs statements are saved to variables first, so the order of evaluation stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from .. import core
from ..core import Expr, Pattern
from ..core.walk import children
from ..types import Constructor, Function, Opaque, Tuple, Type, User
from ..values import NAN, local_name
from .analysis import assigned, bound_in, folded, free_variables, is_path
from .filling import Filling, filled
from .operators import bits, cast, operation

MAX_DEPTH = 40  # of nested parentheses; deeper ones are saved to variables

RETURN = "return"
NOWHERE = ""


class Names(Protocol):
    """What the code of a function needs of the module that it will stand in."""

    def constant(self, value: Any) -> str:
        """The name of a constant."""

    def function(self, key: str) -> str:
        """The name of a function."""

    def parameters(self, key: str) -> tuple[core.Parameter, ...]:
        """The parameters of a function."""

    def filling(self, key: str) -> Filling | None:
        """How a function adds to the collection that is its first argument, if that is all it does."""

    def struct(self, type: Type, constructor: Constructor) -> tuple[str, bool]:
        """The name of a struct class, and whether its values begin with the constructor's index."""

    def field_places(self, type: Type, name: str) -> set[int]:
        """The places that a field has in the values of a struct or union."""

    def option_none(self, type: Type) -> str:
        """The name of the None of an Option."""


class FunctionWriter:
    """Writes the source of one Python function."""

    def __init__(self, names: Names, parameters: Sequence[str], mutable: Iterable[str], body: Expr) -> None:
        self.names = names
        self.lines: list[str] = []
        self.indent = 1
        self.variables: dict[str, str] = {}
        self.depths: dict[int, int] = {}
        self.builders: dict[str, str] = {}
        self.result_names = tuple(mutable)
        self.assigned = set(assigned(body, names.parameters))
        self.parameters = [self.variable(name) for name in parameters]
        self.mutable = [self.variable(name) for name in self.result_names]
        self.into(body, RETURN)

    def source(self, name: str) -> str:
        """The text of the function's definition."""
        return "\n".join([f"def {name}({', '.join(self.parameters)}):", *self.lines, ""])

    # ------------------------------------------------------------ pieces

    def variable(self, name: str) -> str:
        """The Python name of a variable of the language."""
        found = self.variables.get(name)
        if found is None:
            plain = "".join(c for c in name if c.isascii() and c.isalnum())
            found = self.variables[name] = (
                f"{plain}_{len(self.variables)}" if plain else f"v_{len(self.variables)}"
            )
            if found[0].isdigit():
                found = self.variables[name] = "v" + found
        return found

    def fresh(self) -> str:
        """A Python name that nothing else uses."""
        return self.variable(f"$temporary{len(self.variables)}")

    def emit(self, line: str) -> None:
        """Adds a statement."""
        self.lines.append("    " * self.indent + line)

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

    # ------------------------------------------------------ simple or not

    def depth(self, expr: Expr) -> int:
        """How deep the Python expression nests, or more than MAX_DEPTH when there is none."""
        found = self.depths.get(id(expr))
        if found is None:
            found = self.depths[id(expr)] = self._depth(expr)
        return found

    def simple(self, expr: Expr) -> bool:
        """Whether Python has an expression for it."""
        return self.depth(expr) <= MAX_DEPTH

    def _depth(self, expr: Expr) -> int:
        match expr:
            case core.Const() | core.Var() | core.FunctionValue():
                return 0
            case core.Closure(parameters, body):
                return MAX_DEPTH + 1 if any(p.mutable for p in parameters) else self.depth(body) + 2
            case core.Apply(function) if any(_mutable(function)):
                return MAX_DEPTH + 1
            case core.Call() if any(each.mutable for each in self.names.parameters(expr.function)):
                return MAX_DEPTH + 1
            case core.Match(arg, arms):
                if not is_path(arg) or any(self._rebinds(pattern) for pattern, _ in arms):
                    return MAX_DEPTH + 1
                return max([self.depth(body) + i for i, (_, body) in enumerate(arms)]) + 3
            case core.Block((only,)):
                return self.depth(only)
            case core.Op() | core.Cast() | core.Slice() | core.MakeTuple() | core.MakeStruct():
                return self._depth_of(children(expr))
            case core.GetField() | core.GetItem() | core.Call() | core.Apply() | core.If():
                return self._depth_of(children(expr))
        return MAX_DEPTH + 1

    def _depth_of(self, operands: Sequence[Expr]) -> int:
        return max((self.depth(each) for each in operands), default=0) + 2

    def _rebinds(self, pattern: Pattern) -> bool:
        return any(name in self.assigned for name in bound_in(pattern))

    # --------------------------------------------------------- expressions

    def text(self, expr: Expr) -> str:
        """The Python expression of a value; statements that it needs are emitted first."""
        if not self.simple(expr):
            target = self.fresh()
            self.into(expr, target)
            return target
        match folded(expr):
            case core.Const(value):
                return self.constant(value)
            case core.Var(name):
                return self.variable(name)
            case core.Block((only,)):
                return self.text(only)
            case core.Match(arg, arms):
                return self.choice(self.text(arg), arms)
            case core.FunctionValue(function):
                return self.names.function(function)
            case core.Closure(_, body) as closure:
                head, outer = self.closure_head(closure)
                text = f"(lambda {head}: {self.text(body)})"
                self.variables |= outer
                return text
        return self.combined(expr, [self.text(each) for each in children(expr)])

    def operands(self, exprs: Sequence[Expr]) -> list[str]:
        """The texts of operands, of which later ones may need statements."""
        last = max((i for i, each in enumerate(exprs) if not self.simple(each)), default=-1)
        texts = []
        for i, each in enumerate(exprs):
            text = self.text(each)
            stable = isinstance(each, core.Const) or (
                isinstance(each, core.Var) and each.name not in self.assigned
            )
            if i < last and not stable:
                text = self.saved(text)
            texts.append(text)
        return texts

    def combined(self, expr: Expr, args: list[str]) -> str:
        """The Python expression of an operation on operands given as texts."""
        match expr:
            case core.Op(op, operands, type):
                right = operands[1].type if len(operands) > 1 else None
                return operation(op, args, operands[0].type, type, right)
            case core.Cast(arg, type):
                return cast(args[0], arg.type, type)
            case core.Slice(_, high, low):
                return bits(args[0], high, low)
            case core.MakeTuple():
                return _tuple(args)
            case core.MakeStruct(constructor, _, type):
                cls, union = self.names.struct(type, constructor)
                return f"_new({cls}, {_tuple([str(constructor.index), *args] if union else args)})"
            case core.GetField(arg, name):
                places = self.names.field_places(arg.type, name)
                return f"{args[0]}[{places.pop()}]" if len(places) == 1 else f"_field({args[0]}, {name!r})"
            case core.GetItem(_, index):
                return f"{args[0]}[{index}]"
            case core.Call(function):
                return f"{self.names.function(function)}({', '.join(args)})"
            case core.Apply():
                return f"{args[0]}({', '.join(args[1:])})"
            case core.If():
                return f"({args[1]} if {args[0]} else {args[2]})"
        raise AssertionError(f"{expr.__class__.__name__} is no operation")

    def constant(self, value: Any) -> str:
        """The text of a constant."""
        if isinstance(value, bool | str) or (type(value) is int and 0 <= value < 1 << 64) or value == ():
            return repr(value) if value != () else "()"
        if value is NAN:
            return "_NAN"
        return self.names.constant(value)

    def choice(self, subject: str, arms: Sequence[tuple[Pattern, Expr]]) -> str:
        """A match as a conditional expression, in which pattern variables are paths into the subject."""
        *others, (pattern, body) = arms
        text = self.arm(subject, pattern, body)
        for pattern, body in reversed(others):
            condition = " and ".join(self.conditions(subject, pattern)) or "True"
            text = f"({self.arm(subject, pattern, body)} if {condition} else {text})"
        return text

    def arm(self, subject: str, pattern: Pattern, body: Expr) -> str:
        """The text of an arm's simple body."""
        self.variables |= dict(self.bindings(subject, pattern))
        return self.text(body)

    # ------------------------------------------------------------ patterns

    def conditions(self, subject: str, pattern: Pattern) -> list[str]:
        """The tests that a value must pass to match."""
        match pattern:
            case core.VarPattern(_, _, inner):
                return self.conditions(subject, inner) if inner is not None else []
            case core.ConstPattern(bool() as value):
                return [subject if value else f"not {subject}"]
            case core.ConstPattern(value):
                return [f"{subject} == {self.constant(value)}"]
            case core.TuplePattern(items):
                return [
                    test for i, each in enumerate(items) for test in self.conditions(f"{subject}[{i}]", each)
                ]
            case core.StructPattern(constructor, args, type):
                _, union = self.names.struct(type, constructor)
                tests = [f"{subject}[0] == {constructor.index}"] if union else []
                for i, each in enumerate(args):
                    tests += self.conditions(f"{subject}[{i + union}]", each)
                return tests
        return []

    def bindings(self, subject: str, pattern: Pattern) -> list[tuple[str, str]]:
        """The variables that a pattern binds, each with the text of its value."""
        match pattern:
            case core.VarPattern(name, _, inner):
                found = self.bindings(subject, inner) if inner is not None else []
                return [(name, subject), *found]
            case core.TuplePattern(items):
                return [b for i, each in enumerate(items) for b in self.bindings(f"{subject}[{i}]", each)]
            case core.StructPattern(constructor, args, type):
                _, union = self.names.struct(type, constructor)
                return [
                    b for i, each in enumerate(args) for b in self.bindings(f"{subject}[{i + union}]", each)
                ]
        return []

    def bind(self, subject: str, pattern: Pattern) -> None:
        """Emits the assignments of a pattern's variables."""
        for name, text in self.bindings(subject, pattern):
            self.emit(f"{self.variable(name)} = {text}")

    # ---------------------------------------------------------- statements

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
            case core.Call(function, (core.Var(name), *args)) if name in self.builders:
                how = self.names.filling(function)
                assert how is not None
                self.emit(how.add.format(self.builders[name], *self.operands(args)))
                self.put("()", target)
            case core.Call(function, args) if not self.simple(expr):
                mutable = [each.mutable for each in self.names.parameters(function)]
                self.put(self.call(self.names.function(function), mutable, args), target)
            case core.Apply(function, args) if not self.simple(expr):
                called = self.saved(self.text(function))
                self.put(self.call(called, _mutable(function), args), target)
            case core.Closure() if not self.simple(expr):
                self.put(self.closure(expr), target)
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
            conditions = self.conditions(subject, pattern) if i < len(arms) - 1 else []
            if conditions:
                self.emit(f"{keyword} {' and '.join(conditions)}:")
                keyword = "elif"
            elif keyword == "elif":
                self.emit("else:")
            nesting = 1 if conditions or keyword == "elif" else 0
            self.indent += nesting
            before = len(self.lines)
            self.bind(subject, pattern)
            self.into(body, target)
            if len(self.lines) == before and nesting:
                self.emit("pass")
            self.indent -= nesting
            if not conditions:
                return

    def saved(self, text: str) -> str:
        """A new variable that holds a value."""
        target = self.fresh()
        self.put(text, target)
        return target

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
            for name, how in filled(body, self.names.filling, self.result_names).items()
            if name not in self.builders
        }
        for name, how in fillings.items():
            self.builders[name] = self.saved(f"{how.builder}({self.variable(name)})")
        self.iterate(pattern, collection, elements, body)
        for name, how in fillings.items():
            self.emit(f"{self.variable(name)} = {how.result}({self.builders.pop(name)})")

    def iterate(self, pattern: Pattern, collection: Expr, elements: str, body: Expr) -> None:
        """Emits a `for` statement. The elements of a group come with their weight, 1."""
        item, weight = pattern, None
        grouped = isinstance(collection.type, Opaque) and local_name(collection.type.name) == "Group"
        if grouped:
            elements += "[1]"
            if isinstance(pattern, core.TuplePattern):
                item, weight = pattern.items
        plain = isinstance(item, core.VarPattern) and item.inner is None
        element = self.variable(item.name) if plain else self.fresh()  # type: ignore[union-attr]
        self.emit(f"for {element} in {elements}:")
        self.indent += 1
        if grouped and weight is None and not isinstance(pattern, core.AnyPattern):
            self.emit(f"{element} = ({element}, 1)")
        if not plain:
            self.bind(element, item)
        if weight is not None:
            self.bind("1", weight)
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

    def closure_head(self, closure: core.Closure) -> tuple[str, dict[str, str]]:
        """The parameters of a closure, with those that hold the variables around it, whose values are then
        those of now; and the texts of these variables outside."""
        own = [self.variable(each.name) for each in closure.parameters]
        names = {each.name for each in closure.parameters}
        outer = {name: self.variable(name) for name in free_variables(closure.body) if name not in names}
        held = []
        for name, text in outer.items():
            if not text.isidentifier():
                self.variables[name] = self.fresh()
            held.append(f"{self.variables[name]}={text}")
        return ", ".join([*own, *(["*", *held] if held else [])]), outer

    def closure(self, closure: core.Closure) -> str:
        """Emits the function that a closure is; gives its name."""
        name = self.fresh()
        head, outer = self.closure_head(closure)
        self.emit(f"def {name}({head}):")
        around, self.mutable = self.mutable, [self.variable(p.name) for p in closure.parameters if p.mutable]
        self.nested(closure.body, RETURN)
        self.mutable = around
        self.variables |= outer
        return name

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


def _mutable(function: Expr) -> tuple[bool, ...]:
    """Which arguments a function that is a value changes."""
    return function.type.mutable if isinstance(function.type, Function) else ()


def _tuple(texts: Sequence[str]) -> str:
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
