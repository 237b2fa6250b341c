"""Relational terms of bodies.

What an atom says of a column beyond a variable becomes a fresh variable and clauses beside the atom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import core, errors, syntax
from ..errors.diagnostics import counted
from ..errors.source import Span
from ..names.modules import RELATIONS
from ..names.signatures import readable
from ..types import Constructor, Type, TypeDef, User, wrapped
from . import groups
from .body import BodyBuilder, variable
from .context import Context, Local
from .destructure import Destructure, destructure, is_pattern, stored
from .element import Element, constructed, define_whole, element, is_reference
from .expr import check
from .literal import constant
from .pattern import by_field, by_position
from .streams import read_in_body


def relation_named(context: Context, atom: syntax.Atom, otherwise: str = "") -> core.Relation | None:
    """The relation of an atom, or an error, with the help `otherwise` if no name is like it; a location is an
    error too."""
    if atom.location is not None:
        context.report(errors.unsupported.Unsupported(span=atom.span, what="a location `@` is"))
    environment = context.environment
    relation = environment.relation(atom.relation, context.module)
    if relation is None:
        hint = environment.suggest(atom.relation, environment.names(RELATIONS, context.module)) or otherwise
        context.report(
            environment.misnamed(RELATIONS, atom.relation, atom.name_span, context.module)
            or errors.names.UnknownRelation(span=atom.name_span, name=atom.relation, help=hint)
        )
    elif atom.by_ref and wrapped(relation.record) is None:
        what = f"a relation of {readable(str(relation.record))}"
        context.report(errors.types.NoReference(span=atom.span, name=atom.relation, what=what))
    return relation


def columns_of(
    context: Context, relation: core.Relation, args: Sequence[syntax.Argument], span: Span, name: str
) -> dict[str, syntax.Expr] | None:
    """The argument for each column that has one; None after an error."""
    fields = [column.name for column in relation.columns]
    named = [each for each in args if each.name is not None]
    if not named and len(args) != len(fields):
        wanted = counted(len(fields), "column")
        context.report(
            errors.types.WrongFieldCount(
                span=span, name=name, wanted=f"{wanted} ({', '.join(fields)})", given=str(len(args))
            )
        )
        return None
    return by_field(context, args, fields, name, span)


def atom(body: BodyBuilder, term: syntax.Atom) -> None:
    """A relational term of a body."""
    context = body.context
    relation = relation_named(context, term)
    if relation is not None:
        relation = read_in_body(body, term, relation)
    if term.negated and term.binder is not None:
        if body.scope.find(term.binder) is not None:
            context.report(errors.rules.NegatedBinder(span=term.span, name=term.binder))
        term = replace(term, binder=None)  # a name for what is not there
    after = Destructure(body, negated=term.negated)
    problems = len(context.diagnostics)
    said = _element(body, relation, term) if relation is not None else None
    if relation is None or said is None:
        body.unknown = body.unknown or relation is None
        _bind_rest(body, term)
        return
    given = [(said.columns[each.name], each.type) for each in relation.columns if each.name in said.columns]
    if term.negated and any(_takes_apart(body, expr, of) for expr, of in given):
        complement(body, relation, said.columns, term.span)
        return
    columns = [
        column(body, after, said.columns[each.name], each.type) if each.name in said.columns else None
        for each in relation.columns
    ]
    if term.binder is not None:
        said.wholes.append(_binder(body, relation, term.binder, term.span))
    _bind_wholes(body, after, relation, columns, said.wholes)
    if term.negated:
        after.emit()
    name, made = relation.name, tuple(columns)
    body.add(lambda: core.Atom(name, made, term.negated, term.span))
    if not term.negated:
        after.emit()
    args = term.args or ()
    misplaced = any(each.name is None for each in args[len(by_position(args)) :])
    if misplaced or len(context.diagnostics) > problems:
        _bind_rest(body, term)


def _element(body: BodyBuilder, relation: core.Relation, term: syntax.Atom) -> Element | None:
    """The patterns in an atom for the element and for its columns; None if wrong. `&R[p]` is `R[&p]`."""
    pattern = term.element or constructed(body.context, relation, term)
    if term.by_ref and term.element is not None and not is_reference(term.element):
        pattern = syntax.Unary("&", term.element, term.element.span)
    if pattern is not None:
        return element(body, relation, pattern, term.negated)
    if not term.args:
        return Element()
    given = columns_of(body.context, relation, term.args, term.span, term.relation)
    return None if given is None else Element(given)


def _bind_wholes(
    body: BodyBuilder,
    after: Destructure,
    relation: core.Relation,
    columns: list[str | None],
    wholes: Sequence[Local],
) -> None:
    """Defines the variables that are whole elements; every column then has a variable."""
    if wholes:
        for i, each in enumerate(relation.columns):
            if columns[i] is None:
                columns[i] = body.temporary(each.type, wholes[0].span).name
    names = tuple(each for each in columns if each is not None)
    for local in wholes:
        define_whole(after, relation, names, local)


def _binder(body: BodyBuilder, relation: core.Relation, name: str, span: Span) -> Local:
    """The v of `v in R(..)`; one that is bound already is compared with the element."""
    local = body.scope.find(name)
    if local is None:
        return body.bind(name, relation.record, span)
    local.used = True
    body.context.agree(span, local.type, relation.record)
    return local


def column(body: BodyBuilder, after: Destructure, expr: syntax.Expr, type_: Type) -> str | None:
    """The variable that stands for a column; None for any value."""
    context = body.context
    plain = context.plain(expr, type_)
    if plain is not None:
        known = body.temporary(type_, expr.span)
        after.lets.append((known, constant(plain.value, type_, expr.span)))
        return known.name
    match expr:
        case syntax.Wildcard():
            return None
        case syntax.TypedExpr(arg, written, span):
            context.agree(span, context.written(written), type_)
            return column(body, after, arg, type_)
        case syntax.Name(name, span):
            return variable(body, name, type_, span, negated=after.negated).name
        case syntax.VarDecl(name, span):
            if after.negated:
                context.report(errors.rules.NegatedBinding(span=span, name=name))
            return body.bind(name, type_, span).name
        case syntax.Binding(name, inner, name_span=span) if after.negated:
            context.report(errors.rules.NegatedBinder(span=span, name=name))
            return column(body, after, inner, type_)
        case syntax.Binding(name, inner, name_span=span):
            local = body.bind(name, type_, span)
            destructure(after, inner, stored(context, local, span))
            return local.name
    fresh = body.temporary(type_, expr.span)
    if is_pattern(body, expr):
        destructure(after, expr, stored(context, fresh, expr.span))
    else:
        value = check(context, expr, body.scope, type_)
        after.lets.append((fresh, value))
    return fresh.name


def _takes_apart(body: BodyBuilder, expr: syntax.Expr, type_: Type) -> bool:
    """Whether the expression is a pattern that binds or compares parts of a column."""
    if body.context.plain(expr, type_) is not None:
        return False
    while isinstance(expr, syntax.TypedExpr):
        expr = expr.arg
    return isinstance(expr, syntax.Struct | syntax.TupleExpr | syntax.Unary | syntax.Block) and is_pattern(
        body, expr
    )


def complement(body: BodyBuilder, relation: core.Relation, given: dict[str, syntax.Expr], span: Span) -> None:
    """A negated term with patterns: the negation of an auxiliary relation that holds their matches.

    Its columns are the values that the term compares with variables and expressions of the body.
    """
    context = body.context
    inner = BodyBuilder(context)
    inside = Destructure(inner, negated=False, outside=body)
    columns: list[str | None] = []
    for each in relation.columns:
        expr = given.get(each.name, syntax.Wildcard(span))
        if isinstance(expr, syntax.Wildcard):
            columns.append(None)
            continue
        local = inner.temporary(each.type, expr.span)
        columns.append(local.name)
        if isinstance(expr, syntax.Name):
            same = variable(body, expr.name, each.type, expr.span, negated=True)
            inside.compared.append((local, same))
        else:
            destructure(inside, expr, stored(context, local, expr.span))
    inner.add(lambda: core.Atom(relation.name, tuple(columns), False, span))
    inside.emit()
    name = f"{relation.name}$not{span.line}_{span.column}"
    while name in context.environment.typedefs:  # of another file
        name += "$"
    body.add(lambda: _auxiliary(context, name, inner, inside.compared, span))


def _auxiliary(
    context: Context, name: str, inner: BodyBuilder, pairs: Sequence[tuple[Local, Local]], span: Span
) -> core.Clause:
    """The negated atom over the auxiliary relation, which is noted with its rule."""
    columns = tuple(core.Column(f"c{i}", context.final(local.type)) for i, (local, _) in enumerate(pairs))
    constructor = Constructor(name, 0, tuple((each.name, each.type) for each in columns))
    context.environment.typedefs[name] = TypeDef(name, (), (constructor,))
    made = core.Relation(name, "internal", "relation", User(name), constructor, columns, None, span)
    values = tuple(stored(context, local, span).build() for local, _ in pairs)
    variables = {local.name: context.final(local.type) for local in inner.locals}
    rule = core.Rule((core.Head(name, values, span),), inner.clauses(), variables, span.text(), span)
    context.auxiliary.append((made, rule))
    return core.Atom(name, tuple(outside.name for _, outside in pairs), True, span)


def _bind_rest(body: BodyBuilder, term: syntax.Atom) -> None:
    """After an error: the variables that the term may bind and has not, of unknown types."""
    found = groups.names_in(term)
    if term.binder is not None:
        found.setdefault(term.binder, term.span)
    for name, span in found.items():
        if body.scope.find(name) is None:
            body.bind(name, body.context.fresh(), span).used = True
