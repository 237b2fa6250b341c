"""Views over the relations of a program, as declarations and rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from .. import syntax
from ..errors.source import Source
from ..syntax.printing import module_text
from ..syntax.templates import written_type
from .translate import translate

Columns = Mapping[str, Sequence[tuple[str, str]]]
"""The columns of relations, with the texts of their types."""


def rules_of(source: Source, relations: Columns, imported: Sequence[str], types: Collection[str] = ()) -> str:
    """The rules of the views of a text over relations, as text; some modules are imported, and some `types`
    declared already. Raises
    DDlogError."""
    typed = {name: [(column, written_type(of)) for column, of in each] for name, each in relations.items()}
    tree = translate(source, typed, known=types)
    # Under its own name a module adds no names that would make those of the program ambiguous.
    kept = (
        replace(each, alias=each.module) if isinstance(each, syntax.ImportDecl) else each
        for each in tree.declarations
        if not isinstance(each, syntax.ImportDecl) or each.module not in imported
    )
    return module_text(syntax.Module(tuple(kept), tree.span))
