"""Clauses as rules of this language.

The clauses of a rule here are read from left to right, so the literals are put into an order in which every
variable has a value before it is used. The next literal is always the first of the rest that can stand next.
A term can always stand next: an argument whose variables have no values yet becomes an equality after the
term.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from . import syntax as ast
from .clauses import Literal, Negated, Numbered, Range, Summary, names_of, variables
from .expressions import COMPARISON, CONCAT, POSTFIX, Naming, Writer, quoted
from .infer import NUMERIC, Kinds
from .patterns import Patterns
from .regex import simple_match
from .remarks import Remark
from .types import Types


@dataclass(frozen=True, slots=True)
class Dependency:
    """A relation that a rule reads: `positive`, `negated` or `grouped`."""

    relation: str
    how: str
    span: Span


@dataclass(frozen=True, slots=True)
class OutRule:
    """A rule here: the relations of its heads, the text of its heads and clauses, and what it reads."""

    relations: tuple[str, ...]
    heads: tuple[str, ...]
    body: tuple[str, ...]
    reads: tuple[Dependency, ...]


@dataclass(frozen=True, slots=True)
class OutRelation:
    """A relation here: `role` is `input `, `output ` or empty."""

    role: str
    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Share:
    """The numbers of a counter: `first`, and every `step`-th number after it. `is_hashed` in a recursion."""

    first: int
    step: int
    is_hashed: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """Either of two ways to go on in a body."""

    one: tuple[str, ...]
    other: tuple[str, ...]


@dataclass
class Output:
    """The results of a translation while it runs. `relation_name` gives the name here of a relation there,
    `head` the relation of which its rules derive rows and what stands before the values in them, `fresh` a
    name for a further one, `summarize` the relation of an aggregate of a rule; `number` writes a counter,
    which has one of the `shares`."""

    types: Types
    relation_name: Callable[[str], str]
    head: Callable[[str], tuple[str, str]]
    fresh: Callable[[str], str]
    summarize: Callable[[Summary, BodyWriter], str]
    number: Callable[[Numbered, BodyWriter], None]
    found: list[Diagnostic]
    relations: list[OutRelation] = field(default_factory=list)
    rules: list[OutRule] = field(default_factory=list)
    functions: dict[str, None] = field(default_factory=dict)
    # The functions that are made for one relation: their texts by name.
    texts: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, Remark] = field(default_factory=dict)
    shares: Mapping[int, Share] = field(default_factory=dict)
    # The relation of each aggregate that has one already: by its identity, and by its text.
    summaries: dict[int, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    # The relations of counts and sums that have a row also for no rows.
    complete: set[str] = field(default_factory=set)
    # The relations that give aggregates the values of their variables.
    domains: list[str] = field(default_factory=list)

    def function_name(self, wanted: str) -> str:
        """A name for a further function."""
        name, number = wanted, 2
        while name in self.texts:
            name, number = f"{wanted}{number}", number + 1
        return name


# Gives a term that binds the variables, for a body that does not bind them itself.
Supply = Callable[[Sequence[str]], str]


@dataclass
class BodyWriter:
    """The body of one rule as it is written. `title` names relations that it needs."""

    output: Output
    kinds: Kinds
    title: str
    uses: Counter[str]
    where: str = "rule"
    parts: list[str | Choice] = field(default_factory=list)
    reads: list[Dependency] = field(default_factory=list)
    # The literals that are written, without those that patterns left.
    done: list[Literal] = field(default_factory=list)
    supply: Supply | None = None
    supplied: list[str] = field(default_factory=list)
    in_recursion: bool = False
    # The variables of the heads, and those of what is still to be written.
    kept: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        out = self.output
        self.writer = Writer(out.types, self.kinds, Naming(), out.functions, out.found, out.remarks)
        self.patterns = Patterns(self.writer, self.uses)
        self.bound = self.patterns.bound

    # ------------------------------------------------------------------ order

    def arrange(
        self, literals: Sequence[Literal], outer: Sequence[str] = (), supply: Supply | None = None
    ) -> bool:
        """Writes the literals. The variables `outer` must have a value in the end: where the literals give
        them none, `supply` does. False after an error."""
        self.supply = supply
        waiting: list[Literal] = list(literals)
        given = set(map(id, literals))
        while waiting:
            ready = next((literal for literal in waiting if self._is_ready(literal)), None)
            ready = ready or next((each for each in waiting if isinstance(each, Numbered)), None)
            if ready is not None:
                waiting = [literal for literal in waiting if literal is not ready]
                if id(ready) in given:
                    self.done.append(ready)
                self.needed = (
                    self.kept | names_of(tuple(waiting)) if isinstance(ready, Numbered) else self.kept
                )
                self._write(ready)
                waiting[:0] = self.patterns.deferred
                self.patterns.deferred.clear()
                continue
            needed = [name for name in outer if name not in self.bound]
            if supply is None or not needed:
                self._ungrounded(waiting)
                return False
            self._supplied(needed, supply)
        needed = [name for name in outer if name not in self.bound]
        if needed and supply is not None:
            self._supplied(needed, supply)
        return True

    def _supplied(self, names: Sequence[str], supply: Supply) -> None:
        relation = supply(names)
        self.bound.update(names)
        self.supplied += names
        self.parts.append(f"{relation}({', '.join(map(self.writer.naming.name, names))})")

    def _is_ready(self, literal: Literal) -> bool:
        ground = self.patterns.is_ground
        match literal:
            case ast.Atom():
                return True
            case ast.Compare(_, "=", left, right):
                if isinstance(left, ast.Record) and isinstance(right, ast.Record):
                    return True
                return (ground(left) and (ground(right) or _is_pattern(right))) or (
                    ground(right) and _is_pattern(left)
                )
            case Range(_, _, args):
                return names_of(args) <= self.bound
            case Summary(_, _, _, _, _, outer):
                return self.bound.issuperset(outer)
            case Numbered():
                return False
        return names_of(literal) <= self.bound

    def follow(self, relation: str, span: Span) -> None:
        """Leaves out what is written: a relation holds its rows."""
        self.parts.clear()
        self.reads[:] = [Dependency(relation, "grouped", span)]

    def _ungrounded(self, waiting: Sequence[Literal]) -> None:
        self.check_bound(tuple(waiting))

    def check_bound(self, node: object) -> bool:
        """Reports the variables that have no value."""
        missing: dict[str, ast.Var] = {}
        for var in variables(node):
            if var.name not in self.bound:
                missing.setdefault(var.name, var)
        for name, var in missing.items():
            shown = name.partition("#")[0]
            if not shown.startswith("%"):
                error = errors.Ungrounded(name=shown, where=self.where, span=var.span)
                self.output.found.append(error)
        return not missing

    # --------------------------------------------------------------- literals

    def _write(self, literal: Literal) -> None:
        match literal:
            case ast.Atom():
                self._term(literal, "positive")
            case Negated(_, ast.Atom() as atom):
                self._term(atom, "negated")
            case Negated(_, ast.Test() as test):
                text, level = self._test(test)
                self.parts.append(f"not {text if level > COMPARISON else f'({text})'}")
            case ast.Test():
                self.parts.append(self._test(literal)[0])
            case ast.Compare(span, op, left, right):
                self._compare(span, op, left, right)
            case Range():
                self._range(literal)
            case Summary():
                self._summary(literal)
            case Numbered():
                self.output.number(literal, self)

    def _term(self, atom: ast.Atom, how: str) -> None:
        name = self.output.relation_name(atom.name)
        args = ", ".join(self.patterns.of_term(arg) for arg in atom.args)
        self.parts.append(f"{'not ' if how == 'negated' else ''}{name}({args})")
        self.reads.append(Dependency(name, how, atom.span))

    def _compare(self, span: Span, op: str, left: ast.Expr, right: ast.Expr) -> None:
        if op == "=" and isinstance(left, ast.Record) and isinstance(right, ast.Record):
            pairs = zip(left.items, right.items, strict=False)
            self.patterns.deferred += [ast.Compare(span, "=", one, other) for one, other in pairs]
            return
        ground = self.patterns.is_ground
        if op != "=" or (ground(left) and ground(right)):
            closed = not names_of(left) and not names_of(right)
            shown = self.writer.typed(left) if closed else self.writer.value(left, COMPARISON + 1)
            sign = "==" if op == "=" else op
            self.parts.append(f"{shown} {sign} {self.writer.value(right, COMPARISON + 1)}")
            return
        pattern, value = (right, left) if ground(left) else (left, right)
        if isinstance(pattern, ast.Var):
            self._define(pattern.name, value)
        else:
            self._take_apart(pattern, value)

    def _define(self, name: str, value: ast.Expr) -> None:
        self.bound.add(name)
        if self.uses[name] < 2:
            return
        kind = self.kinds.of(value)
        closed = not names_of(value) and kind in NUMERIC
        type = f": {self.output.types.kind_text(kind)}" if closed else ""
        self.parts.append(f"var {self.writer.naming.name(name)}{type} = {self.writer.value(value)}")

    def _take_apart(self, pattern: ast.Expr, value: ast.Expr) -> None:
        if isinstance(pattern, ast.Wildcard):
            return
        assert isinstance(pattern, ast.Record | ast.Branch)
        kind, types = self.kinds.of(pattern), self.output.types
        shown = self.writer.value(value)
        if kind in types.recursive:
            if kind in types.optional:
                content = self.writer.naming.name(f"%{types.declared[kind]}#{len(self.parts)}")
                self.parts.append(f"Some{{var {content}}} = {shown}")
                shown = content
            shown = f"deref({shown})"
        text = self.patterns.taken_apart(pattern, "var ")
        self.parts.append(f"{text} = {shown}")

    def _test(self, test: ast.Test) -> tuple[str, int]:
        first, second = test.args
        if test.name == "contains":
            return f"string_contains({self.writer.value(second)}, {self.writer.value(first)})", POSTFIX
        text = simple_match(first, self.writer.value(second, COMPARISON + 1))
        if text is None:
            self.output.functions["import regex"] = None
            return f"regex_match(regex({self._whole(first)}), {self.writer.value(second)})", POSTFIX
        return text, COMPARISON if " == " in text else POSTFIX

    def _whole(self, pattern: ast.Expr) -> str:
        """The regular expression that only the whole of a text matches."""
        if isinstance(pattern, ast.Text):
            return quoted(f"^(?:{pattern.value})$")
        return f'"^(?:" ++ {self.writer.value(pattern, CONCAT + 1)} ++ ")$"'

    def _range(self, each: Range) -> None:
        kind, args = self.kinds.of_variable(each.var), each.args
        text = self.writer.range_text(kind, args)
        known = each.var in self.bound
        name = self.writer.naming.name(f"%{each.var}#in" if known else each.var)
        self.bound.add(each.var)
        self.parts.append(f"var {name} = FlatMap({text})")
        if known:
            self.parts.append(f"{name} == {self.writer.naming.name(each.var)}")

    def _summary(self, summary: Summary) -> None:
        relation = self.output.summarize(summary, self)
        known = summary.var in self.bound
        self.bound.add(summary.var)
        outer = list(map(self.writer.naming.name, summary.outer))
        used = known or self.uses[summary.var] > 1
        result = self.writer.naming.name(summary.var) if used else "_"
        found = f"{relation}({', '.join((*outer, result))})"
        self.reads.append(Dependency(relation, "positive", summary.span))
        if summary.function not in ("count", "sum") or relation in self.output.complete:
            self.parts.append(found)
            return
        self.reads.append(Dependency(relation, "negated", summary.span))
        nothing = f"not {relation}({', '.join((*outer, '_'))})"
        type = self.output.types.kind_text(self.kinds.of_variable(summary.var))
        zero = (f"{result} == 0",) if known else (f"var {result}: {type} = 0",) if used else ()
        self.parts.append(Choice((found,), (nothing, *zero)))


def _is_pattern(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Var | ast.Wildcard | ast.Record | ast.Branch)


def bodies(parts: Sequence[str | Choice]) -> Iterator[tuple[str, ...]]:
    """The bodies that choices among the parts make."""
    ways = [(part.one, part.other) if isinstance(part, Choice) else ((part,),) for part in parts]
    for way in itertools.product(*ways):
        yield tuple(itertools.chain(*way))


def occurrences(*nodes: object) -> Counter[str]:
    """The number of times that each variable occurs."""
    return Counter(var.name for node in nodes for var in variables(node))


def write_clause(
    heads: Sequence[ast.Atom],
    literals: Sequence[Literal],
    kinds: Kinds,
    output: Output,
    head: Callable[[str], tuple[str, str]],
    in_recursion: bool = False,
) -> None:
    """Adds the rules of a clause, and the relations that its aggregates need. `head` gives the relation here
    of each head, and what stands before the values."""
    title = output.relation_name(heads[0].name)
    uses = occurrences(tuple(heads), tuple(literals))
    if any(isinstance(each, Numbered) for each in literals):
        uses.update(list(uses))  # every variable tells rows apart
    body = BodyWriter(output, kinds, title, uses, kept=names_of(tuple(heads)), in_recursion=in_recursion)
    if not body.arrange(literals) or not body.check_bound(tuple(heads)):
        return
    targets = [head(each.name) for each in heads]
    names = tuple(name for name, _ in targets)
    shown = tuple(
        f"{name}({first}{body.writer.values(each.args)})"
        for (name, first), each in zip(targets, heads, strict=True)
    )
    for texts in bodies(body.parts):
        output.rules.append(OutRule(names, shown, texts, tuple(body.reads)))
