"""The sizes of declared types, with the types of their fields, of the fields of these, and so on.

A type that contains itself has values without end. Other types may be too large: values are written, compared
and stored field by field, and the last of a chain of n types, each with two fields of the type before, has
2**n fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .. import errors, syntax
from ..errors.diagnostics import Diagnostic
from ..lowering.stratify import strongly_connected
from ..names.environment import DEEPEST, LARGEST, Environment
from ..names.modules import TYPES, ModuleSyntax
from ..types import FunctionType, Opaque, Type, TypeDef, TypeVar, User
from ..types.unify import written_in

TypeDefs: TypeAlias = Mapping[str, TypeDef]
_Declared: TypeAlias = tuple[str, syntax.TypeDecl | syntax.RelationDecl]


@dataclass(frozen=True, slots=True)
class Size:
    """The levels and the number of parts of a type, without those of its type variables. For each type
    variable `depths` has the deepest level at which it occurs, and `counts` how often it does."""

    levels: int = 1
    parts: int = 1
    depths: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def fits(self) -> bool:
        """True if the type has at most `DEEPEST` levels and `LARGEST` parts."""
        return self.levels <= DEEPEST and self.parts <= LARGEST


def check_types(environment: Environment, modules: Iterable[ModuleSyntax]) -> list[Diagnostic]:
    """An error for each type of the modules that contains itself other than inside a collection; if there is
    none, for each that is too large, although the types of its fields are not."""
    typedefs = environment.typedefs
    declared = [
        (module.qualified(each.name), each)
        for module in modules
        for each in module.all(TYPES)
        if isinstance(each, syntax.TypeDecl | syntax.RelationDecl)
    ]
    recursive = [*_recursive(typedefs, declared)]
    return recursive if recursive or environment.diagnostics else [*_too_large(typedefs, declared)]


def _recursive(typedefs: TypeDefs, declared: Sequence[_Declared]) -> Iterator[Diagnostic]:
    inside = {name: dict.fromkeys(_in_fields(typedef, stored=True)) for name, typedef in typedefs.items()}
    groups = strongly_connected(inside)
    cyclic = {name for group in groups for name in group if len(group) > 1 or name in inside[name]}
    reported: set[str] = set()
    for name, declaration in declared:
        if name in cyclic and name not in reported:
            cycle = _cycle(inside, name)
            reported.update(cycle)
            yield errors.typedefs.RecursiveType(
                span=declaration.name_span, name=declaration.name, cycle=" -> ".join(cycle)
            )


def _cycle(inside: Mapping[str, Iterable[str]], name: str) -> list[str]:
    """A way from the type through its fields back to itself."""
    came: dict[str, str] = {}
    frontier = [name]
    while True:
        current = frontier.pop()
        for inner in inside[current]:
            if inner == name:
                way = [name, current]
                while way[-1] != name:
                    way.append(came[way[-1]])
                return way[::-1]
            if inner not in came:
                came[inner] = current
                frontier.append(inner)


def _too_large(typedefs: TypeDefs, declared: Sequence[_Declared]) -> Iterator[Diagnostic]:
    inside = {name: dict.fromkeys(_in_fields(typedef)) for name, typedef in typedefs.items()}
    sizes: dict[str, Size] = {}
    for names in reversed(strongly_connected(inside)):
        sizes |= {name: _size_of(name, typedefs, sizes) for name in names}
    for name, declaration in declared:
        size = sizes[name]
        if size.fits or not all(sizes[each].fits for each in inside[name]):
            continue
        error = errors.typedefs.FieldsTooDeep if size.levels > DEEPEST else errors.typedefs.TypeTooLarge
        limit = DEEPEST if size.levels > DEEPEST else LARGEST
        yield error(span=declaration.name_span, name=declaration.name, limit=limit)


def _in_fields(typedef: TypeDef, *, stored: bool = False) -> Iterator[str]:
    """The names of the types in the fields of a type; with `stored`, other than inside a collection."""
    for constructor in typedef.constructors:
        for _, type_ in constructor.fields:
            yield from _names(type_, stored)


def _names(type_: Type, stored: bool) -> Iterator[str]:
    if stored and isinstance(type_, Opaque | FunctionType):
        return
    if isinstance(type_, User):
        yield type_.name
    for part in written_in(type_):
        yield from _names(part, stored)


def _size_of(name: str, typedefs: TypeDefs, sizes: Mapping[str, Size]) -> Size:
    fields = [type_ for each in typedefs[name].constructors for _, type_ in each.fields]
    return _around([_size(each, typedefs, sizes) for each in fields])


def _size(type_: Type, typedefs: TypeDefs, sizes: Mapping[str, Size]) -> Size:
    """The size of a type; a type that contains itself counts as one part within itself."""
    inner = [_size(each, typedefs, sizes) for each in written_in(type_)]
    match type_:
        case TypeVar(name):
            return Size(1, 0, {name: 0}, {name: 1})
        case User(name) if name in sizes:
            return _applied(sizes[name], dict(zip(typedefs[name].parameters, inner, strict=True)))
    return _around(inner)


def _around(inner: list[Size]) -> Size:
    """The size of a type that holds others."""
    counts: Counter[str] = Counter()
    depths: dict[str, int] = {}
    for each in inner:
        counts.update(each.counts)
        for name, depth in each.depths.items():
            depths[name] = max(depths.get(name, 0), depth + 1)
    levels = 1 + max((each.levels for each in inner), default=0)
    return Size(levels, 1 + sum(each.parts for each in inner), depths, counts)


def _applied(size: Size, args: Mapping[str, Size]) -> Size:
    """The size of a type with others in the places of its type variables."""
    levels, parts = size.levels, size.parts
    depths: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for name, arg in args.items():
        below, times = size.depths.get(name, 0), size.counts.get(name, 0)
        levels = max(levels, below + arg.levels)
        parts += times * arg.parts
        for inner, depth in arg.depths.items():
            depths[inner] = max(depths.get(inner, 0), below + depth)
        counts.update({inner: times * count for inner, count in arg.counts.items()})
    return Size(levels, parts, depths, counts)
