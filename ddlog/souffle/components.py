"""Components: each `.init` becomes the declarations and rules of its component, under names of its own.

The instance `x` of a component with a relation `R` has the relation `x.R`. A component has what its bases
have, with their parameters replaced; a relation that it overrides has only its own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic, Note, counted
from ..errors.source import Span
from ..errors.unknown import unknown_name
from ..syntax.walk import rebuilt
from . import syntax as ast

_DEEPEST = 100  # levels of components in each other


def instantiate(items: Sequence[ast.Item]) -> tuple[list[ast.Item], list[Diagnostic]]:
    """A program with its components instantiated, and the errors in them."""
    run = _Instantiation()
    return list(run.scope(items, _ComponentScope("", {}, None, {}, None), 0)), run.found


@dataclass(frozen=True)
class _ComponentScope:
    """The names that one instance of a component sees: the prefix of the instance; the full name of each
    relation, type, branch and instance in it, by kind and name; the scope of its `.init`, where other names
    are looked for; each component declared in it with the scope of its declaration; and the scope where its
    own component is declared, in which other components are looked for."""

    prefix: str
    names: dict[tuple[str, str], str]
    outer: _ComponentScope | None
    components: dict[str, tuple[ast.ComponentDecl, _ComponentScope]]
    home: _ComponentScope | None

    def full_name(self, name: str, kind: str) -> str:
        """The name of a relation, a type or a branch as seen from here; one that no scope knows stays."""
        first, dot, rest = name.partition(".")
        scope: _ComponentScope | None = self
        while scope is not None:
            known = scope.names.get(("instance" if dot else kind, first))
            if known is not None:
                return known + dot + rest
            scope = scope.outer
        return name

    def component(self, name: str) -> tuple[ast.ComponentDecl, _ComponentScope] | None:
        scope: _ComponentScope | None = self
        while scope is not None:
            if name in scope.components:
                return scope.components[name]
            scope = scope.home
        return None

    def component_names(self) -> Iterator[str]:
        scope: _ComponentScope | None = self
        while scope is not None:
            yield from scope.components
            scope = scope.home


class _Instantiation:
    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def scope(self, items: Iterable[ast.Item], scope: _ComponentScope, depth: int) -> Iterator[ast.Item]:
        """The items of a scope under their full names, and those of the instances in it."""
        listed = list(items)
        for item in listed:
            self._declare(item, scope)
        for item in listed:
            match item:
                case ast.Override(span, name) if depth == 0:
                    self.found.append(errors.NothingToOverride(name=name, span=span))
                case ast.ComponentDecl() | ast.Override():
                    pass
                case ast.Init():
                    yield from self._init(item, scope, depth)
                case _:
                    yield renamed(item, scope.full_name) if depth else item

    def _declare(self, item: ast.Item, scope: _ComponentScope) -> None:
        match item:
            case ast.ComponentDecl():
                if item.type.name in scope.components:
                    name = item.type.name
                    self.found.append(errors.DeclaredTwice(what="component", name=name, span=item.type.span))
                scope.components[item.type.name] = (item, scope)
            case ast.SouffleRelation(_, name):
                scope.names["relation", name] = scope.prefix + name
            case ast.Init(_, name):
                scope.names["instance", name] = scope.prefix + name
            case ast.AliasType(_, name) | ast.RecordType(_, name) | ast.BranchType(_, name):
                scope.names["type", name] = scope.prefix + name
                for branch in item.branches if isinstance(item, ast.BranchType) else ():
                    scope.names["branch", branch.name] = scope.prefix + branch.name

    def _init(self, init: ast.Init, scope: _ComponentScope, depth: int) -> Iterator[ast.Item]:
        if depth > _DEEPEST:
            self._wrong(init.component, "its instances contain each other without end")
            return
        found = self._find(init.component, scope)
        if found is None:
            return
        component, home = found
        inner = _ComponentScope(f"{scope.prefix}{init.name}.", {}, scope, {}, home)
        use = replace(init.component, args=tuple(scope.full_name(e, "type") for e in init.component.args))
        items = self._items(component, use, home, (component.type.name,))
        yield from self.scope(items, inner, depth + 1)

    def _find(
        self, type: ast.ComponentType, scope: _ComponentScope
    ) -> tuple[ast.ComponentDecl, _ComponentScope] | None:
        found = scope.component(type.name)
        if found is None:
            self.found.append(unknown_name("component", type.name, scope.component_names(), type.span))
        return found

    def _items(
        self,
        component: ast.ComponentDecl,
        use: ast.ComponentType,
        home: _ComponentScope,
        path: tuple[str, ...],
    ) -> list[ast.Item]:
        """The items of an instance: items of its bases that it does not override, and its own."""
        parameters, args = component.type.args, use.args
        if len(parameters) != len(args):
            self._wrong(
                use,
                f"it takes {counted(len(parameters), 'type argument')}, found {len(args)}",
                component.type.span,
            )
            return []
        given = dict(zip(parameters, args, strict=True))
        own = [renamed(item, _substitution(given)) for item in component.items]
        overridden = {item.name for item in own if isinstance(item, ast.Override)}
        inherited: list[ast.Item] = []
        for base in component.bases:
            actual = renamed(base, _substitution(given))
            if actual.name in path:
                self._wrong(actual, "it is a base of itself")
                continue
            found = self._find(actual, home)
            if found is not None:
                inherited += self._items(found[0], actual, found[1], (*path, actual.name))
        self._check_overriding(own, inherited)
        return [*_without_rules(inherited, overridden), *own]

    def _check_overriding(self, own: list[ast.Item], inherited: list[ast.Item]) -> None:
        open_to_it = {
            item.name
            for item in inherited
            if isinstance(item, ast.SouffleRelation) and any(q.word == "overridable" for q in item.qualifiers)
        }
        for item in own:
            if isinstance(item, ast.Override) and item.name not in open_to_it:
                self.found.append(errors.NothingToOverride(name=item.name, span=item.span))

    def _wrong(self, type: ast.ComponentType, problem: str, declared: Span | None = None) -> None:
        notes = (Note("declared here", declared),) if declared else ()
        self.found.append(errors.BadComponent(name=type.name, problem=problem, span=type.span, notes=notes))


def _substitution(given: Mapping[str, str]) -> Callable[[str, str], str]:
    def substituted(name: str, kind: str) -> str:
        if kind == "branch":
            return name
        first, dot, rest = name.partition(".")
        return given.get(first, first) + dot + rest

    return substituted


def _without_rules(items: list[ast.Item], overridden: set[str]) -> list[ast.Item]:
    return [item for item in items if not any(head.name in overridden for head in _heads(item))]


def _heads(item: ast.Item) -> tuple[ast.Predicate, ...]:
    match item:
        case ast.SouffleRule(_, heads):
            return heads
        case ast.Subsumption(_, less, _):
            return (less,)
    return ()


# The fields of nodes that name a relation, a type, a branch or a component, and which of them.
_NAMES: dict[type, dict[str, str]] = {
    ast.Predicate: {"name": "relation"},
    ast.TypeCast: {"type": "type"},
    ast.TypedName: {"type": "type"},
    ast.AliasType: {"name": "type", "bases": "type"},
    ast.RecordType: {"name": "type"},
    ast.BranchType: {"name": "type"},
    ast.BranchDecl: {"name": "branch"},
    ast.Branch: {"name": "branch"},
    ast.SouffleRelation: {"name": "relation"},
    ast.Directive: {"relation": "relation"},
    ast.ComponentType: {"name": "component", "args": "type"},
    ast.FunctorDecl: {"args": "type", "result": "type"},
}


def renamed(node: Any, name: Callable[[str, str], str]) -> Any:
    """The node with other names of relations, types, branches and components: `name` gives them by name and
    kind."""

    def change(each: Any) -> Any:
        changes: dict[str, Any] = {}
        for part, kind in _NAMES.get(type(each), {}).items():
            value = getattr(each, part)
            one = isinstance(value, str)
            changes[part] = name(value, kind) if one else tuple([name(v, kind) for v in value])
        return replace(each, **changes) if changes else each

    return rebuilt(node, change)
