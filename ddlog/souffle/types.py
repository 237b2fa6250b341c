"""The types of a Soufflé program: the meaning of each name, and its declaration here.

The *kind* of a type is its representation: `number`, `unsigned`, `float`, `symbol`, or the name of a
record type or an algebraic type. Subtypes and unions have the kind of their bases.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .. import syntax
from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..errors.unknown import unknown_name
from ..lowering.stratify import strongly_connected
from ..syntax.templates import NOWHERE, placed
from ..syntax.walk import nodes
from . import syntax as ast
from .functors import FUNCTION_NAMES
from .names import FreeNames, assigned, small

TRUTH = "truth value"  # the kind of FlowLog's bool, which no name of a type can be
PRIMITIVE = ("number", "unsigned", "float", "symbol", TRUTH)
_FOREIGN = {"int": "number", "integer": "number", "string": "symbol", "double": "float", "uint": "unsigned"}
BOOLEAN = syntax.NamedType("bool", (), NOWHERE)


class SouffleTypes:
    """The declared types of a program.

    `optional` are the record types of which rules or facts may have a `nil`; `constructors` are the names
    here of records and branches, `declared` are the names here of types.
    """

    def __init__(self, items: Iterable[ast.Item], word: int) -> None:
        self.word = word
        self.found: list[Diagnostic] = []
        self.aliases: dict[str, ast.AliasType] = {}
        self.records: dict[str, ast.RecordType] = {}
        self.unions: dict[str, ast.BranchType] = {}
        self.branches: dict[str, tuple[ast.BranchDecl, str]] = {}
        self.functors: dict[str, ast.FunctorDecl] = {}
        for item in items:
            if isinstance(item, ast.AliasType | ast.RecordType | ast.BranchType):
                self._declare(item)
            elif isinstance(item, ast.FunctorDecl):
                self.functors[item.name] = item
        self._check_references()
        self.recursive = self._recursive()
        self.optional = {name for name in self.records if name in self.recursive}
        self.functor_names = assigned(self.functors, FreeNames(FUNCTION_NAMES), upper=False)
        self.declared: dict[str, str] = {}
        self.constructors: dict[str, str] = {}

    # -------------------------------------------------------------- lookup

    def kind(self, name: str) -> str:
        """The kind of a declared type; `symbol` for one that is wrong and reported."""
        seen: set[str] = set()
        while name in self.aliases and name not in seen:
            seen.add(name)
            name = self.aliases[name].bases[0]
        return name if self.exists(name) and name not in self.aliases else "symbol"

    def exists(self, name: str) -> bool:
        return name in PRIMITIVE or name in self.aliases or name in self.records or name in self.unions

    def fields(self, kind: str) -> tuple[ast.TypedName, ...]:
        """The fields of a record type."""
        return self.records[kind].fields

    def check(self, name: str, span: Span) -> None:
        """Reports a type that is not declared."""
        if not self.exists(name):
            known = [*PRIMITIVE, *self.aliases, *self.records, *self.unions]
            unknown = unknown_name("type", name, known, span)
            self.found.append(replace(unknown, near=_FOREIGN.get(name, unknown.near)))

    def numbered(self, kind: str) -> dict[str, int]:
        """Soufflé's number of each constructor of an algebraic type; none if branches of it have fields."""
        branches = self.unions[kind].branches if kind in self.unions else ()
        if any(each.fields for each in branches):
            return {}
        return {self.constructors[f"${each.name}"]: i for i, each in enumerate(branches)}

    def allow_nil(self, kind: str) -> None:
        """Makes a record type optional, and those of the parts of its values."""
        if kind in self.records and kind not in self.optional:
            self.optional.add(kind)
            for field in self.fields(kind):
                self.allow_nil(self.kind(field.type))

    def always_matches(self, pattern: syntax.Expr) -> bool:
        """Whether every value of its type matches a pattern of variables: it names no branch of several."""
        several = (each.branches for each in self.unions.values() if len(each.branches) > 1)
        partial = {"Some", *(self.constructors[f"${each.name}"] for each in itertools.chain(*several))}
        return not any(
            isinstance(each, syntax.Struct) and each.constructor in partial for each in nodes(pattern)
        )

    # --------------------------------------------------------------- output

    def name_all(self, space: FreeNames) -> None:
        """Chooses names here for the types and constructors, after those of relations."""
        wanted = [*self.aliases, *self.records, *self.unions]
        self.declared = assigned(wanted, space, upper=True)
        self.constructors = {name: self.declared[name] for name in self.records}
        self.constructors |= {
            f"${name}": short for name, short in assigned(self.branches, space, upper=True).items()
        }

    def renamed(self) -> Iterator[tuple[str, str]]:
        """The names of types and branches that are others here."""
        names = self.declared | {key[1:]: name for key, name in self.constructors.items() if key[0] == "$"}
        return ((old, new) for old, new in names.items() if old != new)

    def branch_names(self) -> dict[str, str]:
        """The name of the branch that each constructor of an algebraic type stands for."""
        return {short: key[1:] for key, short in self.constructors.items() if key[0] == "$"}

    def field_names(self) -> dict[str, tuple[str, ...]]:
        """The fields of each record type, by its constructor."""
        return {
            self.constructors[name]: tuple(field.name for field in record.fields)
            for name, record in self.records.items()
        }

    def type_of(self, name: str) -> syntax.Type:
        """The type here, as a column or a field has it."""
        if name in self.aliases:
            return _named(self.declared[name]) if self._in_words(name) else self.type_of(self.kind(name))
        return self.kind_type(name)

    def _in_words(self, name: str) -> bool:
        return self.kind(name) in PRIMITIVE

    def kind_type(self, kind: str) -> syntax.Type:
        """The type here of the values of a kind."""
        match kind:
            case "number" | "unsigned":
                return syntax.IntType(self.word, kind == "number", NOWHERE)
            case "float":
                return _named("double" if self.word == 64 else "float")
            case "symbol":
                return _named("string")
            case "truth value":
                return BOOLEAN
        of = _named(self.declared[kind])
        if kind in self.recursive:
            of = _named("Ref", of)
        return _named("Option", of) if kind in self.optional else of

    def typedefs(self) -> Iterator[syntax.Declaration]:
        """The declarations of the types, in the order of the program."""
        for name, alias in self.aliases.items():
            if self._in_words(name):
                of, at = self._alias(alias.bases), alias.span
                yield placed(syntax.AliasDecl(self.declared[name], (), of, (), at, at), at)
        for name, record in self.records.items():
            fields = self._fields(record.fields, column_names(record.fields))
            yield self._typedef(name, [(self.constructors[name], fields)], record.span)
        for name, union in self.unions.items():
            names = _field_names(union, self)
            branches = [
                (self.constructors[f"${each.name}"], self._fields(each.fields, names[each.name]))
                for each in union.branches
            ]
            yield self._typedef(name, branches, union.span)

    def _typedef(
        self, name: str, branches: Iterable[tuple[str, tuple[syntax.Field, ...]]], at: Span
    ) -> syntax.TypeDecl:
        constructors = tuple(syntax.ConstructorDecl(each, fields, (), at) for each, fields in branches)
        return placed(syntax.TypeDecl(self.declared[name], (), constructors, (), at, at), at)

    def functor(self, name: str) -> syntax.FunctionDecl:
        """The declaration here of a functor of the program."""
        functor = self.functors[name]
        at = functor.span
        given = tuple(
            syntax.Parameter(f"x{i}", self.type_of(type), False, (), at)
            for i, type in enumerate(functor.args, 1)
        )
        result = self.type_of(functor.result)
        return placed(syntax.FunctionDecl(self.functor_names[name], given, result, None, (), at, at), at)

    def _alias(self, bases: Sequence[str]) -> syntax.Type:
        return self.type_of(bases[0]) if len(bases) == 1 else self.kind_type(self.kind(bases[0]))

    def _fields(self, fields: Sequence[ast.TypedName], names: Sequence[str]) -> tuple[syntax.Field, ...]:
        pairs = zip(names, fields, strict=True)
        return tuple(syntax.Field(name, self.type_of(field.type), (), field.span) for name, field in pairs)

    # ---------------------------------------------------------- declarations

    def _declare(self, item: ast.TypeDecl) -> None:
        if self.exists(item.name):
            self.found.append(errors.DeclaredTwice(what="type", name=item.name, span=item.span))
            return
        match item:
            case ast.AliasType():
                self.aliases[item.name] = item
            case ast.RecordType():
                self.records[item.name] = item
            case ast.BranchType():
                if not any(branch.fields for branch in item.branches):  # Soufflé's order of such values
                    item = replace(item, branches=tuple(sorted(item.branches, key=lambda each: each.name)))
                self.unions[item.name] = item
                for branch in item.branches:
                    if branch.name in self.branches:
                        twice = errors.DeclaredTwice(what="branch", name=branch.name, span=branch.span)
                        self.found.append(twice)
                    self.branches[branch.name] = (branch, item.name)

    def _check_references(self) -> None:
        for alias in self.aliases.values():
            for base in alias.bases:
                self.check(base, alias.span)
            self._check_bases(alias)
        lists = [record.fields for record in self.records.values()]
        lists += [branch.fields for branch, _ in self.branches.values()]
        for field in itertools.chain(*lists):
            self.check(field.type, field.span)
        for functor in self.functors.values():
            for type in (*functor.args, functor.result):
                self.check(type, functor.span)

    def _check_bases(self, alias: ast.AliasType) -> None:
        seen, name = {alias.name}, alias.bases[0]
        while name in self.aliases:
            if name in seen:
                what, why = f"the type `{alias.name}`", "it is defined by itself"
                self.found.append(errors.CannotTranslate(what=what, why=why, span=alias.span))
                return
            seen.add(name)
            name = self.aliases[name].bases[0]
        kinds = dict.fromkeys(self.kind(base) for base in alias.bases if self.exists(base))
        if len(kinds) > 1:
            first, second = list(kinds)[:2]
            self.found.append(errors.TypeClash(found=second, wanted=first, span=alias.span))

    def _recursive(self) -> set[str]:
        """The record and algebraic types whose values hold values of the same type."""
        parts: dict[str, list[str]] = {
            name: [field.type for field in record.fields] for name, record in self.records.items()
        }
        for name, union in self.unions.items():
            parts[name] = [field.type for branch in union.branches for field in branch.fields]
        successors = {
            name: dict.fromkeys(kind for kind in map(self.kind, types) if kind in parts)
            for name, types in parts.items()
        }
        circles = [group for group in strongly_connected(successors) if len(group) > 1]
        inside = {name for group in circles for name in group}
        return inside | {name for name, others in successors.items() if name in others}


