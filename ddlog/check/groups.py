"""Finding `group_by` and `Aggregate` in clauses, and the names that clauses mention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import errors, syntax
from ..errors.source import Span
from ..syntax.walk import nodes
from ..types import Opaque, Tuple, Type
from .context import Context

BAG = "group_all_by"  # as group_by, but a value is in the group as often as it occurs


@dataclass(frozen=True, slots=True)
class GroupExpression:
    """A grouping: the projected value, the key variables, the expression that is the group, and whether the
    group is a bag."""

    call: syntax.Expr
    value: syntax.Expr
    keys: tuple[syntax.Name, ...]
    stands_for: syntax.Expr
    bag: bool = False


def find(context: Context, expr: syntax.Expr | syntax.Atom) -> GroupExpression | None:
    """The `e.group_by(k)` within an expression or a head."""
    calls = [each for each in nodes(expr) if _is_group_by(each)]
    for extra in calls[1:]:
        context.replaced[id(extra)] = context.fail(errors.rules.GroupByTwice(span=extra.span))
    if not calls:
        return None
    call = calls[0]
    args = (call.arg, *call.args) if isinstance(call, syntax.MethodCall) else call.args
    if len(args) != 2:
        context.replaced[id(call)] = context.fail(errors.rules.GroupByArguments(span=call.span))
        return None
    value, keys = args
    return GroupExpression(call, value, _key_names(context, _items(keys)), call, _name(call) == BAG)


def aggregate(context: Context, keys: syntax.Expr, value: syntax.Expr) -> GroupExpression | None:
    """`Aggregate((keys), f(e))`: the group stands where e is written."""
    match value:
        case syntax.Call(_, (argument, *_), _):
            pass
        case syntax.MethodCall(argument, _, _, _):
            pass
        case _:
            context.report(errors.rules.AggregatePlace(span=value.span))
            return None
    return GroupExpression(value, argument, _key_names(context, _items(keys)), argument)


def _is_group_by(expr: Any) -> bool:
    return _name(expr) in ("group_by", BAG)


def _name(expr: Any) -> str:
    """The name of the function that an expression calls, if it is plain."""
    match expr:
        case syntax.MethodCall(name=name):
            return name
        case syntax.Call(function=syntax.Name(name, _)):
            return name
        case _:
            return ""


def _items(keys: syntax.Expr) -> tuple[syntax.Expr, ...]:
    return keys.items if isinstance(keys, syntax.TupleExpr) else (keys,)


def _key_names(context: Context, keys: Sequence[syntax.Expr]) -> tuple[syntax.Name, ...]:
    names: list[syntax.Name] = []
    for key in keys:
        if isinstance(key, syntax.Name):
            if any(each.name == key.name for each in names):
                context.report(errors.rules.GroupByKeyTwice(span=key.span, name=key.name))
            names.append(key)
        else:
            context.report(errors.rules.GroupByKeys(span=key.span))
            called = {id(each.function) for each in nodes(key) if isinstance(each, syntax.Call)}
            names += [each for each in nodes(key) if isinstance(each, syntax.Name) and id(each) not in called]
    return tuple(names)


def group_type(keys: Sequence[Type], value: Type) -> Type:
    """The type of a group: of one key itself, of several their tuple."""
    key = keys[0] if len(keys) == 1 else Tuple(tuple(keys))
    return Opaque("ddlog_std::Group", (key, value))


def names_in(expr: syntax.Expr | syntax.Atom) -> dict[str, Span]:
    """The variables that an expression mentions, with the place of each."""
    found: dict[str, Span] = {}
    for node in nodes(expr):
        match node:
            case syntax.Name(name, span) | syntax.VarDecl(name, span) | syntax.Binding(name, name_span=span):
                found.setdefault(name, span)
    return found


def binds(clause: syntax.Clause) -> dict[str, Span]:
    """The variables that a clause may bind."""
    match clause:
        case syntax.Atom(negated=False):
            found = names_in(clause)
            if clause.binder is not None:
                found.setdefault(clause.binder, clause.span)
            return found
        case syntax.Condition(syntax.Assign(target, _, _), _):
            return names_in(target)
        case _:
            return {}
