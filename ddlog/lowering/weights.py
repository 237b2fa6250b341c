"""Expressions that read the weights of the values in a group, as `for ((value, weight) in g)` does.

The weight of a value is the number of valuations of the rule that have it; a row of a multiset or a stream
counts as often as it is there. For any other expression a group is a set.

A group is followed from call to call. Where an expression puts the group elsewhere, into a variable or a
tuple or through a function that gives it back, each reading of weights there counts as one of this group.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from ..codegen.analysis import free_variables
from ..core import (
    AnyPattern,
    Apply,
    Atom,
    Call,
    Clause,
    Closure,
    Expr,
    For,
    Function,
    GetItem,
    GroupBy,
    Let,
    Match,
    Pattern,
    TuplePattern,
    Var,
)
from ..core.clauses import expressions, named
from ..core.walk import called, descendants
from ..types import Opaque, Type
from ..values import TypeDefs, local_name
from ..values.closures import parts_of


class WeightReaders:
    """Tells which expressions read weights, given the functions of a program. An extern function of one of
    the modules `externs` may read those of each group that it is given; one of the library reads none."""

    def __init__(
        self, functions: Mapping[str, Function], typedefs: TypeDefs, externs: Container[str]
    ) -> None:
        self._functions, self._externs = functions, externs
        self._typedefs = typedefs
        self._holding: dict[Type, bool] = {}
        self._looking: dict[str, bool] = {}

    def knows(self, expr: Expr, clause: GroupBy) -> bool:
        """Whether an expression reads the weights of a group_by, and they can be known: the expression has no
        variable beside the group and its keys, and its value holds no group, which its weights would make
        differ from an equal one."""
        alone = {clause.name, *clause.keys}.issuperset(free_variables(expr))
        return alone and self.reads(expr, clause.name) and not self.holds(expr.type)

    def reads(self, expr: Expr, group: str) -> bool:
        """Whether an expression reads the weights of the group, or the groups, in the value of a variable."""
        waiting, seen = [(expr, group)], set[tuple[str, int]]()
        while waiting:
            found = self._uses(*waiting.pop())
            if found is None:
                return True
            for function, place in found - seen:
                each = self._functions[function]
                if each.body is not None:
                    waiting.append((each.body, each.parameters[place].name))
                elif each.module in self._externs:
                    return True
            seen |= found
        return False

    def holds(self, type: Type) -> bool:
        """Whether values of the type are groups or contain groups."""
        if type not in self._holding:
            self._holding[type] = any(map(is_group, parts_of((type,), self._typedefs)))
        return self._holding[type]

    def _uses(self, expr: Expr, group: str) -> set[tuple[str, int]] | None:
        """The functions to which an expression gives the group, with the places of their parameters; None if
        the expression itself reads the weights, or may read them."""
        elsewhere = sum(isinstance(each, Var) and each.name == group for each in descendants(expr))
        given: set[tuple[str, int]] = set()
        if not elsewhere:
            return given
        for each in descendants(expr):
            match each:
                case For(_, Var(name)) if name == group:
                    if self._looks_here(each):
                        return None
                    elsewhere -= 1
                case Apply(_, args) if any(isinstance(arg, Var) and arg.name == group for arg in args):
                    return None
                case Call(key, args) | Closure(key, args):
                    function = self._functions[key]
                    places = [n for n, arg in enumerate(args) if isinstance(arg, Var) and arg.name == group]
                    given |= {(key, place) for place in places}
                    kept = self.holds(function.result) or any(p.mutable for p in function.parameters)
                    elsewhere -= 0 if kept else len(places)
        return None if elsewhere and any(map(self._looks_here, descendants(expr))) else given

    def _looks_here(self, expr: Expr) -> bool:
        """Whether an expression reads the weights of any group, apart from what its parts read."""
        match expr:
            case For(pattern, collection) if is_group(collection.type):
                return not _leaves_second(pattern)
            case Call(function) | Closure(function):
                return self._looks(function)
            case Apply(_, args):
                return any(self.holds(arg.type) for arg in args)
        return False

    def _looks(self, function: str) -> bool:
        """Whether a function, or a function that it calls, reads the weights of any group."""
        if function not in self._looking:
            waiting, reached = [function], {function}
            while waiting:
                body = self._functions[waiting.pop()].body
                new = set() if body is None else called(body) - reached
                reached |= new
                waiting += new
            self._looking[function] = any(
                self._looks_here(part)
                for each in map(self._functions.__getitem__, reached)
                for part in (() if each.body is None else descendants(each.body))
                if not isinstance(part, Call | Closure)
            ) or any(self._is_given_groups(self._functions[each]) for each in reached)
        return self._looking[function]

    def _is_given_groups(self, function: Function) -> bool:
        """True if Python code of the program implements a function, and a parameter of it holds groups."""
        is_own = function.body is None and function.module in self._externs
        return is_own and any(self.holds(each.type) for each in function.parameters)


def second_is_read(rest: Iterable[Clause], heads: Iterable[Expr], pair: str) -> bool:
    """Whether clauses, or arguments of heads, read the second part of the pair that a variable holds. `rest`
    has the clauses after the one that binds the variable."""
    pairs, exprs = {pair}, list(heads)
    for clause in rest:
        match clause:
            case Let(name, Var(other)) if other in pairs and name.startswith("$"):
                pairs.add(name)
            case Atom() | GroupBy() if not pairs.isdisjoint(named(clause)):
                return True  # a column or a key is the whole pair
            case _:
                exprs += expressions(clause)
    whole = 0
    for each in (part for expr in exprs for part in descendants(expr)):
        match each:
            case Var(name) if name in pairs:
                whole += 1
            case GetItem(Var(name), 0) if name in pairs:
                whole -= 1
            case Match(Var(name), arms) if name in pairs:
                whole -= all(_leaves_second(pattern) for pattern, _ in arms)
    return whole > 0


def is_group(type: Type) -> bool:
    """Whether the type is that of groups."""
    return isinstance(type, Opaque) and local_name(type.name) == "Group"


def _leaves_second(pattern: Pattern) -> bool:
    """Whether a pattern of pairs takes nothing of the second part."""
    return isinstance(pattern.items[1] if isinstance(pattern, TuplePattern) else pattern, AnyPattern)
