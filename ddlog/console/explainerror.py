"""`ddlog explain-error`: what a code means, with a wrong program, the message about it, and a right one."""

from __future__ import annotations

import re

from ..errors.codes import codes
from ..errors.diagnostics import DDlogError, render
from ..errors.explanations import CodeMeaning, explanation, explanations
from ..errors.nearest import nearest
from ..errors.unknown import UnknownName
from .examples import FOLDER, errors_of


def explain_error(code: str | None) -> str:
    """The text about a code, or the list of all codes. Raises DDlogError."""
    if code is None:
        return "".join(f"{heading(each)}\n" for each in explanations().values())
    if code.upper() not in codes():
        near, help = nearest(code.upper(), codes()), "`ddlog explain-error` lists the codes"
        raise DDlogError([UnknownName(what="code of an error", name=code, near=near, help=help)])
    found = explanation(code.upper())
    parts = [heading(found), found.meaning]
    if found.example is not None:
        parts += [f"wrong:\n{_indented(found.example.wrong)}", message(found)]
        parts += [f"right:\n{_indented(found.example.right)}"]
    return "\n\n".join(filter(None, parts)) + "\n"


def heading(found: CodeMeaning) -> str:
    """The code, and the title of its errors if they have one that does not depend on the error alone."""
    of = "" if found.kind.severity == "error" else f" ({found.kind.severity})"
    return f"{found.code}{of}: {found.title}" if found.title.strip("…") else f"{found.code}{of}"


def message(found: CodeMeaning) -> str:
    """The message about the wrong program of an explanation; empty where its language is not installed."""
    if found.example is None:
        return ""
    told = errors_of(found.example.wrong, found.example.language)
    text = render(each for each in told if type(each) is found.kind)
    text = re.sub(rf"[^\s:]*/{FOLDER}\w+/", "", text)
    return re.sub(r"(?<=process )\d+", "4711", text)  # the same each time


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
