"""`for` statements as rules: each insertion becomes a rule whose body is the path to it.

    for (x in R(a, _) if a > 0)        Out(n) :- x in R(a, _), a > 0, var m = x.u, U1{var n} = m.
      match (x.u) {                    Out(0) :- x in R(a, _), a > 0, var m = x.u,
        U1{n} -> Out(n),                         match (m) {U1{_} -> false, _ -> true}.
        _ -> Out(0)
      }

A variable has the same meaning as in a rule: a bound variable that occurs again in a `for` is a test for
equality. A path that ends in `skip` or `{}` becomes a rule without a head, which is only checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from .. import syntax as syntax
from ..errors.source import Span

Path: TypeAlias = tuple[syntax.Clause, ...]


def for_rules(declaration: syntax.ForDecl) -> Iterator[syntax.RuleDecl]:
    """The rules that a `for` declaration stands for, in the order of its insertions."""
    for path, insertion in _paths((), declaration.statement):
        heads = () if insertion is None else (insertion,)
        end = declaration.span if insertion is None else insertion.span
        yield syntax.RuleDecl(heads, path, declaration.attributes, declaration.span.to(end))


def _paths(path: Path, statement: syntax.Statement) -> Iterator[tuple[Path, syntax.Atom | None]]:
    """Every way through the statement, with the insertion at its end."""
    match statement:
        case syntax.InsertStatement(atom, _):
            yield path, atom
        case syntax.BlockStatement(()) | syntax.MatchStatement(_, ()):
            yield path, None
        case syntax.BlockStatement(items, _):
            for item in items:
                yield from _paths(path, item)
        case syntax.ForStatement(pattern, atom, condition, body, _):
            filters = () if condition is None else (_holds(condition),)
            yield from _paths((*path, *_iteration(pattern, atom), *filters), body)
        case syntax.LetStatement(pattern, value, body, span):
            yield from _paths((*path, _defined(pattern, value, span)), body)
        case syntax.IfStatement(condition, then, otherwise, _):
            yield from _paths((*path, _holds(condition)), then)
            if otherwise is not None:
                yield from _paths((*path, _fails(condition)), otherwise)
        case syntax.MatchStatement():
            yield from _arms(path, statement)


def _iteration(pattern: syntax.Expr | None, atom: syntax.Atom) -> Iterator[syntax.Clause]:
    """`pattern in atom`, or the atom alone."""
    whole_row = atom.element is None and not atom.args
    match pattern:
        case None | syntax.Wildcard():
            yield atom
        case syntax.Name(name, _) | syntax.VarDecl(name, _) if atom.by_ref or not whole_row:
            yield replace(atom, binder=name, span=pattern.span.to(atom.span))
        case _ if whole_row:
            yield replace(atom, args=None, element=pattern)
        case _:
            whole = _hidden("for", pattern.span)
            yield replace(atom, binder=whole.name, span=pattern.span.to(atom.span))
            yield _defined(pattern, whole, pattern.span)


def _arms(path: Path, statement: syntax.MatchStatement) -> Iterator[tuple[Path, syntax.Atom | None]]:
    """An arm applies to a value that its pattern matches and no earlier pattern matches."""
    value = statement.arg
    if not isinstance(value, syntax.Name):
        whole = _hidden("match", value.span)
        definition = syntax.Assign(syntax.VarDecl(whole.name, value.span), value, value.span)
        path = (*path, syntax.Condition(definition, value.span))
        value = whole
    earlier: list[syntax.Expr] = []
    for pattern, body in statement.arms:
        refused = (_unmatched(value, earlier, pattern.span),) if earlier else ()
        yield from _paths((*path, *refused, *_matched(pattern, value)), body)
        earlier.append(_shape(pattern))


def _matched(pattern: syntax.Expr, value: syntax.Name) -> Iterator[syntax.Clause]:
    span = pattern.span
    match pattern:
        case syntax.Wildcard():
            return
        case syntax.BoolLit() | syntax.IntLit() | syntax.StringLit():
            yield syntax.Condition(syntax.Binary("==", value, pattern, span), span)
        case _:
            yield _defined(_declared(pattern), value, span)


def _unmatched(value: syntax.Name, patterns: Sequence[syntax.Expr], span: Span) -> syntax.Clause:
    """A condition that is true if none of the patterns matches; `span` is for errors about the patterns."""
    refused = tuple(syntax.Arm(each, syntax.BoolLit(False, each.span), each.span) for each in patterns)
    kept = syntax.Arm(syntax.Wildcard(span), syntax.BoolLit(True, span), span)
    return syntax.Condition(syntax.Match(value, (*refused, kept), span), span)


def _defined(pattern: syntax.Expr, value: syntax.Expr, span: Span) -> syntax.Clause:
    match pattern:
        case syntax.Name() | syntax.TypedExpr(syntax.Name(), _, _):
            pattern = _declared(pattern)
    return syntax.Condition(syntax.Assign(pattern, value, span), span)


def _holds(condition: syntax.Expr) -> syntax.Clause:
    return syntax.Condition(_test(condition), condition.span)


def _fails(condition: syntax.Expr) -> syntax.Clause:
    return syntax.Condition(syntax.Unary("not", _test(condition), condition.span), condition.span)


def _test(condition: syntax.Expr) -> syntax.Expr:
    """The condition; within a block an assignment is no clause, and its type is refused."""
    if isinstance(condition, syntax.Assign):
        return syntax.Block((condition,), condition.span)
    return condition


def _hidden(role: str, span: Span) -> syntax.Name:
    """A variable that no program can name."""
    return syntax.Name(f"_{role}${span.line}_{span.column}", span)


def _declared(pattern: syntax.Expr) -> syntax.Expr:
    """The pattern of an arm as one of a clause: its names are new variables."""
    match pattern:
        case syntax.Name(name, span):
            return syntax.VarDecl(name, span)
        case _:
            return _inside(pattern, _declared)


def _shape(pattern: syntax.Expr) -> syntax.Expr:
    """The pattern without its variables."""
    match pattern:
        case syntax.Name(_, span) | syntax.VarDecl(_, span):
            return syntax.Wildcard(span)
        case syntax.Binding(_, inner):
            return _shape(inner)
        case _:
            return _inside(pattern, _shape)


def _inside(pattern: syntax.Expr, change: Callable[[syntax.Expr], syntax.Expr]) -> syntax.Expr:
    """The pattern with its parts changed."""
    match pattern:
        case syntax.TupleExpr(items, _):
            return replace(pattern, items=tuple(change(each) for each in items))
        case syntax.Struct(_, args, _) if args is not None:
            return replace(pattern, args=tuple(replace(each, value=change(each.value)) for each in args))
        case syntax.Binding(_, inner):
            return replace(pattern, pattern=change(inner))
        case syntax.TypedExpr(inner, _, _) | syntax.Unary("&", inner, _):
            return replace(pattern, arg=change(inner))
        case _:
            return pattern
