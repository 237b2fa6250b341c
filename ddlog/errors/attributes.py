"""Errors and warnings about attributes `#[name=value]`."""

from __future__ import annotations

from .diagnostics import Diagnostic


class UnknownAttribute(Diagnostic):
    """An attribute that has no meaning for the thing that carries it."""

    severity = "warning"
    title = "attribute `{name}` has no effect on {owner}"
    name: str
    owner: str


class SerdeSetting(Diagnostic):
    """A setting of serde that has no effect here."""

    severity = "warning"
    title = "`serde({setting})` has no effect here"
    suggestion = (
        'use `rename="name"`, `default` or `flatten` on a field, `rename` or `rename_all` on a constructor, '
        '`rename_all`, `tag="key"` or `untagged` on a type'
    )
    setting: str


class NoRenamingRule(Diagnostic):
    """`serde(rename_all="...")` with a rule that serde does not have."""

    title = "serde has no rule `{rule}` for names"
    suggestion = (
        "its rules are lowercase, UPPERCASE, PascalCase, camelCase, snake_case, SCREAMING_SNAKE_CASE, "
        "kebab-case and SCREAMING-KEBAB-CASE"
    )
    rule: str


class SerdeFunction(Diagnostic):
    """A function of Rust that would convert a field."""

    title = "`serde({setting})` names a function of Rust, which cannot be called here"
    suggestion = (
        'only `with="serde_with::json::nested"` and `"types__json::serde_string"` are known: '
        "the field is a string that holds its JSON; "
        "for other forms read a string, and convert it in a rule"
    )
    setting: str


class FlattenedType(Diagnostic):
    """`serde(flatten)` on a field whose JSON has no fields."""

    title = "`serde(flatten)` needs a struct, a union or a Map of strings, but `{name}` is `{type}`"
    name: str
    type: str


class AttributeValue(Diagnostic):
    """An attribute with a value of the wrong kind."""

    title = "attribute `{name}` takes {wanted}"
    name: str
    wanted: str


class EmptyOriginal(Diagnostic):
    """The attribute `original=""`, without a name."""

    title = '"original" attribute with 0 characters: a relation has a name'


class DemandOfNoOutput(Diagnostic):
    """The attribute `demand` on a relation that is not an output."""

    title = "`demand` marks an output relation, but `{name}` is an {role} relation"
    label = "the outputs that read `{name}` settle how much of it is computed"
    name: str
    role: str


class ZeroInAttribute(Diagnostic):
    """A text of an attribute with a character that no name and no setting can have."""

    title = '"{name}" attribute with 0 character'
    label = "`\\0` cannot stand in the text of an attribute"
    name: str


class RepeatedAttribute(Diagnostic):
    """An attribute that is given twice."""

    title = "attribute `{name}` is given twice"
    name: str


class ArrayOfNoMap(Diagnostic):
    """`deserialize_from_array` on a field that is not a map."""

    title = "`deserialize_from_array` needs a field of type Map, but `{name}` is `{type}`"
    name: str
    type: str


class KeyFunction(Diagnostic):
    """A key function that does not compute the keys of the map."""

    title = "there is no function `{name}({value}): {key}` to compute the keys of this map"
    name: str
    value: str
    key: str


class SameJsonName(Diagnostic):
    """Two fields with the same name in JSON."""

    title = "two fields of `{owner}` are named `{name}` in JSON"
    owner: str
    name: str
