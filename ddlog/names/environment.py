"""The environment: the meaning in a module of each name of a type, constructor, function or relation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

from .. import core, errors, stdlib, syntax
from ..core.pythonfile import PythonClass, PythonFile
from ..errors.diagnostics import Diagnostic, InternalError, counted
from ..errors.source import Span
from ..syntax.foreign import type_hint
from ..types import (
    HASH_SETS,
    REF,
    TRANSPARENT,
    UNIT,
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    FunctionType,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    TypeDef,
    TypeVar,
    User,
    unwrapped,
)
from ..types.unify import ERROR, depth, parts, substitute, type_variables
from .attributes import is_made, json_fields, json_shapes, json_tag, on_demand, original
from .modules import CONSTRUCTORS, FUNCTIONS, RELATIONS, TYPES, ModuleSyntax
from .scopes import SPELLINGS, Names
from .signatures import DeclaredSignature

BUILT_IN: dict[str, Type] = {
    "bool": Bool(),
    "bigint": BigInt(),
    "integer": BigInt(),
    "string": String(),
    "float": Float(32),
    "double": Float(64),
}
DECLARABLE = frozenset({"integer"})  # built in only where no module declares it
DEEPEST = 150
"""The most levels of a type: those that are written, and those of the fields of its fields."""
LARGEST = 5_000
"""The most parts of a type, with those of all of its fields: what an alias or a type stands for counts anew
at each place that names it."""


def digest(data: object) -> str:
    """A short digest of the text of plain data."""
    return hashlib.blake2b(repr(data).encode(), digest_size=6).hexdigest()


class Environment(Names):
    """The declarations that a program sees, resolved when first asked for."""

    def __init__(self, modules: Mapping[str, ModuleSyntax], everywhere: Sequence[str]) -> None:
        super().__init__(modules, everywhere)
        self.typedefs: dict[str, TypeDef] = {}
        self.relations: dict[str, core.Relation] = {}
        self.diagnostics: list[Diagnostic] = []
        self.made: dict[str, core.Relation] = {}  # by the checker, under names that no source has
        self.transformed: dict[str, Span] = {}  # the relations that transformers fill, and where
        self.externs: dict[str, PythonFile] = {}
        self.loops: list[core.LoopBlock] = []
        self.erases = False  # whether some type is only in the types: see check/erase.py
        self._signatures: dict[tuple[str, str], tuple[DeclaredSignature, ...]] = {}
        self._expanding: list[tuple[str, Any]] = []
        self._aliases: dict[str, Type] = {}
        self._depth, self._refused = 0, False
        self._unresolved: list[tuple[ModuleSyntax, syntax.TypeDecl | syntax.RelationDecl]] = []
        self._resolving = False
        self._fields: dict[User, list[tuple[str, tuple[tuple[str, Type], ...]]]] = {}

    def beside(self, relation: core.Relation | None = None) -> Environment:
        """An environment of the same declarations, and of a relation that the checker made. What is learned
        and what is wrong there stays there."""
        other = copy(self)
        other.typedefs, other.diagnostics, other.made = dict(self.typedefs), [], dict(self.made)
        other._expanding, other._fields, other._unresolved = [], {}, []
        if relation is not None:
            other.made[relation.name] = relation
            if relation.constructor is not None:
                other.typedefs[relation.name] = TypeDef(relation.name, (), (relation.constructor,))
        return other

    @cached_property
    def digest(self) -> str:
        """A digest of the texts of the program's own modules."""
        own = [each for each in self.modules.values() if each.path is not None or not each.name]
        return digest(sorted((each.name, each.source.text) for each in own))

    # ----------------------------------------------------------- declarations

    def functions(self, name: str, module: str) -> tuple[DeclaredSignature, ...]:
        """The functions of a name in the module and in all modules that it sees."""
        found: list[DeclaredSignature] = []
        for spelling in dict.fromkeys((name, SPELLINGS.get(name, name))):
            last, modules = self.visible(spelling, module)
            found += [signature for each in modules for signature in self._declared(each, last)]
        own = {each.shape for each in found if each.module == module}
        taken = {shape[:-1] for shape in own}  # from the library: a module's own functions hide those of it

        def hidden(each: DeclaredSignature) -> bool:
            library = self.modules[each.module].path is None
            return each.shape in own or (library and each.shape[:-1] in taken)

        return tuple(each for each in found if each.module == module or not hidden(each))

    def beside_type(self, name: str, type_: Type) -> tuple[DeclaredSignature, ...]:
        """The functions of a name in the module that declares a type, or the type that a Ref refers to."""
        owner = unwrapped(type_)
        if not isinstance(owner, User | Opaque):
            return ()
        module = self.modules.get(owner.name.rpartition("::")[0])
        return () if module is None else self._declared(module, name)

    def _declared(self, module: ModuleSyntax, name: str) -> tuple[DeclaredSignature, ...]:
        place = (module.name, name)
        if place not in self._signatures:
            declarations = module.get(FUNCTIONS, name)
            overloaded = len(declarations) > 1
            self._signatures[place] = tuple(
                self._signature(each, module.name, overloaded) for each in declarations
            )
        return self._signatures[place]

    def _signature(
        self, declaration: syntax.FunctionDecl, module: str, overloaded: bool
    ) -> DeclaredSignature:
        parameters = tuple(
            core.Parameter(each.name, self.convert(each.type, module), each.mutable)
            for each in declaration.parameters
        )
        result = self.convert(declaration.result, module) if declaration.result else UNIT
        variables = type_variables(Tuple((*(each.type for each in parameters), result)))
        return DeclaredSignature(
            declaration.name, module, variables, parameters, result, declaration, overloaded
        )

    def constructor(self, name: str, module: str) -> tuple[TypeDef, Constructor] | None:
        """The constructor of a name, with its type."""
        found = self.find(CONSTRUCTORS, name, module)
        if found is None:
            return None
        owner, declaration = found
        typedef = self.typedef(owner, declaration)
        qualified = owner.qualified(name.rpartition("::")[2])
        return next(((typedef, each) for each in typedef.constructors if each.name == qualified), None)

    def constructors_of(self, type_: User) -> list[tuple[str, tuple[tuple[str, Type], ...]]]:
        """The constructors of a type with its arguments put into the types of their fields."""
        if type_ not in self._fields:
            typedef = self.typedefs[type_.name]
            mapping = dict(zip(typedef.parameters, type_.args, strict=True))
            self._fields[type_] = [
                (each.name, tuple((name, substitute(field_, mapping)) for name, field_ in each.fields))
                for each in typedef.constructors
            ]
        return self._fields[type_]

    def relation(self, name: str, module: str) -> core.Relation | None:
        """The relation of a name."""
        if name in self.made:
            return self.made[name]
        found = self.find(RELATIONS, name, module)
        if found is None:
            return None
        owner, declaration = found
        qualified = owner.qualified(declaration.name)
        if qualified not in self.relations:
            self.relations[qualified] = self._relation(owner, declaration, qualified)
        return self.relations[qualified]

    def _relation(self, owner: ModuleSyntax, declaration: syntax.RelationDecl, name: str) -> core.Relation:
        record: Type
        if declaration.fields is not None:
            self.typedef(owner, declaration)
            record = User(name)
            if declaration.by_ref:
                record = self.reference(record)
        else:
            assert declaration.element is not None
            record = self.convert(declaration.element, owner.name, frozenset())
            if declaration.by_ref:
                record = self.reference(record)
        constructor: Constructor | None = None
        columns: tuple[core.Column, ...] = (core.Column("value", record),)
        held = unwrapped(record)
        if isinstance(held, User) and len(self.typedefs[held.name].constructors) == 1:
            constructor = self.typedefs[held.name].constructors[0]
            fields = self.constructors_of(held)[0][1]
            columns = tuple(core.Column(each, type_) for each, type_ in fields)
        return core.Relation(
            name,
            declaration.role,
            declaration.kind,
            record,
            constructor,
            columns,
            None,
            declaration.name_span,
            original(declaration),
            demand=on_demand(declaration),
            made=is_made(declaration),
            aliases=self.aliases(owner, declaration.name),
        )

    # ----------------------------------------------------------------- types

    def reference(self, type_: Type, name: str = REF) -> Type:
        """`Ref` or `Intern` of a type."""
        self.erases = True
        return Opaque(name, (type_,))

    def typedef(self, owner: ModuleSyntax, declaration: syntax.TypeDecl | syntax.RelationDecl) -> TypeDef:
        """The type that a declaration makes. Within the conversion of another, its constructors come later:
        so types may name themselves, and a chain of them takes no stack."""
        name = owner.qualified(declaration.name)
        if name not in self.typedefs:
            self.typedefs[name] = TypeDef(name, (), ())
            self._unresolved.append((owner, declaration))
            self._resolve()
        return self.typedefs[name]

    def extern_type(self, owner: ModuleSyntax, declaration: syntax.ExternTypeDecl) -> None:
        """Notes an extern type of the program, whose class is in the Python file beside the module."""
        name = owner.qualified(declaration.name)
        found = PythonClass(self.python_file(owner), declaration.name, declaration.name_span)
        self.typedefs.setdefault(name, TypeDef(name, (), (), extern=found))

    def python_file(self, module: ModuleSyntax) -> PythonFile:
        """The Python file beside a module of the program."""
        if module.name not in self.externs:
            self.externs[module.name] = PythonFile.beside(module.path)
        return self.externs[module.name]

    def _resolve(self) -> None:
        if self._resolving:
            return
        self._resolving = True
        try:
            while self._unresolved:
                owner, declaration = self._unresolved.pop()
                self.typedefs[owner.qualified(declaration.name)] = self._typedef(owner, declaration)
        finally:
            self._resolving = False

    def _typedef(self, owner: ModuleSyntax, declaration: syntax.TypeDecl | syntax.RelationDecl) -> TypeDef:
        name = owner.qualified(declaration.name)
        if isinstance(declaration, syntax.RelationDecl):
            parameters: tuple[str, ...] = ()
            fields = declaration.fields or ()
            shapes = [(declaration.name, fields, json_fields(fields), "")]
            tag = None
        else:
            parameters = declaration.parameters
            shapes = json_shapes(declaration)
            tag = json_tag(declaration.attributes)
        known = frozenset(parameters)
        return TypeDef(
            name,
            parameters,
            tuple(
                Constructor(
                    owner.qualified(each),
                    i,
                    tuple((each.name, self.convert(each.type, owner.name, known)) for each in fields),
                    forms,
                    variant,
                    self.aliases(owner, each),
                )
                for i, (each, fields, forms, variant) in enumerate(shapes)
            ),
            tag,
            stdlib.text_form(name) if owner.path is None and owner.name else None,
        )

    def convert(self, type_: syntax.Type, module: str, variables: frozenset[str] | None = None) -> Type:
        """The type that is written; `variables` are the type variables in scope, None for any."""
        if self._depth >= DEEPEST:
            return self._refuse(errors.typedefs.TypeTooDeep(span=type_.span, limit=DEEPEST))
        self._depth += 1
        try:
            return self._convert(type_, module, variables)
        finally:
            self._depth -= 1

    def _refuse(self, error: Diagnostic) -> Type:
        """Reports the first type that is too large."""
        if not self._refused:
            self.diagnostics.append(error)
        self._refused = True
        return ERROR

    def _convert(self, type_: syntax.Type, module: str, variables: frozenset[str] | None) -> Type:
        match type_:
            case syntax.IntType(width, signed, _):
                return Signed(width) if signed else Bit(width)
            case syntax.TupleType(items, _):
                parts = tuple(self.convert(item, module, variables) for item in items)
                return parts[0] if len(parts) == 1 else Tuple(parts)
            case syntax.VarType(name, span):
                if variables is not None and name not in variables:
                    self.diagnostics.append(errors.names.UnknownTypeVariable(span=span, name=name))
                return TypeVar(name)
            case syntax.FunctionType(parameters, mutable, result, _):
                converted = tuple(self.convert(each, module, variables) for each in parameters)
                return FunctionType(
                    converted, mutable, self.convert(result, module, variables) if result else UNIT
                )
            case syntax.RelationType():
                raise InternalError("only a transformer takes relations, and has no such type for them")
            case syntax.NamedType():
                return self._named(type_, module, variables)

    def _named(self, type_: syntax.NamedType, module: str, variables: frozenset[str] | None) -> Type:
        built_in = BUILT_IN.get(type_.name)
        found = None
        if built_in is None or type_.name in DECLARABLE:
            found = self._type(type_, module)
        if found is None and built_in is not None:
            self._count_arguments(type_, 0)
            return built_in
        if found is None:
            self.diagnostics.append(self._unknown_type(type_, module))
            return ERROR
        owner, declaration = found
        args = tuple(self.convert(each, module, variables) for each in type_.args)
        parameters = () if isinstance(declaration, syntax.RelationDecl) else declaration.parameters
        if not self._count_arguments(type_, len(parameters)):
            return ERROR
        if isinstance(declaration, syntax.AliasDecl):
            return self._alias(owner, declaration, args, type_.span)
        if isinstance(declaration, syntax.ExternTypeDecl):
            name = owner.qualified(declaration.name)
            self.erases = self.erases or name in TRANSPARENT | HASH_SETS
            if owner.path is not None or not owner.name:
                self.extern_type(owner, declaration)
            return Opaque(name, args)
        self.typedef(owner, declaration)
        return User(owner.qualified(declaration.name), args)

    def _type(self, type_: syntax.NamedType, module: str) -> tuple[ModuleSyntax, Any] | None:
        """The declaration of a type. A type with arguments is not that of a relation's rows, so a relation
        may have the name of a library type: `relation Set(s: Set<u32>)`."""
        found = self.find(TYPES, type_.name, module)
        if not type_.args or found is None or not isinstance(found[1], syntax.RelationDecl):
            return found
        names = (type_.name, SPELLINGS.get(type_.name, type_.name))
        every = (each for name in names for each in self.declarations(TYPES, name, module))
        return next((each for each in every if not isinstance(each[1], syntax.RelationDecl)), found)

    def _count_arguments(self, type_: syntax.NamedType, wanted: int) -> bool:
        if len(type_.args) != wanted:
            self.diagnostics.append(
                errors.typedefs.WrongTypeArguments(
                    span=type_.span,
                    name=type_.name,
                    wanted=counted(wanted, "type argument"),
                    given=len(type_.args),
                )
            )
        return len(type_.args) == wanted

    def _alias(
        self, owner: ModuleSyntax, alias: syntax.AliasDecl, args: tuple[Type, ...], span: Span
    ) -> Type:
        place = (owner.qualified(alias.name), alias)
        if self._refused:
            return ERROR
        body = self.expand(place, alias.type, owner.name, frozenset(alias.parameters))
        made = substitute(body, dict(zip(alias.parameters, args, strict=True)))
        if depth(made) > DEEPEST:
            return self._refuse(errors.typedefs.TypeTooDeep(span=span, limit=DEEPEST))
        if parts(made) > LARGEST:
            return self._refuse(errors.typedefs.TypeTooLarge(span=span, name=alias.name, limit=LARGEST))
        return made

    def expand(
        self, alias: tuple[str, syntax.AliasDecl], type_: syntax.Type, module: str, variables: frozenset[str]
    ) -> Type:
        """The type that an alias stands for; an error if it stands for itself."""
        if alias[0] in self._aliases:
            return self._aliases[alias[0]]
        if alias in self._expanding:
            cycle = self._expanding[self._expanding.index(alias) :]
            start = min(range(len(cycle)), key=lambda i: cycle[i][0])
            around = [*cycle[start:], *cycle[: start + 1]]
            shown = " -> ".join(name for name, _ in around)
            self.diagnostics.append(errors.typedefs.RecursiveAlias(span=around[0][1].name_span, cycle=shown))
            return ERROR
        self._expanding.append(alias)
        try:
            self._aliases[alias[0]] = self.convert(type_, module, variables)
        finally:
            self._expanding.pop()
        return self._aliases[alias[0]]

    # ---------------------------------------------------------------- errors

    def _unknown_type(self, type_: syntax.NamedType, module: str) -> Diagnostic:
        wrong = self.misnamed(TYPES, type_.name, type_.span, module)
        if wrong is not None:
            return wrong
        hint = type_hint(type_.name) or self.suggest(type_.name, [*BUILT_IN, *self.names(TYPES, module)])
        return errors.names.UnknownType(span=type_.span, name=type_.name, help=hint)