def column_names(attributes: Sequence[ast.TypedName]) -> list[str]:
    """The names here of the columns of a relation or the fields of a record."""
    space = FreeNames()
    chosen = assigned((each.name for each in attributes), space, upper=False)
    seen: set[str] = set()
    result = []
    for each in attributes:
        result.append(space.fresh(chosen[each.name]) if each.name in seen else chosen[each.name])
        seen.add(each.name)
    return result


def _field_names(union: ast.BranchType, types: SouffleTypes) -> dict[str, list[str]]:
    """The names here of the fields of each branch. A name that several branches give to fields of different
    types has the name of the branch before it."""
    space, clashing = FreeNames(), _clashing(union, types)
    every = [field for branch in union.branches for field in branch.fields]
    shared = assigned((field.name for field in every if field.name not in clashing), space, upper=False)
    result: dict[str, list[str]] = {}
    for branch in union.branches:
        prefix, names = small(branch.name), []
        for field in branch.fields:
            plain = f"{prefix}_{small(field.name).rstrip('_')}"
            known = shared.get(field.name)
            names.append(space.fresh(plain) if known is None or known in names else known)
        result[branch.name] = names
    return result


def _clashing(union: ast.BranchType, types: SouffleTypes) -> set[str]:
    """The fields that several branches have with different types."""
    seen: dict[str, syntax.Type] = {}
    clashing: set[str] = set()
    for branch in union.branches:
        for field in branch.fields:
            if seen.setdefault(field.name, types.type_of(field.type)) != types.type_of(field.type):
                clashing.add(field.name)
    return clashing


def _named(name: str, *args: syntax.Type) -> syntax.Type:
    return syntax.NamedType(name, args, NOWHERE)
