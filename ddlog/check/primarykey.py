"""Primary keys: `primary key (r) r.id` as a function of the columns of the relation."""

from __future__ import annotations

import dataclasses

from .. import core, syntax
from ..errors.diagnostics import Diagnostic
from ..names.environment import Environment
from ..names.modules import ModuleSyntax
from ..types import UNIT
from .context import Context, Scope
from .expr import infer
from .function import Instances


def check_primary_key(
    environment: Environment,
    module: ModuleSyntax,
    declaration: syntax.RelationDecl,
    instances: Instances,
    diagnostics: list[Diagnostic],
) -> None:
    """Gives the relation, in the environment, the function that computes its key from its columns."""
    relation = environment.relation(declaration.name, module.name)
    key = declaration.key
    assert relation is not None and key is not None
    context = Context(environment, module.name, instances)
    scope = Scope()
    record = context.declare(scope, key.variable, relation.record, key.span)
    typed = infer(context, key.value, scope)
    context.solve()
    diagnostics += context.diagnostics
    if context.failed:
        return
    value = typed.build()
    names = [context.temporary() for _ in relation.columns]
    columns = tuple(
        core.Var(name, each.type, key.span) for name, each in zip(names, relation.columns, strict=True)
    )
    element: core.Expr = columns[0]
    if relation.constructor is not None:
        element = core.MakeStruct(relation.constructor, columns, relation.record, key.span)
    pattern = core.VarPattern(record.name, relation.record)
    declared = core.Declare(pattern, element, UNIT, key.span)
    function = core.Function(
        f"primary key of {relation.name}",
        module.name,
        f"primary key of {relation.name}",
        tuple(
            core.Parameter(name, each.type, False) for name, each in zip(names, relation.columns, strict=True)
        ),
        value.type,
        core.Block((declared, value), value.type, key.span),
        key.span,
    )
    environment.relations[relation.name] = dataclasses.replace(relation, key=function)
