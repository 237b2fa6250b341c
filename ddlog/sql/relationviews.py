"""Views over the relations of a program, as declarations and rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from .. import syntax
from ..core import Relation
from ..errors.source import Source
from ..syntax.printing import module_text
from .translate import translate


def rules_of(
    source: Source, relations: Mapping[str, Relation], imported: Sequence[str], types: Collection[str] = ()
) -> str:
    """The rules of the views of a text over relations, as text; some modules are imported, and some `types`
    declared already. Raises DDlogError."""
    tree = translate(source, relations, known=types)
    # Under its own name a module adds no names that would make those of the program ambiguous.
    kept = (
        replace(each, alias=each.module) if isinstance(each, syntax.ImportDecl) else each
        for each in tree.declarations
        if not isinstance(each, syntax.ImportDecl) or each.module not in imported
    )
    return module_text(syntax.Module(tuple(kept), tree.span))
