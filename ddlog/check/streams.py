"""Streams and time: where a stream may stand, what is read of the past, and what a rule then yields.

A body yields a stream if it reads one; `S'(..)` is a relation. `R-n(..)` stands for a relation of its
own, which only the past of R fills, so that no stratum has R before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from .. import core, errors, syntax
from ..errors.diagnostics import Diagnostic, Note
from ..names.environment import Environment
from ..names.modules import RELATIONS, ModuleSyntax
from .body import BodyBuilder
from .context import Context
from .loops import earlier


def check_declared(module: ModuleSyntax) -> Iterator[Diagnostic]:
    """An error for each stream with a primary key."""
    for declaration in module.all(RELATIONS):
        if isinstance(declaration, syntax.RelationDecl) and declaration.kind == "stream" and declaration.key:
            yield errors.streams.StreamKey(span=declaration.key.span, name=declaration.name)


def read_in_body(body: BodyBuilder, term: syntax.Atom, relation: core.Relation) -> core.Relation:
    """The relation that a term of a body reads: a delayed one is another. Notes whether the body yields a
    stream from here on."""
    context = body.context
    if term.differentiated and relation.kind != "stream":
        context.report(errors.streams.NotAStream(span=term.span, name=term.relation, kind=relation.kind))
    elif relation.kind == "stream" and not term.differentiated:
        _read_stream(body, term)
    elif term.negated and body.stream is not None:
        stream, held = _names(body.stream)
        context.report(errors.streams.StreamAntijoin(span=term.span, stream=stream, held=held))
    if term.delay is None:
        return relation
    if term.delay < 1:
        unit = "round" if core.loops_around(context.environment.loops, term.span) else "transaction"
        context.report(errors.streams.NoDelay(span=term.span, name=term.relation, unit=unit))
        return relation
    ago = earlier(context.environment, relation, term.delay, term.span)
    return ago or _delayed(context.environment, relation, term.delay)


def _read_stream(body: BodyBuilder, term: syntax.Atom) -> None:
    context, (name, held) = body.context, _names(term)
    if term.negated:
        context.report(errors.streams.NegatedStream(span=term.span, name=name, held=held))
    elif body.stream is None:
        body.stream = term
    else:
        other, notes = _names(body.stream)[0], (Note("the other stream", body.stream.span),)
        context.report(
            errors.streams.StreamJoin(span=term.span, name=name, other=other, held=held, notes=notes)
        )


def _names(term: syntax.Atom) -> tuple[str, str]:
    """A stream as it was read, and the relation of its elements."""
    delay = "" if term.delay is None else f"-{term.delay}"
    return f"{term.relation}{delay}", f"{term.relation}'{delay}"


def _delayed(environment: Environment, relation: core.Relation, delay: int) -> core.Relation:
    """The relation that holds the rows of another as of some transactions ago."""
    name = f"{relation.name}-{delay}"
    made = dataclasses.replace(relation, name=name, role="delayed", key=None, past=(relation.name, delay))
    return environment.relations.setdefault(name, made)


def check_head(body: BodyBuilder, term: syntax.Atom, relation: core.Relation, *, fact: bool) -> None:
    """Sees that a head is a stream if and only if its body yields one."""
    context, stream = body.context, relation.kind == "stream"
    if fact and stream:
        context.report(errors.streams.StreamFact(span=term.span, name=term.relation))
    elif stream and body.stream is None and not body.unknown:
        context.report(errors.streams.StreamHead(span=term.span, name=term.relation))
    elif not stream and body.stream is not None:
        read, held = _names(body.stream)
        context.report(
            errors.streams.RelationHead(
                span=term.span, name=term.relation, kind=relation.kind, stream=read, held=held,
                notes=(Note("the stream", body.stream.span),),
            )
        )  # fmt: skip


def check_present(context: Context, term: syntax.Atom) -> None:
    """Sees that a head is of now."""
    for present, how in ((term.differentiated, "differentiated"), (term.delay is not None, "delayed")):
        if present:
            context.report(errors.streams.HeadInTime(span=term.span, how=how, name=term.relation))


def stream_recursions(
    relations: Mapping[str, core.Relation], strata: Sequence[core.Stratum]
) -> Iterator[Diagnostic]:
    """An error for each stream in a recursive stratum."""
    for stratum in strata:
        for name in stratum.relations if stratum.recursive else ():
            if relations[name].kind == "stream":
                fragment = ",".join(stratum.relations)
                yield errors.streams.StreamRecursion(span=relations[name].span, name=name, fragment=fragment)
