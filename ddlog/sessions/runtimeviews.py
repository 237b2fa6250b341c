"""Views that come to the program of a session, and go, by statements of SQL."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from ..check.removals import readers, without_relation
from ..core import Relation
from ..errors.diagnostics import DDlogError
from ..errors.sessions import StillUsed
from ..errors.source import Source
from ..errors.sql import NotAView
from ..errors.unknown import UnknownName
from ..formatting.program import formatted
from .amendments import blanked, extended, imports_of, without
from .program import Program

NAME = r"(?:(?:main|public)\.)?(?P<name>[\w.]+|\"[^\"]+\")"
"""A table or a view, with or without its usual schema."""

KIND = r"(?:(?:TEMP|TEMPORARY|MATERIALIZED)\s+)?"
"""The words that may stand before VIEW, and have no effect."""

_CREATE = re.compile(
    rf"\s*CREATE\s+(?P<or>OR\s+REPLACE\s+)?{KIND}VIEW\s+(?P<if>IF\s+NOT\s+EXISTS\s+)?{NAME}", re.IGNORECASE
)
_DROP = re.compile(rf"\s*DROP\s+{KIND}VIEW\s+(?P<if>IF\s+EXISTS\s+)?{NAME}\s*;?\s*\Z", re.IGNORECASE)


def changes_views(text: str) -> bool:
    """Whether a statement is CREATE VIEW or DROP VIEW."""
    return _CREATE.match(text) is not None or _DROP.match(text) is not None


def with_views_changed(program: Program, text: str, name: str) -> Program:
    """The program after CREATE VIEW or DROP VIEW; `name` names the text in errors. Raises DDlogError."""
    created, dropped = _CREATE.match(text), _DROP.match(text)
    if created is not None:
        if created["if"] and _view(program, created["name"]) is not None:
            return program
        if created["or"]:
            old = _view(program, created["name"])
            program = program if old is None else _without_view(program, old)
            text = text[: created.start("or")] + " " * len(created["or"]) + text[created.end("or") :]
        return extended(program, views_text(program, text, name), name)
    assert dropped is not None
    view = _view(program, dropped["name"])
    if view is None:
        if dropped["if"]:
            return program
        raise DDlogError([UnknownName(what="view", name=dropped["name"])])
    return _without_view(program, view)


def views_text(program: Program, text: str, name: str) -> str:
    """Views over the relations of a program in the language of its text. Raises DDlogError."""
    if program.source.name.endswith(".sql"):
        return text
    from ..sql.attach import know_structs
    from ..sql.relationviews import rules_of

    know_structs(program.checked.typedefs)
    source = program.source.another(name, text)
    rules = rules_of(source, program.relations, imports_of(program), program.checked.typedefs.keys())
    return formatted(Source(name, rules))


def _view(program: Program, name: str) -> Relation | None:
    """The view of a name. Raises DDlogError for a relation that is none."""
    name = name.strip('"').lower()
    for each in program.relations.values():
        if each.source_name.lower() == name and not each.hidden:
            if each.role != "output":
                raise DDlogError([NotAView(name, each.role)])
            return each
    return None


def _without_view(program: Program, view: Relation) -> Program:
    used = readers(program.checked, view.name)
    if used:
        shown = [program.relations[each].source_name for each in used]
        span = next(iter(used.values())).span
        raise DDlogError([StillUsed(view.source_name, " and ".join(shown), span=span)])
    if not program.source.name.endswith(".sql"):
        return _without_parts(without(program, view.name))
    from ..sql.translate import place_of_view

    assert program.again is not None
    place = place_of_view(program.source, view.source_name.lower())
    if place is None:
        raise DDlogError([UnknownName(what="view", name=view.name)])
    source = replace(program.source, text=blanked(program.source.text, place))
    checked = without_relation(program.checked, source, view.name)
    if checked is not None:
        return Program(source, checked, again=program.again, lowered=program.lowered)
    made = program.again(source)
    return Program(made.source, made.checked, (), made.again)


def _without_parts(program: Program) -> Program:
    """The program without relations between the rules of a view, which nothing uses."""
    for name in reversed([name for name, each in program.relations.items() if each.made]):
        with suppress(DDlogError):
            program = without(program, name)
    return program
