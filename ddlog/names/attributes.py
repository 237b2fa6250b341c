"""The meaning of attributes `#[name=value]` of a declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .. import syntax
from ..types import JsonField, KeyOf
from .jsonnames import renamed_constructor, renamed_field

_SERDE = re.compile(r"\s*serde\s*\((.*)\)\s*", re.DOTALL)
_PART = re.compile(r'\s*((?:"(?:[^"\\]|\\.)*"|\([^()]*\)|[^,"()])+)(?:,|$)')
_SIGN = re.compile(r"\\(.)")
_SETTING = re.compile(r'(\w+)(?:\s*=\s*"((?:[^"\\]|\\.)*)")?')


def original(declaration: syntax.RelationDecl) -> str:
    """The name of a relation in its source, `original="name"`; empty without the attribute."""
    for attribute in declaration.attributes:
        match attribute:
            case syntax.Attribute("original", syntax.StringLit(name)):
                return name
    return ""


def has_side_effects(declaration: syntax.FunctionDecl) -> bool:
    """`has_side_effects=true`"""
    return any(_says_yes(each, "has_side_effects") for each in declaration.attributes)


def on_demand(declaration: syntax.RelationDecl) -> bool:
    """`demand`, or `demand=true`"""
    return any(_says_yes(each, "demand") for each in declaration.attributes)


def is_made(declaration: syntax.RelationDecl) -> bool:
    """`made`, which translations write, or `made=true`"""
    return any(_says_yes(each, "made") for each in declaration.attributes)


def _says_yes(attribute: syntax.Attribute, name: str) -> bool:
    value = attribute.value
    return attribute.name == name and (value is None or value == syntax.BoolLit(True, attribute.span))


def json_field(field: syntax.Field, rule: str = "") -> JsonField:
    """The form of a field in JSON: `rust="serde(...)"` and `deserialize_from_array=f()`. Without a name of
    its own it has one by a rule of `rename_all`."""
    name, optional, key = renamed_field(field.name, rule), False, None
    flatten = nested = raw = False
    for attribute in field.attributes:
        for setting, value in serde_settings(attribute):
            match setting, value:
                case "rename", str():
                    name = value
                case "default", None:
                    optional = True
                case "flatten", None:
                    flatten = True
                case "with", str() if is_nested(value):
                    nested = True
                case "with", "raw_json":
                    raw = True
        match attribute:
            case syntax.Attribute("deserialize_from_array", syntax.Call(syntax.Name(function), (), _)):
                key = KeyOf(function)
    return JsonField(name, optional, key, flatten, nested, raw)


def is_nested(module: str) -> bool:
    """Whether a module of `serde(with="module")` makes a field a string that holds its JSON."""
    return module.rpartition("::")[2] in ("nested", "json_string", "serde_string")


def json_fields(fields: Sequence[syntax.Field], rule: str = "") -> tuple[JsonField, ...]:
    """The forms of the fields of a constructor, named by a rule; none if nothing says anything."""
    if not rule and not any(each.attributes for each in fields):
        return ()
    return tuple(json_field(each, rule) for each in fields)


def json_variant(constructor: syntax.ConstructorDecl, rule: str = "") -> str:
    """The name of a constructor in JSON, by `rust="serde(rename=\\"name\\")"` or a rule; empty if nothing
    gives it one."""
    given = _value(constructor.attributes, "rename")
    return given or (renamed_constructor(constructor.name, rule) if rule else "")


def json_shapes(
    declaration: syntax.TypeDecl,
) -> list[tuple[str, tuple[syntax.Field, ...], tuple[JsonField, ...], str]]:
    """The constructors of a type: name, fields, the forms of these in JSON, and its own name in JSON. A rule
    of a struct is about its fields, that of a union about its constructors."""
    rule = json_rule(declaration.attributes)
    of_fields, of_constructors = (rule, "") if len(declaration.constructors) == 1 else ("", rule)
    return [
        (
            each.name,
            each.fields,
            json_fields(each.fields, json_rule(each.attributes) or of_fields),
            json_variant(each, of_constructors),
        )
        for each in declaration.constructors
    ]


def json_rule(attributes: Sequence[syntax.Attribute]) -> str:
    """The rule of `serde(rename_all="rule")`; empty if there is none."""
    return _value(attributes, "rename_all")


def _value(attributes: Sequence[syntax.Attribute], wanted: str) -> str:
    given = (value for each in attributes for setting, value in serde_settings(each) if setting == wanted)
    return next((value for value in given if value), "")


def json_tag(attributes: Sequence[syntax.Attribute]) -> str | None:
    """The key under which JSON names the constructor: of `serde(tag="key")`; empty for `serde(untagged)`."""
    for attribute in attributes:
        for setting, value in serde_settings(attribute):
            match setting, value:
                case "tag", str():
                    return value
                case "untagged", None:
                    return ""
    return None


def serde_settings(attribute: syntax.Attribute) -> Iterator[tuple[str, str | None]]:
    """The settings in `rust="serde(a, b=\\"c\\")"`: `a` without a value, and `b` with c. What is not of
    this form comes whole."""
    match attribute:
        case syntax.Attribute("rust", syntax.StringLit(text)) if found := _SERDE.fullmatch(text):
            for part in _PART.finditer(found.group(1)):
                written = part.group(1).strip()
                setting = _SETTING.fullmatch(written)
                yield (
                    (written, None)
                    if setting is None
                    else (setting[1], setting[2] and _SIGN.sub(r"\1", setting[2]))
                )
