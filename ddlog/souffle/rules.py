"""Clauses as rules of this language.

The clauses of a rule here are read from left to right, so the literals are put into an order in which every
variable has a value before it is used. The next literal is always the first of the rest that can stand next.
A term can always stand next: an argument whose variables have no values yet becomes an equality after the
term.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .. import syntax
from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..syntax.templates import arguments, atom, integer, let, name, placed, string, tree
from . import syntax as ast
from .clauses import Literal, Negated, Range, RowNumber, Summary, names_of, variables
from .expressions import ArgumentWriter, Naming
from .infer import NUMERIC, Kinds
from .patterns import Patterns
from .regex import simple_match
from .remarks import Remark
from .types import SouffleTypes


@dataclass(frozen=True, slots=True)
class Share:
    """The numbers of a counter: `first`, and every `step`-th number after it. `is_hashed` in a recursion."""

    first: int
    step: int
    is_hashed: bool = False


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Either of two ways to go on in a body."""

    one: tuple[syntax.Clause, ...]
    other: tuple[syntax.Clause, ...]


@dataclass
class TranslationOutput:
    """The results of a translation while it runs. `relation_name` gives the name here of a relation there,
    `head` the relation of which its rules derive rows, `fresh` a name for a further one, `summarize` the
    relation of an aggregate of a rule; `number` writes a counter, which has one of the `shares`."""

    types: SouffleTypes
    relation_name: Callable[[str], str]
    head: Callable[[str], str]
    fresh: Callable[[str], str]
    summarize: Callable[[Summary, BodyWriter], str]
    number: Callable[[RowNumber, BodyWriter], None]
    found: list[Diagnostic]
    relations: list[syntax.RelationDecl] = field(default_factory=list)
    rules: list[syntax.RuleDecl] = field(default_factory=list)
    functions: dict[str, None] = field(default_factory=dict)
    # The functions that are made for one relation, by name.
    made: dict[str, syntax.FunctionDecl] = field(default_factory=dict)
    remarks: dict[str, Remark] = field(default_factory=dict)
    shares: Mapping[int, Share] = field(default_factory=dict)
    # The relation of each aggregate that has one already: by its identity, and by its text.
    summaries: dict[int, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    # The relations of counts and sums that have a row also for no rows.
    complete: set[str] = field(default_factory=set)
    # The relations that give aggregates the values of their variables.
    domains: list[str] = field(default_factory=list)

    def declare(self, name: str, columns: Iterable[tuple[str, syntax.Type]], at: Span) -> None:
        """Declares a further relation."""
        self.relations.append(relation("internal", name, columns, at))

    def rule(self, head: syntax.Atom, body: Iterable[syntax.Clause], at: Span) -> None:
        """Adds a rule."""
        self.rules.append(rule((head,), body, at))


# Gives a term that binds the variables, for a body that does not bind them itself.
Supply = Callable[[Sequence[str]], str]


@dataclass
class BodyWriter:
    """The body of one rule as it is written, which is made of what stands `at` a place. `title` names
    relations that it needs."""

    output: TranslationOutput
    kinds: Kinds
    title: str
    uses: Counter[str]
    at: Span
    where: str = "rule"
    parts: list[syntax.Clause | Alternatives] = field(default_factory=list)
    # The literals that are written, without those that patterns left.
    done: list[Literal] = field(default_factory=list)
    supply: Supply | None = None
    supplied: list[str] = field(default_factory=list)
    in_recursion: bool = False
    # The places among the parts of terms that say something of their own.
    terms: dict[int, int] = field(default_factory=dict)
    # The variables of the heads, and those of what is still to be written.
    kept: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        out = self.output
        self.writer = ArgumentWriter(out.types, self.kinds, Naming(), out.functions, out.found, out.remarks)
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
            ready = ready or next((each for each in waiting if isinstance(each, RowNumber)), None)
            if ready is not None:
                waiting = [literal for literal in waiting if literal is not ready]
                if id(ready) in given:
                    self.done.append(ready)
                self.needed = (
                    self.kept | names_of(tuple(waiting)) if isinstance(ready, RowNumber) else self.kept
                )
                self._write(ready)
                waiting[:0] = self.patterns.deferred
                self.patterns.deferred.clear()
                continue
            needed = [name for name in outer if name not in self.bound]
            if supply is None or not needed:
                self.check_bound(tuple(waiting))
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
        self.parts.append(atom(relation, arguments(self.variables(names)), self.at))

    def variables(self, names: Iterable[str]) -> list[syntax.Expr]:
        """Variables of Soufflé as they are named here."""
        return [self.writer.variable(each, self.at) for each in names]

    def say(self, expr: syntax.Expr) -> None:
        """Adds a clause that is an expression."""
        self.parts.append(syntax.Condition(expr, expr.span))

    def _is_ready(self, literal: Literal) -> bool:
        ground = self.patterns.is_ground
        match literal:
            case ast.Predicate():
                return True
            case ast.Compare(_, "=", left, right):
                if isinstance(left, ast.RecordValue) and isinstance(right, ast.RecordValue):
                    return True
                return (ground(left) and (ground(right) or _is_pattern(right))) or (
                    ground(right) and _is_pattern(left)
                )
            case Range(_, _, args):
                return names_of(args) <= self.bound
            case Summary(_, _, _, _, _, outer):
                return self.bound.issuperset(outer)
            case RowNumber():
                return False
        return names_of(literal) <= self.bound

    def check_bound(self, node: object) -> bool:
        """Reports the variables that have no value."""
        missing: dict[str, ast.Named] = {}
        for var in variables(node):
            if var.name not in self.bound:
                missing.setdefault(var.name, var)
        for each, var in missing.items():
            shown = each.partition("#")[0]
            if not shown.startswith("%"):
                error = errors.Ungrounded(name=shown, where=self.where, span=var.span)
                self.output.found.append(error)
        return not missing

    # --------------------------------------------------------------- literals

    def _write(self, literal: Literal) -> None:
        match literal:
            case ast.Predicate():
                self._term(literal, negated=False)
            case Negated(_, ast.Predicate() as atom):
                self._term(atom, negated=True)
            case Negated(span, ast.Test() as test):
                self.say(syntax.Unary("not", self._test(test), span))
            case ast.Test():
                self.say(self._test(literal))
            case ast.Compare(span, op, left, right):
                self._compare(span, op, left, right)
            case Range():
                self._range(literal)
            case Summary():
                self._summary(literal)
            case RowNumber():
                self.output.number(literal, self)

    def _term(self, term: ast.Predicate, *, negated: bool) -> None:
        name = self.output.relation_name(term.name)
        args = arguments([self.patterns.of_term(arg) for arg in term.args])
        self.terms[id(term)] = len(self.parts)
        self.parts.append(atom(name, args, term.span, negated=negated))

    def _compare(self, span: Span, op: str, left: ast.Expr, right: ast.Expr) -> None:
        if op == "=" and isinstance(left, ast.RecordValue) and isinstance(right, ast.RecordValue):
            pairs = zip(left.items, right.items, strict=False)
            equal = [
                ast.Compare(span, "=", *pair) for pair in pairs if all(map(self.patterns.is_known, pair))
            ]
            self.patterns.deferred += equal
            return
        ground = self.patterns.is_ground
        if op != "=" or (ground(left) and ground(right)):
            closed = not names_of(left) and not names_of(right)
            first = self.writer.typed(left) if closed else self.writer.value(left)
            self.say(syntax.Binary("==" if op == "=" else op, first, self.writer.value(right), span))
            return
        pattern, value = (right, left) if ground(left) else (left, right)
        if isinstance(pattern, ast.Named):
            self._define(pattern.name, value, span)
        else:
            self._take_apart(pattern, value, span)

    def _define(self, name: str, value: ast.Expr, at: Span) -> None:
        self.bound.add(name)
        if self.uses[name] < 2:
            return
        kind = self.kinds.of(value)
        closed = not names_of(value) and kind in NUMERIC
        type = self.output.types.kind_type(kind) if closed else None
        self.say(let(self.writer.naming.name(name), self.writer.value(value), at, type))

    def _take_apart(self, pattern: ast.Expr, value: ast.Expr, at: Span) -> None:
        if isinstance(pattern, ast.Unnamed):
            return
        assert isinstance(pattern, ast.RecordValue | ast.Branch)
        kind, types = self.kinds.of(pattern), self.output.types
        whole = self.writer.value(value)
        if kind in types.recursive:
            if kind in types.optional:
                content = self.writer.naming.name(f"%{types.declared[kind]}#{len(self.parts)}")
                self.say(tree("Some{$} = $", syntax.VarDecl(content, at), whole, at=at))
                whole = name(content, at)
            whole = tree("deref($)", whole, at=at)
        self.say(syntax.Assign(self.patterns.taken_apart(pattern, True), whole, at))

    def _test(self, test: ast.Test) -> syntax.Expr:
        first, second = test.args
        text, at = self.writer.value(second), test.span
        if test.name == "contains":
            return tree("string_contains($, $)", text, self.writer.value(first), at=at)
        simple = simple_match(first, text, at)
        if simple is None:
            self.output.functions["import regex"] = None
            return tree("regex_match(regex($), $)", self._whole(first), text, at=at)
        return simple

    def _whole(self, pattern: ast.Expr) -> syntax.Expr:
        """The regular expression that only the whole of a text matches."""
        at = pattern.span
        if isinstance(pattern, ast.Text):
            return string(f"^(?:{pattern.value})$", at)
        begin, end = string("^(?:", at), string(")$", at)
        return tree("$ ++ $ ++ $", begin, self.writer.value(pattern), end, at=at)

    def _range(self, each: Range) -> None:
        kind, at = self.kinds.of_variable(each.var), each.span
        numbers = self.writer.numbers_of(kind, each.args, at)
        known = each.var in self.bound
        number = self.writer.naming.name(f"%{each.var}#in" if known else each.var)
        self.bound.add(each.var)
        self.say(let(number, syntax.FlatMap(numbers, at), at))
        if known:
            self.say(tree("$ == $", name(number, at), self.writer.variable(each.var, at), at=at))

    def _summary(self, summary: Summary) -> None:
        relation, at = self.output.summarize(summary, self), summary.span
        known = summary.var in self.bound
        self.bound.add(summary.var)
        used = known or self.uses[summary.var] > 1
        keys = self.variables(summary.outer)
        result = self.writer.naming.name(summary.var) if used else ""
        last = name(result, at) if used else syntax.Wildcard(at)
        found = atom(relation, arguments([*keys, last]), at)
        holding = [each for each in self.done if not self.in_recursion and _implies(each, summary)]
        for each in holding:
            if id(each) in self.terms and not known and self._is_existence(each, summary):
                self.parts[self.terms.pop(id(each))] = found  # which says that there is such a row, too
                return
        if summary.function not in ("count", "sum") or relation in self.output.complete or holding:
            self.parts.append(found)
            return
        nothing = atom(relation, arguments([*keys, syntax.Wildcard(at)]), at, negated=True)
        type = self.output.types.kind_type(self.kinds.of_variable(summary.var))
        zero = tree("$ == 0", last, at=at) if known else let(result, integer(0, at), at, type)
        self.parts.append(Alternatives((found,), (nothing, *([syntax.Condition(zero, at)] if used else []))))

    def _is_existence(self, literal: Literal, summary: Summary) -> bool:
        """Whether a literal that implies the body of an aggregate asks only that the body hold: where the
        body has its local variables, the literal has `_`, or variables that occur nowhere else."""
        ((term,),) = summary.bodies
        assert isinstance(term, ast.Predicate) and isinstance(literal, ast.Predicate)
        return all(
            isinstance(other, ast.Unnamed) or (isinstance(other, ast.Named) and self.uses[other.name] < 2)
            for one, other in zip(term.args, literal.args, strict=True)
            if _is_local(one, summary)
        )


def _implies(literal: Literal, summary: Summary) -> bool:
    """Whether the body of an aggregate holds wherever a literal does: both are terms of one relation, and
    equal but for the local variables of the body, each of which occurs once."""
    match summary.bodies, literal:
        case ((ast.Predicate() as term,),), ast.Predicate() if term.name == literal.name:
            local = [each.name for each in variables(term) if each.name not in summary.outer]
            return len(local) == len({*local}) and all(
                one == other
                for one, other in zip(term.args, literal.args, strict=True)
                if not _is_local(one, summary)
            )
    return False


def _is_local(expr: ast.Expr, summary: Summary) -> bool:
    """Whether an argument of the body of an aggregate is `_`, or a variable that no other literal shares."""
    return isinstance(expr, ast.Unnamed) or (isinstance(expr, ast.Named) and expr.name not in summary.outer)


def _is_pattern(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Named | ast.Unnamed | ast.RecordValue | ast.Branch)


def bodies(parts: Sequence[syntax.Clause | Alternatives]) -> Iterator[tuple[syntax.Clause, ...]]:
    """The bodies that choices among the parts make."""
    ways = [(part.one, part.other) if isinstance(part, Alternatives) else ((part,),) for part in parts]
    for way in itertools.product(*ways):
        yield tuple(itertools.chain(*way))


def occurrences(*nodes: object) -> Counter[str]:
    """The number of times that each variable occurs."""
    return Counter(var.name for node in nodes for var in variables(node))


def write_clause(
    heads: Sequence[ast.Predicate],
    literals: Sequence[Literal],
    kinds: Kinds,
    output: TranslationOutput,
    head: Callable[[str], str],
    at: Span,
    in_recursion: bool = False,
) -> None:
    """Adds the rules of a clause that stands at a place, and the relations that its aggregates need. `head`
    gives the relation here of each head."""
    title = output.relation_name(heads[0].name)
    uses = occurrences(tuple(heads), tuple(literals))
    if any(isinstance(each, RowNumber) for each in literals):
        uses.update(list(uses))  # every variable tells rows apart
    body = BodyWriter(output, kinds, title, uses, at, kept=names_of(tuple(heads)), in_recursion=in_recursion)
    if not body.arrange(literals) or not body.check_bound(tuple(heads)):
        return
    made = [atom(head(each.name), arguments(body.writer.values(each.args)), each.span) for each in heads]
    for clauses in bodies(body.parts):
        output.rules.append(rule(made, clauses, at))


def relation(
    role: str, name: str, columns: Iterable[tuple[str, syntax.Type]], at: Span
) -> syntax.RelationDecl:
    """The declaration of a relation; its `role` is input, output or internal."""
    fields = tuple(syntax.Field(column, type, (), at) for column, type in columns)
    return placed(syntax.RelationDecl(name, role, "relation", False, fields, None, None, (), at, at), at)


def rule(heads: Iterable[syntax.Atom], body: Iterable[syntax.Clause], at: Span) -> syntax.RuleDecl:
    """A rule."""
    return syntax.RuleDecl(tuple(heads), tuple(body), (), at)


def row(relation: str, columns: Iterable[str], at: Span) -> syntax.Atom:
    """A term or a head with a variable for each column."""
    return atom(relation, arguments([name(each, at) for each in columns]), at)
