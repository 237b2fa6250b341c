"""The types of structs that a module uses, as declarations.

STRUCT(a INTEGER, b VARCHAR)  ->  typedef Struct_a_integer_b_varchar =
                                      Struct_a_integer_b_varchar{a: Option<bigint>, b: Option<string>}
"""

from __future__ import annotations

import re
from collections.abc import Collection

from .. import syntax
from ..syntax.printing import module_text
from ..syntax.templates import NOWHERE, placed, written_type
from .fieldnames import field_name, titled
from .types import STRUCTS, SqlType

_NAME = re.compile(r"\bStruct_\w+")


def with_structs(module: syntax.Module, known: Collection[str] = ()) -> syntax.Module:
    """The module with the declarations of the types of structs that it mentions; some are known."""
    if not STRUCTS:
        return module
    found = (placed(each, module.span) for each in _declarations(module_text(module), known))
    return syntax.Module((*found, *module.declarations), module.span)


def structs_in(text: str, known: Collection[str] = ()) -> str:
    """The declarations, as text, of the types of structs that a text mentions; some are known."""
    return module_text(syntax.Module(tuple(_declarations(text, known)), NOWHERE)) if STRUCTS else ""


def _declarations(text: str, known: Collection[str]) -> list[syntax.TypeDecl]:
    waiting, found = set(_NAME.findall(text)), dict[str, syntax.TypeDecl]()
    while waiting:
        type = STRUCTS.get(waiting.pop())
        if type is not None and type.name not in found and type.name not in known:
            found[type.name] = _declared(type)
            waiting |= set(_NAME.findall(" ".join(each.outside for each in type.parts)))
    return [found[name] for name in sorted(found)]


def _declared(type: SqlType) -> syntax.TypeDecl:
    fields = tuple(
        syntax.Field(
            made, written_type(f"Option<{part.outside}>"), titled(made, name, part.kind == "json"), NOWHERE
        )
        for made, name, part in zip(map(field_name, type.fields), type.fields, type.parts, strict=True)
    )
    made = syntax.ConstructorDecl(type.name, fields, (), NOWHERE)
    return syntax.TypeDecl(type.name, (), (made,), (), NOWHERE, NOWHERE)
