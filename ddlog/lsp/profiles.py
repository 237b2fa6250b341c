"""What a profile beside a program tells of it: rows and time of relations, and the order of joins.

The profile of `paths.dl` is the file `paths.profile.json` in its folder, which `ddlog run paths.dl --profile
paths.profile.json` writes. What is told of a rule is found by the rule's text, so that lines may move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .. import syntax
from ..errors.diagnostics import DDlogError, counted
from ..errors.source import Span
from ..profiling.profile import Profile, read_profile
from .analysis import Analysis

RUN, EXPLAIN, PLANS = "ddlog.run", "ddlog.explain", "ddlog.plans"
"""The commands of lenses: the first two are the client's, the last is the server's."""
_SMALL = 0.0005  # seconds that are not told


@dataclass(frozen=True, slots=True)
class Lens:
    """Words above a declaration, and the command that they stand for; no command where they only tell."""

    span: Span
    title: str
    command: str = ""
    arguments: tuple[str, ...] = ()


def lenses(analysis: Analysis) -> Iterator[Lens]:
    """The lenses of a document: to run the program, to explain a row, and what its profile tells."""
    file = analysis.source.name
    profile = profile_of(file)
    rows = {} if profile is None else {each.name: each.rows for each in profile.relations}
    seconds = {} if profile is None else {each.name: each.seconds for each in profile.strata}
    first = True
    for declaration in analysis.tree.declarations:
        if not isinstance(declaration, syntax.RelationDecl):
            continue
        name, span = declaration.name, analysis.placed(declaration.name_span)
        if first:
            yield Lens(span, "run", RUN, (file,))
            if profile is not None and profile.plans:
                yield Lens(span, "order of joins", PLANS)
            first = False
        if name in rows:
            took = seconds.get(name, 0.0)
            time = f", {1000 * took:,.0f} ms" if took >= _SMALL else ""
            yield Lens(span, f"{counted(rows[name], 'row')}{time}")
        if declaration.role != "input" and declaration.kind == "relation":
            yield Lens(span, "explain a row", EXPLAIN, (file, name))


def join_orders(analysis: Analysis, first: int, last: int) -> Iterator[tuple[Span, int]]:
    """The places of the atoms of rules on some lines, and the places of the atoms in the order of joins."""
    profile = profile_of(analysis.source.name)
    orders: dict[str, list[str]] = {}
    for plan in (() if profile is None else profile.plans) or ():
        first_term = [] if plan.start is None else [plan.start]
        orders.setdefault(plan.rule, [*first_term, *(each.term for each in plan.look_ups)])
    for piece in analysis.pieces_of(first, last) if orders else ():
        for rule in piece.parsed.tree.declarations:
            if isinstance(rule, syntax.RuleDecl) and (order := orders.get(_one_line(rule.span))):
                yield from _numbered(analysis, rule, list(order), first, last)


def _numbered(
    analysis: Analysis, rule: syntax.RuleDecl, order: list[str], first: int, last: int
) -> Iterator[tuple[Span, int]]:
    for atom in rule.body:
        text = _one_line(atom.span)
        if isinstance(atom, syntax.Atom) and text in order:
            number, span = order.index(text), analysis.placed(atom.span)
            order[number] = ""
            if first <= span.line <= last:
                yield span, number + 1


def _one_line(span: Span) -> str:
    return " ".join(span.text().split())


def profile_of(file: str) -> Profile | None:
    """The profile beside a program; None where there is none."""
    path = Path(file).with_suffix(".profile.json")
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=16)
def _read(path: Path, time: int) -> Profile | None:
    try:
        return read_profile(path.read_text(encoding="utf-8"))
    except (DDlogError, ValueError, KeyError, TypeError):
        return None  # another file of that name
