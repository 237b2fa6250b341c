"""The meaning of attributes `#[name=value]` of a declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .. import syntax
from ..types import JsonField, KeyOf

_SERDE = re.compile(r"\s*serde\s*\((.*)\)\s*", re.DOTALL)
_PART = re.compile(r'\s*((?:"(?:[^"\\]|\\.)*"|\([^()]*\)|[^,"()])+)(?:,|$)')
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
    return any(
        each.name == "has_side_effects"
        and (each.value is None or each.value == syntax.BoolLit(True, each.span))
        for each in declaration.attributes
    )


def json_field(field: syntax.Field) -> JsonField:
    """The form of a field in JSON: `rust="serde(...)"` and `deserialize_from_array=f()`."""
    name, optional, key = field.name, False, None
    flatten = nested = False
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
        match attribute:
            case syntax.Attribute("deserialize_from_array", syntax.Call(syntax.Name(function), (), _)):
                key = KeyOf(function)
    return JsonField(name, optional, key, flatten, nested)


def is_nested(module: str) -> bool:
    """Whether a module of `serde(with="module")` makes a field a string that holds its JSON."""
    return module.rpartition("::")[2] in ("nested", "json_string")


def json_fields(fields: Sequence[syntax.Field]) -> tuple[JsonField, ...]:
    """The forms of the fields of a constructor; none if no attribute says anything."""
    if not any(each.attributes for each in fields):
        return ()
    return tuple(map(json_field, fields))


def json_variant(attributes: Sequence[syntax.Attribute]) -> str:
    """The name of a constructor in JSON, `rust="serde(rename=\\"name\\")"`; empty if nothing gives it one."""
    given = (value for each in attributes for setting, value in serde_settings(each) if setting == "rename")
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
                yield (written, None) if setting is None else (setting.group(1), setting.group(2))
