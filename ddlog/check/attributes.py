"""Attributes `#[name=value]`: their names, and the values that each can have.

Those that only mean something to a compiler of other languages are checked for their form and have no effect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from .. import errors, stdlib, syntax
from ..errors.diagnostics import Diagnostic
from ..errors.nearest import meant, nearest
from ..names.attributes import is_nested, json_fields, json_shapes, serde_settings
from ..names.environment import Environment
from ..names.jsonnames import RULES
from ..names.modules import FUNCTIONS, OTHER, RELATIONS, TRANSFORMERS, TYPES, ModuleSyntax
from ..types import Constructor, JsonField, KeyOf, Opaque, String, Type, TypeDef, TypeVar, User, unwrapped
from .function import Instances

_STRING, _TRUE, _NUMBER, _CALL, _ANY = "a string", "true or false", "a number", "a function: `f()`", ""
_TYPE: Mapping[str, str] = {
    "size": _NUMBER,
    "rust": _STRING,
    "custom_serde": _TRUE,
    "custom_from_record": _TRUE,
    "shared_ref": _TRUE,
    "dyn_alloc": _TRUE,
    "alias": _TRUE,
    "iterate_by_ref": _ANY,
    "iterate_by_val": _ANY,
}
_CONSTRUCTOR = {"rust": _STRING}
_FIELD = {"rust": _STRING, "deserialize_from_array": _CALL}
_RELATION = {"original": _STRING, "demand": _TRUE, "made": _TRUE}
_RULE = {"distinct": _TRUE, "product": _TRUE}
_FUNCTION = {"has_side_effects": _TRUE, "return_by_ref": _TRUE}
_ARGUMENT = {"by_val": _TRUE}
_CONVERSIONS = ("with", "serialize_with", "deserialize_with")  # whose values name functions of Rust
_OF_TYPES = {("tag", True), ("untagged", False), ("rename_all", True)}
_OF_CONSTRUCTORS = {("rename", True), ("rename_all", True)}
_OF_FIELDS = {("rename", True), ("default", False), ("flatten", False)}
_REPEATABLE = {"rust", "iterate_by_ref", "iterate_by_val"}


def check_attributes(module: ModuleSyntax) -> Iterator[Diagnostic]:
    """The errors in the attributes of a module."""
    for declaration in module.all(TYPES):
        if not isinstance(declaration, syntax.RelationDecl):
            yield from _attributes(declaration, "a type", _TYPE)
            yield from _serde(declaration.attributes, _OF_TYPES)
        for each in getattr(declaration, "constructors", ()):
            yield from _attributes(each, "a constructor", _CONSTRUCTOR)
            yield from _serde(each.attributes, _OF_CONSTRUCTORS)
        if isinstance(declaration, syntax.TypeDecl):
            for name, fields, forms, _ in json_shapes(declaration):
                yield from _fields(name, fields, forms)
    for declaration in module.all(RELATIONS):
        yield from _attributes(declaration, "a relation", _RELATION)
        columns = declaration.fields or ()
        yield from _fields(declaration.name, columns, json_fields(columns))
        for attribute in declaration.attributes:
            if attribute == syntax.Attribute(
                "original", syntax.StringLit("", attribute.span), attribute.span
            ):
                yield errors.attributes.EmptyOriginal(span=attribute.span)
            if attribute.name == "demand" and declaration.role != "output":
                name, role = declaration.name, declaration.role
                yield errors.attributes.DemandOfNoOutput(span=attribute.span, name=name, role=role)
    for declaration in module.all(FUNCTIONS):
        yield from _attributes(declaration, "a function", _FUNCTION)
        for each in declaration.parameters:
            yield from _attributes(each, "an argument", _ARGUMENT)
    for declaration in (*module.all(TRANSFORMERS), *module.all(OTHER)):
        if not isinstance(declaration, syntax.ImportDecl):
            known = _RULE if isinstance(declaration, syntax.RuleDecl | syntax.ForDecl) else {}
            yield from _attributes(declaration, _OTHERS[type(declaration)], known)


def check_query_attributes(query: syntax.Query) -> Iterator[Diagnostic]:
    """The errors in the attributes of a query."""
    yield from _attributes(query, "a query", {"distinct": _TRUE})


_OTHERS: Mapping[type[Any], str] = {
    syntax.RuleDecl: "a rule",
    syntax.ForDecl: "a rule",
    syntax.IndexDecl: "an index",
    syntax.TransformerDecl: "a transformer",
    syntax.ApplyDecl: "an `apply`",
    syntax.LoopDecl: "a loop",
}


def _fields(owner: str, fields: Sequence[syntax.Field], forms: Sequence[JsonField]) -> Iterator[Diagnostic]:
    names: dict[str, bool] = {}  # whether the field has another name than in rules
    for field in fields:
        yield from _attributes(field, "a field", _FIELD)
        yield from _serde(field.attributes, _OF_FIELDS)
    for field, form in zip(fields, forms, strict=bool(forms)):
        renamed = form.name != field.name or bool(field.attributes)
        if not form.flatten:
            if form.name in names and (renamed or names[form.name]):
                yield errors.attributes.SameJsonName(span=field.span, owner=owner, name=form.name)
            names[form.name] = renamed


def _attributes(owner: Any, kind: str, known: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Unknown and repeated ones, and wrong values. No value means yes."""
    seen: set[str] = set()
    for attribute in owner.attributes:
        name, span = attribute.name, attribute.span
        if name not in known:
            hint = meant(nearest(name, known))
            yield errors.attributes.UnknownAttribute(span=span, name=name, owner=kind, help=hint)
        elif not _fits(attribute.value, known[name]):
            yield errors.attributes.AttributeValue(span=span, name=name, wanted=known[name])
        elif name in seen and name not in _REPEATABLE:
            yield errors.attributes.RepeatedAttribute(span=span, name=name)
        if isinstance(attribute.value, syntax.StringLit) and "\0" in attribute.value.value:
            yield errors.attributes.ZeroInAttribute(span=attribute.value.span, name=name)
        seen.add(name)


