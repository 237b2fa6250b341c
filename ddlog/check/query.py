"""Queries: the body of a rule, checked against a program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from .. import core, syntax
from ..core import Relation
from ..core.relations import originals
from ..errors.diagnostics import DDlogError, InternalError
from ..errors.lookups import HiddenName
from ..errors.source import Source
from ..names.environment import Environment
from ..syntax.cursor import TextFault
from ..syntax.parser import parse_query
from ..syntax.stackroom import deep_recursion
from ..types import BigInt, Bit, Bool, Float, Signed, String, Type, TypeDef
from ..values.fromtext import parse_value
from ..values.shapes import is_nullable
from ..values.totext import NULL
from .attributes import check_query_attributes
from .context import Context
from .declaredrules import is_marked
from .elaboration import Elaborated
from .equalvalues import equal_values_in_query
from .erase import Eraser
from .function import Instances
from .givenvalues import with_values
from .rule import read_body

_HIDDEN = re.compile(r"""\A(?:[^"]|"(?:[^"\\]|\\.)*")*?\b([A-Za-z_][\w:]*\$[\w$]*)""", re.DOTALL)
"""A text with a name that has a `$`, outside of strings."""


def check_query(
    program: core.CheckedProgram, source: Source, given: Mapping[str, Any] = MappingProxyType({})
) -> core.CheckedQuery:
    """The query as a rule without head, with its result variables in order of first occurrence.

    A lone expression is the definition of a variable `value`; a lone relation name stands for all
    its columns. Arguments of terms may be values as commands write them; `{x}` is the value that is `given`
    for x. Raises DDlogError.
    """
    if not isinstance(program, Elaborated):
        raise InternalError("queries need a program from check_program")
    with deep_recursion():
        source = with_own_names(source, program.relations)
        query, found = parse_query(source)
        found += check_query_attributes(query)
        if not any(each.is_error for each in found):
            query, wrong = with_values(query, given, program.typedefs)
            found += wrong
        if any(each.is_error for each in found):
            hidden = _HIDDEN.search(source.text)
            raise DDlogError([HiddenName(hidden[1], span=found[0].span)] if hidden else found)
        checked = _check_query(program, query)
        merged = [] if is_marked(query, "distinct") else equal_values_in_query(program, checked)
        return replace(checked, warnings=(*found, *merged))


def _check_query(program: Elaborated, query: syntax.Query) -> core.CheckedQuery:
    environment = program.declarations()
    instances = Instances(environment, program.functions)
    context = Context(
        environment, "", instances, plain=lambda expr, of: plain_value(expr, of, program.typedefs)
    )
    clauses = tuple(_query_clause(environment, each) for each in query.body)
    if len(clauses) == 1 and isinstance(clauses[0], syntax.Condition):
        clauses = (_value_clause(clauses[0]),)
    body = read_body(context, clauses)
    context.solve()
    built = () if context.failed else body.clauses()
    own = {made.name: environment.typedefs.pop(made.name) for made, _ in context.auxiliary}
    variables = {local.name: context.final(local.type) for local in body.locals}
    instances.complete()
    diagnostics = [*context.diagnostics, *instances.diagnostics, *environment.diagnostics]
    environment.diagnostics.clear()
    if any(each.is_error for each in diagnostics):
        raise DDlogError(diagnostics)
    typedefs = {
        name: each for name, each in environment.typedefs.items() if name not in program.typedefs
    } | own
    shown = tuple(local.name for name, local in body.scope.locals.items() if not name.startswith(("$", "_")))
    rule = core.Rule((), built, variables, query.span.source.text.strip(), query.span)
    return core.CheckedQuery(
        instances.erased(rule),
        shown,
        instances.functions,
        instances.erased(typedefs),
        tuple((instances.erased(made), instances.erased(filling)) for made, filling in context.auxiliary),
    )


def _query_clause(environment: Environment, clause: syntax.Clause) -> syntax.Clause:
    """A bare relation name as an atom with a variable for each column."""
    match clause:
        case syntax.Condition(syntax.Struct(name, None, span), _):
            relation = environment.relation(name, "")
            if relation is not None and relation.constructor is None:
                value = syntax.Name(relation.columns[0].name, span)
                return syntax.Atom(name, None, value, span, span)
            if relation is not None:
                args = tuple(
                    syntax.Argument(None, syntax.Name(_variable_name(each.name), span), span)
                    for each in relation.columns
                )
                return syntax.Atom(name, args, None, span, span)
    return clause


def _variable_name(column: str) -> str:
    return f"column{column}" if column.isdigit() else column


def _value_clause(clause: syntax.Condition) -> syntax.Clause:
    """A lone expression as the definition of `value`."""
    expr = clause.expr
    if isinstance(expr, syntax.Assign):
        return clause
    return syntax.Condition(syntax.Assign(syntax.VarDecl("value", expr.span), expr, expr.span), clause.span)


_TERM = re.compile(r'(?:^|,|\bnot\b)\s*("(?:[^"]|"")*"|\w+)(?=\s*(?:\(|,|$))|"(?:[^"\\]|\\.)*"')


def with_own_names(source: Source, relations: Mapping[str, Relation]) -> Source:
    """The query with the names that relations have in this language, in places of the same length."""
    known = originals(relations)
    if not known:
        return source

    def named(found: re.Match[str]) -> str:
        written = found.group(1)
        if written is None:
            return found.group()
        plain = written[1:-1].replace('""', '"') if written.startswith('"') else written
        name = plain if plain in relations else known.get(plain.lower())
        if name is None or len(name) > len(written):
            return found.group()
        before = found.group()[: found.start(1) - found.start()]
        return f"{before}{name:{len(written)}}"

    return Source(source.name, _TERM.sub(named, source.text))


_SCALARS = (BigInt, Bit, Bool, Float, Signed, String)  # of which commands write what expressions do


def plain_value(expr: syntax.Expr, of: Type, typedefs: Mapping[str, TypeDef]) -> core.Const | None:
    """The constant that an argument for a column stands for, if it is one in commands; None for all that is
    checked as an expression."""
    text, stored = expr.span.text(), Eraser().type(of)
    if isinstance(of, _SCALARS) or "${" in text:
        return None
    is_variable = isinstance(expr, syntax.Name | syntax.Wildcard | syntax.VarDecl)
    if is_variable and not (text.upper() == NULL and is_nullable(stored, typedefs)):
        return None
    try:
        return core.Const(parse_value(text, stored, typedefs), of, expr.span)
    except TextFault:
        return None
