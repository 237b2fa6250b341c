"""`ddlog explain`: why a row holds, on facts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue, CannotBeCombined, OptionNeeded
from ..explaining.explanation import Explanation
from ..io.write import replacing
from ..sessions.program import Program
from ..sessions.session import Session
from .launch import loaded
from .notes import in_color
from .options import LaunchOptions
from .progress import ProgressLine

FORMS = ("text", "json", "dot", "html")
WITHIN = 2.0
"""The seconds of --not and --ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions(LaunchOptions):
    """The options of `ddlog explain`."""

    question: str
    depth: int | None
    all: bool
    absent: bool
    within: float | None
    form: str | None
    output: str | None
    ends: bool = False
    change: bool = False


def explain(program: Program, options: ExplainOptions) -> None:
    """Prints or writes the explanation. Raises DDlogError."""
    form = _form(options)
    options = replace(options, read_only=options.state is not None)
    with loaded(program, options, ProgressLine(options.quiet)) as session:
        _write(_explained(session, form, options), options.output)


def _explained(session: Session, form: str, options: ExplainOptions) -> str:
    question, depth = options.question, options.depth or 10
    within = WITHIN if options.within is None else options.within
    if options.absent:
        return _in_form([session.why_not(question, depth=options.depth or 3, within=within)], form, options)
    if options.ends:
        return _in_form([session.why_ends(question, within=within)], form, options)
    if options.change:
        return _in_form([session.why_change(question, depth=depth)], form, options)
    if options.all:
        return _in_form(session.why_all(question, depth=depth), form, options)
    return _in_form([session.why(question, depth=depth)], form, options)


def _form(options: ExplainOptions) -> str:
    """The form asked for. Raises DDlogError."""
    form = _named_form(options)
    if options.absent and options.all:
        raise DDlogError([CannotBeCombined("--not", "--all", "a row that does not hold has no derivation")])
    asked = {"--not": options.absent, "--ends": options.ends, "--change": options.change}
    given = [name for name, is_asked in asked.items() if is_asked]
    given += ["--all"] if options.all else []
    if len(given) > 1:
        raise DDlogError([CannotBeCombined(given[0], given[1], "they are different questions")])
    if options.within is not None and not (options.absent or options.ends):
        raise DDlogError([OptionNeeded("--within", "--not", "a proof is not searched for by trial")])
    return form


def _named_form(options: ExplainOptions) -> str:
    if options.output is None:
        return options.form or "text"
    ending = Path(options.output).suffix.removeprefix(".")
    named = {"txt": "text"}.get(ending, ending)
    if options.form is None and named not in FORMS:
        expected = "a name that ends in .txt, .json, .dot or .html"
        raise DDlogError([BadOptionValue("--output", options.output, expected)])
    return options.form or named


def _in_form(found: Sequence[Explanation], form: str, options: ExplainOptions) -> str:
    if form == "html":
        return found[0].html(found[1:])
    color = options.output is None and in_color(sys.stdout)
    texts = [each.form(form, color=color) for each in found]
    if options.all and form == "text":
        texts = [f"derivation {n} of {len(found)}\n{text}" for n, text in enumerate(texts, 1)]
    return "".join(texts)


def _write(text: str, output: str | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    with replacing(Path(output)) as out:
        out.write(text.encode("utf-8"))