def _fits(value: syntax.Expr | None, wanted: str) -> bool:
    match value:
        case syntax.StringLit():
            return wanted == _STRING
        case syntax.BoolLit() | None:
            return wanted == _TRUE
        case syntax.IntLit():
            return wanted == _NUMBER
        case syntax.Call(syntax.Name(), (), _):
            return wanted == _CALL
        case _:
            return wanted == _ANY


def _serde(
    attributes: Sequence[syntax.Attribute], honoured: Collection[tuple[str, bool]]
) -> Iterator[Diagnostic]:
    """The settings that are not honoured; those that are come with whether they have a value."""
    for attribute in attributes:
        for setting, value in serde_settings(attribute):
            if setting in _CONVERSIONS:
                if setting != "with" or value is None or not (value == "raw_json" or is_nested(value)):
                    yield errors.attributes.SerdeFunction(span=attribute.span, setting=f'{setting}="{value}"')
            elif setting == "rename_all" and value is not None and value not in RULES:
                yield errors.attributes.NoRenamingRule(span=attribute.span, rule=value)
            elif (setting, value is not None) not in honoured:
                shown = setting if value is None else f'{setting}="{value}"'
                yield errors.attributes.SerdeSetting(span=attribute.span, setting=shown)


def check_array_keys(
    environment: Environment,
    module: ModuleSyntax,
    instances: Instances,
    array_keys: dict[tuple[str, str], str],
) -> Iterator[Diagnostic]:
    """Finds the functions of `deserialize_from_array`, each an instance for the values of its map, and adds
    them to `array_keys` by constructor and field. Checks the types of flattened fields."""
    for each in module.names(TYPES):
        declaration = module.get(TYPES, each)[0]  # a second one of its name is an error
        if isinstance(declaration, syntax.TypeDecl | syntax.RelationDecl):
            typedef = environment.typedef(module, declaration)
            for written, form, (name, type_), constructor in _with_attributes(declaration, typedef):
                if form.flatten and not _has_fields(type_):
                    span = next(each.span for each in written.attributes if each.name == "rust")
                    yield errors.attributes.FlattenedType(span=span, name=name, type=str(type_))
                if form.key is not None:
                    key = _array_key(environment, module, instances, written, form.key, name, type_)
                    if isinstance(key, str):
                        array_keys[constructor.name, name] = key
                    else:
                        yield key


def _has_fields(of: Type) -> bool:
    """Whether the JSON of a type is an object: of a struct or union, a Map of strings, an Option of these."""
    match unwrapped(of):
        case User("ddlog_std::Option", (inner,)):
            return _has_fields(inner)
        case User(name):
            return stdlib.text_form(name) is None and name != "json::JsonWrapper"
        case Opaque("ddlog_std::Map", (key, _)):
            return unwrapped(key) == String()
        case TypeVar():
            return True
    return False


def _with_attributes(
    declaration: syntax.TypeDecl | syntax.RelationDecl, typedef: TypeDef
) -> Iterator[tuple[syntax.Field, JsonField, tuple[str, Type], Constructor]]:
    shapes = (
        [declaration.fields or ()]
        if isinstance(declaration, syntax.RelationDecl)
        else [each.fields for each in declaration.constructors]
    )
    for fields, constructor in zip(shapes, typedef.constructors, strict=False):
        if constructor.json:
            for written, form, field in zip(fields, constructor.json, constructor.fields, strict=True):
                yield written, form, field, constructor


def _array_key(
    environment: Environment,
    module: ModuleSyntax,
    instances: Instances,
    written: syntax.Field,
    function: KeyOf,
    name: str,
    type_: Type,
) -> str | Diagnostic:
    """The instance that computes the keys of a field, or the reason that there is none."""
    span = next(each.span for each in written.attributes if each.name == "deserialize_from_array")
    match type_:
        case Opaque("ddlog_std::Map", (key, value)):
            for signature in environment.functions(function.name, module.name):
                types = tuple(each.type for each in signature.parameters)
                if types == (value,) and signature.result == key and not signature.variables:
                    return instances.demand(signature, ())
            return errors.attributes.KeyFunction(
                span=span, name=function.name, value=str(value), key=str(key)
            )
        case _:
            return errors.attributes.ArrayOfNoMap(span=span, name=name, type=str(type_))
