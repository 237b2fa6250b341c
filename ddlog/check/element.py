"""`R[p]` and `v in R(..)`: what is said of a whole element, as what it says of the columns.

S[v@&V{.lb = lb}]     S(lb, $1), var v = V{lb, $1}        v is a reference to the element
R[known]              R($1, $2), $1 = known.a, $2 = known.b
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import core, errors, syntax
from ..errors.source import Span
from ..types import Type, User, unwrapped, wrapped
from .body import BodyBuilder
from .context import Context, Local, Typed
from .destructure import Destructure, stored
from .expr import check
from .pattern import by_field, find_constructor, referenced


@dataclass(slots=True)
class Element:
    """The pattern of each column that has one, and the variables that are the whole element or what it
    refers to."""

    columns: dict[str, syntax.Expr] = field(default_factory=dict)
    wholes: list[Local] = field(default_factory=list)


def element(body: BodyBuilder, relation: core.Relation, pattern: syntax.Expr, negated: bool) -> Element:
    """The patterns for the element and for its columns in the pattern of an element. A variable that is bound
    already, or any other expression, is compared with the element column by column."""
    if relation.constructor is None:
        return Element({relation.columns[0].name: pattern})
    context, found, type_ = body.context, Element(), relation.record
    while True:
        match pattern:
            case syntax.Wildcard():
                return found
            case syntax.Unary("&", inner, span):
                type_, pattern = referenced(context, type_, span), inner
            case syntax.TypedExpr(inner, written, span):
                context.agree(span, context.written(written), type_)
                pattern = inner
            case syntax.Binding(name, inner, name_span=span):
                if negated:
                    context.report(errors.rules.NegatedBinder(span=span, name=name))
                else:
                    found.wholes.append(body.bind(name, type_, span))
                pattern = inner
            case syntax.VarDecl(name, span) | syntax.Name(name, span) if _is_new(body, pattern):
                if negated:
                    context.report(errors.rules.NegatedBinding(span=span, name=name))
                else:
                    found.wholes.append(body.bind(name, type_, span))
                return found
            case syntax.Struct(name, args, span):
                fields = [each.name for each in relation.columns]
                if _is_record(context, relation, pattern, type_):
                    found.columns = by_field(context, args or (), fields, name, span)
                return found
            case _:
                found.columns = _parts(body, relation, check(context, pattern, body.scope, type_))
                return found


def is_reference(element: syntax.Expr) -> bool:
    """Whether an element is written as a reference, `&e`: then `&R[&e]` is `R[&e]`."""
    return isinstance(element, syntax.Unary) and element.op == "&"


def constructed(context: Context, relation: core.Relation, term: syntax.Atom) -> syntax.Expr | None:
    """The element of `R(args)` where R holds a type of several constructors, and R is one of them: what the
    constructor makes of the arguments. None for other terms."""
    held = unwrapped(relation.record)
    if term.args is None or relation.constructor is not None or not isinstance(held, User):
        return None
    found = context.environment.constructor(term.relation, context.module)
    if found is None or found[0].name != held.name:
        return None
    pattern: syntax.Expr = syntax.Struct(term.relation, term.args, term.span)
    reference = wrapped(relation.record)
    while reference is not None:
        pattern, reference = syntax.Unary("&", pattern, term.span), wrapped(reference)
    return pattern


def _is_new(body: BodyBuilder, pattern: syntax.VarDecl | syntax.Name) -> bool:
    return isinstance(pattern, syntax.VarDecl) or body.scope.find(pattern.name) is None


def _is_record(context: Context, relation: core.Relation, struct: syntax.Struct, type_: Type) -> bool:
    """Whether the constructor is the one of the relation's elements; an error if it is another."""
    found = find_constructor(context, struct)
    if found is None or found[1] == relation.constructor:
        return found is not None
    typedef = found[0]
    other = User(typedef.name, tuple(context.fresh() for _ in typedef.parameters))
    context.agree(struct.span, other, type_)
    return False


def _parts(body: BodyBuilder, relation: core.Relation, value: Typed) -> dict[str, syntax.Expr]:
    """A variable for each column, with the value that it has in a known element."""
    context, span = body.context, value.span
    locals_ = [body.temporary(each.type, span) for each in relation.columns]
    whole = body.temporary(value.type, span)
    body.let(whole, value)
    names: dict[str, syntax.Expr] = {}
    for each, local in zip(relation.columns, locals_, strict=True):
        body.scope.locals[local.name] = local
        body.let(local, _part(context, whole, each, span))
        names[each.name] = syntax.Name(local.name, span)
    return names


def _part(context: Context, whole: Local, column: core.Column, span: Span) -> Typed:
    record = stored(context, whole, span)

    def build() -> core.Expr:
        return core.GetField(record.build(), column.name, column.type, span)

    return Typed(column.type, span, build)


def define_whole(after: Destructure, relation: core.Relation, columns: tuple[str, ...], whole: Local) -> None:
    """Gives a variable the element that the variables of all columns make."""
    context, constructor, span = after.body.context, relation.constructor, whole.span

    def build() -> core.Expr:
        type_ = context.final(whole.type)
        if constructor is None:
            return core.Var(columns[0], type_, span)
        parts = tuple(
            core.Var(name, each.type, span) for name, each in zip(columns, relation.columns, strict=True)
        )
        return core.MakeStruct(constructor, parts, type_, span)

    after.lets.append((whole, Typed(whole.type, span, build)))
