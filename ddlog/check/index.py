"""Indexes: `index I(v: T) on R(pattern)`.

Where the pattern says of each column only which variable it is, or nothing, the rows are looked up in the
relation itself. Any other pattern fills a hidden relation of the index's variables and the columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from .. import core, errors, syntax
from ..errors.diagnostics import Diagnostic, Note
from ..errors.source import Span
from ..types import Constructor, TypeDef, User
from .atom import atom
from .body import BodyBuilder
from .context import Context


def check_index(
    context: Context, declaration: syntax.IndexDecl, name: str
) -> tuple[core.Index, core.Rule | None] | None:
    """The index, with the rule that fills the hidden relation if it needs one; None after errors."""
    term = declaration.atom
    if term.differentiated or term.delay:
        what = f"{term.relation}'" if term.differentiated else f"{term.relation}-{term.delay}"
        hint = f"index a relation that a rule fills from `{what}`" if term.delay else ""
        context.report(errors.rules.IndexOnDelayed(span=term.span, what=what, help=hint))
        return None
    relation = context.environment.relation(term.relation, context.module)
    if relation is not None and relation.kind == "stream":
        context.report(errors.rules.IndexOnStream(span=term.name_span, name=relation.name))
    body = BodyBuilder(context)
    atom(body, term)
    if not context.failed:
        _bind(body, declaration.fields)
    context.solve()
    if context.failed or relation is None:
        return None
    clauses = body.clauses()
    if context.failed:
        return None
    keys = [body.scope.locals[each.name] for each in declaration.fields]
    variables = tuple(
        core.Column(each.name, context.final(local.type))
        for each, local in zip(declaration.fields, keys, strict=True)
    )
    match clauses:
        case (core.Atom(_, columns),):
            places = tuple(_places(columns, local.name) for local in keys)
            found = core.Index(name, variables, relation.name, relation.name, places, 0, declaration.span)
            return found, None
    hidden = f"{name}$index"
    rule = _rule(body, relation, hidden, clauses, [local.name for local in keys], declaration.span)
    places = tuple((i,) for i in range(len(keys)))
    return core.Index(name, variables, relation.name, hidden, places, len(keys), declaration.span), rule


def _bind(body: BodyBuilder, fields: Sequence[syntax.Field]) -> None:
    """Gives the variables of the pattern the types that the index declares."""
    context, declared = body.context, dict[str, syntax.Field]()
    for each in fields:
        if each.name in declared:
            context.report(errors.names.VariableDefined(span=each.span, name=each.name))
            continue
        declared[each.name] = each
        type_ = context.written(each.type)
        local = body.scope.locals.get(each.name)
        if local is None:
            context.report(errors.rules.IndexUnbound(span=each.span, name=each.name))
        else:
            context.agree(each.span, type_, local.type)
    for name, local in body.scope.locals.items():
        if name not in declared and not name.startswith("$"):
            context.report(errors.rules.IndexBindsMore(span=local.span, name=name))


def _places(columns: Sequence[str | None], name: str) -> tuple[int, ...]:
    return tuple(i for i, each in enumerate(columns) if each == name)


def _rule(
    body: BodyBuilder,
    relation: core.Relation,
    name: str,
    clauses: Iterable[core.Clause],
    keys: Sequence[str],
    span: Span,
) -> core.Rule:
    """The rule that fills the hidden relation, which becomes known to the environment."""
    context = body.context
    types = {local.name: context.final(local.type) for local in body.locals}
    made, values = list[core.Clause](), list(keys)
    for clause in clauses:
        if isinstance(clause, core.Atom):
            names = [context.temporary() if each is None else each for each in clause.columns]
            types |= {each: column.type for each, column in zip(names, relation.columns, strict=True)}
            values += names
            clause = dataclasses.replace(clause, columns=tuple(names))
        made.append(clause)
    columns = tuple(core.Column(f"c{i}", types[each]) for i, each in enumerate(values))
    constructor = Constructor(name, 0, tuple((each.name, each.type) for each in columns))
    context.environment.typedefs[name] = TypeDef(name, (), (constructor,))
    context.environment.relations[name] = core.Relation(
        name, "internal", relation.kind, User(name), constructor, columns, None, span
    )
    head = core.Head(name, tuple(core.Var(each, types[each], span) for each in values), span)
    return core.Rule((head,), tuple(made), types, span.text(), span)


def repeated_indexes(declarations: Iterable[syntax.IndexDecl]) -> Iterator[Diagnostic]:
    """An error for every index of a name that another has already."""
    first: dict[str, syntax.IndexDecl] = {}
    for each in declarations:
        other = first.setdefault(each.name, each)
        if other is not each:
            notes = (Note("also defined here", other.name_span),)
            yield errors.names.MultipleDefinitions(span=each.name_span, name=each.name, notes=notes)
