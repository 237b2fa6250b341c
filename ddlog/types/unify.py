"""Unification of types.

An unknown type is a `TypeVar` whose name begins with `?`; a `Substitution` says what is known of it.
An unknown may be restricted to number types, which is how a literal waits for its context.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum

from .types import BigInt, Bit, Float, FunctionType, Opaque, Signed, Tuple, Type, TypeVar, User, is_closed


class LiteralSort(Enum):
    """The sort of a number literal whose type is still unknown."""

    INTEGER = "integer"
    FLOAT = "float"

    def allows(self, type_: Type) -> bool:
        """Whether a literal of this sort may have the type."""
        if self is LiteralSort.FLOAT:
            return isinstance(type_, Float)
        return isinstance(type_, Bit | Signed | BigInt | Float)


ERROR = TypeVar("?error")  # what an error has left of a declared type: agrees with every type


def is_unknown(type_: Type) -> bool:
    """Whether the type is a unification variable."""
    return isinstance(type_, TypeVar) and type_.name.startswith("?")


def rebuild(type_: Type, leaf: Callable[[TypeVar], Type]) -> Type:
    """The type with `leaf` applied to every type variable."""
    if is_closed(type_):
        return type_
    match type_:
        case TypeVar():
            return leaf(type_)
        case Tuple(items):
            return Tuple(tuple(rebuild(item, leaf) for item in items))
        case User(name, args):
            return User(name, tuple(rebuild(arg, leaf) for arg in args))
        case Opaque(name, args):
            return Opaque(name, tuple(rebuild(arg, leaf) for arg in args))
        case FunctionType(parameters, mutable, result):
            shown = tuple(rebuild(parameter, leaf) for parameter in parameters)
            return FunctionType(shown, mutable, rebuild(result, leaf))
        case _:
            return type_


def substitute(type_: Type, mapping: Mapping[str, Type]) -> Type:
    """The type with the named type variables replaced."""
    if not mapping:
        return type_
    return rebuild(type_, lambda variable: mapping.get(variable.name, variable))


def written_in(type_: Type) -> tuple[Type, ...]:
    """The types that the text of a type is made of: items, arguments, parameters and result."""
    match type_:
        case Tuple(items):
            return items
        case User(_, args) | Opaque(_, args):
            return args
        case FunctionType(parameters, _, result):
            return (*parameters, result)
    return ()


def type_variables(type_: Type) -> tuple[str, ...]:
    """The names of the type variables of a type, in order of first occurrence."""
    if isinstance(type_, TypeVar):
        return (type_.name,)
    if is_closed(type_):
        return ()
    return tuple(dict.fromkeys(name for inner in written_in(type_) for name in type_variables(inner)))


def named_in(type_: Type) -> Iterator[str]:
    """The names in the text of a type."""
    if isinstance(type_, User | Opaque):
        yield type_.name
    for part in written_in(type_):
        yield from named_in(part)


def depth(type_: Type) -> int:
    """The nesting depth of the type: 1 for a type without arguments."""
    return 1 + max(map(depth, written_in(type_)), default=0)


def parts(type_: Type) -> int:
    """The number of types in the type, with itself."""
    return 1 + sum(map(parts, written_in(type_)))


class Substitution:
    """The types found so far for the unknowns of one function or rule; can go back to an earlier state."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._literal: dict[str, LiteralSort] = {}
        self._bound_to: defaultdict[str, int] = defaultdict(int)  # how many unknowns, or were before `undo`
        self._joined: defaultdict[str, list[str]] = defaultdict(list)  # the unknowns bound to an unknown
        self._trail: list[tuple[str, LiteralSort | None]] = []
        self._seen: set[str] | None = None
        self._count = 0

    def fresh(self, literal: LiteralSort | None = None) -> TypeVar:
        """A new unknown, perhaps that of a literal."""
        self._count += 1
        name = f"?{self._count}"
        if literal is not None:
            self._literal[name] = literal
        return TypeVar(name)

    def shallow(self, type_: Type) -> Type:
        """The type with its outermost unknown resolved as far as known."""
        while isinstance(type_, TypeVar) and type_.name in self._bound:
            type_ = self._bound[type_.name]
        if self._seen is not None and isinstance(type_, TypeVar):
            self._seen.add(type_.name)
        return type_

    @contextmanager
    def watched(self) -> Iterator[set[str]]:
        """Gives the unknowns that are looked at inside."""
        outer, self._seen = self._seen, set()
        try:
            yield self._seen
        finally:
            if outer is not None:
                outer |= self._seen
            self._seen = outer

    def learnt(self, mark: int) -> Iterator[str]:
        """The unknowns that were bound or restricted since a mark."""
        return (name for name, _ in self._trail[mark:])

    def same_as(self, unknown: TypeVar) -> Iterator[str]:
        """The unknowns that are known to be this one, which is not bound."""
        waiting = [unknown.name]
        for name in waiting:
            yield name
            waiting += self._joined.get(name, ())

    def resolve(self, type_: Type) -> Type:
        """The type with every unknown resolved as far as known."""
        return rebuild(type_, self._known)

    def _known(self, unknown: TypeVar) -> Type:
        known = self.shallow(unknown)
        return known if isinstance(known, TypeVar) else self.resolve(known)

    def literal(self, type_: Type) -> LiteralSort | None:
        """The restriction of an unknown type; None for others."""
        type_ = self.shallow(type_)
        return self._literal.get(type_.name) if isinstance(type_, TypeVar) else None

    def show(self, type_: Type) -> str:
        """The type as people read it: `_` for an unknown type."""

        def leaf(variable: TypeVar) -> Type:
            if not is_unknown(variable):
                return variable
            literal = self._literal.get(variable.name)
            return Opaque(f"{literal.value} literal" if literal else "_")

        return str(rebuild(self.resolve(type_), leaf))

    def mark(self) -> int:
        """A state to go back to."""
        return len(self._trail)

    def undo(self, mark: int) -> None:
        """Forgets everything learnt since the mark."""
        while len(self._trail) > mark:
            name, literal = self._trail.pop()
            bound = self._bound.pop(name, None)
            if isinstance(bound, TypeVar):
                self._joined[bound.name].pop()
            if literal is None:
                self._literal.pop(name, None)
            else:
                self._literal[name] = literal

    def unify(self, left: Type, right: Type) -> bool:
        """Makes the types equal; False, with nothing learnt, when they cannot be."""
        mark = self.mark()
        if self._unify(left, right):
            return True
        self.undo(mark)
        return False

    def restrict(self, type_: Type, literal: LiteralSort) -> bool:
        """Demands that the type be one that such a literal may have."""
        type_ = self.shallow(type_)
        if not isinstance(type_, TypeVar):
            return literal.allows(type_)
        if not is_unknown(type_):
            return False
        before = self._literal.get(type_.name)
        if before is not LiteralSort.FLOAT and before is not literal:
            self._trail.append((type_.name, before))
            self._literal[type_.name] = literal
        return True

    def _unify(self, left: Type, right: Type) -> bool:
        left, right = self.shallow(left), self.shallow(right)
        if left == right:
            return True
        if ERROR in (left, right):
            return True
        if isinstance(left, TypeVar) and is_unknown(left):
            if isinstance(right, TypeVar) and is_unknown(right):
                return self._join(left, right)
            return self._bind(left, right)
        if isinstance(right, TypeVar) and is_unknown(right):
            return self._bind(right, left)
        match left, right:
            case Tuple(a), Tuple(b):
                return self._unify_all(a, b)
            case (User(name, a), User(other, b)) | (Opaque(name, a), Opaque(other, b)):
                return name == other and self._unify_all(a, b)
            case FunctionType(a, mutable, result), FunctionType(b, others, out):
                return mutable == others and self._unify_all((*a, result), (*b, out))
            case _:
                return False

    def _unify_all(self, left: tuple[Type, ...], right: tuple[Type, ...]) -> bool:
        return len(left) == len(right) and all(self._unify(a, b) for a, b in zip(left, right, strict=True))

    def _join(self, left: TypeVar, right: TypeVar) -> bool:
        """Makes two unknowns one: binds the one with fewer bound to it, so that chains stay short."""
        fewer, more = sorted((left, right), key=lambda unknown: self._bound_to[unknown.name])
        self._bound_to[more.name] += self._bound_to[fewer.name] + 1
        return self._bind(fewer, more)

    def _bind(self, variable: TypeVar, type_: Type) -> bool:
        literal = self._literal.get(variable.name)
        if literal is not None and not self.restrict(type_, literal):
            return False
        known = self.resolve(type_)
        if not isinstance(type_, TypeVar) and variable.name in type_variables(known):
            return False
        self._trail.append((variable.name, literal))
        self._bound[variable.name] = known if is_closed(known) else type_
        if isinstance(type_, TypeVar):
            self._joined[type_.name].append(variable.name)
        return True
