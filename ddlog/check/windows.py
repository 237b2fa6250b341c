"""Applications of the transformers of the module `window`: operators of the engine.

`apply window::range(Events, |e| e.ts, Now, 3600) -> (Recent)` stands for two rules around a hidden relation.
Its `window` says which of the rows that the first rule gives are in it:

    Events$window[e] :- Events[e], var $time = e.ts.
    Recent[e] :- Events$window[e].
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping

from .. import core, errors, syntax
from ..errors.diagnostics import Diagnostic
from ..names.environment import Environment
from ..names.modules import WINDOW, ModuleSyntax
from ..types import BigInt, Bit, Signed, Type
from .applications import RuleWriter

_SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_STREAMS = ("all", "last")


def is_window(declaration: syntax.ApplyDecl) -> bool:
    """Whether a declaration applies a transformer of the module `window`."""
    return declaration.transformer.startswith(f"{WINDOW}::")


def check_window(
    environment: Environment, module: ModuleSyntax, apply: syntax.ApplyDecl, ports: Iterable[syntax.Field]
) -> Iterator[Diagnostic]:
    """The errors in an application, as far as no types are needed."""
    kind = _kind(apply)
    for port, given in zip(ports, apply.inputs, strict=False):
        if isinstance(port.type, syntax.RelationType) or port.name == "time":
            continue
        value = _number(given)
        least = 1 if kind == "last" else 0
        span = apply.span if isinstance(given, str) else given.span
        if value is None:
            yield errors.windows.WindowNumber(span=span, name=port.name)
        elif value < least:
            yield errors.windows.WindowTooSmall(span=span, name=port.name, value=value, least=least)
    source = _relation(environment, module, apply.inputs[:1])
    if source is not None and kind in _STREAMS and source.kind != "stream":
        yield errors.windows.WindowOfStream(
            span=apply.span, transformer=apply.transformer, name=source.name, kind=source.kind
        )
    clock = _relation(environment, module, apply.inputs[2:3])
    if clock is not None and kind not in _STREAMS and len(clock.columns) != 1:
        yield errors.windows.ClockColumns(span=apply.span, name=clock.name)
    for output, wanted in zip(apply.outputs, ("relation", "stream"), strict=False):
        made = environment.relation(output, module.name)
        if made is None:
            continue
        if (made.kind == "stream") != (wanted == "stream"):
            yield errors.windows.WindowOutput(span=apply.span, name=made.name, kind=made.kind, wanted=wanted)
        if kind == "clock":
            if len(made.columns) != 1:
                yield errors.windows.ClockColumns(span=apply.span, name=made.name)
        elif source is not None and made.columns != source.columns:
            yield errors.windows.WindowColumns(
                span=apply.span, name=made.name, source=source.name, record=str(source.record),
                given=_columns(made), wanted=_columns(source),
            )  # fmt: skip


def window_rules(
    environment: Environment, module: ModuleSyntax, apply: syntax.ApplyDecl, ports: Iterable[syntax.Field]
) -> list[syntax.RuleDecl]:
    """The rules that an application stands for; none after an error. Makes its hidden relations."""
    if any(True for _ in check_window(environment, module, apply, ports)):
        return []
    source = _relation(environment, module, apply.inputs[:1])
    found = [environment.relation(name, module.name) for name in apply.outputs]
    outputs = [each for each in found if each is not None]
    numbers = [_number(given) or 0 for given in apply.inputs]
    if source is None or len(outputs) < len(found):
        return []
    writer, kind = RuleWriter(environment, apply), _kind(apply)
    source_name = str(apply.inputs[0])
    if kind in _STREAMS:
        window = core.WindowRelation(kind, shown_by=outputs[0].name)
        held = writer.hidden(source, "window", window, "multiset")
        for delay in (None, numbers[1]) if kind == "last" else (None,):
            row = writer.atom(source_name, writer.name("row"), differentiated=True, delay=delay)
            writer.rule(writer.atom(held.name, writer.name("row")), row)
        writer.copied(held, apply.outputs[0], outputs[0])
        return writer.rules
    shown, time = _timed(writer, apply.inputs[1])
    atom = writer.atom(source_name, shown, differentiated=source.kind == "stream")
    body = atom, writer.let(syntax.VarDecl(core.TIME, apply.span), time)
    if kind == "clock":
        output = outputs[0]
        held = writer.hidden(output, "clock", core.WindowRelation(kind, shown_by=output.name), "relation")
        element = writer.name(core.TIME)
        head = writer.atom(held.name, element)
        if output.constructor is not None:
            head = writer.atom_of(held.name, element)
        writer.rule(head, *body)
        writer.copied(held, apply.outputs[0], outputs[0])
        return writer.rules
    clock = _relation(environment, module, apply.inputs[2:3])
    if clock is None:
        return []
    lateness = numbers[4] if len(apply.inputs) > 4 else None
    window = core.WindowRelation("range", clock.name, "", numbers[3], lateness, outputs[0].name)
    held = writer.hidden(source, "window", window, "relation" if source.kind == "relation" else "multiset")
    writer.rule(writer.atom(held.name, shown), *body)
    writer.copied(held, apply.outputs[0], outputs[0])
    if lateness is not None:
        late = core.WindowRelation("late", clock.name, held.name, 0, lateness, outputs[1].name)
        writer.copied(writer.hidden(source, "late", late, "stream"), apply.outputs[1], outputs[1])
    return writer.rules


def check_times(relations: Mapping[str, core.Relation], rules: Iterable[core.Rule]) -> Iterator[Diagnostic]:
    """The errors in the types of the times of windows."""
    for rule in rules:
        for head in rule.heads:
            relation = relations.get(head.relation)
            time = rule.variables.get(core.TIME)
            if relation is None or relation.window is None or time is None:
                continue
            if not isinstance(time, Bit | Signed | BigInt):
                yield errors.windows.TimeType(span=rule.span, type=str(time))
            elif relation.window.clock:
                yield from _clock_type(relations[relation.window.clock], time, rule)


def _clock_type(clock: core.Relation, time: Type, rule: core.Rule) -> Iterator[Diagnostic]:
    if len(clock.columns) == 1 and clock.columns[0].type != time:
        of = str(clock.columns[0].type)
        yield errors.windows.ClockType(span=rule.span, clock=clock.name, of=of, time=str(time))


def _timed(writer: RuleWriter, function: str | syntax.Expr) -> tuple[syntax.Expr, syntax.Expr]:
    """A variable for a row, and the expression of its time: a closure is put in at once."""
    match function:
        case syntax.Closure((parameter,), None, body) if parameter.type is None and not parameter.mutable:
            return syntax.Name(parameter.name, parameter.span), body
        case str():
            return writer.name("row"), writer.call(function, writer.name("row"))
    called = syntax.Call(function, (writer.name("row"),), function.span)
    return writer.name("row"), called


def _kind(apply: syntax.ApplyDecl) -> str:
    """The transformer without its module."""
    kind = apply.transformer.rpartition("::")[2]
    return "range" if kind == "range_late" else kind


def _relation(
    environment: Environment, module: ModuleSyntax, given: tuple[str | syntax.Expr, ...]
) -> core.Relation | None:
    """The relation that an argument names."""
    (name,) = given or ("",)
    return environment.relation(name, module.name) if isinstance(name, str) else None


def _columns(relation: core.Relation) -> str:
    return ", ".join(f"{each.name}: {each.type}" for each in relation.columns)


def _number(given: str | syntax.Expr) -> int | None:
    """The value of a number, or of a sum, difference or product of such."""
    match given:
        case syntax.IntLit(value):
            return value
        case syntax.Unary("-", arg):
            inner = _number(arg)
            return None if inner is None else -inner
        case syntax.Binary(op, left, right) if op in _SUMS:
            a, b = _number(left), _number(right)
            return None if a is None or b is None else int(_SUMS[op](a, b))
    return None
