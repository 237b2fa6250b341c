"""Functional dependencies: which variables of a rule's body the values of other variables determine.

They follow from constants, equalities and definitions, from primary keys, and from the rules of a derived
relation, if it has only one rule or a column tells its rules apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from .. import core
from ..core.clauses import mapped
from ..core.walk import children, descendants, resolved
from ..types import BigInt, Bit, Signed, Type


class Dependencies:
    """The functional dependencies of a program's relations, and of bodies over them."""

    def __init__(self, relations: Mapping[str, core.Relation], rules: Iterable[core.Rule]) -> None:
        self.relations = relations
        self._rules: dict[str, list[tuple[core.Rule, core.Head]]] = {}
        for rule in rules:
            for head in rule.heads:
                self._rules.setdefault(head.relation, []).append((rule, head))
        self._found: dict[tuple[str, frozenset[int]], frozenset[int]] = {}

    def determined(self, body: Sequence[core.Clause], known: Iterable[str]) -> set[str]:
        """The variables that have one value at most in the valuations of a body where the known variables
        have certain values."""
        found, made = set(known), records(body)
        clauses = [mapped(each, lambda expr: resolved(expr, made)) for each in body]
        while True:
            before = len(found)
            for clause in clauses:
                found |= self._by_clause(clause, found)
            if len(found) == before:
                return found

    def has_one_row(self, name: str) -> bool:
        """Whether the primary key and the rules of a relation allow one row at most."""
        relation = self.relations.get(name)
        return relation is not None and len(self._columns(name, frozenset())) == len(relation.columns)

    def _by_clause(self, clause: core.Clause, known: Set[str]) -> set[str]:
        match clause:
            case core.Atom(relation, columns, False):
                given = frozenset(i for i, name in enumerate(columns) if name in known)
                names = (columns[i] for i in self._columns(relation, given))
                return {name for name in names if name is not None}
            case core.Let(name, value):
                found = {name} if variables(value) <= known else set()
                return found | inverted(value) if name in known else found
            case core.Guard(condition):
                return set().union(*(_equal(*pair, known) for pair in equalities(condition)))
            case core.GroupBy(name, _, keys):
                return {name} if set(keys) <= known else set()
        return set()

    def _columns(self, name: str, given: frozenset[int]) -> frozenset[int]:
        """The columns of a relation that the given ones determine, with these."""
        relation = self.relations.get(name)
        if relation is not None and relation.past is not None:
            return self._columns(relation.past[0], given)
        found = self._found.get((name, given))
        if found is None:
            self._found[name, given] = given  # while a recursive rule asks for its own relation
            found = self._found[name, given] = given | self._further(name, relation, given)
        return found

    def _further(self, name: str, relation: core.Relation | None, given: frozenset[int]) -> frozenset[int]:
        if relation is None:
            return given
        if relation.role == "input":
            return _by_key(relation, given)
        made = self._rules.get(name, [])
        if not made or not _tells_apart([head for _, head in made], given):
            return given
        return frozenset.intersection(*(self._by_rule(rule, head, given) for rule, head in made))

    def _by_rule(self, rule: core.Rule, head: core.Head, given: frozenset[int]) -> frozenset[int]:
        known: set[str] = set().union(*(inverted(head.args[i]) for i in given))
        known = self.determined(rule.body, known)
        return frozenset(i for i, arg in enumerate(head.args) if variables(arg) <= known)


def _tells_apart(heads: Sequence[core.Head], given: frozenset[int]) -> bool:
    """Whether the given columns tell which of several rules made a row: a column has a different constant in
    each."""
    if len(heads) == 1:
        return True
    for i in given:
        constants = [head.args[i].value for head in heads if isinstance(head.args[i], core.Const)]  # type: ignore[union-attr]
        if len(set(constants)) == len(heads):
            return True
    return False


def _by_key(relation: core.Relation, given: frozenset[int]) -> frozenset[int]:
    """The columns that the primary key determines: all of them, if the key is of the given ones."""
    every = frozenset(range(len(relation.columns)))
    match relation.key:
        case core.Function(body=core.Block((core.Declare(core.VarPattern(record)), value))):
            places = {column.name: i for i, column in enumerate(relation.columns)}
            return every if _columns_read(value, record, places) <= given else given
    return given


def _columns_read(expr: core.Expr, record: str, places: Mapping[str, int]) -> frozenset[int]:
    """The columns of a record, a variable, that an expression reads."""
    match expr:
        case core.GetField(core.Var(name), field) if name == record and field in places:
            return frozenset([places[field]])
        case core.Var(name) if name == record:
            return frozenset(places.values())
    return frozenset().union(*(_columns_read(each, record, places) for each in children(expr)))


def records(body: Sequence[core.Clause]) -> dict[str, core.MakeStruct]:
    """The structs that a body puts together again from their fields, by the variable."""
    return {
        each.name: each.value
        for each in body
        if isinstance(each, core.Let) and isinstance(each.value, core.MakeStruct)
    }


def variables(expr: core.Expr) -> set[str]:
    """The variables that an expression reads."""
    return {each.name for each in descendants(expr) if isinstance(each, core.Var)}


def inverted(expr: core.Expr) -> set[str]:
    """The variables whose values the value of an expression tells."""
    match expr:
        case core.Var(name):
            return {name}
        case core.MakeTuple(items) | core.MakeStruct(_, items):
            return set().union(*map(inverted, items))
        case core.Cast(arg, to) if _widens(arg.type, to):
            return inverted(arg)
        case core.Op("neg" | "~" | "not", (arg,)):
            return inverted(arg)
        case core.Op("+" | "-" | "^", (arg, core.Const())) if not _is_float(arg.type):
            return inverted(arg)
        case core.Op("+" | "-" | "^", (core.Const(), arg)) if not _is_float(arg.type):
            return inverted(arg)
    return set()


def _widens(of: Type, to: Type) -> bool:
    """Whether a cast between integers keeps different values different."""
    match of, to:
        case (Bit() | Signed() | BigInt(), BigInt()):
            return True
        case (Bit(narrow), Bit(wide)) | (Signed(narrow), Signed(wide)):
            return narrow <= wide
        case (Bit(narrow), Signed(wide)) | (Signed(narrow), Bit(wide)):
            return narrow == wide
    return False


def _is_float(of: Type) -> bool:
    return not isinstance(of, Bit | Signed | BigInt)


def equalities(condition: core.Expr) -> Iterator[tuple[core.Expr, core.Expr]]:
    """The pairs that are equal where a condition holds."""
    match condition:
        case core.Op("and", (left, right)):
            yield from equalities(left)
            yield from equalities(right)
        case core.Op("==", (left, right)):
            yield left, right


def _equal(left: core.Expr, right: core.Expr, known: Set[str]) -> set[str]:
    """The variables that an equality determines."""
    found: set[str] = set()
    for one, other in ((left, right), (right, left)):
        if variables(one) <= known:
            found |= inverted(other)
    return found
