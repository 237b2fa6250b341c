"""A SELECT over the relations of a program: the declarations and rules of its answer, and its order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import syntax
from ..core import Relation
from ..errors import sql as errors
from ..errors.diagnostics import DDlogError
from ..errors.source import Source
from ..syntax.printing import module_text
from .translate import translate

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def rules_of(
    source: Source, relations: Mapping[str, Relation], imported: Sequence[str], types: Collection[str] = ()
) -> str:
    """The rules of the views of a text over relations, as text; some modules are imported, and some `types`
    declared already. Raises DDlogError."""
    tree = translate(source, relations, known=types)
    # Under its own name a module adds no names that would make those of the program ambiguous.
    kept = (
        replace(each, alias=each.module) if isinstance(each, syntax.Import) else each
        for each in tree.declarations
        if not isinstance(each, syntax.Import) or each.module not in imported
    )
    return module_text(syntax.Module(tuple(kept), tree.span))


def order_of(source: Source) -> list[tuple[str | int, bool, bool]]:
    """The order that a SELECT asks for: columns by name or place from 1 on, whether downwards, and whether
    NULL comes first. Raises DDlogError without the parser."""
    try:
        import sqlglot
    except ImportError:
        raise DDlogError([errors.NoParser()]) from None
    try:
        order = sqlglot.parse_one(source.text, dialect=source.dialect).args.get("order")
    except sqlglot.errors.SqlglotError:
        return []  # the translation says what is wrong
    return list(_keys(order.expressions if order is not None else ()))


def _keys(parts: Sequence[Expression]) -> Iterator[tuple[str | int, bool, bool]]:
    from sqlglot import expressions as sql

    for each in parts:
        of, how = each.this, (bool(each.args.get("desc")), bool(each.args.get("nulls_first")))
        if isinstance(of, sql.Literal) and not of.is_string:
            yield int(of.this), *how
        elif isinstance(of, sql.Column):
            yield of.name.lower(), *how
