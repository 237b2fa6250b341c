"""Heads of rules, and facts."""

from __future__ import annotations

from collections.abc import Callable

from .. import core, errors, syntax
from ..errors.diagnostics import Note
from ..errors.source import Span
from ..types import wrapped
from .atom import columns_of, relation_named
from .body import BodyBuilder
from .context import Typed
from .element import constructed, is_reference
from .expr import check, infer, read
from .streams import check_head, check_present


def head(body: BodyBuilder, term: syntax.Atom, *, fact: bool) -> Callable[[], core.Head] | None:
    """A head: an expression for each column."""
    context = body.context
    how = f"declare it: `output relation {term.relation}(column: type, …)`"
    relation = relation_named(context, term, how)
    check_present(context, term)
    if relation is None:
        return None
    filled = context.environment.transformed.get(relation.name)
    if filled is not None and filled != term.span:
        notes = (Note("filled here", filled),)
        context.report(errors.rules.TransformedHead(span=term.span, name=term.relation, notes=notes))
    check_head(body, term, relation, fact=fact)
    if relation.role == "input" and not fact:
        context.report(errors.rules.InputHead(span=term.span, name=term.relation))
    element = term.element or constructed(context, relation, term)
    if element is not None:
        return _element_head(body, relation, element, term, fact=fact)
    given = columns_of(context, relation, term.args or (), term.span, term.relation)
    if given is None:
        for argument in term.args or ():
            infer(context, argument.value, body.scope)
        return None
    return _head_of(body, relation, given, term)


def _head_of(
    body: BodyBuilder, relation: core.Relation, given: dict[str, syntax.Expr], term: syntax.Atom
) -> Callable[[], core.Head]:
    context = body.context
    values: list[Typed] = []
    for each in relation.columns:
        if each.name in given:
            values.append(check(context, given[each.name], body.scope, each.type))
        else:
            context.report(
                errors.types.MissingField(span=term.span, field=each.name, constructor=term.relation)
            )
    return lambda: core.Head(relation.name, tuple(value.build() for value in values), term.span)


def _element_head(
    body: BodyBuilder, relation: core.Relation, element: syntax.Expr, term: syntax.Atom, *, fact: bool
) -> Callable[[], core.Head]:
    """`R[e]` as a head: the element taken apart into columns. `&R[e]` is `R[ref_new(e)]`."""
    context = body.context
    content = wrapped(relation.record) if term.by_ref and not is_reference(element) else None
    record = content or relation.record
    value = check(context, element, body.scope, record)
    if relation.constructor is None:
        return lambda: core.Head(relation.name, (value.build(),), term.span)
    while isinstance(element, syntax.Unary) and element.op == "&":
        element = element.arg
    if isinstance(element, syntax.Struct):
        return lambda: _of_struct(relation, value.build(), term.span)
    if fact:
        return lambda: core.Head(relation.name, _fields(relation, value.build(), term.span), term.span)
    whole = body.temporary(record, element.span)
    body.let(whole, value)
    stored = read(context, whole, element.span)
    return lambda: core.Head(relation.name, _fields(relation, stored.build(), term.span), term.span)


def _of_struct(relation: core.Relation, value: core.Expr, span: Span) -> core.Head:
    if isinstance(value, core.MakeStruct):
        return core.Head(relation.name, value.args, span)
    return core.Head(relation.name, _fields(relation, value, span), span)


def _fields(relation: core.Relation, value: core.Expr, span: Span) -> tuple[core.Expr, ...]:
    return tuple(core.GetField(value, each.name, each.type, span) for each in relation.columns)
