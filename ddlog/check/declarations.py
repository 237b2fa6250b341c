"""Declarations on their own: duplicates, recursive types, unused parameters, unsupported features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import errors, syntax
from ..codegen.programexterns import static_problem
from ..errors.diagnostics import Diagnostic, Note
from ..errors.source import Span
from ..names.environment import Environment
from ..names.modules import CONSTRUCTORS, FUNCTIONS, RELATIONS, TYPES, ModuleSyntax
from ..names.signatures import DeclaredSignature
from ..types import Type, TypeDef
from ..types.unify import type_variables
from .streams import check_declared as check_streams


def check_declarations(environment: Environment, module: ModuleSyntax) -> list[Diagnostic]:
    """Resolves every declaration of the module; the errors in them."""
    found = list(definitions(module))
    for declaration in module.all(TYPES):
        found += _type(environment, module, declaration)
    for name in module.names(FUNCTIONS):
        found += _functions(environment, module, name)
    for declaration in module.all(RELATIONS):
        found += _relation(declaration)
        environment.relation(declaration.name, module.name)
    found += check_streams(module)
    return found


def _type(environment: Environment, module: ModuleSyntax, declaration: object) -> Iterator[Diagnostic]:
    match declaration:
        case syntax.ExternTypeDecl():
            yield from _extern_type(environment, module, declaration)
        case syntax.AliasDecl():
            known = frozenset(declaration.parameters)
            place = (module.qualified(declaration.name), declaration)
            body = environment.expand(place, declaration.type, module.name, known)
            yield from _unused(declaration, set(type_variables(body)))
        case syntax.TypeDecl():
            typedef = environment.typedef(module, declaration)
            fields = [type_ for each in typedef.constructors for _, type_ in each.fields]
            yield from _unused(declaration, {name for each in fields for name in type_variables(each)})
            if len(module.get(TYPES, declaration.name)) == 1:
                yield from _field_types(declaration, typedef)
        case syntax.RelationDecl():
            environment.typedef(module, declaration)


def _unused(declaration: syntax.AliasDecl | syntax.TypeDecl, used: set[str]) -> Iterator[Diagnostic]:
    for i, name in enumerate(declaration.parameters):
        if name in declaration.parameters[:i]:
            yield errors.typedefs.RepeatedParameter(
                span=declaration.name_span, name=declaration.name, parameter=name
            )
    unused = [name for name in declaration.parameters if name not in used]
    if unused and "?error" not in used:
        shown = ", ".join(f"'{name}" for name in unused)
        yield errors.typedefs.UnusedTypeVariables(
            span=declaration.name_span, name=declaration.name, variables=shown
        )


def _field_types(declaration: syntax.TypeDecl, typedef: TypeDef) -> Iterator[Diagnostic]:
    first: dict[str, tuple[Type, syntax.Field]] = {}
    for written, constructor in zip(declaration.constructors, typedef.constructors, strict=True):
        here: set[str] = set()
        for field, (name, type_) in zip(written.fields, constructor.fields, strict=True):
            if name in here:
                yield errors.types.RepeatedField(span=field.span, field=name)
                continue
            here.add(name)
            known, place = first.setdefault(name, (type_, field))
            if known != type_:
                notes = (Note(f"`{known}` here", place.span),)
                yield errors.typedefs.FieldTypes(span=field.span, field=name, notes=notes)


def _functions(environment: Environment, module: ModuleSyntax, name: str) -> Iterator[Diagnostic]:
    seen: dict[tuple[Type, ...], Span] = {}
    for signature in environment.functions(name, module.name):
        if signature.module != module.name:
            continue
        if signature.shape in seen:
            notes = (Note("also defined here", seen[signature.shape]),)
            yield errors.functions.SameSignature(span=signature.span, name=name, notes=notes)
        seen.setdefault(signature.shape, signature.span)
        if signature.declaration.body is None:
            if signature.overloaded:
                yield errors.modules.ExternOverloaded(span=signature.span, name=name)
            yield from _extern(environment, module, signature)


def _extern(
    environment: Environment, module: ModuleSyntax, signature: DeclaredSignature
) -> Iterator[Diagnostic]:
    """Finds the Python function of an extern function, without executing its file."""
    name, arity = signature.name, len(signature.parameters)
    wrong = static_problem(environment.python_file(module), name, arity, signature.span)
    if wrong is not None:
        yield wrong


def _extern_type(
    environment: Environment, module: ModuleSyntax, declaration: syntax.ExternTypeDecl
) -> Iterator[Diagnostic]:
    """Finds the class of an extern type, without executing its file."""
    if declaration.parameters:
        yield errors.unsupported.Unsupported(
            span=declaration.span, what="type parameters of an extern type of a program are"
        )
        return
    environment.extern_type(module, declaration)
    wrong = static_problem(environment.python_file(module), declaration.name, None, declaration.name_span)
    if wrong is not None:
        yield wrong


def _relation(declaration: syntax.RelationDecl) -> Iterator[Diagnostic]:
    if declaration.key is not None and declaration.role != "input":
        yield errors.rules.KeyNotInput(span=declaration.key.span, name=declaration.name)
    names: set[str] = set()
    for field in declaration.fields or ():
        if field.name in names:
            yield errors.types.RepeatedField(span=field.span, field=field.name)
        names.add(field.name)


def definitions(module: ModuleSyntax) -> Iterator[Diagnostic]:
    """An error for every name that the module declares more than once."""
    known: dict[int, dict[str, list[Any]]] = {}
    for table in (TYPES, CONSTRUCTORS, RELATIONS):
        for name in module.names(table):
            if table != TYPES and name in module.tables[TYPES] and len(module.get(TYPES, name)) > 1:
                continue
            found = module.get(table, name)
            if table == CONSTRUCTORS:
                found = _constructors(found, name, known)
            if len(found) > 1:
                spans = [_name_span(each) for each in found]
                notes = tuple(Note("also defined here", span) for span in spans[:1])
                for span in spans[1:]:
                    yield errors.names.MultipleDefinitions(span=span, name=name, notes=notes)


def _constructors(
    declarations: Sequence[Any], name: str, known: dict[int, dict[str, list[Any]]]
) -> tuple[Any, ...]:
    """The constructors of a name in declarations; `known` has those of each type, by name."""
    found: dict[int, Any] = {}
    for each in declarations:
        if isinstance(each, syntax.TypeDecl):
            if id(each) not in known:
                named = known[id(each)] = {}
                for constructor in each.constructors:
                    named.setdefault(constructor.name, []).append(constructor)
            found.update((id(constructor), constructor) for constructor in known[id(each)].get(name, ()))
        else:
            found[id(each)] = each
    return tuple(found.values())


def _name_span(declaration: Any) -> Span:
    span: Span = getattr(declaration, "name_span", None) or declaration.span
    return span
