"""Differential Datalog in Python.

import ddlog

program = ddlog.compile("paths.dl")
with program.session() as session:
    session.insert("Edge", (1, 2), (2, 3))
    print(session.commit())
    print(session.query("Path(1, x)").rows)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .diagnostics import DDlogError, Diagnostic, render
    from .indexes import IndexView
    from .program import Program, compile
    from .results import Changes, RelationView, Result
    from .session import Session

__all__ = [
    "Changes",
    "DDlogError",
    "Diagnostic",
    "IndexView",
    "Program",
    "RelationView",
    "Result",
    "Session",
    "compile",
    "render",
]

if not os.path.isdir(os.path.join(__path__[0], "engine")):
    __path__.append(os.path.dirname(__path__[0]))  # in a checkout engine/ and stdlib/ stand beside ddlog/

_HOMES = {
    "Changes": "results",
    "DDlogError": "diagnostics",
    "Diagnostic": "diagnostics",
    "IndexView": "indexes",
    "Program": "program",
    "RelationView": "results",
    "Result": "results",
    "Session": "session",
    "compile": "program",
    "render": "diagnostics",
}


def __getattr__(name: str) -> Any:
    """The public names, from their modules, as they are first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("ddlog")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
