"""Warnings about relations that nothing reads or nothing fills."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from .. import core, errors
from ..errors.diagnostics import Diagnostic


def unused_relations(
    relations: Mapping[str, core.Relation],
    rules: Sequence[core.Rule],
    indexes: Iterable[core.Index],
    of_library: Container[str],
) -> list[Diagnostic]:
    """A warning for each declared relation that no rule or index reads, or that no rule fills."""
    read = {clause.relation for rule in rules for clause in rule.body if isinstance(clause, core.Atom)}
    read.update(name for index in indexes for name in (index.relation, index.source))
    read |= {relation.past[0] for relation in relations.values() if relation.past}
    read |= {name for relation in relations.values() if relation.window for name in relation.window.reads}
    read |= {relation.earlier[0] for relation in relations.values() if relation.earlier}
    filled = {head.relation for rule in rules for head in rule.heads}
    found: list[Diagnostic] = []
    for name, relation in relations.items():
        if name in of_library or relation.role in ("delayed", "earlier") or relation.window:
            continue
        if relation.role != "output" and name not in read:
            found.append(errors.names.UnusedRelation(span=relation.span, name=name))
        elif relation.role != "input" and name not in filled:
            found.append(errors.names.EmptyRelation(span=relation.span, name=name))
    return found
